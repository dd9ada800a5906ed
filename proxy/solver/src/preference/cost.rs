//! `cost`: what it costs to let a resource take a slot.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{Form, SOFT};
use crate::words;

pub(crate) static COST: Form = Form {
    word: "cost",
    strengths: SOFT,
    weighs_itself: false,
    summary: "Each slot costs the value that the attribute named by `attribute` has at the resource that takes the slot: an integer from 0 to 1,000,000. Resources without the attribute cost nothing.",
    unit: "one unit of the attribute for one slot taken",
    example: r#"{"type": "cost", "attribute": "rate"}"#,
    read: |reader| Box::new(Cost::read(reader)),
};

struct Cost {
    scope: Scope,
    /// For each resource of the scope.
    rates: Vec<i64>,
}

impl Cost {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let rates = reader.rates("attribute", &scope.resources);
        Self { scope, rates }
    }

    fn rated(&self) -> impl Iterator<Item = (usize, i64)> {
        let resources = self.scope.resources.iter().copied();
        resources
            .zip(self.rates.iter().copied())
            .filter(|(_, rate)| *rate > 0)
    }
}

impl Rule for Cost {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for (resource, rate) in self.rated() {
            for slot in &self.scope.slots {
                let taken = encoder.assigned(resource, *slot);
                encoder.charge(taken, rate);
            }
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let units = self.rated().map(|(resource, rate)| {
            let slots = roster.count(resource, &self.scope.slots);
            (slots * rate).unsigned_abs()
        });
        units.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.scope.resources);
        format!("{people} costs what its attribute says")
    }
}
