//! The audit log and the ledger cannot be changed; epochs.

use futures_util::future::join_all;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_store::audit::{self, APPEND_ROWS, Phase};
use svc_store::bootstrap::template;
use svc_store::inference;
use svc_store::{StoreError, TransactionError, policy_epoch};

use crate::database::TestDb;
use crate::fixture;

on_both! {
    rows_have_the_shape_of_the_contract,
    a_request_has_one_row_per_phase,
    rows_without_organization_or_request_are_kept,
    audit_and_ledger_refuse_every_change,
    other_organizations_and_modes_see_no_rows,
    epochs_are_stable_and_increase,
    replicas_agree_on_epochs,
    a_policy_set_is_entered_whole_or_not_at_all,
}

async fn rows_have_the_shape_of_the_contract(db: TestDb) {
    let store = db.open().await;
    let mut row = fixture::row("org_1", "req_1", Phase::Single, "budget.updated");
    row.details
        .insert("changed".to_owned(), serde_json::json!(true));
    audit::append(&store, &[row.clone()]).await.unwrap();
    let stored = audit::by_request(&store, "org_1", Mode::Live, "req_1")
        .await
        .unwrap();
    let expected = serde_json::json!({
        "id": row.id, "object": "audit_event", "event": "budget.updated", "schema": 1,
        "occurred_at": "2026-11-20T20:09:00.123Z", "org_id": "org_1", "mode": "live",
        "actor": {"type": "api_key", "id": "key_1", "delegating_user_id": null, "hint": "svc_api_live_…x9Qz"},
        "request": {"id": "req_1", "method": "POST", "path": "/v1/ai/chat", "surface": "native",
                    "svc_version": "2026-07-12", "ip": "198.51.100.4", "user_agent": null},
        "target": {"type": "message", "id": "msg_1"},
        "outcome": {"result": "success", "status": 200, "code": null},
        "phi": {"mode": "redact", "detected": true, "entity_counts": {"NAME": 2},
                "detectors": ["phi-patterns@1.4.0"], "policy_epoch": 17},
        "details": {"changed": true, "model": "alpha-sonnet-4-6"},
    });
    assert_eq!(stored, [expected]);
}

async fn a_request_has_one_row_per_phase(db: TestDb) {
    let store = db.open().await;
    let first = fixture::row("org_1", "req_1", Phase::Single, "a");
    let repeat = fixture::row("org_1", "req_1", Phase::Single, "b");
    let other = fixture::row("org_1", "req_2", Phase::Single, "c");
    audit::append(&store, &[first]).await.unwrap();
    let refused = audit::append(&store, &[other, repeat]).await;
    assert!(matches!(refused, Err(StoreError::Exists { .. })));
    // All or none: the good row of the refused call is not there either.
    assert!(
        audit::by_request(&store, "org_1", Mode::Live, "req_2")
            .await
            .unwrap()
            .is_empty()
    );
    let many = vec![fixture::row("org_1", "req_3", Phase::Single, "d"); APPEND_ROWS + 1];
    assert!(matches!(
        audit::append(&store, &many).await,
        Err(StoreError::Overloaded)
    ));
}

async fn rows_without_organization_or_request_are_kept(db: TestDb) {
    let store = db.open().await;
    let mut rows = [(); 2].map(|()| fixture::row("", "", Phase::Single, "auth.failed"));
    for row in &mut rows {
        row.org_id = None;
        row.mode = None;
        row.request = None;
        row.phi = None;
    }
    audit::append(&store, &rows).await.unwrap();
    let refused = db.tamper("DELETE FROM audit WHERE org_id IS NULL").await;
    assert!(refused.unwrap_err().contains("append-only"));
}

async fn audit_and_ledger_refuse_every_change(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let intent = fixture::intent(&org, "req_1");
    inference::open(&store, &intent, &fixture::hold(&org, "req_1", 100))
        .await
        .unwrap();
    inference::settle(&store, &fixture::settlement(&org, "req_1", 52))
        .await
        .unwrap();
    let mut attempts = vec![
        "UPDATE audit SET result = 'success'",
        "DELETE FROM audit",
        "UPDATE ledger SET amount_micro = 0",
        "DELETE FROM ledger WHERE kind = 'debit'",
    ];
    if db.is_sqlite() {
        attempts.push("REPLACE INTO audit SELECT * FROM audit");
        attempts.push("REPLACE INTO ledger SELECT * FROM ledger");
    } else {
        attempts.push("TRUNCATE audit");
        attempts.push("TRUNCATE ledger");
    }
    for attempt in attempts {
        let refused = db.tamper(attempt).await.unwrap_err();
        assert!(refused.contains("is append-only"), "{attempt}: {refused}");
    }
    assert_eq!(
        audit::by_request(&store, &org, Mode::Live, "req_1")
            .await
            .unwrap()
            .len(),
        2
    );
}

async fn other_organizations_and_modes_see_no_rows(db: TestDb) {
    let store = db.open().await;
    audit::append(
        &store,
        &[fixture::row("org_1", "req_1", Phase::Single, "a")],
    )
    .await
    .unwrap();
    for (org, mode) in [("org_2", Mode::Live), ("org_1", Mode::Test)] {
        assert!(
            audit::by_request(&store, org, mode, "req_1")
                .await
                .unwrap()
                .is_empty()
        );
    }
}

async fn epochs_are_stable_and_increase(db: TestDb) {
    let store = db.open().await;
    for (digest, epoch) in [("a", 1), ("b", 2), ("a", 1), ("c", 3)] {
        let entered = policy_epoch::enter(&store, digest, &[]).await;
        assert_eq!(entered.unwrap(), epoch);
    }
}

async fn replicas_agree_on_epochs(db: TestDb) {
    let stores = [db.open().await, db.open().await];
    let works = (0..24).map(|number| {
        let store = stores[number % 2].clone();
        async move {
            let digest = format!("digest {}", number % 6);
            let entered = policy_epoch::enter(&store, &digest, &[]).await;
            (number % 6, entered.unwrap())
        }
    });
    let mut epochs = [0; 6];
    for done in join_all(works).await {
        let (digest, epoch) = done;
        assert!(epochs[digest] == 0 || epochs[digest] == epoch);
        epochs[digest] = epoch;
    }
    epochs.sort_unstable();
    assert_eq!(epochs, [1, 2, 3, 4, 5, 6]);
}

async fn a_policy_set_is_entered_whole_or_not_at_all(db: TestDb) {
    let store = db.open().await;
    let published = template("2026-04", "Agreement", "the text", Timestamp(1));
    let entered = policy_epoch::enter(&store, "a", std::slice::from_ref(&published)).await;
    assert_eq!(entered.unwrap(), 1);
    let newer = template("2026-11", "Agreement", "a newer text", Timestamp(2));
    let rewritten = template("2026-04", "Agreement", "another text", Timestamp(1));
    let entered = policy_epoch::enter(&store, "b", &[newer.clone(), rewritten]).await;
    assert!(matches!(entered, Err(TransactionError::Refused(clashing)) if clashing == ["2026-04"]));
    let versions = "SELECT version FROM baa_templates ORDER BY version";
    assert_eq!(db.texts(versions).await, ["2026-04"]);
    assert_eq!(
        db.texts("SELECT digest FROM policy_epochs").await,
        ["a"],
        "no epoch either"
    );
    let entered = policy_epoch::enter(&store, "b", &[published, newer]).await;
    assert_eq!(entered.unwrap(), 2);
    assert_eq!(db.texts(versions).await, ["2026-04", "2026-11"]);
}
