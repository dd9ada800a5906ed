//! What a dispatcher does with the outbox: leases, results, the health of endpoints, replays, the end of the log.

use futures_util::future::join;
use serde_json::Value;
use svc_core::id::IdKind;
use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_core::webhook::AttemptError;
use svc_store::outbox::{self, Ask, Attempt, Done, Due, LEASE_MS, Lane, Lease, Next, Trigger};
use svc_store::page::Page;
use svc_store::seal::Content;
use svc_store::webhook_delivery::{self, Detailed, Filter, Status};
use svc_store::webhook_endpoint::{self, Disabled, Endpoint, NewSecret};
use svc_store::webhook_replay::{self, Call, Intent, Reason, Replay, Wanted};
use svc_store::{Store, TransactionError, audit};

use crate::database::TestDb;
use crate::fixture::{self, NOW};
use crate::outbox::{SECRET, endpoint, event, publish, store_endpoint};

on_both! {
    a_lease_is_one_replicas_until_it_runs_out,
    of_two_results_the_one_of_the_last_lease_counts,
    what_is_delivered_is_what_was_published,
    replicas_share_the_room_of_an_endpoint,
    results_of_every_kind_are_written,
    an_endpoint_that_fails_for_days_is_disabled,
    what_waits_at_an_endpoint_that_is_off_is_held_and_at_one_that_is_gone_cancelled,
    what_waits_under_a_plan_without_webhooks_is_held,
    a_rotated_secret_signs_beside_the_new_one,
    a_replay_starts_anew_with_the_same_body,
    many_are_replayed_at_once,
    leases_are_handed_back,
    endpoints_at_which_something_waits_are_found,
    what_has_been_over_for_long_is_removed,
}

async fn one_endpoint(store: &Store) -> Endpoint {
    let org = fixture::organization(store).await.organization_id;
    let endpoint = endpoint(&org);
    store_endpoint(store, &endpoint).await;
    endpoint
}

async fn publish_many(store: &Store, endpoint: &Endpoint, count: usize) {
    let events = (0..count).map(|_| event(&endpoint.org_id)).collect();
    publish(store, events).await.unwrap();
}

/// What [`turn`] has come to.
struct Taken {
    due: Vec<Due>,
    lanes: Vec<Lane>,
    disabled: Vec<(String, Disabled)>,
    late: usize,
}

/// A replica writes what became of its attempts, and then asks for this much at each endpoint.
async fn turn(
    store: &Store,
    replica: &str,
    now: Timestamp,
    done: Vec<Done>,
    asks: &[(&Endpoint, u32)],
) -> Taken {
    let asks = asks.iter().map(|(endpoint, most)| Ask {
        endpoint_id: endpoint.id.clone(),
        most: *most,
    });
    let settled = outbox::settle(store, replica, now, done).await.unwrap();
    let tiers = Tier::ALL.to_vec();
    let claimed = outbox::claim(store, replica, now, tiers, asks.collect()).await;
    let claimed = claimed.unwrap();
    Taken {
        due: claimed.due,
        lanes: claimed.lanes,
        disabled: settled.disabled,
        late: settled.late,
    }
}

async fn take(store: &Store, endpoint: &Endpoint, most: u32, now: Timestamp) -> Vec<Due> {
    turn(store, "r1", now, Vec::new(), &[(endpoint, most)])
        .await
        .due
}

fn done(lease: &Lease, ended_at: Timestamp, next: Next) -> Done {
    let is_delivered = next == Next::Delivered;
    Done {
        lease: lease.clone(),
        attempt: Attempt {
            started_at: ended_at.plus_ms(-7),
            duration_ms: 7,
            status_code: Some(if is_delivered { 204 } else { 500 }),
            error: (!is_delivered).then_some(AttemptError::Status),
            address: Some("203.0.113.9".to_owned()),
        },
        next,
    }
}

async fn delivery(store: &Store, lease: &Lease) -> Detailed {
    let found = webhook_delivery::find(store, &lease.org_id, lease.mode, &lease.delivery_id).await;
    found.unwrap().unwrap()
}

fn page() -> Page {
    Page {
        limit: 100,
        after: None,
        created_after: None,
        created_before: None,
    }
}

