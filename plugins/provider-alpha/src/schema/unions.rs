//! Schemas with alternatives, of which kind A compiles a few only in one request. Callers' own come first. Where the host
//! lets a placeholder stand for a number, the number and the placeholder are alternatives as long as there is room, and
//! beyond that the digits of a text: the host makes a number of either.

use serde_json::{Map, Value, json};

use super::{DEFINITIONS, Fields, Of, say};

/// Schemas with alternatives that kind A takes, in all that a request promises (its vendor's page on structured outputs).
const MAX_UNIONS: usize = 16;

/// How many numbers may still have a placeholder as an alternative.
pub struct Unions {
    left: usize,
}

impl Unions {
    /// What the alternatives of callers leave, in all schemas that a request promises.
    pub fn beside<'s>(promised: impl Iterator<Item = (&'s [u8], Of)> + Clone) -> Self {
        // Most requests let no placeholder stand for a number.
        let is_any = promised.clone().any(|(schema, _)| {
            let schema = std::str::from_utf8(schema);
            schema.is_ok_and(|schema| schema.contains(PLACEHOLDER_END.0))
        });
        if !is_any {
            return Self { left: MAX_UNIONS };
        }
        let mut others: usize = 0;
        for (schema, of) in promised {
            let read = serde_json::from_slice::<Value>(schema).ok();
            if let Some(mut said) = read.and_then(|read| say(&read, of).ok()) {
                each(&mut said, &mut |fields| {
                    let is_union = fields.contains_key("anyOf");
                    others += usize::from(is_union && number_or_placeholder(fields).is_none());
                });
            }
        }
        Self {
            left: MAX_UNIONS.saturating_sub(others),
        }
    }

    /// Says a schema without the alternatives for which no room is left.
    pub fn fit(&mut self, said: &mut Value) {
        each(said, &mut |fields| {
            let Some(in_digits) = number_or_placeholder(fields) else {
                return;
            };
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => say_in_digits(fields, &in_digits),
            }
        });
    }
}

/// A number or a placeholder as one text.
struct InDigits {
    pattern: String,
    /// What is said of the number.
    bounds: Option<String>,
}

fn say_in_digits(fields: &mut Fields, InDigits { pattern, bounds }: &InDigits) {
    fields.shift_remove("anyOf");
    fields.insert("type".to_owned(), json!("string"));
    fields.insert("pattern".to_owned(), json!(pattern));
    let description = fields.get("description").and_then(Value::as_str);
    let words: Vec<&str> = description
        .into_iter()
        .chain(bounds.as_deref())
        .chain([IN_DIGITS])
        .collect();
    fields.insert("description".to_owned(), json!(words.join("\n\n")));
}

const IN_DIGITS: &str =
    "The number in digits, or the placeholder that stands for it, with its brackets.";

/// What a schema is whose alternatives are a number and the placeholder that the host lets stand for it.
fn number_or_placeholder(fields: &Fields) -> Option<InDigits> {
    let [number, placeholder] = fields.get("anyOf")?.as_array()?.as_slice() else {
        return None;
    };
    let digits = match number.get("type")?.as_str()? {
        "integer" => "-?(0|[1-9][0-9]*)",
        "number" => r"-?(0|[1-9][0-9]*)(\.[0-9]+)?",
        _ => return None,
    };
    if placeholder.get("type")? != "string" || number.get("enum").is_some() {
        return None;
    }
    let kinds = placeholder.get("pattern")?.as_str()?;
    let kinds = kinds.strip_prefix(PLACEHOLDER_START)?;
    let kinds = kinds.strip_suffix(PLACEHOLDER_END.1)?;
    let bounds = number.get("description").and_then(Value::as_str);
    Some(InDigits {
        pattern: format!(r"^({digits}|\[({kinds})_[0-9]+\])$"),
        bounds: bounds.map(str::to_owned),
    })
}

/// How the pattern of a placeholder begins and ends, and what of its end stands in the text of a schema.
const PLACEHOLDER_START: &str = r"^\[(";
const PLACEHOLDER_END: (&str, &str) = (")_[0-9]+", r")_[0-9]+\]$");

/// Calls with each schema within a schema that kind A takes, the outer ones first.
fn each(schema: &mut Value, call: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = schema else {
        return;
    };
    call(fields);
    for (word, value) in fields.iter_mut() {
        match value {
            Value::Object(named)
                if word == "properties" || DEFINITIONS.contains(&word.as_str()) =>
            {
                named.values_mut().for_each(|inner| each(inner, call));
            }
            Value::Array(listed) if word == "anyOf" || word == "allOf" => {
                listed.iter_mut().for_each(|inner| each(inner, call));
            }
            inner if word == "items" => each(inner, call),
            _ => {}
        }
    }
}
