//! A small value that satisfies a JSON schema, always the same one: input for forced tool calls.
//!
//! Covers what tool schemas use; a schema beyond it gets a value that may not satisfy it.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// Bound on nesting, so that a schema that contains itself ends.
const MAX_DEPTH: u32 = 16;

/// Bound on what a sample is made of and what is read for it: a schema may name itself, or something large, in many
/// places. What is left out is null or missing.
const MAX_BYTES: usize = 64 * 1024;

/// What one value counts for beside its names and constants: about a thousand of them make the largest sample.
const VALUE_BYTES: usize = 64;

pub(crate) fn sample(schema: &Value) -> Value {
    let mut making = Making {
        root: schema,
        budget: Budget(MAX_BYTES),
    };
    making.value(schema, MAX_DEPTH)
}

/// A sample being made.
struct Making<'s> {
    root: &'s Value,
    budget: Budget,
}

/// Bytes that may still be spent. As a writer it spends what is written and keeps nothing of it.
struct Budget(usize);

impl Budget {
    /// Whether there were so many left.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

impl Write for Budget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.spend(bytes.len()) {
            true => Ok(bytes.len()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'s> Making<'s> {
    fn value(&mut self, schema: &'s Value, depth: u32) -> Value {
        let Some(depth) = depth.checked_sub(1) else {
            return Value::Null;
        };
        if !self.budget.spend(VALUE_BYTES) {
            return Value::Null;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return match self.target(reference) {
                Some(target) => self.value(target, depth),
                None => Value::Null,
            };
        }
        if let Some(constant) = schema.get("const") {
            return self.copy(constant);
        }
        if let Some(first) = schema.get("enum").and_then(|all| all.get(0)) {
            return self.copy(first);
        }
        for choice in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema.get(choice).and_then(|all| all.get(0)) {
                return self.value(first, depth);
            }
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
            kind => kind.and_then(Value::as_str),
        };
        match kind {
            Some("string") => json!("text"),
            Some("integer") => self.number(schema, json!(1)),
            Some("number") => self.number(schema, json!(1.5)),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            Some("array") => match schema.get("items") {
                Some(items) => json!([self.value(items, depth)]),
                None => json!([]),
            },
            _ => self.object(schema, depth),
        }
    }

    fn number(&mut self, schema: &Value, usual: Value) -> Value {
        let bound = schema.get("minimum").or(schema.get("maximum"));
        bound.map_or(usual, |bound| self.copy(bound))
    }

    /// The required properties only, in the order of the schema's list.
    fn object(&mut self, schema: &'s Value, depth: u32) -> Value {
        let required = schema.get("required").and_then(Value::as_array);
        let names = required
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str());
        let mut fields = Map::new();
        for name in names {
            if !self.budget.spend(1 + name.len()) {
                break;
            }
            if fields.contains_key(name) {
                continue;
            }
            let property = schema
                .get("properties")
                .and_then(|properties| properties.get(name));
            let field = property.map_or(Value::Null, |property| self.value(property, depth));
            fields.insert(name.to_owned(), field);
        }
        Value::Object(fields)
    }

    /// What a reference points to.
    fn target(&mut self, reference: &str) -> Option<&'s Value> {
        let is_affordable = self.budget.spend(reference.len());
        let pointer = reference.trim_start_matches('#');
        is_affordable.then(|| self.root.pointer(pointer)).flatten()
    }

    fn copy(&mut self, constant: &Value) -> Value {
        match serde_json::to_writer(&mut self.budget, constant) {
            Ok(()) => constant.clone(),
            Err(_) => Value::Null,
        }
    }
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

    #[test]
    fn a_schema_that_multiplies_ends() {
        let names: Vec<String> = ('a'..='t').map(String::from).collect();
        let large = "x".repeat(MAX_BYTES / 4);
        let same = vec!["a"; 1_000];
        for (required, property) in [
            (json!(names), json!({"$ref": "#"})),
            (json!(same), json!({"$ref": "#"})),
            (json!(names), json!({"const": large})),
            (json!(names), json!({"enum": [large]})),
            (json!(names), json!({"type": "integer", "minimum": large})),
            (json!(names), json!({"$ref": format!("#/{large}")})),
            (json!([large]), json!({})),
        ] {
            let properties: Map<String, Value> = names
                .iter()
                .map(|name| (name.clone(), property.clone()))
                .collect();
            let schema = json!({"type": "object", "required": required, "properties": properties});
            let text = sample(&schema).to_string();
            assert!(text.len() < 2 * MAX_BYTES, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_name_that_is_required_twice_is_filled_once() {
        let schema = json!({
            "type": "object",
            "required": ["a", "a", "b"],
            "properties": {"a": {"type": "string"}, "b": {"type": "null"}},
        });
        assert_eq!(sample(&schema), json!({"a": "text", "b": null}));
    }
}
