//! `fixed`: slots that a resource takes in every answer: decisions that stand, or what happened already.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{Form, HARD};
use crate::words;

pub(crate) static FIXED: Form = Form {
    word: "fixed",
    strengths: HARD,
    weighs_itself: false,
    summary: "The resources that `resource_ids` names take all of the slots that `slot_ids` names. Past slots that are fixed give later rules their history. The corresponding preference is `prefer`.",
    unit: "one slot not taken",
    example: r#"{"type": "fixed", "resource_ids": ["a"], "slot_ids": ["s"]}"#,
    read: |reader| Box::new(Fixed::read(reader)),
};

struct Fixed(Scope);

impl Fixed {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        reader.insist("resource_ids");
        reader.insist("slot_ids");
        Self(reader.scope())
    }
}

impl Rule for Fixed {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for resource in &self.0.resources {
            for slot in &self.0.slots {
                let taken = encoder.assigned(*resource, *slot);
                encoder.always(vec![taken]);
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
        let resources = words::resources(spec, &self.0.resources);
        let slots = words::slots(spec, &self.0.slots);
        let pairs = self.0.resources.iter().flat_map(|resource| {
            let slots = self.0.slots.iter();
            slots.map(move |slot| (resource, slot))
        });
        let is_ineligible = |(resource, slot): &(&usize, &usize)| {
            let slot = spec.slots.get(**slot);
            slot.is_some_and(|slot| !slot.admits(**resource))
        };
        let mut never = pairs.filter(is_ineligible);
        match (never.next(), self.0.resources.len() + self.0.slots.len()) {
            (None, _) => format!("{resources} takes {slots}"),
            (Some(_), 2) => format!("{resources} takes {slots}, for which it is not eligible"),
            (Some((resource, slot)), _) => {
                let resource = words::resources(spec, &[*resource]);
                let slot = words::slots(spec, &[*slot]);
                format!("{resources} takes {slots}, but {resource} is not eligible for {slot}")
            }
        }
    }

    fn raises(&self) -> &[usize] {
        &self.0.slots
    }
}
