//! Messages and files of practices, pharmacies, laboratories and address books.

use super::{PATIENT_ID, fields, keyed, sees};

#[test]
fn claims_of_pharmacies() {
    let expected = [
        "dob=19510314",
        "first name=ANN",
        "last name=DE BOER",
        "zip=60563",
        "cardholder id=XK12",
    ];
    for separator in ["\x1c", "<FS>", "\\x1c", "\\u001c", "^\\", "\u{241c}"] {
        let claim = "AM01~C419510314~C52~CAANN~CBDE BOER  ~CP60563\x1e~AM04~C2XK12";
        sees(&claim.replace('~', separator), &expected);
    }
    sees(
        "<FS>CAANN<RS><FS>AM04<FS>DRPOE<GS>",
        &["first name=ANN", "last name=POE"],
    );
    for (separator, divider) in [
        ("<0x1C>", "<0x1D>"),
        ("<0x1c>", "<0x03>"),
        ("\\u001C", "\\u001D"),
        ("\\u001c", "\\u001e"),
        ("\\x1C", "\\x03"),
    ] {
        let claim = "~CAANN!~AM04~DRPOE!".replace('~', separator);
        sees(
            &claim.replace('!', divider),
            &["first name=ANN", "last name=POE"],
        );
    }
    sees(
        "610020D0B1PCN12345671011992837465     20240311ABC\x1e\x1cAM01\x1cCAANN",
        &["npi=1992837465", "day in digits=20240311", "first name=ANN"],
    );
    for text in [
        "press ^\\ to quit, or ^\\CB",
        "<FS>CAANN",
        "<b>CAANN</b><i>CB</i>",
        "\x1cfoo\x1cbar",
    ] {
        let found = fields(text);
        assert!(
            !found.iter().any(|seen| seen.contains("name=")),
            "{found:?}"
        );
    }
}

#[test]
fn a_field_of_a_list_ends_before_the_next_one() {
    sees(
        "PID-5: Ann Poe, PID-7: 19510314 PID-3: 12:30",
        &["PID-5=Ann Poe", "PID-7=19510314", "PID-3=12:30"],
    );
    assert!(!fields("PID-5: PID-7: 12").contains(&"PID-5=PID-7: 12".to_owned()));
    let long = fields(&format!("PID-5: {}", "\u{e9}".repeat(9_000)));
    assert!(long.iter().all(|seen| seen.len() < 300), "{long:?}");
    // What is read once for each path is short.
    let many = "PID-5: X ".repeat(100_000);
    let mut bytes = 0;
    super::each(many.as_bytes(), &mut |_, start, end| bytes += end - start);
    assert_eq!(bytes, 100_000);
}

#[test]
fn records_of_practices() {
    let expected = [
        "patient id=51188",
        "last name=Muster",
        "first name=Ann",
        "dob=14031951",
    ];
    for end in ["\n", "\r\n", "\r"] {
        let record = "01380006301~014300051188~0153101Muster~0123102Ann~017310314031951~01031102";
        sees(&record.replace('~', end), &expected);
    }
    sees("Look:\n0153101Muster", &["last name=Muster"]);
    // Without the ends of lines in the lengths, and with the wrong ones behind the kind of record.
    sees(
        "0133101Muster\n0103102Ann",
        &["last name=Muster", "first name=Ann"],
    );
    sees(
        "01380006301\n0193101Muster\n0203102Ann",
        &["last name=Muster"],
    );
    for text in [
        "0253101Muster\n",
        "0133101 items\n0173101 in stock",
        "5551234567\n5551234568\n",
        "9913101Muster\n9913102Ann",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn messages_of_laboratory_devices() {
    sees(
        "H|\\^&|||Host\rP|1|12|||Doe^Ann||19620314|F\rO|1|S77||^^^GLU",
        &[
            "patient id=12",
            "patient name=Doe^Ann",
            "dob=19620314",
            "specimen id=S77",
        ],
    );
    let found = fields("P|x|12|||Doe\nO|a|b\n| P | 1 |");
    assert!(
        !found.iter().any(|seen| seen.starts_with("patient")),
        "{found:?}"
    );
}

#[test]
fn cards_of_address_books() {
    sees(
        "BEGIN:VCARD\r\nN;CHARSET=UTF-8:Doe;Ann;;;\r\nitem1.TEL;TYPE=cell:tel:+15551234\r\n\
         ADR;TYPE=home:;;12 Elm St;Ely;NV;89301;USA\r\nBDAY:19620314\r\nEND:VCARD",
        &[
            "last name=Doe",
            "first name=Ann",
            "phone=+15551234",
            "street=12 Elm St",
            "address=Ely",
            "zip=89301",
            "dob=19620314",
        ],
    );
    assert_eq!(fields("N:Doe;Ann\nTEL:12"), Vec::<String>::new());
}

#[test]
fn patients_by_what_they_are_called() {
    for text in [
        r#"{"resourceType":"Patient","meta":{"versionId":"3","tag":[{"code":"a"}]},"id":"eX1"}"#,
        r#"{"id":"eX1","meta":{"versionId":"3"},"resourceType":"Patient"}"#,
        r#"{"entry":[{"resource":{"contact":[{"id":"c1"}],"id":"eX1","resourceType":"Patient"}}]}"#,
    ] {
        let found = fields(text);
        let patients: Vec<_> = found
            .iter()
            .filter(|seen| seen.starts_with("patient id"))
            .collect();
        assert_eq!(patients, ["patient id=eX1"], "{text}");
    }
    for text in [
        r#"{"resourceType":"Bundle","id":"b1","entry":[{"resource":{"resourceType":"Patient"}}]}"#,
        r#"{"resourceType":"Patient","meta":{"id":"m1"}},{"id":"x1"}"#,
    ] {
        let found = fields(text);
        assert!(
            !found.iter().any(|seen| seen.starts_with("patient id")),
            "{found:?}"
        );
    }
    let label = |keys: &[&'static str]| keyed(keys.iter().rev().map(|key| key.as_bytes()));
    let meta = ["resourceType", "Patient", "meta", "versionId", "3", "id"];
    assert_eq!(label(&meta), Some(PATIENT_ID));
    assert_eq!(label(&["resourceType", "Bundle", "meta", "id"]), None);
    assert_eq!(label(&["resourceType", "Patient", "contact", "id"]), None);
}
