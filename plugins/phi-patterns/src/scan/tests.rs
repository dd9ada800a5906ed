//! What is found and what is left alone, kind by kind: the marked text against the findings.

use super::*;

/// Findings of `text` as `KIND:text`.
fn found(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    scan(text.as_bytes(), &mut findings);
    findings
        .iter()
        .map(|finding| {
            format!(
                "{}:{}",
                kind::KINDS[finding.kind].name,
                &text[finding.start..finding.end]
            )
        })
        .collect()
}

fn finds(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(found(text), *expected, "{text:?}");
    }
}

fn leaves_alone(cases: &[&str]) {
    for text in cases {
        assert_eq!(found(text), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn social_security_numbers() {
    finds(&[
        ("SSN 219-09-9999.", &["SSN:219-09-9999"]),
        ("(219-09-9999)", &["SSN:219-09-9999"]),
        ("his ssn is 219 09 9999", &["SSN:219 09 9999"]),
        ("social security: 219099999", &["SSN:219099999"]),
        ("ssn last four 9999", &["SSN:9999"]),
        ("ssn xxx-xx-9999", &["SSN:9999"]),
        (
            "a 219-09-9999, b 078-05-1120",
            &["SSN:219-09-9999", "SSN:078-05-1120"],
        ),
    ]);
    leaves_alone(&[
        "000-12-3456",
        "666-12-3456",
        "900-12-3456",
        "219-00-9999",
        "219-09-0000",
        "219099999",
        "12219-09-9999",
        "219-09-99991",
        "A219-09-9999B",
        "last four 9999",
    ]);
}

#[test]
fn telephone_and_fax_numbers() {
    finds(&[
        ("call (212) 555-0142 now", &["PHONE:(212) 555-0142"]),
        ("212-555-0142", &["PHONE:212-555-0142"]),
        ("212.555.0142", &["PHONE:212.555.0142"]),
        ("212 555 0142", &["PHONE:212 555 0142"]),
        ("+1 (212) 555-0142", &["PHONE:+1 (212) 555-0142"]),
        ("1-212-555-0142 ext. 12", &["PHONE:1-212-555-0142 ext. 12"]),
        ("+44 20 7946 0958", &["PHONE:+44 20 7946 0958"]),
        ("cell 2125550142", &["PHONE:2125550142"]),
        ("phone 555-0142", &["PHONE:555-0142"]),
        ("Fax: 212-555-0143", &["FAX:212-555-0143"]),
        (
            "Fax 212-555-0143, phone 212-555-0142",
            &["FAX:212-555-0143", "PHONE:212-555-0142"],
        ),
        (
            "phone 212-555-0142 fax 212-555-0143",
            &["PHONE:212-555-0142", "FAX:212-555-0143"],
        ),
        ("212-555-0143 (fax)", &["FAX:212-555-0143"]),
        ("tel 020 7946 0958", &["PHONE:020 7946 0958"]),
    ]);
    leaves_alone(&[
        "555-0142",
        "2125550142",
        "NPI 1234567893",
        "range 100-200",
        "platelets 212 thousand",
        "0.212-555",
    ]);
}

#[test]
fn addresses() {
    finds(&[
        (
            "mail jane.doe+x@mail.example.org.",
            &["EMAIL:jane.doe+x@mail.example.org"],
        ),
        ("<j@x.io>", &["EMAIL:j@x.io"]),
        (
            "\"email\":\"o'neil@example.com\"",
            &["EMAIL:o'neil@example.com"],
        ),
        (
            "josé@correo.es, b@c.de",
            &["EMAIL:josé@correo.es", "EMAIL:b@c.de"],
        ),
    ]);
    leaves_alone(&[
        "meet @ noon",
        "user@host",
        "@handle.name",
        "a@b..com",
        "5 mg @ 8.30",
    ]);
}

#[test]
fn record_numbers() {
    finds(&[
        ("MRN: 00482913", &["MRN:00482913"]),
        ("MRN#482913", &["MRN:482913"]),
        ("MRN00482913", &["MRN:00482913"]),
        ("medical record number is A-482913", &["MRN:A-482913"]),
        ("{\"medicalRecordNumber\": \"482913\"}", &["MRN:482913"]),
        ("{\"mrn\":482913}", &["MRN:482913"]),
        ("patient_id=88213004", &["MRN:88213004"]),
        ("Chart # 48291", &["MRN:48291"]),
        ("patientMrn: 482913", &["MRN:482913"]),
    ]);
    leaves_alone(&[
        "MRN pending",
        "chart 12",
        "00482913",
        "the charter 48291",
        "patient identified 4829 cells",
    ]);
}

#[test]
fn dates() {
    finds(&[
        ("DOB 03/14/1962", &["DATE:03/14/1962"]),
        ("3/14/24", &["DATE:3/14/24"]),
        ("14.03.2024", &["DATE:14.03.2024"]),
        ("2024-03-14T08:30:00Z", &["DATE:2024-03-14"]),
        ("seen 20240314", &["DATE:20240314"]),
        ("PID|19620314|", &["DATE:19620314"]),
        ("in 03/2024", &["DATE:03/2024"]),
        ("seen on 3/14", &["DATE:3/14"]),
        ("March 14, 2024", &["DATE:March 14, 2024"]),
        ("Mar. 14th", &["DATE:Mar. 14th"]),
        ("14 March 2024", &["DATE:14 March 2024"]),
        ("the 14th of march", &["DATE:14th of march"]),
        ("14-MAR-2024", &["DATE:14-MAR-2024"]),
        ("14MAR2024", &["DATE:14MAR2024"]),
        ("born in March 1962", &["DATE:March 1962"]),
        ("sept 3", &["DATE:sept 3"]),
        ("on may 3rd", &["DATE:may 3rd"]),
        ("June 3 and July 4", &["DATE:June 3", "DATE:July 4"]),
    ]);
    leaves_alone(&[
        "2/6 murmur",
        "strength 5/5",
        "BP 120/80",
        "pain 7/10 on exertion",
        "carbidopa 25/100 mg",
        "in 2024",
        "since 1998",
        "may 5 mg daily help",
        "it may 3 times",
        "version 1.2.24",
        "13/32/2024",
        "augment 5",
        "marching 4",
        "ratio 1/2",
        "decreased 10 points",
        "A1c 7.2",
        "ICD-10 E11.9",
        "NDC 0002-8215-01",
    ]);
}

#[test]
fn cards() {
    finds(&[
        ("4111 1111 1111 1111", &["CREDIT_CARD:4111 1111 1111 1111"]),
        (
            "card 4111-1111-1111-1111.",
            &["CREDIT_CARD:4111-1111-1111-1111"],
        ),
        ("378282246310005", &["CREDIT_CARD:378282246310005"]),
        ("3782 822463 10005", &["CREDIT_CARD:3782 822463 10005"]),
    ]);
    leaves_alone(&[
        "4111 1111 1111 1112",
        "1111 1111 1111 1117",
        "order 9111111111111111",
    ]);
}

#[test]
fn the_sample_of_every_kind_is_found() {
    assert_eq!(self_test(), Ok(()));
}

#[test]
fn any_bytes_are_survived() {
    let alphabet = b"0123456789-./ ()@+xM\xC3\xA9ayrn:,'#";
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..20_000 {
        let mut text = Vec::new();
        for _ in 0..40 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push(alphabet[(state % alphabet.len() as u64) as usize]);
        }
        let mut findings = Vec::new();
        scan(&text, &mut findings);
        for finding in findings {
            assert!(
                finding.start < finding.end && finding.end <= text.len(),
                "{text:?}"
            );
        }
    }
}
