//! Schemas that a provider holds its model to. A value that was replaced has the form of its placeholder: where the
//! schema asks for the form of a date or an address the model could not say the placeholder, and would have to invent a
//! value. What a schema says of the form of its strings becomes part of the description, as long as the request has
//! placeholders; what the caller gets back has the form again, because the values are back in their place.

use serde_json::{Map, Value};

use crate::chat::{ChatRequest, ResponseFormat};

/// What bounds the form of a string.
const FORMS: [&str; 4] = ["format", "pattern", "minLength", "maxLength"];

/// Words behind which schemas stand by name, in a list, and alone. Below a condition nothing is taken away: that would
/// ask for something else.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
const LISTED: [&str; 4] = ["anyOf", "allOf", "oneOf", "prefixItems"];
const SINGLE: [&str; 2] = ["items", "additionalProperties"];

/// Lets the promised schemas of a request have placeholders for strings.
pub fn may_hold_placeholders(chat: &mut ChatRequest) {
    if let Some(ResponseFormat::JsonSchema { schema, .. }) = &mut chat.response_format {
        loosen(schema);
    }
    for tool in &mut chat.tools {
        if tool.strict == Some(true) {
            loosen(&mut tool.input_schema);
        }
    }
}

fn loosen(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    describe_forms(fields);
    for (word, value) in fields {
        match value {
            Value::Object(named) if NAMED.contains(&word.as_str()) => {
                named.values_mut().for_each(loosen);
            }
            Value::Array(listed) if LISTED.contains(&word.as_str()) => {
                listed.iter_mut().for_each(loosen);
            }
            inner if SINGLE.contains(&word.as_str()) => loosen(inner),
            _ => {}
        }
    }
}

fn describe_forms(fields: &mut Map<String, Value>) {
    let mut forms = Map::new();
    for word in FORMS {
        if let Some(form) = fields.shift_remove(word) {
            forms.insert(word.to_owned(), form);
        }
    }
    if forms.is_empty() {
        return;
    }
    let forms = Value::Object(forms);
    let description = match fields.get("description").and_then(Value::as_str) {
        Some(words) if !words.is_empty() => format!("{words}\n\n{forms}"),
        _ => forms.to_string(),
    };
    fields.insert("description".to_owned(), description.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn loosened(mut schema: Value) -> Value {
        loosen(&mut schema);
        schema
    }

    #[test]
    fn the_form_of_strings_is_described_wherever_a_schema_stands() {
        let date = || json!({"type": "string", "format": "date"});
        let described = || json!({"type": "string", "description": r#"{"format":"date"}"#});
        for (around, expected) in [
            (date(), described()),
            (
                json!({"properties": {"format": date(), "enum": date()}}),
                json!({"properties": {"format": described(), "enum": described()}}),
            ),
            (
                json!({"$defs": {"day": date()}}),
                json!({"$defs": {"day": described()}}),
            ),
            (
                json!({"anyOf": [date(), {"type": "null"}]}),
                json!({"anyOf": [described(), {"type": "null"}]}),
            ),
            (
                json!({"type": "array", "items": date(), "minItems": 1}),
                json!({"type": "array", "items": described(), "minItems": 1}),
            ),
        ] {
            assert_eq!(loosened(around), expected);
        }
        let told = json!({"type": "string", "pattern": "^[0-9]+$", "maxLength": 9, "description": "The number."});
        let expected = "The number.\n\n{\"pattern\":\"^[0-9]+$\",\"maxLength\":9}";
        assert_eq!(
            loosened(told),
            json!({"type": "string", "description": expected})
        );
    }

    #[test]
    fn nothing_else_of_a_schema_changes() {
        for schema in [
            json!(true),
            json!({"type": "object", "properties": {"format": {"type": "string"}}, "required": ["format"]}),
            json!({"enum": [{"format": "date"}], "default": {"pattern": "a"}, "examples": [{"format": "date"}]}),
            json!({"if": {"pattern": "^a"}, "not": {"format": "date"}}),
            json!({"type": "integer", "minimum": 1}),
        ] {
            assert_eq!(loosened(schema.clone()), schema);
        }
    }
}
