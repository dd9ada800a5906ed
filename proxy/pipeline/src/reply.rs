//! A reply on its way from the provider's events to the caller: watched by PHI Guard, kept for the
//! store in its redacted form, written by the surface, and settled before its last byte is sent.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use svc_core::chat::{ChatEvent, ChatRequest, Finish, ReplyBuilder};
use svc_core::fault::{Code, Fault};
use svc_core::id::IdKind;
use svc_core::surface::{
    PhiMetadata, ReplyEncoder, RunHead, RunSummary, Surface, chat_completions, messages, native,
};

use crate::exchange::{Exchange, finish_headers, given, log_fault};
use crate::gateway::Gateway;
use crate::handler::Opening;
use crate::inference::EventSource;
use crate::moment;
use crate::phi::{Outlet, ReplyGuard};
use crate::policy::models::{Model, kind_of};
use crate::response::{Body, ByteStream, Heartbeat, Response};
use crate::trail::Finished;

/// What is shared by the streamed and the unstreamed way, so that both give the same reply.
pub(crate) struct Reply {
    head: RunHead,
    encoder: Box<dyn ReplyEncoder>,
    guard: ReplyGuard,
    /// The reply with placeholders in place, also for what is new in it: what is stored. Where nothing is, only what
    /// judging it takes.
    kept: ReplyBuilder,
    finish: Option<Finish>,
    /// The same end as the caller may see it.
    shown_finish: Option<Finish>,
    /// What the provider was asked, placeholders in place.
    chat: Arc<ChatRequest>,
    /// Id of the driver that gives the reply, once one does.
    driver: Option<Arc<str>>,
}

impl Reply {
    /// Names the run.
    pub(crate) fn begin(exchange: &mut Exchange, chat: Arc<ChatRequest>) -> Result<Self, Fault> {
        let thread = given(exchange.facts.thread.as_ref(), "the conversation")?;
        let scan = given(exchange.facts.scan.as_ref(), "the PHI scan")?;
        let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
        let head = RunHead {
            request_id: exchange.request_id.clone(),
            message_id: moment::id(IdKind::Message),
            conversation_id: thread.shown_id(),
            model: chat.model.clone(),
            created: moment::now(),
            estimated_input_tokens: exchange.trail.expected_input_tokens(),
        };
        exchange.trail.names(&head.message_id);
        let guard = ReplyGuard::new(scan, Arc::clone(&chat), caller, &exchange.gateway);
        let encoder = encoder(exchange.surface);
        let kept = builder(exchange.surface);
        let kept = match thread.store {
            true => kept,
            false => kept.without_prose(),
        };
        Ok(Self {
            head,
            encoder,
            guard,
            kept,
            finish: None,
            shown_finish: None,
            chat,
            driver: None,
        })
    }

    /// A route has answered.
    fn answered(&mut self, exchange: &mut Exchange, source: &EventSource) {
        let driver = source.driver();
        let models = &exchange.policy.catalogue.models;
        let model = exchange.facts.model.and_then(|index| models.get(index));
        let first = model.and_then(Model::first_driver);
        let is_first = first == Some(driver);
        self.guard.given_by(driver, is_first);
        if !is_first && let Some(kind) = kind_of(models, driver) {
            exchange.trail.answered_by(kind);
        }
        self.driver = Some(Arc::clone(driver));
    }

    /// Takes one event in: has it judged, keeps it, and gives what the caller may see of it.
    async fn take(
        &mut self,
        exchange: &mut Exchange,
        event: ChatEvent,
        shown: &mut Vec<ChatEvent>,
    ) -> Result<(), Fault> {
        if let ChatEvent::Finished(finish) = &event {
            self.finish = Some(finish.clone());
        }
        let scan = given(exchange.facts.scan.as_mut(), "the PHI scan")?;
        let kept = &mut self.kept;
        let outlet = Outlet { kept, shown };
        self.guard
            .pass(event, scan, &exchange.policy.phi, outlet)
            .await?;
        if let Some(ChatEvent::Finished(finish)) = shown.last() {
            self.shown_finish = Some(finish.clone());
        }
        Ok(())
    }

