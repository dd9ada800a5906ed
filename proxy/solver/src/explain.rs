//! Why a spec cannot be: smallest sets of its own slots and rules that clash. Every set that is given was proved
//! infeasible by itself. The work is bounded by a number of checks, each with a deterministic budget.

use serde::{Deserialize, Serialize};

use crate::classes::Relaxation;
use crate::coverage::{self, Leeway};
use crate::engine::{self, EngineError, Library, Search, Verdict};
use crate::model::Encoder;
use crate::spec::Spec;

/// One slot or rule of a clash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// `coverage:<slot id>` or the label of the rule.
    pub id: String,
    /// For people, in the spec's own words.
    pub description: String,
}

/// Sets that one answer gives.
const MAX_SETS: usize = 10;
/// Checks for all sets of one answer.
const MAX_CHECKS: usize = 600;
/// Deterministic seconds for all checks of one answer: what is left over of a caller's patience.
const TOTAL_BUDGET: f64 = 6.0;
/// Variables and constraints of all models that are made for the checks of one answer: some ten seconds of work.
const TOTAL_SIZE: usize = 40_000_000;
/// Deterministic seconds of one check by counting.
const COUNTING_BUDGET: f64 = 1.0;
/// Deterministic seconds for the proof that a set as large as the spec clashes.
const MODEL_BUDGET: f64 = 2.0;
/// Deterministic seconds of a check of something smaller: there are many, and counting people one by one is what
/// the engine is slow at.
const SMALL_MODEL_BUDGET: f64 = 0.1;
/// A clash by counting of more members than this is given as it is.
const MAX_RECOUNTED: usize = 12;

/// Slots that ask for more people than are eligible: each is a clash by itself.
pub(crate) fn short_slots(spec: &Spec) -> Option<Vec<Conflict>> {
    let leeways = coverage::leeways(spec);
    let conflicts: Vec<Conflict> = spec
        .slots
        .iter()
        .zip(leeways)
        .enumerate()
        .filter(|(_, (slot, leeway))| {
            let seated = coverage::seated(slot, &slot.candidates());
            !leeway.may_be_short() && seated < slot.need()
        })
        .map(|(place, _)| slot_conflict(spec, place))
        .collect();
    (!conflicts.is_empty()).then_some(conflicts)
}

/// Disjoint clashes of a spec that has been proved infeasible.
///
/// # Errors
/// A library that fails or was stopped.
pub(crate) fn conflicts(library: &Library, spec: &Spec) -> Result<Vec<Conflict>, EngineError> {
    let leeways = coverage::leeways(spec);
    let mut search = Explanation {
        library,
        spec,
        leeways: &leeways,
        relaxation: Relaxation::new(spec, &leeways),
        checks: 0,
        spent: 0.0,
        size: 0,
    };
    let mut left = search.everything();
    // The whole was proved already; where no smaller set can be, it stands for itself.
    let mut clash = search.clash(&left)?.unwrap_or_else(|| left.clone());
    let mut conflicts = Vec::new();
    for _ in 0..MAX_SETS {
        conflicts.extend(words(spec, &clash));
        left.rules.retain(|rule| !clash.rules.contains(rule));
        left.slots.retain(|slot| !clash.slots.contains(slot));
        match search.clash(&left)? {
            Some(next) => clash = next,
            None => break,
        }
    }
    Ok(conflicts)
}

/// Some slots and rules, ascending.
#[derive(Clone)]
struct Set {
    slots: Vec<usize>,
    rules: Vec<usize>,
}

/// How a set is proved infeasible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// By counting classes of resources: fast, but sees sums only.
    Counting,
    /// By the model itself.
    Model,
}

struct Explanation<'a> {
    library: &'a Library,
    spec: &'a Spec,
    leeways: &'a [Leeway],
    relaxation: Relaxation<'a>,
    checks: usize,
    spent: f64,
    size: usize,
}

