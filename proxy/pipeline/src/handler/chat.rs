//! `chat`: runs a model and gives its reply, streamed or whole, on whatever surface the route speaks.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use svc_core::chat::ChatRequest;
use svc_core::fault::Fault;
use svc_core::secret::Mode;
use tracing::Instrument;

use super::Handler;
use crate::caller::Caller;
use crate::clearance::Clearance;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::feature;
use crate::gateway::Gateway;
use crate::inference::{Call, Opened, Route, open};
use crate::integration::Way;
use crate::place::located;
use crate::policy::models::ModelRoute;
use crate::provider::Provider;
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
    let prepared = match call(&mut exchange).await {
        Ok(call) => {
            let reply = Reply::begin(&mut exchange, Arc::clone(&call.chat));
            reply.map(|reply| (call, reply))
        }
        Err(fault) => Err(fault),
    };
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
    let places = exchange.facts.places.take();
    let opening = async move {
        let opened = open(call).await;
        opened.map_err(|fault| located(places.as_ref(), fault))
    };
    let mut opening: Opening = Box::pin(opening.instrument(span));
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
pub(super) async fn call(exchange: &mut Exchange) -> Result<Call, Fault> {
    let clearance = Clearance::of(exchange)?;
    let mut chat = given(exchange.facts.chat.take(), "the chat")?;
    let (gateway, policy) = (&exchange.gateway, &exchange.policy);
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let index = *given(exchange.facts.model.as_ref(), "the model")?;
    let model = given(policy.catalogue.models.get(index), "the model")?;
    let bound = gateway.bindings.of(gateway, caller).await?;
    let lack = feature::lack_of_integrations(caller, &policy.plans);
    // What a caller brings is taken for what the model's first provider said, where no seal of ours says otherwise. Of a
    // stored turn the store knows better, or does not know.
    let is_stored = exchange
        .facts
        .thread
        .as_ref()
        .is_some_and(|thread| thread.continues);
    if let Some(first) = model.first_driver().filter(|_| !is_stored) {
        chat.reasoned_by(&Arc::from(first));
    }
    let ways = payable(&model.routes, |way| {
        bound.find(&caller.default_project_id, &way.provider)
    });
    let routes = ways.into_iter().map(|(way, own)| {
        let provider = match own {
            Some(own) => own.provider(lack)?,
            None => operators_provider(gateway, caller.mode, &way.provider)?,
        };
        route(gateway, provider, own, way)
    });
    let routes = routes.collect();
    Ok(Call {
        gateway: Arc::clone(gateway),
        routes,
        chat: witnessed(exchange, chat),
        clearance,
        surface: exchange.surface,
        meter: exchange.trail.meter(),
        received: exchange.head.received,
    })
}

/// The request as the provider will read it, shown to whoever asked to see it.
fn witnessed(exchange: &Exchange, chat: ChatRequest) -> Arc<ChatRequest> {
    let chat = Arc::new(chat);
    if let Some(witness) = &exchange.facts.witness {
        witness.sees(&chat);
    }
    chat
}

/// The routes that may be tried, each with the organization's own credential for it. Behind one that has such a
/// credential there is none without: who pays does not change unasked (contract 11).
fn payable<W>(
    ways: &[ModelRoute],
    own: impl Fn(&ModelRoute) -> Option<W>,
) -> Vec<(&ModelRoute, Option<W>)> {
    let mut is_own = false;
    let found = ways.iter().filter_map(|way| {
        let own = own(way);
        is_own |= own.is_some();
        (own.is_some() || !is_own).then_some((way, own))
    });
    found.collect()
}

fn route(
    gateway: &Gateway,
    provider: &Arc<Provider>,
    own: Option<&Arc<Way>>,
    way: &ModelRoute,
) -> Result<Route, Fault> {
    let driver = gateway.plugins.driver(&way.driver);
    Ok(Route {
        driver: driver.map_err(|error| Fault::unavailable(format_args!("driver: {error}")))?,
        provider: Arc::clone(provider),
        own: own.cloned(),
        upstream_model: way.upstream_model.clone(),
    })
}

fn operators_provider<'g>(
    gateway: &'g Gateway,
    mode: Mode,
    name: &str,
) -> Result<&'g Arc<Provider>, Fault> {
    let providers = match mode {
        Mode::Live => &gateway.providers.live,
        Mode::Test => &gateway.providers.test,
    };
    let provider = providers.get(name);
    provider.ok_or_else(|| Fault::unavailable(format_args!("provider {name} is not configured")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organization_that_pays_itself_goes_on_paying() {
        let way = |provider: &str| ModelRoute {
            provider: provider.to_owned(),
            driver: String::new(),
            upstream_model: String::new(),
        };
        let ways = ["operators", "own", "operators", "own"].map(way);
        let payers = |ways: &[ModelRoute]| {
            let own = |way: &ModelRoute| (way.provider == "own").then_some(());
            let found = payable(ways, own);
            found
                .iter()
                .map(|(_, own)| own.is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(payers(&ways), [false, true, true]);
        assert_eq!(payers(&ways[..1]), [false]);
    }
}
