//! From a spec to its outcome: search, the canonical one among the best, and for what cannot be, an explanation.
//! The same spec takes the same way on every machine: each step has a deterministic budget.

use serde::{Deserialize, Serialize};

use crate::best;
use crate::classes::Relaxation;
use crate::coverage;
use crate::engine::proto::{CpModel, Hint, Linear, Objective};
use crate::engine::{self, EngineError, Exported, Library, Search, Verdict};
use crate::explain::{self, Conflict};
use crate::model::{Encoder, Model, TooLarge};
use crate::roster::Roster;
use crate::spec::Spec;
use crate::verify::{self, Broken};

/// What a spec comes to. Places are those of the spec's own order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum Outcome {
    Solved {
        is_optimal: bool,
        /// For each slot its resources, ascending.
        assignments: Vec<Vec<usize>>,
        objective: u64,
    },
    Infeasible {
        conflicts: Vec<Conflict>,
    },
    /// The rules expand to more than the engine gets.
    TooLarge,
}

/// Why a spec has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SolveError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the solver's answer is wrong: {0}")]
    Broken(#[from] Broken),
}

/// Whether a search says how it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Silent,
    /// The engine prints lines about the main search.
    Telling,
}

/// Deterministic seconds per second of the caller's limit: an idle core takes 1.2 to 1.4 seconds for one.
const BUDGET_PER_SECOND: f64 = 0.7;
/// The same for large models, whose simplification takes 3.2 to 3.8.
const LARGE_BUDGET_PER_SECOND: f64 = 0.2;
/// Booleans of a large model.
const LARGE_MODEL: usize = 50_000;
/// Deterministic seconds for the canonical one of the best answers: a caller who has the best waits no longer.
const CANONICAL_BUDGET: f64 = 0.5;
/// Pairs of a resource and a slot beyond which the first best answer is taken: within the budget above, the
/// canonical one of larger specs is hardly ever proved.
const MAX_CANONICAL_PAIRS: usize = 2_000;
/// Pairs from which on a roster is dealt out from counts where there are no preferences: below, the search itself is as
/// fast.
const MIN_DEALT_PAIRS: usize = 4_000;
/// Deterministic seconds for the proof by counting, where counts are good for nothing else. Too many slots for too few
/// people are proved in hundredths.
const COUNTED_BUDGET: f64 = 0.3;

/// Solves a spec.
///
/// # Errors
/// A library that fails or was stopped, and answers that do not pass verification.
pub(crate) fn solve(library: &Library, spec: &Spec, run: Run) -> Result<Outcome, SolveError> {
    if let Some(conflicts) = explain::short_slots(spec) {
        return Ok(Outcome::Infeasible { conflicts });
    }
    if let Some(outcome) = counted(library, spec)? {
        return Ok(outcome);
    }
    let Ok(model) = encode(spec) else {
        return Ok(Outcome::TooLarge);
    };
    let budget = budget(spec, model.proto.variables.len());
    let tells = run == Run::Telling;
    let found = if model.proto.objective.is_some() {
        let ask = best::Ask {
            library,
            spec,
            model: &model,
            tells,
        };
        best::search(ask, budget)?
    } else {
        engine::search(library, &model.proto, Search::Any, budget)?
    };
    match found.verdict {
        Verdict::Infeasible => Ok(Outcome::Infeasible {
            conflicts: explain::conflicts(library, spec)?,
        }),
        Verdict::Optimal {
            solution,
            objective,
        } => {
            let solution = canonical(library, &model, spec, solution, objective)?;
            optimal(&model, spec, &solution, objective)
        }
        Verdict::Feasible { solution, .. } => feasible(&model, spec, &solution),
        Verdict::Unknown => any(library, spec, &model, budget),
    }
}

/// The model of a spec with all its rules, and how it is searched in the end; `None` where it is too large.
pub fn export(spec: &Spec) -> Option<Exported> {
    let model = encode(spec).ok()?;
    let budget = budget(spec, model.proto.variables.len());
    let search = match model.proto.objective {
        Some(_) => best::last(&model, false),
        None => Search::Any,
    };
    Some(engine::export(&model.proto, search, budget))
}

/// Counts of identical resources, before anybody is named: searches that name people may never end where the counts
/// alone are impossible. Gives the explanation where they are, and a roster where a large spec without preferences has
/// one that can be dealt out.
pub(crate) fn counted(library: &Library, spec: &Spec) -> Result<Option<Outcome>, SolveError> {
    let slots: Vec<usize> = (0..spec.slots.len()).collect();
    let rules: Vec<usize> = (0..spec.hard.len()).collect();
    let leeways = coverage::leeways(spec);
    let relaxation = Relaxation::new(spec, &leeways);
    let Some(counts) = relaxation.counts(&slots, &rules, None) else {
        return Ok(None);
    };
    let is_dealt = may_be_dealt(spec) && relaxation.knows(&rules);
    let budget = if is_dealt {
        budget(spec, counts.proto.variables.len())
    } else {
        COUNTED_BUDGET
    };
    match engine::search(library, &counts.proto, Search::Any, budget)?.verdict {
        Verdict::Infeasible => Ok(Some(Outcome::Infeasible {
            conflicts: explain::conflicts(library, spec)?,
        })),
        Verdict::Optimal { solution, .. } | Verdict::Feasible { solution, .. } if is_dealt => {
            let roster = relaxation.deal(&counts, &solution);
            let kept = verify::objective(&roster).ok();
            Ok(kept.map(|objective| solved(roster, objective, true)))
        }
        Verdict::Optimal { .. } | Verdict::Feasible { .. } | Verdict::Unknown => Ok(None),
    }
}