impl Explanation<'_> {
    fn everything(&self) -> Set {
        let slots = 0..self.spec.slots.len();
        let is_free = |slot: &usize| {
            self.leeways
                .get(*slot)
                .is_some_and(|leeway| leeway.is_free())
        };
        Set {
            slots: slots.filter(|slot| !is_free(slot)).collect(),
            rules: (0..self.spec.hard.len()).collect(),
        }
    }

    /// A smallest clash within a set, if it has one that can be proved.
    fn clash(&mut self, set: &Set) -> Result<Option<Set>, EngineError> {
        for proof in [Proof::Counting, Proof::Model] {
            if self.clashes(set, proof, MODEL_BUDGET)? {
                let window = self.window(set, proof)?;
                let mut clash = self.shrink(window, proof)?;
                let members = clash.slots.len() + clash.rules.len();
                if proof == Proof::Counting && members <= MAX_RECOUNTED {
                    clash = self.shrink(clash, Proof::Model)?;
                }
                return Ok(Some(clash));
            }
        }
        Ok(None)
    }

    /// The first day, else the first week, whose slots clash with the rules; else all slots.
    fn window(&mut self, set: &Set, proof: Proof) -> Result<Set, EngineError> {
        let calendar = self.spec.calendar;
        let day = |slot: &usize| self.spec.slots.get(*slot).map_or(0, |slot| slot.day);
        let days = set.slots.chunk_by(|one, other| day(one) == day(other));
        let week = |slot: &usize| calendar.week(day(slot));
        let weeks = set.slots.chunk_by(|one, other| week(one) == week(other));
        let windows: Vec<Vec<usize>> = days.chain(weeks).map(<[usize]>::to_vec).collect();
        for slots in windows {
            if slots.len() == set.slots.len() {
                continue;
            }
            let window = Set {
                slots,
                rules: set.rules.clone(),
            };
            if self.clashes(&window, proof, SMALL_MODEL_BUDGET)? {
                return Ok(window);
            }
        }
        Ok(set.clone())
    }

    /// Leaves out whatever can be left out: rules first, then slots, in blocks that halve down to one. What is
    /// needed for a clash stays needed when the set gets smaller, so one pass over single ones is enough.
    fn shrink(&mut self, set: Set, proof: Proof) -> Result<Set, EngineError> {
        let mut set = set;
        for of in [Members::Rules, Members::Slots] {
            let mut block = of.list(&set).len().next_power_of_two();
            while block > 0 {
                let mut start = 0;
                while start < of.list(&set).len() {
                    let mut smaller = set.clone();
                    let list = of.list_mut(&mut smaller);
                    let end = (start + block).min(list.len());
                    list.drain(start..end);
                    if self.clashes(&smaller, proof, SMALL_MODEL_BUDGET)? {
                        set = smaller;
                    } else {
                        start = end;
                    }
                }
                block /= 2;
            }
        }
        Ok(set)
    }

    /// Whether a set is proved infeasible. Not proved within the budget counts as no.
    fn clashes(&mut self, set: &Set, proof: Proof, model_budget: f64) -> Result<bool, EngineError> {
        let is_over =
            self.checks >= MAX_CHECKS || self.spent >= TOTAL_BUDGET || self.size >= TOTAL_SIZE;
        if is_over {
            return Ok(false);
        }
        self.checks += 1;
        let (proto, budget) = match proof {
            Proof::Counting => {
                let counts = self.relaxation.counts(&set.slots, &set.rules);
                (counts.proto, COUNTING_BUDGET)
            }
            Proof::Model => match self.encode(set) {
                Some(proto) => (proto, model_budget),
                None => return Ok(false),
            },
        };
        self.size += proto.variables.len() + proto.constraints.len();
        let found = engine::search(self.library, &proto, Search::Any, budget)?;
        self.spent += found.spent;
        Ok(matches!(found.verdict, Verdict::Infeasible))
    }

    fn encode(&self, set: &Set) -> Option<engine::proto::CpModel> {
        let rules = set
            .rules
            .iter()
            .filter_map(|rule| self.spec.hard.get(*rule));
        let mut open = set.slots.clone();
        for item in rules.clone() {
            open.extend_from_slice(item.rule.raises());
        }
        open.sort_unstable();
        let mut encoder = Encoder::new(self.spec, |slot| open.binary_search(&slot).is_ok());
        encoder.learn(rules.clone());
        for slot in &set.slots {
            let leeway = self.leeways.get(*slot).copied().unwrap_or_default();
            coverage::encode(*slot, leeway, false, &mut encoder);
        }
        for item in rules {
            encoder.forbid_breaking(item);
        }
        encoder.finish().ok().map(|model| model.proto)
    }
}

/// Which members of a set.
#[derive(Clone, Copy)]
enum Members {
    Rules,
    Slots,
}

impl Members {
    const fn list(self, set: &Set) -> &Vec<usize> {
        match self {
            Self::Rules => &set.rules,
            Self::Slots => &set.slots,
        }
    }

    const fn list_mut(self, set: &mut Set) -> &mut Vec<usize> {
        match self {
            Self::Rules => &mut set.rules,
            Self::Slots => &mut set.slots,
        }
    }
}

/// The rules of a clash with its arithmetic, then its slots.
fn words(spec: &Spec, clash: &Set) -> Vec<Conflict> {
    let slots: Vec<_> = clash
        .slots
        .iter()
        .filter_map(|slot| spec.slots.get(*slot))
        .collect();
    let need: i64 = slots.iter().map(|slot| slot.need()).sum();
    let mut eligible: Vec<usize> = slots.iter().flat_map(|slot| slot.candidates()).collect();
    eligible.sort_unstable();
    eligible.dedup();
    let sums = match slots.len() {
        0 => String::new(),
        1 => format!(
            "; the slot of this conflict needs {need}, and {} resources are eligible for it",
            eligible.len()
        ),
        many => format!(
            "; the {many} slots of this conflict need {need} in all, and {} resources are eligible for them",
            eligible.len()
        ),
    };
    let rules = clash.rules.iter().filter_map(|rule| spec.hard.get(*rule));
    let rules = rules.map(|item| Conflict {
        id: item.label.clone(),
        description: format!("{}{sums}", item.rule.words(spec)),
    });
    let slots = clash.slots.iter().map(|slot| slot_conflict(spec, *slot));
    rules.chain(slots).collect()
}

fn slot_conflict(spec: &Spec, place: usize) -> Conflict {
    let Some(slot) = spec.slots.get(place) else {
        return Conflict {
            id: "coverage".to_owned(),
            description: String::new(),
        };
    };
    let needs: Vec<String> = slot
        .requirements
        .iter()
        .map(|requirement| {
            let (count, available) = (requirement.count, requirement.eligible.len());
            if requirement.words.is_empty() {
                format!("needs {count}, {available} available")
            } else {
                format!(
                    "needs {count} with {}, {available} available",
                    requirement.words
                )
            }
        })
        .collect();
    Conflict {
        id: format!("coverage:{}", slot.id),
        description: needs.join("; "),
    }
}
