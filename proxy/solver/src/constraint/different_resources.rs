//! `different_resources`: slots of which a resource takes one at most.

use super::same_resource::slot_group;
use crate::model::Encoder;
use crate::roster::{Roster, outside};
use crate::rule::{Rows, Rule, Sum, encode_rows};
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static DIFFERENT_RESOURCES: Form = Form {
    word: "different_resources",
    strengths: BOTH,
    weighs_itself: false,
    summary: "No resource takes more than one of the slots. `slot_ids` or `slot_where` is required (`missing_field`), and at least two slots must be in the scope (`out_of_range`).",
    unit: "one slot too many for one resource",
    example: r#"{"type": "different_resources", "slot_ids": ["s", "t"]}"#,
    read: |reader| Box::new(DifferentResources::read(reader)),
};

struct DifferentResources(Scope);

impl DifferentResources {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        Self(slot_group(reader))
    }
}

impl Rule for DifferentResources {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        if let Some(rows) = self.rows(encoder.spec) {
            encode_rows(&rows, encoder);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let units = self.0.resources.iter().map(|resource| {
            let taken = roster.count(*resource, &self.0.slots);
            outside(taken, None, Some(1))
        });
        units.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.0.resources);
        format!("{people} takes at most 1 of {} slots", self.0.slots.len())
    }

    fn rows(&self, _spec: &Spec) -> Option<Rows<'_>> {
        Some(Rows {
            resources: &self.0.resources,
            sums: vec![Sum::at_most(&self.0.slots, 1)],
        })
    }
}
