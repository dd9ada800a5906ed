//! Counting tokens: kind A does it itself, on an endpoint of its own.

use driver_kit::counting::exports::gateway::provider::token_count::{Guest, TokenAnswer};
use driver_kit::fault::protocol;
use driver_kit::json::Count;

use crate::bindings::gateway::provider::types::{ChatRequest, DriverError};
use crate::fault::from_answer;
use crate::wire::TokenCount;
use crate::{Alpha, config, request};

impl Guest for Alpha {
    fn count(request: ChatRequest) -> Result<TokenAnswer, DriverError> {
        request::build_count(&request, config::get()).map(TokenAnswer::Ask)
    }

    fn parse(status: u16, body: Vec<u8>) -> Result<u64, DriverError> {
        let answer = serde_json::from_slice::<TokenCount<'_>>(&body).ok();
        if !(200..300).contains(&status) {
            let error = answer.as_ref().and_then(|answer| answer.error.as_ref());
            return Err(from_answer(status, error, None));
        }
        answer
            .and_then(|answer| answer.input_tokens)
            .map(|Count(tokens)| tokens)
            .ok_or_else(|| protocol("no_token_count"))
    }
}
