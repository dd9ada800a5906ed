//! A guest's instance: its store, its limits, and how a call of it can end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use prometheus::IntCounter;
use wasmtime::component::{Instance, InstancePre, Linker};
use wasmtime::{
    Engine, Error, PoolConcurrencyLimitError, ResourceLimiter, Store, Trap, UpdateDeadline,
};

use crate::bindings::plugin as wit;
use crate::budget::Budget;
use crate::engine::TABLE_ELEMENTS;
use crate::error::{KillReason, PluginError};
use crate::ticker::Ticker;

/// What one plugin may use: the smaller of manifest and ceilings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: usize,
    pub(crate) call: Duration,
    pub(crate) configure: Duration,
    pub(crate) output_bytes: usize,
    /// Instances at work, of all plugins, up to which one may wait for more to do.
    pub(crate) patient_instances: u64,
}

/// The data of a store. There is nothing in it that a guest could ask for.
pub(crate) struct Inside {
    /// What its memories may still grow by, all of them together.
    memory_left: usize,
    budget: Arc<Budget>,
    counters: Arc<[IntCounter]>,
    /// How often the running call may still count; 0 outside serving calls, where no import may be called.
    counts_left: u32,
}

/// Counter calls of one guest call that are taken; the rest is dropped (plugin.wit).
const MAX_COUNTS_PER_CALL: u32 = 64;
/// What one counter call adds at most (plugin.wit).
const MAX_COUNT_DELTA: u32 = 1_000;

/// A component that is linked and checked, ready for instances.
pub(crate) struct Mould {
    engine: Engine,
    pre: InstancePre<Inside>,
    lifecycle: wit::exports::gateway::plugin::lifecycle::GuestIndices,
    limits: Limits,
    configuration: Vec<u8>,
    ticker: Arc<Ticker>,
    /// By the index that `counters.add` takes; empty until admission is over.
    counters: Arc<[IntCounter]>,
}

/// One live instance.
pub(crate) struct Cell {
    pub(crate) store: Store<Inside>,
    pub(crate) instance: Instance,
    budget: Arc<Budget>,
    limits: Limits,
}

/// What one call of a guest may take.
pub(crate) struct Allowance<'a> {
    budget: &'a Budget,
    limit: Duration,
}

/// Links the two imports that a guest may have.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<Inside>, Error> {
    let mut linker = Linker::new(engine);
    wit::EveryPlugin::add_to_linker::<_, wasmtime::component::HasSelf<_>>(
        &mut linker,
        |inside: &mut Inside| inside,
    )?;
    Ok(linker)
}

impl wit::gateway::plugin::types::Host for Inside {}

impl wit::gateway::plugin::counters::Host for Inside {
    fn add(&mut self, id: u16, delta: u32) {
        let Some(left) = self.counts_left.checked_sub(1) else {
            return;
        };
        self.counts_left = left;
        if let Some(counter) = self.counters.get(usize::from(id)) {
            counter.inc_by(u64::from(delta.min(MAX_COUNT_DELTA)));
        }
    }
}

/// Does nothing in a serving gateway: text of a guest that saw content goes nowhere (plugin.wit).
impl wit::gateway::plugin::devlog::Host for Inside {
    fn log(&mut self, _level: wit::gateway::plugin::devlog::Level, _message: String) {}
}

impl Mould {
    pub(crate) fn new(
        pre: InstancePre<Inside>,
        limits: Limits,
        configuration: Vec<u8>,
        ticker: &Arc<Ticker>,
    ) -> Result<Self, Error> {
        let lifecycle = wit::exports::gateway::plugin::lifecycle::GuestIndices::new(&pre)?;
        Ok(Self {
            engine: pre.engine().clone(),
            pre,
            lifecycle,
            limits,
            configuration,
            ticker: Arc::clone(ticker),
            counters: Arc::default(),
        })
    }

    /// The same mould, whose instances count.
    pub(crate) fn counting(self, counters: Arc<[IntCounter]>) -> Self {
        Self { counters, ..self }
    }

    pub(crate) fn pre(&self) -> &InstancePre<Inside> {
        &self.pre
    }

