//! Opens one layer of escapes and encodings: percent, HTML, backslash, quoted-printable; blobs beside.

use std::cell::OnceCell;

use super::blob;
use super::rewrite::{Rewrite, Rewriter};
use super::tex;

/// Longest HTML reference looked at, in bytes: the longest name of HTML 5 has 32 letters.
const MAX_REFERENCE_BYTES: usize = 34;

/// Hex digits of `u{…}` at most (ECMA-262, and the reference of Rust).
const MAX_BRACED_DIGITS: usize = 6;

/// Opens what is encoded in `text`, one layer; nothing where nothing is.
pub(super) fn open(text: &str) -> Option<Rewrite> {
    let bytes = text.as_bytes();
    let mut rewriter = Rewriter::new(text);
    let is_mail = OnceCell::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if blob::is_blob_byte(*byte) {
            at = blob::open_run(text, at, &mut rewriter);
            continue;
        }
        let read = match byte {
            b'%' => encoded_bytes(bytes, at, b'%', is_any_hex),
            b'=' => quoted_printable(bytes, at, || *is_mail.get_or_init(|| is_mail_text(bytes))),
            b'\\' => backslash(text, at),
            b'&' => reference(text, at),
            _ => None,
        };
        match read {
            Some(Read { length, reads }) => {
                match reads {
                    Some(letter) => {
                        let mut utf8 = [0; 4];
                        rewriter.replace(at..at + length, letter.encode_utf8(&mut utf8));
                    }
                    None => rewriter.replace(at..at + length, ""),
                }
                at += length;
            }
            None => at += 1,
        }
    }
    rewriter.finish()
}

/// One escape: its length in bytes and the character it stands for, if any.
struct Read {
    length: usize,
    reads: Option<char>,
}

fn read(length: usize, reads: char) -> Option<Read> {
    Some(Read {
        length,
        reads: Some(reads),
    })
}

/// `%C3%A9`, `=C3=A9` and `\xC3\xA9`: bytes of one character, each behind a mark.
fn encoded_bytes(bytes: &[u8], at: usize, mark: u8, is_digit: fn(&u8) -> bool) -> Option<Read> {
    let mark_length = if mark == b'\\' { 2 } else { 1 };
    let byte_at = |index: usize| {
        let from = at + index * (mark_length + 2);
        let is_marked = bytes.get(from) == Some(&mark)
            && (mark_length == 1 || bytes.get(from + 1) == Some(&b'x'));
        let digits = bytes.get(from + mark_length..from + mark_length + 2)?;
        (is_marked && digits.iter().all(is_digit)).then(|| hex_value(digits))?
    };
    let first = byte_at(0)?;
    let wanted = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let sequence: Vec<u8> = (0..wanted).map_while(byte_at).collect();
    let whole = std::str::from_utf8(&sequence).ok();
    match whole.and_then(|text| text.chars().next()) {
        Some(letter) => read(sequence.len() * (mark_length + 2), letter),
        // No UTF-8: a byte of Latin-1.
        None => read(mark_length + 2, char::from(first)),
    }
}

/// RFC 2045, 6.7; digits are capitals there. A soft line break reads as nothing.
///
/// `id=A123` and `since=2024-01-01` must stay: a lone escape counts where it stands for a sign and no number goes on from
/// it, or for a letter of Latin-1 that small letters go on from. A space is written so at the end of a line; elsewhere
/// only in what is written so all over (`is_mail`), where `n=20 mg` would be none.
fn quoted_printable(bytes: &[u8], at: usize, is_mail: impl Fn() -> Mail) -> Option<Read> {
    let length = match bytes.get(at + 1..)? {
        [b'\r', b'\n', ..] => 3,
        [b'\n', ..] => 2,
        _ => {
            let escape = encoded_bytes(bytes, at, b'=', is_capital_hex)?;
            let next = bytes.get(at + escape.length);
            let is_number = |byte: &u8| byte.is_ascii_digit();
            let is_one_of_many = escape.length > 3
                || is_quoted(bytes, at + 3)
                || at
                    .checked_sub(3)
                    .is_some_and(|before| is_quoted(bytes, before));
            let is_whole_number = bytes.get(at + 1..at + 3)?.iter().all(u8::is_ascii_digit);
            let stands = match escape.reads {
                Some(' ') => {
                    next.is_none_or(|byte| matches!(byte, b'\r' | b'\n'))
                        || match is_mail() {
                            Mail::No => false,
                            Mail::Likely => !next.is_some_and(is_number),
                            Mail::Surely => true,
                        }
                }
                Some(letter) if letter.is_ascii() => {
                    letter.is_ascii_punctuation()
                        && !(is_whole_number && next.is_some_and(is_number))
                }
                _ => next.is_none_or(|byte| !is_number(byte) && !byte.is_ascii_uppercase()),
            };
            return (is_one_of_many || stands).then_some(escape);
        }
    };
    Some(Read {
        length,
        reads: None,
    })
}

