//! Which fields are seen in which format.
#![allow(clippy::unwrap_used)]

use super::*;

mod messages;
mod programs;

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
fn messages_that_are_indented_or_quoted_or_in_a_sentence() {
    let pid = ["PID-3=00482913^^^MERCY^MR", "PID-5=DOE^JANE"];
    for text in [
        "  PID|1||00482913^^^MERCY^MR||DOE^JANE|\n",
        "> PID|1||00482913^^^MERCY^MR||DOE^JANE",
        "\"PID|1||00482913^^^MERCY^MR||DOE^JANE\"",
        "Parse this: PID|1||00482913^^^MERCY^MR||DOE^JANE",
        "MSH|^~\\&|ADT|X PID|1||00482913^^^MERCY^MR||DOE^JANE PV1|1|I",
        "\t\"ZZZ|1 PID|1||00482913^^^MERCY^MR||DOE^JANE",
    ] {
        sees(text, &pid);
    }
    assert!(
        fields("the grid PIT|1||12")
            .iter()
            .all(|field| !field.starts_with("PIT"))
    );
    let nm1 = ["NM1-3=DOE", "NM1-MI=XEA88"];
    for text in [
        "> NM1*IL*1*DOE*JANE****MI*XEA88~",
        "Parse NM1*IL*1*DOE*JANE****MI*XEA88~N3*12 MAIN ST~",
        "  NM1*IL*1*DOE*JANE****MI*XEA88",
    ] {
        sees(text, &nm1);
    }
    assert!(fields("so 12 AB*3*4 and **bold** N1").is_empty());
}

#[test]
fn keys_of_objects_need_no_quotes() {
    for text in [
        r#"createPatient({ firstName: "Ann", lastName: "Poe" })"#,
        r#"addPatient(firstName: "Ann", lastName: "Poe") { id }"#,
        "{ firstName: 'Ann',\n  lastName:\t'Poe' }",
    ] {
        sees(text, &["firstName=Ann", "lastName=Poe"]);
    }
    for text in [r#"see a.b: "c", x-y: 'z'"#, r#"12: "a" and : "b""#] {
        assert!(fields(text).is_empty(), "{text}");
    }
}

#[test]
fn arrows_stand_for_colons() {
    for text in [
        "['firstName' => 'Ann', 'lastName' => 'Poe']",
        "{ \"firstName\"=>\"Ann\", \"lastName\" => \"Poe\" }",
        ":firstName => 'Ann', :lastName=>'Poe'",
        "(firstName => \"Ann\", lastName => \"Poe\")",
    ] {
        sees(text, &["firstName=Ann", "lastName=Poe"]);
    }
    sees("{'tags' => ['a', 'b']}", &["tags=a", "tags=b"]);
    assert!(fields("x > 'a' and y >= 'b'").is_empty());
}

