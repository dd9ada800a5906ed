//! What a long list costs: a page behind the middle of it is read along an index, and nothing before it is.

use svc_store::{audit, audit_tree, usage};

use crate::database::TestDb;

on_both! {
    every_list_that_grows_is_read_along_an_index,
    those_who_act_for_an_agent_are_found_by_an_index,
    idle_sessions_are_found_by_an_index,
    what_is_beside_inferences_is_found_by_an_index,
    a_request_is_found_by_an_index,
    postings_of_a_span_are_found_by_an_index,
    the_end_of_a_slice_of_leaves_is_found_by_an_index,
}

/// Of each list its table, what is given of its rows, and the column of its times.
const LISTS: [(&str, &[&str], &str); 16] = [
    ("agent_credentials", &["agent_id"], "created_at"),
    (
        "agent_credentials",
        &["org_id", "mode", "runtime_user"],
        "created_at",
    ),
    ("agents", &["org_id", "mode"], "created_at"),
    ("api_keys", &["org_id"], "created_at"),
    ("apps", &["org_id", "mode"], "created_at"),
    ("audit", &["org_id", "mode"], "occurred_at"),
    ("baa_acceptances", &["org_id"], "accepted_at"),
    (
        "conversations",
        &["org_id", "mode", "runtime_user"],
        "created_at",
    ),
    ("entities", &["app_id"], "created_at"),
    ("inbound_webhooks", &["app_id"], "created_at"),
    ("integrations", &["org_id", "mode"], "created_at"),
    ("oauth_applications", &["org_id", "mode"], "created_at"),
    ("records", &["entity_id"], "created_at"),
    ("webhook_deliveries", &["endpoint_id"], "created_at"),
    ("webhook_deliveries", &["org_id", "mode"], "created_at"),
    ("webhook_endpoints", &["org_id", "mode"], "created_at"),
];

/// A statement of the store with these words in the place of its arguments.
fn filled(sql: &str, arguments: &[&str]) -> String {
    let numbered = arguments.iter().enumerate().rev();
    numbered.fold(sql.to_owned(), |sql, (index, word)| {
        sql.replace(&format!("${}", index + 1), word)
    })
}

async fn every_list_that_grows_is_read_along_an_index(db: TestDb) {
    db.open().await;
    for (table, given, column) in LISTS {
        let given: Vec<String> = given.iter().map(|name| format!("{name} = 'x'")).collect();
        let given = given.join(" AND ");
        for (behind, direction) in [("<", "DESC"), (">", "ASC")] {
            let sql = format!(
                "SELECT * FROM {table} WHERE {given} AND ({column}, id) {behind} (7, 'x') \
                 ORDER BY {column} {direction}, id {direction} LIMIT 201"
            );
            let plan = db.plan(&sql).await;
            let (place, sorted) = if db.is_sqlite() {
                let place = format!("({column},id){behind}(?,?)");
                (place, "TEMP B-TREE")
            } else {
                (format!("(ROW({column}, id) {behind} ROW("), "Sort")
            };
            let steps = plan.lines().filter(|step| !step.contains("Filter:"));
            let steps: Vec<&str> = steps.collect();
            assert!(steps.iter().any(|step| step.contains(&place)), "{plan}");
            assert!(!plan.contains(sorted), "{plan}");
        }
    }
}

async fn those_who_act_for_an_agent_are_found_by_an_index(db: TestDb) {
    db.open().await;
    let sql = "WITH RECURSIVE family (id) AS (SELECT id FROM agents WHERE id = 'x' UNION \
               SELECT a.id FROM agents a JOIN family f ON a.parent_agent_id = f.id) SELECT id FROM family";
    let plan = db.plan(sql).await;
    assert!(plan.contains("agents_by_parent"), "{plan}");
}

async fn idle_sessions_are_found_by_an_index(db: TestDb) {
    db.open().await;
    let sql = "SELECT id FROM sessions WHERE seen_at <= 7 ORDER BY seen_at LIMIT 1000";
    let plan = db.plan(sql).await;
    assert!(plan.contains("sessions_by_use"), "{plan}");
}

async fn what_is_beside_inferences_is_found_by_an_index(db: TestDb) {
    db.open().await;
    let sql = "SELECT document FROM audit WHERE org_id = 'x' AND mode = 'x' \
               AND SUBSTR(event, 1, 10) <> 'inference.' AND (occurred_at, id) >= (3, 'x') AND (event = 'y') \
               AND (occurred_at, id) < (7, 'x') ORDER BY occurred_at DESC, id DESC LIMIT 51";
    let plan = db.plan(sql).await;
    assert!(plan.contains("audit_beside_inferences"), "{plan}");
    let between = if db.is_sqlite() {
        "(occurred_at,id)>(?,?) AND (occurred_at,id)<(?,?)"
    } else {
        "(ROW(occurred_at, id) >= ROW(3, 'x'::text)) AND (ROW(occurred_at, id) < ROW(7, 'x'::text))"
    };
    assert!(plan.contains(between), "{plan}");
}

async fn a_request_is_found_by_an_index(db: TestDb) {
    db.open().await;
    let of_request = filled(audit::OF_REQUEST, &["'x'", "'x'", "'x'"]);
    let sql = format!(
        "SELECT id, occurred_at, document FROM {of_request} WHERE org_id = 'x' AND mode = 'x' \
         AND (occurred_at, id) < (7, 'x') ORDER BY occurred_at DESC, id DESC LIMIT 51"
    );
    let plan = db.plan(&sql).await;
    let place = if db.is_sqlite() {
        "sqlite_autoindex_audit_2 (request_id=?)"
    } else {
        "audit_request_id_phase_key"
    };
    assert!(plan.contains(place), "{plan}");
}

async fn postings_of_a_span_are_found_by_an_index(db: TestDb) {
    db.open().await;
    let cycles = filled(usage::CYCLES, &["'x'", "'x'", "3", "7"]);
    let end = ["'x'", "'x'", "5", "3", "7", "20000"];
    let end = filled(usage::SLICE_END, &end);
    for (sql, cycle) in [(cycles, "b.cycle_start"), (end, "5")] {
        let plan = db.plan(&sql).await;
        let between = if db.is_sqlite() {
            "ledger_by_cycle (org_id=? AND mode=? AND cycle_start=? AND created_at>? AND created_at<?)".to_owned()
        } else {
            format!("(cycle_start = {cycle}) AND (created_at ")
        };
        assert!(plan.contains(&between), "{plan}");
        assert!(
            !plan.contains("TEMP B-TREE") && !plan.contains("Sort"),
            "{plan}"
        );
    }
}

async fn the_end_of_a_slice_of_leaves_is_found_by_an_index(db: TestDb) {
    db.open().await;
    let given = ["'x'", "'x'", "3", "1", "7", "1", "19999"];
    let plan = db.plan(&filled(audit_tree::SLICE_END, &given)).await;
    assert!(plan.contains("audit_leaves_by_org"), "{plan}");
    assert!(
        !plan.contains("TEMP B-TREE") && !plan.contains("Sort"),
        "{plan}"
    );
}
