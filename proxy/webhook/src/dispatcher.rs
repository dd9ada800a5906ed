//! The dispatcher of a replica: takes what is due from the outbox in batches, attempts it, and writes what became of
//! it in batches too.
//!
//! One loop with two hands, each with one transaction at a time: one takes leases, the other writes results. While a
//! hand is busy, wakes and results gather for its next turn, so that batches grow with the load by themselves. Woken
//! by commits of its own process; what other replicas have left behind is found by a look, which no hand waits for. A
//! place is taken from the lease until the result is written: [`Settings::in_flight`] bounds all that is in between.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use svc_core::plan::Tier;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_pipeline::upstream::Connector;
use svc_store::outbox::{self, Ask, Attempt, Claimed, Done, Lease, Next, Settled};
use svc_store::{Store, StoreError, webhook_delivery};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use crate::attempt::{Settings, Way, attempt};
use crate::lanes::{Class, Lanes, Pace};
use crate::metrics::Metrics;

/// What a dispatcher works with.
pub struct Outside {
    pub store: Store,
    /// Its own, because connections belong to the runtime that opened them.
    pub connector: Arc<dyn Connector>,
    pub metrics: Metrics,
    pub with_webhooks: WithWebhooks,
    /// Whose leases these are.
    pub replica_id: String,
    /// Where everything runs.
    pub background: Handle,
}

/// The tiers whose organizations may use webhooks, by the policies in force when it is asked.
pub type WithWebhooks = Arc<dyn Fn() -> Vec<Tier> + Send + Sync>;

/// A running dispatcher. Dropped without [`Self::stop`], it goes on.
pub struct Dispatcher {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// Half a second: how long what another replica has left behind, or a retry that nobody remembers, may lie.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Endpoints of one look, two steps in an index each.
const LOOKED_AT: u32 = 1_000;
/// Results of one transaction.
const RESULTS: usize = 512;
/// 1 s: an attempt that takes longer makes its endpoint a slow one.
const SLOW: u32 = 1_000;
/// 1 s between attempts at a store that does not answer.
const AFTER_TROUBLE: Duration = Duration::from_secs(1);
/// 2 s: what attempts under way are given at the end. What takes longer is made again by another replica.
const GRACE: Duration = Duration::from_secs(2);
/// 15 s between two counts of what waits.
const COUNT_EVERY: Duration = Duration::from_secs(15);
/// Counted up to this.
const COUNTED: u32 = 100_000;
/// One sweep in so many counts: every ten minutes.
const COUNTS_PER_SWEEP: u32 = 40;

impl Dispatcher {
    /// Starts delivering.
    pub fn start(outside: Outside, settings: Settings) -> Self {
        let (stop, stopped) = watch::channel(false);
        let upkeep = upkeep(
            outside.store.clone(),
            outside.metrics.clone(),
            stopped.clone(),
        );
        let background = outside.background.clone();
        let work = Work::new(outside, settings);
        let tasks = vec![
            background.spawn(work.run(stopped)),
            background.spawn(upkeep),
        ];
        Self { stop, tasks }
    }

    /// Takes nothing more, gives attempts under way [`GRACE`], and hands every lease back at once.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "the dispatcher did not end cleanly");
            }
        }
    }
}

/// An attempt that is over, and what its place was taken for.
type Over = (Done, Class);

/// What is asked for of endpoints, and what a place at each is taken for.
type Asks = Vec<(Ask, Class)>;

/// What a transaction was given, to be given again if it comes to nothing, and what it came to.
type CameTo<G, T> = (G, Result<T, StoreError>);

/// Endpoints at which something waits, and since when or until when.
type Waiting = Vec<(String, Timestamp)>;

/// A transaction on its way.
type Hand<G, T> = Option<BoxFuture<'static, CameTo<G, T>>>;

/// What a hand has come to; one that holds nothing comes to nothing.
async fn done<G, T>(hand: &mut Hand<G, T>) -> CameTo<G, T> {
    match hand {
        Some(busy) => {
            let came_to = busy.await;
            *hand = None;
            came_to
        }
        None => std::future::pending().await,
    }
}

