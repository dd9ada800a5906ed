//! Schemas that kind A is to promise: it compiles them into a grammar, and takes a part of JSON Schema only. Objects
//! are closed, and bounds that it has no words for join the description, as its vendor's own SDKs have it. What cannot
//! be said so is refused: the caller asked for a promise.

use std::collections::BTreeSet;

use driver_kit::fault::{invalid, unsupported};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::bindings::gateway::provider::types::DriverError;

type Fields = Map<String, Value>;

/// Kind A has no way to say it.
struct Unsayable;

/// What a schema is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Answer,
    /// A tool's arguments: a schema without properties means a tool without arguments.
    Arguments,
}

/// The schema as kind A takes it, and byte for byte what it was where kind A takes that.
///
/// # Errors
/// What cannot be said is unsupported under the name `param`.
pub fn promised(schema: &[u8], of: Of, param: &str) -> Result<Box<RawValue>, DriverError> {
    let bad = |_| invalid(param, "bad_json");
    let read: Value = serde_json::from_slice(schema).map_err(bad)?;
    let said = say(&read, of).map_err(|Unsayable| unsupported(param))?;
    if said == read {
        serde_json::from_slice(schema).map_err(bad)
    } else {
        to_raw_value(&said).map_err(bad)
    }
}

fn say(schema: &Value, of: Of) -> Result<Value, Unsayable> {
    let mut read = schema.as_object().ok_or(Unsayable)?.clone();
    let is_empty = !SHAPING.iter().any(|word| read.contains_key(*word));
    if of == Of::Arguments && is_empty {
        read.insert("additionalProperties".to_owned(), false.into());
    }
    if !refers_well(schema) {
        return Err(Unsayable);
    }
    let said = node(read)?;
    // Arguments are an object with every kind, and kind A has no alternatives for them.
    if of == Of::Arguments && said.get("type").is_none_or(|kind| kind != "object") {
        return Err(Unsayable);
    }
    Ok(Value::Object(said))
}

/// One schema.
fn node(mut read: Fields) -> Result<Fields, Unsayable> {
    // Words that draw in what is not there: nothing that a description could ask for.
    if read.keys().any(|word| UNSAYABLE.contains(&word.as_str())) {
        return Err(Unsayable);
    }
    let mut said = Fields::new();
    if let Some(dialect) = read.shift_remove("$schema") {
        said.insert("$schema".to_owned(), dialect);
    }
    for word in DEFINITIONS {
        if let Some(named) = read.shift_remove(word) {
            said.insert(word.to_owned(), Value::Object(each(named)?));
        }
    }
    for word in NOTES {
        read.shift_remove(word);
    }
    if let Some(target) = read.shift_remove("$ref") {
        said.insert("$ref".to_owned(), target);
        // Kind A takes nothing beside it: what only tells of the schema is left out.
        return only_tells(&read).map(|()| said);
    }
    if let Some(all) = read.shift_remove("allOf") {
        let outer = std::mem::replace(&mut read, only_one(all)?);
        only_tells(&outer)?;
        read.extend(outer);
        said.extend(node(read)?);
        return Ok(said);
    }
    if let Some(branches) = branches(&mut read)? {
        said.insert("anyOf".to_owned(), Value::Array(branches));
    } else {
        kind(&mut read, &mut said)?;
    }
    describe(read, &mut said);
    Ok(said)
}

fn only_tells(fields: &Fields) -> Result<(), Unsayable> {
    let tells = |word: &String| TELLING.contains(&word.as_str());
    if fields.keys().all(tells) {
        Ok(())
    } else {
        Err(Unsayable)
    }
}

/// The schemas of an object of them.
fn each(named: Value) -> Result<Fields, Unsayable> {
    let Value::Object(named) = named else {
        return Err(Unsayable);
    };
    let inner = named.into_iter();
    inner
        .map(|(name, schema)| Ok((name, child(schema)?)))
        .collect()
}

fn child(schema: Value) -> Result<Value, Unsayable> {
    match schema {
        Value::Object(fields) => node(fields).map(Value::Object),
        _ => Err(Unsayable),
    }
}

/// Objects that are closed each on its own would contradict each other.
fn only_one(all: Value) -> Result<Fields, Unsayable> {
    let Value::Array(all) = all else {
        return Err(Unsayable);
    };
    match <[Value; 1]>::try_from(all) {
        Ok([Value::Object(one)]) => Ok(one),
        _ => Err(Unsayable),
    }
}

