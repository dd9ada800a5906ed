//! Ages above 89, which Safe Harbor counts as identifiers (45 CFR 164.514(b)(2)(i)(C)). Younger ages stay.

mod limit;
mod named;
mod told;
mod unit;

use super::clause::clause;
use super::{AGE_OVER_89, Finding};
use crate::number::Numbers;
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, has, is_word};
use limit::is_limit;
use named::{is_alone, is_named};
use told::{has_measure, is_passing, is_told};
use unit::is_unit;

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
    "-yrs-old",
    "-yrs old",
    "-y-o",
    "-y.o",
    " y-o",
    "th birthday",
    "st birthday",
    "nd birthday",
    "rd birthday",
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
    "patient is",
    "mother is",
    "father is",
    "grandmother is",
    "grandfather is",
    "mom is",
    "dad is",
    "i'll be",
    "she'll be",
    "he'll be",
    "i will be",
    "she will be",
    "he will be",
    "im",
    "grandma is",
    "grandpa is",
    "husband is",
    "wife is",
    "brother is",
    "sister is",
    "aunt is",
    "uncle is",
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
/// What is said between one of them and the age.
const FATES: &[&str] = &[
    "d.",
    "died",
    "deceased",
    "alive",
    "living",
    "died at",
    "deceased at",
];
/// Deeds that somebody does at an age, which are no measures: `died at 91 in Skokie`.
const LAST_DEEDS: &[&str] = &[
    "died at",
    "passed at",
    "passed away at",
    "deceased at",
    "lived to",
    "lived to be",
    "lived until",
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
    let finding = |score: u16| Some(Finding::new(AGE_OVER_89, start, end, score).contextual());
    if is_behind_sex(text, start, end) {
        return finding(750);
    }
    let head = byte_before(text, start);
    if is_word(head)
        || matches!(head, b'_' | b'$' | b'.' | b'/' | b'-') && is_word(byte_before(text, start - 1))
    {
        return None;
    }
    let behind = after(text, end);
    if is_limit(before(text, start), behind) {
        return None;
    }
    let score = if begins_with(behind, AGE_BEHIND) {
        950
    } else if is_short_form(text, end) || is_coded(text, start, end) {
        900
    } else if is_aside(text, start, end)
        || is_appended(text, start, end)
        || is_fate(text, start, behind)
        || is_years(text, start, behind)
        || is_decade(text, start, end)
        || is_coming(text, start, behind)
        || is_told(text, start, behind)
        || is_passing(text, start, behind)
        || is_asked(text, start) && !is_unit(before(text, start), behind)
    {
        800
    } else if is_listed(text, start, end)
        || is_named(text, start, end)
        || is_alone(text, start, end)
        || is_sex_behind(behind) && !ends_with(before(text, start), NO_PERSON_BEFORE)
    {
        750
    } else if ends_with(before(text, start), AGE_BEFORE)
        && !is_measure(before(text, start), behind)
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
    finding(score)
}

/// Whether what is behind a number makes it a measure; somebody who turned it turned no inches.
fn is_measure(near: &[u8], behind: &[u8]) -> bool {
    if ends_with(near, &["turned", "turning", "turns"]) {
        return begins_with(
            behind,
            &["degrees", "degree", "%", "percent", "times", "pages"],
        );
    }
    is_unit(near, behind)
}

