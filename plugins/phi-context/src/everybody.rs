//! What is shaped like a value of somebody and is none: numbers that everybody calls, times of day, groups of ages, and
//! counts with their shares.

use phi_text::public;

use crate::code;
use crate::list::words;
use crate::tag::Sort;
use crate::token::Token;

/// What is said of ages, before a group of them.
const AGES: &[u64] = words!("age ages aged edad edades alter");
/// What has times, before a label's sign.
const TIMES: &[u64] = words!(
    "hours hour open time times shift shifts visiting daily schedule weekdays weekends hrs horario"
);
/// Tokens that are looked back for a word of [`AGES`].
const REACH: usize = 4;
/// Years of the oldest.
const OLDEST: u32 = 120;

/// Whether the value `of` of this sort is nobody's, wherever it stands; `before` are the tokens before it.
pub fn is_one(text: &str, sort: Sort, before: &[Token], of: &[Token]) -> bool {
    let (Some(first), Some(last)) = (of.first(), of.last()) else {
        return false;
    };
    let (start, end) = (first.start, last.end);
    let value = text.get(start..end).unwrap_or_default();
    if !value.starts_with(|sign: char| sign.is_ascii_digit()) {
        return false;
    }
    match sort {
        Sort::Code => {
            public::is_phone(value.as_bytes())
                || is_of_machines(value, text.get(start..).unwrap_or_default())
                || is_time_span(value) && !is_labelled(before, first)
                || is_of_table(text, before, start, end)
        }
        Sort::Age => is_of_table(text, before, start, end),
        Sort::Date => text
            .get(end..)
            .is_some_and(|behind| behind.starts_with('%')),
        Sort::Location => is_bound(text, start, value),
        Sort::Name | Sort::Address | Sort::Organization => false,
    }
}

/// `127.0.0.1:8080`, `127.0.0.1 port 3306`, `10.0.0.0/8`.
fn is_of_machines(value: &str, text: &str) -> bool {
    /// Of the largest port.
    const PORT: usize = 5;
    let Some((octets, behind)) = public::address(text) else {
        return false;
    };
    let rest = value.get(text.len() - behind.len()..).unwrap_or_default();
    rest.bytes().filter(u8::is_ascii_digit).count() <= PORT
        && (public::is_machine(octets) || public::is_network(octets, behind))
}

/// `0800-1700`.
fn is_time_span(value: &str) -> bool {
    let is_time = |time: &str| {
        let digits = time.trim();
        digits.len() == 4
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && digits
                .split_at_checked(2)
                .is_some_and(|(hour, minute)| hour <= "24" && minute < "60")
    };
    value
        .split_once(['-', '\u{2013}'])
        .is_some_and(|(from, to)| is_time(from) && is_time(to) && from != to)
}

/// Whether a word or a sign says that a code follows, and none that times do.
fn is_labelled(before: &[Token], first: &Token) -> bool {
    let is_of_times = before.last().is_some_and(|last| TIMES.contains(&last.word));
    !is_of_times && (first.gap.is_label() || code::cue(before).is_some())
}

/// `65-74: 412 (31.2%)`, `| 35-54 | 401 (39.8) |`: a group of ages, how many are in it, and their share; each alone, too,
/// and a group behind `age`.
fn is_of_table(text: &str, before: &[Token], start: usize, end: usize) -> bool {
    let row = text.get(start..).unwrap_or_default();
    let value = end - start;
    let group = group(row).unwrap_or_default();
    let behind = row.get(group..).unwrap_or_default();
    let counted = behind.trim_start_matches([' ', ':', '|', '=', ',', '\t']);
    if let Some(length) = count(counted) {
        return value <= row.len() - counted.len() + length;
    }
    let mut near = before.iter().rev().take(REACH);
    group > 0 && value <= group && near.any(|token| AGES.contains(&token.word))
}

