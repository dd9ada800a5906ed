//! The integration tests: one binary, because linking is the slow part. Each file is one subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

mod control;
mod counting;
mod crash;
mod dashboard;
mod departure;
mod disconnect;
mod engines;
mod events;
// How guests are built stands beside the build script that ships them.
mod faults;
#[path = "../../proxy/gateway/build/guest.rs"]
mod guest;
mod idempotency;
mod incoming;
mod legible;
mod limits;
mod load;
mod native;
mod oauth;
mod openapi;
mod operations;
mod phi;
mod recomputation;
mod record_events;
mod refusal;
mod reload;
mod solve;
mod structure;
mod surfaces;
mod trail;
mod upstream;
mod walk;
mod webhooks;
