//! Names of persons in names of files and folders: `lopez_maria_ct.pdf`, `MariaLopez.pdf`, `C:\scans\Maria Lopez\x.docx`.
//! Only of documents, pictures and recordings: what programs are written in has names of other things.

use phi_text::chunk;
use phi_text::text::{byte, is_word};

use crate::kind::{Finding, NAME};
use phi_lexicon::{Class, Hash, look_up};

const SCORE: u16 = 750;
/// Bytes before the extension that are looked at: a path of a few folders.
const MAX_PATH_BYTES: usize = 128;
/// Bytes of the longest extension.
const MAX_EXTENSION_BYTES: usize = 4;

/// Extensions of what is about somebody.
const EXTENSIONS: [&[u8]; 28] = [
    b"pdf", b"doc", b"docx", b"rtf", b"odt", b"jpg", b"jpeg", b"png", b"tif", b"tiff", b"heic",
    b"bmp", b"gif", b"dcm", b"xls", b"xlsx", b"csv", b"txt", b"zip", b"wav", b"mp3", b"mp4",
    b"m4a", b"mov", b"hl7", b"msg", b"eml", b"ppt",
];

/// Appends the names in names of files in `text[from..to]`.
pub fn find(text: &str, from: usize, to: usize, findings: &mut Vec<Finding>) {
    let bytes = text.as_bytes().get(..to).unwrap_or_default();
    let mut at = from;
    while let Some(dot) = chunk::next_of(bytes, at, [b'.']) {
        at = dot + 1;
        if is_extension(bytes, dot + 1) {
            path(bytes, path_start(bytes, from, dot), dot, findings);
        }
    }
}

fn is_extension(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let len = rest
        .iter()
        .take(MAX_EXTENSION_BYTES + 1)
        .take_while(|sign| sign.is_ascii_alphanumeric())
        .count();
    if !(3..=MAX_EXTENSION_BYTES).contains(&len) {
        return false;
    }
    let extension = rest.get(..len).unwrap_or_default();
    EXTENSIONS
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Where the path begins that the extension ends: not before a line, a quote or a bracket.
fn path_start(text: &[u8], from: usize, dot: usize) -> usize {
    let least = dot.saturating_sub(MAX_PATH_BYTES).max(from);
    let head = text.get(least..dot).unwrap_or_default();
    let ends = |sign: &u8| {
        matches!(
            sign,
            b'\n'
                | b'\r'
                | b'\t'
                | b'"'
                | b'\''
                | b'<'
                | b'>'
                | b'('
                | b'['
                | b','
                | b';'
                | b'|'
                | b'`'
                | b'='
        )
    };
    head.iter()
        .rposition(ends)
        .map_or(least, |end| least + end + 1)
}

/// The words of each folder and of the file, two of which beside each other may be a name.
fn path(text: &[u8], start: usize, end: usize, findings: &mut Vec<Finding>) {
    let mut words = [(0, 0); 2];
    let mut at = start;
    while at < end {
        let sign = byte(text, at);
        if !(sign.is_ascii_alphabetic() || sign >= 0x80) {
            // Words of two folders are no name.
            if matches!(sign, b'/' | b'\\' | b':') || sign.is_ascii_digit() {
                words = [(0, 0); 2];
            }
            at += 1;
            continue;
        }
        let stop = word_end(text, at, end);
        words = [words[1], (at, stop)];
        let [one, two] = words;
        if is_name(text, one, two) && is_apart(text, one.1, two.0, end) {
            findings.push(Finding::new(NAME, one.0, two.1, SCORE).contextual());
            words = [(0, 0); 2];
        }
        at = stop;
    }
}

/// Where a word ends: before a sign, or before the capital of the next one (`MariaLopez`).
fn word_end(text: &[u8], start: usize, end: usize) -> usize {
    let mut at = start + 1;
    while at < end {
        let (before, here) = (byte(text, at - 1), byte(text, at));
        let is_letter = here.is_ascii_alphabetic() || here >= 0x80;
        if !is_letter || before.is_ascii_lowercase() && here.is_ascii_uppercase() {
            break;
        }
        at += 1;
    }
    at
}

/// One sign or none stands between words of a name, and the file's own words by spaces are a sentence before it.
fn is_apart(text: &[u8], one_end: usize, two_start: usize, end: usize) -> bool {
    match text.get(one_end..two_start) {
        Some([] | [b'_' | b'-' | b'+']) => true,
        // `lang.org/logo.png` has the name of a host.
        Some([b'.']) => {
            let rest = text.get(two_start..end).unwrap_or_default();
            !rest.iter().any(|sign| matches!(sign, b'/' | b'\\'))
        }
        // `Maria Lopez\x.docx`: spaces are within a folder or right before the extension.
        Some([b' '] | [b'_', b'_'] | [b',', b' ']) => {
            let rest = text.get(two_start..end).unwrap_or_default();
            let len = rest.iter().take_while(|sign| is_word(**sign)).count();
            len == rest.len() || matches!(rest.get(len), Some(b'\\' | b'/' | b'_' | b'-' | b' '))
        }
        _ => false,
    }
}

/// A given name and a surname, in either order, neither a word of every day.
fn is_name(text: &[u8], one: (usize, usize), two: (usize, usize)) -> bool {
    let class = |(start, end): (usize, usize)| {
        let word = text
            .get(start..end)
            .and_then(|word| std::str::from_utf8(word).ok());
        word.filter(|word| word.len() > 2)
            .map_or(Class::default(), |word| look_up(Hash::new().over(word)))
    };
    let (a, b) = (class(one), class(two));
    let is_pair = |given: Class, surname: Class| {
        given.is_given() && surname.is_surname() && (given.is_sure() || surname.is_sure())
    };
    !a.is_word() && !b.is_word() && (is_pair(a, b) || is_pair(b, a))
}
