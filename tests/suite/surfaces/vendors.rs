//! Where vendors and their endpoints differ: what one kind takes and the other does not, and words and numbers that only
//! some endpoints write.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::surfaces::{Form, MODELS, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use crate::engines::on_sqlite;

on_sqlite! {
    a_users_name_is_sent_as_the_provider_takes_it,
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
