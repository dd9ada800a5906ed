//! One pass over a text: the class of each byte says which finders are worth asking.

use crate::kind::{self, Finding, NUMBER_FINDERS, WORD_FINDERS};
use crate::number::Numbers;
use crate::text::{byte_before, is_word};

/// Nothing starts here.
const NOTHING: u8 = 0;
const DIGIT: u8 = 1;
/// A letter that a label or the name of a month begins with.
const LETTER: u8 = 2;
const AT: u8 = 3;

/// First letters of the months and of the labels in `kind/mrn.rs`.
const LETTERS: &[u8] = b"jfmasondcphru";

const CLASSES: [u8; 256] = {
    let mut classes = [NOTHING; 256];
    let mut digit = b'0';
    while digit <= b'9' {
        classes[digit as usize] = DIGIT;
        digit += 1;
    }
    let mut at = 0;
    while at < LETTERS.len() {
        classes[LETTERS[at] as usize] = LETTER;
        classes[LETTERS[at].to_ascii_uppercase() as usize] = LETTER;
        at += 1;
    }
    classes[b'@' as usize] = AT;
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
            Some(&AT) => {
                let found = kind::email::find(text, at);
                take(found, findings).unwrap_or(at + 1)
            }
            _ => at + 1,
        };
    }
    // A finding may begin before the place that gave it away.
    if let Some(found) = findings.get_mut(first..) {
        found.sort_by_key(|finding| (finding.start, finding.end));
    }
}

/// Asks for each group of digits in turn; gives the place to go on from.
fn digits(text: &[u8], at: usize, findings: &mut Vec<Finding>) -> usize {
    let numbers = Numbers::read(text, at);
    for index in 0..numbers.count() {
        let found = NUMBER_FINDERS.iter().find_map(|find| find(&numbers, index));
        if let Some(end) = take(found, findings) {
            return end;
        }
    }
    // Everything up to the last group has been asked; a run that was cut off goes on with a fresh one.
    numbers
        .group(numbers.count().saturating_sub(1))
        .end
        .max(at + 1)
}

fn word(text: &[u8], at: usize, findings: &mut Vec<Finding>) -> usize {
    let head = byte_before(text, at);
    // `patientMrn` has its label behind a small letter; a digit before a month is `03MAR2024`.
    let is_inside = is_word(head)
        && !head.is_ascii_digit()
        && !(head.is_ascii_lowercase() && is_upper(text, at));
    if is_inside {
        return at + 1;
    }
    let found = WORD_FINDERS.iter().find_map(|find| find(text, at));
    take(found, findings).unwrap_or(at + 1)
}

fn is_upper(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_uppercase)
}

fn take(found: Option<Finding>, findings: &mut Vec<Finding>) -> Option<usize> {
    let finding = found?;
    findings.push(finding);
    Some(finding.end)
}

/// One sample of each kind, and one sentence without any.
pub fn self_test() -> Result<(), String> {
    for (at, sample) in SAMPLES.iter().enumerate() {
        let mut findings = Vec::new();
        scan(sample.as_bytes(), &mut findings);
        if !findings.iter().any(|finding| finding.kind == at) {
            return Err(format!(
                "{} is not found",
                kind::KINDS.get(at).map_or("", |kind| kind.name)
            ));
        }
    }
    let mut findings = Vec::new();
    scan(
        b"BP 120/80, 2/6 murmur, strength 5/5, pain 7/10, aspirin 81 mg.",
        &mut findings,
    );
    if findings.is_empty() {
        Ok(())
    } else {
        Err("a sentence without identifiers has a finding".to_owned())
    }
}

/// In the order of `kind::KINDS`.
const SAMPLES: [&str; 7] = [
    "DOB 03/14/1962",
    "call (212) 555-0142",
    "fax: 212-555-0143",
    "mail to jane@example.org",
    "SSN 219-09-9999",
    "MRN: 00482913",
    "card 4111 1111 1111 1111",
];

#[cfg(test)]
mod tests;
