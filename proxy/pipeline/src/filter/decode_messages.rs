//! `decode_messages`: the body of `POST /v1/messages` as a canonical chat (contract 2, steps 9 to 11). The
//! request carries its whole conversation, and nothing of it is stored.

use futures_util::future::BoxFuture;
use http::HeaderMap;
use svc_core::fault::Fault;
use svc_core::surface::Surface;
use svc_core::surface::messages::{self, WireVersion};

use super::{Filter, body};
use crate::conversation::Thread;
use crate::exchange::Exchange;
use crate::fact::Fact;

pub(super) struct DecodeMessages;

impl Filter for DecodeMessages {
    fn name(&self) -> &'static str {
        "decode_messages"
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
            let decoded =
                body::parsed(exchange, move |body| messages::decode(body, version)).await?;
            exchange.facts.thread = Some(Thread::stateless());
            exchange.facts.chat = Some(decoded.chat);
            exchange.facts.places = Some(decoded.places);
            Ok(())
        })
    }
}

/// A header that is no text is no date either.
pub(super) fn wire_version(headers: &HeaderMap) -> Result<WireVersion, Fault> {
    let value = headers.get("anthropic-version");
    WireVersion::of_header(value.map(|value| value.to_str().unwrap_or_default()))
}
