//! The outbox of webhooks: events become deliveries in their own transaction, or not at all.

use serde_json::json;
use svc_core::id::IdKind;
use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::webhook::{EventName, Subscription};
use svc_store::outbox::{self, Event};
use svc_store::seal::Content;
use svc_store::webhook_endpoint::{self, Disabled, Endpoint, Health};
use svc_store::{Store, StoreError, TransactionError};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    an_event_becomes_a_delivery_for_whoever_asked_for_it,
    what_happens_under_a_plan_without_webhooks_is_held,
    what_is_rolled_back_is_not_delivered,
    bodies_and_secrets_are_sealed,
    whoever_dispatches_is_told_after_the_commit,
}

pub(crate) const APP: &str = "01J0000000000000000000000A";
pub(crate) const SECRET: &str = "whsec_first-secret-of-an-endpoint";

pub(crate) fn endpoint(org_id: &str) -> Endpoint {
    Endpoint {
        id: fixture::id(IdKind::WebhookEndpoint),
        org_id: org_id.to_owned(),
        mode: Mode::Live,
        url: "https://hooks.example.org/in".to_owned(),
        description: None,
        subscription: Subscription {
            events: vec!["*".to_owned()],
            app_id: None,
            entity_keys: None,
        },
        max_in_flight: 5,
        disabled: None,
        secret_hint: "…oint".to_owned(),
        secret_created_at: NOW,
        previous_secret_expires_at: None,
        health: Health::default(),
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) async fn store_endpoint(store: &Store, endpoint: &Endpoint) {
    let Endpoint { org_id, id, .. } = endpoint;
    let sealed = webhook_endpoint::seal_secret(store, org_id, id, &Content::new(SECRET))
        .await
        .unwrap();
    let stored = endpoint.clone();
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            webhook_endpoint::insert(&mut tx, &stored, sealed).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
    let read = webhook_endpoint::find(store, org_id, endpoint.mode, id).await;
    assert_eq!(read.unwrap().as_ref(), Some(endpoint));
}

pub(crate) fn event(org_id: &str) -> Event {
    Event {
        org_id: org_id.to_owned(),
        mode: Mode::Live,
        name: EventName::RecordCreated,
        app_id: APP.to_owned(),
        entity_key: "patient".to_owned(),
        at: NOW,
        data: json!({"record_id": "01J0000000000000000000000R", "note": "Ulrike Zzyzx"}),
    }
}

pub(crate) async fn publish(
    store: &Store,
    events: Vec<Event>,
) -> Result<(), TransactionError<&'static str>> {
    publish_to(store, events, Tier::ALL.to_vec()).await
}

async fn publish_to(
    store: &Store,
    events: Vec<Event>,
    with_webhooks: Vec<Tier>,
) -> Result<(), TransactionError<&'static str>> {
    store
        .transaction(move |mut tx| {
            Box::pin(async move {
                outbox::publish(&mut tx, &events, &with_webhooks).await?;
                Ok(())
            })
        })
        .await
}

/// `endpoint status` of all deliveries, sorted.
async fn deliveries(db: &TestDb) -> Vec<String> {
    let mut found = db
        .texts("SELECT endpoint_id || ' ' || status FROM webhook_deliveries")
        .await;
    found.sort();
    found
}

fn one(endpoint: &Endpoint, status: &str) -> String {
    format!("{} {status}", endpoint.id)
}

async fn an_event_becomes_a_delivery_for_whoever_asked_for_it(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let other = fixture::organization(&store).await.organization_id;
    let all = endpoint(&org);
    let mut named = endpoint(&org);
    named.subscription.events = vec!["record.created".to_owned(), "schema.updated".to_owned()];
    named.subscription.app_id = Some(APP.to_owned());
    named.subscription.entity_keys = Some(vec!["patient".to_owned()]);
    let mut off = endpoint(&org);
    off.disabled = Some(Disabled::Manual);
    let mut deaf = endpoint(&org);
    deaf.subscription.events = vec!["record.deleted".to_owned()];
    let mut elsewhere = endpoint(&org);
    elsewhere.subscription.app_id = Some("01J0000000000000000000000B".to_owned());
    let mut test = endpoint(&org);
    test.mode = Mode::Test;
    let stranger = endpoint(&other);
    for endpoint in [&all, &named, &off, &deaf, &elsewhere, &test, &stranger] {
        store_endpoint(&store, endpoint).await;
    }
    publish(&store, vec![event(&org)]).await.unwrap();
    let mut expected = vec![
        one(&all, "pending"),
        one(&named, "pending"),
        one(&off, "held"),
    ];
    expected.sort();
    assert_eq!(deliveries(&db).await, expected);
    let mut updated = event(&org);
    updated.name = EventName::RecordUpdated;
    publish(&store, vec![updated, event(&other)]).await.unwrap();
    expected.push(one(&all, "pending"));
    expected.push(one(&off, "held"));
    expected.push(one(&stranger, "pending"));
    expected.sort();
    assert_eq!(deliveries(&db).await, expected);
}

async fn what_happens_under_a_plan_without_webhooks_is_held(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let endpoint = endpoint(&org);
    store_endpoint(&store, &endpoint).await;
    for (with_webhooks, status) in [
        (vec![Tier::Enterprise], "held"),
        (vec![Tier::Evaluation, Tier::Standard], "pending"),
    ] {
        let events = vec![event(&org)];
        publish_to(&store, events, with_webhooks).await.unwrap();
        let found = deliveries(&db).await;
        assert!(found.contains(&one(&endpoint, status)), "{found:?}");
    }
}

async fn what_is_rolled_back_is_not_delivered(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    store_endpoint(&store, &endpoint(&org)).await;
    let published = event(&org);
    let refused: Result<(), TransactionError<&str>> = store
        .transaction(move |mut tx| {
            Box::pin(async move {
                outbox::publish(&mut tx, &[published], &Tier::ALL).await?;
                Err(TransactionError::Refused("no"))
            })
        })
        .await;
    assert!(matches!(refused, Err(TransactionError::Refused("no"))));
    assert!(deliveries(&db).await.is_empty());
}

async fn bodies_and_secrets_are_sealed(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    store_endpoint(&store, &endpoint(&org)).await;
    publish(&store, vec![event(&org)]).await.unwrap();
    for legible in ["Zzyzx", "first-secret-of-an-endpoint"] {
        assert!(!db.holds(legible), "{legible}");
    }
    assert!(db.holds("hooks.example.org"));
    // Without its key nothing is published in the clear.
    db.tamper("UPDATE webhook_endpoints SET wrapped_key = secret")
        .await
        .unwrap();
    let failed = publish(&store, vec![event(&org)]).await.unwrap_err();
    assert!(matches!(
        failed,
        TransactionError::Store(StoreError::Seal(_))
    ));
}

async fn whoever_dispatches_is_told_after_the_commit(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let (listening, off) = (endpoint(&org), {
        let mut off = endpoint(&org);
        off.disabled = Some(Disabled::Manual);
        off
    });
    store_endpoint(&store, &listening).await;
    store_endpoint(&store, &off).await;
    let waiting = outbox::woken(&store);
    publish(&store, vec![event(&org)]).await.unwrap();
    let woken = waiting.await;
    assert_eq!(
        woken.endpoints.into_iter().collect::<Vec<_>>(),
        [listening.id]
    );
    assert!(!woken.everywhere);
}