/// What `anyOf` and `oneOf` list, and a list of types in its place: kind A has the first alone.
fn branches(read: &mut Fields) -> Result<Option<Vec<Value>>, Unsayable> {
    let listed = ["anyOf", "oneOf"].map(|word| read.shift_remove(word));
    let listed = match listed {
        [None, None] => return one_for_each_type(read),
        [Some(Value::Array(one)), None] | [None, Some(Value::Array(one))] => one,
        _ => return Err(Unsayable),
    };
    // Each branch says its type itself.
    read.shift_remove("type");
    if read.keys().any(|word| SHAPING.contains(&word.as_str())) {
        return Err(Unsayable);
    }
    listed
        .into_iter()
        .map(child)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn one_for_each_type(read: &mut Fields) -> Result<Option<Vec<Value>>, Unsayable> {
    let is_of_values = read.contains_key("enum") || read.contains_key("const");
    let kinds = match read.get("type") {
        Some(Value::Array(kinds)) if kinds.len() == 1 || is_of_values => {
            // Values have types of their own.
            let kind = kinds.first().filter(|_| kinds.len() == 1).cloned();
            read.shift_remove("type");
            if let Some(kind) = kind {
                read.insert("type".to_owned(), kind);
            }
            return Ok(None);
        }
        Some(Value::Array(kinds)) => kinds.clone(),
        _ => return Ok(None),
    };
    let told = TELLING.map(|word| (word, read.shift_remove(word)));
    let shared = std::mem::take(read);
    for (word, value) in told {
        if let Some(value) = value {
            read.insert(word.to_owned(), value);
        }
    }
    let of_kind = |kind: &Value| {
        let mut branch = shared.clone();
        let kind = kind.as_str().ok_or(Unsayable)?;
        branch.retain(|word, _| concerns(word, kind));
        branch.insert("type".to_owned(), kind.into());
        child(Value::Object(branch))
    };
    kinds
        .iter()
        .map(of_kind)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Whether a word bounds values of a type: each bounds those of one, and says nothing about the others.
fn concerns(word: &str, kind: &str) -> bool {
    let own = match word {
        "properties" | "required" | "additionalProperties" => &["object"][..],
        "items" | "minItems" | "maxItems" | "uniqueItems" => &["array"],
        "format" | "pattern" | "minLength" | "maxLength" => &["string"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &["integer", "number"]
        }
        _ => return word != "type",
    };
    own.contains(&kind)
}

/// The type, and the words that belong to it.
fn kind(read: &mut Fields, said: &mut Fields) -> Result<(), Unsayable> {
    let kind = match read.shift_remove("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(_) => return Err(Unsayable),
        None => implied(read).map(str::to_owned),
    };
    if let Some(kind) = &kind {
        said.insert("type".to_owned(), kind.as_str().into());
    }
    let mut is_of_values = false;
    for word in ["enum", "const"] {
        let Some(values) = read.shift_remove(word) else {
            continue;
        };
        let plain = |value: &Value| !value.is_object() && !value.is_array();
        match &values {
            Value::Array(all) if word == "enum" => {
                if all.is_empty() || !all.iter().all(plain) {
                    return Err(Unsayable);
                }
            }
            one if word == "const" && plain(one) => {}
            _ => return Err(Unsayable),
        }
        said.insert(word.to_owned(), values);
        is_of_values = true;
    }
    match kind.as_deref() {
        Some("object") => object(read, said),
        Some("array") => array(read, said),
        Some("string") => {
            keep(read, said, "format", |format| {
                format.as_str().is_some_and(|word| FORMATS.contains(&word))
            });
            keep(read, said, "pattern", |pattern| {
                pattern.as_str().is_some_and(is_plain_pattern)
            });
            Ok(())
        }
        Some("integer" | "number" | "boolean" | "null") => Ok(()),
        None if is_of_values => Ok(()),
        // Anything at all is nothing to compile.
        _ => Err(Unsayable),
    }
}

/// The type that the words of a schema speak of.
fn implied(read: &Fields) -> Option<&'static str> {
    if read.contains_key("properties") {
        Some("object")
    } else if read.contains_key("items") {
        Some("array")
    } else {
        None
    }
}

/// An answer of a closed object conforms to the open one too, unless the object has no properties but those that nobody
/// has named.
fn object(read: &mut Fields, said: &mut Fields) -> Result<(), Unsayable> {
    let properties = read.shift_remove("properties");
    let properties = properties.map_or_else(|| Ok(Fields::new()), each)?;
    let is_sayable = match read.shift_remove("additionalProperties") {
        Some(Value::Bool(false)) => true,
        None | Some(Value::Bool(true)) => !properties.is_empty(),
        Some(Value::Object(any)) => any.is_empty() && !properties.is_empty(),
        Some(_) => false,
    };
    if !is_sayable {
        return Err(Unsayable);
    }
    said.insert("properties".to_owned(), Value::Object(properties));
    keep(read, said, "required", Value::is_array);
    said.insert("additionalProperties".to_owned(), false.into());
    Ok(())
}

fn array(read: &mut Fields, said: &mut Fields) -> Result<(), Unsayable> {
    if let Some(items) = read.shift_remove("items") {
        said.insert("items".to_owned(), child(items)?);
    }
    keep(read, said, "minItems", |least| {
        least.as_u64().is_some_and(|least| least <= 1)
    });
    Ok(())
}

fn keep(read: &mut Fields, said: &mut Fields, word: &str, is_taken: impl Fn(&Value) -> bool) {
    if read.get(word).is_some_and(is_taken)
        && let Some(value) = read.shift_remove(word)
    {
        said.insert(word.to_owned(), value);
    }
}

/// Puts what is left into the description, where the model reads it.
fn describe(mut read: Fields, said: &mut Fields) {
    if let Some(title) = read.shift_remove("title") {
        said.insert("title".to_owned(), title);
    }
    let description = read.shift_remove("description");
    if read.is_empty() {
        if let Some(description) = description {
            said.insert("description".to_owned(), description);
        }
        return;
    }
    let left = Value::Object(read).to_string();
    let description = match description {
        Some(Value::String(words)) if !words.is_empty() => format!("{words}\n\n{left}"),
        _ => left,
    };
    said.insert("description".to_owned(), description.into());
}

/// Whether every reference names a definition of the schema's own, and none leads back to where it stands: a grammar
/// without end is none.
fn refers_well(schema: &Value) -> bool {
    let mut names = BTreeSet::new();
    references(schema, &mut names);
    let (mut trail, mut done) = (Vec::new(), BTreeSet::new());
    let mut names = names.into_iter();
    names.all(|name| ends(schema, name, &mut trail, &mut done))
}

/// Whether what a reference names comes to an end; `done` are those that do.
fn ends<'s>(
    root: &'s Value,
    name: &'s str,
    trail: &mut Vec<&'s str>,
    done: &mut BTreeSet<&'s str>,
) -> bool {
    if done.contains(name) {
        return true;
    }
    let is_of_definitions = DEFINITIONS.iter().any(|word| {
        let rest = name.strip_prefix("#/");
        let rest = rest.and_then(|rest| rest.strip_prefix(word));
        rest.is_some_and(|rest| rest.starts_with('/'))
    });
    let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
    let Some(target) = target.filter(|_| is_of_definitions && !trail.contains(&name)) else {
        return false;
    };
    let mut names = BTreeSet::new();
    references(target, &mut names);
    trail.push(name);
    let all_end = names.into_iter().all(|name| ends(root, name, trail, done));
    trail.pop();
    done.insert(name);
    all_end
}

