//! Words and numbers that file names, code and haste join: `Maria_Lopez_536-22-1234.pdf`, `DOB1980-02-29`,
//! `2/28/24-3/4/24`, a number that a sign touches or the end of a line divides.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::rewrite::{Rewrite, Rewriter};

/// Takes them apart; nothing where nothing is joined.
pub(super) fn part(text: &str) -> Option<Rewrite> {
    let bytes = text.as_bytes();
    let mut rewriter = Rewriter::new(text);
    // Where the run of words ends that was looked at last, and whether it is the name of a file.
    let mut run = (0, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            let end = shaped_end(bytes, at);
            if let Some(end) = end {
                set_apart(text, at..end, &mut rewriter);
            }
            at = end.unwrap_or_else(|| digits_end(bytes, at));
            // What stands behind the number may have been taken with it.
            at = at.max(rewriter.done());
            continue;
        }
        if !byte.is_ascii() {
            let sign = text.get(at..).and_then(|rest| rest.chars().next());
            let end = at + sign.map_or(1, char::len_utf8);
            if sign.is_some_and(|sign| !sign.is_alphanumeric() && !is_combining_mark(sign))
                && (is_digit(bytes.get(end).copied())
                    || is_digit(at.checked_sub(1).and_then(|at| bytes.get(at).copied())))
            {
                rewriter.replace(at..end, " ");
            }
            at = end;
            continue;
        }
        match byte {
            // A number goes on in the next line.
            b'-' if is_wrapped(bytes, at) => rewriter.replace(at + 1..at + 2, ""),
            b'_' => {
                if at >= run.0 {
                    run = run_of_words(bytes, at);
                }
                underscore(bytes, at, run.1, &mut rewriter);
            }
            b'.' if rewriter.done() > 0 && is_file_end(bytes, at + 1) => {
                rewriter.replace(at..at + 1, " ")
            }
            _ => {}
        }
        at += 1;
    }
    rewriter.finish()
}

/// An underscore beside a word is a space, inside a number a dash. Between words of small letters it stays: so are
/// keys and variables written, and no names but those of files.
fn underscore(bytes: &[u8], at: usize, is_in_file_name: bool, rewriter: &mut Rewriter<'_>) {
    let (left, right) = (word_before(bytes, at), word_behind(bytes, at + 1));
    if left.is_empty() && right.is_empty() {
        return;
    }
    let begins_number = shaped_end(bytes, at + 1).is_some();
    if !begins_number && is_plain(left) && is_plain(right) && !is_in_file_name {
        return;
    }
    let is_inside =
        is_digit(left.last().copied()) && is_digit(right.first().copied()) && !begins_number;
    rewriter.replace(at..at + 1, if is_inside { "-" } else { " " });
}

fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

/// `412-55-` at the end of a line, and `8890` in the next.
fn is_wrapped(bytes: &[u8], dash: usize) -> bool {
    let around = dash
        .checked_sub(1)
        .and_then(|from| bytes.get(from..dash + 3));
    matches!(around, Some([left, b'-', b'\n', right]) if left.is_ascii_digit() && right.is_ascii_digit())
}

/// Digits that make a word of small letters more than a numbered one, `line_2`.
const MIN_DIGITS: usize = 4;

fn is_plain(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits < MIN_DIGITS
        && word
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn word_before(bytes: &[u8], end: usize) -> &[u8] {
    let head = bytes.get(..end).unwrap_or_default();
    let length = head
        .iter()
        .rev()
        .take_while(|byte| is_of_word(**byte))
        .count();
    head.get(end - length..).unwrap_or_default()
}

fn word_behind(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| is_of_word(**byte)).count();
    rest.get(..length).unwrap_or_default()
}

/// Where the words from `at` on end that dashes and underscores join, and whether they end as the name of a file does.
fn run_of_words(bytes: &[u8], at: usize) -> (usize, bool) {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|byte| is_of_word(**byte) || matches!(byte, b'_' | b'-'))
        .count();
    let end = at + length;
    (
        end,
        bytes.get(end) == Some(&b'.') && is_file_end(bytes, end + 1),
    )
}

