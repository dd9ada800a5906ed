//! Specs that are refused: which code, where, and all problems at once.

use serde_json::{Value, json};

use crate::{VOCABULARY, parse};

fn base() -> Value {
    json!({
        "version": 1,
        "resources": [
            {"id": "a", "attributes": {"role": "rn", "rate": 3}},
            {"id": "b", "attributes": {"role": "rn", "senior": true}},
        ],
        "slots": [
            {"id": "s", "day": "2026-11-03", "start": "08:00", "end": "16:00",
             "attributes": {"shift": "night"}, "requirements": [{"count": 1, "where": []}]},
            {"id": "t", "day": "2026-11-04", "start": "08:00", "end": "16:00",
             "attributes": {"shift": "early"}, "requirements": [{"count": 1, "where": []}]},
        ],
        "constraints": [],
        "preferences": [],
        "options": {"time_limit_seconds": 10},
    })
}

/// Code, and pointers or paths with the codes of problems.
fn refused(value: &Value) -> (String, Vec<String>) {
    let Err(fault) = parse(value.to_string().as_bytes()) else {
        panic!("accepted: {value}")
    };
    let details = fault.details_value();
    let problems = match details.get("errors").and_then(Value::as_array) {
        Some(errors) => errors
            .iter()
            .map(|error| {
                format!(
                    "{} {}",
                    error["pointer"].as_str().unwrap(),
                    error["code"].as_str().unwrap()
                )
            })
            .collect(),
        None => details.as_object().unwrap().keys().cloned().collect(),
    };
    (fault.code.word().to_owned(), problems)
}

#[test]
fn what_the_interface_forbids_is_a_validation_failure() {
    let cases: [(&str, Value); 8] = [
        ("resources", Value::Null),
        ("resources", json!([])),
        ("slots", json!([])),
        ("slots", json!({})),
        ("resources_from", json!("query")),
        ("slots_from", json!("query")),
        ("options", json!({"time_limit_seconds": 31})),
        ("options", json!({"time_limit_seconds": 0})),
    ];
    for (name, wrong) in cases {
        let mut value = base();
        if wrong.is_null() {
            value.as_object_mut().unwrap().shift_remove(name);
        } else {
            value[name] = wrong;
        }
        let (code, problems) = refused(&value);
        assert_eq!(code, "VALIDATION_FAILED", "{name}");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with(name), "{problems:?}");
    }
    for text in ["", "[]", "{", "{\"resources\": [1], \"resources\": [2]}"] {
        let fault = parse(text.as_bytes()).err().unwrap();
        assert_eq!(fault.code.word(), "VALIDATION_FAILED");
    }
}

#[test]
fn a_null_field_is_an_absent_one() {
    let mut value = base();
    for name in ["version", "constraints", "preferences", "options"] {
        value[name] = Value::Null;
    }
    value["resources"][1]["attributes"] = Value::Null;
    let slot = &mut value["slots"][1];
    for name in ["start", "end", "attributes"] {
        slot[name] = Value::Null;
    }
    slot["requirements"][0]["where"] = Value::Null;
    assert!(parse(value.to_string().as_bytes()).is_ok());
    value["options"] = json!({"time_limit_seconds": null});
    let fields = [
        "id",
        "resource_ids",
        "resource_where",
        "slot_where",
        "from",
        "period",
        "min",
    ];
    let mut rule = json!({"type": "count", "max": 1});
    for name in fields {
        rule[name] = Value::Null;
    }
    value["constraints"] = json!([rule]);
    assert!(parse(value.to_string().as_bytes()).is_ok());
    // Where a field is required, or a rule measures its time, it is missing.
    value["constraints"] = json!([{"type": "max_per_day", "limit": null}, {"type": "no_overlap"}]);
    let expected = ["/slots/1 needs_times", "/constraints/0/limit missing_field"];
    assert_eq!(refused(&value).1, expected);
    // Of an attribute, a null is a value.
    let mut value = base();
    value["resources"][0]["attributes"]["ward"] = Value::Null;
    let none = json!([{"key": "ward", "equals": null}]);
    value["slots"][0]["requirements"][0]["where"] = none;
    let spec = parse(value.to_string().as_bytes());
    let found = spec.map(|spec| spec.slots[0].candidates());
    assert_eq!(found.ok(), Some(vec![0]));
}

