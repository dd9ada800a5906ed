//! `forbidden_sequence`: kinds of slots that must not follow each other on successive days.

use crate::model::{Encoder, Literal};
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::scope::{Days, by_day};
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static FORBIDDEN_SEQUENCE: Form = Form {
    word: "forbidden_sequence",
    strengths: BOTH,
    weighs_itself: false,
    summary: "No resource takes slots of these kinds on consecutive days: one that meets the first condition of `pattern` on one day, one that meets the second on the next day, and so on (2 to 7 conditions).",
    unit: "one day on which such a sequence begins",
    example: r#"{"type": "forbidden_sequence", "pattern": [[{"key": "shift", "equals": "night"}], [{"key": "shift", "equals": "early"}]]}"#,
    read: |reader| Box::new(ForbiddenSequence::read(reader)),
};

/// Days of one pattern; longer ones say no more than `rolling` does.
const MAX_STEPS: usize = 7;

struct ForbiddenSequence {
    resources: Vec<usize>,
    days: Days,
    /// For each step, the slots of its kind.
    steps: Vec<Vec<usize>>,
}

impl ForbiddenSequence {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let steps = reader.pattern("pattern", MAX_STEPS);
        let steps = steps.into_iter().map(|condition| {
            let of_kind = scope.slots.iter().copied().filter(|slot| {
                let slot = reader.frame.slots.get(*slot);
                slot.is_some_and(|slot| condition.holds(&slot.attributes))
            });
            of_kind.collect()
        });
        Self {
            resources: scope.resources,
            days: scope.days,
            steps: steps.collect(),
        }
    }

    /// For each day that a sequence can begin on, the slots of each step.
    fn starts(&self, spec: &Spec) -> Vec<Vec<Vec<usize>>> {
        let by_step: Vec<Vec<Vec<usize>>> = self
            .steps
            .iter()
            .map(|slots| by_day(slots, self.days, spec))
            .collect();
        (0..self.days.len())
            .filter_map(|first| {
                let steps = by_step.iter().enumerate();
                let steps: Option<Vec<Vec<usize>>> = steps
                    .map(|(step, days)| days.get(first + step).cloned())
                    .collect();
                steps.filter(|steps| steps.iter().all(|slots| !slots.is_empty()))
            })
            .collect()
    }
}

impl Rule for ForbiddenSequence {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let starts = self.starts(encoder.spec);
        for resource in &self.resources {
            for steps in &starts {
                let taken: Vec<Literal> = steps
                    .iter()
                    .map(|slots| encoder.any(*resource, slots))
                    .collect();
                encoder.forbid(&taken);
            }
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let spec = roster.spec;
        let takes = |resource: usize, step: &[usize], day: usize| {
            step.iter().any(|slot| {
                let on_day = spec.slots.get(*slot).is_some_and(|slot| slot.day == day);
                on_day && roster.takes(resource, *slot)
            })
        };
        let mut units = 0;
        for resource in &self.resources {
            for first in self.days.iter() {
                let mut steps = self.steps.iter().enumerate();
                let is_whole = steps.all(|(place, step)| takes(*resource, step, first + place));
                units += u64::from(is_whole);
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.resources);
        format!("{people} avoids a sequence over {} days", self.steps.len())
    }
}
