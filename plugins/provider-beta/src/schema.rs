//! Which schemas kind B takes strictly: it promises that an answer conforms only where each object requires all its
//! properties and no others may stand in it, and refuses to promise it elsewhere (wire notes 2, point 43).

use serde_json::{Map, Value};

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
    let says_object = match fields.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object",
        None => false,
    };
    says_object || fields.contains_key("properties")
}

fn is_closed_object(fields: &Map<String, Value>) -> bool {
    let required = fields.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|all| all.iter().any(|one| one == name));
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
        .chain(fields.get("items"))
}

/// Words behind which schemas stand by name, and in a list.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];
const LISTED: [&str; 4] = ["anyOf", "allOf", "oneOf", "prefixItems"];

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
}