/// The age in a field that has one: `92`, `92 y`, `92/F`, `F 92`.
pub fn find_field(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let value = text.get(start..end)?;
    let lead = value
        .iter()
        .take_while(|byte| !byte.is_ascii_digit())
        .count();
    let rest = value.get(lead..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = rest.get(..digits).filter(|_| matches!(digits, 2 | 3))?;
    // `091Y`, as DICOM has it.
    let number = number.strip_prefix(b"0").unwrap_or(number);
    let years = number
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    // Nothing but a sex and words for years stands with it: `95 %` and `90-100` are other things.
    let is_aside = |part: &[u8]| {
        let mut words = part
            .split(|byte| b" /,.-()".contains(byte))
            .filter(|word| !word.is_empty());
        words.all(|word| {
            ASIDES
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
        })
    };
    let is_age = AGES.contains(&years)
        && value.get(..lead).is_some_and(is_aside)
        && rest.get(digits..).is_some_and(is_aside);
    let start = start + lead;
    is_age.then_some(Finding::new(AGE_OVER_89, start, start + digits, 850).contextual())
}

/// What stands with an age in a field of its own.
const ASIDES: &[&str] = &[
    "f", "m", "male", "female", "y", "yo", "yr", "yrs", "year", "years", "old", "o", "yf", "ym",
    "yof", "yom",
];

/// `Bosch 96F, fall risk`, `(hip fx, 91F, OR today)`: as lists of patients have them. Temperatures and sums of money
/// look the same.
fn is_listed(text: &[u8], start: usize, end: usize) -> bool {
    let is_sex = matches!(byte(text, end), b'F' | b'M');
    let tail = byte(text, end + 1);
    let ends_item = matches!(tail, b',' | b';' | b')' | b'\n' | b'|' | 0);
    if !is_sex || !ends_item || !matches!(byte_before(text, start), b' ' | b'(' | b'|' | b'\n' | 0)
    {
        return false;
    }
    let near = before(text, start);
    let rest = text.get(end + 1..).unwrap_or_default();
    let rest = rest.strip_prefix(b",").unwrap_or(rest);
    !has(near, MEASURED_IN_F_OR_M)
        && !ends_with(near, NO_PERSON_BEFORE)
        && !begins_with(
            rest,
            &[
                "hr", "bp", "rr", "pulse", "p", "spo2", "o2", "sat", "sats", "t",
            ],
        )
}

/// Words of temperatures, and of what is counted in millions.
const MEASURED_IN_F_OR_M: &[&str] = &[
    "temp",
    "temps",
    "temperature",
    "t",
    "tmax",
    "fever",
    "fevers",
    "febrile",
    "afebrile",
    "hypothermia",
    "hypothermic",
    "warm",
    "warmed",
    "oral",
    "rectal",
    "tympanic",
    "axillary",
    "degrees",
    "heat",
    "water",
    "oven",
    "vitals",
    "vs",
    "revenue",
    "records",
    "rows",
    "parameters",
    "params",
    "tokens",
    "budget",
    "cost",
    "costs",
    "users",
    "funding",
    "raised",
    "market",
    "model",
    "models",
    "size",
    "usd",
    "over",
    "about",
    "around",
    "than",
    "up",
];

/// `she will be 100 in the fall`, where the age comes with a time of the year.
fn is_coming(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    let is_at = begins_with(
        behind,
        &[
            "in the", "this", "next", "on her", "on his", "soon", "in a", "tomorrow",
        ],
    );
    let clause = clause(near);
    let begins_clause = clause.trim_ascii().len() <= "will be".len();
    is_at
        && ends_with(near, &["will be", "would be", "will turn", "would turn"])
        && (begins_clause
            || has(clause, KIN)
            || has(clause, &["she", "he", "who", "mr", "mrs", "ms"]))
}

/// What a number with `F` or `M` behind it is besides.
const NO_PERSON_BEFORE: &[&str] = &[
    "temp",
    "t",
    "temperature",
    "of",
    "tmax",
    "temp:",
    "t:",
    "to",
    "at",
];

/// `F/93 with`: as sex and age stand in a list of patients.
fn is_behind_sex(text: &[u8], start: usize, end: usize) -> bool {
    let head = before(text, start);
    let is_sex = matches!(head, [.., b'F' | b'M', b'/']);
    is_sex
        && !is_word(byte_before(head, head.len() - 2))
        && !is_word(byte(text, end))
        && !matches!(byte(text, end), b'/' | b'%' | b'.')
}

/// `[094Y]`, an age as DICOM writes it (PS3.5, value representation AS).
fn is_coded(text: &[u8], start: usize, end: usize) -> bool {
    end - start == 3
        && byte_before(text, start) == b'['
        && byte(text, end) == b'Y'
        && !is_word(byte(text, end + 1))
}

/// `Ms. Lee (94) was`, `Vandenberghe, 97, of`.
fn is_appended(text: &[u8], start: usize, end: usize) -> bool {
    let near = before(text, start);
    match (near, byte(text, end)) {
        ([head @ .., b' ', b'('], b')') => {
            // The title stands one or two words before the bracket.
            let mut words = head.rsplit(|byte| *byte == b' ').take(3);
            words.any(|word| begins_with(word, &["mr", "mrs", "ms", "miss"]))
        }
        ([head @ .., b',', b' '], b',') => {
            let name = head.rsplit(|byte| *byte == b' ').next().unwrap_or(head);
            let is_name = byte(name, 0).is_ascii_uppercase()
                && name.len() > 2
                && name
                    .iter()
                    .all(|byte| is_word(*byte) && !byte.is_ascii_digit());
            is_name && begins_with(after(text, end + 1), SAID_OF_SOMEBODY)
        }
        _ => false,
    }
}

const SAID_OF_SOMEBODY: &[&str] = &[
    "of",
    "who",
    "was",
    "is",
    "died",
    "passed",
    "has",
    "lives",
    "presents",
    "presented",
    "male",
    "female",
];

/// `died at 91 in Skokie`, `father d. 93`.
fn is_fate(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start).trim_ascii_end();
    let is_measure = begins_with(
        behind,
        &["%", "percent", "days", "weeks", "months", "hours"],
    );
    if is_measure {
        return false;
    }
    ends_with(near, LAST_DEEDS)
        || FATES.iter().any(|fate| {
            let len = near.len().saturating_sub(fate.len());
            ends_with(near, &[fate]) && ends_with(near.get(..len).unwrap_or_default(), KIN)
        })
}

