//! The books of a gateway, audited: two rows for every run, two postings that cancel out, nothing held, and a
//! budget that says what its ledger says (contract 12.2 and 14.2).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::database::Database;
use crate::patience::eventually;

/// The audit rows of a request, the intent first.
pub async fn rows(database: &Database, request_id: &str) -> Vec<Value> {
    let sql = "SELECT id, org_id, mode, request_id, phase, event, result, surface, model, phi_detected, actor_type, \
               actor_id, target_type, target_id, document FROM audit WHERE request_id = $1 ORDER BY phase";
    database.rows(sql, &[request_id]).await
}

/// The two rows of a run, once its terminal row is there.
///
/// # Panics
/// When there are others, or they contradict themselves.
pub async fn pair(database: &Database, request_id: &str) -> (Value, Value) {
    let (requested, terminal) = two(database, request_id).await;
    assert_eq!(requested["event"], "inference.requested");
    (requested, terminal)
}

/// The two rows of a request that counts tokens, once its terminal row is there; it has no postings.
///
/// # Panics
/// When there are others, or they contradict themselves.
pub async fn count(database: &Database, request_id: &str) -> (Value, Value) {
    let (requested, terminal) = two(database, request_id).await;
    assert_eq!(requested["event"], "token_count.requested");
    assert!(has_no_posting(database, request_id).await, "{request_id}");
    (requested, terminal)
}

async fn two(database: &Database, request_id: &str) -> (Value, Value) {
    let rows = eventually("the terminal audit row", async || {
        let rows = rows(database, request_id).await;
        rows.iter()
            .any(|row| row["phase"] == "terminal")
            .then_some(rows)
    });
    let rows = rows.await;
    let phases: Vec<&Value> = rows.iter().map(|row| &row["phase"]).collect();
    assert_eq!(phases, ["requested", "terminal"], "{request_id}");
    for row in &rows {
        check_document(row);
    }
    rows.try_into().map(<[Value; 2]>::into).expect("two rows")
}

/// The row of a request that was refused before the rate limits let it pass.
pub async fn single(database: &Database, request_id: &str) -> Value {
    let rows = eventually("an audit row", async || {
        let rows = rows(database, request_id).await;
        (!rows.is_empty()).then_some(rows)
    });
    let rows = rows.await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    check_document(&rows[0]);
    rows.into_iter().next().expect("a row")
}

/// The columns of a row are what its document says.
fn check_document(row: &Value) {
    let document = document(row);
    for (column, pointer) in [
        ("id", "/id"),
        ("org_id", "/org_id"),
        ("mode", "/mode"),
        ("request_id", "/request/id"),
        ("event", "/event"),
        ("result", "/outcome/result"),
        ("surface", "/request/surface"),
        ("actor_type", "/actor/type"),
        ("actor_id", "/actor/id"),
    ] {
        assert_eq!(
            Some(&row[column]),
            document.pointer(pointer),
            "{column} of {document:#}"
        );
    }
    assert_eq!(document["object"], "audit_event");
    assert_eq!(document["schema"], 1);
}

/// The row as contract 14.1 shows it.
pub fn document(row: &Value) -> Value {
    let text = row["document"]
        .as_str()
        .unwrap_or_else(|| panic!("a document in {row}"));
    serde_json::from_str(text).expect("JSON")
}

/// The postings of a request: debit and credit.
///
/// # Panics
/// When they are not two that cancel out.
pub async fn postings(database: &Database, request_id: &str) -> (Value, Value) {
    let sql = "SELECT * FROM ledger WHERE request_id = $1 ORDER BY kind DESC";
    let rows = database.rows(sql, &[request_id]).await;
    let kinds: Vec<&Value> = rows.iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["debit", "credit"], "{request_id}");
    let sum: i64 = rows
        .iter()
        .map(|row| row["amount_micro"].as_i64().expect("an amount"))
        .sum();
    assert_eq!(sum, 0, "{rows:?}");
    let [debit, credit] = rows.try_into().expect("two postings");
    (debit, credit)
}

pub async fn has_no_posting(database: &Database, request_id: &str) -> bool {
    database
        .rows("SELECT id FROM ledger WHERE request_id = $1", &[request_id])
        .await
        .is_empty()
}

/// Audits everything that an organization has done, once nothing of it is in flight.
pub async fn check(database: &Database, organization_id: &str) {
    settled(database, organization_id).await;
    check_rows(database, organization_id).await;
    check_ledger(database, organization_id).await;
    check_budget(database, organization_id).await;
}

