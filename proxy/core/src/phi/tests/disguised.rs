//! Values in disguise: found as what they read as, replaced where they are written.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chat::{Tool, ToolCall};

const SSN: &str = "123-45-6789";
const VALUES: Values<'static> = &[("SSN", SSN), ("NAME", "Jane Doe"), ("EMAIL", "jane@x.org")];

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(text)
}

/// One value in the forms that a provider could read.
fn forms(value: &str) -> Vec<String> {
    let letters = |form: fn(char) -> String| value.chars().map(form).collect::<String>();
    vec![
        value.to_owned(),
        letters(|c| format!("\u{200b}{c}")).split_off(3),
        letters(|c| format!("\u{ad}{c}")).split_off(2),
        letters(|c| format!("\0{c}")).split_off(1),
        letters(|c| format!("\u{fffd}{c}")).split_off(3),
        letters(|c| {
            char::from_u32(u32::from(c) + 0xfee0)
                .filter(|_| c != ' ')
                .map_or(" ".into(), String::from)
        }),
        letters(|c| format!("%{:02X}", u32::from(c))),
        letters(|c| format!("%25{:02x}", u32::from(c))),
        letters(|c| format!("&#{};", u32::from(c))),
        letters(|c| format!("&#x{:x};", u32::from(c))),
        letters(|c| format!("\\u{:04x}", u32::from(c))),
        letters(|c| format!("\\x{:02x}", u32::from(c))),
        letters(|c| format!("={:02X}", u32::from(c))),
        letters(|c| {
            if c == ' ' {
                "  ".into()
            } else {
                format!("{c} ")
            }
        })
        .trim_end()
        .to_owned(),
        format!(
            "\u{202e}{}\u{202c}",
            value.chars().rev().collect::<String>()
        ),
        base64(value),
        base64(&base64(value)),
        hex::encode(value),
        base64(&format!("the value is {value}.")),
        base64(&letters(|c| format!("%{:02x}", u32::from(c)))),
    ]
}

#[test]
fn no_form_of_a_value_is_left() {
    for (kind, value) in VALUES {
        for form in forms(value) {
            let mut map = PlaceholderMap::default();
            let text = format!("It is {form}, they say.");
            let sent = masked(&text, VALUES, &mut map);
            assert_eq!(sent, format!("It is [{kind}_1], they say."), "{form:?}");
            assert_eq!(unmasked(&sent, &map), text);
        }
    }
}

#[test]
fn two_forms_of_one_value_share_a_placeholder() {
    let mut map = PlaceholderMap::default();
    let text = format!("{SSN} 123%2D45%2D6789 \u{ff11}23-45-6789 {}", base64(SSN));
    assert_eq!(
        masked(&text, VALUES, &mut map),
        "[SSN_1] [SSN_1] [SSN_1] [SSN_1]"
    );
    // A blob that holds more than the value is one of its own, and comes back whole.
    let blob = base64("the number 123-45-6789 is his");
    let sent = masked(&blob, VALUES, &mut map);
    assert_eq!(sent, "[SSN_2]");
    assert_eq!(unmasked(&sent, &map), blob);
    // What was found in it is known from then on in this request.
    let mut map = PlaceholderMap::default();
    let mut request = chat(vec![user(&blob), user("and 123456789")]);
    let scan = TextScan::of(&mut request);
    let found = findings(&scan, &[("SSN", SSN)], &map);
    redact(&mut request, &scan, &found, &mut map, Listener::default()).unwrap();
    assert_eq!(said(&request, 1), "and [SSN_2]");
}

#[test]
fn what_something_unseen_divides_is_found_whole_and_apart() {
    let values: Values<'_> = &[
        ("NAME", "THOMAS BARKER"),
        ("NAME", "Maria Lopez"),
        ("SSN", "536-22-8714"),
    ];
    for (text, reads) in [
        (
            "THOMAS\u{200b}BARKER &amp; Maria\u{200b}Lopez, THOMAS BARKER",
            "[NAME_1] &amp; [NAME_2], [NAME_1]",
        ),
        ("Maria_Lo\u{200b}pez_chart", "[NAME_1]_chart"),
        (
            "SSN 536-22-87\u{200b}l4, 536-22-8714",
            "SSN [SSN_1], [SSN_1]",
        ),
    ] {
        let mut map = PlaceholderMap::default();
        let sent = masked(text, values, &mut map);
        assert_eq!(sent, reads, "{text:?}");
        assert!(unmasked(&sent, &map).starts_with(text.split(',').next().unwrap()));
    }
}

