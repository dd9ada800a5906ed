//! How well the shipped detectors find PHI: our own labelled texts through `phi scan --jsonl`, which is the path of a
//! request, against a gate that can only be raised and the table in `docs/phi-quality.md`.

mod measure;
mod texts;
mod values;

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Stdio;

use serde_json::{Value, json};
use svc_tests::gateway::Setup;
use svc_tests::program;

use texts::{Labelled, Part};

pub(crate) use measure::Found;
use measure::Tally;

/// Texts made of each template: enough that one miss is a fraction of a percent.
const TEXTS_PER_TEMPLATE: usize = 12;
/// Points (per cent) by which a measured number may be better than its gate before the gate must be raised.
const SLACK_POINTS: f64 = 1.0;

/// What the detectors find in every text, in its order.
pub(crate) fn scan<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<Vec<Found>> {
    let gateway = Setup::new("http://127.0.0.1:9").prepare();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("texts.jsonl");
    let lines: Vec<String> = texts
        .enumerate()
        .map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})))
        .collect();
    std::fs::write(&input, lines.concat()).unwrap();
    let output = gateway
        .command()
        .args(["phi", "scan", "--jsonl"])
        .stdin(Stdio::from(File::open(&input).unwrap()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", program::text(&output.stderr));
    let found: Vec<Vec<Found>> = program::text(&output.stdout)
        .lines()
        .enumerate()
        .map(|(id, line)| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(answer["id"], id);
            answer["spans"]
                .as_array()
                .unwrap()
                .iter()
                .map(Found::read)
                .collect()
        })
        .collect();
    assert_eq!(found.len(), lines.len());
    found
}

/// Tallies by group, by kind, and over what is held out.
fn tallies(texts: &[Labelled], found: &[Vec<Found>]) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (labelled, found) in texts.iter().zip(found) {
        let part = labelled.part.name();
        for name in [format!("group {}", labelled.group), format!("all {part}")] {
            tallies.entry(name).or_default().add(labelled, found, None);
        }
        // Kinds are of the templates, which have as many of each as are wanted.
        if matches!(labelled.part, Part::Independent | Part::Fresh) {
            continue;
        }
        for kind in labelled.kinds() {
            let tally = tallies.entry(format!("kind {kind}")).or_default();
            tally.add(labelled, found, Some(kind));
        }
    }
    tallies
}

/// The lowest recall and the highest leak and touched share of each name that `gate.toml` ever asked for.
fn gates() -> BTreeMap<String, BTreeMap<String, f64>> {
    let file = program::repository().join("tests/phi/gate.toml");
    let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let mut gates: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for entry in file["raised"].as_array().unwrap() {
        for (name, asked) in entry["gates"].as_table().unwrap() {
            for (measure, value) in asked.as_table().unwrap() {
                let value = value.as_float().expect("a number with a point");
                let best = gates
                    .entry(name.clone())
                    .or_default()
                    .entry(measure.clone())
                    .or_insert(value);
                *best = if measure == "recall" {
                    best.max(value)
                } else {
                    best.min(value)
                };
            }
        }
    }
    gates
}

#[test]
fn detection_is_as_good_as_its_gate_and_its_table() {
    let mut texts = texts::all(TEXTS_PER_TEMPLATE);
    texts.extend(texts::of_others());
    let found = scan(texts.iter().map(|labelled| labelled.text.as_str()));
    let tallies = tallies(&texts, &found);
    let mut problems = Vec::new();
    for (name, gates) in gates() {
        let Some(tally) = tallies.get(&name) else {
            problems.push(format!("{name}: in gate.toml and not measured"));
            continue;
        };
        for (measure, gate) in gates {
            let measured = tally.measure(&measure);
            let better = if measure == "recall" {
                measured - gate
            } else {
                gate - measured
            };
            if better < 0.0 {
                problems.push(format!(
                    "{name}: {measure} is {measured:.1}, the gate is {gate:.1}"
                ));
            } else if better > SLACK_POINTS {
                problems.push(format!(
                    "{name}: {measure} is {measured:.1}; raise the gate from {gate:.1}"
                ));
            }
        }
    }
    let table = measure::table(&tallies);
    let documented =
        std::fs::read_to_string(program::repository().join("docs/phi-quality.md")).unwrap();
    if !documented.contains(&table) {
        problems.push(format!(
            "docs/phi-quality.md has another table than what was measured:\n{table}"
        ));
    }
    if !problems.is_empty() {
        let seen = texts
            .iter()
            .zip(&found)
            .filter(|(labelled, _)| labelled.part == Part::Seen);
        let misses: Vec<String> = seen
            .flat_map(|(labelled, found)| measure::misses(labelled, found))
            .collect();
        panic!(
            "{}\nwhat is missed of the seen texts:\n{}",
            problems.join("\n"),
            misses.join("\n")
        );
    }
}
