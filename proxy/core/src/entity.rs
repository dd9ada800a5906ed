//! The schema of an entity: typed fields, read strictly; what changes between two schemas, and which changes stored
//! records may stand in the way of (contract 17.2). Knows no store: what the records hold is asked by
//! [`Schema::misfits`], one at a time.

mod mapping;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value, json};

use crate::fault::Problems;
use crate::surface::fields::Fields;

pub use mapping::{Clash, Mapping};
pub use values::Values;

/// The fields of an entity, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Unique in its schema; see [`is_key`].
    pub key: String,
    pub kind: Kind,
    pub required: bool,
    /// Whether it holds protected health information, as the organization says.
    pub phi: bool,
}

/// The type of a field, with its limits. Lengths are characters.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    String {
        max_length: u32,
    },
    Text {
        max_length: u32,
    },
    Integer {
        min: Option<i64>,
        max: Option<i64>,
    },
    Number {
        min: Option<Number>,
        max: Option<Number>,
    },
    Boolean,
    Date,
    Datetime,
    Email,
    Enum {
        values: Vec<String>,
    },
    Json,
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub op: Op,
    /// The key of the field.
    pub field: String,
    /// Whether a record that fits the old schema may not fit the new one.
    pub narrows: bool,
}

/// What became of a field between two schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Added,
    Removed,
    Changed,
}

/// Fields of one entity.
pub const MAX_FIELDS: usize = 100;
/// Keys of entities and of fields.
pub const MAX_KEY_CHARS: usize = 40;
/// Longest value of the two kinds of text.
const MAX_STRING_CHARS: u32 = 1_000;
const MAX_TEXT_CHARS: u32 = 100_000;
/// Words of an enum.
const MAX_ENUM_VALUES: usize = 100;
const MAX_ENUM_CHARS: usize = 100;
/// 2^53 - 1: the largest whole number that every JSON reader keeps (RFC 8259, 6).
pub(crate) const MAX_INTEGER: i64 = 9_007_199_254_740_991;

/// The words of the types that fields have.
pub const TYPES: &[&str] = &[
    "string", "text", "integer", "number", "boolean", "date", "datetime", "email", "enum", "json",
];

/// What only some types have.
const LIMITS: &[&str] = &["max_length", "min", "max", "values"];

/// Whether a text can be the key of an entity or a field.
pub fn is_key(text: &str) -> bool {
    let is_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    text.len() <= MAX_KEY_CHARS
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(is_word)
}

impl Schema {
    /// Reads the fields at `path` of a request, noting everything that is wrong with them.
    pub fn read(fields: Vec<Value>, path: &str, problems: &mut Problems) -> Self {
        if !(1..=MAX_FIELDS).contains(&fields.len()) {
            problems.add(path, format!("must hold 1 to {MAX_FIELDS} fields"));
            return Self { fields: Vec::new() };
        }
        let mut keys = BTreeSet::new();
        let mut read = Vec::with_capacity(fields.len());
        for (at, field) in fields.into_iter().enumerate() {
            let path = format!("{path}[{at}]");
            let Some(field) = Field::read(field, &path, problems) else {
                continue;
            };
            if !keys.insert(field.key.clone()) {
                problems.add(format!("{path}.key"), "stands twice");
            }
            read.push(field);
        }
        Self { fields: read }
    }

    /// Reads what [`Self::to_json`] wrote.
    pub fn stored(value: Value) -> Option<Self> {
        let Value::Array(fields) = value else {
            return None;
        };
        let mut problems = Problems::default();
        let schema = Self::read(fields, "fields", &mut problems);
        problems.is_empty().then_some(schema)
    }

    /// As records of entities show it.
    pub fn to_json(&self) -> Value {
        self.fields.iter().map(Field::to_json).collect()
    }

    /// In the order in which they were given.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field with this key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// Whether any field holds protected health information.
    pub fn has_phi(&self) -> bool {
        self.fields.iter().any(|field| field.phi)
    }