/// `=C3`, in capitals.
fn is_quoted(bytes: &[u8], at: usize) -> bool {
    let digits = bytes.get(at + 1..at + 3);
    bytes.get(at) == Some(&b'=') && digits.is_some_and(|digits| digits.iter().all(is_capital_hex))
}

/// Whether a text is written in quoted-printable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mail {
    No,
    /// Some place looks like nothing else.
    Likely,
    /// And spaces are written so between words: they are before numbers, too.
    Surely,
}

fn is_mail_text(bytes: &[u8]) -> Mail {
    /// Spaces between words that need no other sign beside them.
    const ENOUGH: usize = 3;
    let is_letter = |digit: &u8| digit.is_ascii_uppercase();
    // A soft line break, a byte whose digits are no number, a word of a header (RFC 2047).
    let is_likely = |at| match bytes.get(at + 1..).unwrap_or_default() {
        [b'\n', ..] | [b'\r', b'\n', ..] => true,
        [b'?', word @ ..] => is_encoded_word(word),
        [high, low, ..] => is_quoted(bytes, at) && (is_letter(high) || is_letter(low)),
        _ => false,
    };
    let is_space = |at: &usize| {
        let behind = bytes.get(at + 1..).unwrap_or_default();
        matches!(behind, [b'2', b'0', next, ..] if next.is_ascii_alphabetic())
    };
    let signs = || memchr::memchr_iter(b'=', bytes);
    match (signs().any(is_likely), signs().filter(is_space).count()) {
        (true, 1..) | (false, ENOUGH..) => Mail::Surely,
        (true, 0) => Mail::Likely,
        (false, _) => Mail::No,
    }
}

/// `UTF-8?Q?`, behind the signs that begin a word of a header.
fn is_encoded_word(word: &[u8]) -> bool {
    /// Of the longest name of a set of letters.
    const MAX_CHARSET: usize = 24;
    let charset = word
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count();
    let behind = word.get(charset..).unwrap_or_default();
    (1..=MAX_CHARSET).contains(&charset) && matches!(behind, [b'?', b'q' | b'Q', b'?', ..])
}

/// Escapes of JSON, JavaScript, C, Rust and Markdown.
fn backslash(text: &str, at: usize) -> Option<Read> {
    let rest = text.get(at + 1..)?;
    let kind = rest.chars().next()?;
    if matches!(kind, 'b' | 'f' | 'n' | 'r' | 't' | 'v')
        && (tex::is_command(rest) || text.get(..at).is_some_and(tex::is_in_path))
    {
        return None;
    }
    match kind {
        'n' | 'r' | 'v' | 'f' => read(2, '\n'),
        't' => read(2, '\t'),
        'b' | '0' if !rest.get(1..)?.starts_with(|c: char| c.is_ascii_digit()) => read(2, ' '),
        'x' => encoded_bytes(text.as_bytes(), at, b'\\', is_any_hex),
        'u' => unicode(rest).map(|(length, letter)| Read {
            length: length + 1,
            reads: Some(letter),
        }),
        'U' => fixed(rest.get(1..)?, 8).and_then(|letter| read(10, char::from_u32(letter)?)),
        '0'..='3' => {
            let digits = rest.get(..3)?;
            let value = u8::from_str_radix(digits, 8).ok()?;
            read(4, char::from(value))
        }
        _ if kind.is_ascii_punctuation() => read(2, kind),
        _ => None,
    }
}

/// Bytes before the brace that closes them; nothing where none do, or too many. Reads no further than that.
fn braced(inside: impl Iterator<Item = u8>) -> Option<usize> {
    let mut inside = inside.take(MAX_BRACED_DIGITS + 1);
    let length = inside.position(|byte| byte == b'}')?;
    (length > 0).then_some(length)
}

/// `u` and four hex digits, a pair of such, or `u{…}` with up to six: length and character.
fn unicode(rest: &str) -> Option<(usize, char)> {
    let digits = rest.get(1..)?;
    if let Some(inside) = digits.strip_prefix('{') {
        let length = braced(inside.bytes())?;
        let letter = fixed(inside, length)?;
        return Some((length + 3, char::from_u32(letter)?));
    }
    let high = fixed(digits, 4)?;
    if let Some(letter) = char::from_u32(high) {
        return Some((5, letter));
    }
    let low = fixed(digits.get(4..)?.strip_prefix("\\u")?, 4)?;
    let pair = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    let letter = char::decode_utf16(pair).next()?.ok()?;
    Some((11, letter))
}

