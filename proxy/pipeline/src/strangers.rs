//! Failing authentications: an address that fails too often is not listened to (contract 2, step 3), and what it did
//! is one audit row per address prefix, reason and minute (contract 14.2), so that a flood of them cannot become a
//! flood of writes. Where it was with a credential that somebody had once, the row stands in their log and names it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use svc_core::fault::{Code, Fault};
use svc_core::limit::Rule;
use svc_core::secret::Mode;
use svc_store::audit::{self, Actor, ActorKind, Outcome, Phase, Row};
use svc_store::{Store, StoreError};

use crate::caller::Caller;
use crate::exchange::Exchange;
use crate::filter::limits::{self, Bucket};
use crate::filter::network;
use crate::moment;

/// Contract 14.2: one row per minute.
pub const FLUSH_EVERY: Duration = Duration::from_secs(60);

/// Prefixes counted apart in one minute; what comes from others is counted together.
const MAX_PREFIXES: usize = 4_096;

/// How an authentication failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// What is answered.
    pub code: Code,
    /// A word for the log and the aggregated audit row.
    pub reason: &'static str,
    /// Whose credential it was, where it is one that no longer holds.
    pub owner: Option<Owner>,
}

/// A credential that no longer holds, and its organization.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    org_id: String,
    mode: Mode,
    kind: ActorKind,
    credential_id: String,
    hint: String,
}

impl Failure {
    /// Of a credential that is nobody's. `code` is answered, `reason` goes to log and audit row.
    pub const fn unknown(code: Code, reason: &'static str) -> Self {
        Self {
            code,
            reason,
            owner: None,
        }
    }

    /// Of a credential that was this caller's.
    pub fn of(caller: &Caller, code: Code, reason: &'static str) -> Self {
        let owner = Owner {
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            kind: caller.actor(),
            credential_id: caller.key_id.clone(),
            hint: caller.key_hint.clone(),
        };
        Self {
            code,
            reason,
            owner: Some(owner),
        }
    }
}

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
        Err(limits::limited(standing, Bucket::Address))
    }
}

/// Counts a request whose credential is nobody's; the reason is a word of the log and of the aggregated audit row.
pub fn refuse(exchange: &Exchange, reason: &'static str) {
    refuse_as(exchange, Failure::unknown(Code::InvalidApiKey, reason));
}

/// As [`refuse`], with all that is known.
pub fn refuse_as(exchange: &Exchange, failure: Failure) {
    count(exchange);
    let Exchange { gateway, head, .. } = exchange;
    gateway.strangers.count(head.client, failure);
}

/// Counts a failing authentication that has a row of its own, because it was at somebody's account. It costs its
/// address as much as any other: what is left there must not tell which accounts there are.
pub fn count(exchange: &Exchange) {
    let (bucket, rule) = bucket(exchange);
    let limiter = &exchange.gateway.limiter;
    limiter.take_here(&bucket, rule, moment::now_us());
}

fn bucket(exchange: &Exchange) -> (String, Rule) {
    let limits = exchange.policy.plans.limits;
    let rule = Rule::per_minute(limits.failed_authentications_per_minute);
    (format!("address:{}", network(exchange.head.client)), rule)
}

/// Failures by the network that they came from; `None` is that of all others.
type Counts = HashMap<(Option<IpAddr>, Failure), u64>;

/// Failures that were not written yet, by network, reason and owner: some 4096 apart, the rest together.
#[derive(Default)]
pub struct Strangers {
    counts: Mutex<Counts>,
}

