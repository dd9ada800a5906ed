//! The only wasmtime.
