//! `chat`: runs a model and gives its reply, streamed or whole, on whatever surface the route speaks.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use svc_core::chat::ChatEvent;
use svc_core::fault::{Code, Fault};
use svc_core::secret::Mode;
use tracing::Instrument;

use super::Handler;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::inference::{Call, EventSource, open};
use crate::reply::{Reply, ReplyStream};
use crate::response::Response;
use crate::service::TRACES;

pub(super) struct Chat;

impl Handler for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    /// Each fact is a compliance filter that no inference pipeline can leave out.
    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Authorized,
            Fact::Admitted,
            Fact::Chat,
            Fact::Conversation,
            Fact::AiAllowed,
            Fact::Model,
            Fact::Eligible,
            Fact::Baa,
            Fact::Reservation,
            Fact::PhiScan,
            Fact::Intent,
        ]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(run(exchange))
    }
}

async fn run(mut exchange: Exchange) -> Response {
    let streamed = exchange.facts.chat.as_ref().is_some_and(|chat| chat.stream);
    let prepared =
        call(&mut exchange).and_then(|call| Reply::begin(&mut exchange).map(|reply| (call, reply)));
    let (call, reply) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => return exchange.refuse(fault).await,
    };
    let mut opening: Opening = Box::pin(first_events(call));
    if !streamed {
        return match opening.await {
            Ok((source, events)) => reply.whole(exchange, source, events).await,
            Err(fault) => exchange.refuse(fault).await,
        };
    }
    // A provider that fails at once is an HTTP error; one that thinks for long must not leave the caller
    // without a byte, so the stream opens when the first heartbeat would be due.
    match tokio::time::timeout(exchange.gateway.settings.heartbeat_interval, &mut opening).await {
        Ok(Ok((source, events))) => {
            ReplyStream::running(exchange, reply, source, events).into_response()
        }
        Ok(Err(fault)) => exchange.refuse(fault).await,
        Err(_) => ReplyStream::opening(exchange, reply, opening).into_response(),
    }
}

/// A call whose first events are on their way.
pub(crate) type Opening = BoxFuture<'static, Result<(EventSource, Vec<ChatEvent>), Fault>>;

/// Opens the run and waits for its first events: what fails until then fails as an HTTP status.
async fn first_events(call: Call) -> Result<(EventSource, Vec<ChatEvent>), Fault> {
    let span = tracing::trace_span!(
        target: TRACES,
        "provider",
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.request.model = call.upstream_model,
    );
    let mut source = open(call).instrument(span).await?;
    let mut events = Vec::new();
    source.next(&mut events).await?;
    Ok((source, events))
}

/// Everything that the call to the provider needs, taken out of the exchange.
fn call(exchange: &mut Exchange) -> Result<Call, Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let index = *given(exchange.facts.model.as_ref(), "the model")?;
    let model = given(exchange.policy.catalogue.models.get(index), "the model")?;
    let providers = match caller.mode {
        Mode::Live => &exchange.gateway.providers.live,
        Mode::Test => &exchange.gateway.providers.test,
    };
    let provider = providers.get(&model.provider).ok_or_else(|| {
        Code::InferenceUnavailable.fault().because(format_args!(
            "provider {} is not configured",
            model.provider
        ))
    })?;
    let driver = exchange
        .gateway
        .plugins
        .driver(&format!("provider-{}", model.provider));
    let driver = driver.map_err(|error| Fault::unavailable(format_args!("driver: {error}")))?;
    let chat = given(exchange.facts.chat.as_ref(), "the chat")?.clone();
    Ok(Call {
        driver,
        provider: Arc::clone(provider),
        connector: Arc::clone(&exchange.gateway.connector),
        upstream_model: model.upstream_model.clone(),
        chat,
        received: exchange.head.received,
        metrics: Arc::clone(&exchange.gateway.metrics),
    })
}
