//! Codes of any make behind labels and in fields that have nothing but codes: letters with few digits or none, dots, any
//! length.

use detector_kit::cases::{finds, leaves_alone};
use detector_kit::{Detector, Segment, SegmentOrigin};

use crate::Patterns;

#[test]
fn letters_with_few_digits_or_none() {
    finds::<Patterns>(&[
        ("Patient MRN: KQWZ7T2A seen today.", &["MRN:KQWZ7T2A"]),
        ("Patient MRN KQWZ7TRA seen today.", &["MRN:KQWZ7TRA"]),
        ("mrn: kqwz7t2a", &["MRN:kqwz7t2a"]),
        ("MRN: KQWZTPLA", &["MRN:KQWZTPLA"]),
        ("MRN S7RT8WQA", &["MRN:S7RT8WQA"]),
        ("MRNs KQWZ7TRA, BXWZ7TCC", &["MRN:KQWZ7TRA", "MRN:BXWZ7TCC"]),
        ("account number KQWZ7T2A", &["ACCOUNT_NUMBER:KQWZ7T2A"]),
        ("account number: XVBQNMKD", &["ACCOUNT_NUMBER:XVBQNMKD"]),
        ("claim number KQWZ7T2A is open", &["OTHER_ID:KQWZ7T2A"]),
        ("member ID: KQWZ7T2A", &["HEALTH_PLAN_ID:KQWZ7T2A"]),
        ("policy number KQWZ7T2A", &["HEALTH_PLAN_ID:KQWZ7T2A"]),
        ("accession number KQWZ-7TA", &["OTHER_ID:KQWZ-7TA"]),
        ("encounter id KQWZ7T2A", &["OTHER_ID:KQWZ7T2A"]),
        ("device serial number KQWZ7T2A", &["DEVICE_ID:KQWZ7T2A"]),
        ("case number KQWZ7T2A.", &["OTHER_ID:KQWZ7T2A"]),
        ("MRN: PAT_004471", &["MRN:PAT_004471"]),
        ("passport: KQWZ7T2A", &["OTHER_ID:KQWZ7T2A"]),
    ]);
    finds::<Patterns>(&[
        (r#"{"mrn": "KQWZ7T2A"}"#, &["MRN:KQWZ7T2A"]),
        (r#"{"mrn": "KQWZTPLA"}"#, &["MRN:KQWZTPLA"]),
        (r#"{"mrn": "kqwz7t2a"}"#, &["MRN:kqwz7t2a"]),
        (r#"{"patient_id": "rx_44718"}"#, &["MRN:rx_44718"]),
        ("PID|1||KQWZ7T2A^^^HOSP^MR||", &["MRN:KQWZ7T2A"]),
        ("PID|1||KQWZTPLA^^^HOSP^MR||", &["MRN:KQWZTPLA"]),
        (r#"{"account":"KQWZ7T2A"}"#, &["ACCOUNT_NUMBER:KQWZ7T2A"]),
        (
            r#"{"resourceType":"Patient","id":"erXuFYUfucBZaryVksYEcMg3"}"#,
            &["MRN:erXuFYUfucBZaryVksYEcMg3"],
        ),
        (
            r#"{"resourceType":"Patient","id":"eRxuFYUf.ucBZ-ryVksYEcMgQ3"}"#,
            &["MRN:eRxuFYUf.ucBZ-ryVksYEcMgQ3"],
        ),
        (
            r#"{"subject":{"reference":"Patient/erXuFYUfucBZaryVksYEcMg3"}}"#,
            &["MRN:erXuFYUfucBZaryVksYEcMg3"],
        ),
    ]);
}

#[test]
fn words_and_names_of_programs_are_no_codes() {
    leaves_alone::<Patterns>(&[
        "MRN REQUIRED for every order, see MRN: UNKNOWN and MRN: PENDING",
        "account number: PENDING REVIEW",
        "policy number: NONE ON FILE",
        "member ID: NOT PROVIDED",
        "serial: ABCDEF",
        "serial number: XXXXXXXX",
        "case number: TBD",
        "case number: COVID19 cluster",
        "case number 2 of 12, case 3B",
        "claim number: N/A, reference number: FAQ2, order no: A-1",
        "MRN:\nNAME:\nACCOUNT NUMBER:\nADDRESS:",
        "| MRN | Account number | Member ID |\n|---|---|---|",
        "Account number: LASTNAME, case number: FIRSTNAME",
        "Patient ID: SEE WRISTBAND, patient id: MISMATCH",
        "MRN is a 10mg dose, MRN: 2nd visit, order no. 3rd, account number: 12th",
        "device id: IPHONE, device serial number: MASKED",
        "medical record HL7V2 export; medical record C32 document",
        "license: GPL2BSD3, license: LGPL21MIT",
        "account: ADMIN12, member: STAFF2B",
        "report number: ANNUAL24 and event number: SUMMIT26",
    ]);
    leaves_alone::<Patterns>(&[
        "account_id: u64, order_id: i64, group_id: uint32, member_id: Int32, plan_id: utf8",
        "let order_id = order1; let account_id = accounts[0].id; let device_id = dev2.id;",
        "struct Order { order_id: OrderId2, account_id: Option<AccountId>, record_id: Vec<u8> }",
        "MRN => Kind::Mrn, MRN: Hl7v2::Parser, account_id: toBase64(raw)",
        r#"{"order_id": "order1", "account_id": "account2", "device_id": "iphone12"}"#,
        r#"{"order_id": "asc", "group_id": "ADMINISTRATORS", "account_id": "CHECKING"}"#,
        r#"{"mrn": "UNKNOWN", "account_number": "WITHHELD", "member_id": "INELIGIBLE"}"#,
        r#"{"mrn": "string", "account_number": "integer", "patient_id": "patient-1"}"#,
        r#"plan_id: gold-v2 and plan_id: "basic_plan2""#,
        r#"{"resourceType":"Patient","id":"example"}"#,
        r#"{"resourceType":"Patient","id":"patientExampleRecord"}"#,
        r#"{"resourceType":"Observation","id":"erXuFYUfucBZaryVksYEcMg3"}"#,
        r#"{"reference":"Organization/acme2"}"#,
        "commit 3a7bd3e2360a, sha256:9f86d081884c7d659a2feaa0c55ad015, commit: deadbeef12",
        "[![docs](x)][order-id-docs-v0.2.x]",
    ]);
}

#[test]
fn numbers_with_dots() {
    const UID: &str = "1.2.840.113619.2.55.3.604688119";
    finds::<Patterns>(&[
        ("MRN 12.345.678", &["MRN:12.345.678"]),
        (r#"{"mrn": "12.345.678"}"#, &["MRN:12.345.678"]),
        ("PID|1||12.345.678^^^HOSP^MR||", &["MRN:12.345.678"]),
    ]);
    let with = |before: &str, behind: &str| format!("{before}{UID}{behind}");
    for text in [
        with("accession number ", "."),
        with("StudyInstanceUID: ", ""),
        with("Study Instance UID ", " was sent"),
        with(r#"{"SeriesInstanceUID":""#, r#""}"#),
        with(r#"{"0020000E":{"vr":"UI","Value":[""#, r#""]}}"#),
        with("(0008,0018) UI [", "]  # 50, 1 SOPInstanceUID"),
        with(
            "(0010,0010) PN: ''\n(0020,000d) Study Instance UID  UI: ",
            "",
        ),
    ] {
        finds::<Patterns>(&[(&text, &[&format!("OTHER_ID:{UID}")])]);
    }
    leaves_alone::<Patterns>(&[
        "StudyInstanceUID, SeriesInstanceUID: required, SOP Class UID 1.2.840.10008.5.1.4.1.1.2",
        "Transfer Syntax UID: 1.2.840.10008.1.2.1, patient identifier OID 2.16.840.1.113883.4.1",
        r#"{"00080016":{"vr":"UI","Value":["1.2.840.10008.5.1.4.1.1.2"]}}"#,
        r#"{"00080060":{"vr":"CS","Value":["MR"]},"00180050":{"vr":"DS","Value":["12.5"]}}"#,
        r#"{"12345678":{"Value":["A1234567"]}}"#,
        "order number 1.2.3, serial number 1.2.3, order number: 3.14",
        "version 10.4.12345 build 7",
    ]);
}

#[test]
fn attributes_of_dicom_as_keys() {
    finds::<Patterns>(&[
        (
            r#"{"00100020":{"vr":"LO","Value":["A1234567"]},"00100030":{"vr":"DA","Value":["19620314"]}}"#,
            &["MRN:A1234567", "DATE:19620314"],
        ),
        (
            r#"{"00080050": {"Value": ["KQWZ7T2A"], "vr": "SH"}}"#,
            &["OTHER_ID:KQWZ7T2A"],
        ),
        (
            r#"{"PatientID":"A1234567","PatientBirthDate":"19620314","AccessionNumber":"KQWZ7T2A"}"#,
            &["MRN:A1234567", "DATE:19620314", "OTHER_ID:KQWZ7T2A"],
        ),
    ]);
}

#[test]
fn codes_are_taken_whole() {
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let digits = "1234567890".repeat(30);
    let key = "aGVsbG8gd29ybGQ1+aGVsbG8gd29ybGQ1/aGVsbG8gd29ybGQ1aGVsbG8gd29ybGQ1aGVs=";
    for (before, kind) in [
        ("MRN: ", "MRN"),
        ("account number ", "ACCOUNT_NUMBER"),
        ("device id ", "DEVICE_ID"),
        ("member id ", "HEALTH_PLAN_ID"),
        (r#"{"mrn": ""#, "MRN"),
        ("PID|1||", "MRN"),
        ("serial number ", "DEVICE_ID"),
        ("user id: ", "OTHER_ID"),
    ] {
        for code in [digest, &digits, key] {
            // The name of an account has no such signs, and is no number.
            if before == "user id: " && code != digest {
                continue;
            }
            let text = format!("{before}{code}");
            finds::<Patterns>(&[(&text, &[&format!("{kind}:{code}")])]);
        }
    }
}

/// What is found in texts of their own that keys and values are.
fn found_in(parts: &[&str]) -> Vec<String> {
    found_as(SegmentOrigin::ToolArguments, parts)
}

fn found_as(origin: SegmentOrigin, parts: &[&str]) -> Vec<String> {
    let text = parts.concat();
    let mut start = 0;
    let segments: Vec<Segment> = parts
        .iter()
        .filter_map(|part| {
            let end = start + u32::try_from(part.len()).unwrap_or_default();
            let segment = Segment { start, end, origin };
            start = end;
            // What divides texts is none.
            (!part.trim().is_empty()).then_some(segment)
        })
        .collect();
    let mut findings = Vec::new();
    Patterns::find(&text, &segments, &mut findings);
    let value = |finding: &crate::kind::Finding| text.get(finding.start..finding.end);
    findings
        .iter()
        .filter_map(value)
        .map(str::to_owned)
        .collect()
}

#[test]
fn keys_and_values_that_are_texts_of_their_own() {
    let id = "erXuFYUfucBZaryVksYEcMg3";
    assert_eq!(found_in(&["mrn", "KQWZ7T2A"]), ["KQWZ7T2A"]);
    assert_eq!(found_in(&["resourceType", "Patient", "id", id]), [id]);
    assert_eq!(
        found_in(&["subject", "reference", "Patient/erXuFYUfucBZaryVksYEcMg3"]),
        [id]
    );
    for parts in [
        ["00100020", "vr", "LO", "Value", "A1234567"],
        ["vr", "LO", "00100020", "Value", "A1234567"],
    ] {
        assert_eq!(found_in(&parts), ["A1234567"]);
    }
    assert!(found_in(&["resourceType", "Observation", "id", id]).is_empty());
    assert!(found_in(&["00080060", "vr", "CS", "Value", "A1234567"]).is_empty());
    assert!(found_in(&["mrn", "UNKNOWN", "order_id", "order1"]).is_empty());
}

#[test]
fn calls_of_programs_are_no_addresses() {
    leaves_alone::<Patterns>(&[
        "func h(w http.ResponseWriter, r *http.Request) { http.Error(w, \"no\", http.StatusNotFound) }",
        "http.createServer((req, res) => res.end())",
    ]);
}

#[test]
fn what_stands_two_lines_above_says_nothing() {
    for origin in [
        SegmentOrigin::ToolArguments,
        SegmentOrigin::ToolSchema,
        SegmentOrigin::Metadata,
        SegmentOrigin::Other,
    ] {
        for (parts, found) in [
            (&["user_id", "\n\n", "title", "\n", "User Id"][..], &[][..]),
            (&["ids", "\n", "mrn", "\n\n", "KQWZ7T2A"], &[]),
            (&["mrn", "\n", "KQWZ7T2A"], &["KQWZ7T2A"]),
        ] {
            assert_eq!(found_as(origin, parts), found, "{parts:?}");
        }
    }
}

#[test]
fn samples_of_provider_identifiers_are_nobodys() {
    let found = |text| found_as(SegmentOrigin::ToolDescription, &[text]);
    for text in [
        "NPI number, e.g. 1234567893",
        "The NPI number of the patient's provider, like 1234567893",
        "NPI number, e.g. 1497758544",
    ] {
        assert!(found(text).is_empty(), "{text}");
    }
    assert_eq!(found("only for NPI number 1497758544"), ["1497758544"]);
    finds::<Patterns>(&[(
        "NPI number, that is 1497758544",
        &["LICENSE_NUMBER:1497758544"],
    )]);
}
