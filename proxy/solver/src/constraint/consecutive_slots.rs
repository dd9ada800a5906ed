//! `consecutive_slots`: on how many days on end a resource takes slots of one kind.

use super::runs::{Of, Runs};
use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::Rule;
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};

pub(crate) static CONSECUTIVE_SLOTS: Form = Form {
    word: "consecutive_slots",
    strengths: BOTH,
    weighs_itself: false,
    summary: "Each resource takes slots of one kind, such as nights, on `min` to `max` consecutive days. `slot_where` or `slot_ids` names the kind. Runs that touch the first or the last day are never too short.",
    unit: "one day above `max` or below `min` in one run",
    example: r#"{"type": "consecutive_slots", "slot_where": [{"key": "shift", "equals": "night"}], "min": 2, "max": 4}"#,
    read: |reader| Box::new(ConsecutiveSlots::read(reader)),
};

struct ConsecutiveSlots(Runs);

impl ConsecutiveSlots {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        reader.insist_on_kind();
        Self(Runs::read(reader, Of::Work))
    }
}

impl Rule for ConsecutiveSlots {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.encode(encoder);
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        self.0.units(roster)
    }

    fn words(&self, spec: &Spec) -> String {
        self.0.words(spec, "days with such slots")
    }

    fn raises(&self) -> &[usize] {
        self.0.raises()
    }
}
