//! `max_per_day`: a resource takes no more than so many slots on one day.

use crate::model::Encoder;
use crate::roster::{Roster, outside};
use crate::rule::{Rows, Rule, Sum, encode_rows};
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, MAX_NUMBER, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static MAX_PER_DAY: Form = Form {
    word: "max_per_day",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource takes at most `limit` of the slots on any one day.",
    unit: "one slot above the limit on one day",
    example: r#"{"type": "max_per_day", "resource_ids": ["a"], "limit": 1}"#,
    read: |reader| Box::new(MaxPerDay::read(reader)),
};

struct MaxPerDay {
    scope: Scope,
    limit: i64,
}

impl MaxPerDay {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        Self {
            scope: reader.scope(),
            limit: reader.required_integer("limit", 0, MAX_NUMBER),
        }
    }
}

impl Rule for MaxPerDay {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        if let Some(rows) = self.rows(encoder.spec) {
            encode_rows(&rows, encoder);
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let days = self.scope.busy_days(roster.spec);
        let mut units = 0;
        for resource in &self.scope.resources {
            for day in &days {
                units += outside(roster.count(*resource, day), None, Some(self.limit));
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.scope.resources);
        format!("{people} takes at most {} per day", self.limit)
    }

    fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        let days = self.scope.busy_days(spec);
        Some(Rows {
            resources: &self.scope.resources,
            sums: days
                .iter()
                .map(|day| Sum::at_most(day, self.limit))
                .collect(),
        })
    }
}
