//! Mode `redact`: the provider sees placeholders, the caller sees what it said.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::gateway::chat;
use svc_tests::organization::set_system_prompt;
use svc_tests::sse::{self, Events};
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{PLANTED, core};
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    a_conversation_keeps_its_placeholders,
    a_conversation_knows_its_people_by_every_name,
    tool_arguments_in_the_history_stay_hidden,
    parts_of_a_name_are_known_in_later_turns,
}

on_sqlite! {
    every_kind_is_replaced_and_restored,
    every_position_is_guarded,
    numbers_are_guarded_too,
    values_of_arguments_are_known_by_what_stands_above_them,
    a_long_line_is_read_in_time,
    an_answer_is_read_with_its_question,
    other_languages_and_scripts_are_guarded,
    placeholders_split_over_events_are_restored,
    placeholders_of_the_callers_own_are_no_keys,
    the_header_counts_kinds_before_the_first_byte,
    the_system_prompt_is_not_given_away,
    tools_get_the_system_prompt_of_their_own_program,
}

/// Asserts that nothing planted is in what the provider got.
fn clean(sent: &Value) {
    let text = sent.to_string();
    for (kind, value) in PLANTED {
        assert!(
            !text.contains(core(value)),
            "the provider saw a {kind}: {text}"
        );
    }
}

async fn every_kind_is_replaced_and_restored(world: &World) {
    let organization = world.organization();
    for (kind, value) in PLANTED {
        let mark = mark();
        let said = format!("{mark} please note {value} for the chart");
        let events = world
            .gateway
            .stream(&organization.key, json!({"message": said}))
            .await;
        let header = events.reply().header("svc-phi-entities").map(str::to_owned);
        let events = events.rest().await;
        let seen = world.fake.received(&mark).await["body"].clone();
        clean(&seen);
        assert!(
            seen.to_string().contains(&format!("[{kind}_1]")),
            "{kind}: {seen}"
        );
        assert_eq!(sse::text_of(&events), format!("You said: {said}"), "{kind}");
        let completed = &events.last().unwrap().data;
        let phi = json!({"mode": "redact", "redacted": 1, "entity_types": [kind], "restored": 1});
        assert_eq!(completed["phi"], phi);
        assert_eq!(header.as_deref(), Some(format!("{kind}=1").as_str()));
        // Unstreamed, it is the same.
        let whole = world
            .gateway
            .chat(&organization.key, json!({"message": said}))
            .await
            .json();
        assert_eq!(
            whole["data"]["message"]["content"],
            format!("You said: {said}")
        );
        assert_eq!(whole["meta"]["phi"], phi);
    }
}

async fn every_position_is_guarded(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let all: String = PLANTED
        .iter()
        .map(|(_, value)| format!("{value}; "))
        .collect();
    let open =
        json!({"contains": mark, "tools": [{"name": "look", "input": {"q": "x"}, "id": "call-1"}]});
    world.fake.expect(open).await;
    let tools = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    let body = json!({"message": format!("{mark} {all}"), "system": format!("Chart of {all}"), "tools": tools});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let first = world.fake.received(&mark).await["body"].clone();
    clean(&first);
    let result = svc_tests::fake::mark();
    let body = json!({
        "conversation_id": answer.json()["data"]["conversation_id"], "tools": tools, "message": format!("and {all}"),
        "tool_results": [{"tool_call_id": "call-1", "content": [{"type": "text", "text": format!("{result} {all}")}]}],
    });
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    clean(&world.fake.received(&result).await["body"]);
}

async fn other_languages_and_scripts_are_guarded(world: &World) {
    let organization = world.organization();
    for (said, hidden) in [
        (
            "Die Patientin Frau Hannelore Brückmann wohnt in Würzburg und kommt am 27. November wieder zur Kontrolle.",
            &["Brückmann", "Würzburg", "27"][..],
        ),
        (
            "Pacjentka Grażyna Wiśniewska zgłosiła się 3 maja z bólem głowy, proszę o skierowanie do neurologa.",
            &["Wiśniewska", "3 maja"],
        ),
        (
            "Пациентка Иванова Мария поступила 3 мая с жалобами на боль в груди, телефон 8 910 555-01-42.",
            &["Иванова", "Мария", "910"],
        ),
        (
            "患者王秀英，女，67岁，住址：北京市朝阳区建国路88号，电话13800138000，2024年3月5日因胸痛入院。",
            &["王秀英", "13800138000", "3月5日"],
        ),
        (
            "المريضة فاطمة حسن العلي راجعت العيادة بسبب ألم في الصدر، رقم الهاتف 0501234567.",
            &["فاطمة", "0501234567"],
        ),
    ] {
        let mark = mark();
        let body = json!({"message": format!("{mark} {said}")});
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = world.fake.received(&mark).await["body"].to_string();
        for value in hidden {
            assert!(!sent.contains(value), "{value}: {sent}");
        }
        assert_eq!(
            answer.json()["data"]["message"]["content"],
            format!("You said: {mark} {said}")
        );
    }
}

