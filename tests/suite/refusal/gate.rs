//! The gates of contract 2, step 14: each refuses on its own, with its own details, before any upstream call.

use serde_json::json;
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::organization::Organization;
use svc_tests::policies::Policies;
use svc_tests::wire::Answer;
use svc_tests::world::World;

use super::expect;
use crate::engines::on_both_engines;

on_both_engines! {
    a_paused_organization_is_refused,
    models_need_to_be_known_and_enabled,
    an_agreement_is_required,
    an_ended_evaluation_is_refused,
    a_used_up_allotment_blocks,
    a_cap_of_ones_own_blocks,
    what_an_organization_has_switched_off_is_refused,
}

/// Asks, and proves that the provider heard nothing.
async fn unheard(
    world: &World,
    organization: &Organization,
    mut body: serde_json::Value,
) -> Answer {
    let mark = mark();
    body["message"] = json!(mark);
    let answer = world.gateway.chat(&organization.key, body).await;
    assert!(world.fake.seen(&mark).await.is_empty(), "{}", answer.text());
    let (_, terminal) = books::pair(&world.gateway.database, answer.request_id()).await;
    assert_eq!(terminal["event"], "inference.blocked");
    books::check(&world.gateway.database, &organization.id).await;
    answer
}

async fn change(world: &World, organization: &Organization, sql: &str) {
    world
        .gateway
        .database
        .change(sql, &[&organization.id])
        .await;
}

async fn a_paused_organization_is_refused(world: &World) {
    let organization = world.organization();
    change(
        world,
        &organization,
        "UPDATE organizations SET ai_paused = TRUE WHERE id = $1",
    )
    .await;
    let answer = unheard(world, &organization, json!({})).await;
    assert_eq!(answer.status, 403);
    expect(&answer, "AI_PAUSED", None);
}

async fn models_need_to_be_known_and_enabled(world: &World) {
    let standard = world.organization_with(&["--models", "standard"]);
    for model in ["alpha-opus-4-6", "gpt-5", "", "ALPHA-SONNET-4-6"] {
        let answer = unheard(world, &standard, json!({"model": model})).await;
        assert_eq!(answer.status, 403, "{model}");
        expect(&answer, "MODEL_ACCESS_DENIED", Some("model"));
    }
    for model in ["alpha-sonnet-4-6", "alpha-haiku-4-5"] {
        let answer = world
            .gateway
            .chat(&standard.key, json!({"message": mark(), "model": model}))
            .await;
        assert_eq!(
            (answer.status, &answer.json()["meta"]["usage"]["model"]),
            (200, &json!(model))
        );
    }
    let all = world.organization();
    for model in ["alpha-opus-4-6", "alpha-opus-4-7"] {
        assert_eq!(
            world
                .gateway
                .chat(&all.key, json!({"message": mark(), "model": model}))
                .await
                .status,
            200
        );
    }
}

async fn an_agreement_is_required(world: &World) {
    let organization = world.organization_with(&["--no-baa"]);
    let answer = unheard(world, &organization, json!({})).await;
    assert_eq!(answer.status, 402);
    expect(&answer, "BAA_REQUIRED", None);
    let ended = world.organization();
    change(
        world,
        &ended,
        "UPDATE baa_acceptances SET terminated_at = 1 WHERE org_id = $1",
    )
    .await;
    expect(
        &unheard(world, &ended, json!({})).await,
        "BAA_REQUIRED",
        None,
    );
}

async fn an_ended_evaluation_is_refused(world: &World) {
    let organization = world.organization();
    let sql =
        "UPDATE organizations SET plan_tier = 'evaluation', evaluation_ends_at = 1 WHERE id = $1";
    change(world, &organization, sql).await;
    let answer = unheard(world, &organization, json!({})).await;
    assert_eq!(answer.status, 402);
    expect(&answer, "EVALUATION_ACCESS_BLOCKED", None);
    let running = world.organization();
    let sql = "UPDATE organizations SET plan_tier = 'evaluation', evaluation_ends_at = 4102444800000 WHERE id = $1";
    change(world, &running, sql).await;
    assert_eq!(
        world
            .gateway
            .chat(&running.key, json!({"message": mark()}))
            .await
            .status,
        200
    );
}

