//! Apps, the schemas of their entities, and their inbound webhooks (contract 17).

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{call, code, data};
use crate::engines::on_both_engines;

on_both_engines! {
    an_app_belongs_to_its_organization_and_mode,
    a_schema_is_made_changed_and_left_alone,
    a_narrowing_that_data_stand_in_the_way_of_is_refused,
    a_schema_that_changes_beside_writes_leaves_no_record_that_it_refuses,
    a_schema_that_changes_harmlessly_turns_nobody_away,
    callers_at_once_make_one_entity,
    callers_at_once_stay_within_the_cap,
    every_problem_of_a_schema_is_told,
    an_inbound_webhook_shows_its_token_once,
    a_mapping_names_fields_and_is_flagged,
}

pub(crate) async fn app(world: &World, key: &str) -> String {
    let app = data(world, key, "POST", "/v1/apps", json!({"name": "Intake"})).await;
    app["id"].as_str().unwrap().to_owned()
}

/// An app with an entity of these fields; the path of the entity.
pub(crate) async fn entity(world: &World, key: &str, fields: Value) -> String {
    let path = format!("/v1/apps/{}/entities/patient", app(world, key).await);
    data(world, key, "PUT", &path, json!({"fields": fields})).await;
    path
}

async fn callers_at_once_make_one_entity(world: &World) {
    let key = &world.organization().key;
    let path = format!("/v1/apps/{}/entities/patient", app(world, key).await);
    let fields = json!({"fields": [{"key": "mrn", "type": "string"}]});
    let put = || call(world, key, "PUT", &path, fields.clone());
    let answers = join_all((0..20).map(|_| put())).await;
    let made = answers.iter().filter(|answer| answer.status == 201);
    assert_eq!(made.count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(
            answer.status,
            200,
            "who was late finds it made: {}",
            answer.text()
        );
    }
    assert_eq!(put().await.status, 200);
}

async fn callers_at_once_stay_within_the_cap(world: &World) {
    const ENDPOINTS: usize = 50;
    let key = &world.organization().key;
    let body = json!({"url": "https://hooks.example.com/a", "events": ["*"]});
    let make = || call(world, key, "POST", "/v1/webhooks", body.clone());
    for _ in 0..ENDPOINTS - 3 {
        assert_eq!(make().await.status, 201);
    }
    let answers = join_all((0..12).map(|_| make())).await;
    let made = answers.iter().filter(|answer| answer.status == 201);
    assert_eq!(made.count(), 3);
    let refused = answers.iter().filter(|answer| answer.status == 422);
    assert_eq!(refused.count(), 9);
    // The other mode has a limit of its own.
    let test = json!({"name": "t", "scopes": ["control:webhooks"], "mode": "test"});
    let test = data(world, key, "POST", "/v1/api_keys", test).await;
    let test = test["key"].as_str().unwrap();
    data(world, test, "POST", "/v1/webhooks", body.clone()).await;
    assert_eq!(make().await.status, 422);
}

async fn an_app_belongs_to_its_organization_and_mode(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let answer = call(world, key, "POST", "/v1/apps", json!({"name": "Intake"})).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made = answer.json()["data"].clone();
    assert_eq!(
        (&made["object"], &made["name"]),
        (&json!("app"), &json!("Intake"))
    );
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(
        (&row["event"], &row["target_id"]),
        (&json!("app.created"), &made["id"])
    );
    let path = format!("/v1/apps/{}", made["id"].as_str().unwrap());
    assert_eq!(data(world, key, "GET", &path, Value::Null).await, made);
    assert_eq!(
        data(world, key, "GET", "/v1/apps", Value::Null).await,
        json!([made])
    );
    let test = json!({"name": "t", "scopes": ["control:apps"], "mode": "test"});
    let test = data(world, key, "POST", "/v1/api_keys", test).await;
    let (test, stranger) = (test["key"].as_str().unwrap(), world.organization().key);
    for other in [test, &stranger] {
        assert_eq!(
            code(world, other, "GET", &path, Value::Null, 404).await,
            "RESOURCE_NOT_FOUND"
        );
        assert_eq!(
            data(world, other, "GET", "/v1/apps", Value::Null).await,
            json!([])
        );
        let put = json!({"fields": [{"key": "a", "type": "json"}]});
        let entity = format!("{path}/entities/patient");
        assert_eq!(
            code(world, other, "PUT", &entity, put, 404).await,
            "RESOURCE_NOT_FOUND"
        );
    }
    for bad in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "a", "colour": 1}),
    ] {
        assert_eq!(
            code(world, key, "POST", "/v1/apps", bad, 422).await,
            "VALIDATION_FAILED"
        );
    }
}

