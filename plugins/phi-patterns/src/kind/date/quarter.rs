//! Quarters of a year in which something was done for somebody: `Seen Q3 2024`, `1Q25 visit`, `in the second quarter of
//! 2024`. What firms count by quarters stays.

use super::{DATE, Finding, YEARS};
use crate::number::Numbers;
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, is_word, starts};

/// What is done, right before a quarter, perhaps with `in` between.
const DEEDS: &[&str] = &[
    "seen",
    "last seen",
    "visit",
    "visited",
    "admitted",
    "admission",
    "readmitted",
    "hospitalized",
    "hospitalised",
    "discharged",
    "surgery",
    "appt",
    "appointment",
    "diagnosed",
    "dx",
    "dx'd",
    "died",
    "born",
    "delivered",
    "treated",
    "chemo",
    "f/u",
    "follow-up",
    "follow up",
    "colonoscopy",
    "mammogram",
    "mri",
    "labs",
    "relapsed",
    "transplanted",
];
/// Or behind it.
const DONE: &[&str] = &[
    "visit",
    "visits",
    "admission",
    "appt",
    "appointment",
    "surgery",
    "hospitalization",
    "labs",
    "mri",
    "colonoscopy",
    "mammogram",
    "f/u",
    "follow-up",
    "relapse",
    "flare",
];
const ORDINALS: &[&str] = &[
    "first", "second", "third", "fourth", "last", "1st", "2nd", "3rd", "4th",
];
const WORD: &str = "quarter";

/// From a group of digits: the year, or the quarter of `1Q25`.
pub(super) fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, group) = (numbers.text, numbers.group(at));
    let (start, end) = match group.len() {
        1 => (group.start, behind_quarter(text, group.start)?),
        4 if YEARS.contains(&numbers.value(at)?) => (quarter_start(text, group.start)?, group.end),
        _ => return None,
    };
    let near = before(text, start);
    let led = ["in the", "in", "on", ":"]
        .iter()
        .find(|lead| ends_with(near, &[**lead]))
        .and_then(|lead| {
            near.trim_ascii_end()
                .get(..near.trim_ascii_end().len() - lead.len())
        })
        .unwrap_or(near);
    let is_done = ends_with(led, DEEDS) || begins_with(after(text, end), DONE);
    (is_done && !is_word(byte_before(text, start)) && !is_word(byte(text, end)))
        .then_some(Finding::new(DATE, start, end, 700).contextual())
}

/// Where `1Q25` and `2Q2024` end.
fn behind_quarter(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let [b'1'..=b'4', b'Q' | b'q', year @ ..] = rest else {
        return None;
    };
    let digits = year.iter().take_while(|byte| byte.is_ascii_digit()).count();
    matches!(digits, 2 | 4).then_some(start + 2 + digits)
}

/// Where the quarter before a year begins: `Q3 2024`, `second quarter of 2024`.
fn quarter_start(text: &[u8], year: usize) -> Option<usize> {
    let near = before(text, year);
    let near = near
        .strip_suffix(b" ")
        .or(near.strip_suffix(b"-"))
        .or(near.strip_suffix(b"/"))?;
    if let [.., b'Q' | b'q', b'1'..=b'4'] = near {
        return Some(year - 1 - "Q3".len());
    }
    let near = near.strip_suffix(b" of").unwrap_or(near);
    let head = near.len().checked_sub(WORD.len())?;
    if !starts(near.get(head..)?, WORD.as_bytes()) {
        return None;
    }
    let head = near.get(..head)?.strip_suffix(b" ")?;
    let ordinal = ORDINALS
        .iter()
        .find(|ordinal| ends_with(head, &[**ordinal]))?;
    let from_near = before(text, year).len() - (head.len() - ordinal.len());
    Some(year - from_near)
}
