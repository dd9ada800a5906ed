//! Rules in words, for conflicts: numbers and ids of the caller's own spec.

use crate::spec::Spec;

/// `resource a`, or how many.
pub(crate) fn resources(spec: &Spec, places: &[usize]) -> String {
    match places {
        [one] => {
            let id = spec.resources.get(*one).map_or("", |one| one.id.as_str());
            format!("resource {id}")
        }
        many => format!("each of {} resources", many.len()),
    }
}

/// `slot s`, or how many.
pub(crate) fn slots(spec: &Spec, places: &[usize]) -> String {
    match places {
        [one] => {
            let id = spec.slots.get(*one).map_or("", |one| one.id.as_str());
            format!("slot {id}")
        }
        many => format!("{} slots", many.len()),
    }
}

/// `at least 2`, `at most 5`, `2 to 5`.
pub(crate) fn bounds(min: Option<i64>, max: Option<i64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) if min == max => format!("exactly {min}"),
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any number".to_owned(),
    }
}
