//! The integration tests: one binary, because linking is the slow part. Each file is one subject.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

mod crash;
mod disconnect;
mod engines;
mod native;
mod phi;
mod refusal;
mod trail;
mod upstream;
