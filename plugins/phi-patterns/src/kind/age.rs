//! Ages above 89, which Safe Harbor counts as identifiers (45 CFR 164.514(b)(2)(i)(C)). Younger ages stay.

use super::{AGE_OVER_89, Finding};
use crate::number::Numbers;
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, has, is_word};

/// Ages that are told; nobody is older.
const AGES: std::ops::RangeInclusive<u32> = 90..=125;

const AGE_BEHIND: &[&str] = &[
    "year old",
    "year-old",
    "years old",
    "years-old",
    "yr old",
    "yr-old",
    "yrs old",
    "years of age",
    "year of age",
    "yo",
    "y/o",
    "y.o",
    "yr/old",
    "yom",
    "yof",
    "y o ",
    "-year-old",
    "-year old",
    "-yr-old",
    "-yo",
    "-y/o",
    "year young",
    "years young",
    "y.o.",
    "yrs of age",
    "-years-old",
];
const AGE_BEFORE: &[&str] = &[
    "age",
    "aged",
    "age:",
    "ages",
    "age of",
    "age is",
    "age was",
    "age =",
    "age=",
    "turned",
    "turning",
    "turns",
    "\"age\":",
    "\"age\": ",
    "she is",
    "he is",
    "she's",
    "he's",
    "i am",
    "i'm",
    "she was",
    "he was",
    "now",
    "patient is",
    "mother is",
    "father is",
    "grandmother is",
    "grandfather is",
    "my mom is",
    "my dad is",
    "im",
    "grandma is",
    "grandpa is",
    "husband is",
    "wife is",
    "brother is",
    "sister is",
    "aunt is",
    "uncle is",
    "died at",
    "passed at",
    "passed away at",
    "age/sex:",
    "sex/age:",
    "pt is",
    "client is",
    "resident is",
];
/// Those whose age may stand behind a comma or in brackets: `my mother, 92, fell`, `her dad (93)`.
const KIN: &[&str] = &[
    "mother",
    "father",
    "mom",
    "dad",
    "grandmother",
    "grandfather",
    "grandma",
    "grandpa",
    "husband",
    "wife",
    "brother",
    "sister",
    "aunt",
    "uncle",
    "patient",
    "pt",
];
/// What a number behind one of those words may count instead.
const UNITS: &[&str] = &[
    "%",
    "percent",
    "bpm",
    "mg",
    "mcg",
    "ml",
    "lbs",
    "lb",
    "kg",
    "pounds",
    "cm",
    "mm",
    "in",
    "inches",
    "degrees",
    "on",
    "over",
    "/",
    "beats",
    "f",
    "c",
    "days",
    "hours",
    "minutes",
    "weeks",
    "months",
    "feet",
    "systolic",
    "to",
    "units",
    "out",
    "miles",
    "percentile",
    "mmhg",
];
const SUBJECT_BEHIND: &[&str] = &[
    "with",
    "who",
    "presents",
    "presenting",
    "presented",
    "c/o",
    "hx",
    "pmh",
    "s/p",
    "w/",
    "w",
    "here",
    "admitted",
    "h/o",
    "found",
    "from",
    "brought",
    "bib",
    "pod",
];

/// From a group of digits.
pub fn find_number(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    let (text, start, end) = (numbers.text, group.start, group.end);
    if !matches!(group.len(), 2 | 3) || !AGES.contains(&numbers.value(at)?) {
        return None;
    }
    let head = byte_before(text, start);
    if is_word(head)
        || matches!(head, b'_' | b'$' | b'.' | b'/' | b'-') && is_word(byte_before(text, start - 1))
    {
        return None;
    }
    let behind = after(text, end);
    let score = if begins_with(behind, AGE_BEHIND) {
        950
    } else if is_short_form(text, end) {
        900
    } else if is_aside(text, start, end)
        || is_decade(text, start, end)
        || is_asked(text, start) && !begins_with(behind, UNITS)
    {
        800
    } else if is_sex_behind(behind)
        && !ends_with(before(text, start), &["temp", "t", "temperature", "of"])
    {
        750
    } else if ends_with(before(text, start), AGE_BEFORE)
        && !begins_with(behind, UNITS)
        && (!is_word(byte(text, end)) || begins_with(behind, &["y", "yr", "yrs", "years"]))
        && !matches!(
            (byte(text, end), byte(text, end + 1)),
            (b'.' | b',' | b'-' | b'/', b'0'..=b'9')
        )
    {
        800
    } else {
        return None;
    };
    Some(Finding::new(AGE_OVER_89, start, end, score).contextual())
}