async fn a_schema_is_made_changed_and_left_alone(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let path = format!("/v1/apps/{}/entities/patient", app(world, key).await);
    let fields =
        json!([{"key": "mrn", "type": "string", "required": true, "max_length": 32, "phi": true}]);
    let answer = call(world, key, "PUT", &path, json!({"fields": fields})).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made = answer.json()["data"].clone();
    assert_eq!(
        (&made["key"], &made["schema_version"]),
        (&json!("patient"), &json!(1))
    );
    assert_eq!(made["fields"], fields);
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "entity.created");
    let same = data(world, key, "PUT", &path, json!({"fields": fields})).await;
    assert_eq!(same, made, "what changes nothing changes no version");
    let wider = json!([
        {"key": "mrn", "type": "string", "required": false, "max_length": 64, "phi": true},
        {"key": "born", "type": "date"},
    ]);
    let answer = call(world, key, "PUT", &path, json!({"fields": wider})).await;
    let changed = answer.json()["data"].clone();
    assert_eq!(changed["schema_version"], 2);
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "entity.updated");
    assert_eq!(books::document(&row)["details"]["changes"], 2);
    assert_eq!(data(world, key, "GET", &path, Value::Null).await, changed);
    let list = path.rsplit_once('/').unwrap().0;
    assert_eq!(
        data(world, key, "GET", list, Value::Null).await,
        json!([changed])
    );
    let other = format!("{list}/visit");
    assert_eq!(
        code(world, key, "GET", &other, Value::Null, 404).await,
        "RESOURCE_NOT_FOUND"
    );
}

async fn a_narrowing_that_data_stand_in_the_way_of_is_refused(world: &World) {
    let key = world.organization().key;
    let fields = json!([
        {"key": "mrn", "type": "string"}, {"key": "age", "type": "integer"}, {"key": "note", "type": "text"},
    ]);
    let path = entity(world, &key, fields).await;
    let records = format!("{path}/records");
    let record = json!({"fields": {"mrn": "47-11", "age": 40}});
    let made = data(world, &key, "POST", &records, record).await;
    let narrow = json!([
        {"key": "mrn", "type": "string", "max_length": 4}, {"key": "age", "type": "integer", "max": 39},
        {"key": "note", "type": "text", "required": true},
    ]);
    let refused = call(world, &key, "PUT", &path, json!({"fields": narrow})).await;
    assert_eq!(refused.status, 422);
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(named, ["fields[0]", "fields[1]", "fields[2]"]);
    let without = json!([{"key": "age", "type": "integer"}]);
    let refused = call(world, &key, "PUT", &path, json!({"fields": without})).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["param"]),
        (422, &json!("fields"))
    );
    assert!(!refused.text().contains("47-11"));
    let unchanged = data(world, &key, "GET", &path, Value::Null).await;
    assert_eq!(unchanged["schema_version"], 1);
    // What the data allow is no narrowing: nobody has a note, and every age is a number.
    let fitting = json!([
        {"key": "mrn", "type": "text", "max_length": 5}, {"key": "age", "type": "number", "max": 40},
    ]);
    let changed = data(world, &key, "PUT", &path, json!({"fields": fitting})).await;
    assert_eq!(changed["schema_version"], 2);
    let one = format!("{records}/{}", made["id"].as_str().unwrap());
    let read = data(world, &key, "GET", &one, Value::Null).await;
    assert_eq!(read["fields"], json!({"mrn": "47-11", "age": 40}));
    data(world, &key, "PATCH", &one, json!({"fields": {"mrn": null}})).await;
    let without = json!([{"key": "age", "type": "number"}]);
    data(world, &key, "PUT", &path, json!({"fields": without})).await;
}

/// Writers beside somebody who makes a field required, again and again.
async fn a_schema_that_changes_beside_writes_leaves_no_record_that_it_refuses(world: &World) {
    let key = world.organization_with(&["--per-minute", "1000000"]).key;
    let loose = json!([{"key": "a", "type": "string"}, {"key": "b", "type": "string"}]);
    let strict =
        json!([{"key": "a", "type": "string"}, {"key": "b", "type": "string", "required": true}]);
    let path = entity(world, &key, loose.clone()).await;
    let records = format!("{path}/records");
    let writer = async || {
        let (mut made, mut refused) = (0, 0);
        for _ in 0..25 {
            let answer = call(world, &key, "POST", &records, json!({"fields": {"a": "x"}})).await;
            match answer.status {
                201 => made += 1,
                // The schema asks for more by now.
                422 => refused += 1,
                _ => panic!("{}", answer.text()),
            }
        }
        (made, refused)
    };
    let changer = async {
        let mut narrowed = false;
        for _ in 0..10 {
            let answer = call(world, &key, "PUT", &path, json!({"fields": strict})).await;
            assert!([200, 422].contains(&answer.status), "{}", answer.text());
            narrowed |= answer.status == 200;
        }
        narrowed
    };
    let writers = futures_util::future::join_all((0..4).map(|_| writer()));
    let (told, narrowed) = futures_util::future::join(writers, changer).await;
    let made: usize = told.iter().map(|(made, _)| made).sum();
    assert!(
        !narrowed || made == 0,
        "{made} records without what the schema requires"
    );
}

