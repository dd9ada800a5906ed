//! `decode_chat_completions`: the body of `POST /v1/chat/completions` as a canonical chat (contract 2, steps 9
//! to 11). The request carries its whole conversation, and nothing of it is stored.

use futures_util::future::BoxFuture;
use svc_core::fault::Fault;
use svc_core::surface::{Surface, chat_completions};

use super::{Filter, body};
use crate::conversation::Thread;
use crate::exchange::Exchange;
use crate::fact::Fact;

pub(super) struct DecodeChatCompletions;

impl Filter for DecodeChatCompletions {
    fn name(&self) -> &'static str {
        "decode_chat_completions"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Admitted]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Chat, Fact::Conversation]
    }

    fn reads(&self) -> Option<Surface> {
        Some(Surface::ChatCompletions)
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let decoded = body::parsed(exchange, chat_completions::decode).await?;
            exchange.facts.thread = Some(Thread::stateless());
            exchange.facts.chat = Some(decoded.chat);
            exchange.facts.places = Some(decoded.places);
            Ok(())
        })
    }
}
