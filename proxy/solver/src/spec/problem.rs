//! What is wrong with a spec: every problem at once, each with a JSON pointer, a code and a message. Messages
//! never repeat a value.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Fault};

use super::fields;

/// Problems that one answer lists, and that are kept: a short body can have millions.
const MAX_LISTED: usize = 1_000;

/// Kinds of problems; the words are part of the interface (docs/solve.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemCode {
    MissingField,
    UnknownField,
    WrongType,
    OutOfRange,
    BadDate,
    BadTime,
    DuplicateId,
    UnknownResource,
    UnknownSlot,
    UnknownType,
    MinAboveMax,
    NeedsTimes,
    TooLarge,
}

impl ProblemCode {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::MissingField => "missing_field",
            Self::UnknownField => "unknown_field",
            Self::WrongType => "wrong_type",
            Self::OutOfRange => "out_of_range",
            Self::BadDate => "bad_date",
            Self::BadTime => "bad_time",
            Self::DuplicateId => "duplicate_id",
            Self::UnknownResource => "unknown_resource",
            Self::UnknownSlot => "unknown_slot",
            Self::UnknownType => "unknown_type",
            Self::MinAboveMax => "min_above_max",
            Self::NeedsTimes => "needs_times",
            Self::TooLarge => "too_large",
        }
    }
}

struct Problem {
    pointer: String,
    code: ProblemCode,
    message: String,
}

#[derive(Default)]
pub(crate) struct Problems {
    /// The first ones that were found.
    listed: Vec<Problem>,
    found: usize,
}

impl Problems {
    pub(crate) fn add(
        &mut self,
        pointer: impl Into<String>,
        code: ProblemCode,
        message: impl Into<String>,
    ) {
        self.found += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(Problem {
                pointer: pointer.into(),
                code,
                message: message.into(),
            });
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.found == 0
    }

    /// How many were found so far.
    pub(crate) const fn len(&self) -> usize {
        self.found
    }

    /// The fault that names everything, in the order of the document; of very many some, and how many there are.
    pub(crate) fn into_result(mut self, document: &Map<String, Value>) -> Result<(), Fault> {
        if self.is_empty() {
            return Ok(());
        }
        let mut order = Order::new(document);
        self.listed
            .sort_by_cached_key(|problem| order.place(&problem.pointer));
        let param = self.listed.first().map(|problem| problem.pointer.clone());
        let errors: Vec<Value> = self
            .listed
            .iter()
            .map(|problem| {
                json!({"pointer": problem.pointer, "code": problem.code.word(), "message": problem.message})
            })
            .collect();
        let fault = Code::SolverSpecInvalid
            .fault()
            .at(param.unwrap_or_default())
            .detail("errors", errors);
        Err(if self.found > MAX_LISTED {
            fault.detail("total", self.found)
        } else {
            fault
        })
    }
}

/// What is wrong with rules that are too many for the engine, or about too much.
pub(crate) const EXPANDS: &str = "the rules expand to more than the solver takes";

/// The fault for a spec whose model is beyond what the engine gets.
pub(crate) fn too_large() -> Fault {
    let error = json!({
        "pointer": "",
        "code": ProblemCode::TooLarge.word(),
        "message": format!("{EXPANDS}, or the preferences could cost 2^53 or more in all"),
    });
    Code::SolverSpecInvalid
        .fault()
        .at("")
        .detail("errors", vec![error])
}

/// The order of a document. The fields of an object are counted once: there can be many, and problems with each.
struct Order<'a> {
    document: &'a Map<String, Value>,
    /// By the pointer of the object.
    fields: HashMap<String, HashMap<&'a str, usize>>,
}

impl<'a> Order<'a> {
    fn new(document: &'a Map<String, Value>) -> Self {
        Self {
            document,
            fields: HashMap::new(),
        }
    }

    /// Where a pointer points; what is missing comes behind its siblings.
    fn place(&mut self, pointer: &str) -> Vec<usize> {
        let mut places = Vec::new();
        let mut object = Some(self.document);
        let mut array: Option<&'a [Value]> = None;
        let mut parent = String::new();
        for segment in pointer.split('/').skip(1) {
            let (place, value) = match (object, array) {
                (Some(map), _) => {
                    let key = fields::unescaped(segment);
                    (self.field(&parent, map, &key), map.get(&key))
                }
                (None, Some(values)) => {
                    let place = segment.parse().unwrap_or(usize::MAX);
                    (place, values.get(place))
                }
                (None, None) => (usize::MAX, None),
            };
            places.push(place);
            object = value.and_then(Value::as_object);
            array = value.and_then(Value::as_array).map(Vec::as_slice);
            parent.push('/');
            parent.push_str(segment);
        }
        places
    }

    fn field(&mut self, pointer: &str, map: &'a Map<String, Value>, key: &str) -> usize {
        if !self.fields.contains_key(pointer) {
            let places = map.keys().map(String::as_str).zip(0..).collect();
            self.fields.insert(pointer.to_owned(), places);
        }
        let fields = self.fields.get(pointer);
        let place = fields.and_then(|fields| fields.get(key));
        place.copied().unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_are_not_listed_are_counted_and_not_kept() {
        let mut problems = Problems::default();
        for place in 0..MAX_LISTED * 3 {
            problems.add(format!("/{place}"), ProblemCode::UnknownField, "");
        }
        assert_eq!(problems.listed.len(), MAX_LISTED);
        assert_eq!(problems.len(), MAX_LISTED * 3);
    }
}