    /// A fresh instance, not configured.
    pub(crate) async fn blank(&self) -> Result<Cell, Error> {
        let budget = Arc::new(Budget::new(Arc::clone(&self.ticker)));
        let inside = Inside {
            memory_left: self.limits.memory_bytes,
            budget: Arc::clone(&budget),
            counters: Arc::clone(&self.counters),
            counts_left: 0,
        };
        let mut store = Store::new(&self.engine, inside);
        store.limiter(|inside| inside);
        store.set_hostcall_fuel(self.limits.output_bytes);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|inside| {
            if inside.data().budget.is_spent() {
                Err(Error::new(Spent))
            } else {
                Ok(UpdateDeadline::Yield(1))
            }
        });
        let start = self.pre.instantiate_async(&mut store);
        let instance = budget.within(self.limits.configure, start).await?;
        Ok(Cell {
            store,
            instance,
            budget,
            limits: self.limits,
        })
    }

    /// A fresh instance that has taken its configuration; the inner error is the guest's refusal of it.
    pub(crate) async fn configured(
        &self,
    ) -> Result<Result<Cell, wit::exports::gateway::plugin::lifecycle::ConfigError>, Error> {
        let mut cell = self.blank().await?;
        let lifecycle = self.lifecycle(&mut cell)?;
        let configure = lifecycle.call_configure(&mut cell.store, &self.configuration);
        Ok(cell
            .budget
            .within(self.limits.configure, configure)
            .await?
            .map(|()| cell))
    }

    /// As [`Self::configured`], for a plugin whose configuration was taken at admission.
    pub(crate) async fn ready(&self) -> Result<Cell, PluginError> {
        match self.configured().await {
            Ok(Ok(cell)) => Ok(cell),
            Ok(Err(_)) => Err(PluginError::Contract(
                "the configuration was refused after admission",
            )),
            Err(error) => Err(classify(&error)),
        }
    }

    /// Whether an instance may be kept while it has nothing to do: there are plenty for others.
    pub(crate) fn has_room(&self) -> bool {
        let pool = self.engine.pooling_allocator_metrics();
        pool.is_some_and(|pool| pool.component_instances() <= self.limits.patient_instances)
    }

    /// What every instance is configured with.
    pub(crate) fn configuration(&self) -> &[u8] {
        &self.configuration
    }

    /// The functions that every plugin has, on one instance.
    pub(crate) fn lifecycle(
        &self,
        cell: &mut Cell,
    ) -> Result<wit::exports::gateway::plugin::lifecycle::Guest, Error> {
        self.lifecycle.load(&mut cell.store, &cell.instance)
    }
}

impl Cell {
    /// Readies the store for a call that serves a request and hands over so many bytes: each MiB of them adds the
    /// time of a call.
    pub(crate) fn serving(&mut self, given: usize) -> (&mut Store<Inside>, Allowance<'_>) {
        const MIB: usize = 1024 * 1024;
        self.store.data_mut().counts_left = MAX_COUNTS_PER_CALL;
        let times = u32::try_from(given / MIB).unwrap_or(u32::MAX);
        self.allowing(self.limits.call.saturating_mul(times.saturating_add(1)))
    }

    /// Readies the store for a call of the admission.
    pub(crate) fn admitting(&mut self) -> (&mut Store<Inside>, Allowance<'_>) {
        self.allowing(self.limits.configure)
    }

    fn allowing(&mut self, limit: Duration) -> (&mut Store<Inside>, Allowance<'_>) {
        self.store.set_epoch_deadline(1);
        let budget = &self.budget;
        (&mut self.store, Allowance { budget, limit })
    }
}

impl<'a> Allowance<'a> {
    /// Makes the call.
    pub(crate) fn spend<T, F>(self, call: F) -> impl Future<Output = F::Output> + use<'a, T, F>
    where
        F: Future<Output = Result<T, Error>> + 'a,
    {
        self.budget.within(self.limit, call)
    }

    /// Makes a call that serves a request: what ended the guest is in words of our own.
    pub(crate) fn serve<T, F>(
        self,
        call: F,
    ) -> impl Future<Output = Result<T, PluginError>> + use<'a, T, F>
    where
        F: Future<Output = Result<T, Error>> + 'a,
    {
        self.spend(call)
            .map(|answer| answer.map_err(|error| classify(&error)))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the guest used up its computing time")]
struct Spent;

#[derive(Debug, thiserror::Error)]
#[error("the guest asked for more memory than its limit")]
struct TooMuchMemory;

/// Growing beyond the limit ends the guest: one that is told `-1` would go on half-served.
impl ResourceLimiter for Inside {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let left = self
            .memory_left
            .checked_sub(desired.saturating_sub(current));
        self.memory_left = left.ok_or_else(|| Error::new(TooMuchMemory))?;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS {
            Err(Error::new(TooMuchMemory))
        } else {
            Ok(true)
        }
    }
}

/// What ended a guest. The error's own text may quote the guest and goes nowhere.
pub(crate) fn classify(error: &Error) -> PluginError {
    if error.is::<Spent>() {
        return PluginError::Killed(KillReason::Deadline);
    }
    if error.is::<TooMuchMemory>() {
        return PluginError::Killed(KillReason::Memory);
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return PluginError::Exhausted;
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => PluginError::Killed(KillReason::Stack),
        Some(Trap::Interrupt) => PluginError::Killed(KillReason::Deadline),
        Some(_) => PluginError::Killed(KillReason::Trap),
        // wasmtime keeps the type of this one to itself.
        None if format!("{error:#}").contains("too much data is being copied") => {
            PluginError::Killed(KillReason::Output)
        }
        None => PluginError::Sandbox,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_memories_of_a_guest_share_one_limit() {
        let ticker = Arc::new(Ticker::start(|| {}).unwrap());
        let mut inside = Inside {
            memory_left: 100,
            budget: Arc::new(Budget::new(ticker)),
            counters: Arc::default(),
            counts_left: 0,
        };
        for (current, desired) in [(0, 40), (0, 40), (40, 60)] {
            assert!(inside.memory_growing(current, desired, None).unwrap());
        }
        let more = inside.memory_growing(40, 41, None).unwrap_err();
        assert_eq!(
            classify(&more),
            PluginError::Killed(KillReason::Memory),
            "{more}"
        );
    }
}
