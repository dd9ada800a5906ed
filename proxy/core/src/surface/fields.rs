//! Taking a JSON object apart: each field once, by type, every problem noted with its path.

use std::fmt;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::fault::Problems;
use crate::json::{self, type_name};

/// The fields of one object that nobody has asked for yet.
pub struct Fields<'p> {
    path: Path<'p>,
    rest: Map<String, Value>,
}

/// Where a value stands in a body, `a.b[2].c`: a chain that lives on the stack and is written out only for a problem.
#[derive(Clone, Copy)]
pub enum Path<'p> {
    /// A field of the body, or any path that is written out; empty for the body itself.
    Name(&'p str),
    Field(&'p Self, &'p str),
    Item(&'p Self, usize),
}

impl Path<'_> {
    /// A field of what stands here.
    pub const fn field<'s>(&'s self, name: &'s str) -> Path<'s> {
        Path::Field(self, name)
    }

    /// An item of the array that stands here.
    pub const fn item(&self, at: usize) -> Path<'_> {
        Path::Item(self, at)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) | Self::Field(Self::Name(""), name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

/// `path.key`, or the key alone at the top.
pub fn join(path: &str, key: &str) -> String {
    Path::Name(path).field(key).to_string()
}

impl<'p> From<&'p str> for Path<'p> {
    fn from(path: &'p str) -> Self {
        Self::Name(path)
    }
}

impl<'p> From<&'p String> for Path<'p> {
    fn from(path: &'p String) -> Self {
        Self::Name(path)
    }
}

impl From<Path<'_>> for String {
    fn from(path: Path<'_>) -> Self {
        path.to_string()
    }
}

impl<'p> Fields<'p> {
    /// The top-level object of a body.
    pub const fn top(rest: Map<String, Value>) -> Self {
        Self {
            path: Path::Name(""),
            rest,
        }
    }

    /// A value that must be an object.
    pub fn of(value: Value, path: impl Into<Path<'p>>, problems: &mut Problems) -> Option<Self> {
        let path = path.into();
        match value {
            Value::Object(rest) => Some(Self { path, rest }),
            other => {
                problems.add(
                    path,
                    format!("must be an object, not {}", type_name(&other)),
                );
                None
            }
        }
    }

    /// Whether the field is there, with any value but null.
    pub fn has(&self, key: &str) -> bool {
        self.rest.get(key).is_some_and(|value| !value.is_null())
    }

    /// Whether the field is there as a null.
    pub fn is_null(&self, key: &str) -> bool {
        self.rest.get(key).is_some_and(Value::is_null)
    }

