//! `minutes`: how long a resource works in the horizon, in each week or on each weekend.

use crate::model::Encoder;
use crate::roster::{Roster, outside};
use crate::rule::{Rows, Rule, Sum, encode_rows};
use crate::spec::calendar::Period;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static MINUTES: Form = Form {
    word: "minutes",
    strengths: BOTH,
    weighs_itself: false,
    summary: "The slots that a resource takes in each `period` (as for `count`) last `min` to `max` minutes in all. The slots need `start` and `end`.",
    unit: "one minute below `min` or above `max` in one period",
    example: r#"{"type": "minutes", "resource_ids": ["a"], "period": "week", "min": 0, "max": 2400}"#,
    read: |reader| Box::new(Minutes::read(reader)),
};

struct Minutes {
    scope: Scope,
    period: Period,
    min: Option<i64>,
    max: Option<i64>,
}

impl Minutes {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        reader.need_times(&scope.slots);
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

/// Slots with their minutes.
pub(super) fn timed(slots: &[usize], spec: &Spec) -> Vec<(usize, i64)> {
    slots
        .iter()
        .filter_map(|slot| {
            let times = spec.slots.get(*slot)?.times?;
            Some((*slot, times.minutes()))
        })
        .collect()
}

impl Rule for Minutes {
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
                units += outside(roster.minutes(*resource, slots), self.min, self.max);
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        format!(
            "{} works {} minutes per {}",
            words::resources(spec, &self.scope.resources),
            words::bounds(self.min, self.max),
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

    fn counts_minutes(&self) -> bool {
        true
    }

    fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        let calendar = spec.calendar;
        let periods = calendar.periods(self.period, &self.scope.slots, &spec.slots);
        let sums = periods.iter().map(|slots| Sum {
            terms: timed(slots, spec),
            min: self.min,
            max: self.max,
        });
        Some(Rows {
            resources: &self.scope.resources,
            sums: sums.collect(),
        })
    }
}
