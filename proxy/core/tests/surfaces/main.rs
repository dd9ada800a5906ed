//! What the compat surfaces write, bytes in and bytes out: transcripts that are frozen, and what holds for
//! every reply whatever the order of its events.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod chat_completions;
mod messages;
mod replies;
mod requests;
mod transcripts;
