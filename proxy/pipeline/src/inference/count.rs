//! Counting the tokens of a prompt: the driver's way where it has one, else the gateway's own estimate, which no
//! provider hears of.

use std::sync::Arc;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use svc_core::fault::Fault;
use svc_plugin::TokenAnswer;

use super::breaker::Health;
use super::failure::{Failure, before_sending};
use super::run::{Call, Route, on_a_route, protocol, send};
use crate::estimate::estimate;
use crate::upstream::{Unread, whole};

/// An answer that holds one number, or an error, fits many times over.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Counts on the first route that answers.
///
/// # Errors
/// As [`super::open`].
pub async fn count(call: Call) -> Result<u64, Fault> {
    let estimates = |route: &Result<Route, Fault>| match route {
        Ok(route) => !route.driver.counts_tokens(),
        Err(_) => false,
    };
    if call.routes.iter().all(estimates) {
        return estimated(&call).await;
    }
    on_a_route(call, attempt, async |_, tokens| Ok(tokens)).await
}

async fn estimated(call: &Call) -> Result<u64, Fault> {
    let chat = Arc::clone(&call.chat);
    let (_, prompt) = estimate(chat, &call.gateway.background).await?;
    Ok(prompt.about)
}

async fn attempt(call: &Call, route: &Route) -> Result<(u64, Health), Failure> {
    if !route.driver.counts_tokens() {
        return Ok((estimated(call).await?, Health::Unknown));
    }
    let chat = call.chat.for_driver(route.driver.id());
    let request = route.request(&chat);
    let answer = route.driver.count_tokens(&request).await;
    let upstream = match answer.map_err(before_sending)? {
        TokenAnswer::Known(tokens) => return Ok((tokens, Health::Unknown)),
        TokenAnswer::Ask(upstream) => upstream,
    };
    let answer = send(call, route, upstream).await?;
    let wait_ms = told_to_wait(&answer.headers);
    let body = whole(answer.body, MAX_ANSWER_BYTES).await;
    let body = body.map_err(|error| match error {
        Unread::TooLong => protocol(error),
        Unread::Upstream(error) => error.into(),
    })?;
    let read = route.driver.read_token_count(answer.status.as_u16(), &body);
    match read.await {
        Ok(tokens) => Ok((tokens, Health::Sound)),
        Err(failed) => Err(Failure::from(failed).told_to_wait(wait_ms)),
    }
}

/// Milliseconds to wait before the next try, which a driver that counts is not told of.
fn told_to_wait(headers: &HeaderMap) -> Option<u64> {
    let number = |name| {
        let number: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (number >= 0.0 && number.is_finite()).then_some(number)
    };
    let seconds = || Some(number(RETRY_AFTER.as_str())? * 1_000.0);
    number("retry-after-ms").or_else(seconds).map(whole_ms)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no number below zero, and one too large is the largest"
)]
fn whole_ms(milliseconds: f64) -> u64 {
    milliseconds.ceil() as u64
}
