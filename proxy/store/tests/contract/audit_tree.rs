//! The tree over the audit log: every row a leaf once, proofs that verify, retention, and what the triggers refuse.

use futures_util::future::join_all;
use serde_json::Value;
use svc_core::audit_leaf;
use svc_core::chat::Role;
use svc_core::checkpoint::{Checkpoint, Signer};
use svc_core::merkle;
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_store::audit::{self, Filter, Listed, Phase};
use svc_store::audit_tree::{self, AbsentPage, Passed, Sealed};
use svc_store::conversation::{self, TURN_MESSAGES, Thread};
use svc_store::master_key::MasterKey;
use svc_store::page::{Order, Page};
use svc_store::retention::{self, MIN_AUDIT_DAYS};
use svc_store::{Store, audit_key, signing_key};

use crate::database::TestDb;
use crate::fixture::{self, NOW};

on_both! {
    the_log_has_one_key_whoever_opens_it,
    rows_become_leaves_once_in_the_order_of_their_commits,
    replicas_that_seal_at_once_double_nothing,
    every_row_is_proven_and_older_trees_are_beginnings,
    sealed_rows_and_their_tree_refuse_every_change,
    rows_expire_and_the_proofs_of_the_others_stay,
    younger_and_unsealed_rows_outlive_any_retention,
    conversations_expire_with_their_messages,
    a_long_conversation_expires_some_messages_at_a_time,
    an_organization_that_fails_keeps_no_other_waiting,
    absent_rows_are_listed,
    what_is_absent_is_found_page_by_page,
    rows_that_were_removed_unsealed_hold_up_no_other,
    rows_in_the_place_of_sealed_ones_hold_up_no_other,
}

pub(crate) async fn signer(store: &Store) -> Signer {
    audit_key::open(store, "test/log", NOW).await.unwrap()
}

/// Rows of one batch here.
const BATCH_ROWS: u32 = 512;

/// Seals all that waits.
pub(crate) async fn seal_all(store: &Store, signer: &Signer) {
    let mut passed = Passed::default();
    loop {
        let sealed = audit_tree::seal(store, signer, NOW, BATCH_ROWS, passed).await;
        let sealed = sealed.unwrap();
        if !sealed.more {
            return;
        }
        passed = sealed.passed;
    }
}

async fn append(store: &Store, request_id: &str) -> String {
    append_at(store, "org_1", request_id, NOW).await
}

async fn append_at(store: &Store, org_id: &str, request_id: &str, at: Timestamp) -> String {
    let mut row = fixture::row(org_id, request_id, Phase::Single, "budget.updated");
    row.occurred_at = at;
    audit::append(store, &[row.clone()]).await.unwrap();
    row.id
}

async fn listed(store: &Store, org_id: &str) -> Vec<Listed> {
    let page = Page {
        limit: 5_000,
        after: None,
        created_after: None,
        created_before: None,
    };
    let filter = Filter {
        order: Order::OldestFirst,
        ..Filter::default()
    };
    let found = audit::list(store, org_id, Mode::Live, &filter, &page).await;
    found.unwrap().rows
}

async fn checkpoint(store: &Store, signer: &Signer) -> Checkpoint {
    let signed = audit_tree::signed(store).await.unwrap();
    let checkpoint = signer.verifier().open(&signed.checkpoint).unwrap();
    assert_eq!(checkpoint.head.size, signed.size);
    checkpoint
}

