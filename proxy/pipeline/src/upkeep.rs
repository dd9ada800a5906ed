//! What goes on beside the requests: the replica's lease, recovery of what dead replicas left open, the counted
//! failing authentications, the sealing of the audit log, and the end of what is kept for a time only.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use svc_core::time::Timestamp;
use svc_store::clock::Clock;
use svc_store::{
    Store, StoreError, idempotency, oauth_authorization, recovery, replica, retention, session,
};
use tokio::time::MissedTickBehavior;

use crate::gateway::Gateway;
use crate::strangers::FLUSH_EVERY;
use crate::{limiter, moment, recomputation, sealer};

/// A replica that has not been heard of for this long is dead; its open intents may be closed.
const LEASE_MS: i64 = 15_000;
const LEASE: Duration = Duration::from_millis(LEASE_MS as u64);
/// Three chances to renew within one lease.
const RENEW_EVERY: Duration = Duration::from_secs(4);
const RECOVER_EVERY: Duration = Duration::from_secs(5);
/// Nobody waits for room in the database; what is over is not used from its last second on.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Retention counts days.
const EXPIRE_EVERY: Duration = Duration::from_secs(3_600);
/// The sums of a cycle are kept by the transactions that post; this looks for what should never be.
const RECOMPUTE_EVERY: Duration = Duration::from_secs(600);
/// A cycle that is over is looked at for another day: runs that began in it end then at the latest.
const RECOMPUTED_FOR_MS: i64 = svc_core::time::MS_PER_DAY;

/// Enters this replica, and keeps its lease, recovery and the counts going on the background runtime. Must
/// have returned before the first request: what a replica without a lease opens counts as abandoned.
///
/// # Errors
/// When the store does not take the lease.
pub async fn start(gateway: &Arc<Gateway>) -> Result<(), StoreError> {
    renew(gateway).await?;
    repeat(gateway, RENEW_EVERY, |gateway| async move {
        let renewed = renew(&gateway).await;
        if !gateway.pulse.has_left() {
            let what = "the replica's lease could not be renewed";
            gateway.store.told(what, &renewed);
        }
    });
    repeat(gateway, RECOVER_EVERY, |gateway| async move {
        recover(&gateway).await;
    });
    repeat(gateway, FLUSH_EVERY, |gateway| async move {
        flush(&gateway).await;
    });
    repeat(gateway, SWEEP_EVERY, |gateway| async move {
        sweep(&gateway).await;
    });
    repeat(gateway, limiter::SWEEP_EVERY, |gateway| async move {
        gateway.limiter.sweep(moment::now_us()).await;
    });
    repeat(gateway, RECOMPUTE_EVERY, |gateway| async move {
        recompute(&gateway).await;
    });
    repeat(gateway, limiter::LOOK_EVERY, |gateway| async move {
        gateway.limiter.look().await;
    });
    repeat(gateway, limiter::RENEW_EVERY, |gateway| async move {
        gateway.limiter.renew(moment::now_us()).await;
    });
    repeat(gateway, EXPIRE_EVERY, |gateway| async move {
        expire(&gateway).await;
    });
    sealer::start(gateway).await?;
    Ok(())
}

/// When this replica last renewed its lease, from when on it may take others for dead, and whether the store takes what
/// is written at all.
#[derive(Default)]
pub struct Pulse(Mutex<Beat>);

#[derive(Default)]
struct Beat {
    renewed: Option<Instant>,
    may_recover_from: Option<Instant>,
    /// When the renewal that is under way began.
    asked: Option<Instant>,
    /// Why the last renewal did not pass.
    refused: Option<String>,
    /// The lease is given back, and the store closes.
    has_left: bool,
}

/// 2 s: a commit takes milliseconds; whoever waits longer waits for a lock, or for a disk that has stopped.
const SLOW_RENEWAL: Duration = Duration::from_secs(2);

impl Pulse {
    /// Why nothing can be written to the store as far as this replica knows: a full disk and a lock of somebody else
    /// let everybody read. `None` where the last renewal passed and none has been waiting for more than 2 s.
    pub fn refusal(&self, now: Instant) -> Option<String> {
        let beat = self.0.lock();
        let is_slow = |asked: Instant| now.saturating_duration_since(asked) >= SLOW_RENEWAL;
        match &beat.refused {
            Some(why) => Some(format!("nothing can be written: {why}")),
            None if beat.asked.is_some_and(is_slow) => {
                Some("a write has waited for more than two seconds".to_owned())
            }
            None => None,
        }
    }

