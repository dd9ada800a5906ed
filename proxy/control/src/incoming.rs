//! The inbound entrance, `POST /api/svc/v1/incoming/{token}` (spec; contract 17.1): an outside system posts a JSON
//! object, and a record appears.
//!
//! The token is all that the sender has. It stands in the path, so the path is shown nowhere: rows, logs, traces and
//! metrics name the route. Record, events, audit row and the answer that a repeated key gets are one transaction.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::limit::{MINUTE_MS, Rule};
use svc_core::{json, secret};
use svc_pipeline::exchange::{Exchange, REQUEST_ID};
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::idempotency::IDEMPOTENT_REPLAYED;
use svc_pipeline::response::Response;
use svc_pipeline::strangers::{self, Failure};
use svc_pipeline::trail::{Entry, Party, Scribe};
use svc_pipeline::{moment, service};
use svc_store::audit::{ActorKind, Target};
use svc_store::entity::{Judged, RecordKey};
use svc_store::idempotency::{self, Envelope, Scope};
use svc_store::inbound_webhook::{self, Entrance};
use svc_store::record::{self, CreatedVia, Record};
use svc_store::{StoreError, TransactionError, audit, tenant};

use crate::call::{JUDGED_TIMES, never_settled, store_fault};
use crate::entities;
use crate::record_events;

/// The inbound entrance.
pub(crate) struct Incoming;

/// 256 KB: the largest body (spec, Limits; contract X21).
const MAX_BODY_BYTES: usize = 262_144;
/// Spec, Limits.
const MAX_KEY_CHARS: usize = 255;
/// As much of a foreign delivery id as a record keeps.
const MAX_ORIGIN_CHARS: usize = 255;
/// How long a request with a key that the quota denies waits for the answer of another one with the same key: about as
/// long as a commit takes on a machine that has much to do. Denied requests cost a write anyway.
const WAITS: [Duration; 3] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
];

const X_IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");
const WEBHOOK_ID: HeaderName = HeaderName::from_static(svc_core::webhook::ID_HEADER);

impl Handler for Incoming {
    fn name(&self) -> &'static str {
        "incoming"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let (entrance, body) = match opened(&mut exchange).await {
                Ok(opened) => opened,
                Err(fault) => return exchange.refuse(fault).await,
            };
            // From here on no disconnect reaches it.
            let background = exchange.gateway.background.clone();
            let org_id = entrance.webhook.org_id.clone();
            let running = background.spawn(async move {
                tenant::within(&org_id, receive(exchange, entrance, body)).await
            });
            running.await.unwrap_or_else(|_| service::internal_error())
        })
    }
}

/// The token first, then the body: nobody makes the gateway read what it does not expect.
async fn opened(exchange: &mut Exchange) -> Result<(Entrance, bytes::Bytes), Fault> {
    strangers::admit(exchange)?;
    let Some(mut way_in) = entrance(exchange).await? else {
        let failure = Failure::unknown(Code::NotFound, "unknown_inbound_token");
        let fault = failure.code.fault().because(failure.reason);
        strangers::refuse_as(exchange, failure);
        return Err(fault);
    };
    let webhook = &way_in.webhook;
    exchange.trail.recognizes(Party {
        kind: ActorKind::WebhookToken,
        id: webhook.id.clone(),
        hint: Some(webhook.token_hint.clone()),
        organization_id: webhook.org_id.clone(),
        mode: webhook.mode,
    });
    // Also of a sender who leaves before the body is here.
    exchange.trail.admitted();
    let no_store = HeaderValue::from_static("no-store");
    exchange.headers.insert(CACHE_CONTROL, no_store);
    let body = exchange.read_body(MAX_BODY_BYTES).await?;
    if exchange.came_late() {
        way_in = still_open(exchange).await?;
    }
    Ok((way_in, body))
}

