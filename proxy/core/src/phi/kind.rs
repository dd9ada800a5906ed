//! The kinds of entities: one table, with how two spellings of one value are recognised as the same.
//!
//! Detectors of third parties may name kinds that the table does not know; those work, with cautious defaults.

use std::borrow::{Borrow, Cow};

/// One kind that the gateway knows by itself.
#[derive(Debug)]
pub struct EntityKind {
    /// The word in `entity_types`, audit rows, policies and placeholders.
    pub name: &'static str,
    /// Safe Harbor identifier class 1 to 18 (45 CFR 164.514(b)(2)(i), A to R), or 0.
    pub hipaa_class: u8,
    /// What Presidio and Comprehend Medical call it; findings under these names count as this kind.
    pub aliases: &'static [&'static str],
    spelling: Spelling,
    sweep_min_chars: Option<usize>,
}

/// What makes two spellings the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Digits alone count.
    Digits,
    /// As digits, and a leading 1 of eleven is the country code of North America.
    PhoneDigits,
    /// Letters and digits count, in either case.
    LettersAndDigits,
    /// Everything counts but case and the amount of white space.
    Words,
    /// Every character counts.
    Exact,
}

/// Letters and digits that a value of an unknown kind needs before further mentions are looked for.
const UNKNOWN_SWEEP_MIN_CHARS: usize = 5;

/// The Safe Harbor list. The last column but one is the shortest value (letters and digits) whose further mentions
/// are looked for: a shorter one is a common word or number somewhere else. `None`: none are looked for.
#[rustfmt::skip]
pub static ENTITY_KINDS: [EntityKind; 21] = [
    kind("NAME", 1, Spelling::Words, Some(3), &["PERSON", "PERSON_NAME", "PATIENT_NAME"]),
    kind("ADDRESS", 2, Spelling::Words, Some(6), &["STREET_ADDRESS"]),
    kind("LOCATION", 2, Spelling::Words, Some(4), &[]),
    kind("ORGANIZATION", 0, Spelling::Words, Some(4), &["NRP_ORGANIZATION", "HOSPITAL"]),
    kind("DATE", 3, Spelling::Words, Some(6), &["DATE_TIME"]),
    kind("AGE_OVER_89", 3, Spelling::Words, None, &[]),
    kind("PHONE", 4, Spelling::PhoneDigits, Some(7), &["PHONE_NUMBER", "PHONE_OR_FAX"]),
    kind("FAX", 5, Spelling::PhoneDigits, Some(7), &["FAX_NUMBER"]),
    kind("EMAIL", 6, Spelling::Words, Some(5), &["EMAIL_ADDRESS"]),
    kind("SSN", 7, Spelling::Digits, Some(7), &["US_SSN"]),
    kind("MRN", 8, Spelling::LettersAndDigits, Some(5), &["MEDICAL_RECORD_NUMBER"]),
    kind("HEALTH_PLAN_ID", 9, Spelling::LettersAndDigits, Some(5), &["US_MBI"]),
    kind("ACCOUNT_NUMBER", 10, Spelling::LettersAndDigits, Some(5), &["US_BANK_NUMBER", "IBAN_CODE"]),
    kind("CREDIT_CARD", 10, Spelling::Digits, Some(7), &[]),
    kind("LICENSE_NUMBER", 11, Spelling::LettersAndDigits, Some(5), &["US_DRIVER_LICENSE", "MEDICAL_LICENSE", "US_NPI"]),
    kind("VEHICLE_ID", 12, Spelling::LettersAndDigits, Some(5), &["VIN"]),
    kind("DEVICE_ID", 13, Spelling::LettersAndDigits, Some(5), &["MAC_ADDRESS"]),
    kind("URL", 14, Spelling::Exact, Some(6), &[]),
    kind("IP_ADDRESS", 15, Spelling::Words, Some(4), &[]),
    kind("BIOMETRIC_ID", 16, Spelling::LettersAndDigits, Some(5), &[]),
    kind("OTHER_ID", 18, Spelling::LettersAndDigits, Some(5), &["ID", "US_PASSPORT", "US_ITIN"]),
];

const fn kind(
    name: &'static str,
    hipaa_class: u8,
    spelling: Spelling,
    sweep_min_chars: Option<usize>,
    aliases: &'static [&'static str],
) -> EntityKind {
    EntityKind {
        name,
        hipaa_class,
        aliases,
        spelling,
        sweep_min_chars,
    }
}

/// The kind of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Cow<'static, str>);

/// Longest name of a kind, in bytes; longer ones are cut. Placeholders stay short enough to hold back.
pub const MAX_KIND_BYTES: usize = 48;

impl Kind {
    /// The kind that a detector's word means. Words of the table and their aliases give the table's kind;
    /// others are kept in capitals, and what is no word at all is an `OTHER_ID`.
    pub fn named(word: &str) -> Self {
        if let Some(known) = by_word(word) {
            return Self(Cow::Borrowed(known.name));
        }
        let slug: String = word
            .chars()
            .take(MAX_KIND_BYTES)
            .map(|letter| match letter.to_ascii_uppercase() {
                kept if kept.is_ascii_alphanumeric() => kept,
                _ => '_',
            })
            .collect();
        let slug = slug.trim_matches('_');
        if slug.starts_with(|first: char| first.is_ascii_uppercase()) {
            by_word(slug).map_or_else(
                || Self(Cow::Owned(slug.to_owned())),
                |known| Self(Cow::Borrowed(known.name)),
            )
        } else {
            Self(Cow::Borrowed("OTHER_ID"))
        }
    }

