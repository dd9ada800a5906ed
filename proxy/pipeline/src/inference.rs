//! One inference run, or one count of tokens, against a provider: the driver builds the request, the host sends
//! it with the credential, and the driver reads the answer. Knows no surface and no audit.

mod breaker;
mod count;
mod failure;
mod observed;
mod run;

pub use breaker::{Breaker, Circuit};
pub use count::count;
pub use observed::{Observed, Summary, WINDOW};
pub use run::{Call, EventSource, Opened, Route, open};
