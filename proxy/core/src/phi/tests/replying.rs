//! Taking new PHI out of a reply while it arrives.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::chat::{ChatEvent, Finish, FinishReason, ReplyBuilder};
use crate::phi::sweep::{Words, mentioned};

const SSN: &str = "123-45-6789";
const VALUES: Values<'static> = &[
    ("SSN", SSN),
    ("NAME", "Jane Doe"),
    ("NAME", "Ann Poe"),
    ("NAME", "Rowan"),
    ("DATE", "May 5, 2024"),
    ("PHONE", "4111222333"),
];

/// Drives a redactor as the gateway does; counts the scans.
struct Drive<'m> {
    redactor: ReplyRedactor,
    map: &'m mut PlaceholderMap,
    /// What the detector knows.
    values: Values<'static>,
    scans: usize,
}

impl<'m> Drive<'m> {
    fn new(map: &'m mut PlaceholderMap) -> Self {
        Self::after("", map)
    }

    /// Of a reply to a request that the provider got so.
    fn after(text: &str, map: &'m mut PlaceholderMap) -> Self {
        Self {
            redactor: redactor_after(text, map),
            map,
            values: VALUES,
            scans: 0,
        }
    }

    fn seeing(self, values: Values<'static>) -> Self {
        Self { values, ..self }
    }

    fn push(&mut self, event: ChatEvent) -> Vec<ChatEvent> {
        self.redactor.push(event);
        self.steps()
    }

    fn finish(&mut self) -> Vec<ChatEvent> {
        self.redactor.finish();
        self.steps()
    }

    fn steps(&mut self) -> Vec<ChatEvent> {
        let mut out = Vec::new();
        while let Some(step) = self.redactor.step() {
            match step {
                Step::Send(event) => out.push(event),
                Step::Scan(scan) => {
                    self.scans += 1;
                    let (text, _) = scan.reading();
                    let found = merge(&scan, &candidates(text, self.values), |claim, _| {
                        claim.score >= 500
                    });
                    self.redactor.found(&scan, found, self.map).unwrap();
                }
            }
        }
        out
    }

    /// What one more piece of text lets go.
    fn text(&mut self, piece: &str) -> String {
        joined(self.push(ChatEvent::Text(piece.into())))
    }
}

fn joined(events: Vec<ChatEvent>) -> String {
    events
        .into_iter()
        .map(|event| match event {
            ChatEvent::Text(text) | ChatEvent::Reasoning(text) => text,
            ChatEvent::ToolCallDelta { fragment, .. } => fragment,
            _ => String::new(),
        })
        .collect()
}

fn redacted(text: &str, map: &mut PlaceholderMap) -> String {
    let mut drive = Drive::new(map);
    drive.text(text) + &joined(drive.finish())
}

fn redacted_arguments(fragments: &[&str], map: &mut PlaceholderMap) -> String {
    let mut drive = Drive::new(map);
    let mut out = Vec::new();
    for fragment in fragments {
        out.extend(drive.push(ChatEvent::ToolCallDelta {
            index: 0,
            fragment: (*fragment).into(),
        }));
    }
    out.extend(drive.push(ChatEvent::ToolCallEnd { index: 0 }));
    joined(out)
}

/// Where a value stands in the request and nobody found it there, its provider has it and its caller brought it.
#[test]
fn what_the_caller_has_said_is_not_new() {
    let asked = "find 123 45 6789, 4111222333 for ann poe under the rowan";
    let text = |reply: &str| {
        let mut map = PlaceholderMap::default();
        let mut drive = Drive::after(asked, &mut map);
        drive.text(reply) + &joined(drive.finish())
    };
    let reply = "SSN 123-45-6789, phone 4111222333.";
    assert_eq!(text(reply), reply);
    // A word of prose is no name; where a tool is asked for it, it is.
    assert_eq!(
        text("Ann Poe, Rowan, Jane Doe"),
        "Ann Poe, [NAME_1], [NAME_2]"
    );
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::after(asked, &mut map);
    let fragment = r#"{"who": "Rowan", "also": "Jane Doe", "phone": 4111222333}"#.to_owned();
    let mut sent = drive.push(ChatEvent::ToolCallDelta { index: 0, fragment });
    sent.extend(drive.push(ChatEvent::ToolCallEnd { index: 0 }));
    assert_eq!(
        joined(sent),
        r#"{"who": "Rowan", "also": "[NAME_1]", "phone": 4111222333}"#
    );
}

