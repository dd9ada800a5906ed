//! Sample values in tool definitions: `e.g. 2024-01-15` shows a format and belongs to nobody.
//!
//! A request is refused for PHI in a tool definition, so a sample must not be taken for it. What does not look like a
//! sample is PHI there as anywhere.

use crate::kind::{
    ACCOUNT_NUMBER, AGE_OVER_89, CREDIT_CARD, DATE, DEVICE_ID, EMAIL, FAX, Finding, IP_ADDRESS,
    LICENSE_NUMBER, OTHER_ID, PHONE, URL, VEHICLE_ID,
};
use crate::text::{before, byte, has, last_of, starts};

const SAMPLE_WORDS: &[&str] = &[
    "e.g",
    "eg",
    "example",
    "examples",
    "format",
    "such as",
    "like",
    "i.e",
    "default",
    "defaults",
    "iso",
    "pattern",
    "yyyy-mm-dd",
    "formatted",
    "mm/dd/yyyy",
];
/// Phrases that say so of what stands directly behind them. Elsewhere they may speak of a form that somebody fills in.
const FORM_WORDS: &[&str] = &["in the form", "of the form"];
/// Domains that are for examples only (RFC 2606, 3).
const SAMPLE_DOMAINS: [&str; 4] = ["example.com", "example.org", "example.net", "example.edu"];

/// A text of a tool's definition.
pub struct Definition<'t> {
    text: &'t [u8],
    speaks_of_a_person: bool,
    /// Where what a heading calls an example begins, as documentation of functions has it at its end.
    example: Option<usize>,
}

impl<'t> Definition<'t> {
    pub fn of(text: &'t [u8]) -> Self {
        Self {
            text,
            speaks_of_a_person: speaks_of_a_person(text),
            example: example(text),
        }
    }

    /// Whether the finding is the sample of the definition.
    pub fn is_sample(&self, finding: &Finding) -> bool {
        let text = self.text;
        let value = text.get(finding.start..finding.end).unwrap_or_default();
        let lower = value.to_ascii_lowercase();
        let is_of_sample_domain = SAMPLE_DOMAINS.iter().any(|domain| has(&lower, &[domain]));
        match finding.kind {
            EMAIL => is_of_sample_domain || is_role(&lower, is_shown(text, finding)),
            URL if is_of_sample_domain || is_page(value) => true,
            URL if !self.speaks_of_a_person && !is_of_a_practice(&lower) => true,
            kind if kind != EMAIL && is_uuid(value) && !self.speaks_of_a_person => true,
            // The value of a schema by itself: a limit, or what is taken where none is given.
            AGE_OVER_89 if value == text => true,
            DATE if is_first_day(value) => true,
            // Networks of everybody's own (RFC 1918).
            IP_ADDRESS if starts(value, b"192.168.") || starts(value, b"10.") => true,
            DATE | URL | IP_ADDRESS | AGE_OVER_89 => says_sample(text, finding),
            PHONE | FAX | LICENSE_NUMBER if is_published(value, &PUBLISHED_PROVIDERS) => true,
            PHONE | FAX => {
                is_fictitious(value) && self.may_be_shown(finding)
                    || is_shown(text, finding) && !self.speaks_of_a_person
            }
            OTHER_ID => {
                says_sample(text, finding)
                    || self.is_in_example(finding)
                    || is_counted(value)
                    || is_one_of(&lower, &ANYBODY)
            }
            // Numbers of things and firms: where nobody is spoken of, one that is shown belongs to nobody.
            CREDIT_CARD | ACCOUNT_NUMBER | VEHICLE_ID | DEVICE_ID | LICENSE_NUMBER => {
                let may_be_shown = is_shown(text, finding) || is_published(value, &PUBLISHED_CARDS);
                is_counted(value) || may_be_shown && !self.speaks_of_a_person
            }
            _ => is_counted(value) && self.may_be_shown(finding),
        }
    }

    /// Whether a value that looks made up is there to be shown: by itself, behind words that say so, or where nobody is
    /// spoken of. `the patient with SSN 123-45-6789` means somebody.
    fn may_be_shown(&self, finding: &Finding) -> bool {
        let is_alone = finding.start == 0 && finding.end == self.text.len();
        is_alone
            || says_sample(self.text, finding)
            || self.is_in_example(finding)
            || !self.speaks_of_a_person
    }

    fn is_in_example(&self, finding: &Finding) -> bool {
        self.example.is_some_and(|example| example < finding.start)
    }
}

fn example(text: &[u8]) -> Option<usize> {
    [&b"Example:"[..], b"Examples:", b"Example usage:"]
        .iter()
        .filter_map(|heading| {
            text.windows(heading.len())
                .position(|part| part == *heading)
        })
        .min()
}

