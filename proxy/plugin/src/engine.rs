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
/// A component of one guest language has its core module, a shim and a fix-up; an interpreter with its libraries is
/// linked of dozens (Python without any of others: 38). They are counted: none takes memory before it is made.
const CORE_INSTANCES_PER_COMPONENT: u32 = 128;
/// A guest language has one; each reserves address space.
const MEMORIES_PER_COMPONENT: u32 = 4;
/// Of the guest and of the shim that links it.
const TABLES_PER_COMPONENT: u32 = 32;
const TABLES_PER_SLOT: u32 = 4;
/// What the host keeps of one instance with all its modules; taken when it is made.
const INSTANCE_BYTES: usize = 1024 * 1024;
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
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES_PER_COMPONENT))
        .total_memories(instances)
        .total_tables(instances.saturating_mul(TABLES_PER_SLOT))
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_memory_size(ceilings.memory_mib as usize * 1024 * 1024)
        .table_elements(TABLE_ELEMENTS)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES)
        // Where the kernel can tell, only pages that the guest wrote are put back.
        .pagemap_scan(Enabled::Auto);
    InstanceAllocationStrategy::Pooling(pool)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use wasmtime::Store;
    use wasmtime::component::{Component, Linker};

    use super::*;

    /// A component that makes so many instances (at most 127) of an empty module.
    fn of_modules(count: u8) -> Vec<u8> {
        let preamble = [b"\0asm".as_slice(), &[0x0d, 0, 1, 0]].concat();
        let module = [&[1, 8], b"\0asm".as_slice(), &[1, 0, 0, 0]].concat();
        // Instantiate module 0 with nothing.
        let made = [0, 0, 0].repeat(count.into());
        // The length in two groups of seven bits.
        let bytes = made.len() + 1;
        let length = [(bytes % 128) as u8 | 0x80, (bytes / 128) as u8];
        [
            preamble,
            module,
            vec![2],
            length.to_vec(),
            vec![count],
            made,
        ]
        .concat()
    }

    #[tokio::test]
    async fn a_component_of_as_many_modules_as_an_interpreter_has_is_made() {
        let ceilings = Ceilings {
            instances: 2,
            ..Ceilings::default()
        };
        let (engine, _ticker) = open(&ceilings).unwrap();
        assert!(engine.pooling_allocator_metrics().is_some());
        let component = Component::new(&engine, of_modules(120)).unwrap();
        let linker = Linker::<()>::new(&engine);
        // Two at once, and none of them keeps the other out.
        let mut stores = [(), ()].map(|()| Store::new(&engine, ()));
        for store in &mut stores {
            store.set_epoch_deadline(1_000);
            let made = linker.instantiate_async(store, &component).await;
            assert!(made.is_ok(), "{made:?}");
        }
    }
}
