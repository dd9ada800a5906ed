//! The harness of the integration tests: starts the real programs (gateway, fake provider, PostgreSQL) and
//! looks at what they do from the outside: bytes on sockets, rows in databases, lines in logs. Of the gateway it
//! links the pure core, for its tables, and the store, for settings that are sealed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what goes wrong in a harness is a failed test, said at once"
)]

pub mod books;
pub mod browser;
pub mod database;
pub mod dns;
pub mod fake;
pub mod gateway;
pub mod golden;
pub mod guardian;
pub mod openapi;
pub mod openid;
pub mod organization;
pub mod outbox;
pub mod patience;
pub mod policies;
pub mod port;
pub mod postgres;
pub mod program;
pub mod redis;
pub mod replicas;
pub mod sink;
pub mod sse;
pub mod stall;
pub mod surfaces;
pub mod tls;
pub mod turn;
pub mod wire;
pub mod world;
