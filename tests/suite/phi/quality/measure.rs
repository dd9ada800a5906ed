//! Counting hits, misses and harm. Positions are code points; a value counts as found when every letter and digit of it
//! is covered, whatever kind the detectors say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::texts::Labelled;

/// A span of the answer.
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: String,
}

impl Found {
    pub(crate) fn read(span: &Value) -> Self {
        let place = |key: &str| usize::try_from(span[key].as_u64().unwrap()).unwrap();
        Self {
            start: place("start"),
            end: place("end"),
            kind: span["kind"].as_str().unwrap().to_owned(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Tally {
    texts: usize,
    touched: usize,
    values: usize,
    found: usize,
    exact: usize,
    /// Letters and digits of values, and those left in clear.
    secret: usize,
    leaked: usize,
    /// Spans of the kinds in question, and those that meet a value.
    spans: usize,
    right: usize,
}

impl Tally {
    /// Adds one text: all of it, or what is of one kind.
    pub(crate) fn add(&mut self, labelled: &Labelled, found: &[Found], kind: Option<&str>) {
        self.texts += 1;
        self.touched += usize::from(!found.is_empty());
        let text: Vec<char> = labelled.text.chars().collect();
        for value in labelled
            .values
            .iter()
            .filter(|value| kind.is_none_or(|kind| kind == value.kind))
        {
            let (mut all, mut open) = (0, 0);
            for at in (value.start..value.end).filter(|at| text[*at].is_alphanumeric()) {
                all += 1;
                open += usize::from(!found.iter().any(|span| span.start <= at && at < span.end));
            }
            self.values += 1;
            self.secret += all;
            self.leaked += open;
            if open == 0 {
                self.found += 1;
                let is_exact = found.iter().any(|span| {
                    span.kind == value.kind && span.start < value.end && value.start < span.end
                });
                self.exact += usize::from(is_exact);
            }
        }
        for span in found
            .iter()
            .filter(|span| kind.is_none_or(|kind| kind == span.kind))
        {
            self.spans += 1;
            let is_right = labelled
                .values
                .iter()
                .any(|value| span.start < value.end && value.start < span.end);
            self.right += usize::from(is_right);
        }
    }

    /// In per cent.
    pub(crate) fn measure(&self, name: &str) -> f64 {
        match name {
            "recall" => share(self.found, self.values),
            "exact" => share(self.exact, self.values),
            "precision" => share(self.right, self.spans),
            "leak" => 100.0 - share(self.secret - self.leaked, self.secret),
            "touched" => 100.0 - share(self.texts - self.touched, self.texts),
            other => panic!("no measure {other}"),
        }
    }
}

/// The values of a text that are not wholly covered, with the words around them.
pub(crate) fn misses(labelled: &Labelled, found: &[Found]) -> Vec<String> {
    /// Code points shown on either side.
    const AROUND: usize = 30;
    let text: Vec<char> = labelled.text.chars().collect();
    let is_open = |at: usize| {
        text[at].is_alphanumeric() && !found.iter().any(|span| span.start <= at && at < span.end)
    };
    labelled
        .values
        .iter()
        .filter(|value| (value.start..value.end).any(is_open))
        .map(|value| {
            let piece = |from: usize, to: usize| text[from..to].iter().collect::<String>();
            let before = piece(value.start.saturating_sub(AROUND), value.start);
            let behind = piece(value.end, text.len().min(value.end + AROUND));
            let value_text = piece(value.start, value.end);
            format!(
                "{} {}: {before:?} [{value_text}] {behind:?}",
                labelled.group, value.kind
            )
        })
        .collect()
}

/// In per cent; all of nothing is everything.
fn share(part: usize, all: usize) -> f64 {
    /// Counts stay far below 2^32.
    fn exact(count: usize) -> f64 {
        f64::from(u32::try_from(count).unwrap())
    }
    if all == 0 {
        100.0
    } else {
        100.0 * exact(part) / exact(all)
    }
}

/// As in `docs/phi-quality.md`.
pub(crate) fn table(tallies: &BTreeMap<String, Tally>) -> String {
    let mut table = String::from(
        "| | values | recall % | right kind % | precision % | leak % | touched % |\n|---|---|---|---|---|---|---|\n",
    );
    for (name, tally) in tallies {
        let cell = |measure: &str, counts: bool| {
            if counts {
                format!("{:.1}", tally.measure(measure))
            } else {
                "–".to_owned()
            }
        };
        let has_values = tally.values > 0;
        table.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {} | {} |\n",
            tally.values,
            cell("recall", has_values),
            cell("exact", has_values),
            cell("precision", has_values),
            cell("leak", has_values),
            cell("touched", !has_values),
        ));
    }
    table
}
