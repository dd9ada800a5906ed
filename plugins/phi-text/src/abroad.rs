//! Labels of fields in other languages than English: `Telefon: …`, `N° de dossier : …`, `电话：…`.
//!
//! A label is read backwards from the sign behind it, so what has no such sign costs nothing. The languages are in
//! [`languages`].

mod languages;
mod letter;
mod table;

use crate::chunk;
use crate::script::stands_alone;
use crate::text::{byte, byte_before, char_at};

use letter::{Letter, letter};
use table::{EMPTY, Table, mix};

/// What a label says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Of a person and of nothing else.
    Name,
    /// Of a person, if it looks like it: things have names, too.
    PerhapsName,
    Birth,
    Day,
    Phone,
    Fax,
    /// The number of a patient or of what is kept of one.
    Record,
    /// The number of a stay, a case, an order or a sample.
    Case,
    /// The number of who is insured.
    Plan,
    /// A number that a state gives to a person.
    Citizen,
    Account,
    License,
    Device,
    Vehicle,
    Address,
    City,
    Zip,
}

#[allow(long_running_const_eval, reason = "some thousand labels")]
static TABLE: Table = Table::new(languages::ALL);

/// Bytes of the longest label.
const MAX_BYTES: usize = 64;
/// Gaps of the longest label.
const MAX_GAPS: usize = 8;
/// Bytes of the longest aside behind a label: `Telefon (privat):`.
const MAX_ASIDE_BYTES: usize = 24;

/// The parenthesis of Chinese and Japanese that opens.
const WIDE_OPEN: &[u8] = "\u{ff08}".as_bytes();
/// The colon of Chinese and Japanese.
const WIDE_COLON: &[u8] = "\u{ff1a}".as_bytes();

/// Visits what each label with a colon means, and where its value begins.
pub fn each(text: &[u8], visit: &mut dyn FnMut(Means, usize)) {
    let mut from = 0;
    while let Some(at) = chunk::next_of(text, from, [b':', 0xef]) {
        from = at + 1;
        if let Some((means, start)) = before_sign(text, at) {
            visit(means, start);
        }
    }
}

/// What the label before the colon at `at` means, and where its value begins.
pub fn before_sign(text: &[u8], at: usize) -> Option<(Means, usize)> {
    let end = if byte(text, at) == b':' {
        at + 1
    } else if text.get(at..at + WIDE_COLON.len()) == Some(WIDE_COLON) {
        at + WIDE_COLON.len()
    } else {
        return None;
    };
    // `std::time`, `tel://`
    if matches!(byte(text, end), b':' | b'/') {
        return None;
    }
    let head = label_end(text, at);
    let means = ends(text, head).or_else(|| ends(text, before_number_word(text, head)?))?;
    Some((means, value_start(text, end)))
}

/// Where the label ends before a last word that says that a number follows: `DNI Nº:`. The host writes `Nº` as `No`.
fn before_number_word(text: &[u8], end: usize) -> Option<usize> {
    const WORDS: [&[u8]; 5] = [b" no", b" n", b" nr", b" num", " n\u{ba}".as_bytes()];
    let head = text.get(..end)?;
    WORDS.iter().find_map(|word| {
        let start = end.checked_sub(word.len())?;
        let is_one = head.get(start..)?.eq_ignore_ascii_case(word);
        is_one.then_some(start)
    })
}

/// What the label says that ends before the number at `at`, nothing but a space between: `Telefon 0221 5558123`.
pub fn right_before(text: &[u8], at: usize) -> Option<Means> {
    let head = text.get(..at)?;
    let head = [&b" "[..], "\u{a0}".as_bytes(), "\u{202f}".as_bytes()]
        .iter()
        .find_map(|space| head.strip_suffix(*space))
        // Scripts without spaces have none here.
        .or_else(|| (*head.last()? >= 0x80).then_some(head))?;
    let head = head.strip_suffix(b".").unwrap_or(head);
    let (last, _) = letter::before(text, head.len())?;
    match letter(last) {
        Letter::One(_) => ends(text, head.len()),
        Letter::Gap | Letter::Mark | Letter::Other => None,
    }
}

