//! How old somebody or something may be, which is nobody's age.

use crate::text::{begins_with, ends_with, is_word};

/// `MAX_AGE = 120`, `patients aged 90 years or older`, `a 95 yo building`: how old things or people may be, and nobody.
pub(super) fn is_limit(near: &[u8], behind: &[u8]) -> bool {
    let mut rest = behind;
    for word in [
        "-year-old",
        "years",
        "year",
        "yrs",
        "yr",
        "yo",
        "y/o",
        "y",
        "of age",
        "old",
    ] {
        if begins_with(rest, &[word]) {
            rest = rest
                .trim_ascii_start()
                .get(word.len()..)
                .unwrap_or_default();
        }
    }
    if begins_with(rest, OR_MORE) || rest.len() < behind.len() && begins_with(rest, THINGS) {
        return true;
    }
    let label = near.trim_ascii_end();
    let label = label
        .strip_suffix(b":")
        .or(label.strip_suffix(b"="))
        .unwrap_or(label)
        .trim_ascii_end();
    let label = label
        .strip_suffix(b"\"")
        .or(label.strip_suffix(b"'"))
        .unwrap_or(label);
    let label = ["is", "of"]
        .iter()
        .find(|word| ends_with(label, &[word]))
        .map_or(label, |word| {
            label
                .get(..label.len() - word.len())
                .unwrap_or_default()
                .trim_ascii_end()
        });
    let Some(owner) = ["age", "ages"]
        .iter()
        .find(|age| ends_with(label, &[age]))
        .and_then(|age| label.get(..label.len() - age.len()))
    else {
        return false;
    };
    if ends_with(owner, BOUNDS) {
        return true;
    }
    // `patient_age` is somebody's, `retention_age` is not.
    match owner {
        [owner @ .., b'_' | b'-'] => !ends_with_part(owner, OWNERS),
        _ => false,
    }
}

/// Whether the last part of `patient_current` is one of `words`.
fn ends_with_part(owner: &[u8], words: &[&str]) -> bool {
    let part = owner.rsplit(|byte| !is_word(*byte)).next().unwrap_or(owner);
    words
        .iter()
        .any(|word| part.eq_ignore_ascii_case(word.as_bytes()))
}

const OR_MORE: &[&str] = &[
    "or older",
    "and older",
    "or above",
    "and above",
    "or over",
    "and over",
    "and up",
    "or more",
    "or greater",
    "and greater",
];
const THINGS: &[&str] = &[
    "building",
    "house",
    "home",
    "farmhouse",
    "church",
    "tree",
    "company",
    "bridge",
    "tradition",
    "law",
    "institution",
    "school",
    "book",
    "wine",
    "car",
    "ship",
    "record",
    "theory",
    "problem",
    "hospital",
    "clinic",
];
const BOUNDS: &[&str] = &[
    "max",
    "min",
    "maximum",
    "minimum",
    "upper",
    "lower",
    "limit",
    "cutoff",
    "retention",
    "cache",
    "max_",
    "min_",
    "max-",
    "min-",
];
/// Whose age a variable may have.
const OWNERS: &[&str] = &[
    "patient",
    "pt",
    "client",
    "member",
    "subject",
    "resident",
    "person",
    "current",
    "admit",
    "admission",
    "her",
    "his",
    "mother",
    "father",
    "donor",
    "recipient",
    "proband",
    "user",
    "customer",
    "participant",
    "decedent",
    "the",
    "actual",
    "chronological",
];
