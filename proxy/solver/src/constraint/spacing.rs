//! Slots of one resource that lie too close in time, shared by the types that forbid it.

use crate::model::{Encoder, Literal};
use crate::roster::Roster;
use crate::rule::{Rows, Sum};
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, Spec, Times};

/// Two slots of a resource must have so many minutes between them.
pub(super) struct Spacing {
    pub(super) scope: Scope,
    minutes: i64,
    /// As a wish each close pair counts; as a constraint whole groups exclude each other.
    pairs: bool,
}

impl Spacing {
    pub(super) fn read(reader: &mut ItemReader<'_>, scope: Scope, minutes: i64) -> Self {
        reader.need_times(&scope.slots);
        Self {
            scope,
            minutes,
            pairs: reader.is_preference,
        }
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) {
        if let Some(rows) = self.rows(encoder.spec) {
            return crate::rule::encode_rows(&rows, encoder);
        }
        let timed = self.timed(encoder.spec);
        for resource in &self.scope.resources {
            encoder.looked(timed.len());
            let slots = timed
                .iter()
                .map(|(slot, times)| (encoder.assigned(*resource, *slot), *times));
            let takeable = slots.filter(|(taken, _)| *taken != Literal::Constant(false));
            let takeable: Vec<(Literal, Times)> = takeable.collect();
            for (place, (one, first)) in takeable.iter().enumerate() {
                // Every two of thousands of slots may be close.
                if encoder.is_full() {
                    return;
                }
                for (other, second) in takeable.iter().skip(place + 1) {
                    if second.start >= first.end + self.minutes {
                        break;
                    }
                    encoder.forbid(&[*one, *other]);
                }
            }
        }
    }

    pub(super) fn units(&self, roster: &Roster<'_>) -> u64 {
        let mut units = 0;
        for resource in &self.scope.resources {
            let taken: Vec<Times> = self
                .scope
                .slots
                .iter()
                .filter(|slot| roster.takes(*resource, **slot))
                .filter_map(|slot| roster.spec.slots.get(*slot)?.times)
                .collect();
            for (place, one) in taken.iter().enumerate() {
                for other in taken.iter().skip(place + 1) {
                    units += u64::from(self.is_close(*one, *other));
                }
            }
        }
        units
    }

    fn is_close(&self, one: Times, other: Times) -> bool {
        one.start < other.end + self.minutes && other.start < one.end + self.minutes
    }

    fn timed(&self, spec: &Spec) -> Vec<(usize, Times)> {
        let mut timed: Vec<(usize, Times)> = self
            .scope
            .slots
            .iter()
            .filter_map(|slot| Some((*slot, spec.slots.get(*slot)?.times?)))
            .collect();
        timed.sort_by_key(|(slot, times)| (times.start, times.end, *slot));
        timed
    }

    /// With its rest behind it, a slot is an interval, and two slots are too close where these meet. Intervals
    /// that meet in pairs share a moment, which is the start of one of them.
    pub(super) fn rows(&self, spec: &Spec) -> Option<Rows<'_>> {
        if self.pairs {
            return None;
        }
        let mut sums: Vec<Sum> = Vec::new();
        let mut open: Vec<(usize, Times)> = Vec::new();
        for (slot, times) in self.timed(spec) {
            let is_over = |(_, other): &(usize, Times)| other.end + self.minutes <= times.start;
            if open.iter().any(is_over) {
                // The last one that came has not been in a group with these yet.
                sums.extend(group(&open));
                open.retain(|other| !is_over(other));
            }
            open.push((slot, times));
        }
        sums.extend(group(&open));
        Some(Rows {
            resources: &self.scope.resources,
            sums,
        })
    }
}

fn group(open: &[(usize, Times)]) -> Option<Sum> {
    let slots: Vec<usize> = open.iter().map(|(slot, _)| *slot).collect();
    (slots.len() > 1).then(|| Sum::at_most(&slots, 1))
}
