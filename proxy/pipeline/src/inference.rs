//! One inference run against a provider: the driver builds the request, the host sends it with the
//! credential, and the driver turns the answer into canonical events. Knows no surface and no audit.

mod breaker;
mod failure;
mod run;

pub use breaker::{Breaker, Circuit};
pub use run::{Call, EventSource, Opened, Route, open};