async fn the_log_has_one_key_whoever_opens_it(db: TestDb) {
    let stores = [db.open().await, db.open().await];
    let opening = stores.iter().enumerate().map(|(number, store)| async move {
        let origin = format!("test/log-{number}");
        let signer = audit_key::open(store, &origin, NOW).await.unwrap();
        signer.verifier()
    });
    let verifiers = join_all(opening).await;
    assert_eq!(verifiers[0], verifiers[1]);
    let shown = audit_key::verifier(&stores[0]).await.unwrap();
    assert_eq!(shown.as_ref(), Some(&verifiers[0]));
    let empty = checkpoint(&stores[1], &signer(&stores[1]).await).await;
    assert_eq!(
        (empty.head.size, empty.head.root),
        (0, merkle::empty_root())
    );
    let key = "7 BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n8 CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=\n";
    let key = key.replacen("7 ", "1 ", 1);
    let rotated = db.open_with(MasterKey::parse(&key).unwrap()).await.unwrap();
    signing_key::rewrap(&rotated).await.unwrap();
    let newest = key.lines().last().unwrap();
    let later = db.open_with(MasterKey::parse(newest).unwrap()).await;
    assert_eq!(signer(&later.unwrap()).await.verifier(), verifiers[0]);
    let stranger = db.open_with(MasterKey::from_bytes([9; 32])).await.unwrap();
    assert!(audit_key::open(&stranger, "x", NOW).await.is_err());
}

async fn rows_become_leaves_once_in_the_order_of_their_commits(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let mut ids = Vec::new();
    let many = BATCH_ROWS + 70;
    for number in 0..many {
        let request_id = format!("req_{number}");
        let mut row = fixture::row("org_1", &request_id, Phase::Single, "a");
        // Ids and times run the other way: neither decides the order.
        row.id = format!("aud_{:05}", many - number);
        row.occurred_at = NOW.plus_ms(-i64::from(number));
        ids.push(row.id.clone());
        audit::append(&store, &[row]).await.unwrap();
    }
    let before = listed(&store, "org_1").await;
    assert!(before.iter().all(|row| row.leaf.is_none() && row.waits));
    let first = audit_tree::seal(&store, &signer, NOW, BATCH_ROWS, Passed::default())
        .await
        .unwrap();
    assert_eq!((first.rows, first.more), (u64::from(BATCH_ROWS), true));
    seal_all(&store, &signer).await;
    let mut rows = listed(&store, "org_1").await;
    rows.sort_by_key(|row| row.leaf.unwrap().index);
    let sealed: Vec<&String> = rows.iter().map(|row| &row.id).collect();
    assert_eq!(sealed, ids.iter().collect::<Vec<_>>());
    for row in &rows {
        assert_eq!(
            audit_leaf::hash(&row.document),
            row.leaf.map(|leaf| leaf.hash)
        );
        assert!(!row.waits);
    }
    assert_eq!(checkpoint(&store, &signer).await.head.size, u64::from(many));
    let again = audit_tree::seal(&store, &signer, NOW, BATCH_ROWS, Passed::default())
        .await
        .unwrap();
    assert_eq!((again.rows, again.more), (0, false));
}

async fn replicas_that_seal_at_once_double_nothing(db: TestDb) {
    let stores = [db.open().await, db.open().await, db.open().await];
    let signer = signer(&stores[0]).await;
    let writing = (0..120).map(|number| {
        let store = stores[number % 3].clone();
        async move { append(&store, &format!("req_{number}")).await }
    });
    let sealing = (0..30).map(|number| {
        let (store, signer) = (stores[number % 3].clone(), &signer);
        async move {
            audit_tree::seal(&store, signer, NOW, BATCH_ROWS, Passed::default())
                .await
                .unwrap()
                .rows
        }
    });
    let (_, sealed) = futures_util::future::join(join_all(writing), join_all(sealing)).await;
    let before: u64 = sealed.iter().sum();
    assert_eq!(checkpoint(&stores[0], &signer).await.head.size, before);
    seal_all(&stores[1], &signer).await;
    let mut indexes: Vec<u64> = listed(&stores[2], "org_1")
        .await
        .iter()
        .map(|row| row.leaf.unwrap().index)
        .collect();
    indexes.sort_unstable();
    assert_eq!(indexes, (0..120).collect::<Vec<u64>>());
}

