//! The solver against the enumeration of every roster: the same verdict and the same optimum.

use serde_json::{Value, json};

use super::random_spec::{self, Random};
use super::{library, outcome, resource, spec};
use crate::roster::Roster;
use crate::solve::{Outcome, Run, solve};
use crate::{Spec, Strength, VOCABULARY, verify};

/// Specs for each type and strength.
const SPECS_PER_TYPE: u64 = 30;
/// Pairs of a resource and a slot: 2^12 rosters at most.
const MAX_PAIRS: usize = 12;

/// The least penalty of any roster that keeps the constraints.
fn enumerate(spec: &Spec) -> Option<u64> {
    let pairs: Vec<(usize, usize)> = spec
        .slots
        .iter()
        .enumerate()
        .flat_map(|(place, slot)| slot.candidates().into_iter().map(move |one| (place, one)))
        .collect();
    assert!(pairs.len() <= MAX_PAIRS, "{} pairs", pairs.len());
    let rosters = (0..1_u32 << pairs.len()).filter_map(|choice| {
        let mut by_slot = vec![Vec::new(); spec.slots.len()];
        for (bit, (slot, resource)) in pairs.iter().enumerate() {
            if choice >> bit & 1 == 1 {
                by_slot[*slot].push(*resource);
            }
        }
        verify::objective(&Roster::new(spec, by_slot)).ok()
    });
    rosters.min()
}

fn compare(value: &Value) -> bool {
    let spec = spec(value);
    let least = enumerate(&spec);
    let outcome =
        solve(&library(), &spec, Run::Silent).unwrap_or_else(|error| panic!("{error}: {value}"));
    match (&outcome, least) {
        (
            Outcome::Solved {
                is_optimal,
                objective,
                ..
            },
            Some(least),
        ) => {
            assert!(
                *is_optimal && *objective == least,
                "{outcome:?}, best is {least}: {value}"
            );
        }
        (Outcome::Infeasible { conflicts }, None) => {
            assert!(!conflicts.is_empty(), "no conflict: {value}");
        }
        _ => panic!("{outcome:?}, enumeration says {least:?}: {value}"),
    }
    least.is_some()
}

#[test]
fn every_type_means_in_the_model_what_it_means_on_a_roster() {
    let words: Vec<&str> = VOCABULARY.iter().map(|form| form.word).collect();
    for (place, form) in VOCABULARY.iter().enumerate() {
        for strength in form.strengths {
            let is_preference = *strength == Strength::Soft;
            let mut feasible = 0;
            for seed in 0..SPECS_PER_TYPE {
                let mut random = Random::new(seed << 8 | place as u64);
                let value = random_spec::spec(&mut random, form.word, is_preference, &words);
                feasible += u64::from(compare(&value));
            }
            assert!(
                feasible >= SPECS_PER_TYPE / 10,
                "{}: only {feasible} specs of {SPECS_PER_TYPE} were feasible",
                form.word
            );
        }
    }
}

#[test]
fn a_mix_and_a_baseline_are_about_the_resources_of_their_scope() {
    let resources = [
        resource("a", json!({"senior": false})),
        resource("b", json!({"senior": true})),
    ];
    let slots =
        json!([{"id": "s", "day": "2026-11-05", "requirements": [{"count": 1, "where": []}]}]);
    let with =
        |list: &str, item: Value| json!({"resources": resources, "slots": slots, list: [item]});
    let senior = json!([{"key": "senior", "equals": true}]);
    let mix =
        |id: &str| json!({"type": "slot_mix", "resource_ids": [id], "where": senior, "min": 1});
    assert!(!compare(&with("constraints", mix("a"))));
    assert!(compare(&with("constraints", mix("b"))));
    let baseline = json!([{"slot_id": "s", "resource_ids": ["a", "b"]}]);
    for (ids, lost) in [(json!(["a", "b"]), 1), (json!(["a"]), 0)] {
        let item =
            json!({"type": "stability", "resource_ids": ids, "baseline": baseline, "weight": 1});
        let outcome = outcome(&with("preferences", item));
        let is_expected = matches!(outcome, Outcome::Solved { objective, .. } if objective == lost);
        assert!(is_expected, "{outcome:?}");
    }
}
