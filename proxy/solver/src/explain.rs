//! Why a spec cannot be: smallest sets of its own slots and rules that clash. Every set that is given was proved
//! infeasible by itself. The work is bounded by a number of checks, each with a deterministic budget; whoever stops it
//! gets the whole, which was proved before it began.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::classes::Relaxation;
use crate::coverage::{self, Leeway};
use crate::engine::{self, EngineError, Library, Search, Verdict};
use crate::model::{Encoder, MAX_TERMS};
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
/// Deterministic seconds for all checks of one answer, and variables and constraints of all models that are made for
/// them, some ten seconds of work: what is left over of a caller's patience with the default limit or a larger one.
const TOTAL_BUDGET: f64 = 6.0;
const TOTAL_SIZE: usize = 40_000_000;
/// Deterministic seconds of one check by counting.
const COUNTING_BUDGET: f64 = 1.0;
/// Deterministic seconds for the proof that a set as large as the spec clashes.
const MODEL_BUDGET: f64 = 2.0;
/// Deterministic seconds of a check of something smaller: there are many, and counting people one by one is what
/// the engine is slow at.
const SMALL_MODEL_BUDGET: f64 = 0.1;
/// A clash by counting of more members than this is made smaller by the model when all clashes are known.
const MAX_RECOUNTED: usize = 12;
/// Deterministic seconds for that.
const RECOUNT_BUDGET: f64 = 1.5;
/// Conditions that a description lists.
const MAX_KINDS: usize = 6;
/// Characters of a condition that a description repeats. Each rule of a clash repeats the conditions of its slots, and
/// an answer has its bounds.
const MAX_WORDS_CHARS: usize = 200;

/// Slots that ask for more people than are eligible: each is a clash by itself.
pub(crate) fn short_slots(spec: &Spec) -> Option<Vec<Conflict>> {
    let leeways = coverage::leeways(spec);
    let clashes: Vec<Vec<Conflict>> = spec
        .slots
        .iter()
        .zip(leeways)
        .enumerate()
        .filter(|(_, (slot, leeway))| {
            let seated = coverage::seated(slot, &slot.candidates());
            !leeway.may_be_short() && seated < slot.need()
        })
        .map(|(place, _)| vec![slot_conflict(spec, place)])
        .collect();
    (!clashes.is_empty()).then(|| numbered(clashes))
}

/// One list of all members. Of several clashes each member says to which it belongs.
fn numbered(clashes: Vec<Vec<Conflict>>) -> Vec<Conflict> {
    let count = clashes.len();
    let mut members = Vec::new();
    for (place, clash) in clashes.into_iter().enumerate() {
        members.extend(clash.into_iter().map(|mut member| {
            if count > 1 {
                let number = place + 1;
                let description = member.description;
                member.description = format!("conflict {number} of {count}: {description}");
            }
            member
        }));
    }
    members
}

/// How much of the budgets a limit leaves: as the supervisor's patience grows with it, which is three times the limit and
/// ten seconds.
fn share(limit_seconds: i64) -> f64 {
    const DEFAULT_PATIENCE: f64 = 40.0;
    // At most 30.
    let patience = (3 * limit_seconds + 10) as f64;
    (patience / DEFAULT_PATIENCE).min(1.0)
}

/// Disjoint clashes of a spec that has been proved infeasible; all of its slots and rules where the library is stopped
/// meanwhile. How far they were made smaller by then is a matter of the clock, and an answer is not.
///
/// # Errors
/// A library that fails.
pub(crate) fn conflicts(library: &Library, spec: &Spec) -> Result<Vec<Conflict>, EngineError> {
    let leeways = coverage::leeways(spec);
    let mut search = Explanation::new(library, spec, &leeways);
    let whole = search.everything();
    let told = smallest(&mut search, &whole)?;
    if library.is_stopped() {
        return Ok(words(spec, &whole, None));
    }
    Ok(numbered(told))
}

/// In words, each clash by itself.
fn smallest<'a, 's: 'a>(
    search: &mut Explanation<'a, 's>,
    whole: &Set,
) -> Result<Vec<Vec<Conflict>>, EngineError> {
    let mut left = whole.clone();
    // The whole was proved already; where no smaller set can be, it stands for itself.
    let first = search.clash(&left)?.unwrap_or_else(|| Clash {
        set: left.clone(),
        proof: Proof::Model,
    });
    let mut clashes = vec![first];
    while let Some(Clash { set, .. }) = clashes.last() {
        left.rules.retain(|rule| !set.rules.contains(rule));
        left.slots.retain(|slot| !set.slots.contains(slot));
        if clashes.len() == MAX_SETS {
            break;
        }
        match search.clash(&left)? {
            Some(next) => clashes.push(next),
            None => break,
        }
    }
    let recounted = search.spent + RECOUNT_BUDGET;
    let mut told = Vec::with_capacity(clashes.len());
    for Clash { mut set, proof } in clashes {
        if proof == Proof::Counting {
            let limit = search.limit;
            search.limit = recounted.min(limit);
            set = search.shrink(set, Proof::Model)?;
            search.limit = limit;
        }
        let short = search.short(&set)?;
        told.push(words(search.spec, &set, short));
    }
    Ok(told)
}

