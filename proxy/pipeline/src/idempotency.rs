//! `Idempotency-Key` (contract 4): whether a request runs, waits, is answered again or is refused. What the effect of
//! a request is, and in which transaction its response is stored, is known to its handler.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use svc_core::fault::{Code, Fault, invalid};
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_core::{query, secret};
use svc_store::audit::{self, Row};
use svc_store::idempotency::{self, Claimed, Envelope, LEASE_MS, Scope};
use svc_store::{Store, StoreError, Transaction, tenant};
use tokio::sync::Mutex;

use crate::exchange::{Exchange, REQUEST_ID, SVC_VERSION, finish_headers, given};
use crate::gateway::Gateway;
use crate::moment;
use crate::response::{Body, Response};
use crate::trail::{Entry, Scribe};

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Marks an answer that was kept for its key.
pub const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Contract 4.
const MAX_KEY_CHARS: usize = 255;
/// 2 s in all: how long a duplicate waits for the first request (contract 4).
const WAIT_ATTEMPTS: u32 = 40;
const WAIT_PAUSE: Duration = Duration::from_millis(50);

/// The catalogue's words are for another request under the key, whose sender takes a fresh one. Here the effect would
/// be there twice.
const STILL_RUNS: &str =
    "The first request with this idempotency key still runs; send it again with the same key.";

/// Three chances to extend a claim before it may be taken over.
const EXTEND_EVERY: Duration = Duration::from_millis(LEASE_MS.unsigned_abs() / 4);

/// Whose turn it is.
pub enum Turn {
    /// No key, or a method that has none.
    Free,
    /// The request runs; its response goes to [`Claim::complete`].
    Mine(Arc<Claim>),
    /// It ran before: [`replay`] answers.
    Done(Stored),
}

/// The right to be the one request of its key.
pub struct Claim {
    scope: Scope,
    owner: String,
    envelope: Envelope,
    /// Held while the database is asked for the key.
    under_way: Arc<Mutex<()>>,
}

impl Turn {
    /// `body_digest` is that of [`body_digest`]; it may be anything where [`is_asked`] says no.
    ///
    /// # Errors
    /// 422 for a key of the wrong form, 409 for one that is in use, 503 while the store is down.
    pub async fn take(exchange: &Exchange, body_digest: &[u8]) -> Result<Self, Fault> {
        match Claim::asked(exchange).await? {
            Some(claim) => claim.take(exchange, body_digest).await,
            None => Ok(Self::Free),
        }
    }
}

