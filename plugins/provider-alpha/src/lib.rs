//! Provider driver for kind A, the Messages wire format.
//!
//! A pure translation: canonical request to upstream request, upstream frames to canonical events. It knows no
//! address and no credential, and no word of the provider's error texts leaves it.

mod config;
mod count;
mod fault;
mod ids;
mod request;
mod response;
pub mod run;
mod schema;
mod turns;
mod wire;

pub use driver_kit::bindings;

use bindings::exports::gateway::plugin::lifecycle;
use bindings::exports::gateway::provider::driver;
use bindings::gateway::provider::types::{AuthScheme, DriverInfo, Features, ProviderKind};

// The manifest allows 256 MiB in all.
guest_memory::heap!(240 * 1024 * 1024);

pub struct Alpha;

impl lifecycle::Guest for Alpha {
    fn describe() -> lifecycle::Manifest {
        let version = env!("CARGO_PKG_VERSION");
        driver_kit::describe(env!("CARGO_PKG_NAME"), version, config::SCHEMA)
    }

    fn configure(config: Vec<u8>) -> Result<(), lifecycle::ConfigError> {
        config::set(&config)
    }

    fn self_test() -> Result<(), String> {
        run::self_test()
    }
}

impl driver::Guest for Alpha {
    type Run = run::Run;

    fn info() -> DriverInfo {
        DriverInfo {
            kind: ProviderKind::A,
            auth: AuthScheme::Header(("x-api-key".to_owned(), "{secret}".to_owned())),
            features: Features::all() - Features::JSON_OBJECT,
            wants_headers: driver_kit::wanted_headers(),
            ext: Vec::new(),
        }
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Alpha with_types_in bindings);
#[cfg(target_family = "wasm")]
driver_kit::counting::export!(Alpha with_types_in driver_kit::counting);
