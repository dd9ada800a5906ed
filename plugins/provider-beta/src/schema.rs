//! Schemas as kind B takes them. It promises that an answer conforms only where each object requires all its properties
//! and no others may stand in it, and refuses to promise it elsewhere (wire notes 2, point 43). It also refuses what
//! JSON Schema leaves to be understood: the properties of an object without any, the items of an array of anything, and
//! the type of values that stand for themselves.

use std::collections::BTreeSet;

use driver_kit::json::raw;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::bindings::gateway::provider::types::DriverError;

/// A schema that says what is to be understood, and byte for byte what the host gave where it says so already.
///
/// # Errors
/// As [`raw`].
pub fn spelled_out(schema: &[u8], param: &str) -> Result<Box<RawValue>, DriverError> {
    if let Ok(mut read) = serde_json::from_slice::<Value>(schema)
        && spell_out(&mut read)
        && let Ok(spelled) = to_raw_value(&read)
    {
        return Ok(spelled);
    }
    raw(schema, param)
}

/// Whether anything was added.
fn spell_out(schema: &mut Value) -> bool {
    let Value::Object(fields) = schema else {
        return false;
    };
    let mut is_added = false;
    for (kind, word, empty) in [
        ("object", "properties", json!({})),
        ("array", "items", json!({})),
    ] {
        if says_type(fields, kind) && !fields.contains_key(word) {
            fields.insert(word.to_owned(), empty);
            is_added = true;
        }
    }
    if !fields.contains_key("type")
        && let Some(kinds) = kinds_of_values(fields)
    {
        fields.insert("type".to_owned(), kinds);
        is_added = true;
    }
    for (word, value) in fields {
        match value {
            Value::Object(named) if NAMED.contains(&word.as_str()) => {
                for inner in named.values_mut() {
                    is_added |= spell_out(inner);
                }
            }
            Value::Array(listed) if LISTED.contains(&word.as_str()) => {
                for inner in listed {
                    is_added |= spell_out(inner);
                }
            }
            inner if SINGLE.contains(&word.as_str()) => is_added |= spell_out(inner),
            _ => {}
        }
    }
    is_added
}

/// The types of the values that a schema lists.
fn kinds_of_values(fields: &Map<String, Value>) -> Option<Value> {
    let values = match (fields.get("const"), fields.get("enum")) {
        (Some(one), _) => std::slice::from_ref(one),
        (None, Some(Value::Array(all))) => all,
        _ => return None,
    };
    let mut kinds: Vec<&str> = Vec::new();
    for value in values {
        let kind = match value {
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Null => "null",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Array(_) | Value::Object(_) => return None,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    match kinds.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        several => Some(json!(several)),
    }
}

fn says_type(fields: &Map<String, Value>, wanted: &str) -> bool {
    match fields.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        Some(kind) => kind == wanted,
        None => false,
    }
}

/// Whether a schema is closed all the way down. What is no JSON is another's finding.
pub fn is_closed(schema: &[u8]) -> bool {
    match serde_json::from_slice::<Value>(schema) {
        Ok(schema) => is_closed_value(&schema),
        Err(_) => true,
    }
}

fn is_closed_value(schema: &Value) -> bool {
    let Value::Object(fields) = schema else {
        return true;
    };
    (!is_of_objects(fields) || is_closed_object(fields)) && inner(fields).all(is_closed_value)
}

fn is_of_objects(fields: &Map<String, Value>) -> bool {
    says_type(fields, "object") || fields.contains_key("properties")
}

fn is_closed_object(fields: &Map<String, Value>) -> bool {
    let required = fields.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: BTreeSet<&str> = required.collect();
    let is_required = |name: &String| required.contains(name.as_str());
    let properties = fields.get("properties").and_then(Value::as_object);
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_none_or(|properties| properties.keys().all(is_required))
}

/// The schemas that stand in one.
fn inner(fields: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let named = NAMED.into_iter();
    let named = named.filter_map(move |word| fields.get(word)?.as_object());
    let listed = LISTED.into_iter();
    let listed = listed.filter_map(move |word| fields.get(word)?.as_array());
    named
        .flat_map(Map::values)
        .chain(listed.flatten())
        .chain(SINGLE.into_iter().filter_map(move |word| fields.get(word)))
}