    /// What another schema in the place of this one would change.
    pub fn changes(&self, next: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for field in &next.fields {
            let (op, narrows) = match self.field(&field.key) {
                None => (Op::Added, field.required),
                Some(before) if before != field => (Op::Changed, before.is_narrowed_by(field)),
                Some(_) => continue,
            };
            changes.push(Change {
                op,
                field: field.key.clone(),
                narrows,
            });
        }
        let gone = self.fields.iter();
        let gone = gone.filter(|field| next.field(&field.key).is_none());
        changes.extend(gone.map(|field| Change {
            op: Op::Removed,
            field: field.key.clone(),
            narrows: true,
        }));
        changes
    }
}

impl Op {
    /// The word of `changes[].op` in `schema.updated` (contract 15.2).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

impl Change {
    /// As the event `schema.updated` shows it (contract 15.2).
    pub fn to_json(&self) -> Value {
        json!({"op": self.op.word(), "field": self.field})
    }
}

impl Field {
    fn read(value: Value, path: &str, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, path, problems)?;
        let key = fields.required_string("key", problems);
        if let Some(key) = &key
            && !is_key(key)
        {
            problems.add(
                fields.path_to("key"),
                format!(
                    "must be a small letter and up to {} of a-z, 0-9 and _",
                    MAX_KEY_CHARS - 1
                ),
            );
        }
        fields.require("type", problems);
        let kind = Kind::read(&mut fields, problems);
        let required = fields.boolean("required", problems).unwrap_or_default();
        let phi = fields.boolean("phi", problems).unwrap_or_default();
        fields.end_strictly(problems);
        Some(Self {
            key: key?,
            kind: kind?,
            required,
            phi,
        })
    }

    fn to_json(&self) -> Value {
        let Self {
            key,
            kind,
            required,
            phi,
        } = self;
        let mut shown = Map::new();
        shown.insert("key".to_owned(), json!(key));
        shown.insert("type".to_owned(), json!(kind.word()));
        shown.insert("required".to_owned(), json!(required));
        shown.insert("phi".to_owned(), json!(phi));
        match kind {
            Kind::String { max_length } | Kind::Text { max_length } => {
                shown.insert("max_length".to_owned(), json!(max_length));
            }
            Kind::Integer { min, max } => {
                shown.insert("min".to_owned(), json!(min));
                shown.insert("max".to_owned(), json!(max));
            }
            Kind::Number { min, max } => {
                shown.insert("min".to_owned(), json!(min));
                shown.insert("max".to_owned(), json!(max));
            }
            Kind::Enum { values } => {
                shown.insert("values".to_owned(), json!(values));
            }
            Kind::Boolean | Kind::Date | Kind::Datetime | Kind::Email | Kind::Json => {}
        }
        Value::Object(shown)
    }

    fn is_narrowed_by(&self, next: &Self) -> bool {
        (next.required && !self.required) || self.kind.is_narrowed_by(&next.kind)
    }
}