#[test]
fn every_problem_is_named_once_in_the_order_of_the_document() {
    let mut value = base();
    value["slots"][1]["day"] = json!("2026-02-30");
    value["slots"][0]["requirements"] =
        json!([{"count": -1}, {"count": 1.5}, {"count": "2"}, {"where": []}]);
    value["resources"][1]["id"] = json!("a");
    value["resources"][0]["name"] = json!("x");
    value["constraints"] = json!([
        {"type": "max_per_day", "resource_ids": ["b"], "limit": -1},
        {"type": "max_per_day", "resource_ids": ["nobody"], "limit": 1},
        {"type": "maximum"},
        {"type": "count", "min": 3, "max": 2},
        {"type": "prefer", "slot_ids": ["s"]},
    ]);
    value["preferences"] =
        json!([{"type": "avoid", "slot_ids": ["u"], "weight": 0}, {"type": "avoid"}]);
    let (code, problems) = refused(&value);
    assert_eq!(code, "SOLVER_SPEC_INVALID");
    let expected = [
        "/resources/0/name unknown_field",
        "/resources/1/id duplicate_id",
        "/slots/0/requirements/0/count out_of_range",
        "/slots/0/requirements/1/count wrong_type",
        "/slots/0/requirements/2/count wrong_type",
        "/slots/0/requirements/3/count missing_field",
        "/slots/1/day bad_date",
        "/constraints/0/resource_ids/0 unknown_resource",
        "/constraints/0/limit out_of_range",
        "/constraints/1/resource_ids/0 unknown_resource",
        "/constraints/2/type unknown_type",
        "/constraints/3/min min_above_max",
        "/constraints/4/type unknown_type",
        "/preferences/0/slot_ids/0 unknown_slot",
        "/preferences/0/weight out_of_range",
        "/preferences/1/weight missing_field",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn rules_that_measure_time_need_times() {
    let mut value = base();
    let slot = value["slots"][1].as_object_mut().unwrap();
    slot.shift_remove("start");
    slot.shift_remove("end");
    for rule in [
        json!({"type": "minutes", "max": 1}),
        json!({"type": "min_rest", "minutes": 60}),
        json!({"type": "no_overlap"}),
        json!({"type": "rolling", "window_days": 1, "unit": "minutes", "max": 1}),
    ] {
        value["constraints"] = json!([rule]);
        assert_eq!(refused(&value).1, ["/slots/1 needs_times"], "{rule}");
    }
}

#[test]
fn a_cost_that_is_no_number_is_named_with_its_resource() {
    let mut value = base();
    value["preferences"] = json!([{"type": "cost", "attribute": "rate", "weight": 1}]);
    assert!(parse(value.to_string().as_bytes()).is_ok());
    for wrong in [json!("3"), json!(1.5), json!(-1), json!(1_000_001)] {
        value["resources"][1]["attributes"]["rate"] = wrong;
        assert_eq!(refused(&value).1, ["/resources/1/attributes wrong_type"]);
    }
}

/// A spec of two resources with nothing but these slots and constraints.
fn small(slots: Value, constraints: Value) -> Value {
    json!({"resources": [{"id": "a"}, {"id": "b"}], "slots": slots, "constraints": constraints})
}

#[test]
fn what_is_wrong_with_slots_hides_nothing_else() {
    let nope = json!({"type": "nope"});
    let no_day = json!({"id": "s", "day": "2026-02-30"});
    let day = json!({"id": "t", "day": "2026-02-20"});
    let cases = [
        (
            small(json!([no_day]), json!([nope, {"type": "max_per_day"}])),
            vec![
                "/slots/0/day bad_date",
                "/constraints/0/type unknown_type",
                "/constraints/1/limit missing_field",
            ],
        ),
        (
            small(json!([{"day": "2026-02-20"}]), json!([nope])),
            vec![
                "/slots/0/id missing_field",
                "/constraints/0/type unknown_type",
            ],
        ),
        (
            small(
                json!([day, {"id": "s", "day": "2036-11-02"}]),
                json!([nope]),
            ),
            vec!["/slots too_large", "/constraints/0/type unknown_type"],
        ),
        (
            small(json!([no_day, no_day, day]), json!([])),
            vec![
                "/slots/0/day bad_date",
                "/slots/1/id duplicate_id",
                "/slots/1/day bad_date",
            ],
        ),
        (
            small(json!([no_day, {"id": "s", "day": "2026-02-20"}]), json!([])),
            vec!["/slots/0/day bad_date", "/slots/1/id duplicate_id"],
        ),
    ];
    for (value, expected) in cases {
        let (code, problems) = refused(&value);
        assert_eq!(code, "SOLVER_SPEC_INVALID");
        assert_eq!(problems, expected, "{value}");
    }
}

#[test]
fn what_follows_from_another_problem_is_not_one() {
    let day = json!({"id": "t", "day": "2026-02-20"});
    let slots = json!([{"id": "s", "day": "2026-02-30"}, day]);
    let kind = json!([{"key": "role", "equals": "rn"}]);
    let no_day = "/slots/0/day bad_date";
    // The slot without a day has an id, and may be any slot of a kind or of some days.
    for (rule, more) in [
        (
            json!({"type": "unavailable", "slot_ids": ["s"], "resource_ids": ["a"]}),
            None,
        ),
        (
            json!({"type": "same_resource", "slot_ids": ["s", "t"], "from": "2026-02-20"}),
            None,
        ),
        (json!({"type": "same_resource", "slot_where": kind}), None),
        (
            json!({"type": "min_rest", "minutes": 60, "to": "2026-02-19"}),
            None,
        ),
        (
            json!({"type": "apart", "resource_ids": ["a"]}),
            Some("/constraints/0/resource_ids out_of_range"),
        ),
    ] {
        let expected: Vec<&str> = [no_day].into_iter().chain(more).collect();
        let value = small(slots.clone(), json!([rule]));
        assert_eq!(refused(&value).1, expected, "{value}");
    }
    // A kind that cannot be read may be any two, and none whose times are missing.
    for (rule, expected) in [
        (
            json!({"type": "apart", "resource_where": "rn"}),
            "/constraints/0/resource_where wrong_type",
        ),
        (
            json!({"type": "apart", "resource_ids": ["a", "c"]}),
            "/constraints/0/resource_ids/1 unknown_resource",
        ),
        (
            json!({"type": "min_rest", "minutes": 60, "slot_where": "night"}),
            "/constraints/0/slot_where wrong_type",
        ),
    ] {
        let value = small(json!([day]), json!([rule]));
        assert_eq!(refused(&value).1, [expected], "{value}");
    }
    for (start, end) in [("7:00", "08:00"), ("07:00", "8:00")] {
        let slot = json!({"id": "s", "day": "2026-02-20", "start": start, "end": end});
        let (_, problems) = refused(&small(json!([slot]), json!([{"type": "no_overlap"}])));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].ends_with("bad_time"), "{problems:?}");
    }
}

