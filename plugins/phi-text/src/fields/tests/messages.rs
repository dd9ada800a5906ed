//! Messages and files of practices, pharmacies, laboratories and address books.

use super::{PATIENT_ID, fields, keyed};

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
