//! The search by neighbourhoods: better with every piece, the same way each time, and to the best where that is in
//! reach.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::{library, outcome, resource, spec};
use crate::engine::proto::CpModel;
use crate::engine::{self, Found, Search, Verdict};
use crate::model::Model;
use crate::neighbourhood::Neighbourhoods;
use crate::solve::{Outcome, encode};
use crate::verify;

/// Nine people who would rather not work on some days, and three weeks of shifts that may be short of them.
fn wishes() -> Value {
    let resources: Vec<Value> = (0..9)
        .map(|place| resource(&format!("r{place}"), json!({})))
        .collect();
    let slots: Vec<Value> = (0..42)
        .map(|place| {
            let (day, shift) = (1 + place / 2, ["early", "late"][place % 2]);
            json!({
                "id": format!("s{place:02}"), "day": format!("2026-11-{day:02}"), "attributes": {"shift": shift},
                "requirements": [{"count": 2 + place % 3 / 2, "where": []}],
            })
        })
        .collect();
    let avoid = (0..9).map(|person: usize| {
        let ids: Vec<String> = (0..42)
            .filter(|slot| (slot * 5 + person * 7_usize).is_multiple_of(4))
            .map(|slot| format!("s{slot:02}"))
            .collect();
        json!({"type": "avoid", "resource_ids": [format!("r{person}")], "slot_ids": ids, "weight": 1 + person % 3})
    });
    let mut preferences: Vec<Value> = avoid.collect();
    preferences.push(json!({"type": "soft_coverage", "under_weight": 20, "over_weight": 3}));
    let shift = |word: &str| json!([{"key": "shift", "equals": word}]);
    json!({
        "resources": resources,
        "slots": slots,
        "constraints": [
            {"type": "max_per_day", "limit": 1},
            {"type": "consecutive_days", "min": 2, "max": 5},
            {"type": "consecutive_days_off", "min": 2},
            {"type": "forbidden_sequence", "pattern": [shift("late"), shift("early")]},
        ],
        "preferences": preferences,
        "options": {"time_limit_seconds": 10},
    })
}

/// Some roster that keeps the rules, whatever it costs.
fn any(model: &Model) -> Vec<i64> {
    let any = CpModel {
        objective: None,
        ..model.proto.clone()
    };
    match engine::search(&library(), &any, Search::Any, 1.0).unwrap() {
        Found {
            verdict: Verdict::Optimal { solution, .. } | Verdict::Feasible { solution, .. },
            ..
        } => solution,
        _ => panic!("there is a roster"),
    }
}

#[test]
fn a_roster_without_cost_is_the_best_and_ends_the_search() {
    let mut lenient = wishes();
    // Nobody is needed, so that nobody need work against a wish.
    for slot in lenient["slots"].as_array_mut().unwrap() {
        slot["requirements"][0]["count"] = json!(0);
    }
    let spec = spec(&lenient);
    let model = encode(&spec).unwrap();
    let solution = vec![0; model.proto.variables.len()];
    let library = library();
    let mut pieces = Neighbourhoods::new(&library, &spec, &model);
    let found = pieces
        .improve(solution, f64::NEG_INFINITY, 60.0, |_| ())
        .unwrap();
    assert!(matches!(found.verdict, Verdict::Optimal { objective, .. } if objective == 0.0));
    assert!(found.spent < 1.0, "{}", found.spent);
}

#[test]
fn a_roster_gets_better_piece_by_piece_the_same_way_each_time() {
    let spec = spec(&wishes());
    let model = encode(&spec).unwrap();
    let solution = any(&model);
    let began = verify::objective(&model.roster(&spec, &solution)).unwrap();
    let run = || {
        let told = RefCell::new(Vec::new());
        let tell = |objective| told.borrow_mut().push(objective);
        let library = library();
        let mut pieces = Neighbourhoods::new(&library, &spec, &model);
        let found = pieces
            .improve(solution.clone(), f64::NEG_INFINITY, 1.5, tell)
            .unwrap();
        let (solution, objective, is_proved) = match found.verdict {
            Verdict::Optimal {
                solution,
                objective,
            } => (solution, objective, true),
            Verdict::Feasible {
                solution,
                objective,
            } => (solution, objective, false),
            Verdict::Infeasible | Verdict::Unknown => panic!("a solution stays one"),
        };
        assert!(is_proved || found.spent >= 1.5, "{}", found.spent);
        (solution, objective, is_proved, told.into_inner())
    };
    let (solution, objective, is_proved, told) = run();
    assert_eq!(
        run(),
        (solution.clone(), objective, is_proved, told.clone())
    );
    let objective = objective as u64;
    assert_eq!(
        verify::objective(&model.roster(&spec, &solution)).unwrap(),
        objective
    );
    assert!(objective < began, "{objective} after {began}");
    assert!(told.is_sorted_by(|one, next| one > next), "{told:?}");
    // What it costs to come near is little; the best is what the other searches prove.
    let Outcome::Solved {
        objective: best,
        is_optimal,
        ..
    } = outcome(&wishes())
    else {
        panic!("there is a roster");
    };
    assert!(is_optimal);
    assert!(
        objective >= best && objective <= best + if is_proved { 0 } else { best / 10 },
        "{objective} against {best}"
    );
}
