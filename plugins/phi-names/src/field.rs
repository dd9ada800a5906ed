//! Names and places that a format labels: JSON keys, columns, HL7 v2 and X12 positions.

use std::borrow::Cow;

use phi_text::fields;
use phi_text::label::Labels;

use crate::abroad;
use crate::kind::{ADDRESS, Finding, LOCATION, NAME, ORGANIZATION, PERHAPS_LOCATION};
use crate::place::is_city_value;
use crate::vocabulary::{FIELDS, Field};
use phi_lexicon::{Hash, look_up};

const SCORE: u16 = 900;
const PERHAPS_SCORE: u16 = 750;
/// Bytes of the longest name and of the longest address.
const MAX_NAME_BYTES: usize = 80;
/// Bytes of a longer name, all of whose words are written as those of names are.
const MAX_LONG_NAME_BYTES: usize = 200;
const MAX_ADDRESS_BYTES: usize = 200;

/// Appends the findings in the fields of `text[from..to]`.
pub fn find(text: &str, from: usize, to: usize, findings: &mut Vec<Finding>) {
    let part = text.as_bytes().get(from..to).unwrap_or_default();
    let mut record = Record::default();
    fields::each(part, &mut |label, start, end| {
        let (start, end) = (from + start, from + end);
        find_value(text, label, start, end, findings);
        record.take(text, label, start, end, findings);
    });
}

/// What a person alone has, beside a bare `name`: `Name,DOB`, `{"name":"Petrosyan","dob":…}`.
#[derive(Default)]
struct Record {
    /// Names that only their neighbours tell from those of things.
    name: Option<(usize, usize)>,
    fact: Option<(usize, Fact)>,
}

/// How much a column says that its neighbour is somebody.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fact {
    /// Nothing but a person has one.
    Sure,
    /// Things are in rooms too.
    Perhaps,
}

static FACTS: Labels<Fact, 64> = Labels::new(&[
    ("dob", Fact::Sure),
    ("date of birth", Fact::Sure),
    ("birth date", Fact::Sure),
    ("born", Fact::Sure),
    ("mrn", Fact::Sure),
    ("medical record number", Fact::Sure),
    ("patient id", Fact::Sure),
    ("ssn", Fact::Sure),
    ("member id", Fact::Sure),
    ("sex", Fact::Sure),
    ("gender", Fact::Sure),
    ("room", Fact::Perhaps),
    ("rm", Fact::Perhaps),
    ("bed", Fact::Perhaps),
    ("ward", Fact::Perhaps),
    ("age", Fact::Perhaps),
]);

impl Record {
    fn take(
        &mut self,
        text: &str,
        label: &[u8],
        start: usize,
        end: usize,
        findings: &mut Vec<Finding>,
    ) {
        if matches!(FIELDS.get(label), Some(Field::PerhapsName))
            && label.eq_ignore_ascii_case(b"name")
        {
            self.name = Some((start, end));
        } else if let Some(fact) = FACTS.get(label) {
            self.fact = Some((start, *fact));
        } else {
            return;
        }
        let (Some((start, end)), Some((at, fact))) = (self.name, self.fact) else {
            return;
        };
        let value = text.get(start..end).unwrap_or_default();
        if !is_same_record(text, start, end, at) || is_person(value) {
            return;
        }
        let fits = value
            .split([' ', ','])
            .filter(|word| !word.is_empty())
            .all(|word| {
                let class = look_up(Hash::new().over(word));
                is_part_of_name(word)
                    && (class.is_surname() && (class.is_sure() || !class.is_word())
                        || class.is_given() && !class.is_word()
                        || fact == Fact::Sure
                            && class.is_unknown()
                            && word.len() > 3
                            && word
                                .bytes()
                                .skip(1)
                                .any(|letter| letter.is_ascii_lowercase()))
            });
        if fits {
            name(value, start, PERHAPS_SCORE, findings);
            self.name = None;
        }
    }
}

/// Whether the name at `start..end` and what stands at `at` are in one row or one object.
fn is_same_record(text: &str, start: usize, end: usize, at: usize) -> bool {
    /// Bytes between the two.
    const NEAR: usize = 200;
    let between = if at > start {
        text.get(end..at)
    } else {
        text.get(at..start)
    };
    between.is_some_and(|between| {
        between.len() <= NEAR
            && !between.contains(['{', '}'])
            && (!between.contains('\n') || between.contains("\":"))
    })
}

