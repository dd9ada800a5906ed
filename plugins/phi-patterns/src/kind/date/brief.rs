//! Days in the short forms that a language or a field has: `am 17.3.`, `Feb3`, `3-II-2026`, `2026-W06-2`.

use super::named::month_end;
use super::{DATE, Finding, YEARS, is_day, is_glued, is_month};
use crate::number::{Gap, Numbers};
use crate::text::{before, byte, byte_before, ends_with, is_word};

/// From a group of digits.
pub(super) fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    let is_glued = is_glued(numbers.text, group.start);
    match group.len() {
        1 | 2 if numbers.gap(at) == Gap::Dot && !is_glued => {
            pointed(numbers, at).or_else(|| with_roman(numbers, at))
        }
        1 | 2 if is_glued => behind_month(numbers, at),
        1 | 2 => with_roman(numbers, at),
        4 if !is_glued => of_week(numbers, at).or_else(|| of_year(numbers, at)),
        _ => None,
    }
}

/// Words before a day and a month in German: a point ends it.
const GERMAN: &[&str] = &[
    "am", "vom", "ab", "bis", "seit", "zum", "den", "geb", "geb.", "geboren",
];
/// And in Polish, where none does.
const POLISH: &[&str] = &["dnia", "dn."];

/// `am 17.3. um 8:30`, `geboren am 2.6.`, `dnia 3.02`. `8 am 3.2.` is English.
fn pointed(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, start) = (numbers.text, numbers.group(at).start);
    let end = numbers.group(at + 1).end;
    let fits = is_day(numbers.value(at)?)
        && is_month(numbers.value(at + 1)?)
        && numbers.group(at + 1).len() <= 2
        && !is_word(byte(text, end));
    let is_pointed = byte(text, end) == b'.';
    // Behind a point a year may go on.
    let is_whole = !is_pointed || !is_word(byte(text, end + 1));
    let near = before(text, start);
    let is_hour = || {
        let head = near.trim_ascii_end();
        let hour = head.strip_suffix(b"am").unwrap_or_default();
        hour.trim_ascii_end().last().is_some_and(u8::is_ascii_digit)
    };
    let is_led = || {
        is_pointed && ends_with(near, GERMAN) && !is_hour()
            || numbers.group(at + 1).len() == 2 && ends_with(near, POLISH)
    };
    (fits && is_whole && is_led()).then_some(Finding::new(DATE, start, end, 750).contextual())
}

/// `Feb3 f/u`: a month with a capital and a day. Genes are called `Oct4` and `Dec1`.
fn behind_month(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    /// Letters of the longest short form.
    const LETTERS: usize = 4;
    let (text, group) = (numbers.text, numbers.group(at));
    let head = text.get(group.start.saturating_sub(LETTERS + 1)..group.start)?;
    let letters = head
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphabetic());
    let start = group.start - letters.count();
    let name = text.get(start..group.start)?;
    let is_written = matches!(name, [b'A'..=b'Z', rest @ ..]
        if (2..LETTERS).contains(&rest.len()) && rest.iter().all(u8::is_ascii_lowercase));
    let is_gene = group.len() == 1 && matches!(name, b"Oct" | b"Dec" | b"Sept");
    let ends = matches!(
        byte(text, group.end),
        0 | b' ' | b',' | b';' | b')' | b':' | b'\n'
    ) || byte(text, group.end) == b'.' && !is_word(byte(text, group.end + 1));
    let begins = !is_word(byte_before(text, start))
        && !matches!(byte_before(text, start), b'_' | b'-' | b'.' | b'/');
    let fits = is_written
        && !is_gene
        && ends
        && begins
        && is_day(numbers.value(at)?)
        && month_end(text, start) == Some(group.start);
    fits.then_some(Finding::new(DATE, start, group.end, 700).contextual())
}

/// `3-II-2026`, `03.II.26`.
fn with_roman(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    const MONTHS: [&[u8]; 12] = [
        b"I", b"II", b"III", b"IV", b"V", b"VI", b"VII", b"VIII", b"IX", b"X", b"XI", b"XII",
    ];
    let (text, group) = (numbers.text, numbers.group(at));
    let sign = byte(text, group.end);
    if !matches!(sign, b'-' | b'.') || is_glued(text, group.start) {
        return None;
    }
    let rest = text.get(group.end + 1..)?;
    let letters = rest
        .iter()
        .take_while(|byte| matches!(byte, b'I' | b'V' | b'X'))
        .count();
    let is_month = rest
        .get(..letters)
        .is_some_and(|month| MONTHS.contains(&month));
    let year = rest.get(letters + 1..)?;
    let digits = year.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = group.end + 1 + letters + 1 + digits;
    let fits = is_month
        && byte(rest, letters) == sign
        && is_day(numbers.value(at)?)
        && matches!(digits, 2 | 4)
        && !is_word(byte(text, end));
    fits.then_some(Finding::new(DATE, group.start, end, 750))
}

/// `2026-W06-2`: a day of a week of a year (ISO 8601).
fn of_week(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, group) = (numbers.text, numbers.group(at));
    let end = group.end + "-W06-2".len();
    let is_week = matches!(
        text.get(group.end..end)?,
        [b'-', b'W', b'0'..=b'5', b'0'..=b'9', b'-', b'1'..=b'7']
    );
    let fits = is_week && YEARS.contains(&numbers.value(at)?) && !is_word(byte(text, end));
    fits.then_some(Finding::new(DATE, group.start, end, 850))
}

/// `on day 2026/034`: a year and a day of it.
fn of_year(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, start) = (numbers.text, numbers.group(at).start);
    let end = numbers.group(at + 1).end;
    let fits = matches!(numbers.gap(at), Gap::Slash | Gap::Dash)
        && numbers.group(at + 1).len() == 3
        && YEARS.contains(&numbers.value(at)?)
        && (1..=366).contains(&numbers.value(at + 1)?)
        && !is_word(byte(text, end))
        && ends_with(
            before(text, start),
            &["day", "doy", "julian", "julian date"],
        );
    fits.then_some(Finding::new(DATE, start, end, 700).contextual())
}
