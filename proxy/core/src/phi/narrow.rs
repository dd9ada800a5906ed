//! Narrower kinds: what tells a clinician's name from a patient's, and a facility from an employer.
//!
//! Detectors report the wide kinds; the words that stand in the value and beside it decide here, the same for every
//! detector. Only policies speak of narrower kinds: callers, audit rows and placeholders have the wide ones. In doubt
//! a value has none, so that a policy that keeps a narrower kind keeps too little.

use std::ops::Range;

/// A name with a clinical title or degree.
const PROVIDER_NAME: &str = "PROVIDER_NAME";
/// An organization that cares for patients, by a word of its name.
const FACILITY: &str = "FACILITY";

/// The narrower kinds, each with the kind that it is part of.
pub const NARROWER_KINDS: [(&str, &str); 2] = [(PROVIDER_NAME, "NAME"), (FACILITY, "ORGANIZATION")];

/// The narrower kind of a value of `kind` that stands at `range` of `text`.
pub fn narrower(kind: &str, text: &str, range: Range<usize>) -> Option<&'static str> {
    match kind {
        "NAME" => is_provider(text, range).then_some(PROVIDER_NAME),
        "ORGANIZATION" => {
            let value = text.get(range)?;
            words(value).any(is_facility_word).then_some(FACILITY)
        }
        _ => None,
    }
}

/// Whether a name has a title before it or a degree behind it, and nothing before says that it is a patient's.
fn is_provider(text: &str, Range { start, end }: Range<usize>) -> bool {
    let (Some(before), Some(value), Some(behind)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return false;
    };
    // A detector may count the title to the name.
    let inside = words(value).next().filter(|word| is_title(word));
    let mut back = words_back(before);
    let nearest = back.next();
    let is_titled = inside.is_some() || nearest.is_some_and(is_title);
    let speaker = match inside {
        Some(_) => nearest,
        None if is_titled => back.next(),
        None => nearest,
    };
    !speaker.is_some_and(is_person) && (is_titled || has_degree(behind))
}

/// `, MD`, ` M.D.`: a degree right behind; with digits behind it, it is a state.
fn has_degree(behind: &str) -> bool {
    let rest = behind.trim_start_matches([' ', '\t']);
    let (rest, is_apart) = match rest.strip_prefix(',') {
        Some(rest) => (rest.trim_start_matches([' ', '\t']), true),
        None => (rest, false),
    };
    let end = rest
        .find(|letter: char| !(letter.is_alphanumeric() || letter == '.' || letter == '-'))
        .unwrap_or(rest.len());
    let (written, after) = rest.split_at(end);
    let degree: String = written.chars().filter(|letter| *letter != '.').collect();
    let is_known = DEGREES.contains(&degree.as_str())
        || is_apart && DEGREES_BEHIND_A_COMMA.contains(&degree.as_str());
    let is_state = after.trim_start().starts_with(|c: char| c.is_ascii_digit());
    is_known && !is_state
}

/// Runs of letters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphabetic())
        .filter(|word| !word.is_empty())
}

/// Words before a place, from the nearest on, up to one that something else than a space, a point or a colon parts
/// from the one behind it.
fn words_back(before: &str) -> impl Iterator<Item = &str> {
    let mut rest = before;
    std::iter::from_fn(move || {
        let trimmed = rest.trim_end_matches(['.', ':', ' ', '\t']);
        if rest.len() - trimmed.len() > MAX_GAP_BYTES {
            return None;
        }
        let start = trimmed
            .char_indices()
            .rev()
            .take_while(|(_, letter)| letter.is_alphabetic())
            .last()?
            .0;
        let word = trimmed.get(start..)?;
        rest = trimmed.get(..start)?;
        Some(word)
    })
}

/// As in `Dr.  Marsh`; what is further away stands in another column.
const MAX_GAP_BYTES: usize = 4;

fn is_title(word: &str) -> bool {
    is_one_of(&TITLES, word)
}

fn is_person(word: &str) -> bool {
    is_one_of(&PERSONS, word)
}

