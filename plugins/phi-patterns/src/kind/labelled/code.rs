//! What a code looks like behind a label, and where it ends. Knows no label and no kind.

use super::dotted;
use crate::text::{byte, is_word};
use crate::trigger::Form;

/// Bytes of a code that are looked at; what goes on behind them belongs to it ([`whole_end`]).
pub(super) const MAX_CODE_BYTES: usize = 128;
/// Bytes of the longest telephone number.
const MAX_DIAL_BYTES: usize = 48;

pub(super) fn digits_len(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Where a code of the form ends that begins at `start`; nothing where none does.
pub(in crate::kind) fn code_end(text: &[u8], start: usize, form: Form) -> Option<usize> {
    let most = if form == Form::Dial {
        MAX_DIAL_BYTES
    } else {
        MAX_CODE_BYTES
    };
    let rest = text.get(start..text.len().min(start + most))?;
    let is_code: fn(u8) -> bool = match form {
        Form::Said(_) | Form::Years => return None,
        Form::Uid => return dotted::unique_end(text, start),
        Form::Code | Form::Mixed | Form::Distinct | Form::Plate => {
            |byte| byte.is_ascii_alphanumeric() || byte == b'-'
        }
        Form::Nine | Form::Card | Form::Four => |byte| byte.is_ascii_digit() || byte == b'-',
        Form::Dial => |byte| byte.is_ascii_digit() || b"-.+() ".contains(&byte),
        Form::Handle => |byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte),
    };
    let mut len = rest.iter().take_while(|byte| is_code(**byte)).count();
    while len > 0 && !byte(rest, len - 1).is_ascii_alphanumeric() {
        len -= 1;
    }
    if matches!(form, Form::Mixed | Form::Distinct | Form::Plate) {
        len = with_groups(rest, len, form);
    }
    if form == Form::Card {
        len = with_card_groups(rest, len);
    }
    if form == Form::Mixed && byte(rest, len) == b'.' {
        len += run_behind_dot(rest, len);
    }
    if matches!(form, Form::Code | Form::Mixed | Form::Distinct) && byte(rest, len) == b'/' {
        len += runs_behind_slash(rest, len);
    }
    if form == Form::Mixed && byte(rest, len) == b':' {
        len += run_behind_colon(rest, len);
    }
    let code = rest.get(..len)?;
    let tail = byte(rest, len);
    if is_word(tail)
        || tail == b'_'
        || tail == b'@'
        || !is_word(byte(code, 0)) && form != Form::Dial
    {
        return None;
    }
    fits(code, form).then_some(start + len)
}

/// Where the code at `start..end` really ends: one that is longer than any number goes on as keys and digests do, up to
/// what divides words.
pub(super) fn whole_end(text: &[u8], start: usize, end: usize) -> usize {
    /// Bytes of a code that is no number of a register.
    const LONG: usize = 16;
    if end - start < LONG {
        return end;
    }
    let rest = text.get(end..).unwrap_or_default();
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+/=".contains(byte);
    let mut len = rest.iter().take_while(|byte| goes_on(byte)).count();
    while matches!(rest.get(..len), Some([.., b'-' | b'_' | b'/'])) {
        len -= 1;
    }
    end + len
}

/// `1103:C00214R`: bytes of the colon at `at` and of the code's other half.
fn run_behind_colon(rest: &[u8], at: usize) -> usize {
    let half = rest.get(at + 1..).unwrap_or_default();
    let len = half
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        .count();
    let digits = half.iter().take(len).filter(|byte| byte.is_ascii_digit());
    let is_half = byte(half, 0).is_ascii_uppercase() && digits.count() >= 3;
    if is_half { 1 + len } else { 0 }
}

/// `GP/22/0417`, `UNTH/23/88104`: bytes of the slashes from `at` on and of what is between them, where capitals begin
/// the code and a number ends it.
fn runs_behind_slash(rest: &[u8], at: usize) -> usize {
    const MAX_RUNS: usize = 3;
    /// Digits of the last.
    const MIN_DIGITS: usize = 3;
    let head = rest.get(..at).unwrap_or_default();
    if head.len() < 2 || !head.iter().all(u8::is_ascii_uppercase) {
        return 0;
    }
    let (mut len, mut last) = (0, 0);
    for _ in 0..MAX_RUNS {
        let run = rest.get(at + len + 1..).unwrap_or_default();
        let size = run
            .iter()
            .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            .count();
        if byte(rest, at + len) != b'/' || size == 0 {
            break;
        }
        last = digits_len(run, 0);
        len += 1 + size;
    }
    if last >= MIN_DIGITS { len } else { 0 }
}

/// `MD.0047718`: bytes of the dot at `at` and of the digits behind a few capitals.
fn run_behind_dot(rest: &[u8], at: usize) -> usize {
    const DIGITS: std::ops::RangeInclusive<usize> = 5..=10;
    let prefix = rest.get(..at).unwrap_or_default();
    let digits = digits_len(rest, at + 1);
    // `12887341.082`: a lens.
    let is_lens =
        prefix.len() >= 6 && prefix.iter().all(u8::is_ascii_digit) && matches!(digits, 3 | 4);
    let is_half = ((1..=4).contains(&prefix.len())
        && prefix.iter().all(u8::is_ascii_uppercase)
        && DIGITS.contains(&digits)
        || is_lens)
        && !is_word(byte(rest, at + 1 + digits));
    if is_half { 1 + digits } else { 0 }
}

/// The groups of a card, apart by spaces.
fn with_card_groups(rest: &[u8], mut len: usize) -> usize {
    /// Groups of a card behind its first.
    const GROUPS: usize = 4;
    for _ in 0..GROUPS {
        let group = rest.get(len + 1..).unwrap_or_default();
        let size = group
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if byte(rest, len) != b' ' || !(3..=6).contains(&size) || is_word(byte(group, size)) {
            break;
        }
        len += 1 + size;
    }
    len
}

