//! Records: sealed in their rows, turned away when their schema has changed, and one for each inbound key.

use serde_json::{Map, Value, json};
use svc_core::entity::{Schema, Values};
use svc_core::fault::Problems;
use svc_core::id::IdKind;
use svc_core::secret::{self, Mode};
use svc_core::time::Timestamp;
use svc_store::app::{self, App};
use svc_store::entity::{self, Entity, Judged, NewEntity, RecordKey};
use svc_store::idempotency::{self, REPLAY_MS, Scope};
use svc_store::page::Page;
use svc_store::record::{self, CreatedVia, Record};
use svc_store::{Store, TransactionError};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_record_opens_in_its_row_alone,
    what_was_judged_by_an_old_schema_is_turned_away,
    as_many_records_are_held_as_their_size_allows,
    records_outlive_a_rotation_of_the_organization_key,
    a_key_keeps_the_first_answer_for_a_day,
}

fn schema(fields: Value) -> Schema {
    Schema::stored(fields).unwrap()
}

fn values(mrn: &str) -> Values {
    let mut problems = Problems::default();
    let fields = json!([{"key": "mrn", "type": "string"}]);
    let input = Map::from_iter([("mrn".to_owned(), json!(mrn))]);
    schema(fields).judge(input, "", &mut problems)
}

