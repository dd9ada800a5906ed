//! One pass over a text: the class of each byte says which finders are worth asking.

use std::cmp::Reverse;

use phi_text::label;

use crate::abroad;
use crate::kind::{self, CODE_FINDERS, Finding, NUMBER_FINDERS};
use crate::number::Numbers;
use crate::text::{byte, byte_before, is_word};
use crate::trigger::{TRIGGERS, Trigger};

/// Nothing starts here.
const NOTHING: u8 = 0;
const DIGIT: u8 = 1;
const LETTER: u8 = 2;
const AT: u8 = 3;
const DOT: u8 = 4;
/// Part of a character beyond ASCII.
const BEYOND: u8 = 5;
const COLON: u8 = 6;

const CLASSES: [u8; 256] = {
    let mut classes = [NOTHING; 256];
    let mut byte = 0;
    while byte < 256 {
        let value = byte as u8;
        classes[byte] = if value.is_ascii_digit() {
            DIGIT
        } else if value.is_ascii_alphabetic() {
            LETTER
        } else if value >= 0x80 {
            BEYOND
        } else {
            match value {
                b'@' => AT,
                b'.' => DOT,
                b':' => COLON,
                _ => NOTHING,
            }
        };
        byte += 1;
    }
    classes
};

/// Appends the findings in `text`, sorted by start.
pub fn scan(text: &[u8], findings: &mut Vec<Finding>) {
    let first = findings.len();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at = match CLASSES.get(byte as usize) {
            Some(&DIGIT) => digits(text, at, findings),
            Some(&LETTER) => word(text, at, findings),
            Some(&AT) => take(kind::email::find(text, at), findings).unwrap_or(at + 1),
            Some(&DOT) => take(kind::url::find_bare(text, at), findings).unwrap_or(at + 1),
            // Letters right behind are no word of their own.
            Some(&BEYOND) => beyond(text, at, findings),
            Some(&COLON) => {
                abroad::find(text, at, findings);
                at + 1
            }
            _ => at + 1,
        };
    }
    crate::field::find(text, findings);
    // A finding may begin before the place that gave it away.
    if let Some(found) = findings.get_mut(first..) {
        found.sort_by_key(|finding| (finding.start, Reverse(finding.end), finding.kind));
    }
    // A field may be seen under its place and under its words.
    let mut kept = first;
    for at in first..findings.len() {
        let Some(&finding) = findings.get(at) else {
            continue;
        };
        let is_double = findings.get(first..kept).is_some_and(|kept| {
            kept.iter().rev().take(MAX_DOUBLES).any(|other| {
                other.kind == finding.kind
                    && other.start <= finding.start
                    && finding.end <= other.end
            })
        });
        if !is_double && !phi_text::color::is_one(text, finding.start, finding.end) {
            if let Some(slot) = findings.get_mut(kept) {
                *slot = finding;
            }
            kept += 1;
        }
    }
    findings.truncate(kept);
}

/// Findings of one place: a value is found at most this often.
const MAX_DOUBLES: usize = 4;

/// Asks for each group of digits in turn; gives the place to go on from.
fn digits(text: &[u8], at: usize, findings: &mut Vec<Finding>) -> usize {
    if let Some(end) = code(text, at, findings) {
        return end;
    }
    let numbers = Numbers::read(text, at);
    for index in 0..numbers.count() {
        let found = NUMBER_FINDERS.iter().find_map(|find| find(&numbers, index));
        if let Some(end) = take(found, findings) {
            return end;
        }
        // A later group may begin a code of its own: `12 1EG4-TE5-MK73`.
        if index > 0
            && let Some(end) = code(text, numbers.group(index).start, findings)
        {
            return end;
        }
    }
    // Everything up to the last group has been asked; a run that was cut off goes on with a fresh one.
    numbers
        .group(numbers.count().saturating_sub(1))
        .end
        .max(at + 1)
}

/// Asks for the run of letters and digits at `at`, where one begins there.
fn code(text: &[u8], at: usize, findings: &mut Vec<Finding>) -> Option<usize> {
    let head = byte_before(text, at);
    if is_word(head) || head == b'_' {
        return None;
    }
    let end = run_end(text, at);
    // Shorter ones only where a sign goes on.
    let may_be_one = end - at >= 4 || matches!(byte(text, end), b':' | b'-');
    if !may_be_one || is_word(byte(text, end)) {
        return None;
    }
    let found = CODE_FINDERS.iter().find_map(|find| find(text, at, end));
    take(found, findings)
}

