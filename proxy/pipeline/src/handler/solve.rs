//! `solve`: `POST /v1/solve` (spec, rules 1 to 10). The spec goes to a worker of the solver and nowhere else: it
//! is neither stored nor logged; its digest stands in the one audit row that every authorized call leaves, and so do the
//! ids of conflicts, which are the caller's own words, without PHI. Under an `Idempotency-Key` that row, and the answer
//! that the key gets again, are one transaction (contract 4).

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use svc_core::fault::{Code, Fault};
use svc_core::json;
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_solver::{Solved, Spec};
use svc_store::audit::{self, Phase, Row};
use svc_store::{TransactionError, tenant};

use super::Handler;
use super::message::check_query;
use crate::arrival::Unread;
use crate::budget::{self, Reservation};
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::filter::json_media_type;
use crate::gateway::Gateway;
use crate::idempotency::{self, Claim, Stored, Turn};
use crate::moment;
use crate::phi;
use crate::request::CutOff;
use crate::response::Response;
use crate::trail::{self, End, Ending, Entry, Operation, Scribe};

pub(super) struct Solve;

impl Handler for Solve {
    fn name(&self) -> &'static str {
        "solve"
    }

    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Authorized,
            Fact::Admitted,
        ]
    }

    fn operation(&self) -> Option<Operation> {
        Some(Operation::Solve)
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let mut minutes = Minutes::begin(&exchange);
            // From here on the row is the minutes' matter.
            exchange.trail.hands_over();
            let solved = match solve(&mut exchange, &mut minutes).await {
                Ok(Outcome::Solved(solved)) => Ok(solved),
                Ok(Outcome::Again(stored)) => {
                    return match minutes.replayed(&exchange, &stored).await {
                        Ok(()) => stored.response(&exchange),
                        Err(fault) => exchange.refuse(fault).await,
                    };
                }
                Err(fault) => Err(fault),
            };
            // A result that cannot be audited is no result: audit fails closed.
            match minutes.end(&exchange, solved).await {
                Ok(body) => exchange.json(StatusCode::OK, &body),
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

/// What became of a spec that was not refused.
enum Outcome {
    Solved(Solved),
    /// Its key has an answer already.
    Again(Stored),
}

/// A spec that was accepted, with its bytes.
struct Accepted {
    spec: Result<Spec, Fault>,
    bytes: Bytes,
    /// Of the canonical body, where a key asks for it; a spec without a canonical form is refused.
    canonical: Result<[u8; 32], Fault>,
}

/// Steps 9 to 14 of the order of checks, then the solver.
async fn solve(exchange: &mut Exchange, minutes: &mut Minutes) -> Result<Outcome, Fault> {
    let query = check_query(exchange.head.query.as_deref());
    let limit_bytes = exchange.gateway.settings.solve_body_bytes;
    let read = exchange.read_body(limit_bytes).await;
    // The row is of whoever is known by now, and of the rules of now.
    if exchange.came_late() {
        minutes.scribe = Some(exchange.trail.scribe());
    }
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(Unread::Broken(error)) => return Err(query.err().unwrap_or_else(|| error.into())),
        Err(Unread::Refused(fault)) => return Err(fault),
    };
    // Whatever is refused below: the row says which spec it was (contract 14.2).
    minutes.spec_sha256 = Some(digest(&exchange.gateway, &bytes).await?);
    query?;
    json_media_type(&exchange.head.headers)?;
    let has_key = idempotency::is_asked(exchange);
    let accepted = accept(&exchange.gateway, bytes, has_key).await?;
    if has_key {
        let canonical = match accepted.canonical {
            Ok(canonical) => canonical,
            Err(fault) => return Err(accepted.spec.err().unwrap_or(fault)),
        };
        if let Some(claim) = Claim::asked(exchange).await? {
            // Before it is claimed: whoever leaves meanwhile gives it back.
            minutes.claim = Some(Arc::clone(&claim));
            if let Turn::Done(stored) = claim.take(exchange, &canonical).await? {
                return Ok(Outcome::Again(stored));
            }
        }
    }
    let spec = Arc::new(accepted.spec?);
    gates(exchange).await?;
    let gateway = &exchange.gateway;
    let waiting = i64::try_from(gateway.solver.waiting()).unwrap_or(i64::MAX);
    gateway.metrics.solve_waiting.set(waiting);
    let solving = gateway.solver.solve(&spec, &accepted.bytes);
    let solved = match &minutes.claim {
        None => solving.await,
        Some(claim) => tokio::select! {
            solved = solving => solved,
            never = claim.keep(&gateway.store) => match never {},
        },
    };
    let solved = solved.map_err(|unavailable| unavailable.fault())?;
    Ok(Outcome::Solved(solved))
}

/// Hashing and parsing this much takes about a millisecond; more is not for a thread that serves others.
const INLINE_BYTES: usize = 64 * 1024;

/// Takes no memory, so it waits for nobody.
async fn digest(gateway: &Gateway, bytes: &Bytes) -> Result<String, Fault> {
    let digest = |bytes: &Bytes| hex::encode(Sha256::digest(bytes));
    if bytes.len() <= INLINE_BYTES {
        return Ok(digest(bytes));
    }
    let bytes = bytes.clone();
    let hashing = gateway.background.spawn_blocking(move || digest(&bytes));
    let hashed = hashing.await;
    hashed.map_err(|error| Fault::internal(format_args!("hashing a spec: {error}")))
}

async fn accept(gateway: &Gateway, bytes: Bytes, has_key: bool) -> Result<Accepted, Fault> {
    let read = move |bytes: Bytes| Accepted {
        spec: svc_solver::parse(&bytes).map_err(|fault| fault.in_order_of(&bytes)),
        canonical: match has_key {
            true => json::large_object(&bytes).and_then(|body| idempotency::body_digest(&body)),
            false => Ok([0; 32]),
        },
        bytes,
    };
    if bytes.len() <= INLINE_BYTES {
        return Ok(read(bytes));
    }
    let reading = gateway.solver.read(move || read(bytes)).await;
    reading.map_err(|unavailable| unavailable.fault())
}

/// Contract 2, step 14, for solve: the organization's switches and budgets, without model, BAA and PHI.
async fn gates(exchange: &Exchange) -> Result<(), Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let now = exchange.now;
    if caller.ai_paused {
        return Err(Code::AiPaused.fault());
    }
    crate::filter::evaluation_open(caller, now)?;
    // A solve costs no credits, but who has none left is blocked: the least charge must fit.
    let least = Charge {
        credits: Micro(1),
        cost_usd: Micro(1),
        ..Charge::default()
    };
    let reservation = Reservation::new(caller, &exchange.policy.plans, Some(least), now);
    let request_id = &exchange.request_id;
    budget::check(&exchange.gateway, caller, &reservation, request_id, now).await
}

