//! Ages that nothing but a name or the line around tells: `Velma Crutchfield 93 F fell`.

use super::MEASURED_IN_F_OR_M;
use crate::text::{before, begins_with, byte, byte_before, has, is_word, starts};

/// `Velma Crutchfield 93 F fell`, `Casimir Lech / 98 / hip fx`, `Ruelas 93 female`: behind a name, with a sex or between
/// the same signs.
pub(super) fn is_named(text: &[u8], start: usize, end: usize) -> bool {
    let near = before(text, start);
    let rest = text.get(end..).unwrap_or_default();
    let clause = near
        .rsplit(|byte| b".;:\n|".contains(byte))
        .next()
        .unwrap_or(near);
    let (names, is_apart) = match clause {
        [names @ .., b' ', b'/', b' '] => (names, true),
        [names @ .., b',', b' '] | [names @ .., b' '] => (names, false),
        _ => return false,
    };
    // `decedent Lemuel Stockdale, 99, d. 1 May`.
    if clause.ends_with(b", ") && rest.starts_with(b", ") {
        let behind = rest.get(2..).unwrap_or_default();
        if is_titled(names) {
            return true;
        }
        let names = names.rsplit(|byte| *byte == b' ').take(2);
        let mut count = 0;
        let are = names.into_iter().all(|word| {
            count += 1;
            is_name(word)
        });
        return are
            && count == 2
            && (begins_with(behind, LIKELY_BEHIND) || begins_with(behind, &["d.", "died", "who"]))
            && !has(clause, MEASURED_IN_F_OR_M)
            && !has(clause, NO_NAMES);
    }
    let fits = if is_apart {
        matches!(rest, [b' ', b'/', b' ', next, ..] if next.is_ascii_alphabetic())
            && !begins_with(rest.get(3..).unwrap_or_default(), VALUES_BEHIND)
    } else {
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let is_word_of_sex = begins_with(rest, &["female", "male"]);
        let is_letter = matches!(byte(rest, 0), b'F' | b'M') && !is_word(byte(rest, 1));
        let behind = rest.get(1..).unwrap_or_default();
        is_word_of_sex || is_letter && begins_with(behind, LIKELY_BEHIND)
    };
    let names = names.trim_ascii_start();
    let names = ["pt ", "patient ", "mr ", "mrs ", "ms "]
        .iter()
        .find_map(|title| starts(names, title.as_bytes()).then(|| names.get(title.len()..))?)
        .unwrap_or(names);
    fits && !has(clause, MEASURED_IN_F_OR_M) && !has(names, NO_NAMES) && are_names(names)
}

/// `Mrs Nkosi`: a title and a name at the end.
fn is_titled(names: &[u8]) -> bool {
    const TITLES: [&[u8]; 6] = [b"Mr", b"Mrs", b"Ms", b"Miss", b"Mr.", b"Mrs."];
    let mut words = names.rsplit(|byte| *byte == b' ');
    words.next().is_some_and(is_name) && words.next().is_some_and(|title| TITLES.contains(&title))
}

/// What is told of somebody behind an age and a sex.
const LIKELY_BEHIND: &[&str] = &[
    "fell",
    "fall",
    "s/p",
    "with",
    "w",
    "w/",
    "here",
    "found",
    "adm",
    "admit",
    "admitted",
    "c/o",
    "p/w",
    "hx",
    "h/o",
    "pod",
    "needs",
    "wants",
    "ams",
    "sob",
    "cp",
    "lives",
    "npo",
    "dnr",
    "stable",
    "brought",
    "bib",
    "presents",
    "presented",
];
/// What a value behind a slash is followed by.
const VALUES_BEHIND: &[&str] = &[
    "ml", "mg", "mcg", "g", "l", "high", "low", "normal", "mmol", "meq", "mmhg", "bpm", "h", "hr",
    "min", "day", "units", "goal", "target", "ref", "pass", "fail", "ok", "total",
];
/// Words with a capital before a number that are no names.
const NO_NAMES: &[&str] = &[
    "pressure",
    "rate",
    "chloride",
    "glucose",
    "sodium",
    "potassium",
    "score",
    "count",
    "level",
    "total",
    "index",
    "test",
    "exam",
    "scale",
    "value",
    "goal",
    "target",
    "limit",
    "weight",
    "max",
    "min",
    "page",
    "step",
    "part",
    "room",
    "bed",
    "unit",
    "lot",
    "blood",
    "heart",
    "oxygen",
    "saturation",
    "series",
    "valley",
];

/// Whether the words are one or two with a capital and small letters, as no word of a measure is.
fn are_names(names: &[u8]) -> bool {
    let mut count = 0;
    let are = names
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
        .all(|word| {
            count += 1;
            is_name(word)
        });
    are && count == 2
}

/// Whether a word has a capital and small letters.
fn is_name(word: &[u8]) -> bool {
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    word.len() > 2
        && byte(word, 0).is_ascii_uppercase()
        && !is_shouted
        && word
            .iter()
            .all(|byte| !byte.is_ascii_digit() && (is_word(*byte) || b"'-,".contains(byte)))
}

/// `93M` and `93 female` with nothing else in their line or field.
pub(super) fn is_alone(text: &[u8], start: usize, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let sex = ["female", "male", "F", "M"]
        .iter()
        .find(|sex| rest.starts_with(sex.as_bytes()));
    let Some(sex) = sex else {
        return false;
    };
    let is_letter = sex.len() == 1;
    let begins = byte_before(text, start) == b'\n' || start == 0;
    let behind = rest.get(sex.len()..).unwrap_or_default();
    // `99 F` is warm, `95 male patients` are many, `100M` is money.
    let ends = match byte(behind, 0) {
        0 | b'\n' | b'\r' => true,
        b' ' => !is_letter && begins_with(behind, LIKELY_BEHIND),
        b',' | b';' | b'.' => !is_letter,
        _ => false,
    };
    let is_glued = is_letter && end - start == 2 && byte(text, end) != b' ';
    let ends = ends && (!is_letter || is_glued);
    begins && ends
}
