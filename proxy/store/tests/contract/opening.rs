//! Opening, migrating, closing, and running work from anywhere.

use futures_util::StreamExt;
use futures_util::future::{join, join_all};
use futures_util::stream::FuturesUnordered;
use svc_core::secret;
use svc_core::secret::Mode;
use svc_store::api_key::{self, ApiKey};
use svc_store::audit::{self, Filter};
use svc_store::master_key::MasterKey;
use svc_store::page::Page;
use svc_store::{Store, StoreError, StoreOptions, organization};
use tokio::runtime::{Builder, Handle};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    a_store_opens_again_and_keeps_what_it_had,
    many_replicas_may_open_an_empty_database_at_once,
    a_newer_or_different_schema_is_refused,
    one_failing_write_among_many_fails_alone,
    callers_may_stand_on_another_runtime,
    a_store_may_be_dropped_after_its_runtime,
    work_outlives_a_caller_that_goes_away,
    a_full_queue_refuses_at_once,
    a_closed_store_says_so,
    the_least_of_connections_is_enough_for_a_report,
}

async fn a_store_opens_again_and_keeps_what_it_had(db: TestDb) {
    let store = db.open().await;
    let made = fixture::organization(&store).await;
    store.ping().await.unwrap();
    store.close().await;
    for _ in 0..2 {
        let store = db.open().await;
        let digest = secret::digest(&made.api_key);
        assert!(
            api_key::find_by_digest(&store, &digest, NOW)
                .await
                .unwrap()
                .is_some()
        );
    }
}

async fn many_replicas_may_open_an_empty_database_at_once(db: TestDb) {
    let opened = join_all((0..6).map(|_| db.try_open())).await;
    for store in opened {
        store.unwrap().ping().await.unwrap();
    }
}

async fn a_newer_or_different_schema_is_refused(db: TestDb) {
    db.open().await.close().await;
    db.tamper(
        "INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, 'later', 'x')",
    )
    .await
    .unwrap();
    let newer = db.try_open().await;
    assert!(matches!(newer, Err(StoreError::Schema(why)) if why.contains("9999")));
    db.tamper("DELETE FROM schema_migrations WHERE version = 9999")
        .await
        .unwrap();
    db.open().await.close().await;
    db.tamper("UPDATE schema_migrations SET checksum = 'x' WHERE version = 1")
        .await
        .unwrap();
    assert!(matches!(db.try_open().await, Err(StoreError::Schema(_))));
}

