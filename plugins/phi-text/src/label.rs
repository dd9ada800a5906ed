//! Tables of labels (`medical record number`) that are looked up without allocation and cost nothing to make:
//! they are built at compile time.
//!
//! Labels are equal when their letters are: `medicalRecordNumber`, `medical_record_number` and
//! `Medical Record Number` are one label. A `#` at the end counts as a letter, or as the word `number`.

use crate::text::byte;

/// Bytes of the longest word of a label.
const MAX_WORD_BYTES: usize = 64;
/// Words of the longest label.
const MAX_WORDS: usize = 5;
/// The filter that most words of a text fail at: one bit for each beginning of three letters, five bits a letter.
const FILTER_BITS: usize = 1 << 15;
const FILTER_WORDS: usize = FILTER_BITS / 64;
/// The filter that most words fail at: one bit for the hash of every beginning of a label's letters.
const HEAD_BITS: usize = 1 << 16;
const HEAD_WORDS: usize = HEAD_BITS / 64;

/// The hash of a word (FNV-1a, 64 bits) before its first byte.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Goes on with a hash over one more byte, whatever its case.
pub const fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ byte.to_ascii_lowercase() as u64).wrapping_mul(FNV_PRIME)
}

/// As [`mix`], for a byte that is no capital.
pub const fn mix_small(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(FNV_PRIME)
}

/// What tables keep of a hash.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the other half is folded in"
)]
const fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

const fn counts(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'#' || byte >= 0x80
}

/// The hash of the letters and digits of `label`.
const fn hash(label: &[u8]) -> u64 {
    let mut hash = EMPTY;
    let mut at = 0;
    while at < label.len() {
        if counts(label[at]) {
            hash = mix(hash, label[at]);
        }
        at += 1;
    }
    hash
}

/// Labels with what they mean. `SLOTS` is a power of two, at least twice the number of entries.
pub struct Labels<T: 'static, const SLOTS: usize> {
    entries: &'static [(&'static str, T)],
    /// Position of an entry plus one; 0 is free.
    slots: [u16; SLOTS],
    hashes: [u32; SLOTS],
    filter: [u64; FILTER_WORDS],
    heads: [u64; HEAD_WORDS],
}

