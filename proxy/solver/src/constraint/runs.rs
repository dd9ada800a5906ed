//! Runs of days on end, shared by the types that bound their length. What is before the first day and after the
//! last is unknown: a run that touches an edge may be longer than it looks, so it is never too short.

use crate::model::{Encoder, Literal};
use crate::roster::Roster;
use crate::spec::scope::Scope;
use crate::spec::{ItemReader, MAX_DAYS, Spec};
use crate::words;

/// Bounds on the length of runs.
pub(super) struct Runs {
    pub(super) scope: Scope,
    min: Option<i64>,
    max: Option<i64>,
    of: Of,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Work,
    Rest,
}

impl Runs {
    pub(super) fn read(reader: &mut ItemReader<'_>, of: Of) -> Self {
        let scope = reader.scope();
        let (min, max) = reader.bounds();
        Self {
            scope,
            min,
            max,
            of,
        }
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) {
        let days = self.scope.by_day(encoder.spec);
        for resource in &self.scope.resources {
            if encoder.is_full() {
                return;
            }
            let on: Vec<Literal> = days
                .iter()
                .map(|day| {
                    let works = encoder.any(*resource, day);
                    if self.of == Of::Work { works } else { !works }
                })
                .collect();
            self.encode_longest(&on, encoder);
            self.encode_shortest(&on, encoder);
        }
    }

    fn encode_longest(&self, on: &[Literal], encoder: &mut Encoder<'_>) {
        let Some(max) = self.max else { return };
        for window in on.windows(days(max) + 1) {
            encoder.forbid(window);
        }
    }

    fn encode_shortest(&self, on: &[Literal], encoder: &mut Encoder<'_>) {
        let min = days(self.min.unwrap_or(0));
        for length in 1..min {
            if encoder.is_full() {
                return;
            }
            // A day off, the run, a day off.
            for window in on.windows(length + 2) {
                let last = window.len() - 1;
                let clause = window.iter().enumerate().map(|(place, literal)| {
                    let is_edge = place == 0 || place == last;
                    if is_edge { *literal } else { !*literal }
                });
                let missing = i64::try_from(min - length).unwrap_or(i64::MAX);
                encoder.clauses(vec![clause.collect()], missing);
            }
        }
    }

    pub(super) fn units(&self, roster: &Roster<'_>) -> u64 {
        let days = self.scope.by_day(roster.spec);
        let mut units = 0;
        for resource in &self.scope.resources {
            let on: Vec<bool> = days
                .iter()
                .map(|day| roster.takes_any(*resource, day) == (self.of == Of::Work))
                .collect();
            units += self.units_of(&on);
        }
        units
    }

    fn units_of(&self, on: &[bool]) -> u64 {
        let mut units = 0;
        let mut start = 0;
        for run in on.chunk_by(|one, other| one == other) {
            let end = start + run.len();
            let length = i64::try_from(run.len()).unwrap_or(i64::MAX);
            if run.first() == Some(&true) {
                let touches_an_edge = start == 0 || end == on.len();
                let min = self.min.filter(|_| !touches_an_edge);
                units += crate::roster::outside(length, min, self.max);
            }
            start = end;
        }
        units
    }

    /// `each of 3 resources has runs of 2 to 5 <what>`.
    pub(super) fn words(&self, spec: &Spec, what: &str) -> String {
        format!(
            "{} has runs of {} {what}",
            words::resources(spec, &self.scope.resources),
            words::bounds(self.min, self.max)
        )
    }

    pub(super) fn raises(&self) -> &[usize] {
        let may_ask_for_work = match self.of {
            Of::Work => self.min.is_some_and(|min| min > 1),
            Of::Rest => true,
        };
        if may_ask_for_work {
            &self.scope.slots
        } else {
            &[]
        }
    }
}

/// Bounds beyond the longest horizon ask the same as the longest horizon.
fn days(bound: i64) -> usize {
    usize::try_from(bound).unwrap_or(MAX_DAYS).min(MAX_DAYS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(min: Option<i64>, max: Option<i64>, days: &str) -> u64 {
        let scope = Scope::default();
        let on: Vec<bool> = days.chars().map(|day| day == 'x').collect();
        let runs = Runs {
            scope,
            min,
            max,
            of: Of::Work,
        };
        runs.units_of(&on)
    }

    #[test]
    fn runs_at_the_edges_are_never_too_short() {
        assert_eq!(units(Some(3), None, "x....xx"), 0);
        assert_eq!(units(Some(3), None, ".x...xx."), 2 + 1);
        assert_eq!(units(Some(3), None, ".xxx."), 0);
    }

    #[test]
    fn runs_are_never_too_long_to_the_last_day() {
        assert_eq!(units(None, Some(2), "..xxx"), 1);
        assert_eq!(units(None, Some(2), "xxxxx"), 3);
        assert_eq!(units(None, Some(2), "xx.xx"), 0);
    }
}
