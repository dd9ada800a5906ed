//! Opening a run and pulling its events.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use svc_core::chat::{ChatEvent, ChatRequest};
use svc_core::fault::{Code, Fault};
use svc_core::sse::{Frame, Framer};
use svc_core::surface::Surface;
use svc_core::time::Timestamp;
use svc_plugin::{Driver, DriverRequest, DriverRun, Framing, StreamEnd, UpstreamRequest};
use tokio::runtime::Handle;

use super::breaker::Health;
use super::failure::{Failure, before_sending};
use crate::clearance::Clearance;
use crate::gateway::Gateway;
use crate::integration::Way;
use crate::meter::Meter;
use crate::moment;
use crate::place::renamed;
use crate::provider::Provider;
use crate::reply::builder;
use crate::upstream::{
    InboundBody, InboundResponse, OutboundRequest, Reached, Repetition, UpstreamError, drain,
};

/// Bound on an answer that is handed to the driver in one piece, and on one line of a line-framed one.
const MAX_WHOLE_BODY_BYTES: usize = 16 * 1024 * 1024;

/// How long the end of a body whose last event has come may take, and what may stand before it. Nobody waits for it.
const BODY_END_WAIT: Duration = Duration::from_secs(1);
const BODY_END_BYTES: usize = 16 * 1024;

const AGENT: HeaderValue = HeaderValue::from_static("svc-gateway");

/// All that one call needs, owned, so that it can outlive the handler that made it.
pub struct Call {
    pub gateway: Arc<Gateway>,
    /// In the order in which they are tried; at least one. What keeps one of them from being tried matters only once it
    /// is its turn.
    pub routes: VecDeque<Result<Route, Fault>>,
    pub chat: Arc<ChatRequest>,
    /// What the request has passed by.
    pub(crate) clearance: Clearance,
    pub surface: Surface,
    /// Notes what the routes use.
    pub meter: Arc<Meter>,
    /// When the caller's request head was complete.
    pub received: Instant,
}

/// One way to a model.
pub struct Route {
    pub driver: Arc<Driver>,
    pub provider: Arc<Provider>,
    /// The organization's binding that gave the provider, where it is none of the operator's.
    pub own: Option<Arc<Way>>,
    /// The provider's own name of the model.
    pub upstream_model: String,
}

/// A run that has begun: where its events come from, and the first of them.
pub type Opened = (EventSource, Vec<ChatEvent>);

/// A run whose provider has answered: canonical events, in order. Dropping it cancels the upstream call.
pub struct EventSource {
    provider: Arc<Provider>,
    meter: Arc<Meter>,
    /// Id of the driver.
    driver: Arc<str>,
    run: Option<DriverRun>,
    body: Box<dyn InboundBody>,
    framing: Framing,
    framer: Option<Framer>,
    frames: Vec<Frame>,
    pending: Vec<u8>,
    /// What comes behind the first events, where both came at once.
    broken_off: Option<Failure>,
}

/// Opens the run on the first route that answers, and waits for its first events, signs of life aside.
///
/// # Errors
/// The fault of the last provider that failed in a way which another try may cure; without one, 503 where a circuit is
/// open, or why no route could be tried; and else what a route refused the request for.
pub async fn open(call: Call) -> Result<Opened, Fault> {
    on_a_route(call, attempt, collected).await
}

