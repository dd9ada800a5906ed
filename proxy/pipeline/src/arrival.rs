//! The arrival of a body. Who sends it, and whether they may, is judged by its head; where the body takes its time, it
//! is judged once more by what holds when the body is whole, the policy set included. Otherwise whoever keeps a request
//! open would keep what they were allowed when it began.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use svc_core::fault::Fault;

use crate::exchange::Exchange;
use crate::fact::Fact;
use crate::filter::recognize;
use crate::moment;
use crate::policy::pipelines::Matched;
use crate::request::BodyError;

/// 100 ms: a body that is whole by then came with its head. What is found out anew behind a later one keeps verdicts
/// within the 2 s of contract 19.5, whatever time a body may take.
const WITH_ITS_HEAD: Duration = Duration::from_millis(100);

/// Why a body is not taken.
pub enum Unread {
    /// It did not arrive whole.
    Broken(BodyError),
    /// Whoever sends it may do so no more.
    Refused(Fault),
}

impl From<Unread> for Fault {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Broken(error) => error.into(),
            Unread::Refused(fault) => fault,
        }
    }
}

impl Exchange {
    /// Reads the whole body. Where it was waited for, its caller is judged again; a handler that knows by other means
    /// who asks finds out again by itself ([`Self::came_late`]). The second call finds the body empty, as HTTP would.
    ///
    /// # Errors
    /// [`Unread`]; after [`BodyError::Gone`] no response can be delivered.
    pub async fn read_body(&mut self, limit_bytes: usize) -> Result<Bytes, Unread> {
        let begun = Instant::now();
        let whole = self.body.read(limit_bytes).await.map_err(Unread::Broken)?;
        self.now = moment::now();
        if begun.elapsed() > WITH_ITS_HEAD {
            self.is_late = true;
            self.judged = Instant::now();
            Box::pin(judge_again(self)).await.map_err(Unread::Refused)?;
        }
        Ok(whole)
    }

    /// Whether the body was waited for, so that what a handler found out before it may hold no more.
    pub const fn came_late(&self) -> bool {
        self.is_late
    }
}

/// The gates that ask who it is and what they may (contract 2, steps 4, 6 and 7); the others count, or come behind the
/// body. A person at a page was found behind the page's own body.
async fn judge_again(exchange: &mut Exchange) -> Result<(), Fault> {
    let has_new_rules = take_new_rules(exchange)?;
    let Some(before) = exchange.facts.caller.clone() else {
        return Ok(());
    };
    let caller = match before.is_person {
        true => Arc::clone(&before),
        false => recognize(exchange).await?,
    };
    if Arc::ptr_eq(&before, &caller) && !has_new_rules {
        return Ok(());
    }
    exchange.trail.knows_anew(&caller);
    exchange.facts.caller = Some(caller);
    let route = Arc::clone(&exchange.route);
    for filter in &route.filters {
        if filter.gives().iter().any(judges_the_caller) {
            filter.apply(exchange).await?;
        }
    }
    Ok(())
}

/// Goes on under the policy set that is in force by now, and says whether it is another one. The filters that are passed
/// asked nothing of it but the scope of the route, which is asked for once more; and rate limits, by which a request
/// counts when it comes.
///
/// # Errors
/// 503 where another way leads through the filters now: the request can take it from its beginning only.
fn take_new_rules(exchange: &mut Exchange) -> Result<bool, Fault> {
    let policy = exchange.gateway.policies.current();
    if Arc::ptr_eq(&policy, &exchange.policy) {
        return Ok(false);
    }
    let head = &exchange.head;
    let route = match policy.routes.find(&head.method, &head.path) {
        Matched::Route { route, .. } if route.is_same_way(&exchange.route, &head.headers) => route,
        _ => return Err(Fault::unavailable("the route changed while a body came")),
    };
    exchange.trail.governed_by(policy.epoch);
    exchange.route = route;
    exchange.policy = policy;
    Ok(true)
}

const fn judges_the_caller(fact: &Fact) -> bool {
    matches!(fact, Fact::Authorized | Fact::Delegated)
}