fn is_facility_word(word: &str) -> bool {
    is_one_of(&FACILITY_WORDS, word)
}

fn is_one_of(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[rustfmt::skip]
static TITLES: [&str; 17] = [
    "attending", "clinician", "doctor", "dr", "hospitalist", "midwife", "nurse", "pcp", "pharmacist", "physician",
    "practitioner", "prof", "professor", "provider", "psychiatrist", "surgeon", "therapist",
];

/// Who stands so before a name speaks of a patient or of somebody near to one, whatever title follows.
#[rustfmt::skip]
static PERSONS: [&str; 24] = [
    "brother", "child", "client", "daughter", "father", "husband", "member", "miss", "mother", "mr", "mrs", "ms",
    "name", "parent", "partner", "patient", "pt", "resident", "sister", "son", "spouse", "subject", "victim", "wife",
];

/// Degrees and registrations that nothing else is written as.
#[rustfmt::skip]
static DEGREES: [&str; 19] = [
    "APRN", "CNM", "CRNA", "DDS", "DMD", "DNP", "DPM", "DVM", "FACP", "FACS", "FNP", "LCSW", "LPN", "MBBS", "MD",
    "NP", "PA-C", "PharmD", "RN",
];

/// These are words or states too.
static DEGREES_BEHIND_A_COMMA: [&str; 4] = ["DO", "DPT", "OD", "PhD"];

#[rustfmt::skip]
static FACILITY_WORDS: [&str; 24] = [
    "cancer", "cardiology", "care", "clinic", "clinics", "dental", "dermatology", "dialysis", "health", "healthcare",
    "hospice", "hospital", "hospitals", "imaging", "infirmary", "medical", "medicine", "nursing", "oncology",
    "orthopedics", "pediatrics", "pharmacy", "rehabilitation", "surgical",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(kind: &str, text: &str, value: &str) -> Option<&'static str> {
        let start = text.find(value).unwrap();
        narrower(kind, text, start..start + value.len())
    }

    #[test]
    fn a_title_or_a_degree_makes_a_provider() {
        for text in [
            "Seen by Dr. Helen Marsh today",
            "seen by DR HELEN MARSH".to_lowercase().as_str(),
            "Attending: Helen Marsh",
            "Signed, Helen Marsh, MD",
            "Helen Marsh M.D. read the film",
            "Helen Marsh, PA-C.",
            "Helen Marsh, DO",
            "Nurse Helen Marsh called",
        ] {
            let value = if text.contains("Helen") {
                "Helen Marsh"
            } else {
                "helen marsh"
            };
            assert_eq!(of("NAME", text, value), Some(PROVIDER_NAME), "{text}");
        }
        assert_eq!(
            of("NAME", "Seen by Dr. Marsh", "Dr. Marsh"),
            Some(PROVIDER_NAME)
        );
    }

    #[test]
    fn in_doubt_it_is_a_patient() {
        for text in [
            "Helen Marsh was seen",
            "Patient Dr. Helen Marsh",
            "patient: Dr. Helen Marsh",
            "Mrs. Helen Marsh, MD",
            "Helen Marsh, MD 21201",
            "Helen Marsh DO NOT call",
            "Doctor, Helen Marsh is here",
            "The doctor saw Helen Marsh",
            "Dr.      Helen Marsh",
        ] {
            assert_eq!(of("NAME", text, "Helen Marsh"), None, "{text}");
        }
        assert_eq!(of("NAME", "Patient Dr. Marsh", "Dr. Marsh"), None);
    }

    #[test]
    fn a_facility_says_so_in_its_name() {
        let known = |value| of("ORGANIZATION", value, value);
        assert_eq!(known("Mercy General Hospital"), Some(FACILITY));
        assert_eq!(known("LAKESIDE CLINIC"), Some(FACILITY));
        assert_eq!(known("Acme Steel Works"), None);
        assert_eq!(of("NAME", "Hospital", "Hospital"), None);
    }
}