/// Words behind which schemas stand by name, in a list, and alone.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];
const LISTED: [&str; 4] = ["anyOf", "allOf", "oneOf", "prefixItems"];
const SINGLE: [&str; 2] = ["items", "additionalProperties"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_is_closed_and_requires_what_it_has() {
        for schema in [
            r#"{"type": "object", "properties": {}, "additionalProperties": false}"#,
            r#"{"type": "object", "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}"#,
            r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "required": ["a"], "additionalProperties": false,
                "$defs": {"b": {"type": ["object", "null"], "properties": {}, "additionalProperties": false}}}"##,
            // Values are no schemas, and properties may have any name.
            r#"{"type": "object", "properties": {"type": {"enum": [{"type": "object"}]}, "items": {"type": "array"}},
                "required": ["type", "items"], "additionalProperties": false}"#,
        ] {
            assert!(is_closed(schema.as_bytes()), "{schema}");
        }
        let open = r#"{"type": "object"}"#;
        for schema in [
            open.to_owned(),
            r#"{"type": ["object", "null"], "properties": {}}"#.to_owned(),
            r#"{"properties": {"a": {}}, "required": [], "additionalProperties": false}"#
                .to_owned(),
            r#"{"properties": {"a": {}}, "additionalProperties": false}"#.to_owned(),
            r#"{"type": "object", "properties": {}, "additionalProperties": true}"#.to_owned(),
            format!(
                r#"{{"properties": {{"a": {open}}}, "required": ["a"], "additionalProperties": false}}"#
            ),
            format!(r#"{{"type": "array", "items": {open}}}"#),
            format!(r#"{{"anyOf": [{{"type": "string"}}, {open}]}}"#),
            format!(r#"{{"$defs": {{"a": {open}}}}}"#),
        ] {
            assert!(!is_closed(schema.as_bytes()), "{schema}");
        }
    }

    #[test]
    fn many_properties_are_found_at_once() {
        const PROPERTIES: usize = 200_000;
        let names = || (0..PROPERTIES).map(|at| format!("p{at:06}"));
        let each: Map<String, Value> = names().map(|name| (name, json!(0))).collect();
        let required: Vec<String> = names().rev().collect();
        let schema =
            json!({"properties": each, "required": required, "additionalProperties": false});
        assert!(is_closed(schema.to_string().as_bytes()));
    }

    #[test]
    fn what_is_to_be_understood_is_said() {
        let spelled = |schema: &str| {
            let raw = spelled_out(schema.as_bytes(), "place");
            raw.map_or_else(|_| String::new(), |raw| raw.get().to_owned())
        };
        for (schema, said) in [
            (
                r#"{"type": "object"}"#,
                r#"{"type":"object","properties":{}}"#,
            ),
            (
                r#"{"type": "object", "properties": {"z": {"type": "array"}, "a": {"type": ["array", "null"]}}}"#,
                r#"{"type":"object","properties":{"z":{"type":"array","items":{}},"a":{"type":["array","null"],"items":{}}}}"#,
            ),
            (
                r#"{"anyOf": [{"items": {"type": "array"}}], "$defs": {"b": {"additionalProperties": {"type": "array"}}}}"#,
                concat!(
                    r#"{"anyOf":[{"items":{"type":"array","items":{}}}],"#,
                    r#""$defs":{"b":{"additionalProperties":{"type":"array","items":{}}}}}"#
                ),
            ),
        ] {
            assert_eq!(spelled(schema), said);
        }
        assert_eq!(
            spelled(
                r#"{"type": "object", "properties": {"a": {"enum": ["x", null, "y"]}, "b": {"const": 1}}}"#
            ),
            r#"{"type":"object","properties":{"a":{"enum":["x",null,"y"],"type":["string","null"]},"b":{"const":1,"type":"integer"}}}"#
        );
        for schema in [
            r#"{"type": "object", "properties": {}}"#,
            r#"{"properties": {"type": {"const": {"type": "array"}}, "items": {"type": "array", "items": true}}}"#,
        ] {
            assert_eq!(spelled(schema), schema);
        }
        assert!(spelled_out(b"{", "place").is_err());
    }
}
