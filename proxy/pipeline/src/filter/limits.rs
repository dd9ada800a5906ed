//! `limits`: rate limits of key and organization, in the order of contract section 2, step 8.

use std::cmp::Reverse;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use svc_core::fault::{Code, Fault};
use svc_core::limit::{MINUTE_MS, Rule, Verdict};
use svc_store::limit::Take;

use super::Filter;
use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::limiter::{Admission, Admitted, Full, Limiter};
use crate::moment;
use crate::policy::plans;

const DAY_SECONDS: u32 = 86_400;

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

    /// Contract 2: step 7 before step 8. Who may not do this does not use up what others may do.
    fn behind(&self) -> &'static [Fact] {
        &[Fact::Delegated]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            exchange.facts.is_counted = true;
            let caller = Arc::clone(given(exchange.facts.caller.as_ref(), "the caller")?);
            let admitting = admit(
                Arc::clone(&exchange.gateway.limiter),
                Arc::clone(&caller),
                exchange.policy.plans.limits,
            );
            let admitted = if caller.agent.is_some() {
                let admitted = exchange.gateway.background.spawn(admitting).await;
                admitted.map_err(|error| Fault::internal(format_args!("rate limits: {error}")))?
            } else {
                admitting.await
            };
            let (shown, bucket) = told(&admitted.verdicts, buckets(&caller))?;
            show(exchange, shown, bucket);
            if !shown.allowed {
                return Err(limited(shown, bucket));
            }
            exchange.facts.slot = admitted.place.transpose().map_err(full)?;
            exchange.trail.admitted();
            Ok(())
        })
    }
}

/// Counts a request that is refused before its turn comes: each counts once, whatever becomes of it (contract 6). It
/// takes no agent's place, and is answered with what was wrong with it.
pub(crate) async fn count(exchange: &mut Exchange) {
    let Some(caller) = exchange.facts.caller.clone() else {
        return;
    };
    exchange.facts.is_counted = true;
    let admission = Admission {
        takes: &takes(&caller, exchange.policy.plans.limits),
        place: None,
    };
    let limiter = &exchange.gateway.limiter;
    let admitted = limiter.admit(&admission, moment::now_us()).await;
    if let Ok((shown, bucket)) = told(&admitted.verdicts, buckets(&caller)) {
        show(exchange, shown, bucket);
    }
}

/// Whose requests a limit counts together (contract 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bucket {
    Key,
    Organization,
    OrganizationDay,
    Agent,
    Address,
}

impl Bucket {
    /// The word of `scope` and of `X-RateLimit-Scope`.
    const fn word(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Organization => "org",
            Self::OrganizationDay => "org_daily",
            Self::Agent => "agent",
            Self::Address => "address",
        }
    }

    const fn window_seconds(self) -> u32 {
        match self {
            Self::OrganizationDay => DAY_SECONDS,
            Self::Key | Self::Organization | Self::Agent | Self::Address => MINUTE_MS / 1_000,
        }
    }

    /// What a denied request is answered with.
    const fn code(self) -> Code {
        match self {
            Self::Agent => Code::AgentRateLimitExceeded,
            Self::Key | Self::Organization | Self::OrganizationDay | Self::Address => {
                Code::RateLimited
            }
        }
    }
}

async fn admit(limiter: Arc<Limiter>, caller: Arc<Caller>, defaults: plans::Limits) -> Admitted {
    let admission = Admission {
        takes: &takes(&caller, defaults),
        place: place(&caller, defaults),
    };
    limiter.admit(&admission, moment::now_us()).await
}

/// The buckets of a caller in the order of contract 2, step 8: a key comes before its organization, a credential of an
/// agent behind it.
fn takes(caller: &Caller, defaults: plans::Limits) -> [Take<'_>; 3] {
    let buckets = &caller.buckets;
    let limit = caller.organization_per_minute;
    let organization = Take {
        bucket: &buckets.organization,
        rule: Rule::per_minute(limit.unwrap_or(defaults.organization_per_minute)),
    };
    let limit = caller.organization_per_day;
    let day = Take {
        bucket: &buckets.organization_day,
        rule: Rule::Daily(limit.unwrap_or(defaults.organization_per_day)),
    };
    let own = |default| Take {
        bucket: &buckets.key,
        rule: Rule::per_minute(caller.per_minute.unwrap_or(default)),
    };
    match &caller.agent {
        None => [own(defaults.key_per_minute), organization, day],
        Some(_) => [organization, day, own(defaults.agent_per_minute)],
    }
}

/// Which buckets these are.
fn buckets(caller: &Caller) -> [Bucket; 3] {
    use Bucket::{Agent, Key, Organization, OrganizationDay};
    match &caller.agent {
        None => [Key, Organization, OrganizationDay],
        Some(_) => [Organization, OrganizationDay, Agent],
    }
}

/// Where an agent's requests in flight are counted, and how many there may be.
fn place(caller: &Caller, defaults: plans::Limits) -> Option<(&str, u32)> {
    let agent = caller.agent.as_ref()?;
    let limit = agent.concurrency.unwrap_or(defaults.agent_concurrency);
    Some((caller.buckets.key.as_str(), limit))
}

/// The bucket that a response speaks of: the one that denied, else the tightest; of equal ones the last.
fn told(verdicts: &[Option<Verdict>], buckets: [Bucket; 3]) -> Result<(Verdict, Bucket), Fault> {
    let reached = verdicts.iter().flatten().copied().zip(buckets);
    // Nothing is behind one that denied.
    let last_of_equals =
        |(verdict, _): &(Verdict, Bucket)| Reverse((verdict.allowed, verdict.remaining));
    reached
        .max_by_key(last_of_equals)
        .ok_or_else(|| Fault::internal("no rate limit is defined"))
}

fn full(full: Full) -> Fault {
    Code::AgentConcurrencyCapExceeded
        .fault()
        .detail("limit", full.limit)
        .detail("in_flight", full.in_flight)
}

/// Contract 6: the headers of the tightest bucket.
fn show(exchange: &mut Exchange, verdict: Verdict, bucket: Bucket) {
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
        .insert(SCOPE, HeaderValue::from_static(bucket.word()));
}

/// 429 with the details of contract 3.3.
pub(crate) fn limited(verdict: Verdict, bucket: Bucket) -> Fault {
    let fault = bucket.code().fault();
    fault
        .retry_after(verdict.retry_after_seconds)
        .detail("scope", bucket.word())
        .detail("limit", verdict.limit)
        .detail("window_seconds", bucket.window_seconds())
}
