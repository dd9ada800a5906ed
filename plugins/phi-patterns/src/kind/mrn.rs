//! Medical record numbers: a label, then a code. The label is what tells; there is no check digit.

use super::{Finding, MRN};
use crate::text::{byte, is_word};

/// Words of a label are apart by spaces, dashes or underscores, or by nothing (`medicalRecordNumber`). Longer
/// labels first.
const LABELS: [&[&str]; 17] = [
    &["medical", "record"],
    &["medical", "rec"],
    &["med", "rec"],
    &["patient", "identifier"],
    &["patient", "identification"],
    &["patient", "number"],
    &["patient", "id"],
    &["patient", "no"],
    &["pt", "id"],
    &["record", "number"],
    &["record", "no"],
    &["chart"],
    &["hospital", "number"],
    &["hospital", "no"],
    &["unit", "number"],
    &["mrn"],
    &["mr#"],
];

/// What may stand between a label and its code.
const FILLERS: [&str; 9] = [
    "number", "num", "no", "nr", "id", "code", "is", "was", "value",
];
/// Bytes between a label and its code.
const MAX_FILLER_BYTES: usize = 24;
const MIN_DIGITS: usize = 4;
const MAX_CODE_BYTES: usize = 24;

pub fn find(text: &[u8], at: usize) -> Option<Finding> {
    let label_end = LABELS.iter().find_map(|label| label_end(text, at, label))?;
    let start = skip_filler(text, label_end);
    let code = text.get(start..)?;
    let mut len = code
        .iter()
        .take(MAX_CODE_BYTES + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    while len > 0 && byte(code, len - 1) == b'-' {
        len -= 1;
    }
    let code = code.get(..len)?;
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = code
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let fits = len <= MAX_CODE_BYTES
        && digits >= MIN_DIGITS
        && letters <= digits
        && !is_word(byte(text, start + len));
    fits.then_some(Finding::new(MRN, start, start + len, 900).contextual())
}

/// Where the label ends when it begins at `at`.
fn label_end(text: &[u8], at: usize, label: &[&str]) -> Option<usize> {
    let mut end = at;
    for (index, word) in label.iter().enumerate() {
        if index > 0 {
            let rest = text.get(end..)?;
            end += rest
                .iter()
                .take(2)
                .take_while(|byte| b" _-".contains(byte))
                .count();
        }
        if !crate::text::starts(text.get(end..)?, word.as_bytes()) {
            return None;
        }
        end += word.len();
    }
    // `MRN12345` is a label with its code; `charter` is no label, `medicalRecordNumber` goes on with a filler.
    let next = byte(text, end);
    let goes_on = next.is_ascii_lowercase() || next >= 0x80;
    (!goes_on).then_some(end)
}

fn skip_filler(text: &[u8], label_end: usize) -> usize {
    let limit = label_end + MAX_FILLER_BYTES;
    let mut at = label_end;
    while at < limit {
        let rest = text.get(at..).unwrap_or_default();
        let word = FILLERS.iter().find(|word| {
            crate::text::starts(rest, word.as_bytes()) && !is_word(byte(rest, word.len()))
        });
        if let Some(word) = word {
            at += word.len();
        } else if b" :#=-_.\"'()[]*\t\\>|,".contains(&byte(text, at)) {
            at += 1;
        } else {
            break;
        }
    }
    at
}
