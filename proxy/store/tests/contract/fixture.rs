//! Records that tests start from.

use std::collections::BTreeMap;

use serde_json::Map;
use svc_core::chat::{Role, Usage};
use svc_core::id::IdKind;
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_store::audit::{Actor, ActorKind, Outcome, Phase, Phi, Request, Row, Target};
use svc_store::bootstrap::{Bootstrap, Bootstrapped, bootstrap, template};
use svc_store::budget::{Cycle, HoldRequest};
use svc_store::conversation::{NewMessage, Owner, Thread, Turn};
use svc_store::inference::{self, Opened, Progress, Settled, Settlement};
use svc_store::ledger::{BilledTo, Entry};
use svc_store::organization::PhiMode;
use svc_store::seal::Content;
use svc_store::{Store, StoreError, org_key};

use crate::database::TestDb;

/// 2026-11-20T20:09:00.123Z.
pub(crate) const NOW: Timestamp = Timestamp(1_795_205_340_123);
pub(crate) const REPLICA: &str = "replica-1";
/// Long enough for every test.
pub(crate) const LEASE_MS: i64 = 600_000;
pub(crate) const LEASE_END: Timestamp = NOW.plus_ms(LEASE_MS);

pub(crate) fn cycle() -> Cycle {
    let (start, end) = NOW.cycle(1);
    Cycle { start, end }
}

pub(crate) fn id(kind: IdKind) -> String {
    kind.make(NOW, rand::random())
}

pub(crate) fn plan() -> Bootstrap {
    Bootstrap {
        name: "Mercy Clinic".to_owned(),
        plan_tier: Tier::Standard,
        evaluation_ends_at: None,
        phi_mode: PhiMode::Redact,
        premium_models: vec!["alpha-opus-4-7".to_owned()],
        features: BTreeMap::from([("integrations".to_owned(), true)]),
        per_request_max_tokens: 8_192,
        mode: Mode::Live,
        scopes: vec!["ai:chat".to_owned()],
        per_minute: Some(600),
        monthly_credits: Some(Micro(50_000_000_000)),
        baa: Some(template("2026-04", "Agreement", "the text", Timestamp(1))),
        owner_email: None,
        now: NOW,
    }
}

pub(crate) async fn organization(store: &Store) -> Bootstrapped {
    bootstrap(store, &plan()).await.unwrap()
}

pub(crate) fn row(org_id: &str, request_id: &str, phase: Phase, event: &str) -> Row {
    Row {
        id: id(IdKind::Audit),
        phase,
        event: event.to_owned(),
        occurred_at: NOW,
        org_id: Some(org_id.to_owned()),
        mode: Some(Mode::Live),
        actor: Actor {
            kind: ActorKind::ApiKey,
            id: Some("key_1".to_owned()),
            delegating_user_id: None,
            hint: Some("svc_api_live_…x9Qz".to_owned()),
        },
        request: Some(Request {
            id: request_id.to_owned(),
            method: "POST".to_owned(),
            path: "/v1/ai/chat".to_owned(),
            surface: Some("native".to_owned()),
            svc_version: Some("2026-07-12".to_owned()),
            ip: Some("198.51.100.4".to_owned()),
            user_agent: None,
        }),
        target: Some(Target {
            kind: "message".to_owned(),
            id: "msg_1".to_owned(),
        }),
        outcome: Outcome::Success,
        status: Some(200),
        code: None,
        phi: Some(Phi {
            mode: "redact".to_owned(),
            entity_counts: BTreeMap::from([("NAME".to_owned(), 2)]),
            detectors: vec!["phi-patterns@1.4.0".to_owned()],
            policy_epoch: 17,
        }),
        model: Some("alpha-sonnet-4-6".to_owned()),
        details: Map::new(),
    }
}

/// Writes rows of `org_1` past the store, their number `n` from 0 on. What happened, when, and whether PHI was found:
/// as SQL of the number.
pub(crate) async fn many_rows(db: &TestDb, count: u32, [event, at, phi]: [&str; 3]) {
    let sql = format!(
        "INSERT INTO audit (id, org_id, mode, request_id, phase, event, occurred_at, actor_type, result, \
         phi_detected, document) WITH RECURSIVE numbers (n) AS \
         (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {count}) \
         SELECT 'aud_' || n, 'org_1', 'live', 'req_x' || n, CASE WHEN {event} LIKE 'workflow.%' THEN 'single' \
         ELSE 'terminal' END, {event}, {at}, 'api_key', 'success', {phi}, '{{}}' FROM numbers"
    );
    assert_eq!(db.tamper(&sql).await.unwrap(), u64::from(count));
}

/// Gives the organization a new key, and its version.
pub(crate) async fn rotate(store: &Store, org_id: &str) -> Result<u32, StoreError> {
    let row = |_| {
        let request_id = id(IdKind::Request);
        row(
            org_id,
            &request_id,
            Phase::Single,
            "organization_key.rotated",
        )
    };
    org_key::rotate(store, org_id, NOW, row).await
}

pub(crate) fn intent(org_id: &str, request_id: &str) -> Row {
    row(org_id, request_id, Phase::Requested, "inference.requested")
}

pub(crate) fn terminal(org_id: &str, request_id: &str) -> Row {
    row(org_id, request_id, Phase::Terminal, "inference.completed")
}

