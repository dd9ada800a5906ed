//! Counting the tokens of a prompt: a driver knows the number, or asks its provider and reads the answer. Each
//! call has an instance of its own, so that nothing is held while the provider thinks.

use super::events::MAX_TOKENS;
use super::{
    Driver, DriverFailure, DriverFault, DriverRequest, UpstreamRequest, events, request,
    token_count, upstream,
};
use crate::error::{Failed, PluginError};
use crate::metrics::Function;
use crate::sandbox::Cell;

/// What a driver makes of the question.
pub enum TokenAnswer {
    /// It has counted, or estimated, by itself.
    Known(u64),
    /// Send this, and give [`Driver::read_token_count`] what comes back.
    Ask(UpstreamRequest),
}

impl Driver {
    /// Whether the driver can count at all.
    pub fn counts_tokens(&self) -> bool {
        self.counting.is_some()
    }

    /// Counts the tokens of a prompt, or says what to ask the provider.
    ///
    /// # Errors
    /// As [`Driver::start`]; [`PluginError::Contract`] where the driver cannot count.
    pub async fn count_tokens(
        &self,
        request: &DriverRequest<'_>,
    ) -> Result<TokenAnswer, Failed<DriverFailure>> {
        let asking = self.ask(request);
        self.version.measured(Function::Count, asking).await
    }

    /// Reads the provider's answer: the whole body, and a status that may be an error's.
    ///
    /// # Errors
    /// [`DriverFailure::Fault`] for an answer that is no count.
    pub async fn read_token_count(
        &self,
        status: u16,
        body: &[u8],
    ) -> Result<u64, Failed<DriverFailure>> {
        let reading = self.read(status, body);
        self.version.measured(Function::Parse, reading).await
    }

    async fn ask(&self, request: &DriverRequest<'_>) -> Result<TokenAnswer, DriverFailure> {
        let sent = request::to_wit(request);
        let (mut cell, guest) = self.counter().await?;
        let (store, allowance) = cell.serving(request::bytes(request));
        let answer = allowance.serve(guest.call_count(store, &sent)).await?;
        Ok(match answer.map_err(events::fault)? {
            token_count::TokenAnswer::Exact(tokens)
            | token_count::TokenAnswer::Estimate(tokens) => TokenAnswer::Known(possible(tokens)?),
            token_count::TokenAnswer::Ask(asked) => {
                TokenAnswer::Ask(upstream::check(asked, &self.auth)?)
            }
        })
    }

    async fn read(&self, status: u16, body: &[u8]) -> Result<u64, DriverFailure> {
        let (mut cell, guest) = self.counter().await?;
        let (store, allowance) = cell.serving(body.len());
        let answer = allowance
            .serve(guest.call_parse(store, status, body))
            .await?;
        Ok(possible(answer.map_err(events::fault)?)?)
    }

    /// A fresh instance and its counting half.
    async fn counter(&self) -> Result<(Cell, token_count::Guest), PluginError> {
        let indices = self
            .counting
            .as_ref()
            .ok_or(PluginError::Contract("the driver cannot count tokens"))?;
        let load = |store: &mut _, instance: &_| indices.load(store, instance);
        self.version.instance(load).await
    }
}

/// # Errors
/// A count that no prompt can have.
fn possible(tokens: u64) -> Result<u64, DriverFault> {
    if tokens > MAX_TOKENS {
        return Err(events::protocol("impossible_count"));
    }
    Ok(tokens)
}
