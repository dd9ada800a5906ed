//! The sealer: makes audit rows leaves of the log's tree and signs its checkpoints, on the background runtime, beside
//! the requests (contract 14.4). Each replica has one; the lock of the tree's row keeps them apart.

use std::sync::Arc;
use std::time::Duration;

use svc_core::checkpoint::Signer;
use svc_core::id::IdKind;
use svc_store::audit_tree::{self, Passed};
use svc_store::{StoreError, audit_key};
use tokio::time::{Instant, MissedTickBehavior};

use crate::gateway::Gateway;
use crate::moment;

/// A checkpoint a second, when there is something new (contract 14.4).
const SEAL_EVERY: Duration = Duration::from_secs(1);
/// Rows sealed at once. Requests share writer and processor with the sealer: 64 rows keep one waiting for 2 ms at most,
/// where a second's worth of them was what the slowest hundredth of all requests waited for (decision 28).
const AT_ONCE: u32 = 64;
const BETWEEN: Duration = Duration::from_millis(5);
/// Where more rows wait than half of [`SEAL_EVERY`] is enough for, the log must not fall behind.
const AT_ONCE_WHEN_LATE: u32 = 512;
/// Looks for rows that were removed before they were sealed, once more at what was passed as such, and for a new
/// signing key, once in so many rounds.
const ROUNDS_PER_CHECK: u32 = 60;
/// How a log is called, before an identifier that is made with its key.
const ORIGIN: &str = "svc-gateway/audit/";

/// Opens the signing key, which the first start of a deployment makes, and keeps sealing.
///
/// # Errors
/// When the key cannot be opened: a gateway that cannot sign its audit log does not start.
pub(crate) async fn start(gateway: &Arc<Gateway>) -> Result<(), StoreError> {
    let origin = format!("{ORIGIN}{}", moment::id(IdKind::Bare));
    let mut signer = audit_key::open(&gateway.store, &origin, moment::now()).await?;
    let sealing = Arc::clone(gateway);
    gateway.background.spawn(async move {
        let mut ticks = tokio::time::interval(SEAL_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut rounds, mut all_sealed_at) = (0_u32, moment::now());
        let mut passed = Passed::default();
        loop {
            ticks.tick().await;
            match seal(&sealing, &signer, &mut passed).await {
                Round::Left => return,
                Round::AllSealed => all_sealed_at = moment::now(),
                Round::Behind => {}
            }
            let lag_ms = moment::now().0.saturating_sub(all_sealed_at.0);
            sealing.metrics.audit_seal_lag.set(lag_ms / 1_000);
            rounds = (rounds + 1) % ROUNDS_PER_CHECK;
            if rounds == 0 {
                passed = Passed::default();
                check(&sealing).await;
                // The store may have a new key meanwhile (`svc_store::signing_key::rotate`).
                let current = audit_key::open(&sealing.store, &origin, moment::now()).await;
                let what = "the signing key of the audit log could not be read again";
                sealing.store.told(what, &current);
                if let Ok(current) = current {
                    signer = current;
                }
            }
        }
    });
    Ok(())
}

/// How far sealing came.
enum Round {
    AllSealed,
    Behind,
    /// The store is closed: this replica has left.
    Left,
}

/// Seals until nothing waits.
async fn seal(gateway: &Gateway, signer: &Signer, passed: &mut Passed) -> Round {
    let began = Instant::now();
    loop {
        let is_late = began.elapsed() > SEAL_EVERY / 2;
        let most = if is_late { AT_ONCE_WHEN_LATE } else { AT_ONCE };
        let sealed = audit_tree::seal(&gateway.store, signer, moment::now(), most, *passed).await;
        let what = "audit rows could not be sealed yet";
        gateway.store.told(what, &sealed);
        if let Ok(sealed) = &sealed {
            *passed = sealed.passed;
            if sealed.replaced > 0 {
                gateway.metrics.audit_replaced.inc_by(sealed.replaced);
                tracing::error!(
                    rows = sealed.replaced,
                    "audit rows stand in the place of sealed ones: somebody has written past the gateway"
                );
            }
        }
        match sealed {
            Ok(sealed) if sealed.more && is_late => {}
            Ok(sealed) if sealed.more => tokio::time::sleep(BETWEEN).await,
            Ok(_) => return Round::AllSealed,
            Err(StoreError::Closed) => return Round::Left,
            Err(_) => return Round::Behind,
        }
    }
}

async fn check(gateway: &Gateway) {
    let lost = audit_tree::lost(&gateway.store).await;
    let what = "the rows that wait to be sealed could not be checked";
    gateway.store.told(what, &lost);
    if let Ok(rows @ 1..) = lost {
        tracing::error!(rows, "audit rows were removed before they were sealed");
    }
}