/// What the name of a field says: a key, or the head of a column.
pub fn get(label: &[u8]) -> Option<Means> {
    if label.len() > MAX_BYTES {
        return None;
    }
    ends(label, label.len())
}

/// Where the label ends before the sign at `at`, without what may stand between.
fn label_end(text: &[u8], at: usize) -> usize {
    // As most stand.
    if byte_before(text, at).is_ascii_alphanumeric() {
        return at;
    }
    let (mut end, mut has_aside) = (at, false);
    while let Some((sign, start)) = letter::before(text, end) {
        let is_between = match char::from_u32(sign) {
            Some(
                ' ' | '\t' | '"' | '\'' | '*' | '_' | '.' | '`' | '\u{a0}' | '\u{202f}'
                | '\u{3000}' | '\u{200e}' | '\u{200f}',
            ) => true,
            Some(')' | '\u{ff09}') if !has_aside => {
                let from = end.saturating_sub(MAX_ASIDE_BYTES);
                let aside = text.get(from..start).unwrap_or_default();
                let wide = || aside.windows(3).rposition(|three| three == WIDE_OPEN);
                match aside.iter().rposition(|byte| *byte == b'(').or_else(wide) {
                    Some(open) => {
                        (end, has_aside) = (from + open, true);
                        continue;
                    }
                    None => false,
                }
            }
            _ => false,
        };
        if !is_between || at - start > MAX_ASIDE_BYTES {
            break;
        }
        end = start;
    }
    end
}

/// Where the value begins behind the sign that ends at `end`: on the line below, if nothing else stands in its own.
fn value_start(text: &[u8], end: usize) -> usize {
    let mut at = end;
    let mut has_break = false;
    while let Some(sign) = char_at(text, at) {
        match sign {
            ' ' | '\t' | '"' | '\'' | '*' | '\u{a0}' | '\u{202f}' | '\u{3000}' | '\u{ab}'
            | '\u{201c}' | '\u{201e}' | '\u{200e}' | '\u{200f}' => {}
            '\r' | '\n' if !has_break => has_break = sign == '\n',
            // `नाम :- …`
            '-' if byte(text, at + 1) == b' ' => {}
            _ => break,
        }
        at += sign.len_utf8();
    }
    at + number_word_len(text, at)
}

/// Bytes of a word that says that a number follows, before a number: `Nr. 884213`, `nº 884213`, `#884213`.
fn number_word_len(text: &[u8], at: usize) -> usize {
    const WORDS: [&[u8]; 6] = [
        b"no",
        b"nr",
        b"n",
        b"#",
        "n\u{ba}".as_bytes(),
        "n\u{b0}".as_bytes(),
    ];
    let rest = text.get(at..).unwrap_or_default();
    let lens = WORDS.iter().filter_map(|word| {
        let head = rest.get(..word.len())?;
        let dot = usize::from(byte(rest, word.len()) == b'.');
        let space = usize::from(byte(rest, word.len() + dot) == b' ');
        let len = word.len() + dot + space;
        let is_apart = dot + space > 0 || !word.is_ascii() || *word == b"#";
        (head.eq_ignore_ascii_case(word) && is_apart && byte(rest, len).is_ascii_digit())
            .then_some(len)
    });
    lens.max().unwrap_or(0)
}

/// What the longest label says that ends at `end` and begins a word.
fn ends(text: &[u8], end: usize) -> Option<Means> {
    if !TABLE.may_end(text.get(..end)?) {
        return None;
    }
    let (mut at, mut hash, mut found, mut gaps) = (end, EMPTY, None, 0);
    while end - at <= MAX_BYTES {
        let Some((sign, start)) = letter::before(text, at) else {
            break;
        };
        // The sign of abbreviations in Hebrew, as most type it.
        if sign == u32::from('"') && is_hebrew_before(text, at + 2) && is_hebrew_before(text, start)
        {
            at = start;
            continue;
        }
        match letter(sign) {
            Letter::One(one) => {
                // Where words have no spaces between, each letter may end another one.
                if at < end && sign >= 0x80 && char::from_u32(sign).is_some_and(stands_alone) {
                    found = TABLE.get(hash).or(found);
                }
                hash = mix(hash, one);
                if !TABLE.may_go_on(hash) {
                    return found;
                }
            }
            Letter::Mark => {}
            Letter::Gap if gaps < MAX_GAPS => {
                found = TABLE.get(hash).or(found);
                gaps += 1;
            }
            Letter::Gap | Letter::Other => break,
        }
        at = start;
    }
    TABLE.get(hash).or(found)
}