/// On PostgreSQL a transaction may take its number and be committed long after others with larger ones.
/// SQLite has one writer: there, numbers are given in the order of commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_was_committed_late_is_sealed_later() {
    let db = TestDb::postgres().await;
    let store = db.open().await;
    let signer = signer(&store).await;
    let open = db.begin().await;
    let late = "INSERT INTO audit (id, org_id, mode, phase, event, occurred_at, actor_type, result, phi_detected, document) \
                VALUES ('aud_late', 'org_1', 'live', 'single', 'a', 1, 'system', 'success', FALSE, '{\"id\":\"aud_late\"}')";
    let open = open.run(late).await;
    for number in 0..3 {
        append(&store, &format!("req_{number}")).await;
    }
    seal_all(&store, &signer).await;
    assert_eq!(checkpoint(&store, &signer).await.head.size, 3);
    open.commit().await;
    seal_all(&store, &signer).await;
    let proof = audit_tree::prove(&store, "org_1", Mode::Live, "aud_late").await;
    assert_eq!(proof.unwrap().unwrap().leaf.index, 3);
}

async fn every_row_is_proven_and_older_trees_are_beginnings(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let mut ids = Vec::new();
    let mut heads = vec![checkpoint(&store, &signer).await.head];
    for number in 0..40 {
        ids.push(append(&store, &format!("req_{number}")).await);
        seal_all(&store, &signer).await;
        heads.push(checkpoint(&store, &signer).await.head);
    }
    for id in &ids {
        let proof = audit_tree::prove(&store, "org_1", Mode::Live, id).await;
        let proof = proof.unwrap().unwrap();
        let head = signer
            .verifier()
            .open(&proof.signed.checkpoint)
            .unwrap()
            .head;
        let leaf = proof.leaf;
        assert!(merkle::includes(
            &head.root,
            head.size,
            leaf.index,
            &leaf.hash,
            &proof.hashes
        ));
        for (org, mode) in [("org_2", Mode::Live), ("org_1", Mode::Test)] {
            let others = audit_tree::prove(&store, org, mode, id).await.unwrap();
            assert!(others.is_none());
        }
    }
    for (old, new) in [(0, 40), (1, 40), (17, 33), (32, 40), (40, 40)] {
        let proof = audit_tree::consistency(&store, old, new).await.unwrap();
        assert!(merkle::extends(
            &heads[old as usize],
            &heads[new as usize],
            &proof
        ));
    }
    assert!(audit_tree::consistency(&store, 3, 2).await.is_err());
    assert!(audit_tree::consistency(&store, 3, 41).await.is_err());
    let unsealed = append(&store, "req_unsealed").await;
    assert_eq!(
        audit_tree::last_waiting(&store).await.unwrap(),
        Some(unsealed.clone())
    );
    assert!(!audit_tree::is_sealed(&store, &unsealed).await.unwrap());
    let none = audit_tree::prove(&store, "org_1", Mode::Live, &unsealed).await;
    assert!(none.unwrap().is_none());
}

