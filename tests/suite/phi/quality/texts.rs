//! Texts that know where their PHI stands: templates with their slots filled, and what others wrote.

use std::collections::BTreeSet;

use svc_tests::program;

use super::values::Values;

/// A stretch of PHI, in code points.
pub(crate) struct Planted {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: String,
}

/// What a text is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Rules may be written for it.
    Seen,
    /// For measuring alone.
    HeldOut,
    /// Written by people who knew neither the detectors nor their texts.
    Independent,
    /// Written so too, when the detectors were done: nothing was chosen by them.
    Fresh,
}

impl Part {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::HeldOut => "held-out",
            Self::Independent => "independent",
            Self::Fresh => "fresh",
        }
    }
}

pub(crate) struct Labelled {
    pub(crate) group: String,
    pub(crate) part: Part,
    pub(crate) text: String,
    pub(crate) values: Vec<Planted>,
}

impl Labelled {
    /// The kinds of its values, each once.
    pub(crate) fn kinds(&self) -> BTreeSet<&str> {
        self.values
            .iter()
            .map(|value| value.kind.as_str())
            .collect()
    }
}

/// Heads and bodies of all texts in a folder of `tests/phi`: a line `=== head` begins each.
fn parts(folder: &str) -> Vec<(String, String)> {
    let folder = program::repository().join("tests/phi").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut parts = Vec::new();
    for path in paths {
        let file = format!("\n{}", std::fs::read_to_string(&path).unwrap());
        for part in file.split("\n=== ").skip(1) {
            let (head, body) = part.split_once('\n').unwrap();
            parts.push((head.to_owned(), body.trim_end().to_owned()));
        }
    }
    parts
}

/// `count` texts of every template that has slots, one of every other; always the same.
pub(crate) fn all(count: usize) -> Vec<Labelled> {
    let mut texts = Vec::new();
    let mut number = 0;
    for (head, body) in parts("templates") {
        let (group, part) = match head.split_once(' ') {
            Some((group, mark)) => {
                assert_eq!(mark, "held-out", "{head}");
                (group, Part::HeldOut)
            }
            None => (head.as_str(), Part::Seen),
        };
        let copies = if body.contains("{{") { count } else { 1 };
        for _ in 0..copies {
            number += 1;
            let mut values = Values::new(number, part == Part::HeldOut);
            let (text, planted) = fill(&body, &mut values);
            texts.push(Labelled {
                group: group.to_owned(),
                part,
                text,
                values: planted,
            });
        }
    }
    texts
}

/// What others wrote: `⟦KIND|value⟧` marks what is PHI.
pub(crate) fn of_others() -> Vec<Labelled> {
    let parts = [Part::Independent, Part::Fresh].map(written);
    parts.into_iter().flatten().collect()
}

/// The texts in the folder of a part.
fn written(part: Part) -> Vec<Labelled> {
    let texts = parts(part.name()).into_iter().map(|(head, body)| {
        let mut text = String::new();
        let mut values = Vec::new();
        let mut rest = body.as_str();
        while let Some((before, mark)) = rest.split_once('⟦') {
            let (mark, behind) = mark.split_once('⟧').unwrap();
            let (kind, value) = mark.split_once('|').unwrap();
            text.push_str(before);
            let start = text.chars().count();
            text.push_str(value);
            values.push(Planted {
                start,
                end: text.chars().count(),
                kind: kind.to_owned(),
            });
            rest = behind;
        }
        text.push_str(rest);
        Labelled {
            group: format!("{} {head}", part.name()),
            part,
            text,
            values,
        }
    });
    texts.collect()
}

/// Fills the slots `{{KIND:form}}`; `{{STATE}}` is allowed in clear.
fn fill(template: &str, values: &mut Values) -> (String, Vec<Planted>) {
    let mut text = String::new();
    let mut planted = Vec::new();
    let mut rest = template;
    while let Some((before, slot)) = rest.split_once("{{") {
        let (slot, behind) = slot.split_once("}}").unwrap();
        text.push_str(before);
        rest = behind;
        let Some((kind, form)) = slot.split_once(':') else {
            assert_eq!(slot, "STATE");
            text.push_str(&values.state());
            continue;
        };
        let start = text.chars().count();
        text.push_str(&values.make(kind, form));
        planted.push(Planted {
            start,
            end: text.chars().count(),
            kind: kind.to_owned(),
        });
    }
    text.push_str(rest);
    (text, planted)
}
