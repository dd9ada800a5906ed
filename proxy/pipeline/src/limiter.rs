//! Rate limits and places in flight (contract 6): counted here, or in counters that all replicas share.
//!
//! While shared counters do not answer, this replica counts by itself, with its part of every limit (contract 19.5):
//! never without one. No request waits twice for counters that are down; a look every second finds out when they are
//! back.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use prometheus::IntGauge;
use svc_core::fault::Fault;
use svc_core::id::IdKind;
use svc_core::limit::{Rule, Verdict, share};
use svc_store::StoreError;
use svc_store::limit::{Answer, Asked, Counters, MAX_TAKES, Memory, Place, Placed, Take};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::moment;

/// 2 s: counters that take longer are as good as down.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Leases are 5 min (contract 6); four chances to extend one.
pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(60);
/// A second after the counters are back, requests are counted there again.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// 10 min: the database reads every bucket for it, because an index would be one more thing to write with each request.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// Places whose release failed and is tried again; more of them end with their lease.
const MAX_UNRELEASED: usize = 10_000;

/// Counts requests and places in flight, for every caller of this replica.
pub struct Limiter {
    own: Memory,
    shared: Option<Shared>,
    /// How many replicas were alive when the store was last asked.
    replicas: AtomicU32,
}

struct Shared {
    counters: Counters,
    is_down: AtomicBool,
    /// 1 while this replica counts by itself.
    down: IntGauge,
    places: Mutex<Places>,
    /// Told after every release.
    release: Notify,
    background: Handle,
}

/// Places of this replica in shared counters: buckets by id.
#[derive(Default)]
struct Places {
    held: HashMap<String, String>,
    unreleased: HashMap<String, String>,
    /// Ids of places that are being given back, by bucket; no bucket is empty.
    releasing: HashMap<String, HashSet<String>>,
}

/// A request that wants to pass.
pub(crate) struct Admission<'a> {
    pub(crate) takes: &'a [Take<'a>],
    /// Bucket and limit of a place in flight.
    pub(crate) place: Option<(&'a str, u32)>,
}

/// What became of it.
pub(crate) struct Admitted {
    /// In the order of the takes; none behind the first that denied.
    pub(crate) verdicts: [Option<Verdict>; MAX_TAKES],
    /// Where a place was asked for and every take allowed.
    pub(crate) place: Option<Result<Slot, Full>>,
}

/// Every place is taken.
pub(crate) struct Full {
    pub(crate) limit: u32,
    pub(crate) in_flight: u32,
}

/// A place among the requests in flight; dropping it makes room for the next one.
pub struct Slot {
    limiter: Arc<Limiter>,
    bucket: String,
    id: String,
    is_shared: bool,
}

impl Limiter {
    /// Counts in this process alone.
    pub fn alone() -> Self {
        Self {
            own: Memory::default(),
            shared: None,
            replicas: AtomicU32::new(1),
        }
    }

    /// Counts in counters that all replicas share. `down` is set to 1 while they do not answer.
    pub fn sharing(counters: Counters, down: IntGauge, background: Handle) -> Self {
        let shared = Shared {
            counters,
            is_down: AtomicBool::new(false),
            down,
            places: Mutex::default(),
            release: Notify::new(),
            background,
        };
        Self {
            shared: Some(shared),
            ..Self::alone()
        }
    }

    /// Takes one request out of each bucket until one denies, then a place. Who asks for a place has to run this where
    /// no disconnect reaches it: a place that was taken and not heard of is lost until its lease ends.
    pub(crate) async fn admit(self: &Arc<Self>, asked: &Admission<'_>, now_us: i64) -> Admitted {
        let id = asked.place.map(|_| moment::id(IdKind::Bare));
        if let Some(shared) = &self.shared
            && !shared.is_down.load(Ordering::Acquire)
        {
            let everything = everything(asked, id.as_deref(), now_us);
            match shared.take(&everything).await {
                Ok(answer) => return self.admitted(answer, asked, id, true),
                Err(error) => {
                    shared.lost(&error);
                    // Whether the place was taken is not known.
                    if let (Some(id), Some((bucket, _))) = (&id, asked.place) {
                        shared.keep_unreleased(bucket, id);
                    }
                }
            }
        }
        self.admit_alone(asked, id, now_us)
    }

    /// Takes one request out of one bucket, wherever buckets are counted.
    ///
    /// # Errors
    /// 500: a take without a verdict, which there is not.
    pub async fn take(self: &Arc<Self>, bucket: &str, rule: Rule) -> Result<Verdict, Fault> {
        let takes = [Take { bucket, rule }];
        let asked = Admission {
            takes: &takes,
            place: None,
        };
        let admitted = self.admit(&asked, moment::now_us()).await;
        let [verdict, ..] = admitted.verdicts;
        verdict.ok_or_else(|| Fault::internal("a take without a verdict"))
    }