/// What the value at `start..end` is under its label.
pub fn find_value(text: &str, label: &[u8], start: usize, end: usize, findings: &mut Vec<Finding>) {
    let Some(value) = text.get(start..end) else {
        return;
    };
    let field = match FIELDS.get(label) {
        Some(field) => *field,
        None if is_nm1(label) => Field::Name,
        None if is_coded_person(label, value) => Field::Coded,
        None => match owned(label) {
            Some(field) => field,
            None => {
                findings.extend(abroad::find_value(text, label, start, end));
                return;
            }
        },
    };
    let said = &*unquoted(value);
    match field {
        // `name = html` is a variable, unless it is a name after all.
        Field::Name | Field::PerhapsName if is_unquoted_word(text, start, value) => {}
        // Tables that databases print have the types of their columns below the names.
        Field::Name if TYPES.iter().any(|kind| value.eq_ignore_ascii_case(kind)) => {}
        Field::Name => name(value, start, SCORE, findings),
        Field::PerhapsName => {
            if is_person(said) {
                name(value, start, PERHAPS_SCORE, findings);
            }
        }
        Field::Person => {
            if is_person(said)
                || is_unheard_of(said)
                || is_with_initial(said)
                || is_behind_initial(said)
                || is_one_surname(said)
            {
                name(value, start, PERHAPS_SCORE, findings);
            }
        }
        Field::Somebody | Field::Patient => {
            if is_person(said)
                || is_with_initial(said)
                || is_behind_initial(said)
                || field == Field::Patient && is_small(said) && is_kin(label, said)
                || is_unheard_of(said)
                || is_one_unheard_of(said)
                || is_one_of_names(said)
            {
                name(value, start, PERHAPS_SCORE, findings);
            }
        }
        Field::PartOfName => {
            // `Pa Houa` is one given name.
            if value.len() <= MAX_NAME_BYTES && said.split(' ').all(is_part_of_name) {
                name(value, start, PERHAPS_SCORE, findings);
            }
        }
        Field::Coded => {
            let (code, rest) = value.split_once('^').unwrap_or(("", value));
            // Without components it is an identifier or nothing.
            if !rest.is_empty() && value.contains('^') {
                name(rest, start + code.len() + 1, SCORE, findings);
            }
        }
        Field::Address if is_address(value) => {
            whole(value, start, MAX_ADDRESS_BYTES, ADDRESS, findings);
        }
        Field::AddressLine if is_address_line(value) => {
            whole(value, start, MAX_ADDRESS_BYTES, ADDRESS, findings);
        }
        Field::Address | Field::AddressLine => {}
        Field::City if is_city_value(value) => {
            whole(value, start, MAX_NAME_BYTES, PERHAPS_LOCATION, findings);
        }
        Field::City => {}
        Field::Zip => {
            if value.len() <= 10 && value.bytes().filter(u8::is_ascii_digit).count() >= 3 {
                whole(value, start, MAX_NAME_BYTES, LOCATION, findings);
            }
        }
        Field::Organization => {
            if value.contains(' ') && value.chars().next().is_some_and(char::is_uppercase) {
                whole(value, start, MAX_NAME_BYTES, ORGANIZATION, findings);
            }
        }
    }
}

/// What a label is about that says whose it is, or what it is in a program: `v_last_name`, `memberLastName`. Only what
/// nothing but people have counts.
fn owned(label: &[u8]) -> Option<Field> {
    /// What has names of families and is no person.
    const THINGS: [&[u8]; 4] = [b"font", b"file", b"host", b"domain"];
    let is_border = |pair: &[u8]| matches!(pair, [b'_' | b'.' | b'-', _]);
    let is_hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let at = label
        .windows(2)
        .position(|pair| is_border(pair) || is_hump(pair))?;
    let (owner, rest) = label.split_at_checked(at + 1)?;
    let owner = match owner {
        [owner @ .., b'_' | b'.' | b'-'] => owner,
        owner => owner,
    };
    if THINGS.iter().any(|thing| owner.eq_ignore_ascii_case(thing)) {
        return None;
    }
    let field = *FIELDS.get(rest)?;
    matches!(field, Field::Name | Field::Zip).then_some(field)
}

