//! What a number or a code is, by the words before it.

use crate::list::words;
use crate::token::{Token, UNKNOWN, shape};

/// Tokens that are looked back.
const REACH: usize = 6;

/// Words, the kinds that they speak of, as in `lib.rs`.
const CUES: [(usize, &[u64]); 7] = [
    (
        crate::PHONE,
        words!(
            "phone tel telephone cell mobile call reach text pager fax whatsapp ph callback landline teléfono tfno tlf \
            móvil celular contacto telefon telefonu telefonnummer mobilnummer festnetz rückruf telefax téléphone \
            télécopie telefono cellulare telefone telefoon telefoonnummer telefonem komórka puhelin puhelinnumero thoại \
            sđt telepono telefòn faks телефон тел моб телефону هاتف الهاتف هاتفها هاتفه جوال الجوال تلفن טלפון नंबर \
            फ़ोन फोन मोबाइल τηλέφωνο τηλ κινητό"
        ),
    ),
    (
        crate::MRN,
        words!(
            "mrn chart wristband mr nhc historia hc expediente ficha patientennummer patientennr fallnummer aktennummer \
            prontuário prontuario cartella patiëntnummer patiëntnr dossiernummer kartoteki journalnummer карта карты"
        ),
    ),
    (
        crate::HEALTH_PLAN_ID,
        words!(
            "member policy insurance subscriber plan medicaid medicare group póliza afiliado afiliada cip sip tarjeta \
            seguro versichertennummer versichertennr krankenkasse mitgliedsnummer mutuelle tessera carteirinha apólice \
            polisnummer polis полис полиса"
        ),
    ),
    (
        crate::ACCOUNT_NUMBER,
        words!(
            "account acct iban invoice cuenta bank routing konto kontonummer compte conto rekening rekeningnummer rachunek \
            hesap счет счёт"
        ),
    ),
    (
        crate::LICENSE_NUMBER,
        words!(
            "license licence lic npi dea cdl dl licencia colegiado registration führerschein führerscheinnummer lanr \
            arztnummer permis rpps rijbewijs pwz"
        ),
    ),
    (
        crate::VEHICLE_ID,
        words!(
            "plate plates vin vehicle tag matrícula placa car truck kennzeichen fahrgestellnummer immatriculation targa \
            kenteken chassi rejestracyjny plaka госномер"
        ),
    ),
    (
        crate::DEVICE_ID,
        words!(
            "serial lot device sn ser pump pacemaker imei meter serie seriennummer seriennr gerätenummer série matricola \
            serienummer seryjny серийный"
        ),
    ),
];

/// Words before what is a code of a catalog, and nobody's.
const CATALOGS: &[u64] = words!(
    "nist ncci ndc loinc snomed icd icd10 icd9 cpt hcpcs rxnorm rxcui oid uid sopclassuid rfc iso doi pmid nct isbn version cvx \
    drg cas atc"
);

/// What ids of calls and replies begin with: programs make them up, in conversations about conversations too.
const CALLS: &[u64] = words!("toolu chatcmpl tooluse");

/// Letters and digits that are names of encodings, types, machines and protocols.
const PROGRAMS: &[u64] = words!(
    "ipv4 ipv6 base16 base32 base58 base64 base64url sha1 sha224 sha256 sha384 sha512 md5 utf8 utf16 utf32 utf8mb4 \
    x86 x64 amd64 arm64 aarch64 aarch32 armv7 armv8 win32 win64 wasm32 wasm64 riscv64 int8 int16 int32 int64 uint8 \
    uint16 uint32 uint64 float16 float32 float64 complex64 complex128 uint8array int32array float32array oauth2 http2 \
    http3 log4j i18n l10n a11y k8s python2 python3 sqlite3 libc6 ed25519 x25519 curve25519 secp256k1 p256 p384 p521 \
    blake2b blake3 chacha20 poly1305 aes128 aes256 crc32 adler32 h264 h265 rfc3339 rfc3986 rfc7231 iso8601 es2015 \
    es2017 es2020 es2022 boto3 urllib3 html5 css3 web3 log2 log10 atan2 exp2 utf16le"
);

/// Characters of the shortest code.
const LEAST: usize = 4;
/// Words of the shortest code that has no digits: `kilo zulu niner four`.
const LEAST_WORDS: usize = 4;
/// What digits, letters and signs are called when somebody reads a code out, in English and Spanish.
const SPOKEN: &[u64] = words!(
    "zero oh one two three four five six seven eight nine ten niner eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand double \
    triple alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november \
    oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu dash hyphen slash dot point \
    letter capital cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte \
    treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento guion letra barra"
);

