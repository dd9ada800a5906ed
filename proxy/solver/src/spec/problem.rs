//! What is wrong with a spec: every problem at once, each with a JSON pointer, a code and a message. Messages
//! never repeat a value.

use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Fault};

/// Problems that one answer lists.
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

#[derive(PartialEq, Eq)]
struct Problem {
    pointer: String,
    code: ProblemCode,
    message: String,
}

#[derive(Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
}

impl Problems {
    pub(crate) fn add(
        &mut self,
        pointer: impl Into<String>,
        code: ProblemCode,
        message: impl Into<String>,
    ) {
        self.found.push(Problem {
            pointer: pointer.into(),
            code,
            message: message.into(),
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many were noted so far.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether any but the first `before` is at this pointer or inside of what it points to.
    pub(crate) fn any_in(&self, pointer: &str, before: usize) -> bool {
        let later = self.found.get(before..).unwrap_or_default();
        later
            .iter()
            .any(|problem| problem.pointer.starts_with(pointer))
    }

    /// The fault that names everything, in the order of the document; of very many the first, and how many there are.
    pub(crate) fn into_result(mut self, document: &Map<String, Value>) -> Result<(), Fault> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found
            .sort_by_cached_key(|problem| place(document, &problem.pointer));
        self.found.dedup();
        let param = self.found.first().map(|problem| problem.pointer.clone());
        let errors: Vec<Value> = self
            .found
            .iter()
            .take(MAX_LISTED)
            .map(|problem| {
                json!({"pointer": problem.pointer, "code": problem.code.word(), "message": problem.message})
            })
            .collect();
        let fault = Code::SolverSpecInvalid
            .fault()
            .at(param.unwrap_or_default())
            .detail("errors", errors);
        let total = self.found.len();
        Err(if total > MAX_LISTED {
            fault.detail("total", total)
        } else {
            fault
        })
    }
}

/// The fault for a spec whose model is beyond what the engine gets.
pub(crate) fn too_large() -> Fault {
    let error = json!({
        "pointer": "",
        "code": ProblemCode::TooLarge.word(),
        "message": "the rules expand to more than the solver takes",
    });
    Code::SolverSpecInvalid
        .fault()
        .at("")
        .detail("errors", vec![error])
}

/// Where a pointer points in the document; what is missing comes behind its siblings.
fn place(document: &Map<String, Value>, pointer: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut segments = pointer.split('/').skip(1);
    let Some(first) = segments.next() else {
        return places;
    };
    let position = |map: &Map<String, Value>, key: &str| {
        map.keys()
            .position(|name| name == key)
            .unwrap_or(usize::MAX)
    };
    places.push(position(document, first));
    let mut here = document.get(first);
    for segment in segments {
        match here {
            Some(Value::Object(map)) => {
                places.push(position(map, segment));
                here = map.get(segment);
            }
            Some(Value::Array(values)) => {
                let index = segment.parse().unwrap_or(usize::MAX);
                places.push(index);
                here = values.get(index);
            }
            _ => places.push(usize::MAX),
        }
    }
    places
}