/// What names of files end with.
const FILE_ENDS: [&[u8]; 16] = [
    b"pdf", b"doc", b"docx", b"txt", b"rtf", b"csv", b"xls", b"xlsx", b"xml", b"json", b"jpg",
    b"jpeg", b"png", b"tif", b"dcm", b"zip",
];

/// Whether a file's name ends with the word at `at`: what stands before it is no host of the web.
fn is_file_end(bytes: &[u8], at: usize) -> bool {
    let word = word_behind(bytes, at);
    FILE_ENDS.iter().any(|end| end.eq_ignore_ascii_case(word))
}

/// Parts a number from what touches it, and writes dashes for the underscores in it.
fn set_apart(text: &str, number: Range<usize>, rewriter: &mut Rewriter<'_>) {
    let bytes = text.as_bytes();
    let before = text.get(rewriter.done()..number.start).unwrap_or_default();
    let mut ahead = before.chars().rev();
    match (ahead.next(), ahead.next()) {
        (Some(letter), _) if letter.is_alphabetic() => {
            let at = number.start - letter.len_utf8();
            rewriter.replace(at..number.start, &format!("{letter} "));
        }
        // `visit-1980-02-29`, but not the version in `model-4o-2024-08-06`.
        (Some('-' | '/'), Some(letter)) if letter.is_alphabetic() && !follows_a_digit(before) => {
            rewriter.replace(number.start - 1..number.start, " ");
        }
        _ => {}
    }
    for at in number.clone() {
        if bytes.get(at) == Some(&b'_') {
            rewriter.replace(at..at + 1, "-");
        }
    }
    let behind = text.get(number.end..).unwrap_or_default();
    let mut behind = behind.chars();
    let (next, second) = (behind.next(), behind.next());
    let goes_on = second.is_some_and(|letter| letter.is_ascii_digit());
    match next {
        Some('_') => rewriter.replace(number.end..number.end + 1, " "),
        // From one date to another.
        Some('-' | '/') if shaped_end(bytes, number.end + 1).is_some() => {
            rewriter.replace(number.end..number.end + 1, " ");
        }
        // A time may follow: `2024-03-14T08:00`.
        Some('T' | 't') if goes_on => {}
        Some(letter) if letter.is_alphabetic() => {
            let space = if goes_on { " " } else { "" };
            rewriter.replace(
                number.end..number.end + letter.len_utf8(),
                &format!(" {letter}{space}"),
            );
        }
        _ => {}
    }
}

/// Whether the word before the last sign has a digit.
fn follows_a_digit(before: &str) -> bool {
    let mut word = before.bytes().rev().skip(1);
    word.by_ref()
        .take_while(u8::is_ascii_alphanumeric)
        .any(|byte| byte.is_ascii_digit())
}

/// Three groups of digits with one sign between them.
struct Shape {
    lengths: [Range<usize>; 3],
    signs: &'static [u8],
}

/// Numbers that are known by their shape alone, wherever they stand.
static SHAPES: [Shape; 5] = [
    // Of social security, and of telephones.
    Shape {
        lengths: [3..4, 2..3, 4..5],
        signs: b"-._",
    },
    Shape {
        lengths: [3..4, 3..4, 4..5],
        signs: b"-._",
    },
    // Dates. With points they look like versions.
    Shape {
        lengths: [4..5, 1..3, 1..3],
        signs: b"-/_",
    },
    Shape {
        lengths: [1..3, 1..3, 4..5],
        signs: b"-/_",
    },
    Shape {
        lengths: [1..3, 1..3, 2..3],
        signs: b"/",
    },
];

