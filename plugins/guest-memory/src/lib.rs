//! Memory of a guest that lives for one call or one run.
//!
//! Rust's own allocator starts with nothing and asks the host for every page. For the host, growing a memory and
//! taking it back means two changes of page protection, which every thread of the gateway has to wait for; in an
//! instance that lives for microseconds they cost more than the work. A guest of ours declares what an ordinary request
//! needs as its first memory instead, and grows by doubling for a large one. The first memory is small, because what
//! the host takes back it first looks through, touched or not.

#[cfg(target_family = "wasm")]
mod source;
#[cfg(target_family = "wasm")]
pub use source::FirstThenGrown;
#[cfg(target_family = "wasm")]
pub use talc;

/// Heap that is there from the start. Together with the stack (256 KiB) and the static data of guests without lists of
/// words it stays well below 2 MiB, which is what one entry of the kernel's page directory covers.
pub const FIRST_BYTES: usize = 768 * 1024;

/// Declares the guest's heap: the most that it may grow to, in bytes. What goes beyond it fails the call, as the memory
/// limit of the manifest does; the limit must leave room for the heap, the stack and the static data.
#[macro_export]
macro_rules! heap {
    ($most_bytes:expr) => {
        #[cfg(target_family = "wasm")]
        #[global_allocator]
        static HEAP: $crate::talc::cell::TalcSyncCell<
            $crate::FirstThenGrown,
            $crate::talc::wasm::WasmBinning,
        > = {
            use core::mem::MaybeUninit;
            static mut MEMORY: [MaybeUninit<u8>; $crate::FIRST_BYTES] =
                [MaybeUninit::uninit(); $crate::FIRST_BYTES];
            // SAFETY: only the allocator knows this memory.
            let source = unsafe { $crate::FirstThenGrown::new(&raw mut MEMORY, $most_bytes) };
            $crate::talc::cell::TalcSyncCell::new_wasm(source)
        };
    };
}