#[test]
fn every_group_that_is_too_small_is_named() {
    let alone = |word: &str| json!({"type": word, "resource_ids": ["a"]});
    let value = small(
        json!([{"id": "t", "day": "2026-02-20"}]),
        json!([
            alone("apart"),
            {"type": "nope"},
            alone("together"),
            {"type": "same_resource", "slot_where": []},
        ]),
    );
    let expected = [
        "/constraints/0/resource_ids out_of_range",
        "/constraints/1/type unknown_type",
        "/constraints/2/resource_ids out_of_range",
        "/constraints/3/slot_where out_of_range",
    ];
    assert_eq!(refused(&value).1, expected);
}

#[test]
fn a_list_of_problems_that_is_cut_says_how_many_there_are() {
    let total = |unknown: usize| {
        let ids: Vec<String> = (0..unknown).map(|place| format!("r{place}")).collect();
        let rule = json!({"type": "max_per_day", "limit": 1, "resource_ids": ids});
        let value = small(json!([{"id": "t", "day": "2026-02-20"}]), json!([rule]));
        let fault = parse(value.to_string().as_bytes()).err().unwrap();
        let details = fault.details_value();
        let listed = details["errors"].as_array().unwrap().len();
        (listed, details["total"].as_u64())
    };
    assert_eq!(total(1_000), (1_000, None));
    assert_eq!(total(1_001), (1_000, Some(1_001)));
}

#[test]
fn a_document_of_nothing_but_unknown_fields_is_read_once() {
    let mut value = small(json!([{"id": "t", "day": "2026-02-20"}]), json!([]));
    for place in 0..300_000 {
        value[format!("f{place}")] = Value::Null;
    }
    let fault = parse(value.to_string().as_bytes()).err().unwrap();
    let details = fault.details_value();
    assert_eq!(details["errors"][999]["pointer"], "/f999");
    assert_eq!(details["total"], 300_000);
}