/// Earlier turns are stored with placeholders: a part of a name that stood in them is known all the same.
async fn a_conversation_knows_its_people_by_every_name(world: &World) {
    let organization = world.organization();
    for (told, again, hidden) in [
        (
            "Patient: Thomas Hernandez, SSN 536-22-8714.",
            "Hernandez tolerated PT; thomas is tired",
            "[NAME_2] tolerated PT; [NAME_3] is tired",
        ),
        (
            "The patient is Mr. Okonkwo.",
            "okonkwo is ok; give Okonkwo lasix",
            "[NAME_1] is ok; give [NAME_1] lasix",
        ),
    ] {
        let body = json!({"message": told});
        let answer = world.gateway.chat(&organization.key, body).await;
        let conversation = answer.json()["data"]["conversation_id"].clone();
        let mark = mark();
        let body = json!({"message": format!("{mark}. {again}"), "conversation_id": conversation});
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = world.fake.received(&mark).await["body"].to_string();
        assert!(sent.contains(&format!("{mark}. {hidden}")), "{sent}");
        let said = answer.json()["data"]["message"]["content"].to_string();
        // As they were first written.
        assert!(
            said.to_lowercase().contains(&again.to_lowercase()),
            "{said}"
        );
    }
}

/// A detector that has read a whole name behind its label knows parts of it, also in a later turn.
async fn parts_of_a_name_are_known_in_later_turns(world: &World) {
    let organization = world.organization();
    for (first, then, parts) in [
        (
            "Patient name: Xuereb Quux, here for a check",
            "Quux reports pain. what about quux and Xuereb?",
            &["Quux", "quux", "Xuereb"][..],
        ),
        (
            "Name: Zelig Brandt",
            "Brandt feels worse. Zelig slept.",
            &["Brandt", "Zelig"],
        ),
    ] {
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": first}))
            .await;
        let mark = mark();
        let body = json!({
            "conversation_id": answer.json()["data"]["conversation_id"],
            "message": format!("{mark}: {then}"),
        });
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = world.fake.received(&mark).await["body"]["messages"].to_string();
        for part in parts {
            assert!(!sent.contains(part), "{part} in {sent}");
        }
    }
}

/// What the model put into a call comes back in the history, still hidden from it.
async fn tool_arguments_in_the_history_stay_hidden(world: &World) {
    let organization = world.organization();
    let (first, second) = (mark(), mark());
    let input = json!({"ssn": "[SSN_1]", "deep": [{"note": "call [PHONE_1]"}]});
    let call = json!([{"name": "look", "input": input, "id": "call-7"}]);
    world
        .fake
        .expect(json!({"contains": first, "tools": call}))
        .await;
    let tools = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    let said = format!("{first} SSN 536-22-8714, phone (415) 823-4467");
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": said, "tools": tools}))
        .await
        .rest()
        .await;
    let call = events
        .iter()
        .find(|event| event.name == "tool_call")
        .expect("a call");
    let restored = json!({"ssn": "536-22-8714", "deep": [{"note": "call (415) 823-4467"}]});
    assert_eq!(call.data["arguments"], restored);
    let body = json!({
        "conversation_id": events[0].data["conversation_id"], "tools": tools,
        "tool_results": [{"tool_call_id": "call-7", "content": format!("{second} for 536-22-8714")}],
    });
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = world.fake.received(&second).await["body"]["messages"].clone();
    clean(&sent);
    assert_eq!(sent[1]["content"][0]["input"], input, "{sent:#}");
    assert!(sent[2].to_string().contains("[SSN_1]"), "{sent:#}");
    assert_eq!(
        answer.json()["data"]["message"]["content"],
        format!("The tool answered: {second} for 536-22-8714")
    );
}

async fn numbers_are_guarded_too(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let call =
        json!([{"name": "look", "input": {"card": 4_539_148_803_436_467_u64}, "id": "call-1"}]);
    world
        .fake
        .expect(json!({"contains": mark, "tools": call}))
        .await;
    let tools = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark, "tools": tools}))
        .await
        .json();
    let second = svc_tests::fake::mark();
    let body = json!({
        "conversation_id": answer["data"]["conversation_id"], "tools": tools,
        "tool_results": [{"tool_call_id": "call-1", "content": second}],
    });
    assert_eq!(
        world.gateway.chat(&organization.key, body).await.status,
        200
    );
    let sent = world.fake.received(&second).await["body"].to_string();
    assert!(!sent.contains("4539148803436467"), "{sent}");
}

