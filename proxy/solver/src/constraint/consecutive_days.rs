//! `consecutive_days`: how many consecutive days a resource works.

use super::runs::{Of, Runs};
use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};

pub(crate) static CONSECUTIVE_DAYS: Form = Form {
    word: "consecutive_days",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource works `min` to `max` consecutive days. A day counts as worked if the resource takes any of the slots on it. Runs that touch the first or the last day are never too short.",
    unit: "one day above `max` or below `min` in one run",
    example: r#"{"type": "consecutive_days", "min": 2, "max": 5}"#,
    read: |reader| Box::new(ConsecutiveDays::read(reader)),
};

struct ConsecutiveDays(Runs);

impl ConsecutiveDays {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        Self(Runs::read(reader, Of::Work))
    }
}

impl Rule for ConsecutiveDays {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.encode(encoder);
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        self.0.units(roster)
    }

    fn words(&self, spec: &Spec) -> String {
        self.0.words(spec, "days of work")
    }

    fn raises(&self) -> &[usize] {
        self.0.raises()
    }
}
