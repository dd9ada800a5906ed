//! Provider driver for kind B, the chat-completions wire format.
//!
//! A pure translation: canonical request to upstream request, upstream chunks to canonical events. It knows no
//! address and no credential, and no word of the provider's error texts leaves it.

pub mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/provider"],
        world: "gateway:provider/provider-driver",
        generate_all,
    });
}

mod calls;
mod fault;
mod ids;
mod media;
mod messages;
mod request;
mod response;
pub mod run;
mod wire;

use bindings::exports::gateway::plugin::lifecycle;
use bindings::exports::gateway::provider::driver;
use bindings::gateway::plugin::types::PluginKind;
use bindings::gateway::provider::types::{AuthScheme, DriverInfo, Features, ProviderKind};

struct Beta;

impl lifecycle::Guest for Beta {
    fn describe() -> lifecycle::Manifest {
        lifecycle::Manifest {
            id: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: PluginKind::ProviderDriver,
            api: "0.1.0".to_owned(),
            config_schema: Vec::new(),
            counters: Vec::new(),
            ext: Vec::new(),
        }
    }

    fn configure(config: Vec<u8>) -> Result<(), lifecycle::ConfigError> {
        let fields: Result<serde_json::Map<String, serde_json::Value>, _> =
            serde_json::from_slice(&config);
        match fields {
            Ok(fields) if fields.is_empty() => Ok(()),
            _ => Err(lifecycle::ConfigError {
                path: String::new(),
                message: "this driver takes no configuration".to_owned(),
            }),
        }
    }

    fn self_test() -> Result<(), String> {
        run::self_test()
    }
}

impl driver::Guest for Beta {
    type Run = run::Run;

    fn info() -> DriverInfo {
        let lacking = Features::DOCUMENT_URLS
            | Features::REASONING
            | Features::REASONING_BUDGET
            | Features::PROMPT_CACHE
            | Features::TOP_K
            | Features::TOKEN_COUNT;
        DriverInfo {
            kind: ProviderKind::B,
            auth: AuthScheme::Header(("authorization".to_owned(), "Bearer {secret}".to_owned())),
            features: Features::all() - lacking,
            wants_headers: vec![
                run::CONTENT_TYPE.to_owned(),
                fault::RETRY_AFTER.to_owned(),
                fault::RETRY_AFTER_MS.to_owned(),
            ],
            ext: Vec::new(),
        }
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Beta with_types_in bindings);
