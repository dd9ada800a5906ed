//! How a commit wakes the dispatcher of its own process. Other replicas look by themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::Store;
use crate::org_key::KeyRing;

/// What a transaction is given to publish with.
pub(crate) struct Outlet {
    pub(super) ring: Arc<KeyRing>,
    /// Endpoints that may have something due once the transaction is durable.
    pub(super) touched: Mutex<BTreeSet<String>>,
}

/// Endpoints of committed transactions that nobody has asked for yet.
#[derive(Default)]
pub(crate) struct Wakes {
    waiting: Mutex<Woken>,
    bell: Notify,
}

/// Where something may be due.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Ids of endpoints.
    pub endpoints: BTreeSet<String>,
    /// More endpoints than are remembered by name: look everywhere.
    pub everywhere: bool,
}

/// Endpoints that are remembered by name, 30 bytes each.
const REMEMBERED: usize = 10_000;

impl Outlet {
    pub(crate) fn new(ring: Arc<KeyRing>) -> Self {
        Self {
            ring,
            touched: Mutex::default(),
        }
    }
}

impl Wakes {
    /// Takes over what a transaction has touched, which is durable now.
    pub(crate) fn ring(&self, outlet: &Outlet) {
        let touched = std::mem::take(&mut *outlet.touched.lock());
        if touched.is_empty() {
            return;
        }
        let mut waiting = self.waiting.lock();
        waiting.endpoints.extend(touched);
        if waiting.endpoints.len() > REMEMBERED {
            waiting.endpoints.clear();
            waiting.everywhere = true;
        }
        drop(waiting);
        self.bell.notify_one();
    }
}

/// Waits for transactions of this process that published something, and tells where. For one dispatcher.
pub async fn woken(store: &Store) -> Woken {
    loop {
        let woken = std::mem::take(&mut *store.wakes.waiting.lock());
        if woken != Woken::default() {
            return woken;
        }
        // A bell that rang in between is remembered by `Notify`.
        store.wakes.bell.notified().await;
    }
}