    /// Nothing goes on beside requests any more: there are none.
    fn leaves(&self) {
        self.0.lock().has_left = true;
    }

    fn has_left(&self) -> bool {
        self.0.lock().has_left
    }

    /// A renewal begins.
    fn asks(&self, now: Instant) {
        self.0.lock().asked = Some(now);
    }

    /// The renewal that began at `asked` has ended.
    fn answered(&self, asked: Instant, renewed: &Result<(), StoreError>) {
        {
            let mut beat = self.0.lock();
            beat.asked = None;
            beat.refused = renewed.as_ref().err().map(ToString::to_string);
        }
        if renewed.is_ok() {
            self.beats(asked);
        }
    }

    /// The lease was renewed. Where it had run out, the store may have been away from every replica: the others get
    /// their chance to renew theirs. So it may have been before this replica started.
    fn beats(&self, now: Instant) {
        let mut beat = self.0.lock();
        let had_run_out = |last: Instant| now.saturating_duration_since(last) >= LEASE;
        if beat.renewed.is_none_or(had_run_out) {
            beat.may_recover_from = Some(now + LEASE);
        }
        beat.renewed = Some(now);
    }

    /// Whether this replica is alive itself, and has been for as long as it takes others to say the same.
    fn may_recover(&self, now: Instant) -> bool {
        let beat = self.0.lock();
        let is_alive = |last: Instant| now.saturating_duration_since(last) < LEASE;
        beat.renewed.is_some_and(is_alive) && beat.may_recover_from.is_none_or(|from| now >= from)
    }
}

/// Leases go by one clock, wherever the replicas run.
fn now() -> (Clock, Timestamp) {
    (Clock::Server, moment::now())
}

async fn renew(gateway: &Gateway) -> Result<(), StoreError> {
    let asked = Instant::now();
    gateway.pulse.asks(asked);
    let renewed = replica::heartbeat(&gateway.store, &gateway.replica_id, now(), LEASE_MS).await;
    gateway.pulse.answered(asked, &renewed);
    renewed?;
    let alive = replica::count_alive(&gateway.store, now()).await?;
    gateway.limiter.knows_replicas(alive);
    let alive = i64::try_from(alive).unwrap_or(i64::MAX);
    gateway.metrics.replicas.set(alive);
    Ok(())
}

/// The last words of this replica, after its last exchange.
pub async fn finish(gateway: &Arc<Gateway>) {
    let leaving = Arc::clone(gateway);
    let left = gateway.background.spawn(async move {
        settle_rest(&leaving).await;
        flush(&leaving).await;
        leaving.pulse.leaves();
        if let Err(error) = replica::leave(&leaving.store, &leaving.replica_id).await {
            tracing::warn!(%error, "the replica's lease could not be ended; it will run out");
        }
        leaving.store.close().await;
    });
    if let Err(error) = left.await {
        tracing::error!(%error, "the replica did not leave cleanly");
    }
}

/// Settlements of requests whose callers have left may still be on their way.
async fn settle_rest(gateway: &Gateway) {
    for _ in 0..LAST_SETTLEMENT_CHECKS {
        if gateway.owed.count() == 0 {
            return;
        }
        tokio::time::sleep(LAST_SETTLEMENT_PAUSE).await;
    }
    tracing::warn!(
        owed = gateway.owed.count(),
        "left with rows unwritten; recovery will close the runs among them"
    );
}

/// 5 s in all: a settlement is one commit.
const LAST_SETTLEMENT_CHECKS: u32 = 500;
const LAST_SETTLEMENT_PAUSE: Duration = Duration::from_millis(10);

