//! Each rule, with a schema that it changes, passes or refuses.

use serde_json::json;

use super::*;
use crate::bindings::gateway::provider::types::ErrorKind;

/// The schema that is sent, or none where it is refused by name.
fn sent(schema: &Value, of: Of) -> Option<Value> {
    let bytes = schema.to_string().into_bytes();
    let mut unions = Unions::beside([(bytes.as_slice(), of)].into_iter());
    match promised(&bytes, of, "place", &mut unions) {
        Ok(raw) => serde_json::from_str(raw.get()).ok(),
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::UnsupportedParameter);
            assert_eq!(error.param.as_deref(), Some("place"));
            None
        }
    }
}

fn answer(schema: &Value) -> Option<Value> {
    sent(schema, Of::Answer)
}

/// As it stands behind a property of a closed object.
fn property(schema: &Value) -> Option<Value> {
    let object = json!({"type": "object", "properties": {"a": schema}});
    answer(&object).map(|mut object| object["properties"]["a"].take())
}

#[test]
fn what_kind_a_takes_is_passed_byte_for_byte() {
    for schema in [
        r#"{"type":"object", "properties":{"z":{"type":"string"}, "a":{"type":"number"}},
            "required":["z"], "additionalProperties":false, "title":"T", "description":"d"}"#,
        r##"{"$schema": "s", "$defs":{"x":{"type":"string", "format":"date"}}, "type":"object", "additionalProperties":false,
            "properties":{"a":{"$ref":"#/$defs/x"}, "b":{"type":"array", "items":{"enum":[1, null]}, "minItems":1},
            "c":{"anyOf":[{"type":"null"}, {"const":1.50}]}, "d":{"type":"string", "pattern":"^[a-z]+\\d{3}$"}}}"##,
    ] {
        let mut unions = Unions::beside(std::iter::empty());
        let raw = promised(schema.as_bytes(), Of::Answer, "place", &mut unions);
        assert_eq!(
            raw.ok().map(|raw| raw.get().to_owned()),
            Some(schema.to_owned())
        );
    }
}

#[test]
fn objects_are_closed_and_keep_their_order() {
    let schema = json!({"type": "object", "required": ["z"], "properties": {
        "z": {"type": "object", "properties": {"y": {"type": "null"}}, "additionalProperties": true},
        "a": {"properties": {"b": {"type": "boolean"}}},
        "m": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "null"}}}},
    }});
    let said = answer(&schema).unwrap_or_default();
    assert_eq!(
        said.to_string(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""z":{"type":"object","properties":{"y":{"type":"null"}},"additionalProperties":false},"#,
            r#""a":{"type":"object","properties":{"b":{"type":"boolean"}},"additionalProperties":false},"#,
            r#""m":{"type":"array","items":{"type":"object","properties":{"x":{"type":"null"}},"#,
            r#""additionalProperties":false}}},"required":["z"],"additionalProperties":false}"#
        )
    );
}

#[test]
fn bounds_join_the_description() {
    for (schema, said) in [
        (
            json!({"type": "integer", "minimum": 1, "maximum": 10, "description": "A score"}),
            json!({"type": "integer", "description": "A score\n\n{\"minimum\":1,\"maximum\":10}"}),
        ),
        (
            json!({"type": "string", "minLength": 1, "title": "Name", "default": "x"}),
            json!({"type": "string", "title": "Name", "description": "{\"minLength\":1,\"default\":\"x\"}"}),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}),
            json!({"type": "array", "items": {"type": "string"}, "description": "{\"minItems\":2,\"uniqueItems\":true}"}),
        ),
        (
            json!({"type": "string", "format": "phone"}),
            json!({"type": "string", "description": "{\"format\":\"phone\"}"}),
        ),
        (
            json!({"type": "string", "contentEncoding": "base64", "x-order": 1, "id": "b"}),
            json!({"type": "string", "description": "{\"contentEncoding\":\"base64\"}"}),
        ),
        (
            json!({"type": "string", "pattern": "^(?!a)b$"}),
            json!({"type": "string", "description": "{\"pattern\":\"^(?!a)b$\"}"}),
        ),
        (
            json!({"anyOf": [{"type": "number", "multipleOf": 2}, {"type": "null"}], "default": null}),
            json!({"anyOf": [{"type": "number", "description": "{\"multipleOf\":2}"}, {"type": "null"}],
                "description": "{\"default\":null}"}),
        ),
    ] {
        assert_eq!(property(&schema), Some(said), "{schema}");
    }
}