/// `12 maple street`, `Springfield`, `62704`; no `billing` and no `127.0.0.1:8080`.
fn is_address(value: &str) -> bool {
    if !value.contains(char::is_alphabetic) && value.contains(['.', ':']) {
        return false;
    }
    const ZIP_DIGITS: usize = 5;
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.chars().any(char::is_uppercase)
        || digits > 0 && value.chars().any(char::is_alphabetic)
        || digits >= ZIP_DIGITS
}

/// `12 Maple`; files and poems have lines too.
fn is_address_line(value: &str) -> bool {
    let rest = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_numbered = rest.len() < value.len();
    let street = rest
        .strip_prefix(' ')
        .and_then(|street| street.chars().next());
    is_numbered && street.is_some_and(char::is_uppercase)
}

/// A value without the quotation marks that JSON escapes: `Maria \"Mia\" Lopez`.
fn unquoted(value: &str) -> Cow<'_, str> {
    const MARK: &str = "\\\"";
    if value.contains(MARK) {
        Cow::Owned(value.replace(MARK, ""))
    } else {
        Cow::Borrowed(value)
    }
}

/// `555-55-5555^PRIMARY^PATRICIA P^^^^MD` in any numbered field of HL7 v2: a code, then a surname and a given name.
fn is_coded_person(label: &[u8], value: &str) -> bool {
    if !label.contains(&b'-') || !label.first().is_some_and(u8::is_ascii_uppercase) {
        return false;
    }
    let mut components = value.split('^');
    let [Some(code), Some(surname), Some(given)] =
        [components.next(), components.next(), components.next()]
    else {
        return false;
    };
    let is_spelt = |word: &str| {
        word.len() > 1
            && word
                .bytes()
                .all(|letter| letter.is_ascii_alphabetic() || b" '-".contains(&letter))
    };
    let class = look_up(Hash::new().over(given.split(' ').next().unwrap_or(given)));
    code.bytes().any(|digit| digit.is_ascii_digit())
        && is_spelt(surname)
        && is_spelt(given)
        && class.is_given()
        && class.is_sure()
}

/// Names of X12: last, first and middle of an entity.
fn is_nm1(label: &[u8]) -> bool {
    matches!(label, b"NM1-3" | b"NM1-4" | b"NM1-5")
}

/// What databases, data frames and programs call texts, and what they are kept in.
const TYPES: [&str; 16] = [
    "varchar",
    "nvarchar",
    "character varying",
    "bpchar",
    "text",
    "char",
    "str",
    "string",
    "object",
    "utf8",
    "category",
    "localdate",
    "optional",
    "promise",
    "list",
    "any",
];

/// The components of a name, without those that say what kind of name it is.
fn name(value: &str, start: usize, score: u16, findings: &mut Vec<Finding>) {
    /// Family, given and middle name, suffix (HL7 v2.5.1, XPN).
    const COMPONENTS: usize = 4;
    let len = value
        .match_indices('^')
        .nth(COMPONENTS - 1)
        .map_or(value.len(), |(at, _)| at);
    let value = value.get(..len).unwrap_or_default().trim_end_matches('^');
    let is_name = (value.len() <= MAX_NAME_BYTES || is_long_name(value))
        && value
            .chars()
            .filter(|letter| letter.is_alphabetic())
            .count()
            > 1
        && !unquoted(value)
            .contains(|sign: char| sign.is_ascii_digit() || "{}[]<>=_/\\".contains(sign))
        && !is_nobody(value)
        && !is_label(value)
        && !is_message(value)
        && !is_code(value);
    if is_name {
        findings.push(Finding::new(NAME, start, start + value.len(), score));
    }
}

/// `Last name is required`: what a form says of a field.
fn is_message(value: &str) -> bool {
    /// Words in small letters that names have not.
    const WORDS: [&str; 11] = [
        "is", "be", "the", "must", "cannot", "not", "required", "field", "invalid", "this",
        "please",
    ];
    let mut words = value.split(' ');
    words.any(|word| WORDS.contains(&word.trim_end_matches(['.', ',', '!'])))
}