/// Whether words before the value say that it is a sample.
fn says_sample(text: &[u8], finding: &Finding) -> bool {
    let before = before(text, finding.start);
    let is_between = |byte: &u8| *byte == b':' || byte.is_ascii_whitespace();
    let end = before.iter().rposition(|byte| !is_between(byte));
    let directly = before.get(..end.map_or(0, |end| end + 1));
    let says_form = directly.is_some_and(|text| last_of(text, FORM_WORDS) == Some(text.len()));
    says_form || says_so(text, finding, SAMPLE_WORDS)
}

/// Whether one of `words` stands near before the value. `example.com` says nothing.
fn says_so(text: &[u8], finding: &Finding, words: &[&str]) -> bool {
    let before = before(text, finding.start);
    last_of(before, words).is_some_and(|end| {
        let is_domain = byte(before, end) == b'.' && byte(before, end + 1).is_ascii_alphabetic();
        !is_domain
    })
}

/// Whether words near before say that a sample follows, more surely than [`SAMPLE_WORDS`].
fn is_shown(text: &[u8], finding: &Finding) -> bool {
    says_so(
        text,
        finding,
        &["e.g", "eg", "example", "examples", "such as", "i.e"],
    )
}

/// Eight, four, four, four and twelve digits: random, they name nobody where nobody is spoken of.
fn is_uuid(value: &[u8]) -> bool {
    const BYTES: usize = 36;
    value.len() == BYTES && value.iter().filter(|byte| **byte == b'-').count() == 4
}

/// Numbers that payment services publish for tests; no bank issues them.
const PUBLISHED_CARDS: [&[u8]; 12] = [
    b"378282246310005",
    b"371449635398431",
    b"30569309025904",
    b"4000056655665556",
    b"4012888888881881",
    b"4111111111111111",
    b"4242424242424242",
    b"5105105105105100",
    b"5555555555554444",
    b"6011000990139424",
    b"6011111111111117",
    b"3566002020360505",
];

/// Provider identifiers in the examples of those who assign and exchange them (CMS, X12); nobody has them.
const PUBLISHED_PROVIDERS: [&[u8]; 2] = [b"1234567893", b"1993999998"];

fn is_published(value: &[u8], published: &[&[u8]]) -> bool {
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    published.contains(&digits.as_slice())
}

fn speaks_of_a_person(text: &[u8]) -> bool {
    ["patient", "mrn", "ssn", "dob", "birth", "member"]
        .iter()
        .any(|word| {
            text.windows(word.len())
                .any(|part| starts(part, word.as_bytes()))
        })
}

/// `1970-01-01`, `01/01/2000`: where time begins for programs, or a year.
fn is_first_day(value: &[u8]) -> bool {
    value.ends_with(b"-01-01")
        || value.starts_with(b"01/01/")
        || value.starts_with(b"1/1/")
        || value.len() == 8 && value.ends_with(b"0101")
}

/// Domains that stand for any firm's, beside those that are reserved.
const ANY_DOMAINS: [&str; 16] = [
    "company.com",
    "domain.com",
    "acme.com",
    "mycompany.com",
    "yourcompany.com",
    "yourdomain.com",
    "mydomain.com",
    "email.com",
    "test.com",
    "sample.com",
    "website.com",
    "site.com",
    "foo.com",
    "bar.com",
    "contoso.com",
    "host.com",
];
/// Names of mailboxes that are nobody's.
const ROLES: [&str; 26] = [
    "support", "info", "admin", "sales", "contact", "help", "helpdesk", "noreply", "no-reply",
    "user", "username", "name", "you", "me", "someone", "somebody", "email", "test", "example",
    "hello", "billing", "team", "office", "security", "feedback", "service",
];
/// Names that stand for anybody.
const ANYBODY: [&str; 14] = [
    "john",
    "jane",
    "john.doe",
    "jane.doe",
    "johndoe",
    "janedoe",
    "john.smith",
    "jane.smith",
    "jdoe",
    "jsmith",
    "alice",
    "bob",
    "first.last",
    "firstname.lastname",
];

/// `support@acme.com`, `e.g. bob@company.com`: a mailbox of nobody, or of anybody at any firm.
fn is_role(lower: &[u8], is_shown: bool) -> bool {
    let mut parts = lower.split(|byte| *byte == b'@');
    let (local, domain) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let is_any_domain = is_one_of(domain, &ANY_DOMAINS);
    // `a@x.com`, `adele@contoso.com`: the mail of no firm at all.
    let is_of_nobody = domain.get(1) == Some(&b'.') || domain == b"contoso.com";
    is_one_of(local, &ROLES)
        || is_of_nobody
        || is_any_domain && (is_shown || is_one_of(local, &ANYBODY))
        || is_shown && is_one_of(local, &ANYBODY)
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|other| word == other.as_bytes())
}

