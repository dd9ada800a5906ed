//! The traffic that `make release` compiles the gateway for: every surface, streamed and not, plain and behind TLS, on
//! both databases, with the shipped detectors and what they find and do not find, tools, refusals, and some of the
//! control plane. What never runs here is compiled to be small.
//!
//! `train ROUNDS` starts gateways (the program beside it, built to count what it runs) and stops them as a deployment
//! does: a program writes down what it has counted when it ends by itself.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a tool of the release build: what goes wrong ends it"
)]

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::fake::FakeProvider;
use svc_tests::gateway::{Gateway, Setup};
use svc_tests::organization::{Organization, bootstrap};
use svc_tests::surfaces::{FORMS, Form, MODELS, SURFACES, Surface};
use svc_tests::tls::{FRONT_NAME, Files, Front, Identity};
use svc_tests::wire::{Connection, Request};
use svc_tests::{postgres, turn};

/// Requests of one kind in one round, and on how many connections.
const REQUESTS: usize = 64;
const CONNECTIONS: usize = 16;
/// A round is some 3,000 requests of one organization, which has 250,000 a day.
const MOST_ROUNDS: usize = 50;

/// No limit is to be what is trained.
const UNLIMITED: [&str; 4] = ["--per-minute", "4000000", "--credits", "100000000"];

/// How the gateway is reached and how it reaches its providers.
#[derive(Clone, Copy)]
enum Transport {
    Plain,
    /// TLS on both sides, with this protocol to the providers.
    Encrypted(&'static str),
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let rounds: usize = rounds.expect("train ROUNDS");
    let rounds = rounds.clamp(1, MOST_ROUNDS);
    let database = postgres::durable_database();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let houses = [
            (None, Transport::Plain),
            (Some(database), Transport::Plain),
            (None, Transport::Encrypted("http/1.1")),
            (None, Transport::Encrypted("h2")),
        ];
        for (database_url, transport) in houses {
            let house = House::start(database_url, transport).await;
            for _ in 0..rounds {
                house.day().await;
            }
            house.end().await;
        }
    });
}

/// A gateway with its providers.
struct House {
    gateway: Gateway,
    organization: Organization,
    identity: Option<Identity>,
    _fake: FakeProvider,
    _front: Option<Front>,
    _files: Option<[Files; 2]>,
}

impl House {
    async fn start(database_url: Option<String>, transport: Transport) -> Self {
        let fake = FakeProvider::start();
        let (identity, front, files, setup) = match transport {
            Transport::Plain => (None, None, None, Setup::new(&fake.base_url())),
            Transport::Encrypted(protocol) => {
                let identity = Identity::fresh();
                let shown = Identity::named(FRONT_NAME);
                let front = Front::before(fake.address, &shown, &[protocol]).await;
                let (ours, theirs) = (Files::with(&identity), Files::with(&shown));
                let mut provider = toml::Table::new();
                let path = theirs.certificate().display().to_string();
                provider.insert("ca_file".into(), path.into());
                let setup = Setup::new(&format!("https://{FRONT_NAME}:{}", front.port))
                    .key("providers", "alpha", provider.clone())
                    .key("providers", "beta", provider)
                    .tls(&ours.certificate(), &ours.key());
                (Some(identity), Some(front), Some([ours, theirs]), setup)
            }
        };
        let gateway = setup.on(database_url).start().await;
        let organization = bootstrap(&gateway, &UNLIMITED);
        Self {
            gateway,
            organization,
            identity,
            _fake: fake,
            _front: front,
            _files: files,
        }
    }

    async fn connect(&self) -> Connection {
        let Some(identity) = &self.identity else {
            return self.gateway.connect().await;
        };
        let stream = identity.connect(self.gateway.address, &["http/1.1"]).await;
        Connection::over(stream.expect("a TLS connection"))
    }