    /// A kind by its own name, as placeholders and stored maps have it; aliases are not followed.
    pub(super) fn canonical(name: &str) -> Self {
        ENTITY_KINDS
            .iter()
            .find(|known| known.name == name)
            .map_or_else(
                || Self(Cow::Owned(name.to_owned())),
                |known| Self(Cow::Borrowed(known.name)),
            )
    }

    /// The name, as `entity_types`, audit rows and placeholders have it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The table's row, if the table has one.
    pub fn entity(&self) -> Option<&'static EntityKind> {
        ENTITY_KINDS.iter().find(|known| known.name == self.0)
    }

    pub(super) fn spelling(&self) -> Spelling {
        self.entity()
            .map_or(Spelling::Words, |known| known.spelling)
    }

    /// Shortest value, in letters and digits, whose further mentions are looked for.
    pub(super) fn sweep_min_chars(&self) -> Option<usize> {
        self.entity()
            .map_or(Some(UNKNOWN_SWEEP_MIN_CHARS), |known| known.sweep_min_chars)
    }

    /// The form in which two spellings of one value are equal; never empty where `value` is not.
    pub(super) fn normal(&self, value: &str) -> String {
        let normal: String = match self.spelling() {
            Spelling::Digits => value.chars().filter(char::is_ascii_digit).collect(),
            Spelling::PhoneDigits => {
                let digits: String = value.chars().filter(char::is_ascii_digit).collect();
                national(&digits).to_owned()
            }
            Spelling::LettersAndDigits => value
                .chars()
                .filter(|c| c.is_alphanumeric())
                .flat_map(char::to_uppercase)
                .collect(),
            Spelling::Words => words(value),
            Spelling::Exact => value.trim().to_owned(),
        };
        if normal.is_empty() {
            words(value)
        } else {
            normal
        }
    }
}

impl Kind {
    /// [`Self::normal`] with the signs that divide it, where they tell values apart: `24-1123` is not `241-123`, though
    /// both may be written `241123`.
    pub(super) fn divided(&self, value: &str) -> Option<String> {
        if self.spelling() != Spelling::LettersAndDigits {
            return None;
        }
        let mut divided = String::with_capacity(value.len());
        let is_other = |letter: char| !letter.is_alphanumeric();
        for letter in value.trim_matches(is_other).chars() {
            match letter {
                '-' | ':' | '\u{2010}'..='\u{2015}' if !divided.ends_with('-') => {
                    divided.push('-');
                }
                '-' | ':' | '\u{2010}'..='\u{2015}' => {}
                space if space.is_whitespace() => {
                    if !divided.ends_with('-') {
                        divided.push('-');
                    }
                }
                letter => divided.extend(letter.to_uppercase()),
            }
        }
        divided.contains(is_other).then_some(divided)
    }
}

impl Borrow<str> for Kind {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Digits of a phone number without the country code 1.
pub(super) fn national(digits: &str) -> &str {
    match digits.strip_prefix('1') {
        Some(rest) if rest.len() == 10 => rest,
        _ => digits,
    }
}

fn words(value: &str) -> String {
    let mut normal = String::with_capacity(value.len());
    for word in value.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.chars().flat_map(char::to_lowercase));
    }
    normal
}

fn by_word(word: &str) -> Option<&'static EntityKind> {
    ENTITY_KINDS
        .iter()
        .find(|known| known.name == word || known.aliases.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_meet() {
        let normal = |kind: &str, value: &str| Kind::named(kind).normal(value);
        assert_eq!(normal("SSN", "123-45-6789"), normal("SSN", "123 45 6789"));
        assert_eq!(
            normal("PHONE", "+1 (212) 555-0187"),
            normal("PHONE", "212.555.0187")
        );
        assert_eq!(normal("NAME", "JANE  Doe"), normal("NAME", "jane doe"));
        assert_eq!(normal("MRN", "ab-12 34"), normal("MRN", "AB1234"));
        assert_ne!(normal("URL", "http://a/B"), normal("URL", "http://a/b"));
        assert_ne!(normal("NAME", "Jane Doe"), normal("NAME", "Janet Doe"));
        assert_eq!(normal("SSN", "four five"), "four five");
    }

    #[test]
    fn foreign_words_become_kinds() {
        assert_eq!(Kind::named("US_SSN").as_str(), "SSN");
        assert_eq!(Kind::named("person").as_str(), "NAME");
        assert_eq!(Kind::named("Blood-Bank id").as_str(), "BLOOD_BANK_ID");
        assert_eq!(Kind::named("1]\n").as_str(), "OTHER_ID");
        assert_eq!(Kind::named("").as_str(), "OTHER_ID");
        assert_eq!(Kind::named(&"A".repeat(500)).as_str().len(), MAX_KIND_BYTES);
    }

    #[test]
    fn the_table_has_no_word_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for known in &ENTITY_KINDS {
            for word in known.aliases.iter().chain([&known.name]) {
                assert!(seen.insert(*word), "{word}");
            }
        }
    }
}
