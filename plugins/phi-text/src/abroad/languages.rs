//! The labels of each language. Data only.
//!
//! A label stands in small letters, with a comma behind it; accents, hyphens, dots and spaces do not count. What stands
//! before a label in its line does not count either: `telefon` is the label of `Privat, Telefon: …` too. The same label
//! may be in several languages, but means the same in all of them. What is a word of programs or of English too belongs
//! here only where its value cannot be mistaken: a day, a number of many digits. A new language is a new table, with a
//! row in [`ALL`].

mod latin;
mod other;

use super::table::Language;

pub(super) const ALL: &[Language] = &[
    latin::CZECH,
    latin::DANISH,
    latin::DUTCH,
    latin::FINNISH,
    latin::FRENCH,
    latin::GERMAN,
    latin::HUNGARIAN,
    latin::INDONESIAN,
    latin::ITALIAN,
    latin::NORWEGIAN,
    latin::POLISH,
    latin::PORTUGUESE,
    latin::ROMANIAN,
    latin::SPANISH,
    latin::SWEDISH,
    latin::TAGALOG,
    latin::TURKISH,
    latin::VIETNAMESE,
    other::ARABIC,
    other::CHINESE,
    other::GREEK,
    other::HEBREW,
    other::HINDI,
    other::JAPANESE,
    other::KOREAN,
    other::PERSIAN,
    other::RUSSIAN,
    other::UKRAINIAN,
];
