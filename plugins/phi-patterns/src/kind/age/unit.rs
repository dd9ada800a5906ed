//! What a number counts that stands where an age may stand: `95 kg`, `92 on room air`, `91 over 60`. A sentence goes on
//! behind an age with the same small words: `97 in assisted living`, `92 on admission`.

use super::told::has_measure;
use crate::kind::clause::clause;
use crate::text::{begins_with, byte, is_word};

/// Whether what is behind a number makes it no age.
pub(super) fn is_unit(near: &[u8], behind: &[u8]) -> bool {
    begins_with(behind, UNITS) || is_unit_of_small_words(near, behind)
}

fn is_unit_of_small_words(near: &[u8], behind: &[u8]) -> bool {
    let behind = behind.trim_ascii_start();
    let Some(word) = SMALL_WORDS.iter().find(|word| begins_with(behind, &[word])) else {
        return false;
    };
    let rest = behind.get(word.len()..).unwrap_or_default();
    let counts = match *word {
        "in" => !is_followed(rest) || begins_with(rest, SIZES),
        "on" => begins_with(rest, SUPPORTS) || is_flow(rest),
        "out" => begins_with(rest, &["of"]) && rest.iter().any(u8::is_ascii_digit),
        _ => begins_with_number(rest),
    };
    counts || has_measure(clause(near))
}

const SMALL_WORDS: [&str; 5] = ["in", "on", "out", "over", "to"];

/// Whether another word follows behind a space.
fn is_followed(rest: &[u8]) -> bool {
    byte(rest, 0) == b' ' && is_word(byte(rest, 1))
}

/// `92 on 2L`, `94 on 3 liters`.
fn is_flow(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unit = rest.get(digits..).unwrap_or_default();
    digits > 0
        && begins_with(
            unit,
            &["l", "lpm", "l/min", "liter", "liters", "litres", "%"],
        )
}

/// `92 over 60`, `ninety over sixty`.
fn begins_with_number(rest: &[u8]) -> bool {
    const TENS: &[&str] = &[
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "sixty",
        "seventy",
        "eighty",
        "ninety",
        "a hundred",
        "one",
    ];
    let rest = rest.trim_ascii_start();
    let begins = |word: &&str| crate::text::starts(rest, word.as_bytes());
    byte(rest, 0).is_ascii_digit() || TENS.iter().any(begins)
}

const UNITS: &[&str] = &[
    "%",
    "percent",
    "bpm",
    "mg",
    "mcg",
    "meq",
    "mmol",
    "ml",
    "lbs",
    "lb",
    "kg",
    "pounds",
    "cm",
    "mm",
    "inches",
    "degrees",
    "/",
    "beats",
    "f",
    "c",
    "days",
    "hours",
    "hrs",
    "minutes",
    "minute",
    "min",
    "mins",
    "weeks",
    "months",
    "feet",
    "yards",
    "systolic",
    "units",
    "iu",
    "miles",
    "km",
    "percentile",
    "mmhg",
];
/// Behind `in`, which is inches then.
const SIZES: &[&str] = &["tall", "long", "wide", "thick", "deep", "high", "by", "x"];
/// What a saturation is told on.
const SUPPORTS: &[&str] = &[
    "ra",
    "room",
    "air",
    "o2",
    "oxygen",
    "nc",
    "nasal",
    "bipap",
    "cpap",
    "hfnc",
    "high flow",
    "high-flow",
    "nrb",
    "nonrebreather",
    "non-rebreather",
    "mask",
    "facemask",
    "vent",
    "ventilator",
    "trach",
    "exertion",
    "ambulation",
    "walking",
    "the monitor",
    "monitor",
    "home o2",
    "home oxygen",
    "her home o2",
    "his home o2",
    "supplemental",
    "minimal",
    "fio2",
    "baseline",
    "her baseline",
    "his baseline",
    "initial vitals",
    "the scale",
    "recheck",
];
