//! Schemas that a provider holds its model to. A value that was replaced has the form of its placeholder: where the
//! schema asks for the form of a date or an address the model could not say the placeholder, and would have to invent a
//! value. What a schema says of the form of its strings becomes part of the description, as long as the request has
//! placeholders, and so does a bound that was replaced itself. In the same way a placeholder may stand for a number. What
//! comes back is a number again, or a date as the schema wants it, where it can be ([`super::restore::forms`]).

mod numbers;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::map::{PlaceholderMap, Speaker};
use super::restore::forms::is_number;
use crate::chat::{ChatRequest, ResponseFormat};
pub(super) use numbers::is_of_placeholders;
#[cfg(test)]
pub(super) use numbers::{alternative, loosen};

/// What bounds the form of a string.
const FORMS: [&str; 4] = ["format", "pattern", "minLength", "maxLength"];
/// Bounds that are numbers. A placeholder is none, so that a schema with one in such a place is no schema.
const BOUNDS: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

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
    let kinds = [Promise::Text, Promise::Tool].map(|promise| kinds_of_numbers(map, promise));
    let [for_text, for_tools] = kinds.map(|kinds| numbers::alternative(&kinds));
    each_promised(chat, |promise, schema| {
        each(schema, &mut |fields| {
            describe_forms(fields);
            numbers::replace_values(fields, |value| map.is_placeholder(value));
        });
        let alternative = match promise {
            Promise::Text => &for_text,
            Promise::Tool => &for_tools,
        };
        if let Some(alternative) = alternative {
            numbers::loosen(schema, alternative);
        }
    });
}

/// The kinds of the placeholders that stand for numbers where a schema is promised.
fn kinds_of_numbers(map: &PlaceholderMap, promise: Promise) -> BTreeSet<String> {
    // What only the program has said is restored for tools alone.
    let is_restored = |speaker| match promise {
        Promise::Tool => true,
        Promise::Text => speaker == Speaker::Caller,
    };
    map.restorable()
        .filter(|(_, value, speaker)| is_restored(*speaker) && is_number(value))
        .filter_map(|(inside, ..)| Some(inside.rsplit_once('_')?.0.to_owned()))
        .collect()
}

/// What a schema is promised for.
#[derive(Clone, Copy)]
enum Promise {
    Text,
    Tool,
}

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

fn describe_forms(fields: &mut Map<String, Value>) {
    let is_described = |word: &str, value: &Value| {
        FORMS.contains(&word) || (BOUNDS.contains(&word) && value.is_string())
    };
    let words = FORMS.iter().chain(&BOUNDS);
    let mut forms = Map::new();
    for word in words {
        if fields
            .get(*word)
            .is_some_and(|value| is_described(word, value))
            && let Some(form) = fields.shift_remove(*word)
        {
            forms.insert((*word).to_owned(), form);
        }
    }
    if !forms.is_empty() {
        describe(fields, &Value::Object(forms).to_string());
    }
}

/// Adds a paragraph to the description of a schema.
fn describe(fields: &mut Map<String, Value>, words: &str) {
    let description = match fields.get("description").and_then(Value::as_str) {
        Some(before) if !before.is_empty() => format!("{before}\n\n{words}"),
        _ => words.to_owned(),
    };
    fields.insert("description".to_owned(), description.into());
}

/// The last paragraph of the description of a schema.
fn last_described(fields: &Map<String, Value>) -> Option<&str> {
    let description = fields.get("description")?.as_str()?;
    description.rsplit("\n\n").next()
}

/// Whether a schema of strings wants dates, in its own words or in its description.
pub(super) fn wants_date(fields: &Map<String, Value>) -> bool {
    let is_date = |form: &Value| form == "date";
    fields.get("format").is_some_and(is_date)
        || last_described(fields)
            .filter(|words| words.starts_with('{'))
            .and_then(|words| serde_json::from_str::<Map<String, Value>>(words).ok())
            .and_then(|forms| forms.get("format").map(is_date))
            .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    }

    #[test]
    fn what_was_replaced_among_numbers_is_told_in_words() {
        let mut map = PlaceholderMap::default();
        map.issue(&Kind::named("MRN"), "4471223", "4471223", Speaker::Caller);
        let mut chat = ChatRequest::of_user_text("");
        chat.response_format = Some(ResponseFormat::JsonSchema {
            name: None,
            schema: json!({"properties": {
                "most": {"type": "integer", "minimum": 1, "maximum": "[MRN_1]"},
                "one": {"type": "integer", "enum": ["[MRN_1]"]},
                "none": {"type": "integer", "enum": ["[MRN_9]"]}
            }}),
            strict: None,
        });
        may_hold_placeholders(&mut chat, &map);
        let Some(ResponseFormat::JsonSchema { schema, .. }) = chat.response_format else {
            return;
        };
        let properties = &schema["properties"];
        assert_eq!(
            properties["most"]["description"],
            r#"{"maximum":"[MRN_1]"}"#
        );
        let first = json!({"type": "integer", "minimum": 1});
        assert_eq!(properties["most"]["anyOf"][0], first);
        assert_eq!(properties["one"]["type"], "string");
        assert_eq!(properties["none"]["type"], "integer");
    }

    #[test]
    fn a_schema_of_dates_is_one_in_either_words() {
        let wants = |schema: Value| schema.as_object().is_some_and(wants_date);
        for day in [
            json!({"type": "string", "format": "date"}),
            json!({"type": "string", "format": "date", "description": "The day.", "minLength": 1}),
        ] {
            assert!(wants(day.clone()));
            assert!(wants(loosened(day)));
        }
        for other in [
            json!({"type": "string", "description": "A date."}),
            json!({"type": "string", "description": "{\"format\":\"date\"}\n\nMore."}),
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "string", "description": "{\"pattern\":\"date\"}"}),
        ] {
            assert!(!wants(other.clone()));
            assert!(!wants(loosened(other)));
        }
    }
}
