//! `together`: resources that work together or not at all.

use super::apart::{PER, group, meetings};
use crate::model::{Encoder, Literal};
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static TOGETHER: Form = Form {
    word: "together",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Either all of the resources take a slot or none of them does. With `\"per\": \"day\"`, either all of them take slots on a day or none of them does. `resource_ids` or `resource_where` is required (`missing_field`) and must name at least two resources (`out_of_range`).",
    unit: "one slot or day with some of the resources but not all",
    example: r#"{"type": "together", "resource_ids": ["a", "b"], "per": "day"}"#,
    read: |reader| Box::new(Together::read(reader)),
};

struct Together {
    scope: Scope,
    per_day: bool,
}

impl Together {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = group(reader);
        Self {
            scope,
            per_day: reader.word("per", &PER) == 1,
        }
    }
}

impl Rule for Together {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for slots in meetings(&self.scope, self.per_day, encoder.spec) {
            let present: Vec<Literal> = self
                .scope
                .resources
                .iter()
                .map(|resource| encoder.any(*resource, &slots))
                .collect();
            // Round in a circle, each brings the next.
            let next = present.iter().cycle().skip(1);
            let clauses = present
                .iter()
                .zip(next)
                .map(|(one, other)| vec![!*one, *other]);
            encoder.clauses(clauses.collect(), 1);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let meetings = meetings(&self.scope, self.per_day, roster.spec);
        let units = meetings.iter().map(|slots| {
            let present = self.scope.resources.iter();
            let present = present
                .filter(|resource| roster.takes_any(**resource, slots))
                .count();
            u64::from(present > 0 && present < self.scope.resources.len())
        });
        units.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        let per = if self.per_day { "day" } else { "slot" };
        let people = words::resources(spec, &self.scope.resources);
        format!("{people} works with all others or not, per {per}")
    }

    fn raises(&self) -> &[usize] {
        &self.scope.slots
    }
}