impl Kind {
    /// The word of a field's `type` (contract 17.2).
    pub const fn word(&self) -> &'static str {
        match self {
            Self::String { .. } => "string",
            Self::Text { .. } => "text",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Datetime => "datetime",
            Self::Email => "email",
            Self::Enum { .. } => "enum",
            Self::Json => "json",
        }
    }

    fn read(fields: &mut Fields, problems: &mut Problems) -> Option<Self> {
        let Some(word) = fields.word("type", TYPES, problems) else {
            // Which limits belong is not known; none of them is judged.
            for limit in LIMITS {
                fields.take(limit);
            }
            return None;
        };
        Some(match word {
            "string" => Self::String {
                max_length: max_length(fields, MAX_STRING_CHARS, problems),
            },
            "text" => Self::Text {
                max_length: max_length(fields, MAX_TEXT_CHARS, problems),
            },
            "integer" => {
                let (min, max) = (
                    whole(fields, "min", problems),
                    whole(fields, "max", problems),
                );
                if min.zip(max).is_some_and(|(min, max)| min > max) {
                    problems.add(fields.path_to("max"), "must not be less than min");
                }
                Self::Integer { min, max }
            }
            "number" => {
                let (min, max) = (
                    number(fields, "min", problems),
                    number(fields, "max", problems),
                );
                if larger(min.as_ref(), max.as_ref()) {
                    problems.add(fields.path_to("max"), "must not be less than min");
                }
                Self::Number { min, max }
            }
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            "datetime" => Self::Datetime,
            "email" => Self::Email,
            "enum" => {
                fields.require("values", problems);
                Self::Enum {
                    values: words(fields, problems),
                }
            }
            _ => Self::Json,
        })
    }

    /// Types of one name are compared by their limits; another name is always narrower, until the records tell.
    fn is_narrowed_by(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::String { max_length: before }, Self::String { max_length: after })
            | (Self::Text { max_length: before }, Self::Text { max_length: after }) => {
                after < before
            }
            (
                Self::Integer { min, max },
                Self::Integer {
                    min: next_min,
                    max: next_max,
                },
            ) => {
                next_min.is_some_and(|next| min.is_none_or(|before| next > before))
                    || next_max.is_some_and(|next| max.is_none_or(|before| next < before))
            }
            (
                Self::Number { min, max },
                Self::Number {
                    min: next_min,
                    max: next_max,
                },
            ) => {
                let is_new = |before: &Option<Number>, next: &Option<Number>| {
                    before.is_none() && next.is_some()
                };
                is_new(min, next_min)
                    || is_new(max, next_max)
                    || larger(next_min.as_ref(), min.as_ref())
                    || larger(max.as_ref(), next_max.as_ref())
            }
            (Self::Enum { values }, Self::Enum { values: next }) => {
                values.iter().any(|value| !next.contains(value))
            }
            (Self::Boolean, Self::Boolean)
            | (Self::Date, Self::Date)
            | (Self::Datetime, Self::Datetime)
            | (Self::Email, Self::Email)
            | (Self::Json, Self::Json) => false,
            _ => true,
        }
    }
}

fn max_length(fields: &mut Fields, most: u32, problems: &mut Problems) -> u32 {
    let length = fields.count("max_length", 1, problems).unwrap_or(most);
    if length > most {
        problems.add(
            fields.path_to("max_length"),
            format!("must be at most {most}"),
        );
    }
    length
}

fn whole(fields: &mut Fields, key: &str, problems: &mut Problems) -> Option<i64> {
    let value = fields.take(key)?;
    let found = value.as_number().and_then(values::integer);
    if found.is_none() {
        problems.add(
            fields.path_to(key),
            format!("must be a whole number from -{MAX_INTEGER} to {MAX_INTEGER}"),
        );
    }
    found
}

fn number(fields: &mut Fields, key: &str, problems: &mut Problems) -> Option<Number> {
    match fields.take(key)? {
        Value::Number(number) => Some(number),
        _ => {
            problems.add(fields.path_to(key), "must be a number");
            None
        }
    }
}

/// Whether both are there and the first is the larger one.
fn larger(first: Option<&Number>, second: Option<&Number>) -> bool {
    let pair = first
        .and_then(Number::as_f64)
        .zip(second.and_then(Number::as_f64));
    pair.is_some_and(|(first, second)| first > second)
}

fn words(fields: &mut Fields, problems: &mut Problems) -> Vec<String> {
    let path = fields.path_to("values");
    let Some(items) = fields.array("values", problems) else {
        return Vec::new();
    };
    if !(1..=MAX_ENUM_VALUES).contains(&items.len()) {
        problems.add(&path, format!("must hold 1 to {MAX_ENUM_VALUES} words"));
        return Vec::new();
    }
    let mut words: Vec<String> = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let place = format!("{path}[{at}]");
        match item {
            Value::String(word) if words.contains(&word) => problems.add(place, "stands twice"),
            Value::String(word) if (1..=MAX_ENUM_CHARS).contains(&word.chars().count()) => {
                words.push(word);
            }
            _ => problems.add(
                place,
                format!("must be a string of 1 to {MAX_ENUM_CHARS} characters"),
            ),
        }
    }
    words
}
