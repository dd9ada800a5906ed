//! `docs/solve.md` says what the vocabulary table says, and its examples can be posted.

use std::path::Path;

use serde_json::Value;

use super::outcome;
use crate::solve::Outcome;
use crate::{Strength, VOCABULARY};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/solve.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_type_is_documented_as_the_table_has_it() {
    let page = page();
    let headings = page.lines().filter(|line| line.starts_with("### `"));
    let words: Vec<&str> = headings
        .map(|line| line[4..].trim_matches(['`', ' ']))
        .collect();
    let expected: Vec<&str> = VOCABULARY.iter().map(|form| form.word).collect();
    assert_eq!(words, expected);
    for form in VOCABULARY {
        let place = match form.strengths {
            [Strength::Hard] => "A constraint.",
            [Strength::Soft] => "A preference.",
            _ => "A constraint or preference.",
        };
        let (_, section) = page.split_once(&format!("### `{}`", form.word)).unwrap();
        let section = section.split("\n### ").next().unwrap();
        for text in [place, form.summary, form.unit, form.example] {
            assert!(
                section.contains(text),
                "{}: {text:?} is not in {section}",
                form.word
            );
        }
    }
}

#[test]
fn worked_examples_have_an_optimum() {
    let page = page();
    let (_, examples) = page.split_once("## Worked examples").unwrap();
    let blocks = examples.split("```json").skip(1);
    let mut solved = 0;
    for block in blocks {
        let text = block.split("```").next().unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        let outcome = outcome(&value);
        let is_optimal = matches!(
            outcome,
            Outcome::Solved {
                is_optimal: true,
                ..
            }
        );
        assert!(is_optimal, "{outcome:?}: {text}");
        solved += 1;
    }
    assert_eq!(solved, 5);
}
