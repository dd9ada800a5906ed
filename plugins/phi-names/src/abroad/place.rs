//! Addresses, towns and postal codes behind a label.

use phi_text::script::stands_alone;

use super::is_end;
use crate::token;

/// Bytes of the address that the line begins with.
pub(super) fn address(line: &str) -> Option<usize> {
    const MIN_LETTERS: usize = 3;
    let line = line.get(..sentence_len(line))?;
    // Another field goes on in the line.
    let line = match line.find([':', '：']) {
        Some(colon) => {
            let head = line.get(..colon)?.trim_end_matches([' ', '.']);
            let border = head.rfind([',', '.', ';', '，', '。', '；'])?;
            line.get(..border)?
        }
        None => line,
    };
    let line = line.trim_end_matches([' ', ',', '.', ';', '，', '。', '；', '(']);
    let letters = line.chars().filter(|sign| sign.is_alphabetic()).count();
    let has_number = line.chars().any(char::is_numeric);
    let is_close = line.chars().any(|sign| AREAS.contains(&sign));
    let first = line.chars().next()?;
    let is_street = first.is_uppercase()
        || first.is_numeric()
        || first.is_alphabetic() && !first.is_lowercase()
        || STREETS.iter().any(|street| line.starts_with(street));
    let is_code = line.contains(['@', '_']) || line.contains("//") || line.contains("www.");
    // `0x7ffe1234`, `192.168.1.10 Port 8080`
    let word = line.split(' ').next().unwrap_or(line);
    let is_number = word.split('.').count() == 4
        && word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_code = is_code || is_number || word.starts_with("0x") || word == "Port";
    (letters >= MIN_LETTERS
        && (has_number || is_close && letters > MIN_LETTERS)
        && is_street
        && !is_code)
        .then_some(line.len())
}

/// Words in small letters that addresses begin with.
const STREETS: [&str; 20] = [
    "ul.",
    "ul ",
    "al.",
    "rue ",
    "via ",
    "rua ",
    "av. ",
    "avenida ",
    "calle ",
    "c/",
    "str.",
    "strada ",
    "bd ",
    "boulevard ",
    "ул.",
    "вул.",
    "г.",
    "пр.",
    "просп",
    "οδ",
];

/// What areas and streets end with in Chinese, Japanese and Korean.
const AREAS: [char; 16] = [
    '省', '市', '区', '區', '县', '縣', '路', '街', '号', '號', '道', '町', '村', '시', '구', '동',
];

/// Bytes up to the end of a sentence that another one follows: `Hauptstr. 5. Der Patient lebt allein.`
fn sentence_len(line: &str) -> usize {
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|rest| rest.find(". ")) {
        let dot = from + at;
        let head = line.get(..dot).unwrap_or_default();
        let word = head.rsplit(' ').next().unwrap_or(head);
        let is_long = word.chars().count() > 4 && word.chars().all(char::is_alphabetic);
        let goes_on = line.get(dot + 2..).unwrap_or_default();
        let is_ended = is_long || word.chars().all(char::is_numeric);
        if is_ended && goes_on.starts_with(char::is_uppercase) {
            return dot;
        }
        from = dot + 2;
    }
    line.len()
}

/// Whether a postal code makes it sure, and bytes of the town.
pub(super) fn city(line: &str) -> Option<(bool, usize)> {
    const MAX_WORDS: usize = 3;
    let code = zip(line).unwrap_or(0);
    let mut end = code;
    for _ in 0..MAX_WORDS {
        let rest = line.get(end..)?;
        let trimmed = rest.trim_start_matches([' ', '\u{a0}']);
        let is_inside =
            |sign: char| sign.is_alphabetic() || matches!(sign, '-' | '\'' | '\u{2019}');
        let len = trimmed
            .find(|sign: char| !is_inside(sign))
            .unwrap_or(trimmed.len());
        if !trimmed.starts_with(char::is_uppercase) {
            break;
        }
        end += rest.len() - trimmed.len() + len;
    }
    let town = line.get(code..end)?.trim_start();
    let is_close = town.is_empty() && code == 0 && line.starts_with(stands_alone);
    if is_close {
        let len = line
            .find(|sign: char| !stands_alone(sign))
            .unwrap_or(line.len());
        let letters = line.get(..len)?.chars().count();
        return ((2..=12).contains(&letters)
            && is_end(line.get(len..)?)
            && line.get(..len)?.ends_with(AREAS))
        .then_some((false, len));
    }
    let class = token::class_of(town);
    let is_known = class.is_city() || class.is_unknown() && !class.is_foreign();
    let fits = town.chars().count() > 2 && is_end(line.get(end..)?) && (code > 0 || is_known);
    fits.then_some((code > 0, end))
}

/// Bytes of the postal code that the line begins with: four digits or more.
pub(super) fn zip(line: &str) -> Option<usize> {
    const DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
    let is_inside = |sign: char| sign.is_numeric() || sign == '-' || sign.is_ascii_uppercase();
    let len = line
        .find(|sign: char| !is_inside(sign))
        .unwrap_or(line.len());
    let code = line.get(..len)?;
    // `1234 AB`, `123 45`
    let rest = line.get(len..)?;
    let behind: String = rest.chars().take(4).collect();
    let group = behind.strip_prefix(' ').map_or(0, |group| {
        let size = group.chars().take_while(|sign| is_inside(*sign)).count();
        let is_word = group.chars().nth(size).is_some_and(char::is_alphanumeric);
        if size == 2 && !is_word { 3 } else { 0 }
    });
    let count = |text: &str| text.chars().filter(|sign| sign.is_numeric()).count();
    let digits = count(code) + count(rest.get(..group).unwrap_or_default());
    let fits =
        DIGITS.contains(&digits) && code.starts_with(char::is_numeric) && !code.ends_with('-');
    let next = line.get(len + group..)?.chars().next();
    (fits
        && next
            .is_none_or(|next| !next.is_alphanumeric() && !matches!(next, '.' | ':' | '%' | '_')))
    .then_some(len + group)
}
