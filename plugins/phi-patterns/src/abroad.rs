//! Values behind labels in other languages: `Telefon: 0221 5558123`, `Geburtsdatum: 3. März 1958`, `病历号：20240087`.
//! Which labels there are, [`phi_text::abroad`] knows.

mod code;
mod day;
mod dial;

use phi_text::abroad::{self, Means};
use phi_text::chunk;
use phi_text::script::stands_alone;
use phi_text::text::char_at;

use crate::kind::{
    ACCOUNT_NUMBER, DATE, DEVICE_ID, FAX, Finding, HEALTH_PLAN_ID, LICENSE_NUMBER, MRN, OTHER_ID,
    PHONE, VEHICLE_ID,
};
use crate::number::Numbers;
use crate::text::{byte, byte_before};

const SCORE: u16 = 900;
/// Of what has no sign between its label and itself.
const BARE_SCORE: u16 = 750;
/// Bytes of the longest value.
const MAX_BYTES: usize = 64;
/// Telephones behind one label.
const MAX_DIALS: usize = 4;

/// Appends what stands behind the colon at `at`, where a label is before it.
#[inline(never)]
pub fn find(text: &[u8], at: usize, findings: &mut Vec<Finding>) {
    let found = abroad::before_sign(text, at);
    let found = found.and_then(|(means, start)| value(text, means, start));
    let Some(mut last) = found else {
        return;
    };
    findings.push(last);
    for _ in 1..MAX_DIALS {
        let Some(next) = dial::next(text, &last) else {
            break;
        };
        findings.push(next);
        last = next;
    }
}

/// As [`find`], for the colons of Chinese and Japanese in `text[from..to]`.
#[inline(never)]
pub fn find_wide(text: &[u8], from: usize, to: usize, findings: &mut Vec<Finding>) {
    let mut at = from;
    while let Some(sign) = text
        .get(..to)
        .and_then(|text| chunk::next_of(text, at, [0xef]))
    {
        find(text, sign, findings);
        at = sign + 1;
    }
}

/// What the value at `start` is under a label of a field.
#[inline(never)]
pub fn find_value(text: &[u8], label: &[u8], start: usize, end: usize) -> Option<Finding> {
    // Most values have no number.
    let first = byte(text, start);
    if first.is_ascii_lowercase() || text.get(start..end)?.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let means = abroad::get(label)?;
    value(text.get(..end)?, means, start)
}

/// A number of six digits or more right behind its label: `Fallnummer 20240087431`, `电话13800138000`.
#[inline(never)]
pub fn find_bare(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    const MIN_DIGITS: usize = 6;
    let text = numbers.text;
    let start = numbers.group(at).start;
    let head = byte_before(text, start);
    let sign = start - usize::from(matches!(head, b'+' | b'('));
    if !(byte_before(text, sign) == b' ' || byte_before(text, sign) >= 0x80) {
        return None;
    }
    let means = abroad::right_before(text, sign)?;
    if matches!(means, Means::Birth | Means::Day | Means::Vehicle) {
        return None;
    }
    let found = value(text, means, sign)?;
    let code = text.get(found.start..found.end)?;
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    (digits >= MIN_DIGITS)
        .then_some(Finding::new(found.kind, found.start, found.end, BARE_SCORE).contextual())
}

fn value(text: &[u8], means: Means, start: usize) -> Option<Finding> {
    let kind = kind(means)?;
    let (from, to) = match means {
        Means::Birth => day::find(text, start, true)?,
        Means::Day => day::find(text, start, false)?,
        Means::Phone | Means::Fax => dial::find(text, start)?,
        other => (start, code::end(text, start, other)?),
    };
    Some(Finding::new(kind, from, to, SCORE).contextual())
}

const fn kind(means: Means) -> Option<usize> {
    Some(match means {
        Means::Birth | Means::Day => DATE,
        Means::Phone => PHONE,
        Means::Fax => FAX,
        Means::Record => MRN,
        Means::Case | Means::Citizen => OTHER_ID,
        Means::Plan => HEALTH_PLAN_ID,
        Means::Account => ACCOUNT_NUMBER,
        Means::License => LICENSE_NUMBER,
        Means::Device => DEVICE_ID,
        Means::Vehicle => VEHICLE_ID,
        // Those of who knows names and places.
        Means::Name | Means::PerhapsName | Means::Address | Means::City | Means::Zip => {
            return None;
        }
    })
}

/// The digit at `at` in any script that labels are in, and its bytes.
fn digit(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let here = byte(text, at);
    if here < 0x80 {
        return here.is_ascii_digit().then(|| (u32::from(here - b'0'), 1));
    }
    let sign = char_at(text, at)?;
    // Of Arabic, Persian, Hindi, and as wide as those of Chinese.
    let zero = match sign {
        '٠'..='٩' => 0x660,
        '۰'..='۹' => 0x6f0,
        '०'..='९' => 0x966,
        '０'..='９' => 0xff10,
        _ => return None,
    };
    Some((u32::from(sign) - zero, sign.len_utf8()))
}

/// Whether nothing that goes on stands at `at`: no letter, but for those that are words by themselves.
fn is_end(text: &[u8], at: usize) -> bool {
    match char_at(text, at) {
        None => true,
        Some('_' | '@' | '%' | '=') => false,
        Some(':') => digit(text, at + 1).is_none(),
        Some(sign) => !sign.is_alphanumeric() || stands_alone(sign),
    }
}

/// Bytes of the space at `at`.
fn space_len(text: &[u8], at: usize) -> usize {
    match char_at(text, at) {
        Some(' ') => 1,
        Some(sign @ ('\u{a0}' | '\u{202f}' | '\u{3000}')) => sign.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
