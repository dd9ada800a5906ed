//! Schemas that a provider holds its model to. A value that was replaced has the form of its placeholder: where the
//! schema asks for the form of a date or an address the model could not say the placeholder, and would have to invent a
//! value. What a schema says of the form of its strings becomes part of the description, as long as the request has
//! placeholders; what the caller gets back has the form again, because the values are back in their place. In the same way
//! a string may stand for a number, which loses its quotes on the way back (`restore::numbers`).

use serde_json::{Map, Value, json};

use super::map::{PlaceholderMap, Speaker};
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
    each_promised(chat, |_, schema| each(schema, &mut describe_forms));
    let numbers = map.restorable().filter(|(_, value, _)| is_number(value));
    let speakers: Vec<Speaker> = numbers.map(|(_, _, speaker)| speaker).collect();
    // What only the program has said is restored for tools alone.
    let has_numbers = |promise: Promise| match promise {
        Promise::Tool => !speakers.is_empty(),
        Promise::Text => speakers.contains(&Speaker::Caller),
    };
    let mut unions = 0;
    each_promised(chat, |promise, schema| {
        each(schema, &mut |fields| {
            let is_loosened = has_numbers(promise) && is_any_number(fields);
            unions += usize::from(is_union(fields) || is_loosened);
        });
    });
    if unions <= MAX_UNIONS {
        each_promised(chat, |promise, schema| {
            if has_numbers(promise) {
                loosen_numbers(schema);
            }
        });
    }
}

/// What a schema is promised for.
#[derive(Clone, Copy)]
enum Promise {
    Text,
    Tool,
}

/// Schemas with alternatives, in all that a request promises: kind A's vendor takes no more (its page on structured
/// outputs).
const MAX_UNIONS: usize = 16;

fn each_promised(chat: &mut ChatRequest, mut call: impl FnMut(Promise, &mut Value)) {
    if let Some(ResponseFormat::JsonSchema { schema, .. }) = &mut chat.response_format {
        call(Promise::Text, schema);
    }
    for tool in &mut chat.tools {
        if tool.strict == Some(true) {
            call(Promise::Tool, &mut tool.input_schema);
        }
    }
}

fn is_union(fields: &Map<String, Value>) -> bool {
    ALTERNATIVES.iter().any(|word| fields.contains_key(*word))
        || matches!(fields.get("type"), Some(Value::Array(_)))
}

const ALTERNATIVES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Whether a schema takes any number, or none at all.
fn is_any_number(fields: &Map<String, Value>) -> bool {
    let is_number = |word: &str| matches!(word, "integer" | "number");
    let words = types(fields);
    words.iter().any(|word| is_number(word))
        && words.iter().all(|word| is_number(word) || word == "null")
        && !["enum", "const", "$ref"]
            .iter()
            .chain(&ALTERNATIVES)
            .any(|word| fields.contains_key(*word))
}

fn types(fields: &Map<String, Value>) -> Vec<String> {
    match fields.get("type") {
        Some(Value::String(word)) => vec![word.clone()],
        Some(Value::Array(words)) => words
            .iter()
            .map(|word| word.as_str().unwrap_or_default().to_owned())
            .collect(),
        _ => Vec::new(),
    }
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
const OF_NUMBERS: [&str; 5] = [
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
    let has = |word: &str| fields.contains_key(word);
    let is_one_thing = !(has("type") || has("properties")) || !has("anyOf") && !has("$ref");
    let types = types(fields);
    let is_of_one_type = types.iter().filter(|word| *word != "null").count() <= 1;
    let (has_places, has_patterns) = (has("prefixItems"), has("patternProperties"));
    for (word, value) in fields.iter_mut() {
        match (word.as_str(), value) {
            ("$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(loosen_within);
            }
            _ if !is_one_thing || !is_of_one_type => {}
            ("properties", Value::Object(named)) => {
                named.values_mut().for_each(loosen_within);
            }
            ("anyOf", Value::Array(listed)) => listed.iter_mut().for_each(loosen_within),
            ("items", inner) if !has_places => loosen_within(inner),
            ("additionalProperties", inner) if !has_patterns => loosen_within(inner),
            _ => {}
        }
    }
}

/// A schema that is no whole one, and what is within.
fn loosen_within(schema: &mut Value) {
    loosen_numbers(schema);
    let Value::Object(fields) = schema else {
        return;
    };
    if !is_any_number(fields) {
        return;
    }
    let mut words = types(fields);
    words.dedup();
    let of_number: Map<String, Value> = OF_NUMBERS
        .iter()
        .filter_map(|word| fields.shift_remove_entry(*word))
        .collect();
    fields.shift_remove("type");
    let alternatives = words.iter().map(|word| {
        let mut alternative = Map::from_iter([("type".to_owned(), json!(word))]);
        if word != "null" {
            alternative.extend(of_number.clone());
        }
        Value::Object(alternative)
    });
    let alternatives = alternatives.chain([of_placeholders()]).collect();
    fields.insert("anyOf".to_owned(), alternatives);
}

/// The alternative to a number.
fn of_placeholders() -> Value {
    json!({"type": "string", "description": "The placeholder that stands for the number, with its brackets."})
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
                json!({"properties": {"a": {"type": ["integer", "null"], "minimum": 1}}}),
                json!({"properties": {"a": {
                    "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}, placeholder()]
                }}}),
            ),
            (
                json!({"properties": {"a": {"type": "number", "anyOf": [{"type": "integer"}]}}}),
                json!({"properties": {"a": {"type": "number", "anyOf": [{"type": "integer"}]}}}),
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