async fn statuses(store: &Store, endpoint: &Endpoint) -> Vec<Status> {
    let filter = Filter {
        endpoint_id: Some(endpoint.id.clone()),
        ..Filter::default()
    };
    let org = &endpoint.org_id;
    let listed = webhook_delivery::list(store, org, Mode::Live, &filter, &page()).await;
    let rows = listed.unwrap().rows;
    for (row, attempts) in &rows {
        let found = webhook_delivery::find(store, org, Mode::Live, &row.id).await;
        assert_eq!(&found.unwrap().unwrap().1, attempts);
    }
    rows.into_iter().map(|(row, _)| row.status).collect()
}

async fn read(store: &Store, endpoint: &Endpoint) -> Endpoint {
    let found = webhook_endpoint::find(store, &endpoint.org_id, Mode::Live, &endpoint.id).await;
    found.unwrap().unwrap()
}

async fn a_lease_is_one_replicas_until_it_runs_out(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 1).await;
    let mine = turn(&store, "r1", NOW, Vec::new(), &[(&endpoint, 5)]).await;
    assert_eq!((mine.due.len(), mine.lanes[0].taken), (1, 1));
    let lease = mine.due[0].lease.clone();
    assert_eq!((lease.number, lease.scheduled_number), (1, 1));
    let before_the_end = NOW.plus_ms(LEASE_MS - 1);
    let theirs = turn(&store, "r2", before_the_end, Vec::new(), &[(&endpoint, 5)]).await;
    assert!(theirs.due.is_empty());
    let after = NOW.plus_ms(LEASE_MS);
    let theirs = turn(&store, "r2", after, Vec::new(), &[(&endpoint, 5)]).await;
    assert_eq!(theirs.due[0].lease.delivery_id, lease.delivery_id);
    // Whoever comes too late changes nothing.
    let late = vec![done(&lease, after, Next::Delivered)];
    let taken = turn(&store, "r1", after, late, &[]).await;
    assert_eq!(taken.late, 1);
    let (found, attempts) = delivery(&store, &lease).await;
    assert_eq!((found.status, attempts.len()), (Status::Delivering, 0));
    let lease = theirs.due[0].lease.clone();
    let in_time = vec![done(&lease, after, Next::Delivered)];
    let taken = turn(&store, "r2", after, in_time.clone(), &[]).await;
    assert_eq!(taken.late, 0);
    let (found, attempts) = delivery(&store, &lease).await;
    assert_eq!((found.status, attempts.len()), (Status::Delivered, 1));
    // Nor does a result count twice.
    assert_eq!(turn(&store, "r2", after, in_time, &[]).await.late, 1);
}

async fn of_two_results_the_one_of_the_last_lease_counts(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 1).await;
    let first = take(&store, &endpoint, 1, NOW).await.remove(0).lease;
    let after = NOW.plus_ms(LEASE_MS);
    let second = take(&store, &endpoint, 1, after).await.remove(0).lease;
    assert_eq!(first.delivery_id, second.delivery_id);
    let both = vec![
        done(&first, after, Next::Exhausted),
        done(&second, after, Next::Delivered),
    ];
    assert_eq!(turn(&store, "r1", after, both, &[]).await.late, 1);
    let (found, attempts) = delivery(&store, &second).await;
    assert_eq!((found.status, attempts.len()), (Status::Delivered, 1));
}

async fn what_is_delivered_is_what_was_published(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 1).await;
    let due = take(&store, &endpoint, 1, NOW).await;
    assert_eq!(due[0].endpoint.url, endpoint.url);
    let opened = outbox::open(&store, &due[0], NOW).await.unwrap();
    assert_eq!(opened.secrets.len(), 1);
    assert_eq!(opened.secrets[0].as_str(), SECRET);
    let body: Value = serde_json::from_slice(&opened.body).unwrap();
    let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    let expected = ["id", "event", "app_id", "entity_key", "timestamp", "data"];
    assert_eq!(fields, expected);
    assert_eq!(body["id"], due[0].lease.delivery_id.as_str());
    assert_eq!(body["timestamp"], "2026-11-20T20:09:00.123+00:00");
    assert_eq!(body["event"], "record.created");
    // The bytes are the same at every attempt, also under another key of the organization.
    fixture::rotate(&store, &endpoint.org_id).await.unwrap();
    let moved = webhook_endpoint::rewrap(&store, &endpoint.org_id).await;
    assert_eq!(moved.unwrap(), 1);
    let later = NOW.plus_ms(LEASE_MS);
    let again = take(&store, &endpoint, 1, later).await;
    let again = outbox::open(&store, &again[0], later).await.unwrap();
    assert_eq!(again.body, opened.body);
}

