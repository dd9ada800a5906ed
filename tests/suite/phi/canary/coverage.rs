//! The table of places against the visitor: a place that it knows and no line plants in fails here.

use std::collections::BTreeSet;

use svc_core::chat::ChatRequest;
use svc_core::phi::{Form, visit};
use svc_core::surface::messages::WireVersion;
use svc_core::surface::{chat_completions, messages, native};
use svc_tests::program;

use super::places::{Fate, POSITIONS, Position, Route};
use super::plant::Plant;

/// Reads a body as the gateway does; none when it is refused.
fn decode(route: Route, body: &[u8]) -> Option<ChatRequest> {
    let decoded = match route {
        Route::Native => return native::decode(body).ok().map(|request| request.chat),
        Route::Messages => messages::decode(body, WireVersion::Classic),
        Route::Count => messages::decode_count(body, WireVersion::Classic),
        Route::Chat => chat_completions::decode(body),
    };
    decoded.ok().map(|decoded| decoded.chat)
}

/// Location, without numbers, and form of every text that the visitor sees with something planted in it.
fn seen(position: &Position, route: Route) -> Option<BTreeSet<(String, String)>> {
    let plant = Plant::new(0);
    let body = route.body("alpha-haiku-4-5", false, (position.fields)(&plant));
    let mut chat = decode(route, body.to_string().as_bytes())?;
    let mut seen = BTreeSet::new();
    visit(&mut chat, &mut |spot, text| {
        let is_planted = text.contains(&plant.tracer)
            || text.contains(plant.email())
            || text.contains(&plant.blob())
            || text.contains(&plant.number().to_string());
        if is_planted {
            let location: String = spot
                .location()
                .chars()
                .filter(|letter| !letter.is_ascii_digit())
                .collect();
            seen.insert((location, format!("{:?}", spot.form)));
        }
        None
    });
    Some(seen)
}

#[test]
fn each_line_plants_where_it_says() {
    for (at, position) in POSITIONS.iter().enumerate() {
        for route in position.routes {
            let wanted = (position.place.to_owned(), format!("{:?}", position.form));
            match seen(position, *route) {
                Some(seen) if position.place.is_empty() => {
                    assert!(seen.is_empty(), "line {at}: {seen:?}")
                }
                Some(seen) => assert!(
                    seen.contains(&wanted),
                    "line {at} on {route:?}: {seen:?}, not {wanted:?}"
                ),
                None => assert!(
                    matches!(position.fate, [Fate::Refused(_), Fate::Refused(_)]),
                    "line {at} on {route:?} is not read"
                ),
            }
        }
    }
}

/// The steps of all places are words in the visitor's source: each must be a step of a line.
#[test]
fn every_step_of_the_visitor_is_in_the_table() {
    let source = program::repository().join("proxy/core/src/phi/visit.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let planted: BTreeSet<&str> = POSITIONS
        .iter()
        .flat_map(|position| position.place.split('.'))
        .map(|step| step.trim_end_matches("[]"))
        .collect();
    let mut steps = 0;
    for (before, is_root) in [("Place::root(\"", true), (".field(\"", false)] {
        for piece in source.split(before).skip(1) {
            let step = piece.split('"').next().unwrap();
            steps += 1;
            assert!(planted.contains(step), "no line plants in `{step}`");
            let is_first = |position: &Position| {
                position
                    .place
                    .split('.')
                    .next()
                    .unwrap()
                    .trim_end_matches("[]")
                    == step
            };
            assert!(
                !is_root || POSITIONS.iter().any(is_first),
                "no line begins with `{step}`"
            );
        }
    }
    assert!(
        steps > 20,
        "the visitor names its places otherwise: {steps}"
    );
}

/// Each form is planted in each kind of place that can have it.
#[test]
fn every_form_is_planted() {
    for form in [
        Form::Text,
        Form::Key,
        Form::Number,
        Form::Identifier,
        Form::Address,
        Form::Pseudonym,
    ] {
        // A new form breaks this match, and belongs in the list.
        match form {
            Form::Text
            | Form::Key
            | Form::Number
            | Form::Identifier
            | Form::Address
            | Form::Pseudonym => {}
        }
        assert!(
            POSITIONS
                .iter()
                .any(|position| position.form == form && !position.place.is_empty()),
            "{form:?}"
        );
    }
    for place in [
        "messages[].content[].arguments",
        "tools[].input_schema",
        "tools[].input_examples",
        "response_format.schema",
    ] {
        for form in [Form::Text, Form::Key, Form::Number] {
            assert!(
                POSITIONS
                    .iter()
                    .any(|position| position.place == place && position.form == form),
                "{place} {form:?}"
            );
        }
    }
}
