//! Three doses of a day, which look like a date: `8-8-10 units with meals`, `in doses 10/20/40`.

use super::BIRTH_WORDS;
use super::words::{DATE_WORDS, DOUBTFUL_DATE_WORDS, LEADS};
use crate::kind::clause::clause;
use crate::number::{Gap, Numbers};
use crate::text::{after, before, begins_with, byte, ends_with, has};

/// What only a dose is measured in. In capitals the words are others: `ML`, `Drops`.
const UNITS: [&[u8]; 8] = [b"mg", b"mcg", b"ug", b"ml", b"gm", b"iu", b"meq", b"mmol"];
/// Behind a day with slashes somebody is given them: `3/4/12 tablets stopped`.
const COUNTED: [&[u8]; 8] = [
    b"tab",
    b"tabs",
    b"tablet",
    b"tablets",
    b"caps",
    b"capsules",
    b"puffs",
    b"drops",
];
/// What is given in units. `regular` is what visits are too, and stands before `insulin`.
const INSULINS: &[&str] = &[
    "insulin",
    "novolog",
    "humalog",
    "lispro",
    "aspart",
    "glulisine",
    "apidra",
    "fiasp",
    "admelog",
    "nph",
    "novolin",
    "humulin",
    "lantus",
    "levemir",
    "basaglar",
    "glargine",
];

/// Whether the three groups from `at` on are doses, and no day. Right behind a word that leads to a day, and with a
/// zero first, they are one.
pub(super) fn is_three(numbers: &Numbers<'_>, at: usize) -> bool {
    let (text, start, end) = (
        numbers.text,
        numbers.group(at).start,
        numbers.group(at + 2).end,
    );
    let clause = clause(before(text, start));
    let is_padded = (at..at + 3).any(|index| byte(text, numbers.group(index).start) == b'0');
    if is_padded || has(clause, BIRTH_WORDS) {
        return false;
    }
    let behind = after(text, end).trim_ascii_start();
    let letters = behind
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (word, rest) = behind.split_at(letters);
    let ends = matches!(
        byte(rest, 0),
        0 | b' ' | b'\n' | b'\r' | b'.' | b',' | b';' | b')'
    );
    // `3/4/12 units of blood`, `3/4/12 Unit 4B` and `3/4/12 U/S` are days.
    let is_in_units = ends
        && (word.eq_ignore_ascii_case(b"units") || word.eq_ignore_ascii_case(b"u"))
        && !begins_with(rest, &["of"]);
    let is_dashed = numbers.gap(at) == Gap::Dash;
    let is_led = ends_with(clause, DATE_WORDS)
        || ends_with(clause, DOUBTFUL_DATE_WORDS)
        || ends_with(clause, LEADS);
    let has_insulin = has(clause, INSULINS);
    // `insulin started on 3/14/24 units titrated`, `Botox 3/14/24 units 100`.
    if (!is_dashed || !has_insulin) && (is_led || is_value(rest)) {
        return false;
    }
    // `started Novolog 8-8-10 units`.
    if is_in_units && has_insulin {
        return true;
    }
    if is_led {
        return false;
    }
    if ends_with(
        clause,
        &[
            "in doses",
            "doses of",
            "strengths",
            "strengths of",
            "titrate",
            "titrate to",
            "titrated",
        ],
    ) {
        return true;
    }
    if has(clause, DATE_WORDS) || has(clause, DOUBTFUL_DATE_WORDS) {
        return false;
    }
    let is_unit = UNITS.contains(&word) || is_dashed && COUNTED.contains(&word);
    is_unit && ends || is_in_units && is_dashed
}

/// Behind a unit, a number or how many there were: `mg 1.8`, `units x2`.
fn is_value(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"x").unwrap_or(rest);
    byte(rest, 0).is_ascii_digit()
}