    /// The provider broke off: what was held back may go.
    async fn cut_short(
        &mut self,
        exchange: &mut Exchange,
        shown: &mut Vec<ChatEvent>,
    ) -> Result<(), Fault> {
        let scan = given(exchange.facts.scan.as_mut(), "the PHI scan")?;
        let kept = &mut self.kept;
        let outlet = Outlet { kept, shown };
        self.guard.finish(scan, &exchange.policy.phi, outlet).await
    }

    /// Settles the run: from here on it has happened, whatever becomes of the caller.
    async fn settle(&mut self, exchange: &mut Exchange) -> Result<(Finished, PhiMetadata), Fault> {
        let kept = std::mem::take(&mut self.kept).finish();
        let mut kept = kept.map_err(|bad| {
            Code::InferenceUpstreamFailure
                .fault()
                .from_provider()
                .because(bad)
        })?;
        if let Some(driver) = &self.driver {
            kept.reasoned_by(driver);
        }
        let finish = given(self.finish.as_ref(), "the end of the reply")?;
        let scan = given(exchange.facts.scan.as_ref(), "the PHI scan")?;
        let phi = scan.metadata(self.guard.restored());
        self.guard.measure(&exchange.gateway.metrics);
        let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
        let turn = exchange.facts.thread.as_mut().and_then(|thread| {
            let message = self.chat.messages.last()?;
            thread.turn(message, &kept, scan, caller)
        });
        let finished = exchange.trail.complete(finish, &phi, turn).await?;
        // Before the last bytes, which tell the caller that it is over.
        if let Some(slot) = exchange.facts.slot.take() {
            slot.give_back().await;
        }
        Ok((finished, phi))
    }

    /// The unstreamed response.
    pub(crate) async fn whole(
        mut self,
        mut exchange: Exchange,
        mut source: EventSource,
        mut events: Vec<ChatEvent>,
    ) -> Response {
        self.answered(&mut exchange, &source);
        let mut shown_reply = builder(exchange.surface);
        let mut shown = Vec::new();
        while self.finish.is_none() {
            for event in events.drain(..) {
                if let Err(fault) = self.take(&mut exchange, event, &mut shown).await {
                    return exchange.refuse(fault).await;
                }
            }
            for event in shown.drain(..) {
                shown_reply.push(&event);
            }
            if self.finish.is_some() {
                break;
            }
            rest(&mut exchange);
            match source.next(&mut events).await {
                Ok(true) => {}
                Ok(false) => return exchange.refuse(unfinished()).await,
                Err(fault) => return exchange.refuse(fault).await,
            }
        }
        source.retire(&exchange.gateway.background);
        let reply = match shown_reply.finish() {
            Ok(reply) => reply,
            Err(bad) => {
                let fault = Code::InferenceUpstreamFailure
                    .fault()
                    .from_provider()
                    .because(bad);
                return exchange.refuse(fault).await;
            }
        };
        match self.settle(&mut exchange).await {
            Ok((finished, phi)) => {
                let body = match &self.shown_finish {
                    Some(finish) => self
                        .encoder
                        .whole(&reply, &summary(&self.head, &finished, finish, &phi)),
                    None => return exchange.refuse(unfinished()).await,
                };
                exchange.json(StatusCode::OK, &body)
            }
            Err(fault) => exchange.refuse(fault).await,
        }
    }
}

/// More events have to be waited for.
fn rest(exchange: &mut Exchange) {
    if let Some(scan) = &mut exchange.facts.scan {
        scan.rest();
    }
}

/// Text that comes at once and is judged within a heartbeat's interval, even where detectors take their time.
const SOON_JUDGED_BYTES: usize = 16 * 1024;

