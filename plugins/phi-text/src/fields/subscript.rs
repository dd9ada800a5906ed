//! Values that programs set or compare by the name in brackets before them: `msg['PID']['PID.5']['PID.5.1'] = 'DOE'`,
//! `row["mrn"] == "60417"`, `params[:mrn] = '60417'`, and print-outs of PHP: `[last_name] => Doe`,
//! `["mrn"]=> string(5) "60417"`.

use super::json::skip_space;
use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, Visit, is_label, trimmed};
use crate::chunk;
use crate::text::{byte, byte_before};

/// What may stand between the bracket and the sign, and changes nothing.
const CALLS: [&[u8]; 6] = [
    b".toString()",
    b".text()",
    b".trim()",
    b".toUpperCase()",
    b".toLowerCase()",
    b".value",
];
/// What values are compared with, or set by.
const SIGNS: [&[u8]; 9] = [
    b"===",
    b"!==",
    b"==",
    b"!=",
    b"<>",
    b"=",
    b".equals(",
    b".equalsIgnoreCase(",
    b".contains(",
];

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(close) = chunk::next_of(text, at, [b']']) {
        at = close + 1;
        let mut sign = at;
        while let Some(call) = starting(text, sign, &CALLS) {
            sign += call;
        }
        let sign = skip_space(text, sign);
        let value = if byte(text, sign) == b'=' && byte(text, sign + 1) == b'>' {
            printed(text, sign + 2)
        } else {
            starting(text, sign, &SIGNS).and_then(|len| literal(text, skip_space(text, sign + len)))
        };
        if let Some((start, end)) = value
            && let Some(label) = label(text, close)
        {
            visit(label, start, end);
        }
    }
}

/// The length of the one of `words` that stands at `at`.
fn starting(text: &[u8], at: usize, words: &[&[u8]]) -> Option<usize> {
    let rest = text.get(at..)?;
    // What they begin with.
    if !matches!(rest.first()?, b'.' | b'=' | b'!' | b'<') {
        return None;
    }
    let word = words.iter().find(|word| rest.starts_with(word))?;
    Some(word.len())
}

/// The name between the brackets of which the second is at `close`.
fn label(text: &[u8], close: usize) -> Option<&[u8]> {
    let head = text.get(close.saturating_sub(MAX_LABEL_BYTES)..close)?;
    let open = head.iter().rposition(|byte| *byte == b'[')?;
    let inside = head.get(open + 1..)?;
    let inside = inside.strip_prefix(b"\\").unwrap_or(inside);
    let name = match inside {
        [b'\'' | b'"' | b':' | b'@', name @ ..] => name,
        name => name,
    };
    let name = match name {
        [name @ .., b'\'' | b'"'] => name.strip_suffix(b"\\").unwrap_or(name),
        name => name,
    };
    // `[dob:protected]`
    let name = name.split(|byte| *byte == b':').next()?;
    is_label(name).then_some(name)
}

/// A string, or a number.
fn literal(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    at += usize::from(byte(text, at) == b'N' && byte(text, at + 1) == b'\'');
    at += usize::from(byte(text, at) == b'\\');
    let quote = byte(text, at);
    let rest = text.get(at..text.len().min(at + MAX_VALUE_BYTES))?;
    if !matches!(quote, b'\'' | b'"' | b'`') {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return (digits > 0).then_some((at, at + digits));
    }
    let inside = rest.get(1..)?;
    let len = inside
        .iter()
        .position(|byte| *byte == quote || matches!(byte, b'\n' | b'\\'))?;
    (len > 0 && byte(inside, len) != b'\n').then_some((at + 1, at + 1 + len))
}

/// The value behind an arrow, up to the end of its line or the next name: `Doe`, `string(3) "Doe"`, `int(60417)`.
fn printed(text: &[u8], at: usize) -> Option<(usize, usize)> {
    const MOST_DIGITS: usize = 20;
    let value = skip_space(text, at);
    let rest = text.get(value..text.len().min(value + MAX_VALUE_BYTES))?;
    for kind in [&b"string("[..], b"int(", b"float("] {
        let Some(sized) = rest.strip_prefix(kind) else {
            continue;
        };
        let digits = sized
            .iter()
            .take(MOST_DIGITS)
            .position(|byte| *byte == b')')?;
        let start = value + kind.len();
        return match kind {
            b"string(" => literal(text, skip_space(text, start + digits + 1)),
            _ => (digits > 0).then_some((start, start + digits)),
        };
    }
    if matches!(byte(text, value), b'\'' | b'"') {
        return literal(text, value);
    }
    // An empty value ends with its line.
    let gap = text.get(at..value)?;
    if gap.contains(&b'\n') || gap.contains(&b'\r') {
        return None;
    }
    let end = rest.iter().position(|byte| b"\n\r[(;,".contains(byte));
    let mut end = value + end.unwrap_or(rest.len());
    // `x[`, `f(`, `Self::new`: what a program takes it from.
    let is_taken = matches!(byte(text, end), b'[' | b'(') && byte_before(text, end) != b' ';
    if is_taken || text.get(value..end)?.windows(2).any(|pair| pair == b"::") {
        return None;
    }
    while end > value && matches!(byte_before(text, end), b')' | b' ') {
        end -= 1;
    }
    trimmed(text, value, end)
}
