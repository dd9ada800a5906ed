//! Memory of a guest that lives for one call or one run.
//!
//! Rust's own allocator starts with nothing and asks the host for every page. For the host, growing a memory and
//! taking it back means two changes of page protection, which every thread of the gateway has to wait for; in an
//! instance that lives for microseconds they cost more than the work. A guest of ours declares all that it may ever
//! use as its first memory instead. Pages that are not touched cost nothing.

#[cfg(target_family = "wasm")]
pub use talc;

/// Declares the guest's heap, in bytes. What goes beyond it fails the call, as the memory limit of the manifest does;
/// the limit must leave room for the heap, the stack and the static data.
#[macro_export]
macro_rules! heap {
    ($bytes:expr) => {
        #[cfg(target_family = "wasm")]
        #[global_allocator]
        static HEAP: $crate::talc::wasm::WasmArenaTalc = {
            use core::mem::MaybeUninit;
            static mut MEMORY: [MaybeUninit<u8>; $bytes] = [MaybeUninit::uninit(); $bytes];
            // SAFETY: only the allocator knows this memory.
            unsafe { $crate::talc::wasm::new_wasm_arena_allocator(&raw mut MEMORY) }
        };
    };
}
