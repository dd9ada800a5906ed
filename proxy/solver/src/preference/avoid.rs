//! `avoid`: slots that a resource would rather not take.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::Spec;
use crate::spec::scope::Scope;
use crate::vocabulary::{Form, SOFT};
use crate::words;

pub(crate) static AVOID: Form = Form {
    word: "avoid",
    strengths: SOFT,
    weighs_itself: false,
    summary: "The resources would rather not take the slots.",
    unit: "one slot that one of them takes",
    example: r#"{"type": "avoid", "resource_ids": ["a"], "slot_where": [{"key": "shift", "equals": "night"}]}"#,
    read: |reader| Box::new(Avoid(reader.scope())),
};

struct Avoid(Scope);

impl Rule for Avoid {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for resource in &self.0.resources {
            for slot in &self.0.slots {
                let taken = encoder.assigned(*resource, *slot);
                encoder.charge(taken, 1);
            }
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let taken = self.0.slots.iter().map(|slot| {
            let people = roster.people(*slot).iter();
            let among = people.filter(|person| self.0.resources.binary_search(person).is_ok());
            among.count() as u64
        });
        taken.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        let slots = words::slots(spec, &self.0.slots);
        format!(
            "{} avoids {slots}",
            words::resources(spec, &self.0.resources)
        )
    }
}