/// Writers, posts from outside and others who change the schema, beside somebody who adds field after field.
async fn a_schema_that_changes_harmlessly_turns_nobody_away(world: &World) {
    let key = world.organization_with(&["--per-minute", "1000000"]).key;
    let fields = |count: usize| -> Value {
        let field =
            |at| json!({"key": format!("f{at}"), "type": "string", "max_length": 10 + count});
        (0..=count).map(field).collect()
    };
    let path = entity(world, &key, fields(0)).await;
    let webhooks = format!(
        "{}/inbound-webhooks",
        path.rsplit_once("/entities").unwrap().0
    );
    let body = json!({"entity_key": "patient", "name": "Lab", "per_minute": 1_000_000});
    let webhook = data(world, &key, "POST", &webhooks, body).await;
    let entrance = format!(
        "/api/svc/v1/incoming/{}",
        webhook["token"].as_str().unwrap()
    );
    let records = format!("{path}/records");
    let one = data(
        world,
        &key,
        "POST",
        &records,
        json!({"fields": {"f0": "x"}}),
    )
    .await;
    let one = format!("{records}/{}", one["id"].as_str().unwrap());
    let writer = async |writer: usize| {
        for turn in 0..25 {
            let value = format!("{writer}-{turn}");
            let fields = json!({"fields": {"f0": value}});
            let posted = Request::new("POST", &entrance).json(&json!({"f0": value}));
            let answers = [
                call(world, &key, "POST", &records, fields.clone()).await,
                call(world, &key, "PATCH", &one, fields).await,
                world.gateway.answer(&posted).await,
            ];
            let told = answers.each_ref().map(|answer| answer.status);
            let texts = answers.each_ref().map(|answer| answer.text());
            assert_eq!(told, [201, 200, 201], "{texts:?}");
        }
    };
    let changer = async {
        for count in 1..40 {
            let body = json!({"fields": fields(count)});
            let answers = join_all((0..3).map(|_| call(world, &key, "PUT", &path, body.clone())));
            for answer in answers.await {
                assert_eq!(answer.status, 200, "{}", answer.text());
            }
        }
    };
    futures_util::future::join(join_all((0..3).map(writer)), changer).await;
    let entity = data(world, &key, "GET", &path, Value::Null).await;
    assert_eq!(
        entity["schema_version"], 40,
        "the same schema again is no change"
    );
}

async fn every_problem_of_a_schema_is_told(world: &World) {
    let key = world.organization().key;
    let app = app(world, &key).await;
    let body = json!({"fields": [{"key": "A", "type": "varchar"}, {"key": "b", "type": "enum"}], "more": 1});
    let path = format!("/v1/apps/{app}/entities/Patient");
    let refused = call(world, &key, "PUT", &path, body).await;
    assert_eq!(refused.status, 422);
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(
        named,
        [
            "fields[0].key",
            "fields[0].type",
            "fields[1].values",
            "more",
            "entity_key"
        ]
    );
}

