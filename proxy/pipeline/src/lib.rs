//! The way of a request: an [`exchange`] runs through the filters that its policy names and ends in a handler.
//!
//! Knows no pingora, no SQL and no wasmtime: the edge brings requests in ([`request`]), takes responses out
//! ([`response`]) and reaches upstreams ([`upstream`]).

pub mod applications;
pub mod arrival;
pub mod budget;
pub mod caller;
mod clearance;
pub mod conversation;
mod estimate;
pub mod exchange;
pub mod fact;
pub mod feature;
pub mod filter;
pub mod gateway;
pub mod handler;
pub mod idempotency;
pub mod inference;
pub mod inside;
pub mod integration;
mod lately;
pub mod limiter;
pub mod meter;
pub mod metrics;
pub mod moment;
pub mod openid;
pub mod owed;
pub mod phi;
mod place;
pub mod policy;
pub mod provider;
pub mod recomputation;
mod reply;
pub mod request;
pub mod response;
pub mod role;
mod sealer;
pub mod service;
pub mod standing;
pub mod strangers;
pub mod trail;
pub mod upkeep;
pub mod upstream;
