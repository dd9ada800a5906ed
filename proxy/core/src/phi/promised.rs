//! Schemas that a provider holds its model to. A value that was replaced has the form of its placeholder: where the
//! schema asks for the form of a date or an address the model could not say the placeholder, and would have to invent a
//! value. What a schema says of the form of its strings becomes part of the description, as long as the request has
//! placeholders; what the caller gets back has the form again, because the values are back in their place. In the same way
//! a string may stand for a number, which loses its quotes on the way back (`restore::numbers`).

use serde_json::{Map, Value, json};

use super::map::PlaceholderMap;
use super::restore::numbers::is_number;
use crate::chat::{ChatRequest, ResponseFormat};

/// What bounds the form of a string.
const FORMS: [&str; 4] = ["format", "pattern", "minLength", "maxLength"];

/// Words behind which schemas stand by name, in a list, and alone. Below a condition nothing is taken away: that would
/// ask for something else.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
const LISTED: [&str; 4] = ["anyOf", "allOf", "oneOf", "prefixItems"];
const SINGLE: [&str; 2] = ["items", "additionalProperties"];

/// Lets the promised schemas of a request have the placeholders of `map` for strings, and for numbers where some of
/// them stand for numbers.
pub fn may_hold_placeholders(chat: &mut ChatRequest, map: &PlaceholderMap) {
    if map.is_empty() {
        return;
    }
    each_promised(chat, |schema| each(schema, &mut describe_forms));
    if !map.restorable().any(|(_, value, _)| is_number(&value)) {
        return;
    }
    let mut unions = 0;
    each_promised(chat, |schema| {
        each(schema, &mut |fields| {
            unions += usize::from(is_union(fields) || is_any_number(fields));
        });
    });
    if unions <= MAX_UNIONS {
        each_promised(chat, loosen_numbers);
    }
}

/// Schemas with alternatives, in all that a request promises: kind A's vendor takes no more (its page on structured
/// outputs).
const MAX_UNIONS: usize = 16;

fn each_promised(chat: &mut ChatRequest, mut call: impl FnMut(&mut Value)) {
    if let Some(ResponseFormat::JsonSchema { schema, .. }) = &mut chat.response_format {
        call(schema);
    }
    for tool in &mut chat.tools {
        if tool.strict == Some(true) {
            call(&mut tool.input_schema);
        }
    }
}

fn is_union(fields: &Map<String, Value>) -> bool {
    ALTERNATIVES.iter().any(|word| fields.contains_key(*word))
        || matches!(fields.get("type"), Some(Value::Array(_)))
}

const ALTERNATIVES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

fn is_any_number(fields: &Map<String, Value>) -> bool {
    let of = fields.get("type").and_then(Value::as_str);
    matches!(of, Some("integer" | "number"))
        && !["enum", "const", "$ref"]
            .iter()
            .any(|word| fields.contains_key(*word))
        && !is_union(fields)
}

/// Calls with each schema within a schema, the inner ones first.
fn each(schema: &mut Value, call: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = schema else {
        return;
    };
    for (word, value) in fields.iter_mut() {
        match value {
            Value::Object(named) if NAMED.contains(&word.as_str()) => {
                named.values_mut().for_each(|inner| each(inner, call));
            }
            Value::Array(listed) if LISTED.contains(&word.as_str()) => {
                listed.iter_mut().for_each(|inner| each(inner, call));
            }
            inner if SINGLE.contains(&word.as_str()) => each(inner, call),
            _ => {}
        }
    }
    call(fields);
}

/// What a schema of a number has beside its type, and what goes with it into one of two alternatives.
const OF_NUMBERS: [&str; 6] = [
    "type",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Lets a schema have placeholders where it asks for any number, and where `restore::numbers` makes them numbers again.
pub(super) fn loosen_numbers(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    for (word, value) in fields.iter_mut() {
        match (word.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(loosen_numbers);
            }
            ("anyOf", Value::Array(listed)) => listed.iter_mut().for_each(loosen_numbers),
            ("items" | "additionalProperties", inner) => loosen_numbers(inner),
            _ => {}
        }
    }
    if !is_any_number(fields) {
        return;
    }
    let number: Map<String, Value> = OF_NUMBERS
        .iter()
        .filter_map(|word| fields.shift_remove_entry(*word))
        .collect();
    let alternatives = [Value::Object(number), of_placeholders()];
    fields.insert("anyOf".to_owned(), alternatives.into_iter().collect());
}

/// The alternative to a number.
fn of_placeholders() -> Value {
    json!({"type": "string", "description": "The placeholder of a number, such as [MRN_1]."})
}

/// Whether a schema is the alternative to a number.
pub(super) fn is_of_placeholders(schema: &Value) -> bool {
    *schema == of_placeholders()
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
    use super::super::kind::Kind;
    use super::super::map::Speaker;
    use super::*;

    fn loosened(mut schema: Value) -> Value {
        each(&mut schema, &mut describe_forms);
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

    #[test]
    fn numbers_may_be_placeholders_wherever_a_schema_stands() {
        let placeholder = of_placeholders;
        for (schema, expected) in [
            (
                json!({"type": "object", "properties": {"mrn": {"type": "integer", "minimum": 1, "description": "Whose."}}}),
                json!({"type": "object", "properties": {"mrn": {
                    "description": "Whose.",
                    "anyOf": [{"type": "integer", "minimum": 1}, placeholder()]
                }}}),
            ),
            (
                json!({"type": "array", "items": {"type": "number"}}),
                json!({"type": "array", "items": {"anyOf": [{"type": "number"}, placeholder()]}}),
            ),
            (
                json!({"properties": {"a": {"type": "integer", "enum": [1, 2]}, "b": {"type": "string"}}}),
                json!({"properties": {"a": {"type": "integer", "enum": [1, 2]}, "b": {"type": "string"}}}),
            ),
        ] {
            let mut loosened = schema;
            loosen_numbers(&mut loosened);
            assert_eq!(loosened, expected);
        }
    }

    #[test]
    fn numbers_stay_where_no_placeholder_stands_for_one() {
        let mut chat = ChatRequest::of_user_text("");
        let schema = json!({"type": "object", "properties": {"mrn": {"type": "integer"}}});
        let of = |chat: &ChatRequest| match &chat.response_format {
            Some(ResponseFormat::JsonSchema { schema, .. }) => schema.clone(),
            _ => Value::Null,
        };
        chat.response_format = Some(ResponseFormat::JsonSchema {
            name: None,
            schema: schema.clone(),
            strict: None,
        });
        let mut map = PlaceholderMap::default();
        map.issue(&Kind::named("NAME"), "Ann Poe", "Ann Poe", Speaker::Caller);
        map.issue(&Kind::named("MRN"), "0044", "0044", Speaker::Caller);
        may_hold_placeholders(&mut chat, &map);
        assert_eq!(of(&chat), schema);
        map.issue(&Kind::named("MRN"), "4471223", "4471223", Speaker::Caller);
        may_hold_placeholders(&mut chat, &map);
        assert_ne!(of(&chat), schema);
        // More alternatives than a provider takes would have the request refused.
        let many: Map<String, Value> = (0..=MAX_UNIONS)
            .map(|at| (format!("n{at}"), json!({"type": "integer"})))
            .collect();
        let schema = json!({"type": "object", "properties": many});
        chat.response_format = Some(ResponseFormat::JsonSchema {
            name: None,
            schema: schema.clone(),
            strict: None,
        });
        may_hold_placeholders(&mut chat, &map);
        assert_eq!(of(&chat), schema);
    }
}
