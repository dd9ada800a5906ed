//! Outbound webhooks: signatures, attempts, and the dispatcher that takes what is due from the outbox and delivers it
//! (spec, Outbound webhook signature and events; contract 15). Knows no SQL and no pingora: the store keeps the
//! outbox, the connector of the pipeline goes out.

mod attempt;
mod dispatcher;
mod lanes;
mod metrics;
pub mod schedule;
pub mod signature;

pub use attempt::Settings;
pub use dispatcher::{Dispatcher, Outside, WithWebhooks};
pub use metrics::Metrics;
