//! Where the allocator gets memory from: the declared one first, then the host.

use core::alloc::Layout;
use core::arch::wasm32::memory_grow;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use talc::base::Talc;
use talc::base::binning::Binning;
use talc::source::Source;

/// Bytes of a page of WebAssembly.
const PAGE_BYTES: usize = 64 * 1024;
/// More than the allocator needs around one allocation.
const OVERHEAD_BYTES: usize = 1024;

/// A first memory, and what is grown when it is full.
#[derive(Debug)]
pub struct FirstThenGrown {
    /// Until it is claimed.
    first: Option<(*mut u8, usize)>,
    /// End of the heap that grows.
    end: Option<NonNull<u8>>,
    bytes: usize,
    most_bytes: usize,
}

// SAFETY: a guest has one thread.
unsafe impl Send for FirstThenGrown {}

impl FirstThenGrown {
    /// # Safety
    /// Nobody else may use `first`.
    pub const unsafe fn new<const N: usize>(
        first: *mut [MaybeUninit<u8>; N],
        most_bytes: usize,
    ) -> Self {
        Self {
            first: Some((first.cast(), N)),
            end: None,
            bytes: N,
            most_bytes,
        }
    }

    /// Pages to ask for, as many as there are already where that suffices; 0 where no more are allowed.
    fn pages_for(&self, layout: Layout) -> usize {
        let needed = layout.size().saturating_add(layout.align());
        let needed = needed.saturating_add(OVERHEAD_BYTES).div_ceil(PAGE_BYTES);
        let left = self.most_bytes.saturating_sub(self.bytes) / PAGE_BYTES;
        needed.max(self.bytes / PAGE_BYTES).min(left)
    }
}

// SAFETY: it uses no other allocator.
unsafe impl Source for FirstThenGrown {
    /// Adds memory, or says that there is none; being asked again ends with the one or the other.
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        if let Some((base, bytes)) = talc.source.first.take() {
            // SAFETY: it is this allocator's alone (`new`).
            return unsafe { talc.claim(base, bytes) }.map(drop).ok_or(());
        }
        let pages = talc.source.pages_for(layout);
        if pages == 0 {
            return Err(());
        }
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * PAGE_BYTES) as *mut u8;
        let bytes = pages * PAGE_BYTES;
        talc.source.bytes += bytes;
        let goes_on = |end: &NonNull<u8>| end.as_ptr() == base;
        talc.source.end = match talc.source.end.take().filter(goes_on) {
            // SAFETY: the host has just added it behind the heap's end, and nobody else grows this memory.
            Some(end) => Some(unsafe { talc.extend(end, base.wrapping_add(bytes)) }),
            // SAFETY: as above; it is a heap by itself.
            None => unsafe { talc.claim(base, bytes) },
        };
        talc.source.end.map(drop).ok_or(())
    }
}