/// Each value is known by a key that is not the text right in front of it.
async fn values_of_arguments_are_known_by_what_stands_above_them(world: &World) {
    let organization = world.organization();
    for (input, values) in [
        (
            json!({"mrn": ["1234567", "7654321"]}),
            &["1234567", "7654321"][..],
        ),
        (json!({"mrns": [1_234_567, 7_654_321]}), &["7654321"]),
        (json!({"ssn": {"number": "536228714"}}), &["536228714"]),
        (
            json!({"ssn": {"type": "string", "value": "536228714"}}),
            &["536228714"],
        ),
        (json!({"phone": {"home": "4158234467"}}), &["4158234467"]),
        (
            json!({"account_number": ["88120394", "77120393"]}),
            &["88120394", "77120393"],
        ),
        (
            json!({"patient": ["Adaeze Okafor", "Chidi Obi"]}),
            &["Okafor", "Chidi"],
        ),
        (
            json!({"address": ["12 Maple Street", "Springfield", "IL", "62704"]}),
            &["Maple", "62704"],
        ),
        // With its colon: identifiers have such digits by chance.
        (json!({"age": 93}), &[":93", ": 93"]),
        // Behind a text that is longer than what is read at once, with quotes in it.
        (
            json!({"note": "a 6\" cut ".repeat(99), "mrn": ["1234567", "7654321"]}),
            &["1234567", "7654321"],
        ),
        (
            json!({"columns": ["ssn", "name"], "rows": [["536228714", "x"]]}),
            &["536228714"],
        ),
    ] {
        let mark = mark();
        let body = json!({
            "model": "alpha-sonnet-4-6", "max_tokens": 99,
            "tools": [{"name": "look", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": input}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": mark}]},
            ],
        });
        let request = Request::new("POST", "/v1/messages")
            .bearer(&organization.key)
            .json(&body);
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = world.fake.received(&mark).await["body"]["messages"][1].to_string();
        for value in values {
            assert!(!sent.contains(value), "{sent}");
        }
        // The same of the model's own, whole and in a stream.
        for stream in [false, true] {
            let mark = svc_tests::fake::mark();
            let call = json!([{"name": "look", "input": input}]);
            world
                .fake
                .expect(json!({"contains": mark, "tools": call}))
                .await;
            let body = json!({
                "model": "alpha-sonnet-4-6", "max_tokens": 99, "stream": stream,
                "tools": [{"name": "look", "input_schema": {"type": "object"}}],
                "messages": [{"role": "user", "content": mark}],
            });
            let request = Request::new("POST", "/v1/messages")
                .bearer(&organization.key)
                .json(&body);
            let answer = world.gateway.answer(&request).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            for value in values {
                assert!(!answer.text().contains(value), "{}", answer.text());
            }
        }
    }
}