/// A detector may flag a word in one context and not in another; short ones count letter for letter.
#[test]
fn a_short_word_of_the_caller_is_not_new_where_it_stands_as_it_stood() {
    const SHORT: Values<'static> = &[
        ("ORGANIZATION", "RED"),
        ("AGE_OVER_89", "93"),
        ("AGE_OVER_89", "ninety"),
        ("OTHER_ID", "B7"),
    ];
    for (asked, reply, sent) in [
        ("the RED_KITE-7 file", "RED_KITE-7", "RED_KITE-7"),
        ("the red file", "RED", "[ORGANIZATION_1]"),
        ("the INFRARED file", "RED", "[ORGANIZATION_1]"),
        ("93 mg", "aged 93", "aged [AGE_OVER_89_1]"),
        ("ninety mg", "aged ninety", "aged [AGE_OVER_89_1]"),
        ("rows B7 and B8", "B7", "[OTHER_ID_1]"),
    ] {
        let mut map = PlaceholderMap::default();
        let mut drive = Drive::after(asked, &mut map).seeing(SHORT);
        assert_eq!(drive.text(reply) + &joined(drive.finish()), sent, "{asked}");
    }
}

/// Looking for values in a long request takes long: whoever drives the redactor may do it elsewhere, and once.
#[test]
fn the_request_is_read_once_for_each_value() {
    let asked = "find 4111222333 for the rowan";
    let mut map = PlaceholderMap::default();
    let mut redactor = redactor_after(asked, &map);
    let scanned = |text: &str| {
        let scan = TextScan::of(&mut chat(vec![assistant(text)]));
        let found = findings(&scan, VALUES, &PlaceholderMap::default());
        (scan, found)
    };
    let (scan, found) = scanned("nothing to find");
    assert!(redactor.inquire(&scan, &found).is_none());
    let (scan, found) = scanned("4111222333 and Jane Doe");
    let inquiry = redactor.inquire(&scan, &found).unwrap();
    redactor.learn(inquiry.answer().unwrap());
    for known in ["4111222333 and Jane Doe", "Jane Doe"] {
        let (scan, found) = scanned(known);
        assert!(!found.is_empty(), "{known}");
        assert!(redactor.inquire(&scan, &found).is_none(), "{known}");
    }
    let (scan, found) = scanned("Rowan");
    assert!(redactor.inquire(&scan, &found).is_some());
    // What was answered is believed.
    redactor.push(ChatEvent::Text("4111222333 and Jane Doe".into()));
    redactor.finish();
    let mut sent = Vec::new();
    while let Some(step) = redactor.step() {
        match step {
            Step::Send(event) => sent.push(event),
            Step::Scan(scan) => {
                let found = findings(&scan, VALUES, &PlaceholderMap::default());
                redactor.found(&scan, found, &mut map).unwrap();
            }
        }
    }
    assert_eq!(joined(sent), "4111222333 and [NAME_1]");
}

proptest! {
    /// What is not looked for in a request is not mentioned there.
    #[test]
    fn no_mention_is_without_the_words_of_its_value(
        text in "[aaBé1122王王李 .()/_-]{0,60}",
        range in (0..60_usize, 0..20_usize),
        word in "(NAME|SSN|PHONE|MRN)",
    ) {
        let value: String = text.chars().skip(range.0).take(range.1).collect();
        let (lower, upper) = (value.to_lowercase(), value.to_uppercase());
        let digits: String = value.chars().filter(char::is_ascii_digit).collect();
        let national = digits.trim_start_matches('1').to_owned();
        let kind = Kind::named(&word);
        let scan = TextScan::of(&mut ChatRequest::of_user_text(&text));
        let words = Words::of(&scan);
        for value in [value, lower, upper, digits, national] {
            let said = mentioned(&scan, [(&kind, value.as_str())].into_iter()).unwrap();
            prop_assert!(said.is_empty() || words.may_hold(&kind, &value), "{value:?}");
        }
    }
}

