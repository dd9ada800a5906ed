//! The judge of schemas, records and mappings: one accepting and one rejecting case a rule, and what holds for all.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Clash, Mapping, Op, Schema, is_key};
use crate::fault::Problems;

fn read(fields: Value) -> Result<Schema, Value> {
    let mut problems = Problems::default();
    let fields = fields.as_array().cloned().unwrap();
    let schema = Schema::read(fields, "fields", &mut problems);
    problems
        .into_result()
        .map(|()| schema)
        .map_err(|fault| fault.details_value())
}

fn schema(fields: Value) -> Schema {
    read(fields).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// What the judge makes of a record: its values as text, or the problems.
fn judged(schema: &Schema, input: Value) -> Result<String, Value> {
    let mut problems = Problems::default();
    let values = schema.judge(object(input), "", &mut problems);
    problems
        .into_result()
        .map(|()| values.to_text())
        .map_err(|fault| fault.details_value())
}

fn one(field: Value) -> Schema {
    let mut field = field;
    field["key"] = json!("f");
    schema(json!([field]))
}

#[test]
fn a_schema_is_shown_with_everything_that_it_says() {
    let patient = schema(json!([
        {"key": "mrn", "type": "string", "required": true, "max_length": 32, "phi": true},
        {"key": "ward", "type": "enum", "values": ["a", "b"]},
        {"key": "age", "type": "integer", "min": 0},
    ]));
    assert_eq!(
        patient.to_json(),
        json!([
            {"key": "mrn", "type": "string", "required": true, "phi": true, "max_length": 32},
            {"key": "ward", "type": "enum", "required": false, "phi": false, "values": ["a", "b"]},
            {"key": "age", "type": "integer", "required": false, "phi": false, "min": 0, "max": null},
        ])
    );
    assert_eq!(Schema::stored(patient.to_json()), Some(patient));
}

#[test]
fn every_problem_of_a_schema_is_told() {
    let problems = read(json!([
        {"key": "Mrn", "type": "string"},
        {"key": "a", "type": "varchar", "max_length": 3},
        {"key": "b", "type": "boolean", "min": 1},
        {"key": "c", "type": "enum", "values": ["x", "x", 1]},
        {"key": "c", "type": "integer", "min": 5, "max": 4},
        {"key": "d", "type": "string", "max_length": 1_001},
        {"type": "text", "required": "yes"},
        "e",
    ]))
    .unwrap_err();
    let named: Vec<&String> = problems.as_object().unwrap().keys().collect();
    assert_eq!(
        named,
        [
            "fields[0].key",
            "fields[1].type",
            "fields[2].min",
            "fields[3].values[1]",
            "fields[3].values[2]",
            "fields[4].max",
            "fields[4].key",
            "fields[5].max_length",
            "fields[6].key",
            "fields[6].required",
            "fields[7]",
        ]
    );
    assert!(read(json!([])).is_err());
    let many: Value = (0..101)
        .map(|at| json!({"key": format!("f{at}"), "type": "json"}))
        .collect();
    assert!(read(many).is_err());
}

#[test]
fn keys_are_small_words() {
    for good in ["a", "patient", "p2_x", &"k".repeat(40)] {
        assert!(is_key(good), "{good}");
    }
    for bad in ["", "2a", "_a", "A", "a-b", "é", &"k".repeat(41)] {
        assert!(!is_key(bad), "{bad}");
    }
}

#[test]
fn each_type_takes_its_own_and_nothing_else() {
    let cases: [(Value, &[Value], &[Value]); 10] = [
        (
            json!({"type": "string", "max_length": 2}),
            &[json!(""), json!("éé")],
            &[json!("abc"), json!(1), json!(["a"])],
        ),
        (json!({"type": "text"}), &[json!("a\nb")], &[json!(true)]),
        (
            json!({"type": "integer", "min": -1, "max": 9}),
            &[json!(-1), json!(9), json!(3.0)],
            &[json!(-2), json!(10), json!(1.5), json!("1")],
        ),
        (
            json!({"type": "number", "min": 0.5}),
            &[json!(0.5), json!(7)],
            &[json!(0.4), json!("7")],
        ),
        (
            json!({"type": "boolean"}),
            &[json!(false)],
            &[json!(0), json!("false")],
        ),
        (
            json!({"type": "date"}),
            &[json!("2026-02-28")],
            &[
                json!("2026-02-30"),
                json!("2026-2-3"),
                json!("20260228"),
                json!("2026-02-28T00:00:00Z"),
            ],
        ),
        (
            json!({"type": "datetime"}),
            &[
                json!("2026-11-20T20:09:00.123Z"),
                json!("0000-01-01T00:00:00Z"),
            ],
            &[
                json!("0000-01-01T00:00:00+23:59"),
                json!("9999-12-31T23:59:59-23:59"),
                json!("2026-11-20"),
                json!("2026-11-20T20:09:00"),
                json!("2026-11-20 20:09:00Z"),
                json!("2026-11-20T20:09:00+01:00[Europe/Vienna]"),
            ],
        ),
        (
            json!({"type": "email"}),
            &[json!("a.b+c@mail.example.org")],
            &[
                json!("a@b@c"),
                json!("@example.org"),
                json!("a@"),
                json!("a b@example.org"),
                json!("a@-x.org"),
            ],
        ),
        (
            json!({"type": "enum", "values": ["a"]}),
            &[json!("a")],
            &[json!("A"), json!("")],
        ),
        (
            json!({"type": "json"}),
            &[json!({"a": [1, null]}), json!(3), json!("x")],
            &[json!("x".repeat(65_535))],
        ),
    ];
    for (field, good, bad) in cases {
        let schema = one(field.clone());
        for value in good {
            assert!(
                judged(&schema, json!({"f": value})).is_ok(),
                "{field} takes {value}"
            );
        }
        for value in bad {
            let problems = judged(&schema, json!({"f": value}));
            let problems = problems.expect_err(&format!("{field} refuses {value}"));
            assert_eq!(
                problems.as_object().unwrap().keys().collect::<Vec<_>>(),
                ["f"]
            );
        }
    }
}

#[test]
fn values_have_one_normal_form() {
    let schema = schema(json!([
        {"key": "at", "type": "datetime"}, {"key": "n", "type": "integer"}, {"key": "gone", "type": "string"},
    ]));
    let input = json!({"n": 3.0, "at": "2026-11-20T21:09:00.123456+01:00", "gone": null});
    let text = judged(&schema, input).unwrap();
    assert_eq!(text, r#"{"at":"2026-11-20T20:09:00.123Z","n":3}"#);
    let values = super::Values::from_text(&text).unwrap();
    assert_eq!(
        values.shown(&schema),
        json!({"at": "2026-11-20T20:09:00.123Z", "n": 3, "gone": null})
    );
}

#[test]
fn every_problem_of_a_record_is_told_without_its_value() {
    let schema = schema(json!([
        {"key": "mrn", "type": "string", "required": true}, {"key": "age", "type": "integer", "max": 130},
    ]));
    let problems = judged(&schema, json!({"age": 4_711, "nickname": "Bob"})).unwrap_err();
    assert_eq!(
        problems,
        json!({
            "mrn": ["is required"],
            "age": ["must be a whole number from -9007199254740991 to 130"],
            "nickname": ["is not a field of this entity"],
        })
    );
    let mut known = object(json!({"mrn": "1", "nickname": "Bob"}));
    schema.keep_known(&mut known);
    assert_eq!(Value::Object(known), json!({"mrn": "1"}));
}

#[test]
fn a_change_of_a_record_says_what_changed() {
    let schema = schema(json!([
        {"key": "mrn", "type": "string", "required": true}, {"key": "a", "type": "integer"},
        {"key": "b", "type": "text"},
    ]));
    let mut problems = Problems::default();
    let before = schema.judge(
        object(json!({"mrn": "1", "a": 1, "b": "x"})),
        "",
        &mut problems,
    );
    let changes = object(json!({"mrn": "1", "a": 2, "b": null}));
    let (after, changed) = schema.merge(&before, changes, "fields", &mut problems);
    assert!(problems.is_empty());
    assert_eq!(
        (after.to_text().as_str(), changed.as_slice()),
        (
            r#"{"mrn":"1","a":2}"#,
            &["a".to_owned(), "b".to_owned()][..]
        )
    );
    let changes = object(json!({"mrn": null, "a": "2", "c": 1}));
    schema.merge(&before, changes, "fields", &mut problems);
    let details = problems.into_result().unwrap_err().details_value();
    assert_eq!(
        details.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["fields.mrn", "fields.a", "fields.c"]
    );
}

#[test]
fn changes_of_a_schema_name_what_may_not_fit_any_more() {
    let before = schema(json!([
        {"key": "same", "type": "string"},
        {"key": "shorter", "type": "string", "max_length": 9},
        {"key": "longer", "type": "text", "max_length": 9},
        {"key": "word", "type": "enum", "values": ["a"]},
        {"key": "other", "type": "string"},
        {"key": "marked", "type": "string"},
        {"key": "free", "type": "number", "min": 1},
        {"key": "gone", "type": "json"},
    ]));
    let after = schema(json!([
        {"key": "same", "type": "string"},
        {"key": "shorter", "type": "string", "max_length": 8},
        {"key": "longer", "type": "text", "max_length": 10},
        {"key": "word", "type": "enum", "values": ["b", "a"]},
        {"key": "other", "type": "text"},
        {"key": "marked", "type": "string", "phi": true},
        {"key": "free", "type": "number", "min": 0.5},
        {"key": "new", "type": "date"},
        {"key": "needed", "type": "date", "required": true},
    ]));
    let changes = before.changes(&after);
    let told: Vec<(Op, &str, bool)> = changes
        .iter()
        .map(|change| (change.op, change.field.as_str(), change.narrows))
        .collect();
    assert_eq!(
        told,
        [
            (Op::Changed, "shorter", true),
            (Op::Changed, "longer", false),
            (Op::Changed, "word", false),
            (Op::Changed, "other", true),
            (Op::Changed, "marked", false),
            (Op::Changed, "free", false),
            (Op::Added, "new", false),
            (Op::Added, "needed", true),
            (Op::Removed, "gone", true),
        ]
    );
    assert!(before.changes(&before).is_empty());
    let mut problems = Problems::default();
    let record = before.judge(
        object(json!({"shorter": "12345678", "other": "x"})),
        "",
        &mut problems,
    );
    assert_eq!(after.misfits(&record), ["needed"]);
    let record = before.judge(
        object(json!({"shorter": "123456789", "gone": 1})),
        "",
        &mut problems,
    );
    assert_eq!(after.misfits(&record), ["shorter", "needed", "gone"]);
}

#[test]
fn a_mapping_reaches_into_objects_and_lets_the_rest_pass() {
    let schema = schema(json!([
        {"key": "mrn", "type": "string"}, {"key": "name", "type": "string"}, {"key": "note", "type": "text"},
    ]));
    let mut problems = Problems::default();
    let pairs =
        json!({"patient.id": "mrn", "patient.name.first": "name", "remark": "note", "id": "mrn"});
    let mapping = Mapping::read(object(pairs), Some(&schema), "field_mapping", &mut problems);
    assert!(problems.is_empty());
    assert_eq!(
        mapping.clashes(),
        [Clash {
            source: "patient.id".to_owned(),
            field: "mrn".to_owned()
        }]
    );
    assert_eq!(Mapping::stored(mapping.to_json()), Some(mapping.clone()));
    let payload = json!({"patient": {"id": "7", "name": {"first": "A"}}, "note": "own", "x": 1});
    let mapped = mapping.apply(object(payload));
    assert_eq!(mapped.get("mrn"), Some(&json!("7")));
    assert_eq!(mapped.get("name"), Some(&json!("A")));
    assert_eq!(
        (mapped.get("note"), mapped.get("x")),
        (Some(&json!("own")), Some(&json!(1)))
    );
    let payload = json!({"patient.id": "flat", "id": "last", "remark": "mapped", "note": "own"});
    let mapped = mapping.apply(object(payload));
    assert_eq!(
        mapped.get("mrn"),
        Some(&json!("last")),
        "the last in mapping order counts"
    );
    assert_eq!(mapped.get("note"), Some(&json!("mapped")));
    assert_eq!(mapped.get("remark"), None);
    let payload = json!({"patient.id": "flat", "id": null, "remark": null, "note": "own"});
    let mapped = mapping.apply(object(payload));
    assert_eq!(
        (mapped.get("mrn"), mapped.get("note")),
        (Some(&json!("flat")), Some(&json!("own"))),
        "null is no value"
    );
    let mapped = mapping.apply(object(json!({"id": null})));
    assert_eq!(mapped.get("mrn"), Some(&Value::Null));
    assert_eq!(
        Mapping::default().apply(object(json!({"a": 1}))),
        object(json!({"a": 1}))
    );
}

#[test]
fn a_mapping_names_fields_that_there_are() {
    let schema = one(json!({"type": "string"}));
    let mut problems = Problems::default();
    let pairs = object(json!({"a": "f", "b": "g", "c": 1, "a..b": "f", "": "f"}));
    Mapping::read(pairs.clone(), Some(&schema), "field_mapping", &mut problems);
    let details = problems.into_result().unwrap_err().details_value();
    assert_eq!(
        details.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["field_mapping.b", "field_mapping.c", "field_mapping"]
    );
    let mut problems = Problems::default();
    Mapping::read(pairs, None, "field_mapping", &mut problems);
    let details = problems.into_result().unwrap_err().details_value();
    assert_eq!(
        details.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["field_mapping.c", "field_mapping"],
        "without a schema the form alone"
    );
}

#[test]
fn a_mapping_knows_which_of_its_fields_a_schema_has_lost() {
    let schema = one(json!({"type": "string"}));
    let mapping = Mapping::stored(json!({"a": "f", "b": "g"})).unwrap();
    assert_eq!(mapping.lost(&schema), [("b", "g")]);
}

/// A field of any type, as a request has it.
fn field() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        (1..40_u32).prop_map(|most| json!({"type": "string", "max_length": most})),
        Just(json!({"type": "text"})),
        (-9..9_i64, 0..9_i64)
            .prop_map(|(min, more)| json!({"type": "integer", "min": min, "max": min + more})),
        (-9..9_i64).prop_map(|max| json!({"type": "number", "max": max})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "date"})),
        Just(json!({"type": "datetime"})),
        Just(json!({"type": "email"})),
        prop::collection::btree_set("[a-z]{1,3}", 1..4)
            .prop_map(|words| json!({"type": "enum", "values": words})),
        Just(json!({"type": "json"})),
    ];
    (kind, any::<bool>(), any::<bool>()).prop_map(|(mut field, required, phi)| {
        field["required"] = json!(required);
        field["phi"] = json!(phi);
        field
    })
}