async fn sealed_rows_and_their_tree_refuse_every_change(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    for number in 0..20 {
        append(&store, &format!("req_{number}")).await;
    }
    seal_all(&store, &signer).await;
    append(&store, "req_waiting").await;
    let mut attempts = vec![
        "UPDATE audit SET document = '{}'",
        "DELETE FROM audit",
        "UPDATE audit_leaves SET leaf_index = leaf_index + 1",
        "DELETE FROM audit_leaves",
        "UPDATE audit_nodes SET position = 9",
        "DELETE FROM audit_nodes",
        "UPDATE audit_unsealed SET audit_id = 'aud_x'",
        "DELETE FROM audit_unsealed",
        "UPDATE audit_tree SET size = 1",
        "DELETE FROM audit_tree",
    ];
    if db.is_sqlite() {
        attempts.extend([
            "REPLACE INTO audit SELECT * FROM audit",
            "REPLACE INTO audit SELECT 'aud_x', org_id, mode, request_id, phase, event, occurred_at, actor_type, \
             actor_id, target_type, target_id, result, surface, model, phi_detected, document FROM audit",
            "REPLACE INTO audit (rowid, id, phase, event, occurred_at, actor_type, result, phi_detected, document) \
             SELECT rowid, 'aud_x', phase, event, occurred_at, actor_type, result, phi_detected, '{}' FROM audit",
            "REPLACE INTO audit_leaves SELECT * FROM audit_leaves",
            "REPLACE INTO audit_leaves SELECT leaf_index + 100, audit_id, leaf_hash, org_id, mode, occurred_at \
             FROM audit_leaves",
            "REPLACE INTO audit_nodes SELECT * FROM audit_nodes",
            "REPLACE INTO audit_nodes (rowid, height, position, hash) SELECT rowid, 90, position, hash FROM audit_nodes",
            "REPLACE INTO audit_unsealed SELECT * FROM audit_unsealed",
            "REPLACE INTO audit_tree SELECT * FROM audit_tree",
        ]);
    } else {
        attempts.extend([
            "TRUNCATE audit",
            "TRUNCATE audit_leaves",
            "TRUNCATE audit_nodes",
            "TRUNCATE audit_unsealed",
            "TRUNCATE audit_tree",
        ]);
    }
    for attempt in attempts {
        let refused = db.tamper(attempt).await.unwrap_err();
        assert!(refused.contains("is append-only"), "{attempt}: {refused}");
    }
    assert_eq!(listed(&store, "org_1").await.len(), 21);
    assert_eq!(checkpoint(&store, &signer).await.head.size, 20);
}

/// The clock of the machine: the triggers go by the database's own.
fn now() -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap())
}

fn days_ago(days: u32) -> Timestamp {
    now().plus_ms(-i64::from(days) * MS_PER_DAY)
}

async fn rows_expire_and_the_proofs_of_the_others_stay(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let org = fixture::organization(&store).await.organization_id;
    let old = append_at(&store, &org, "req_old", days_ago(MIN_AUDIT_DAYS + 1)).await;
    let young = append_at(&store, &org, "req_young", days_ago(MIN_AUDIT_DAYS - 1)).await;
    seal_all(&store, &signer).await;
    let proof = audit_tree::prove(&store, &org, Mode::Live, &young).await;
    let proof = proof.unwrap().unwrap();
    let gone = retention::expire(&store, now()).await.unwrap();
    assert_eq!((gone.audit_rows, gone.failed), (1, 0));
    let again = retention::expire(&store, now()).await.unwrap();
    assert_eq!(again.audit_rows, 0);
    seal_all(&store, &signer).await;
    let rows = listed(&store, &org).await;
    assert!(rows.iter().all(|row| row.id != old));
    let expired = rows.last().unwrap();
    assert_eq!(expired.document["event"], "audit.expired");
    assert_eq!(expired.document["actor"]["type"], "system");
    assert_eq!(expired.document["details"]["rows"], 1);
    // The proof of before, and a fresh one against the tree of now.
    let head = signer
        .verifier()
        .open(&proof.signed.checkpoint)
        .unwrap()
        .head;
    assert!(merkle::includes(
        &head.root,
        head.size,
        proof.leaf.index,
        &proof.leaf.hash,
        &proof.hashes
    ));
    let fresh = audit_tree::prove(&store, &org, Mode::Live, &young).await;
    let fresh = fresh.unwrap().unwrap();
    let later = checkpoint(&store, &signer).await.head;
    assert!(merkle::includes(
        &later.root,
        later.size,
        fresh.leaf.index,
        &fresh.leaf.hash,
        &fresh.hashes
    ));
    let consistency = audit_tree::consistency(&store, head.size, later.size).await;
    assert!(merkle::extends(&head, &later, &consistency.unwrap()));
    // The expired row is still a leaf that can be proven.
    let leaf = audit_tree::prove(&store, &org, Mode::Live, &old).await;
    assert!(leaf.unwrap().is_some());
}