/// A clash and the last proof of it.
struct Clash {
    set: Set,
    proof: Proof,
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

struct Explanation<'a, 's> {
    library: &'a Library,
    spec: &'s Spec,
    leeways: &'a [Leeway],
    relaxation: Relaxation<'a>,
    checks: usize,
    spent: f64,
    /// What may be spent.
    limit: f64,
    size: usize,
    /// What may be made.
    most_size: usize,
}

impl<'a, 's: 'a> Explanation<'a, 's> {
    fn new(library: &'a Library, spec: &'s Spec, leeways: &'a [Leeway]) -> Self {
        let share = share(spec.time_limit_seconds);
        Self {
            library,
            spec,
            leeways,
            relaxation: Relaxation::new(spec, leeways),
            checks: 0,
            spent: 0.0,
            limit: TOTAL_BUDGET * share,
            size: 0,
            // Far below 2^53.
            most_size: (TOTAL_SIZE as f64 * share) as usize,
        }
    }

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
    fn clash(&mut self, set: &Set) -> Result<Option<Clash>, EngineError> {
        for mut proof in [Proof::Counting, Proof::Model] {
            if self.clashes(set, proof, MODEL_BUDGET)? {
                let window = self.window(set, proof)?;
                let mut set = self.shrink(window, proof)?;
                let members = set.slots.len() + set.rules.len();
                if proof == Proof::Counting && members <= MAX_RECOUNTED {
                    proof = Proof::Model;
                    set = self.shrink(set, proof)?;
                }
                return Ok(Some(Clash { set, proof }));
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

    /// The condition whose people alone are too few for a clash, where there is one among others and counting shows it.
    fn short(&mut self, set: &Set) -> Result<Option<&'s str>, EngineError> {
        let kinds = kinds(self.spec, set);
        if kinds.len() < 2 {
            return Ok(None);
        }
        for Kind { words, .. } in kinds.into_iter().take(MAX_KINDS) {
            if self.is_over() {
                break;
            }
            let proto = self.count(set, Some(words));
            if self.is_infeasible(proto.as_ref(), COUNTING_BUDGET)? {
                return Ok(Some(words));
            }
        }
        Ok(None)
    }

    /// Whether a set is proved infeasible. Not proved within the budget counts as no.
    fn clashes(&mut self, set: &Set, proof: Proof, model_budget: f64) -> Result<bool, EngineError> {
        if self.is_over() {
            return Ok(false);
        }
        let (proto, budget) = match proof {
            Proof::Counting => (self.count(set, None), COUNTING_BUDGET),
            Proof::Model => (self.encode(set), model_budget),
        };
        self.is_infeasible(proto.as_ref(), budget)
    }

    fn is_over(&self) -> bool {
        self.checks >= MAX_CHECKS
            || self.spent >= self.limit
            || self.size >= self.most_size
            || self.library.is_stopped()
    }

    /// Nothing is proved of a set that is too large for a model (`None`); it counts as a check.
    fn is_infeasible(
        &mut self,
        proto: Option<&engine::proto::CpModel>,
        budget: f64,
    ) -> Result<bool, EngineError> {
        self.checks += 1;
        let Some(proto) = proto else {
            self.size += MAX_TERMS;
            return Ok(false);
        };
        self.size += proto.variables.len() + proto.constraints.len();
        let left = (self.limit - self.spent).max(0.0);
        let found = match engine::search(self.library, proto, Search::Any, budget.min(left)) {
            // Nothing more is proved; what was proved before stands.
            Err(EngineError::Stopped) => return Ok(false),
            found => found?,
        };
        self.spent += found.spent;
        Ok(matches!(found.verdict, Verdict::Infeasible))
    }

    fn count(&self, set: &Set, only: Option<&str>) -> Option<engine::proto::CpModel> {
        let counts = self.relaxation.counts(&set.slots, &set.rules, only);
        counts.map(|counts| counts.proto)
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
            if encoder.is_full() {
                return None;
            }
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

/// What the slots of a clash need of the people of one condition.
struct Kind<'s> {
    /// The condition.
    words: &'s str,
    need: i64,
    /// The same in minutes, where all of its slots have times.
    minutes: Option<i64>,
    eligible: BTreeSet<usize>,
}

/// Of each condition, in the order of the slots.
fn kinds<'s>(spec: &'s Spec, clash: &Set) -> Vec<Kind<'s>> {
    let mut kinds: Vec<Kind<'s>> = Vec::new();
    for slot in clash.slots.iter().filter_map(|slot| spec.slots.get(*slot)) {
        for requirement in &slot.requirements {
            let words = requirement.words.as_str();
            let known = kinds.iter().position(|kind| kind.words == words);
            let place = known.unwrap_or_else(|| {
                kinds.push(Kind {
                    words,
                    need: 0,
                    minutes: Some(0),
                    eligible: BTreeSet::new(),
                });
                kinds.len() - 1
            });
            if let Some(kind) = kinds.get_mut(place) {
                kind.need += requirement.count;
                let minutes = slot.times.map(|times| times.minutes() * requirement.count);
                kind.minutes = kind.minutes.zip(minutes).map(|(one, other)| one + other);
                kind.eligible.extend(&requirement.eligible);
            }
        }
    }
    kinds.retain(|kind| kind.need > 0);
    kinds
}

/// What the slots of a clash need: of the people of whom there are too few, where that is known, else of all.
fn needs(spec: &Spec, clash: &Set, short: Option<&str>, in_minutes: bool) -> String {
    let mut kinds = kinds(spec, clash);
    if let Some(short) = short {
        kinds.retain(|kind| kind.words == short);
    }
    if kinds.is_empty() {
        return String::new();
    }
    let rest = kinds.len().saturating_sub(MAX_KINDS);
    let listed = kinds.iter().take(MAX_KINDS).map(|kind| {
        let with = match kind.words {
            "" => String::new(),
            words => format!(" with {}", cut(words)),
        };
        let minutes = match kind.minutes.filter(|_| in_minutes) {
            Some(minutes) => format!("{minutes} minutes, "),
            None => String::new(),
        };
        format!(
            "{}{with} ({minutes}{} eligible)",
            kind.need,
            kind.eligible.len()
        )
    });
    let listed: Vec<String> = listed.collect();
    let slots = match clash.slots.len() {
        1 => "the slot of this conflict needs".to_owned(),
        many => format!("the {many} slots of this conflict need"),
    };
    let end = match (short, rest) {
        (Some(_), _) => ", who are too few".to_owned(),
        (None, 0) => String::new(),
        (None, rest) => format!(" and those of {rest} more conditions"),
    };
    format!("; {slots} {}{end}", listed.join(", "))
}

/// A condition as far as a description repeats it.
fn cut(words: &str) -> Cow<'_, str> {
    match words.char_indices().nth(MAX_WORDS_CHARS) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()).into(),
        None => words.into(),
    }
}