fn is_long(events: &[ChatEvent]) -> bool {
    let bytes = events.iter().map(|event| match event {
        ChatEvent::Text(text)
        | ChatEvent::Reasoning(text)
        | ChatEvent::ToolCallDelta { fragment: text, .. } => text.len(),
        _ => 0,
    });
    bytes.sum::<usize>() > SOON_JUDGED_BYTES
}

fn encoder(surface: Surface) -> Box<dyn ReplyEncoder> {
    match surface {
        Surface::Native => Box::new(native::Encoder::default()),
        Surface::Messages => Box::new(messages::Encoder::default()),
        Surface::ChatCompletions => Box::new(chat_completions::Encoder::default()),
    }
}

/// Arguments are text on one surface, which shows them also where the model wrote no JSON object.
pub(crate) fn builder(surface: Surface) -> ReplyBuilder {
    match surface {
        Surface::Native | Surface::Messages => ReplyBuilder::default(),
        Surface::ChatCompletions => ReplyBuilder::keeping_unparsed(),
    }
}

fn summary<'a>(
    head: &'a RunHead,
    finished: &Finished,
    finish: &'a Finish,
    phi: &'a PhiMetadata,
) -> RunSummary<'a> {
    RunSummary {
        head,
        usage: finished.usage,
        charge: finished.charge,
        finish,
        phi,
    }
}

fn unfinished() -> Fault {
    Code::InferenceUpstreamFailure
        .fault()
        .from_provider()
        .because("the run ended without its last event")
}

enum Phase {
    /// The provider has not answered yet.
    Opening(Opening),
    Running(Box<EventSource>),
    /// The provider has said all; the run is not settled yet.
    Said,
    /// The run has failed, and the caller has not been told yet.
    Failing(Box<Fault>),
    Over,
}

/// The streamed response.
pub(crate) struct ReplyStream {
    exchange: Exchange,
    reply: Reply,
    phase: Phase,
    /// Events that came with the opening.
    events: Vec<ChatEvent>,
    shown: Vec<ChatEvent>,
    /// Whether a batch has been given; the surface's first frame is in it.
    opened: bool,
}

impl ReplyStream {
    /// A stream whose provider has begun.
    pub(crate) fn running(
        mut exchange: Exchange,
        mut reply: Reply,
        source: EventSource,
        events: Vec<ChatEvent>,
    ) -> Self {
        reply.answered(&mut exchange, &source);
        Self {
            exchange,
            reply,
            phase: Phase::Running(Box::new(source)),
            events,
            shown: Vec::new(),
            opened: false,
        }
    }

    /// A stream that opens before its provider has answered.
    pub(crate) fn opening(exchange: Exchange, reply: Reply, opening: Opening) -> Self {
        let phase = Phase::Opening(opening);
        Self {
            exchange,
            reply,
            phase,
            events: Vec::new(),
            shown: Vec::new(),
            opened: false,
        }
    }