impl<T: 'static, const SLOTS: usize> Labels<T, SLOTS> {
    /// Entries are written in small letters, words apart by a space.
    ///
    /// # Panics
    /// At compile time, when the table is too small, or when two entries are one label: the second would mean nothing.
    #[must_use]
    pub const fn new(entries: &'static [(&'static str, T)]) -> Self {
        assert!(SLOTS.is_power_of_two() && entries.len() * 2 <= SLOTS);
        let mut slots = [0; SLOTS];
        let mut hashes = [0; SLOTS];
        let mut filter = [0; FILTER_WORDS];
        let mut heads = [0; HEAD_WORDS];
        let mut at = 0;
        while at < entries.len() {
            let label = entries[at].0.as_bytes();
            let whole = fold(hash(label));
            let mut slot = whole as usize % SLOTS;
            while slots[slot] != 0 {
                assert!(hashes[slot] != whole);
                slot = (slot + 1) % SLOTS;
            }
            // Fewer than 2^15 entries fit the table.
            #[allow(clippy::cast_possible_truncation)]
            {
                slots[slot] = at as u16 + 1;
            }
            hashes[slot] = whole;
            // With and without what separates the words.
            filter = mark(filter, beginning(label, 0));
            let mut letters = [0; 3];
            let (mut from, mut to) = (0, 0);
            let mut head = EMPTY;
            while from < label.len() {
                if counts(label[from]) {
                    if to < 3 {
                        letters[to] = label[from];
                        to += 1;
                    }
                    head = mix(head, label[from]);
                    let bit = fold(head) as usize % HEAD_BITS;
                    heads[bit / 64] |= 1 << (bit % 64);
                }
                from += 1;
            }
            filter = mark(filter, beginning(&letters, 0));
            at += 1;
        }
        Self {
            entries,
            slots,
            hashes,
            filter,
            heads,
        }
    }

    /// What the label means, whatever separates its words.
    pub fn get(&self, label: &[u8]) -> Option<&'static T> {
        if label
            .first()
            .is_none_or(|first| first.is_ascii_alphabetic())
            && !self.may_begin(label, 0)
        {
            return None;
        }
        match label.trim_ascii_end().strip_suffix(b"#") {
            Some(words) => self.signed(hash(words)),
            None => self.by_hash(hash(label)),
        }
    }

    /// The label that ends with a `#` behind the letters that have the hash: `hospital #` is the hospital number.
    fn signed(&self, hash: u64) -> Option<&'static T> {
        let number = b"number".iter().fold(hash, |hash, byte| mix(hash, *byte));
        self.by_hash(mix(hash, b'#'))
            .or_else(|| self.by_hash(number))
    }

    /// The longest label whose first word begins at `at`, and where it ends. Words of a label are apart by one or
    /// two of ` _-./'` or by nothing.
    pub fn longest_at(&self, text: &[u8], at: usize) -> Option<(usize, &'static T)> {
        let (end, hash) = word(text, at, EMPTY);
        self.longest_behind(text, at, end, hash)
    }

    /// As [`Self::longest_at`], where the letters of ASCII at `at` end at `end` and have the hash.
    pub fn longest_behind(
        &self,
        text: &[u8],
        at: usize,
        end: usize,
        hash: u64,
    ) -> Option<(usize, &'static T)> {
        let (mut end, mut hash) = word(text, end, hash);
        if end == at || !self.may_go_on(hash) || !self.may_begin(text, at) {
            return None;
        }
        let mut found = None;
        for _ in 1..MAX_WORDS {
            found = self.ends_at(text, end, hash).or(found);
            let gap = gap_len(text, end);
            let start = end + gap;
            let next = word(text, start, hash);
            if gap == 0 || next.0 == start || !self.may_go_on(next.1) {
                return found;
            }
            (end, hash) = next;
        }
        self.ends_at(text, end, hash).or(found)
    }

    /// The label whose last word ends at `end`, a `#` behind it included.
    fn ends_at(&self, text: &[u8], end: usize, hash: u64) -> Option<(usize, &'static T)> {
        let sign = end + usize::from(byte(text, end) == b' ');
        let with_sign = (byte(text, sign) == b'#')
            .then(|| self.signed(hash))
            .flatten();
        match with_sign {
            Some(meaning) => Some((sign + 1, meaning)),
            None => self.by_hash(hash).map(|meaning| (end, meaning)),
        }
    }

    /// Whether a label may have a beginning with the hash; false for most words.
    fn may_go_on(&self, hash: u64) -> bool {
        let bit = fold(hash) as usize % HEAD_BITS;
        self.heads
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Whether a label may begin at `at`; cheap, and false for most words.
    pub fn may_begin(&self, text: &[u8], at: usize) -> bool {
        let bit = beginning(text, at);
        self.filter
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// What the label means whose letters, in small letters, have the hash.
    pub fn by_hash(&self, hash: u64) -> Option<&'static T> {
        let hash = fold(hash);
        let mut slot = hash as usize % SLOTS;
        loop {
            let entry = *self.slots.get(slot)?;
            if entry == 0 {
                return None;
            }
            if *self.hashes.get(slot)? == hash {
                return self
                    .entries
                    .get(usize::from(entry) - 1)
                    .map(|entry| &entry.1);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

/// Where the letters end that go on at `end`, and the hash with them; of a word that no label has, only a part.
fn word(text: &[u8], mut end: usize, mut hash: u64) -> (usize, u64) {
    let most = end + MAX_WORD_BYTES;
    while let Some(&byte) = text.get(end).filter(|_| end < most) {
        let small = byte | 0x20;
        if small.is_ascii_lowercase() {
            hash = mix_small(hash, small);
        } else if byte >= 0x80 {
            hash = mix_small(hash, byte);
        } else {
            break;
        }
        end += 1;
    }
    (end, hash)
}

const fn mark(mut filter: [u64; FILTER_WORDS], bit: usize) -> [u64; FILTER_WORDS] {
    filter[bit / 64] |= 1 << (bit % 64);
    filter
}

/// The first three letters at `at` as a number; what is no letter, and what is behind it, counts as 0.
const fn beginning(text: &[u8], at: usize) -> usize {
    let mut bits = 0;
    let mut index = 0;
    let mut is_word = true;
    while index < 3 {
        let letter = if at + index < text.len() {
            text[at + index]
        } else {
            0
        };
        is_word = is_word && (letter.is_ascii_alphabetic() || letter >= 0x80);
        bits = bits << 5 | if is_word { (letter & 31) as usize } else { 0 };
        index += 1;
    }
    bits
}

fn gap_len(text: &[u8], at: usize) -> usize {
    let is_gap = |at: usize| matches!(byte(text, at), b' ' | b'_' | b'-' | b'.' | b'/' | b'\'');
    match (is_gap(at), is_gap(at + 1)) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    static TABLE: Labels<u8, 8> = Labels::new(&[
        ("medical record number", 1),
        ("medical record", 2),
        ("mr#", 3),
    ]);

    #[test]
    fn spellings_of_one_label_meet() {
        for spelling in [
            "medicalRecordNumber",
            "Medical Record Number",
            "MEDICAL_RECORD-NUMBER",
        ] {
            assert_eq!(TABLE.get(spelling.as_bytes()), Some(&1), "{spelling}");
            assert_eq!(
                TABLE.longest_at(spelling.as_bytes(), 0),
                Some((spelling.len(), &1))
            );
        }
        assert_eq!(TABLE.get(b"record"), None);
    }

    #[test]
    fn the_longest_label_counts_and_ends_with_its_last_word() {
        assert_eq!(
            TABLE.longest_at(b"medical record is 1", 0).unwrap(),
            (14, &2)
        );
        assert_eq!(TABLE.longest_at(b"MR# 12", 0).unwrap(), (3, &3));
        assert_eq!(
            TABLE.longest_at(b"Medical record # 12", 0).unwrap(),
            (16, &1)
        );
        assert_eq!(TABLE.get(b"Medical Record #"), Some(&1));
        assert_eq!(TABLE.longest_at(b"Mr Smith", 0), None);
        assert_eq!(TABLE.longest_at(b"medical", 0), None);
        // No label has such a word: it is not read to its end.
        assert_eq!(word(&b"a".repeat(1_000), 0, EMPTY).0, MAX_WORD_BYTES);
    }
}
