//! Days without a month: `Tuesday the 4th`, `on the 14th.`

use super::{DATE, Finding, is_day};
use crate::number::Numbers;
use crate::text::{before, begins_with, byte, byte_before, ends_with, is_word, starts};

/// What is done to a patient on a day: `admitted the 3rd`, `discharged on the 9th`.
const DEEDS: &[&str] = &[
    "admitted",
    "admitted on",
    "readmitted",
    "readmitted on",
    "discharged",
    "discharged on",
    "transferred on",
    "seen on",
    "visit on",
    "appt on",
    "appointment on",
    "surgery on",
    "sutures out on",
    "staples out on",
    "stitches out on",
    "due on",
    "back on",
    "starts on",
    "started on",
    "born on",
    "died on",
];
const WEEKDAYS: [&str; 16] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "tues",
    "thurs",
    "mon",
    "tue",
    "wed",
    "thu",
    "thur",
    "fri",
    "weds",
];
/// Words right before a day of the month, and before no other thing that is counted.
const UNTIL: &[&str] = &[
    "until",
    "till",
    "til",
    "since",
    "moved to",
    "changed to",
    "pushed to",
    "rescheduled to",
    "rescheduled for",
    "scheduled for",
    "booked for",
];
/// What streets and floors are called.
const PLACES: &[&str] = &[
    "street",
    "st",
    "ave",
    "avenue",
    "floor",
    "road",
    "percentile",
    "grade",
    "century",
];
/// How a sentence goes on behind a day of the month, and behind no rib and no floor.
const GOES_ON: &[&str] = &[
    "with",
    "by",
    "for",
    "at",
    "after",
    "due to",
    "in stable",
    "in good",
    "in clinic",
    "in our",
    "in the ed",
    "in the er",
];
/// Ribs, nerves and vertebrae have smaller numbers.
const BEYOND_BODIES: u32 = 13;

pub(super) fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, group) = (numbers.text, numbers.group(at));
    let value = numbers.value(at).filter(|value| is_day(*value))?;
    let rest = text.get(group.end..)?;
    let is_ordinal = ["st", "nd", "rd", "th"]
        .iter()
        .any(|ending| starts(rest, ending.as_bytes()));
    if group.len() > 2 || !is_ordinal || is_word(byte(rest, 2)) {
        return None;
    }
    let end = group.end + 2;
    let near = before(text, group.start);
    // `Tues 15th`, where no street follows.
    let head = match near.strip_suffix(b"the ") {
        Some(head) => head,
        None if !begins_with(text.get(end..)?, PLACES) => near.strip_suffix(b" ")?,
        None => return None,
    };
    let has_article = head.len() + 1 < near.len();
    let head = head.trim_ascii_end();
    let head = head.strip_suffix(b",").unwrap_or(head);
    if let Some(day) = WEEKDAYS.iter().find(|day| ends_with(head, &[day])) {
        let start = group.start - before(text, group.start).len() + head.len() - day.len();
        return Some(Finding::new(DATE, start, end, 850));
    }
    if !has_article {
        return None;
    }
    let ends_clause = matches!(
        byte(text, end),
        0 | b'.' | b',' | b';' | b'?' | b'!' | b'\n'
    );
    let goes_on = begins_with(text.get(end..)?, GOES_ON);
    let is_told = (ends_clause || goes_on)
        && ends_with(head, DEEDS)
        && byte_before(text, group.start) == b' ';
    let is_until = || ends_clause && ends_with(head, UNTIL);
    let is_day_of_month = is_told
        || is_until()
        || value >= BEYOND_BODIES
            && ends_clause
            && ends_with(head, &["on"])
            && byte_before(text, group.start) == b' ';
    is_day_of_month.then_some(Finding::new(DATE, group.start, end, 650).contextual())
}
