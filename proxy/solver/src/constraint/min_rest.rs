//! `min_rest`: time off between any two slots of a resource.

use super::spacing::Spacing;
use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::{Rows, Rule};
use crate::spec::{ItemReader, MAX_NUMBER, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static MIN_REST: Form = Form {
    word: "min_rest",
    strengths: BOTH,
    weighs_itself: false,
    summary: "At least `minutes` minutes lie between any two slots of a resource. The slots need `start` and `end`.",
    unit: "one pair of slots that are too close together",
    example: r#"{"type": "min_rest", "minutes": 660}"#,
    read: |reader| Box::new(MinRest::read(reader)),
};

struct MinRest {
    spacing: Spacing,
    minutes: i64,
}

impl MinRest {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        let minutes = reader.required_integer("minutes", 1, MAX_NUMBER);
        Self {
            spacing: Spacing::read(reader, scope, minutes),
            minutes,
        }
    }
}

impl Rule for MinRest {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.spacing.encode(encoder);
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        self.spacing.units(roster)
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.spacing.scope.resources);
        format!("{people} rests {} minutes between slots", self.minutes)
    }

    fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        self.spacing.rows(spec)
    }
}
