//! Codes of letters with few digits or none, behind labels that nothing but a code follows: `MRN: KQWZ7T2A`. Words of
//! programs with a number (`order1`, `sha256`), measures and placeholders are none. Knows no label and no kind.

use crate::text::{byte, is_word};

use super::code::MAX_CODE_BYTES;

/// How surely a code stands at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lead {
    /// Right behind a label, or behind words such as `is`.
    Bare,
    /// Behind a colon, an equals sign or a `#`.
    Signed,
    /// The whole value of a field.
    Field,
}

/// What the label is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strength {
    /// Of a code and of nothing else.
    Sure,
    /// A word of every day too, or a short sign.
    Everyday,
}

/// Least strangeness of letters that are no word: one word of English in fifty has as much, nine random codes of ten.
const STRANGE: u32 = 4;
/// The same for capitals behind which a number stands, where nothing but a code is expected.
const SOMEWHAT_STRANGE: u32 = 2;
/// The same where a sentence may go on with a word.
const VERY_STRANGE: u32 = 5;

/// Where the code ends that begins at `start`; nothing where none does.
pub(super) fn end(text: &[u8], start: usize, lead: Lead, strength: Strength) -> Option<usize> {
    if strength == Strength::Everyday && lead == Lead::Bare {
        return None;
    }
    let end = run_end(text, start, lead);
    let code = text.get(start..end)?;
    let tail = byte(text, end);
    // `toBase64(…)`, `Hl7v2::Parser`.
    let is_called = matches!(tail, b'(' | b'[') || tail == b':' && byte(text, end + 1) == b':';
    if code.is_empty() || is_word(tail) || matches!(tail, b'_' | b'@') || is_called {
        return None;
    }
    let is_code = if code.iter().any(u8::is_ascii_digit) {
        has_shape(code, lead, strength)
    } else {
        // What another sign follows is a label.
        strength == Strength::Sure && !matches!(tail, b':' | b'=') && is_scrambled(code, lead)
    };
    is_code.then_some(end)
}

/// Where letters, digits and single signs between them end.
fn run_end(text: &[u8], start: usize, lead: Lead) -> usize {
    let mut end = start;
    while end < start + MAX_CODE_BYTES {
        let (here, next) = (byte(text, end), byte(text, end + 1));
        let before = byte(text, end.wrapping_sub(1));
        let goes_on = match here {
            b'-' | b'_' => end > start && next.is_ascii_alphanumeric(),
            // A sentence ends with a dot too.
            b'.' if lead == Lead::Field => end > start && next.is_ascii_alphanumeric(),
            b'.' => {
                end > start
                    && next.is_ascii_digit()
                    && (before.is_ascii_digit() || before.is_ascii_uppercase())
            }
            other => other.is_ascii_alphanumeric(),
        };
        if !goes_on {
            break;
        }
        end += 1;
    }
    end
}

/// Whether letters with a digit among them are a code.
fn has_shape(code: &[u8], lead: Lead, strength: Strength) -> bool {
    /// Letters and digits of the shortest code behind a word of every day.
    const EVERYDAY: usize = 7;
    let is_small = code.iter().any(u8::is_ascii_lowercase);
    let len = code
        .iter()
        .filter(|byte| **byte != b'_' && byte.is_ascii_alphanumeric())
        .count();
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    let least = match (strength, lead, is_small) {
        (Strength::Everyday, ..) => EVERYDAY,
        (_, Lead::Field, false) => 4,
        (_, Lead::Field, true) | (_, _, false) => 5,
        (_, _, true) => 6,
    };
    if len < least
        || digits == len
        || is_joined_word(code, digits, lead)
        || is_measure(code)
        || is_numbered(code, lead)
        || is_of_a_standard(code)
        || is_version(code)
    {
        return false;
    }
    let is_mixed = digit_runs(code) > 1 || strangeness(code) >= STRANGE;
    match (strength, is_small) {
        (Strength::Sure, false) => true,
        (Strength::Sure, true) => is_mixed || lead == Lead::Field,
        (Strength::Everyday, is_small) => is_mixed && !is_small,
    }
}

/// `order_line2`, `pkcs-9-at-serial`: words that signs join, where no number of three digits ends them.
fn is_joined_word(code: &[u8], digits: usize, lead: Lead) -> bool {
    const MIN_DIGITS: usize = 3;
    let last = |sign: u8| {
        let last = code.rsplit(|byte| *byte == sign).next().unwrap_or(code);
        (last.len() < code.len()).then(|| last.iter().any(u8::is_ascii_digit))
    };
    let may_be_words = lead < Lead::Field && code.iter().any(u8::is_ascii_lowercase);
    let is_joined = last(b'_').is_some_and(|has_number| digits < MIN_DIGITS || !has_number);
    is_joined
        || may_be_words && last(b'-').is_some() && digits < MIN_DIGITS && digit_runs(code) == 1
}