#[test]
fn what_is_known_is_found_in_disguise_by_itself() {
    let mut map = PlaceholderMap::default();
    masked("Jane Doe", VALUES, &mut map);
    for form in forms("Jane Doe") {
        let sent = masked(&format!("It is {form}!"), &[], &mut map);
        assert!(
            sent.starts_with("It is [NAME_") && sent.ends_with("]!"),
            "{form:?}: {sent}"
        );
    }
    let stored = PlaceholderMap::from_json(&map.to_json()).unwrap();
    assert!(stored == map);
}

#[test]
fn every_position_is_read_without_disguise() {
    let hidden = base64("ssn is 123-45-6789");
    let mut request = chat(vec![user(&hidden)]);
    request.ext.insert(hidden.clone(), json!([{"a": hidden}]));
    request.messages[0].content.push(Part::ToolCall(ToolCall {
        id: "i".into(),
        name: "f".into(),
        arguments: json!({"raw": "{\"ssn\":\"123\\u002d45-6789\"}"}),
        cache_mark: None,
    }));
    let mut map = PlaceholderMap::default();
    let counts = guard(&mut request, VALUES, &mut map);
    assert_eq!(counts.total(), 4);
    assert_eq!(said(&request, 0), "[SSN_1]");
    assert_eq!(
        serde_json::Value::Object(request.ext).to_string(),
        r#"{"[SSN_1]":[{"a":"[SSN_1]"}]}"#
    );
    match &request.messages[0].content[1] {
        Part::ToolCall(call) => assert_eq!(call.arguments["raw"], "{\"ssn\":\"[SSN_2]\"}"),
        _ => panic!("no call"),
    }
}

#[test]
fn a_value_that_is_divided_over_parts_is_found() {
    let parts = |texts: &[&str]| {
        let mut request = chat(vec![user("")]);
        request.messages[0].content = texts.iter().map(|text| Part::text(*text)).collect();
        let mut map = PlaceholderMap::default();
        guard(&mut request, VALUES, &mut map);
        let sent: Vec<String> = request.messages[0]
            .content
            .iter()
            .map(|part| match part {
                Part::Text { text, .. } => text.clone(),
                _ => panic!("no text"),
            })
            .collect();
        sent.join("|")
    };
    assert_eq!(
        parts(&["his ssn 123-", "45-6789 ok"]),
        "his ssn [SSN_1]|[SSN_2] ok"
    );
    assert_eq!(parts(&["123-45-6789 ", "123-45-6789"]), "[SSN_1] |[SSN_1]");
    assert_eq!(
        parts(&["MTIz", "123-\u{200b}", "45-6789"]),
        "MTIz|[SSN_1]\u{200b}|[SSN_2]"
    );
    assert_eq!(parts(&["123- ", "45-6789"]), "123- |45-6789");
}

#[test]
fn tool_definitions_are_read_without_disguise() {
    let mut request = chat(Vec::new());
    request.tools = vec![Tool {
        name: "f".into(),
        description: Some(format!("as for {}", base64("ssn 123-45-6789"))),
        input_schema: json!({}),
        input_examples: None,
        strict: None,
        cache_mark: None,
    }];
    let scan = TextScan::of(&mut request);
    let found = findings(&scan, VALUES, &PlaceholderMap::default());
    assert_eq!(
        refusal::first_in_tools(&mut request, &scan, &found).as_deref(),
        Some("tools[0]/description")
    );
}

#[test]
fn sealed_data_that_anybody_can_open_is_no_secret() {
    let mut request = chat(vec![assistant("")]);
    request.messages[0].content = vec![Part::RedactedReasoning {
        data: base64(&format!("{SSN} ").repeat(8)),
        driver: None,
    }];
    guard(&mut request, VALUES, &mut PlaceholderMap::default());
    match &request.messages[0].content[0] {
        Part::RedactedReasoning { data, .. } => assert_eq!(data, "[SSN_1]"),
        _ => panic!("no reasoning"),
    }
}

#[test]
fn a_disguised_look_alike_never_becomes_a_value() {
    let mut map = PlaceholderMap::default();
    let sent = masked("［NAME_1］ and Jane Doe", VALUES, &mut map);
    assert_eq!(sent, "［NAME_1］ and [NAME_2]");
    assert_eq!(unmasked("[NAME_1]", &map), "[NAME_1]");
}

