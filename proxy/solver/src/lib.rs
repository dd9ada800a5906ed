//! Constraint solving: a spec is read, handed to a worker that runs CP-SAT, and the answer is checked before it
//! is given. Knows no HTTP and no store; the library of the engine is loaded by workers only.

mod classes;
mod constraint;
mod coverage;
mod engine;
mod explain;
mod model;
mod preference;
mod roster;
mod rule;
mod solve;
mod spec;
mod verify;
mod vocabulary;
mod words;

#[cfg(test)]
mod tests;

pub use engine::{EngineError, Library, LibraryError, SEED};
pub use explain::Conflict;
pub use solve::{Outcome, SolveError, solve};
pub use spec::problem::too_large;
pub use spec::{Spec, parse};
pub use verify::Broken;
pub use vocabulary::{Form, Strength, VOCABULARY};