impl Claim {
    /// What a request has to claim for its key, which is not its own yet. Releasing it is harmless whoever has the key.
    ///
    /// # Errors
    /// 422 for a key of the wrong form, 503 while the store is down.
    pub(crate) async fn asked(exchange: &Exchange) -> Result<Option<Arc<Self>>, Fault> {
        let Some(key_text) = key_text(exchange)? else {
            return Ok(None);
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
        Ok(Some(Arc::new(Self {
            scope,
            owner: exchange.request_id.clone(),
            envelope: envelope.map_err(|error| down(&error))?,
            under_way: Arc::default(),
        })))
    }

    /// As [`Turn::take`], for the key that was asked about.
    ///
    /// # Errors
    /// 409 for a key that is in use, 503 while the store is down.
    pub(crate) async fn take(
        self: Arc<Self>,
        exchange: &Exchange,
        body_digest: &[u8],
    ) -> Result<Turn, Fault> {
        let store = &exchange.gateway.store;
        let mut claim = idempotency::Claim {
            scope: self.scope.clone(),
            fingerprint: fingerprint(exchange, body_digest),
            owner: self.owner.clone(),
            now: exchange.now,
        };
        let mut waiting_since = claim.now;
        for _ in 0..WAIT_ATTEMPTS {
            claim.now = moment::now();
            match self.claim_once(&exchange.gateway, claim.clone()).await? {
                Claimed::Mine => return Ok(Turn::Mine(self)),
                Claimed::Completed(sealed) => {
                    let opened = self.envelope.open(store, &sealed).await;
                    let opened = opened.map_err(|error| down(&error))?;
                    let stored = serde_json::from_slice(&opened).map_err(Fault::internal)?;
                    return Ok(Turn::Done(stored));
                }
                Claimed::Mismatch { first_seen_at } => {
                    let fault = Code::IdempotencyConflict.fault();
                    return Err(conflict(fault, "body_mismatch", first_seen_at));
                }
                Claimed::InProgress { first_seen_at } => {
                    waiting_since = first_seen_at;
                    tokio::time::sleep(WAIT_PAUSE).await;
                }
            }
        }
        let fault = Fault::new(Code::IdempotencyConflict, STILL_RUNS);
        Err(conflict(fault, "in_progress", waiting_since).retry_in(1))
    }
}

fn conflict(fault: Fault, reason: &str, first_seen_at: Timestamp) -> Fault {
    fault
        .detail("reason", reason)
        .detail("first_seen_at", first_seen_at.to_string())
}

/// Contract 4: with a key, a store that is down refuses.
fn down(error: &StoreError) -> Fault {
    Fault::unavailable(format_args!("idempotency: {error}"))
}

/// 1 to 255 visible ASCII characters; the quotes of a structured-field string are no part of it.
fn key_text(exchange: &Exchange) -> Result<Option<String>, Fault> {
    if !is_asked(exchange) {
        return Ok(None);
    }
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

/// Whether a key was sent with a method that knows keys.
pub fn is_asked(exchange: &Exchange) -> bool {
    let head = &exchange.head;
    [Method::POST, Method::PATCH, Method::PUT].contains(&head.method)
        && head.headers.contains_key(IDEMPOTENCY_KEY)
}

/// SHA-256 over the canonical body (RFC 8785), whose numbers are doubles, and the whole numbers in it that are none:
/// records keep them digit by digit, so that bodies that differ in them are two.
///
/// # Errors
/// 500 for a body without a canonical form.
pub fn body_digest(body: &Map<String, Value>) -> Result<[u8; 32], Fault> {
    let canonical = serde_json_canonicalizer::to_vec(body).map_err(Fault::internal)?;
    let mut hasher = Sha256::new();
    hasher.update(&canonical);
    let mut place = 0_u64;
    numbers_of_members(body, &mut |number| {
        place += 1;
        if !is_double(number) {
            hasher.update(format!("\n{place}:{number}"));
        }
    });
    Ok(hasher.finalize().into())
}

/// Tells every whole number that no double equals, in an order that does not depend on that of the members.
fn numbers(value: &Value, tell: &mut impl FnMut(&Number)) {
    match value {
        Value::Number(number) => tell(number),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, tell)),
        Value::Object(members) => numbers_of_members(members, tell),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn numbers_of_members(members: &Map<String, Value>, tell: &mut impl FnMut(&Number)) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    for (_, value) in members {
        numbers(value, tell);
    }
}

fn is_double(number: &Number) -> bool {
    let whole = number.as_i128();
    whole.is_none_or(|whole| {
        number
            .as_f64()
            .is_some_and(|double| double as i128 == whole)
    })
}

/// SHA-256 over method, path, sorted query and the canonical body, by its digest. Escaped or not, a path and a query are
/// those that they are understood as.
fn fingerprint(exchange: &Exchange, body_digest: &[u8]) -> [u8; 32] {
    let head = &exchange.head;
    let mut hasher = Sha256::new();
    for part in [
        head.method.as_str().as_bytes(),
        plain_path(&head.path).as_bytes(),
        plain_query(head.query.as_deref().unwrap_or_default()).as_bytes(),
        body_digest,
    ] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

fn plain_path(sent: &str) -> String {
    let parts: Vec<String> = sent.split('/').map(query::part).collect();
    parts.join("/")
}

fn plain_query(sent: &str) -> String {
    let mut parameters: Vec<(String, String)> = query::parameters(sent)
        .map(|parameter| (parameter.name, parameter.value))
        .collect();
    parameters.sort_unstable();
    let mut plain = form_urlencoded::Serializer::new(String::new());
    plain.extend_pairs(parameters);
    plain.finish()
}

impl Claim {
    /// Asks the database for the key, on the background runtime: it may take a claim in whose request is gone by then.
    async fn claim_once(
        &self,
        gateway: &Gateway,
        claim: idempotency::Claim,
    ) -> Result<Claimed, Fault> {
        let under_way = Arc::clone(&self.under_way).lock_owned().await;
        let store = gateway.store.clone();
        let claiming = gateway.background.spawn(tenant::inherited(async move {
            let _until_known = under_way;
            idempotency::claim(&store, &claim).await
        }));
        let claimed = claiming.await;
        let claimed =
            claimed.map_err(|error| Fault::internal(format_args!("claiming a key: {error}")))?;
        claimed.map_err(|error| down(&error))
    }

    /// Waits until the database has said whose the key is. What is released before may be claimed after.
    pub(crate) async fn known(&self) {
        drop(self.under_way.lock().await);
    }

    /// Stores the response in the transaction of its effect.
    ///
    /// # Errors
    /// [`StoreError::Missing`] where the claim was lost to another request: the effect must not be. Those of the
    /// database.
    pub async fn complete(
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

    /// Keeps the claim from being taken over, for a request that may take longer than a lease. Never ends.
    pub async fn keep(&self, store: &Store) -> Infallible {
        loop {
            tokio::time::sleep(EXTEND_EVERY).await;
            let extended = idempotency::extend(store, &self.scope, &self.owner, moment::now());
            let what = "the claim of an idempotency key could not be extended yet";
            store.told_of(what, &self.owner, &extended.await);
        }
    }

    /// The request had no effect: its key may be used again.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn release(&self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        idempotency::release(tx, &self.scope, &self.owner).await
    }
}

/// The answer of the first request, with an audit row of its own (contract 4); 503 where that row cannot be written.
pub async fn replay(mut exchange: Exchange, stored: Stored) -> Response {
    let row = row_of_replay(&exchange.trail.scribe(), &stored);
    match audit::append(&exchange.gateway.store, &[row]).await {
        Ok(()) => {
            exchange.trail.written();
            stored.response(&exchange)
        }
        Err(error) => {
            let fault = Fault::unavailable(format_args!("audit row of a replay: {error}"));
            exchange.refuse(fault).await
        }
    }
}

/// Says of a request that it was answered as another one was before.
pub(crate) fn row_of_replay(scribe: &Scribe, stored: &Stored) -> Row {
    let mut details = Map::new();
    details.insert("original_request_id".into(), stored.request_id().into());
    scribe.row(Entry {
        event: "request.replayed".to_owned(),
        target: None,
        status: stored.status().as_u16(),
        details,
    })
}

/// A response as it is given again. May hold a secret that is shown once: kept only under [`Envelope`].
#[derive(Serialize, Deserialize)]
pub struct Stored {
    status: u16,
    request_id: String,
    svc_version: String,
    body: String,
}

impl Stored {
    /// `request_id` and `version` are those of the first request: its headers come again with its body.
    pub fn new(status: StatusCode, request_id: &str, version: ApiVersion, body: &Value) -> Self {
        Self {
            status: status.as_u16(),
            request_id: request_id.to_owned(),
            svc_version: version.word().to_owned(),
            body: body.to_string(),
        }
    }

    fn request_id(&self) -> &str {
        &self.request_id
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK)
    }

    /// The body, read as what it was made of.
    ///
    /// # Errors
    /// 500 where it is something else.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_str(&self.body).map_err(Fault::internal)
    }