async fn a_used_up_allotment_blocks(world: &World) {
    let organization = world.organization_with(&["--credits", "0"]);
    let answer = unheard(world, &organization, json!({})).await;
    assert_eq!(answer.status, 402);
    let details = expect(&answer, "CONSUMPTION_BLOCKED", None)["details"].clone();
    let names: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "cycle_start",
            "cycle_reset_at",
            "allotment_credits",
            "used_credits",
            "cap_kind"
        ]
    );
    assert_eq!(
        (&details["allotment_credits"], &details["used_credits"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(details["cap_kind"], "plan_credits");
    assert!(
        details["cycle_start"].as_str() < details["cycle_reset_at"].as_str(),
        "{details}"
    );
}

async fn a_cap_of_ones_own_blocks(world: &World) {
    let organization = world.organization();
    let sql = "INSERT INTO budget_caps (org_id, mode, credit_cap_micro, spend_cap_micro, alert_thresholds, updated_at) \
               VALUES ($1, 'live', NULL, 0, '[]', 0)";
    change(world, &organization, sql).await;
    let answer = unheard(world, &organization, json!({})).await;
    assert_eq!(answer.status, 429);
    let error = expect(&answer, "BUDGET_EXCEEDED", None);
    assert_eq!(error["retryable"], false);
    let names: Vec<&String> = error["details"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "cycle_reset_at",
            "current_spend_usd",
            "cap_usd",
            "current_credits",
            "cap_credits"
        ]
    );
    assert_eq!(
        (
            &error["details"]["cap_usd"],
            &error["details"]["cap_credits"]
        ),
        (&json!(0), &json!(null))
    );
}

/// Retired and announced models, and features that are not eligible, in a catalogue of one's own.
#[tokio::test]
async fn retirement_and_eligibility_follow_the_catalogue() {
    let policies = Policies::copy();
    let retirement = |at: &str| {
        format!(
            "retirement = {{ announced_at = \"2026-01-01T00:00:00Z\", retired_at = \"{at}\", \
             recommended_replacement = \"alpha-sonnet-4-6\", docs_url = \"https://docs.test/models\" }}\n"
        )
    };
    let text = policies.read("models.toml");
    let insert = |text: &str, model: &str, line: &str| {
        let head = format!("id = \"{model}\"\n");
        assert!(text.contains(&head));
        text.replace(&head, &format!("{head}{line}"))
    };
    let text = insert(&text, "alpha-opus-4-6", &retirement("2026-06-01T00:00:00Z"));
    let text = insert(&text, "alpha-opus-4-7", &retirement("2099-06-01T00:00:00Z"));
    policies.write(
        "models.toml",
        &text.replace(
            "tools = { hipaa_eligible = true }",
            "tools = { hipaa_eligible = false }",
        ),
    );
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();

    let answer = unheard(&world, &organization, json!({"model": "alpha-opus-4-6"})).await;
    assert_eq!(answer.status, 410);
    let details = expect(&answer, "MODEL_RETIRED", Some("model"))["details"].clone();
    assert_eq!(
        details,
        json!({"retired_at": "2026-06-01T00:00:00.000Z", "recommended_replacement": "alpha-sonnet-4-6",
            "docs_url": "https://docs.test/models"})
    );
    let answer = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": mark(), "model": "alpha-opus-4-7"}),
        )
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("deprecation"), Some("@1767225600"));
    assert_eq!(
        answer.header("sunset"),
        Some("Mon, 01 Jun 2099 00:00:00 GMT")
    );

    let tools = json!([{"name": "t", "input_schema": {"type": "object"}}]);
    let answer = unheard(&world, &organization, json!({"tools": tools})).await;
    assert_eq!(answer.status, 403);
    let error = expect(&answer, "FEATURE_NOT_HIPAA_ELIGIBLE", None);
    assert_eq!(error["details"]["feature"], "tools");
}

async fn what_an_organization_has_switched_off_is_refused(world: &World) {
    let organization = world.organization();
    let off = r#"UPDATE organizations SET features = '{"tools":false}' WHERE id = $1"#;
    change(world, &organization, off).await;
    let tools = json!([{"name": "t", "input_schema": {"type": "object"}}]);
    let answer = unheard(world, &organization, json!({"tools": tools})).await;
    assert_eq!(answer.status, 403);
    let error = expect(&answer, "FEATURE_NOT_HIPAA_ELIGIBLE", None);
    let details = &error["details"];
    assert_eq!(
        (&details["feature"], &details["reason"]),
        (&json!("tools"), &json!("switched_off"))
    );
}