pub(crate) fn charge(credits: i64, cost_usd: i64) -> Charge {
    Charge {
        sonnet_equivalent_tokens: 52,
        credits: Micro(credits),
        cost_usd: Micro(cost_usd),
    }
}

pub(crate) fn hold(org_id: &str, request_id: &str, credits: i64) -> HoldRequest {
    HoldRequest {
        request_id: request_id.to_owned(),
        org_id: org_id.to_owned(),
        mode: Mode::Live,
        cycle: cycle(),
        allotment: Some(Micro(1_000)),
        worst_case: Some(charge(credits, credits * 2)),
        replica_id: REPLICA.to_owned(),
        now: NOW,
    }
}

pub(crate) fn usage() -> Usage {
    Usage {
        input_tokens: 12,
        output_tokens: 40,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 4,
    }
}

pub(crate) fn entry(credits: i64, cost_usd: i64) -> Entry {
    Entry {
        cycle: cycle(),
        result: "success".to_owned(),
        model: "alpha-sonnet-4-6".to_owned(),
        surface: "native".to_owned(),
        actor_type: "api_key".to_owned(),
        actor_id: "key_1".to_owned(),
        billed_to: BilledTo::Operator,
        price_list: "2026-11-01".to_owned(),
        charge: charge(credits, cost_usd),
        usage: usage(),
    }
}

pub(crate) fn settlement(org_id: &str, request_id: &str, credits: i64) -> Settlement {
    Settlement {
        request_id: request_id.to_owned(),
        org_id: org_id.to_owned(),
        mode: Mode::Live,
        terminal: terminal(org_id, request_id),
        entry: Some(entry(credits, credits * 2)),
        turn: None,
        now: NOW,
    }
}

pub(crate) fn message(role: Role, text: &str) -> NewMessage {
    NewMessage {
        id: id(IdKind::Message),
        role,
        content: Content::new(text),
        model: "alpha-sonnet-4-6".to_owned(),
        usage: usage(),
        credits: Micro(52_000),
        stop_reason: Some("stop".to_owned()),
        phi: Some(serde_json::json!({"mode": "redact", "redacted": 1})),
        audit_id: Some("aud_1".to_owned()),
    }
}

pub(crate) fn new_thread() -> Thread {
    Thread::New {
        id: id(IdKind::Conversation),
        owner: Owner {
            kind: "api_key".to_owned(),
            id: "key_1".to_owned(),
            runtime_user: None,
        },
        person: None,
    }
}

pub(crate) fn turn(thread: Thread, texts: [&str; 2]) -> Turn {
    Turn {
        thread,
        messages: vec![
            message(Role::User, texts[0]),
            message(Role::Assistant, texts[1]),
        ],
        phi_map: None,
    }
}

pub(crate) fn thread_id(thread: &Thread) -> String {
    match thread {
        Thread::New { id, .. } => id.clone(),
        Thread::Existing(_) => panic!("the thread is not new"),
    }
}

/// Opens a run and waits for how that went.
pub(crate) async fn open(
    store: &Store,
    intent: &Row,
    hold: &HoldRequest,
) -> Result<Opened, StoreError> {
    inference::open(store, intent, hold, &Progress::default()).await
}

/// Stores a turn with the end of a run of its own that cost nothing.
pub(crate) async fn append(store: &Store, org_id: &str, mode: Mode, turn: &Turn, now: Timestamp) {
    let settled = try_append(store, org_id, mode, turn, now).await;
    assert_eq!(settled.unwrap(), Settled::Done);
}

/// As [`append`], for turns that may be refused.
pub(crate) async fn try_append(
    store: &Store,
    org_id: &str,
    mode: Mode,
    turn: &Turn,
    now: Timestamp,
) -> Result<Settled, StoreError> {
    let request_id = id(IdKind::Request);
    let mut intent = intent(org_id, &request_id);
    let mut hold = hold(org_id, &request_id, 1);
    (intent.mode, hold.mode) = (Some(mode), mode);
    let opened = open(store, &intent, &hold).await?;
    assert_eq!(opened, Opened::Held);
    let mut settlement = settlement(org_id, &request_id, 0);
    (settlement.mode, settlement.terminal.mode) = (mode, Some(mode));
    settlement.entry = None;
    settlement.turn = Some(turn.clone());
    settlement.now = now;
    inference::settle(store, &settlement).await
}

/// A hold without an intent; no run leaves one.
pub(crate) async fn lone_hold(db: &TestDb, org_id: &str, request_id: &str, credits: i64) {
    let Cycle { start, end } = cycle();
    let (start, end, spend) = (start.0, end.0, credits * 2);
    let budget = format!(
        "INSERT INTO budgets (org_id, mode, cycle_start, cycle_end, used_credits_micro, used_spend_micro, \
         held_credits_micro, held_spend_micro) \
         VALUES ('{org_id}', 'live', {start}, {end}, 0, 0, {credits}, {spend})"
    );
    let hold = format!(
        "INSERT INTO holds (request_id, org_id, mode, cycle_start, credits_micro, spend_micro, replica_id, \
         created_at) \
         VALUES ('{request_id}', '{org_id}', 'live', {start}, {credits}, {spend}, '{REPLICA}', {start})"
    );
    for statement in [budget, hold] {
        assert_eq!(db.tamper(&statement).await.unwrap(), 1);
    }
}
