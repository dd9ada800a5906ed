//! Answers that break off, of both provider kinds, on every surface: the surface's error, never its success, and
//! nothing in the provider's words.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::surfaces::{End, Form, MODELS, SURFACES, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use crate::engines::on_worlds_of_their_own;

on_worlds_of_their_own! {
    a_stream_that_breaks_off_ends_in_the_error_of_its_surface,
    a_whole_answer_that_breaks_off_is_refused,
    a_failure_before_the_first_event_has_its_status,
}

/// A word of the provider's that nobody else says.
const WORDS: &str = "zanzibar in the provider's own words";

/// Orders a behaviour and asks; the mark tells the two from all others.
async fn ask(
    world: &World,
    key: &str,
    surface: Surface,
    model: &str,
    form: Form,
    mut behaviour: Value,
) -> Answer {
    let mark = mark();
    behaviour["contains"] = json!(mark);
    world.fake.expect(behaviour).await;
    let body = surface.question(model, &mark, form);
    world.gateway.answer(&surface.request(key, &body)).await
}

/// A good call: failures in a row would open the circuit.
async fn sound(world: &World, key: &str, model: &str) {
    let text = json!({"text": "ok"});
    let answer = ask(world, key, Surface::Native, model, Form::Whole, text).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn says_nothing_of_the_provider(answer: &Answer) {
    let shown = format!("{:?} {}", answer.headers, answer.text());
    for leaked in ["zanzibar", "fake", "overloaded", "server_error"] {
        assert!(!shown.contains(leaked), "{leaked}: {shown}");
    }
}

async fn a_stream_that_breaks_off_ends_in_the_error_of_its_surface(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for behaviour in [
        json!({"close_after_events": 6, "close": "cut"}),
        json!({"close_after_events": 6, "close": "reset"}),
        json!({"close_after_events": 6, "close": "end"}),
        json!({"close_after_events": 6, "close": "half_close"}),
        json!({"no_terminal_event": true}),
        json!({"malformed_after_events": 6}),
        json!({"error_event_after_events": 6, "error_message": WORDS}),
    ] {
        for (_, model) in MODELS {
            for surface in SURFACES {
                sound(world, key, model).await;
                let mut order = behaviour.clone();
                order["event_count"] = json!(12);
                let answer = ask(world, key, surface, model, Form::Streamed, order).await;
                let heard = surface.heard(&answer);
                let Some(End::Badly(error)) = &heard.end else {
                    panic!("{behaviour} {model} {surface:?}: {}", answer.text());
                };
                assert_eq!(surface.code(error), "INFERENCE_UPSTREAM_FAILURE");
                // A reset takes with it what has not been read.
                let is_lost = behaviour["close"] == "reset" && heard.text.is_empty();
                assert!(
                    heard.text.starts_with("1 2 ") || is_lost,
                    "{behaviour} {:?}",
                    heard.text
                );
                assert!(heard.finish.is_null(), "{}", answer.text());
                for success in ["[DONE]", "message_stop", "message_delta", "run.completed"] {
                    assert!(!answer.text().contains(success), "{}", answer.text());
                }
                says_nothing_of_the_provider(&answer);
                let (_, terminal) = books::pair(&world.gateway.database, answer.request_id()).await;
                assert_eq!(terminal["event"], "inference.failed", "{behaviour}");
            }
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_whole_answer_that_breaks_off_is_refused(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for behaviour in [
        json!({"close_after_events": 1, "close": "cut"}),
        json!({"close_after_events": 1, "close": "reset"}),
        json!({"raw_body": "{\"zanzibar\":", "content_type": "application/json"}),
        json!({"raw_body": "{\"zanzibar\":1}", "content_type": "application/json"}),
        json!({"html_page": true}),
    ] {
        for (_, model) in MODELS {
            for surface in SURFACES {
                sound(world, key, model).await;
                let answer = ask(world, key, surface, model, Form::Whole, behaviour.clone()).await;
                refused(surface, &answer);
            }
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_failure_before_the_first_event_has_its_status(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for behaviour in [
        json!({"status": 503, "html_page": true}),
        json!({"status": 529, "error_message": WORDS}),
        json!({"status": 401, "error_message": WORDS}),
        // A connection from the pool is repeated once: it may have been closed before the request came.
        json!({"close_after_events": 0, "close": "reset", "times": 2}),
        json!({"html_page": true}),
    ] {
        for (_, model) in MODELS {
            for surface in SURFACES {
                sound(world, key, model).await;
                let answer = ask(
                    world,
                    key,
                    surface,
                    model,
                    Form::Streamed,
                    behaviour.clone(),
                )
                .await;
                refused(surface, &answer);
            }
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// The answer is the refusal of a provider's failure, before anything was streamed.
fn refused(surface: Surface, answer: &Answer) {
    let status = if surface == Surface::ChatCompletions {
        500
    } else {
        502
    };
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(surface.code(&answer.json()), "INFERENCE_UPSTREAM_FAILURE");
    assert!(
        answer.header("retry-after").is_some(),
        "{:?}",
        answer.headers
    );
    says_nothing_of_the_provider(answer);
}
