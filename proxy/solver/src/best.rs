//! The best roster: which searches a model is given, one after the other (decisions 22, 24 and 42). The sequence is the
//! same whatever the budget, which only says where it ends: with more time an answer gets no worse.

use std::io::Write;

use crate::engine::proto::{CpModel, Hint};
use crate::engine::{self, EngineError, Found, Library, Search, Verdict};
use crate::model::Model;
use crate::neighbourhood::Neighbourhoods;
use crate::spec::Spec;

/// Models up to this size are searched in one go: they are done before taking turns pays.
const MAX_PLAIN_VARIABLES: usize = 500;

/// What larger models are given before turns are taken, in deterministic seconds: the first turn alone takes 0.6, and
/// many a model of a thousand variables is done in a fiftieth.
const BRIEF_BUDGET: f64 = 0.15;
/// Models beyond this size take turns at once: simplifying them is the most of what such a search does.
const MAX_BRIEF_VARIABLES: usize = 20_000;

/// Deterministic seconds of turns and of neighbourhoods in the first round, for each variable: turns find good rosters of
/// 5,000 variables in two, and from there neighbourhoods gain more in the same time. Each round has twice the time of
/// the one before.
const TURNS_PER_VARIABLE: f64 = 0.0006;
const PIECES_PER_VARIABLE: f64 = 0.0015;
const GROWTH: f64 = 2.0;
/// Any roster takes hundredths, or else turns find one sooner.
const ANY_SLICE: f64 = 0.1;
/// What neighbourhoods get as soon as there is any roster: turns alone would have little to show for a small budget.
const HEAD_START: f64 = 0.4;

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
    let brief = engine::search(library, proto, Search::Plain { tells }, BRIEF_BUDGET)?;
    let rest = (budget - brief.spent).max(0.0);
    match brief.verdict {
        Verdict::Optimal { .. } | Verdict::Infeasible => Ok(brief),
        Verdict::Feasible { .. } => {
            let found = engine::search(library, proto, last(model, tells), rest)?;
            Ok(Found {
                verdict: better(brief.verdict, found.verdict),
                spent: brief.spent + found.spent,
                bound: brief.bound.max(found.bound),
            })
        }
        Verdict::Unknown => Rounds::new(ask, rest).run(),
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

/// One search of a round, for a slice of time; gives what is proved.
type Searching<'a> = fn(&mut Rounds<'a>, f64) -> Result<Option<Verdict>, EngineError>;

/// A model in which a short search for the best finds nothing: turns, which prove, and neighbourhoods, which are better
/// at making a roster better, each for a slice of time and then for a longer one.
struct Rounds<'a> {
    ask: Ask<'a>,
    budget: f64,
    spent: f64,
    neighbourhoods: Neighbourhoods<'a>,
    /// The best roster so far, and what it costs.
    best: Option<(Vec<i64>, f64)>,
    /// No roster costs less.
    bound: f64,
    has_taken_turns: bool,
}

impl<'a> Rounds<'a> {
    fn new(ask: Ask<'a>, budget: f64) -> Self {
        Self {
            ask,
            budget,
            spent: 0.0,
            neighbourhoods: Neighbourhoods::new(ask.library, ask.spec, ask.model),
            best: None,
            bound: f64::NEG_INFINITY,
            has_taken_turns: false,
        }
    }

    fn run(mut self) -> Result<Found, EngineError> {
        let variables = self.ask.model.proto.variables.len() as f64;
        let searches: [(Searching<'a>, f64); 3] = [
            (Self::any, ANY_SLICE),
            (Self::turns, TURNS_PER_VARIABLE * variables),
            (Self::pieces, PIECES_PER_VARIABLE * variables),
        ];
        let mut scale = 1.0;
        loop {
            for (search, slice) in searches {
                let left = self.left();
                if left <= 0.0 {
                    return Ok(self.end());
                }
                let slice = (slice * scale).min(left);
                if let Some(verdict) = search(&mut self, slice)? {
                    return Ok(self.found(verdict));
                }
            }
            scale *= GROWTH;
        }
    }

    fn left(&self) -> f64 {
        self.budget - self.spent
    }

    /// Any roster, where there is none yet; and as it is far from the best, a first turn of neighbourhoods.
    fn any(&mut self, slice: f64) -> Result<Option<Verdict>, EngineError> {
        if self.best.is_some() {
            return Ok(None);
        }
        let any = CpModel {
            objective: None,
            ..self.ask.model.proto.clone()
        };
        let found = engine::search(self.ask.library, &any, Search::Any, slice)?;
        self.spent += found.spent;
        match found.verdict {
            Verdict::Infeasible => Ok(Some(Verdict::Infeasible)),
            Verdict::Unknown => Ok(None),
            Verdict::Optimal { solution, .. } | Verdict::Feasible { solution, .. } => {
                let value = self.neighbourhoods.value(&solution);
                // Below 2^53.
                self.best = Some((solution, value as f64));
                self.pieces(HEAD_START.min(self.left()))
            }
        }
    }

    fn turns(&mut self, slice: f64) -> Result<Option<Verdict>, EngineError> {
        let Ask {
            library,
            model,
            tells,
            ..
        } = self.ask;
        let mut proto = model.proto.clone();
        // From any roster turns come to worse ones than from none.
        if self.has_taken_turns {
            proto.hint = self.best.as_ref().map(|(solution, _)| Hint::all(solution));
        }
        self.has_taken_turns = true;
        let found = engine::search(library, &proto, last(model, tells), slice)?;
        self.note(found)
    }

    fn pieces(&mut self, slice: f64) -> Result<Option<Verdict>, EngineError> {
        let Some((solution, _)) = &self.best else {
            return Ok(None);
        };
        let tells = self.ask.tells;
        let tell = |objective: i64| {
            if tells {
                // As the engine would; what cannot be written is not read by anybody.
                writeln!(std::io::stdout(), "#Neighbourhood best:{objective} ").ok();
            }
        };
        let (solution, bound) = (solution.clone(), self.bound);
        let found = self.neighbourhoods.improve(solution, bound, slice, tell)?;
        self.note(found)
    }

    /// Takes over what a search of the whole has found; gives what is proved.
    fn note(&mut self, found: Found) -> Result<Option<Verdict>, EngineError> {
        self.spent += found.spent;
        match found.verdict {
            Verdict::Unknown => {}
            Verdict::Optimal { .. } | Verdict::Infeasible => return Ok(Some(found.verdict)),
            Verdict::Feasible {
                solution,
                objective,
            } => {
                self.bound = self.bound.max(found.bound);
                if self.best.as_ref().is_none_or(|(_, had)| objective <= *had) {
                    self.best = Some((solution, objective));
                }
            }
        }
        let is_best = |(_, objective): &(Vec<i64>, f64)| *objective <= self.bound;
        if !self.best.as_ref().is_some_and(is_best) {
            return Ok(None);
        }
        Ok(self
            .best
            .take()
            .map(|(solution, objective)| Verdict::Optimal {
                solution,
                objective,
            }))
    }

    fn end(mut self) -> Found {
        let verdict = match self.best.take() {
            None => Verdict::Unknown,
            Some((solution, objective)) => Verdict::Feasible {
                solution,
                objective,
            },
        };
        self.found(verdict)
    }

    fn found(self, verdict: Verdict) -> Found {
        Found {
            verdict,
            spent: self.spent,
            bound: self.bound,
        }
    }
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
