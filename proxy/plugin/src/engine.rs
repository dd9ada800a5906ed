//! The one engine and its configuration.

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
};

use crate::host::Ceilings;
use crate::ticker::Ticker;

/// Deepest stack of a guest, and of the fibre that it runs on (the host's own frames need the difference).
const GUEST_STACK_BYTES: usize = 512 * 1024;
const FIBRE_STACK_BYTES: usize = 1024 * 1024;
/// Memory of a slot that stays mapped for the next instance (wasm notes 8: 1 to 4 MiB).
const KEEP_RESIDENT_BYTES: usize = 1024 * 1024;
/// Entries of a table are pointers; what lies beyond this is given back to the system.
const TABLE_KEEP_RESIDENT_BYTES: usize = 64 * 1024;
/// A component of one guest language has its core module, a shim and a fix-up; interpreters have more.
const CORE_INSTANCES_PER_COMPONENT: u32 = 32;
const CORE_INSTANCES_PER_SLOT: u32 = 4;
/// Function-table entries of one module: a large interpreter has about ten thousand.
pub(crate) const TABLE_ELEMENTS: usize = 20_000;

/// Makes the engine and starts its ticker.
///
/// # Errors
/// When neither allocation strategy works or no thread can be made.
pub(crate) fn open(
    ceilings: &Ceilings,
) -> Result<(Engine, Ticker), Box<dyn std::error::Error + Send + Sync>> {
    let engine = match Engine::new(base().allocation_strategy(pooling(ceilings))) {
        Ok(engine) => engine,
        Err(error) => {
            // A pool reserves terabytes of address space, which some containers refuse (wasm notes 9).
            tracing::warn!(%error, "no pool of plugin instances; instances are made on demand");
            Engine::new(&base())?
        }
    };
    let ticked = engine.clone();
    let ticker = Ticker::start(move || ticked.increment_epoch())?;
    Ok((engine, ticker))
}

fn base() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .concurrency_support(false)
        .epoch_interruption(true)
        .cranelift_opt_level(OptLevel::Speed)
        .memory_init_cow(true)
        .relaxed_simd_deterministic(true)
        .wasm_memory64(false)
        .max_wasm_stack(GUEST_STACK_BYTES)
        .async_stack_size(FIBRE_STACK_BYTES);
    config
}

fn pooling(ceilings: &Ceilings) -> InstanceAllocationStrategy {
    let instances = ceilings.instances;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES_PER_SLOT))
        .total_memories(instances)
        .total_tables(instances.saturating_mul(CORE_INSTANCES_PER_SLOT))
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_tables_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memory_size(ceilings.memory_mib as usize * 1024 * 1024)
        .table_elements(TABLE_ELEMENTS)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES)
        // Where the kernel can tell, only pages that the guest wrote are put back.
        .pagemap_scan(Enabled::Auto);
    InstanceAllocationStrategy::Pooling(pool)
}
