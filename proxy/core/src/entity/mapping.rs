//! The field mapping of an inbound webhook: which key of a foreign payload becomes which field (spec, inbound webhook;
//! contract 17.1).

use serde_json::{Map, Value};

use super::Schema;
use crate::fault::Problems;
use crate::surface::fields::join;

/// Sources and the fields that they become, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping(Vec<(String, String)>);

/// Two sources that become one field: the later one counts where both have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The earlier source, as the mapping has it: `a.b` for what is nested.
    pub source: String,
    /// The key that both become.
    pub field: String,
}

const MAX_PAIRS: usize = 200;
const MAX_SOURCE_CHARS: usize = 200;

impl Mapping {
    /// Reads the mapping at `path` of a request. Without a schema any key may be one of a field.
    pub fn read(
        pairs: Map<String, Value>,
        schema: Option<&Schema>,
        path: &str,
        problems: &mut Problems,
    ) -> Self {
        if pairs.len() > MAX_PAIRS {
            problems.add(path, format!("must have at most {MAX_PAIRS} pairs"));
            return Self::default();
        }
        let mut read = Vec::with_capacity(pairs.len());
        for (at, (source, field)) in pairs.into_iter().enumerate() {
            let is_path = (1..=MAX_SOURCE_CHARS).contains(&source.chars().count())
                && source.split('.').all(|segment| !segment.is_empty());
            if !is_path {
                problems.add(
                    path,
                    format!("source {at} must be a key, or keys with dots between them, of up to {MAX_SOURCE_CHARS} characters"),
                );
                continue;
            }
            let is_field = |key: &str| schema.is_none_or(|schema| schema.field(key).is_some());
            match field {
                Value::String(field) if is_field(&field) => read.push((source, field)),
                Value::String(_) => {
                    problems.add(join(path, &source), "is not a field of this entity");
                }
                _ => problems.add(join(path, &source), "must be the key of a field"),
            }
        }
        Self(read)
    }

    /// Reads what [`Self::to_json`] wrote.
    pub fn stored(value: Value) -> Option<Self> {
        let Value::Object(pairs) = value else {
            return None;
        };
        let pairs = pairs.into_iter().map(|(source, field)| match field {
            Value::String(field) => Some((source, field)),
            _ => None,
        });
        pairs.collect::<Option<Vec<_>>>().map(Self)
    }

    /// `{"source": "field"}`, in the order in which the pairs were given; [`Self::stored`] reads it.
    pub fn to_json(&self) -> Value {
        let pairs = self.0.iter();
        let pairs = pairs.map(|(source, field)| (source.clone(), Value::from(field.clone())));
        Value::Object(pairs.collect())
    }

    /// Sources that a later one comes in the way of.
    pub fn clashes(&self) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for (at, (source, field)) in self.0.iter().enumerate() {
            if self.0.iter().skip(at + 1).any(|(_, later)| later == field) {
                clashes.push(Clash {
                    source: source.clone(),
                    field: field.clone(),
                });
            }
        }
        clashes
    }

    /// Sources, and the fields that they should become, which this schema does not have: those that it has lost since.
    pub fn lost(&self, schema: &Schema) -> Vec<(&str, &str)> {
        let pairs = self.0.iter();
        let lost = pairs.filter(|(_, field)| schema.field(field).is_none());
        lost.map(|(source, field)| (source.as_str(), field.as_str()))
            .collect()
    }

    /// A payload in the entity's words. What is not mapped passes as it is; a mapped field comes before a key that
    /// happens to have its name. A source that is null has no value, and comes before nothing.
    pub fn apply(&self, payload: Map<String, Value>) -> Map<String, Value> {
        if self.0.is_empty() {
            return payload;
        }
        let mut mapped = payload.clone();
        mapped.retain(|key, _| self.0.iter().all(|(source, _)| source != key));
        for (source, field) in &self.0 {
            match find(&payload, source) {
                Some(Value::Null) => drop(mapped.entry(field.clone()).or_insert(Value::Null)),
                Some(value) => drop(mapped.insert(field.clone(), value.clone())),
                None => {}
            }
        }
        mapped
    }
}

/// The key as it stands, else the way that its dots describe.
fn find<'p>(payload: &'p Map<String, Value>, source: &str) -> Option<&'p Value> {
    if let Some(value) = payload.get(source) {
        return Some(value);
    }
    let (first, rest) = source.split_once('.')?;
    let mut value = payload.get(first)?;
    for segment in rest.split('.') {
        value = value.as_object()?.get(segment)?;
    }
    Some(value)
}
