//! Answers requests: notes them, checks them, and carries out the steps of their plan.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body as AxumBody, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;

use crate::fake_provider::format::{FORMATS, Format, Operation, Refusal};
use crate::fake_provider::journal::{Received, Ticket};
use crate::fake_provider::listener::{Close, Connection, Peer};
use crate::fake_provider::plan::{self, Plan, Step};
use crate::fake_provider::quiet::Canned;
use crate::fake_provider::reply::{Ask, compose, tokens};
use crate::fake_provider::script::Behaviour;
use crate::fake_provider::{Provider, directive};

/// 32 MiB: the real one refuses more with 413.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// How long to wait for earlier bytes to reach the kernel before a connection is broken, in looks.
const MAX_FLUSH_LOOKS: u32 = 30_000;
const FLUSH_LOOK: Duration = Duration::from_millis(1);

/// What a route answers.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) format: &'static Format,
    pub(crate) operation: Operation,
    /// Set on a quiet fake: what it answers while no script waits.
    pub(crate) canned: Option<Canned>,
}

/// Answers one request of a format.
pub(crate) async fn handle(
    route: Route,
    State(provider): State<Arc<Provider>>,
    ConnectInfo(Peer(connection)): ConnectInfo<Peer>,
    request: Request,
) -> Response {
    let Route {
        format,
        operation,
        canned,
    } = route;
    connection.pace(0, Duration::ZERO);
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, MAX_BODY_BYTES).await else {
        let refusal = Refusal::new(413, "Request exceeds the maximum size");
        return refuse(format, &refusal);
    };
    let key = credential(format, &head.headers);
    if let Some(canned) = canned
        && provider.script.waiting() == 0
    {
        return match check_credential(provider.api_key.as_deref(), key) {
            Ok(()) => {
                wait(provider.latency).await;
                canned.answer(&bytes, provider.event_delay)
            }
            Err(refusal) => refuse(format, &refusal),
        };
    }
    let ticket = provider.receive(Received {
        connection: connection.id,
        method: &head.method,
        uri: &head.uri,
        headers: &head.headers,
        credential_headers: format.credential_headers,
        key,
        body: &bytes,
    });
    let ticket = match ticket {
        Ok(ticket) => ticket,
        Err(error) => return refuse(format, &Refusal::new(500, format!("{error:#}"))),
    };
    let seq = ticket.seq;
    let plan = match read(
        &provider,
        format,
        operation,
        &head.method,
        &head.headers,
        &bytes,
    ) {
        Ok(ask) => choose(&provider, format, operation, &ask, &connection, seq),
        Err(refusal) => plan::error(format, &refusal, &request_id(seq), &Behaviour::default()),
    };
    wait(provider.latency).await;
    carry_out(format, plan, ticket, connection).await
}

/// Answers what no format has a route for.
pub(crate) async fn unknown_route() -> Response {
    let refusal = Refusal::new(404, "Not found");
    match FORMATS.first() {
        Some(format) => refuse(format, &refusal),
        None => Response::default(),
    }
}

/// The credential a request carries: the strongest header that is there, without a bearer's first word.
fn credential<'h>(format: &Format, headers: &'h HeaderMap) -> Option<&'h str> {
    let name = format
        .credential_headers
        .iter()
        .find(|name| headers.contains_key(**name))?;
    let value = headers.get(*name)?.to_str().ok()?;
    if *name == AUTHORIZATION.as_str() {
        value.strip_prefix("Bearer ")
    } else {
        Some(value)
    }
}

/// Refuses a credential that is missing or, where one is set, another than ours.
fn check_credential(expected: Option<&str>, key: Option<&str>) -> Result<(), Refusal> {
    match (key, expected) {
        (Some(key), Some(expected)) if key == expected => Ok(()),
        (Some(key), None) if !key.is_empty() => Ok(()),
        _ => Err(Refusal::new(401, "invalid credential")),
    }
}

