//! Base64 and hex that hold text. A blob is one piece: it is replaced whole or not at all.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::rewrite::Rewriter;

/// Shortest run of letters and digits, in bytes, that is tried as a blob: nine bytes of text. Shorter words
/// would read as something by chance.
pub(super) const MIN_BLOB_BYTES: usize = 12;

/// Shortest run with padding behind it, which words do not have.
const MIN_PADDED_BYTES: usize = 6;

/// Shortest hex run, in digits: eight bytes of text; numbers are shorter.
const MIN_HEX_DIGITS: usize = 16;

/// Shortest line of a blob that goes on in the next line (RFC 2045: 76, PEM: 64).
const MIN_WRAPPED_LINE_BYTES: usize = 60;

/// Text of which this much, in percent, can be read is text with something else in it; chance gives 40.
const MIN_READABLE_PERCENT: usize = 75;

/// Shortest text, in bytes, that may hold something else.
const MIN_MIXED_BYTES: usize = 24;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

pub(super) const fn is_blob_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Whether the whole of `text` is a blob that holds text.
pub(super) fn reads_as_text(text: &str) -> bool {
    open_blob(text.trim_end_matches('=')).is_some()
}

/// Opens the blobs in the run of blob bytes that starts at `start`; gives where to read on.
pub(super) fn open_run(text: &str, start: usize, rewriter: &mut Rewriter<'_>) -> usize {
    let bytes = text.as_bytes();
    let end = run_end(bytes, start);
    let padding = padding(bytes, end);
    let length = end - start;
    if length < MIN_BLOB_BYTES && !(padding > 0 && length >= MIN_PADDED_BYTES) {
        return end;
    }
    let Some((wrapped_end, lines)) = wrapped(text, start, end) else {
        return open_line(text, start..end, rewriter);
    };
    if let Some(reads) = open_blob(&lines) {
        rewriter.replace(start..wrapped_end, &reads);
        return wrapped_end;
    }
    // Line by line, so that no line is looked at again with those behind it.
    let mut at = start;
    while at < wrapped_end {
        let end = run_end(bytes, at).min(wrapped_end);
        at = open_line(text, at..end, rewriter).max(at + 1);
    }
    at
}

/// Opens the blobs in one run; gives where to read on.
fn open_line(text: &str, run: Range<usize>, rewriter: &mut Rewriter<'_>) -> usize {
    let padding = padding(text.as_bytes(), run.end);
    let Range { start, end } = run;
    if let Some(reads) = text.get(start..end).and_then(open_blob) {
        rewriter.replace(start..end + padding, &reads);
        return end + padding;
    }
    open_parts(text, start..end, padding, rewriter)
}

/// A run that is no blob may be a path or a list of some: its parts are tried alone.
fn open_parts(text: &str, run: Range<usize>, padding: usize, rewriter: &mut Rewriter<'_>) -> usize {
    let mut from = run.start;
    for part in text
        .get(run.clone())
        .unwrap_or_default()
        .split(['/', '-', '_', '+'])
    {
        let to = from + part.len();
        let is_last = to == run.end;
        let is_padded = is_last && padding > 0 && part.len() >= MIN_PADDED_BYTES;
        if part.len() < run.len()
            && (part.len() >= MIN_BLOB_BYTES || is_padded)
            && let Some(reads) = open_blob(part)
        {
            let to = if is_last { to + padding } else { to };
            rewriter.replace(from..to, &reads);
            if is_last {
                return to;
            }
        }
        from = to + 1;
    }
    run.end
}

fn run_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().position(|byte| !is_blob_byte(*byte));
    length.map_or(bytes.len(), |length| start + length)
}

/// Padding behind a run: at most two.
fn padding(bytes: &[u8], end: usize) -> usize {
    let rest = bytes.get(end..).unwrap_or_default();
    rest.iter()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count()
}

/// A blob over several lines: where it ends, and its lines joined.
fn wrapped(text: &str, start: usize, first_end: usize) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let mut line = start..first_end;
    let mut lines = String::new();
    while let Some(next) = next_line(bytes, &line) {
        lines.push_str(text.get(line)?);
        line = next;
    }
    if lines.is_empty() {
        return None;
    }
    let end = line.end;
    lines.push_str(text.get(line)?);
    Some((end + padding(bytes, end), lines))
}

/// The line in which a blob goes on that fills this one.
fn next_line(bytes: &[u8], line: &Range<usize>) -> Option<Range<usize>> {
    let break_length = match bytes.get(line.end..)? {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => return None,
    };
    let next = line.end + break_length;
    let next_end = run_end(bytes, next);
    (line.len() >= MIN_WRAPPED_LINE_BYTES && next_end > next).then_some(next..next_end)
}

/// The text in a blob without padding, as hex or base64.
fn open_blob(blob: &str) -> Option<String> {
    let digits = blob.strip_prefix("0x").unwrap_or(blob);
    let is_hex = digits.len() >= MIN_HEX_DIGITS
        && digits.len().is_multiple_of(2)
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex
        && let Ok(bytes) = hex::decode(digits)
        && let Some(text) = readable(bytes)
    {
        return Some(text);
    }
    if !may_be_base64(blob) {
        return None;
    }
    let engine = if blob.bytes().any(|byte| matches!(byte, b'-' | b'_')) {
        URL_SAFE
    } else {
        STANDARD
    };
    readable(engine.decode(blob).ok()?)
}

/// Blobs at least this long, in bytes, are decoded whatever they begin with.
const MIN_SURE_BYTES: usize = 24;

/// The first of four characters tells six bits of a letter of ASCII: few words have such ones in place.
fn may_be_base64(blob: &str) -> bool {
    let bytes = blob.as_bytes();
    let begins_text = |at: usize| matches!(bytes.get(at), Some(b'I'..=b'Z' | b'a'..=b'f'));
    bytes.len() % 4 != 1 && (bytes.len() >= MIN_SURE_BYTES || (begins_text(0) && begins_text(4)))
}

/// Bytes as text, if they are any: UTF-8 or UTF-16, all of it readable, or most of it where it is long.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = match utf16(&bytes) {
        Some(text) => text,
        None => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if error.as_bytes().len() >= MIN_MIXED_BYTES => {
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
            Err(_) => return None,
        },
    };
    let count = text.chars().count();
    let unreadable = text.chars().filter(|letter| !is_readable(*letter)).count();
    let is_text = text.contains(char::is_alphanumeric)
        && (unreadable == 0
            || (text.len() >= MIN_MIXED_BYTES
                && unreadable * 100 <= count * (100 - MIN_READABLE_PERCENT)));
    is_text.then(|| match unreadable {
        0 => text,
        _ => text
            .chars()
            .map(|letter| if is_readable(letter) { letter } else { ' ' })
            .collect(),
    })
}

fn is_readable(letter: char) -> bool {
    match letter {
        '\t' | '\n' | '\r' | '\u{b}' | '\u{1c}'..='\u{1f}' => true,
        char::REPLACEMENT_CHARACTER => false,
        _ => !letter.is_control(),
    }
}

/// UTF-16 of mostly Latin text, which has a zero in every other byte.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let most = pairs.len() * MIN_READABLE_PERCENT / 100;
    let is_little = pairs.iter().filter(|pair| pair[1] == 0).count() > most;
    let is_big = pairs.iter().filter(|pair| pair[0] == 0).count() > most;
    if !rest.is_empty() || pairs.is_empty() || is_little == is_big {
        return None;
    }
    let unit = if is_little {
        u16::from_le_bytes
    } else {
        u16::from_be_bytes
    };
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok()
}