/// Where the token leads.
async fn entrance(exchange: &Exchange) -> Result<Option<Entrance>, Fault> {
    let digest = secret::digest(exchange.parameter("token"));
    let found = inbound_webhook::by_token(&exchange.gateway.store, &digest).await;
    found.map_err(|error| store_fault(&error))
}

/// Where the token leads that led somewhere before. Closed in the meantime, it is as one that never was.
async fn still_open(exchange: &Exchange) -> Result<Entrance, Fault> {
    entrance(exchange)
        .await?
        .ok_or_else(|| Code::NotFound.fault())
}

async fn receive(mut exchange: Exchange, entrance: Entrance, body: bytes::Bytes) -> Response {
    let repeatable = match Repeatable::of(&exchange, &entrance).await {
        Ok(repeatable) => repeatable.map(Arc::new),
        Err(fault) => return exchange.refuse(fault).await,
    };
    let outcome = settled(&mut exchange, entrance, repeatable.as_ref(), &body).await;
    match (outcome, repeatable) {
        (Ok(record_id), _) => {
            exchange.trail.written();
            exchange.json(StatusCode::CREATED, &answer(&record_id))
        }
        (Err(Stop::Refused(fault)), _) => exchange.refuse(fault).await,
        (Err(Stop::Repeated(sealed)), Some(repeatable)) => {
            Box::pin(repeated(exchange, &repeatable, &sealed)).await
        }
        (Err(Stop::Repeated(_) | Stop::Outdated), _) => {
            let fault = Fault::internal("an inbound request ended as none can");
            exchange.refuse(fault).await
        }
    }
}

/// Judges and does it; again, by the schema that holds now, where it has changed in between.
async fn settled(
    exchange: &mut Exchange,
    mut way_in: Entrance,
    repeatable: Option<&Arc<Repeatable>>,
    body: &[u8],
) -> Result<String, Stop> {
    let mut payload = admitted(exchange, &way_in, repeatable, body).await?;
    for _ in 0..JUDGED_TIMES {
        let record = judged(exchange, &way_in, payload)?;
        match commit(exchange, way_in, record, repeatable.cloned()).await {
            Err(Stop::Outdated) => {}
            done => return done,
        }
        payload = json::object(body)?;
        way_in = still_open(exchange).await?;
    }
    Err(never_settled().into())
}