/// `95 yrs`, where nothing says that it is a while.
fn is_years(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let Some(rest) = ["yrs", "yr"].iter().find_map(|years| {
        begins_with(behind, &[years]).then(|| behind.trim_ascii_start().get(years.len()..))?
    }) else {
        return false;
    };
    !begins_with(
        rest,
        &[
            "ago", "of", "later", "since", "prior", "before", "after", ".",
        ],
    ) && !ends_with(
        before(text, start),
        &[
            "for", "in", "over", "the", "past", "last", "within", "after", "than", "x",
        ],
    )
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
        && is_of_life(before(text, start))
        && ends_with(
            text.get(start..end).unwrap_or_default(),
            &["90", "100", "110"],
        )
}

/// Whether the words before a decade tell of somebody's life, not of a pressure or of a time: `sats in the mid 90s`.
fn is_of_life(near: &[u8]) -> bool {
    const WHOSE: &[&str] = &[
        "her", "his", "their", "my", "she", "he", "she's", "he's", "age", "aged", "woman", "man",
        "lady",
    ];
    if !ends_with(near, DECADE_BEFORE) {
        return false;
    }
    let is_somebodys = ends_with(
        near,
        &[
            "in her", "in his", "in their", "in my", "into her", "into his",
        ],
    );
    is_somebodys || has(near, WHOSE) && !has_measure(near)
}

const DECADE_BEFORE: &[&str] = &[
    "in her", "in his", "in their", "in my", "into her", "into his", "mid", "late", "early", "mid-",
];

/// `92F with`, `94 M presents`.
fn is_sex_behind(behind: &[u8]) -> bool {
    let is_shouted = matches!(byte(behind, 0), b'F' | b'M');
    let behind = behind.strip_prefix(b" ").unwrap_or(behind);
    let is_sex = matches!(byte(behind, 0), b'F' | b'M' | b'f' | b'm') && !is_word(byte(behind, 1));
    let rest = behind.get(1..).unwrap_or_default();
    // `94F UTI`: in a list of patients the reason follows in capitals.
    let is_reason = is_shouted
        && matches!(rest, [b' ', a, b, ..] if a.is_ascii_uppercase() && b.is_ascii_uppercase());
    is_sex && (is_reason || begins_with(rest, SUBJECT_BEHIND))
}

const ONES: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
];

/// From the word `ninety`, `nineties`, `nonagenarian` or `hundred`, spelt out: `ninety-two year old`, `in her nineties`.
pub fn find_spelt(text: &[u8], start: usize, word_end: usize) -> Option<Finding> {
    if text.get(start..word_end)?.eq_ignore_ascii_case(b"nineties") {
        let is_age = ends_with(before(text, start), DECADE_BEFORE);
        return is_age.then_some(Finding::new(AGE_OVER_89, start, word_end, 800).contextual());
    }
    if word_end - start > "nineties".len() {
        return Some(Finding::new(AGE_OVER_89, start, word_end, 800));
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
    let behind = after(text, end);
    let is_age = begins_with(behind, AGE_BEHIND)
        || ends_with(before(text, first), AGE_BEFORE) && !is_unit(before(text, first), behind)
        || is_told(text, first, behind)
        || is_passing(text, first, behind);
    is_age.then_some(Finding::new(AGE_OVER_89, first, end, 850).contextual())
}

fn starts_at(text: &[u8], at: usize, word: &[u8]) -> bool {
    text.get(at..)
        .is_some_and(|text| crate::text::starts(text, word))
}