/// `docs-v0.2`, `validate-1.0.3`: a word and a release of it.
fn is_version(code: &[u8]) -> bool {
    /// Digits of a part of a release.
    const MAX_DIGITS: usize = 3;
    let last = code
        .rsplit(|byte| matches!(byte, b'-' | b'_'))
        .next()
        .unwrap_or(code);
    let last = last.strip_prefix(b"v").unwrap_or(last);
    let mut parts = last.split(|byte| *byte == b'.');
    last.contains(&b'.')
        && parts.all(|part| {
            (1..=MAX_DIGITS).contains(&part.len()) && part.iter().all(u8::is_ascii_digit)
        })
}

fn digit_runs(code: &[u8]) -> usize {
    let runs = code.split(|byte| !byte.is_ascii_digit());
    runs.filter(|run| !run.is_empty()).count()
}

/// `10mg`, `2nd`, `500ML`: a number and what it counts.
fn is_measure(code: &[u8]) -> bool {
    const UNITS: [&str; 46] = [
        "st", "nd", "rd", "th", "mg", "ml", "mcg", "g", "kg", "l", "dl", "cm", "mm", "m", "km",
        "am", "pm", "h", "hr", "hrs", "min", "mins", "s", "sec", "secs", "ms", "d", "day", "days",
        "w", "wk", "wks", "week", "weeks", "mo", "mos", "month", "months", "yo", "yr", "yrs",
        "year", "years", "x", "items", "rows",
    ];
    let digits = code.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unit = code.get(digits..).unwrap_or_default();
    let unit = unit.strip_prefix(b"-").unwrap_or(unit);
    let is = |known: &str| unit.eq_ignore_ascii_case(known.as_bytes());
    digits > 0 && UNITS.iter().any(|known| is(known))
}

/// `order1`, `Section-4`, `COVID19`: a word and a short number behind it.
fn is_numbered(code: &[u8], lead: Lead) -> bool {
    /// Letters of the shortest word.
    const MIN_LETTERS: usize = 3;
    let digits = code
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let word = code.get(..code.len() - digits).unwrap_or_default();
    let is_small = word.iter().any(u8::is_ascii_lowercase);
    let most = if is_small { 3 } else { 2 };
    let least = if is_small || lead == Lead::Bare {
        STRANGE
    } else {
        SOMEWHAT_STRANGE
    };
    let letters = word
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    (1..=most).contains(&digits)
        && letters >= MIN_LETTERS
        && !word.iter().any(u8::is_ascii_digit)
        && strangeness(word) < least
}

/// `ICD10CM`, `HL7v2`, `utf8mb4`, `v1alpha1`, `x86_64`: what standards and programs are called.
fn is_of_a_standard(code: &[u8]) -> bool {
    const NAMES: [&str; 27] = [
        "hl", "icd", "iso", "rfc", "utf", "sha", "md", "cpt", "int", "uint", "float", "varchar",
        "char", "ipv", "oauth", "http", "aes", "tls", "ssl", "usb", "fhir", "covid", "win", "base",
        "cyp", "ecma", "ansi",
    ];
    /// In small letters alone.
    const LETTERS: [&[u8]; 6] = [b"v", b"x", b"h", b"u", b"i", b"f"];
    let letters = code
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let head = code.get(..letters).unwrap_or_default();
    let is_named = NAMES
        .iter()
        .any(|name| head.eq_ignore_ascii_case(name.as_bytes()));
    let is_shouted = code.iter().any(u8::is_ascii_uppercase);
    byte(code, letters).is_ascii_digit() && (is_named || !is_shouted && LETTERS.contains(&head))
}

/// Letters that are no word, no abbreviation and no placeholder.
fn is_scrambled(code: &[u8], lead: Lead) -> bool {
    /// Letters of the shortest one, in capitals and with small ones among them.
    const SHOUTED: usize = 6;
    const MIXED: usize = 12;
    /// Capitals behind small letters in a mixed one.
    const MIN_TURNS: usize = 2;
    const KEYS: [&[u8]; 3] = [b"QWERT", b"ASDFG", b"ZXCVB"];
    if lead == Lead::Bare || !code.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    let least = if lead == Lead::Field {
        STRANGE
    } else {
        VERY_STRANGE
    };
    let is_shouted = code.iter().all(u8::is_ascii_uppercase);
    let is_placeholder = kinds(code) < 4
        || is_alphabet(code)
        || KEYS
            .iter()
            .any(|keys| code.windows(keys.len()).any(|part| part == *keys));
    let turns = code.windows(2).filter(
        |pair| matches!(pair, [one, two] if one.is_ascii_lowercase() && two.is_ascii_uppercase()),
    );
    let fits = if is_shouted {
        code.len() >= SHOUTED
    } else {
        lead == Lead::Field && code.len() >= MIXED && turns.count() >= MIN_TURNS
    };
    fits && !is_placeholder && strangeness(code) >= least
}

/// How many different letters.
fn kinds(code: &[u8]) -> u32 {
    let letters = code
        .iter()
        .fold(0_u32, |letters, byte| letters | 1 << (byte & 31));
    letters.count_ones()
}

/// `ABCDEF`, `WXYZWXYZ`: half of the letters follow one another as in the alphabet.
fn is_alphabet(code: &[u8]) -> bool {
    let steps = code
        .windows(2)
        .filter(|pair| matches!(pair, [one, two] if one.checked_add(1) == Some(*two)));
    steps.count() * 2 >= code.len()
}

