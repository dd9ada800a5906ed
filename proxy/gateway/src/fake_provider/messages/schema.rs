//! What the Messages wire format refuses in a schema that it compiles into a grammar: that of an answer, and those of
//! strict tools.

use std::collections::HashSet;

use serde_json::Value;

use crate::fake_provider::messages::validation::{Checked, Fields, object};

/// Words that bound values of one type and have no place in a grammar.
const REFUSED: [(&str, &[&str]); 5] = [
    (
        "object",
        &["patternProperties", "minProperties", "maxProperties"],
    ),
    (
        "array",
        &["maxItems", "uniqueItems", "prefixItems", "contains"],
    ),
    ("string", &["minLength", "maxLength"]),
    ("integer", NUMBER_BOUNDS),
    ("number", NUMBER_BOUNDS),
];
const NUMBER_BOUNDS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];
/// Words that the compiler does not have at all.
const UNKNOWN: [&str; 5] = ["oneOf", "not", "if", "then", "else"];
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

/// Refuses a schema that the real one would not compile.
pub(crate) fn check_compiled(path: &str, schema: &Value) -> Checked {
    check(path, schema, schema, &mut Followed::default())
}

/// Schemas with alternatives that the real one compiles in one request.
const MAX_UNIONS: usize = 16;

/// Refuses more schemas with alternatives than the real one compiles, in all that a request has it compile.
pub(crate) fn check_unions<'s>(schemas: impl Iterator<Item = &'s Value>) -> Checked {
    let found: usize = schemas.map(unions).sum();
    if found <= MAX_UNIONS {
        return Ok(());
    }
    Err(format!(
        "Schemas contains too many parameters with union types ({found} parameters with type arrays or anyOf). Limit: {MAX_UNIONS} parameters with unions."
    ))
}

/// The schemas with alternatives within a schema.
fn unions(schema: &Value) -> usize {
    let Some(fields) = schema.as_object() else {
        return 0;
    };
    let is_union = fields.contains_key("anyOf") || fields.get("type").is_some_and(Value::is_array);
    let named = ["properties", "$defs", "definitions"].iter();
    let named = named.filter_map(|word| fields.get(*word)?.as_object());
    let named = named.flat_map(|named| named.values());
    let listed = ["anyOf", "allOf"].iter();
    let listed = listed.filter_map(|word| fields.get(*word)?.as_array());
    let inner = named.chain(listed.flatten()).chain(fields.get("items"));
    usize::from(is_union) + inner.map(unions).sum::<usize>()
}

/// References that have led to the schema at hand, and those behind which all was found good.
#[derive(Default)]
struct Followed<'s> {
    trail: Vec<&'s str>,
    good: HashSet<&'s str>,
}

/// One schema of those that stand in `root`.
fn check<'s>(
    path: &str,
    root: &'s Value,
    schema: &'s Value,
    followed: &mut Followed<'s>,
) -> Checked {
    let fields = object(path, schema)?;
    if let Some(word) = UNKNOWN.iter().find(|word| fields.contains_key(**word)) {
        return Err(format!("{path}: Schema keyword '{word}' is not supported"));
    }
    if let Some(name) = fields.get("$ref") {
        return follow(path, root, name, followed);
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array)
        && (values.is_empty() || values.iter().any(|one| one.is_object() || one.is_array()))
    {
        return Err(format!(
            "{path}: enum must hold strings, numbers, booleans or nulls"
        ));
    }
    let kinds: Vec<&str> = match fields.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    check_lists(path, fields)?;
    let is_typed = ["enum", "const", "anyOf", "allOf"];
    if kinds.is_empty() && !is_typed.iter().any(|word| fields.contains_key(*word)) {
        return Err(format!(
            "{path}: Schema must have a 'type', 'anyOf', 'enum' or 'const'"
        ));
    }
    for kind in kinds {
        check_type(path, kind, fields)?;
    }
    for word in ["properties", "$defs", "definitions"] {
        let named = fields.get(word).and_then(Value::as_object);
        for (name, inner) in named.into_iter().flatten() {
            check(&format!("{path}.{word}.{name}"), root, inner, followed)?;
        }
    }
    for word in ["anyOf", "allOf"] {
        let listed = fields.get(word).and_then(Value::as_array);
        for inner in listed.into_iter().flatten() {
            check(&format!("{path}.{word}"), root, inner, followed)?;
        }
    }
    match fields.get("items") {
        Some(items) => check(&format!("{path}.items"), root, items, followed),
        None => Ok(()),
    }
}

fn check_lists(path: &str, fields: &Fields) -> Checked {
    for word in ["anyOf", "allOf", "type"] {
        let listed = fields.get(word).and_then(Value::as_array);
        if listed.is_some_and(Vec::is_empty) {
            return Err(format!("{path}: {word} must not be empty"));
        }
    }
    let all = fields.get("allOf").and_then(Value::as_array);
    let mut all = all.into_iter().flatten();
    if all.any(|inner| inner.get("$ref").is_some()) {
        return Err(format!("{path}: allOf with $ref is not supported"));
    }
    Ok(())
}

fn check_type(path: &str, kind: &str, fields: &Fields) -> Checked {
    if kind == "object" && fields.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(format!(
            "{path}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        ));
    }
    let refused = REFUSED.iter().find(|(of, _)| *of == kind);
    let words = refused.map_or(&[][..], |(_, words)| words);
    let mut found: Vec<&str> = words.to_vec();
    found.retain(|word| fields.contains_key(*word));
    if !found.is_empty() {
        let found = found.join(", ");
        return Err(format!(
            "{path}: For '{kind}' type, properties {found} are not supported"
        ));
    }
    let least = fields.get("minItems").and_then(Value::as_u64);
    if kind == "array" && least.is_some_and(|least| least > 1) {
        return Err(format!(
            "{path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
        ));
    }
    let format = fields.get("format").and_then(Value::as_str);
    if kind == "string" && format.is_some_and(|format| !FORMATS.contains(&format)) {
        return Err(format!("{path}: String format is not supported"));
    }
    let pattern = fields.get("pattern").and_then(Value::as_str);
    if kind == "string" && pattern.is_some_and(|pattern| pattern.contains("(?")) {
        return Err(format!("{path}: Pattern is not supported"));
    }
    Ok(())
}

fn follow<'s>(
    path: &str,
    root: &'s Value,
    name: &'s Value,
    followed: &mut Followed<'s>,
) -> Checked {
    let name = name.as_str().unwrap_or_default();
    if followed.good.contains(name) {
        return Ok(());
    }
    let target = name
        .strip_prefix("#/")
        .and_then(|_| root.pointer(name.get(1..)?));
    let Some(target) = target else {
        return Err(format!(
            "{path}: $ref must name a definition of this schema"
        ));
    };
    if followed.trail.contains(&name) {
        return Err(format!(
            "{path}: Circular reference detected in schema definitions"
        ));
    }
    followed.trail.push(name);
    check(path, root, target, followed)?;
    followed.trail.pop();
    followed.good.insert(name);
    Ok(())
}