    /// The original status, headers and bytes, under the rate-limit headers of this request.
    pub(crate) fn response(self, exchange: &Exchange) -> Response {
        let mut headers = exchange.headers.clone();
        finish_headers(&mut headers, &self.request_id, exchange.surface);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn digest(body: &str) -> [u8; 32] {
        body_digest(&serde_json::from_str(body).unwrap()).unwrap()
    }

    #[test]
    fn whole_numbers_that_are_no_doubles_are_told_apart() {
        for (one, other) in [
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709551614"),
            ("-9007199254740993", "-9007199254740992"),
        ] {
            for frame in [r#"{"n":#}"#, r#"{"a":[{"n":#}]}"#] {
                let body = |number| digest(&frame.replace('#', number));
                assert_ne!(body(one), body(other), "{one} in {frame}");
            }
        }
    }

    #[test]
    fn an_address_is_the_same_however_it_is_written() {
        assert_eq!(
            plain_path("/v1/agents/%61gt_1/archive"),
            "/v1/agents/agt_1/archive"
        );
        // What is no unreserved character may end a part, or mean something.
        assert_ne!(plain_path("/v1/agents/a%2Fb"), plain_path("/v1/agents/a/b"));
        assert_eq!(plain_query("b=2&a=%31"), "a=1&b=2");
        assert_ne!(plain_query("a=1%26b=2"), plain_query("a=1&b=2"));
        assert_eq!(plain_query(""), "");
    }

    #[test]
    fn equal_bodies_are_equal_however_they_are_written() {
        for (one, other) in [
            (r#"{"n":1}"#, r#"{"n":1.0}"#),
            (r#"{"n":9007199254740992}"#, r#"{"n":9007199254740992.0}"#),
            (
                r#"{"a":9007199254740993,"b":9007199254740995}"#,
                r#"{ "b": 9007199254740995, "a": 9007199254740993 }"#,
            ),
        ] {
            assert_eq!(digest(one), digest(other), "{one}");
        }
        let swapped = [
            digest(r#"{"a":9007199254740993,"b":9007199254740992}"#),
            digest(r#"{"a":9007199254740992,"b":9007199254740993}"#),
        ];
        assert_ne!(swapped[0], swapped[1]);
        let plain = json!({"b": [1, "x"], "a": null});
        let canonical = br#"{"a":null,"b":[1,"x"]}"#;
        let expected: [u8; 32] = Sha256::digest(canonical).into();
        assert_eq!(digest(&plain.to_string()), expected);
    }
}
