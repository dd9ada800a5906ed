//! Templates with their slots filled: texts that know where their PHI stands.

use std::collections::BTreeSet;

use svc_tests::program;

use super::values::Values;

/// A stretch of PHI, in code points.
pub(crate) struct Planted {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: String,
}

pub(crate) struct Labelled {
    pub(crate) group: String,
    pub(crate) is_held_out: bool,
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

/// `count` texts of every template that has slots, one of every other; always the same.
pub(crate) fn all(count: usize) -> Vec<Labelled> {
    let mut texts = Vec::new();
    let folder = program::repository().join("tests/phi/templates");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut number = 0;
    for path in paths {
        let file = std::fs::read_to_string(&path).unwrap();
        for template in file.split("=== ").skip(1) {
            let (head, body) = template.split_once('\n').unwrap();
            let (group, is_held_out) = match head.split_once(' ') {
                Some((group, mark)) => {
                    assert_eq!(mark, "held-out", "{}", path.display());
                    (group, true)
                }
                None => (head, false),
            };
            let copies = if body.contains("{{") { count } else { 1 };
            for _ in 0..copies {
                number += 1;
                let mut values = Values::new(number, is_held_out);
                let (text, planted) = fill(body.trim_end(), &mut values);
                texts.push(Labelled {
                    group: group.to_owned(),
                    is_held_out,
                    text,
                    values: planted,
                });
            }
        }
    }
    texts
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
