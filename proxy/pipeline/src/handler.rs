//! Handlers end the chain: they turn an exchange that passed every filter into a response.

mod chat;
mod count_tokens;
pub mod message;
mod models;
mod solve;

pub(crate) use chat::Opening;

use futures_util::future::BoxFuture;

use crate::exchange::Exchange;
use crate::fact::Fact;
use crate::response::Response;
use crate::trail::Operation;

/// One way to end an exchange.
pub trait Handler: Send + Sync {
    /// The word in `pipelines.toml`.
    fn name(&self) -> &'static str;

    /// Facts that the filters of every route with this handler must have given.
    fn needs(&self) -> &'static [Fact];

    /// What it does that has audit rows and asks nothing of a model; its needs tell the rest.
    fn operation(&self) -> Option<Operation> {
        None
    }

    /// What the path of its route must have in braces.
    fn parameters(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers. Faults are rendered by [`Exchange::refuse`], so that audit and surface see them.
    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response>;
}

/// Every handler of the gateway.
static HANDLERS: &[&dyn Handler] = &[
    &chat::Chat,
    &count_tokens::CountTokens,
    &message::Message,
    &models::Models,
    &solve::Solve,
];

/// The handler of this name.
pub fn find(name: &str) -> Option<&'static dyn Handler> {
    HANDLERS
        .iter()
        .copied()
        .find(|handler| handler.name() == name)
}