async fn younger_and_unsealed_rows_outlive_any_retention(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let org = fixture::organization(&store).await.organization_id;
    let longer = format!("UPDATE organizations SET audit_days = 4000 WHERE id = '{org}'");
    db.tamper(&longer).await.unwrap();
    append_at(&store, &org, "req_1", days_ago(3_999)).await;
    append_at(&store, &org, "req_2", days_ago(4_001)).await;
    // Not sealed: it stays.
    assert_eq!(
        retention::expire(&store, now()).await.unwrap().audit_rows,
        0
    );
    seal_all(&store, &signer).await;
    let refused = db
        .tamper("DELETE FROM audit WHERE request_id = 'req_1'")
        .await;
    assert!(refused.unwrap_err().contains("is append-only"));
    // A job whose clock is wrong is refused by the triggers.
    let wrong = retention::expire(&store, now().plus_ms(30 * MS_PER_DAY)).await;
    let wrong = wrong.unwrap();
    assert_eq!((wrong.audit_rows, wrong.failed), (0, 1));
    assert_eq!(
        retention::expire(&store, now()).await.unwrap().audit_rows,
        1
    );
    let shorter = format!("UPDATE organizations SET audit_days = 2189 WHERE id = '{org}'");
    assert!(db.tamper(&shorter).await.is_err());
}

async fn conversations_expire_with_their_messages(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let mut kept = Vec::new();
    for (number, at) in [(1, days_ago(366)), (2, days_ago(364))] {
        let request_id = format!("req_{number}");
        let intent = fixture::intent(&org, &request_id);
        fixture::open(&store, &intent, &fixture::hold(&org, &request_id, 1))
            .await
            .unwrap();
        let mut settlement = fixture::settlement(&org, &request_id, 1);
        let thread = fixture::new_thread();
        kept.push(fixture::thread_id(&thread));
        settlement.turn = Some(fixture::turn(thread, ["a", "b"]));
        settlement.now = at;
        svc_store::inference::settle(&store, &settlement)
            .await
            .unwrap();
    }
    let gone = retention::expire(&store, now()).await.unwrap();
    assert_eq!(gone.conversations, 1);
    let left = db.texts("SELECT id FROM conversations").await;
    assert_eq!(left, [kept[1].clone()]);
    let messages = db.texts("SELECT conversation_id FROM messages").await;
    assert_eq!(messages, [kept[1].clone(), kept[1].clone()]);
    let rows = listed(&store, &org).await;
    let expired: Vec<&Value> = rows
        .iter()
        .map(|row| &row.document)
        .filter(|row| row["event"] == "conversation.expired")
        .collect();
    assert_eq!(expired.len(), 1);
    assert_eq!(expired[0]["details"]["conversations"], 1);
}

async fn a_long_conversation_expires_some_messages_at_a_time(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let mut thread = fixture::new_thread();
    let id = fixture::thread_id(&thread);
    for _ in 0..6 {
        let mut turn = fixture::turn(thread, ["a", "b"]);
        turn.messages = (0..TURN_MESSAGES)
            .map(|_| fixture::message(Role::User, "a"))
            .collect();
        fixture::append(&store, &org, Mode::Live, &turn, days_ago(366)).await;
        let loaded = conversation::load(&store, &org, Mode::Live, &id, 1).await;
        thread = Thread::Existing(loaded.unwrap().unwrap().handle);
    }
    let gone = retention::expire(&store, now()).await.unwrap();
    assert_eq!((gone.conversations, gone.failed), (1, 0));
    assert!(db.texts("SELECT id FROM conversations").await.is_empty());
    assert!(db.texts("SELECT id FROM messages").await.is_empty());
    let mut removed: Vec<(u64, u64)> = listed(&store, &org)
        .await
        .iter()
        .map(|row| &row.document)
        .filter(|row| row["event"] == "conversation.expired")
        .map(|row| {
            let count = |what: &str| row["details"][what].as_u64().unwrap();
            (count("conversations"), count("messages"))
        })
        .collect();
    removed.sort_unstable();
    assert_eq!(removed, [(0, 500), (1, 100)]);
}