async fn recover(gateway: &Gateway) {
    while gateway.pulse.may_recover(Instant::now()) {
        let recovered = recovery::recover_abandoned(&gateway.store, now()).await;
        let what = "recovery failed; it will be tried again";
        gateway.store.told(what, &recovered);
        match recovered {
            Ok(recovered) => {
                if recovered.abandoned > 0 || recovered.released > 0 {
                    let (abandoned, released) = (recovered.abandoned, recovered.released);
                    tracing::warn!(
                        abandoned,
                        released,
                        "closed what a dead replica had left open"
                    );
                }
                if !recovered.more {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

/// Removes what is over and that nobody asks for any more.
async fn sweep(gateway: &Gateway) {
    let store = &gateway.store;
    let idle_ms = gateway.settings.sessions.idle_ms;
    let what = "idempotency keys that are over could not be removed yet";
    sweep_all(store, what, || idempotency::sweep(store, moment::now())).await;
    let what = "sessions and links that are over could not be removed yet";
    sweep_all(store, what, || {
        session::sweep(store, idle_ms, moment::now())
    })
    .await;
    let what = "authorization requests and codes that are over could not be removed yet";
    sweep_all(store, what, || {
        oauth_authorization::sweep(store, moment::now())
    })
    .await;
}

/// Removes some at a time, so that the writer is free in between, until `some` finds none. `what` says that it could not.
async fn sweep_all<Work>(store: &Store, what: &'static str, some: impl Fn() -> Work)
where
    Work: Future<Output = Result<u64, StoreError>>,
{
    loop {
        let removed = some().await;
        store.told(what, &removed);
        if matches!(removed, Ok(0) | Err(_)) {
            return;
        }
    }
}

/// Removes audit rows and conversations past their retention.
async fn expire(gateway: &Gateway) {
    let expired = retention::expire(&gateway.store, moment::now()).await;
    let what = "what is past its retention could not be removed yet";
    gateway.store.told(what, &expired);
    let Ok(expired) = expired else { return };
    let (audit_rows, conversations) = (expired.audit_rows, expired.conversations);
    if audit_rows > 0 || conversations > 0 {
        tracing::info!(
            audit_rows,
            conversations,
            "removed what is past its retention"
        );
    }
}

/// Sets sums that are not those of the ledger right, and says so.
async fn recompute(gateway: &Gateway) {
    let since = moment::now().plus_ms(-RECOMPUTED_FOR_MS);
    let report = recomputation::recompute(&gateway.store, since).await;
    let what = "usage could not be recomputed; it will be tried again";
    gateway.store.told(what, &report);
    if let Ok(report) = report {
        let drifts = report.drifts.len() as u64;
        gateway.metrics.usage_drifts.inc_by(drifts);
    }
}

async fn flush(gateway: &Gateway) {
    let flushed = gateway.strangers.flush(&gateway.store).await;
    let what = "failing authentications could not be recorded yet";
    gateway.store.told(what, &flushed);
}

fn repeat<F, Work>(gateway: &Arc<Gateway>, every: Duration, work: F)
where
    F: Fn(Arc<Gateway>) -> Work + Send + 'static,
    Work: Future<Output = ()> + Send,
{
    let working = Arc::clone(gateway);
    gateway.background.spawn(async move {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if working.pulse.has_left() {
                return;
            }
            work(Arc::clone(&working)).await;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_away_lets_others_come_back_first() {
        let pulse = Pulse::default();
        let start = Instant::now();
        assert!(!pulse.may_recover(start));
        pulse.beats(start);
        // Whoever has just started may be the first one that is back after an outage of the store.
        assert!(!pulse.may_recover(start));
        pulse.beats(start + RENEW_EVERY);
        assert!(!pulse.may_recover(start + RENEW_EVERY));
        let last = start + LEASE;
        pulse.beats(last);
        assert!(pulse.may_recover(last));
        let back = last + LEASE;
        assert!(!pulse.may_recover(back));
        pulse.beats(back);
        assert!(!pulse.may_recover(back));
        pulse.beats(back + RENEW_EVERY);
        assert!(!pulse.may_recover(back + RENEW_EVERY));
        pulse.beats(back + LEASE - RENEW_EVERY);
        assert!(pulse.may_recover(back + LEASE));
    }

    #[test]
    fn a_write_that_fails_or_waits_is_known() {
        let pulse = Pulse::default();
        let start = Instant::now();
        assert_eq!(pulse.refusal(start), None);
        pulse.asks(start);
        assert_eq!(pulse.refusal(start + SLOW_RENEWAL / 2), None);
        assert!(pulse.refusal(start + SLOW_RENEWAL).is_some());
        pulse.answered(start, &Ok(()));
        assert_eq!(pulse.refusal(start + SLOW_RENEWAL), None);
        pulse.asks(start + RENEW_EVERY);
        let full = StoreError::Unavailable("the disk is full".to_owned());
        pulse.answered(start + RENEW_EVERY, &Err(full));
        let why = pulse.refusal(start + RENEW_EVERY);
        assert!(why.is_some_and(|why| why.contains("the disk is full")));
        // A refused renewal is no sign of life.
        assert!(!pulse.may_recover(start + LEASE));
        // The next one has yet to pass.
        pulse.asks(start + LEASE);
        assert!(pulse.refusal(start + LEASE).is_some());
        pulse.answered(start + LEASE, &Ok(()));
        assert_eq!(pulse.refusal(start + LEASE), None);
    }
}