/// What the first route gives that answers. `attempt` waits for an answer to begin, and `rest` for as much more as has to
/// be there before the route is taken; it reports failures itself.
///
/// A route whose circuit is open is passed over, and so is one that cannot be tried, for the time being or at all. The
/// next route is tried only where a provider failed in a way that another try may cure; nothing has been sent to the
/// caller then, and nothing ever is twice. Once a route has failed so, what a later one cannot do is not the caller's
/// doing: the first failure is what they hear.
///
/// A next provider gets the request if it would pass its filters now, and if they would read it by the same rules. A first
/// one gets it so where they were passed a while ago, by the rules that it was read by.
pub(super) async fn on_a_route<T>(
    mut call: Call,
    attempt: impl AsyncFn(&Call, &Route) -> Result<(T, Health), Failure>,
    rest: impl AsyncFn(&Call, T) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut failures = Failures::default();
    while let Some(route) = call.routes.pop_front() {
        let is_next = failures.last.is_some();
        let route = match route {
            Ok(route) if is_next || !call.clearance.is_recent() => {
                call.clearance.renew(&call.chat).await?;
                if is_next && call.clearance.has_new_rules().await? {
                    break;
                }
                route.renewed(&call.clearance).await
            }
            route => route,
        };
        let route = match route {
            Ok(route) => route,
            Err(fault) if fault.retryable => {
                tracing::warn!(%fault, "a route to a model cannot be tried");
                failures.unready.get_or_insert(fault);
                continue;
            }
            Err(fault) => return Err(failures.heard().unwrap_or(fault)),
        };
        let observed = &route.provider.observed;
        let asked = Instant::now();
        let admission = match route.provider.breaker.admit(asked) {
            Ok(admission) => admission,
            Err(wait) => {
                failures.is_open(wait, &route);
                continue;
            }
        };
        let answered = attempt(&call, &route).await;
        let now = Instant::now();
        let health = match &answered {
            Ok((_, health)) | Err(Failure { health, .. }) => *health,
        };
        let fault = answered.as_ref().err().map(|failure| &failure.fault);
        observed.attempt(health, fault, now.duration_since(asked), now);
        admission.report(health, now);
        let taken = match answered {
            Ok((answer, _)) => rest(&call, answer).await,
            Err(failure) => Err(failure.fault),
        };
        match taken {
            Ok(answer) => return Ok(answer),
            Err(fault) if fault.retryable => {
                tracing::warn!(provider = &*route.provider.target.name, %fault, "a route to a model failed");
                failures.last = Some(fault);
            }
            Err(fault) => {
                let driver = route.driver.id();
                let fault = renamed(fault, |place| call.chat.place_for_driver(driver, place));
                return Err(failures.heard().unwrap_or(fault));
            }
        }
    }
    let heard = failures.heard();
    Err(heard.unwrap_or_else(|| Fault::internal("a call without a route")))
}

/// Why no route has answered so far.
#[derive(Default)]
struct Failures {
    /// Of the last provider that was asked.
    last: Option<Fault>,
    /// The circuit that is tried again soonest: when, and whose it is.
    open: Option<(Duration, Arc<str>)>,
    /// The first route that could not be tried.
    unready: Option<Fault>,
}

impl Failures {
    fn is_open(&mut self, wait: Duration, route: &Route) {
        let soonest = self.open.as_ref().map(|(soonest, _)| *soonest);
        if soonest.is_none_or(|soonest| wait < soonest) {
            self.open = Some((wait, Arc::clone(&route.provider.target.name)));
        }
    }

    /// What the caller hears of it; nothing where no route has failed.
    fn heard(self) -> Option<Fault> {
        let open = self.open.map(|(wait, name)| open_circuit(wait, &name));
        self.last.or(open).or(self.unready)
    }
}

fn open_circuit(wait: Duration, name: &str) -> Fault {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    Fault::unavailable(format_args!("the circuit of provider {name} is open")).retry_after(seconds)
}

async fn attempt(call: &Call, route: &Route) -> Result<(Opened, Health), Failure> {
    let chat = call.chat.for_driver(route.driver.id());
    let started = route.driver.start(&route.request(&chat)).await;
    let (mut run, upstream) = started.map_err(before_sending)?;
    call.meter.begin(route.provider.billed_to);
    let answer = send(call, route, upstream).await?;
    let framing = run.head(answer.status.as_u16(), &answer.headers).await?;
    let mut source = EventSource {
        provider: Arc::clone(&route.provider),
        meter: Arc::clone(&call.meter),
        driver: route.driver.id().into(),
        run: Some(run),
        body: answer.body,
        framing,
        framer: (framing == Framing::Sse).then(Framer::default),
        frames: Vec::new(),
        pending: Vec::new(),
        broken_off: None,
    };
    let mut events = Vec::new();
    // A sign of life is no answer: a provider may give one and refuse after all, and another route can still be tried.
    while events.is_empty() {
        let pulled = source.pull(&mut events).await;
        events.retain(|event| !matches!(event, ChatEvent::KeepAlive));
        match pulled {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) if is_opened_by(framing, &events) => source.broken_off = Some(failure),
            Err(failure) => return Err(failure),
        }
    }
    // What comes behind says how the provider is.
    let health = match source.broken_off {
        Some(_) => Health::Unknown,
        None => Health::Answering,
    };
    Ok(((source, events), health))
}