async fn an_organization_that_fails_keeps_no_other_waiting(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let mut orgs = Vec::new();
    for _ in 0..2 {
        orgs.push(fixture::organization(&store).await.organization_id);
    }
    orgs.sort();
    // The triggers refuse to have the row of the first one removed before its time.
    let longer = format!(
        "UPDATE organizations SET audit_days = 4000 WHERE id = '{}'",
        orgs[0]
    );
    db.tamper(&longer).await.unwrap();
    append_at(&store, &orgs[0], "req_1", days_ago(3_999)).await;
    append_at(&store, &orgs[1], "req_2", days_ago(3_999)).await;
    seal_all(&store, &signer).await;
    let early = now().plus_ms(30 * MS_PER_DAY);
    let gone = retention::expire(&store, early).await.unwrap();
    assert_eq!((gone.audit_rows, gone.failed), (1, 1));
}

async fn absent_rows_are_listed(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(append(&store, &format!("req_{number}")).await);
    }
    append_at(&store, "org_2", "req_theirs", NOW).await;
    seal_all(&store, &signer).await;
    let page = |size| AbsentPage {
        from: None,
        to: None,
        size,
        after: None,
        limit: 10,
    };
    let absent = async |page: AbsentPage| {
        let found = audit_tree::absent(&store, "org_1", Mode::Live, &page).await;
        let leaves = found.unwrap().leaves.into_iter();
        leaves.map(|absent| absent.audit_id).collect::<Vec<_>>()
    };
    assert!(absent(page(5)).await.is_empty());
    db.disarm().await;
    db.tamper(&format!("DELETE FROM audit WHERE id = '{}'", ids[1]))
        .await
        .unwrap();
    let moved = format!("UPDATE audit SET org_id = 'org_2' WHERE id = '{}'", ids[2]);
    db.tamper(&moved).await.unwrap();
    assert_eq!(absent(page(5)).await, ids[1..3]);
    assert_eq!(absent(page(2)).await, ids[1..2]);
    let next = AbsentPage {
        after: Some((NOW, 1)),
        ..page(5)
    };
    assert_eq!(absent(next).await, ids[2..3]);
    let earlier = AbsentPage {
        to: Some(NOW),
        ..page(5)
    };
    assert!(absent(earlier).await.is_empty());
    append(&store, "req_lost").await;
    db.tamper("DELETE FROM audit WHERE request_id = 'req_lost'")
        .await
        .unwrap();
    assert_eq!(audit_tree::lost(&store).await.unwrap(), 1);
}

/// Leaves that one page looks at.
const LOOKED_AT: u32 = 200_000;

