//! What the chat-completions wire format refuses in a schema: of a function's parameters, and of an answer.

use std::collections::HashSet;

use serde_json::Value;

use crate::fake_provider::messages::validation::{Checked, Fields};

/// Words that a strict schema may not have.
const NOT_STRICT: [&str; 14] = [
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "default",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "prefixItems",
    "unevaluatedProperties",
    "uniqueItems",
];
/// One of them says what a value may be.
const TYPED: [&str; 3] = ["type", "anyOf", "$ref"];

/// The parameters of a function.
pub(crate) fn check_parameters(of: &str, schema: &Fields, strict: bool) -> Checked {
    if !schema.contains_key("properties") {
        return Err(format!(
            "Invalid schema for {of}: In context=(), object schema missing properties."
        ));
    }
    check_schema(of, schema, strict)
}

/// A schema and all that stand in it.
pub(crate) fn check_schema(of: &str, schema: &Fields, strict: bool) -> Checked {
    if strict {
        check_strict(of, schema)?;
    }
    if says_type(schema, "array") && !schema.contains_key("items") {
        return Err(format!(
            "Invalid schema for {of}: array schema missing items."
        ));
    }
    for word in ["properties", "$defs", "definitions", "patternProperties"] {
        let named = schema.get(word).and_then(Value::as_object);
        for inner in named.into_iter().flat_map(|named| named.values()) {
            check_inner(of, inner, strict)?;
        }
    }
    for word in ["anyOf", "allOf", "oneOf", "prefixItems"] {
        let listed = schema.get(word).and_then(Value::as_array);
        for inner in listed.into_iter().flatten() {
            check_inner(of, inner, strict)?;
        }
    }
    for word in ["items", "additionalProperties", "not"] {
        if let Some(inner) = schema.get(word) {
            check_inner(of, inner, strict)?;
        }
    }
    Ok(())
}

fn check_inner(of: &str, schema: &Value, strict: bool) -> Checked {
    match schema {
        Value::Object(fields) => check_schema(of, fields, strict),
        _ => Ok(()),
    }
}

/// 43: in a strict schema each object is closed and requires every property, and each value has a type.
fn check_strict(of: &str, schema: &Fields) -> Checked {
    if let Some(word) = NOT_STRICT.iter().find(|word| schema.contains_key(**word)) {
        return Err(format!(
            "Invalid schema for {of}: '{word}' is not permitted."
        ));
    }
    if !TYPED.iter().any(|word| schema.contains_key(*word)) {
        return Err(format!(
            "Invalid schema for {of}: schema must have a 'type' key."
        ));
    }
    check_values(of, schema)?;
    if !says_type(schema, "object") {
        return Ok(());
    }
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(format!(
            "Invalid schema for {of}: 'additionalProperties' is required to be supplied and to be false"
        ));
    }
    let Some(names) = schema.get("properties").and_then(Value::as_object) else {
        return Err(format!(
            "Invalid schema for {of}: object schema missing properties."
        ));
    };
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    if let Some(name) = names.keys().find(|name| !required.contains(name.as_str())) {
        return Err(format!(
            "Invalid schema for {of}: 'required' must include every key; missing '{name}'"
        ));
    }
    match required.into_iter().find(|name| !names.contains_key(*name)) {
        Some(name) => Err(format!(
            "Invalid schema for {of}: Extra required key '{name}' supplied."
        )),
        None => Ok(()),
    }
}

fn check_values(of: &str, schema: &Fields) -> Checked {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!"];
    if pattern.is_some_and(|pattern| looks_around.iter().any(|word| pattern.contains(word))) {
        return Err(format!(
            "Invalid schema for {of}: regex lookaround is not supported."
        ));
    }
    let values = schema.get("enum").and_then(Value::as_array);
    if values.is_some_and(Vec::is_empty) {
        return Err(format!("Invalid schema for {of}: enum must not be empty."));
    }
    Ok(())
}

fn says_type(schema: &Fields, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        kind => kind.is_some_and(|kind| kind == wanted),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(schema: &Value, strict: bool) -> Option<String> {
        let fields = schema.as_object()?;
        check_parameters("function 'f'", fields, strict).err()
    }

    #[test]
    fn parameters_have_properties_and_arrays_have_items() {
        let of = |property: Value| json!({"type": "object", "properties": {"a": property}});
        for schema in [
            of(json!({"type": "array", "items": {}})),
            of(json!({"type": "object"})),
            of(json!({})),
        ] {
            assert_eq!(refused(&schema, false), None, "{schema}");
        }
        for (schema, reason) in [
            (
                json!({"type": "object"}),
                "object schema missing properties",
            ),
            (of(json!({"type": "array"})), "array schema missing items"),
            (
                of(json!({"anyOf": [{"type": ["array", "null"]}]})),
                "array schema missing items",
            ),
        ] {
            let said = refused(&schema, false).unwrap_or_default();
            assert!(said.contains(reason), "{schema}: {said}");
        }
    }

    #[test]
    fn strict_schemas_have_no_open_ends() {
        let of = |property: Value| json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false});
        assert_eq!(
            refused(&of(json!({"type": "number", "minimum": 1})), true),
            None
        );
        assert_eq!(refused(&of(json!({"$ref": "#"})), true), None);
        for (property, reason) in [
            (json!({}), "must have a 'type'"),
            (json!({"enum": ["a"]}), "must have a 'type'"),
            (json!({"type": "object"}), "additionalProperties"),
            (
                json!({"type": "object", "additionalProperties": false}),
                "missing properties",
            ),
            (json!({"type": "string", "default": "x"}), "'default'"),
            (json!({"oneOf": [{"type": "string"}]}), "'oneOf'"),
        ] {
            let schema = of(property);
            let said = refused(&schema, true).unwrap_or_default();
            assert!(said.contains(reason), "{schema}: {said}");
        }
        for (property, reason) in [
            (json!({"type": "string", "pattern": "^(?!a)"}), "lookaround"),
            (json!({"type": "string", "enum": []}), "enum"),
            (
                json!({"type": "object", "properties": {}, "required": ["b"], "additionalProperties": false}),
                "Extra required key",
            ),
        ] {
            let schema = of(property);
            let said = refused(&schema, true).unwrap_or_default();
            assert!(said.contains(reason), "{schema}: {said}");
        }
        let mut optional = of(json!({"type": "string"}));
        optional["required"] = json!([]);
        assert!(refused(&optional, true).is_some());
    }
}
