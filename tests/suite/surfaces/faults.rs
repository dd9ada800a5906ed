//! Every refusal that a caller can meet with one request, on each surface, with its status and headers. Frozen in
//! `tests/golden/refusal/`; the bodies of the codes that no request reaches are frozen beside the encoders.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::golden;
use svc_tests::surfaces::{Form, MODELS, SURFACES, Surface};
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use crate::engines::on_worlds_of_their_own;

on_worlds_of_their_own! { every_refusal_on_every_surface }

/// What is asked on one surface, by what is wrong with it.
struct Asker<'w> {
    world: &'w World,
    surface: Surface,
    key: String,
}

impl Asker<'_> {
    async fn send(&self, key: &str, body: &Value) -> Answer {
        let request = self.surface.request(key, body);
        self.world.gateway.answer(&request).await
    }

    fn question(&self, model: &str) -> Value {
        self.surface.question(model, "Hello", Form::Streamed)
    }

    /// A sound question in an organization with these options.
    async fn of_organization(&self, options: &[&str]) -> Answer {
        let organization = self.world.organization_with(options);
        let [(_, model), _] = MODELS;
        self.send(&organization.key, &self.question(model)).await
    }

    /// A question with one field more or another.
    async fn with(&self, model: &str, field: &str, value: Value) -> Answer {
        let mut body = self.question(model);
        body[field] = value;
        self.send(&self.key, &body).await
    }

    /// A question that the provider answers so.
    async fn answered(&self, model: &str, mut order: Value) -> Answer {
        let mark = mark();
        order["contains"] = json!(mark);
        self.world.fake.expect(order).await;
        let body = self.surface.question(model, &mark, Form::Streamed);
        self.send(&self.key, &body).await
    }

    /// The tool of this surface whose description holds something.
    fn tool(&self, description: &str) -> Value {
        let schema = json!({"type": "object"});
        match self.surface {
            Surface::Native | Surface::Messages => {
                json!([{"name": "weather", "description": description, "input_schema": schema}])
            }
            Surface::ChatCompletions => json!([{"type": "function", "function": {
                "name": "weather", "description": description, "parameters": schema,
            }}]),
        }
    }
}

async fn every_refusal_on_every_surface(world: &World) {
    for surface in SURFACES {
        let asker = Asker {
            world,
            surface,
            key: world.organization().key,
        };
        let mut text = String::new();
        for (what, answer) in refusals(&asker).await {
            assert!(answer.status >= 400, "{what}: {}", answer.text());
            text.push_str(&format!("--- {what}\n{}", golden::answer(&answer)));
        }
        golden::compare(&format!("refusal/{}.txt", surface.word()), &text);
    }
}

async fn refusals(asker: &Asker<'_>) -> Vec<(&'static str, Answer)> {
    let [(_, model), (_, of_b)] = MODELS;
    let path = asker.surface.path();
    let question = asker.question(model);
    let mut all = of_the_request(asker, path, &question).await;
    all.extend([
        (
            "an organization without agreement",
            asker.of_organization(&["--no-baa"]).await,
        ),
        (
            "a key without the scope",
            asker.of_organization(&["--scopes", "control:read"]).await,
        ),
        (
            "an organization without credits",
            asker.of_organization(&["--credits", "0"]).await,
        ),
        (
            "an organization without requests",
            asker.of_organization(&["--per-minute", "0"]).await,
        ),
        ("PHI that the organization blocks", blocked(asker).await),
        (
            "a provider that is overloaded",
            asker
                .answered(model, json!({"status": 429, "retry_after": "90"}))
                .await,
        ),
        (
            "a provider that fails",
            asker.answered(model, json!({"status": 500})).await,
        ),
        (
            "a provider that rejects the request",
            asker.answered(of_b, json!({"status": 400})).await,
        ),
        (
            "a provider whose limit is exceeded",
            asker
                .answered(
                    of_b,
                    json!({"status": 400, "error_message": "maximum context length is 5"}),
                )
                .await,
        ),
    ]);
    all
}

/// What is wrong with the request itself.
async fn of_the_request(
    asker: &Asker<'_>,
    path: &str,
    question: &Value,
) -> Vec<(&'static str, Answer)> {
    let gateway = &asker.world.gateway;
    let [(_, model), (_, of_b)] = MODELS;
    let post = || Request::new("POST", path);
    let body = |bytes: &[u8]| {
        post()
            .bearer(&asker.key)
            .header("Content-Type", "application/json")
            .body(bytes)
    };
    let premium = asker.world.organization_with(&["--models", "standard"]);
    vec![
        (
            "no credential",
            gateway.answer(&post().json(question)).await,
        ),
        (
            "an unknown credential",
            asker.send("svc_live_nobody", question).await,
        ),
        (
            "another method",
            gateway
                .answer(&Request::new("GET", path).bearer(&asker.key))
                .await,
        ),
        (
            "an unknown version",
            gateway
                .answer(
                    &asker
                        .surface
                        .request(&asker.key, question)
                        .header("Svc-Version", "1999-01-01"),
                )
                .await,
        ),
        ("no JSON", gateway.answer(&body(b"{\"model\":")).await),
        (
            "a key twice",
            gateway
                .answer(&body(b"{\"model\":\"m\",\"model\":\"m\"}"))
                .await,
        ),
        (
            "an unknown field",
            asker.with(model, "surprise", json!(1)).await,
        ),
        (
            "a value of the wrong type",
            asker.with(model, "max_tokens", json!("many")).await,
        ),
        (
            "an unknown model",
            asker.with("nobody-1", "stream", json!(false)).await,
        ),
        (
            "a model that is not enabled",
            asker
                .send(&premium.key, &asker.question("alpha-opus-4-6"))
                .await,
        ),
        (
            "PHI in a tool",
            asker
                .with(of_b, "tools", asker.tool("for 536-90-4399"))
                .await,
        ),
    ]
}

async fn blocked(asker: &Asker<'_>) -> Answer {
    let organization = asker.world.organization_with(&["--phi-mode", "block"]);
    let [(_, model), _] = MODELS;
    let body = asker
        .surface
        .question(model, "My SSN is 536-90-4399.", Form::Whole);
    asker.send(&organization.key, &body).await
}
