//! What every provider driver in Rust needs beside its wire format: the interface's bindings, the course of a run,
//! failures in machine words, tool-call ids, JSON that passes untouched. Knows no provider's words.
//!
//! A driver implements [`Exchange`] and the two `Guest` traits of [`bindings`], names `Run<ItsExchange>` as its run
//! and ends with
//!
//! ```text
//! #[cfg(target_family = "wasm")]
//! driver_kit::bindings::export!(MyDriver with_types_in driver_kit::bindings);
//! ```

/// World `gateway:provider/provider-driver`.
pub mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/provider"],
        world: "gateway:provider/provider-driver",
        generate_all,
        pub_export_macro: true,
        default_bindings_module: "driver_kit::bindings",
    });
}

/// What world `gateway:provider/provider-driver-counting` has beyond [`bindings`], over the same types: a driver that
/// counts tokens exports both.
pub mod counting {
    wit_bindgen::generate!({
        inline: "
            package gateway:driver-kit;
            world counting { export gateway:provider/token-count@0.1.0; }
        ",
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/provider"],
        world: "gateway:driver-kit/counting",
        with: {
            "gateway:plugin/types@0.1.0": crate::bindings::gateway::plugin::types,
            "gateway:provider/types@0.1.0": crate::bindings::gateway::provider::types,
        },
        pub_export_macro: true,
        default_bindings_module: "driver_kit::counting",
    });
}

pub mod fault;
mod ids;
pub mod json;
mod lifecycle;
mod request;
mod run;
pub mod stop;
mod user;

pub use ids::{Ids, hash};
pub use lifecycle::{describe, no_configuration, self_test};
pub use request::{check_documents, is_tool_name, post};
pub use run::{Exchange, Run, wanted_headers};
pub use user::user_id;
