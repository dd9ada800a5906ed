//! Numbers in schemas, and the placeholders that may stand in their place. What is said here of a schema is what
//! `restore::forms` reads there: where a model may say a placeholder for a number, a number comes back.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{BOUNDS, describe, last_described};

const ALTERNATIVES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// How a model, and `restore::forms`, know the place of a placeholder that stands for a number.
const TOLD: &str = "The placeholder that stands for the number, with its brackets.";

/// The alternative to a number: a placeholder of one of these kinds; nothing without any. Which of them were issued is
/// not said, so that a conversation has the same schemas from turn to turn, and providers need not compile and cache
/// others.
pub(in crate::phi) fn alternative(kinds: &BTreeSet<String>) -> Option<Value> {
    if kinds.is_empty() {
        return None;
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let pattern = format!(r"^\[({})_[0-9]+\]$", kinds.join("|"));
    Some(json!({"type": "string", "description": TOLD, "pattern": pattern}))
}

/// Whether placeholders stand for numbers where this schema is.
pub(in crate::phi) fn is_of_placeholders(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "string") && last_described(schema) == Some(TOLD)
}

/// Lets a schema have placeholders where it asks for any number, and where `restore::forms` makes them numbers again.
pub(in crate::phi) fn loosen(schema: &mut Value, alternative: &Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    let has = |word: &str| fields.contains_key(word);
    let is_one_thing = !(has("type") || has("properties")) || !has("anyOf") && !has("$ref");
    let types = types(fields);
    let is_of_one_type = types.iter().filter(|word| *word != "null").count() <= 1;
    let (has_places, has_patterns) = (has("prefixItems"), has("patternProperties"));
    let mut within = |inner: &mut Value| loosen_within(inner, alternative);
    for (word, value) in fields.iter_mut() {
        match (word.as_str(), value) {
            ("$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(&mut within);
            }
            _ if !is_one_thing || !is_of_one_type => {}
            ("properties", Value::Object(named)) => {
                named.values_mut().for_each(&mut within);
            }
            ("anyOf", Value::Array(listed)) => listed.iter_mut().for_each(&mut within),
            ("items", inner) if !has_places => within(inner),
            ("additionalProperties", inner) if !has_patterns => within(inner),
            _ => {}
        }
    }
}

/// A schema that is no whole one, and what is within.
fn loosen_within(schema: &mut Value, alternative: &Value) {
    if let Some(listed) = alternatives_of_numbers(schema) {
        // One more of its own alternatives: providers count schemas that have some.
        listed.push(alternative.clone());
        return;
    }
    loosen(schema, alternative);
    let Value::Object(fields) = schema else {
        return;
    };
    if !is_any_number(fields) {
        return;
    }
    let mut words = types(fields);
    words.dedup();
    let of_number: Map<String, Value> = BOUNDS
        .iter()
        .filter_map(|word| fields.shift_remove_entry(*word))
        .collect();
    fields.shift_remove("type");
    let alternatives = words.iter().map(|word| {
        let mut one = Map::from_iter([("type".to_owned(), json!(word))]);
        if word != "null" {
            one.extend(of_number.clone());
        }
        Value::Object(one)
    });
    let alternatives = alternatives.chain([alternative.clone()]).collect();
    fields.insert("anyOf".to_owned(), alternatives);
}

/// The alternatives of a schema, where they are numbers or nothing, and any number is among them.
fn alternatives_of_numbers(schema: &mut Value) -> Option<&mut Vec<Value>> {
    let fields = schema.as_object_mut()?;
    if fields.contains_key("type") || fields.contains_key("properties") {
        return None;
    }
    let listed = fields.get_mut("anyOf")?.as_array_mut()?;
    let is_number = |one: &Value| one.as_object().is_some_and(is_any_number);
    let is_null = |one: &Value| one.get("type").is_some_and(|kind| kind == "null");
    let is_all = listed.iter().all(|one| is_number(one) || is_null(one));
    (is_all && listed.iter().any(is_number)).then_some(listed)
}

/// Whether a schema takes any number, or none at all.
fn is_any_number(fields: &Map<String, Value>) -> bool {
    is_of_numbers(fields)
        && !["enum", "const", "$ref"]
            .iter()
            .chain(&ALTERNATIVES)
            .any(|word| fields.contains_key(*word))
}