pub(crate) fn key(number: u8, org: &str) -> ApiKey {
    ApiKey {
        id: format!("key_{number}"),
        org_id: org.to_owned(),
        mode: Mode::Live,
        name: "key".to_owned(),
        hint: "svc_api_live_…x9Qz".to_owned(),
        scopes: vec![],
        default_version: None,
        per_minute: None,
        delegating_user_id: None,
        created_by: api_key::Creator {
            kind: "user".to_owned(),
            id: "user_1".to_owned(),
        },
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

async fn one_failing_write_among_many_fails_alone(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let taken = [0; 32];
    api_key::create(&store, &key(0, &org), &taken)
        .await
        .unwrap();
    let works = (1..=100_u8).map(|number| {
        let (store, key) = (store.clone(), key(number, &org));
        // Every tenth asks for a digest that is taken.
        let digest = if number % 10 == 0 {
            taken
        } else {
            [number; 32]
        };
        async move { api_key::create(&store, &key, &digest).await }
    });
    for (number, created) in (1..=100_u8).zip(join_all(works).await) {
        let found = api_key::find(&store, &org, &format!("key_{number}"))
            .await
            .unwrap();
        assert_eq!(found.is_some(), number % 10 != 0);
        assert_eq!(created.is_ok(), number % 10 != 0);
    }
}

async fn callers_may_stand_on_another_runtime(db: TestDb) {
    let url = db.url.clone();
    let check = move || {
        let background = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let caller = Builder::new_current_thread().build().unwrap();
        let (options, master) = (StoreOptions::default(), MasterKey::from_bytes([7; 32]));
        // The caller's runtime has neither timers nor sockets: everything must happen on the other one.
        caller.block_on(async {
            let store = Store::open(&url, options, master, background.handle())
                .await
                .unwrap();
            let made = fixture::organization(&store).await;
            let found = organization::find(&store, &made.organization_id)
                .await
                .unwrap();
            assert!(found.is_some());
            store.close().await;
        });
    };
    tokio::task::spawn_blocking(check).await.unwrap();
}

async fn a_store_may_be_dropped_after_its_runtime(db: TestDb) {
    let url = db.url.clone();
    let check = move || {
        let background = Builder::new_multi_thread().enable_all().build().unwrap();
        let (options, master) = (StoreOptions::default(), MasterKey::from_bytes([7; 32]));
        let store = background.block_on(async {
            let store = Store::open(&url, options, master, background.handle())
                .await
                .unwrap();
            store.ping().await.unwrap();
            store
        });
        drop(background);
        drop(store);
    };
    tokio::task::spawn_blocking(check).await.unwrap();
}

async fn work_outlives_a_caller_that_goes_away(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    // One poll hands the work in; then the caller is gone. Now and then all is done within that poll.
    let mut given_in = Vec::new();
    for number in 1..=100 {
        let (key, digest) = (key(number, &org), [number; 32]);
        given_in.push(key.id.clone());
        let mut creating = Box::pin(api_key::create(&store, &key, &digest));
        if futures_util::poll!(&mut creating).is_pending() {
            break;
        }
    }
    assert!(given_in.len() < 100, "nobody ever had to wait");
    store.close().await;
    let again = db.open().await;
    for id in given_in {
        assert!(
            api_key::find(&again, &org, &id).await.unwrap().is_some(),
            "{id}"
        );
    }
}

async fn a_full_queue_refuses_at_once(db: TestDb) {
    let options = StoreOptions {
        connections: 1,
        queue_jobs: 4,
    };
    let master = MasterKey::from_bytes([7; 32]);
    let store = Store::open(&db.url, options, master, &Handle::current())
        .await
        .unwrap();
    let org = fixture::organization(&store).await.organization_id;
    let keys: Vec<ApiKey> = (1..=200_u8).map(|number| key(number, &org)).collect();
    let digests: Vec<[u8; 32]> = (1..=200_u8).map(|number| [number; 32]).collect();
    let writes = keys
        .iter()
        .zip(&digests)
        .map(|(key, digest)| api_key::create(&store, key, digest));
    let results = join_all(writes).await;
    let refused = results
        .iter()
        .filter(|result| matches!(result, Err(StoreError::Overloaded)))
        .count();
    let done = results.iter().filter(|result| result.is_ok()).count();
    assert!(
        done >= 4 && refused > 0 && done + refused == 200,
        "{done} done, {refused} refused"
    );
    // The room is free again.
    store.ping().await.unwrap();
}

async fn a_closed_store_says_so(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let other = store.clone();
    store.close().await;
    assert!(matches!(other.ping().await, Err(StoreError::Closed)));
    let written = api_key::create(&other, &key(1, &org), &[1; 32]).await;
    assert!(matches!(written, Err(StoreError::Closed)));
    other.close().await;
}

/// Reads what may be much.
async fn report(store: &Store) -> Result<(), StoreError> {
    let page = Page {
        limit: 10,
        after: None,
        created_after: None,
        created_before: None,
    };
    let found = audit::list(store, "org_1", Mode::Live, &Filter::default(), &page).await;
    found.map(drop)
}

async fn the_least_of_connections_is_enough_for_a_report(db: TestDb) {
    let options = StoreOptions {
        connections: 0,
        ..StoreOptions::default()
    };
    let master = MasterKey::from_bytes([7; 32]);
    let store = Store::open(&db.url, options, master, &Handle::current())
        .await
        .unwrap();
    report(&store).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_that_waits_on_postgres_ends_with_the_store() {
    let db = TestDb::postgres().await;
    let store = db.open().await;
    let locked = db.begin().await;
    let locked = locked
        .run("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE")
        .await;
    let mut reports: FuturesUnordered<_> = (0..3).map(|_| report(&store)).collect();
    let closing = async {
        db.until_somebody_waits().await;
        store.close().await;
    };
    let ends = async {
        let first = reports.next().await.unwrap();
        assert!(matches!(first, Err(StoreError::Closed)), "{first:?}");
        locked.commit().await;
        while let Some(other) = reports.next().await {
            other.unwrap();
        }
    };
    join(closing, ends).await;
}

#[tokio::test]
async fn other_addresses_are_refused() {
    for url in [
        "mysql://localhost/x",
        "sqlite::memory:",
        "sqlite://",
        "store.db",
    ] {
        let master = MasterKey::from_bytes([7; 32]);
        let opened = Store::open(url, StoreOptions::default(), master, &Handle::current()).await;
        assert!(matches!(opened, Err(StoreError::Address(_))), "{url}");
    }
}