    /// One round of everything.
    async fn day(&self) {
        let key = &self.organization.key;
        for surface in SURFACES {
            for (_, model) in MODELS {
                for form in FORMS {
                    for text in texts() {
                        let body = surface.question(model, &text, form);
                        self.send(&surface.request(key, &body), REQUESTS, 200).await;
                    }
                    let body = visit(surface, model, form);
                    self.send(&surface.request(key, &body), REQUESTS / 4, 200)
                        .await;
                }
            }
        }
        for (surface, mut body) in calls() {
            for form in FORMS {
                body["stream"] = json!(form == Form::Streamed);
                self.send(&surface.request(key, &body), REQUESTS, 200).await;
            }
        }
        let agent = json!({"name": turn::WORD, "scope_grants": [{"scope": "ai:chat"}]});
        let agent = Request::new("POST", "/v1/agents").bearer(key).json(&agent);
        self.send(&agent, REQUESTS, 201).await;
        for path in [
            "/v1/models",
            "/v1/agents?limit=50",
            "/v1/audit?limit=50",
            "/v1/usage",
        ] {
            let look = Request::new("GET", path)
                .bearer(key)
                .header("X-Turn", turn::WORD);
            self.send(&look, REQUESTS / 4, 200).await;
        }
        let question = Surface::Native.question("alpha-haiku-4-5", turn::WORD, Form::Whole);
        let nobody = Surface::Native.request("svc_api_unknown", &question);
        self.send(&nobody, CONNECTIONS, 401).await;
    }

    /// So many requests that differ in one word from each other and from all before, answered with this status.
    async fn send(&self, request: &Request, count: usize, status: u16) {
        static TURNS: AtomicUsize = AtomicUsize::new(0);
        let bytes = request.bytes();
        let first = TURNS.fetch_add(count, Ordering::Relaxed);
        let callers = (0..CONNECTIONS).map(async |number| {
            let mut connection = self.connect().await;
            for turn in (number..count).step_by(CONNECTIONS) {
                connection.send(&turn::numbered(&bytes, first + turn)).await;
                let (answer, kept) = connection.reply().await.whole().await;
                assert_eq!(answer.status, status, "{}", answer.text());
                connection = kept;
            }
        });
        join_all(callers).await;
    }

    async fn end(self) {
        self.gateway.signal("TERM");
        let status = self.gateway.ended().await;
        assert!(status.success(), "the gateway ended with {status}");
    }
}

/// What is asked: a note without anybody in it, one about somebody that comes back, and one with a long reply.
fn texts() -> [String; 3] {
    let word = turn::WORD;
    let note = "Please summarize the visit: a follow-up of high blood pressure, lisinopril 10 mg once a day, no \
                complaints, lungs clear, BP 128/82, pulse 71; asks when to come again. ";
    let notes = note.repeat(5);
    let long = "All is well and nothing needs to be changed before the next visit. ".repeat(30);
    [
        format!("{notes}{word} [[fake:text All is well.]]"),
        format!("{PERSON} {word} {notes}"),
        format!("{notes}{word} [[fake:text {long}]]"),
    ]
}

/// Nobody: a name, a number and an address that belong to no person.
const PERSON: &str =
    "Patient: Ruth Aldana, MRN 4471823, born 03/04/1961, 555-014-2299, ruth.aldana@example.com.";

/// The last question of a long conversation, where a surface is told all of it.
fn visit(surface: Surface, model: &str, form: Form) -> Value {
    let [clean, person, _] = texts();
    let mut body = surface.question(model, &clean, form);
    if let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) {
        let person = person.replace(turn::WORD, "");
        let earlier = (0..12).map(|turn| {
            let role = if turn % 2 == 0 { "user" } else { "assistant" };
            json!({"role": role, "content": person})
        });
        messages.splice(0..0, earlier);
    }
    body
}

/// Questions that are answered with calls of a tool, with the model that each surface is mostly used with.
fn calls() -> [(Surface, Value); 3] {
    let call = "[[fake:tool find_visit {\"mrn\": \"4471823\", \"since\": \"2026-01-04\"}]]";
    let text = format!("{PERSON} {} When was the last visit? {call}", turn::WORD);
    let schema = json!({
        "type": "object",
        "properties": {"mrn": {"type": "string"}, "since": {"type": "string"}},
        "required": ["mrn"],
    });
    let [(_, alpha), (_, beta)] = MODELS;
    let tool =
        json!({"name": "find_visit", "description": "Finds a visit.", "input_schema": schema});
    let function =
        json!({"name": "find_visit", "description": "Finds a visit.", "parameters": schema});
    let function = json!({"type": "function", "function": function});
    [
        (Surface::Native, alpha, tool.clone()),
        (Surface::Messages, alpha, tool),
        (Surface::ChatCompletions, beta, function),
    ]
    .map(|(surface, model, tool)| {
        let mut body = surface.question(model, &text, Form::Whole);
        body["tools"] = json!([tool]);
        (surface, body)
    })
}
