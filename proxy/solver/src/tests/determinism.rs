//! The same spec gets the same answer: again, and in any order.

use serde_json::{Value, json};

use super::random_spec::{self, Random};
use super::{library, outcome, resource, spec};
use crate::VOCABULARY;
use crate::roster::Roster;
use crate::solve::{Outcome, Run, solve};

/// What a caller sees.
#[derive(Debug, PartialEq)]
struct Seen {
    objective: Option<u64>,
    roster: Vec<(String, Vec<String>)>,
    conflicts: Vec<String>,
}

fn seen(value: &Value) -> Seen {
    let spec = spec(value);
    match solve(&library(), &spec, Run::Silent).unwrap() {
        Outcome::Solved {
            assignments,
            objective,
            ..
        } => Seen {
            objective: Some(objective),
            roster: Roster::new(&spec, assignments).ids(),
            conflicts: Vec::new(),
        },
        Outcome::Infeasible { conflicts } => {
            let words = conflicts.into_iter().map(|conflict| conflict.description);
            Seen {
                objective: None,
                roster: Vec::new(),
                conflicts: words.collect(),
            }
        }
        Outcome::TooLarge => panic!("too large"),
    }
}

/// Everything that is a list in another order; items get ids, so that conflicts keep their names.
fn turned(value: &Value) -> Value {
    let mut value = value.clone();
    for list in ["resources", "slots", "constraints", "preferences"] {
        value[list].as_array_mut().unwrap().reverse();
    }
    for slot in value["slots"].as_array_mut().unwrap() {
        slot["requirements"].as_array_mut().unwrap().reverse();
    }
    for list in ["constraints", "preferences"] {
        for item in value[list].as_array_mut().unwrap() {
            for ids in ["resource_ids", "slot_ids"] {
                if let Some(ids) = item.get_mut(ids).and_then(Value::as_array_mut) {
                    ids.reverse();
                }
            }
        }
    }
    value
}

#[test]
fn the_order_of_a_spec_changes_nothing() {
    let words: Vec<&str> = VOCABULARY.iter().map(|form| form.word).collect();
    for seed in 0..60 {
        let mut random = Random::new(seed << 8 | 0x77);
        let word = words[random.below(words.len())];
        let is_preference = crate::vocabulary::find(word, crate::Strength::Hard).is_none();
        let value = random_spec::spec(&mut random, word, is_preference, &words);
        assert_eq!(seen(&value), seen(&turned(&value)), "{value}");
    }
}

/// A spec with many best answers: everybody is alike.
fn symmetric() -> Value {
    let resources: Vec<Value> = (0..12)
        .map(|place| resource(&format!("r{place:02}"), json!({})))
        .collect();
    let slots: Vec<Value> = (0..21)
        .map(|place| {
            let day = format!("2026-11-{:02}", 2 + place / 3);
            json!({"id": format!("s{place:02}"), "day": day, "requirements": [{"count": 2, "where": []}]})
        })
        .collect();
    json!({
        "resources": resources,
        "slots": slots,
        "constraints": [{"type": "max_per_day", "limit": 1}, {"type": "consecutive_days", "max": 3}],
        "preferences": [{"type": "balance", "weight": 2}],
        "options": {"time_limit_seconds": 3},
    })
}

#[test]
fn answers_repeat_while_the_processor_is_contended() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let first = outcome(&symmetric());
    std::thread::scope(|scope| {
        let burners: Vec<_> = (0..3)
            .map(|_| {
                std::thread::Builder::new()
                    .spawn_scoped(scope, || {
                        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                            std::hint::spin_loop();
                        }
                    })
                    .unwrap()
            })
            .collect();
        for _ in 0..3 {
            assert_eq!(outcome(&symmetric()), first);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for burner in burners {
            burner.join().unwrap();
        }
    });
}
