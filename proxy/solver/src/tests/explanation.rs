//! Conflicts: they clash by themselves, and without any one of them nothing does.

use serde_json::{Value, json};

use super::random_spec::{self, Random};
use super::{outcome, resource};
use crate::solve::Outcome;
use crate::{Strength, VOCABULARY};

fn conflict_ids(value: &Value) -> Option<Vec<String>> {
    match outcome(value) {
        Outcome::Infeasible { conflicts } => {
            Some(conflicts.into_iter().map(|conflict| conflict.id).collect())
        }
        _ => None,
    }
}

fn people(count: usize) -> Vec<Value> {
    (0..count)
        .map(|place| resource(&format!("r{place:02}"), json!({"role": "rn"})))
        .collect()
}

/// The same with somebody else.
fn with(count: usize, other: Value) -> Vec<Value> {
    let mut people = people(count);
    people.push(other);
    people
}

fn slot(id: &str, day: &str, count: usize) -> Value {
    json!({"id": id, "day": day, "requirements": [{"count": count, "where": [{"key": "role", "equals": "rn"}]}]})
}

#[test]
fn a_slot_that_asks_too_much_is_named_with_its_arithmetic() {
    let value = json!({
        "resources": people(2),
        "slots": [slot("a", "2026-11-03", 1), slot("b", "2026-11-03", 3)],
        "constraints": [{"type": "max_per_day", "resource_ids": ["r00"], "limit": 1}],
    });
    let Outcome::Infeasible { conflicts } = outcome(&value) else {
        panic!("feasible")
    };
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].id, "coverage:b");
    assert_eq!(
        conflicts[0].description,
        "needs 3 with role = \"rn\", 2 available"
    );
}

#[test]
fn an_overloaded_day_is_the_rule_and_the_slots_of_that_day() {
    let ids: Vec<String> = (0..10).map(|place| format!("r{place:02}")).collect();
    let value = json!({
        "resources": people(10),
        "slots": [
            slot("mon-early", "2026-11-02", 5), slot("mon-late", "2026-11-02", 5),
            slot("tue-early", "2026-11-03", 6), slot("tue-late", "2026-11-03", 5),
            slot("wed-early", "2026-11-04", 4),
        ],
        "constraints": [
            {"type": "max_per_day", "id": "one", "resource_ids": ids, "limit": 1},
            {"type": "count", "period": "week", "max": 5},
        ],
    });
    let mut found = conflict_ids(&value).unwrap();
    found.sort();
    assert_eq!(
        found,
        ["coverage:tue-early", "coverage:tue-late", "max_per_day:one"]
    );
}

#[test]
fn clashes_that_share_nothing_are_all_reported() {
    let value = json!({
        "resources": people(2),
        "slots": [slot("a", "2026-11-02", 1), slot("b", "2026-11-03", 1), slot("c", "2026-11-04", 1)],
        "constraints": [
            {"type": "fixed", "resource_ids": ["r00"], "slot_ids": ["a"]},
            {"type": "unavailable", "resource_ids": ["r00"], "slot_ids": ["a"]},
            {"type": "fixed", "resource_ids": ["r01"], "slot_ids": ["b"]},
            {"type": "unavailable", "resource_ids": ["r01"], "days": ["2026-11-03"]},
        ],
    });
    let mut found = conflict_ids(&value).unwrap();
    found.sort();
    assert_eq!(
        found,
        ["fixed:0", "fixed:2", "unavailable:1", "unavailable:3"]
    );
}

