//! `stability`: keep an earlier roster where nothing is better.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{Form, SOFT};

pub(crate) static STABILITY: Form = Form {
    word: "stability",
    strengths: SOFT,
    weighs_itself: false,
    summary: "The assignments in `baseline` that are within the scope are kept. `baseline` has the form of the `assignments` of an earlier result.",
    unit: "one resource of the baseline that no longer takes its slot",
    example: r#"{"type": "stability", "baseline": [{"slot_id": "s", "resource_ids": ["a"]}]}"#,
    read: |reader| Box::new(Stability::read(reader)),
};

struct Stability {
    /// Resources and slots.
    pairs: Vec<(usize, usize)>,
}

impl Stability {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let mut pairs = reader.assignments("baseline");
        pairs.retain(|(resource, slot)| {
            scope.resources.binary_search(resource).is_ok()
                && scope.slots.binary_search(slot).is_ok()
        });
        Self { pairs }
    }
}

impl Rule for Stability {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for (resource, slot) in &self.pairs {
            let kept = encoder.assigned(*resource, *slot);
            encoder.charge(!kept, 1);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let lost = self
            .pairs
            .iter()
            .filter(|(resource, slot)| !roster.takes(*resource, *slot));
        lost.count() as u64
    }

    fn words(&self, _spec: &Spec) -> String {
        format!("{} assignments stay as they were", self.pairs.len())
    }
}
