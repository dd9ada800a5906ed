//! `no_overlap`: a resource is in one place at a time.

use super::spacing::Spacing;
use crate::model::Encoder;
use crate::roster::Roster;
use crate::rule::{Rows, Rule};
use crate::spec::{ItemReader, Spec};
use crate::vocabulary::{BOTH, Form};
use crate::words;

pub(crate) static NO_OVERLAP: Form = Form {
    word: "no_overlap",
    strengths: BOTH,
    weighs_itself: false,
    summary: "No resource takes two slots that overlap in time. A slot may begin at the time another one ends. The slots need `start` and `end`.",
    unit: "one pair of slots that overlap",
    example: r#"{"type": "no_overlap"}"#,
    read: |reader| Box::new(NoOverlap::read(reader)),
};

struct NoOverlap(Spacing);

impl NoOverlap {
    fn read(reader: &mut ItemReader<'_>) -> Self {
        let scope = reader.scope();
        Self(Spacing::read(reader, scope, 0))
    }
}

impl Rule for NoOverlap {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.encode(encoder);
    }

    fn units(&self, roster: &Roster<'_>) -> u64 {
        self.0.units(roster)
    }

    fn words(&self, spec: &Spec) -> String {
        let people = words::resources(spec, &self.0.scope.resources);
        format!("{people} takes no slots that overlap")
    }

    fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        self.0.rows(spec)
    }
}
