//! The engine: CP-SAT with settings that give the same answer on every run. Budgets are in the engine's own
//! deterministic time, never in seconds of a clock.

pub(crate) mod library;
pub(crate) mod proto;

pub(crate) use library::{Library, LibraryError};

use prost::Message;
use proto::{CpModel, CpResponse, Parameters, Status};

/// Every run starts from it, and every result reports it.
pub const SEED: i64 = 1;

/// Why a search gave nothing to go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error("the solver's answer cannot be read: {0}")]
    Answer(#[from] prost::DecodeError),
    #[error("the solver calls the model invalid")]
    Invalid,
    #[error("the search was stopped")]
    Stopped,
}

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// Any solution, or a proof that there is none.
    Any,
    /// The best, by linear relaxations.
    Plain { tells: bool },
    /// The best, by linear relaxations and large neighbourhoods that take turns in one thread. With `tells`, as above,
    /// the engine prints lines about it on standard output.
    Turns { tells: bool },
    /// The best of a small part of a model, from a seed of its own.
    Piece { seed: i64 },
}

/// What a search found, and the deterministic seconds that it took.
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    pub(crate) spent: f64,
    /// No solution costs less. Means something where one was found.
    pub(crate) bound: f64,
}

pub(crate) enum Verdict {
    /// Proved best; the objective as the model has it.
    Optimal {
        solution: Vec<i64>,
        objective: f64,
    },
    Feasible {
        solution: Vec<i64>,
        objective: f64,
    },
    Infeasible,
    /// The budget ended first.
    Unknown,
}

/// Models beyond this size are searched without symmetry detection, which has no bound there.
const MAX_SYMMETRY_VARIABLES: usize = 20_000;

/// Runs one search within a budget of deterministic seconds.
///
/// # Errors
/// A library that fails, or [`Library::stop`].
pub(crate) fn search(
    library: &Library,
    model: &CpModel,
    search: Search,
    budget: f64,
) -> Result<Found, EngineError> {
    let parameters = parameters(model, search, budget);
    if library.is_stopped() {
        return Err(EngineError::Stopped);
    }
    let bytes = library.solve(&model.encode_to_vec(), &parameters.encode_to_vec())?;
    if library.is_stopped() {
        return Err(EngineError::Stopped);
    }
    let response = CpResponse::decode(bytes.as_slice())?;
    let status = Status::try_from(response.status).map_err(|_| EngineError::Invalid)?;
    let (spent, bound) = (response.deterministic_time, response.best_objective_bound);
    let verdict = match status {
        Status::Optimal => Verdict::Optimal {
            objective: response.objective_value,
            solution: response.solution,
        },
        Status::Feasible => Verdict::Feasible {
            objective: response.objective_value,
            solution: response.solution,
        },
        Status::Infeasible => Verdict::Infeasible,
        Status::Unknown => Verdict::Unknown,
        Status::ModelInvalid => return Err(EngineError::Invalid),
    };
    Ok(Found {
        verdict,
        spent,
        bound,
    })
}

/// How the engine is asked to search a model.
fn parameters(model: &CpModel, search: Search, budget: f64) -> Parameters {
    // A complete hint with symmetry detection on a large model ran for a minute past its limit; of a part of a model
    // nothing is known that symmetries would tell.
    let is_plain = model.hint.is_some()
        || model.variables.len() > MAX_SYMMETRY_VARIABLES
        || matches!(search, Search::Piece { .. });
    let in_turns = matches!(search, Search::Turns { .. });
    let by_relaxation = matches!(search, Search::Plain { .. } | Search::Piece { .. });
    let tells = matches!(
        search,
        Search::Plain { tells: true } | Search::Turns { tells: true }
    );
    let seed = match search {
        Search::Piece { seed } => seed,
        Search::Any | Search::Plain { .. } | Search::Turns { .. } => SEED,
    };
    Parameters {
        random_seed: i32::try_from(seed).ok(),
        log_search_progress: tells.then_some(true),
        max_deterministic_time: Some(budget),
        linearization_level: by_relaxation.then_some(2),
        interleave_batch_size: in_turns.then_some(1),
        catch_sigint_signal: Some(false),
        interleave_search: in_turns.then_some(true),
        symmetry_level: is_plain.then_some(0),
        num_workers: Some(1),
        subsolvers: if in_turns {
            vec!["max_lp".to_owned()]
        } else {
            Vec::new()
        },
    }
}

/// What the engine gets, in its own formats: for looking at, and for solving by other means.
pub struct Exported {
    /// A `CpModelProto`.
    pub model: Vec<u8>,
    /// `SatParameters`.
    pub parameters: Vec<u8>,
}

/// A model and how it would be searched.
pub(crate) fn export(model: &CpModel, search: Search, budget: f64) -> Exported {
    Exported {
        model: model.encode_to_vec(),
        parameters: parameters(model, search, budget).encode_to_vec(),
    }
}
