//! A small value that satisfies a JSON schema, always the same one: input for forced tool calls.
//!
//! Covers what tool schemas use; a schema beyond it gets a value that may not satisfy it.

use serde_json::{Map, Value, json};

/// Bound on nesting, so that a schema that contains itself ends.
const MAX_DEPTH: u32 = 16;

pub(crate) fn sample(schema: &Value) -> Value {
    value(schema, schema, MAX_DEPTH)
}

fn value(schema: &Value, root: &Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(target.trim_start_matches('#'));
        return target.map_or(Value::Null, |target| value(target, root, depth));
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|all| all.get(0)) {
        return first.clone();
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(choice).and_then(|all| all.get(0)) {
            return value(first, root, depth);
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    match kind {
        Some("string") => json!("text"),
        Some("integer") => number(schema).unwrap_or_else(|| json!(1)),
        Some("number") => number(schema).unwrap_or_else(|| json!(1.5)),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("array") => match schema.get("items") {
            Some(items) => json!([value(items, root, depth)]),
            None => json!([]),
        },
        _ => object(schema, root, depth),
    }
}

fn number(schema: &Value) -> Option<Value> {
    schema.get("minimum").or(schema.get("maximum")).cloned()
}

/// The required properties only, in the order of the schema's list.
fn object(schema: &Value, root: &Value, depth: u32) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str());
    let fields: Map<String, Value> = names
        .map(|name| {
            let property = schema
                .get("properties")
                .and_then(|properties| properties.get(name));
            let field = property.map_or(Value::Null, |property| value(property, root, depth));
            (name.to_owned(), field)
        })
        .collect();
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_properties_are_filled_by_type() {
        let schema = json!({
            "type": "object",
            "required": ["city", "days", "unit", "where", "tags"],
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 3},
                "unit": {"enum": ["C", "F"]},
                "where": {"$ref": "#/$defs/place"},
                "tags": {"type": "array", "items": {"type": ["string", "null"]}},
                "optional": {"type": "string"},
            },
            "$defs": {"place": {"type": "object", "required": ["lat"], "properties": {"lat": {"type": "number"}}}},
        });
        assert_eq!(
            sample(&schema),
            json!({"city": "text", "days": 3, "unit": "C", "where": {"lat": 1.5}, "tags": ["text"]})
        );
    }

    #[test]
    fn a_schema_within_itself_ends() {
        let schema =
            json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
        let text = sample(&schema).to_string();
        assert!(text.starts_with(r#"{"next":{"next":"#) && text.len() < 500);
    }
}
