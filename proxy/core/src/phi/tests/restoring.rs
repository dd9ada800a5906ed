//! Restoring while the reply arrives.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chat::{ChatEvent, Finish, FinishReason, ReplyBuilder, ToolCall};

/// NAME_1 to NAME_12 and SSN_1; NAME_1 is awkward in JSON.
fn known() -> PlaceholderMap {
    let mut map = PlaceholderMap::default();
    masked("J\"o\\e", &[("NAME", "J\"o\\e")], &mut map);
    for at in 2..=12 {
        let name = format!("Name{at}x");
        masked(&name, &[("NAME", &name)], &mut map);
    }
    masked("123-45-6789", &[("SSN", "123-45-6789")], &mut map);
    masked("HP-1", &[("HEALTH_PLAN_ID", "HP-1")], &mut map);
    map
}

fn prose(text: &str) -> String {
    unmasked(text, &known())
}

fn in_json(text: &str) -> String {
    restore(text, &table(&known()), Channel::Json).0
}

/// A value that stands in JSON is what a reader of that JSON reads, wherever it goes.
#[test]
fn a_value_is_restored_without_the_escapes_that_it_came_with() {
    let name = "Jos\u{e9} \"Pepe\" O'Brien";
    let escaped = r#"Jos\u00e9 \"Pepe\" O\u0027Brien"#;
    let once = format!(r#"Here: {{"patient": "{escaped}"}}"#);
    let inner = serde_json::Value::from(escaped).to_string();
    let twice = format!(
        r#"{{"body": "{{\"patient\": \"{}\"}}"}}"#,
        &inner[1..inner.len() - 1]
    );
    let reads = [
        (once.as_str(), escaped),
        (twice.as_str(), &inner[1..inner.len() - 1]),
    ];
    for (text, written) in reads {
        assert!(text.contains(written), "{text}");
        let mut map = PlaceholderMap::default();
        let sent = masked(text, &[("NAME", name)], &mut map);
        assert!(sent.contains("[NAME_1]"), "{sent}");
        assert_eq!(
            unmasked("The patient is [NAME_1].", &map),
            format!("The patient is {name}.")
        );
        // The same document again, whoever reads it.
        let back = unmasked(&sent, &map);
        let document = |text: &str| -> serde_json::Value {
            serde_json::from_str(text.trim_start_matches("Here: ")).unwrap()
        };
        let meant = |text: &str| match document(text)["body"].as_str() {
            Some(inner) => document(inner),
            None => document(text),
        };
        assert_eq!(meant(&back), meant(text));
        let (call, _) = restore(r#"{"n": "[NAME_1]"}"#, &table(&map), Channel::Json);
        assert_eq!(document(&call), json!({"n": name}));
    }
}

/// A backslash that somebody writes is one, also where a letter follows that JSON makes something of.
#[test]
fn a_backslash_stays_one_in_json() {
    let mut map = PlaceholderMap::default();
    masked(r"reset CORP\bob", &[("OTHER_ID", r"CORP\bob")], &mut map);
    let (call, _) = restore(r#"{"u": "[OTHER_ID_1]"}"#, &table(&map), Channel::Json);
    assert_eq!(call, r#"{"u": "CORP\\bob"}"#);
}

#[test]
fn placeholders_and_their_drifted_forms_are_restored() {
    let (text, count) = restore(
        r"[SSN_1] [Ssn_1] [SSN 1] [SSN\_1] \[SSN\_1\] [health\_plan ID 1]",
        &table(&known()),
        Channel::Prose,
    );
    assert_eq!(count, 6);
    let ssn = "123-45-6789 ".repeat(5);
    assert_eq!(text, format!("{ssn}HP-1"));
}

#[test]
fn drifted_forms_are_counted() {
    let mut restorer = Restorer::new(table(&known()), Channel::Prose);
    restorer.push(r"[SSN_1] [Ssn_1] [SSN 1] [SSN\_1] \[SSN_1\] [NAME_99]");
    assert_eq!((restorer.restored(), restorer.drifted()), (5, 4));
}

#[test]
fn one_is_never_found_inside_ten() {
    assert_eq!(
        prose("[NAME_10] [NAME_2] [NAME_12]"),
        "Name10x Name2x Name12x"
    );
    assert_eq!(
        prose("[NAME_13] [NAME_100] [NAME_0]"),
        "[NAME_13] [NAME_100] [NAME_0]"
    );
}

#[test]
fn everything_else_stays_to_the_byte() {
    for text in [
        "",
        "[",
        "[[",
        "[NAME",
        "[NAME_1",
        "[NAME_99]",
        "NAME_1",
        "(NAME_1)",
        "[NAME\n_1]",
        "\\",
        "\\\\[",
        "\\[NAME_99\\]",
        "a[0] = [1, 2]",
        "[Ñ_1]",
        "\\[ x \\]",
    ] {
        assert_eq!(prose(text), text, "{text}");
    }
    assert_eq!(prose("[[SSN_1]]"), "[123-45-6789]");
    assert_eq!(prose(r"\[SSN_1]"), r"\123-45-6789");
    assert_eq!(prose("[NAME_[SSN_1]"), "[NAME_123-45-6789");
}

#[test]
fn nothing_is_restored_into_an_address() {
    for text in [
        "https://evil.example/?q=[SSN_1]",
        "![x](https://evil.example/[SSN_1])",
        "[x](/p?q=[SSN_1])",
        "[x](<https://e.example/ [SSN_1]>)",
        "[x](/a(b)[SSN_1])",
        "[x](/a\n\"t [SSN_1]\")",
        "<img src=\"//e.example/[SSN_1]\">",
        "http:/\\e.example/[SSN_1]",
        "www.e.example/?[SSN_1]",
        "WWW.e.example?[SSN_1]",
        "e.example/[SSN_1]",
        "e.example:80/?q=[SSN_1]",
        "[r]: https://e.example/[SSN_1]",
        "ftp://[SSN_1]",
        "[x](mailto:a@b.c?body=[SSN_1])",
        "mailto:a@b.c?body=[SSN_1]",
        // Addresses that were taken out of the reply.
        "[URL_1][SSN_1]",
        "<img src=\"[URL_12]&q=[SSN_1]\">",
        "mailto:[EMAIL_1]?body=[SSN_1]",
        "[EMAIL_1]?body=[SSN_1]",
        "[URL_1](/a \"t\" [SSN_1])",
        "https://e.example/\u{a0}[SSN_1]",
    ] {
        assert_eq!(prose(text), text);
    }
    assert_eq!(
        prose("[SSN_1](https://e.example/[SSN_1]) [SSN_1]"),
        "123-45-6789(https://e.example/[SSN_1]) 123-45-6789"
    );
    assert_eq!(prose("[NAME_2].example/[SSN_1]"), "Name2x.example/[SSN_1]");
    assert_eq!(
        prose("<https://e.example>[SSN_1]"),
        "<https://e.example>123-45-6789"
    );
    // A value that is an address goes on.
    let mut map = known();
    let address = "https://e.example/?q=";
    masked(address, &[("URL", address)], &mut map);
    assert_eq!(
        unmasked("[URL_1][SSN_1] [SSN_1]", &map),
        format!("{address}[SSN_1] 123-45-6789")
    );
    assert_eq!(prose("[x](/y)[SSN_1]"), "[x](/y)123-45-6789");
    assert_eq!(prose("[x](y\n\n[SSN_1]"), "[x](y\n\n123-45-6789");
}

#[test]
fn ordinary_text_is_no_address() {
    for text in [
        "[SSN_1]: ",
        "a/b [SSN_1]",
        "12/[SSN_1]",
        "e.g. [SSN_1]",
        "Dr. X: [SSN_1].",
        "([SSN_1])",
        "x: [SSN_1]/[SSN_1]?",
        "[SSN_1] (see [SSN_1])",
        "http [SSN_1]",
        "3.5 / [SSN_1]",
        "[EMAIL_1] [SSN_1]",
        "[URL_1] [SSN_1]",
        "[EMAIL_1], [SSN_1]",
        "[URL_ [SSN_1]",
    ] {
        assert_eq!(prose(text), text.replace("[SSN_1]", "123-45-6789"));
    }
}

#[test]
fn arguments_stay_json() {
    let text = r#"{"who":"[NAME_1]","list":["[SSN_1]","\u005bname\\_2]"],"[NAME_2]":"a\\[SSN_1]\n[SSN 1]","n":[1],"u":"https:\/\/e\/[SSN_1]"}"#;
    let restored: serde_json::Value = serde_json::from_str(&in_json(text)).unwrap();
    assert_eq!(
        restored,
        json!({
            "who": "J\"o\\e", "list": ["123-45-6789", "Name2x"], "Name2x": "a\\123-45-6789\n123-45-6789",
            "n": [1], "u": "https://e/[SSN_1]",
        })
    );
    // Outside of strings nothing is a placeholder, and an address ends with its string.
    assert_eq!(in_json("[SSN_1]"), "[SSN_1]");
    assert_eq!(
        in_json(r#"["https://e","[SSN_1]"]"#),
        r#"["https://e","123-45-6789"]"#
    );
    assert_eq!(in_json(r#"{"a":"\u00"#), r#"{"a":"\u00"#);
}

#[test]
fn json_in_a_reply_stays_json() {
    let object = r#"{"who":"[NAME_1]","list":["[SSN_1]","\[NAME_1\]"],"id":[SSN_1],"u":"https:\/\/e\/[SSN_1]"}"#;
    let restored = r#"{"who":"J\"o\\e","list":["123-45-6789","J\"o\\e"],"id":"123-45-6789","u":"https:\/\/e\/[SSN_1]"}"#;
    for (before, after) in [
        ("", ""),
        (" \n", "\n\n\"[NAME_1]\""),
        ("Here:\n```json\n", "\n```\n\"[NAME_1]\""),
        ("[", ",{}]"),
        ("[NAME_1] has { ", " \"[NAME_1]\" }"),
    ] {
        let plain = |text: &str| text.replace("[NAME_1]", "J\"o\\e");
        assert_eq!(
            prose(&format!("{before}{object}{after}")),
            format!("{}{restored}{}", plain(before), plain(after))
        );
    }
    assert_eq!(prose("[\n \"[NAME_1]\"]"), "[\n \"J\\\"o\\\\e\"]");
    // What the reply never closes ends with its fence.
    assert_eq!(
        prose("```\n{\"a\": 1,\n```\n\"[NAME_1]\""),
        "```\n{\"a\": 1,\n```\n\"J\"o\\e\""
    );
    assert_eq!(prose("{\"a\": \"x\\u00"), "{\"a\": \"x\\u00");
}

#[test]
fn json_in_a_string_of_json_stays_json() {
    let mut text = json!({"to": "[NAME_1]", "seen": ["[SSN_1]"]}).to_string();
    let mut restored = json!({"to": "J\"o\\e", "seen": ["123-45-6789"]}).to_string();
    for _ in 0..3 {
        assert_eq!(prose(&text), restored);
        assert_eq!(in_json(&text), restored);
        text = json!({"document": format!("See: {text}, {{}}"), "by": "[NAME_1]"}).to_string();
        restored =
            json!({"document": format!("See: {restored}, {{}}"), "by": "J\"o\\e"}).to_string();
    }
}

#[test]
fn what_came_out_of_json_goes_into_json_as_it_is() {
    let mut map = PlaceholderMap::default();
    let date = r"03\/04\/1961";
    masked(date, &[("DOB", date)], &mut map);
    let text = r#"{"born":"[DOB_1]"}"#;
    for channel in [Channel::Prose, Channel::Json] {
        let (restored, _) = restore(text, &table(&map), channel);
        assert_eq!(restored, r#"{"born":"03\/04\/1961"}"#);
    }
}

#[test]
fn values_of_the_system_prompt_come_back_only_to_a_caller_who_has_them() {
    let values = [
        ("NAME", "Dr. Who"),
        ("NAME", "dr. who"),
        ("NAME", "Jane Doe"),
    ];
    let mut map = PlaceholderMap::default();
    let mut request = chat(vec![user("Jane Doe")]);
    request.system = vec![Part::text("You are Dr. Who's desk.")];
    guard(&mut request, &values, &mut map);
    assert_eq!(unmasked("[NAME_1] [NAME_2]", &map), "[NAME_1] Jane Doe");
    masked("ask dr. who", &values, &mut map);
    assert_eq!(unmasked("[NAME_1] [NAME_2]", &map), "dr. who Jane Doe");
    // And the operator does not take a value away again.
    guard(&mut request.clone(), &values, &mut map);
    assert_eq!(unmasked("[NAME_1]", &map), "dr. who");
}

#[test]
fn tools_get_what_their_own_program_said_in_the_system_prompt() {
    let values = [("NAME", "Dr. Who"), ("NAME", "Jane Doe")];
    let restored = |is_house_prompt: bool| {
        let mut map = PlaceholderMap::default();
        let mut request = chat(vec![user("Jane Doe")]);
        request.system = vec![Part::text("You are Dr. Who's desk.")];
        request.has_house_prompt = is_house_prompt;
        guard(&mut request, &values, &mut map);
        // As it comes back out of the store.
        let map = PlaceholderMap::from_json(&map.to_json()).unwrap();
        let text = r#"{"to": "[NAME_1]", "of": "[NAME_2]"}"#;
        [Channel::Json, Channel::Prose].map(|channel| restore(text, &table(&map), channel).0)
    };
    let only_jane = r#"{"to": "[NAME_1]", "of": "Jane Doe"}"#;
    assert_eq!(
        restored(false),
        [r#"{"to": "Dr. Who", "of": "Jane Doe"}"#, only_jane]
    );
    assert_eq!(restored(true), [only_jane; 2]);
}

#[test]
fn what_tools_got_stays_with_them_when_the_history_brings_it_back() {
    let values = [("NAME", "Dr. Who"), ("NAME", "Jane Doe")];
    let call = Part::ToolCall(ToolCall {
        id: "c".into(),
        name: "look".into(),
        arguments: json!({"of": "Dr. Who", "to": "Jane Doe"}),
        cache_mark: None,
    });
    let mut request = chat(vec![
        user("Look."),
        Message {
            role: Role::Assistant,
            content: vec![call],
            name: None,
        },
    ]);
    request.system = vec![Part::text("You are Dr. Who's desk.")];
    let mut map = PlaceholderMap::default();
    guard(&mut request, &values, &mut map);
    // What only the call has said is the caller's.
    assert_eq!(unmasked("[NAME_1] [NAME_2]", &map), "[NAME_1] Jane Doe");
    masked("Dr. Who", &values, &mut map);
    assert_eq!(unmasked("[NAME_1]", &map), "Dr. Who");
}

#[test]
fn only_a_possible_placeholder_is_held_back() {
    let mut restorer = Restorer::new(table(&known()), Channel::Prose);
    assert_eq!(restorer.push("Hello [NA"), "Hello ");
    assert_eq!(restorer.push("X"), "[NAX");
    assert_eq!(restorer.push(" [NAME_1"), " ");
    assert_eq!(restorer.push("3"), "[NAME_13");
    assert_eq!(restorer.push("] [SS"), "] ");
    assert_eq!(restorer.push("N_1]!"), "123-45-6789!");
    assert_eq!(restorer.push("https://[S"), "https://[S");
    assert_eq!(restorer.push(" ["), " ");
    assert_eq!(restorer.finish(), "[");
    assert_eq!(restorer.restored(), 1);
}

#[test]
fn an_empty_table_lets_everything_through() {
    let mut restorer = Restorer::new(Arc::new(RestoreTable::default()), Channel::Prose);
    assert_eq!(restorer.push("[NAME_1"), "[NAME_1");
    assert_eq!(restorer.finish(), "");
}

/// Whatever events are sent on, joined per channel.
fn collect(events: Vec<ChatEvent>) -> (ReplyBuilder, Vec<String>) {
    let mut builder = ReplyBuilder::default();
    let mut words = Vec::new();
    for event in &events {
        builder.push(event);
        words.push(match event {
            ChatEvent::Text(text) => format!("text {text}"),
            ChatEvent::Reasoning(text) => format!("reasoning {text}"),
            ChatEvent::ToolCallStart { index, .. } => format!("start {index}"),
            ChatEvent::ToolCallDelta { index, fragment } => format!("delta {index} {fragment}"),
            ChatEvent::ToolCallEnd { index } => format!("end {index}"),
            ChatEvent::Finished(finish) => format!("finished {:?}", finish.stop_sequence),
            _ => "other".into(),
        });
    }
    (builder, words)
}

#[test]
fn channels_are_restored_apart_and_in_order() {
    let delta = |index, fragment: &str| ChatEvent::ToolCallDelta {
        index,
        fragment: fragment.into(),
    };
    let start = |index| ChatEvent::ToolCallStart {
        index,
        id: "i".into(),
        name: "f".into(),
    };
    let events = vec![
        ChatEvent::Reasoning("it is [SSN".into()),
        ChatEvent::Text("_1] Hi [SSN".into()),
        ChatEvent::KeepAlive,
        ChatEvent::Text("_1] [SS".into()),
        start(0),
        start(1),
        delta(0, r#"{"a":"[SS"#),
        delta(1, r#"{"b":"[NAME_"#),
        delta(0, r#"N_1]"}"#),
        delta(1, r#"1]"}"#),
        ChatEvent::ToolCallEnd { index: 0 },
        ChatEvent::Text("bye [".into()),
        ChatEvent::Finished(Finish {
            reason: FinishReason::Stop,
            raw: "stop".into(),
            stop_sequence: Some("[SSN_1]".into()),
            refused_category: None,
        }),
    ];
    let mut restorer = ReplyRestorer::new(table(&known()), Arc::new(ChatRequest::of_user_text("")));
    let mut out = Vec::new();
    for event in events {
        restorer.push(event, &mut out);
    }
    let (builder, words) = collect(out);
    assert_eq!(
        words,
        [
            "reasoning it is ",
            "reasoning [SSN",
            "text _1] Hi ",
            "other",
            "text 123-45-6789 ",
            "text [SS",
            "start 0",
            "start 1",
            r#"delta 0 {"a":""#,
            r#"delta 1 {"b":""#,
            r#"delta 0 123-45-6789"}"#,
            r#"delta 1 J\"o\\e"}"#,
            "end 0",
            "text bye ",
            "text [",
            r#"finished Some("123-45-6789")"#,
        ]
    );
    assert_eq!(restorer.restored(), 3);
    assert!(builder.finish().is_ok());
}

#[test]
fn an_address_does_not_end_at_a_tool_call() {
    let mut restorer = ReplyRestorer::new(table(&known()), Arc::new(ChatRequest::of_user_text("")));
    let events = [
        ChatEvent::Text("https://e.example/?q=".into()),
        ChatEvent::ToolCallStart {
            index: 0,
            id: "i".into(),
            name: "f".into(),
        },
        ChatEvent::ToolCallEnd { index: 0 },
        ChatEvent::Text("[SSN_1] [SSN_1]".into()),
    ];
    let mut out = Vec::new();
    for event in events {
        restorer.push(event, &mut out);
    }
    let (builder, _) = collect(out);
    let reply = builder.finish().unwrap();
    assert_eq!(reply.text(), "https://e.example/?q=[SSN_1] 123-45-6789");
}

fn reply() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[NAME_1]"),
        Just("[NAME_12]"),
        Just("[name 2]"),
        Just(r"\[SSN\_1\]"),
        Just("[SSN_1]"),
        Just("["),
        Just("]"),
        Just("]("),
        Just(")"),
        Just("("),
        Just("<"),
        Just(">"),
        Just("https://"),
        Just("www."),
        Just("a.b/"),
        Just(" "),
        Just("\n"),
        Just("\\"),
        Just("NAME_1"),
        Just("\""),
        Just("é"),
        Just("\\u005b"),
        Just("\\n"),
        Just("[HEALTH_PLAN"),
        Just(":"),
        Just("{"),
        Just("{\""),
        Just("}"),
        Just("`"),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same(text in reply(), cuts in prop::collection::vec(0_usize..80, 0..8)) {
        let table = table(&known());
        for channel in [Channel::Prose, Channel::Json] {
            let (whole, count) = restore(&text, &table, channel);
            let mut restorer = Restorer::new(Arc::clone(&table), channel);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(*cut)).collect();
            cuts.sort_unstable();
            let mut pieced = String::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                pieced.push_str(&restorer.push(&text[from..cut]));
                from = cut;
            }
            pieced.push_str(&restorer.finish());
            prop_assert_eq!(&pieced, &whole);
            prop_assert_eq!(restorer.restored(), count);
            let single: String = {
                let mut restorer = Restorer::new(Arc::clone(&table), channel);
                let letters: String = text.chars().map(|c| restorer.push(c.encode_utf8(&mut [0; 4]))).collect();
                letters + &restorer.finish()
            };
            prop_assert_eq!(&single, &whole);
        }
    }

    #[test]
    fn valid_arguments_stay_valid(strings in prop::collection::vec(reply().prop_filter("plain", |text| holds_no_json(text)), 1..4)) {
        let text = json!({"a": strings}).to_string();
        let restored: serde_json::Value = serde_json::from_str(&in_json(&text)).unwrap();
        let expected: Vec<String> = strings.iter().map(|text| prose(text)).collect();
        prop_assert_eq!(restored, json!({"a": expected}));
    }
}
