//! The pure ground of the gateway: types and functions without input, output, clock or async runtime.
//!
//! Everything here takes its time and randomness as arguments, so that every rule can be tested beside
//! itself. Nothing here knows SQL, Wasm, HTTP connections or configuration files.

pub mod address;
pub mod audit_leaf;
pub mod chat;
pub mod checkpoint;
pub mod entity;
pub mod fault;
pub mod gcra;
pub mod grant;
pub mod id;
pub mod json;
pub mod limit;
pub mod merkle;
pub mod metering;
pub mod money;
pub mod oauth;
pub mod phi;
pub mod plan;
pub mod query;
pub mod scope;
pub mod secret;
pub mod sse;
pub mod surface;
pub mod time;
pub mod version;
pub mod webhook;
