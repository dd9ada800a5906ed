//! Organization, usage and budget (contract 8 and 12).

use futures_util::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::patience::eventually;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use super::{call, code, data, key_with};
use crate::engines::on_both_engines;

on_both_engines! {
    settings_are_read_and_changed,
    prompts_that_are_set_at_once_have_their_rows,
    only_ones_own_organization_may_be_named,
    what_holds_in_both_modes_stands_in_the_live_log,
    an_evaluation_ends,
    usage_is_what_the_ledger_says,
    a_lowered_cap_blocks_the_next_request,
    caps_that_are_set_at_once_are_all_kept,
}

async fn settings_are_read_and_changed(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let path = format!("/v1/orgs/{}", organization.id);
    let before = data(world, key, "GET", &path, Value::Null).await;
    assert_eq!(before["phi_mode"], "redact");
    assert_eq!(before["baa_status"], "active");
    assert_eq!(
        before["plan"]["features"],
        json!(["integrations", "webhooks"])
    );
    let slug = before["slug"].as_str().unwrap();
    assert_eq!(
        data(world, key, "GET", &format!("/v1/orgs/{slug}"), Value::Null).await,
        before
    );
    let features = async |wanted: Value| {
        let body = json!({"features": wanted});
        data(world, key, "PATCH", &path, body).await["features"].clone()
    };
    let at_first = json!({"integrations": false, "retrieval": false});
    assert_eq!(before["features"], at_first);
    let on = json!({"integrations": true, "retrieval": false, "webhooks": false});
    let switched = json!({"integrations": true, "webhooks": false});
    assert_eq!(features(switched).await, on);
    let forgotten = json!({"integrations": null, "webhooks": null});
    assert_eq!(features(forgotten).await, at_first);

    let prompt = "You are the intake desk of a clinic.";
    let body = json!({"ai_paused": true, "default_system_prompt": prompt, "retention": {"audit_days": 4000}});
    let changed = call(world, key, "PATCH", &path, body).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let after = changed.json()["data"].clone();
    assert_eq!(after["default_system_prompt"], prompt);
    assert_eq!(
        after["retention"],
        json!({"conversation_days": 365, "audit_days": 4000})
    );
    assert_eq!(after["phi_mode"], "redact");
    let row = books::single(&world.gateway.database, changed.request_id()).await;
    let document = books::document(&row);
    assert_eq!(document["event"], "organization.updated");
    assert_eq!(
        document["details"]["changes"]["ai_paused"],
        json!({"old": false, "new": true})
    );
    assert!(
        !document.to_string().contains(prompt),
        "the prompt's text is in no row"
    );
    assert!(document["details"]["changes"]["default_system_prompt_sha256"]["new"].is_string());
    // Another replica may take two seconds; the one that answered knows at once.
    let chat = async || world.gateway.chat(key, json!({"message": mark()})).await;
    assert_eq!(chat().await.status, 403);
    let cleared = json!({"default_system_prompt": null, "ai_paused": false});
    assert_eq!(
        data(world, key, "PATCH", &path, cleared).await["default_system_prompt"],
        Value::Null
    );
    assert_eq!(chat().await.status, 200);
    for (body, param) in [
        (
            json!({"retention": {"audit_days": 2189}}),
            "retention.audit_days",
        ),
        (json!({"phi_mode": "off"}), "phi_mode"),
        (
            json!({"premium_models_enabled": ["alpha-opus-4-7", "x"]}),
            "premium_models_enabled[1]",
        ),
        (json!({"slug": "mine"}), "slug"),
        (
            json!({"features": {"Retrieval": true}}),
            "features.Retrieval",
        ),
        (
            json!({"features": {"integration": true}}),
            "features.integration",
        ),
        (json!({"features": {"retrieval": 1}}), "features.retrieval"),
        (json!({"features": {"nope": null}}), "features.nope"),
    ] {
        let refused = call(world, key, "PATCH", &path, body.clone()).await;
        assert_eq!(
            (refused.status, refused.json()["error"]["param"].as_str()),
            (422, Some(param)),
            "{body}"
        );
    }
}

