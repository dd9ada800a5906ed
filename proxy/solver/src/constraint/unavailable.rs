//! `unavailable`: slots that a resource cannot take.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::{Rows, Rule, Sum, encode_rows};
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Slot, Spec};
use crate::vocabulary::{Form, HARD};
use crate::words;

pub(crate) static UNAVAILABLE: Form = Form {
    word: "unavailable",
    strengths: HARD,
    weighs_itself: false,
    summary: "The resources take none of the slots. With `days`, they take none of the slots on these days. The corresponding preference is `avoid`.",
    unit: "one slot taken",
    example: r#"{"type": "unavailable", "resource_ids": ["a"], "days": ["2026-11-03"]}"#,
    read: |reader| Box::new(Unavailable::read(reader)),
};

struct Unavailable(Scope);

impl Unavailable {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let mut scope = reader.scope();
        if let Some(days) = reader.dates("days") {
            let is_on = |slot: &Slot| days.binary_search(&slot.day).is_ok();
            scope.slots = reader.those(scope.slots, is_on);
        }
        Self(scope)
    }
}

impl Rule for Unavailable {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        if let Some(rows) = self.rows(encoder.spec) {
            encode_rows(&rows, encoder);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let taken = self.0.resources.iter().map(|resource| {
            let taken = self.0.slots.iter();
            taken.filter(|slot| roster.takes(*resource, **slot)).count() as u64
        });
        taken.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        format!(
            "{} is not available for {}",
            words::resources(spec, &self.0.resources),
            words::slots(spec, &self.0.slots)
        )
    }

    fn rows(&self, _spec: &Spec) -> Option<Rows<'_>> {
        let sums = self.0.slots.iter().map(|slot| Sum::at_most(&[*slot], 0));
        Some(Rows {
            resources: &self.0.resources,
            sums: sums.collect(),
        })
    }
}