/// The minutes of one call: its audit row, written exactly once, also when the caller leaves; and with it what becomes
/// of its idempotency key.
struct Minutes {
    gateway: Arc<Gateway>,
    /// Makes the row once the end is known, and dates it then: whoever reads the log span by span has not read past it.
    scribe: Option<Scribe>,
    /// What the call has claimed, or is about to claim.
    claim: Option<Arc<Claim>>,
    spec_sha256: Option<String>,
    /// The solver's word, once there is one.
    solver_status: Cow<'static, str>,
    /// The caller's own words, without PHI.
    conflict_ids: Vec<String>,
    began: Instant,
    /// From there to the answer, once there is one.
    took: Option<Duration>,
    /// The organization that the row is of.
    tenant: Option<Arc<str>>,
    cut_off: CutOff,
}

impl Minutes {
    fn begin(exchange: &Exchange) -> Self {
        let caller = exchange.facts.caller.as_ref();
        Self {
            gateway: Arc::clone(&exchange.gateway),
            scribe: Some(exchange.trail.scribe()),
            claim: None,
            spec_sha256: None,
            solver_status: UNAVAILABLE.into(),
            conflict_ids: Vec::new(),
            began: exchange.head.received,
            took: None,
            tenant: caller.map(|caller| Arc::from(caller.organization_id.as_str())),
            cut_off: exchange.head.cut_off.clone(),
        }
    }

    fn took(&self) -> Duration {
        self.took.unwrap_or_else(|| self.began.elapsed())
    }

    fn wall_time_ms(&self) -> u64 {
        u64::try_from(self.took().as_millis()).unwrap_or(u64::MAX)
    }

    /// Takes down what became of the spec: from here on that is so, also for a caller who leaves.
    fn decided(&mut self, end: &Result<Solved, Fault>) {
        self.took = Some(self.began.elapsed());
        self.solver_status = match end {
            Ok(solved) => solved.status.word().into(),
            Err(fault) if fault.code.row().status >= 500 => UNAVAILABLE.into(),
            Err(_) => "rejected".into(),
        };
        let conflicts = end.as_ref().map_or(0, |solved| solved.conflicts.len());
        self.conflict_ids = vec![phi::UNREAD.to_owned(); conflicts];
    }

    /// Another call did what this one asks for: what it came to stands in a row of this one too (spec, rule 9), which is
    /// not metered (contract 4), behind the row of the replay.
    ///
    /// # Errors
    /// 503 when the rows could not be written.
    async fn replayed(mut self, exchange: &Exchange, stored: &Stored) -> Result<(), Fault> {
        self.took = Some(self.began.elapsed());
        let Answered { data } = stored.read()?;
        self.solver_status = data.status.into();
        let ids = data.conflicts.into_iter().map(|conflict| conflict.id);
        self.conflict_ids = phi::quoted(exchange, ids.collect()).await;
        let scribe = given(self.scribe.take(), "the scribe")?;
        let end = End {
            ending: Ending::Completed,
            status: stored.status().as_u16(),
            code: None,
        };
        let rows = [
            Row {
                phase: Phase::Requested,
                ..idempotency::row_of_replay(&scribe, stored)
            },
            Row {
                phase: Phase::Terminal,
                ..scribe.ended(self.entry(end), end)
            },
        ];
        write(&self.gateway, rows.into(), None).await
    }

