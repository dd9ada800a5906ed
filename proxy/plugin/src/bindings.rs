//! Host bindings of `wit/v0.1`, one module per interface family so that each is bound by itself.
//!
//! Guests' worlds are wider than these: a guest exports `lifecycle` and one family, and may import counters and
//! the log. Generated code only.

/// What every plugin exports and may import.
pub(crate) mod plugin {
    wasmtime::component::bindgen!({
        inline: "
            package gateway:host;
            world every-plugin {
                import gateway:plugin/counters@0.1.0;
                import gateway:plugin/devlog@0.1.0;
                export gateway:plugin/lifecycle@0.1.0;
            }
        ",
        path: "../../wit/v0.1/plugin",
        exports: { default: async },
    });
}

pub(crate) mod phi {
    wasmtime::component::bindgen!({
        inline: "
            package gateway:host;
            world phi-only { export gateway:phi/detector@0.1.0; }
        ",
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/phi"],
        exports: { default: async },
    });
}

pub(crate) mod provider {
    wasmtime::component::bindgen!({
        inline: "
            package gateway:host;
            world provider-only {
                export gateway:provider/driver@0.1.0;
                export gateway:provider/token-count@0.1.0;
            }
        ",
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/provider"],
        exports: { default: async },
    });
}