/// An answer whose caller hears of it only once it has ended, and whose place another route can take until then, with all
/// of its events; any other as it is.
async fn collected(call: &Call, (mut source, mut events): Opened) -> Result<Opened, Fault> {
    if !call.chat.stream && call.may_go_on() {
        source.all(&mut events, call.surface).await?;
    }
    Ok((source, events))
}

/// Whether a stream had begun before its provider failed: how that ends must not depend on how the network cut it into
/// pieces. Of an answer that comes whole nothing has been told yet.
fn is_opened_by(framing: Framing, events: &[ChatEvent]) -> bool {
    let is_end = |event: &ChatEvent| matches!(event, ChatEvent::Finished(_));
    framing != Framing::WholeBody && !events.is_empty() && !events.iter().any(is_end)
}

impl Call {
    /// Whether another route can be tried if the one under way fails.
    fn may_go_on(&self) -> bool {
        self.routes.iter().any(Result::is_ok)
    }
}

impl Route {
    /// With the organization's own credential as it is by now, where it goes by one.
    async fn renewed(self, clearance: &Clearance) -> Result<Self, Fault> {
        let Some(before) = &self.own else {
            return Ok(self);
        };
        let own = clearance.own(before).await?;
        Ok(Self {
            provider: Arc::clone(own.provider()?),
            own: Some(own),
            ..self
        })
    }

    /// What the driver starts from.
    pub(super) fn request<'a>(&'a self, chat: &'a ChatRequest) -> DriverRequest<'a> {
        DriverRequest {
            chat,
            model: &self.upstream_model,
            extra: &NOTHING,
        }
    }
}

/// The catalogue adds no parameters.
static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// Sends a driver's request with the provider's credential, and waits for the head of the answer.
pub(super) async fn send(
    call: &Call,
    route: &Route,
    upstream: UpstreamRequest,
) -> Result<InboundResponse, Failure> {
    let Route {
        driver,
        provider,
        own,
        upstream_model: _,
    } = route;
    let UpstreamRequest {
        method,
        path,
        mut headers,
        body,
        framing,
    } = upstream;
    defaults(&mut headers, framing);
    let mut path = provider.target.below(&path).to_owned();
    if let Some(own) = own {
        own.admit(&path)?;
        own.touch(&call.gateway, moment::now());
    }
    provider.authorize(driver.auth(), &mut headers, &mut path)?;
    let outbound = OutboundRequest {
        method,
        path_and_query: path,
        headers,
        body,
        // A model that is asked twice changes nothing.
        repetition: Repetition::Harmless,
        reached: Reached::default(),
    };
    let overhead = call.received.elapsed();
    let Gateway {
        metrics, connector, ..
    } = call.gateway.as_ref();
    metrics.overhead_seconds.observe(overhead.as_secs_f64());
    let sending = connector.send(Arc::clone(&provider.target), outbound);
    let mut answer = sending.await?;
    wait_in_seconds(&mut answer.headers);
    Ok(answer)
}

/// A driver has no clock: a `Retry-After` that is a date (RFC 9110, 10.2.3) becomes the seconds until then.
fn wait_in_seconds(headers: &mut HeaderMap) {
    if let Some(value) = headers.get_mut(RETRY_AFTER)
        && let Some(then) = value.to_str().ok().and_then(Timestamp::parse_http_date)
    {
        let wait_ms = u64::try_from(then.0 - moment::now().0).unwrap_or_default();
        *value = HeaderValue::from(wait_ms.div_ceil(1_000));
    }
}

/// Headers of ours that no driver needs to think of. An encoded answer would only be decoded again.
fn defaults(headers: &mut HeaderMap, framing: Framing) {
    let accept = if framing == Framing::Sse {
        "text/event-stream"
    } else {
        "application/json"
    };
    headers
        .entry(CONTENT_TYPE)
        .or_insert(HeaderValue::from_static("application/json"));
    headers
        .entry(ACCEPT)
        .or_insert(HeaderValue::from_static(accept));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, AGENT);
}