/// `Family name`, `last_name`, `mrn`: what a form or a program calls the field itself, or another one.
fn is_label(value: &str) -> bool {
    let last = value.rsplit([' ', '_', '-']).next().unwrap_or(value);
    let is_fact = FACTS.get(value.as_bytes()) == Some(&Fact::Sure);
    // Some are called Born.
    is_fact && !value.eq_ignore_ascii_case("born")
        || LABELS.iter().any(|label| last.eq_ignore_ascii_case(label))
}

/// What labels of names end with.
const LABELS: [&str; 12] = [
    "name",
    "names",
    "surname",
    "surnames",
    "forename",
    "forenames",
    "firstname",
    "lastname",
    "nachname",
    "vorname",
    "apellido",
    "apellidos",
];

/// Words with capitals and the particles between them: no sentence has as many.
fn is_long_name(value: &str) -> bool {
    value.len() <= MAX_LONG_NAME_BYTES
        && value.split([' ', ',', '^', '-']).all(|word| {
            let is_capital = word.chars().next().is_none_or(char::is_uppercase);
            is_capital || PARTICLES.contains(&word)
        })
}

/// What stands in small letters between the words of a name.
pub const PARTICLES: [&str; 24] = [
    "de", "la", "las", "los", "del", "y", "e", "i", "da", "das", "do", "dos", "di", "della", "van",
    "von", "der", "den", "el", "al", "bin", "bint", "ibn", "ben",
];

fn whole(value: &str, start: usize, most_bytes: usize, kind: usize, findings: &mut Vec<Finding>) {
    let value = value.trim_end_matches(['^', ' ']);
    let is_said = value.len() <= most_bytes
        && value.len() > 2
        && !value.contains(['{', '}', '<', '@'])
        && !is_nobody(value)
        && !is_code(value);
    if is_said {
        findings.push(Finding::new(kind, start, start + value.len(), SCORE));
    }
}

/// A word in small letters that stands behind a `=` without quotes, and that no list of names has.
fn is_unquoted_word(text: &str, start: usize, value: &str) -> bool {
    let head = text.get(..start).unwrap_or_default().trim_end_matches(' ');
    head.ends_with('=')
        && value.bytes().all(|byte| byte.is_ascii_lowercase())
        && !look_up(Hash::new().over(value)).is_name()
}

/// What a program puts in the place of a value: `params.get(`, `self.name`.
fn is_code(value: &str) -> bool {
    let is_path =
        |pair: &[u8]| matches!(pair, [b'.', next] if next.is_ascii_lowercase() || *next == b'_');
    value.ends_with('(') || value.as_bytes().windows(2).any(is_path)
}

/// Two to four words written as names, one of which the lists know; more, all of which they know; or one that is a name nearly always.
fn is_person(value: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let (mut words, mut known, mut sure, mut all) = (0, false, false, true);
    for word in value.split([' ', ',']).filter(|word| !word.is_empty()) {
        let is_capital = word.chars().next().is_some_and(char::is_uppercase);
        if !is_capital || word.contains(|sign: char| sign.is_ascii_digit()) {
            return false;
        }
        let class = look_up(Hash::new().over(word.trim_matches('.')));
        known |= class.is_name() && !class.is_word() || class.is_sure();
        sure |= class.is_sure() && class.is_given();
        all &= class.is_name();
        words += 1;
    }
    known && (words > 1 && all || (2..=MAX_WORDS).contains(&words)) || sure && words == 1
}

/// `Castillo, R`, `Castillo R.`: a surname and an initial.
fn is_with_initial(value: &str) -> bool {
    let Some((surname, initial)) = value.rsplit_once([',', ' ']) else {
        return false;
    };
    let initial = initial.trim_start().trim_end_matches('.');
    let surname = surname.trim_end_matches([',', ' ']);
    initial.len() == 1
        && initial.bytes().all(|letter| letter.is_ascii_uppercase())
        && surname.len() > 1
        && is_part_of_name(surname)
        && !look_up(Hash::new().over(surname)).is_common()
}

/// `S. Fifita`: an initial and a surname.
fn is_behind_initial(value: &str) -> bool {
    let Some((initial, surname)) = value.split_once(' ') else {
        return false;
    };
    let initial = initial.trim_end_matches('.');
    initial.len() == 1
        && initial.bytes().all(|letter| letter.is_ascii_uppercase())
        && surname.len() > 1
        && is_part_of_name(surname)
        && !look_up(Hash::new().over(surname)).is_common()
}

