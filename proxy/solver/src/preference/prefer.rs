//! `prefer`: slots that a resource would like to take.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::Spec;
use crate::spec::scope::Scope;
use crate::vocabulary::{Form, SOFT};
use crate::words;

pub(crate) static PREFER: Form = Form {
    word: "prefer",
    strengths: SOFT,
    weighs_itself: false,
    summary: "The resources would like to take the slots.",
    unit: "one slot that one of them does not take",
    example: r#"{"type": "prefer", "resource_ids": ["a"], "slot_ids": ["s"]}"#,
    read: |reader| Box::new(Prefer(reader.scope())),
};

struct Prefer(Scope);

impl Rule for Prefer {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for resource in &self.0.resources {
            for slot in &self.0.slots {
                let taken = encoder.assigned(*resource, *slot);
                encoder.charge(!taken, 1);
            }
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let missing = self.0.resources.iter().map(|resource| {
            let slots = self.0.slots.iter();
            slots
                .filter(|slot| !roster.takes(*resource, **slot))
                .count() as u64
        });
        missing.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        let slots = words::slots(spec, &self.0.slots);
        format!(
            "{} prefers {slots}",
            words::resources(spec, &self.0.resources)
        )
    }
}