/// The word at `at`: a code, or the sign of one. Gives the place to go on from.
fn word(text: &[u8], at: usize, findings: &mut Vec<Finding>) -> usize {
    let word = Word::at(text, at);
    let end = word.end;
    let behind = byte(text, end);
    // Words without a digit are no codes, but for hexadecimal ones.
    let may_be_code = behind.is_ascii_digit() || matches!(behind, b':' | b'-') && end - at <= 8;
    if may_be_code && let Some(end) = code(text, at, findings) {
        return end;
    }
    let trigger = TRIGGERS.longest_behind(text, at, end, word.hash);
    if let Some(end) = triggered(text, at, end, trigger, findings) {
        return end;
    }
    if word.has_parts {
        let mut part = next_part(text, at, end);
        while part < end {
            let trigger = TRIGGERS.longest_at(text, part);
            if let Some(end) = triggered(text, part, end, trigger, findings) {
                return end;
            }
            part = next_part(text, part, end);
        }
    }
    if behind >= 0x80 {
        beyond(text, end, findings)
    } else {
        end
    }
}

/// A run of letters of ASCII.
struct Word {
    end: usize,
    hash: u64,
    /// Whether a capital stands behind a small letter: `patientMrn` has its label there.
    has_parts: bool,
}

impl Word {
    fn at(text: &[u8], at: usize) -> Self {
        let (mut end, mut hash, mut capitals) = (at, label::EMPTY, 0);
        while let Some(&byte) = text.get(end) {
            let small = byte | 0x20;
            if !small.is_ascii_lowercase() {
                break;
            }
            hash = label::mix_small(hash, small);
            capitals += usize::from(byte != small);
            end += 1;
        }
        let is_first = byte(text, at).is_ascii_uppercase();
        Self {
            end,
            hash,
            has_parts: capitals > usize::from(is_first) && next_part(text, at, end) < end,
        }
    }
}

/// Where the next part begins, behind a small letter.
fn next_part(text: &[u8], part: usize, end: usize) -> usize {
    let mut at = part + 1;
    while at < end {
        if byte(text, at).is_ascii_uppercase() && byte(text, at - 1).is_ascii_lowercase() {
            return at;
        }
        at += 1;
    }
    end
}

fn triggered(
    text: &[u8],
    at: usize,
    word_end: usize,
    trigger: Option<(usize, &Trigger)>,
    findings: &mut Vec<Finding>,
) -> Option<usize> {
    let (label_end, trigger) = trigger?;
    match trigger {
        Trigger::Month => take(month(text, at, label_end == word_end, word_end), findings),
        Trigger::Holiday => take(kind::date::find_holiday(text, at, label_end), findings),
        Trigger::Season => take(kind::date::find_season(text, at, label_end), findings),
        Trigger::Slash => take(kind::spoken::find_slashed(text, at, label_end), findings),
        Trigger::Url => take(kind::url::find(text, at, label_end), findings),
        Trigger::Mail => take(kind::email::find_said(text, at, label_end), findings),
        Trigger::Place => kind::identifier::find_place(text, label_end, findings),
        Trigger::Home => take(kind::identifier::find_owner(text, at, label_end), findings),
        Trigger::Ninety => take(kind::age::find_spelt(text, at, label_end), findings),
        Trigger::Label(..) | Trigger::Word(..) => {
            // A label goes on in small letters only where it is a longer word.
            if byte(text, label_end).is_ascii_lowercase() || byte(text, label_end) >= 0x80 {
                return None;
            }
            kind::labelled::find_all(text, at, label_end, *trigger, findings)
        }
    }
}

/// The date of the month at `at`: the longer one of those in digits and in words, or the month alone.
fn month(text: &[u8], at: usize, is_whole: bool, word_end: usize) -> Option<Finding> {
    let named = kind::date::find_named(text, at);
    let said = is_whole
        .then(|| kind::spoken::find(text, at, word_end))
        .flatten();
    match (named, said) {
        (Some(named), Some(said)) if said.end - said.start > named.end - named.start => Some(said),
        (named, said) => named.or(said).or_else(|| kind::date::find_month(text, at)),
    }
}

fn run_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count()
}

/// The rest of the word that `at` is inside of, whose letters are beyond ASCII. Gives the place to go on from.
fn beyond(text: &[u8], at: usize, findings: &mut Vec<Finding>) -> usize {
    let end = word_end(text, at);
    abroad::find_wide(text, at, end, findings);
    end
}

/// Where the word ends that `at` is inside of.
fn word_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let len = rest
        .iter()
        .take_while(|byte| **byte >= 0x80 || byte.is_ascii_alphabetic())
        .count();
    at + len.max(1)
}

fn take(found: Option<Finding>, findings: &mut Vec<Finding>) -> Option<usize> {
    let finding = found?;
    findings.push(finding);
    Some(finding.end)
}

#[cfg(test)]
mod tests;
