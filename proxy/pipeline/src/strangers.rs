//! Failing authentications, counted: one audit row per address prefix, reason and minute (contract 14.2), so
//! that a flood of them cannot become a flood of writes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use svc_core::id::IdKind;
use svc_store::audit::{self, Actor, ActorKind, Outcome, Phase, Row};
use svc_store::{Store, StoreError};

use crate::filter::network;
use crate::moment;

/// Contract 14.2: one row per minute.
pub const FLUSH_EVERY: Duration = Duration::from_secs(60);

/// Prefixes counted apart in one minute; what comes from others is counted together.
const MAX_PREFIXES: usize = 4_096;

#[derive(Default)]
pub struct Strangers {
    counts: Mutex<HashMap<(Option<IpAddr>, &'static str), u64>>,
}

impl Strangers {
    pub(crate) fn count(&self, client: IpAddr, reason: &'static str) {
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

fn row(prefix: Option<IpAddr>, reason: &str, count: u64) -> Row {
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
        status: Some(401),
        code: Some("INVALID_API_KEY".into()),
        phi: None,
        model: None,
        details,
    }
}
