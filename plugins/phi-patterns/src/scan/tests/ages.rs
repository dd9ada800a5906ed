//! Ages that are told in a sentence, and values, doses and times that are told in the same words.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn the_dot_of_a_title_ends_no_sentence_that_tells_an_age() {
    finds::<Patterns>(&[
        ("BP 120/80. Mr. Jones is 94 and frail", &["AGE_OVER_89:94"]),
        ("Weight stable. Mrs. Alvarez is 97.", &["AGE_OVER_89:97"]),
        ("BP 120/80; per Dr. Lee she was 94.", &["AGE_OVER_89:94"]),
    ]);
    leaves_alone::<Patterns>(&[
        "BP of Mr. Jones was low, he was 94 lying",
        "Per Dr. Lee the sat was low and she was 94.",
    ]);
}

#[test]
fn a_sentence_goes_on_behind_an_age() {
    finds::<Patterns>(&[
        ("Her mother is 97 in assisted living", &["AGE_OVER_89:97"]),
        ("she was 92 on admission", &["AGE_OVER_89:92"]),
        ("Mrs. Chen is 94 in NAD", &["AGE_OVER_89:94"]),
        ("Mr. Lee was 92 in 2019", &["AGE_OVER_89:92"]),
        ("He is 95 on hospice", &["AGE_OVER_89:95"]),
        ("She is 93 in good spirits", &["AGE_OVER_89:93"]),
        ("Mrs. Chen is 94 out of state", &["AGE_OVER_89:94"]),
        ("my dad is 96 over in Ohio", &["AGE_OVER_89:96"]),
        (
            "she was 92 on 3/14/2020",
            &["AGE_OVER_89:92", "DATE:3/14/2020"],
        ),
        (
            "she is ninety-two in assisted living",
            &["AGE_OVER_89:ninety-two"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "Mr. Lee was 95 on 2L",
        "he was 92 on room air",
        "he is 94 on BiPAP",
        "she was 92 on exertion",
        "she is 94 on 3 liters",
        "she was 92 over 60",
        "he was 91 to 95 overnight",
        "he was 92 out of 100 on it",
        "she is 94 in.",
        "he is 92 in tall",
        "she was ninety over sixty",
        "Sats low: she was 92 on arrival",
        "pt was 93 on initial vitals",
        "she was 92 on her baseline 2L",
        "she was 102 on admission",
        "SpO2 checked, patient is 92 on arrival",
    ]);
}

#[test]
fn what_is_now_more_than_before() {
    leaves_alone::<Patterns>(&[
        "Toprol was 50, now 100 daily",
        "Toprol was 50, now 100.",
        "metoprolol 50 BID, now 100 BID",
        "Seroquel 50 qhs, now 100 qhs",
        "KCl 40, now 100 mEq",
        "Tachy to 140s, now 95 after fluids",
        "LDL 160, now 92 after atorvastatin",
        "ferritin low, now 95.",
        "desatted, now 94 with oxygen",
        "Her daughter is 90 min away",
        "her son is 95 minutes from here",
        "she was 91 after nebs",
    ]);
    finds::<Patterns>(&[
        ("dx at 80, now 95.", &["AGE_OVER_89:95"]),
        ("She was 80 then, now 95 and frail", &["AGE_OVER_89:95"]),
        ("retired at 65, now 91, lives alone", &["AGE_OVER_89:91"]),
        ("now 96 who lives alone", &["AGE_OVER_89:96"]),
        ("she was 80, now 95.", &["AGE_OVER_89:95"]),
        (
            "her son is 91 and her daughter is 90.",
            &["AGE_OVER_89:91", "AGE_OVER_89:90"],
        ),
    ]);
}
