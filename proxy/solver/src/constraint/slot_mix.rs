//! `slot_mix`: how many of the people of each slot are of a kind.

use crate::model::{Encoder, Literal};
use crate::roster::{Roster, outside};
use crate::rule::Rule;
use crate::spec::places::Places;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static SLOT_MIX: Form = Form {
    word: "slot_mix",
    strengths: BOTH,
    weighs_itself: false,
    summary: "In each slot, `min` to `max` of the people who are in the scope meet `where`. Slots that need nobody are ignored.",
    unit: "one person below `min` or above `max` in one slot",
    example: r#"{"type": "slot_mix", "slot_where": [{"key": "shift", "equals": "night"}], "where": [{"key": "senior", "equals": true}], "min": 1}"#,
    read: |reader| Box::new(SlotMix::read(reader)),
};

struct SlotMix {
    slots: Places,
    kind: Places,
    min: Option<i64>,
    max: Option<i64>,
}

impl SlotMix {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let condition = reader.required_condition("where");
        let kind = reader.narrowed(&scope.resources, &condition);
        let slots = reader.those(scope.slots, |slot| slot.need() > 0);
        let (min, max) = reader.bounds();
        Self {
            slots,
            kind,
            min,
            max,
        }
    }
}

impl Rule for SlotMix {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for slot in &self.slots {
            let terms: Vec<(Literal, i64)> = self
                .kind
                .iter()
                .map(|resource| (encoder.assigned(*resource, *slot), 1))
                .collect();
            encoder.linear(terms, self.min, self.max);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let units = self.slots.iter().map(|slot| {
            let people = roster.people(*slot);
            let of_kind = people
                .iter()
                .filter(|person| self.kind.binary_search(person).is_ok());
            let number = i64::try_from(of_kind.count()).unwrap_or(i64::MAX);
            outside(number, self.min, self.max)
        });
        units.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        format!(
            "{} takes {} of {} resources of a kind",
            words::slots(spec, &self.slots),
            words::bounds(self.min, self.max),
            self.kind.len()
        )
    }

    fn raises(&self) -> &[usize] {
        if self.min.is_some_and(|min| min > 0) {
            &self.slots
        } else {
            &[]
        }
    }
}
