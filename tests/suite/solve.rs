//! `POST /v1/solve` from outside: results, refusals, books; and in `workers` what happens when the solver breaks.

mod workers;

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::organization::Organization;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    a_result_is_answered_and_booked_once,
    refusals_are_booked_as_rejected,
}

on_sqlite! {
    what_cannot_be_is_a_result_with_its_conflicts,
    a_row_quotes_no_phi_of_a_spec,
    a_row_of_many_conflicts_quotes_no_phi_either,
    the_same_spec_gets_the_same_answer_in_any_order,
    a_call_beyond_the_limit_is_audited,
    other_scopes_are_refused_without_a_solve,
    switches_of_the_organization_come_before_the_solver,
    a_body_beyond_its_limit_is_refused,
    a_query_is_refused_and_the_spec_booked,
}

/// Three nurses, two shifts on one day.
fn roster() -> Value {
    let nurse = |id: &str| json!({"id": id, "attributes": {"role": "rn"}});
    let slot = |id: &str, shift: &str| {
        json!({"id": id, "day": "2026-11-02", "attributes": {"shift": shift},
               "requirements": [{"count": 1, "where": [{"key": "role", "equals": "rn"}]}]})
    };
    json!({
        "version": 1,
        "resources": [nurse("ana"), nurse("ben"), nurse("cleo")],
        "slots": [slot("day", "day"), slot("night", "night")],
        "constraints": [{"type": "max_per_day", "resource_ids": ["ana", "ben", "cleo"], "limit": 1}],
        "preferences": [
            {"type": "avoid", "resource_ids": ["ana", "ben"], "weight": 2},
            {"type": "avoid", "resource_ids": ["cleo"], "slot_where": [{"key": "shift", "equals": "night"}], "weight": 3},
        ],
        "options": {"time_limit_seconds": 10},
    })
}

fn request(key: &str, spec: &Value) -> Request {
    Request::new("POST", "/v1/solve").bearer(key).json(spec)
}

async fn solve(world: &World, organization: &Organization, spec: &Value) -> Answer {
    world
        .gateway
        .answer(&request(&organization.key, spec))
        .await
}

/// What an audit row says of a spec.
fn digest(spec: &Value) -> String {
    let digest = svc_core::secret::digest(&spec.to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn row(world: &World, answer: &Answer) -> (Value, Value) {
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "workflow.solve_completed");
    let document = books::document(&row);
    (row, document["details"].clone())
}

async fn a_result_is_answered_and_booked_once(world: &World) {
    let organization = world.organization();
    let spec = roster();
    let answer = solve(world, &organization, &spec).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.header("svc-version").is_some());
    let body = answer.json();
    assert!(body.get("success").is_none());
    assert_eq!(body["meta"], json!({"request_id": answer.request_id()}));
    let data = &body["data"];
    assert_eq!(data["object"], "solve_result");
    assert_eq!(data["status"], "optimal");
    assert_eq!(data["objective"], 2);
    assert_eq!(data["conflicts"], json!([]));
    assert_eq!(data["engine"], "cp-sat");
    assert!(data["stats"]["wall_time_ms"].is_u64() && data["stats"]["seed"].is_u64());
    assert_eq!(
        data["assignments"][0],
        json!({"slot_id": "day", "resource_ids": ["cleo"]})
    );
    let (row, details) = row(world, &answer).await;
    assert_eq!(row["result"], "success");
    assert_eq!(details["solver_status"], "optimal");
    assert_eq!(details["conflict_ids"], json!([]));
    assert_eq!(details["spec_sha256"], digest(&spec));
}

async fn refusals_are_booked_as_rejected(world: &World) {
    let organization = world.organization();
    let mut spec = roster();
    spec["slots"][0]["day"] = json!("2026-02-30");
    spec["constraints"][0]["limit"] = json!(-1);
    let answer = solve(world, &organization, &spec).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (422, &json!("SOLVER_SPEC_INVALID"))
    );
    let errors = &answer.json()["error"]["details"]["errors"];
    let pointers: Vec<&Value> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["pointer"])
        .collect();
    assert_eq!(pointers, ["/slots/0/day", "/constraints/0/limit"]);
    let (booked, details) = row(world, &answer).await;
    assert_eq!(
        (&booked["result"], &details["solver_status"]),
        (&json!("failure"), &json!("rejected"))
    );
    for (name, value) in [
        ("resources", json!([])),
        ("slots_from", json!("x")),
        ("options", json!({"time_limit_seconds": 31})),
    ] {
        let mut spec = roster();
        spec[name] = value;
        let answer = solve(world, &organization, &spec).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (422, &json!("VALIDATION_FAILED"))
        );
        let (_, details) = row(world, &answer).await;
        assert_eq!(details["solver_status"], "rejected");
    }
}

async fn what_cannot_be_is_a_result_with_its_conflicts(world: &World) {
    let organization = world.organization();
    let mut spec = roster();
    spec["slots"][1]["requirements"][0]["count"] = json!(4);
    let answer = solve(world, &organization, &spec).await;
    assert_eq!(answer.status, 200);
    let data = &answer.json()["data"];
    assert_eq!(
        (&data["status"], &data["objective"]),
        (&json!("infeasible"), &Value::Null)
    );
    assert_eq!(data["assignments"], json!([]));
    assert_eq!(data["conflicts"][0]["id"], "coverage:night");
    let (row, details) = row(world, &answer).await;
    assert_eq!(row["result"], "success");
    assert_eq!(details["solver_status"], "infeasible");
    assert_eq!(details["conflict_ids"], json!(["coverage:night"]));
    // One solve takes one time, wherever it is told.
    assert_eq!(details["wall_time_ms"], data["stats"]["wall_time_ms"]);
}

