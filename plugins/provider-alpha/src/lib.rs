//! Provider driver for kind A, the Messages wire format.
//!
//! A pure translation: canonical request to upstream request, upstream frames to canonical events. It knows no
//! address and no credential, and no word of the provider's error texts leaves it.

pub mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/provider"],
        world: "gateway:provider/provider-driver-counting",
        generate_all,
    });
}

mod config;
mod count;
mod fault;
mod ids;
mod request;
mod response;
pub mod run;
mod turns;
mod wire;

use bindings::exports::gateway::plugin::lifecycle;
use bindings::exports::gateway::provider::driver;
use bindings::gateway::plugin::types::PluginKind;
use bindings::gateway::provider::types::{AuthScheme, DriverInfo, Features, ProviderKind};

struct Alpha;

impl lifecycle::Guest for Alpha {
    fn describe() -> lifecycle::Manifest {
        lifecycle::Manifest {
            id: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: PluginKind::ProviderDriver,
            api: "0.1.0".to_owned(),
            config_schema: config::SCHEMA.as_bytes().to_vec(),
            counters: Vec::new(),
            ext: Vec::new(),
        }
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
            wants_headers: vec![
                response::CONTENT_TYPE.to_owned(),
                fault::RETRY_AFTER.to_owned(),
                fault::RETRY_AFTER_MS.to_owned(),
            ],
            ext: Vec::new(),
        }
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Alpha with_types_in bindings);
