//! What the word lists say about a word: names, places, words of every day. The table is data of the program: nothing is
//! built or read at the start.
//!
//! It holds hashes: one unknown word in some 9,500 is taken for a known one, always the same.

pub mod language;
pub mod peoples;
pub mod roles;

use language::Language;
use phi_text::label;

/// The bits of a word's entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Class(u16);

impl Class {
    const GIVEN: u16 = 1;
    const SURNAME: u16 = 2;
    const CITY: u16 = 4;
    const WORD: u16 = 8;
    const SURE: u16 = 16;
    const BIG_CITY: u16 = 32;
    const COMMON: u16 = 64;
    const SPANISH: u16 = 128;
    const FOREIGN: u16 = 256;
    const SHARED: u16 = 512;

    /// What it is in English and Spanish, for those who learn from it.
    pub const fn bits(self) -> u16 {
        self.0 & !(Self::FOREIGN | Self::SHARED)
    }

    /// Somebody's given name.
    pub const fn is_given(self) -> bool {
        self.0 & Self::GIVEN != 0
    }

    pub const fn is_surname(self) -> bool {
        self.0 & Self::SURNAME != 0
    }

    pub const fn is_name(self) -> bool {
        self.0 & (Self::GIVEN | Self::SURNAME) != 0
    }

    pub const fn is_city(self) -> bool {
        self.0 & Self::CITY != 0
    }

    pub const fn is_big_city(self) -> bool {
        self.0 & Self::BIG_CITY != 0
    }

    /// A word of an English or Spanish dictionary as well.
    pub const fn is_word(self) -> bool {
        self.0 & Self::WORD != 0
    }

    /// One of the words that are used most.
    pub const fn is_common(self) -> bool {
        self.0 & Self::COMMON != 0
    }

    /// A Spanish word of every day, which may be an English one too.
    pub const fn is_spanish(self) -> bool {
        self.0 & Self::SPANISH != 0
    }

    /// A name nearly always when it is said.
    pub const fn is_sure(self) -> bool {
        self.0 & Self::SURE != 0
    }

    /// A word that another language says far more often than English and Spanish. In texts of these two it says nothing:
    /// what is a word in one language is somebody's name in the next.
    pub const fn is_foreign(self) -> bool {
        self.0 & Self::FOREIGN != 0
    }

    /// The language that the word is of, if it says one: words of both say none.
    pub const fn language(self) -> Option<Language> {
        if self.is_foreign() {
            Some(Language::Other)
        } else if self.0 & (Self::WORD | Self::COMMON) != 0 && self.0 & Self::SHARED == 0 {
            Some(Language::Own)
        } else {
            None
        }
    }

    /// No list of names, of places, of English or of Spanish knows the word.
    pub const fn is_unknown(self) -> bool {
        self.bits() == 0
    }
}

/// Made by `lists/make`: `BUCKETS` + 1 offsets of four bytes, then entries of four.
static TABLE: &[u8] = include_bytes!("../lists/words.bin");

const BUCKETS: usize = 1 << 16;
const ENTRIES_AT: usize = (BUCKETS + 1) * 4;
const ENTRY_BYTES: usize = 4;

/// A word's hash on the way: small letters, one byte after the other. Of a word of ASCII letters, `Labels` know the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    pub const fn new() -> Self {
        Self(label::EMPTY)
    }

    #[must_use]
    pub const fn with(self, byte: u8) -> Self {
        Self(label::mix(self.0, byte))
    }

    /// With one more small letter.
    #[must_use]
    pub const fn with_small(self, byte: u8) -> Self {
        Self(label::mix_small(self.0, byte))
    }

    /// Over text that may have capitals and signs beyond ASCII.
    #[must_use]
    pub fn over(mut self, text: &str) -> Self {
        if text.is_ascii() {
            for byte in text.bytes() {
                self = self.with(byte);
            }
            return self;
        }
        for letter in text.chars().flat_map(char::to_lowercase) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                self = self.with(byte);
            }
        }
        self
    }

    /// As [`Self::over`], letters without their accents.
    #[must_use]
    pub fn without_accents(mut self, text: &str) -> Self {
        for letter in text.chars().flat_map(char::to_lowercase) {
            let mut bytes = [0; 4];
            let plain = ACCENTED
                .iter()
                .find(|(_, accented)| !letter.is_ascii() && accented.contains(letter))
                .map_or(letter, |(plain, _)| *plain);
            for byte in plain.encode_utf8(&mut bytes).bytes() {
                self = self.with(byte);
            }
        }
        self
    }

    pub const fn value(self) -> u64 {
        self.0
    }
}

