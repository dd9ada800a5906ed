//! What is found and what is left alone: the marked text against the findings.

use detector_kit::bindings::exports::gateway::plugin::lifecycle;
use detector_kit::cases::{finds, found, leaves_alone};

use super::*;
use crate::{Names, Plugin};

mod abroad;
mod brief;
mod charts;
mod formats;
mod haste;
mod shorthand;
mod things;
mod titles;
mod wards;

#[test]
fn names_behind_titles_and_labels() {
    finds::<Names>(&[
        ("seen by Dr. Kumar today", &["NAME:Kumar"]),
        (
            "Dr. Adaeze Okonkwo-Bright called",
            &["NAME:Adaeze Okonkwo-Bright"],
        ),
        ("Mrs. O'Brien is here", &["NAME:O'Brien"]),
        ("hello mr . smith", &["NAME:smith"]),
        ("mr walker uses a walker", &["NAME:walker"]),
        ("Patient Name: DOE, JANE Q", &["NAME:DOE, JANE Q"]),
        ("his wife Margaret came", &["NAME:Margaret"]),
        ("Hi Jane, thank you", &["NAME:Jane"]),
        ("my name is Thandiwe", &["NAME:Thandiwe"]),
        (
            "Her name is Hope and she hopes for the best.",
            &["NAME:Hope"],
        ),
        (
            "His name is Will, and he said that he will come.",
            &["NAME:Will"],
        ),
        (
            "Electronically signed by Priya Raghunathan, MD",
            &["NAME:Priya Raghunathan"],
        ),
        ("Regards,\nTomasz", &["NAME:Tomasz"]),
        ("[doctor] hi , martha . how are you ?", &["NAME:martha"]),
    ]);
    leaves_alone::<Names>(&[
        "the doctor will see you",
        "doctor said so",
        "Dr. visit on file",
        "the patient is well",
        "the patient has pain",
        "his wife is here",
        "Hi there",
        "hello , how are you",
        "nurse will call",
        "miss a dose",
        "i have a runny nose",
        "she needs her walker at home",
        "Dear Sir or Madam",
    ]);
}

#[test]
fn names_that_only_what_is_around_tells() {
    finds::<Names>(&[
        (
            "PATIENT: OYELARAN, BABATUNDE",
            &["NAME:OYELARAN, BABATUNDE"],
        ),
        ("NAME: OKONKWO,CHIDINMA DOB", &["NAME:OKONKWO,CHIDINMA"]),
        (
            "Patient: Oyelaran, Babatunde T",
            &["NAME:Oyelaran, Babatunde T"],
        ),
        ("Patient Name: Will Long", &["NAME:Will Long"]),
        ("Name: Grace Park", &["NAME:Grace Park"]),
        ("PATIENT: BROWN, ROSE", &["NAME:BROWN, ROSE"]),
        ("Patient Szymborska denies pain.", &["NAME:Szymborska"]),
        ("my husband Chidi will come", &["NAME:Chidi"]),
        ("Baby Boy Oyelowo", &["NAME:Oyelowo"]),
        ("Radiologist: Oyelaran", &["NAME:Oyelaran"]),
        ("read by T. Lindqvist", &["NAME:T. Lindqvist"]),
        (
            "OYELARAN, BABATUNDE (MRN 4471882)",
            &["NAME:OYELARAN, BABATUNDE"],
        ),
        (
            "Babatunde Oyelaran DOB: 1/2/1970",
            &["NAME:Babatunde Oyelaran"],
        ),
        (
            "babatunde oyelaran dob 1/2/1970",
            &["NAME:babatunde oyelaran"],
        ),
        (
            "Oyelaran, Babatunde 54 y.o. male",
            &["NAME:Oyelaran, Babatunde"],
        ),
        ("bed 12 is Garcia, 67F", &["NAME:Garcia"]),
    ]);
    leaves_alone::<Names>(&[
        "Patient Portal access is down",
        "Patient: Denies Pain",
        "PATIENT: AFEBRILE, NORMOTENSIVE",
        "pt: afebrile, normotensive",
        "patient: will go home",
        "Name: Required Field",
        "Mother: Breast Cancer at 52",
        "Father: Hypertension, Diabetes",
        "Insured: Self",
        "Boston, 67F",
        "Kelly clamps and Penrose drains",
        "Patient: Accutane for my pimples.",
        "Patient: Augmentin, Detroal LA and more",
    ]);
}