struct Work {
    way: Arc<Way>,
    metrics: Metrics,
    with_webhooks: WithWebhooks,
    replica_id: String,
    lanes: Lanes,
    attempts: JoinSet<Option<Done>>,
    /// By task, so that an attempt that panics is not lost.
    under_way: HashMap<Id, (Lease, Class)>,
    /// What became of attempts and is not written yet.
    results: Vec<Over>,
    claiming: Hand<Asks, Claimed>,
    settling: Hand<Vec<Over>, Settled>,
    looking: Hand<(), Waiting>,
    is_look_due: bool,
    /// The store did not answer; it is not asked before.
    resting_until: Option<Instant>,
    /// The store did not give out what was leased; no more leases are taken before.
    claims_rest_until: Option<Instant>,
    /// Results could not be written: nothing is claimed before they are, because their leases may have run out.
    is_in_debt: bool,
    /// Where the last look ended.
    looked_behind: String,
}

impl Work {
    fn new(outside: Outside, settings: Settings) -> Self {
        let Outside {
            store,
            connector,
            metrics,
            with_webhooks,
            replica_id,
            background: _,
        } = outside;
        Self {
            lanes: Lanes::new(settings.in_flight),
            way: Arc::new(Way {
                store,
                connector,
                settings,
            }),
            metrics,
            with_webhooks,
            replica_id,
            attempts: JoinSet::new(),
            under_way: HashMap::new(),
            results: Vec::new(),
            claiming: None,
            settling: None,
            looking: None,
            is_look_due: false,
            resting_until: None,
            claims_rest_until: None,
            is_in_debt: false,
            looked_behind: String::new(),
        }
    }

    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let store = self.way.store.clone();
            let timer = self.until_timer();
            // All set out again after whatever has come: under load no branch keeps another from its turn.
            tokio::select! {
                biased;
                () = told(&mut stopped) => break,
                woken = outbox::woken(&store) => {
                    for id in &woken.endpoints {
                        self.lanes.wake(id);
                    }
                    if woken.everywhere {
                        looks.reset_immediately();
                    }
                }
                _ = looks.tick() => self.is_look_due = true,
                ((), found) = done(&mut self.looking) => self.looked(found),
                (over, settled) = done(&mut self.settling) => self.settled(over, settled),
                (asks, claimed) = done(&mut self.claiming) => self.claimed(asks.as_slice(), claimed),
                Some(ended) = self.attempts.join_next_with_id() => self.ended(ended),
                () = tokio::time::sleep(timer) => {}
            }
            self.set_out();
        }
        self.leave().await;
    }

    /// Until something is due by itself: a lane's timer, or the end of a rest.
    fn until_timer(&self) -> Duration {
        // A claim on its way is followed by the next one, which looks at the timers; so are debts.
        let timer = self
            .lanes
            .next_timer()
            .filter(|_| self.claiming.is_none() && !self.is_in_debt);
        let lane = timer.map(|at| {
            let wait_ms = at.0.saturating_sub(moment::now().0).max(0);
            Duration::from_millis(wait_ms.unsigned_abs())
        });
        let rest = self
            .resting_until
            .or(self.claims_rest_until)
            .map(|until| until.saturating_duration_since(Instant::now()));
        // Whoever rests has no use for the timers of lanes.
        rest.or(lane).unwrap_or(LOOK_EVERY).min(LOOK_EVERY)
    }

    /// Looks for endpoints at which something waits.
    fn look(&self) -> BoxFuture<'static, CameTo<(), Waiting>> {
        let (way, behind) = (Arc::clone(&self.way), self.looked_behind.clone());
        Box::pin(async move {
            let found = outbox::waiting(&way.store, &behind, LOOKED_AT).await;
            ((), found)
        })
    }

    fn looked(&mut self, found: Result<Waiting, StoreError>) {
        let what = "what is due could not be looked for";
        self.way.store.told(what, &found);
        let Ok(found) = found else { return };
        let now = moment::now();
        let mut overdue_ms = 0;
        for (id, due_at) in &found {
            overdue_ms = overdue_ms.max(now.0.saturating_sub(due_at.0));
            if *due_at <= now {
                self.lanes.wake(id);
            } else if due_at.0 <= now.0.saturating_add(NEAR_MS) {
                self.lanes.wake_at(id, *due_at);
            }
        }
        self.metrics
            .overdue_seconds
            .set(overdue_ms.div_euclid(svc_core::time::MS_PER_SECOND));
        let is_whole = found.len() < LOOKED_AT as usize;
        self.looked_behind = match found.into_iter().next_back() {
            Some((last, _)) if !is_whole => last,
            _ => String::new(),
        };
    }

    /// Gives each hand that is free what there is to do.
    fn set_out(&mut self) {
        while let Some(ended) = self.attempts.try_join_next_with_id() {
            self.ended(ended);
        }
        if self.looking.is_none() && std::mem::take(&mut self.is_look_due) {
            self.looking = Some(self.look());
        }
        if !is_over(&mut self.resting_until) {
            return;
        }
        if self.settling.is_none() && !self.results.is_empty() {
            let rest = self.results.split_off(self.results.len().min(RESULTS));
            let over = std::mem::replace(&mut self.results, rest);
            self.settling = Some(self.settle(over));
        }
        if self.claiming.is_none() && !self.is_in_debt && is_over(&mut self.claims_rest_until) {
            let asks = self.lanes.asks(moment::now());
            if !asks.is_empty() {
                self.claiming = Some(self.claim(asks));
            }
        }
    }

    fn settle(&self, over: Vec<Over>) -> BoxFuture<'static, CameTo<Vec<Over>, Settled>> {
        let (way, replica_id) = (Arc::clone(&self.way), self.replica_id.clone());
        let done = over.iter().map(|(done, _)| done.clone()).collect();
        Box::pin(async move {
            let settled = outbox::settle(&way.store, &replica_id, moment::now(), done).await;
            (over, settled)
        })
    }

    fn claim(&self, asks: Asks) -> BoxFuture<'static, CameTo<Asks, Claimed>> {
        let (way, replica_id) = (Arc::clone(&self.way), self.replica_id.clone());
        let wanted = asks.iter().map(|(ask, _)| ask.clone()).collect();
        let tiers = (self.with_webhooks)();
        Box::pin(async move {
            let now = moment::now();
            let claimed = outbox::claim(&way.store, &replica_id, now, tiers, wanted).await;
            (asks, claimed)
        })
    }

    /// The store did not answer.
    fn rest(&mut self) {
        self.resting_until = Some(Instant::now() + AFTER_TROUBLE);
    }

    /// Results are written: their places are free.
    fn settled(&mut self, over: Vec<Over>, settled: Result<Settled, StoreError>) {
        let what = "what became of deliveries could not be written yet";
        self.way.store.told(what, &settled);
        let Settled {
            disabled,
            late,
            held,
        } = match settled {
            Ok(settled) => settled,
            Err(_) => {
                self.results.splice(0..0, over);
                self.is_in_debt = true;
                return self.rest();
            }
        };
        self.is_in_debt = false;
        for (done, class) in over {
            let Done {
                lease,
                attempt,
                next,
            } = done;
            let pace = match next {
                Next::Delivered if attempt.duration_ms < SLOW => Pace::Quick,
                Next::Delivered => Pace::Slow,
                Next::Retry { .. } | Next::Exhausted | Next::Gone => Pace::Failed,
            };
            if let Next::Retry { due_at } = next {
                self.lanes.wake_at(&lease.endpoint_id, due_at);
            }
            self.lanes.finished(&lease.endpoint_id, class, pace);
        }
        for id in &held {
            self.lanes.wake(id);
        }
        self.metrics.late.inc_by(late as u64);
        for (id, reason) in disabled {
            let word = reason.word();
            tracing::warn!(
                endpoint = id,
                reason = word,
                "a webhook endpoint was disabled"
            );
            self.metrics.disabled.with_label_values(&[word]).inc();
        }
    }

    /// Leases are taken: attempts begin.
    fn claimed(&mut self, asks: &[(Ask, Class)], claimed: Result<Claimed, StoreError>) {
        let what = "deliveries could not be taken from the outbox yet";
        self.way.store.told(what, &claimed);
        let Claimed { due, lanes } = match claimed {
            Ok(claimed) => claimed,
            Err(_) => {
                self.lanes.not_taken(asks);
                return self.rest();
            }
        };
        self.lanes.taken(asks, &lanes);
        for due in due {
            let class = asks
                .iter()
                .find(|(ask, _)| ask.endpoint_id == due.lease.endpoint_id)
                .map_or(Class::Usual, |(_, class)| *class);
            let lease = due.lease.clone();
            let way = Arc::clone(&self.way);
            let task = self.attempts.spawn(async move { attempt(&way, due).await });
            self.under_way.insert(task.id(), (lease, class));
        }
        self.count();
    }

    fn count(&self) {
        let under_way = i64::try_from(self.under_way.len()).unwrap_or(i64::MAX);
        self.metrics.in_flight.set(under_way);
    }

    /// An attempt is over, however.
    fn ended(&mut self, ended: Result<(Id, Option<Done>), JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, Ok(done)),
            Err(error) => (error.id(), Err(error)),
        };
        let Some((lease, class)) = self.under_way.remove(&id) else {
            return;
        };
        let done = match done {
            Ok(Some(done)) => done,
            // Whatever else is taken now would only be put off until its lease has run out, too. Results are written.
            Ok(None) => {
                self.lanes
                    .not_attempted(&lease.endpoint_id, class, lease.until);
                self.claims_rest_until = Some(Instant::now() + AFTER_TROUBLE);
                return self.count();
            }
            // A panic is a defect of ours: the delivery is tried again when its lease has run out.
            Err(_) => {
                tracing::error!(delivery = lease.delivery_id, "an attempt panicked");
                self.lanes.finished(&lease.endpoint_id, class, Pace::Failed);
                return self.count();
            }
        };
        let Attempt {
            started_at,
            duration_ms,
            error,
            ..
        } = &done.attempt;
        if lease.number == 1 {
            let waited_ms = started_at.0.saturating_sub(lease.created_at.0).max(0);
            let waited = Duration::from_millis(waited_ms.unsigned_abs());
            self.metrics
                .first_attempt_seconds
                .observe(waited.as_secs_f64());
        }
        let outcome = error.map_or("delivered", |error| error.word());
        self.metrics.attempts.with_label_values(&[outcome]).inc();
        let took = Duration::from_millis(u64::from(*duration_ms));
        self.metrics.attempt_seconds.observe(took.as_secs_f64());
        if done.next == Next::Exhausted {
            self.metrics.exhausted.inc();
        }
        self.results.push((done, class));
        self.count();
    }

    /// The end: what is over is written, the rest is handed back.
    async fn leave(mut self) {
        let until = Instant::now() + GRACE;
        // No lease may come after the others are handed back.
        if self.claiming.is_some() {
            drop(done(&mut self.claiming).await);
        }
        if self.settling.is_some() {
            let (over, settled) = done(&mut self.settling).await;
            if settled.is_err() {
                self.results.splice(0..0, over);
            }
        }
        while let Ok(Some(ended)) =
            tokio::time::timeout_at(until, self.attempts.join_next_with_id()).await
        {
            self.ended(ended);
        }
        self.attempts.shutdown().await;
        let (store, replica_id) = (&self.way.store, &self.replica_id);
        let results = self.results.into_iter().map(|(done, _)| done).collect();
        let written = outbox::settle(store, replica_id, moment::now(), results).await;
        if let Err(error) = written {
            tracing::warn!(%error, "the last deliveries could not be noted; they are made again");
        }
        match outbox::hand_back(store, replica_id, moment::now()).await {
            Ok(0) => {}
            Ok(leases) => tracing::info!(leases, "handed deliveries back"),
            Err(error) => tracing::warn!(%error, "leases could not be handed back; they run out"),
        }
    }
}