/// Each row says what was there before it: nothing is overwritten that no row speaks of.
async fn prompts_that_are_set_at_once_have_their_rows(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let path = format!("/v1/orgs/{}", organization.id);
    for round in 0..4 {
        let prompt = |at: i32| json!({"default_system_prompt": format!("{round}-{at}")});
        let calls = (0..4).map(|at| call(world, key, "PATCH", &path, prompt(at)));
        for answer in join_all(calls).await {
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    }
    let rows = "/v1/audit?event=organization.updated&limit=100";
    let rows = data(world, key, "GET", rows, Value::Null).await;
    let side = |side: &str| {
        let rows = rows.as_array().unwrap().iter();
        let mut values: Vec<String> = rows
            .map(|row| &row["details"]["changes"]["default_system_prompt_sha256"][side])
            .map(|hash| hash.as_str().unwrap_or("none").to_owned())
            .collect();
        values.sort();
        values
    };
    let prompt = data(world, key, "GET", &path, Value::Null).await;
    let prompt = prompt["default_system_prompt"].as_str().unwrap().to_owned();
    // What was set is what was found there by the next, but for the last.
    let mut found = side("old");
    found.push(hex::encode(Sha256::digest(prompt)));
    let mut set = side("new");
    set.push("none".to_owned());
    found.sort();
    set.sort();
    assert_eq!(found, set);
}

async fn only_ones_own_organization_may_be_named(world: &World) {
    let (mine, other) = (world.organization(), world.organization());
    for named in [
        other.id.as_str(),
        "org_00000000000000000000000000",
        "nobody",
    ] {
        let path = format!("/v1/orgs/{named}");
        assert_eq!(
            code(world, &mine.key, "GET", &path, Value::Null, 403).await,
            "ORGANIZATION_MISMATCH"
        );
    }
}

async fn what_holds_in_both_modes_stands_in_the_live_log(world: &World) {
    let organization = world.organization();
    let path = format!("/v1/orgs/{}", organization.id);
    let wanted = json!({"name": "test", "scopes": ["control:org", "control:read"], "mode": "test"});
    let made = data(world, &organization.key, "POST", "/v1/api_keys", wanted).await;
    let test_key = made["key"].as_str().unwrap();
    let changed = call(world, test_key, "PATCH", &path, json!({"ai_paused": true})).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let log = format!("/v1/audit?request_id={}", changed.request_id());
    let rows = data(world, &organization.key, "GET", &log, Value::Null).await;
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["event"], "organization.updated");
    assert_eq!(rows[0]["mode"], "live");
    assert_eq!(rows[0]["actor"]["id"], made["id"]);
}

