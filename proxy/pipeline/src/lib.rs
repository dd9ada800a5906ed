//! The way of a request: an [`exchange`] runs through the filters that its policy names and ends in a handler.
//!
//! Knows no pingora, no SQL and no wasmtime: the edge brings requests in ([`request`]), takes responses out
//! ([`response`]) and reaches upstreams ([`upstream`]).

pub mod request;
pub mod response;
pub mod upstream;
