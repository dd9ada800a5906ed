//! Reading the fields of one JSON object: each is asked for by name and type, and what nobody asked for is
//! unknown. A wrong value is noted and reading goes on, so that every problem is found in one pass.

use serde_json::{Map, Value};
use svc_core::json::type_name;

use super::problem::{ProblemCode, Problems};

pub(crate) struct Fields<'a> {
    pub(crate) pointer: String,
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The object at a pointer, or a problem.
    pub(crate) fn of(pointer: String, value: &'a Value, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self::new(pointer, map)),
            other => {
                wrong_type(problems, pointer, "an object", other);
                None
            }
        }
    }

    pub(crate) const fn new(pointer: String, map: &'a Map<String, Value>) -> Self {
        Self {
            pointer,
            map,
            known: Vec::new(),
        }
    }

    /// The pointer of a field.
    pub(crate) fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.pointer)
    }

    /// The field, where it says something: a null is an absent one.
    pub(crate) fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.any(name).filter(|value| !value.is_null())
    }

    /// The field, where a null is a value.
    fn any(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.map.get(name)
    }

    /// As [`Self::required`], where a null is a value.
    pub(crate) fn required_any(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<&'a Value> {
        let value = self.any(name);
        self.insist(name, value, problems)
    }

    pub(crate) fn required(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<&'a Value> {
        let value = self.get(name);
        self.insist(name, value, problems)
    }

    fn insist(
        &self,
        name: &str,
        value: Option<&'a Value>,
        problems: &mut Problems,
    ) -> Option<&'a Value> {
        if value.is_none() {
            problems.add(self.at(name), ProblemCode::MissingField, "is required");
        }
        value
    }

    pub(crate) fn text(&mut self, name: &'static str, problems: &mut Problems) -> Option<&'a str> {
        let value = self.get(name)?;
        text(self.at(name), value, problems)
    }

    pub(crate) fn required_text(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<&'a str> {
        let value = self.required(name, problems)?;
        text(self.at(name), value, problems)
    }

    pub(crate) fn list(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<&'a [Value]> {
        let value = self.get(name)?;
        list(self.at(name), value, problems)
    }

    pub(crate) fn required_list(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<&'a [Value]> {
        let value = self.required(name, problems)?;
        list(self.at(name), value, problems)
    }

    /// An integer within bounds.
    pub(crate) fn integer(
        &mut self,
        name: &'static str,
        least: i64,
        most: i64,
        problems: &mut Problems,
    ) -> Option<i64> {
        let value = self.get(name)?;
        integer(self.at(name), value, least, most, problems)
    }

    /// Notes every field that nobody asked for; those whose names are not repeated, once.
    pub(crate) fn finish(self, problems: &mut Problems) {
        let mut unknown = |name: &str| {
            let pointer = format!("{}/{name}", self.pointer);
            problems.add(pointer, ProblemCode::UnknownField, "is not a known field");
        };
        let mut has_unnamed = false;
        for name in self.map.keys() {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            if is_repeatable(name) {
                unknown(&escaped(name));
            } else {
                has_unnamed = true;
            }
        }
        if has_unnamed {
            unknown("…");
        }
    }
}

/// Whether a name may stand in a problem.
fn is_repeatable(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A name as a segment of a JSON pointer (RFC 6901).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a segment stands for.
pub(crate) fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Longest field name that a problem repeats.
const MAX_NAME_BYTES: usize = 64;

pub(crate) fn wrong_type(problems: &mut Problems, pointer: String, wanted: &str, got: &Value) {
    let message = format!("must be {wanted}, not {}", type_name(got));
    problems.add(pointer, ProblemCode::WrongType, message);
}

pub(crate) fn text<'a>(
    pointer: String,
    value: &'a Value,
    problems: &mut Problems,
) -> Option<&'a str> {
    let found = value.as_str();
    if found.is_none() {
        wrong_type(problems, pointer, "a string", value);
    }
    found
}

fn list<'a>(pointer: String, value: &'a Value, problems: &mut Problems) -> Option<&'a [Value]> {
    let found = value.as_array();
    if found.is_none() {
        wrong_type(problems, pointer, "an array", value);
    }
    found.map(Vec::as_slice)
}

/// A whole number, however it is written: to JSON Schema `30.0` is an integer. One that is too large is the largest.
pub(crate) fn whole(value: &Value) -> Option<i64> {
    let written = || value.as_f64().filter(|value| value.fract() == 0.0);
    value
        .as_i64()
        .or_else(|| written().map(|value| value as i64))
}

pub(crate) fn integer(
    pointer: String,
    value: &Value,
    least: i64,
    most: i64,
    problems: &mut Problems,
) -> Option<i64> {
    match whole(value) {
        Some(number) if (least..=most).contains(&number) => Some(number),
        None => {
            wrong_type(problems, pointer, "an integer", value);
            None
        }
        Some(_) => {
            let message = format!("must be from {least} to {most}");
            problems.add(pointer, ProblemCode::OutOfRange, message);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::whole;

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
        for (written, number) in [
            (json!(30), 30),
            (json!(30.0), 30),
            (json!(-0.0), 0),
            (json!(3e2), 300),
            (json!(u64::MAX), i64::MAX),
        ] {
            assert_eq!(whole(&written), Some(number), "{written}");
        }
        for other in [json!(30.5), json!("30"), json!(null)] {
            assert_eq!(whole(&other), None, "{other}");
        }
    }
}
