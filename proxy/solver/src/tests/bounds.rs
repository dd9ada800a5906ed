//! Specs that ask for more than is done: what is refused, what is given up, and what is cut.

use serde_json::{Value, json};

use super::{library, outcome, resource, spec, too_large};
use crate::roster::Roster;
use crate::solve::{Outcome, Run, counted, solve};
use crate::verify::{self, Broken};

/// Slots on successive days, each for one of these people.
pub(super) fn days(slots: usize, people: usize) -> Value {
    let first = jiff::civil::date(2026, 1, 1);
    let slots = (0..slots).map(|place| {
        let day = first + jiff::Span::new().days(i64::try_from(place).unwrap());
        json!({"id": format!("s{place:03}"), "day": day.to_string(), "requirements": [{"count": 1}]})
    });
    let resources = (0..people).map(|place| resource(&format!("r{place:03}"), json!({})));
    json!({"resources": resources.collect::<Value>(), "slots": slots.collect::<Value>()})
}

#[test]
fn rules_that_expand_to_too_much_are_given_up_on_the_way() {
    let solved = solve(&library(), &too_large(), Run::Silent).unwrap();
    assert_eq!(solved, Outcome::TooLarge);
    // As many slots as there may be, all at once.
    let mut value = days(5_000, 60);
    for slot in value["slots"].as_array_mut().unwrap() {
        slot["day"] = json!("2026-01-01");
        slot["start"] = json!("08:00");
        slot["end"] = json!("16:00");
    }
    value["preferences"] = json!([{"type": "no_overlap", "weight": 1}]);
    assert_eq!(outcome(&value), Outcome::TooLarge);
}

/// Sixty people, each of whom takes one slot a day, and a day of sixty-one: naming them one by one proves nothing within
/// any useful time.
#[test]
fn too_many_slots_for_too_few_people_are_counted_first() {
    let mut value = days(14, 60);
    let slots = value["slots"].as_array_mut().unwrap();
    let first = slots[0].clone();
    slots.extend((0..60).map(|place| {
        let mut slot = first.clone();
        slot["id"] = json!(format!("more{place}"));
        slot
    }));
    value["constraints"] = json!([
        {"type": "max_per_day", "limit": 1},
        {"type": "consecutive_slots", "slot_ids": ["s000"], "max": 3},
    ]);
    value["preferences"] = json!([{"type": "avoid", "resource_ids": ["r000"], "weight": 1}]);
    value["options"] = json!({"time_limit_seconds": 1});
    let Some(Outcome::Infeasible { conflicts }) = counted(&library(), &spec(&value)).unwrap()
    else {
        panic!("not counted")
    };
    assert_eq!(conflicts[0].id, "max_per_day:0");
    // With a slot fewer on that day there is a roster, which counting leaves to the search.
    value["slots"].as_array_mut().unwrap().pop();
    assert_eq!(counted(&library(), &spec(&value)).unwrap(), None);
}

#[test]
fn a_check_that_is_over_has_no_answer() {
    let mut value = days(1, 1);
    let roster = |value: &Value| {
        let spec = spec(value);
        let roster = Roster::new(&spec, vec![vec![0]]);
        verify::objective_unless(&roster, || true)
    };
    assert_eq!(roster(&value), Ok(Some(0)));
    value["constraints"] = json!([{"type": "max_per_day", "limit": 1}]);
    assert_eq!(roster(&value), Ok(None));
    value["slots"][0]["requirements"][0]["count"] = json!(2);
    assert_eq!(roster(&value), Err(Broken::Coverage));
}

#[test]
fn a_long_condition_is_repeated_as_far_as_it_is_read() {
    let mut value = days(2, 2);
    let role = "ß".repeat(10_000);
    for slot in value["slots"].as_array_mut().unwrap() {
        slot["requirements"][0]["where"] = json!([{"key": "role", "equals": role}]);
    }
    for resource in value["resources"].as_array_mut().unwrap() {
        resource["attributes"] = json!({"role": role});
    }
    value["constraints"] = json!([
        {"type": "unavailable", "slot_ids": ["s000"], "id": "a"},
        {"type": "count", "max": 0, "id": "b"},
    ]);
    let Outcome::Infeasible { conflicts } = outcome(&value) else {
        panic!("feasible")
    };
    let has_rule = conflicts
        .iter()
        .any(|conflict| !conflict.id.starts_with("coverage:"));
    assert!(has_rule, "{conflicts:?}");
    for conflict in &conflicts {
        let description = &conflict.description;
        assert!(
            description.contains(&format!("{}…", "ß".repeat(192))),
            "{description}"
        );
        assert!(description.chars().count() < 400, "{description}");
    }
}