/// Whether a schema is of numbers, and perhaps of nothing.
fn is_of_numbers(fields: &Map<String, Value>) -> bool {
    let is_number = |word: &str| matches!(word, "integer" | "number");
    let words = types(fields);
    words.iter().any(|word| is_number(word))
        && words.iter().all(|word| is_number(word) || word == "null")
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

/// Lists the numbers of a schema apart from those that were replaced: a placeholder among numbers is of another type, and
/// providers refuse such a list.
pub(super) fn replace_values(
    fields: &mut Map<String, Value>,
    is_placeholder: impl Fn(&str) -> bool,
) {
    if !is_of_numbers(fields) {
        return;
    }
    let is_replaced = |value: &Value| value.as_str().is_some_and(&is_placeholder);
    if fields.get("const").is_some_and(is_replaced) {
        fields.insert("type".to_owned(), json!("string"));
        return describe(fields, TOLD);
    }
    let Some(Value::Array(values)) = fields.get("enum") else {
        return;
    };
    let (replaced, others): (Vec<Value>, Vec<Value>) =
        values.iter().cloned().partition(is_replaced);
    if replaced.is_empty() {
        return;
    }
    if others.is_empty() {
        fields.insert("type".to_owned(), json!("string"));
        return describe(fields, TOLD);
    }
    let kinds = fields.shift_remove("type");
    fields.shift_remove("enum");
    let alternatives = json!([
        {"type": kinds, "enum": others},
        {"type": "string", "description": TOLD, "enum": replaced}
    ]);
    fields.insert("anyOf".to_owned(), alternatives);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholder() -> Value {
        let kinds = ["MRN", "ZIP"].map(str::to_owned);
        alternative(&BTreeSet::from(kinds)).unwrap_or_default()
    }

    fn loosened(mut schema: Value) -> Value {
        loosen(&mut schema, &placeholder());
        schema
    }

    #[test]
    fn the_alternative_is_a_placeholder_and_nothing_else() {
        assert_eq!(placeholder()["pattern"], r"^\[(MRN|ZIP)_[0-9]+\]$");
        let is_one = |schema: &Value| schema.as_object().is_some_and(is_of_placeholders);
        assert!(is_one(&placeholder()));
        for other in [
            json!({"type": "string", "description": "The number."}),
            json!({"description": TOLD}),
        ] {
            assert!(!is_one(&other));
        }
    }

    #[test]
    fn numbers_may_be_placeholders_wherever_a_schema_stands() {
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
            // Which has alternatives already, and gets none within them.
            (
                json!({"properties": {"a": {"anyOf": [{"type": "number", "minimum": 1}, {"type": "null"}], "title": "A"}}}),
                json!({"properties": {"a": {
                    "anyOf": [{"type": "number", "minimum": 1}, {"type": "null"}, placeholder()], "title": "A"
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
            assert_eq!(loosened(schema), expected);
        }
    }

    #[test]
    fn numbers_that_were_replaced_are_listed_as_what_they_are() {
        let told = |words: &str| format!("{words}{TOLD}");
        for (schema, expected) in [
            (
                json!({"type": "integer", "enum": ["[MRN_1]", "[MRN_2]"]}),
                json!({"type": "string", "enum": ["[MRN_1]", "[MRN_2]"], "description": told("")}),
            ),
            (
                json!({"type": "integer", "const": "[MRN_1]", "description": "Whose."}),
                json!({"type": "string", "const": "[MRN_1]", "description": told("Whose.\n\n")}),
            ),
            (
                json!({"type": ["integer", "null"], "enum": ["[MRN_1]", 7, null], "title": "A"}),
                json!({"title": "A", "anyOf": [
                    {"type": ["integer", "null"], "enum": [7, null]},
                    {"type": "string", "description": TOLD, "enum": ["[MRN_1]"]}
                ]}),
            ),
            // Nobody's placeholder, and strings that were strings.
            (
                json!({"type": "integer", "enum": ["a", 1]}),
                json!({"type": "integer", "enum": ["a", 1]}),
            ),
            (
                json!({"type": "string", "enum": ["[MRN_1]"]}),
                json!({"type": "string", "enum": ["[MRN_1]"]}),
            ),
        ] {
            let Value::Object(mut fields) = schema else {
                continue;
            };
            replace_values(&mut fields, |text| text.starts_with('['));
            assert_eq!(Value::Object(fields), expected);
        }
    }
}