async fn a_row_quotes_no_phi_of_a_spec(world: &World) {
    let organization = world.organization();
    let id = "Patient Thomas Vandermeer, SSN 534-57-4715";
    let mut spec = roster();
    spec["slots"][1]["id"] = json!(id);
    spec["slots"][1]["requirements"][0]["count"] = json!(4);
    let answer = solve(world, &organization, &spec).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // The caller's own words go back to the caller.
    let conflict = &answer.json()["data"]["conflicts"][0]["id"];
    assert_eq!(conflict, &json!(format!("coverage:{id}")));
    let (row, details) = row(world, &answer).await;
    let text = books::document(&row).to_string();
    for word in ["Vandermeer", "Thomas", "534", "4715"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert_eq!(
        details["conflict_ids"],
        json!(["coverage:Patient [NAME_1], SSN [SSN_1]"])
    );
    assert_eq!(details["spec_sha256"], digest(&spec));
}

async fn a_row_of_many_conflicts_quotes_no_phi_either(world: &World) {
    let organization = world.organization();
    let mut spec = roster();
    let ids = (0..1_500).map(|number| {
        let id = format!("slot {number} of ward {}", "x".repeat(200));
        id.get(..180).unwrap().to_owned()
    });
    let mut ids: Vec<String> = ids.collect();
    ids[1_000] = "Patient Thomas Vandermeer, SSN 534-57-4715".to_owned();
    let mut slot = spec["slots"][1].clone();
    slot["requirements"][0]["count"] = json!(4);
    let slots = ids.iter().map(|id| {
        slot["id"] = json!(id);
        slot.clone()
    });
    spec["slots"] = slots.collect();
    let answer = solve(world, &organization, &spec).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let (_, details) = row(world, &answer).await;
    let booked = details["conflict_ids"].as_array().unwrap();
    assert_eq!(booked.len(), ids.len());
    let last = format!("coverage:{}", ids.last().unwrap());
    for id in ["coverage:Patient [NAME_1], SSN [SSN_1]", &last] {
        assert!(booked.contains(&json!(id)), "{id}");
    }
}

async fn the_same_spec_gets_the_same_answer_in_any_order(world: &World) {
    let organization = world.organization();
    let mut spec = roster();
    spec["preferences"] = json!([]);
    let first = solve(world, &organization, &spec).await.json()["data"]["assignments"].clone();
    for list in ["resources", "slots"] {
        spec[list].as_array_mut().unwrap().reverse();
    }
    let again = solve(world, &organization, &spec).await.json()["data"]["assignments"].clone();
    assert_eq!(first, again);
}

async fn other_scopes_are_refused_without_a_solve(world: &World) {
    let organization = world.organization_with(&["--scopes", "ai:chat,control:read"]);
    let answer = solve(world, &organization, &roster()).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (403, &json!("MISSING_SCOPE"))
    );
    let (row, details) = row(world, &answer).await;
    assert_eq!(
        (&row["result"], &row["org_id"]),
        (&json!("denied"), &json!(organization.id))
    );
    assert_eq!(details["solver_status"], "rejected");
}

async fn a_call_beyond_the_limit_is_audited(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1"]);
    assert_eq!(solve(world, &organization, &roster()).await.status, 200);
    let answer = solve(world, &organization, &roster()).await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    let (row, details) = row(world, &answer).await;
    assert_eq!(row["result"], "denied");
    assert_eq!(details["solver_status"], "rejected");
}

async fn switches_of_the_organization_come_before_the_solver(world: &World) {
    let organization = world.organization();
    let sql = "UPDATE organizations SET ai_paused = 1 WHERE id = $1";
    world
        .gateway
        .database
        .change(sql, &[&organization.id])
        .await;
    let answer = solve(world, &organization, &roster()).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (403, &json!("AI_PAUSED"))
    );
    let (row, details) = row(world, &answer).await;
    assert_eq!(
        (&row["result"], &details["solver_status"]),
        (&json!("denied"), &json!("rejected"))
    );
}

async fn a_body_beyond_its_limit_is_refused(world: &World) {
    let organization = world.organization();
    // Contract 1.2: 8 MiB.
    let length = (8 * 1024 * 1024 + 1).to_string();
    let head = Request::new("POST", "/v1/solve")
        .bearer(&organization.key)
        .header("Content-Type", "application/json")
        .header("Content-Length", &length)
        .without_length();
    let mut connection = world.gateway.connect().await;
    connection.send(&head.bytes()).await;
    let (answer, _) = connection.reply().await.whole().await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (413, &json!("PAYLOAD_TOO_LARGE"))
    );
    let (_, details) = row(world, &answer).await;
    assert_eq!(details["spec_sha256"], Value::Null);
}

async fn a_query_is_refused_and_the_spec_booked(world: &World) {
    let organization = world.organization();
    let spec = roster();
    let request = Request::new("POST", "/v1/solve?z=1");
    let request = request.bearer(&organization.key).json(&spec);
    let answer = world.gateway.answer(&request).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (422, &json!("VALIDATION_FAILED"))
    );
    let (_, details) = row(world, &answer).await;
    assert_eq!(details["solver_status"], "rejected");
    assert_eq!(details["spec_sha256"], digest(&spec));
}