/// The spec with these conflicts only: other slots ask for nobody, other constraints are gone.
fn reduced(value: &Value, kept: &[String]) -> Value {
    let mut value = value.clone();
    for slot in value["slots"].as_array_mut().unwrap() {
        let id = format!("coverage:{}", slot["id"].as_str().unwrap());
        if !kept.contains(&id) {
            // Anybody or nobody: the coverage is gone, the slot is not.
            let id = slot["id"].clone();
            let wish = json!({"type": "soft_coverage", "slot_ids": [id], "under_weight": 1, "over_weight": 1});
            slot["attributes"]["free"] = wish;
        }
    }
    let free: Vec<Value> = value["slots"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .filter_map(|slot| slot["attributes"].as_object_mut()?.remove("free"))
        .collect();
    let mut place = 0;
    let constraints = value["constraints"].as_array_mut().unwrap();
    constraints.retain(|item| {
        let id = format!("{}:{place}", item["type"].as_str().unwrap());
        place += 1;
        kept.contains(&id)
    });
    let wishes = value["preferences"].as_array_mut().unwrap();
    wishes.retain(|item| item["type"] == "soft_coverage");
    wishes.extend(free);
    value
}

#[test]
fn conflicts_clash_by_themselves_and_each_is_needed() {
    let words: Vec<&str> = VOCABULARY.iter().map(|form| form.word).collect();
    let hard = VOCABULARY
        .iter()
        .filter(|form| form.strengths.contains(&Strength::Hard));
    let hard: Vec<&str> = hard.map(|form| form.word).collect();
    let (mut explained, mut seed) = (0, 0);
    while explained < 40 {
        seed += 1;
        let mut random = Random::new(seed << 8 | 0xff);
        let word = hard[random.below(hard.len())];
        let value = random_spec::spec(&mut random, word, false, &words);
        let Some(ids) = conflict_ids(&value) else {
            continue;
        };
        explained += 1;
        let clash = reduced(&value, &ids);
        let Some(again) = conflict_ids(&clash) else {
            panic!("{ids:?} do not clash: {value}")
        };
        assert!(!again.is_empty());
        if ids.len() > 4 {
            continue;
        }
        // Several disjoint clashes stay infeasible without one member; then some other set must remain.
        for left_out in &ids {
            let rest: Vec<String> = ids.iter().filter(|id| *id != left_out).cloned().collect();
            if let Some(still) = conflict_ids(&reduced(&value, &rest)) {
                assert!(
                    still.len() < ids.len(),
                    "{left_out} is not needed in {ids:?}: {value}"
                );
            }
        }
    }
}

fn conflicts(value: &Value) -> Vec<(String, String)> {
    let Outcome::Infeasible { conflicts } = outcome(value) else {
        panic!("feasible: {value}")
    };
    let members = conflicts.into_iter();
    members
        .map(|member| (member.id, member.description))
        .collect()
}

/// A shift of eight hours on each day, for one person of each of these roles.
fn days(count: usize, roles: &[&str]) -> Vec<Value> {
    let requirements: Vec<Value> = roles
        .iter()
        .map(|role| json!({"count": 1, "where": [{"key": "role", "equals": role}]}))
        .collect();
    let days = (1..=count).map(|day| {
        json!({
            "id": format!("s{day:02}"), "day": format!("2026-11-{day:02}"), "start": "07:00", "end": "15:00",
            "requirements": requirements,
        })
    });
    days.collect()
}

#[test]
fn a_clash_of_many_slots_has_none_too_many() {
    // Two people of 10 shifts and one of 6, as hours come in shifts: the 27th is one too many.
    let value = json!({
        "resources": people(3),
        "slots": days(30, &["rn"]),
        "constraints": [
            {"type": "minutes", "id": "full", "resource_ids": ["r00", "r01"], "max": 10 * 480 + 300},
            {"type": "minutes", "id": "part", "resource_ids": ["r02"], "max": 6 * 480 + 400},
        ],
    });
    let ids = conflict_ids(&value).unwrap();
    assert_eq!(ids.len(), 2 + 27, "{ids:?}");
}

#[test]
fn who_is_short_is_named_with_the_minutes_of_the_need() {
    let mut value = json!({
        "resources": with(3, resource("aide", json!({"role": "aide"}))),
        "slots": days(8, &["rn", "aide"]),
        "constraints": [{"type": "minutes", "max": 6 * 480}],
    });
    let minutes = "each of 4 resources works at most 2880 minutes per horizon; the 7 slots of this conflict need \
        7 with role = \"aide\" (3360 minutes, 1 eligible), who are too few";
    assert_eq!(
        conflicts(&value)[0],
        ("minutes:0".to_owned(), minutes.to_owned())
    );
    value["constraints"] = json!([{"type": "count", "max": 6}]);
    let slots = "each of 4 resources takes at most 6 of 8 slots per horizon; the 7 slots of this conflict need \
        7 with role = \"aide\" (1 eligible), who are too few";
    assert_eq!(conflicts(&value)[0].1, slots);
}

#[test]
fn members_of_several_clashes_say_to_which_they_belong() {
    let value = json!({
        "resources": people(2),
        "slots": [slot("a", "2026-11-02", 1), slot("b", "2026-11-03", 1)],
        "constraints": [
            {"type": "fixed", "resource_ids": ["r00"], "slot_ids": ["a"]},
            {"type": "unavailable", "resource_ids": ["r00"], "slot_ids": ["a"]},
            {"type": "fixed", "resource_ids": ["r01"], "slot_ids": ["b"]},
            {"type": "unavailable", "resource_ids": ["r01"], "slot_ids": ["b"]},
        ],
    });
    let members = conflicts(&value);
    let sets = members.iter().map(|(_, words)| words.split(": ").next());
    let sets: Vec<&str> = sets.flatten().collect();
    let (first, second) = ("conflict 1 of 2", "conflict 2 of 2");
    assert_eq!(sets, [first, first, second, second]);
    // Slots that are short by themselves are sets, too.
    let value = json!({
        "resources": people(1),
        "slots": [slot("a", "2026-11-02", 2), slot("b", "2026-11-03", 3)],
    });
    let members = conflicts(&value);
    assert!(
        members[1].1.starts_with("conflict 2 of 2: needs 3"),
        "{members:?}"
    );
}

#[test]
fn what_is_fixed_for_nobody_who_may_take_it_says_so() {
    let value = json!({
        "resources": with(1, resource("md", json!({"role": "md"}))),
        "slots": [slot("a", "2026-11-02", 1)],
        "constraints": [{"type": "fixed", "resource_ids": ["md"], "slot_ids": ["a"]}],
    });
    let expected = "resource md takes slot a, for which it is not eligible";
    assert_eq!(
        conflicts(&value),
        [("fixed:0".to_owned(), expected.to_owned())]
    );
}

#[test]
fn of_many_who_are_fixed_the_first_who_may_not_take_it_is_named() {
    let value = json!({
        "resources": with(2, resource("md", json!({"role": "md"}))),
        "slots": [slot("a", "2026-11-02", 1), slot("b", "2026-11-03", 1)],
        "constraints": [{"type": "fixed", "resource_ids": ["r01", "md"], "slot_ids": ["a", "b"]}],
    });
    let expected = "each of 2 resources takes 2 slots, but resource md is not eligible for slot a";
    assert_eq!(
        conflicts(&value),
        [("fixed:0".to_owned(), expected.to_owned())]
    );
}
