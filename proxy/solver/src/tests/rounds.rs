//! More time is never worse: searches come in the same sequence, whatever the budget.

use serde_json::{Value, json};

use super::random_spec::Random;
use super::{library, resource, spec};
use crate::best::{self, Ask};
use crate::engine::Verdict;
use crate::model::Model;
use crate::solve::encode;
use crate::{Spec, verify};

const SHIFTS: [(&str, &str, &str); 3] = [
    ("early", "06:30", "14:30"),
    ("late", "14:00", "22:00"),
    ("night", "21:45", "06:45"),
];

/// A ward of nurses and aides who are nearly all needed: three shifts, nights in a row, leave, and wishes.
fn ward(seed: u64, staff: usize, weeks: usize) -> Value {
    let mut random = Random::new(seed);
    let days: Vec<String> = (0..weeks * 7)
        .map(|day| format!("2026-11-{:02}", 2 + day))
        .collect();
    let role = |place: usize| if place * 3 < staff * 2 { "rn" } else { "aide" };
    let resources: Vec<Value> = (0..staff)
        .map(|place| {
            let attributes = json!({"role": role(place), "senior": place % 3 == 0});
            resource(&format!("{}-{place:02}", role(place)), attributes)
        })
        .collect();
    let nurses = (0..staff).filter(|place| role(*place) == "rn").count();
    let mut slots = Vec::new();
    for day in &days {
        for (shift, (name, start, end)) in SHIFTS.into_iter().enumerate() {
            // A nurse works five days in seven; 85 in 100 are needed.
            let part = [40, 33, 27][shift];
            let need = |people: usize| people * 5 * 85 * part / (7 * 100 * 100);
            let needs = [("rn", need(nurses)), ("aide", need(staff - nurses))];
            let needs = needs.map(|(role, count)| {
                json!({"count": count.max(1), "where": [{"key": "role", "equals": role}]})
            });
            slots.push(json!({
                "id": format!("{day}-{name}"), "day": day, "start": start, "end": end,
                "attributes": {"shift": name}, "requirements": needs,
            }));
        }
    }
    let shift = |name: &str| json!([{"key": "shift", "equals": name}]);
    let mut constraints = vec![
        json!({"type": "min_rest", "minutes": 660}),
        json!({"type": "max_per_day", "limit": 1}),
        json!({"type": "consecutive_days", "max": 5}),
        json!({"type": "consecutive_slots", "slot_where": shift("night"), "min": 2, "max": 4}),
        json!({"type": "slot_mix", "slot_where": shift("early"), "where": [{"key": "senior", "equals": true}], "min": 1}),
        json!({"type": "minutes", "max": weeks * 5 * 490 + 240}),
    ];
    let mut preferences = vec![
        json!({"type": "balance", "resource_where": [{"key": "role", "equals": "rn"}], "slot_where": shift("night"), "weight": 10}),
        json!({"type": "complete_weekends", "weight": 8}),
        json!({"type": "consecutive_days_off", "min": 2, "weight": 5}),
        json!({"type": "forbidden_sequence", "pattern": [shift("late"), shift("early")], "weight": 3}),
    ];
    for resource in &resources {
        let id = &resource["id"];
        if random.below(2) == 0 {
            let first = random.below(days.len() - 2);
            let leave = &days[first..=first + random.below(2)];
            constraints.push(json!({"type": "unavailable", "resource_ids": [id], "days": leave}));
        }
        for _ in 0..random.below(4) {
            let day = &days[random.below(days.len())];
            let weight = [5, 10, 20][random.below(3)];
            preferences.push(json!({"type": "avoid", "resource_ids": [id], "from": day, "to": day, "weight": weight}));
        }
    }
    json!({
        "resources": resources, "slots": slots, "constraints": constraints, "preferences": preferences,
        "options": {"time_limit_seconds": 10},
    })
}

/// What the answer costs that a budget of deterministic seconds buys.
fn cost(spec: &Spec, model: &Model, budget: f64) -> f64 {
    let library = library();
    let ask = Ask {
        library: &library,
        spec,
        model,
        tells: false,
    };
    match best::search(ask, budget).unwrap().verdict {
        Verdict::Optimal {
            solution,
            objective,
        }
        | Verdict::Feasible {
            solution,
            objective,
        } => {
            let roster = model.roster(spec, &solution);
            assert_eq!(verify::objective(&roster).unwrap() as f64, objective);
            objective
        }
        Verdict::Infeasible | Verdict::Unknown => panic!("there is a roster"),
    }
}

/// Wards in which the short search finds nothing, by seed, staff and weeks, with two budgets in deterministic seconds. Of
/// the first, turns find a better roster with the smaller than neighbourhoods alone with the larger.
const WARDS: [(u64, usize, usize, [f64; 2]); 2] = [(2, 22, 4, [1.4, 4.2]), (1, 20, 2, [0.4, 0.8])];

#[test]
fn more_time_is_never_worse() {
    for (seed, staff, weeks, budgets) in WARDS {
        let spec = spec(&ward(seed, staff, weeks));
        let model = encode(&spec).unwrap();
        let [less, more] = budgets.map(|budget| cost(&spec, &model, budget));
        assert!(more <= less, "{more} after {less}");
        if weeks == 2 {
            assert_eq!(cost(&spec, &model, budgets[1]), more);
        }
    }
}