impl EventSource {
    /// Whose the reasoning of this run is.
    pub fn driver(&self) -> &Arc<str> {
        &self.driver
    }

    /// Appends the next events, at least one; `false` when the run is over. `Finished` comes last in a good
    /// run, and everything else ends in an error.
    ///
    /// # Errors
    /// The fault that the caller sees. Events that came before it are appended.
    pub async fn next(&mut self, events: &mut Vec<ChatEvent>) -> Result<bool, Fault> {
        let is_counted = self.broken_off.is_none();
        let pulled = self.pull(events).await;
        pulled.map_err(|failure| self.failed(failure, is_counted))
    }

    /// Reports a failure behind the first events.
    fn failed(&self, Failure { fault, health }: Failure, is_counted: bool) -> Fault {
        let now = Instant::now();
        let Provider {
            breaker, observed, ..
        } = self.provider.as_ref();
        breaker.report(health, now);
        if is_counted {
            observed.broke(health, &fault, now);
        } else {
            observed.attempt(health, Some(&fault), Duration::ZERO, now);
        }
        fault
    }

    /// A reply that came as it should, of which the surface cannot show what the model said. That is no failure of the
    /// provider: callers can have models say anything, and would close it to all others.
    fn unshowable(&self, cause: impl std::fmt::Display) -> Fault {
        self.provider.breaker.finished();
        protocol(cause).fault
    }

    /// Takes the rest of a run to its first events. Signs of life and counts that a later one replaces are left out. Calls
    /// that the surface could not show fail it.
    async fn all(&mut self, events: &mut Vec<ChatEvent>, surface: Surface) -> Result<(), Fault> {
        let mut more = std::mem::take(events);
        let mut reply = builder(surface).without_prose();
        let mut usage = None;
        loop {
            for event in more.drain(..) {
                reply.push(&event);
                match event {
                    ChatEvent::KeepAlive => {}
                    ChatEvent::Usage(_) => usage = Some(event),
                    ChatEvent::Finished(_) => {
                        events.extend(usage);
                        events.push(event);
                        let judged = reply.finish();
                        return judged.map(drop).map_err(|bad| self.unshowable(bad));
                    }
                    event => events.push(event),
                }
            }
            if !self.next(&mut more).await? {
                return Ok(());
            }
        }
    }

    async fn pull(&mut self, events: &mut Vec<ChatEvent>) -> Result<bool, Failure> {
        let before = events.len();
        let pulled = self.pull_unmetered(events).await;
        self.meter.note(events.get(before..).unwrap_or_default());
        pulled
    }

    async fn pull_unmetered(&mut self, events: &mut Vec<ChatEvent>) -> Result<bool, Failure> {
        if let Some(failure) = self.broken_off.take() {
            return Err(failure);
        }
        let before = events.len();
        while events.len() == before {
            let Some(run) = &mut self.run else {
                return Ok(false);
            };
            if run.finished() {
                return self
                    .close(StreamEnd::Complete, events)
                    .await
                    .map(|()| events.len() > before);
            }
            match self.body.next().await {
                Ok(Some(bytes)) => self.take(&bytes, events).await?,
                Ok(None) => {
                    self.finish_body(events).await?;
                    self.close(StreamEnd::Complete, events).await?;
                    return Ok(events.len() > before);
                }
                Err(error) => return Err(self.broken(error, events).await),
            }
        }
        Ok(true)
    }

