//! Schemas that kind A is to promise: it compiles them into a grammar, and takes a part of JSON Schema only. Objects
//! are closed, and bounds that it has no words for join the description, as its vendor's own SDKs have it. What cannot
//! be said so is refused: the caller asked for a promise.

mod pattern;
mod references;
mod unions;

use std::collections::BTreeSet;

use driver_kit::fault::{invalid, unsupported};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::bindings::gateway::provider::types::DriverError;
use pattern::is_plain_pattern;
use references::{DEFINITIONS, definition, refers_well};
pub use unions::Unions;

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

/// The schema as kind A takes it, and byte for byte what the host gave where kind A takes that. It takes of `unions` what
/// it needs.
///
/// # Errors
/// What cannot be said is unsupported under the name `param`.
pub fn promised(
    schema: &[u8],
    of: Of,
    param: &str,
    unions: &mut Unions,
) -> Result<Box<RawValue>, DriverError> {
    if schema.len() > MAX_SCHEMA_BYTES {
        return Err(unsupported(param));
    }
    let bad = |_| invalid(param, "bad_json");
    let read: Value = serde_json::from_slice(schema).map_err(bad)?;
    let mut said = say(&read, of).map_err(|Unsayable| unsupported(param))?;
    unions.fit(&mut said);
    if said == read {
        serde_json::from_slice(schema).map_err(bad)
    } else {
        to_raw_value(&said).map_err(bad)
    }
}

fn say(root: &Value, of: Of) -> Result<Value, Unsayable> {
    let mut read = root.as_object().ok_or(Unsayable)?.clone();
    let has_properties = match read.get("properties") {
        None => false,
        Some(named) => named.as_object().is_none_or(|named| !named.is_empty()),
    };
    let is_empty = !has_properties && !FILLING.iter().any(|word| read.contains_key(*word));
    if of == Of::Arguments && is_empty {
        read.insert("additionalProperties".to_owned(), false.into());
    }
    if !refers_well(root) {
        return Err(Unsayable);
    }
    let said = node(root, read)?;
    // Arguments are an object with every kind, and kind A has no alternatives for them.
    if of == Of::Arguments && said.get("type").is_none_or(|kind| kind != "object") {
        return Err(Unsayable);
    }
    Ok(Value::Object(said))
}

/// One schema of those that stand in `root`.
fn node(root: &Value, mut read: Fields) -> Result<Fields, Unsayable> {
    let mut said = Fields::new();
    if let Some(dialect) = read.shift_remove("$schema") {
        said.insert("$schema".to_owned(), dialect);
    }
    for word in DEFINITIONS {
        if let Some(named) = read.shift_remove(word) {
            said.insert(word.to_owned(), Value::Object(each(root, named)?));
        }
    }
    read.retain(|word, _| !is_note(word));
    if let Some(target) = read.shift_remove("$ref") {
        said.insert("$ref".to_owned(), target);
        // Kind A takes nothing beside it: what only tells of the schema is left out.
        return if only_tells(&read) {
            Ok(said)
        } else {
            Err(Unsayable)
        };
    }
    if let Some(listed) = read.shift_remove("allOf") {
        let mut all = listed_schemas(root, &mut read, listed)?;
        if all.len() == 1
            && only_tells(&read)
            && let Some(mut one) = all.pop()
        {
            one.extend(read);
            // Definitions within it are nobody's: references name those at the root.
            for (word, value) in node(root, one)? {
                said.entry(word).or_insert(value);
            }
            return Ok(said);
        }
        said.insert("allOf".to_owned(), Value::Array(all_at_once(root, all)?));
    } else if let Some(branches) = branches(root, &mut read)? {
        said.insert("anyOf".to_owned(), Value::Array(branches));
    } else {
        kind(root, &mut read, &mut said)?;
    }
    describe(read, &mut said)?;
    Ok(said)
}

fn is_note(word: &str) -> bool {
    NOTES.contains(&word) || word.starts_with("x-")
}

fn only_tells(fields: &Fields) -> bool {
    fields.keys().all(|word| TELLING.contains(&word.as_str()))
}

/// The schemas of an object of them.
fn each(root: &Value, named: Value) -> Result<Fields, Unsayable> {
    let Value::Object(named) = named else {
        return Err(Unsayable);
    };
    let inner = named.into_iter();
    inner
        .map(|(name, schema)| Ok((name, child(root, schema)?)))
        .collect()
}

fn child(root: &Value, schema: Value) -> Result<Value, Unsayable> {
    match schema {
        Value::Object(fields) => node(root, fields).map(Value::Object),
        _ => Err(Unsayable),
    }
}

/// The schemas of a list, each of a type that the schema around it allows: kind A has no type beside a list.
fn listed_schemas(
    root: &Value,
    around: &mut Fields,
    listed: Value,
) -> Result<Vec<Fields>, Unsayable> {
    let outer = around.shift_remove("type");
    let Value::Array(listed) = listed else {
        return Err(Unsayable);
    };
    if listed.is_empty() {
        return Err(Unsayable);
    }
    let of_outer_type = |schema| {
        let Value::Object(mut fields) = schema else {
            return Err(Unsayable);
        };
        if let Some(outer) = &outer {
            narrow(root, &mut fields, outer)?;
        }
        Ok(fields)
    };
    listed.into_iter().map(of_outer_type).collect()
}