fn read(
    provider: &Provider,
    format: &Format,
    operation: Operation,
    method: &Method,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Ask, Refusal> {
    if method != Method::POST {
        return Err(Refusal::new(405, "Method Not Allowed"));
    }
    check_credential(provider.api_key.as_deref(), credential(format, headers))?;
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !content_type.is_some_and(|value| value.starts_with(b"application/json")) {
        return Err(Refusal::invalid("content-type: should be application/json"));
    }
    let body: Value = serde_json::from_slice(body)
        .map_err(|_| Refusal::invalid("The request body is not valid JSON"))?;
    (format.read)(operation, headers, &body)
}

/// What an accepted request gets: its behaviour, or an answer of the fake's own.
fn choose(
    provider: &Provider,
    format: &'static Format,
    operation: Operation,
    ask: &Ask,
    connection: &Connection,
    seq: u64,
) -> Plan {
    let answered = ask.tool_answer.as_deref().unwrap_or_default();
    let behaviour = provider
        .script
        .take(&[&ask.model, &ask.said, answered])
        .or_else(|| directive::read(&ask.said))
        .unwrap_or_default();
    connection.pace(
        behaviour.drip_bytes,
        Duration::from_millis(behaviour.drip_interval_ms),
    );
    if let Some(status) = behaviour.status {
        let refusal = plan::refusal(&behaviour, status, &ask.said);
        return plan::error(format, &refusal, &request_id(seq), &behaviour);
    }
    if operation == Operation::Count {
        return plan::count(format, tokens(ask.input_chars), &behaviour);
    }
    let reply = compose(ask, &behaviour, seq);
    plan::answer(format, &reply, &behaviour, ask.stream, provider.event_delay)
}

async fn carry_out(
    format: &'static Format,
    plan: Plan,
    ticket: Ticket,
    connection: Arc<Connection>,
) -> Response {
    if let Some(meeting) = plan.meeting {
        meeting.wait().await;
    }
    let mut body = plan.body;
    for step in plan.before_head {
        match step {
            Step::Wait(delay) => tokio::time::sleep(delay).await,
            Step::Send(bytes) => body.insert(0, Step::Send(bytes)),
            Step::Stall => std::future::pending().await,
            Step::Break(close) => {
                connection.break_off(close);
                body = vec![Step::Stall];
                if close == Close::Half {
                    ticket.half_close();
                } else {
                    ticket.break_off();
                    return Response::new(AxumBody::empty());
                }
                break;
            }
        }
    }
    ticket.answering(plan.status);
    let request_id = request_id(ticket.seq);
    let mut response = Response::new(AxumBody::from_stream(perform(body, ticket, connection)));
    *response.status_mut() = StatusCode::from_u16(plan.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    put(headers, CONTENT_TYPE.as_str(), &plan.content_type);
    put(headers, format.request_id_header, &request_id);
    if let Some(length) = plan.content_length {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    } else {
        put(headers, "cache-control", "no-cache");
    }
    if let Some(retry_after) = &plan.retry_after {
        put(headers, RETRY_AFTER.as_str(), retry_after);
    }
    for (name, value) in format.headers {
        put(headers, name, value);
    }
    response
}

/// The body of an answer while its steps are carried out.
struct Performance {
    steps: std::iter::Peekable<std::vec::IntoIter<Step>>,
    /// Gone once the end of the answer is known.
    ticket: Option<Ticket>,
    connection: Arc<Connection>,
}

fn perform(
    steps: Vec<Step>,
    ticket: Ticket,
    connection: Arc<Connection>,
) -> impl futures_util::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    let performance = Performance {
        steps: steps.into_iter().peekable(),
        ticket: Some(ticket),
        connection,
    };
    stream::unfold(performance, async |mut performance| {
        let bytes = next_bytes(&mut performance).await?;
        Some((Ok(bytes), performance))
    })
}

/// Carries out steps up to the next bytes; none at the end of the body.
async fn next_bytes(performance: &mut Performance) -> Option<Bytes> {
    loop {
        match performance.steps.next() {
            Some(Step::Wait(delay)) => tokio::time::sleep(delay).await,
            Some(Step::Send(bytes)) => {
                // Said now: a body of known length is not asked for its end.
                if performance.steps.peek().is_none()
                    && let Some(ticket) = performance.ticket.take()
                {
                    ticket.finish();
                }
                return Some(bytes);
            }
            Some(Step::Stall) => std::future::pending().await,
            Some(Step::Break(Close::End)) => {
                if let Some(ticket) = performance.ticket.take() {
                    ticket.break_off();
                }
                return None;
            }
            Some(Step::Break(close)) => {
                flushed(&performance.connection).await;
                performance.connection.break_off(close);
                if close == Close::Half {
                    performance.ticket.as_ref()?.half_close();
                } else {
                    performance.ticket.take()?.break_off();
                }
                performance.steps = vec![Step::Stall].into_iter().peekable();
                // Never sent: something must be written for the socket to break.
                return Some(Bytes::from_static(b"\n"));
            }
            None => {
                if let Some(ticket) = performance.ticket.take() {
                    ticket.finish();
                }
                return None;
            }
        }
    }
}

/// Waits until everything sent before has reached the kernel.
async fn flushed(connection: &Connection) {
    let seen = connection.flushes();
    for _ in 0..MAX_FLUSH_LOOKS {
        tokio::time::sleep(FLUSH_LOOK).await;
        if connection.flushes() > seen {
            return;
        }
    }
}

async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

/// An error answer outside any plan.
fn refuse(format: &Format, refusal: &Refusal) -> Response {
    let body = (format.error)(refusal, &request_id(0)).to_string();
    let mut response = Response::new(AxumBody::from(body));
    *response.status_mut() =
        StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    put(
        response.headers_mut(),
        CONTENT_TYPE.as_str(),
        "application/json",
    );
    response
}

/// Sets a header; a value that no header can have is left out.
fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = http::HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

fn request_id(seq: u64) -> String {
    format!("req_fake_{seq:06}")
}