#[test]
fn names_of_the_lists() {
    finds::<Names>(&[
        ("Jane Doe is 45", &["NAME:Jane Doe"]),
        ("for JOHN Q. SMITH", &["NAME:JOHN Q. SMITH"]),
        ("Smith, John reports pain", &["NAME:Smith, John"]),
        ("spoke with J. Ramirez", &["NAME:J. Ramirez"]),
        ("Maria de la Cruz called", &["NAME:Maria de la Cruz"]),
        ("jennifer ramirez has pain", &["NAME:jennifer ramirez"]),
        ("then Martha felt worse", &["NAME:Martha"]),
        ("José Hernández vino", &["NAME:José Hernández"]),
        ("Will Thompson was here", &["NAME:Will Thompson"]),
        (
            "Dr. Rosalind Grant saw her. Grant agreed.",
            &["NAME:Rosalind Grant"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "Parkinson's disease",
        "a Foley catheter",
        "Wilson disease",
        "Murphy sign",
        "Crohn's",
        "Epstein-Barr virus",
        "Gleason score 7",
        "Guillain-Barre syndrome",
        "He will mark the site",
        "I hope she may rose",
        "Tylenol and Lipitor",
        "Chronic Kidney Disease",
        "Past Medical History",
        "White blood cells",
        "the grant was long",
        "Aspirin, Metformin and Lisinopril",
    ]);
}

#[test]
fn further_mentions_of_a_name() {
    finds::<Names>(&[(
        "Dr. Adaeze Okonkwo wrote. Later Okonkwo left.",
        &["NAME:Adaeze Okonkwo", "NAME:Okonkwo"],
    )]);
    // In another segment too.
    let text = "Dr. Zoltanov\nask Zoltanov";
    assert_eq!(across(text, &[(0, 12), (13, 25)]), ["Zoltanov", "Zoltanov"]);
}

/// The values found in segments of a message.
fn across<'t>(text: &'t str, segments: &[(u32, u32)]) -> Vec<&'t str> {
    let segments: Vec<Segment> = segments
        .iter()
        .map(|&(start, end)| Segment {
            start,
            end,
            origin: SegmentOrigin::UserText,
        })
        .collect();
    let mut findings = Vec::new();
    scan(text, &segments, &mut findings);
    findings
        .iter()
        .map(|finding| &text[finding.start..finding.end])
        .collect()
}

#[test]
fn openers_and_emphasis_before_a_name() {
    for (opener, closer) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("<", ">"),
        ("\"", "\""),
        ("'", "'"),
        ("\u{201c}", "\u{201d}"),
        ("\u{ab}", "\u{bb}"),
        ("`", "`"),
        ("*", "*"),
        ("**", "**"),
        ("_", "_"),
        ("__", "__"),
        ("#", ""),
        ("-", ""),
        ("\u{2022}", ""),
    ] {
        for text in [
            format!("{opener}Jane Doe{closer} called"),
            format!("and {opener}Jane Doe{closer}"),
        ] {
            assert_eq!(found::<Names>(&text), ["NAME:Jane Doe"], "{text:?}");
        }
    }
    leaves_alone::<Names>(&["call get_Jane_Doe()", "let _jane = 1; let x_Jane = 2;"]);
}

#[test]
fn the_parts_of_a_name_in_fields_of_their_own_are_found_one_by_one() {
    let parts = ["first_name", "Xuereb", "last_name", "Quux", "age", "41"];
    let text = parts.concat();
    let mut segments = Vec::new();
    let mut start = 0;
    for part in parts {
        let end = start + u32::try_from(part.len()).unwrap_or_default();
        segments.push(Segment {
            start,
            end,
            origin: SegmentOrigin::ToolArguments,
        });
        start = end;
    }
    let mut findings = Vec::new();
    scan(&text, &segments, &mut findings);
    let found: Vec<&str> = findings
        .iter()
        .map(|finding| &text[finding.start..finding.end])
        .collect();
    assert_eq!(found, ["Xuereb", "Quux"]);
}

#[test]
fn words_of_programs_are_nobodys() {
    leaves_alone::<Names>(&[
        "if a:\n    pass\nelif x < 0:\n    pass",
        ".page { min-width: 320px; min-height: 100vh; }",
        "<!doctype html>\n<html lang=\"en\">",
        "model=\"claude-sonnet-4-20250514\"",
    ]);
}

