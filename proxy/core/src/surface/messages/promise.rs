//! Whether a schema may be asked for strictly of every provider kind. On this surface answers always conform to it
//! (wire.md 2, point 43); kind B promises that only for a part of JSON Schema, up to a size, and refuses to promise it
//! elsewhere. What is not known to be of that part is asked for without a promise.

use std::collections::HashSet;

use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// Whether the schema, and all that stand in it, are of the part that kind B promises.
pub(super) fn can_be_promised(schema: &Value) -> bool {
    let Value::Object(fields) = schema else {
        return false;
    };
    let is_object = fields.get("type").is_some_and(|kind| kind == "object");
    let mut reading = Reading {
        root: schema,
        properties: 0,
        enum_values: 0,
        name_chars: 0,
    };
    is_object
        // At the root there are no alternatives.
        && !fields.contains_key("anyOf")
        && reading.is_promised(schema, 1)
        && reading.properties <= MAX_PROPERTIES
        && reading.enum_values <= MAX_ENUM_VALUES
        && reading.name_chars <= MAX_NAME_CHARS
}

/// What a schema has had so far of what kind B counts.
struct Reading<'s> {
    root: &'s Value,
    properties: usize,
    enum_values: usize,
    /// Characters in names of properties and definitions, and in values.
    name_chars: usize,
}

impl Reading<'_> {
    fn is_promised(&mut self, schema: &Value, level: usize) -> bool {
        let Value::Object(fields) = schema else {
            return false;
        };
        if let Some(target) = fields.get("$ref") {
            // Nothing may stand beside it.
            let name = target.as_str();
            return fields.len() == 1 && name.is_some_and(|name| is_own(self.root, name));
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
                .all(|(word, value)| self.is_promised_word(word, value, inner))
    }

    fn is_promised_word(&mut self, word: &str, value: &Value, level: usize) -> bool {
        match (word, value) {
            ("type", kind) => is_type(kind),
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                if word == "properties" {
                    self.properties += named.len();
                }
                named.iter().all(|(name, inner)| {
                    self.name_chars += name.chars().count();
                    self.is_promised(inner, level)
                })
            }
            ("anyOf", Value::Array(listed)) => {
                !listed.is_empty() && listed.iter().all(|inner| self.is_promised(inner, level))
            }
            ("items", inner) => self.is_promised(inner, level),
            ("enum", Value::Array(values)) => {
                self.enum_values += values.len();
                !values.is_empty() && values.iter().all(|value| self.is_plain(value))
            }
            ("const", value) => self.is_plain(value),
            ("format", Value::String(format)) => FORMATS.contains(&format.as_str()),
            ("pattern", Value::String(pattern)) => is_plain_pattern(pattern),
            (word, _) => PASSED.contains(&word),
        }
    }

    fn is_plain(&mut self, value: &Value) -> bool {
        if let Value::String(text) = value {
            self.name_chars += text.chars().count();
        }
        !value.is_object() && !value.is_array()
    }
}

/// Whether an object requires all its properties, and no others may stand in it or be required.
fn is_closed(fields: &Fields) -> bool {
    let required = match fields.get("required") {
        None => &[][..],
        Some(Value::Array(required)) => required.as_slice(),
        Some(_) => return false,
    };
    let names = fields.get("properties").and_then(Value::as_object);
    let mut names = names.into_iter().flat_map(Map::keys);
    let distinct: HashSet<&str> = required.iter().filter_map(Value::as_str).collect();
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && distinct.len() == required.len()
        && names.clone().count() == distinct.len()
        && names.all(|name| distinct.contains(name.as_str()))
}

fn is_type(said: &Value) -> bool {
    let is_one = |kind: &Value| kind.as_str().is_some_and(|kind| KINDS.contains(&kind));
    match said {
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_one),
        kind => is_one(kind),
    }
}

/// Whether a pattern neither looks around nor refers back, and escapes only classes and punctuation.
fn is_plain_pattern(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(one) = chars.next() {
        let is_plain = match one {
            '(' => chars.peek() != Some(&'?'),
            '\\' => chars.next().is_some_and(|escaped| {
                "dDwWsSnrt".contains(escaped) || escaped.is_ascii_punctuation()
            }),
            _ => true,
        };
        if !is_plain {
            return false;
        }
    }
    true
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
/// Properties of all objects of a schema, values of all its `enum`s, and characters of the names of properties and
/// definitions and of values that kind B takes.
const MAX_PROPERTIES: usize = 5_000;
const MAX_ENUM_VALUES: usize = 1_000;
const MAX_NAME_CHARS: usize = 120_000;
const KINDS: [&str; 7] = [
    "object", "array", "string", "integer", "number", "boolean", "null",
];
/// Words that say nothing of other schemas.
const PASSED: [&str; 12] = [
    "title",
    "description",
    "$schema",
    "required",
    "additionalProperties",
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
                json!({"type": "string", "pattern": "^\\d{3}\\.(b|c)$", "title": "default", "format": "date"}),
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
            json!({"type": []}),
            json!({"type": ["string", "date"]}),
            json!({"anyOf": []}),
            json!({"enum": []}),
            json!({"type": "string", "enum": []}),
            json!({"type": "string", "pattern": "^(?!^[-+.]*$)[+-]?0*\\d*$"}),
            json!({"type": "string", "pattern": "(a)\\1"}),
            json!({"type": "string", "pattern": "\\bword"}),
            json!({"type": "string", "pattern": "a\\"}),
            json!({"type": "string", "pattern": 1}),
            json!({"type": "object", "additionalProperties": false, "properties": {}, "required": ["b"]}),
            json!({"type": "object", "additionalProperties": false, "required": true}),
            json!({"type": "object", "additionalProperties": false, "properties": {"b": string()},
                "required": ["b", "b"]}),
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
        let mut alternatives = with("a", string());
        alternatives["anyOf"] = json!([with("a", string())]);
        for schema in [
            patterned,
            alternatives,
            json!({"type": "array", "items": string()}),
            json!({"anyOf": [with("a", string())]}),
            json!({"type": "object", "properties": {}}),
            deep(11),
        ] {
            assert!(!can_be_promised(&schema), "{schema}");
        }
    }

    /// As many properties as there are, each of them required, the last one first.
    fn wide(properties: usize, schema: &Value) -> Value {
        let names = || (0..properties).map(|at| format!("p{at:06}"));
        let required: Vec<String> = names().rev().collect();
        let each: Fields = names().map(|name| (name, schema.clone())).collect();
        json!({"type": "object", "properties": each, "required": required, "additionalProperties": false})
    }

    #[test]
    fn kind_b_promises_up_to_a_size() {
        let string = json!({"type": "string"});
        let values = |count: usize| {
            let values: Vec<usize> = (0..count).collect();
            with("a", json!({"enum": values}))
        };
        let long = |chars: usize| with("a", json!({"const": "é".repeat(chars)}));
        assert!(can_be_promised(&wide(5_000, &string)));
        assert!(!can_be_promised(&wide(5_001, &string)));
        assert!(can_be_promised(&values(1_000)));
        assert!(!can_be_promised(&values(1_001)));
        assert!(can_be_promised(&long(119_999)));
        assert!(!can_be_promised(&long(120_000)));
    }

    #[test]
    fn many_properties_are_found_at_once() {
        assert!(!can_be_promised(&wide(200_000, &json!(0))));
    }
}