/// How little the letters look like those of a word: the sum over all pairs, none of which spans a capital behind a
/// small letter.
fn strangeness(code: &[u8]) -> u32 {
    let pairs = code.windows(2).map(|pair| {
        let [one, two] = pair else { return 0 };
        if !one.is_ascii_alphabetic()
            || !two.is_ascii_alphabetic()
            || one.is_ascii_lowercase() && two.is_ascii_uppercase()
        {
            return 0;
        }
        let place = |byte: &u8| usize::from(byte.to_ascii_lowercase() - b'a');
        let row = PAIRS.get(place(one));
        row.and_then(|row| row.get(place(two)))
            .map_or(0, |digit| u32::from(digit - b'0'))
    });
    pairs.sum()
}

/// How rare a pair of letters is: 0 where 120 of 20,000 words of documentation have it, 1 where 30, 2 where 8, else
/// 3. A row for each first letter.
#[rustfmt::skip]
const PAIRS: [[u8; 26]; 26] = [
    *b"00001101020000203000001102",
    *b"01110222013022013001023212",
    *b"02010120030012012000012212",
    *b"01100112022111012001012213",
    *b"01000001021000101000101012",
    *b"02110013033022023011032313",
    *b"02120210033110023001023322",
    *b"02210223032112023110132313",
    *b"00000002221000002000203130",
    *b"13221333232332123323133333",
    *b"12220222032121123201232323",
    *b"01100112032011012200013202",
    *b"01210223032101003201023313",
    *b"01000001020110012100011212",
    *b"10001102121000003000000112",
    *b"02110220032022003000032213",
    *b"33323333333233333223033333",
    *b"01000102031000013000012203",
    *b"01010110031001001100021202",
    *b"01010120032011013000021102",
    *b"00010113032000103000222232",
    *b"02220233033212123212333333",
    *b"03220221032231123112333333",
    *b"12121232133222203310233223",
    *b"12221223133111103211222322",
    *b"12220332133223233323233322",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn is(code: &str, lead: Lead, strength: Strength) -> bool {
        end(code.as_bytes(), 0, lead, strength) == Some(code.len())
    }

    #[test]
    fn codes_have_digits_among_letters() {
        for code in ["KQWZ7T2A", "KQWZ-TA7", "QRTZB1", "KWX48", "PX7QTRB.12"] {
            assert!(is(code, Lead::Bare, Strength::Sure), "{code}");
        }
        for code in ["kqwz7t2a", "er7uFYu2cB", "A1B2", "pt_44718", "PAT_004471"] {
            assert!(is(code, Lead::Field, Strength::Sure), "{code}");
        }
        for code in [
            "order1",
            "Section-4",
            "COVID19",
            "ROOM12",
            "sha256",
            "utf8mb4",
            "v1alpha1",
            "HL7V2",
            "ICD10CM",
            "2nd",
            "10mg",
            "500ML",
            "int32",
            "docs-v0.2",
            "v1.2.3",
            "order_line2",
            "mrn_123_col",
            "AB1",
            "123456",
        ] {
            assert!(!is(code, Lead::Field, Strength::Sure), "{code}");
        }
        assert!(!is("pkcs-9-at-serialNumber", Lead::Bare, Strength::Sure));
        assert!(is("KQWZ7T2A", Lead::Signed, Strength::Everyday));
        for code in ["ADMIN12A", "kqwz7t2a", "USB3HUB2"] {
            assert!(!is(code, Lead::Signed, Strength::Everyday), "{code}");
        }
        assert!(!is("KQWZ7T2A", Lead::Bare, Strength::Everyday));
    }

    #[test]
    fn letters_alone_are_a_code_where_they_are_no_word() {
        for code in ["KQWZTPLA", "XVBQNM", "HJKDFPWT"] {
            assert!(is(code, Lead::Signed, Strength::Sure), "{code}");
            assert!(!is(code, Lead::Bare, Strength::Sure), "{code}");
            assert!(!is(code, Lead::Field, Strength::Everyday), "{code}");
        }
        assert!(is("eRxuFYUfucBZaryVksYEcMgQ", Lead::Field, Strength::Sure));
        for word in [
            "UNKNOWN",
            "PENDING",
            "REQUIRED",
            "UNASSIGNED",
            "WITHHELD",
            "XXXXXXXX",
            "ABCDEF",
            "WXYZWXYZ",
            "QWERTYUI",
            "MMDDYYYY",
            "CONFIDENTIAL",
            "kqwztpla",
            "patientRecordNumber",
            "KQWZT",
        ] {
            assert!(!is(word, Lead::Field, Strength::Sure), "{word}");
        }
    }

    #[test]
    fn nothing_ends_inside_of_a_word() {
        for text in [
            "KQWZ7T2A@host",
            "KQWZ7T2A(1)",
            "KQWZ7::T",
            "KQWZ7T2Ä",
            "KQWZTPLA: 1",
        ] {
            assert_eq!(
                end(text.as_bytes(), 0, Lead::Signed, Strength::Sure),
                None,
                "{text}"
            );
        }
    }
}
