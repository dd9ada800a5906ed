//! `count`: how many slots a resource takes in the horizon, in each week or on each weekend.

use crate::model::Encoder;
use crate::roster::{Roster, outside};
use crate::rule::{Rows, Rule, Sum, encode_rows};
use crate::spec::calendar::Period;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static COUNT: Form = Form {
    word: "count",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource takes `min` to `max` of the slots in each `period`: `horizon` (the default), `week` (from Monday) or `weekend` (Saturday and Sunday). Weeks and weekends without any of the slots are ignored.",
    unit: "one slot below `min` or above `max` in one period",
    example: r#"{"type": "count", "resource_ids": ["a"], "slot_where": [{"key": "shift", "equals": "night"}], "period": "week", "min": 0, "max": 3}"#,
    read: |reader| Box::new(Count::read(reader)),
};

struct Count {
    scope: Scope,
    period: Period,
    min: Option<i64>,
    max: Option<i64>,
}

impl Count {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let period = Period::of(reader.word("period", &Period::WORDS));
        let (min, max) = reader.bounds();
        Self {
            scope,
            period,
            min,
            max,
        }
    }
}

impl Rule for Count {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        if let Some(rows) = self.rows(encoder.spec) {
            encode_rows(&rows, encoder);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let spec = roster.spec;
        let periods = spec
            .calendar
            .periods(self.period, &self.scope.slots, &spec.slots);
        let mut units = 0;
        for resource in &self.scope.resources {
            for slots in &periods {
                units += outside(roster.count(*resource, slots), self.min, self.max);
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        format!(
            "{} takes {} of {} per {}",
            words::resources(spec, &self.scope.resources),
            words::bounds(self.min, self.max),
            words::slots(spec, &self.scope.slots),
            self.period.word()
        )
    }

    fn raises(&self) -> &[usize] {
        if self.min.is_some_and(|min| min > 0) {
            &self.scope.slots
        } else {
            &[]
        }
    }

    fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        let calendar = spec.calendar;
        let periods = calendar.periods(self.period, &self.scope.slots, &spec.slots);
        let sums = periods
            .iter()
            .map(|slots| Sum::between(slots, self.min, self.max));
        Some(Rows {
            resources: &self.scope.resources,
            sums: sums.collect(),
        })
    }
}
