//! `count_tokens`: how many tokens a prompt has, as its provider counts them. Content goes out, so every gate of
//! an inference stands before it; only metering does not (contract X30).

use futures_util::future::BoxFuture;
use http::StatusCode;
use svc_core::fault::Fault;
use svc_core::surface::messages;
use tracing::Instrument;

use super::Handler;
use super::chat::call;
use crate::exchange::Exchange;
use crate::fact::Fact;
use crate::inference::count;
use crate::place::located;
use crate::response::Response;
use crate::service::TRACES;

pub(super) struct CountTokens;

impl Handler for CountTokens {
    fn name(&self) -> &'static str {
        "count_tokens"
    }

    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Authorized,
            Fact::Admitted,
            Fact::Chat,
            Fact::AiAllowed,
            Fact::Model,
            Fact::Eligible,
            Fact::Baa,
            Fact::PhiScan,
            Fact::Intent,
        ]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(run(exchange))
    }
}

async fn run(mut exchange: Exchange) -> Response {
    match counted(&mut exchange).await {
        Ok(tokens) => exchange.json(StatusCode::OK, &messages::token_count(tokens)),
        Err(fault) => exchange.refuse(fault).await,
    }
}

async fn counted(exchange: &mut Exchange) -> Result<u64, Fault> {
    let call = call(exchange).await?;
    let span = tracing::trace_span!(
        target: TRACES,
        "provider",
        otel.kind = "client",
        gen_ai.operation.name = "count_tokens",
        gen_ai.request.model = call.chat.model,
    );
    let counted = count(call).instrument(span).await;
    let places = exchange.facts.places.as_ref();
    let tokens = counted.map_err(|fault| located(places, fault))?;
    exchange.trail.counted(tokens).await?;
    Ok(tokens)
}
