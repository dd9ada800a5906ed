//! `consecutive_days_off`: how many days on end a resource is off.

use super::runs::{Of, Runs};
use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};

pub(crate) static CONSECUTIVE_DAYS_OFF: Form = Form {
    word: "consecutive_days_off",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource is off for `min` to `max` consecutive days. A day counts as off if the resource takes none of the slots on it. Runs that touch the first or the last day are never too short.",
    unit: "one day above `max` or below `min` in one run",
    example: r#"{"type": "consecutive_days_off", "min": 2}"#,
    read: |reader| Box::new(ConsecutiveDaysOff::read(reader)),
};

struct ConsecutiveDaysOff(Runs);

impl ConsecutiveDaysOff {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        Self(Runs::read(reader, Of::Rest))
    }
}

impl Rule for ConsecutiveDaysOff {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.encode(encoder);
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        self.0.units(roster)
    }

    fn words(&self, spec: &Spec) -> String {
        self.0.words(spec, "days off")
    }

    fn raises(&self) -> &[usize] {
        self.0.raises()
    }
}
