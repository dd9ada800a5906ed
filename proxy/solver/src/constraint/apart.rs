//! `apart`: resources that do not work together.

use crate::model::{Encoder, Literal};
use crate::roster::{Roster, outside};
use crate::rule::Rule;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};

pub(crate) static APART: Form = Form {
    word: "apart",
    strengths: BOTH,
    weighs_itself: false,
    summary: "At most one of the resources takes any one slot or, with `\"per\": \"day\"`, takes slots on any one day. `resource_ids` or `resource_where` is required (`missing_field`) and must name at least two resources (`out_of_range`).",
    unit: "one resource too many in one slot or on one day",
    example: r#"{"type": "apart", "resource_ids": ["a", "b"], "per": "slot"}"#,
    read: |reader| Box::new(Apart::read(reader)),
};

/// Of `per`, for the types about groups of resources.
pub(super) const PER: [&str; 2] = ["slot", "day"];

struct Apart {
    scope: Scope,
    per_day: bool,
}

impl Apart {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = group(reader);
        Self {
            scope,
            per_day: reader.word("per", &PER) == 1,
        }
    }
}

/// Two resources or more, named or of a kind.
pub(super) fn group(reader: &mut ItemReader<'_>) -> Scope {
    let scope = reader.scope();
    reader.insist_on_group("resource_ids", "resource_where", scope.resources.len());
    scope
}

/// What one may not share with another: slots, or the slots of a day.
pub(super) fn meetings(scope: &Scope, per_day: bool, spec: &Spec) -> Vec<Vec<usize>> {
    if per_day {
        scope.busy_days(spec)
    } else {
        scope.slots.iter().map(|slot| vec![*slot]).collect()
    }
}

impl Rule for Apart {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        for slots in meetings(&self.scope, self.per_day, encoder.spec) {
            let present: Vec<(Literal, i64)> = self
                .scope
                .resources
                .iter()
                .map(|resource| (encoder.any(*resource, &slots), 1))
                .collect();
            encoder.linear(present, None, Some(1));
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let meetings = meetings(&self.scope, self.per_day, roster.spec);
        let units = meetings.iter().map(|slots| {
            let present = self.scope.resources.iter();
            let present = present.filter(|resource| roster.takes_any(**resource, slots));
            let number = i64::try_from(present.count()).unwrap_or(i64::MAX);
            outside(number, None, Some(1))
        });
        units.sum()
    }

    fn words(&self, _spec: &Spec) -> String {
        let per = if self.per_day { "day" } else { "slot" };
        let people = self.scope.resources.len();
        format!("at most 1 of {people} resources per {per}")
    }
}
