//! Tests with the engine: encodings against the enumeration of every roster, on small random specs of every type.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod bounds;
mod brute_force;
mod determinism;
mod documentation;
mod explanation;
mod neighbourhood;
mod random_spec;
mod refusal;
mod rounds;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};

use serde_json::{Value, json};

use crate::engine::Library;
use crate::solve::{Outcome, Run, solve};
use crate::{Spec, parse};

/// The library that set-up puts aside. Its searches run one after the other.
pub(crate) fn library() -> MutexGuard<'static, Library> {
    static LIBRARY: OnceLock<Mutex<Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../.toolchain/solver/ortools/.libs/libortools.so.9");
        let library = Library::open(&path);
        Mutex::new(library.unwrap_or_else(|error| {
            panic!("these tests need the solver's library (tests/scripts/setup): {error}")
        }))
    });
    library
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn spec(value: &Value) -> Spec {
    match parse(value.to_string().as_bytes()) {
        Ok(spec) => spec,
        Err(fault) => panic!("{value}: {}", fault.details_value()),
    }
}

/// A spec whose model the engine does not get.
pub(crate) fn too_large() -> Spec {
    let mut value = bounds::days(731, 400);
    value["constraints"] = json!([{"type": "consecutive_days", "min": 731}]);
    spec(&value)
}

fn outcome(value: &Value) -> Outcome {
    let spec = spec(value);
    solve(&library(), &spec, Run::Silent).unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn resource(id: &str, attributes: Value) -> Value {
    json!({"id": id, "attributes": attributes})
}