/// Whether a value is long enough for a code. One of words of every day alone is read out; `anvil-saddle-winch-lever` is
/// a name that a program made up.
fn may_be(text: &str, tokens: &[Token]) -> bool {
    if tokens.iter().all(|token| token.shape < shape::CODE) {
        let spoken = tokens.iter().filter(|token| {
            let word = text.get(token.start..token.end).unwrap_or_default();
            word.chars().nth(1).is_none() || SPOKEN.contains(&token.word)
        });
        return tokens.len() >= LEAST_WORDS
            && (spoken.count() * 2 >= tokens.len()
                || !tokens.iter().all(Token::is_of_the_language));
    }
    if let [token] = tokens
        && is_variable(text.get(token.start..token.end).unwrap_or_default())
    {
        return false;
    }
    let letters: usize = tokens.iter().map(|token| token.end - token.start).sum();
    letters >= LEAST
}

/// Whether a program calls something so: `dev2`, one digit behind small letters.
fn is_variable(word: &str) -> bool {
    let letters = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    letters.len() + 1 == word.len() && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// `NCT03036124`, a trial of a registry, and `[A-CEGHJ-NPR]`, letters of a pattern.
fn is_of_all(text: &str, value: &[Token]) -> bool {
    let (Some(first), Some(last)) = (value.first(), value.last()) else {
        return false;
    };
    let whole = text.get(first.start..last.end).unwrap_or_default();
    let trial = whole
        .get(..3)
        .filter(|head| head.eq_ignore_ascii_case("nct"));
    let is_trial = trial.is_some()
        && whole.len() == "NCT03036124".len()
        && whole.bytes().skip(3).all(|byte| byte.is_ascii_digit());
    let (before, behind) = (text.get(..first.start), text.get(last.end..));
    let is_class = before.is_some_and(|before| before.ends_with('['))
        && behind.is_some_and(|behind| behind.starts_with(']'))
        && whole
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    is_trial || is_class
}

/// The kind of what `value` says, if it is anybody's; `before` are the tokens before it.
pub fn kind(text: &str, before: &[Token], value: &[Token]) -> Option<usize> {
    let is_catalog = |token: &Token| CATALOGS.contains(&token.word) || CALLS.contains(&token.word);
    if !may_be(text, value) || value.iter().any(is_catalog) || is_of_all(text, value) {
        return None;
    }
    if value.iter().all(|token| PROGRAMS.contains(&token.word)) {
        return None;
    }
    if before.iter().rev().take(REACH).any(is_catalog) {
        return None;
    }
    if let Some(kind) = cue(before) {
        return Some(kind);
    }
    // `six one four five five five oh one nine two`
    const DIGITS_OF_A_PHONE: [usize; 3] = [7, 10, 11];
    let digits: usize = value
        .iter()
        .map(|token| match token.shape.checked_sub(shape::NUMBER) {
            Some(digits) => usize::from(digits),
            None => 1,
        })
        .sum();
    let is_phone = DIGITS_OF_A_PHONE.contains(&digits);
    Some(if is_phone {
        crate::PHONE
    } else {
        crate::OTHER_ID
    })
}

/// A code in digits ends before the next word; one that is all words (`six one four`) is left whole.
pub fn without_words(mut tokens: &[Token]) -> &[Token] {
    /// Letters of a word that is no part of a code.
    const WORD: usize = 5;
    let is_word = |token: &Token| token.shape < shape::CODE && token.end - token.start >= WORD;
    if tokens.iter().all(|token| token.shape < shape::CODE) {
        return tokens;
    }
    while let [rest @ .., last] = tokens
        && is_word(last)
    {
        tokens = rest;
    }
    while let [first, rest @ ..] = tokens
        && is_word(first)
        && first.shape == shape::SMALL
    {
        tokens = rest;
    }
    tokens
}

/// The word before an address is no part of it: `mail jo@example.com`.
pub fn without_label<'a>(text: &str, tokens: &'a [Token]) -> &'a [Token] {
    let [label, rest @ ..] = tokens else {
        return tokens;
    };
    let (Some(first), Some(last)) = (rest.first(), rest.last()) else {
        return tokens;
    };
    let is_label = label.shape == shape::SMALL && label.is_of_the_language();
    let between = text.get(label.end..first.start).unwrap_or_default();
    let is_apart = between.trim_start_matches(':').trim().is_empty();
    let rest_is_address = text
        .get(first.start..last.end)
        .is_some_and(|value| value.contains('@') && !value.contains(char::is_whitespace));
    if is_label && is_apart && rest_is_address {
        rest
    } else {
        tokens
    }
}