#[test]
fn most_values_need_no_search() {
    let asked = "find (411) 122-2333 and 5 others for Ann Poe under the rowan";
    let words = Words::of(&TextScan::of(&mut ChatRequest::of_user_text(asked)));
    for (kind, value, may_be_held) in [
        ("NAME", "ann POE", true),
        ("NAME", "Ann Rowan", true),
        ("NAME", "Ann Roe", false),
        ("PHONE", "1-411-122-2333", true),
        ("PHONE", "2333 122 411", true),
        ("PHONE", "411-122-2334", false),
        ("SSN", "123-45-6789", false),
    ] {
        assert_eq!(
            words.may_hold(&Kind::named(kind), value),
            may_be_held,
            "{value}"
        );
    }
}

#[test]
fn a_reply_is_refused_for_findings_that_are_not_on_it() {
    for (segment, range) in [(0, 3..400), (0, 6..7), (1, 0..4)] {
        let mut map = PlaceholderMap::default();
        let mut redactor = redactor_after("", &map);
        redactor.push(ChatEvent::Text("Jane D\u{f6}e was here".into()));
        redactor.finish();
        let scan = std::iter::from_fn(|| redactor.step()).find_map(|step| match step {
            Step::Scan(scan) => Some(scan),
            Step::Send(_) => None,
        });
        let finding = Finding {
            start: range.start,
            end: range.end,
            kind: Kind::named("NAME"),
            score: 1_000,
            segment,
            refuses: false,
            reads: None,
        };
        let judged = redactor.found(&scan.unwrap(), vec![finding], &mut map);
        assert_eq!(judged, Err(Unjudged::Shifted(Shifted { segment })));
    }
}

/// The operator's words are not the caller's.
#[test]
fn what_the_system_prompt_says_is_new_in_a_reply() {
    let mut chat = chat(vec![user("Who calls?")]);
    chat.system = vec![Part::text("It was 4111222333 who called.")];
    let mut map = PlaceholderMap::default();
    let mut drive = Drive {
        redactor: ReplyRedactor::new(&map.clone(), Arc::new(chat)),
        map: &mut map,
        values: VALUES,
        scans: 0,
    };
    let sent = drive.text("4111222333 calls.") + &joined(drive.finish());
    assert_eq!(sent, "[PHONE_1] calls.");
}

#[test]
fn new_values_are_taken_out_and_stay_out() {
    let mut map = PlaceholderMap::default();
    masked("Jane Doe", &[("NAME", "Jane Doe")], &mut map);
    let sent = redacted(
        "Jane Doe and Ann Poe, 123-45-6789. [NAME_1] and ANN POE.",
        &mut map,
    );
    assert_eq!(
        sent,
        "[NAME_1] and [NAME_2], [SSN_1]. [NAME_1] and [NAME_2]."
    );
    // Also where small letters would let the reply go on between the two words.
    let later = redacted("they say that ann poe is well", &mut map.clone());
    assert_eq!(later, "they say that [NAME_2] is well");
    // What the caller brought comes back, what is new does not.
    assert_eq!(
        unmasked(&sent, &map),
        "Jane Doe and [NAME_2], [SSN_1]. Jane Doe and [NAME_2]."
    );
    let stored = PlaceholderMap::from_json(&map.to_json()).unwrap();
    assert!(stored == map);
    // In the next turn the model's words stay what they are, until the caller says the value.
    assert_eq!(masked("so [NAME_2]?", &[], &mut map), "so [NAME_2]?");
    assert_eq!(unmasked("[NAME_2]", &map), "[NAME_2]");
    masked("Ann Poe", VALUES, &mut map);
    assert_eq!(unmasked("[NAME_2]", &map), "Ann Poe");
}

#[test]
fn counts_are_of_the_reply_alone() {
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map);
    drive.text("Ann Poe and Ann Poe: 123-45-6789\n");
    drive.finish();
    assert_eq!(
        drive.redactor.redacted().header().as_deref(),
        Some("NAME=2,SSN=1")
    );
}