    async fn take(&mut self, bytes: &[u8], events: &mut Vec<ChatEvent>) -> Result<(), Failure> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        match (&mut self.framer, self.framing) {
            (Some(framer), _) => {
                let framed = framer.push(bytes, &mut self.frames);
                // Events in front of what is no event count, as if they had come by themselves.
                if !self.frames.is_empty() {
                    let pushed = run.push(&self.frames, events).await;
                    self.frames.clear();
                    pushed.map_err(Failure::from)?;
                }
                if run.finished() {
                    return Ok(());
                }
                framed.map_err(protocol)
            }
            (None, Framing::Raw) => run.push_bytes(bytes, events).await.map_err(Failure::from),
            (None, framing) => {
                let before = self.pending.len();
                if before + bytes.len() > MAX_WHOLE_BODY_BYTES {
                    return Err(protocol("the answer is too long"));
                }
                self.pending.extend_from_slice(bytes);
                // What came before ends no line.
                let end = bytes.iter().rposition(|byte| *byte == b'\n');
                match (framing, end) {
                    (Framing::JsonLines, Some(end)) => self.take_lines(before + end, events).await,
                    _ => Ok(()),
                }
            }
        }
    }

    /// Hands over what is pending up to the end of its last line.
    async fn take_lines(&mut self, end: usize, events: &mut Vec<ChatEvent>) -> Result<(), Failure> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        let rest = self.pending.split_off(end + 1);
        let lines = std::mem::replace(&mut self.pending, rest);
        run.push_lines(&lines, events).await.map_err(Failure::from)
    }

    /// What is left when the body has ended: the last event, the last line or the whole body.
    async fn finish_body(&mut self, events: &mut Vec<ChatEvent>) -> Result<(), Failure> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        if let Some(framer) = self.framer.take() {
            framer.finish(&mut self.frames).map_err(protocol)?;
            if !self.frames.is_empty() {
                run.push(&self.frames, events)
                    .await
                    .map_err(Failure::from)?;
                self.frames.clear();
            }
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let pushed = match self.framing {
            Framing::JsonLines => run.push_lines(&pending, events).await,
            Framing::WholeBody => run.push_bytes(&pending, events).await,
            // Events and chunks are handed over as they come.
            Framing::Sse | Framing::Raw => return Ok(()),
        };
        pushed.map_err(Failure::from)
    }

    async fn close(&mut self, end: StreamEnd, events: &mut Vec<ChatEvent>) -> Result<(), Failure> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        run.close(end, events).await.map_err(Failure::from)
    }

    /// The last event has come, and nothing more is asked of the run: it counts as a good one. A body that is read to
    /// its end gives its connection back to the pool: that end usually came with the last event; where it did not, it
    /// is waited for elsewhere.
    pub fn retire(self, background: &Handle) {
        self.provider.breaker.finished();
        let ending = drain(self.body, BODY_END_BYTES);
        let mut ending = Box::pin(tokio::time::timeout(BODY_END_WAIT, ending).map(drop));
        if (&mut ending).now_or_never().is_none() {
            background.spawn(ending);
        }
    }

    /// The connection broke mid-way. The driver hears of it and may still give what it holds; the run fails
    /// whatever it says, because a truncated answer is never a success.
    async fn broken(&mut self, error: UpstreamError, events: &mut Vec<ChatEvent>) -> Failure {
        let end = match error {
            UpstreamError::IdleTimeout
            | UpstreamError::TotalTimeout
            | UpstreamError::HeadTimeout => StreamEnd::TimedOut,
            UpstreamError::Truncated => StreamEnd::Truncated,
            _ => StreamEnd::Reset,
        };
        let from_driver = self.close(end, events).await.err();
        events.retain(|event| !matches!(event, ChatEvent::Finished(_)));
        let from_driver = from_driver.filter(|failure| failure.health != Health::Unknown);
        from_driver.unwrap_or_else(|| error.into())
    }
}

pub(super) fn protocol(cause: impl std::fmt::Display) -> Failure {
    let fault = Code::InferenceUpstreamFailure.fault().from_provider();
    Failure {
        fault: fault.because(cause),
        health: Health::Failing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_hear_of_what_passes_by_itself_first() {
        let failures = || Failures {
            last: Some(protocol("the answer is too long").fault),
            open: Some((Duration::from_millis(1_500), "alpha".into())),
            unready: Some(Fault::unavailable("driver: none")),
        };
        let heard = |failures: Failures| {
            let fault = failures.heard();
            fault.map(|fault| (fault.code, fault.retry_after_seconds()))
        };
        let asked = heard(failures()).map(|(code, _)| code);
        assert_eq!(asked, Some(Code::InferenceUpstreamFailure));
        let passed_over = Failures {
            last: None,
            ..failures()
        };
        assert_eq!(
            heard(passed_over),
            Some((Code::InferenceUnavailable, Some(2)))
        );
        assert_eq!(heard(Failures::default()), None);
    }
}
