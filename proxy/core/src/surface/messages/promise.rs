//! Whether a schema may be asked for strictly of every provider kind. On this surface answers always conform to it
//! (wire.md 2, point 43); kind B promises that only for a part of JSON Schema, and refuses to promise it elsewhere. What
//! is not known to be of that part is asked for without a promise.

use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// Whether every word of the schema, and of all that stand in it, is one that kind B promises.
pub(super) fn can_be_promised(schema: &Value) -> bool {
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    is_object && is_promised(schema, schema, 1)
}

fn is_promised(root: &Value, schema: &Value, level: usize) -> bool {
    let Value::Object(fields) = schema else {
        return false;
    };
    if let Some(target) = fields.get("$ref") {
        // Nothing may stand beside it.
        return fields.len() == 1 && target.as_str().is_some_and(|name| is_own(root, name));
    }
    // Kind B's driver says the type of values that stand for themselves.
    let has_type = TYPED.iter().any(|word| fields.contains_key(*word));
    let is_object = says_type(fields, "object");
    let inner = level + usize::from(is_object);
    has_type
        && (!is_object || (level <= MAX_LEVELS && is_closed(fields)))
        && (!says_type(fields, "array") || fields.contains_key("items"))
        && fields
            .iter()
            .all(|(word, value)| is_promised_word(root, word, value, inner))
}

fn is_promised_word(root: &Value, word: &str, value: &Value, level: usize) -> bool {
    match (word, value) {
        ("properties" | "$defs" | "definitions", Value::Object(named)) => {
            named.values().all(|inner| is_promised(root, inner, level))
        }
        ("anyOf", Value::Array(listed)) => {
            listed.iter().all(|inner| is_promised(root, inner, level))
        }
        ("items", inner) => is_promised(root, inner, level),
        ("enum", Value::Array(values)) => values.iter().all(is_plain),
        ("const", value) => is_plain(value),
        ("format", Value::String(format)) => FORMATS.contains(&format.as_str()),
        (word, _) => PASSED.contains(&word),
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Whether an object requires all its properties, and no others may stand in it.
fn is_closed(fields: &Fields) -> bool {
    let required = fields.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|one| one == name));
    let names = fields.get("properties").and_then(Value::as_object);
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && names.is_none_or(|names| names.keys().all(is_required))
}

/// Whether a reference names the schema itself or one of its definitions.
fn is_own(root: &Value, name: &str) -> bool {
    let is_named = ["#/$defs/", "#/definitions/"]
        .iter()
        .any(|place| name.starts_with(place));
    let found = name.strip_prefix('#').and_then(|path| root.pointer(path));
    name == "#" || (is_named && found.is_some())
}

fn says_type(fields: &Fields, wanted: &str) -> bool {
    match fields.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        kind => kind.is_some_and(|kind| kind == wanted),
    }
}

/// One of them says what a value may be.
const TYPED: [&str; 4] = ["type", "anyOf", "enum", "const"];
/// Objects within each other that kind B takes.
const MAX_LEVELS: usize = 10;
/// Words that say nothing of other schemas.
const PASSED: [&str; 14] = [
    "type",
    "title",
    "description",
    "$schema",
    "required",
    "additionalProperties",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An object that requires one property and has no other.
    fn with(name: &str, schema: Value) -> Value {
        let mut object =
            json!({"type": "object", "required": [name], "additionalProperties": false});
        object["properties"] = json!({});
        object["properties"][name] = schema;
        object
    }

    fn deep(levels: usize) -> Value {
        (1..levels).fold(with("a", json!({"type": "string"})), |inner, _| {
            with("a", inner)
        })
    }

    #[test]
    fn what_kind_b_promises_is_asked_for_strictly() {
        let string = || json!({"type": "string"});
        for schema in [
            with(
                "a",
                json!({"type": "string", "pattern": "^a$", "title": "default", "format": "date"}),
            ),
            with("a", json!({"enum": ["a", 1]})),
            with(
                "a",
                json!({"type": ["integer", "null"], "minimum": 1, "enum": [1, null]}),
            ),
            with(
                "a",
                json!({"anyOf": [with("k", json!({"type": "string", "const": "b"})), {"type": "null"}]}),
            ),
            with(
                "a",
                json!({"type": "array", "items": with("b", string()), "maxItems": 3}),
            ),
            with("next", json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]})),
            json!({"type": "object", "additionalProperties": false}),
            with(
                "a",
                json!({"type": "object", "additionalProperties": false}),
            ),
            deep(10),
        ] {
            assert!(can_be_promised(&schema), "{schema}");
        }
        // Properties may have any name.
        for name in [
            "properties",
            "type",
            "required",
            "additionalProperties",
            "items",
            "default",
            "$ref",
            "$defs",
            "not",
        ] {
            assert!(can_be_promised(&with(name, string())), "{name}");
        }
        let mut named = with("a", json!({"$ref": "#/$defs/b"}));
        named["$defs"] = json!({"b": with("c", string())});
        assert!(can_be_promised(&named));
    }

    #[test]
    fn what_it_refuses_to_promise_is_asked_for_without() {
        let string = || json!({"type": "string"});
        for property in [
            json!({}),
            json!(true),
            json!({"title": "t"}),
            json!({"type": "object"}),
            json!({"type": "object", "properties": {"b": string()}, "additionalProperties": false}),
            json!({"type": "array"}),
            json!({"type": "array", "items": {}}),
            json!({"type": "array", "items": string(), "uniqueItems": true}),
            json!({"type": "array", "prefixItems": [string()], "items": string()}),
            json!({"type": "string", "default": "a"}),
            json!({"type": "string", "minLength": 1}),
            json!({"type": "string", "format": "phone"}),
            json!({"type": "string", "not": {"const": "a"}}),
            json!({"oneOf": [string()]}),
            json!({"allOf": [string()]}),
            json!({"type": "object", "enum": [{}]}),
            json!({"enum": [{}]}),
            json!({"const": []}),
            json!({"$ref": "https://example.org"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$ref": "#", "description": "d"}),
        ] {
            let schema = with("a", property);
            assert!(!can_be_promised(&schema), "{schema}");
        }
        let mut patterned = with("a", string());
        patterned["patternProperties"] = json!({"b": string()});
        for schema in [
            patterned,
            json!({"type": "array", "items": string()}),
            json!({"anyOf": [with("a", string())]}),
            json!({"type": "object", "properties": {}}),
            deep(11),
        ] {
            assert!(!can_be_promised(&schema), "{schema}");
        }
    }
}