#[test]
fn the_first_words_go_at_once() {
    for (pieces, sent) in [
        (&["Hello"][..], "Hello"),
        (&["The", " patient"], "The"),
        (&["metformin", " is"], "metformin "),
        (&["I", "'m", " sorry"], "I'm "),
        (&["In", " short"], "In "),
        (&["好的", "，患者"], "好的，"),
        (&["w1 ", "w2 "], "w1 "),
        (&["1 ", "2 ", "3 ", "4 ", "5 "], "1 2 3 4 "),
        (&["1. ", "Take ", "it "], "1. Take "),
        (&["**", "Based", " on"], "**Based "),
        (&["\n\n", "Yes", ", it"], "\n\nYes, "),
    ] {
        let mut map = PlaceholderMap::default();
        let mut drive = Drive::new(&mut map);
        let out: String = pieces.iter().map(|piece| drive.text(piece)).collect();
        assert!(out.starts_with(sent), "{pieces:?} gave {out:?}");
    }
}

#[test]
fn what_may_be_phi_waits_for_the_words_behind_it() {
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map);
    assert_eq!(
        drive.text("indeed it surely was Jane"),
        "indeed it surely was "
    );
    assert_eq!(drive.text(" Doe"), "");
    assert_eq!(drive.text(" who "), "");
    assert_eq!(drive.text("came "), "");
    assert_eq!(drive.text("in today "), "[NAME_1] who came in today ");
    assert_eq!(drive.text("on May 5, 20"), "");
    assert_eq!(drive.text("24\nand so it "), "on [DATE_1]\nand so it ");
}

#[test]
fn scripts_without_spaces_are_cut_behind_clauses() {
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map).seeing(&[("NAME", "王秀英")]);
    assert_eq!(drive.text("您好，"), "您好，");
    // A name that is not whole yet waits.
    assert_eq!(drive.text("患者王秀"), "");
    assert_eq!(drive.text("英今天上午来复查"), "");
    let told = drive.text("，血压还好。");
    assert_eq!(told, "患者[NAME_1]今天上午来复查，");
    // A word of ASCII behind it is no opening.
    for (text, sent) in [
        ("王秀英 is a 67-year-old", "[NAME_1] is "),
        ("محمد العلي has di", "[NAME_1] has "),
        ("aspirin由王秀英医生", ""),
        ("见https://a.example/u?m=1 ", ""),
        ("出生日期1962．03", ""),
        ("患者王秀英英文名在护照上写的是Margaret Thorn", ""),
    ] {
        let mut map = PlaceholderMap::default();
        let mut drive = Drive::new(&mut map).seeing(&[("NAME", "王秀英"), ("NAME", "محمد العلي")]);
        assert_eq!(drive.text(text), sent, "{text}");
    }
    // Some sixty letters go in any case, and some words of a script with spaces.
    assert!(!drive.text(&"很".repeat(90)).is_empty());
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map);
    assert!(
        drive
            .text("مرحبا يمكنك تناول الدواء مرتين في اليوم بعد ")
            .len()
            > 40
    );
}

#[test]
fn detectors_are_not_called_for_every_word() {
    let text =
        "the patient should take one tablet with food in the morning and one at night. ".repeat(50);
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map);
    let mut out = String::new();
    for piece in text.split_inclusive(' ') {
        out.push_str(&drive.text(piece));
    }
    out.push_str(&joined(drive.finish()));
    assert_eq!(out, text);
    assert!(
        drive.scans < text.len() / 40,
        "{} scans of {} bytes",
        drive.scans,
        text.len()
    );
}

#[test]
fn what_is_held_back_is_bounded() {
    for text in [
        "Ab ".repeat(3_000),
        "a1".repeat(5_000),
        "12 ".repeat(3_000),
        "Ω_".repeat(4_000),
    ] {
        let mut map = PlaceholderMap::default();
        let mut drive = Drive::new(&mut map);
        let mut sent = 0;
        for (at, letter) in text.char_indices() {
            sent += drive.text(letter.encode_utf8(&mut [0; 4])).len();
            assert!(at - sent.min(at) <= 1_028, "{} held", at - sent);
        }
    }
}