impl Strangers {
    fn count(&self, client: IpAddr, failure: Failure) {
        let prefix = Some(network(client));
        add(&mut self.counts.lock(), prefix, failure, 1);
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
        let counts: Vec<_> = counts.into_iter().collect();
        for (at, some) in counts.chunks(audit::APPEND_ROWS).enumerate() {
            let rows: Vec<Row> = some
                .iter()
                .map(|((prefix, failure), count)| row(*prefix, failure, *count))
                .collect();
            if let Err(error) = audit::append(store, &rows).await {
                let unwritten = counts.into_iter().skip(at * audit::APPEND_ROWS);
                self.keep(unwritten);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Puts back what could not be written, beside what has been counted since.
    fn keep(&self, unwritten: impl Iterator<Item = ((Option<IpAddr>, Failure), u64)>) {
        let mut counts = self.counts.lock();
        for ((prefix, failure), count) in unwritten {
            add(&mut counts, prefix, failure, count);
        }
    }
}

/// Counts apart while there is room, and with the others from then on.
fn add(counts: &mut Counts, prefix: Option<IpAddr>, failure: Failure, count: u64) {
    let mut key = (prefix, failure);
    if counts.len() >= MAX_PREFIXES && !counts.contains_key(&key) {
        let failure = Failure {
            owner: None,
            ..key.1
        };
        key = (None, failure);
    }
    *counts.entry(key).or_default() += count;
}

fn row(prefix: Option<IpAddr>, failure: &Failure, count: u64) -> Row {
    let Failure {
        code,
        reason,
        owner,
    } = failure;
    let mut details = Map::new();
    let prefix = prefix.map_or(Value::from("others"), |prefix| {
        Value::from(prefix.to_string())
    });
    details.insert("address_prefix".into(), prefix);
    details.insert("reason".into(), Value::from(*reason));
    details.insert("count".into(), Value::from(count));
    Row {
        id: moment::audit_id(),
        phase: Phase::Single,
        event: "auth.failed".into(),
        occurred_at: moment::now(),
        org_id: owner.as_ref().map(|owner| owner.org_id.clone()),
        mode: owner.as_ref().map(|owner| owner.mode),
        actor: Actor {
            kind: owner
                .as_ref()
                .map_or(ActorKind::Anonymous, |owner| owner.kind),
            id: owner.as_ref().map(|owner| owner.credential_id.clone()),
            delegating_user_id: None,
            hint: owner.as_ref().map(|owner| owner.hint.clone()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_written_is_kept_within_the_bound() {
        let unknown = || Failure::unknown(Code::InvalidApiKey, "unknown");
        let client = |block: u8, at: usize| {
            let [_, _, high, low] = u32::try_from(at).unwrap_or_default().to_be_bytes();
            IpAddr::from([192, block, high, low])
        };
        let strangers = Strangers::default();
        for at in 0..MAX_PREFIXES {
            strangers.count(client(0, at), unknown());
        }
        let unwritten = (0..MAX_PREFIXES).map(|at| ((Some(client(1, at)), unknown()), 2));
        strangers.keep(unwritten);
        let counts = strangers.counts.lock();
        assert_eq!(counts.len(), MAX_PREFIXES + 1);
        let others = 2 * MAX_PREFIXES as u64;
        assert_eq!(counts.get(&(None, unknown())), Some(&others));
    }

    #[test]
    fn a_failure_is_counted_by_address_reason_and_owner() {
        let strangers = Strangers::default();
        let unknown = || Failure::unknown(Code::InvalidApiKey, "unknown");
        let owned = |credential: &str| Failure {
            owner: Some(Owner {
                org_id: "org_1".to_owned(),
                mode: Mode::Test,
                kind: ActorKind::AgentCredential,
                credential_id: credential.to_owned(),
                hint: "…x9Qz".to_owned(),
            }),
            ..Failure::unknown(Code::AgentCredentialRevoked, "revoked")
        };
        let near: IpAddr = [192, 0, 2, 1].into();
        for (client, failure) in [
            (near, unknown()),
            (near, unknown()),
            ([192, 0, 2, 2].into(), unknown()),
            (near, owned("agc_1")),
            (near, owned("agc_2")),
        ] {
            strangers.count(client, failure);
        }
        let counts = strangers.counts.lock();
        assert_eq!(counts.len(), 4);
        assert_eq!(counts.get(&(Some(near), unknown())), Some(&2));
        let told = row(Some(near), &owned("agc_1"), 3);
        assert_eq!(told.org_id.as_deref(), Some("org_1"));
        assert_eq!(told.mode, Some(Mode::Test));
        assert_eq!(told.actor.id.as_deref(), Some("agc_1"));
        assert_eq!(told.code.as_deref(), Some("AGENT_CREDENTIAL_REVOKED"));
        let untold = row(None, &unknown(), 1);
        assert_eq!(
            (untold.org_id, untold.mode, untold.actor.id),
            (None, None, None)
        );
    }
}