async fn an_evaluation_ends(world: &World) {
    let organization = world.organization_with(&["--plan", "evaluation"]);
    let path = format!("/v1/orgs/{}", organization.id);
    let plan =
        async || data(world, &organization.key, "GET", &path, Value::Null).await["plan"].clone();
    assert!(plan().await["evaluation_ends_at"].is_string());
    let said = json!({"message": mark(), "stream": false});
    let answer = world.gateway.chat(&organization.key, said.clone()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let set = |arguments: &[&str]| {
        let base = ["admin", "set-plan", "--organization", &organization.id];
        let mut command = world.gateway.command();
        command.args(base).args(arguments);
        command.output().unwrap()
    };
    assert!(
        set(&["--tier", "evaluation", "--evaluation-days", "0"])
            .status
            .success()
    );
    let refused = until(|| world.gateway.chat(&organization.key, said.clone()), 402).await;
    assert_eq!(refused.json()["error"]["code"], "EVALUATION_ACCESS_BLOCKED");
    assert!(
        !set(&["--tier", "premium", "--evaluation-days", "3"])
            .status
            .success()
    );
    assert!(
        set(&["--tier", "premium", "--credits", "12.5"])
            .status
            .success()
    );
    let again = until(|| world.gateway.chat(&organization.key, said.clone()), 200).await;
    assert_eq!(again.status, 200, "{}", again.text());
    let plan = plan().await;
    assert_eq!(
        (&plan["tier"], &plan["monthly_credits"]),
        (&json!("premium"), &json!(12.5))
    );
    let log = "/v1/audit?event=organization.plan_set";
    let rows = data(world, &organization.key, "GET", log, Value::Null).await;
    assert_eq!(rows[0]["details"]["old"]["tier"], "evaluation");
    assert_eq!(rows[0]["details"]["new"]["tier"], "premium");
}

/// Asks until the answer has this status: another process has changed what is asked about, and it is known within two
/// seconds.
async fn until<F: Future<Output = Answer>>(ask: impl Fn() -> F, status: u16) -> Answer {
    let what = format!("an answer of status {status}");
    eventually(&what, async || {
        let answer = ask().await;
        (answer.status == status).then_some(answer)
    })
    .await
}

async fn usage_is_what_the_ledger_says(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for model in ["alpha-sonnet-4-6", "alpha-sonnet-4-6", "alpha-haiku-4-5"] {
        let chat = world
            .gateway
            .chat(key, json!({"message": mark(), "model": model}))
            .await;
        assert_eq!(chat.status, 200, "{}", chat.text());
    }
    let used = data(world, key, "GET", "/v1/usage?group_by=model", Value::Null).await;
    assert_eq!(
        used["requests"],
        json!({"total": 3, "succeeded": 3, "blocked": 0, "failed": 0, "cancelled": 0})
    );
    let lines = used["breakdown"].as_array().unwrap();
    assert_eq!(
        (&lines[0]["model"], &lines[0]["requests"]),
        (&json!("alpha-sonnet-4-6"), &json!(2))
    );
    let sum: f64 = lines
        .iter()
        .map(|line| line["credits"].as_f64().unwrap())
        .sum();
    let total = used["credits_used"].as_f64().unwrap();
    assert!(total > 0.0 && (sum - total).abs() < 1e-9, "{used}");
    // What is left is of this cycle, whichever span is asked for.
    let span = "/v1/usage?from=2025-01-01T00:00:00Z&to=2025-01-02T00:00:00Z";
    let long_ago = data(world, key, "GET", span, Value::Null).await;
    assert_eq!(long_ago["credits_used"], 0);
    assert_eq!(long_ago["credits_remaining"], used["credits_remaining"]);
    let budget = data(world, key, "GET", "/v1/usage/budget", Value::Null).await;
    assert_eq!(budget["current_credits"], used["credits_used"]);
    assert_eq!(budget["current_spend_usd"], used["spend_usd"]);
    for group in ["key", "surface", "day", "agent"] {
        let path = format!("/v1/usage?group_by={group}");
        let lines = data(world, key, "GET", &path, Value::Null).await["breakdown"].clone();
        let expected = usize::from(group != "agent");
        assert_eq!(
            lines.as_array().unwrap().len(),
            expected,
            "{group}: {lines}"
        );
    }
    let empty = "/v1/usage?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z";
    assert_eq!(
        data(world, key, "GET", empty, Value::Null).await["credits_used"],
        0
    );
    let backwards = "/v1/usage?from=2026-01-01T00:00:00Z&to=2020-02-01T00:00:00Z";
    assert_eq!(
        code(world, key, "GET", backwards, Value::Null, 422).await,
        "VALIDATION_FAILED"
    );
    // Of two ends, the one that was sent is to blame.
    for (query, param) in [
        ("from=2100-01-01T00:00:00Z", "$query.from"),
        ("to=2020-01-01T00:00:00Z", "$query.to"),
    ] {
        let path = format!("/v1/usage?{query}");
        let refused = call(world, key, "GET", &path, Value::Null).await;
        let named = refused.json()["error"]["param"].clone();
        assert_eq!((refused.status, named), (422, json!(param)));
    }
    let before_all_years = "/v1/usage?from=0000-01-01T00%3A00%3A00%2B23%3A59";
    assert_eq!(
        code(world, key, "GET", before_all_years, Value::Null, 422).await,
        "VALIDATION_FAILED"
    );
}

async fn a_lowered_cap_blocks_the_next_request(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let path = "/v1/usage/budget";
    // What was left before is remembered for a while.
    let ask = json!({"message": mark(), "stream": false});
    assert_eq!(world.gateway.chat(key, ask).await.status, 200);
    let body = json!({"monthly_credit_cap": 0, "alert_thresholds": [0.25, 1]});
    let changed = call(world, key, "PATCH", path, body).await;
    let budget = changed.json()["data"].clone();
    assert_eq!(
        (
            &budget["monthly_credit_cap"],
            &budget["monthly_spend_cap_usd"]
        ),
        (&json!(0), &Value::Null)
    );
    assert_eq!(budget["alert_thresholds"], json!([0.25, 1]));
    assert_eq!(budget["updated_by"], organization.user_id.as_str());
    let row = books::single(&world.gateway.database, changed.request_id()).await;
    assert_eq!(
        books::document(&row)["details"]["after"]["monthly_credit_cap"],
        0
    );
    let refused = world.gateway.chat(key, json!({"message": mark()})).await;
    assert_eq!(
        (refused.status, refused.json()["error"]["code"].as_str()),
        (429, Some("BUDGET_EXCEEDED"))
    );
    data(
        world,
        key,
        "PATCH",
        path,
        json!({"monthly_credit_cap": null}),
    )
    .await;
    assert_eq!(
        world
            .gateway
            .chat(key, json!({"message": mark()}))
            .await
            .status,
        200
    );
    for bad in [json!(-1), json!(0.000_000_1), json!("5"), json!(1e30)] {
        let refused = call(
            world,
            key,
            "PATCH",
            path,
            json!({"monthly_credit_cap": bad}),
        )
        .await;
        assert_eq!(refused.status, 422, "{bad}");
    }
    // Digit by digit, as no double has them: kept as they are, or refused.
    for (sent, shown) in [
        ("9999999999.123457", Some("9999999999.123457")),
        ("1.25e1", Some("12.5")),
        ("9223372036854.775", Some("9223372036854.775")),
        ("9999999999.123456", None),
        ("9223372036854.775808", None),
        ("9223372036855", None),
        ("100000000000.000001", None),
        ("1.00000000000000000001", None),
        ("-0.000001", None),
    ] {
        let body = format!(r#"{{"monthly_spend_cap_usd": {sent}}}"#);
        let request = Request::new("PATCH", path).bearer(key);
        let request = request.header("Content-Type", "application/json");
        let answer = world.gateway.answer(&request.body(body.as_bytes())).await;
        let Some(shown) = shown else {
            assert_eq!(answer.status, 422, "{sent}: {}", answer.text());
            continue;
        };
        let line = format!(r#""monthly_spend_cap_usd":{shown},"#);
        assert!(answer.text().contains(&line), "{sent}: {}", answer.text());
        let read = call(world, key, "GET", path, Value::Null).await;
        assert!(read.text().contains(&line), "{sent}: {}", read.text());
    }
    let reader = key_with(world, &organization, &["control:read"]).await;
    assert_eq!(
        code(world, &reader, "PATCH", path, json!({}), 403).await,
        "MISSING_SCOPE"
    );
}

async fn caps_that_are_set_at_once_are_all_kept(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let path = "/v1/usage/budget";
    for cap in 1..=10 {
        let given = [
            json!({"monthly_credit_cap": cap}),
            json!({"monthly_spend_cap_usd": cap}),
            json!({"alert_thresholds": [f64::from(cap) / 10.0]}),
        ];
        let calls = given.map(|body| data(world, key, "PATCH", path, body));
        join_all(calls).await;
        let budget = data(world, key, "GET", path, Value::Null).await;
        let caps = (
            &budget["monthly_credit_cap"],
            &budget["monthly_spend_cap_usd"],
        );
        assert_eq!(caps, (&json!(cap), &json!(cap)));
        assert_eq!(
            budget["alert_thresholds"][0].as_f64(),
            Some(f64::from(cap) / 10.0)
        );
    }
}
