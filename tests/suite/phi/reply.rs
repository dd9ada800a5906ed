//! What a model states by itself: taken out of its reply, streamed or not, and out of what is stored.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::policies::Policies;
use svc_tests::sse;
use svc_tests::world::World;

use super::{PLANTED, core, ran};
use crate::engines::on_sqlite;

on_sqlite! {
    new_values_never_reach_the_caller,
    tool_arguments_lose_new_values,
    what_no_text_may_hold_divides_no_value,
    a_tool_of_the_provider_is_told_without_values,
    plain_words_are_not_waited_for,
    disguised_values_do_not_reach_the_provider,
    what_reads_like_an_escape_is_no_part_of_a_value,
}

/// Every planted value in one text, in pieces that cut through them.
fn statement() -> (String, Vec<String>) {
    let text: String = PLANTED
        .iter()
        .map(|(_, value)| format!("Please note {value} for the chart, and go on.\n"))
        .collect();
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(7).map(|piece| piece.iter().collect());
    (text.clone(), pieces.collect())
}

async fn new_values_never_reach_the_caller(world: &World) {
    let organization = world.organization();
    let (text, pieces) = statement();
    let expected = PLANTED.iter().fold(text, |text, (kind, value)| {
        text.replace(core(value), &format!("[{kind}_1]"))
    });
    let mark = mark();
    let scripted = json!({"contains": mark, "text_chunks": pieces});
    world.fake.expect(scripted.clone()).await;
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await
        .rest()
        .await;
    assert_eq!(sse::text_of(&events), expected);
    let last = &events.last().unwrap().data;
    // What the request held is counted, and nothing of the reply was restored.
    assert_eq!(last["phi"]["redacted"], 0);
    assert_eq!(last["phi"]["restored"], 0);
    world.fake.expect(scripted).await;
    let whole = world
        .gateway
        .chat(&organization.key, json!({"message": mark}))
        .await
        .json();
    assert_eq!(whole["data"]["message"]["content"], expected);
    for (kind, _) in PLANTED {
        let sample = ["kind", "action"].map(|name| match name {
            "kind" => format!("kind=\"{kind}\""),
            _ => "action=\"redacted_in_reply\"".to_owned(),
        });
        let labels = [sample[0].as_str(), sample[1].as_str()];
        let count = world
            .gateway
            .metric_sum("svc_phi_entities_total", &labels)
            .await;
        assert!(count >= 2.0, "{kind}: {count}");
    }
}

async fn tool_arguments_lose_new_values(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let (_, ssn) = PLANTED[0];
    let input = json!({"note": format!("ssn {ssn}"), "again": [ssn], "count": 12});
    world
        .fake
        .expect(json!({"contains": mark, "tools": [{"name": "file", "input": input}]}))
        .await;
    let tool =
        json!({"name": "file", "description": "files a note", "input_schema": {"type": "object"}});
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark, "tools": [tool]}))
        .await
        .json();
    let arguments: &Value = &answer["data"]["message"]["tool_calls"][0]["arguments"];
    assert_eq!(
        arguments,
        &json!({"note": "ssn [SSN_1]", "again": ["[SSN_1]"], "count": 12})
    );
}

/// NUL, half of a character, and what the gateway puts in their place.
async fn what_no_text_may_hold_divides_no_value(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let tool = json!({"name": "file", "input_schema": {"type": "object"}});
    for divider in ["\0", "\u{fffd}"] {
        for streamed in [true, false] {
            let mark = mark();
            let pieces = [
                "SSN 536-2".to_owned(),
                format!("{divider}2-87"),
                divider.to_owned(),
                "14, patient Maria Lo".to_owned(),
                format!("{divider}pez was here"),
            ];
            let input = json!({"note": format!("SSN 536-2{divider}2-8714")});
            let order = json!({
                "contains": mark, "text_chunks": pieces, "thinking": pieces.concat(),
                "tools": [{"name": "file", "input": input}],
            });
            world.fake.expect(order).await;
            let body = json!({"message": mark, "stream": streamed, "tools": [tool]});
            let answer = world.gateway.chat(key, body).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let shown = answer.text();
            for left in ["536-2", "8714", "2-87", "pez"] {
                assert!(!shown.contains(left), "{divider:?} {left}: {shown}");
            }
            assert!(shown.contains("[SSN_1]"), "{shown}");
        }
    }
    // The same in a request.
    let mark = mark();
    let said = format!("{mark} SSN: 536-2\u{fffd}2-8714");
    world.gateway.chat(key, json!({"message": said})).await;
    let seen = world.fake.received(&mark).await["body"].to_string();
    assert!(seen.contains("[SSN_1]") && !seen.contains("8714"), "{seen}");
}

/// What it is called and what it was called for may be anything that the provider was told.
async fn a_tool_of_the_provider_is_told_without_values(world: &World) {
    let organization = world.organization();
    let own_id = "srvtoolu_01A9bC3dE5fG7hJ9kLmNpQrS";
    let (_, ssn) = PLANTED[0];
    let value = core(ssn);
    for (kind, id, told) in [
        ("web_search", own_id, json!(["web_search", own_id])),
        (value, "toolu_1", json!(["other", "toolu_1"])),
        ("web_search", value, json!(["web_search", null])),
    ] {
        let mark = mark();
        let order = json!({"contains": mark, "raw_body": ran(kind, id), "content_type": "text/event-stream"});
        world.fake.expect(order).await;
        let events = world
            .gateway
            .stream(&organization.key, json!({"message": mark}))
            .await
            .rest()
            .await;
        let ran = events
            .iter()
            .find(|event| event.name == "provider_tool.completed")
            .unwrap_or_else(|| panic!("{:?}", sse::names(&events)));
        assert_eq!(ran.data["tool_type"], told[0]);
        match told[1].as_str() {
            Some(id) => assert_eq!(ran.data["item_id"], id),
            None => {
                let id = ran.data["item_id"].as_str().unwrap();
                assert!(id.starts_with("call_") && !id.contains(value), "{id}");
            }
        }
    }
}

