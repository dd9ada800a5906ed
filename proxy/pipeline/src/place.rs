//! Places that a fault names, in the caller's words: a body has other members than the chat that was made of it.

use serde_json::Value;
use svc_core::fault::Fault;
use svc_core::surface::Places;

/// A fault that names places of the chat, with those of the body.
pub(crate) fn located(places: Option<&Places>, fault: Fault) -> Fault {
    match places {
        Some(places) => renamed(fault, |place| places.name(place)),
        None => fault,
    }
}

/// A fault with other names for its places.
pub(crate) fn renamed(mut fault: Fault, name: impl Fn(&str) -> String) -> Fault {
    if let Some(param) = fault.param.take() {
        let named = name(&param);
        // What is wrong with a field stands under its name.
        if let Some(problems) = fault.details.shift_remove(&param) {
            fault.details.insert(named.clone(), problems);
        }
        fault.param = Some(named);
    }
    if let Some(Value::Array(locations)) = fault.details.get_mut("locations") {
        let mut named: Vec<String> = locations
            .iter()
            .filter_map(Value::as_str)
            .map(&name)
            .collect();
        named.dedup();
        *locations = named.into_iter().map(Value::from).collect();
    }
    fault
}

#[cfg(test)]
mod tests {
    use svc_core::fault::invalid;
    use svc_core::surface::chat_completions;

    use super::*;

    #[test]
    fn a_field_and_what_is_wrong_with_it_get_the_callers_name() {
        let body = br#"{"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]}"#;
        let decoded = chat_completions::decode(body).ok();
        let named = decoded.map(|decoded| {
            let fault = invalid("messages[0].content[0]", "is wrong");
            let fault = located(Some(&decoded.places), fault);
            (fault.param.clone(), fault.details_value())
        });
        let expected = "messages[1].content";
        let problems = serde_json::json!({ expected: ["is wrong"] });
        assert_eq!(named, Some((Some(expected.to_owned()), problems)));
    }
}
