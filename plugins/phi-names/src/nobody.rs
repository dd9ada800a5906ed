//! Words that the lists hold for somebody's name and that name nobody where they stand: peoples and faiths, vitamins and
//! values of a laboratory, firms that bear one name twice, keys of an address.

use phi_lexicon::peoples;

use crate::kind::Finding;

/// What is behind a title, or as sure.
const TITLED_SCORE: u16 = 900;
/// Short for values and drugs where a number follows.
const ABBREVIATIONS: [&str; 5] = ["Ast", "Min", "Tri", "Val", "Vit"];
/// Letters of the longest name that is short for a drug at the head of an order.
const SHORT: usize = 4;
/// What is given so many of.
const UNITS: [&str; 9] = [
    "mg", "mcg", "g", "ml", "units", "iu", "meq", "tabs", "puffs",
];
/// Bytes looked at on either side.
const REACH: usize = 40;

/// Whether a name names nobody.
pub fn is_one(text: &str, finding: &Finding) -> bool {
    let word = text.get(finding.start..finding.end).unwrap_or_default();
    if finding.score >= TITLED_SCORE {
        return false;
    }
    let from = text.floor_char_boundary(finding.start.saturating_sub(REACH));
    let to = text.ceil_char_boundary(text.len().min(finding.end + REACH));
    let before = text.get(from..finding.start).unwrap_or_default();
    let behind = text.get(finding.end..to).unwrap_or_default();
    is_people(before, word, behind)
        || is_vitamin(word, behind)
        || is_measured(word, behind)
        || is_ordered(before, word, behind)
        || is_firm(before, word, behind)
        || before.ends_with(['?', '&']) && behind.starts_with('=')
}

/// `her mother is Jewish`, `Irish coffee`; of words that are names as often, `a Christian patient` and `Religion:
/// Christian`.
fn is_people(before: &str, word: &str, behind: &str) -> bool {
    if word.split(' ').all(peoples::is_people) {
        return true;
    }
    if !peoples::is_perhaps_people(word) {
        return false;
    }
    let next = behind.strip_prefix(' ').and_then(|behind| {
        behind
            .split(|sign: char| !sign.is_alphabetic())
            .next()
            .filter(|next| next.starts_with(char::is_lowercase))
    });
    let mut last = before.trim_end().rsplit(|sign: char| !sign.is_alphabetic());
    let is_labelled = match before.trim_end().strip_suffix([':', '=']) {
        Some(label) => {
            let mut label = label.rsplit(|sign: char| !sign.is_alphabetic());
            label.next().is_some_and(peoples::is_trait)
        }
        None => last.next().is_some_and(peoples::is_trait),
    };
    is_labelled || next.is_some_and(peoples::is_somebody)
}

/// `Vit D`, and the first word of `Vit B12`.
fn is_vitamin(word: &str, behind: &str) -> bool {
    let Some(letter) = word.get(..3).filter(|vit| vit.eq_ignore_ascii_case("vit")) else {
        return false;
    };
    let rest = word.get(letter.len()..).unwrap_or_default();
    match rest.as_bytes() {
        [b' ', b'A'..=b'K'] => true,
        [] => matches!(
            behind.trim_start_matches('.').as_bytes(),
            [b' ', b'A'..=b'K' | b'a'..=b'k', next, ..] if !next.is_ascii_alphabetic()
        ),
        _ => false,
    }
}

/// `Ast 32`, but not `Val 34F`.
fn is_measured(word: &str, behind: &str) -> bool {
    let number = behind.trim_start_matches([' ', ':', '=']);
    let digits = number.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let unit = digits.trim_start_matches(['-', ' ', ',']);
    // Telephone numbers and days go on.
    let goes_on = digits.starts_with('/')
        || digits
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()));
    let is_age = ["y", "Y", "F", "M", "mo"]
        .iter()
        .any(|age| unit.starts_with(age));
    ABBREVIATIONS.contains(&word)
        && number.len() < behind.len()
        && digits.len() < number.len()
        && !goes_on
        && !is_age
}

/// `Ali 5 mg`, where an order begins.
fn is_ordered(before: &str, word: &str, behind: &str) -> bool {
    let head = before.trim_end_matches(['-', '*', '\u{2022}', ' ']);
    let Some(number) = behind.strip_prefix(' ') else {
        return false;
    };
    let digits = number.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let unit = digits.trim_start();
    let length = unit.bytes().take_while(u8::is_ascii_alphabetic).count();
    let unit = unit.get(..length).unwrap_or_default();
    (head.is_empty() || head.ends_with('\n'))
        && word.len() <= SHORT
        && digits.len() < number.len()
        && UNITS.iter().any(|one| one.eq_ignore_ascii_case(unit))
}

/// `Johnson & Johnson`.
fn is_firm(before: &str, word: &str, behind: &str) -> bool {
    let again = |other: &str| {
        other
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let first = before
        .strip_suffix(" & ")
        .and_then(|head| head.rsplit(|sign: char| !sign.is_alphanumeric()).next());
    first == Some(word) || behind.strip_prefix(" & ").is_some_and(again)
}