#[test]
fn names_have_as_many_parts_as_people_give_them() {
    finds::<Names>(&[
        (
            "Patient name: Anna Maria Josefina Guadalupe Concepcion Rodriguez Hernandez",
            &["NAME:Anna Maria Josefina Guadalupe Concepcion Rodriguez Hernandez"],
        ),
        (
            "PATIENT NAME: ANNA MARIA JOSEFINA GUADALUPE CONCEPCION RODRIGUEZ HERNANDEZ",
            &["NAME:ANNA MARIA JOSEFINA GUADALUPE CONCEPCION RODRIGUEZ HERNANDEZ"],
        ),
        (
            "patient name: anna maria josefina guadalupe concepcion rodriguez hernandez",
            &["NAME:anna maria josefina guadalupe concepcion rodriguez hernandez"],
        ),
        (
            r#"{"patient_name":"Anna Maria Josefina Guadalupe Concepcion Rodriguez Hernandez de la Cruz y Montenegro Villanueva"}"#,
            &[
                "NAME:Anna Maria Josefina Guadalupe Concepcion Rodriguez Hernandez de la Cruz y Montenegro Villanueva",
            ],
        ),
        (
            r#"{"name":"Anna Maria Josefina Guadalupe Concepcion Rodriguez Hernandez"}"#,
            &["NAME:Anna Maria Josefina Guadalupe Concepcion Rodriguez Hernandez"],
        ),
        (
            r#"{"00100010":{"vr":"PN","Value":[{"Alphabetic":"LINDQVIST^BEATRIZ"}]}}"#,
            &["NAME:LINDQVIST^BEATRIZ"],
        ),
    ]);
    leaves_alone::<Names>(&[
        r#"{"patient_name":"The name of the patient as it is written on the card of the insurance, family name first"}"#,
        r#"{"00080060":{"vr":"PN","Value":[{"Alphabetic":"MAGNETIC^RESONANCE"}]}}"#,
    ]);
}

#[test]
fn places() {
    finds::<Names>(&[
        (
            "moved to Boston, MA 02115 in May",
            &["LOCATION:Boston", "LOCATION:02115"],
        ),
        ("she lives in Sacramento now", &["LOCATION:Sacramento"]),
        (
            "at 12 North Main Street, Apt 4B.",
            &["ADDRESS:12 North Main Street, Apt 4B"],
        ),
        (
            "lives at 12 Main St, Boston, MA",
            &["ADDRESS:12 Main St", "LOCATION:Boston"],
        ),
        ("4821 Maple Ave", &["ADDRESS:4821 Maple Ave"]),
        (
            "What is the address: 412 elm street",
            &["ADDRESS:412 elm street"],
        ),
        (
            "She lives at 412 elm st, apt 3",
            &["ADDRESS:412 elm st, apt 3"],
        ),
        ("P.O. Box 1187", &["ADDRESS:P.O. Box 1187"]),
        ("1200 5th Avenue NW", &["ADDRESS:1200 5th Avenue NW"]),
        ("zip code 60614", &["LOCATION:60614"]),
    ]);
    leaves_alone::<Names>(&[
        "lives in Ohio",
        "from Mexico",
        "in 2 days",
        "5 drops a day",
        "grade 2 in place",
        "10 mg by mouth",
        "MA 5",
        "in Reading",
    ]);
}

#[test]
fn organizations() {
    finds::<Names>(&[
        (
            "admitted to Lakeside General Hospital.",
            &["ORGANIZATION:Lakeside General Hospital"],
        ),
        (
            "at St. Mary's Medical Center",
            &["ORGANIZATION:St. Mary's Medical Center"],
        ),
        (
            "the University of Iowa Hospitals",
            &["ORGANIZATION:University of Iowa Hospitals"],
        ),
        (
            "from Kessler Family Pharmacy",
            &["ORGANIZATION:Kessler Family Pharmacy"],
        ),
    ]);
    leaves_alone::<Names>(&[
        "The Hospital",
        "the Emergency Department",
        "Primary Care Clinic",
        "American Heart Association",
        "a health system",
        "pain clinic",
        "American College of Cardiology",
        "World Health Organization",
    ]);
}

#[test]
fn fields_of_formats() {
    finds::<Names>(&[
        (
            "PID|1||482913||OKONKWO^ADAEZE^Q||19620314|F|||12 MAIN ST^^IOWA CITY^IA^52240",
            &[
                "NAME:OKONKWO^ADAEZE^Q",
                "ADDRESS:12 MAIN ST^^IOWA CITY^IA^52240",
            ],
        ),
        (
            "{\"family\":\"Xuereb\",\"given\":[\"Ann\"]}",
            &["NAME:Xuereb", "NAME:Ann"],
        ),
        (
            "NM1*IL*1*XUEREB*ANN****MI*W1~N4*IOWA CITY*IA*52240~",
            &[
                "NAME:XUEREB",
                "NAME:ANN",
                "LOCATION:IOWA CITY",
                "LOCATION:52240",
            ],
        ),
        (
            "id,last_name,city\n1,Xuereb,Valletta\n2,Quux,Rome",
            &[
                "NAME:Xuereb",
                "LOCATION:Valletta",
                "NAME:Quux",
                "LOCATION:Rome",
            ],
        ),
    ]);
    leaves_alone::<Names>(&[
        "{\"name\":\"get_weather\",\"type\":\"function\"}",
        "{\"name\":\"Aspirin\"}",
        "name,dose,unit\naspirin,81,mg",
    ]);
}

