//! `rolling`: how much a resource works in any so many days on end.

use crate::model::Encoder;
use crate::roster::{Roster, outside};
use crate::rule::{Rows, Rule, Sum, encode_rows};
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, MAX_DAYS, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

use super::minutes::timed;

pub(crate) static ROLLING: Form = Form {
    word: "rolling",
    strengths: BOTH,
    weighs_itself: false,
    summary: "In any `window_days` consecutive days, each resource takes `min` to `max`: `slots` (the default `unit`), `days` with a slot, or `minutes` (the slots need `start` and `end`). Windows lie wholly inside the spec's days. If there are fewer days than a window has, `max` applies to all of them together and `min` is not enforced.",
    unit: "one slot, day or minute below `min` or above `max` in one window",
    example: r#"{"type": "rolling", "window_days": 14, "max": 8, "unit": "slots"}"#,
    read: |reader| Box::new(Rolling::read(reader)),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Slots,
    Days,
    Minutes,
}

const UNITS: [&str; 3] = ["slots", "days", "minutes"];

struct Rolling {
    scope: Scope,
    window_days: usize,
    unit: Unit,
    min: Option<i64>,
    max: Option<i64>,
}

impl Rolling {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let most = i64::try_from(MAX_DAYS).unwrap_or(i64::MAX);
        let window_days = reader.required_integer("window_days", 1, most);
        let unit = match reader.word("unit", &UNITS) {
            0 => Unit::Slots,
            1 => Unit::Days,
            _ => Unit::Minutes,
        };
        if unit == Unit::Minutes {
            reader.need_times(&scope.slots);
        }
        let (min, max) = reader.bounds();
        Self {
            scope,
            window_days: usize::try_from(window_days).unwrap_or(1),
            unit,
            min,
            max,
        }
    }

    /// The slots of each day of each window.
    fn windows<'d>(&self, days: &'d [Vec<usize>]) -> Vec<&'d [Vec<usize>]> {
        if days.len() < self.window_days {
            vec![days]
        } else {
            days.windows(self.window_days).collect()
        }
    }

    /// The least that is asked of a window of so many days.
    fn least(&self, days: usize) -> Option<i64> {
        self.min.filter(|_| days == self.window_days)
    }
}

impl Rule for Rolling {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        if let Some(rows) = self.rows(encoder.spec) {
            return encode_rows(&rows, encoder);
        }
        let days = self.scope.by_day(encoder.spec);
        for resource in &self.scope.resources {
            if encoder.is_full() {
                return;
            }
            for window in self.windows(&days) {
                let terms = window
                    .iter()
                    .map(|day| (encoder.any(*resource, day), 1))
                    .collect();
                encoder.linear(terms, self.least(window.len()), self.max);
            }
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let days = self.scope.by_day(roster.spec);
        let window_days = self.window_days.min(days.len());
        let least = self.least(window_days);
        let mut units = 0;
        for resource in &self.scope.resources {
            let days = days.iter().map(|day| match self.unit {
                Unit::Slots => roster.count(*resource, day),
                Unit::Days => i64::from(roster.takes_any(*resource, day)),
                Unit::Minutes => roster.minutes(*resource, day),
            });
            // What was done before each day, and in all.
            let mut done = vec![0];
            done.extend(days.scan(0, |sum, day| {
                *sum += day;
                Some(*sum)
            }));
            for (before, after) in done.iter().zip(done.iter().skip(window_days)) {
                units += outside(after - before, least, self.max);
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        let unit = match self.unit {
            Unit::Slots => "slots",
            Unit::Days => "days",
            Unit::Minutes => "minutes",
        };
        format!(
            "{} works {} {unit} in any {} days",
            words::resources(spec, &self.scope.resources),
            words::bounds(self.min, self.max),
            self.window_days
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
        self.unit == Unit::Minutes
    }

    fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        if self.unit == Unit::Days {
            return None;
        }
        let days = self.scope.by_day(spec);
        let sums = self.windows(&days).into_iter().map(|window| {
            let slots: Vec<usize> = window.iter().flatten().copied().collect();
            let (min, max) = (self.least(window.len()), self.max);
            match self.unit {
                Unit::Minutes => Sum {
                    terms: timed(&slots, spec),
                    min,
                    max,
                },
                Unit::Slots | Unit::Days => Sum::between(&slots, min, max),
            }
        });
        Some(Rows {
            resources: &self.scope.resources,
            sums: sums.collect(),
        })
    }
}
