//! `forbidden_sequence`: kinds of slots that must not follow each other on successive days.

use crate::model::{Encoder, Literal};
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::places::{Places, keep_common};
use crate::spec::scope::{Scope, by_day};
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
    scope: Scope,
    /// For each step, all slots of its kind; those of the scope are meant.
    steps: Vec<Places>,
}

impl ForbiddenSequence {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let steps = reader.pattern("pattern", MAX_STEPS);
        let steps = steps.iter().map(|kind| reader.slots_of(kind, scope.days));
        Self {
            steps: steps.collect(),
            scope,
        }
    }

    /// For each step, its slots on each day.
    fn by_step(&self, spec: &Spec) -> Vec<Vec<Vec<usize>>> {
        let steps = self.steps.iter().map(|step| {
            let mut slots = step.to_vec();
            keep_common(&mut slots, &self.scope.slots);
            by_day(&slots, self.scope.days, spec)
        });
        steps.collect()
    }

    /// For each day that a sequence can begin on, the slots of each step.
    fn starts(&self, spec: &Spec) -> Vec<Vec<Vec<usize>>> {
        let by_step = self.by_step(spec);
        (0..self.scope.days.len())
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
        for resource in &self.scope.resources {
            if encoder.is_full() {
                return;
            }
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
        let by_step = self.by_step(roster.spec);
        let mut units = 0;
        for resource in &self.scope.resources {
            // Of each step, the days on which the resource takes such a slot.
            let taken: Vec<Vec<bool>> = by_step
                .iter()
                .map(|days| {
                    let days = days.iter().map(|slots| roster.takes_any(*resource, slots));
                    days.collect()
                })
                .collect();
            for first in 0..self.scope.days.len() {
                let mut steps = taken.iter().enumerate();
                let is_whole = steps.all(|(step, days)| days.get(first + step) == Some(&true));
                units += u64::from(is_whole);
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.scope.resources);
        format!("{people} avoids a sequence over {} days", self.steps.len())
    }
}
