//! `limits`: rate limits of key and organization, in the order of contract section 2, step 8.

use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use svc_core::fault::{Code, Fault};
use svc_core::gcra::Quota;

use super::Filter;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::limiter::{Slot, Verdict};
use crate::moment;

const MINUTE_MS: u32 = 60_000;
const DAY_SECONDS: u64 = 86_400;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const SCOPE: HeaderName = HeaderName::from_static("x-ratelimit-scope");

pub(super) struct Limits;

impl Filter for Limits {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Authorized]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Admitted]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let (tightest, scope) = take(exchange)?;
            show(exchange, tightest, scope);
            if !tightest.allowed {
                return Err(limited(tightest, scope));
            }
            exchange.facts.slot = slot(exchange)?;
            exchange.trail.admitted();
            Ok(())
        })
    }
}

/// Takes one request out of each bucket until one denies; the answer is the denying or the tightest one.
fn take(exchange: &Exchange) -> Result<(Verdict, &'static str), Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let defaults = exchange.policy.plans.limits;
    let (limiter, now_us) = (&exchange.gateway.limiter, moment::now_us());
    let per_minute = |bucket: &str, limit: u32| {
        limiter.take(
            bucket,
            Quota {
                limit,
                window_ms: MINUTE_MS,
            },
            now_us,
        )
    };

    let buckets = &caller.buckets;
    let (own_scope, own_default) = match &caller.agent {
        None => ("key", defaults.key_per_minute),
        Some(_) => (AGENT, defaults.agent_per_minute),
    };
    let own_limit = caller.per_minute.unwrap_or(own_default);
    let take_own = || per_minute(&buckets.key, own_limit);
    // A key comes before its organization, a credential of an agent behind it (contract 2, step 8).
    let key = caller.agent.is_none().then(take_own);
    if let Some(key) = key.filter(|key| !key.allowed) {
        return Ok((key, own_scope));
    }
    let limit = caller
        .organization_per_minute
        .unwrap_or(defaults.organization_per_minute);
    let organization = per_minute(&buckets.organization, limit);
    if !organization.allowed {
        return Ok((organization, "org"));
    }
    let limit = caller
        .organization_per_day
        .unwrap_or(defaults.organization_per_day);
    let day = limiter.take_daily(&buckets.organization_day, limit, now_us);
    if !day.allowed {
        return Ok((day, "org_daily"));
    }
    let own = key.unwrap_or_else(take_own);
    let passed = [(day, "org_daily"), (organization, "org"), (own, own_scope)];
    let denied_or_tightest = passed
        .into_iter()
        .filter(|(verdict, _)| own.allowed || !verdict.allowed);
    denied_or_tightest
        .min_by_key(|(verdict, _)| verdict.remaining)
        .ok_or_else(|| Fault::internal("no rate limit is defined"))
}

/// The bucket of a credential of an agent.
const AGENT: &str = "agent";

/// A place among the requests of an agent's credential that are in flight.
fn slot(exchange: &Exchange) -> Result<Option<Slot>, Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let Some(agent) = &caller.agent else {
        return Ok(None);
    };
    let limit = agent.concurrency;
    let limit = limit.unwrap_or(exchange.policy.plans.limits.agent_concurrency);
    match exchange.gateway.slots.take(&caller.buckets.key, limit) {
        Ok(slot) => Ok(Some(slot)),
        Err(in_flight) => Err(Code::AgentConcurrencyCapExceeded
            .fault()
            .detail("limit", limit)
            .detail("in_flight", in_flight)),
    }
}

/// Contract 6: the headers of the tightest bucket.
fn show(exchange: &mut Exchange, verdict: Verdict, scope: &'static str) {
    let reset_seconds = verdict.reset.0.unsigned_abs().div_ceil(1_000);
    exchange
        .headers
        .insert(LIMIT, HeaderValue::from(verdict.limit));
    exchange
        .headers
        .insert(REMAINING, HeaderValue::from(verdict.remaining));
    exchange
        .headers
        .insert(RESET, HeaderValue::from(reset_seconds));
    exchange
        .headers
        .insert(SCOPE, HeaderValue::from_static(scope));
}

/// 429 with the details of contract 3.3.
pub(super) fn limited(verdict: Verdict, scope: &'static str) -> Fault {
    let window_seconds = if scope == "org_daily" {
        DAY_SECONDS
    } else {
        u64::from(MINUTE_MS) / 1_000
    };
    let code = if scope == AGENT {
        Code::AgentRateLimitExceeded
    } else {
        Code::RateLimited
    };
    code.fault()
        .retry_after(verdict.retry_after_seconds)
        .detail("scope", scope)
        .detail("limit", verdict.limit)
        .detail("window_seconds", window_seconds)
}
