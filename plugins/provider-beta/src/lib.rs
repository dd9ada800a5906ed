//! Provider driver for kind B, the chat-completions wire format.
//!
//! A pure translation: canonical request to upstream request, upstream chunks to canonical events. It knows no
//! address and no credential, and no word of the provider's error texts leaves it.

mod calls;
mod fault;
mod ids;
mod media;
mod messages;
mod request;
mod response;
pub mod run;
mod schema;
mod wire;

pub use driver_kit::bindings;

use bindings::exports::gateway::plugin::lifecycle;
use bindings::exports::gateway::provider::driver;
use bindings::gateway::provider::types::{AuthScheme, DriverInfo, Features, ProviderKind};

// The manifest allows 256 MiB in all.
guest_memory::heap!(240 * 1024 * 1024);

pub struct Beta;

impl lifecycle::Guest for Beta {
    fn describe() -> lifecycle::Manifest {
        driver_kit::describe(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), "")
    }

    fn configure(config: Vec<u8>) -> Result<(), lifecycle::ConfigError> {
        driver_kit::no_configuration(&config)
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
            wants_headers: driver_kit::wanted_headers(),
            ext: Vec::new(),
        }
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Beta with_types_in bindings);