/// `siosaia fifita`: two or three words in small letters that are names or nothing that a list knows; one that is a name
/// and no word.
fn is_small(value: &str) -> bool {
    const MIN_BYTES: usize = 3;
    let words = || value.split([' ', ',']).filter(|word| !word.is_empty());
    let count = words().count();
    let fits = |word: &str| {
        let class = look_up(Hash::new().over(word));
        let is_spelt = word
            .chars()
            .all(|sign| sign.is_lowercase() || matches!(sign, '\'' | '-'));
        is_spelt
            && word.len() >= MIN_BYTES
            && (class.is_name() && !class.is_word() || count > 1 && class.is_unknown())
    };
    (1..=3).contains(&count) && words().all(fits)
}

/// Whether what is said in a field about a relative may be a name: `{"mother":"htn, copd"}` says what she has. Of others
/// it may.
fn is_kin(label: &[u8], value: &str) -> bool {
    const KIN: [&[u8]; 4] = [b"mother", b"father", b"spouse", b"kin"];
    let is_of_kin = KIN.iter().any(|word| {
        let tail = label.len().checked_sub(word.len());
        tail.and_then(|at| label.get(at..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(word))
    });
    let is_name = |word: &str| {
        let class = look_up(Hash::new().over(word));
        class.is_name() && !class.is_common()
    };
    !is_of_kin || !value.contains(',') && value.split(' ').any(is_name)
}

/// `Zimmer`: a surname alone, where the label is used for companies too.
fn is_one_surname(value: &str) -> bool {
    let class = look_up(Hash::new().over(value));
    is_part_of_name(value) && class.is_surname() && !class.is_word() && !class.is_city()
}

/// `Wright`, `Joy`: a name that is a word too, though none of the most used, where a label is of people alone.
fn is_one_of_names(value: &str) -> bool {
    let class = look_up(Hash::new().over(value));
    is_part_of_name(value) && class.is_name() && !class.is_common()
}

/// Two to four words with a capital each, none of which is a word of the language.
fn is_unheard_of(value: &str) -> bool {
    let words = || value.split([' ', ',']).filter(|word| !word.is_empty());
    (2..=4).contains(&words().count()) && words().all(is_part_of_name)
}

/// One word with a capital that is no word of the language, and longer than abbreviations are.
fn is_one_unheard_of(value: &str) -> bool {
    const MIN_BYTES: usize = 4;
    value.len() >= MIN_BYTES
        && is_part_of_name(value)
        && !look_up(Hash::new().over(value)).is_word()
        && !is_humped(value)
}

/// `OrderService`: two words of a program; `McTavish` and `DeVito` have short ones first.
fn is_humped(value: &str) -> bool {
    const MAX_PREFIX: usize = 4;
    let hump = value.as_bytes().windows(2).position(
        |pair| matches!(pair, [small, capital] if small.is_ascii_lowercase() && capital.is_ascii_uppercase()),
    );
    hump.is_some_and(|at| at + 1 > MAX_PREFIX)
}

/// A word with a capital that is a name, or no word of the language: `Obi`, `Young`, `O'Neil`, `Smith-Jones`.
fn is_part_of_name(word: &str) -> bool {
    let is_spelt = word
        .chars()
        .all(|sign| sign.is_alphabetic() || matches!(sign, '\'' | '-' | '.' | '\u{2019}'));
    let class = look_up(Hash::new().over(word.trim_matches('.')));
    is_spelt
        && word.chars().next().is_some_and(char::is_uppercase)
        && (class.is_name() || class.is_unknown())
}

/// What stands where a name does and is nobody's.
fn is_nobody(value: &str) -> bool {
    [
        "null",
        "none",
        "unknown",
        "n/a",
        "na",
        "not available",
        "anonymous",
        "string",
        "test",
        "user",
        "admin",
        "system",
        "assistant",
        "text",
        "name",
        "value",
        "number",
        "object",
        "array",
        "boolean",
        "true",
        "false",
        "male",
        "female",
        "self",
        "other",
        "required",
        "optional",
        "invalid",
        "undefined",
        "redacted",
        "hidden",
        "deleted",
        "updated",
        "not set",
        "active",
        "inactive",
        "pending",
        "mandatory",
    ]
    .iter()
    .any(|word| value.eq_ignore_ascii_case(word))
}
