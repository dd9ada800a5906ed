//! The audit log and the ledger cannot be changed; epochs.

use futures_util::future::{join, join_all};
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_store::audit::{self, APPEND_ROWS, Filter, Phase};
use svc_store::audit_tree::{self, AbsentPage};
use svc_store::bootstrap::template;
use svc_store::inference;
use svc_store::page::{Order, Page};
use svc_store::usage::{self, GroupBy, Span};
use svc_store::{StoreError, TransactionError, phi_activity, policy_epoch};

use crate::database::TestDb;
use crate::fixture;

on_both! {
    rows_have_the_shape_of_the_contract,
    a_request_has_one_row_per_phase,
    rows_without_organization_or_request_are_kept,
    audit_and_ledger_refuse_every_change,
    agreements_are_not_replaced,
    other_organizations_and_modes_see_no_rows,
    what_is_rare_is_found_page_by_page,
    a_family_is_what_its_name_says,
    whatever_ended_in_a_span_is_counted_once,
    whatever_was_charged_in_a_span_is_summed_up_once,
    what_is_over_is_counted_once_and_what_is_new_each_time,
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
    fixture::open(&store, &intent, &fixture::hold(&org, "req_1", 100))
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

async fn agreements_are_not_replaced(db: TestDb) {
    let _store = db.open().await;
    let acceptance = |id| {
        format!(
            "INSERT INTO baa_acceptances (id, org_id, template_version, template_sha256, accepted_by_user_id, \
             signer_name, signer_title, signer_email, accepted_at, effective_at) \
             VALUES ('{id}', 'org_1', '1', 'x', 'user_1', 'A', 'B', 'a@x.org', 1, 1); \
             INSERT INTO baa_documents (acceptance_id, org_id, wrapped_key, content, size_bytes, sha256, signature, \
             signing_key_id) VALUES ('{id}', 'org_1', '', '', 1, 'x', '', 'k');"
        )
    };
    // PostgreSQL refuses such a statement whether there are rows or not, SQLite a row.
    if db.is_sqlite() {
        let there = [acceptance("baa_1"), acceptance("baa_2")].concat();
        db.tamper(&there).await.unwrap();
    }
    let mut attempts = vec![
        "UPDATE baa_acceptances SET signer_name = 'C'",
        "UPDATE baa_documents SET sha256 = 'y'",
        "DELETE FROM baa_acceptances",
        "DELETE FROM baa_documents",
    ];
    if db.is_sqlite() {
        attempts.extend([
            "REPLACE INTO baa_acceptances SELECT * FROM baa_acceptances",
            "REPLACE INTO baa_documents SELECT * FROM baa_documents",
            "UPDATE OR REPLACE baa_acceptances SET rowid = 2 WHERE rowid = 1",
            "UPDATE OR REPLACE baa_documents SET rowid = 2 WHERE rowid = 1",
        ]);
    } else {
        attempts.extend([
            "TRUNCATE baa_acceptances CASCADE",
            "TRUNCATE baa_documents",
            "INSERT INTO baa_acceptances SELECT * FROM baa_acceptances \
             ON CONFLICT (id) DO UPDATE SET signer_name = 'C'",
            "INSERT INTO baa_documents SELECT * FROM baa_documents \
             ON CONFLICT (acceptance_id) DO UPDATE SET content = ''",
        ]);
    }
    for attempt in attempts {
        let refused = db.tamper(attempt).await.unwrap_err();
        assert!(refused.contains("is append-only"), "{attempt}: {refused}");
    }
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

/// Rows that one page looks at, each of them another one's.
const LOOKED_AT: u32 = 200_000;

async fn what_is_rare_is_found_page_by_page(db: TestDb) {
    let store = db.open().await;
    let rare = fixture::row("org_1", "req_1", Phase::Single, "agent.created");
    audit::append(&store, std::slice::from_ref(&rare))
        .await
        .unwrap();
    let later = format!("{} + n + 1", fixture::NOW.0);
    let many = ["'inference.completed'", &later, "FALSE"];
    fixture::many_rows(&db, LOOKED_AT, many).await;
    let page = |after| Page {
        limit: 10,
        after,
        created_after: None,
        created_before: None,
    };
    let list = async |filter: &Filter, after| {
        let found = audit::list(&store, "org_1", Mode::Live, filter, &page(after)).await;
        let found = found.unwrap();
        let ids: Vec<String> = found.rows.into_iter().map(|row| row.id).collect();
        (ids, found.next)
    };
    // The walk ends before it has come to the row, and goes on where it ended.
    let of_actor = Filter {
        actor_ids: vec!["key_0".to_owned(), "key_1".to_owned()],
        ..Filter::default()
    };
    let (ids, next) = list(&of_actor, None).await;
    assert!(ids.is_empty() && next.is_some());
    let found = (vec![rare.id], None);
    assert_eq!(list(&of_actor, next).await, found);
    // From the other end it is the first one.
    let oldest_first = Filter {
        order: Order::OldestFirst,
        ..of_actor
    };
    let (ids, next) = list(&oldest_first, None).await;
    assert_eq!(ids, found.0);
    assert!(next.is_some());
    // Of events beside inferences there is but one.
    let of_event = Filter {
        events: vec!["agent.created".to_owned()],
        ..Filter::default()
    };
    assert_eq!(list(&of_event, None).await, found);
    // So is that of a request.
    let of_request = Filter {
        request_id: Some("req_1".to_owned()),
        actor_type: Some("api_key".to_owned()),
        ..Filter::default()
    };
    assert_eq!(list(&of_request, None).await, found);
    let of_another = Filter {
        actor_type: Some("user".to_owned()),
        ..of_request
    };
    assert_eq!(list(&of_another, None).await, (Vec::new(), None));
}

async fn a_family_is_what_its_name_says(db: TestDb) {
    let store = db.open().await;
    let events = ["api_key.created", "apixkey.created", "inference.completed"];
    let rows = events.map(|event| fixture::row("org_1", event, Phase::Single, event));
    audit::append(&store, &rows).await.unwrap();
    let page = Page {
        limit: 10,
        after: None,
        created_after: None,
        created_before: None,
    };
    for (family, event) in [("api_key.*", events[0]), ("inference.*", events[2])] {
        let filter = Filter {
            events: vec![family.to_owned()],
            ..Filter::default()
        };
        let found = audit::list(&store, "org_1", Mode::Live, &filter, &page).await;
        let rows = found.unwrap().rows;
        assert_eq!(rows.len(), 1, "{family}");
        assert_eq!(rows[0].document["event"], event);
    }
}

/// Rows that more than one statement counts.
const COUNTED: u32 = 45_003;

/// From the second of [`COUNTED`] instants of three rows each to before the last.
fn span(org_id: &str) -> Span {
    Span {
        org_id: org_id.to_owned(),
        mode: Mode::Live,
        from: fixture::NOW.plus_ms(1),
        to: fixture::NOW.plus_ms(15_000),
    }
}

async fn whatever_ended_in_a_span_is_counted_once(db: TestDb) {
    let store = db.open().await;
    let event =
        "CASE WHEN n % 3 = 0 THEN 'workflow.solve_completed' ELSE 'inference.completed' END";
    let at = format!("{} + n / 3", fixture::NOW.0);
    fixture::many_rows(&db, COUNTED, [event, &at, "n % 3 = 1"]).await;
    let used = usage::read(&store, &span("org_1"), None, fixture::NOW)
        .await
        .unwrap();
    assert_eq!((used.actions, used.requests.succeeded), (14_999, 29_998));
    let found = phi_activity::read(&store, &span("org_1")).await.unwrap();
    assert_eq!((found.requests, found.is_cut), (14_999, false));
}

async fn what_is_over_is_counted_once_and_what_is_new_each_time(db: TestDb) {
    let store = db.open().await;
    let day = 86_400_000;
    let (from, now) = (fixture::NOW, fixture::NOW.plus_ms(10 * day));
    let counted = async |to: Timestamp| {
        let span = Span {
            to,
            from,
            ..span("org_1")
        };
        let used = usage::read(&store, &span, None, now).await.unwrap();
        used.requests.succeeded
    };
    let written = async |name: &str, at: Timestamp| {
        let row = format!(
            "INSERT INTO audit (id, org_id, mode, request_id, phase, event, occurred_at, actor_type, result, \
             phi_detected, document) VALUES ('aud_{name}', 'org_1', 'live', 'req_{name}', 'terminal', \
             'inference.completed', {}, 'api_key', 'success', 1 = 0, '{{}}')",
            at.0
        );
        db.tamper(&row).await.unwrap();
    };
    let cycle_end = from.plus_ms(30 * day);
    for days in [2, 4, 9] {
        written(&format!("at_{days}"), from.plus_ms(days * day + 1)).await;
    }
    assert_eq!(counted(from.plus_ms(3 * day)).await, 1);
    assert_eq!(counted(cycle_end).await, 3);
    // Nobody writes so long ago; what this shows is that it is not read again.
    written("late", from.plus_ms(5 * day)).await;
    written("new", now).await;
    assert_eq!(counted(cycle_end).await, 4);
    // What goes less far is read by itself, and what is kept stays.
    assert_eq!(counted(from.plus_ms(6 * day)).await, 3);
    assert_eq!(counted(cycle_end).await, 4);
}

async fn whatever_was_charged_in_a_span_is_summed_up_once(db: TestDb) {
    let store = db.open().await;
    let org = fixture::organization(&store).await.organization_id;
    let now = fixture::NOW.0;
    for cycle in [0, 1] {
        let budget = format!(
            "INSERT INTO budgets (org_id, mode, cycle_start, cycle_end, used_credits_micro, used_spend_micro, \
             held_credits_micro, held_spend_micro) VALUES ('{org}', 'live', {cycle}, {cycle} + 1, 0, 0, 0, 0)"
        );
        db.tamper(&budget).await.unwrap();
    }
    // Those of one cycle have one instant, and are more than one statement sums up.
    let postings = format!(
        "INSERT INTO ledger (id, org_id, mode, request_id, kind, account, amount_micro, unit, cost_usd_micro, \
         price_list, cycle_start, result, model, surface, actor_type, actor_id, billed_to, \
         sonnet_equivalent_tokens, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, created_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {COUNTED}) \
         SELECT 'l' || n, '{org}', 'live', 'req_' || n, 'debit', 'org:usage', 1, 'credit', 2, 'p', n % 2, \
         'success', 'model_' || (n % 5), 'native', 'api_key', 'key_1', 'operator', 3, 4, 5, 6, 7, \
         {now} + CASE WHEN n % 2 = 0 THEN n / 3 ELSE 1 END FROM numbers"
    );
    db.tamper(&postings).await.unwrap();
    let is_in = |n: &u32| n % 2 == 1 || (1..15_000).contains(&(n / 3));
    let of_model = |model: u32| {
        let is_of = |n: &u32| n % 5 == model && is_in(n);
        u64::try_from((0..COUNTED).filter(is_of).count()).unwrap()
    };
    let span = span(&org);
    let used = usage::read(&store, &span, Some(GroupBy::Model), fixture::NOW).await;
    let used = used.unwrap();
    let count: u64 = (0..5).map(of_model).sum();
    assert_eq!(used.sonnet_equivalent_tokens, 3 * count);
    let tokens = used.tokens;
    assert_eq!(
        [
            tokens.input_tokens,
            tokens.output_tokens,
            tokens.cache_read_input_tokens,
            tokens.cache_creation_input_tokens
        ],
        [4, 5, 6, 7].map(|each| each * count)
    );
    let micro = |amount: u64| Micro(i64::try_from(amount).unwrap());
    assert_eq!(
        (used.credits, used.spend_usd),
        (micro(count), micro(2 * count))
    );
    let mut expected: Vec<(u64, String)> = (0..5)
        .map(|model| (of_model(model), format!("model_{model}")))
        .collect();
    expected.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let lines = used.breakdown.into_iter();
    let lines: Vec<(u64, String)> = lines
        .map(|group| {
            let sums = (micro(group.requests), micro(2 * group.requests));
            assert_eq!((group.credits, group.cost_usd), sums);
            (group.requests, group.name)
        })
        .collect();
    assert_eq!(lines, expected);
}

/// Whoever reads much waits for others who do, and nobody waits for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_on_postgres_leave_connections_to_others() {
    let db = TestDb::postgres().await;
    let store = db.open().await;
    let locked = db.begin().await;
    let locked = locked
        .run("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE")
        .await;
    let page = Page {
        limit: 10,
        after: None,
        created_after: None,
        created_before: None,
    };
    let absent = AbsentPage {
        from: None,
        to: None,
        size: 1,
        after: None,
        limit: 10,
    };
    let (filter, span) = (Filter::default(), span("org_1"));
    let reports = (0..12).map(async |number| match number % 4 {
        0 => audit::list(&store, "org_1", Mode::Live, &filter, &page)
            .await
            .map(drop),
        1 => audit_tree::absent(&store, "org_1", Mode::Live, &absent)
            .await
            .map(drop),
        2 => phi_activity::read(&store, &span).await.map(drop),
        _ => usage::read(&store, &span, None, fixture::NOW)
            .await
            .map(drop),
    });
    let others = async {
        db.until_somebody_waits().await;
        store.ping().await.unwrap();
        locked.commit().await;
    };
    let (reports, ()) = join(join_all(reports), others).await;
    assert!(reports.iter().all(Result::is_ok));
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