/// Letters of European languages and of Vietnamese, by what they are without their accents.
const ACCENTED: [(char, &str); 15] = [
    ('a', "àáâãäåāăąạảấầẩẫậắằẳẵặ"),
    ('c', "çćčĉċ"),
    ('d', "đďð"),
    ('e', "èéêëēĕėęěẹẻẽếềểễệ"),
    ('g', "ğģ"),
    ('i', "ìíîïĩīĭįıịỉ"),
    ('l', "łļľĺ"),
    ('n', "ñńņň"),
    ('o', "òóôõöøōŏőơọỏốồổỗộớờởỡợ"),
    ('r', "ŕřŗ"),
    ('s', "śşšșŝ"),
    ('t', "ţťț"),
    ('u', "ùúûüũūŭůűųưụủứừửữự"),
    ('y', "ýÿỳỵỷỹ"),
    ('z', "źżž"),
];

impl Default for Hash {
    fn default() -> Self {
        Self::new()
    }
}

/// What the lists say about the word or the words with this hash.
pub fn look_up(hash: Hash) -> Class {
    find(hash).unwrap_or_default()
}

fn find(hash: Hash) -> Option<Class> {
    let value = hash.0 ^ hash.0 >> 29;
    // Both casts keep the low bits, which is what is wanted.
    #[allow(clippy::cast_possible_truncation)]
    let (bucket, fingerprint) = (value as usize % BUCKETS, (value >> 40) as u16);
    let (from, to) = (offset(bucket)?, offset(bucket + 1)?);
    let entries = TABLE.get(ENTRIES_AT + from * ENTRY_BYTES..ENTRIES_AT + to * ENTRY_BYTES)?;
    let wanted = fingerprint.to_le_bytes();
    let (entries, _) = entries.as_chunks::<ENTRY_BYTES>();
    entries
        .iter()
        .find(|[low, high, ..]| [*low, *high] == wanted)
        .map(|[_, _, low, high]| Class(u16::from_le_bytes([*low, *high])))
}

fn offset(bucket: usize) -> Option<usize> {
    let bytes = TABLE.get(bucket * 4..bucket * 4 + 4)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(word: &str) -> Class {
        look_up(Hash::new().over(word))
    }

    #[test]
    fn the_lists_know_what_they_should() {
        assert!(class("Jane").is_given() && class("JANE").is_sure());
        assert!(class("smith").is_surname());
        assert!(class("josé").is_given() && class("JOSÉ").is_given() && class("jose").is_given());
        assert!(class("Boston").is_big_city());
        assert!(class("san francisco").is_city());
        assert!(class("hope").is_word() && class("hope").is_given() && !class("hope").is_sure());
        assert!(class("the").is_common() && !class("the").is_name());
        assert!(
            class("según").is_common() && class("SEGUN").is_spanish() && !class("una").is_sure()
        );
        assert!(
            class("duele").is_word() && class("duele").is_spanish() && class("pliers").is_word()
        );
        assert!(class("asma").is_spanish() && !class("asma").is_sure());
        assert!(class("luz").is_given() && class("luz").is_spanish() && class("Rosario").is_sure());
        assert!(!class("the").is_spanish() && !class("gonzález").is_word());
        assert!(class("zqxwvu").is_unknown());
    }

    #[test]
    fn unknown_words_are_seldom_taken_for_known_ones() {
        let known = (0..20_000)
            .filter(|number| !class(&format!("zq{number}x")).is_unknown())
            .count();
        assert!(known < 20, "{known}");
    }
}