/// `&#65;`, `&#x41;` (the semicolon may be missing) and `&eacute;`.
fn reference(text: &str, at: usize) -> Option<Read> {
    let rest = text.get(at + 1..)?;
    if let Some(number) = rest.strip_prefix('#') {
        let (radix, digits, before) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (16, digits, 3),
            None => (10, number, 2),
        };
        let length = digits
            .bytes()
            .take(8)
            .take_while(|byte| char::from(*byte).is_digit(radix))
            .count();
        let code = u32::from_str_radix(digits.get(..length)?, radix).ok()?;
        let closed = usize::from(digits.as_bytes().get(length) == Some(&b';'));
        return read(before + length + closed, char::from_u32(code)?);
    }
    let length = rest
        .bytes()
        .take(MAX_REFERENCE_BYTES)
        .position(|byte| byte == b';')?;
    let whole = text.get(at..at + 1 + length + 1)?;
    let is_name = length > 0 && rest.bytes().take(length).all(|b| b.is_ascii_alphanumeric());
    let decoded = is_name.then(|| html_escape::decode_html_entities(whole))?;
    let letter = decoded.chars().next().filter(|_| decoded != whole)?;
    read(whole.len(), letter)
}

fn fixed(text: &str, length: usize) -> Option<u32> {
    let digits = text.get(..length)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

fn hex_value(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn is_any_hex(byte: &u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn is_capital_hex(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'F')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brace_that_never_closes_is_not_looked_for() {
        let mut read = 0;
        let digits = std::iter::repeat_n(b'4', 1_000).inspect(|_| read += 1);
        assert_eq!(braced(digits), None);
        assert_eq!(read, MAX_BRACED_DIGITS + 1);
    }

    #[test]
    fn braces_hold_one_to_six_digits() {
        for (text, reads) in [
            (r"\u{4a}ane", "Jane"),
            (r"\u{00004a}ane", "Jane"),
            (r"\u{1F600}", "\u{1f600}"),
        ] {
            let read = open(text);
            assert_eq!(read.as_ref().map(Rewrite::text), Some(reads), "{text}");
        }
        for text in [r"\u{}", r"\u{000004a}", r"\u{4a", r"\u{4x}", r"\u{\u{"] {
            assert!(open(text).is_none(), "{text}");
        }
    }

    fn opened(text: &str) -> String {
        open(text).map_or_else(|| text.to_owned(), |read| read.text().to_owned())
    }

    #[test]
    fn a_lone_escape_of_mail_is_told_from_a_value() {
        for text in [
            "GET /v1/encounters?since=2024-01-01&limit=50",
            "dob=2001-02-03 and dob=20010203, mrn=20447198",
            "at=2026/03/14",
            "n=20 mg",
            "dose=20mg\nrate=30",
            "id=2244719",
            "id=A123",
        ] {
            assert!(open(text).is_none(), "{text}");
        }
        for (text, reads) in [
            ("Jane Doe=20\nleft", "Jane Doe \nleft"),
            ("Jane Doe=20", "Jane Doe "),
            ("Jane=20Doe=3D,=20left", "Jane Doe=, left"),
            ("Jane=20Doe=\nleft", "Jane Doeleft"),
            ("since=2024-01-01 caf=C3=A9", "since=2024-01-01 café"),
            (
                "Andr=C3=A9:=20call=20360-555-0198",
                "André: call 360-555-0198",
            ),
            ("=?UTF-8?Q?Jane=20Doe?= wrote", "=?UTF-8?Q?Jane Doe?= wrote"),
            (
                "Pt:=20Jane=20Doe=20was=203,=20at=20home",
                "Pt: Jane Doe was 3, at home",
            ),
            ("jane=40x.org", "jane@x.org"),
            ("Poe=2C Ann", "Poe, Ann"),
        ] {
            assert_eq!(opened(text), reads, "{text}");
        }
    }

    #[test]
    fn commands_and_paths_have_no_escapes() {
        for text in [
            r"$\theta \times \tau$, $\nu \rho$",
            r"\newpage \begin{tabular}",
            r"{\fonttbl\froman}",
            r"C:\Users\nadia\reports",
            r"\\srv\share\nadia",
        ] {
            assert!(!opened(text).contains(['\n', '\t']), "{text}");
        }
        assert_eq!(opened(r"A:\nstable\tnow"), "A:\nstable\tnow");
        assert_eq!(opened(r"Dear\n\nThank you"), "Dear\n\nThank you");
    }
}
