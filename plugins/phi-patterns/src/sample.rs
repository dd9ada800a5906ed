//! Sample values in tool definitions: `e.g. 2024-01-15` shows a format and belongs to nobody.
//!
//! A request is refused for PHI in a tool definition, so a sample must not be taken for it. What does not look like a
//! sample is PHI there as anywhere.

use crate::kind::{AGE_OVER_89, DATE, EMAIL, FAX, Finding, IP_ADDRESS, OTHER_ID, PHONE, URL};
use crate::text::{before, has};

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
/// Domains that are for examples only (RFC 2606, 3).
const SAMPLE_DOMAINS: [&str; 4] = ["example.com", "example.org", "example.net", "example.edu"];

/// Whether the finding is the sample of a definition.
pub fn is_sample(text: &[u8], finding: &Finding) -> bool {
    let value = text.get(finding.start..finding.end).unwrap_or_default();
    let lower = value.to_ascii_lowercase();
    let is_of_sample_domain = SAMPLE_DOMAINS.iter().any(|domain| has(&lower, &[domain]));
    match finding.kind {
        EMAIL => is_of_sample_domain,
        URL if is_of_sample_domain || is_page(value) => true,
        DATE | URL | IP_ADDRESS | AGE_OVER_89 => has(before(text, finding.start), SAMPLE_WORDS),
        PHONE | FAX => is_fictitious(value),
        OTHER_ID => has(before(text, finding.start), SAMPLE_WORDS) || is_counted(value),
        _ => is_counted(value),
    }
}

/// A page for everybody, as documentation is linked: it asks for nothing and has no number of anybody.
fn is_page(value: &[u8]) -> bool {
    let asks = value.iter().any(|byte| b"?@=%".contains(byte));
    let mut runs = value.split(|byte| !byte.is_ascii_digit());
    !asks && runs.all(|run| run.len() < MIN_NUMBER_DIGITS)
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

/// `12345678`, `MRN-0001`, `ABC-111`: digits that count up, are all alike, or are zeros before the last.
fn is_counted(value: &[u8]) -> bool {
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    let rises = digits
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if *b == a + 1 || (*a == b'9' && *b == b'0')));
    let is_flat = digits
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a == b));
    let is_first = digits.iter().rev().skip(1).all(|digit| *digit == b'0');
    rises || is_flat || is_first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_told_from_values() {
        let is = |kind: usize, text: &str, value: &str| {
            let start = text.find(value).unwrap_or_default();
            is_sample(
                text.as_bytes(),
                &Finding::new(kind, start, start + value.len(), 900),
            )
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
        let docs = "https://docs.example-site.dev/rest/issues#v2";
        assert!(is(
            URL,
            "see https://docs.example-site.dev/rest/issues#v2",
            docs
        ));
        for address in ["https://ehr.site.dev/p/84417", "https://ehr.site.dev/p?n=1"] {
            assert!(!is(URL, address, address));
        }
        assert!(!is(PHONE, "call (617) 482-9931", "(617) 482-9931"));
        assert!(!is(DATE, "for the patient born 1962-03-14", "1962-03-14"));
        assert!(!is(EMAIL, "mail jane@lakeside.org", "jane@lakeside.org"));
        assert!(!is(crate::kind::SSN, "his 219-09-9999", "219-09-9999"));
    }
}