async fn what_is_absent_is_found_page_by_page(db: TestDb) {
    let store = db.open().await;
    let (before, now, after) = (NOW.0 - 1, NOW.0, NOW.0 + i64::from(LOOKED_AT));
    let at = format!("{now} + n / 3");
    let many = ["'inference.completed'", at.as_str(), "FALSE"];
    fixture::many_rows(&db, LOOKED_AT, many).await;
    let hash = "x".repeat(32);
    let bytes = if db.is_sqlite() { "BLOB" } else { "BYTEA" };
    let leaves = format!(
        "INSERT INTO audit_leaves (leaf_index, audit_id, leaf_hash, org_id, mode, occurred_at) \
         SELECT n, id, CAST('{hash}' AS {bytes}), 'org_1', 'live', at FROM \
         (SELECT CAST(SUBSTR(id, 5) AS BIGINT) + 3 AS n, id, occurred_at AS at FROM audit \
         UNION ALL SELECT 0, 'gone_0', {before} UNION ALL SELECT 1, 'gone_1', {before} \
         UNION ALL SELECT 2, 'gone_2', {before} UNION ALL SELECT {LOOKED_AT} + 3, 'gone_3', {after}) AS leaves"
    );
    db.tamper(&leaves).await.unwrap();
    let mut after = None;
    let mut pages = Vec::new();
    loop {
        let page = AbsentPage {
            from: None,
            to: None,
            size: u64::from(LOOKED_AT) + 4,
            after,
            limit: 2,
        };
        let found = audit_tree::absent(&store, "org_1", Mode::Live, &page).await;
        let found = found.unwrap();
        let leaves = found.leaves.into_iter();
        pages.push(leaves.map(|absent| absent.audit_id).collect::<Vec<_>>());
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    // The second one ends before it is full.
    let expected = [&["gone_0", "gone_1"][..], &["gone_2"], &["gone_3"]];
    assert_eq!(pages, expected);
}

async fn rows_that_were_removed_unsealed_hold_up_no_other(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    // More than one batch of them, and some between others.
    for number in 0..9 {
        append(&store, &format!("req_lost_{number}")).await;
    }
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(append(&store, &format!("req_{number}")).await);
        append(&store, &format!("req_lost_between_{number}")).await;
    }
    db.disarm().await;
    let lost = db
        .tamper("DELETE FROM audit WHERE request_id LIKE 'req_lost%'")
        .await;
    assert_eq!(lost.unwrap(), 14);
    let most = 4;
    let mut sealed = Vec::new();
    let mut passed = Passed::default();
    loop {
        let batch = audit_tree::seal(&store, &signer, NOW, most, passed).await;
        let batch = batch.unwrap();
        sealed.push(batch.rows);
        passed = batch.passed;
        if !batch.more {
            break;
        }
    }
    assert_eq!(sealed.iter().sum::<u64>(), 5, "{sealed:?}");
    assert!(sealed.iter().all(|rows| *rows <= u64::from(most)));
    for (index, id) in (0..).zip(&ids) {
        let proof = audit_tree::prove(&store, "org_1", Mode::Live, id).await;
        assert_eq!(proof.unwrap().unwrap().leaf.index, index);
    }
    // They stay as the trace of what was done.
    assert_eq!(audit_tree::lost(&store).await.unwrap(), 14);
    // One batch looks at a few entries only, and the next one goes on where it stopped.
    let id = append(&store, "req_behind_them").await;
    let batch = async |passed| {
        let batch = audit_tree::seal(&store, &signer, NOW, 1, passed).await;
        batch.unwrap()
    };
    let (first, again) = (
        batch(Passed::default()).await,
        batch(Passed::default()).await,
    );
    assert_eq!((first.rows, first.more), (0, true));
    assert_eq!(first, again);
    let next = batch(first.passed).await;
    assert_eq!(next.rows, 1);
    assert!(audit_tree::is_sealed(&store, &id).await.unwrap());
    // All of them are known by now.
    assert_eq!(
        batch(next.passed).await,
        Sealed {
            rows: 0,
            replaced: 0,
            more: false,
            passed: next.passed
        }
    );
}

async fn rows_in_the_place_of_sealed_ones_hold_up_no_other(db: TestDb) {
    let store = db.open().await;
    let signer = signer(&store).await;
    let row = fixture::row("org_1", "req_1", Phase::Single, "budget.updated");
    audit::append(&store, std::slice::from_ref(&row))
        .await
        .unwrap();
    seal_all(&store, &signer).await;
    let leaf = async || {
        let proof = audit_tree::prove(&store, "org_1", Mode::Live, &row.id).await;
        proof.unwrap().unwrap().leaf
    };
    let sealed = leaf().await;
    db.disarm().await;
    db.tamper("DELETE FROM audit").await.unwrap();
    let mut other = row.clone();
    other.event = "budget.forged".to_owned();
    audit::append(&store, &[other]).await.unwrap();
    let behind = append(&store, "req_2").await;
    let batch = async || {
        let batch = audit_tree::seal(&store, &signer, NOW, BATCH_ROWS, Passed::default()).await;
        batch.unwrap()
    };
    let first = batch().await;
    assert_eq!((first.rows, first.replaced, first.more), (0, 1, true));
    let next = batch().await;
    assert_eq!((next.rows, next.replaced, next.more), (1, 0, false));
    assert!(audit_tree::is_sealed(&store, &behind).await.unwrap());
    // What was sealed is what was there.
    assert_eq!(leaf().await, sealed);
}