async fn replicas_share_the_room_of_an_endpoint(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 219).await;
    let mine = turn(&store, "r1", NOW, Vec::new(), &[(&endpoint, 3)]).await;
    assert_eq!(mine.due.len(), 3);
    assert_eq!(mine.lanes[0].max_in_flight, 5);
    let theirs = turn(&store, "r2", NOW, Vec::new(), &[(&endpoint, 5)]).await;
    assert_eq!(theirs.due.len(), 2, "five in flight in all");
    let nobody = turn(&store, "r2", NOW, Vec::new(), &[(&endpoint, 5)]).await;
    assert!(nobody.due.is_empty());
    // A result makes room in the same turn.
    let over = mine
        .due
        .iter()
        .map(|due| done(&due.lease, NOW, Next::Delivered));
    let next = turn(&store, "r1", NOW, over.collect(), &[(&endpoint, 5)]).await;
    assert_eq!(next.due.len(), 3);
}

async fn results_of_every_kind_are_written(db: TestDb) {
    let store = db.open().await;
    let mut endpoint = one_endpoint(&store).await;
    endpoint.max_in_flight = 50;
    change(&store, endpoint.clone()).await;
    publish_many(&store, &endpoint, 50).await;
    let due = take(&store, &endpoint, 50, NOW).await;
    assert_eq!(due.len(), 50);
    let ended = NOW.plus_ms(50);
    let retry_at = ended.plus_ms(10_000);
    let over = due.iter().enumerate().map(|(at, due)| {
        let next = match at {
            0 => Next::Retry { due_at: retry_at },
            1 => Next::Exhausted,
            _ => Next::Delivered,
        };
        done(&due.lease, ended.plus_ms(i64::try_from(at).unwrap()), next)
    });
    turn(&store, "r1", ended, over.collect(), &[]).await;
    let (retried, attempts) = delivery(&store, &due[0].lease).await;
    assert_eq!(
        (
            retried.status,
            retried.next_attempt_at,
            retried.attempt_count
        ),
        (Status::Retrying, Some(retry_at), 1)
    );
    assert_eq!(attempts[0].attempt.error, Some(AttemptError::Status));
    assert_eq!(attempts[0].attempt.address.as_deref(), Some("203.0.113.9"));
    assert_eq!(
        (attempts[0].number, attempts[0].triggered_by),
        (1, Trigger::Schedule)
    );
    let (given_up, _) = delivery(&store, &due[1].lease).await;
    assert_eq!(
        (given_up.status, given_up.next_attempt_at),
        (Status::Exhausted, None)
    );
    let (delivered, attempts) = delivery(&store, &due[49].lease).await;
    assert_eq!(delivered.status, Status::Delivered);
    assert_eq!(delivered.delivered_at, Some(ended.plus_ms(49)));
    assert_eq!(
        (attempts[0].attempt.status_code, attempts[0].attempt.error),
        (Some(204), None)
    );
    let health = read(&store, &endpoint).await.health;
    assert_eq!(health.consecutive_failures, 0);
    assert_eq!(health.last_success_at, Some(ended.plus_ms(49)));
    assert_eq!(health.last_failure_at, Some(ended.plus_ms(1)));
    // Not before its time.
    let early = take(&store, &endpoint, 50, retry_at.plus_ms(-1)).await;
    assert!(early.is_empty());
    let again = take(&store, &endpoint, 50, retry_at).await;
    assert_eq!((again[0].lease.number, again.len()), (2, 1));
    let failed = vec![done(&again[0].lease, retry_at, Next::Exhausted)];
    turn(&store, "r1", retry_at, failed, &[]).await;
    let health = read(&store, &endpoint).await.health;
    assert_eq!(health.consecutive_failures, 1);
}

async fn change(store: &Store, endpoint: Endpoint) {
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            webhook_endpoint::update(&mut tx, &endpoint).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
}