#[test]
fn alternatives_are_said_in_the_one_way_that_there_is() {
    let discriminated = json!({"oneOf": [
        {"type": "object", "properties": {"k": {"const": "a"}}},
        {"$ref": "#/$defs/b", "description": "the other"},
    ], "discriminator": {"propertyName": "k"}, "$defs": {"b": {"type": "object", "properties": {"k": {"const": "b"}}}}});
    let said = answer(&discriminated).unwrap_or_default();
    assert_eq!(said["anyOf"][0]["additionalProperties"], json!(false));
    assert_eq!(said["anyOf"][1], json!({"$ref": "#/$defs/b"}));
    assert_eq!(said["$defs"]["b"]["additionalProperties"], json!(false));
    assert_eq!((said.get("oneOf"), said.get("description")), (None, None));
    for (schema, said) in [
        (
            json!({"type": ["string", "null"], "minLength": 1, "description": "d"}),
            json!({"anyOf": [{"type": "string", "description": "{\"minLength\":1}"}, {"type": "null"}], "description": "d"}),
        ),
        (
            json!({"type": ["object", "null"], "properties": {"b": {"type": "null"}}}),
            json!({"anyOf": [{"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": false},
                {"type": "null"}]}),
        ),
        (
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"enum": ["a", null]}),
        ),
        (json!({"type": ["string"]}), json!({"type": "string"})),
        (
            json!({"type": ["array", "string", "null"], "properties": {},
                "items": {"type": ["integer", "null"], "minimum": 1}}),
            json!({"anyOf": [
                {"type": "array", "items": {"anyOf": [
                    {"type": "integer", "description": "{\"minimum\":1}"}, {"type": "null"},
                ]}},
                {"type": "string"},
                {"type": "null"},
            ]}),
        ),
        (
            json!({"type": "string", "additionalProperties": false, "items": {}}),
            json!({"type": "string"}),
        ),
        (
            json!({"allOf": [{"type": "string", "description": "inner"}], "description": "outer"}),
            json!({"type": "string", "description": "outer"}),
        ),
    ] {
        assert_eq!(property(&schema), Some(said), "{schema}");
    }
}

