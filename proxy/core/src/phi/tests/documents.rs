//! JSON is read as one text too: what a value is may stand further up than the key in front of it.

use serde_json::json;

use super::*;
use crate::chat::{ChatEvent, Tool, ToolCall};

fn calling(arguments: serde_json::Value) -> ChatRequest {
    let mut request = chat(vec![user("a"), assistant("b")]);
    request.messages[1].content.push(Part::ToolCall(ToolCall {
        id: "c".into(),
        name: "f".into(),
        arguments,
        cache_mark: None,
    }));
    request
}

fn arguments(chat: &ChatRequest) -> &serde_json::Value {
    let Some(Part::ToolCall(call)) = chat.messages[1].content.last() else {
        panic!("no call");
    };
    &call.arguments
}

/// What a detector finds that knows numbers by the document around them alone.
fn in_document<'v>(reading: &str, document: &str, value: &str) -> Option<Candidate<'v>> {
    let from = reading.find(document)?;
    let start = from + document.rfind(value)?;
    Some(Candidate {
        start,
        end: start + value.len(),
        kind: "MRN",
        score: 900,
        verified: false,
        partial: false,
        detector: 0,
    })
}

fn redacted(chat: &mut ChatRequest, document: &str, value: &str) {
    let scan = TextScan::of(chat);
    let candidate = in_document(scan.reading().0, document, value).expect(document);
    let mut map = PlaceholderMap::default();
    let found = merge(&scan, &[candidate], |_, _| true);
    redact(chat, &scan, &found, &mut map, Listener::default()).unwrap();
}

#[test]
fn a_value_is_found_by_what_stands_above_it() {
    let sent = json!({"mrn": ["123", "456"], "ids": {"mrn": {"number": 789, "old": [true, null]}}, "": ""});
    let document =
        r#"{"mrn": ["123", "456"], "ids": {"mrn": {"number": 789, "old": [true, null]}}"#;
    for (value, left) in [
        (
            "456",
            json!({"mrn": ["123", "[MRN_1]"], "ids": {"mrn": {"number": 789, "old": [true, null]}}, "": ""}),
        ),
        (
            "789",
            json!({"mrn": ["123", "456"], "ids": {"mrn": {"number": "[MRN_1]", "old": [true, null]}}, "": ""}),
        ),
        // Keys are judged where they stand.
        ("number", sent.clone()),
    ] {
        let mut request = calling(sent.clone());
        redacted(
            &mut request,
            document.split(", \"old").next().unwrap(),
            value,
        );
        assert_eq!(arguments(&request), &left);
        assert!(
            TextScan::of(&mut calling(sent.clone()))
                .reading()
                .0
                .contains(document.split(", \"old").next().unwrap())
        );
    }
}