/// The rules of a clash with its arithmetic, then its slots.
fn words(spec: &Spec, clash: &Set, short: Option<&str>) -> Vec<Conflict> {
    let rules = clash.rules.iter().filter_map(|rule| spec.hard.get(*rule));
    let rules = rules.map(|item| {
        let needs = needs(spec, clash, short, item.rule.counts_minutes());
        Conflict {
            id: item.label.clone(),
            description: format!("{}{needs}", item.rule.words(spec)),
        }
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
                let words = cut(&requirement.words);
                format!("needs {count} with {words}, {available} available")
            }
        })
        .collect();
    Conflict {
        id: format!("coverage:{}", slot.id),
        description: needs.join("; "),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::tests::{library, too_large};

    #[test]
    fn a_set_too_large_for_a_model_counts_as_a_check() {
        let (library, spec) = (library(), too_large());
        let leeways = coverage::leeways(&spec);
        let mut search = Explanation::new(&library, &spec, &leeways);
        let everything = search.everything();
        assert!(
            !search
                .clashes(&everything, Proof::Model, MODEL_BUDGET)
                .unwrap()
        );
        assert_eq!((search.checks, search.size), (1, MAX_TERMS));
    }

    #[test]
    fn a_shorter_limit_leaves_less_for_the_explanation() {
        assert!(share(1) < 0.5);
        assert!((share(10) - 1.0).abs() < f64::EPSILON);
        assert!((share(30) - 1.0).abs() < f64::EPSILON);
    }

    /// A proof is not thrown away because nobody waits for it to be told in the fewest words.
    #[test]
    fn an_explanation_that_is_stopped_gives_what_is_proved() {
        let value = serde_json::json!({
            "resources": [{"id": "r"}],
            "slots": [
                {"id": "a", "day": "2026-11-02", "requirements": [{"count": 1}]},
                {"id": "b", "day": "2026-11-02", "requirements": [{"count": 1}]},
            ],
            "constraints": [{"type": "max_per_day", "limit": 1}, {"type": "count", "max": 9}],
        });
        let spec = crate::parse(value.to_string().as_bytes()).ok().unwrap();
        let library = library();
        library.stop();
        let stopped = conflicts(&library, &spec);
        library.resume();
        let ids = |conflicts: Vec<Conflict>| -> Vec<String> {
            conflicts.into_iter().map(|conflict| conflict.id).collect()
        };
        let whole = ["max_per_day:0", "count:1", "coverage:a", "coverage:b"];
        assert_eq!(ids(stopped.unwrap()), whole);
        let smallest = ["max_per_day:0", "coverage:a", "coverage:b"];
        assert_eq!(ids(conflicts(&library, &spec).unwrap()), smallest);
    }
}
