//! The frame of every endpoint: input in, one answer and its audit row out.
//!
//! A write runs where no disconnect reaches it. Its effect, its audit row and the response that its idempotency key
//! will get again are one transaction.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::json;
use svc_core::secret::Mode;
use svc_pipeline::exchange::{Exchange, given};
use svc_pipeline::fact::Fact;
use svc_pipeline::filter::json_media_type;
use svc_pipeline::handler::Handler;
use svc_pipeline::idempotency::{self, Claim, Stored, Turn, replay};
use svc_pipeline::moment;
use svc_pipeline::response::Response;
use svc_pipeline::service;
use svc_pipeline::standing::Standing;
use svc_pipeline::trail::Entry;
use svc_store::audit::Target;
use svc_store::tenant;
use svc_store::{TransactionError, audit};

use crate::call::{
    Answering, Call, Change, Client, Content, Deciding, Effect, JUDGED_TIMES, Outdated, Refused,
    Reply, Undone, never_settled, store_fault,
};
use crate::condition;
use crate::lines::accepts_lines;
use crate::query::Query;

/// An endpoint that changes nothing.
pub(crate) struct Read(pub(crate) fn(Call) -> Answering);

/// An endpoint that changes nothing and leaves a row all the same (contract 14.2): whoever reads the log is in it.
pub(crate) struct Watched {
    pub(crate) answer: fn(Call) -> Answering,
    /// What the row says: `queried`.
    pub(crate) happened: &'static str,
}

/// An endpoint that changes something.
pub(crate) struct Write(pub(crate) fn(Call) -> Deciding);

/// Contract 1.2.
const MAX_BODY_BYTES: usize = 1024 * 1024;

pub(crate) const NEEDS: &[Fact] = &[
    Fact::Caller,
    Fact::Version,
    Fact::Authorized,
    Fact::Delegated,
    Fact::Admitted,
];

