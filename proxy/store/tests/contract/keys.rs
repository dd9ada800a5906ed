//! Rotation of organization and master keys re-wraps keys and leaves content alone (contract 19.4).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Map;
use svc_core::secret::Mode;
use svc_store::audit::{Phase, Row};
use svc_store::bootstrap::{Bootstrap, bootstrap};
use svc_store::conversation::{self, Thread};
use svc_store::master_key::MasterKey;
use svc_store::{Store, StoreError, message, org_key};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    after_a_rotation_old_and_new_conversations_open_on_every_replica,
    there_is_no_new_key_without_its_row,
    the_master_key_is_replaced_without_touching_content,
    a_master_key_that_lacks_the_newest_version_is_told_from_another,
    another_master_key_opens_nothing,
    another_master_key_is_known_before_anything_is_written,
    no_table_keeps_a_key_that_is_never_wrapped_anew,
}

/// The tables whose keys `svc-gateway admin rotate-organization-key` wraps anew. Whoever adds one adds its `rewrap` there.
const WRAPPED_BY_ORGANIZATIONS: [&str; 8] = [
    "baa_documents",
    "conversations",
    "end_user_keys",
    "entities",
    "integrations",
    "phi_lists",
    "second_factors",
    "webhook_endpoints",
];
/// The tables whose keys `svc-gateway admin rotate-master-key` wraps anew.
const WRAPPED_BY_THE_MASTER_KEY: [&str; 2] = ["org_keys", "signing_keys"];