async fn an_inbound_webhook_shows_its_token_once(world: &World) {
    let key = world.organization().key;
    let path = entity(world, &key, json!([{"key": "mrn", "type": "string"}])).await;
    let webhooks = format!(
        "{}/inbound-webhooks",
        path.split_once("/entities").unwrap().0
    );
    let body = json!({"entity_key": "patient", "name": "Lab"});
    let answer = call(world, &key, "POST", &webhooks, body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let mut made = answer.json()["data"].clone();
    let token = made["token"].take().as_str().unwrap().to_owned();
    made.as_object_mut().unwrap().shift_remove("token");
    assert!(token.starts_with("svc_in_") && token.len() == 47);
    let hint = format!("svc_in_…{}", &token[43..]);
    assert_eq!(
        (&made["token_hint"], &made["status"]),
        (&json!(hint), &json!("active"))
    );
    assert_eq!(
        (&made["per_minute"], &made["last_used_at"]),
        (&json!(120), &Value::Null)
    );
    let one = format!("{webhooks}/{}", made["id"].as_str().unwrap());
    assert_eq!(data(world, &key, "GET", &one, Value::Null).await, made);
    let update = json!({"name": "Lab 2", "status": "inactive", "per_minute": 7});
    let changed = data(world, &key, "PATCH", &one, update).await;
    assert_eq!(
        (&changed["name"], &changed["status"], &changed["per_minute"]),
        (&json!("Lab 2"), &json!("inactive"), &json!(7))
    );
    let back = data(world, &key, "PATCH", &one, json!({"per_minute": null})).await;
    assert_eq!(back["per_minute"], 120);
    for (status, count) in [("active", 0), ("inactive", 1)] {
        let listed = format!("{webhooks}?status={status}");
        let listed = data(world, &key, "GET", &listed, Value::Null).await;
        assert_eq!(listed.as_array().unwrap().len(), count);
    }
    let rotate = format!("{one}/rotate-token");
    let rotated = data(world, &key, "POST", &rotate, Value::Null).await;
    assert_ne!(rotated["token"], json!(token));
    let rows = world
        .gateway
        .database
        .rows(
            "SELECT token_digest, token_hint FROM inbound_webhooks WHERE id = $1",
            &[made["id"].as_str().unwrap()],
        )
        .await;
    let text = format!("{rows:?}");
    assert!(!text.contains(&token) && !text.contains(rotated["token"].as_str().unwrap()));
    let stranger = world.organization().key;
    for (method, path) in [("GET", &one), ("DELETE", &one), ("POST", &rotate)] {
        assert_eq!(
            code(world, &stranger, method, path, Value::Null, 404).await,
            "RESOURCE_NOT_FOUND"
        );
    }
    let gone = data(world, &key, "DELETE", &one, Value::Null).await;
    assert_eq!(gone["deleted"], true);
    assert_eq!(
        code(world, &key, "GET", &one, Value::Null, 404).await,
        "RESOURCE_NOT_FOUND"
    );
    let request = Request::new("POST", "/v1/apps").bearer(&world.organization().key);
    let missing = world.gateway.answer(&request).await;
    assert_eq!(missing.status, 422);
}

async fn a_mapping_names_fields_and_is_flagged(world: &World) {
    let key = world.organization().key;
    let path = entity(world, &key, json!([{"key": "mrn", "type": "string"}])).await;
    let webhooks = format!(
        "{}/inbound-webhooks",
        path.split_once("/entities").unwrap().0
    );
    let body = |entity: &str, mapping: Value| json!({"entity_key": entity, "name": "Lab", "field_mapping": mapping});
    for (body, param) in [
        (body("visit", json!({})), "entity_key"),
        (
            body("patient", json!({"id": "nickname"})),
            "field_mapping.id",
        ),
        (body("patient", json!({"id": 1})), "field_mapping.id"),
        (body("patient", json!({"a..b": "mrn"})), "field_mapping"),
        (
            json!({"entity_key": "patient", "name": "Lab", "per_minute": -1}),
            "per_minute",
        ),
        (
            json!({"entity_key": "patient", "name": "Lab", "status": "asleep"}),
            "status",
        ),
    ] {
        let refused = call(world, &key, "POST", &webhooks, body.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (422, &json!(param)),
            "{body}"
        );
    }
    // The form of a mapping is judged with the rest, its fields once there is an entity.
    let wrong = json!({"entity_key": "patient", "field_mapping": {"id": 1, "a": "nickname"}});
    for (more, named) in [
        (json!({}), vec!["field_mapping.id", "name"]),
        (
            json!({"name": "Lab"}),
            vec!["field_mapping.id", "field_mapping.a"],
        ),
    ] {
        let mut body = wrong.clone();
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let refused = call(world, &key, "POST", &webhooks, body).await;
        let details = refused.json()["error"]["details"].clone();
        let found: Vec<&String> = details.as_object().unwrap().keys().collect();
        assert_eq!(refused.status, 422);
        assert_eq!(found, named);
    }
    let both = body("patient", json!({"patient.id": "mrn", "id": "mrn"}));
    let made = data(world, &key, "POST", &webhooks, both).await;
    assert_eq!(
        made["field_mapping"],
        json!({"patient.id": "mrn", "id": "mrn"})
    );
    assert_eq!(made["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(made["warnings"][0]["param"], "field_mapping.patient.id");
    let one = body("patient", json!({"id": "mrn"}));
    let one = data(world, &key, "POST", &webhooks, one).await;
    assert_eq!(one["warnings"], json!([]));
    // The schema loses the field; the mapping stays.
    let fields = json!({"fields": [{"key": "born", "type": "date"}]});
    data(world, &key, "PUT", &path, fields).await;
    let one = format!("{webhooks}/{}", one["id"].as_str().unwrap());
    let read = data(world, &key, "GET", &one, Value::Null).await;
    assert_eq!(read["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(read["warnings"][0]["param"], "field_mapping.id");
    let listed = data(world, &key, "GET", &webhooks, Value::Null).await;
    assert!(listed.as_array().unwrap().contains(&read));
    let mended = json!({"field_mapping": {"id": "born"}});
    let mended = data(world, &key, "PATCH", &one, mended).await;
    assert_eq!(mended["warnings"], json!([]));
}
