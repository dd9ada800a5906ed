//! The words that tests of detectors are written in: texts with what is found in them, and texts with nothing. For
//! tests only; a plugin does not use it.

use crate::detector::{Detector, alone};
use crate::finding::Finding;

/// What is found in `text` as `KIND:value`, in order. A finding inside of a longer or surer one is left out, as the
/// gateway leaves it out.
pub fn found<D: Detector>(text: &str) -> Vec<String> {
    let findings = alone::<D>(text);
    let is_inside = |one: &Finding| {
        findings.iter().any(|other| {
            ((other.start, other.end) != (one.start, one.end) || other.score > one.score)
                && other.start <= one.start
                && one.end <= other.end
        })
    };
    let mut found: Vec<String> = findings
        .iter()
        .filter(|finding| !is_inside(finding))
        .map(|finding| {
            let kind = D::KINDS.get(finding.kind).map_or("?", |kind| kind.name);
            let value = text.get(finding.start..finding.end).unwrap_or("?");
            format!("{kind}:{value}")
        })
        .collect();
    found.dedup();
    found
}

/// Every text with exactly what is found in it.
///
/// # Panics
/// When one has something else: the test failed, and all of them are named.
pub fn finds<D: Detector>(cases: &[(&str, &[&str])]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let found = found::<D>(text);
            (found != *expected).then(|| format!("{text:?}: {found:?} and not {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Texts without PHI.
///
/// # Panics
/// When something is found in one: the test failed.
pub fn leaves_alone<D: Detector>(cases: &[&str]) {
    let cases: Vec<(&str, &[&str])> = cases.iter().map(|text| (*text, &[][..])).collect();
    finds::<D>(&cases);
}
