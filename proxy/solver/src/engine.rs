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
    /// The best, by linear relaxations. Larger models are given a short while so; then these and large neighbourhoods
    /// take turns in one thread.
    Best,
    /// The same, with lines about it on standard output.
    BestTelling,
    /// The best, by linear relaxations alone.
    BestPlainly,
}

/// What a search found, and the deterministic seconds that it took.
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    pub(crate) spent: f64,
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

/// Models up to this size are searched in one go: they are done before taking turns pays.
const MAX_PLAIN_VARIABLES: usize = 500;

/// What larger models are given before turns are taken, in deterministic seconds and as a share of the budget: the first
/// turn alone takes 0.6, and many a model of a thousand variables is done in a fiftieth.
const BRIEF_BUDGET: f64 = 0.15;
const BRIEF_SHARE: f64 = 0.1;
/// Models beyond this size take turns at once: simplifying them is the most of what such a search does.
const MAX_BRIEF_VARIABLES: usize = 20_000;

/// How the engine goes about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Satisfying,
    Plain,
    Turns,
}

impl Search {
    fn way(self, model: &CpModel) -> Way {
        let is_small = model.variables.len() <= MAX_PLAIN_VARIABLES;
        match self {
            Self::Any => Way::Satisfying,
            Self::BestPlainly => Way::Plain,
            Self::Best | Self::BestTelling if is_small => Way::Plain,
            Self::Best | Self::BestTelling => Way::Turns,
        }
    }
}

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
    let way = search.way(model);
    if way != Way::Turns || model.variables.len() > MAX_BRIEF_VARIABLES {
        return run(library, model, &parameters(model, search, way, budget));
    }
    let brief = parameters(
        model,
        search,
        Way::Plain,
        BRIEF_BUDGET.min(budget * BRIEF_SHARE),
    );
    let brief = run(library, model, &brief)?;
    if let Verdict::Optimal { .. } | Verdict::Infeasible = brief.verdict {
        return Ok(brief);
    }
    let rest = parameters(model, search, way, (budget - brief.spent).max(0.0));
    let found = run(library, model, &rest)?;
    Ok(Found {
        spent: brief.spent + found.spent,
        verdict: better(brief.verdict, found.verdict),
    })
}

/// Of what two searches of one model have come to, the second if it is as good.
fn better(first: Verdict, second: Verdict) -> Verdict {
    match (&first, &second) {
        (Verdict::Feasible { .. }, Verdict::Unknown) => first,
        (Verdict::Feasible { objective: had, .. }, Verdict::Feasible { objective, .. })
            if had < objective =>
        {
            first
        }
        _ => second,
    }
}

fn run(library: &Library, model: &CpModel, parameters: &Parameters) -> Result<Found, EngineError> {
    if library.is_stopped() {
        return Err(EngineError::Stopped);
    }
    let bytes = library.solve(&model.encode_to_vec(), &parameters.encode_to_vec())?;
    if library.is_stopped() {
        return Err(EngineError::Stopped);
    }
    let response = CpResponse::decode(bytes.as_slice())?;
    let status = Status::try_from(response.status).map_err(|_| EngineError::Invalid)?;
    let spent = response.deterministic_time;
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
    Ok(Found { verdict, spent })
}

/// How the engine is asked to search a model.
fn parameters(model: &CpModel, search: Search, way: Way, budget: f64) -> Parameters {
    // A complete hint with symmetry detection on a large model ran for a minute past its limit.
    let is_plain = model.hint.is_some() || model.variables.len() > MAX_SYMMETRY_VARIABLES;
    let in_turns = way == Way::Turns;
    Parameters {
        random_seed: i32::try_from(SEED).ok(),
        log_search_progress: (search == Search::BestTelling).then_some(true),
        max_deterministic_time: Some(budget),
        linearization_level: (way == Way::Plain).then_some(2),
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

/// A model and how it would be searched in the end.
pub(crate) fn export(model: &CpModel, search: Search, budget: f64) -> Exported {
    Exported {
        model: model.encode_to_vec(),
        parameters: parameters(model, search, search.way(model), budget).encode_to_vec(),
    }
}