/// Waits until no request of the organization holds anything, and every intent has an end. A request whose caller has
/// left may still be on its way to its intent: what is so for a moment only is looked at again.
pub async fn settled(database: &Database, organization_id: &str) {
    let open = "SELECT request_id FROM holds WHERE org_id = $1 UNION ALL SELECT a.request_id FROM audit a \
                WHERE a.org_id = $1 AND a.phase = 'requested' AND NOT EXISTS \
                (SELECT 1 FROM audit t WHERE t.request_id = a.request_id AND t.phase = 'terminal')";
    let mut quiet = 0;
    eventually("the last run to be settled", async || {
        let open = database.rows(open, &[organization_id]).await;
        quiet = if open.is_empty() { quiet + 1 } else { 0 };
        (quiet == QUIET_LOOKS).then_some(())
    })
    .await;
}

/// Looks in a row that find nothing open.
const QUIET_LOOKS: u32 = 10;

/// Every intent has exactly one end, and no end is without its intent.
async fn check_rows(database: &Database, organization_id: &str) {
    let sql = "SELECT request_id, COUNT(*) AS count, SUM(CASE WHEN phase = 'requested' THEN 1 ELSE 0 END) AS requested, \
               SUM(CASE WHEN phase = 'terminal' THEN 1 ELSE 0 END) AS terminal FROM audit \
               WHERE org_id = $1 AND phase IN ('requested', 'terminal') GROUP BY request_id";
    for row in database.rows(sql, &[organization_id]).await {
        assert_eq!(
            (&row["count"], &row["requested"], &row["terminal"]),
            (&2.into(), &1.into(), &1.into()),
            "{row}"
        );
    }
}

/// Postings come in pairs that cancel out, one pair for each run that ended after its intent; what the audit
/// row says was charged is what the ledger says.
async fn check_ledger(database: &Database, organization_id: &str) {
    let sql = "SELECT request_id, COUNT(*) AS count, CAST(SUM(amount_micro) AS BIGINT) AS balance, \
               CAST(SUM(CASE WHEN kind = 'debit' THEN amount_micro ELSE 0 END) AS BIGINT) AS debit \
               FROM ledger WHERE org_id = $1 AND kind IN ('debit', 'credit') GROUP BY request_id";
    let mut charges: BTreeMap<String, Value> = BTreeMap::new();
    for charge in database.rows(sql, &[organization_id]).await {
        assert_eq!(
            (&charge["count"], &charge["balance"]),
            (&2.into(), &0.into()),
            "{charge}"
        );
        charges.insert(request_id(&charge).to_owned(), charge);
    }
    let sql =
        "SELECT request_id, event, document FROM audit WHERE org_id = $1 AND phase = 'terminal'";
    for row in database.rows(sql, &[organization_id]).await {
        let charge = charges.remove(request_id(&row));
        if row["event"] == "inference.completed" {
            let charge = charge.unwrap_or_else(|| panic!("a row without a charge: {row}"));
            let credits = document(&row)
                .pointer("/details/credits")
                .and_then(Value::as_f64)
                .expect("credits");
            let micro = charge["debit"].as_i64().expect("an amount");
            #[expect(
                clippy::cast_precision_loss,
                reason = "amounts of tests are far below 2^53"
            )]
            let difference = (credits * 1e6 - micro.abs() as f64).abs();
            assert!(
                difference < 0.5,
                "{credits} credits in the row, {micro} millionths in the ledger"
            );
        } else if let Some(charge) = charge {
            assert_eq!(charge["debit"], 0, "{} was charged", row["event"]);
        }
    }
    assert!(charges.is_empty(), "charges without a row: {charges:?}");
}

fn request_id(row: &Value) -> &str {
    row["request_id"].as_str().expect("an id")
}

/// The budget row is a cache of the ledger: the drift is exactly zero, and nothing is held.
async fn check_budget(database: &Database, organization_id: &str) {
    let sql = "SELECT cycle_start, mode, used_credits_micro, used_spend_micro, held_credits_micro, held_spend_micro \
               FROM budgets WHERE org_id = $1";
    for budget in database.rows(sql, &[organization_id]).await {
        let sql = "SELECT CAST(COALESCE(SUM(ABS(amount_micro)), 0) AS BIGINT) AS credits, \
                   CAST(COALESCE(SUM(cost_usd_micro), 0) AS BIGINT) AS spend FROM ledger \
                   WHERE org_id = $1 AND mode = $2 AND kind = 'debit' AND CAST(cycle_start AS TEXT) = $3";
        let cycle = budget["cycle_start"].to_string();
        let mode = budget["mode"].as_str().expect("a mode");
        let ledger = database
            .rows(sql, &[organization_id, mode, &cycle])
            .await
            .remove(0);
        assert_eq!(budget["used_credits_micro"], ledger["credits"], "{budget}");
        assert_eq!(budget["used_spend_micro"], ledger["spend"], "{budget}");
        assert_eq!(
            (&budget["held_credits_micro"], &budget["held_spend_micro"]),
            (&0.into(), &0.into()),
            "{budget}"
        );
    }
}
