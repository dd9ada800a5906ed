//! `balance`: the same load for everybody.

use crate::model::{Encoder, Literal, flat};
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{Form, SOFT};
use crate::words;

pub(crate) static BALANCE: Form = Form {
    word: "balance",
    strengths: SOFT,
    weighs_itself: false,
    summary: "All resources have the same load, measured in `slots` (the default `unit`), in `minutes` (the slots need `start` and `end`) or in `days` with a slot.",
    unit: "one slot, minute or day of difference between the largest and the smallest load",
    example: r#"{"type": "balance", "unit": "slots"}"#,
    read: |reader| Box::new(Balance::read(reader)),
};

const UNITS: [&str; 3] = ["slots", "minutes", "days"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Slots,
    Minutes,
    Days,
}

struct Balance {
    scope: Scope,
    unit: Unit,
}

impl Balance {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let unit = match reader.word("unit", &UNITS) {
            0 => Unit::Slots,
            1 => Unit::Minutes,
            _ => Unit::Days,
        };
        if unit == Unit::Minutes {
            reader.need_times(&scope.slots);
        }
        Self { scope, unit }
    }

    fn load(&self, resource: usize, encoder: &mut Encoder<'_>) -> Vec<(Literal, i64)> {
        if self.unit == Unit::Days {
            let days = self.scope.busy_days(encoder.spec);
            let days = days.iter().map(|day| (encoder.any(resource, day), 1));
            return days.collect();
        }
        let slots = self.scope.slots.iter().map(|slot| {
            let times = encoder.spec.slots.get(*slot).and_then(|slot| slot.times);
            let minutes = times.map_or(0, |times| times.minutes());
            let worth = if self.unit == Unit::Minutes {
                minutes
            } else {
                1
            };
            (encoder.assigned(resource, *slot), worth)
        });
        slots.collect()
    }
}

impl Rule for Balance {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let loads: Vec<(Vec<(i32, i64)>, i64)> = self
            .scope
            .resources
            .iter()
            .map(|resource| flat(&self.load(*resource, encoder)))
            .collect();
        let most = loads
            .iter()
            .map(|(vars, constant)| encoder.activity(vars).1 + constant)
            .max()
            .unwrap_or(0);
        if most == 0 || loads.len() < 2 {
            return;
        }
        // Every load lies between the smallest and that plus the spread, which costs.
        let smallest = encoder.integer(0, most);
        let spread = encoder.cost(most, encoder.weight());
        for (vars, constant) in loads {
            let mut above = vars.clone();
            above.push((smallest, -1));
            encoder.raw(above, -constant, most);
            let mut below = vars;
            below.extend([(smallest, -1), (spread, -1)]);
            encoder.raw(below, -constant - 2 * most, -constant);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let loads = self.scope.resources.iter().map(|resource| match self.unit {
            Unit::Slots => roster.count(*resource, &self.scope.slots),
            Unit::Minutes => roster.minutes(*resource, &self.scope.slots),
            Unit::Days => {
                let mut days: Vec<usize> = self
                    .scope
                    .slots
                    .iter()
                    .filter(|slot| roster.takes(*resource, **slot))
                    .filter_map(|slot| roster.spec.slots.get(*slot).map(|slot| slot.day))
                    .collect();
                days.dedup();
                i64::try_from(days.len()).unwrap_or(i64::MAX)
            }
        });
        let loads: Vec<i64> = loads.collect();
        let spread = loads.iter().max().zip(loads.iter().min());
        spread.map_or(0, |(most, least)| (most - least).unsigned_abs())
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.scope.resources);
        format!("{people} has the same load")
    }
}