/// The references of a schema and of all that stand in it, those in values and names aside.
fn references<'s>(schema: &'s Value, found: &mut BTreeSet<&'s str>) {
    let Some(fields) = schema.as_object() else {
        return;
    };
    for (word, value) in fields {
        match (word.as_str(), value) {
            ("$ref", Value::String(name)) => {
                found.insert(name);
            }
            ("$ref", _) => {
                found.insert("");
            }
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values().for_each(|inner| references(inner, found));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(listed)) => {
                listed.iter().for_each(|inner| references(inner, found));
            }
            ("items" | "additionalProperties", inner) => references(inner, found),
            _ => {}
        }
    }
}

/// Whether a pattern has only what a grammar can be made of: no look around, no reference back, no edge of a word, and
/// no repetition of unknown size.
fn is_plain_pattern(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        at += match (byte, next) {
            (b'\\', Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b'r' | b't')) => 2,
            (b'\\', Some(escaped)) if escaped.is_ascii_punctuation() => 2,
            (b'{', _) => match repetition(bytes.get(at..).unwrap_or_default()) {
                Some(bytes) => bytes,
                None => return false,
            },
            (b'\\', _) | (b'(', Some(b'?')) => return false,
            _ => 1,
        };
    }
    true
}

/// The bytes of `{2}` or `{2,40}`, of numbers that a grammar can hold.
fn repetition(pattern: &[u8]) -> Option<usize> {
    let length = pattern.iter().position(|byte| *byte == b'}')?;
    let inner = std::str::from_utf8(pattern.get(1..length)?).ok()?;
    let is_small = |number: &str| {
        (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
    (is_small(least) && is_small(most)).then_some(length + 1)
}

const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
/// What only tells a reader of a schema.
const TELLING: [&str; 6] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
];
/// Notes for programs, of which no model makes anything.
const NOTES: [&str; 4] = ["$id", "$comment", "$anchor", "discriminator"];
/// Words that shape a value; none of them stands beside alternatives.
const SHAPING: [&str; 9] = [
    "properties",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
];
/// Words that a description does not stand for.
const UNSAYABLE: [&str; 15] = [
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependencies",
    "prefixItems",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "$dynamicRef",
    "$recursiveRef",
];
/// What kind A knows of the formats of a text.
const FORMATS: [&str; 10] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
];

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