/// An assistant that books appointments: with `replies_may_hold`, a tool gets the date that the model chose. What somebody
/// has said before, birthdays, and other kinds still go.
#[tokio::test]
async fn a_model_may_state_dates_where_the_operator_lets_it() {
    let policies = Policies::copy();
    policies.edit("phi.toml", "# replies_may_hold", "replies_may_hold");
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();
    let mark = mark();
    let (_, ssn) = PLANTED[0];
    let arguments = json!({"on": "2031-05-14", "date_of_birth": "1962-08-09", "ssn": ssn});
    let order = json!({
        "contains": mark, "times": 2, "tools": [{"name": "book", "input": arguments}],
        "text": "Booked for May 14, 2031. The patient was born on August 9, 1962.\n",
    });
    world.fake.expect(order).await;
    let tool = json!({"name": "book", "description": "books", "input_schema": {"type": "object"}});
    let body = json!({"message": format!("{mark} next Wednesday, please"), "tools": [tool]});
    let kept = "Booked for May 14, 2031. The patient was born on [DATE_1].\n";
    let answer = world.gateway.chat(&organization.key, body.clone()).await;
    let message = answer.json()["data"]["message"].clone();
    assert_eq!(message["content"], kept);
    let arguments = &message["tool_calls"][0]["arguments"];
    assert_eq!(arguments["on"], "2031-05-14");
    let birth = arguments["date_of_birth"].to_string();
    let number = arguments["ssn"].to_string();
    assert!(birth.contains("[DATE_"), "{birth}");
    assert!(number.contains("[SSN_"), "{number}");
    let events = world.gateway.stream(&organization.key, body).await;
    assert_eq!(sse::text_of(&events.rest().await), kept);
}

/// The provider stalls behind its first words; the caller has them.
async fn plain_words_are_not_waited_for(world: &World) {
    let organization = world.organization();
    for first in ["Hello", "The patient ", "metformin is ", "はい。"] {
        let mark = mark();
        world
            .fake
            .expect(json!({
                "contains": mark, "text_chunks": [first, " and", " so", " on"], "stall_after_events": 4,
            }))
            .await;
        let mut stream = world
            .gateway
            .stream(&organization.key, json!({"message": mark}))
            .await;
        let shown = stream.until("message.delta").await;
        let text = shown.data["text"].as_str().unwrap_or_default();
        assert!(first.starts_with(text) && !text.is_empty(), "{text:?}");
    }
}

/// Forms that a model reads without effort.
async fn disguised_values_do_not_reach_the_provider(world: &World) {
    let organization = world.organization();
    let (_, ssn) = PLANTED[0];
    let letters = |form: fn(char) -> String| ssn.chars().map(form).collect::<String>();
    let hex: String = letters(|letter| format!("{:02x}", u32::from(letter)));
    for form in [
        letters(|letter| format!("{letter}\u{200b}")),
        letters(|letter| format!("%{:02x}", u32::from(letter))),
        letters(|letter| format!("&#{};", u32::from(letter))),
        letters(|letter| format!("\\u{:04x}", u32::from(letter))),
        letters(|letter| format!("{letter} ")).trim_end().to_owned(),
        // "my SSN is 536-22-8714 ok" in base64.
        "bXkgU1NOIGlzIDUzNi0yMi04NzE0IG9r".to_owned(),
        hex,
    ] {
        let mark = mark();
        let said = format!("{mark} SSN: {form}");
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": said}))
            .await
            .json();
        let seen = world.fake.received(&mark).await["body"].to_string();
        assert!(seen.contains("[SSN_1]"), "{form}: {seen}");
        assert!(!seen.contains(core(ssn)) && !seen.contains(&form), "{seen}");
        // The caller sees what it said.
        assert_eq!(
            answer["data"]["message"]["content"],
            format!("You said: {said}")
        );
    }
}

async fn what_reads_like_an_escape_is_no_part_of_a_value(world: &World) {
    let organization = world.organization();
    for text in [
        r#"{"letter": "Dear Patient,\n\nThank you for coming.\n\nSincerely,\nYour Care Team"}"#,
        r#"{"titulo": "Gu\u00eda de alimentaci\u00f3n", "otro": "\u201cEat well\u201d \u2014 menu"}"#,
        r"The angle is $\theta \times \tau$ with $\nu \rho$.",
        "Search for ?q=hello%20world%21 in the index.",
    ] {
        let mark = mark();
        let scripted = json!({"contains": mark, "text": text});
        world.fake.expect(scripted).await;
        let whole = world
            .gateway
            .chat(&organization.key, json!({"message": mark}))
            .await
            .json();
        assert_eq!(whole["data"]["message"]["content"], text);
    }
    let mark = mark();
    let note = r#"{"note": "Patient: Maria Lopez\nDOB: 1961-03-14\nMRN: 4471982\nPlan: rest"}"#;
    let message = format!("{note} {mark}");
    world
        .gateway
        .chat(&organization.key, json!({"message": message}))
        .await;
    let sent = world.fake.received(&mark).await["body"].to_string();
    let expected = r#"{"note": "Patient: [NAME_1]\nDOB: [DATE_1]\nMRN: [MRN_1]\nPlan: rest"}"#;
    let expected = Value::from(expected).to_string();
    assert!(sent.contains(expected.trim_matches('"')), "{sent}");
}
