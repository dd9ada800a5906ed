//! Years of birth, quarters, days as programs count them and days without separators.

use detector_kit::cases::{finds, leaves_alone};

use crate::Patterns;

#[test]
fn years_of_birth_that_tell_an_age_over_89() {
    finds::<Patterns>(&[
        ("DOB: 1929", &["AGE_OVER_89:1929"]),
        ("Year of birth: 1933", &["AGE_OVER_89:1933"]),
        ("YOB 1930", &["AGE_OVER_89:1930"]),
        ("Patient (b. 1928) with AF", &["AGE_OVER_89:1928"]),
        ("She was born in 1931.", &["AGE_OVER_89:1931"]),
        ("born 1931 to a German family", &["AGE_OVER_89:1931"]),
        (r#"{"birthYear": 1931}"#, &["AGE_OVER_89:1931"]),
        (r#"{"yob":"1930","n":1931}"#, &["AGE_OVER_89:1930"]),
        (r#"{"dob":"1940"}"#, &["AGE_OVER_89:1940"]),
    ]);
    leaves_alone::<Patterns>(&[
        "DOB: 1951",
        "born in 1941",
        r#"{"birthYear": 1985}"#,
        r#"{"age": 1931}"#,
        "born 1930 via section",
        "born 1900 g at term",
        "Infant born 1930, vigorous",
        "baby girl born 1912",
        "born 1930 to a G2P1 mother",
        "born 1930. Apgars 8 and 9",
        "born 1930 weighing 3 kg",
        "blood loss since born 1900 ml",
        "the house of 1931",
        "born 1889",
        "born 1.1930",
    ]);
}

#[test]
fn quarters_in_which_something_was_done() {
    finds::<Patterns>(&[
        ("Seen Q3 2024", &["DATE:Q3 2024"]),
        ("Admitted in Q1 2025", &["DATE:Q1 2025"]),
        ("1Q25 visit", &["DATE:1Q25"]),
        (
            "surgery in the second quarter of 2024",
            &["DATE:second quarter of 2024"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "Q3 2024 revenue grew",
        "revenue for the second quarter of 2024",
        "guidance in 2Q24",
        "pain in the right upper quarter 2024",
        "seen in 5Q25",
    ]);
}

#[test]
fn days_as_programs_count_them() {
    finds::<Patterns>(&[
        (r#"{"dob":-277516800}"#, &["DATE:-277516800"]),
        (r#"{"birth_date":-277516800000}"#, &["DATE:-277516800000"]),
        (
            r#"{"dob":{"$date":-277516800000}}"#,
            &["DATE:-277516800000"],
        ),
        (
            r#"{"dateOfBirth":"/Date(-277516800000)/"}"#,
            &["DATE:-277516800000"],
        ),
        (r#"{"admitted_at":1741941012}"#, &["DATE:1741941012"]),
        (r#"{"visitDate":"1741941012000"}"#, &["DATE:1741941012000"]),
        (r#"{"dob":"1961-073"}"#, &["DATE:1961-073"]),
        ("date_of_birth: -277516800", &["DATE:-277516800"]),
        (r#"{"dateofbirth":-277516800}"#, &["DATE:-277516800"]),
        (r#"{"patientdob":-277516800}"#, &["DATE:-277516800"]),
        (r#"{"patientbirthdate":-277516800}"#, &["DATE:-277516800"]),
    ]);
    leaves_alone::<Patterns>(&[
        r#"{"created_at":1741941012}"#,
        r#"{"timestamp":1741941012000}"#,
        r#"{"admitted_at":17419410}"#,
        r#"{"visit_count":1741941012}"#,
        r#"{"dob":"1961-9"}"#,
        r#"{"adobe_id":1741941012}"#,
        r#"{"responseEndTime":1741941012000}"#,
        r#"{"upload_object_bytes":1741941012}"#,
        "size: -277516800",
    ]);
}

#[test]
fn two_days_without_separators() {
    finds::<Patterns>(&[
        ("DOS 030125-030425", &["DATE:030125-030425"]),
        ("LP done 03.14.25", &["DATE:03.14.25"]),
        (
            "stmt from 03012025 thru 03042025",
            &["DATE:03012025 thru 03042025"],
        ),
    ]);
    leaves_alone::<Patterns>(&[
        "parts 030125-030425",
        "from 991325-991425",
        "DOS 030125-030425-1",
        "version 03.14.25",
        "see 3.14.25",
    ]);
}

#[test]
fn a_value_that_was_checked_is_no_age() {
    leaves_alone::<Patterns>(&["she was 91 when I checked her sugar", "Titrate 5/10/15."]);
    finds::<Patterns>(&[
        ("she was 91 when he died", &["AGE_OVER_89:91"]),
        ("Seen 5/10/15.", &["DATE:5/10/15"]),
    ]);
}