async fn an_endpoint_that_fails_for_days_is_disabled(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    let five_days = NOW.plus_ms(5 * MS_PER_DAY);
    // One failure to begin with, and nineteen deliveries given up, are not enough at the end of five days.
    for (count, at) in [(19, NOW), (1, five_days.plus_ms(7))] {
        publish_many(&store, &endpoint, count).await;
        for _ in 0..count {
            let due = take(&store, &endpoint, 1, at).await;
            let over = vec![done(&due[0].lease, at, Next::Exhausted)];
            let taken = turn(&store, "r1", at, over, &[]).await;
            let expected: &[(String, Disabled)] = if at == NOW {
                &[]
            } else {
                &[(endpoint.id.clone(), Disabled::Failing)]
            };
            assert_eq!(taken.disabled, expected);
        }
        let disabled = read(&store, &endpoint).await.disabled;
        assert_eq!(disabled.is_some(), at != NOW);
    }
    let filter = audit::Filter {
        events: vec!["webhook_endpoint.disabled".to_owned()],
        ..audit::Filter::default()
    };
    let rows = audit::list(&store, &endpoint.org_id, Mode::Live, &filter, &page()).await;
    let rows = rows.unwrap().rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].document["details"]["reason"], "failing");
    assert_eq!(rows[0].document["actor"]["type"], "system");
    // What happens meanwhile is held.
    publish_many(&store, &endpoint, 1).await;
    let found = statuses(&store, &endpoint).await;
    assert_eq!(
        found
            .iter()
            .filter(|status| **status == Status::Held)
            .count(),
        1
    );
    // Switched on again, it starts with a clean record.
    let mut again = read(&store, &endpoint).await;
    again.disabled = None;
    change(&store, again).await;
    assert_eq!(read(&store, &endpoint).await.health.consecutive_failures, 0);
    publish_many(&store, &endpoint, 1).await;
    let later = five_days.plus_ms(60_000);
    let due = take(&store, &endpoint, 1, later).await;
    let over = vec![done(&due[0].lease, later, Next::Exhausted)];
    assert!(
        turn(&store, "r1", later, over, &[])
            .await
            .disabled
            .is_empty()
    );
    // Where the operator lets 410 count, one is enough.
    publish_many(&store, &endpoint, 1).await;
    let due = take(&store, &endpoint, 1, later).await;
    let over = vec![done(&due[0].lease, later, Next::Gone)];
    let taken = turn(&store, "r1", later, over, &[]).await;
    assert_eq!(taken.disabled, [(endpoint.id.clone(), Disabled::Gone)]);
}

async fn what_waits_under_a_plan_without_webhooks_is_held(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 2).await;
    let ask = || {
        vec![Ask {
            endpoint_id: endpoint.id.clone(),
            most: 1,
        }]
    };
    let of_hers = vec![Tier::Standard];
    let claimed = outbox::claim(&store, "r1", NOW, of_hers, ask()).await;
    assert_eq!(claimed.unwrap().due.len(), 1);
    let of_others = vec![Tier::Evaluation, Tier::Enterprise];
    let claimed = outbox::claim(&store, "r1", NOW, of_others, ask()).await;
    let claimed = claimed.unwrap();
    assert!(claimed.due.is_empty());
    assert_eq!(claimed.lanes[0].max_in_flight, 0);
    let mut found = statuses(&store, &endpoint).await;
    found.sort_by_key(|status| status.word());
    assert_eq!(found, [Status::Delivering, Status::Held]);
}