/// Gives a schema the outer type where it has none, and refuses it where its own is another.
fn narrow(root: &Value, fields: &mut Fields, outer: &Value) -> Result<(), Unsayable> {
    let named = match fields.get("$ref") {
        Some(Value::String(reference)) => {
            let target = definition(root, reference).and_then(Value::as_object);
            Some(target.ok_or(Unsayable)?)
        }
        Some(_) => return Err(Unsayable),
        None => None,
    };
    let target = named.unwrap_or(fields);
    let allowed = kinds(outer)?;
    let own = match (target.get("type"), implied(target)) {
        (Some(own), _) => kinds(own)?,
        (None, Some(own)) if named.is_some() => vec![own],
        (None, _) if named.is_some() => return Err(Unsayable),
        (None, _) => {
            fields.insert("type".to_owned(), outer.clone());
            return Ok(());
        }
    };
    let is_allowed =
        |own: &&str| allowed.contains(own) || (*own == "integer" && allowed.contains(&"number"));
    if own.iter().all(is_allowed) {
        Ok(())
    } else {
        Err(Unsayable)
    }
}

/// The types that a schema names, each once.
fn kinds(said: &Value) -> Result<Vec<&str>, Unsayable> {
    let listed = match said {
        Value::Array(listed) => listed.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut kinds = Vec::new();
    for kind in listed {
        let kind = kind.as_str().filter(|kind| KINDS.contains(kind));
        let kind = kind.ok_or(Unsayable)?;
        if kinds.contains(&kind) {
            return Err(Unsayable);
        }
        kinds.push(kind);
    }
    if kinds.is_empty() {
        return Err(Unsayable);
    }
    Ok(kinds)
}

/// Schemas that hold together. Kind A takes no references among them, and objects that are closed each on its own would
/// contradict each other.
fn all_at_once(root: &Value, all: Vec<Fields>) -> Result<Vec<Value>, Unsayable> {
    let said = all.into_iter().map(|one| node(root, one));
    let said: Vec<Fields> = said.collect::<Result<_, _>>()?;
    let names = |one: &Fields| {
        let named = one.get("properties").and_then(Value::as_object);
        let names = named.into_iter().flat_map(Map::keys);
        names.cloned().collect::<BTreeSet<String>>()
    };
    let first = said.first().ok_or(Unsayable)?;
    let (kind, first_names) = (first.get("type"), names(first));
    let agrees = |one: &Fields| {
        let is_typed = kind.is_some() || said.len() == 1;
        is_typed && one.get("type") == kind && names(one) == first_names
    };
    let is_sayable = |one: &Fields| !one.contains_key("$ref") && agrees(one);
    if !said.iter().all(is_sayable) {
        return Err(Unsayable);
    }
    Ok(said.into_iter().map(Value::Object).collect())
}

/// What `anyOf` and `oneOf` list, and a list of types in its place: kind A has the first alone.
fn branches(root: &Value, read: &mut Fields) -> Result<Option<Vec<Value>>, Unsayable> {
    let listed = ["anyOf", "oneOf"].map(|word| read.shift_remove(word));
    let listed = match listed {
        [None, None] => return one_for_each_type(root, read),
        [Some(one), None] | [None, Some(one)] => one,
        _ => return Err(Unsayable),
    };
    let branches = listed_schemas(root, read, listed)?.into_iter();
    branches
        .map(|branch| node(root, branch).map(Value::Object))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn one_for_each_type(root: &Value, read: &mut Fields) -> Result<Option<Vec<Value>>, Unsayable> {
    let Some(listed) = read.get("type").filter(|listed| listed.is_array()).cloned() else {
        return Ok(None);
    };
    read.shift_remove("type");
    let kinds = kinds(&listed)?;
    if let [one] = kinds.as_slice() {
        read.insert("type".to_owned(), Value::from(*one));
        return Ok(None);
    }
    let mut values = values(read).peekable();
    if values.peek().is_some() {
        // Values have types of their own.
        let is_of_one = |value| kinds.iter().any(|kind| is_of(kind, value));
        return if values.all(is_of_one) {
            Ok(None)
        } else {
            Err(Unsayable)
        };
    }
    drop(values);
    let mut branches = Vec::new();
    for kind in kinds {
        let mut branch = Fields::new();
        branch.insert("type".to_owned(), kind.into());
        for (word, value) in read.iter_mut() {
            match own(word) {
                // Of no other type: what may hold schemas is never copied.
                [one] if *one == kind => branch.insert(word.clone(), value.take()),
                several if several.contains(&kind) => branch.insert(word.clone(), value.clone()),
                _ => None,
            };
        }
        branches.push(Value::Object(node(root, branch)?));
    }
    read.retain(|word, _| own(word).is_empty());
    Ok(Some(branches))
}

/// The values that a schema lists.
fn values(fields: &Fields) -> impl Iterator<Item = &Value> {
    let listed = fields.get("enum").and_then(Value::as_array);
    listed.into_iter().flatten().chain(fields.get("const"))
}

fn is_of(kind: &str, value: &Value) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || (kind == "integer" && !number.is_f64()),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// The types whose values a word bounds; it says nothing about the others. Of a word for all of them, none.
fn own(word: &str) -> &'static [&'static str] {
    match word {
        "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
            &["object"]
        }
        "items" | "minItems" | "maxItems" | "uniqueItems" => &["array"],
        "format" | "pattern" | "minLength" | "maxLength" => &["string"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &["integer", "number"]
        }
        _ => &[],
    }
}

