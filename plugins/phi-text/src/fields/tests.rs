//! Which fields are seen in which format.
#![allow(clippy::unwrap_used)]

use super::*;

fn fields(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each(text.as_bytes(), &mut |label, start, end| {
        found.push(format!(
            "{}={}",
            str::from_utf8(label).unwrap(),
            &text[start..end]
        ));
    });
    found
}

fn sees(text: &str, expected: &[&str]) {
    let found = fields(text);
    for field in expected {
        assert!(
            found.iter().any(|seen| seen == field),
            "{field} in {found:?}"
        );
    }
}

#[test]
fn json_in_all_its_spellings() {
    sees(
        r#"{"mrn": "12", "age": 93, "given": ["Ann", "B"]}"#,
        &["mrn=12", "age=93", "given=Ann", "given=B"],
    );
    sees(r#"{'mrn': '12', 'note': 'it isn't'}"#, &["mrn=12"]);
    sees(r#"{\"mrn\": \"12\"}"#, &["mrn=12"]);
    sees(
        r#"{"system":"http://hl7.org/fhir/sid/us-ssn","value":"219099999"}"#,
        &["us-ssn=219099999"],
    );
    sees(
        r#"{"name":[{"family":"Doe","given":["Ann"]}]}"#,
        &["family=Doe", "given=Ann"],
    );
    // What a neighbour or the object says about a value, in any order.
    sees(r#"{"value":"12","type":"MRN"}"#, &["MRN=12"]);
    sees(r#"{"answer":"12","question":"MRN"}"#, &["MRN=12"]);
    sees(r#"[{"field":"ssn","value":1},{"value":2}]"#, &["ssn=1"]);
    sees(r#"{"mrn":{"use":"x","value":"12"}}"#, &["mrn=12"]);
    sees(r#"{"account": {"no": 12}}"#, &["account no=12"]);
    assert_eq!(
        fields(r#"[{"value":"12"},{"type":"MRN"},{"mrn":{"a":{}},"value":"13"}]"#),
        ["value=12", "type=MRN", "MRN=13", "value=13"]
    );
    // A text of any length is one string, with its escapes.
    let note = "It said \\\"no\\\". ".repeat(40);
    for text in [
        format!(r#"{{"note": "{note}", "mrn": ["12", "34"]}}"#),
        format!(r#"["{note}","{note}",{{"mrn":["12","34"]}}]"#),
        // Inches end nothing.
        format!(
            "a 6\" cut, {} {{\"mrn\": [\"12\", \"34\"]}}",
            "x ".repeat(200)
        ),
    ] {
        sees(&text, &["mrn=12", "mrn=34"]);
    }
}

#[test]
fn pairs_and_elements() {
    sees(
        "user=jdoe&mrn=12 x='a b'",
        &["user=jdoe", "mrn=12", "x=a b"],
    );
    sees(
        "<family value=\"Doe\"/><given>Ann</given>",
        &["family=Doe", "given=Ann"],
    );
    sees("WHERE mrn = '12' AND x = 1", &["mrn=12"]);
}

#[test]
fn tables_and_inserts() {
    sees(
        "id,name,city\n1,\"Doe, Ann\",Rome\n2,B,Oslo",
        &["name=Doe, Ann", "city=Rome", "city=Oslo"],
    );
    sees(
        "| MRN | Name | City |\n|---|---|---|\n| 12 | Ann | Rome |",
        &["MRN=12", "Name=Ann"],
    );
    sees(
        "insert into p (mrn, name) values ('12', 'Ann'), ('13', 'Bea')",
        &["mrn=12", "name=Bea"],
    );
    assert_eq!(
        fields("no tables, here, at all\nand, none here"),
        Vec::<String>::new()
    );
}

#[test]
fn interfaces() {
    sees(
        "MSH|^~\\&|A|B\rPID|1||482913^^^H~5||DOE^ANN||19620314|F",
        &[
            "MSH-3=A",
            "PID-3=482913^^^H",
            "PID-3=5",
            "PID-5=DOE^ANN",
            "PID-7=19620314",
        ],
    );
    sees(
        "NM1*IL*1*DOE*ANN****MI*W123~REF*SY*219099999~",
        &["NM1-3=DOE", "NM1-MI=W123", "REF-SY=219099999"],
    );
}
