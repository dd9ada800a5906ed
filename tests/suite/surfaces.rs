//! The three inference surfaces beside one another, and the two provider kinds: frozen transcripts, and what holds for
//! every conversation and every reply.

mod edges;
mod faults;
mod replies;
mod requests;
mod transcripts;
mod vendors;
