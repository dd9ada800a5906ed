//! One request and its response: the service runs beside the reading of the body and the watch on the client,
//! and whichever ends first decides. A client that leaves takes the service, and with it the upstream, along.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use pingora::protocols::http::ServerSession;
use pingora::{Error, ErrorType};
use svc_core::fault::{Fault, invalid};
use svc_pipeline::request::{BodyDemand, BodyDemands, RequestHead, body};
use svc_pipeline::response::{Body, ByteStream, Heartbeat, Response};
use tokio::time::{Duration, Instant};

use crate::connection::{Gate, address_of};
use crate::downstream::{Downstream, Gone};
use crate::framing::{BodyLength, Untrusted};
use crate::head;
use crate::intake::{Intake, Next};
use crate::lifecycle::Phase;
use crate::timer::LazyTimer;
use crate::watched::Pace;

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The response is complete and the request read: HTTP/1.1 may go on.
    Finish,
    /// The response is complete, the request is not.
    Linger,
    /// Nobody is there, or the response broke off.
    Abandon,
}

/// The reason, in metrics, for refusing a head. Where it speaks of framing, nothing behind it can be trusted.
pub(crate) const BAD_HEAD: &str = "header_limits";
/// The reason, in metrics, for a body that breaks its own framing; whoever wants it is told, and refuses it.
pub(crate) const MISFRAMED: &str = "body_invalid";