async fn what_waits_at_an_endpoint_that_is_off_is_held_and_at_one_that_is_gone_cancelled(
    db: TestDb,
) {
    let store = db.open().await;
    let mut off = one_endpoint(&store).await;
    let gone = endpoint(&off.org_id);
    store_endpoint(&store, &gone).await;
    publish_many(&store, &off, 3).await;
    let under_way = take(&store, &gone, 1, NOW).await;
    off.disabled = Some(Disabled::Manual);
    change(&store, off.clone()).await;
    let removed = gone.id.clone();
    let done_removing = store.transaction(move |mut tx| {
        Box::pin(async move {
            webhook_endpoint::remove(&mut tx, &removed, NOW).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done_removing.await.unwrap();
    let taken = turn(&store, "r1", NOW, Vec::new(), &[(&off, 5), (&gone, 5)]).await;
    assert!(taken.due.is_empty());
    assert!(taken.lanes.iter().all(|lane| lane.max_in_flight == 0));
    assert_eq!(statuses(&store, &off).await, [Status::Held; 3]);
    let mut left = statuses(&store, &gone).await;
    left.retain(|status| *status != Status::Cancelled);
    assert_eq!(
        left,
        [Status::Delivering],
        "what is under way ends by itself"
    );
    let over = vec![done(&under_way[0].lease, NOW, Next::Delivered)];
    turn(&store, "r1", NOW, over, &[]).await;
    let found = webhook_endpoint::find(&store, &gone.org_id, Mode::Live, &gone.id).await;
    assert!(found.unwrap().is_none());
    let keys = db
        .texts(
            "SELECT id FROM webhook_endpoints WHERE deleted_at IS NOT NULL AND wrapped_key IS NULL",
        )
        .await;
    assert_eq!(keys, [gone.id]);
}

async fn rotate(store: &Store, endpoint: &Endpoint, secret: &str, until: Option<Timestamp>) {
    let (endpoint, new) = (
        endpoint.clone(),
        NewSecret {
            secret: Content::new(secret),
            hint: "…".to_owned(),
            at: NOW,
            previous_until: until,
        },
    );
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            webhook_endpoint::rotate(&mut tx, &endpoint, &new).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    done.await.unwrap();
}

async fn secrets(store: &Store, endpoint: &Endpoint, now: Timestamp) -> Vec<String> {
    publish_many(store, endpoint, 1).await;
    let due = take(store, endpoint, 1, now).await;
    let opened = outbox::open(store, &due[0], now).await.unwrap();
    let over = vec![done(&due[0].lease, now, Next::Delivered)];
    turn(store, "r1", now, over, &[]).await;
    let secrets = opened.secrets.iter();
    secrets.map(|secret| secret.as_str().to_owned()).collect()
}

async fn a_rotated_secret_signs_beside_the_new_one(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    let until = NOW.plus_ms(7 * MS_PER_DAY);
    rotate(&store, &endpoint, "whsec_second", Some(until)).await;
    assert_eq!(
        secrets(&store, &endpoint, NOW).await,
        ["whsec_second", SECRET]
    );
    let last = until.plus_ms(-1);
    assert_eq!(
        secrets(&store, &endpoint, last).await,
        ["whsec_second", SECRET]
    );
    assert_eq!(secrets(&store, &endpoint, until).await, ["whsec_second"]);
    // Twice within the window: the oldest is dropped, because a signature has room for two.
    rotate(&store, &endpoint, "whsec_third", Some(until)).await;
    let both = ["whsec_third", "whsec_second"];
    assert_eq!(secrets(&store, &endpoint, NOW).await, both);
    rotate(&store, &endpoint, "whsec_fourth", None).await;
    assert_eq!(secrets(&store, &endpoint, NOW).await, ["whsec_fourth"]);
    let shown = read(&store, &endpoint).await;
    assert_eq!(shown.previous_secret_expires_at, None);
}

async fn replay(store: &Store, endpoint: &Endpoint, wanted: Wanted, intent: Intent) -> Replay {
    let call = Call {
        id: fixture::id(IdKind::BulkReplay),
        org_id: endpoint.org_id.clone(),
        mode: Mode::Live,
        wanted,
        intent,
        now: NOW,
    };
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            let replay = webhook_replay::replay(&mut tx, &call).await?;
            Ok::<_, TransactionError<()>>(replay)
        })
    });
    done.await.unwrap()
}