/// As long as a detector reads at once, without a break: what is on a line is not read again for each of its words.
async fn a_long_line_is_read_in_time(world: &World) {
    let organization = world.organization();
    let sentence = "the patient was seen in clinic today and reported feeling much better. ";
    for line in [
        sentence.repeat(5_000),
        sentence.to_uppercase().repeat(5_000),
    ] {
        let said = format!("{line} {}", mark());
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": said, "stream": false}))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

async fn an_answer_is_read_with_its_question(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let body = json!({"model": "alpha-sonnet-4-6", "max_tokens": 64, "messages": [
        {"role": "user", "content": mark},
        {"role": "assistant", "content": "Welcome! **What is your MRN?**"},
        {"role": "user", "content": "It's 4471223, I think."},
        {"role": "assistant", "content": "Please tell me your name, date of birth and member ID."},
        {"role": "user", "content": [{"type": "text", "text": "Zofia Kaczmarek, 3/4/61, 88213004"}]},
        {"role": "assistant", "content": "How many tablets?"},
        {"role": "user", "content": "4471224"},
    ]});
    let request = Request::new("POST", "/v1/messages")
        .bearer(&organization.key)
        .json(&body);
    assert_eq!(world.gateway.answer(&request).await.status, 200);
    let sent = world.fake.received(&mark).await["body"].to_string();
    for text in [
        "It's [MRN_1], I think.",
        "[NAME_1], [DATE_1], [HEALTH_PLAN_ID_1]",
        "4471224",
    ] {
        assert!(sent.contains(text), "{text}: {sent}");
    }
}

async fn a_conversation_keeps_its_placeholders(world: &World) {
    let organization = world.organization();
    let marks = [mark(), mark(), mark()];
    let turns = [
        "SSN 536-22-8714",
        "SSN 441-08-2257",
        "which one, 536-22-8714 or 441-08-2257",
    ];
    let mut conversation = Value::Null;
    for (mark, turn) in marks.iter().zip(turns) {
        let said = format!("{mark} {turn}");
        let mut body = json!({"message": said});
        if !conversation.is_null() {
            body["conversation_id"] = conversation.clone();
        }
        let answer = world.gateway.chat(&organization.key, body).await.json();
        assert_eq!(
            answer["data"]["message"]["content"],
            format!("You said: {said}"),
            "{answer}"
        );
        conversation = answer["data"]["conversation_id"].clone();
        clean(&world.fake.received(mark).await["body"]);
    }
    let sent = world.fake.received(&marks[2]).await["body"]["messages"].to_string();
    assert!(sent.contains("which one, [SSN_1] or [SSN_2]"), "{sent}");
    assert!(
        sent.contains("SSN [SSN_1]") && sent.contains("SSN [SSN_2]"),
        "{sent}"
    );
}

async fn placeholders_split_over_events_are_restored(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let chunks = json!([
        "Call [",
        "PHO",
        "NE",
        "_1",
        "]",
        " or [PHONE_",
        "12] or [Phone_1]",
        " [",
        "x]."
    ]);
    world
        .fake
        .expect(json!({"contains": mark, "text_chunks": chunks}))
        .await;
    let body = json!({"message": format!("{mark} phone (415) 823-4467")});
    let events = world
        .gateway
        .stream(&organization.key, body)
        .await
        .rest()
        .await;
    let text = "Call (415) 823-4467 or [PHONE_12] or (415) 823-4467 [x].";
    assert_eq!(sse::text_of(&events), text);
    // Nothing is held back that cannot become a placeholder: the first words come alone.
    assert_eq!(events[1].data["text"], "Call ");
}

/// What merely looks like a placeholder is text: it never becomes somebody's number.
async fn placeholders_of_the_callers_own_are_no_keys(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let said = format!("{mark} [SSN_1] and SSN 536-22-8714 and [SSN_2]");
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": said}))
        .await
        .rest()
        .await;
    let text = sse::text_of(&events);
    assert_eq!(text.matches("536-22-8714").count(), 1, "{text}");
    clean(&world.fake.received(&mark).await["body"]);
}

async fn the_header_counts_kinds_before_the_first_byte(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let said = format!("{mark} 536-22-8714, 441-08-2257 and mail ruth.aldana@lakeside-mail.org");
    let stream = Events::of(
        world
            .gateway
            .ask(&chat(&organization.key, json!({"message": said})))
            .await,
    );
    assert_eq!(
        stream.reply().header("svc-phi-entities"),
        Some("EMAIL=1,SSN=2")
    );
    let none = Events::of(
        world
            .gateway
            .ask(&chat(
                &organization.key,
                json!({"message": svc_tests::fake::mark()}),
            ))
            .await,
    );
    assert_eq!(none.reply().header("svc-phi-entities"), None);
}

/// Values that only the operator's prompt holds are not for the caller (lessons, 10).
async fn the_system_prompt_is_not_given_away(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "text": "It is [EMAIL_1]."}))
        .await;
    let body = json!({"message": mark, "system": "Escalate to ruth.aldana@lakeside-mail.org"});
    let answer = world.gateway.chat(&organization.key, body).await.json();
    assert_eq!(
        answer["data"]["message"]["content"], "It is [EMAIL_1].",
        "{answer}"
    );
    clean(&world.fake.received(&mark).await["body"]);
}

/// Where an agent works is in its system prompt: its tools must find the files that the model names.
async fn tools_get_the_system_prompt_of_their_own_program(world: &World) {
    const PROMPT: &str = "You are a coding agent. Working directory: /Users/jdelgado/triage";
    for (system, is_restored) in [(Some(PROMPT), true), (None, false)] {
        let organization = world.organization();
        set_system_prompt(&world.gateway, &organization, PROMPT).await;
        let mark = mark();
        let call = json!([{"name": "read", "input": {"path": "/Users/[OTHER_ID_1]/triage/a.py"}}]);
        world
            .fake
            .expect(json!({"contains": mark, "text": "Reading for [OTHER_ID_1].", "tools": call}))
            .await;
        let tools = json!([{"name": "read", "input_schema": {"type": "object"}}]);
        let mut body = json!({"message": mark, "tools": tools});
        if let Some(system) = system {
            body["system"] = json!(system);
        }
        let answer = world.gateway.chat(&organization.key, body).await.json();
        let sent = world.fake.received(&mark).await["body"].to_string();
        assert!(sent.contains("/Users/[OTHER_ID_1]/triage"), "{sent}");
        assert!(!sent.contains("jdelgado"), "{sent}");
        let message = &answer["data"]["message"];
        assert_eq!(message["content"], "Reading for [OTHER_ID_1].");
        let path = if is_restored {
            "/Users/jdelgado/triage/a.py"
        } else {
            "/Users/[OTHER_ID_1]/triage/a.py"
        };
        assert_eq!(message["tool_calls"][0]["arguments"]["path"], path);
    }
}