impl Handler for Read {
    fn name(&self) -> &'static str {
        "control"
    }

    fn needs(&self) -> &'static [Fact] {
        NEEDS
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        let answer = self.0;
        Box::pin(async move {
            let call = match call(&exchange, Map::new()) {
                Ok(call) => call,
                Err(fault) => return exchange.refuse(fault).await,
            };
            match answer(call).await {
                Ok(reply) => show(&exchange, StatusCode::OK, reply.content),
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

/// `status` is that of an answer of its own kind; one in the envelope is good.
fn show(exchange: &Exchange, status: StatusCode, content: Content) -> Response {
    let (data, pagination) = match content {
        Content::Data { data, pagination } => (data, pagination),
        Content::Plain { headers, body } => {
            return exchange.respond(status, headers, body);
        }
    };
    let mut body = envelope(data, &exchange.request_id);
    if let Some(pagination) = pagination
        && let Some(meta) = body.get_mut("meta").and_then(Value::as_object_mut)
    {
        meta.insert("pagination".to_owned(), pagination);
    }
    exchange.json(StatusCode::OK, &body)
}

impl Handler for Watched {
    fn name(&self) -> &'static str {
        "control"
    }

    fn needs(&self) -> &'static [Fact] {
        NEEDS
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        let Self { answer, happened } = *self;
        Box::pin(async move {
            let call = match call(&exchange, Map::new()) {
                Ok(call) => call,
                Err(fault) => return exchange.refuse(fault).await,
            };
            let Reply {
                content,
                target,
                details,
            } = match answer(call).await {
                Ok(reply) => reply,
                Err(fault) => return exchange.refuse(fault).await,
            };
            let (status, content) = match condition::judge(&exchange.head.headers, content) {
                Ok(judged) => judged,
                Err(fault) => return exchange.refuse(fault).await,
            };
            match witness(&mut exchange, happened, status, target, details).await {
                Ok(()) => show(&exchange, status, content),
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

/// The audit row of a read, written before its answer, which has this status.
///
/// # Errors
/// 503: what cannot be audited is not answered.
pub(crate) async fn witness(
    exchange: &mut Exchange,
    happened: &str,
    status: StatusCode,
    target: Option<Target>,
    details: Map<String, Value>,
) -> Result<(), Fault> {
    let family = exchange.route.operation().word();
    let row = exchange.trail.scribe().row(Entry {
        event: format!("{family}.{happened}"),
        target,
        status: status.as_u16(),
        details,
    });
    match audit::append(&exchange.gateway.store, &[row]).await {
        Ok(()) => {
            exchange.trail.written();
            Ok(())
        }
        Err(error) => Err(Fault::unavailable(format_args!(
            "audit row of a read: {error}"
        ))),
    }
}

impl Handler for Write {
    fn name(&self) -> &'static str {
        "control"
    }

    fn needs(&self) -> &'static [Fact] {
        NEEDS
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        let decide = self.0;
        Box::pin(async move {
            let (body, sent) = match body(&mut exchange).await {
                Ok(body) => body,
                Err(fault) => return exchange.refuse(fault).await,
            };
            let background = exchange.gateway.background.clone();
            let running = background.spawn(tenant::inherited(write(decide, exchange, body, sent)));
            running.await.unwrap_or_else(|_| service::internal_error())
        })
    }
}

/// The body as an object, and as it was sent; an endpoint that needs nothing of it takes an empty one too.
async fn body(exchange: &mut Exchange) -> Result<(Map<String, Value>, Bytes), Fault> {
    let bytes = exchange.read_body(MAX_BODY_BYTES).await?;
    if !bytes.is_empty() {
        json_media_type(&exchange.head.headers)?;
    }
    Ok((object(&bytes)?, bytes))
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, Fault> {
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    json::object(bytes)
}

pub(crate) fn call(exchange: &Exchange, body: Map<String, Value>) -> Result<Call, Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    Ok(Call {
        gateway: Arc::clone(&exchange.gateway),
        policy: Arc::clone(&exchange.policy),
        caller: Arc::clone(caller),
        standing: Standing::of(exchange)?,
        now: moment::now(),
        client: Client {
            request_id: exchange.request_id.clone(),
            address: exchange.head.client.to_string(),
            user_agent: exchange.head.user_agent(),
            accepts_lines: accepts_lines(&exchange.head.headers),
        },
        parameters: exchange.parameters.clone(),
        query: Query::parse(&exchange.head.path, exchange.head.query.as_deref()),
        body,
        sent: Bytes::new(),
    })
}

fn envelope(data: Value, request_id: &str) -> Value {
    json!({"success": true, "data": data, "meta": {"request_id": request_id}})
}

async fn write(
    decide: fn(Call) -> Deciding,
    mut exchange: Exchange,
    body: Map<String, Value>,
    sent: Bytes,
) -> Response {
    let claim = match turn(&exchange, &body).await {
        Ok(Turn::Free) => None,
        Ok(Turn::Mine(claim)) => Some(claim),
        Ok(Turn::Done(stored)) => return Box::pin(replay(exchange, stored)).await,
        Err(fault) => return exchange.refuse(fault).await,
    };
    match settled(decide, &exchange, body, &sent, claim.as_ref()).await {
        Ok(done) => {
            exchange.trail.written();
            forget(&exchange, &done.outdated);
            exchange.json(done.status, &done.body)
        }
        Err(fault) => Box::pin(give_up(exchange, fault.in_order_of(&sent), claim)).await,
    }
}

/// Decides and does it; again, by what holds now, where what it was judged by has changed in between.
async fn settled(
    decide: fn(Call) -> Deciding,
    exchange: &Exchange,
    mut body: Map<String, Value>,
    sent: &Bytes,
    claim: Option<&Arc<Claim>>,
) -> Result<Done, Fault> {
    for _ in 0..JUDGED_TIMES {
        let call = Call {
            sent: sent.clone(),
            ..call(exchange, body)?
        };
        let change = decide(call).await?;
        match commit(exchange, change, claim.cloned()).await {
            Ok(done) => return Ok(done),
            Err(Undone::Refused(fault)) => return Err(fault),
            Err(Undone::Outdated) => body = object(sent)?,
        }
    }
    Err(never_settled())
}

async fn turn(exchange: &Exchange, body: &Map<String, Value>) -> Result<Turn, Fault> {
    if !idempotency::is_asked(exchange) {
        return Ok(Turn::Free);
    }
    let digest = idempotency::body_digest(body)?;
    Turn::take(exchange, &digest).await
}

/// A write that is durable.
struct Done {
    status: StatusCode,
    body: Value,
    outdated: Outdated,
}

/// Whoever was told that a change is done finds it done.
fn forget(exchange: &Exchange, outdated: &Outdated) {
    let Outdated {
        credentials,
        organization,
        bindings,
        budget,
    } = outdated;
    let callers = &exchange.gateway.callers;
    for digest in credentials {
        callers.forget(digest);
    }
    let Some(caller) = &exchange.facts.caller else {
        return;
    };
    if *organization {
        callers.forget_organization(&caller.organization_id);
    }
    if *budget {
        exchange.gateway.rooms.forget(caller);
    }
    if *bindings {
        let known = &exchange.gateway.bindings;
        known.forget(&caller.organization_id, caller.mode);
    }
}

/// The change, its audit row and its stored response, or none of them.
async fn commit(
    exchange: &Exchange,
    change: Change,
    claim: Option<Arc<Claim>>,
) -> Result<Done, Undone> {
    let family = exchange.route.operation().word();
    let scribe = exchange.trail.scribe();
    let request_id = exchange.request_id.clone();
    let version = given(exchange.facts.version, "the API version").map_err(Undone::Refused)?;
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            let effect = change(tx.reborrow()).await?;
            let Effect {
                status,
                data,
                happened,
                target,
                details,
                outdated,
            } = effect;
            let mut row = scribe.row(Entry {
                event: format!("{family}.{happened}"),
                target: Some(target),
                status: status.as_u16(),
                details,
            });
            if outdated.organization {
                // What holds in both modes stands in the live log, whichever key asked for it.
                row.mode = Some(Mode::Live);
            }
            audit::record(&mut tx, &row).await?;
            let body = envelope(data, &request_id);
            if let Some(claim) = claim {
                let stored = Stored::new(status, &request_id, version, &body);
                claim.complete(&mut tx, &stored, moment::now()).await?;
            }
            Ok::<_, Refused>(Done {
                status,
                body,
                outdated,
            })
        })
    });
    done.await.map_err(|error| match error {
        TransactionError::Refused(undone) => undone,
        TransactionError::Store(error) => Undone::Refused(store_fault(&error)),
    })
}

/// The row of the refusal, and the key given back, in one transaction.
async fn give_up(mut exchange: Exchange, fault: Fault, claim: Option<Arc<Claim>>) -> Response {
    let Some(claim) = claim else {
        return exchange.refuse(fault).await;
    };
    let row = exchange.trail.scribe().refusal(&fault);
    let written = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            audit::record(&mut tx, &row).await?;
            claim.release(&mut tx).await?;
            Ok::<(), TransactionError<Fault>>(())
        })
    });
    let fault = match written.await {
        Ok(()) => fault,
        Err(TransactionError::Refused(fault)) => fault,
        Err(TransactionError::Store(error)) => {
            Fault::unavailable(format_args!("audit row of a refusal: {error}"))
        }
    };
    exchange.trail.written();
    exchange.fault_response(&fault)
}