    /// Counts here: all of it, or this replica's part while shared counters are down.
    fn admit_alone(
        self: &Arc<Self>,
        asked: &Admission<'_>,
        id: Option<String>,
        now_us: i64,
    ) -> Admitted {
        let replicas = match &self.shared {
            Some(_) => self.replicas.load(Ordering::Relaxed),
            None => 1,
        };
        if replicas == 1 {
            let answer = self.own.take(&everything(asked, id.as_deref(), now_us));
            return self.admitted(answer, asked, id, false);
        }
        let parts = asked.takes.iter().map(|take| Take {
            bucket: take.bucket,
            rule: take.rule.shared_by(replicas),
        });
        let parts: Vec<Take<'_>> = parts.collect();
        let part = Admission {
            takes: &parts,
            place: asked
                .place
                .map(|(bucket, limit)| (bucket, share(limit, replicas))),
        };
        let answer = self.own.take(&everything(&part, id.as_deref(), now_us));
        self.admitted(answer, &part, id, false)
    }

    fn admitted(
        self: &Arc<Self>,
        answer: Answer,
        asked: &Admission<'_>,
        id: Option<String>,
        is_shared: bool,
    ) -> Admitted {
        let Answer { verdicts, place } = answer;
        let place = match (place, asked.place, id) {
            (Some(Placed::Taken), Some((bucket, _)), Some(id)) => {
                if let (true, Some(shared)) = (is_shared, &self.shared) {
                    let mut places = shared.places.lock();
                    places.held.insert(id.clone(), bucket.to_owned());
                }
                Some(Ok(Slot {
                    limiter: Arc::clone(self),
                    bucket: bucket.to_owned(),
                    id,
                    is_shared,
                }))
            }
            (Some(Placed::Full(in_flight)), Some((_, limit)), _) => {
                Some(Err(Full { limit, in_flight }))
            }
            _ => None,
        };
        Admitted { verdicts, place }
    }

    /// Takes one request out of a bucket of this replica alone.
    pub(crate) fn take_here(&self, bucket: &str, rule: Rule, now_us: i64) -> Verdict {
        self.own.take_one(bucket, rule, now_us)
    }

    /// Whether the next request would pass a bucket of this replica, without taking it.
    pub(crate) fn peek_here(&self, bucket: &str, rule: Rule, now_us: i64) -> Verdict {
        self.own.peek(bucket, rule, now_us)
    }

    /// How many replicas are alive: the divisor of every limit while shared counters are down.
    pub(crate) fn knows_replicas(&self, alive: u64) {
        let alive = u32::try_from(alive).unwrap_or(u32::MAX);
        self.replicas.store(alive.max(1), Ordering::Relaxed);
    }

    /// Finds out whether counters that were down are back.
    pub(crate) async fn look(&self) {
        let Some(shared) = &self.shared else { return };
        if shared.is_down.load(Ordering::Acquire)
            && shared.in_time(shared.counters.ping()).await.is_ok()
        {
            shared.is_down.store(false, Ordering::Release);
            shared.down.set(0);
            tracing::info!("the counters of rate limits answer again");
        }
    }

    /// Extends the leases of places that are held, after giving back those whose release had failed.
    pub(crate) async fn renew(&self, now_us: i64) {
        let Some(shared) = &self.shared else { return };
        let (held, unreleased) = {
            let places = shared.places.lock();
            (listed(&places.held), listed(&places.unreleased))
        };
        for (bucket, id) in unreleased {
            if shared.counters.release(&bucket, &id).await.is_err() {
                return;
            }
            shared.places.lock().unreleased.remove(&id);
        }
        if held.is_empty() {
            return;
        }
        if let Err(error) = shared.counters.renew(&held, now_us).await
            && !shared.is_down.load(Ordering::Acquire)
        {
            tracing::warn!(%error, "leases of requests in flight could not be extended yet");
        }
    }

    /// Removes buckets that are as good as fresh.
    pub(crate) async fn sweep(&self, now_us: i64) {
        let Some(shared) = &self.shared else { return };
        loop {
            match shared.counters.sweep(now_us).await {
                Ok(0) => return,
                Ok(_) => {}
                // What is down has been said.
                Err(_) if shared.is_down.load(Ordering::Acquire) => return,
                Err(error) => {
                    tracing::warn!(%error, "idle rate-limit buckets could not be removed yet");
                    return;
                }
            }
        }
    }
}

fn everything<'a>(asked: &Admission<'a>, id: Option<&'a str>, now_us: i64) -> Asked<'a> {
    let place = asked.place.zip(id);
    Asked {
        takes: asked.takes,
        place: place.map(|((bucket, limit), id)| Place { id, bucket, limit }),
        now_us,
    }
}

fn listed(places: &HashMap<String, String>) -> Vec<(String, String)> {
    let pairs = places.iter();
    pairs
        .map(|(id, bucket)| (bucket.clone(), id.clone()))
        .collect()
}

