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

#[test]
fn years_and_stages_before_now_are_no_doses() {
    finds::<Patterns>(&[
        ("CABG 2010, now 93 with angina", &["AGE_OVER_89:93"]),
        ("Retired 1995, now 94 and lives alone.", &["AGE_OVER_89:94"]),
        ("Hip fx 2019, now 95.", &["AGE_OVER_89:95"]),
        (
            "Born 1931, now 94.",
            &["AGE_OVER_89:1931", "AGE_OVER_89:94"],
        ),
        (
            "Diagnosed 2/2020, now 91.",
            &["DATE:2/2020", "AGE_OVER_89:91"],
        ),
        ("CKD stage 4, now 91.", &["AGE_OVER_89:91"]),
        ("CKD 3, now 92 and frail", &["AGE_OVER_89:92"]),
        ("DM 2, now 92 and frail", &["AGE_OVER_89:92"]),
        ("quit smoking x 30, now 92", &["AGE_OVER_89:92"]),
    ]);
    leaves_alone::<Patterns>(&[
        "heparin 1200, now 100.",
        "was on 20, now 100.",
        "Toprol 2.5, now 100.",
    ]);
}

#[test]
fn somebody_is_now_so_old() {
    finds::<Patterns>(&[
        ("mother now 93 is demented", &["AGE_OVER_89:93"]),
        ("husband now 97 has dementia", &["AGE_OVER_89:97"]),
        ("pt now 97 has fallen", &["AGE_OVER_89:97"]),
        ("mom now 95 fell", &["AGE_OVER_89:95"]),
        ("Pt now 95 presents with", &["AGE_OVER_89:95"]),
        ("patient now 92 admitted with sepsis", &["AGE_OVER_89:92"]),
        ("now 91 here for f/u", &["AGE_OVER_89:91"]),
        ("Mother, now 93 years", &["AGE_OVER_89:93"]),
        ("Mrs. Alvarez, now 94 needs a walker", &["AGE_OVER_89:94"]),
        ("He is now 94 years and frail", &["AGE_OVER_89:94"]),
        ("now 93 is demented", &["AGE_OVER_89:93"]),
        ("now 96 still drives", &["AGE_OVER_89:96"]),
    ]);
    leaves_alone::<Patterns>(&[
        "pt now 92 on room air",
        "Pt desatted, pt now 93 on 2L",
        "patient now 95 kg",
        "HR 130 before, pt now 95.",
        "metoprolol 50, now 100 has helped",
    ]);
}

#[test]
fn who_needs_so_much_help_is_so_old() {
    finds::<Patterns>(&[
        ("Patient is 94 min assist", &["AGE_OVER_89:94"]),
        ("Mrs. Smith is 94 min A for transfers", &["AGE_OVER_89:94"]),
        ("Patient is 94 min-mod assist", &["AGE_OVER_89:94"]),
    ]);
    leaves_alone::<Patterns>(&["Her daughter is 90 min away", "her son is 90 min by car"]);
}

#[test]
fn a_measure_of_another_part_of_a_sentence_is_no_measure_of_this_one() {
    finds::<Patterns>(&[
        (
            "HLD, LDL 160, Mrs. Alvarez is 94 and declines statin",
            &["AGE_OVER_89:94"],
        ),
        ("AST elevated, she was 97 and frail", &["AGE_OVER_89:97"]),
        ("Mr. Alt is 94", &["AGE_OVER_89:94"]),
    ]);
    leaves_alone::<Patterns>(&[
        "ALT for Mr. Jones is 94",
        "LDL was 160 and for Mr. Jones is 94",
    ]);
}

#[test]
fn the_dot_of_a_title_ends_no_sentence_that_tells_a_coming_age() {
    finds::<Patterns>(&[("Mr. Lee will be 100 in the fall", &["AGE_OVER_89:100"])]);
}

#[test]
fn what_somebody_breathes_and_how_a_heart_beats_is_no_age() {
    leaves_alone::<Patterns>(&[
        "he is 110 in afib",
        "pt is 110 in sinus tach",
        "pt is 92 on 2-3L",
        "she was 93 on 1.5 L",
        "pt is 92 on 0.5L",
        "he is 92 on two liters",
        "he is 92 on 2LNC",
        "she is 92 on her O2",
        "he is 92 on venti mask",
        "he is 92 on vapotherm",
        "She was 95 in triage, BP 120/80",
    ]);
    finds::<Patterns>(&[
        ("She was 95 in triage, alone and frail", &["AGE_OVER_89:95"]),
        ("she is 94 on two medications", &["AGE_OVER_89:94"]),
        ("she is 94 on 2 medications", &["AGE_OVER_89:94"]),
        ("she is 94 on her own at home", &["AGE_OVER_89:94"]),
    ]);
}
