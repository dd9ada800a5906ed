//! `decode_native`: the body of `POST /v1/ai/chat` as a canonical chat (contract 2, steps 9 to 11).

use futures_util::future::BoxFuture;
use svc_core::fault::Fault;
use svc_core::surface::{Surface, native};

use super::{Filter, body};
use crate::conversation::Thread;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;

pub(super) struct DecodeNative;

impl Filter for DecodeNative {
    fn name(&self) -> &'static str {
        "decode_native"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Admitted]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Chat]
    }

    fn reads(&self) -> Option<Surface> {
        Some(Surface::Native)
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let mut request = body::parsed(exchange, native::decode).await?;
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let agent = caller.agent.as_ref();
            if let Some(model) = agent.and_then(|agent| agent.default_model.as_ref())
                && !request.names_model
            {
                request.chat.model.clone_from(model);
            }
            exchange.facts.thread = Some(Thread::asked(&request));
            exchange.facts.chat = Some(request.chat);
            exchange.facts.places = Some(request.places);
            Ok(())
        })
    }
}
