//! Where vendors and their endpoints differ: what one kind takes and the other does not, and words and numbers that only
//! some endpoints write.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::surfaces::{Form, MODELS, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use crate::engines::on_sqlite;

on_sqlite! {
    a_users_name_is_sent_as_the_provider_takes_it,
    cache_writes_for_an_hour_are_charged_as_such,
}

async fn ask(world: &World, key: &str, surface: Surface, body: &Value) -> Answer {
    world.gateway.answer(&surface.request(key, body)).await
}

/// The body that the provider was sent with `mark`.
async fn sent(world: &World, mark: &str) -> Value {
    world.fake.received(mark).await["body"].clone()
}

async fn a_users_name_is_sent_as_the_provider_takes_it(world: &World) {
    let organization = world.organization();
    let ask_as = async |model: &str, user: &str| {
        let mark = mark();
        let mut body = Surface::Messages.question(model, &mark, Form::Whole);
        body["metadata"] = json!({"user_id": user});
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = sent(world, &mark).await;
        let user = [&sent["user"], &sent["metadata"]["user_id"]];
        let user = user.into_iter().find_map(Value::as_str);
        user.unwrap_or_else(|| panic!("{sent}")).to_owned()
    };
    for ((_, model), max_chars) in MODELS.into_iter().zip([256, 64]) {
        let fits = "w".repeat(max_chars);
        assert_eq!(ask_as(model, &fits).await, fits);
        let long = format!("{fits}x");
        let stand_in = ask_as(model, &long).await;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        assert!(
            stand_in.len() == 64 && stand_in.bytes().all(is_hex),
            "{stand_in}"
        );
        assert_eq!(ask_as(model, &long).await, stand_in);
        assert_ne!(ask_as(model, &format!("{fits}y")).await, stand_in);
        // What PHI Guard has replaced is no part of it.
        let [one, other] = ["jo@example.com", "al@example.com"];
        let of_one = ask_as(model, &format!("{one} {long}")).await;
        assert_eq!(ask_as(model, &format!("{other} {long}")).await, of_one);
    }
}

async fn cache_writes_for_an_hour_are_charged_as_such(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let minutes = json!({"type": "ephemeral", "ttl": "5m"});
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    let tool = |cache: &Value| json!([{"name": "look", "input_schema": {"type": "object"}, "cache_control": cache}]);
    // In millionths of a dollar: 1,000 tokens at $1.25 and at $2 a million, and one of output.
    let cases = [
        (json!({"cache_control": minutes}), 1_255),
        (json!({"tools": tool(&minutes)}), 1_255),
        (json!({"cache_control": hour}), 2_005),
        (json!({"tools": tool(&hour)}), 2_005),
        // One price for the mixture.
        (
            json!({"tools": tool(&hour), "cache_control": minutes}),
            2_005,
        ),
    ];
    for (fields, cost) in cases {
        let mark = mark();
        let usage =
            json!({"input_tokens": 0, "output_tokens": 1, "cache_creation_input_tokens": 1_000});
        world
            .fake
            .expect(json!({"contains": mark, "usage": usage}))
            .await;
        let mut body = Surface::Messages.question(model, &mark, Form::Whole);
        for (name, value) in fields.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let database = &world.gateway.database;
        let (debit, _) = books::postings(database, answer.request_id()).await;
        assert_eq!(debit["cost_usd_micro"], cost, "{fields}");
    }
    books::check(&world.gateway.database, &organization.id).await;
}
