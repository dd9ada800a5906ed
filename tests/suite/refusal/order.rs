//! One fixed order of checks (contract 2): of two faults at once, the earlier step answers.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, whole};
use svc_tests::organization::Organization;
use svc_tests::policies::Policies;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::error_of;
use crate::engines::on_sqlite;

on_sqlite! { of_two_faults_the_earlier_step_answers }

const NO_KEY: &str = "svc_api_live_00000000000000000000000000000000";
const FOREIGN: &str = "conv_01ARZ3NDEKTSV4RRFFQ69G5FAV";

async fn code(world: &World, request: &Request) -> String {
    let answer = world.gateway.answer(request).await;
    error_of(&answer)["code"].as_str().unwrap().to_owned()
}

/// A body that no step but the size check may ever see: only its length is sent.
fn oversized(key: &str) -> Request {
    let request = Request::new("POST", "/v1/ai/chat")
        .bearer(key)
        .without_length();
    request
        .header("Content-Type", "application/json")
        .header("Content-Length", "99999999")
}

/// An organization with these statements run over it.
async fn prepared(world: &World, options: &[&str], changes: &[&str]) -> Organization {
    let organization = world.organization_with(options);
    for sql in changes {
        world
            .gateway
            .database
            .change(sql, &[&organization.id])
            .await;
    }
    organization
}

const PAUSE: &str = "UPDATE organizations SET ai_paused = TRUE WHERE id = $1";
const NO_AGREEMENT: &str = "UPDATE baa_acceptances SET terminated_at = 1 WHERE org_id = $1";
const EVALUATION_OVER: &str =
    "UPDATE organizations SET plan_tier = 'evaluation', evaluation_ends_at = 1 WHERE id = $1";
const NO_CREDITS: &str = "UPDATE organizations SET monthly_credits_micro = 0 WHERE id = $1";
const NO_BUDGET: &str = "INSERT INTO budget_caps (org_id, mode, credit_cap_micro, spend_cap_micro, alert_thresholds, updated_at) \
                         VALUES ($1, 'live', 0, NULL, '[]', 0)";
const BLOCK: &str = "UPDATE organizations SET phi_mode = 'block' WHERE id = $1";

async fn of_two_faults_the_earlier_step_answers(world: &World) {
    // 2 before 4.
    assert_eq!(
        code(world, &Request::new("GET", "/v1/ai/chat").bearer(NO_KEY)).await,
        "METHOD_NOT_ALLOWED"
    );
    // 4 before 5.
    let bad_version = |request: Request| request.header("Svc-Version", "never");
    assert_eq!(
        code(world, &bad_version(chat(NO_KEY, json!({})))).await,
        "INVALID_API_KEY"
    );
    // 5 before 6.
    let unscoped = world.organization_with(&["--scopes", "control:read", "--per-minute", "0"]);
    assert_eq!(
        code(world, &bad_version(chat(&unscoped.key, json!({})))).await,
        "INVALID_API_VERSION"
    );
    // 6 before 8.
    assert_eq!(
        code(world, &chat(&unscoped.key, json!({}))).await,
        "MISSING_SCOPE"
    );
    // 8 before 9.
    let closed = world.organization_with(&["--per-minute", "0"]);
    assert_eq!(code(world, &oversized(&closed.key)).await, "RATE_LIMITED");
    // 9 before 11, media type included.
    let open = world.organization();
    assert_eq!(
        code(world, &oversized(&open.key)).await,
        "PAYLOAD_TOO_LARGE"
    );
    // 11 before 12, 12 before 14.
    let paused = prepared(world, &[], &[PAUSE]).await;
    let body = json!({"message": 7, "conversation_id": FOREIGN});
    assert_eq!(
        code(world, &chat(&paused.key, body)).await,
        "VALIDATION_FAILED"
    );
    let body = json!({"message": "x", "conversation_id": FOREIGN});
    assert_eq!(
        code(world, &chat(&paused.key, body)).await,
        "RESOURCE_NOT_FOUND"
    );
    gates(world).await;
}

/// Step 14 from its beginning to its end: every later fault is there too, and the next one is taken away each
/// time.
async fn gates(world: &World) {
    let unheard = mark();
    let tools = json!([{"name": "t", "description": "SSN 536-22-8714", "input_schema": {"type": "object"}}]);
    let body = |model: &str, tools: Option<&Value>| {
        let mut body =
            json!({"message": format!("{unheard} My SSN is 536-22-8714."), "model": model});
        if let Some(tools) = tools {
            body["tools"] = tools.clone();
        }
        whole(body)
    };
    let all = [
        PAUSE,
        NO_AGREEMENT,
        EVALUATION_OVER,
        NO_CREDITS,
        NO_BUDGET,
        BLOCK,
    ];
    let ask = async |skip: usize, model: &str, tools: Option<&Value>| {
        let organization = prepared(world, &[], &all[skip..]).await;
        code(world, &chat(&organization.key, body(model, tools))).await
    };
    let known = "alpha-sonnet-4-6";
    assert_eq!(ask(0, "nobody", Some(&tools)).await, "AI_PAUSED");
    assert_eq!(ask(1, "nobody", Some(&tools)).await, "MODEL_ACCESS_DENIED");
    assert_eq!(ask(1, known, Some(&tools)).await, "BAA_REQUIRED");
    assert_eq!(
        ask(2, known, Some(&tools)).await,
        "EVALUATION_ACCESS_BLOCKED"
    );
    assert_eq!(ask(3, known, Some(&tools)).await, "CONSUMPTION_BLOCKED");
    assert_eq!(ask(4, known, Some(&tools)).await, "BUDGET_EXCEEDED");
    assert_eq!(ask(5, known, Some(&tools)).await, "PHI_IN_TOOL_SCHEMA");
    assert_eq!(ask(5, known, None).await, "PHI_BLOCKED");
    assert!(world.fake.seen(&unheard).await.is_empty());
}

/// Step 3 before 4, and eligibility between model and agreement: in policies of one's own.
#[tokio::test]
async fn the_steps_that_policies_decide_keep_their_place() {
    let policies = Policies::copy();
    policies.edit(
        "plans.toml",
        "failed_authentications_per_minute = 300",
        "failed_authentications_per_minute = 1",
    );
    policies.edit(
        "models.toml",
        "tools = { hipaa_eligible = true }",
        "tools = { hipaa_eligible = false }",
    );
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = prepared(&world, &[], &[NO_AGREEMENT]).await;
    let tools = json!([{"name": "t", "input_schema": {"type": "object"}}]);
    let body = json!({"message": "x", "tools": tools, "model": "nobody"});
    assert_eq!(
        code(&world, &chat(&organization.key, body.clone())).await,
        "MODEL_ACCESS_DENIED"
    );
    let body = json!({"message": "x", "tools": tools});
    assert_eq!(
        code(&world, &chat(&organization.key, body)).await,
        "FEATURE_NOT_HIPAA_ELIGIBLE"
    );
    assert_eq!(
        code(&world, &chat(NO_KEY, json!({}))).await,
        "INVALID_API_KEY"
    );
    assert_eq!(code(&world, &chat(NO_KEY, json!({}))).await, "RATE_LIMITED");
    assert_eq!(
        code(&world, &Request::new("GET", "/v1/ai/chat")).await,
        "METHOD_NOT_ALLOWED"
    );
}