#[test]
fn schemas_that_hold_together_are_passed_on() {
    let dates = json!([{"type": "string", "format": "date"}, {"type": "string", "pattern": "^2"}]);
    for (schema, said) in [
        (json!({"allOf": dates}), json!({"allOf": dates})),
        (
            json!({"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "z$"}], "minLength": 2}),
            json!({"allOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "z$"}],
                "description": "{\"minLength\":2}"}),
        ),
        (
            json!({"allOf": [{"type": "object", "properties": {"b": {"type": "null"}}},
                {"type": "object", "properties": {"b": {"type": ["null", "string"]}}, "required": ["b"]}]}),
            json!({"allOf": [{"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": false},
                {"type": "object", "properties": {"b": {"anyOf": [{"type": "null"}, {"type": "string"}]}},
                "required": ["b"], "additionalProperties": false}]}),
        ),
        (
            json!({"allOf": [{"type": "string"}], "maxLength": 3}),
            json!({"allOf": [{"type": "string"}], "description": "{\"maxLength\":3}"}),
        ),
        (
            json!({"type": "object", "allOf": [{"properties": {"b": {"type": "null"}}}]}),
            json!({"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": false}),
        ),
    ] {
        assert_eq!(property(&schema), Some(said), "{schema}");
    }
    let object = json!({"type": "object", "properties": {"b": {"type": "null"}}});
    let other = json!({"type": "object", "properties": {"c": {"type": "null"}}});
    for all in [
        json!([]),
        json!([object, other]),
        json!([object, {"anyOf": [object, other]}]),
        json!([{"anyOf": [object, other]}, {"anyOf": [object, other]}]),
        json!([{"type": "string"}, {"type": "integer"}]),
        json!([{"type": "string"}, {}]),
    ] {
        assert_eq!(property(&json!({"allOf": all})), None, "{all}");
    }
}

#[test]
fn a_type_beside_a_list_binds_all_that_is_in_it() {
    let with = |schema: Value| {
        answer(
            &json!({"type": "object", "properties": {"a": schema}, "$defs": {
                "object": {"type": "object", "properties": {"b": {"type": "null"}}},
                "implied": {"properties": {"b": {"type": "null"}}},
                "text": {"type": "string"},
                "link": {"$ref": "#/$defs/object"},
            }}),
        )
    };
    let to = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    for (schema, said) in [
        (
            json!({"type": "string", "anyOf": [{"type": "string", "format": "date"}, {"const": "none"}]}),
            json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "const": "none"}]}),
        ),
        (
            json!({"type": ["number", "null"], "oneOf": [{"type": "integer"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ),
        (
            json!({"type": "object", "oneOf": [to("object"), to("implied")]}),
            json!({"anyOf": [to("object"), to("implied")]}),
        ),
        (
            json!({"type": "object", "allOf": [to("object")], "title": "t"}),
            to("object"),
        ),
    ] {
        let said_there = with(schema.clone()).map(|mut all| all["properties"]["a"].take());
        assert_eq!(said_there, Some(said), "{schema}");
    }
    for schema in [
        json!({"type": "string", "anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"type": "integer", "anyOf": [{"type": "number"}]}),
        json!({"type": "string", "anyOf": [{"type": ["string", "null"]}]}),
        json!({"type": "string", "anyOf": [{"anyOf": [{"type": "null"}]}]}),
        json!({"type": ["string", "null"], "anyOf": [{"enum": ["a", 1]}]}),
        json!({"type": "object", "anyOf": [to("text")]}),
        json!({"type": "object", "anyOf": [to("link")]}),
        json!({"type": "string", "allOf": [to("object")]}),
    ] {
        assert_eq!(with(schema.clone()), None, "{schema}");
    }
}

#[test]
fn definitions_stay_where_they_are_named() {
    let inner = json!({"$defs": {"b": {"type": "null"}}, "type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}});
    let schema = json!({"$defs": {"a": {"type": "string"}}, "allOf": [inner]});
    let said = answer(&schema).unwrap_or_default();
    assert_eq!(said["$defs"], json!({"a": {"type": "string"}}));
    let with = |reference: &str| {
        answer(
            &json!({"type": "object", "properties": {"a": {"$ref": reference}}, "$defs": {
                "a/~b": {"oneOf": [{"type": "null"}, {"type": "string"}]},
                "c": {"type": ["object", "null"], "properties": {"x": {"type": "null"}},
                "$defs": {"d": {"type": "null"}}},
            }}),
        )
    };
    assert!(with("#/$defs/a~1~0b").is_some());
    for reference in [
        "#/$defs/a~1~0b/oneOf/0",
        "#/$defs/c/properties/x",
        "#/$defs/c/$defs/d",
        "#/$defs/",
        "#/$defs",
        "#/$defsx/c",
    ] {
        assert_eq!(with(reference), None, "{reference}");
    }
}

#[test]
fn what_would_take_long_is_said_or_refused_at_once() {
    // Types that repeat would double at each level.
    let deep = |levels: usize, kinds: [&str; 2]| {
        (0..levels).fold(json!({"type": "null"}), |inner, _| {
            if kinds[0] == "array" {
                json!({"type": kinds, "items": inner})
            } else {
                json!({"type": kinds, "properties": {"a": inner}})
            }
        })
    };
    for kind in ["array", "object"] {
        assert_eq!(property(&deep(58, [kind, kind])), None, "{kind}");
        assert!(property(&deep(20, [kind, "null"])).is_some(), "{kind}");
    }
    // A chain of definitions, each of which names the next one twice.
    let chain = |last: Value| {
        let each = (0..2_000).map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (
                format!("d{at}"),
                json!({"anyOf": [next, {"type": "array", "items": next}]}),
            )
        });
        let mut definitions: Map<String, Value> = each.collect();
        definitions.insert("d2000".to_owned(), last);
        answer(
            &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions}),
        )
    };
    assert!(chain(json!({"type": "null"})).is_some());
    assert_eq!(chain(json!({"$ref": "#/$defs/d0"})), None);
    let long = "d".repeat(MAX_SCHEMA_BYTES);
    let long =
        json!({"type": "object", "properties": {"a": {"type": "null", "description": long}}});
    assert_eq!(answer(&long), None);
}

#[test]
fn what_cannot_be_promised_is_refused() {
    for schema in [
        json!({}),
        json!(true),
        json!({"description": "anything"}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": {"type": "null"}}),
        json!({"type": "object", "patternProperties": {"a": {"type": "null"}}, "additionalProperties": false}),
        json!({"type": "array", "items": {}}),
        json!({"type": "array", "prefixItems": [{"type": "null"}]}),
        json!({"type": "string", "not": {"const": "a"}}),
        json!({"enum": [{"b": 1}]}),
        json!({"enum": []}),
        json!({"const": [1]}),
        json!({"type": "array"}),
        json!({"type": []}),
        json!({"type": ["string", "string"]}),
        json!({"type": ["string", "date"]}),
        json!({"type": ["string", "null"], "enum": ["a", 1]}),
        json!({"type": ["string", "null"], "not": {"const": "a"}}),
        json!({"anyOf": []}),
        json!({"oneOf": []}),
        json!({"oneOf": [{"type": "string"}], "required": ["b"]}),
        json!({"anyOf": [{"type": "string"}], "allOf": [{"type": "string"}]}),
        json!({"type": "object", "properties": {"b": {"type": "null"}}, "dependentRequired": {"b": ["b"]}}),
        json!({"type": "object", "properties": {"b": {"type": "null"}}, "required": ["c"]}),
        json!({"type": "object", "properties": {"b": {"type": "null"}}, "required": true}),
        json!({"type": "string", "nullable": true}),
        json!({"anyOf": [{"type": "string"}, {}]}),
        json!({"anyOf": [{"type": "string"}], "oneOf": [{"type": "string"}]}),
        json!({"type": "object", "properties": {"b": {"type": "null"}}, "anyOf": [{"required": ["b"]}]}),
        json!({"type": "date"}),
        json!({"$ref": "https://example.org/s"}),
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "#/properties/a"}),
    ] {
        assert_eq!(property(&schema), None, "{schema}");
    }
}

#[test]
fn a_schema_that_contains_itself_is_refused_and_no_other() {
    let with = |next: &Value| {
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/n"}}, "$defs": {
            "n": {"type": "object", "properties": {"next": next, "$ref": {"type": "string"}}},
            "m": {"type": "array", "items": {"$ref": "#/$defs/n"}},
            "leaf": {"type": "string"},
        }})
    };
    for next in [
        json!({"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}),
        json!({"$ref": "#/$defs/m"}),
    ] {
        assert_eq!(answer(&with(&next)), None, "{next}");
    }
    let leaf = with(&json!({"$ref": "#/$defs/leaf"}));
    assert!(answer(&leaf).is_some());
}

#[test]
fn properties_may_have_any_name() {
    let names = [
        "properties",
        "$ref",
        "anyOf",
        "not",
        "type",
        "items",
        "default",
    ];
    let each = names.map(|name| (name.to_owned(), json!({"type": "string"})));
    let schema = json!({"type": "object", "properties": Value::Object(each.into_iter().collect()),
        "additionalProperties": false});
    assert_eq!(answer(&schema), Some(schema));
}

#[test]
fn a_tool_without_properties_is_one_without_arguments() {
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for schema in [
        json!({"type": "object"}),
        json!({"type": "object", "$schema": "s"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {}, "required": [], "$schema": "s"}),
        none.clone(),
    ] {
        let mut said = sent(&schema, Of::Arguments).unwrap_or_default();
        if let Some(said) = said.as_object_mut() {
            said.retain(|word, _| word != "$schema" && word != "required");
        }
        assert_eq!(said, none, "{schema}");
    }
    for schema in [
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
        json!({"type": "object", "properties": {}, "required": ["a"]}),
        json!({"type": "object", "anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}]}),
    ] {
        assert_eq!(sent(&schema, Of::Arguments), None, "{schema}");
    }
}

/// Where the host lets a placeholder stand for a number.
fn number(kind: &str) -> Value {
    json!({"description": "Whose.", "anyOf": [
        {"type": kind, "minimum": 1},
        {"type": "string", "description": "A placeholder.", "pattern": r"^\[(MRN|ZIP)_[0-9]+\]$"}
    ]})
}

/// An object with so many numbers, and other alternatives.
fn numbers(count: usize, others: usize) -> Value {
    let mut properties = Fields::new();
    for at in 0..count {
        properties.insert(format!("n{at}"), number("integer"));
    }
    let optional = json!({"anyOf": [{"type": "number"}, {"type": "null"}, {"type": "string", "pattern": r"^\[(MRN)_[0-9]+\]$"}]});
    for at in 0..others {
        let other = if at % 2 == 0 {
            optional.clone()
        } else {
            json!({"type": ["string", "null"]})
        };
        properties.insert(format!("o{at}"), other);
    }
    json!({"type": "object", "properties": properties})
}

#[test]
fn placeholders_are_alternatives_to_numbers_as_far_as_there_is_room() {
    for (count, others, room) in [(16, 0, 16), (17, 0, 16), (3, 13, 3), (3, 14, 2), (2, 20, 0)] {
        let said = answer(&numbers(count, others)).unwrap_or_default();
        let properties = said["properties"].as_object().cloned().unwrap_or_default();
        let unions: Vec<&str> = properties
            .iter()
            .filter(|(_, one)| one.get("anyOf").is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        let named = |name: &str| unions.iter().filter(|one| one.starts_with(name)).count();
        assert_eq!(
            (named("n"), named("o")),
            (room, others),
            "{count}, {others}"
        );
    }
}

#[test]
fn a_number_without_room_for_an_alternative_is_said_in_digits() {
    let mut schema = numbers(17, 0);
    schema["properties"]["n16"] = number("number");
    let said = answer(&schema).unwrap_or_default();
    let last = &said["properties"]["n16"];
    assert_eq!(last["type"], "string");
    assert_eq!(
        last["pattern"],
        r"^(-?(0|[1-9][0-9]*)(\.[0-9]+)?|\[(MRN|ZIP)_[0-9]+\])$"
    );
    let expected = "Whose.\n\n{\"minimum\":1}\n\nThe number in digits, or the placeholder that stands for it, with its brackets.";
    assert_eq!(last["description"], expected);
    // In all schemas of a request.
    let bytes = numbers(10, 0).to_string().into_bytes();
    let schemas = [
        (bytes.as_slice(), Of::Answer),
        (bytes.as_slice(), Of::Arguments),
    ];
    let mut unions = Unions::beside(schemas.into_iter());
    let said = schemas.map(|(schema, of)| {
        let said = promised(schema, of, "place", &mut unions);
        said.map(|said| said.get().matches("anyOf").count()).ok()
    });
    assert_eq!(said, [Some(10), Some(6)]);
}
