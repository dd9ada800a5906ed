//! `same_resource`: slots that the same people take.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static SAME_RESOURCE: Form = Form {
    word: "same_resource",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource takes either all of the slots or none of them. `slot_ids` or `slot_where` is required (`missing_field`), and at least two slots must be in the scope (`out_of_range`).",
    unit: "one resource with some of the slots but not all",
    example: r#"{"type": "same_resource", "slot_ids": ["s", "t"]}"#,
    read: |reader| Box::new(SameResource::read(reader)),
};

struct SameResource(Scope);

impl SameResource {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        Self(slot_group(reader))
    }
}

/// Two slots or more, named or of a kind.
pub(super) fn slot_group(reader: &mut ItemReader<'_>) -> Scope {
    let scope = reader.scope();
    reader.insist_on_group("slot_ids", "slot_where", scope.slots.len());
    scope
}

impl Rule for SameResource {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for resource in &self.0.resources {
            let slots = self.0.slots.iter();
            let next = self.0.slots.iter().cycle().skip(1);
            let clauses = slots.zip(next).map(|(one, other)| {
                let one = encoder.assigned(*resource, *one);
                vec![!one, encoder.assigned(*resource, *other)]
            });
            let clauses = clauses.collect();
            encoder.clauses(clauses, 1);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let units = self.0.resources.iter().map(|resource| {
            let slots = self.0.slots.iter();
            let taken = slots.filter(|slot| roster.takes(*resource, **slot)).count();
            u64::from(taken > 0 && taken < self.0.slots.len())
        });
        units.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.0.resources);
        let slots = self.0.slots.len();
        format!("{people} takes all or none of {slots} slots")
    }

    fn raises(&self) -> &[usize] {
        &self.0.slots
    }
}
