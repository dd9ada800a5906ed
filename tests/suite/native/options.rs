//! Model, system prompt and token caps on their way to the provider.

use serde_json::{Value, json};
use svc_tests::fake::{PROVIDER_KEY, mark};
use svc_tests::organization::set_system_prompt;
use svc_tests::world::World;

use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    max_tokens_are_capped_by_organization_and_model,
    the_organizations_system_prompt_is_the_default,
}

on_sqlite! {
    the_system_prompt_reaches_the_provider,
    the_provider_gets_the_operators_credential_and_nothing_of_the_callers,
    a_prompt_that_cannot_fit_is_refused_before_any_call,
}

/// The body that the provider got.
async fn sent(world: &World, key: &str, mut body: Value) -> Value {
    let mark = mark();
    body["message"] = json!(mark);
    let answer = world.gateway.chat(key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    world.fake.received(&mark).await["body"].clone()
}

async fn max_tokens_are_capped_by_organization_and_model(world: &World) {
    let organization = world.organization();
    let sql = "UPDATE organizations SET per_request_max_tokens = 100 WHERE id = $1";
    world
        .gateway
        .database
        .change(sql, &[&organization.id])
        .await;
    let key = &organization.key;
    for (asked, got) in [
        (json!({}), 100),
        (json!({"max_tokens": 7}), 7),
        (json!({"max_tokens": 101}), 100),
    ] {
        assert_eq!(sent(world, key, asked).await["max_tokens"], got);
    }
    let roomy = world.organization();
    let sql = "UPDATE organizations SET per_request_max_tokens = 1000000 WHERE id = $1";
    world.gateway.database.change(sql, &[&roomy.id]).await;
    // The catalogue's own limit of the default model.
    assert_eq!(
        sent(world, &roomy.key, json!({"max_tokens": 900_000})).await["max_tokens"],
        64_000
    );
    assert_eq!(
        sent(world, &roomy.key, json!({})).await["max_tokens"],
        64_000
    );
}

/// The system prompt that the provider got, in whichever of its two forms.
fn system_of(body: &Value) -> String {
    match body.get("system") {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(blocks) => {
            let blocks = blocks.as_array().expect("blocks").iter();
            blocks.filter_map(|block| block["text"].as_str()).collect()
        }
    }
}

async fn the_system_prompt_reaches_the_provider(world: &World) {
    let organization = world.organization();
    assert_eq!(
        system_of(&sent(world, &organization.key, json!({})).await),
        ""
    );
    let body = sent(
        world,
        &organization.key,
        json!({"system": "Answer in rhymes."}),
    )
    .await;
    assert_eq!(system_of(&body), "Answer in rhymes.");
}

/// The body's own prompt overrides it, an empty one included (spec, POST /v1/ai/chat).
async fn the_organizations_system_prompt_is_the_default(world: &World) {
    let organization = world.organization();
    set_system_prompt(&world.gateway, &organization, "Speak as a nurse would.").await;
    let key = &organization.key;
    assert_eq!(
        system_of(&sent(world, key, json!({})).await),
        "Speak as a nurse would."
    );
    assert_eq!(
        system_of(&sent(world, key, json!({"system": "Sing."})).await),
        "Sing."
    );
    assert_eq!(
        system_of(&sent(world, key, json!({"system": ""})).await),
        ""
    );
    let sql = "SELECT default_system_prompt FROM organizations WHERE id = $1";
    let row = world
        .gateway
        .database
        .rows(sql, &[&organization.id])
        .await
        .remove(0);
    let sealed = row["default_system_prompt"].as_str().expect("bytes");
    assert!(!sealed.contains(&hex::encode("nurse")), "stored in clear");
}

async fn the_provider_gets_the_operators_credential_and_nothing_of_the_callers(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let request = svc_tests::gateway::chat(&organization.key, json!({"message": mark}))
        .header("Cookie", "session=quokkacookie")
        .header("X-Stainless-Lang", "quokkalang")
        .header("X-Forwarded-For", "198.51.100.77")
        .header("User-Agent", "quokkaagent/1.0")
        .header("x-api-key", "quokkakey");
    assert_eq!(world.gateway.answer(&request).await.status, 200);
    let seen = world.fake.received(&mark).await;
    let digest = <sha2::Sha256 as sha2::Digest>::digest(PROVIDER_KEY.as_bytes());
    assert_eq!(seen["key_digest"], hex::encode(digest));
    let headers = seen["headers"].to_string();
    for leaked in [
        "quokka",
        "198.51.100.77",
        &organization.key,
        "req_",
        "stainless",
    ] {
        assert!(!headers.contains(leaked), "{leaked} in {headers}");
    }
    assert!(!seen["body"].to_string().contains(&organization.id));
}

async fn a_prompt_that_cannot_fit_is_refused_before_any_call(world: &World) {
    let organization = world.organization();
    let mark = mark();
    // 200 000 tokens at no less than one per six bytes.
    let message = format!("{mark} {}", "marsupial ".repeat(130_000));
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": message}))
        .await;
    let error = &answer.json()["error"];
    assert_eq!(
        (answer.status, &error["code"], &error["param"]),
        (422, &json!("VALIDATION_FAILED"), &json!("message"))
    );
    assert!(world.fake.seen(&mark).await.is_empty());
}