#[test]
fn disguises_are_read_in_replies_too() {
    use base64::Engine as _;
    let blob = base64::prelude::BASE64_STANDARD.encode("ssn 123-45-6789 is it");
    let mut map = PlaceholderMap::default();
    assert_eq!(
        redacted(
            &format!("see {blob} or Ann%20Poe or Ja\u{200b}ne Doe"),
            &mut map
        ),
        "see [SSN_1] or [NAME_1] or [NAME_2]"
    );
}

/// A driver's NUL and half of a character arrive so, wherever a reply is cut.
#[test]
fn what_stands_for_no_character_divides_no_value() {
    for mark in ['\0', '\u{fffd}'] {
        let said = ["SSN 123-4", "5-6789 of Ja", "ne Doe, then more of it "];
        let text = said.join(&mark.to_string());
        let whole: Vec<&str> = text.split_inclusive("").collect();
        for pieces in [vec![&*text], text.split_inclusive(mark).collect(), whole] {
            let mut map = PlaceholderMap::default();
            let mut drive = Drive::new(&mut map);
            let mut out: String = pieces.iter().map(|piece| drive.text(piece)).collect();
            out += &joined(drive.finish());
            assert_eq!(
                out, "SSN [SSN_1] of [NAME_1], then more of it ",
                "{pieces:?}"
            );
        }
    }
    for mark in ["\u{fffd}", "\\ufffd"] {
        let arguments = format!(r#"{{"ssn":"123-4{mark}5-6789","of":"Ja{mark}ne Doe"}}"#);
        for size in [1, 7, arguments.len()] {
            let letters: Vec<char> = arguments.chars().collect();
            let pieces: Vec<String> = letters.chunks(size).map(String::from_iter).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let mut map = PlaceholderMap::default();
            let out = redacted_arguments(&pieces, &mut map);
            assert_eq!(out, r#"{"ssn":"[SSN_1]","of":"[NAME_1]"}"#);
        }
    }
}

#[test]
fn the_model_cannot_take_a_number() {
    let mut map = PlaceholderMap::default();
    let sent = redacted("[NAME_1] is no one, but Ann Poe is.", &mut map);
    assert_eq!(sent, "[NAME_1] is no one, but [NAME_2] is.");
}

#[test]
fn a_number_of_json_in_prose_becomes_a_string() {
    let text = "So: {\"n\": 4111222333.0, \"m\":[1,4111222333], \"s\": \"4111222333\"} 4111222333";
    let expected =
        "So: {\"n\": \"[PHONE_1]\", \"m\":[1,\"[PHONE_1]\"], \"s\": \"[PHONE_1]\"} [PHONE_1]";
    assert_eq!(redacted(text, &mut PlaceholderMap::default()), expected);
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map);
    let pieces: String = text
        .chars()
        .map(|letter| drive.text(letter.encode_utf8(&mut [0; 4])))
        .collect();
    assert_eq!(pieces + &joined(drive.finish()), expected);
}

/// A finding may begin in a number that another one has replaced, and end behind it: nothing goes out as it was.
#[test]
fn findings_that_share_a_number_of_json_all_go() {
    let values: Values<'_> = &[("PHONE", "4111222333"), ("SSN", "99, 55")];
    let mut map = PlaceholderMap::default();
    let mut redactor = redactor_after("", &map);
    redactor.push(ChatEvent::Text("{\"n\": [411122233399, 55, 6]}".into()));
    redactor.finish();
    let mut sent = String::new();
    while let Some(step) = redactor.step() {
        match step {
            Step::Send(event) => sent += &joined(vec![event]),
            Step::Scan(scan) => {
                let (text, _) = scan.reading();
                let found = merge(&scan, &candidates(text, values), |_, _| true);
                redactor.found(&scan, found, &mut map).unwrap();
            }
        }
    }
    assert_eq!(sent, "{\"n\": [\"[PHONE_1]\"[SSN_1], 6]}");
}

#[test]
fn arguments_stay_json_and_lose_new_values() {
    let mut map = PlaceholderMap::default();
    let text = json!({
        "who": "Jane Doe", "Ann Poe": [4_111_222_333_u64, -1.5e3, true, null, 12],
        "note": "say \"hi\"\nto Jane Doe \u{1d11e}",
    })
    .to_string()
    .replace('𝄞', "\\ud834\\udd1e");
    let sent = redacted_arguments(&[&text], &mut map);
    let parsed: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(
        parsed,
        json!({
            "who": "[NAME_1]", "[NAME_2]": ["[PHONE_1]", -1.5e3, true, null, 12],
            "note": "say \"hi\"\nto [NAME_1] \u{1d11e}",
        })
    );
    // What stays keeps its spelling.
    assert!(sent.contains("-1500.0") && sent.contains("\\ud834\\udd1e"));
    assert_eq!(
        redacted_arguments(&[r#"{"n":"Jane\u0020Doe"}"#], &mut map),
        r#"{"n":"[NAME_1]"}"#
    );
    for text in [
        "",
        "{}",
        r#"{"a":"#,
        r#"{"a":"b\u00"#,
        "nonsense",
        r#"{"a":1"#,
    ] {
        assert_eq!(redacted_arguments(&[text], &mut map), text);
    }
}

#[test]
fn words_outside_of_strings_lose_new_values_too() {
    for (text, expected) in [
        (
            "{'who': 'Jane Doe', n: 123-45-6789, ok: true}",
            "{'who': '[NAME_1]', n: \"[SSN_1]\", ok: true}",
        ),
        ("Jane Doe is 4111222333", "[NAME_1] is [PHONE_1]"),
        ("{\"who\": Ann Poe", "{\"who\": [NAME_1]"),
        (
            r#"{"a": true , "b":[null,false], "c": -1.5e3}"#,
            r#"{"a": true , "b":[null,false], "c": -1.5e3}"#,
        ),
    ] {
        let sent = redacted_arguments(&[text], &mut PlaceholderMap::default());
        assert_eq!(sent, expected);
        let mut letters = [0; 4];
        let letters: Vec<String> = text
            .chars()
            .map(|letter| letter.encode_utf8(&mut letters).to_owned())
            .collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        let sent = redacted_arguments(&letters, &mut PlaceholderMap::default());
        assert_eq!(sent, expected, "letter by letter");
    }
}

#[test]
fn a_long_string_is_judged_in_parts() {
    let filler = "word ".repeat(400);
    let text = json!({"a": format!("{filler}Jane Doe {filler}"), "b": SSN}).to_string();
    let mut map = PlaceholderMap::default();
    assert_eq!(
        redacted_arguments(&[&text], &mut map),
        text.replace("Jane Doe", "[NAME_1]").replace(SSN, "[SSN_1]")
    );
}

#[test]
fn channels_are_judged_apart_and_in_order() {
    let delta = |index, fragment: &str| ChatEvent::ToolCallDelta {
        index,
        fragment: fragment.into(),
    };
    let start = |index| ChatEvent::ToolCallStart {
        index,
        id: "i".into(),
        name: "f".into(),
    };
    let events = [
        ChatEvent::Reasoning("it is Jane".into()),
        ChatEvent::Text(" Doe or Jane".into()),
        ChatEvent::KeepAlive,
        ChatEvent::Text(" Doe".into()),
        start(0),
        start(1),
        delta(0, r#"{"a":"Jane"#),
        delta(1, r#"{"b":"123-45-"#),
        delta(0, r#" Doe"}"#),
        delta(1, r#"6789"}"#),
        ChatEvent::ToolCallEnd { index: 0 },
        ChatEvent::Text("bye Ann Poe".into()),
        ChatEvent::Finished(Finish {
            reason: FinishReason::Stop,
            raw: "stop".into(),
            stop_sequence: None,
            refused_category: None,
        }),
    ];
    let mut map = PlaceholderMap::default();
    let mut drive = Drive::new(&mut map);
    let out: Vec<ChatEvent> = events
        .into_iter()
        .flat_map(|event| drive.push(event))
        .collect();
    let words: Vec<String> = out
        .iter()
        .map(|event| match event {
            ChatEvent::Text(text) => format!("text {text}"),
            ChatEvent::Reasoning(text) => format!("reasoning {text}"),
            ChatEvent::ToolCallStart { index, .. } => format!("start {index}"),
            ChatEvent::ToolCallDelta { index, fragment } => format!("delta {index} {fragment}"),
            ChatEvent::ToolCallEnd { index } => format!("end {index}"),
            ChatEvent::Finished(_) => "finished".into(),
            _ => "other".into(),
        })
        .collect();
    assert_eq!(
        words,
        [
            "reasoning it ",
            "reasoning is Jane",
            "other",
            "text  Doe or [NAME_1]",
            "start 0",
            "start 1",
            r#"delta 0 {"a":"[NAME_1]"}"#,
            "end 0",
            "text bye [NAME_2]",
            r#"delta 1 {"b":"[SSN_1]"}"#,
            "finished",
        ]
    );
    let mut builder = ReplyBuilder::default();
    out.iter().for_each(|event| builder.push(event));
    assert!(builder.finish().is_ok());
}

fn reply() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("Jane Doe"),
        Just("Ann Poe"),
        Just(SSN),
        Just("May 5, 2024"),
        Just("4111222333"),
        Just("[NAME_1]"),
        Just("[name 2]"),
        Just("[SSN_"),
        Just("The "),
        Just("Hello"),
        Just("the "),
        Just("patient "),
        Just("Mr. "),
        Just("I'm "),
        Just(" "),
        Just(" "),
        Just("\n"),
        Just(". "),
        Just(", "),
        Just("é"),
        Just("患者"),
        Just("Jane%20Doe"),
        Just("MTIzLTQ1LTY3ODk="),
        Just("\""),
        Just("\\"),
        Just("a quite ordinary run of words that goes on for some time and then stops "),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn pieces<'t>(text: &'t str, cuts: &[usize]) -> Vec<&'t str> {
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(*cut))
        .collect();
    cuts.sort_unstable();
    let mut from = 0;
    cuts.into_iter()
        .chain([text.len()])
        .map(|cut| text.get(std::mem::replace(&mut from, cut)..cut).unwrap())
        .collect()
}

proptest! {
    #[test]
    fn any_arrival_gives_the_same_text(
        text in reply(), cuts in prop::collection::vec(0_usize..200, 0..10),
    ) {
        let mut whole_map = PlaceholderMap::default();
        let whole = redacted(&text, &mut whole_map);
        let mut map = PlaceholderMap::default();
        let mut drive = Drive::new(&mut map);
        let mut pieced: String = pieces(&text, &cuts).into_iter().map(|piece| drive.text(piece)).collect();
        pieced.push_str(&joined(drive.finish()));
        prop_assert_eq!(&pieced, &whole);
        prop_assert!(map == whole_map);
        let mut single_map = PlaceholderMap::default();
        let mut drive = Drive::new(&mut single_map);
        let mut single: String = text.chars().map(|c| drive.text(c.encode_utf8(&mut [0; 4]))).collect();
        single.push_str(&joined(drive.finish()));
        prop_assert_eq!(&single, &whole);
    }

    #[test]
    fn any_arrival_gives_the_same_arguments(
        texts in prop::collection::vec(reply(), 1..5), cuts in prop::collection::vec(0_usize..400, 0..10),
    ) {
        let text = json!({"list": texts, "n": 4_111_222_333_u64}).to_string();
        let whole = redacted_arguments(&[&text], &mut PlaceholderMap::default());
        let pieced = redacted_arguments(&pieces(&text, &cuts), &mut PlaceholderMap::default());
        prop_assert_eq!(&pieced, &whole);
        let parsed: Value = serde_json::from_str(&whole).unwrap();
        for text in parsed["list"].as_array().unwrap() {
            let text = text.as_str().unwrap();
            prop_assert!(!VALUES.iter().any(|(_, value)| text.contains(value)), "{text}");
        }
    }

    #[test]
    fn no_value_survives_in_text(text in reply()) {
        let sent = redacted(&text, &mut PlaceholderMap::default());
        prop_assert!(!VALUES.iter().any(|(_, value)| sent.contains(value)), "{sent}");
    }
}