/// A page for everybody, as documentation is linked: it asks for nothing and has no number of anybody.
fn is_page(value: &[u8]) -> bool {
    let asks = value.iter().any(|byte| b"?@=%".contains(byte));
    let mut runs = value.split(|byte| !byte.is_ascii_digit());
    // `https://portal.lakeside.org/patients/maria-lopez`
    let is_somebodys = ["/patient/", "/patients/", "/charts/", "/members/"]
        .iter()
        .any(|part| {
            let end = value
                .windows(part.len())
                .position(|found| found == part.as_bytes());
            end.is_some_and(|at| at + part.len() < value.len())
        });
    !asks && !is_somebodys && runs.all(|run| run.len() < MIN_NUMBER_DIGITS)
}

/// Whether an address may be one of a practice's own systems, which know patients by it: `https://ehr.site.dev/p/84417`.
fn is_of_a_practice(lower: &[u8]) -> bool {
    const WORDS: [&[u8]; 13] = [
        b"ehr",
        b"emr",
        b"patient",
        b"chart",
        b"portal",
        b"clinic",
        b"hospital",
        b"health",
        b"medic",
        b"care",
        b"record",
        b"epic",
        b"fhir",
    ];
    // `http://intranet/p/84417`
    let runs = lower.windows(MIN_NUMBER_DIGITS);
    let has_number = runs
        .into_iter()
        .any(|run| run.iter().all(u8::is_ascii_digit));
    let is_local = lower.windows(2).any(|pair| pair == b"//") && !lower.contains(&b'.');
    WORDS
        .iter()
        .any(|word| lower.windows(word.len()).any(|part| part == *word))
        || is_local && has_number
}

/// Digits in a row that may be somebody's number.
const MIN_NUMBER_DIGITS: usize = 5;

/// 555-0100 to 555-0199 are kept free for fiction (NANPA), 555 is no area, and documentation of telephone services
/// has 555 for the exchange.
fn is_fictitious(value: &[u8]) -> bool {
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    let national = digits.strip_prefix(b"1").unwrap_or(&digits);
    digits.windows(5).any(|part| part == b"55501")
        || national.starts_with(b"555")
        || national.get(3..6) == Some(b"555")
        || is_counted(value)
}