proptest! {
    #[test]
    fn no_disguise_survives_beside_others(
        picks in prop::collection::vec((0_usize..3, 0_usize..18), 1..6),
    ) {
        let parts: Vec<String> = picks
            .iter()
            .map(|(value, form)| forms(VALUES[*value].1)[*form].clone())
            .collect();
        let text = parts.join("\n; ");
        let mut map = PlaceholderMap::default();
        let sent = masked(&text, VALUES, &mut map);
        for form in &parts {
            prop_assert!(!sent.contains(form.as_str()), "{form:?} in {sent:?}");
        }
        prop_assert_eq!(sent.matches('[').count(), parts.len());
    }
}

/// What is sent of a text in which a detector sees these values, each with its score.
fn sent(text: &str, values: &[(&str, &str, u16)]) -> String {
    let mut chat = chat(vec![user(text)]);
    let scan = TextScan::of(&mut chat);
    let mut claims = Vec::new();
    for (kind, value, score) in values {
        for (start, hit) in scan.reading().0.match_indices(value) {
            claims.push(Candidate {
                start,
                end: start + hit.len(),
                kind,
                score: *score,
                verified: false,
                partial: false,
                detector: 0,
            });
        }
    }
    let mut map = PlaceholderMap::default();
    let merged = merge(&scan, &claims, |_, _| true);
    let findings = sweep(&scan, merged, &map, &Allowed::default()).unwrap();
    redact(&mut chat, &scan, &findings, &mut map, RESTORED).unwrap();
    said(&chat, 0)
}

#[test]
fn what_comes_of_escapes_read_as_letters_is_no_finding() {
    for (text, values, reads) in [
        // A guess that the text does not bear out once its escapes are opened.
        (
            r#"{"letter": "Dear Patient,\n\nThank you"}"#,
            &[("NAME", "nThank", 640)][..],
            r#"{"letter": "Dear Patient,\n\nThank you"}"#,
        ),
        (
            r#"{"t": "Gu\u00eda de la \u2014 dieta"}"#,
            &[("DATE", "u00eda", 600), ("OTHER_ID", "u2014", 600)],
            r#"{"t": "Gu\u00eda de la \u2014 dieta"}"#,
        ),
        (
            "?q=hello%20world%21",
            &[("NAME", "hello%20world", 640), ("NAME", "20world", 640)],
            "?q=hello%20world%21",
        ),
        // A rule's claim, where the opened text has the value.
        (
            r#"{"note": "Patient: Maria Lopez\nDOB: 1961-03-14\nMRN: 4471982"}"#,
            &[
                ("NAME", "Maria Lopez", 850),
                ("NAME", r"Maria Lopez\nDOB", 850),
                ("DATE", "1961-03-14", 900),
                ("NAME", "nMRN", 640),
                ("MRN", "4471982", 900),
            ],
            r#"{"note": "Patient: [NAME_1]\nDOB: [DATE_1]\nMRN: [MRN_1]"}"#,
        ),
        // White space that was an escape is no part of a value.
        (
            r"Patient:\nOona Poe\tand",
            &[("NAME", "\nOona Poe\t", 850)],
            r"Patient:\n[NAME_1]\tand",
        ),
    ] {
        assert_eq!(sent(text, values), reads, "{text}");
    }
}

#[test]
fn what_only_looks_like_an_escape_hides_no_value() {
    for (text, values, reads) in [
        // A rule's claim, where the opened text has nothing: whole, and no half of an escape left.
        (
            r"as HOSPITAL\nkaur",
            &[("OTHER_ID", "nkaur", 850)][..],
            r"as HOSPITAL[OTHER_ID_1]",
        ),
        // A guess beside an escape, and one in a path.
        (
            r"Ana Poe\nleft",
            &[("NAME", "Ana Poe", 600)],
            r"[NAME_1]\nleft",
        ),
        (
            r"C:\Users\nadia",
            &[("NAME", "nadia", 600)],
            r"C:\Users\[NAME_1]",
        ),
        (
            r#"say \"Ana Poe\" now"#,
            &[("NAME", "Ana Poe", 600)],
            r#"say \"[NAME_1]\" now"#,
        ),
        // What an organization denies.
        (r"a\nkaur", &[("CUSTOM", "nkaur", CERTAIN)], r"a[CUSTOM_1]"),
        // In a value, escapes that it is read with.
        (
            r#"{"n": "Jos\u00e9 Poe\nleft"}"#,
            &[("NAME", "José Poe", 600)],
            r#"{"n": "[NAME_1]\nleft"}"#,
        ),
        (
            r"O\'Brien left",
            &[("NAME", r"O\'Brien", 600)],
            "[NAME_1] left",
        ),
    ] {
        assert_eq!(sent(text, values), reads, "{text}");
    }
}