    /// The row, and with it the answer that the key gets again or the key given back. Gives the body of the response.
    ///
    /// # Errors
    /// The fault that the call ended with; 503 when the row could not be written.
    async fn end(
        mut self,
        exchange: &Exchange,
        solved: Result<Solved, Fault>,
    ) -> Result<Value, Fault> {
        self.decided(&solved);
        if let Ok(Solved { conflicts, .. }) = &solved {
            let ids = conflicts.iter().map(|conflict| conflict.id.clone());
            self.conflict_ids = phi::quoted(exchange, ids.collect()).await;
        }
        let row = self.finished(solved.as_ref().err());
        let claim = self.claim.take();
        let (answer, key) = match solved {
            Ok(solved) => {
                let data = svc_solver::solve_result(&solved, self.wall_time_ms());
                // Contract X5: no `success` here.
                let body = json!({"data": data, "meta": {"request_id": exchange.request_id}});
                let version = given(exchange.facts.version, "the API version")?;
                let request_id = &exchange.request_id;
                let key = claim.map(|claim| {
                    let stored = Stored::new(StatusCode::OK, request_id, version, &body);
                    Key::Answered(claim, stored)
                });
                (Ok(body), key)
            }
            Err(fault) => (Err(fault), claim.map(Key::GivenBack)),
        };
        if let Some(row) = row {
            write(&self.gateway, vec![row], key).await?;
        }
        answer
    }

    fn finished(&mut self, fault: Option<&Fault>) -> Option<Row> {
        let scribe = self.scribe.take()?;
        let end = match fault {
            None => End {
                ending: Ending::Completed,
                status: StatusCode::OK.as_u16(),
                code: None,
            },
            Some(fault) => End {
                ending: trail::ending(fault),
                status: fault.code.row().status,
                code: Some(fault.code),
            },
        };
        let histogram = &self.gateway.metrics.solve_seconds;
        histogram
            .with_label_values(&[self.solver_status.as_ref()])
            .observe(self.took().as_secs_f64());
        Some(scribe.ended(self.entry(end), end))
    }

    fn entry(&mut self, end: End) -> Entry {
        let conflict_ids = std::mem::take(&mut self.conflict_ids);
        let mut details = Map::new();
        details.insert("solver_status".into(), self.solver_status.as_ref().into());
        details.insert("conflict_ids".into(), conflict_ids.into());
        details.insert("spec_sha256".into(), self.spec_sha256.clone().into());
        details.insert("wall_time_ms".into(), self.wall_time_ms().into());
        Entry {
            event: "workflow.solve_completed".to_owned(),
            target: None,
            status: end.status,
            details,
        }
    }
}

/// What is read of an answer that is given again.
#[derive(Deserialize)]
struct Answered {
    data: AnsweredData,
}

#[derive(Deserialize)]
struct AnsweredData {
    status: String,
    conflicts: Vec<AnsweredConflict>,
}

#[derive(Deserialize)]
struct AnsweredConflict {
    id: String,
}

/// Of a call that the solver has not answered.
const UNAVAILABLE: &str = "unavailable";

/// What becomes of an idempotency key.
enum Key {
    Answered(Arc<Claim>, Stored),
    GivenBack(Arc<Claim>),
}

/// The rows and the key's fate in one transaction, where no disconnect reaches it.
async fn write(gateway: &Arc<Gateway>, rows: Vec<Row>, key: Option<Key>) -> Result<(), Fault> {
    let store = gateway.store.clone();
    let debt = gateway.owed.rows();
    let writing = gateway.background.spawn(tenant::inherited(async move {
        let _debt = debt;
        if let Some(Key::GivenBack(claim)) = &key {
            claim.known().await;
        }
        let written = store.transaction(move |mut tx| {
            Box::pin(async move {
                for row in &rows {
                    audit::record(&mut tx, row).await?;
                }
                match key {
                    None => {}
                    Some(Key::Answered(claim, stored)) => {
                        claim.complete(&mut tx, &stored, moment::now()).await?;
                    }
                    Some(Key::GivenBack(claim)) => claim.release(&mut tx).await?,
                }
                Ok::<(), TransactionError<Infallible>>(())
            })
        });
        written.await
    }));
    match writing.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(TransactionError::Store(error))) => {
            Err(Fault::unavailable(format_args!("audit row: {error}")))
        }
        Ok(Err(TransactionError::Refused(never))) => match never {},
        Err(error) => Err(Fault::internal(format_args!("audit row: {error}"))),
    }
}

impl Drop for Minutes {
    fn drop(&mut self) {
        let Some(scribe) = self.scribe.take() else {
            return;
        };
        let end = trail::dropped(&self.cut_off);
        let row = scribe.ended(self.entry(end), end);
        let (gateway, key) = (Arc::clone(&self.gateway), self.claim.take());
        let (debt, tenant) = (gateway.owed.rows(), self.tenant.take());
        let writing = tenant::in_name_of(tenant, async move {
            let _debt = debt;
            if let Err(fault) = write(&gateway, vec![row], key.map(Key::GivenBack)).await {
                tracing::error!(
                    cause = fault.cause(),
                    "the audit row of a solve call that was left is missing"
                );
            }
        });
        self.gateway.background.spawn(writing);
    }
}