/// `ABC 123 456` and `1234 5678` are one code: short groups behind the first, of digits or of capitals with digits.
fn with_groups(rest: &[u8], mut len: usize, form: Form) -> usize {
    // An IBAN has up to eight, a driver's licence five.
    let groups = match (form, byte(rest, 0).is_ascii_alphabetic()) {
        (Form::Plate, _) => 1,
        (_, true) => 8,
        (_, false) => 3,
    };
    // `XEA 884410023`: letters of their own stand before all of the digits.
    let is_prefix = (2..=4).contains(&len)
        && rest
            .get(..len)
            .unwrap_or_default()
            .iter()
            .all(u8::is_ascii_uppercase);
    let most = if is_prefix { 10 } else { 6 };
    if form == Form::Plate && len == 2 && is_prefix {
        len += letters_behind_state(rest, len);
    }
    let is_abroad = |len: usize| rest.get(..len).is_some_and(is_plate_abroad);
    if form == Form::Plate && is_abroad(8) && !is_word(byte(rest, 8)) {
        return 8;
    }
    if form == Form::Plate && is_abroad(7) && !is_word(byte(rest, 7)) {
        return 7;
    }
    for _ in 0..groups {
        let group: &[u8] = rest.get(len + 1..).unwrap_or_default();
        let size = group
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
            .count();
        let has_digit = group.iter().take(size).any(u8::is_ascii_digit);
        let tail = byte(group, size);
        let suffix = digits_len(group, size + 1);
        // `U88 120 4471-01`.
        if byte(rest, len) == b' '
            && byte(rest, 0).is_ascii_alphabetic()
            && tail == b'-'
            && (3..=5).contains(&size)
            && (1..=3).contains(&suffix)
            && group.iter().take(size).all(u8::is_ascii_digit)
            && !is_word(byte(group, size + 1 + suffix))
        {
            return len + 2 + size + suffix;
        }
        let goes_on = matches!(byte(rest, len), b' ')
            && len > 0
            && (2..=most).contains(&size)
            && has_digit
            && !is_word(tail)
            && !matches!(tail, b'/' | b'%' | b'-')
            && !(tail == b'.' && byte(group, size + 1).is_ascii_digit())
            // Counts, years and units follow codes as well.
            && (form == Form::Plate || size <= 4 || byte(rest, 0).is_ascii_alphabetic());
        if !goes_on || size == 4 && group.starts_with(b"20") {
            break;
        }
        len += 1 + size;
    }
    len
}

/// `FL QXR 114`: bytes of the space at `at` and of the letters of a plate behind its state, behind which digits stand.
fn letters_behind_state(rest: &[u8], at: usize) -> usize {
    let group = rest.get(at + 1..).unwrap_or_default();
    let letters = group
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let digits = digits_len(group, letters + 1);
    let fits = byte(rest, at) == b' '
        && (2..=4).contains(&letters)
        && byte(group, letters) == b' '
        && (2..=4).contains(&digits);
    if fits { 1 + letters } else { 0 }
}

fn fits(code: &[u8], form: Form) -> bool {
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = code
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    match form {
        Form::Code => digits >= 4 && letters <= digits,
        Form::Mixed => {
            let is_shouted = !code.iter().any(u8::is_ascii_lowercase);
            digits >= 3 && digits + letters >= 4 && (is_shouted || digits * 2 >= letters)
        }
        Form::Distinct => {
            let is_shouted = !code.iter().any(u8::is_ascii_lowercase);
            // `RFC 3986` is something else.
            let least = if code.contains(&b' ') { 5 } else { 3 };
            let is_lettered = is_shouted && digits >= least && byte(code, 0).is_ascii_uppercase();
            is_lettered && letters <= digits || is_shouted && digits >= 6 && letters <= 2
        }
        Form::Nine => digits == 9 && letters == 0,
        Form::Plate => {
            let dashes = code.iter().filter(|byte| **byte == b'-').count();
            dashes <= 1
                && digits >= 1
                && (4..=8).contains(&(digits + letters))
                && !code.iter().any(u8::is_ascii_lowercase)
        }
        Form::Handle => code.len() >= 3 && letters > 0,
        Form::Dial => (7..=15).contains(&digits),
        Form::Four => digits == 4 && letters == 0,
        Form::Card => matches!(digits, 4 | 13..=19),
        Form::Said(_) | Form::Years | Form::Uid => false,
    }
}

/// `KLM-482`, `8ABC123`: letters and digits enough for no part of a plate in a bone.
pub(super) fn is_registration(code: &[u8]) -> bool {
    let letters = code.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    // `LKA9PD`: in one piece, letters on both sides of a digit.
    let is_mixed = code.len() == letters + digits
        && matches!(code.len(), 6 | 7)
        && letters >= 2
        && digits >= 1
        && code.first().is_some_and(u8::is_ascii_uppercase)
        && code.last().is_some_and(u8::is_ascii_uppercase);
    letters >= 3 && digits >= 3 || is_mixed || is_plate_abroad(code)
}

/// `LB19 XFR` of Britain, `1AB 2CD` and `BX 22 KD` of Australia.
fn is_plate_abroad(code: &[u8]) -> bool {
    let is_of = |shape: &[u8]| {
        code.len() == shape.len()
            && code.iter().zip(shape).all(|(byte, sign)| match sign {
                b'A' => byte.is_ascii_uppercase(),
                b'9' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    is_of(b"AA99 AAA") || is_of(b"9AA 9AA") || is_of(b"AA 99 AA")
}