/// Whether a letter of Hebrew ends before `end`.
fn is_hebrew_before(text: &[u8], end: usize) -> bool {
    let letter = (end <= text.len()).then(|| letter::before(text, end));
    letter.is_some_and(|letter| matches!(letter, Some((0x5d0..=0x5ea, _))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str) -> Vec<(Means, &str)> {
        let mut found = Vec::new();
        each(text.as_bytes(), &mut |means, start| {
            found.push((means, text.get(start..).unwrap_or_default()));
        });
        found
    }

    #[test]
    fn labels_are_known_however_they_are_written() {
        for text in [
            "Telefon: 1",
            "TELEFON : 1",
            "Privat Telefon:1",
            "- **Telefon:** 1",
            "- **Telefon**: 1",
            "\"telefon\": 1",
            "Telefon (privat): 1",
            "Telefon:\n1",
            "kontakt_telefon: 1",
            "T\u{e9}l\u{e9}phone\u{a0}: 1",
            "Te\u{301}le\u{301}phone\u{202f}: 1",
            "\u{8054}\u{7cfb}\u{7535}\u{8bdd}\u{ff1a}1",
            "\u{7535}\u{8bdd}\u{ff08}\u{5bb6}\u{ff09}\u{ff1a}\u{3000}1",
        ] {
            assert_eq!(means(text), [(Means::Phone, "1")], "{text}");
        }
        assert_eq!(
            means("Kontotelefon: 1, Telefon und Haus: 2, Telefon::new"),
            []
        );
    }

    #[test]
    fn a_number_may_be_announced() {
        for text in [
            "DNI Nº: 12345678",
            "DNI No: 12345678",
            "DNI: nº 12345678",
            "DNI: No. 12345678",
            "DNI: #12345678",
        ] {
            assert_eq!(means(text), [(Means::Citizen, "12345678")], "{text}");
        }
        assert_eq!(means("No dossier: 1"), [(Means::Record, "1")]);
        assert_eq!(means("N° dossier\t: 1"), [(Means::Record, "1")]);
    }

    #[test]
    fn hebrew_is_shortened_with_any_quote() {
        for text in ["ת\"ז: 1", "ת״ז: 1", "ת.ז: 1"] {
            assert_eq!(means(text), [(Means::Citizen, "1")], "{text}");
        }
    }

    #[test]
    fn asides_cost_no_more_than_they_are_long() {
        assert_eq!(means(&"():)".repeat(100_000)), []);
        assert_eq!(means(&"Telefon (a)".repeat(20_000)), []);
    }

    #[test]
    fn the_longest_label_counts() {
        assert_eq!(means("data de nascimento: 1"), [(Means::Birth, "1")]);
        assert_eq!(means("data: 1"), [(Means::Day, "1")]);
        assert_eq!(get(b"geburtsdatum"), Some(Means::Birth));
        assert_eq!(get(b"phone number"), None);
        assert_eq!(get(b""), None);
    }

    #[test]
    fn labels_stand_right_before_numbers() {
        let before = |text: &str| {
            let at = text.find(|sign: char| sign.is_ascii_digit());
            right_before(text.as_bytes(), at.unwrap_or_default())
        };
        assert_eq!(before("unter Telefon 0221"), Some(Means::Phone));
        assert_eq!(before("Tel. 0221"), Some(Means::Phone));
        assert_eq!(before("\u{7535}\u{8bdd}138"), Some(Means::Phone));
        assert_eq!(before("Telefon, 0221"), None);
        assert_eq!(before("Telefon0221"), None);
        assert_eq!(before("0221"), None);
    }
}
