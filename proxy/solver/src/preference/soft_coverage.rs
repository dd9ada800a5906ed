//! `soft_coverage`: slots that may be short of people, or have more, at a cost. The model encodes it with the
//! slots' coverage; here is what it says and what it counts.

use crate::coverage;
use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::places::Places;
use crate::spec::{ItemReader, MAX_WEIGHT, Spec};
use crate::vocabulary::{Form, SOFT};
use crate::words;

pub(crate) static SOFT_COVERAGE: Form = Form {
    word: "soft_coverage",
    strengths: SOFT,
    weighs_itself: true,
    summary: "The slots may have fewer people than they need, at a cost of `under_weight` for each person missing, or more people, at a cost of `over_weight` for each person too many. A side without a weight remains a constraint. This type takes neither `resource_ids` nor `resource_where`.",
    unit: "one person missing or too many",
    example: r#"{"type": "soft_coverage", "slot_where": [{"key": "shift", "equals": "night"}], "under_weight": 100, "over_weight": 1}"#,
    read: |reader| Box::new(SoftCoverage::read(reader)),
};

pub(crate) struct SoftCoverage {
    pub(crate) slots: Places,
    pub(crate) under_weight: Option<i64>,
    pub(crate) over_weight: Option<i64>,
}

impl SoftCoverage {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let (slots, _) = reader.slots();
        let under_weight = reader.integer("under_weight", 1, MAX_WEIGHT);
        let over_weight = reader.integer("over_weight", 1, MAX_WEIGHT);
        if under_weight.is_none() && over_weight.is_none() {
            reader.insist("under_weight");
        }
        Self {
            slots,
            under_weight,
            over_weight,
        }
    }
}

impl Rule for SoftCoverage {
    fn encode(&self, _encoder: &mut Encoder<'_>) {}

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let units = self.slots.iter().map(|slot| {
            let coverage = coverage::of(roster, *slot);
            let under = self.under_weight.unwrap_or(0) * coverage.missing;
            let over = self.over_weight.unwrap_or(0) * coverage.beyond;
            (under + over).unsigned_abs()
        });
        units.sum()
    }

    fn words(&self, spec: &Spec) -> String {
        format!("{} may be short", words::slots(spec, &self.slots))
    }

    fn soft_coverage(&self) -> Option<&SoftCoverage> {
        Some(self)
    }
}
