//! `decode_count`: the body of `POST /v1/messages/count_tokens` as a canonical chat (contract 2, steps 9 to 11):
//! a prompt alone, of which nothing is stored.

use futures_util::future::BoxFuture;
use svc_core::fault::Fault;
use svc_core::surface::{Surface, messages};

use super::decode_messages::wire_version;
use super::{Filter, body};
use crate::conversation::Thread;
use crate::exchange::Exchange;
use crate::fact::Fact;

pub(super) struct DecodeCount;

impl Filter for DecodeCount {
    fn name(&self) -> &'static str {
        "decode_count"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Admitted]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Chat, Fact::Conversation]
    }

    fn reads(&self) -> Option<Surface> {
        Some(Surface::Messages)
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let version = wire_version(&exchange.head.headers)?;
            let decode = move |body: &[u8]| messages::decode_count(body, version);
            let decoded = body::parsed(exchange, decode).await?;
            exchange.facts.thread = Some(Thread::stateless());
            exchange.facts.chat = Some(decoded.chat);
            exchange.facts.places = Some(decoded.places);
            Ok(())
        })
    }
}