async fn no_table_keeps_a_key_that_is_never_wrapped_anew(db: TestDb) {
    db.open().await;
    let wrapping = if db.is_sqlite() {
        "SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c \
         WHERE t.type = 'table' AND c.name IN ('wrapped', 'wrapped_key')"
    } else {
        "SELECT table_name::text FROM information_schema.columns \
         WHERE table_schema = 'public' AND column_name IN ('wrapped', 'wrapped_key')"
    };
    let mut found = db.texts(wrapping).await;
    found.sort();
    let mut known = [
        &WRAPPED_BY_ORGANIZATIONS[..],
        &WRAPPED_BY_THE_MASTER_KEY[..],
    ]
    .concat();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// Stores one turn and returns the id of its reply.
async fn store_turn(store: &Store, org: &str, thread: Thread) -> String {
    let turn = fixture::turn(thread, ["question", "answer"]);
    fixture::append(store, org, Mode::Live, &turn, NOW).await;
    turn.messages[1].id.clone()
}

async fn reads(store: &Store, org: &str, message: &str) -> Result<bool, StoreError> {
    let found = message::find(store, org, Mode::Live, message).await?;
    Ok(found.is_some_and(|found| found.content.as_str() == "answer"))
}

async fn after_a_rotation_old_and_new_conversations_open_on_every_replica(db: TestDb) {
    let (store, replica) = (db.open().await, db.open().await);
    let org = fixture::organization(&store).await.organization_id;
    let old = store_turn(&store, &org, fixture::new_thread()).await;
    assert!(reads(&replica, &org, &old).await.unwrap());
    assert_eq!(fixture::rotate(&store, &org).await.unwrap(), 2);
    let new = store_turn(&store, &org, fixture::new_thread()).await;
    // The replica has the first version in its cache and meets the second one here.
    for message in [&old, &new] {
        assert!(reads(&replica, &org, message).await.unwrap());
    }
    assert_eq!(conversation::rewrap(&store, &org, 1_000).await.unwrap(), 1);
    assert_eq!(conversation::rewrap(&store, &org, 1_000).await.unwrap(), 0);
    db.tamper("DELETE FROM org_keys WHERE version = 1")
        .await
        .unwrap();
    let fresh = db.open().await;
    for message in [&old, &new] {
        assert!(reads(&fresh, &org, message).await.unwrap());
    }
}

async fn there_is_no_new_key_without_its_row(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let row = |version: u32| Row {
        details: Map::from_iter([("version".to_owned(), version.into())]),
        ..fixture::row(&org, "req_1", Phase::Single, "organization_key.rotated")
    };
    assert_eq!(org_key::rotate(&store, &org, NOW, row).await.unwrap(), 2);
    // A request has one such row.
    let refused = org_key::rotate(&store, &org, NOW, row).await;
    assert!(
        matches!(refused, Err(StoreError::Exists { .. })),
        "{refused:?}"
    );
    assert_eq!(fixture::rotate(&store, &org).await.unwrap(), 3);
}

async fn the_master_key_is_replaced_without_touching_content(db: TestDb) {
    let line = |version: u32, byte: u8| format!("{version} {}\n", STANDARD.encode([byte; 32]));
    let key = |lines: String| MasterKey::parse(&lines).unwrap();
    let store = db.open_with(key(line(1, 1))).await.unwrap();
    let org = fixture::organization(&store).await.organization_id;
    let message = store_turn(&store, &org, fixture::new_thread()).await;
    let both = db.open_with(key(line(1, 1) + &line(2, 2))).await.unwrap();
    org_key::rewrap(&both, &org).await.unwrap();
    let next = db.open_with(key(line(2, 2))).await.unwrap();
    assert!(reads(&next, &org, &message).await.unwrap());
    let old = db.open_with(key(line(1, 1))).await.unwrap();
    assert!(matches!(
        reads(&old, &org, &message).await,
        Err(StoreError::Seal(_))
    ));
}

async fn a_master_key_that_lacks_the_newest_version_is_told_from_another(db: TestDb) {
    let line = |version: u32, byte: u8| format!("{version} {}\n", STANDARD.encode([byte; 32]));
    let open = |lines: String| db.open_with(MasterKey::parse(&lines).unwrap());
    let first = open(line(1, 1)).await.unwrap();
    fixture::organization(&first).await;
    let both = open(line(1, 1) + &line(2, 2)).await.unwrap();
    let later = Bootstrap {
        now: NOW.plus_ms(1),
        ..fixture::plan()
    };
    bootstrap(&both, &later).await.unwrap();
    assert_eq!(both.check_master_key().await.unwrap(), None);
    assert_eq!(first.check_master_key().await.unwrap(), Some(2));
    for another in [line(1, 8), line(3, 3)] {
        let another = open(another).await.unwrap();
        assert!(matches!(
            another.check_master_key().await,
            Err(StoreError::Seal(_))
        ));
    }
}

async fn another_master_key_opens_nothing(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let message = store_turn(&store, &org, fixture::new_thread()).await;
    let other = db.open_with(MasterKey::from_bytes([8; 32])).await.unwrap();
    assert!(matches!(
        reads(&other, &org, &message).await,
        Err(StoreError::Seal(_))
    ));
    // Without the wrapped key there is nothing left to open: erased by destroying a key.
    db.tamper("DELETE FROM org_keys").await.unwrap();
    let fresh = db.open().await;
    assert!(matches!(
        reads(&fresh, &org, &message).await,
        Err(StoreError::Missing(_))
    ));
}

async fn another_master_key_is_known_before_anything_is_written(db: TestDb) {
    let other = || db.open_with(MasterKey::from_bytes([8; 32]));
    // Nothing is sealed yet: any key will do.
    let checked = other().await.unwrap().check_master_key().await;
    assert_eq!(checked.unwrap(), None);
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    assert_eq!(store.check_master_key().await.unwrap(), None);
    let other = other().await.unwrap();
    assert!(matches!(
        other.check_master_key().await,
        Err(StoreError::Seal(_))
    ));
    // Of the same version, so that nothing seems to be left to wrap.
    assert!(matches!(
        org_key::rewrap(&other, &org).await,
        Err(StoreError::Seal(_))
    ));
    assert_eq!(org_key::rewrap(&store, &org).await.unwrap(), 0);
}
