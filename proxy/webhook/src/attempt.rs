//! One attempt: signed, sent through the connector, judged, and what follows from it. Reads at most
//! [`MAX_ANSWER_BYTES`] of an answer and keeps none of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use rand::RngExt;
use svc_core::address::{AddressRules, Base};
use svc_core::webhook::AttemptError;
use svc_pipeline::moment;
use svc_pipeline::upstream::{
    ChosenBy, Connector, Deadlines, OutboundRequest, Reached, Repetition, Target, UpstreamError,
    drain,
};
use svc_store::outbox::{self, Attempt, Done, Due, Next, Opened};
use svc_store::{Store, StoreError};
use tokio::time::Instant;

use crate::schedule::{Schedule, retry_after};
use crate::signature;

/// What the operator may set (`[webhooks]` of the configuration).
#[derive(Clone, Debug)]
pub struct Settings {
    pub schedule: Schedule,
    /// Until the head of a 2xx, connecting included.
    pub timeout: Duration,
    /// The part of it that connecting may take.
    pub connect_timeout: Duration,
    /// Attempts at once, of all endpoints together.
    pub in_flight: u32,
    /// Whether `Retry-After` of a 429 or 503 lengthens a delay.
    pub honours_retry_after: bool,
    /// Whether a 410 disables its endpoint.
    pub gone_disables: bool,
    /// Where endpoints may be (contract 15.4).
    pub addresses: AddressRules,
}

/// 10 s for a 2xx (spec, Limits).
const TIMEOUT: Duration = Duration::from_secs(10);
/// 5 s: half of it, so that a receiver that swallows packets is told from one that thinks.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Some hundred connections: a dead endpoint holds few of them (see `lanes`).
const IN_FLIGHT: u32 = 512;

impl Default for Settings {
    fn default() -> Self {
        Self {
            schedule: Schedule::default(),
            timeout: TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            in_flight: IN_FLIGHT,
            honours_retry_after: false,
            gone_disables: false,
            addresses: AddressRules::default(),
        }
    }
}

/// Contract 15.2: what is read of an answer before the connection is closed.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

const WEBHOOK_ID: HeaderName = HeaderName::from_static(svc_core::webhook::ID_HEADER);
const SIGNATURE: HeaderName = HeaderName::from_static("svc-signature");
const AGENT: HeaderValue = HeaderValue::from_static("Svc-Webhook/1.0");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What an attempt goes out with.
pub(crate) struct Way {
    pub(crate) store: Store,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) settings: Settings,
}

/// Attempts a delivery to its end, whatever that is. `None` where the store does not answer: that is no attempt, and
/// the delivery is taken anew when its lease has run out.
pub(crate) async fn attempt(way: &Way, due: Due) -> Option<Done> {
    let started_at = moment::now();
    let started = Instant::now();
    let reached = Reached::default();
    let answer = match outbox::open(&way.store, &due, started_at).await {
        Ok(opened) => deliver(way, &due, opened, &reached, started).await,
        Err(error) => Err(unreadable(&error)?),
    };
    let (status_code, error, wished) = judge(&answer);
    let attempt = Attempt {
        started_at,
        duration_ms: u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX),
        status_code,
        error,
        address: reached.address().map(|address| address.to_string()),
    };
    let settings = &way.settings;
    let next = match (error, status_code) {
        (None, _) => Next::Delivered,
        (Some(_), Some(410)) if settings.gone_disables => Next::Gone,
        _ => {
            let ended_at = moment::now();
            let wished = wished.filter(|_| settings.honours_retry_after);
            let made = due.lease.scheduled_number;
            let random = rand::rng().random::<f64>();
            match settings.schedule.next(made, ended_at, random, wished) {
                Some(due_at) => Next::Retry { due_at },
                None => Next::Exhausted,
            }
        }
    };
    Some(Done {
        lease: due.lease,
        attempt,
        next,
    })
}

/// What a delivery that cannot be opened says in the log of deliveries; nothing where the store is in trouble.
fn unreadable(error: &StoreError) -> Option<AttemptError> {
    // That the store is away, whoever wants leases says; but not that it gives leases and no deliveries.
    if error.is_outage() {
        tracing::warn!(%error, "a delivery could not be opened yet");
        return None;
    }
    tracing::error!(%error, "a delivery could not be opened");
    Some(AttemptError::Internal)
}

/// The head of an answer.
struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
}