#[test]
fn unknown_names_are_pointed_at_as_json_pointers_are_written() {
    let mut value = base();
    value["resources"][0]["a/b~c"] = json!(1);
    value["resources"][0]["zwei Wörter"] = json!(1);
    value["resources"][0]["\u{1}"] = json!(1);
    let expected = [
        "/resources/0/a~1b~0c unknown_field",
        "/resources/0/… unknown_field",
    ];
    assert_eq!(refused(&value).1, expected);
}

#[test]
fn what_rules_choose_is_bounded_and_shared() {
    let slots: Vec<Value> = (0..5_000)
        .map(|place| {
            let attributes = json!({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1, "j": 1});
            json!({"id": format!("s{place}"), "day": "2026-02-20", "attributes": attributes})
        })
        .collect();
    // Which of the ten attributes a condition asks for are the bits of a number: every slot meets them all.
    let kind = |number: usize| -> Value {
        let letters = ('a'..='j').enumerate();
        let asked = letters.filter(|(bit, _)| number >> bit & 1 == 1);
        asked
            .map(|(_, letter)| json!({"key": letter.to_string(), "equals": 1}))
            .collect()
    };
    let rule =
        |number: usize| json!({"type": "max_per_day", "limit": 1, "slot_where": kind(number)});
    let kinds: Vec<Value> = (0..999).map(rule).collect();
    assert!(parse(small(json!(slots), json!(kinds)).to_string().as_bytes()).is_ok());
    let sequence = json!({"type": "forbidden_sequence", "pattern": [[], [], [], [], [], [], []]});
    let alike = json!(vec![sequence; 2_000]);
    assert!(parse(small(json!(slots), alike).to_string().as_bytes()).is_ok());
    let kinds: Vec<Value> = (0..1_010).map(rule).collect();
    assert_eq!(
        refused(&small(json!(slots), json!(kinds))).1,
        [" too_large"]
    );
}

#[test]
fn every_example_is_accepted_and_every_unknown_field_is_not() {
    for form in VOCABULARY {
        for strength in form.strengths {
            let is_preference = *strength == crate::Strength::Soft;
            let list = if is_preference {
                "preferences"
            } else {
                "constraints"
            };
            let mut item: Value = serde_json::from_str(form.example).unwrap();
            assert_eq!(item["type"], form.word);
            if is_preference && !form.weighs_itself {
                item["weight"] = json!(2);
            }
            let mut value = base();
            value[list] = json!([item]);
            if let Err(fault) = parse(value.to_string().as_bytes()) {
                panic!("{}: {}", form.example, fault.details_value());
            }
            value[list][0]["limits"] = json!(1);
            assert_eq!(
                refused(&value).1,
                [format!("/{list}/0/limits unknown_field")]
            );
        }
    }
}

#[test]
fn sizes_are_bounded() {
    let mut value = base();
    let many = (0..501).map(|place| json!({"id": format!("r{place}")}));
    value["resources"] = many.collect();
    assert_eq!(refused(&value).1, ["/resources too_large"]);
    let mut value = base();
    value["slots"][1]["day"] = json!("2029-01-01");
    assert_eq!(refused(&value).1, ["/slots too_large"]);
}

/// Bytes that mean something to the reader.
const TELLING: &[u8] = b"\0\"\\{}[]:,0-e.9\xEF\xFF";

#[test]
fn broken_bytes_break_nothing() {
    let mut value = base();
    let items = VOCABULARY.iter().map(|form| {
        let item: Value = serde_json::from_str(form.example).unwrap();
        (form, item)
    });
    for (form, item) in items {
        let is_hard = form.strengths.contains(&crate::Strength::Hard);
        let list = if is_hard {
            "constraints"
        } else {
            "preferences"
        };
        value[list].as_array_mut().unwrap().push(item);
    }
    let bytes = value.to_string().into_bytes();
    for (place, _) in bytes.iter().enumerate() {
        let mut changed = bytes.clone();
        changed[place] = TELLING[place % TELLING.len()];
        let mut shorter = bytes.clone();
        shorter.remove(place);
        for input in [&changed[..], &shorter[..], &bytes[..place]] {
            // Accepted or refused with a code: never anything else.
            if let Err(fault) = parse(input) {
                assert!(["VALIDATION_FAILED", "SOLVER_SPEC_INVALID"].contains(&fault.code.word()));
            }
        }
    }
}
