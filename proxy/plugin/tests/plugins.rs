//! The plugin host with real guests: compiled from `plugins/`, admitted from a folder, called.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../../gateway/build/guest.rs"]
#[allow(dead_code)]
mod guest;

#[path = "plugins/admission.rs"]
mod admission;
#[path = "plugins/alpha.rs"]
mod alpha;
#[path = "plugins/beta.rs"]
mod beta;
#[path = "plugins/counters.rs"]
mod counters;
#[path = "plugins/counting.rs"]
mod counting;
#[path = "plugins/exchange.rs"]
mod exchange;
#[path = "plugins/hostile.rs"]
mod hostile;
#[path = "plugins/hostile_driver.rs"]
mod hostile_driver;
#[path = "plugins/odd.rs"]
mod odd;
#[path = "plugins/pair.rs"]
mod pair;
#[path = "plugins/patterns.rs"]
mod patterns;
#[path = "plugins/reload.rs"]
mod reload;
#[path = "plugins/stage.rs"]
mod stage;