/// `92yM`, `96 y F`, `94y/oF`, `95/M`, `93yr female`.
fn is_short_form(text: &[u8], end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let years: [&[u8]; 6] = [b"y/o", b"yrs", b"yr", b"yo", b"y", b"/"];
    let Some(years) = years.iter().find(|years| crate::text::starts(rest, years)) else {
        return false;
    };
    let rest = rest.get(years.len()..).unwrap_or_default();
    let rest = match rest {
        [b' ' | b'/', rest @ ..] if *years != b"/" => rest,
        _ => rest,
    };
    begins_with(rest, &["f", "m", "female", "male", "woman", "man"])
        && !rest.first().is_some_and(u8::is_ascii_whitespace)
}

/// `my mother, 92, fell`.
fn is_aside(text: &[u8], start: usize, end: usize) -> bool {
    let near = before(text, start);
    let head = match (near, byte(text, end)) {
        ([head @ .., b',', b' '], b',') | ([head @ .., b' ', b'('], b')') => head,
        _ => return false,
    };
    ends_with(head, KIN)
}

/// `How old are you? 93`.
fn is_asked(text: &[u8], start: usize) -> bool {
    let head = before(text, start).trim_ascii_end();
    matches!(byte_before(head, head.len()), b'?' | b':') && has(head, &["how old"])
}

/// `in her 90s`.
fn is_decade(text: &[u8], start: usize, end: usize) -> bool {
    let behind = text.get(end..).unwrap_or_default();
    let is_plural = (begins_with(behind, &["s"]) && byte(text, end) == b's')
        || behind.starts_with(b"'s") && !is_word(byte(text, end + 2));
    is_plural
        && ends_with(before(text, start), DECADE_BEFORE)
        && ends_with(
            text.get(start..end).unwrap_or_default(),
            &["90", "100", "110"],
        )
}

const DECADE_BEFORE: &[&str] = &[
    "in her", "in his", "in their", "in the", "in my", "into her", "into his", "mid", "late",
    "early", "mid-",
];

/// `92F with`, `94 M presents`.
fn is_sex_behind(behind: &[u8]) -> bool {
    let behind = behind.strip_prefix(b" ").unwrap_or(behind);
    let is_sex = matches!(byte(behind, 0), b'F' | b'M' | b'f' | b'm') && !is_word(byte(behind, 1));
    is_sex && (begins_with(behind.get(1..).unwrap_or_default(), SUBJECT_BEHIND))
}

const ONES: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
];

/// From the word `ninety`, `nineties` or `hundred`, spelt out: `ninety-two year old`, `in her nineties`.
pub fn find_spelt(text: &[u8], start: usize, word_end: usize) -> Option<Finding> {
    if text.get(start..word_end)?.eq_ignore_ascii_case(b"nineties") {
        let is_age = ends_with(before(text, start), DECADE_BEFORE);
        return is_age.then_some(Finding::new(AGE_OVER_89, start, word_end, 800).contextual());
    }
    let is_hundred = text.get(start..word_end)?.eq_ignore_ascii_case(b"hundred");
    let mut end = word_end;
    let rest = text.get(end..)?;
    let gap = usize::from(matches!(byte(rest, 0), b' ' | b'-'));
    let gap = if starts_at(rest, gap, b"and ") {
        gap + 4
    } else {
        gap
    };
    let tail = rest.get(gap..)?;
    if let Some(word) = ONES
        .iter()
        .find(|word| begins_with(tail, &[word]) && !tail.starts_with(b" "))
    {
        end += gap + word.len();
    }
    let mut first = start;
    if is_hundred {
        let head = before(text, start);
        let one = ["one ", "a "].iter().find(|one| {
            head.len() >= one.len()
                && head
                    .get(head.len() - one.len()..)
                    .is_some_and(|tail| tail.eq_ignore_ascii_case(one.as_bytes()))
        })?;
        first = start - one.len();
    }
    let is_age = begins_with(after(text, end), AGE_BEHIND)
        || ends_with(before(text, first), AGE_BEFORE) && !begins_with(after(text, end), UNITS);
    is_age.then_some(Finding::new(AGE_OVER_89, first, end, 850).contextual())
}

fn starts_at(text: &[u8], at: usize, word: &[u8]) -> bool {
    text.get(at..)
        .is_some_and(|text| crate::text::starts(text, word))
}
