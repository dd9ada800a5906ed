//! The best roster: which searches a model is given, one after the other (decisions 22 and 24).

use std::io::Write;

use crate::engine::proto::CpModel;
use crate::engine::{self, EngineError, Found, Library, Search, Verdict};
use crate::model::Model;
use crate::neighbourhood;
use crate::spec::Spec;

/// Models up to this size are searched in one go: they are done before taking turns pays.
const MAX_PLAIN_VARIABLES: usize = 500;

/// What larger models are given before turns are taken, in deterministic seconds and as a share of the budget: the
/// first turn alone takes 0.6, and many a model of a thousand variables is done in a fiftieth.
const BRIEF_BUDGET: f64 = 0.15;
const BRIEF_SHARE: f64 = 0.1;
/// Models beyond this size take turns at once: simplifying them is the most of what such a search does.
const MAX_BRIEF_VARIABLES: usize = 20_000;
/// What a first roster may take, where the short search found none, in parts of the budget; it takes hundredths.
const FIRST_SHARE: f64 = 0.2;

/// Whose best roster is looked for, and whether better ones are told on the way.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) library: &'a Library,
    pub(crate) spec: &'a Spec,
    pub(crate) model: &'a Model,
    pub(crate) tells: bool,
}

/// Searches within a budget of deterministic seconds.
///
/// # Errors
/// A library that fails, or [`Library::stop`].
pub(crate) fn search(ask: Ask<'_>, budget: f64) -> Result<Found, EngineError> {
    let Ask {
        library,
        model,
        tells,
        ..
    } = ask;
    let proto = &model.proto;
    let size = proto.variables.len();
    if size <= MAX_PLAIN_VARIABLES || size > MAX_BRIEF_VARIABLES {
        return engine::search(library, proto, last(model, tells), budget);
    }
    let brief = engine::search(
        library,
        proto,
        Search::Plain { tells },
        BRIEF_BUDGET.min(budget * BRIEF_SHARE),
    )?;
    let rest = (budget - brief.spent).max(0.0);
    match brief.verdict {
        Verdict::Optimal { .. } | Verdict::Infeasible => Ok(brief),
        Verdict::Feasible { .. } => {
            let found = engine::search(library, proto, last(model, tells), rest)?;
            Ok(Found {
                spent: brief.spent + found.spent,
                verdict: better(brief.verdict, found.verdict),
            })
        }
        Verdict::Unknown => hard(ask, rest),
    }
}

/// The search that a model is given in the end.
pub(crate) fn last(model: &Model, tells: bool) -> Search {
    if model.proto.variables.len() <= MAX_PLAIN_VARIABLES {
        Search::Plain { tells }
    } else {
        Search::Turns { tells }
    }
}

/// A model in which a short search for the best finds nothing: what is best will not be proved, so that the budget goes
/// into making any roster better.
fn hard(ask: Ask<'_>, budget: f64) -> Result<Found, EngineError> {
    let Ask {
        library,
        spec,
        model,
        tells,
    } = ask;
    let any = CpModel {
        objective: None,
        ..model.proto.clone()
    };
    let first = engine::search(library, &any, Search::Any, budget * FIRST_SHARE)?;
    let rest = (budget - first.spent).max(0.0);
    let (Verdict::Optimal { solution, .. } | Verdict::Feasible { solution, .. }) = first.verdict
    else {
        return engine::search(library, &model.proto, last(model, tells), rest);
    };
    let tell = |objective: i64| {
        if tells {
            // As the engine would; what cannot be written is not read by anybody.
            writeln!(std::io::stdout(), "#Neighbourhood best:{objective} ").ok();
        }
    };
    neighbourhood::improve(library, spec, model, solution, rest, tell)
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