    pub(crate) fn into_response(mut self) -> Response {
        let mut headers = std::mem::take(&mut self.exchange.headers);
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream; charset=utf-8"),
        );
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies in between would hold events back otherwise.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        finish_headers(
            &mut headers,
            &self.exchange.request_id,
            self.exchange.surface,
        );
        Response {
            status: StatusCode::OK,
            headers,
            body: Body::Stream(Box::new(self)),
        }
    }

    async fn batch(&mut self) -> Option<Bytes> {
        let mut out = Vec::new();
        if !self.opened {
            self.reply.encoder.open(&self.reply.head, &mut out);
            let is_opening = matches!(self.phase, Phase::Opening(_));
            if is_opening && out.is_empty() {
                // The surface's first frame waits for the provider; the caller must not.
                out.extend_from_slice(self.reply.encoder.heartbeat());
            }
            // What takes long to judge must not have a heartbeat go in front of the surface's first frame.
            if is_opening || (!out.is_empty() && is_long(&self.events)) {
                self.opened = true;
                return Some(out.into());
            }
        }
        while out.is_empty() || !self.events.is_empty() {
            match self.advance(&mut out).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => {
                    self.fail(fault, &mut out).await;
                    break;
                }
            }
        }
        self.opened = true;
        if out.is_empty() {
            None
        } else {
            Some(out.into())
        }
    }

    /// Moves on by one step of the run; `false` when it is over.
    async fn advance(&mut self, out: &mut Vec<u8>) -> Result<bool, Fault> {
        if self.events.is_empty() {
            match &mut self.phase {
                Phase::Said | Phase::Failing(_) | Phase::Over => return Ok(false),
                Phase::Opening(opening) => {
                    let (source, events) = opening.await?;
                    self.reply.answered(&mut self.exchange, &source);
                    self.phase = Phase::Running(Box::new(source));
                    self.events = events;
                }
                Phase::Running(source) => {
                    let more = source.next(&mut self.events).await;
                    if !matches!(more, Ok(true)) {
                        self.write(out).await?;
                        let Self {
                            reply,
                            exchange,
                            shown,
                            ..
                        } = self;
                        reply.cut_short(exchange, shown).await?;
                        self.show(out)?;
                        more?;
                        return Err(unfinished());
                    }
                }
            }
        }
        self.write(out).await?;
        if self.reply.finish.is_some() {
            if let Phase::Running(source) = std::mem::replace(&mut self.phase, Phase::Said) {
                source.retire(&self.exchange.gateway.background);
            }
            let (finished, phi) = self.reply.settle(&mut self.exchange).await?;
            self.phase = Phase::Over;
            if let Some(finish) = &self.reply.shown_finish {
                let run = summary(&self.reply.head, &finished, finish, &phi);
                self.reply.encoder.complete(&run, out);
            }
        }
        Ok(true)
    }

    async fn write(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        for event in self.events.drain(..) {
            self.reply
                .take(&mut self.exchange, event, &mut self.shown)
                .await?;
        }
        rest(&mut self.exchange);
        self.show(out)
    }

    fn show(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        for event in self.shown.drain(..) {
            self.reply.encoder.event(&event, out)?;
        }
        Ok(())
    }

    /// The run failed after the stream had opened: settled, then said in the surface's own event. Where this is dropped
    /// while it is settled, that goes on, and the event is still to be said.
    async fn fail(&mut self, fault: Fault, out: &mut Vec<u8>) {
        self.phase = Phase::Failing(Box::new(fault));
        let Self {
            exchange,
            reply,
            phase,
            ..
        } = self;
        let Phase::Failing(fault) = phase else {
            return;
        };
        if let Err(unavailable) = exchange.trail.refuse(fault, exchange.surface).await {
            **fault = unavailable;
        }
        log_fault(fault, &exchange.request_id, &exchange.route.path);
        reply.encoder.fail(fault, &exchange.request_id, out);
        *phase = Phase::Over;
    }
}

impl ByteStream for ReplyStream {
    fn next(&mut self) -> BoxFuture<'_, Option<Bytes>> {
        Box::pin(self.batch())
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over) && self.events.is_empty()
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        let gateway: &Arc<Gateway> = &self.exchange.gateway;
        let bytes = Bytes::from_static(self.reply.encoder.heartbeat());
        Some(Heartbeat {
            interval: gateway.settings.heartbeat_interval,
            bytes,
        })
    }

    fn abort(mut self: Box<Self>, fault: Fault) -> BoxFuture<'static, Bytes> {
        Box::pin(async move {
            let mut out = Vec::new();
            if !self.opened {
                self.reply.encoder.open(&self.reply.head, &mut out);
            }
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => {}
                Phase::Failing(said) => self.fail(*said, &mut out).await,
                _ => self.fail(fault, &mut out).await,
            }
            out.into()
        })
    }
}
