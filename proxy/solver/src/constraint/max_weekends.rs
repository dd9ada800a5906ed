//! `max_weekends`: on how many weekends a resource works.

use crate::model::{Encoder, Literal};
use crate::roster::{Roster, outside};
use crate::rule::Rule;
use crate::spec::calendar::Period;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, MAX_NUMBER, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static MAX_WEEKENDS: Form = Form {
    word: "max_weekends",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource takes slots on at most `limit` weekends (Saturday, Sunday or both).",
    unit: "one weekend above the limit",
    example: r#"{"type": "max_weekends", "limit": 2}"#,
    read: |reader| Box::new(MaxWeekends::read(reader)),
};

struct MaxWeekends {
    scope: Scope,
    limit: i64,
}

impl MaxWeekends {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        Self {
            scope: reader.scope(),
            limit: reader.required_integer("limit", 0, MAX_NUMBER),
        }
    }
}

impl Rule for MaxWeekends {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let spec = encoder.spec;
        let weekends = spec
            .calendar
            .periods(Period::Weekend, &self.scope.slots, &spec.slots);
        for resource in &self.scope.resources {
            let terms: Vec<(Literal, i64)> = weekends
                .iter()
                .map(|slots| (encoder.any(*resource, slots), 1))
                .collect();
            encoder.linear(terms, None, Some(self.limit));
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let spec = roster.spec;
        let mut units = 0;
        for resource in &self.scope.resources {
            let mut weeks: Vec<usize> = self
                .scope
                .slots
                .iter()
                .filter(|slot| roster.takes(*resource, **slot))
                .filter_map(|slot| spec.slots.get(*slot).map(|slot| slot.day))
                .filter(|day| spec.calendar.is_weekend(*day))
                .map(|day| spec.calendar.week(day))
                .collect();
            weeks.dedup();
            let weekends = i64::try_from(weeks.len()).unwrap_or(i64::MAX);
            units += outside(weekends, None, Some(self.limit));
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.scope.resources);
        format!("{people} works on at most {} weekends", self.limit)
    }
}