fn may_be_dealt(spec: &Spec) -> bool {
    let pairs: usize = spec.slots.iter().map(|slot| slot.candidates().len()).sum();
    spec.soft.is_empty() && pairs >= MIN_DEALT_PAIRS
}

/// The model of a spec with all its rules.
pub(crate) fn encode(spec: &Spec) -> Result<Model, TooLarge> {
    let mut encoder = Encoder::new(spec, |_| true);
    encoder.learn(spec.hard.iter());
    for (slot, leeway) in coverage::leeways(spec).into_iter().enumerate() {
        coverage::encode(slot, leeway, true, &mut encoder);
    }
    for item in &spec.hard {
        encoder.forbid_breaking(item);
        if encoder.is_full() {
            return Err(TooLarge);
        }
    }
    for item in &spec.soft {
        encoder.charge_for_breaking(item);
        if encoder.is_full() {
            return Err(TooLarge);
        }
    }
    encoder.finish()
}

fn budget(spec: &Spec, variables: usize) -> f64 {
    let per_second = if variables > LARGE_MODEL {
        LARGE_BUDGET_PER_SECOND
    } else {
        BUDGET_PER_SECOND
    };
    // At most 30.
    per_second * spec.time_limit_seconds as f64
}

/// Nothing was found within the budget: any roster will do, and the budget doubles until there is one, there is
/// none, or the supervisor ends it.
fn any(library: &Library, spec: &Spec, model: &Model, budget: f64) -> Result<Outcome, SolveError> {
    let mut plain = model.proto.clone();
    plain.objective = None;
    let mut budget = budget;
    loop {
        budget *= 2.0;
        match engine::search(library, &plain, Search::Any, budget)?.verdict {
            Verdict::Optimal { solution, .. } | Verdict::Feasible { solution, .. } => {
                return feasible(model, spec, &solution);
            }
            Verdict::Infeasible => {
                let conflicts = explain::conflicts(library, spec)?;
                return Ok(Outcome::Infeasible { conflicts });
            }
            Verdict::Unknown => {}
        }
    }
}

fn optimal(
    model: &Model,
    spec: &Spec,
    solution: &[i64],
    claimed: f64,
) -> Result<Outcome, SolveError> {
    let roster = model.roster(spec, solution);
    let objective = verify::objective(&roster)?;
    // Both are integers below 2^53.
    if model.proto.objective.is_some() && (objective as f64 - claimed).abs() > HALF {
        return Err(Broken::Objective.into());
    }
    Ok(solved(roster, objective, true))
}

/// Numbers that differ by less are the same integer.
const HALF: f64 = 0.5;

fn feasible(model: &Model, spec: &Spec, solution: &[i64]) -> Result<Outcome, SolveError> {
    let roster = model.roster(spec, solution);
    let objective = verify::objective(&roster)?;
    // Nothing is better than no penalty.
    Ok(solved(roster, objective, objective == 0))
}

fn solved(roster: Roster<'_>, objective: u64, is_optimal: bool) -> Outcome {
    Outcome::Solved {
        is_optimal,
        assignments: roster.by_slot,
        objective,
    }
}

/// Among all best solutions, the one with the least sum of weights that depend on nothing but ids. Where that is
/// not proved within the budget, the solution that was found first.
fn canonical(
    library: &Library,
    model: &Model,
    spec: &Spec,
    solution: Vec<i64>,
    objective: f64,
) -> Result<Vec<i64>, SolveError> {
    let pairs: Vec<(usize, usize, i32)> = model.pairs().collect();
    if pairs.len() > MAX_CANONICAL_PAIRS || pairs.is_empty() {
        return Ok(solution);
    }
    let mut proto: CpModel = model.proto.clone();
    if let Some(first) = proto.objective.take() {
        // An integer below 2^53.
        let value = (objective - first.offset).round() as i64;
        proto.constraints.push(engine::proto::Constraint {
            linear: Some(Linear {
                vars: first.vars,
                coeffs: first.coeffs,
                domain: vec![value, value],
            }),
            ..engine::proto::Constraint::default()
        });
    }
    proto.objective = Some(Objective {
        vars: pairs.iter().map(|(_, _, variable)| *variable).collect(),
        coeffs: pairs
            .iter()
            .map(|(slot, resource, _)| weight(spec, *slot, *resource))
            .collect(),
        ..Objective::default()
    });
    proto.hint = Some(Hint::all(&solution));
    let found = engine::search(
        library,
        &proto,
        Search::Plain { tells: false },
        CANONICAL_BUDGET,
    )?;
    Ok(match found.verdict {
        Verdict::Optimal { solution, .. } => solution,
        _ => solution,
    })
}

/// 1 to 2^20, from the ids alone (FNV-1a, 64 bits).
fn weight(spec: &Spec, slot: usize, resource: usize) -> i64 {
    let slot = spec.slots.get(slot).map_or("", |slot| slot.id.as_str());
    let resource = spec.resources.get(resource);
    let resource = resource.map_or("", |resource| resource.id.as_str());
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    // No id holds a NUL.
    for byte in resource.bytes().chain([0]).chain(slot.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    i64::try_from(hash >> 44).unwrap_or(0) + 1
}
