//! `chat`: runs a model and gives its reply, streamed or whole, on whatever surface the route speaks.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use svc_core::fault::Fault;
use svc_core::secret::Mode;
use tracing::Instrument;

use super::Handler;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::gateway::Gateway;
use crate::inference::{Call, Opened, Route, open};
use crate::policy::models::ModelRoute;
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
            Fact::Metered,
            Fact::PhiScan,
            Fact::Intent,
        ]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(run(exchange))
    }
}

async fn run(mut exchange: Exchange) -> Response {
    let prepared = call(&mut exchange).and_then(|call| {
        Reply::begin(&mut exchange, Arc::clone(&call.chat)).map(|reply| (call, reply))
    });
    let (call, reply) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => return exchange.refuse(fault).await,
    };
    let streamed = call.chat.stream;
    let span = tracing::trace_span!(
        target: TRACES,
        "provider",
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.request.model = call.chat.model,
    );
    let mut opening: Opening = Box::pin(open(call).instrument(span));
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

/// A call whose first events are on their way: what fails until then fails as an HTTP status.
pub(crate) type Opening = BoxFuture<'static, Result<Opened, Fault>>;

/// Everything that the call to the provider needs, taken out of the exchange.
pub(super) fn call(exchange: &mut Exchange) -> Result<Call, Fault> {
    let chat = exchange.facts.chat.take();
    let chat = chat.ok_or_else(|| Fault::internal("no filter gave the chat"))?;
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let index = *given(exchange.facts.model.as_ref(), "the model")?;
    let model = given(exchange.policy.catalogue.models.get(index), "the model")?;
    let routes: Result<Vec<Route>, Fault> = model
        .routes
        .iter()
        .map(|way| route(&exchange.gateway, caller.mode, way))
        .collect();
    Ok(Call {
        routes: routes?,
        connector: Arc::clone(&exchange.gateway.connector),
        chat: Arc::new(chat),
        received: exchange.head.received,
        metrics: Arc::clone(&exchange.gateway.metrics),
    })
}

fn route(gateway: &Gateway, mode: Mode, way: &ModelRoute) -> Result<Route, Fault> {
    let providers = match mode {
        Mode::Live => &gateway.providers.live,
        Mode::Test => &gateway.providers.test,
    };
    let provider = providers.get(&way.provider).ok_or_else(|| {
        Fault::unavailable(format_args!("provider {} is not configured", way.provider))
    })?;
    let driver = gateway.plugins.driver(&way.driver);
    Ok(Route {
        driver: driver.map_err(|error| Fault::unavailable(format_args!("driver: {error}")))?,
        provider: Arc::clone(provider),
        upstream_model: way.upstream_model.clone(),
    })
}
