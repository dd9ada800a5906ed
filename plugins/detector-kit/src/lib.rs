//! What every PHI detector in Rust needs beside its rules: the interface's bindings, findings and their kinds, what a
//! plugin tells of itself, the test that it runs on itself at admission, the words that its tests are written in.
//! Knows no kind of PHI.
//!
//! A detector implements [`Detector`] and ends with
//!
//! ```text
//! detector_kit::detector!(MyDetector, heap_bytes = 8 * 1024 * 1024);
//! ```

/// World `gateway:phi/phi-detector`.
pub mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/phi"],
        world: "gateway:phi/phi-detector",
        generate_all,
        pub_export_macro: true,
        default_bindings_module: "detector_kit::bindings",
    });
}

pub mod cases;
mod detector;
mod finding;

pub use bindings::exports::gateway::phi::detector::Segment;
pub use bindings::gateway::phi::types::SegmentOrigin;
pub use detector::{Detector, Guest, SelfTest, in_each, is_behind_its_key, is_definition, part};
pub use finding::{Finding, Kind};
#[doc(hidden)]
pub use guest_memory;

/// Makes the crate's plugin of a [`Detector`], under the crate's own name and version. `heap_bytes` is what its heap
/// may grow to; the manifest's `memory-mib` must leave room for it, the stack (256 KiB) and the tables.
#[macro_export]
macro_rules! detector {
    ($detector:ty, heap_bytes = $bytes:expr) => {
        $crate::guest_memory::heap!($bytes);

        /// What the gateway calls.
        pub type Plugin = $crate::Guest<$detector>;

        #[cfg(target_family = "wasm")]
        $crate::bindings::export!(Plugin with_types_in $crate::bindings);
    };
}