/// Why no record is made.
enum Stop {
    Refused(Fault),
    /// The schema has changed since the record was judged.
    Outdated,
    /// The key was used before: the answer that it got, sealed.
    Repeated(Vec<u8>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

/// The checks of contract 17.1 between size and mapping, in their order: what was sent.
async fn admitted(
    exchange: &mut Exchange,
    entrance: &Entrance,
    repeatable: Option<&Arc<Repeatable>>,
    body: &[u8],
) -> Result<Map<String, Value>, Stop> {
    if let Some(repeatable) = repeatable {
        repeatable.look(exchange).await?;
    }
    let payload = json::object(body)?;
    if let Err(fault) = take_of_quota(exchange, entrance).await {
        // Who took the last of the quota may be the first request of the same key.
        if let Some(repeatable) = repeatable {
            for pause in WAITS {
                tokio::time::sleep(pause).await;
                repeatable.look(exchange).await?;
            }
        }
        return Err(fault.into());
    }
    Ok(payload)
}

/// The record that the mapping makes of what was sent, if the schema takes it.
fn judged(
    exchange: &Exchange,
    entrance: &Entrance,
    payload: Map<String, Value>,
) -> Result<Record, Fault> {
    let schema = &entrance.entity.schema;
    let mut input = entrance.webhook.field_mapping.apply(payload);
    schema.keep_known(&mut input);
    let mut problems = Problems::default();
    let values = schema.judge(input, "", &mut problems);
    problems.into_result()?;
    let at = moment::now();
    Ok(Record {
        id: moment::id(IdKind::Bare),
        values,
        created_via: CreatedVia::Inbound,
        origin_delivery_id: origin(&exchange.head.headers),
        created_at: at,
        updated_at: at,
    })
}

/// # Errors
/// 422 `ERROR`, retryable: the webhook's quota of this minute is used up.
async fn take_of_quota(exchange: &Exchange, entrance: &Entrance) -> Result<(), Fault> {
    let webhook = &entrance.webhook;
    let default = exchange.policy.plans.limits.inbound_per_minute;
    let rule = Rule::per_minute(webhook.per_minute.unwrap_or(default));
    let bucket = format!("inbound:{}", webhook.id);
    let verdict = exchange.gateway.limiter.take(&bucket, rule).await?;
    if verdict.allowed {
        return Ok(());
    }
    let fault = Fault::new(
        Code::Error,
        "The webhook's quota of this minute is used up.",
    );
    Err(fault
        .detail("reason", "quota_exceeded")
        .detail("limit", verdict.limit)
        .detail("window_seconds", MINUTE_MS / 1_000)
        .retry_in(verdict.retry_after_seconds))
}

/// The delivery that the request comes from, if it says so: whoever sends this header is not told of the record that
/// it makes (spec, loop prevention).
fn origin(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(WEBHOOK_ID)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    Some(text.chars().take(MAX_ORIGIN_CHARS).collect())
}

/// The record, what endpoints are told of it, its audit row and the kept answer, or none of them.
async fn commit(
    exchange: &Exchange,
    entrance: Entrance,
    record: Record,
    repeatable: Option<Arc<Repeatable>>,
) -> Result<String, Stop> {
    let store = &exchange.gateway.store;
    let key = RecordKey::of(store, &entrance.entity).await;
    let key = key.map_err(|error| store_fault(&error))?;
    let kept = match &repeatable {
        Some(repeatable) => Some(repeatable.sealed(&exchange.request_id, &record.id)?),
        None => None,
    };
    let scribe = exchange.trail.scribe();
    let policy = Arc::clone(&exchange.policy);
    let done = store.transaction(move |mut tx| {
        Box::pin(async move {
            let Entrance {
                webhook,
                entity,
                webhook_payload,
            } = entrance;
            let at = record.created_at;
            if let (Some(repeatable), Some(sealed)) = (&repeatable, kept)
                && let Some(first) =
                    idempotency::keep(&mut tx, &repeatable.scope, sealed, at).await?
            {
                return Err(TransactionError::Refused(Stop::Repeated(first)));
            }
            let records = std::slice::from_ref(&record);
            if record::insert(&mut tx, &entity, &key, records).await? == Judged::Outdated {
                return Err(TransactionError::Refused(Stop::Outdated));
            }
            if record.origin_delivery_id.is_none() {
                let event = record_events::created(&entity, &record, webhook_payload);
                record_events::publish(&mut tx, event, &policy).await?;
            }
            inbound_webhook::touch(&mut tx, &webhook, at).await?;
            let entity = entities::target(&entity);
            audit::record(&mut tx, &row(&scribe, &record, entity)).await?;
            Ok(record.id)
        })
    });
    done.await.map_err(|error| match error {
        TransactionError::Refused(stop) => stop,
        TransactionError::Store(error) => store_fault(&error).into(),
    })
}

fn row(scribe: &Scribe, record: &Record, entity: String) -> audit::Row {
    let mut details = Map::new();
    details.insert("entity".to_owned(), entity.into());
    let has_origin = record.origin_delivery_id.is_some();
    details.insert("redelivered".to_owned(), has_origin.into());
    scribe.row(Entry {
        event: "record.created".to_owned(),
        target: Some(Target {
            kind: "record".to_owned(),
            id: record.id.clone(),
        }),
        status: StatusCode::CREATED.as_u16(),
        details,
    })
}

/// Spec: exactly this.
fn answer(record_id: &str) -> Value {
    json!({"data": {"record_id": record_id}})
}

/// A request with a key: asked again within a day, it is answered again, whatever its body.
struct Repeatable {
    scope: Scope,
    envelope: Envelope,
}

/// An answer as it is kept, sealed.
#[derive(Serialize, Deserialize)]
struct Kept {
    request_id: String,
    record_id: String,
}

impl Repeatable {
    /// # Errors
    /// 422 for a key of the wrong form, 503 while the store is down.
    async fn of(exchange: &Exchange, entrance: &Entrance) -> Result<Option<Self>, Fault> {
        let Some(key_text) = key_text(&exchange.head.headers)? else {
            return Ok(None);
        };
        let webhook = &entrance.webhook;
        let scope = Scope {
            org_id: webhook.org_id.clone(),
            mode: webhook.mode,
            principal_id: webhook.id.clone(),
            key_digest: secret::digest(&key_text),
        };
        let envelope = Envelope::of(&exchange.gateway.store, &scope, &key_text).await;
        let envelope = envelope.map_err(|error| down(&error))?;
        Ok(Some(Self { scope, envelope }))
    }

    /// # Errors
    /// [`Stop::Repeated`] where the key was used before.
    async fn look(&self, exchange: &Exchange) -> Result<(), Stop> {
        let store = &exchange.gateway.store;
        let kept = idempotency::kept(store, &self.scope, moment::now()).await;
        match kept.map_err(|error| down(&error))? {
            None => Ok(()),
            Some(sealed) => Err(Stop::Repeated(sealed)),
        }
    }

    fn sealed(&self, request_id: &str, record_id: &str) -> Result<Vec<u8>, Fault> {
        let kept = Kept {
            request_id: request_id.to_owned(),
            record_id: record_id.to_owned(),
        };
        let plain = serde_json::to_vec(&kept).map_err(Fault::internal)?;
        let sealed = self.envelope.seal(&plain);
        sealed.map_err(|error| store_fault(&error))
    }

    async fn open(&self, exchange: &Exchange, sealed: &[u8]) -> Result<Kept, Fault> {
        let opened = self.envelope.open(&exchange.gateway.store, sealed).await;
        let opened = opened.map_err(|error| down(&error))?;
        serde_json::from_slice(&opened).map_err(Fault::internal)
    }
}

/// Contract 4: with a key, a store that is down refuses.
fn down(error: &StoreError) -> Fault {
    Fault::unavailable(format_args!("inbound idempotency: {error}"))
}

/// One value of 1 to 255 characters.
fn key_text(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let mut sent = headers.get_all(X_IDEMPOTENCY_KEY).iter();
    let value = match (sent.next(), sent.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value.to_str().unwrap_or_default(),
        (Some(_), Some(_)) => "",
    };
    if (1..=MAX_KEY_CHARS).contains(&value.chars().count()) {
        Ok(Some(value.to_owned()))
    } else {
        Err(invalid(
            "$header.X-Idempotency-Key",
            "must be one value of 1 to 255 printable ASCII characters",
        ))
    }
}

/// The answer that the key got first, with an audit row of its own (contract 4).
async fn repeated(mut exchange: Exchange, repeatable: &Repeatable, sealed: &[u8]) -> Response {
    let kept = match repeatable.open(&exchange, sealed).await {
        Ok(kept) => kept,
        Err(fault) => return exchange.refuse(fault).await,
    };
    let mut details = Map::new();
    let original = kept.request_id.clone();
    details.insert("original_request_id".to_owned(), original.into());
    let row = exchange.trail.scribe().row(Entry {
        event: "request.replayed".to_owned(),
        target: None,
        status: StatusCode::CREATED.as_u16(),
        details,
    });
    if let Err(error) = audit::append(&exchange.gateway.store, &[row]).await {
        let fault = Fault::unavailable(format_args!("audit row of a replay: {error}"));
        return exchange.refuse(fault).await;
    }
    exchange.trail.written();
    let mut response = exchange.json(StatusCode::CREATED, &answer(&kept.record_id));
    let headers = &mut response.headers;
    headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    if let Ok(original) = HeaderValue::from_str(&kept.request_id) {
        headers.insert(REQUEST_ID, original);
    }
    response
}