impl Shared {
    async fn take(&self, asked: &Asked<'_>) -> Result<Answer, StoreError> {
        let mut answer = self.in_time(self.counters.take(asked)).await?;
        let (Some(Placed::Full(_)), Some(place)) = (answer.place, asked.place) else {
            return Ok(answer);
        };
        // Who has had an answer may ask again at once: its place is given back beside it.
        let under_way = self.places.lock().releasing.get(place.bucket).cloned();
        if let Some(under_way) = under_way {
            self.in_time(self.released(place.bucket, &under_way))
                .await?;
            let again = Asked {
                takes: &[],
                ..*asked
            };
            answer.place = self.in_time(self.counters.take(&again)).await?.place;
        }
        Ok(answer)
    }

    /// Waits until none of these places of a bucket is being given back; never for others, of which a busy bucket
    /// always has some.
    async fn released(&self, bucket: &str, ids: &HashSet<String>) -> Result<(), StoreError> {
        loop {
            let mut release = pin!(self.release.notified());
            release.as_mut().enable();
            let is_over = {
                let places = self.places.lock();
                let under_way = places.releasing.get(bucket);
                under_way.is_none_or(|under_way| under_way.is_disjoint(ids))
            };
            if is_over {
                return Ok(());
            }
            release.await;
        }
    }

    async fn give_back(&self, bucket: &str, id: &str) {
        let released = self.in_time(self.counters.release(bucket, id)).await;
        if released.is_err() {
            self.keep_unreleased(bucket, id);
        }
        let mut places = self.places.lock();
        if let Some(under_way) = places.releasing.get_mut(bucket) {
            under_way.remove(id);
            if under_way.is_empty() {
                places.releasing.remove(bucket);
            }
        }
        drop(places);
        self.release.notify_waiters();
    }

    async fn in_time<T>(
        &self,
        answer: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, answer).await;
        answer.unwrap_or_else(|_| Err(StoreError::Counters("no answer in time".to_owned())))
    }

    fn lost(&self, error: &StoreError) {
        if !self.is_down.swap(true, Ordering::AcqRel) {
            self.down.set(1);
            tracing::error!(%error, "the counters of rate limits do not answer; this replica counts its part by itself");
        }
    }

    fn keep_unreleased(&self, bucket: &str, id: &str) {
        let mut places = self.places.lock();
        if places.unreleased.len() < MAX_UNRELEASED {
            places.unreleased.insert(id.to_owned(), bucket.to_owned());
        }
    }
}

impl Slot {
    /// Gives the place back and waits until every replica sees that: whoever has the answer then may ask any of them
    /// at once. Waits no longer than for any answer of the counters.
    pub(crate) async fn give_back(self) {
        let (limiter, bucket) = (Arc::clone(&self.limiter), self.bucket.clone());
        let own = HashSet::from([self.id.clone()]);
        let shared = limiter.shared.as_ref().filter(|_| self.is_shared);
        drop(self);
        if let Some(shared) = shared {
            // What does not come back in time is given back all the same, and again until it is.
            let _ = shared.in_time(shared.released(&bucket, &own)).await;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(shared) = self.limiter.shared.as_ref().filter(|_| self.is_shared) else {
            self.limiter.own.release(&self.bucket, &self.id);
            return;
        };
        {
            let mut places = shared.places.lock();
            places.held.remove(&self.id);
            let under_way = places.releasing.entry(self.bucket.clone()).or_default();
            under_way.insert(self.id.clone());
        }
        let limiter = Arc::clone(&self.limiter);
        let (bucket, id) = (
            std::mem::take(&mut self.bucket),
            std::mem::take(&mut self.id),
        );
        shared.background.spawn(async move {
            if let Some(shared) = &limiter.shared {
                shared.give_back(&bucket, &id).await;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use futures_util::FutureExt as _;

    use super::*;

    const BUCKET: &str = "key:agc_a";

    #[tokio::test]
    async fn who_gives_a_place_back_waits_for_no_other() {
        let counters = Counters::redis("redis://127.0.0.1:1").unwrap();
        let down = IntGauge::new("down", "down").unwrap();
        let limiter = Limiter::sharing(counters, down, Handle::current());
        let shared = limiter.shared.as_ref().unwrap();
        let ids =
            |ids: &[&str]| -> HashSet<String> { ids.iter().map(|id| (*id).to_owned()).collect() };
        let under_way = ids(&["mine", "other"]);
        shared
            .places
            .lock()
            .releasing
            .insert(BUCKET.to_owned(), under_way);
        let mine = ids(&["mine"]);
        let mut waiting = pin!(shared.released(BUCKET, &mine));
        assert!(waiting.as_mut().now_or_never().is_none());
        // Nothing listens there: the place is kept for a later attempt, and is no longer under way.
        shared.give_back(BUCKET, "mine").await;
        assert!(matches!(waiting.as_mut().now_or_never(), Some(Ok(()))));
        let places = shared.places.lock();
        assert_eq!(places.releasing.get(BUCKET), Some(&ids(&["other"])));
        assert!(places.unreleased.contains_key("mine"));
    }
}
