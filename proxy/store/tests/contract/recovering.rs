//! What replicas that died have left open is closed once.

use futures_util::future::join_all;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_store::audit::Phase;
use svc_store::budget::{self, HoldRequest, Sums};
use svc_store::clock::Clock;
use svc_store::inference::{self, Opened, Settled};
use svc_store::recovery::{self, Recovered};
use svc_store::{Store, audit, replica};

use crate::database::TestDb;
use crate::fixture::{self, LEASE_END, LEASE_MS, NOW, REPLICA};
use crate::postings;

on_both! {
    open_requests_of_a_dead_replica_are_abandoned_once,
    an_abandoned_request_that_costs_nothing_has_no_posting,
    a_living_replica_keeps_what_is_its_own,
    a_hold_without_an_intent_is_given_back_silently,
    a_late_settlement_changes_nothing,
    a_settlement_that_races_with_recovery_ends_with_one_terminal_row,
    leaving_ends_the_lease_at_once,
    a_clock_that_is_set_back_delays_recovery_by_one_lease,
    on_a_server_leases_go_by_its_clock,
}

/// A moment that the test chooses.
const fn at(now: Timestamp) -> (Clock, Timestamp) {
    (Clock::Caller, now)
}

async fn open(store: &Store, org: &str, request: &str) {
    let intent = fixture::intent(org, request);
    let opened = fixture::open(store, &intent, &fixture::hold(org, request, 10)).await;
    assert_eq!(opened.unwrap(), Opened::Held);
}

async fn sums(store: &Store, org: &str) -> Sums {
    budget::sums(store, org, Mode::Live, fixture::cycle().start)
        .await
        .unwrap()
}

async fn open_requests_of_a_dead_replica_are_abandoned_once(db: TestDb) {
    let stores = [db.open().await, db.open().await, db.open().await];
    let store = &stores[0];
    let org = fixture::organization(store).await.organization_id;
    replica::heartbeat(store, REPLICA, at(NOW), LEASE_MS)
        .await
        .unwrap();
    for number in 0..30 {
        open(store, &org, &format!("req_{number}")).await;
    }
    let works = stores.iter().map(|store| {
        let store = store.clone();
        async move {
            recovery::recover_abandoned(&store, at(LEASE_END))
                .await
                .unwrap()
        }
    });
    let mut abandoned = 0;
    for done in join_all(works).await {
        let recovered = done;
        assert_eq!((recovered.released, recovered.more), (0, false));
        abandoned += recovered.abandoned;
    }
    assert_eq!(abandoned, 30);
    assert_eq!(sums(store, &org).await, Sums::default());
    for number in 0..30 {
        let request = format!("req_{number}");
        let rows = audit::by_request(store, &org, Mode::Live, &request)
            .await
            .unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1]["event"], "inference.abandoned");
        assert_eq!(rows[1]["outcome"]["result"], "unknown");
        assert_eq!(rows[1]["actor"], rows[0]["actor"]);
        assert_ne!(rows[1]["id"], rows[0]["id"]);
        let postings = postings::of_request(&db, &org, &request).await;
        assert!(
            postings
                .iter()
                .all(|posting| posting.amount == Micro::ZERO && posting.result == "unknown")
        );
        assert_eq!(postings.len(), 2);
    }
}

async fn a_clock_that_is_set_back_delays_recovery_by_one_lease(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let hour_ms = 3_600_000;
    for replica in [REPLICA, "alive"] {
        replica::heartbeat(&store, replica, at(NOW.plus_ms(hour_ms)), LEASE_MS)
            .await
            .unwrap();
    }
    open(&store, &org, "req_1").await;
    // The clock is set back by an hour. Nobody is taken for dead at once.
    for replica in ["alive", "successor"] {
        replica::heartbeat(&store, replica, at(NOW), LEASE_MS)
            .await
            .unwrap();
    }
    assert_eq!(replica::count_alive(&store, at(NOW)).await.unwrap(), 3);
    let recovered = recovery::recover_abandoned(&store, at(NOW)).await.unwrap();
    assert_eq!(recovered, Recovered::default());
    let later = LEASE_END.plus_ms(-1);
    replica::heartbeat(&store, "alive", at(later), LEASE_MS)
        .await
        .unwrap();
    let recovered = recovery::recover_abandoned(&store, at(LEASE_END)).await;
    assert_eq!(recovered.unwrap().abandoned, 1);
    assert_eq!(
        replica::count_alive(&store, at(LEASE_END)).await.unwrap(),
        1
    );
}

async fn an_abandoned_request_that_costs_nothing_has_no_posting(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let intent = fixture::row(&org, "req_1", Phase::Requested, "token_count.requested");
    let free = HoldRequest {
        allotment: Some(Micro::ZERO),
        worst_case: None,
        ..fixture::hold(&org, "req_1", 0)
    };
    // An allotment of nothing refuses everything but what costs nothing.
    let opened = fixture::open(&store, &intent, &free).await.unwrap();
    assert_eq!(opened, Opened::Held);
    assert_eq!(sums(&store, &org).await, Sums::default());
    let recovered = recovery::recover_abandoned(&store, at(LEASE_END))
        .await
        .unwrap();
    assert_eq!((recovered.abandoned, recovered.released), (1, 0));
    let rows = audit::by_request(&store, &org, Mode::Live, "req_1")
        .await
        .unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1]["event"], "token_count.abandoned");
    let postings = postings::of_request(&db, &org, "req_1").await;
    assert!(postings.is_empty());
    assert_eq!(sums(&store, &org).await, Sums::default());
}

