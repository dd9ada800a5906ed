//! Each rule, with a schema that it changes, passes or refuses.

use serde_json::json;

use super::*;
use crate::bindings::gateway::provider::types::ErrorKind;

/// The schema that is sent, or none where it is refused by name.
fn sent(schema: &Value, of: Of) -> Option<Value> {
    match promised(schema.to_string().as_bytes(), of, "place") {
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
        let raw = promised(schema.as_bytes(), Of::Answer, "place");
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
            json!({"allOf": [{"type": "string", "description": "inner"}], "description": "outer"}),
            json!({"type": "string", "description": "outer"}),
        ),
    ] {
        assert_eq!(property(&schema), Some(said), "{schema}");
    }
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
        json!({"allOf": [{"type": "string"}, {"type": "string"}]}),
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
    ] {
        let mut said = sent(&schema, Of::Arguments).unwrap_or_default();
        said.as_object_mut()
            .and_then(|said| said.shift_remove("$schema"));
        assert_eq!(said, none, "{schema}");
    }
    for schema in [
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}]}),
    ] {
        assert_eq!(sent(&schema, Of::Arguments), None, "{schema}");
    }
}
