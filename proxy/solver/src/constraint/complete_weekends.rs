//! `complete_weekends`: a resource works on both days of a weekend or on neither.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::Spec;
use crate::spec::scope::Scope;
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static COMPLETE_WEEKENDS: Form = Form {
    word: "complete_weekends",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource takes slots on both Saturday and Sunday of a weekend, or on neither. Weekends with a day outside the spec's days are exempt.",
    unit: "one weekend with work on only one day",
    example: r#"{"type": "complete_weekends"}"#,
    read: |reader| Box::new(CompleteWeekends(reader.scope())),
};

struct CompleteWeekends(Scope);

impl CompleteWeekends {
    /// Slots of Saturday and Sunday of each whole weekend.
    fn weekends(&self, spec: &Spec) -> Vec<(Vec<usize>, Vec<usize>)> {
        let days = self.0.by_day(spec);
        let first = self.0.days.first;
        days.windows(2)
            .enumerate()
            .filter(|(place, _)| {
                let saturday = first + place;
                spec.calendar.is_weekend(saturday) && spec.calendar.is_weekend(saturday + 1)
            })
            .filter_map(|(_, pair)| match pair {
                [saturday, sunday] => Some((saturday.clone(), sunday.clone())),
                _ => None,
            })
            .collect()
    }
}

impl Rule for CompleteWeekends {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        let weekends = self.weekends(encoder.spec);
        for resource in &self.0.resources {
            for (saturday, sunday) in &weekends {
                let one = encoder.any(*resource, saturday);
                let other = encoder.any(*resource, sunday);
                encoder.clauses(vec![vec![one, !other], vec![!one, other]], 1);
            }
        }
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        let weekends = self.weekends(roster.spec);
        let mut units = 0;
        for resource in &self.0.resources {
            for (saturday, sunday) in &weekends {
                let one = roster.takes_any(*resource, saturday);
                units += u64::from(one != roster.takes_any(*resource, sunday));
            }
        }
        units
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.0.resources);
        format!("{people} works on whole weekends or not at all")
    }

    fn raises(&self) -> &[usize] {
        &self.0.slots
    }
}