    /// The field whatever its type. An explicit null is an absent field.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.rest.shift_remove(key).filter(|value| !value.is_null())
    }

    /// The field whatever its type, where an explicit null means something: `Some(Value::Null)`.
    pub fn take_or_null(&mut self, key: &str) -> Option<Value> {
        self.rest.shift_remove(key)
    }

    /// Takes out the nulls of these fields, of which none can be cleared.
    pub fn refuse_nulls(&mut self, keys: &[&str], problems: &mut Problems) {
        for key in keys {
            if self.is_null(key) {
                self.rest.shift_remove(*key);
                problems.add(self.path.field(key), "must not be null");
            }
        }
    }

    /// A text. What is of another type is noted as a problem and is `None`, like a field that is absent or null.
    pub fn string(&mut self, key: &str, problems: &mut Problems) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            other => self.wrong(key, "a string", &other, problems),
        }
    }

    /// As [`Self::string`]; a field that is absent or null is a problem too.
    pub fn required_string(&mut self, key: &str, problems: &mut Problems) -> Option<String> {
        if matches!(self.rest.get(key), None | Some(Value::Null)) {
            self.rest.shift_remove(key);
            problems.add(self.path.field(key), "is required");
            return None;
        }
        self.string(key, problems)
    }

    /// Notes a field that is not there, of whatever type.
    pub fn require(&self, key: &str, problems: &mut Problems) {
        if matches!(self.rest.get(key), None | Some(Value::Null)) {
            problems.add(self.path.field(key), "is required");
        }
    }

    /// True or false; see [`Self::string`].
    pub fn boolean(&mut self, key: &str, problems: &mut Problems) -> Option<bool> {
        match self.take(key)? {
            Value::Bool(value) => Some(value),
            other => self.wrong(key, "a boolean", &other, problems),
        }
    }

    /// An object; see [`Self::string`].
    pub fn object(&mut self, key: &str, problems: &mut Problems) -> Option<Map<String, Value>> {
        match self.take(key)? {
            Value::Object(value) => Some(value),
            other => self.wrong(key, "an object", &other, problems),
        }
    }

    /// A whole number from `min` up; larger than fits is the largest.
    pub fn count(&mut self, key: &str, min: u64, problems: &mut Problems) -> Option<u32> {
        match self.take(key)? {
            Value::Number(number) => {
                let found = json::whole(&number).filter(|value| *value >= min);
                if found.is_none() {
                    problems.add(
                        self.path.field(key),
                        format!("must be a whole number of at least {min}"),
                    );
                }
                found.map(|value| u32::try_from(value).unwrap_or(u32::MAX))
            }
            other => self.wrong(key, "a whole number", &other, problems),
        }
    }

    /// An array of whatever types; see [`Self::string`].
    pub fn array(&mut self, key: &str, problems: &mut Problems) -> Option<Vec<Value>> {
        match self.take(key)? {
            Value::Array(items) => Some(items),
            other => self.wrong(key, "an array", &other, problems),
        }
    }

    /// A number within a range.
    pub fn number(
        &mut self,
        key: &str,
        range: RangeInclusive<f64>,
        problems: &mut Problems,
    ) -> Option<f64> {
        let found = self.take(key)?;
        let Value::Number(number) = &found else {
            return self.wrong(key, "a number", &found, problems);
        };
        let value = number.as_f64().filter(|value| range.contains(value));
        if value.is_none() {
            let (least, most) = (range.start(), range.end());
            problems.add(
                self.path.field(key),
                format!("must be a number from {least} to {most}"),
            );
        }
        value
    }

    /// One of the words that a field may hold.
    pub fn word(
        &mut self,
        key: &str,
        words: &[&'static str],
        problems: &mut Problems,
    ) -> Option<&'static str> {
        let text = self.string(key, problems)?;
        let word = words.iter().copied().find(|word| *word == text);
        if word.is_none() {
            problems.add(
                self.path.field(key),
                format!("must be one of: {}", words.join(", ")),
            );
        }
        word
    }

    /// A field whose value must mean nothing: whatever `means_nothing` does not accept is foreign.
    pub fn only(
        &mut self,
        key: &str,
        means_nothing: impl FnOnce(&Value) -> bool,
        problems: &mut Problems,
    ) {
        if let Some(value) = self.take(key)
            && !means_nothing(&value)
        {
            problems.add_foreign(self.path.field(key), "cannot be honored here");
        }
    }

    /// Where this object stands.
    pub const fn path(&self) -> Path<'p> {
        self.path
    }

    /// Where a field of this object stands.
    pub fn path_to(&self, key: &str) -> String {
        self.path.field(key).to_string()
    }

    /// Notes every field that nobody took. Clients that send a reply back spell out its nulls, which say
    /// nothing: those are noted apart.
    pub fn end(self, problems: &mut Problems) {
        for (key, value) in &self.rest {
            let path = self.path.field(key);
            if value.is_null() {
                problems.add_unknown_null(path);
            } else {
                problems.add_foreign(path, "is not a known field");
            }
        }
    }

    /// As [`Self::end`], where a null is as unknown as any other value.
    pub fn end_strictly(self, problems: &mut Problems) {
        for key in self.rest.keys() {
            problems.add_foreign(self.path.field(key), "is not a known field");
        }
    }

    fn wrong<T>(
        &self,
        key: &str,
        wanted: &str,
        found: &Value,
        problems: &mut Problems,
    ) -> Option<T> {
        problems.add(
            self.path.field(key),
            format!("must be {wanted}, not {}", type_name(found)),
        );
        None
    }
}