/// Whether the tokens from `first` to `end` are part of a name that a program made up: `anvil-saddle-winch-lever-rung`,
/// words with hyphens between them, most of them of every day, and none of them anybody's name or one that tells of
/// somebody. A code that is spelled so is none.
pub fn is_made_up(tokens: &[Token], first: usize, end: usize) -> bool {
    /// Words that no list knows.
    const RARE: usize = 2;
    let is_joined = |at: usize| tokens.get(at).is_some_and(|token| token.gap.is_hyphen());
    let (mut from, mut to) = (first, end);
    while from > 0 && is_joined(from) {
        from -= 1;
    }
    while is_joined(to) {
        to += 1;
    }
    let chain = tokens.get(from..to).unwrap_or_default();
    let is_rare = |token: &&Token| token.class == UNKNOWN;
    let is_word = |token: &Token| {
        token.shape == shape::SMALL
            && token.role == 0
            && (token.is_of_the_language() || is_rare(&token))
    };
    let spoken = chain.iter().filter(|token| SPOKEN.contains(&token.word));
    chain.len() > LEAST_WORDS
        && (from + 1..to).all(is_joined)
        && chain.iter().all(is_word)
        && chain.iter().filter(is_rare).count() <= RARE
        && spoken.count() * 2 < chain.len()
}

/// Whether the numbers only count: `4 5 6 7`.
pub fn counts(text: &str, tokens: &[Token]) -> bool {
    let number = |token: &Token| text.get(token.start..token.end)?.parse::<u32>().ok();
    tokens.len() > 1
        && tokens.windows(2).all(|pair| match pair {
            [before, next] => number(before)
                .zip(number(next))
                .is_some_and(|(before, next)| before + 1 == next),
            _ => false,
        })
}

/// The kind that the nearest word of [`CUES`] before a value speaks of.
pub fn cue(before: &[Token]) -> Option<usize> {
    before.iter().rev().take(REACH).find_map(|token| {
        CUES.iter()
            .find(|(_, words)| words.contains(&token.word))
            .map(|(kind, _)| *kind)
    })
}

/// Whether `text[start..end]` is an identifier or a tag that DICOM itself defines, as in `{"00080016":{"vr":"UI","Value":
/// ["1.2.840.10008.5.1.4.1.1.2"]}}`.
pub fn is_of_a_standard(text: &str, start: usize, end: usize) -> bool {
    let value = text.get(start..end).unwrap_or_default();
    let behind = text.get(end..).unwrap_or_default();
    value.starts_with("1.2.840.10008.") || behind.starts_with(r#"":{"vr""#)
}

/// `5.6.28. "Package-Type"`, `(N25-N29)`, `LOE B-R`: numbers of sections, ranges of diagnoses and how well something is
/// proven.
pub fn is_of_a_manual(text: &str, start: usize, end: usize) -> bool {
    let value = text.get(start..end).unwrap_or_default();
    let (before, behind) = (text.get(..start), text.get(end..));
    let (before, behind) = (before.unwrap_or_default(), behind.unwrap_or_default());
    let begins_line = || {
        let before = before.trim_end_matches([' ', '\t', '*', '-', '#']);
        before.is_empty() || before.ends_with('\n')
    };
    // With one dot it may be a day as well.
    let is_dotted = value.matches('.').count() > 1
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && value.split('.').all(|part| (1..=2).contains(&part.len()));
    let is_section =
        is_dotted && behind.starts_with(". ") && begins_line() && has_sibling(text, start, value);
    let is_diagnosis = |code: &str| {
        let mut signs = code.bytes();
        signs.next().is_some_and(|sign| sign.is_ascii_uppercase())
            && signs.clone().take(2).filter(u8::is_ascii_digit).count() == 2
            && signs.all(|sign| sign.is_ascii_digit() || sign == b'.')
            && code.len() <= 5
    };
    let is_range = value.split_once('-').is_some_and(|(from, to)| {
        is_diagnosis(from) && is_diagnosis(to) && from.get(..1) == to.get(..1)
    });
    is_section || is_range || is_level(text, start)
}

/// Whether another section of the same chapter begins a line near by: dates in a list have other months.
fn has_sibling(text: &str, at: usize, value: &str) -> bool {
    /// Bytes to either side.
    const NEAR: usize = 600;
    let Some((chapter, own)) = value.rsplit_once('.') else {
        return false;
    };
    let from = text.floor_char_boundary(at.saturating_sub(NEAR));
    let to = text.ceil_char_boundary(text.len().min(at + NEAR));
    let lines = text.get(from..to).unwrap_or_default().lines();
    let mut lines = lines.map(|line| line.trim_start_matches([' ', '\t', '*', '-', '#']));
    lines.any(|line| {
        line.strip_prefix(chapter)
            .and_then(|rest| rest.strip_prefix('.'))
            .and_then(|rest| rest.split_once(". "))
            .is_some_and(|(number, _)| {
                // A text may be read twice, and say its own number again.
                number != own
                    && !number.is_empty()
                    && number
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'.')
            })
    })
}