/// Where the number of a known shape ends that begins at `start`.
fn shaped_end(bytes: &[u8], start: usize) -> Option<usize> {
    let first = digits_end(bytes, start);
    if is_packed_date(bytes.get(start..first)?) {
        return Some(first);
    }
    let sign = *bytes.get(first)?;
    let second = digits_end(bytes, first + 1);
    if bytes.get(second) != Some(&sign) {
        return None;
    }
    let end = digits_end(bytes, second + 1);
    let lengths = [first - start, second - first - 1, end - second - 1];
    // A further group makes it another number; behind an underscore it is one of its own.
    let goes_on =
        sign != b'_' && bytes.get(end) == Some(&sign) && digits_end(bytes, end + 1) > end + 1;
    let is_shaped = SHAPES.iter().any(|shape| {
        shape.signs.contains(&sign)
            && shape
                .lengths
                .iter()
                .zip(lengths)
                .all(|(lengths, length)| lengths.contains(&length))
    });
    (is_shaped && !goes_on).then_some(end)
}

/// `19800229`.
fn is_packed_date(digits: &[u8]) -> bool {
    let [a, b, c, d, e, f, g, h] = digits else {
        return false;
    };
    let within = |tens: &u8, ones: &u8, most: u8| {
        let value = (tens - b'0') * 10 + (ones - b'0');
        (1..=most).contains(&value)
    };
    matches!([a, b], [b'1', b'9'] | [b'2', b'0'])
        && c.is_ascii_digit()
        && d.is_ascii_digit()
        && within(e, f, 12)
        && within(g, h, 31)
}

fn digits_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_reads_apart() {
        for (text, reads) in [
            ("Maria_Lopez_536-22-1234.pdf", "Maria Lopez 536-22-1234 pdf"),
            ("ssn_536_22_1234", "ssn 536-22-1234"),
            ("_536-22-1234_", " 536-22-1234 "),
            ("536-22-1234_x", "536-22-1234 x"),
            ("DOB_02/29/1980", "DOB 02/29/1980"),
            ("DOB1980-02-29", "DOB 1980-02-29"),
            ("DOB2/9/80.", "DOB 2/9/80."),
            ("call212-736-5000now", "call 212-736-5000 now"),
            ("José212.736.5000años", "José 212.736.5000 años"),
            ("a1980-02-29b1981-03-04c", "a 1980-02-29 b 1981-03-04 c"),
            ("4411223_1980_02_29_12", "4411223 1980-02-29 12"),
            ("visit-1980-02-29", "visit 1980-02-29"),
            ("scans/1980-02-29.png", "scans 1980-02-29 png"),
            ("DOB19800229", "DOB 19800229"),
            ("IMG_20240314_083000.jpg", "IMG 20240314 083000 jpg"),
            ("maria_lopez.pdf, seen", "maria lopez pdf, seen"),
            ("12345_67", "12345-67"),
            ("02/28/2024-03/04/2024", "02/28/2024 03/04/2024"),
            ("2024-02-28/2024-03-04", "2024-02-28 2024-03-04"),
            ("20240228-20240304", "20240228 20240304"),
            ("3/4/24\u{2192}3/11/24", "3/4/24 3/11/24"),
            ("SSN:\u{2705}412-55-8890", "SSN: 412-55-8890"),
            ("412-55-\n8890", "412-55-8890"),
            ("mrn_4411223", "mrn 4411223"),
            ("patient_name=Priya_Nair", "patient_name=Priya Nair"),
            ("é_é", "é é"),
        ] {
            let read = part(text);
            assert_eq!(read.as_ref().map(Rewrite::text), Some(reads), "{text}");
        }
    }

    #[test]
    fn what_stands_apart_reads_as_it_is() {
        for text in [
            "",
            "on 1980-02-29, 212-736-5000",
            "at 2024-03-14T08:00:00Z",
            "model-4o-2024-08-06",
            "v2024.03.14 and v1.2.3",
            "10mg of B12, T2-weighted, COVID-19, 1-2-3-4",
            "_ __ _",
            "let target_family = get_line_1(utf_8);",
        ] {
            let read = part(text);
            assert!(
                read.is_none(),
                "{text}: {:?}",
                read.as_ref().map(Rewrite::text)
            );
        }
    }
}