/// How waiting for the service ended.
enum Outcome {
    Answered(Response),
    /// Nobody answers any more, so the edge does.
    Refused(&'static str, Fault),
    Gone(&'static str),
}

/// Serves one request.
pub(crate) async fn run(gate: &Gate, session: &mut ServerSession, pace: &Pace) -> After {
    let head = head::build(
        session,
        address_of(session),
        &gate.limits,
        &gate.trusted_proxies,
        &gate.lifecycle.cut_off,
    );
    let mut intake = Intake::new(session, gate.limits.body_deadline);
    let mut downstream = Downstream::new(session, pace, gate.limits.write);
    let request_id = head.as_ref().ok().map(|head| head.request_id.clone());
    let outcome = match head {
        Ok(head) => match body_begins(downstream.session(), pace) {
            Err(Untrusted::Rewritten) => rewritten_head(),
            begun => {
                if begun.is_err() {
                    intake.break_off();
                }
                outcome(gate, &mut downstream, &mut intake, pace, head).await
            }
        },
        Err(fault) => Outcome::Refused(BAD_HEAD, *fault),
    };
    if intake.is_misframed() {
        gate.refused(MISFRAMED);
    }
    let (response, bad_head) = match outcome {
        Outcome::Answered(response) => (response, false),
        Outcome::Refused(reason, fault) => {
            gate.refused(reason);
            let asked = downstream.session().req_header();
            let response = (gate.refuse)(
                request_id.as_deref(),
                asked.uri.path(),
                &asked.headers,
                &fault,
            );
            (response, reason == BAD_HEAD)
        }
        Outcome::Gone(stage) => return gone(gate, stage),
    };
    // Pingora calls a body done where its framing broke; what follows is not the next request.
    let misframed = bad_head || intake.is_misframed() || pace.misframed();
    // Nor is it known where the next one begins once the thread is lost; its sender begins anew.
    if misframed || pace.is_lost() || gate.lifecycle.phase() != Phase::Serving {
        downstream.session().set_keepalive(None);
    }
    settle_request(&mut downstream, &intake).await;
    let sent = match response {
        Response {
            status,
            headers,
            body: Body::Stream(stream),
        } if !downstream.is_head() => {
            // The head goes with the first batch.
            downstream.hold_back(true);
            match downstream.start_stream(status, headers).await {
                Ok(()) => send_stream(gate, &mut downstream, stream).await,
                Err(gone) => Err(gone),
            }
        }
        whole => downstream.send_whole(whole).await,
    };
    match sent {
        Err(Gone) => gone(gate, "response_body"),
        Ok(()) if !misframed && downstream.session().is_body_done() => After::Finish,
        Ok(()) => After::Linger,
    }
}

fn gone(gate: &Gate, stage: &'static str) -> After {
    gate.metrics
        .client_disconnects
        .with_label_values(&[stage])
        .inc();
    After::Abandon
}

/// Has the framing of the body watched from its first byte on.
fn body_begins(session: &ServerSession, pace: &Pace) -> Result<(), Untrusted> {
    let Some(session) = session.as_http1() else {
        return Ok(());
    };
    let headers = &session.req_header().headers;
    let length = match headers.get(CONTENT_LENGTH) {
        _ if headers.contains_key(TRANSFER_ENCODING) => Some(BodyLength::Chunked),
        None => Some(BodyLength::Bytes(0)),
        // One number, or the same one several times (RFC 9110, 8.6), as pingora has made sure of.
        Some(value) => value
            .to_str()
            .ok()
            .and_then(|text| text.split(',').next()?.trim().parse().ok())
            .map(BodyLength::Bytes),
    };
    match length {
        Some(length) => pace.body_begins(&session.get_headers_raw_bytes(), length),
        None => Err(Untrusted::Misframed),
    }
}

fn rewritten_head() -> Outcome {
    let problem = "has characters that must be percent-encoded before a chunked body";
    Outcome::Refused(BAD_HEAD, invalid("$path", problem))
}

/// Runs the service to its response.
async fn outcome(
    gate: &Gate,
    downstream: &mut Downstream<'_>,
    intake: &mut Intake,
    pace: &Pace,
    head: RequestHead,
) -> Outcome {
    let (reader, mut demands) = body();
    // The call itself is inside, so that a panic in it is caught like any later one.
    let service = async { (gate.serve)(head, reader).await };
    let mut service = pin!(AssertUnwindSafe(service).catch_unwind());
    let mut ending = pin!(gate.lifecycle.reached(Phase::Ending));
    loop {
        tokio::select! {
            biased;
            response = &mut service => return match response {
                Ok(response) => Outcome::Answered(response),
                Err(panic) => Outcome::Refused("panic", internal("serving a request", &*panic)),
            },
            demand = next_demand(&mut demands), if !intake.wanted() => {
                if intake.demand(demand) == Next::SayContinue
                    && downstream.say_continue().await.is_err()
                {
                    return Outcome::Gone("request_body");
                }
            }
            read = read(downstream, intake.hungry()) => match read {
                Ok(bytes) => {
                    let whole = downstream.session().is_body_done();
                    intake.push(bytes, whole);
                }
                Err(error) if pace.misframed() || is_misframed(&error) => intake.break_off(),
                Err(_) if intake.wanted() => return Outcome::Gone("request_body"),
                Err(_) => return Outcome::Gone("response_head"),
            },
            () = intake.overdue() => intake.time_out(),
            () = &mut ending => {
                let fault = Fault::unavailable("the gateway is shutting down");
                return Outcome::Refused("shutdown", fault);
            }
        }
    }
}

/// The next wish; a service that will have none leaves this pending.
async fn next_demand(demands: &mut BodyDemands) -> BodyDemand {
    match demands.recv().await {
        Some(demand) => demand,
        None => std::future::pending().await,
    }
}

/// Reads more of the body where it is wanted, else waits for the client to leave.
async fn read(downstream: &mut Downstream<'_>, hungry: bool) -> pingora::Result<Option<Bytes>> {
    if hungry {
        return downstream.session().read_request_body().await;
    }
    if downstream.session().is_body_done() {
        downstream.gone().await;
        return Error::e_explain(ErrorType::ConnectionClosed, "the client left");
    }
    // Back-pressure: the rest of the body stays with the client until somebody wants it.
    std::future::pending().await
}

/// Whether the client broke the framing rather than left.
fn is_misframed(error: &Error) -> bool {
    matches!(
        error.etype(),
        ErrorType::Custom(_) | ErrorType::InvalidHTTPHeader
    )
}

/// Reads the little that may be left of a request, so that its connection can be used again.
async fn settle_request(downstream: &mut Downstream<'_>, intake: &Intake) {
    // 100 ms: the rest is in the same flight of packets, or the connection is not worth the wait.
    const WAIT: Duration = Duration::from_millis(100);
    if !intake.worth_draining() || downstream.session().is_http2() {
        return;
    }
    let session = downstream.session();
    let reading = async {
        while !session.is_body_done() {
            if !matches!(session.read_request_body().await, Ok(Some(_))) {
                break;
            }
        }
    };
    // What did not come in time is left to the lingering close.
    let _ = tokio::time::timeout(WAIT, reading).await;
}

enum Turn {
    Batch(Bytes),
    End,
    Panicked,
    Gone,
    Ending,
}

/// Sends batches as they come and heartbeats while none does. The last batch goes with the end of the body.
async fn send_stream(
    gate: &Gate,
    downstream: &mut Downstream<'_>,
    mut stream: Box<dyn ByteStream>,
) -> Result<(), Gone> {
    let mut silence = Silence::new(stream.heartbeat());
    let mut ending = pin!(gate.lifecycle.reached(Phase::Ending));
    loop {
        let turn = turn(downstream, stream.as_mut(), &mut silence, ending.as_mut());
        match turn.await {
            Turn::Batch(batch) => {
                let is_last = stream.is_over();
                if is_last {
                    downstream.hold_back(true);
                }
                downstream.write(batch).await?;
                if !is_last {
                    downstream.hold_back(false);
                }
                silence.broken();
            }
            Turn::End => {
                let ended = downstream.end().await;
                downstream.hold_back(false);
                return ended;
            }
            Turn::Ending => return abort(downstream, stream).await,
            // Breaking off tells the client that the body is incomplete.
            Turn::Gone | Turn::Panicked => return Err(Gone),
        }
    }
}

/// Waits for the next batch, writing heartbeats into the silence.
async fn turn(
    downstream: &mut Downstream<'_>,
    stream: &mut dyn ByteStream,
    silence: &mut Silence,
    mut ending: Pin<&mut impl Future<Output = ()>>,
) -> Turn {
    let mut next = pin!(AssertUnwindSafe(stream.next()).catch_unwind());
    // Only what is here already goes together.
    if downstream.holds_back() {
        match next.as_mut().now_or_never() {
            Some(batch) => return told(batch),
            None => downstream.hold_back(false),
        }
    }
    loop {
        tokio::select! {
            biased;
            batch = &mut next => return told(batch),
            () = downstream.gone() => return Turn::Gone,
            () = ending.as_mut() => return Turn::Ending,
            bytes = silence.heartbeat() => {
                if downstream.write(bytes).await.is_err() {
                    return Turn::Gone;
                }
                silence.broken();
            }
        }
    }
}

/// How long the client has heard nothing, and what it hears then.
struct Silence {
    since: Instant,
    heartbeat: Option<(Heartbeat, LazyTimer)>,
}

impl Silence {
    fn new(heartbeat: Option<Heartbeat>) -> Self {
        let since = Instant::now();
        let timed = |heartbeat: Heartbeat| {
            let timer = LazyTimer::new(since + heartbeat.interval);
            (heartbeat, timer)
        };
        Self {
            since,
            heartbeat: heartbeat.map(timed),
        }
    }

    fn broken(&mut self) {
        self.since = Instant::now();
    }

    /// The next heartbeat, when it is due.
    async fn heartbeat(&mut self) -> Bytes {
        match &mut self.heartbeat {
            Some((heartbeat, timer)) => {
                timer.reached(self.since + heartbeat.interval).await;
                heartbeat.bytes.clone()
            }
            None => std::future::pending().await,
        }
    }
}

fn told(batch: Result<Option<Bytes>, Box<dyn Any + Send>>) -> Turn {
    match batch {
        Ok(Some(batch)) => Turn::Batch(batch),
        Ok(None) => Turn::End,
        Err(panic) => {
            tracing::error!(fault = %internal("making a stream", &*panic));
            Turn::Panicked
        }
    }
}

/// The deadline of the drain: the stream's own error event is the last thing the client gets.
async fn abort(downstream: &mut Downstream<'_>, stream: Box<dyn ByteStream>) -> Result<(), Gone> {
    let fault = Fault::unavailable("the gateway is shutting down");
    let last = AssertUnwindSafe(stream.abort(fault)).catch_unwind().await;
    let Ok(last) = last else { return Err(Gone) };
    downstream.write(last).await?;
    let ended = downstream.end().await;
    downstream.hold_back(false);
    ended
}

/// A panic's text may quote data, so only its place in our code is told.
fn internal(attempt: &str, panic: &(dyn Any + Send)) -> Fault {
    let kind = if panic.is::<&'static str>() {
        "fixed text"
    } else {
        "formatted text"
    };
    let fault = Fault::internal(format_args!("panic ({kind}) while {attempt}"));
    tracing::error!(%fault, "caught a panic");
    fault
}