async fn deliver(
    way: &Way,
    due: &Due,
    opened: Opened,
    reached: &Reached,
    started: Instant,
) -> Result<Answer, AttemptError> {
    let settings = &way.settings;
    // Judged again: the operator's rules may have changed since the endpoint was registered.
    let (base, path) = Base::read_whole(&due.endpoint.url, &settings.addresses)
        .map_err(|_| AttemptError::BlockedAddress)?;
    let request = OutboundRequest {
        method: Method::POST,
        path_and_query: path,
        headers: headers(due, &opened)?,
        body: Bytes::from(opened.body),
        // Receivers know a delivery by its id (spec, Outbound webhook signature 4).
        repetition: Repetition::Harmless,
        reached: reached.clone(),
    };
    let target = target(&due.endpoint.id, base, settings);
    let deadline = started + settings.timeout;
    let sending = way.connector.send(Arc::new(target), request);
    let response = match tokio::time::timeout_at(deadline, sending).await {
        Ok(response) => response.map_err(failure)?,
        Err(_) => return Err(AttemptError::Timeout),
    };
    let asked = response.headers.get(RETRY_AFTER);
    let answer = Answer {
        status: response.status,
        retry_after: asked
            .and_then(|value| value.to_str().ok())
            .and_then(retry_after),
    };
    // Read to its end, the connection can be used again. What becomes of the body changes nothing.
    let rest = drain(response.body, MAX_ANSWER_BYTES);
    tokio::time::timeout_at(deadline, rest).await.ok();
    Ok(answer)
}

fn headers(due: &Due, opened: &Opened) -> Result<HeaderMap, AttemptError> {
    let secrets = opened.secrets.iter().map(|secret| secret.as_str());
    let signature = signature::header(secrets, &opened.body, moment::now());
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| AttemptError::Internal);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(WEBHOOK_ID, value(&due.lease.delivery_id)?);
    headers.insert(SIGNATURE, value(&signature)?);
    headers.insert(USER_AGENT, AGENT);
    Ok(headers)
}

fn target(endpoint_id: &str, base: Base, settings: &Settings) -> Target {
    let Base {
        tls,
        host,
        port,
        path,
    } = base;
    Target {
        name: format!("{endpoint_id}/{host}:{port}").into(),
        chosen_by: ChosenBy::Caller { label: "webhook" },
        tls,
        host: host.into(),
        port,
        base_path: path.into(),
        ca_file: None,
        deadlines: Deadlines {
            connect: settings.connect_timeout.min(settings.timeout),
            head: settings.timeout,
            idle: settings.timeout,
            total: settings.timeout,
        },
    }
}

/// Contract 15.3. A connection that broke or spoke no HTTP is one that did not come about.
const fn failure(error: UpstreamError) -> AttemptError {
    match error {
        UpstreamError::Resolve => AttemptError::Dns,
        UpstreamError::Forbidden => AttemptError::BlockedAddress,
        UpstreamError::Tls => AttemptError::Tls,
        UpstreamError::ConnectTimeout
        | UpstreamError::HeadTimeout
        | UpstreamError::IdleTimeout
        | UpstreamError::TotalTimeout => AttemptError::Timeout,
        UpstreamError::Connect
        | UpstreamError::Reset
        | UpstreamError::Truncated
        | UpstreamError::Protocol => AttemptError::Connect,
    }
}

/// The status, what is wrong with it, and how long the receiver wants to be left alone.
fn judge(
    answer: &Result<Answer, AttemptError>,
) -> (Option<u16>, Option<AttemptError>, Option<Duration>) {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return (None, Some(*error), None),
    };
    let error = if answer.status.is_success() {
        None
    } else if answer.status.is_redirection() {
        Some(AttemptError::Redirect)
    } else {
        Some(AttemptError::Status)
    };
    let is_busy = matches!(answer.status.as_u16(), 429 | 503);
    let wished = answer.retry_after.filter(|_| is_busy);
    (Some(answer.status.as_u16()), error, wished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(status: u16) -> (Option<u16>, Option<AttemptError>, Option<Duration>) {
        judge(&Ok(Answer {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            retry_after: Some(Duration::from_secs(7)),
        }))
    }

    #[test]
    fn trouble_of_the_store_is_no_attempt() {
        assert_eq!(unreadable(&StoreError::Overloaded), None);
        assert_eq!(unreadable(&StoreError::TimedOut), None);
        let broken = StoreError::Corrupt { column: "body" };
        assert_eq!(unreadable(&broken), Some(AttemptError::Internal));
    }

    #[test]
    fn any_2xx_is_delivered_and_nothing_else_is() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(judged(status), (Some(status), None, None));
        }
        for status in [300, 301, 304, 307, 308] {
            assert_eq!(judged(status).1, Some(AttemptError::Redirect), "{status}");
        }
        for status in [400, 404, 410, 429, 500, 503] {
            assert_eq!(judged(status).1, Some(AttemptError::Status), "{status}");
        }
    }

    #[test]
    fn only_a_busy_receiver_is_asked_when_to_come_back() {
        let wished = Some(Duration::from_secs(7));
        assert_eq!((judged(429).2, judged(503).2), (wished, wished));
        assert_eq!((judged(500).2, judged(301).2), (None, None));
    }
}