#[test]
fn a_document_is_whole() {
    for (sent, written) in [
        (json!({"a": {"b": ["c", 1]}}), r#"{"a": {"b": ["c", 1]}}"#),
        (json!({"a": [{"b": "c"}]}), r#"{"a": [{"b": "c"}]}"#),
        (json!({"a": [1], "b": true}), r#"{"a": [1]}"#),
    ] {
        let mut request = calling(sent);
        let scan = TextScan::of(&mut request);
        let (reading, segments) = scan.reading();
        let last = segments.last().unwrap();
        let document = &reading[last.start..last.end];
        // What stands behind the last text says nothing of it.
        assert!(document.starts_with(written.trim_end_matches(['}', ']'])));
        assert!(
            serde_json::from_str::<serde_json::Value>(document).is_ok(),
            "{document}"
        );
    }
}

#[test]
fn what_has_no_keys_is_no_document() {
    for bare in [json!(["123"]), json!("123"), json!({}), json!({"a": null})] {
        let mut request = calling(bare);
        let scan = TextScan::of(&mut request);
        assert_eq!(scan.reading().0, scan.text());
    }
}

#[test]
fn a_schema_shows_samples_of_its_properties() {
    let mut request = chat(vec![user("a")]);
    request.tools = vec![Tool {
        name: "f".into(),
        description: None,
        input_schema: json!({"type": "object", "properties": {
            "mrn": {"type": "string", "default": "123", "enum": ["456", "789"]},
        }}),
        input_examples: None,
        strict: None,
        cache_mark: None,
    }];
    let scan = TextScan::of(&mut request);
    let (reading, segments) = scan.reading();
    for document in [r#"{"example": {"mrn": "123"#, r#"{"example": {"mrn": "789"#] {
        let at = reading.find(document).expect(document);
        let segment = segments.iter().find(|segment| segment.start == at);
        assert_eq!(segment.unwrap().origin, Origin::ToolDescription);
        let value = document.rsplit('"').next().unwrap();
        let candidate = in_document(reading, document, value).unwrap();
        let found = merge(&scan, &[candidate], |_, _| true);
        assert!(refusal::in_tool_definition(&mut request.clone(), &scan, &found).is_some());
    }
    assert!(!reading.contains(r#""type": "#));
}

#[test]
fn a_document_stays_one_whatever_its_strings_hold() {
    let sent = json!({"note": "a 6\" cut, C:\\", "mrn": ["123", "456"]});
    let mut request = calling(sent);
    redacted(&mut request, r#"C:'", "mrn": ["123", "456"#, "456");
    let left = json!({"note": "a 6\" cut, C:\\", "mrn": ["123", "[MRN_1]"]});
    assert_eq!(arguments(&request), &left);
}

#[test]
fn a_sample_in_a_sample_is_a_part_of_it() {
    let mut request = chat(vec![user("a")]);
    request.tools = vec![Tool {
        name: "f".into(),
        description: None,
        input_schema: json!({"properties": {
            "patient": {"default": {"enum": "x", "mrn": ["123"]}},
            "default": {"type": "string", "mrn": "456"},
        }}),
        input_examples: None,
        strict: None,
        cache_mark: None,
    }];
    let scan = TextScan::of(&mut request);
    let reading = scan.reading().0;
    let document = r#"{"example": {"patient": {"enum": "x", "mrn": ["123"]}}}"#;
    assert!(reading.ends_with(document), "{reading}");
    assert_eq!(reading.matches("example").count(), 1);
}

/// What stands before a later piece of a call is there for it, up to the end of a string.
#[test]
fn a_piece_of_a_call_has_its_beginning() {
    let note = "x y ".repeat(200);
    let numbers = |many: std::ops::Range<u32>| {
        let numbers: Vec<String> = many.map(|number| format!("\"{number}\"")).collect();
        numbers.join(",")
    };
    let few = format!(r#"{{"note":"{note}","mrn":["123","{note}","456"]}}"#);
    let many = format!(r#"{{"note":"{note}","mrn":[{}]}}"#, numbers(1_000..1_200));
    let last = last_reading(&few);
    assert_eq!(last, r#"{"note":"","mrn":["123","","456"]}"#);
    // The end of what is long, from the end of a string on, behind what it is.
    let last = last_reading(&many);
    assert!(
        last.starts_with(r#""mrn":["1"#) && last.ends_with(r#","1199"]"#),
        "{last}"
    );
    assert!(last.len() < 1_000);
}

/// How the last document of a call is read that arrives at once.
fn last_reading(sent: &str) -> String {
    let mut map = PlaceholderMap::default();
    let mut redactor = redactor_after("", &map);
    redactor.push(ChatEvent::ToolCallDelta {
        index: 0,
        fragment: sent.to_owned(),
    });
    redactor.finish();
    let mut readings = Vec::new();
    while let Some(step) = redactor.step() {
        if let Step::Scan(scan) = step {
            readings.push(scan.reading().0.to_owned());
            redactor.found(&scan, Vec::new(), &mut map).unwrap();
        }
    }
    assert!(readings.len() > 2, "{readings:?}");
    let last = readings.last().and_then(|reading| reading.lines().last());
    last.unwrap().to_owned()
}

#[test]
fn arguments_that_arrive_are_a_document_too() {
    let sent = r#"{"mrn": ["123", "456"], "note": "x"}"#;
    for size in [1, 7, sent.len()] {
        let mut map = PlaceholderMap::default();
        let mut redactor = redactor_after("", &map);
        let mut out = String::new();
        let pieces = sent.as_bytes().chunks(size);
        for piece in pieces {
            redactor.push(ChatEvent::ToolCallDelta {
                index: 0,
                fragment: String::from_utf8(piece.to_vec()).unwrap(),
            });
        }
        redactor.finish();
        while let Some(step) = redactor.step() {
            match step {
                Step::Send(ChatEvent::ToolCallDelta { fragment, .. }) => out.push_str(&fragment),
                Step::Send(_) => panic!("no fragment"),
                Step::Scan(scan) => {
                    let document = r#"{"mrn": ["123", "456"#;
                    let candidate = in_document(scan.reading().0, document, "456").unwrap();
                    let found = merge(&scan, &[candidate], |_, _| true);
                    redactor.found(&scan, found, &mut map).unwrap();
                }
            }
        }
        assert_eq!(out, r#"{"mrn": ["123", "[MRN_1]"], "note": "x"}"#);
    }
}
