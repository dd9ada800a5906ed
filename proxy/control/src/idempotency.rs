//! `Idempotency-Key` (contract 4): whether a request runs, waits, is answered again or is refused.

use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use svc_core::fault::{Code, Fault, invalid};
use svc_core::secret;
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_pipeline::exchange::{Exchange, REQUEST_ID, SVC_VERSION, given};
use svc_pipeline::moment;
use svc_pipeline::response::{Body, Response};
use svc_store::idempotency::{self, Claimed, Envelope, Scope};
use svc_store::{StoreError, Transaction};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Contract 4.
const MAX_KEY_CHARS: usize = 255;
/// 2 s in all: how long a duplicate waits for the first request (contract 4).
const WAIT_ATTEMPTS: u32 = 40;
const WAIT_PAUSE: Duration = Duration::from_millis(50);

/// Whose turn it is.
pub(crate) enum Turn {
    /// No key, or a method that has none.
    Free,
    Mine(Arc<Claim>),
    Done(Stored),
}

/// The right to be the one request of its key.
pub(crate) struct Claim {
    scope: Scope,
    owner: String,
    envelope: Envelope,
}

impl Turn {
    /// # Errors
    /// 422 for a key of the wrong form, 409 for one that is in use, 503 while the store is down.
    pub(crate) async fn take(
        exchange: &Exchange,
        body: &Map<String, Value>,
    ) -> Result<Self, Fault> {
        let method = &exchange.head.method;
        if ![Method::POST, Method::PATCH, Method::PUT].contains(method) {
            return Ok(Self::Free);
        }
        let Some(key_text) = key_text(exchange)? else {
            return Ok(Self::Free);
        };
        let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
        let scope = Scope {
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            principal_id: caller.key_id.clone(),
            key_digest: secret::digest(&key_text),
        };
        let store = &exchange.gateway.store;
        let envelope = Envelope::of(store, &scope, &key_text).await;
        let envelope = envelope.map_err(|error| down(&error))?;
        let mut claim = idempotency::Claim {
            scope: scope.clone(),
            fingerprint: fingerprint(exchange, body),
            owner: exchange.request_id.clone(),
            now: exchange.started_at,
        };
        let mut waiting_since = claim.now;
        for _ in 0..WAIT_ATTEMPTS {
            claim.now = moment::now();
            let claimed = idempotency::claim(store, &claim).await;
            match claimed.map_err(|error| down(&error))? {
                Claimed::Mine => {
                    return Ok(Self::Mine(Arc::new(Claim {
                        scope,
                        owner: claim.owner,
                        envelope,
                    })));
                }
                Claimed::Completed(sealed) => {
                    let opened = envelope.open(store, &sealed).await;
                    let opened = opened.map_err(|error| down(&error))?;
                    let stored = serde_json::from_slice(&opened).map_err(Fault::internal)?;
                    return Ok(Self::Done(stored));
                }
                Claimed::Mismatch { first_seen_at } => {
                    return Err(conflict("body_mismatch", first_seen_at));
                }
                Claimed::InProgress { first_seen_at } => {
                    waiting_since = first_seen_at;
                    tokio::time::sleep(WAIT_PAUSE).await;
                }
            }
        }
        Err(conflict("in_progress", waiting_since).retry_in(1))
    }
}

fn conflict(reason: &str, first_seen_at: Timestamp) -> Fault {
    Code::IdempotencyConflict
        .fault()
        .detail("reason", reason)
        .detail("first_seen_at", first_seen_at.to_string())
}

/// Contract 4: with a key, a store that is down refuses.
fn down(error: &StoreError) -> Fault {
    Fault::unavailable(format_args!("idempotency: {error}"))
}

/// 1 to 255 visible ASCII characters; the quotes of a structured-field string are no part of it.
fn key_text(exchange: &Exchange) -> Result<Option<String>, Fault> {
    let mut sent = exchange.head.headers.get_all(IDEMPOTENCY_KEY).iter();
    let value = match (sent.next(), sent.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value.to_str().unwrap_or_default().trim(),
        (Some(_), Some(_)) => "",
    };
    let inner = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let text = inner.unwrap_or(value);
    let is_key = (1..=MAX_KEY_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_key {
        Ok(Some(text.to_owned()))
    } else {
        Err(invalid(
            "$header.Idempotency-Key",
            "must be one value of 1 to 255 visible ASCII characters",
        ))
    }
}

/// SHA-256 over method, path, sorted query and the canonical body (RFC 8785).
fn fingerprint(exchange: &Exchange, body: &Map<String, Value>) -> [u8; 32] {
    let head = &exchange.head;
    let mut query: Vec<&str> = head
        .query
        .as_deref()
        .unwrap_or_default()
        .split('&')
        .collect();
    query.sort_unstable();
    let canonical = serde_json_canonicalizer::to_vec(body).unwrap_or_default();
    let mut hasher = Sha256::new();
    for part in [
        head.method.as_str().as_bytes(),
        head.path.as_bytes(),
        query.join("&").as_bytes(),
        &canonical,
    ] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

impl Claim {
    /// Stores the response in the transaction of its effect.
    pub(crate) async fn complete(
        &self,
        tx: &mut Transaction<'_>,
        stored: &Stored,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let plain = serde_json::to_vec(stored).map_err(|_| StoreError::Corrupt {
            column: "idempotency.response",
        })?;
        let sealed = self.envelope.seal(&plain)?;
        idempotency::complete(tx, &self.scope, &self.owner, sealed, now).await
    }

    /// The request had no effect: its key may be used again.
    pub(crate) async fn release(&self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        idempotency::release(tx, &self.scope, &self.owner).await
    }
}

/// A response as it is given again. May hold a secret that is shown once: kept only under [`Envelope`].
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    status: u16,
    request_id: String,
    svc_version: String,
    body: String,
}

impl Stored {
    pub(crate) fn new(
        status: StatusCode,
        request_id: &str,
        version: ApiVersion,
        body: &Value,
    ) -> Self {
        Self {
            status: status.as_u16(),
            request_id: request_id.to_owned(),
            svc_version: version.word().to_owned(),
            body: body.to_string(),
        }
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.request_id
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK)
    }

    /// The original status, headers and bytes, under the rate-limit headers of this request.
    pub(crate) fn response(self, exchange: &Exchange) -> Response {
        let mut headers = exchange.headers.clone();
        svc_pipeline::exchange::finish_headers(&mut headers, &self.request_id, exchange.surface);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        for (name, value) in [
            (REQUEST_ID, &self.request_id),
            (SVC_VERSION, &self.svc_version),
        ] {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        }
        Response {
            status: self.status(),
            headers,
            body: Body::Full(self.body.into()),
        }
    }
}