/// `12345678`, `00123456`, `87654321`, `MRN-0001`, `ABC-111`: digits that count up or down, are all alike, or are zeros before the last.
fn is_counted(value: &[u8]) -> bool {
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    // One digit among letters counts nothing.
    if digits.len() < 3 && digits.len() + 3 < value.len() {
        return false;
    }
    // `00123456` is filled up.
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let counted = digits.get(zeros..).unwrap_or_default();
    let rises = counted.len() > 2
        && counted
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if *b == a + 1 || (*a == b'9' && *b == b'0')));
    let falls = counted.len() > 3
        && digits
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if *a == b + 1 || (*a == b'0' && *b == b'9')));
    let is_flat = digits
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a == b));
    let is_first = digits.iter().rev().skip(1).all(|digit| *digit == b'0');
    rises || falls || is_flat || is_first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_told_from_values() {
        let is = |kind: usize, text: &str, value: &str| {
            let start = text.find(value).unwrap_or_default();
            let finding = Finding::new(kind, start, start + value.len(), 900);
            Definition::of(text.as_bytes()).is_sample(&finding)
        };
        assert!(is(DATE, "the date, e.g. 2024-01-15", "2024-01-15"));
        assert!(is(
            EMAIL,
            "mail such as jane@example.com",
            "jane@example.com"
        ));
        assert!(is(OTHER_ID, "id, for example ORD-8841", "ORD-8841"));
        assert!(is(PHONE, "phone 555-123-4567", "555-123-4567"));
        assert!(is(PHONE, "as +14155552671", "+14155552671"));
        let kinds = crate::kind::MRN;
        assert!(is(kinds, "00123456", "00123456"));
        assert!(is(kinds, "87654321", "87654321"));
        let example = "Finds a patient.\n\nExample:\n    {\"PatientID\": \"12345\"}";
        assert!(is(kinds, example, "12345"));
        assert!(!is(kinds, &example.replace("12345", "48213"), "48213"));
        assert!(!is(kinds, "00482913", "00482913"));
        assert!(!is(kinds, "12345687", "12345687"));
        for mail in [
            "support@lakeside.org",
            "user@domain.com",
            "jane.doe@company.com",
        ] {
            assert!(is(EMAIL, mail, mail), "{mail}");
        }
        assert!(is(EMAIL, "e.g. bob@lakeside.org", "bob@lakeside.org"));
        assert!(!is(EMAIL, "bob@lakeside.org", "bob@lakeside.org"));
        assert!(!is(
            EMAIL,
            "e.g. r.oduya@lakeside.org",
            "r.oduya@lakeside.org"
        ));
        let card = "4242 4242 4242 4242";
        assert!(is(CREDIT_CARD, "a card such as 4242 4242 4242 4242", card));
        assert!(is(CREDIT_CARD, "charge 4242 4242 4242 4242", card));
        assert!(!is(CREDIT_CARD, "the patient's 4242 4242 4242 4242", card));
        let other = "4539 5787 6362 1486";
        assert!(!is(CREDIT_CARD, "charge 4539 5787 6362 1486", other));
        let ssn = "123-45-6789";
        for shown in [
            ssn,
            "the patient's SSN, e.g. 123-45-6789",
            "SSN in the format 123-45-6789",
            "SSN in the form 123-45-6789",
            "the patient's SSN, of the form 123-45-6789",
            "the patient's SSN, of the form: 123-45-6789",
        ] {
            assert!(is(crate::kind::SSN, shown, ssn), "{shown}");
        }
        for meant in [
            "SSN 123-45-6789",
            "Look up the patient (123-45-6789)",
            "the patient's intake form 123-45-6789",
            "what the patient in the form said, 123-45-6789",
        ] {
            assert!(!is(crate::kind::SSN, meant, ssn), "{meant}");
        }
        assert!(is(DATE, "a date in the form 03/14/1956", "03/14/1956"));
        for (kind, meant, value) in [
            (
                DATE,
                "the birth date that the patient wrote in the form, 03/14/1956.",
                "03/14/1956",
            ),
            (DATE, "line 3 of the form is 03/14/1956", "03/14/1956"),
            (
                AGE_OVER_89,
                "what the patient in the form said, aged 93, to the clinic",
                "93",
            ),
            (OTHER_ID, "in the form is ORD-8841", "ORD-8841"),
        ] {
            assert!(!is(kind, meant, value), "{meant}");
        }
        assert!(!is(
            PHONE,
            "Call the patient at 555-123-4567",
            "555-123-4567"
        ));
        let vin = "5YJ3E1EA7KF317000";
        let provider = "1234567893";
        for kind in [LICENSE_NUMBER, PHONE] {
            assert!(is(
                kind,
                "the patient's NPI number, e.g. 1234567893",
                provider
            ));
        }
        assert!(is(
            LICENSE_NUMBER,
            "NPI number, e.g. 1497758544",
            "1497758544"
        ));
        assert!(!is(LICENSE_NUMBER, "NPI number 1497758544", "1497758544"));
        assert!(!is(crate::kind::MRN, "KQWZ7T2A", "KQWZ7T2A"));
        assert!(is(VEHICLE_ID, "a VIN, e.g. 5YJ3E1EA7KF317000", vin));
        assert!(!is(VEHICLE_ID, "e.g. the patient's 5YJ3E1EA7KF317000", vin));
        assert!(!is(VEHICLE_ID, "VIN 5YJ3E1EA7KF317000", vin));
        assert!(is(DATE, "dob > '1970-01-01'", "1970-01-01"));
        assert!(is(AGE_OVER_89, "90", "90"));
        let id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        assert!(is(OTHER_ID, id, id));
        assert!(!is(
            OTHER_ID,
            "patient 7c9e6679-7425-40de-944b-e07fc1f90ae7",
            id
        ));
        let docs = "https://docs.example-site.dev/rest/issues#v2";
        assert!(is(
            URL,
            "see https://docs.example-site.dev/rest/issues#v2",
            docs
        ));
        for address in ["https://ehr.site.dev/p/84417", "https://ehr.site.dev/p?n=1"] {
            assert!(!is(URL, address, address));
        }
        for address in [
            "https://app.circleci.com/pipelines/gh/o/p?branch=feature",
            "https://www.bbc.com/news/world-europe-65910000",
        ] {
            assert!(is(URL, address, address), "{address}");
        }
        let somebodys = "https://portal.lakeside.org/patients/maria-lopez";
        assert!(!is(URL, somebodys, somebodys));
        let mail = "adele@contoso.com";
        assert!(is(EMAIL, mail, mail));
        let record = "550e8400-e29b-41d4-a716-446655440000";
        assert!(is(crate::kind::MRN, record, record));
        assert!(!is(PHONE, "call (617) 482-9931", "(617) 482-9931"));
        assert!(!is(DATE, "for the patient born 1962-03-14", "1962-03-14"));
        assert!(!is(EMAIL, "mail jane@lakeside.org", "jane@lakeside.org"));
        assert!(!is(crate::kind::SSN, "his 219-09-9999", "219-09-9999"));
    }
}
