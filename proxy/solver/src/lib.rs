//! Constraint solving: a spec is read, handed to a worker that runs CP-SAT, and the answer is checked before it
//! is given. Knows no HTTP and no store; the library of the engine is loaded by workers only.

mod best;
mod classes;
mod constraint;
mod coverage;
mod engine;
mod explain;
mod frame;
mod model;
mod neighbourhood;
mod pool;
mod preference;
mod result;
mod roster;
mod rule;
mod solve;
mod spec;
mod verify;
mod vocabulary;
mod words;
mod worker;

pub use engine::{Exported, SEED};
pub use explain::Conflict;
pub use pool::{Pool, Settings, Solved, Status, Unavailable};
pub use result::solve_result;
pub use solve::export;
pub use spec::{Spec, parse};
pub use vocabulary::{Form, Strength, VOCABULARY};
pub use worker::{Progress, WorkerError, work};

#[cfg(test)]
mod tests;
