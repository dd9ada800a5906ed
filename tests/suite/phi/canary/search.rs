//! Looks for many canaries in many bytes at once, in every form that something on the way may have given them.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::plant::Plant;

/// A canary that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    /// Index of the planting.
    pub(super) plant: usize,
    pub(super) kind: &'static str,
    pub(super) form: &'static str,
    /// What stands around it.
    pub(super) around: String,
}

pub(super) struct Search {
    automaton: AhoCorasick,
    /// Planting, kind and form of each pattern.
    patterns: Vec<(usize, &'static str, &'static str)>,
}

/// Bytes shown on each side of a hit.
const AROUND_BYTES: usize = 80;

impl Search {
    pub(super) fn new(plants: &[Plant]) -> Self {
        let (mut patterns, mut needles) = (Vec::new(), Vec::new());
        for (plant, planted) in plants.iter().enumerate() {
            for canary in planted.canaries() {
                for (form, needle) in forms(&canary.secret) {
                    patterns.push((plant, canary.kind, form));
                    needles.push(needle);
                }
            }
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&needles)
            .unwrap();
        Self {
            automaton,
            patterns,
        }
    }

    /// Every planting, kind and form, once.
    pub(super) fn hits(&self, bytes: &[u8]) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for found in self.automaton.find_overlapping_iter(bytes) {
            let (start, end) = (found.start(), found.end());
            let (plant, kind, form) = self.patterns[found.pattern().as_usize()];
            // Digits inside a longer number are another number: a time in nanoseconds, for one.
            if form == "digits" && (is_digit(bytes, start.wrapping_sub(1)) || is_digit(bytes, end))
            {
                continue;
            }
            let known = |hit: &Hit| hit.plant == plant && hit.kind == kind && hit.form == form;
            if hits.iter().any(known) {
                continue;
            }
            let around =
                &bytes[start.saturating_sub(AROUND_BYTES)..(end + AROUND_BYTES).min(bytes.len())];
            hits.push(Hit {
                plant,
                kind,
                form,
                around: String::from_utf8_lossy(around).into_owned(),
            });
        }
        hits
    }
}

fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

/// A secret as it is and in the encodings that a sink may have it in. Letter case does not count.
fn forms(secret: &str) -> Vec<(&'static str, Vec<u8>)> {
    let bytes = secret.as_bytes();
    let each = |form: fn(u8) -> String| bytes.iter().map(|byte| form(*byte)).collect::<String>();
    let mut forms = vec![
        ("base64", base64_inside(bytes, 0)),
        ("base64", base64_inside(bytes, 1)),
        ("base64", base64_inside(bytes, 2)),
        ("hex", each(|byte| format!("{byte:02x}")).into_bytes()),
        ("percent", each(|byte| format!("%{byte:02x}")).into_bytes()),
        (
            "unicode escape",
            each(|byte| format!("\\u{byte:04x}")).into_bytes(),
        ),
        ("UTF-16", bytes.iter().flat_map(|byte| [*byte, 0]).collect()),
        (
            "byte list",
            each(|byte| format!("{byte}, "))
                .trim_end_matches(", ")
                .into(),
        ),
    ];
    let is_number = bytes.iter().all(u8::is_ascii_digit);
    forms.push((if is_number { "digits" } else { "plain" }, bytes.to_owned()));
    let digits: String = secret.chars().filter(char::is_ascii_digit).collect();
    // Fewer digits than the shortest number planted are found by chance.
    if !is_number && digits.len() >= 9 && secret.chars().all(|letter| !letter.is_alphabetic()) {
        forms.push(("digits", digits.into_bytes()));
    }
    for (form, escape) in [
        ("address", percent_of_special as fn(u8) -> String),
        ("form", plus_for_space),
    ] {
        let escaped = each(escape);
        if escaped.as_bytes() != bytes {
            forms.push((form, escaped.into_bytes()));
        }
    }
    forms
}

/// The letters of base64 that a secret alone decides when `before` bytes (modulo 3) stand in front of it.
fn base64_inside(secret: &[u8], before: usize) -> Vec<u8> {
    let mut padded = vec![0; before];
    padded.extend_from_slice(secret);
    let text = STANDARD.encode(&padded);
    let first = (before * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    text.as_bytes()[first..last].to_owned()
}

fn percent_of_special(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        char::from(byte).into()
    } else {
        format!("%{byte:02x}")
    }
}

fn plus_for_space(byte: u8) -> String {
    if byte == b' ' {
        "+".into()
    } else {
        percent_of_special(byte)
    }
}

#[test]
fn every_form_is_found_and_nothing_else() {
    let plants: Vec<Plant> = (0..3).map(Plant::new).collect();
    let search = Search::new(&plants);
    let hidden = &plants[1];
    for canary in hidden.canaries() {
        let secret = canary.secret.as_str();
        let texts = [
            secret.to_owned(),
            STANDARD.encode(format!("a{secret}b")),
            STANDARD.encode(format!("ab {secret} b")),
            STANDARD.encode(format!("abc{secret}")),
            hex::encode_upper(format!("is {secret}")),
            secret.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            secret
                .bytes()
                .map(|byte| format!("\\u{byte:04x}"))
                .collect(),
            secret.bytes().map(percent_of_special).collect(),
            secret.bytes().map(plus_for_space).collect(),
            format!("{:?}", secret.as_bytes()),
            secret
                .encode_utf16()
                .map(|unit| String::from_utf16(&[unit]).unwrap() + "\0")
                .collect(),
        ];
        for text in texts {
            let hits = search.hits(text.as_bytes());
            assert!(!hits.is_empty(), "{} in {text:?}", canary.kind);
            for hit in hits {
                assert_eq!((hit.plant, hit.kind), (1, canary.kind), "{text:?}");
            }
        }
    }
    assert!(
        search
            .hits(b"Nothing of it is here: 17952768001234567890")
            .is_empty()
    );
}