async fn a_replay_starts_anew_with_the_same_body(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 3).await;
    let due = take(&store, &endpoint, 2, NOW).await;
    let body = outbox::open(&store, &due[0], NOW).await.unwrap().body;
    let over = vec![
        done(&due[0].lease, NOW, Next::Exhausted),
        done(&due[1].lease, NOW, Next::Delivered),
    ];
    turn(&store, "r1", NOW, over, &[]).await;
    let matching = || Wanted::Matching {
        filter: Filter {
            endpoint_id: Some(endpoint.id.clone()),
            statuses: webhook_replay::USUAL.to_vec(),
            event: None,
        },
        from: NOW,
        to: Some(NOW.plus_ms(1)),
    };
    let would = replay(&store, &endpoint, matching(), Intent::DryRun).await;
    assert_eq!((would.matched, would.enqueued), (1, 1));
    let (found, _) = delivery(&store, &due[0].lease).await;
    assert_eq!(found.status, Status::Exhausted, "a dry run changes nothing");
    let done_replaying = replay(&store, &endpoint, matching(), Intent::Enqueue).await;
    assert_eq!((done_replaying.matched, done_replaying.enqueued), (1, 1));
    let org = &endpoint.org_id;
    let (stored, is_open) = webhook_replay::find(&store, org, Mode::Live, &done_replaying.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((&stored, is_open), (&done_replaying, true));
    let ids = vec![due[0].lease.delivery_id.clone(), "unknown".to_owned()];
    let again = replay(&store, &endpoint, Wanted::Ids(ids), Intent::Enqueue).await;
    let reasons: Vec<Reason> = again.skipped.iter().map(|skipped| skipped.reason).collect();
    assert_eq!(reasons, [Reason::InFlight, Reason::NotFound]);
    let taken = take(&store, &endpoint, 5, NOW).await;
    let replayed = taken
        .iter()
        .find(|taken| taken.lease.delivery_id == due[0].lease.delivery_id)
        .unwrap();
    let lease = &replayed.lease;
    assert_eq!(
        (lease.number, lease.scheduled_number, lease.triggered_by),
        (2, 1, Trigger::Replay)
    );
    let opened = outbox::open(&store, replayed, NOW).await.unwrap();
    assert_eq!(opened.body, body);
    turn(
        &store,
        "r1",
        NOW,
        vec![done(lease, NOW, Next::Delivered)],
        &[],
    )
    .await;
    let (_, is_open) = webhook_replay::find(&store, org, Mode::Live, &done_replaying.id)
        .await
        .unwrap()
        .unwrap();
    assert!(!is_open);
    let mut off = read(&store, &endpoint).await;
    off.disabled = Some(Disabled::Manual);
    change(&store, off).await;
    let ids = vec![due[1].lease.delivery_id.clone()];
    let refused = replay(&store, &endpoint, Wanted::Ids(ids), Intent::Enqueue).await;
    assert_eq!(refused.skipped[0].reason, Reason::EndpointDisabled);
}

async fn many_are_replayed_at_once(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 100).await;
    let sql = "UPDATE webhook_deliveries SET status = 'exhausted', due_at = NULL, settled_at = 1";
    assert_eq!(db.tamper(sql).await, Ok(100));
    let ids = db
        .texts("SELECT id FROM webhook_deliveries ORDER BY id DESC")
        .await;
    let mut asked = ids.clone();
    asked.insert(50, "unknown".to_owned());
    let replayed = replay(&store, &endpoint, Wanted::Ids(asked), Intent::Enqueue).await;
    assert_eq!((replayed.matched, replayed.enqueued), (101, 100));
    assert_eq!(replayed.skipped[0].reason, Reason::NotFound);
    let due = "SELECT id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY id DESC";
    assert_eq!(db.texts(due).await, ids);
}

/// An endpoint with two deliveries that were given up, and their ids.
async fn two_given_up(db: &TestDb) -> (Store, Endpoint, Vec<String>) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 2).await;
    let due = take(&store, &endpoint, 2, NOW).await;
    let over = due
        .iter()
        .map(|due| done(&due.lease, NOW, Next::Exhausted))
        .collect();
    turn(&store, "r1", NOW, over, &[]).await;
    let ids = due.into_iter().map(|due| due.lease.delivery_id).collect();
    (store, endpoint, ids)
}

/// SQLite has one writer: there no two wait for each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replays_on_postgres_lock_deliveries_in_one_order() {
    let db = TestDb::postgres().await;
    let (store, endpoint, mut ids) = two_given_up(&db).await;
    ids.sort_unstable_by(|one, other| other.cmp(one));
    let lock = |id: &str| {
        format!("UPDATE webhook_deliveries SET settled_at = settled_at WHERE id = '{id}'")
    };
    let other = db.begin().await.run(&lock(&ids[1])).await;
    let others = async {
        db.until_somebody_waits().await;
        // Whoever waits for the first one has not got the last one.
        other.run(&lock(&ids[0])).await.commit().await;
    };
    let wanted = Wanted::Ids(ids.clone());
    let (replayed, ()) = join(replay(&store, &endpoint, wanted, Intent::Enqueue), others).await;
    assert_eq!((replayed.matched, replayed.enqueued), (2, 2));
}