fn record(mrn: &str) -> Record {
    Record {
        id: IdKind::Bare.make(NOW, rand::random()),
        values: values(mrn),
        created_via: CreatedVia::Api,
        origin_delivery_id: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

/// An entity of a new organization and app.
async fn entity(store: &Store) -> Entity {
    let org_id = fixture::organization(store).await.organization_id;
    let app = App {
        id: IdKind::Bare.make(NOW, rand::random()),
        org_id: org_id.clone(),
        mode: Mode::Live,
        name: "Intake".to_owned(),
        created_at: NOW,
    };
    let new = NewEntity {
        id: IdKind::Bare.make(NOW, rand::random()),
        org_id,
        mode: Mode::Live,
        app_id: app.id.clone(),
        key: "patient".to_owned(),
        schema: schema(json!([{"key": "mrn", "type": "string", "phi": true}])),
        now: NOW,
    };
    let entity = Entity::new(store, new).await.unwrap();
    let stored = entity.clone();
    let storing = store.transaction(move |mut tx| {
        Box::pin(async move {
            app::insert(&mut tx, &app).await?;
            entity::insert(&mut tx, &stored).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    storing.await.unwrap();
    entity
}

async fn insert(store: &Store, entity: &Entity, records: &[Record]) -> Judged {
    let key = RecordKey::of(store, entity).await.unwrap();
    let (entity, records) = (entity.clone(), records.to_vec());
    let inserting = store.transaction(move |mut tx| {
        Box::pin(async move {
            let judged = record::insert(&mut tx, &entity, &key, &records).await?;
            match judged {
                Judged::Current => Ok(judged),
                Judged::Outdated => Err(TransactionError::Refused(judged)),
            }
        })
    });
    match inserting.await {
        Ok(judged) | Err(TransactionError::Refused(judged)) => judged,
        Err(TransactionError::Store(error)) => panic!("{error}"),
    }
}

/// The text of a record's values; none for a record that is not there.
async fn read(store: &Store, entity: &Entity, id: &str) -> Result<Option<String>, String> {
    let key = RecordKey::of(store, entity).await.unwrap();
    let found = record::find(store, entity, &key, id).await;
    let found = found.map_err(|error| error.to_string())?;
    Ok(found.map(|record| record.values.to_text()))
}

async fn as_many_records_are_held_as_their_size_allows(db: TestDb) {
    let store = db.open().await;
    let entity = entity(&store).await;
    let megabyte = json!({"mrn": "x".repeat(1_000_000)}).to_string();
    for _ in 0..5 {
        let record = Record {
            values: Values::from_text(&megabyte).unwrap(),
            ..record("x")
        };
        insert(&store, &entity, &[record]).await;
    }
    let page = Page {
        limit: 100,
        after: None,
        created_after: None,
        created_before: None,
    };
    let key = || RecordKey::of(&store, &entity);
    let listed = record::list(&store, &entity, key().await.unwrap(), &page).await;
    let listed = listed.unwrap();
    assert_eq!((listed.rows.len(), listed.has_more), (4, true));
    let key = key().await.unwrap();
    let (mut after, mut batches) = (String::new(), Vec::new());
    loop {
        let mut seen = 0;
        let last = record::scan(&store, &entity, &key, &after, |_| seen += 1).await;
        let Some(last) = last.unwrap() else { break };
        batches.push(seen);
        after = last;
    }
    assert_eq!(batches, [4, 1]);
}

async fn a_record_opens_in_its_row_alone(db: TestDb) {
    let store = db.open().await;
    let entity = entity(&store).await;
    let (one, two) = (record("brindlemoor-1"), record("brindlemoor-2"));
    let both = [one.clone(), two.clone()];
    assert_eq!(insert(&store, &entity, &both).await, Judged::Current);
    assert_eq!(
        read(&store, &entity, &one.id).await.unwrap().as_deref(),
        Some(r#"{"mrn":"brindlemoor-1"}"#)
    );
    assert!(!db.holds("brindlemoor"), "legible in the files");
    let moved = format!(
        "UPDATE records SET fields = (SELECT fields FROM records WHERE id = '{}') WHERE id = '{}'",
        two.id, one.id
    );
    assert_eq!(db.tamper(&moved).await.unwrap(), 1);
    let refused = read(&store, &entity, &one.id).await.unwrap_err();
    assert!(refused.contains("does not open"), "{refused}");
    assert!(read(&store, &entity, &two.id).await.is_ok());
}

async fn replace(store: &Store, before: &Entity, fields: Value) -> Judged {
    let (before, schema) = (before.clone(), schema(fields));
    let replacing = store.transaction(move |mut tx| {
        Box::pin(async move {
            let judged = entity::replace_schema(&mut tx, &before, &schema, NOW).await?;
            Ok::<_, TransactionError<()>>(judged)
        })
    });
    replacing.await.unwrap()
}

async fn what_was_judged_by_an_old_schema_is_turned_away(db: TestDb) {
    let store = db.open().await;
    let before = entity(&store).await;
    let kept = record("1");
    insert(&store, &before, std::slice::from_ref(&kept)).await;
    let wider = json!([{"key": "mrn", "type": "string"}, {"key": "born", "type": "date"}]);
    assert_eq!(
        replace(&store, &before, wider.clone()).await,
        Judged::Current
    );
    let narrow = json!([{"key": "mrn", "type": "string", "required": true}]);
    assert_eq!(replace(&store, &before, narrow).await, Judged::Outdated);
    let late = record("2");
    let judged = insert(&store, &before, std::slice::from_ref(&late)).await;
    assert_eq!(judged, Judged::Outdated);
    assert_eq!(read(&store, &before, &late.id).await.unwrap(), None);
    let key = RecordKey::of(&store, &before).await.unwrap();
    let (old, changed) = (before.clone(), kept.clone());
    let updating = store.transaction(move |mut tx| {
        Box::pin(async move {
            let judged = record::update(&mut tx, &old, &key, &changed).await?;
            Ok::<_, TransactionError<()>>(judged)
        })
    });
    assert_eq!(updating.await.unwrap(), Judged::Outdated);
    let (org, app) = (&before.org_id, &before.app_id);
    let found = entity::find(&store, org, Mode::Live, app, "patient").await;
    let now = found.unwrap().unwrap();
    assert_eq!(
        (now.schema_version, now.schema.to_json()),
        (2, schema(wider).to_json())
    );
    assert_eq!(insert(&store, &now, &[late]).await, Judged::Current);
    let elsewhere = entity::find(&store, org, Mode::Test, app, "patient").await;
    assert!(elsewhere.unwrap().is_none());
}

async fn records_outlive_a_rotation_of_the_organization_key(db: TestDb) {
    let store = db.open().await;
    let entity = entity(&store).await;
    let org = &entity.org_id;
    let kept = record("kept");
    insert(&store, &entity, std::slice::from_ref(&kept)).await;
    fixture::rotate(&store, org).await.unwrap();
    assert_eq!(entity::rewrap(&store, org).await.unwrap(), 1);
    assert_eq!(entity::rewrap(&store, org).await.unwrap(), 0);
    db.tamper("DELETE FROM org_keys WHERE version = 1")
        .await
        .unwrap();
    let fresh = db.open().await;
    let found = entity::find(&fresh, org, Mode::Live, &entity.app_id, "patient").await;
    let found = found.unwrap().unwrap();
    assert!(read(&fresh, &found, &kept.id).await.unwrap().is_some());
}

async fn keep(store: &Store, scope: &Scope, response: &[u8], now: Timestamp) -> Option<Vec<u8>> {
    let (scope, response) = (scope.clone(), response.to_vec());
    let keeping = store.transaction(move |mut tx| {
        Box::pin(async move {
            let first = idempotency::keep(&mut tx, &scope, response, now).await?;
            Ok::<_, TransactionError<()>>(first)
        })
    });
    keeping.await.unwrap()
}

async fn a_key_keeps_the_first_answer_for_a_day(db: TestDb) {
    let store = db.open().await;
    let scope = Scope {
        org_id: fixture::organization(&store).await.organization_id,
        mode: Mode::Live,
        principal_id: "iwh_1".to_owned(),
        key_digest: secret::digest("k"),
    };
    assert_eq!(idempotency::kept(&store, &scope, NOW).await.unwrap(), None);
    let answers = ["one", "two", "three"].map(|answer| answer.as_bytes());
    let kept = answers.map(|answer| keep(&store, &scope, answer, NOW));
    let told = futures_util::future::join_all(kept).await;
    let first = idempotency::kept(&store, &scope, NOW)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(told.iter().filter(|told| told.is_none()).count(), 1);
    assert!(told.iter().flatten().all(|told| *told == first));
    let last = NOW.plus_ms(REPLAY_MS - 1);
    assert_eq!(keep(&store, &scope, b"late", last).await, Some(first));
    let over = NOW.plus_ms(REPLAY_MS);
    assert_eq!(idempotency::kept(&store, &scope, over).await.unwrap(), None);
    assert_eq!(keep(&store, &scope, b"next day", over).await, None);
    assert_eq!(
        idempotency::kept(&store, &scope, over).await.unwrap(),
        Some(b"next day".to_vec())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_waits_on_postgres_for_records_that_are_on_their_way() {
    let db = TestDb::postgres().await;
    let store = db.open().await;
    let before = entity(&store).await;
    let id = record("").id;
    let insert = format!(
        "INSERT INTO records (id, org_id, mode, app_id, entity_id, fields, created_via, created_at, updated_at) \
         VALUES ('{id}', '{}', 'live', '{}', '{}', '', 'api', 0, 0)",
        before.org_id, before.app_id, before.id
    );
    let under_way = db.begin().await.run(&insert).await;
    let narrow = json!([{"key": "mrn", "type": "string", "required": true}]);
    let waiting = async {
        // Somebody stands before the row that the foreign key of the insert holds.
        db.until_somebody_waits().await;
        under_way.commit().await;
    };
    let (judged, ()) = futures_util::future::join(replace(&store, &before, narrow), waiting).await;
    assert_eq!(judged, Judged::Current);
}
