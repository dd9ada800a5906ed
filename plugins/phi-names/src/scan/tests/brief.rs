//! Names alone with the sign that gives them away, fields that are called by whoever is in them, streets behind a label.

use detector_kit::cases::{finds, leaves_alone};

use crate::Names;

#[test]
fn names_with_the_sign_that_gives_them_away() {
    finds::<Names>(&[
        ("/s/ Perpetua Hollis", &["NAME:Perpetua Hollis"]),
        ("/s/Siri Halvard", &["NAME:Siri Halvard"]),
        ("Patient: Tathley", &["NAME:Tathley"]),
        ("Patient: Q. Tathley", &["NAME:Q. Tathley"]),
        ("Name: Q. Tathley", &["NAME:Q. Tathley"]),
        ("Pt: Tathley Q", &["NAME:Tathley Q"]),
        ("BB Vesterby bili 12", &["NAME:Vesterby"]),
        ("BG Nguyen DOL 3", &["NAME:Nguyen"]),
        ("the Hollises arrived", &["NAME:Hollises"]),
        ("JD is a 45 yo man with CP", &["NAME:JD"]),
        ("R.S., 62-year-old woman", &["NAME:R.S"]),
        ("L.M. (58M) seen", &["NAME:L.M"]),
        ("Pt M.T. c/o CP", &["NAME:M.T"]),
    ]);
    leaves_alone::<Names>(&[
        "/usr/s/ Perpetua Hollis",
        "/s/ signed",
        "Patient: Yes",
        "Name: Chrome",
        "BG 212 DOL 3",
        "BB Metoprolol held",
        "NB Vesterby",
        "the Glasses arrived",
        "ED is a 45 bed unit",
        "U.S. is a country",
        "CT is a 5 minute test",
        "pt M.D. was called",
        "A.M., 45 yo clock",
        "HTN is a 45 yo",
        "CP, 62-year-old woman",
        "AF is a 45 yo problem",
        "the Hollises Road",
    ]);
}

#[test]
fn fields_of_people() {
    finds::<Names>(&[
        (r#"{"subscriber":"Woldemariam"}"#, &["NAME:Woldemariam"]),
        (r#"{"beneficiary":"S. Fifita"}"#, &["NAME:S. Fifita"]),
        (r#"{"insured":"McTavish"}"#, &["NAME:McTavish"]),
        (
            r#"{"patient":"tlahuextl fifita"}"#,
            &["NAME:tlahuextl fifita"],
        ),
        (r#"{"assigned_to":"S. Fifita"}"#, &["NAME:S. Fifita"]),
        (
            r#"{"student":"tlahuextl fifita"}"#,
            &["NAME:tlahuextl fifita"],
        ),
        (r#"{"signed_by":"S. Fifita"}"#, &["NAME:S. Fifita"]),
        (r#"{"attendees":["S. Fifita"]}"#, &["NAME:S. Fifita"]),
        (r#"{"mother":"siosaia fifita"}"#, &["NAME:siosaia fifita"]),
    ]);
    leaves_alone::<Names>(&[
        r#"{"mother":"htn, copd"}"#,
        r#"{"father":"htn copd"}"#,
        r#"{"subscriber":"OrderService"}"#,
        r#"{"patient":"inpatient"}"#,
        r#"{"patient":"no show"}"#,
        r#"{"assigned_to":"Support Team"}"#,
        r#"{"parent":"MainWindow"}"#,
        r#"{"created_by":"Terraform"}"#,
        r#"{"child":"span"}"#,
        r#"{"member":"premium"}"#,
        r#"{"contact":"Help Desk"}"#,
        r#"{"student":"new intake"}"#,
        r#"{"signed_by":"Acme Release Bot"}"#,
    ]);
}

#[test]
fn what_every_hospital_has_is_no_facility() {
    finds::<Names>(&[(
        "seen at Lakeside Radiology",
        &["ORGANIZATION:Lakeside Radiology"],
    )]);
    leaves_alone::<Names>(&[
        "Order from Cardinal Health today",
        "sent to Interventional Radiology",
    ]);
}

#[test]
fn streets_that_are_all_behind_their_label() {
    finds::<Names>(&[
        ("Street: 48 Quillback", &["ADDRESS:48 Quillback"]),
        ("address: 48 quillback", &["ADDRESS:48 quillback"]),
    ]);
    leaves_alone::<Names>(&[
        "Address: 3 concerns",
        "address: 48 bytes",
        "Street: 48 tests failed",
    ]);
}

#[test]
fn long_rows_of_initials_are_read_quickly() {
    leaves_alone::<Names>(&[&"A.B.".repeat(4000)]);
}
