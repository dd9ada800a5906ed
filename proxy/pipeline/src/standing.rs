//! Whether somebody who was let in may go on. An answer is given for as long as its reader takes; whoever may have no
//! more of it gets no more, within the time of contract 19.5. What [`crate::arrival`] is to a body that comes slowly,
//! this is to an answer that goes slowly.

use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_core::fault::Fault;
use svc_store::user;

use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::filter::{self, Presented};
use crate::gateway::Gateway;
use crate::moment;
use crate::policy::pipelines::Route;
use crate::role;

/// 100 ms: what is found out anew behind it keeps verdicts within the 2 s of contract 19.5. It is not asked of the
/// store each time ([`filter::Callers`]).
const HOLDS_FOR: Duration = Duration::from_millis(100);

/// Somebody who was let in, and what they were judged by.
pub struct Standing {
    gateway: Arc<Gateway>,
    route: Arc<Route>,
    /// What a credential is looked up by; people at a page have none.
    presented: Option<Presented>,
    caller: Arc<Caller>,
    judged: Instant,
}

impl Standing {
    /// That of the caller of an exchange, who has passed the gates of its route.
    ///
    /// # Errors
    /// 500 where nobody has been let in.
    pub fn of(exchange: &Exchange) -> Result<Self, Fault> {
        let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
        let presented = match caller.is_person {
            true => None,
            false => Some(Presented::read(&exchange.head.headers, exchange.surface)?),
        };
        Ok(Self {
            gateway: Arc::clone(&exchange.gateway),
            route: Arc::clone(&exchange.route),
            presented,
            caller: Arc::clone(caller),
            judged: Instant::now(),
        })
    }

    /// The caller, by what holds now.
    ///
    /// # Errors
    /// As the gates that ask who it is and what they may (contract 2, steps 4, 6 and 7).
    pub async fn caller(&mut self) -> Result<Arc<Caller>, Fault> {
        if self.judged.elapsed() > HOLDS_FOR {
            let begun = Instant::now();
            match self.presented {
                Some(presented) => self.credential(presented).await?,
                None => self.person().await?,
            }
            self.judged = begun;
        }
        Ok(Arc::clone(&self.caller))
    }

    async fn credential(&mut self, presented: Presented) -> Result<(), Fault> {
        let (gateway, now) = (&self.gateway, moment::now());
        let (store, background) = (&gateway.store, &gateway.background);
        let found = gateway.callers.find(store, presented, now, background);
        let caller = found.await?;
        filter::authorized(&caller, &self.route)?;
        filter::delegated(&caller, &self.route)?;
        self.caller = caller;
        Ok(())
    }

    /// Somebody at a page, who is let in by their role.
    async fn person(&self) -> Result<(), Fault> {
        let Caller {
            organization_id,
            key_id,
            ..
        } = &*self.caller;
        let found = user::find(&self.gateway.store, organization_id, key_id).await;
        let found = found.map_err(|error| Fault::unavailable(format_args!("standing: {error}")))?;
        match found {
            Some(user) if !user.suspended && role::may(user.role, &self.route) => Ok(()),
            _ => Err(role::not_allowed()),
        }
    }
}
