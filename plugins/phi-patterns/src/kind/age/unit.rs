//! What a number counts that stands where an age may stand: `95 kg`, `92 on room air`, `91 over 60`. A sentence goes on
//! behind an age with the same small words: `97 in assisted living`, `92 on admission`.

use super::told::is_measured;
use crate::text::{begins_with, byte, has, is_word};

/// Whether what is behind a number makes it no age.
pub(super) fn is_unit(near: &[u8], behind: &[u8]) -> bool {
    begins_with(behind, UNITS) && !is_help(behind) || is_unit_of_small_words(near, behind)
}

/// `94 min assist`, `94 min A for transfers`: how much help somebody needs, and no minutes.
fn is_help(behind: &[u8]) -> bool {
    const HELP: &[&str] = &[
        "min assist",
        "min-assist",
        "min asst",
        "min-mod",
        "min/mod",
        "min to mod",
        "min guard",
    ];
    let shouted = behind.trim_ascii_start().strip_prefix(b"min A");
    begins_with(behind, HELP) || shouted.is_some_and(|rest| !is_word(byte(rest, 0)))
}

fn is_unit_of_small_words(near: &[u8], behind: &[u8]) -> bool {
    let behind = behind.trim_ascii_start();
    let Some(word) = SMALL_WORDS.iter().find(|word| begins_with(behind, &[word])) else {
        return false;
    };
    let rest = behind.get(word.len()..).unwrap_or_default();
    let counts = match *word {
        "in" => {
            !is_followed(rest)
                || begins_with(rest, SIZES)
                || begins_with(rest, RHYTHMS)
                || begins_with(rest, &["triage"]) && has(rest, &["bp", "hr", "rr", "sats", "spo2"])
        }
        "on" => begins_with(rest, SUPPORTS) || is_flow(rest),
        "out" => begins_with(rest, &["of"]) && rest.iter().any(u8::is_ascii_digit),
        _ => begins_with_number(rest),
    };
    counts || is_measured(near, behind)
}

const SMALL_WORDS: [&str; 5] = ["in", "on", "out", "over", "to"];

/// Whether another word follows behind a space.
fn is_followed(rest: &[u8]) -> bool {
    byte(rest, 0) == b' ' && is_word(byte(rest, 1))
}

/// `92 on 2L`, `94 on 2-3 liters`, `93 on 1.5 L`, `92 on two liters`.
fn is_flow(rest: &[u8]) -> bool {
    const NUMBERS: [&str; 8] = [
        "one", "two", "three", "four", "five", "six", "ten", "fifteen",
    ];
    let rest = rest.trim_ascii_start();
    let digits = rest
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
        .count();
    let word = NUMBERS.iter().find(|word| begins_with(rest, &[word]));
    let unit = rest.get(word.map_or(digits, |word| word.len())..);
    (digits > 0 || word.is_some())
        && begins_with(
            unit.unwrap_or_default(),
            &["l", "lnc", "lpm", "l/min", "liter", "liters", "litres", "%"],
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
/// Behind `in`, how a heart beats.
const RHYTHMS: &[&str] = &[
    "afib",
    "a-fib",
    "a fib",
    "af",
    "aflutter",
    "a-flutter",
    "flutter",
    "sinus",
    "nsr",
    "svt",
    "rvr",
    "vt",
    "vtach",
];
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
    "her o2",
    "his o2",
    "her oxygen",
    "his oxygen",
    "venti",
    "venturi",
    "face mask",
    "vapotherm",
    "airvo",
    "optiflow",
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