/// The type, and the words that belong to it.
fn kind(root: &Value, read: &mut Fields, said: &mut Fields) -> Result<(), Unsayable> {
    let kind = match read.shift_remove("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(_) => return Err(Unsayable),
        None => implied(read).map(str::to_owned),
    };
    if let Some(kind) = kind.as_deref() {
        said.insert("type".to_owned(), kind.into());
        // What shapes values of another type says nothing here.
        read.retain(|word, _| !PARTS.contains(&word.as_str()) || own(word).contains(&kind));
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
        Some("object") => object(root, read, said),
        Some("array") => array(root, read, said),
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

/// The type that the words of a schema speak of, unless its values are listed.
fn implied(read: &Fields) -> Option<&'static str> {
    if read.contains_key("enum") || read.contains_key("const") {
        None
    } else if read.contains_key("properties") {
        Some("object")
    } else if read.contains_key("items") {
        Some("array")
    } else {
        None
    }
}

/// An answer of a closed object conforms to the open one too, unless the object has no properties but those that nobody
/// has named.
fn object(root: &Value, read: &mut Fields, said: &mut Fields) -> Result<(), Unsayable> {
    let properties = read.shift_remove("properties");
    let properties = properties.map_or_else(|| Ok(Fields::new()), |named| each(root, named))?;
    let is_sayable = match read.shift_remove("additionalProperties") {
        Some(Value::Bool(false)) => true,
        None | Some(Value::Bool(true)) => !properties.is_empty(),
        Some(Value::Object(any)) => any.is_empty() && !properties.is_empty(),
        Some(_) => false,
    };
    if !is_sayable {
        return Err(Unsayable);
    }
    let required = read.shift_remove("required");
    let is_named = |name: &Value| {
        let name = name.as_str();
        name.is_some_and(|name| properties.contains_key(name))
    };
    // A closed object cannot have what it does not name.
    match required.as_ref().map(Value::as_array) {
        None => {}
        Some(Some(all)) if all.iter().all(is_named) => {}
        Some(_) => return Err(Unsayable),
    }
    said.insert("properties".to_owned(), Value::Object(properties));
    if let Some(required) = required {
        said.insert("required".to_owned(), required);
    }
    said.insert("additionalProperties".to_owned(), false.into());
    Ok(())
}

fn array(root: &Value, read: &mut Fields, said: &mut Fields) -> Result<(), Unsayable> {
    // Items of any kind are nothing to compile, said or understood.
    let items = read.shift_remove("items").ok_or(Unsayable)?;
    said.insert("items".to_owned(), child(root, items)?);
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

/// Puts what is left into the description, where the model reads it, as far as it only tells or bounds.
fn describe(mut read: Fields, said: &mut Fields) -> Result<(), Unsayable> {
    let may_join = |word: &str| TELLING.contains(&word) || BOUNDS.contains(&word);
    if !read.keys().all(|word| may_join(word)) {
        return Err(Unsayable);
    }
    if let Some(title) = read.shift_remove("title") {
        said.insert("title".to_owned(), title);
    }
    let description = read.shift_remove("description");
    if read.is_empty() {
        if let Some(description) = description {
            said.insert("description".to_owned(), description);
        }
        return Ok(());
    }
    let left = Value::Object(read).to_string();
    let description = match description {
        Some(Value::String(words)) if !words.is_empty() => format!("{words}\n\n{left}"),
        _ => left,
    };
    said.insert("description".to_owned(), description.into());
    Ok(())
}

/// Of one schema: more than any grammar is made of, and little enough to be said within a call's time.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The types of JSON Schema.
const KINDS: [&str; 7] = [
    "object", "array", "string", "integer", "number", "boolean", "null",
];
/// What only tells a reader of a schema.
const TELLING: [&str; 8] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
];
/// Notes for programs, of which no model makes anything, beside those that begin with `x-`.
const NOTES: [&str; 5] = ["$id", "id", "$comment", "$anchor", "discriminator"];
/// Bounds, which a description may ask for. Any other word is refused: to leave it out would loosen the schema.
const BOUNDS: [&str; 16] = [
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "contentEncoding",
    "contentMediaType",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];
/// What a value of one type is made of.
const PARTS: [&str; 4] = ["properties", "required", "additionalProperties", "items"];
/// Words that say what arguments without properties may be.
const FILLING: [&str; 8] = [
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
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
mod tests;