async fn a_living_replica_keeps_what_is_its_own(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    replica::heartbeat(&store, REPLICA, at(NOW), 10)
        .await
        .unwrap();
    assert_eq!(replica::count_alive(&store, at(NOW)).await.unwrap(), 1);
    open(&store, &org, "req_1").await;
    let none = Recovered::default();
    assert_eq!(
        recovery::recover_abandoned(&store, at(NOW.plus_ms(9)))
            .await
            .unwrap(),
        none
    );
    replica::heartbeat(&store, REPLICA, at(NOW), 20)
        .await
        .unwrap();
    assert_eq!(
        recovery::recover_abandoned(&store, at(NOW.plus_ms(19)))
            .await
            .unwrap(),
        none
    );
    replica::heartbeat(&store, "replica-2", at(NOW), LEASE_MS)
        .await
        .unwrap();
    assert_eq!(
        replica::count_alive(&store, at(NOW.plus_ms(19)))
            .await
            .unwrap(),
        2
    );
    let recovered = recovery::recover_abandoned(&store, at(NOW.plus_ms(20)))
        .await
        .unwrap();
    assert_eq!(recovered.abandoned, 1);
    // Dead replicas are counted no more, but the answer stays a divisor.
    assert_eq!(
        replica::count_alive(&store, at(LEASE_END.plus_ms(MS_PER_DAY)))
            .await
            .unwrap(),
        1
    );
}

async fn a_hold_without_an_intent_is_given_back_silently(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    fixture::lone_hold(&db, &org, "req_1", 10).await;
    let recovered = recovery::recover_abandoned(&store, at(NOW)).await.unwrap();
    assert_eq!((recovered.abandoned, recovered.released), (0, 1));
    assert_eq!(sums(&store, &org).await, Sums::default());
    assert!(
        audit::by_request(&store, &org, Mode::Live, "req_1")
            .await
            .unwrap()
            .is_empty()
    );
}

async fn a_late_settlement_changes_nothing(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    open(&store, &org, "req_1").await;
    recovery::recover_abandoned(&store, at(NOW)).await.unwrap();
    let settled = inference::settle(&store, &fixture::settlement(&org, "req_1", 5)).await;
    assert_eq!(settled.unwrap(), Settled::ClosedByRecovery);
    assert_eq!(sums(&store, &org).await, Sums::default());
}

async fn a_settlement_that_races_with_recovery_ends_with_one_terminal_row(db: TestDb) {
    let (store, other) = (db.open().await, db.open().await);
    let org = fixture::organization(&store).await.organization_id;
    let requests: Vec<String> = (0..30).map(|number| format!("req_{number}")).collect();
    for request in &requests {
        open(&store, &org, request).await;
    }
    let settlements: Vec<_> = requests
        .iter()
        .map(|request| fixture::settlement(&org, request, 5))
        .collect();
    let settling = settlements
        .iter()
        .map(|settlement| inference::settle(&store, settlement));
    let (settled, recovered) = tokio::join!(
        join_all(settling),
        recovery::recover_abandoned(&other, at(NOW))
    );
    let done = settled
        .into_iter()
        .filter(|settled| matches!(settled, Ok(Settled::Done)))
        .count();
    assert_eq!(done as u64 + recovered.unwrap().abandoned, 30);
    for request in &requests {
        let rows = audit::by_request(&store, &org, Mode::Live, request)
            .await
            .unwrap();
        assert_eq!(rows.len(), 2);
    }
    let sums = sums(&store, &org).await;
    assert_eq!(sums.used_credits, Micro(5 * i64::try_from(done).unwrap()));
    assert_eq!(
        (sums.held_credits, sums.held_spend_usd),
        (Micro::ZERO, Micro::ZERO)
    );
}

async fn leaving_ends_the_lease_at_once(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    replica::heartbeat(&store, REPLICA, at(NOW), LEASE_MS)
        .await
        .unwrap();
    open(&store, &org, "req_1").await;
    replica::leave(&store, REPLICA).await.unwrap();
    assert_eq!(
        recovery::recover_abandoned(&store, at(NOW))
            .await
            .unwrap()
            .abandoned,
        1
    );
}

async fn on_a_server_leases_go_by_its_clock(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    // A replica whose clock is a day slow, and one whose clock is a day fast and looks after it.
    let slow = (Clock::Server, NOW.plus_ms(-MS_PER_DAY));
    let fast = (Clock::Server, NOW.plus_ms(MS_PER_DAY));
    replica::heartbeat(&store, REPLICA, slow, LEASE_MS)
        .await
        .unwrap();
    open(&store, &org, "req_1").await;
    let recovered = recovery::recover_abandoned(&store, fast).await.unwrap();
    if db.is_sqlite() {
        // Of one machine: its processes have one clock.
        assert_eq!(recovered.abandoned, 1);
        return;
    }
    assert_eq!(recovered, Recovered::default());
    assert_eq!(replica::count_alive(&store, fast).await.unwrap(), 1);
    replica::heartbeat(&store, REPLICA, fast, 0).await.unwrap();
    let recovered = recovery::recover_abandoned(&store, slow).await.unwrap();
    assert_eq!(recovered.abandoned, 1);
}