fn any_schema() -> impl Strategy<Value = Schema> {
    prop::collection::btree_map("[a-c]{1,2}", field(), 1..5).prop_map(|fields| {
        let fields: Value = fields
            .into_iter()
            .map(|(key, mut field)| {
                field["key"] = json!(key);
                field
            })
            .collect();
        schema(fields)
    })
}

/// Values that fit now and then.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-20..20_i64).prop_map(Value::from),
        (-20.0..20.0_f64).prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
        Just(json!("2026-11-20")),
        Just(json!("2026-11-20T21:09:00+01:00")),
        Just(json!("a@example.org")),
        Just(json!({"a": [1]})),
    ]
}

fn any_record() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-c]{1,2}", any_value(), 0..6)
        .prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    #[test]
    fn what_a_schema_shows_is_that_schema(schema in any_schema()) {
        prop_assert_eq!(Schema::stored(schema.to_json()), Some(schema));
    }

    #[test]
    fn what_is_accepted_is_accepted_again_and_stays_as_it_is(schema in any_schema(), mut input in any_record()) {
        schema.keep_known(&mut input);
        let mut problems = Problems::default();
        let values = schema.judge(input, "", &mut problems);
        if problems.is_empty() {
            prop_assert!(schema.misfits(&values).is_empty());
            let again = object(serde_json::from_str(&values.to_text()).unwrap());
            let judged = schema.judge(again, "", &mut problems);
            prop_assert!(problems.is_empty() && judged == values);
        }
    }

    #[test]
    fn a_change_that_narrows_nothing_fits_every_record(
        before in any_schema(), after in any_schema(), mut input in any_record()
    ) {
        before.keep_known(&mut input);
        let mut problems = Problems::default();
        let values = before.judge(input, "", &mut problems);
        let narrows = before.changes(&after).iter().any(|change| change.narrows);
        if problems.is_empty() && !narrows {
            prop_assert!(after.misfits(&values).is_empty());
        }
    }

    #[test]
    fn merging_a_record_into_nothing_is_judging_it(schema in any_schema(), mut input in any_record()) {
        schema.keep_known(&mut input);
        let (mut one, mut other) = (Problems::default(), Problems::default());
        let judged = schema.judge(input.clone(), "", &mut one);
        let (merged, _) = schema.merge(&super::Values::default(), input, "", &mut other);
        if one.is_empty() {
            prop_assert!(other.is_empty());
            let same = |values: &super::Values| values.shown(&schema);
            prop_assert_eq!(same(&merged), same(&judged));
        }
    }

    #[test]
    fn mappings_are_read_back(pairs in prop::collection::btree_map("[a-z]{1,3}(\\.[a-z]{1,3}){0,2}", "[fg]", 0..6)) {
        let schema = schema(json!([{"key": "f", "type": "json"}, {"key": "g", "type": "json"}]));
        let pairs: Map<String, Value> = pairs.into_iter().map(|(k, v)| (k, json!(v))).collect();
        let mut problems = Problems::default();
        let mapping = Mapping::read(pairs, Some(&schema), "m", &mut problems);
        prop_assert!(problems.is_empty());
        prop_assert_eq!(Mapping::stored(mapping.to_json()), Some(mapping));
    }
}
