//! The plugin platform: the only crate that knows wasmtime.
//!
//! A plugin is a component and a manifest in a folder of its own. [`PluginHost`] watches that folder, admits
//! what it finds and hands out [`Detector`]s and [`Driver`]s; a caller pins one version for as long as it holds
//! the `Arc`. Nothing here opens a connection, holds a provider's secret or keeps text beyond one call.

mod admission;
mod bindings;
mod budget;
mod cache;
mod detector;
mod driver;
mod engine;
mod error;
mod host;
mod manifest;
mod metrics;
mod offsets;
mod regular;
mod sandbox;
mod scan;
mod signature;
mod status;
mod ticker;
mod version;
mod watch;
mod windows;

pub use detector::{Detector, Hints, Reader, Segment, Span, in_order};
pub use driver::{
    AuthPlacement, Driver, DriverFailure, DriverFault, DriverFaultKind, DriverRequest, DriverRun,
    Framing, StreamEnd, TokenAnswer, UpstreamRequest,
};
pub use error::{AdmissionError, Failed, KillReason, PluginError, PluginKind};
pub use host::{Ceilings, HostOptions, OpenError, PluginHost};
pub use manifest::SECRET;
pub use regular::{open_regular, read_regular};
pub use scan::left_out;
pub use signature::{SignaturePolicy, TrustRoot};
pub use status::{PluginStatus, PluginVersion, State, StatusEvent};
pub use windows::Window;
