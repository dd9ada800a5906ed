//! The labels of all languages by the hash of their letters, the last letter first. Built at compile time.

use super::Means;
use super::letter::{self, Letter};

/// The labels of a language: what they mean, and the labels with commas between, in small letters.
pub(super) type Language = &'static [(Means, &'static str)];

/// Labels fill two thirds of them at most.
const SLOTS: usize = 1 << 13;
/// One bit for the hash of every end of a label: most words fail there at their last letters.
const TAIL_BITS: usize = 1 << 17;
const TAIL_WORDS: usize = TAIL_BITS / 64;

/// The hash of nothing.
pub(super) const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Goes on with a hash over the letter before.
pub(super) const fn mix(hash: u64, letter: u32) -> u64 {
    (hash.rotate_left(5) ^ letter as u64).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// What the table keeps of a hash; 0 is a free slot.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the upper half is the better one"
)]
const fn kept(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}

const fn tail_bit(hash: u64) -> usize {
    (hash >> 40) as usize % TAIL_BITS
}

/// Where a label with the hash stands, or behind it.
const fn first_slot(hash: u64) -> usize {
    (hash >> 48) as usize % SLOTS
}

/// Letters at the end of a label, or of its last word, that are looked at first, and one bit for all that they may be.
const ENDING: usize = 4;
const ENDING_BITS: usize = 1 << 15;
const ENDING_WORDS: usize = ENDING_BITS / 64;

/// The bit of the letters of an ending, five bits each.
const fn ending_bit(letters: u32) -> usize {
    (letters.wrapping_mul(0x9e37_79b1) >> 17) as usize % ENDING_BITS
}

/// The end of a label, as far as it is read.
struct Tail {
    hash: u64,
    ending: u32,
    letters: usize,
    /// The ending of its last word, once that is read.
    last_word: u32,
}

impl Tail {
    const EMPTY: Self = Self {
        hash: EMPTY,
        ending: 0,
        letters: 0,
        last_word: 0,
    };

    const fn end_word(&mut self) {
        if self.last_word == 0 {
            self.last_word = self.ending;
        }
    }
}

/// Whether a word begins at `start`.
const fn begins(labels: &[u8], start: usize) -> bool {
    match letter::before(labels, start) {
        None => true,
        Some((sign, _)) => sign == b',' as u32 || matches!(letter::letter(sign), Letter::Gap),
    }
}

pub(super) struct Table {
    hashes: [u32; SLOTS],
    means: [Means; SLOTS],
    tails: [u64; TAIL_WORDS],
    endings: [u64; ENDING_WORDS],
}

impl Table {
    /// # Panics
    /// At compile time, when the table is too small, or when a label has two meanings.
    pub(super) const fn new(languages: &[Language]) -> Self {
        let mut table = Self {
            hashes: [0; SLOTS],
            means: [Means::Name; SLOTS],
            tails: [0; TAIL_WORDS],
            endings: [0; ENDING_WORDS],
        };
        let (mut at, mut count) = (0, 0);
        while at < languages.len() {
            let mut row = 0;
            while row < languages[at].len() {
                let (means, labels) = languages[at][row];
                let labels = labels.as_bytes();
                let mut end = labels.len();
                loop {
                    // With `no` for `n` as well: the host writes `Nº` so.
                    let (mut one, mut other) = (Tail::EMPTY, Tail::EMPTY);
                    let mut ends_word = true;
                    // From the end of the label to the comma before it.
                    while let Some((sign, start)) = letter::before(labels, end) {
                        if sign == b',' as u32 {
                            break;
                        }
                        match letter::letter(sign) {
                            Letter::One(letter) => {
                                if letter == 'n' as u32 && ends_word && begins(labels, start) {
                                    table.step(&mut other, 'o' as u32);
                                }
                                table.step(&mut one, letter);
                                table.step(&mut other, letter);
                                ends_word = false;
                            }
                            Letter::Gap => {
                                one.end_word();
                                other.end_word();
                                ends_word = true;
                            }
                            Letter::Mark | Letter::Other => {}
                        }
                        end = start;
                    }
                    if one.hash != EMPTY {
                        table.end(&one, means);
                        table.end(&other, means);
                        count += 1 + (one.hash != other.hash) as usize;
                    }
                    if end == 0 {
                        break;
                    }
                    end -= 1;
                }
                row += 1;
            }
            at += 1;
        }
        assert!(count * 3 <= SLOTS * 2);
        table
    }

    /// Goes on with the letter before.
    const fn step(&mut self, tail: &mut Tail, letter: u32) {
        tail.hash = mix(tail.hash, letter);
        if tail.letters < ENDING {
            tail.ending |= (letter & 31) << (5 * tail.letters);
        }
        tail.letters += 1;
        let bit = tail_bit(tail.hash);
        self.tails[bit / 64] |= 1 << (bit % 64);
    }

    const fn end(&mut self, tail: &Tail, means: Means) {
        let (whole, word) = (ending_bit(tail.ending), ending_bit(tail.last_word));
        self.endings[whole / 64] |= 1 << (whole % 64);
        self.endings[word / 64] |= 1 << (word % 64);
        self.add(tail.hash, means);
    }

    const fn add(&mut self, hash: u64, means: Means) {
        let mut slot = first_slot(hash);
        while self.hashes[slot] != 0 {
            if self.hashes[slot] == kept(hash) {
                // Languages have labels in common.
                assert!(self.means[slot] as u8 == means as u8);
                return;
            }
            slot = (slot + 1) % SLOTS;
        }
        self.hashes[slot] = kept(hash);
        self.means[slot] = means;
    }

    /// Whether a label may end as `text` does; cheap, and false for most words of letters of ASCII.
    pub(super) fn may_end(&self, text: &[u8]) -> bool {
        let mut ending = 0;
        for (at, byte) in text.iter().rev().take(ENDING).enumerate() {
            if byte.is_ascii_alphabetic() {
                ending |= u32::from(byte & 31) << (5 * at);
            } else if byte.is_ascii_digit() {
                // No label ends with a number.
                return at > 0;
            } else if *byte >= 0x80 {
                return true;
            } else {
                break;
            }
        }
        let bit = ending_bit(ending);
        let word = self.endings.get(bit / 64);
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Whether a label may end with the letters that have the hash; false for most words.
    pub(super) fn may_go_on(&self, hash: u64) -> bool {
        let bit = tail_bit(hash);
        let word = self.tails.get(bit / 64);
        word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// What the label means whose letters have the hash.
    pub(super) fn get(&self, hash: u64) -> Option<Means> {
        let mut slot = first_slot(hash);
        loop {
            match *self.hashes.get(slot)? {
                0 => return None,
                known if known == kept(hash) => return self.means.get(slot).copied(),
                _ => slot = (slot + 1) % SLOTS,
            }
        }
    }
}