/// `LOE B-R`, `LOE: C`: how well something is proven, and no `LOE CARTER`.
fn is_level(text: &str, start: usize) -> bool {
    let rest = text.get(start..).and_then(|text| text.strip_prefix("LOE"));
    let grade = rest.map(|rest| rest.trim_start_matches([':', ' ']));
    let mut signs = grade.unwrap_or_default().chars();
    matches!(signs.next(), Some('A' | 'B' | 'C')) && !signs.next().is_some_and(char::is_alphabetic)
}

/// Whether all of a value is a digest or the like: `3a7bd3e2360a`.
pub fn is_digest(value: &str) -> bool {
    const MIN_DIGITS: usize = 8;
    value.len() >= MIN_DIGITS
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_and_letters_of_a_pattern_are_nobodys() {
        let kind = |text: &str, from: usize, to: usize| {
            let mut tokens = Vec::new();
            crate::token::read(text, 0, text.len(), &mut tokens);
            kind(text, &tokens[..from], &tokens[from..to])
        };
        assert_eq!(kind("NCT03036124", 0, 1), None);
        assert_eq!(kind("^[A-CEGHJ-NPR-TW-Y]", 0, 5), None);
        assert_eq!(kind("NIST SP 800-66r2", 2, 4), None);
        assert!(kind("NCT0303612", 0, 1).is_some());
        assert!(kind("[4471-CEG]", 0, 2).is_some());
    }

    #[test]
    fn what_manuals_number_is_nobodys() {
        let is = |text: &str, value: &str| {
            let start = text.find(value).unwrap_or_default();
            is_of_a_manual(text, start, start + value.len())
        };
        assert!(is(
            "* 5.6.27. \"Vcs\"\n* 5.6.28. \"Package-Type\"",
            "5.6.28"
        ));
        assert!(!is("x\n* 5.6.28. \"Package-Type\"", "5.6.28"));
        assert!(!is(
            "Progress\n3.4.61. Born at home\n5.12.71. Seen",
            "3.4.61"
        ));
        assert!(is("disorders of the kidney (N25-N29)", "N25-N29"));
        assert!(is("(Class IIa, LOE B-R)", "LOE B-R"));
        assert!(!is("seen 5.6.28. Then", "5.6.28"));
        assert!(!is("5.6.28 seen", "5.6.28"));
        let days = "1.12.23. Fell at home\n3.12.23. Admitted";
        assert!(!is(days, "1.12.23"));
        assert!(!is("1.12.23. Fell\n1.12.23. Fell", "1.12.23"));
        assert!(!is("3.12. Fell\n3.19. Admitted", "3.12"));
        assert!(!is("case N25-88213", "N25-88213"));
        assert!(!is("subject P07-S12 withdrew", "P07-S12"));
        assert!(!is("LOE PETERSEN was seen", "LOE PETERSEN"));
        assert!(!is("LOE CARTER was seen", "LOE CARTER"));
    }

    #[test]
    fn a_word_before_an_address_is_none_of_it() {
        let without_label = |text: &'static str| {
            let mut tokens = Vec::new();
            crate::token::read(text, 0, text.len(), &mut tokens);
            let tokens = without_label(text, &tokens);
            tokens.first().map_or("", |first| &text[first.start..])
        };
        assert_eq!(without_label("mail jo@a.org"), "jo@a.org");
        assert_eq!(without_label("mail: jo@a.org"), "jo@a.org");
        for whole in [
            "mail-jo@a.org",
            "mail jo @ a.org",
            "Mail jo@a.org",
            "mail jo",
        ] {
            assert_eq!(without_label(whole), whole);
        }
    }

    #[test]
    fn a_name_that_a_program_made_up_is_of_everyday_words() {
        let is_made_up = |text: &str| {
            let mut tokens = Vec::new();
            crate::token::read(text, 0, text.len(), &mut tokens);
            is_made_up(&tokens, 2, 4)
        };
        assert!(is_made_up("anvil-saddle-winch-lever-rung"));
        for other in [
            "anvil-saddle-winch-lever",
            "anvil saddle-winch-lever-rung",
            "letter-for-jane-doe-signed",
            "Anvil-Saddle-Winch-Lever-Rung",
            "seven-one-four-five-nine",
            "xqvort-zzuk-pwimble-winch-lever",
        ] {
            assert!(!is_made_up(other), "{other}");
        }
    }
}
