//! Failing authentications: an address that fails too often is not listened to (contract 2, step 3), and what it did
//! is one audit row per address prefix, reason and minute (contract 14.2), so that a flood of them cannot become a
//! flood of writes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use svc_core::fault::{Code, Fault};
use svc_core::id::IdKind;
use svc_core::limit::Rule;
use svc_store::audit::{self, Actor, ActorKind, Outcome, Phase, Row};
use svc_store::{Store, StoreError};

use crate::exchange::Exchange;
use crate::filter::{limits, network};
use crate::moment;

/// Contract 14.2: one row per minute.
pub const FLUSH_EVERY: Duration = Duration::from_secs(60);

/// Prefixes counted apart in one minute; what comes from others is counted together.
const MAX_PREFIXES: usize = 4_096;

/// The reason of a path that names no inbound webhook in use.
pub const UNKNOWN_INBOUND_TOKEN: &str = "unknown_inbound_token";

/// Whether anybody listens to the address of this request.
///
/// # Errors
/// 429: too many authentications from there have failed.
pub fn admit(exchange: &Exchange) -> Result<(), Fault> {
    let (bucket, rule) = bucket(exchange);
    let limiter = &exchange.gateway.limiter;
    let standing = limiter.peek_here(&bucket, rule, moment::now_us());
    if standing.allowed {
        Ok(())
    } else {
        Err(limits::limited(standing, "address"))
    }
}

/// Counts a request whose sender is nobody; the reason is a word of the log and of the aggregated audit row.
pub fn refuse(exchange: &Exchange, reason: &'static str) {
    let (bucket, rule) = bucket(exchange);
    let Exchange { gateway, head, .. } = exchange;
    gateway.limiter.take_here(&bucket, rule, moment::now_us());
    gateway.strangers.count(head.client, reason);
}

fn bucket(exchange: &Exchange) -> (String, Rule) {
    let limits = exchange.policy.plans.limits;
    let rule = limits::per_minute(limits.failed_authentications_per_minute);
    (format!("address:{}", network(exchange.head.client)), rule)
}

#[derive(Default)]
pub struct Strangers {
    counts: Mutex<HashMap<(Option<IpAddr>, &'static str), u64>>,
}

impl Strangers {
    fn count(&self, client: IpAddr, reason: &'static str) {
        let mut counts = self.counts.lock();
        let known = (Some(network(client)), reason);
        let key = if counts.len() < MAX_PREFIXES || counts.contains_key(&known) {
            known
        } else {
            (None, reason)
        };
        *counts.entry(key).or_default() += 1;
    }

    /// Writes what has been counted. What cannot be written now is kept for the next time.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn flush(&self, store: &Store) -> Result<(), StoreError> {
        let counts = std::mem::take(&mut *self.counts.lock());
        if counts.is_empty() {
            return Ok(());
        }
        let rows: Vec<Row> = counts
            .iter()
            .map(|((prefix, reason), count)| row(*prefix, reason, *count))
            .collect();
        let written = audit::append(store, &rows).await;
        if written.is_err() {
            let mut kept = self.counts.lock();
            for (key, count) in counts {
                *kept.entry(key).or_default() += count;
            }
        }
        written
    }
}

/// What whoever fails for this reason is answered.
fn answer(reason: &str) -> Code {
    if reason == UNKNOWN_INBOUND_TOKEN {
        Code::NotFound
    } else {
        Code::InvalidApiKey
    }
}

fn row(prefix: Option<IpAddr>, reason: &str, count: u64) -> Row {
    let code = answer(reason);
    let mut details = Map::new();
    let prefix = prefix.map_or(Value::from("others"), |prefix| {
        Value::from(prefix.to_string())
    });
    details.insert("address_prefix".into(), prefix);
    details.insert("reason".into(), Value::from(reason));
    details.insert("count".into(), Value::from(count));
    Row {
        id: moment::id(IdKind::Audit),
        phase: Phase::Single,
        event: "auth.failed".into(),
        occurred_at: moment::now(),
        org_id: None,
        mode: None,
        actor: Actor {
            kind: ActorKind::Anonymous,
            id: None,
            delegating_user_id: None,
            hint: None,
        },
        request: None,
        target: None,
        outcome: Outcome::Denied,
        status: Some(code.row().status),
        code: Some(code.word().to_owned()),
        phi: None,
        model: None,
        details,
    }
}