/// Bytes of a group of ages at the head of a text: `65-74`, `85+`.
fn group(row: &str) -> Option<usize> {
    let (from, rest) = number(row)?;
    if rest.starts_with('+') && from <= OLDEST {
        return Some(row.len() - rest.len() + 1);
    }
    let (to, rest) = number(rest.strip_prefix(['-', '\u{2013}'])?)?;
    (from < to && to <= OLDEST).then_some(row.len() - rest.len())
}

/// Bytes of a count and its share at the head of a text: `412 (31.2%`, `97 (9.6`.
fn count(row: &str) -> Option<usize> {
    const ALL: u32 = 100;
    let (_, rest) = number(row)?;
    let share = rest.trim_start_matches(' ').strip_prefix('(')?;
    let (whole, rest) = number(share)?;
    let part = rest.strip_prefix('.').and_then(number);
    let end = part.map_or(rest, |(_, end)| end);
    let is_share = match end.strip_prefix('%') {
        Some(_) => true,
        None => part.is_some() && end.starts_with(')'),
    };
    (is_share && whole <= ALL).then_some(row.len() - end.len())
}

/// A number at the head of a text, and what stands behind it.
fn number(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    Some((digits.parse().ok()?, rest))
}

/// `>=85`: what is compared with, and no postal code.
fn is_bound(text: &str, start: usize, value: &str) -> bool {
    /// Digits of the shortest postal code.
    const CODE: usize = 4;
    let before = text.get(..start).unwrap_or_default();
    value.len() < CODE
        && value.bytes().all(|byte| byte.is_ascii_digit())
        && before.ends_with(['>', '<', '=', '\u{2265}', '\u{2264}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the value between bars is nobody's.
    fn is_everybodys(sort: Sort, marked: &str) -> bool {
        let bars: Vec<usize> = marked.match_indices('~').map(|(at, _)| at).collect();
        let (from, to) = (bars[0], bars[1] - 1);
        let text = marked.replace('~', "");
        let mut tokens = Vec::new();
        crate::token::read(&text, 0, text.len(), &mut tokens);
        let first = tokens.partition_point(|token| token.start < from);
        let end = tokens.partition_point(|token| token.start < to);
        is_one(&text, sort, &tokens[..first], &tokens[first..end])
    }

    #[test]
    fn numbers_of_everybody_are_no_codes() {
        for text in [
            "Poison Control: ~1-800-222-1222~",
            "server ~127.0.0.1:8080~ backup;",
            "host ~127.0.0.1 port 3306~",
            "allow ~10.0.0.0/8~;",
            "Open ~0800-1700~ daily",
            "Visiting hours: ~1000-2000~",
            "Infuse ~1400-1800~ at 75 mL/h",
            "Age group ~65-74: 412 (31.2~%)",
            "; ~75-84: 388 (29.4~%)",
            "~85+: 97~ (7.3%)",
            "| ~18-34~ | 212 (21.0) |",
            "| 18-34 | ~212 (21.0~) |",
            "Age group ~18-34~",
        ] {
            assert!(is_everybodys(Sort::Code, text), "{text}");
        }
        assert!(is_everybodys(Sort::Age, ">=85: ~97~ (7.3%)"));
        assert!(is_everybodys(Sort::Date, "(29.~4~%)"));
        assert!(is_everybodys(Sort::Location, ">=~85~: 97"));
    }

    #[test]
    fn numbers_of_somebody_are_codes() {
        for text in [
            "call ~1-800-555-0142~",
            "from ~10.12.4.71~",
            "from ~127.0.0.1 for 360-555-0198~",
            "account ~0800-1700~",
            "Code: ~0830-1630~",
            "code ~1990-1995~",
            "id ~65-74~",
            "~4471-88~ (2)",
            "group ~65-7412~",
            "~412 (312) 5550142~",
        ] {
            assert!(!is_everybodys(Sort::Code, text), "{text}");
        }
        assert!(!is_everybodys(Sort::Age, "She is ~97~ (and well)"));
        assert!(!is_everybodys(Sort::Date, "seen ~3/14~ (12%)"));
        assert!(!is_everybodys(Sort::Location, "zip=~98101~"));
    }
}