#[test]
fn a_city_without_a_person_is_anybodys() {
    let located = |text: &str| {
        found::<Names>(text)
            .iter()
            .any(|found| found.starts_with("LOCATION"))
    };
    assert!(!located("{\"city\":\"Graz\",\"unit\":\"C\"}"));
    assert!(located("{\"city\":\"Graz\",\"last_name\":\"Xuereb\"}"));
    assert!(located("{\"city\":\"Graz\",\"mrn\":\"482913\"}"));
}

#[test]
fn the_sample_of_every_kind_is_found() {
    assert_eq!(<Plugin as lifecycle::Guest>::self_test(), Ok(()));
}

#[test]
fn any_text_is_survived() {
    let words = [
        "Jane", "Doe", "é", "—", "’s", ",", ".", " ", "\n", "12", "St", "Dr", "-", "'", "MD", "in",
        "Boston", "MA", "ß", "日本", "|", "Hospital", "_", ".pdf", "/", ":",
    ];
    // Longer than a name or a file's name may be.
    let run = "患者".repeat(100);
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..24 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.is_multiple_of(64) {
                text.push_str(&run);
            } else {
                text.push_str(words[(state % words.len() as u64) as usize]);
            }
        }
        let end = u32::try_from(text.len()).unwrap_or_default();
        // Borders of characters are asserted in there.
        across(&text, &[(0, end)]);
    }
}

#[test]
fn what_goes_on_without_end_is_no_name_and_no_street() {
    let mut street = found::<Names>(&format!("lives at 12 Main St{}", " N".repeat(30_000)));
    street.truncate(1);
    assert_eq!(street, ["ADDRESS:12 Main St N N"]);
    let name = found::<Names>(&format!("Dr. Maria{}", " \"Mia\" Lopez".repeat(8_000)));
    assert!(name.len() > 1 && name.iter().all(|name| name.len() < 200));
}

#[test]
fn samples_of_definitions_are_nobody() {
    let found = |text: &str| {
        let segment = Segment {
            start: 0,
            end: u32::try_from(text.len()).unwrap_or_default(),
            origin: SegmentOrigin::ToolDescription,
        };
        let mut findings = Vec::new();
        scan(text, &[segment], &mut findings);
        findings.len()
    };
    for sample in [
        "Title of the article, e.g. Albert Einstein",
        "Name of the patient, for example John Smith",
        "Provider, such as Dr. Helen Marsh",
        "Finds people by name: 'John Smith'",
        "One of SUM, AVG, MIN, MAX",
        "Lists of exclusions (OIG, SAM, state lists)",
        "Patient name (e.g., 'Emily Davis')",
        "Smith, John A",
        "MIN_MAX",
        "SOFIA_PINK",
        "A chain of hotels (Marriott, Hilton, Hyatt)",
        "A firm (Hertz, Avis, Enterprise)",
    ] {
        assert_eq!(found(sample), 0, "{sample}");
    }
    for value in [
        "Looks up Mr. John Smith",
        "The patient, e.g. Harold Whitfield",
        "The patient 'Harold Whitfield' is here",
        "Calls Whitfield, Harold back",
        "Notes of Dr. Helen Marsh",
    ] {
        assert!(found(value) > 0, "{value}");
    }
}

#[test]
fn fields_of_other_things_are_no_places() {
    finds::<Names>(&[
        (r#"{"line": ["12 Mapleby"]}"#, &["ADDRESS:12 Mapleby"]),
        (r#"{"address": "12 mapleby"}"#, &["ADDRESS:12 mapleby"]),
        (
            r#"{"address": ["Mapleby", "62704"]}"#,
            &["ADDRESS:Mapleby", "ADDRESS:62704"],
        ),
        (
            r#"{"family": "Okonkwo", "given": ["Ann"]}"#,
            &["NAME:Okonkwo", "NAME:Ann"],
        ),
    ]);
    leaves_alone::<Names>(&[
        r#"{"path": "src/a.rs", "line": 120}"#,
        r#"{"line": "return total"}"#,
        r#"{"line": "12 items"}"#,
        r#"{"address": "billing"}"#,
        r#"{"address": 64}"#,
        r#"{"font": {"family": "serif"}}"#,
    ]);
}

#[test]
fn a_string_beside_a_given_name_is_a_surname() {
    finds::<Names>(&[
        (
            "rows = [(\"Maria\", \"Lopez\", 41)]",
            &["NAME:Maria", "NAME:Lopez"],
        ),
        ("add('Okonkwo', 'Chidi')", &["NAME:Okonkwo", "NAME:Chidi"]),
    ]);
    leaves_alone::<Names>(&[
        "units = [\"March\", \"Stone\"]",
        "use(\"Red\", \"Green\")",
        "[\"Paris\", \"Jackson\"]",
    ]);
}