/// As the one before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_replays_on_postgres_is_not_waited_for_to_be_removed() {
    let db = TestDb::postgres().await;
    let (store, endpoint, ids) = two_given_up(&db).await;
    let id = &ids[0];
    let again = format!(
        "UPDATE webhook_deliveries SET status = 'pending', settled_at = NULL, due_at = 0 WHERE id = '{id}'"
    );
    let replaying = db.begin().await.run(&again).await;
    let after = NOW.plus_ms(webhook_delivery::KEPT_DAYS * MS_PER_DAY + 1);
    assert_eq!(webhook_delivery::sweep(&store, after).await.unwrap(), 1);
    replaying.commit().await;
    assert_eq!(webhook_delivery::sweep(&store, after).await.unwrap(), 0);
    assert_eq!(statuses(&store, &endpoint).await, [Status::Pending]);
}

async fn leases_are_handed_back(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 3).await;
    let mine = take(&store, &endpoint, 2, NOW).await;
    let failed = vec![done(&mine[0].lease, NOW, Next::Retry { due_at: NOW })];
    turn(&store, "r1", NOW, failed, &[(&endpoint, 5)]).await;
    let back = outbox::hand_back(&store, "r1", NOW).await.unwrap();
    assert_eq!(back, 3);
    assert_eq!(outbox::hand_back(&store, "r1", NOW).await.unwrap(), 0);
    let mut found = statuses(&store, &endpoint).await;
    found.sort_by_key(|status| status.word());
    let expected = [Status::Pending, Status::Pending, Status::Retrying];
    assert_eq!(found, expected);
    let theirs = turn(&store, "r2", NOW, Vec::new(), &[(&endpoint, 5)]).await;
    assert_eq!(theirs.due.len(), 3);
}

async fn endpoints_at_which_something_waits_are_found(db: TestDb) {
    let store = db.open().await;
    let first = one_endpoint(&store).await;
    let mut expected = vec![first.id.clone()];
    for _ in 0..4 {
        let more = endpoint(&first.org_id);
        store_endpoint(&store, &more).await;
        expected.push(more.id);
    }
    let mut quiet = endpoint(&first.org_id);
    quiet.subscription.events = vec!["schema.updated".to_owned()];
    store_endpoint(&store, &quiet).await;
    assert!(outbox::waiting(&store, "", 100).await.unwrap().is_empty());
    publish_many(&store, &first, 7).await;
    expected.sort();
    let found = outbox::waiting(&store, "", 100).await.unwrap();
    let ids: Vec<&String> = found.iter().map(|(id, _)| id).collect();
    assert_eq!(ids, expected.iter().collect::<Vec<_>>());
    assert!(found.iter().all(|(_, due_at)| *due_at == NOW));
    let page = outbox::waiting(&store, &expected[1], 2).await.unwrap();
    let ids: Vec<&String> = page.iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [&expected[2], &expected[3]]);
    assert_eq!(outbox::depth(&store, 100).await.unwrap(), 35);
    assert_eq!(outbox::depth(&store, 10).await.unwrap(), 10);
}

async fn what_has_been_over_for_long_is_removed(db: TestDb) {
    let store = db.open().await;
    let endpoint = one_endpoint(&store).await;
    publish_many(&store, &endpoint, 2).await;
    let due = take(&store, &endpoint, 2, NOW).await;
    let over = vec![
        done(&due[0].lease, NOW, Next::Delivered),
        done(&due[1].lease, NOW, Next::Retry { due_at: NOW }),
    ];
    turn(&store, "r1", NOW, over, &[]).await;
    let kept = NOW.plus_ms(webhook_delivery::KEPT_DAYS * MS_PER_DAY);
    assert_eq!(webhook_delivery::sweep(&store, kept).await.unwrap(), 0);
    let after = kept.plus_ms(1);
    assert_eq!(webhook_delivery::sweep(&store, after).await.unwrap(), 1);
    assert_eq!(statuses(&store, &endpoint).await, [Status::Retrying]);
    let attempts = db.texts("SELECT delivery_id FROM webhook_attempts").await;
    assert_eq!(attempts, [due[1].lease.delivery_id.clone()]);
}