/// Waits until the dispatcher is to end.
async fn told(stopped: &mut watch::Receiver<bool>) {
    // Whoever has dropped the other end will not say so any more: then it goes on.
    if stopped.wait_for(|stopped| *stopped).await.is_err() {
        std::future::pending().await
    }
}

/// 1 s: what is due sooner than the look after the next gets a timer.
const NEAR_MS: i64 = 1_000;

/// Counts what waits, and removes what has been over for long.
async fn upkeep(store: Store, metrics: Metrics, mut stopped: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(COUNT_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut counts = 0_u32;
    loop {
        tokio::select! {
            biased;
            () = told(&mut stopped) => return,
            _ = ticks.tick() => {}
        }
        let waiting = outbox::depth(&store, COUNTED).await;
        store.told("what waits could not be counted", &waiting);
        if let Ok(waiting) = waiting {
            let waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
            metrics.waiting.set(waiting);
        }
        if counts.is_multiple_of(COUNTS_PER_SWEEP) {
            sweep(&store).await;
        }
        counts = counts.wrapping_add(1);
    }
}

/// Whether a rest has ended, or there is none.
fn is_over(rest: &mut Option<Instant>) -> bool {
    if rest.is_some_and(|until| until > Instant::now()) {
        return false;
    }
    *rest = None;
    true
}

/// Removes a batch at a time, so that the writer is free in between.
async fn sweep(store: &Store) {
    loop {
        let removed = webhook_delivery::sweep(store, moment::now()).await;
        let what = "deliveries that are over could not be removed yet";
        store.told(what, &removed);
        if matches!(removed, Ok(0) | Err(_)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use prometheus::Registry;
    use svc_core::secret::Mode;
    use svc_pipeline::upstream::{InboundResponse, OutboundRequest, Target, UpstreamError};
    use svc_store::StoreOptions;
    use svc_store::master_key::MasterKey;
    use svc_store::outbox::Trigger;

    use super::*;

    /// Reaches nobody.
    struct Nowhere;

    impl Connector for Nowhere {
        fn send(
            &self,
            _: Arc<Target>,
            _: OutboundRequest,
        ) -> BoxFuture<'static, Result<InboundResponse, UpstreamError>> {
            Box::pin(std::future::pending())
        }
    }

    async fn work(folder: &std::path::Path) -> Work {
        let url = format!("sqlite://{}/store.db", folder.display());
        let (options, master) = (StoreOptions::default(), MasterKey::from_bytes([7; 32]));
        let background = Handle::current();
        let store = Store::open(&url, options, master, &background).await;
        let outside = Outside {
            store: store.unwrap(),
            connector: Arc::new(Nowhere),
            metrics: Metrics::register(&Registry::new()).unwrap(),
            with_webhooks: Arc::new(|| Tier::ALL.to_vec()),
            replica_id: "replica".to_owned(),
            background,
        };
        Work::new(outside, Settings::default())
    }

    /// The end of an attempt at a delivery.
    async fn end(work: &mut Work, lease: Lease, done: Option<Done>) {
        let task = work.attempts.spawn(async { done });
        work.under_way.insert(task.id(), (lease, Class::Usual));
        let ended = work.attempts.join_next_with_id().await.unwrap();
        work.ended(ended);
    }

    #[tokio::test]
    async fn what_could_not_be_attempted_is_a_rest_and_no_first_attempt() {
        let folder = tempfile::tempdir().unwrap();
        let mut work = work(folder.path()).await;
        let now = moment::now();
        let lease = Lease {
            delivery_id: "delivery".to_owned(),
            endpoint_id: "endpoint".to_owned(),
            org_id: "org".to_owned(),
            mode: Mode::Live,
            until: now.plus_ms(outbox::LEASE_MS),
            number: 1,
            scheduled_number: 1,
            triggered_by: Trigger::Schedule,
            created_at: now.plus_ms(-2_000),
        };
        let done = Done {
            lease: lease.clone(),
            attempt: Attempt {
                started_at: now,
                duration_ms: 1,
                status_code: Some(200),
                error: None,
                address: None,
            },
            next: Next::Delivered,
        };
        let firsts = work.metrics.first_attempt_seconds.clone();
        end(&mut work, lease.clone(), None).await;
        assert!(work.claims_rest_until.is_some());
        assert!(work.results.is_empty());
        assert_eq!(firsts.get_sample_count(), 0);
        end(&mut work, lease, Some(done)).await;
        assert_eq!(work.results.len(), 1);
        // What else was attempted is written meanwhile.
        work.set_out();
        assert!(work.settling.is_some() && work.results.is_empty());
        assert_eq!(
            (firsts.get_sample_count(), firsts.get_sample_sum()),
            (1, 2.0)
        );
    }
}