#[test]
fn an_element_without_an_end_is_not_read() {
    let row = |style: usize| {
        let style = "x".repeat(style);
        format!("<tr><th>mrn</th><th>name</th></tr><tr><td {style}>12</td><td>Ann</td></tr>")
    };
    sees(&row(500), &["mrn=12", "name=Ann"]);
    assert!(fields(&row(2_000)).iter().all(|field| field != "mrn=12"));
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
        r#"{"content":"{\"first\":\"Ann\",\"mrn\":\"12\"}","id":"34"}"#,
        &["first=Ann", "mrn=12", "id=34"],
    );
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
    sees(
        r#"{"00100020":{"vr":"LO","Value":["A1"]},"00100010":{"vr":"PN","Value":[{"Alphabetic":"DOE^ANN"}]}}"#,
        &["patient id=A1", "patient name=DOE^ANN"],
    );
    sees(
        r#"{"0020000D": {"Value": ["1.2.3"], "vr": "UI"}, "00080016": {"Value": ["1.2"]}}"#,
        &["study instance uid=1.2.3", "Value=1.2"],
    );
    sees(
        r#"{"subject":{"reference":"Patient/eX1"}}"#,
        &["patient id=eX1", "Patient=eX1"],
    );
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
fn tables_as_they_are_printed() {
    for text in [
        "| # | Patient | MRN |\n|---|---|---|\n| 1 | Ann | 12 |",
        "|  | Patient | MRN |\n|---|:--|--:|\n| 1 | Ann | 12 |",
        "| **Patient** | **MRN** |\n|---|---|\n| **Ann** | 12 |",
        "#,Patient,MRN\n1,Ann,12",
        "#\tPatient\tMRN\n1\tAnn\t12",
        "Patient,Hgb %,MRN,\nAnn,4,12,",
        " Patient | MRN\n---------+-----\n Ann     | 12\n(1 row)",
        "+---------+-----+\n| Patient | MRN |\n+---------+-----+\n| Ann     | 12  |\n+---------+-----+",
        "Patient   MRN   Room\nAnn       12    4",
        "Patient   MRN\n-------   ---\nAnn       12",
        // As data frames are printed: numbered lines, columns flush right.
        "   Patient  MRN\n0      Ann   12\n1      Bea   13",
        "<table><tr><th>Patient</th><th>MRN</th></tr>\n<tr><td><b>Ann</b></td><td>12</td></tr></table>",
        "{\"columns\": [\"Patient\", \"MRN\"], \"rows\": [[\"Ann\", \"12\"], [\"Bea\", 13]]}",
        "[[\"Patient\",\"MRN\"],[\"Ann\",\"12\"]]",
    ] {
        sees(text, &["Patient=Ann", "MRN=12"]);
    }
    for text in [
        "Patient,12\nAnn,13",
        "Patient   Ann\nNurse     Bea",
        "Name:   Ann   Sex:   F\nPlan:   Bea   Age:   4",
        "[\"a\",\"b\"], [\"c\",\"d\"]",
        "It rained.  We left.  It stopped.\nWe came.  It rained.  It stopped.",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
    let lists = fields("Surgeon: Ann Poe, MD\nAssistant: Bo Lee, PA-C");
    assert!(!lists.contains(&"MD=PA-C".to_owned()), "{lists:?}");
    sees("Name: first, Name: last\nAnn, Poe", &["Name: last=Poe"]);
    let pairs = "<tr><td>Patient</td><td>Ann</td></tr><tr><td>Nurse</td><td>Bea</td></tr>";
    assert!(!fields(pairs).contains(&"Patient=Nurse".to_owned()));
}

#[test]
fn what_stands_near_a_value_in_standard_formats() {
    sees(
        "WHERE lower(p.name) LIKE '%Doe%' AND mrn NOT IN ('12', '13')",
        &["name=Doe", "mrn=12", "mrn=13"],
    );
    sees(
        "(0010,0020) LO [440182]    #   6, 1 PatientID\n(0010,0010) PN [DOE^ANN]",
        &["patient id=440182", "patient name=DOE^ANN"],
    );
    sees(
        "(0010, 0020) Patient ID                  LO: '440182'",
        &["patient id=440182"],
    );
    sees(
        "Doe, Ann | 02/03/1944 | F | 3384712",
        &["mrn=3384712", "patient name=Doe, Ann"],
    );
    sees(
        "<patientRole>\n <id extension=\"12\" root=\"1.2\"/><id root=\"2.16.840.1.113883.4.1\" extension=\"13\"/>\n\
         <id extension=\"14\" root=\"1.3\"/>",
        &["patientRole id=12", "ssn=13", "patientRole id=14"],
    );
    sees(
        r#"{"telecom":[{"use":"home","value":"12"},{"value":"13"}],"value":"14"}"#,
        &["telecom=12", "telecom=13"],
    );
    sees(
        r#"{"code":{"system":"http://x.org/a"},"contact":[{"telecom":[{"value":"12"}]}]}"#,
        &["telecom=12"],
    );
    sees(
        "<Patient xmlns=\"http://hl7.org/fhir\">\n<id value=\"11\"/><identifier><type><coding><code value=\"MR\"/>\
         </coding></type><system value=\"urn:oid:1.2\"/> <value value=\"12\"/></identifier><telecom><use \
         value=\"home\"/><value value=\"13\"/></telecom><reference value=\"http://a.org/Patient/14\"/>",
        &[
            "patient id=11",
            "MR=12",
            "identifier value=12",
            "telecom=13",
            "Patient=14",
        ],
    );
    let fax = "<telecom><system value=\"fax\"/><value value=\"12\"/></telecom><other><value value=\"13\"/>";
    let found = fields(fax);
    assert!(found.contains(&"fax=12".to_owned()), "{found:?}");
    for no in ["telecom=12", "telecom=13", "fax=13", "identifier value=13"] {
        assert!(!found.contains(&no.to_owned()), "{found:?}");
    }
    let found = fields(r#"{"telecom":[{"system":"fax","value":"12"}],"value":"14"}"#);
    assert!(found.contains(&"fax=12".to_owned()), "{found:?}");
    assert!(
        !found
            .iter()
            .any(|seen| seen == "telecom=12" || seen == "telecom=14"),
        "{found:?}"
    );
    for text in [
        "it was 'this', and 'those'",
        "Doe, Ann | 02/03/1944 | 3384712",
        "a (1234,5678) b",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
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
        "OBR|1||||||||||||||14472^DOE^ANN^^^^MD",
        &["OBR-15=14472^DOE^ANN^^^^MD", "OBR-16=14472^DOE^ANN^^^^MD"],
    );
    assert_eq!(
        fields("OBX|1|15545^GLUCOSE^LOCAL").len(),
        2,
        "a code is nobody"
    );
    sees(
        "NM1*IL*1*DOE*ANN****MI*W123~REF*SY*219099999~",
        &["NM1-3=DOE", "NM1-MI=W123", "REF-SY=219099999"],
    );
}

#[test]
fn fields_of_messages_are_known_by_their_paths() {
    sees(
        "<PID.19><PID.19.1>12</PID.19.1></PID.19><PID.3><CX.1>13</CX.1></PID.3>",
        &["PID-19=12", "PID-3=13"],
    );
    sees(
        "<PID.5><XPN.1><FN.1>Doe</FN.1></XPN.1></PID.5>",
        &["PID-5=Doe"],
    );
    sees(r#"{"PID.3":{"PID.3.1":"12"}}"#, &["PID-3=12"]);
    sees("PID-19: 12\nPID-5.1: Doe", &["PID-19=12", "PID-5=Doe"]);
    sees("parsed [PID|1||12^^^H]", &["PID-3=12^^^H]"]);
    sees("PID_1234567890123456789012: 12\nmrn=1", &["mrn=1"]);
    sees(
        "PID_1234567890123456789012=12",
        &["PID_1234567890123456789012=12"],
    );
    for text in ["RAPID-19: 12", "PID_: 12", "EPID.3=12", "note-3: 12"] {
        let found = fields(text);
        assert!(
            !found.iter().any(|seen| seen.starts_with("PID-")),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn tables_of_exports() {
    sees("mrn;sex\n12;F", &["mrn=12"]);
    sees("mrn,sex,Total ($),2nd visit\n12,F,9,3", &["mrn=12"]);
    sees(
        "mrn,sex,note\n12,F,\"a\nb\"\n13,M,c",
        &["mrn=12", "note=a\nb", "mrn=13"],
    );
    sees("mrn,sex,note\n12,F,a\n\n13,M,b", &["mrn=12", "mrn=13"]);
    sees("mrn,sex\r12,F\r13,M", &["mrn=12", "mrn=13"]);
    sees("mrn,sex\r\n12,F\r\n13,M", &["mrn=12", "mrn=13"]);
    sees(
        "mrn,zip,height\n12,9,66\"\n13,8,64\"",
        &["mrn=12", "mrn=13"],
    );
    sees(
        "Total ($),printed by,page one\nmrn,sex,zip\n12,F,9",
        &["mrn=12", "zip=9"],
    );
    let below = "|surname|chart|zip|\n|---|---|---|\n|Doe|12|9|\n\n|drug|dose|route|\n|---|---|---|\n|Aspirin|81|po|";
    assert!(!fields(below).contains(&"surname=Aspirin".to_owned()));
    sees(below, &["surname=Doe", "drug=Aspirin"]);
    let prose = "surname,mrn,zip\nDoe,12,9\n\nSee you, thanks, bye";
    assert!(!fields(prose).contains(&"surname=See you".to_owned()));
    let drawn =
        "┌─────┬─────┐\n│ mrn │ zip │\n├─────┼─────┤\n│ 12  │ 9   │\n│ 13  │ 8   │\n└─────┴─────┘";
    sees(drawn, &["mrn=12", "zip=9", "mrn=13", "zip=8"]);
    sees(
        "│ mrn ┆ zip │\n╞═════╪═════╡\n│ 12  ┆ 9   │",
        &["mrn=12", "zip=9"],
    );
    // Another table begins below.
    sees("mrn,sex,x\n12,F,a\nzip,city\n13,Ely", &["mrn=12", "zip=13"]);
    let json = "\"a\": [\"PatientID\", \"PatientName\"],\n\"b\": [\"StudyID\", \"StudyDate\"],";
    assert!(!fields(json).contains(&"PatientName\"]=StudyDate".to_owned()));
    let wide = vec!["c"; 100].join(",");
    sees(&format!("{wide},mrn\n{wide},12"), &["mrn=12"]);
    sees("INSERT INTO t (mrn, x) VALUES (N'12', 1);", &["mrn=12"]);
    let empty = fields("INSERT INTO t (mrn, x) VALUES (E'', 'y'), (N'', 'z')");
    assert!(empty.contains(&"x=y".to_owned()), "{empty:?}");
    assert!(!empty.iter().any(|seen| seen.starts_with("mrn=")));
}

#[test]
fn values_are_known_by_what_stands_beside_them() {
    sees(
        r#"<input value="12" name="ssn"><input id="mrn" type="text" value="13">"#,
        &["ssn=12", "mrn=13"],
    );
    sees("<mrn><![CDATA[12]]></mrn>", &["mrn=12"]);
    sees(
        "<f:identifier><f:value value=\"12\"/></f:identifier>",
        &["identifier value=12"],
    );
    sees(r#"{"value":"12","name":"ssn"}"#, &["ssn=12"]);
    sees(
        r#"{"field":"mrn","oldValue":"12","newValue":"13"}"#,
        &["mrn=12", "mrn=13"],
    );
    sees(r#"{"mrn":{"0":"12","1":"13"}}"#, &["mrn=12", "mrn=13"]);
    for named in [
        r#"{"question":"MRN","name":"q2","answer":"12"}"#,
        r#"{"value":"12","name":"f3","label":"MRN"}"#,
        r#"{"field":"MRN","column":"4","value":"12"}"#,
    ] {
        sees(named, &["MRN=12"]);
    }
    sees(
        r#"{"url":"http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName","valueString":"Doe"}"#,
        &["mothersMaidenName=Doe"],
    );
}

#[test]
fn keys_with_humps_in_lines_of_their_own() {
    sees(
        "patient:\n  lastName: Doe\n- FirstName: Ann ",
        &["lastName=Doe", "FirstName=Ann"],
    );
    for text in [
        "Note: Doe",
        "see lastName: Doe",
        "lastName:Doe",
        "lastname: Doe",
    ] {
        assert_eq!(fields(text), Vec::<String>::new(), "{text}");
    }
}
