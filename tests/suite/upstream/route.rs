//! Fail-over along the routes of a model: to the next one when a provider fails before anything was sent to the
//! caller, never afterwards, and never for what the caller did wrong.

use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::{FakeProvider, PROVIDER_KEY, mark};
use svc_tests::gateway::{Gateway, Setup};
use svc_tests::organization::{Organization, bootstrap};
use svc_tests::policies::Policies;
use svc_tests::port;
use svc_tests::surfaces::{End, FORMS, Form, SURFACES, Surface};
use svc_tests::wire::{Answer, Request};

use super::pings_and_an_error;

pub(super) const MODEL: &str = "alpha-sonnet-4-6";
/// The model's name at the second provider.
const ELSEWHERE: &str = "sonnet-elsewhere";
/// Deadline for the head of the first provider's answer: far above what a sound one takes on a busy machine.
const HEAD_MS: i64 = 3_000;

/// A gateway whose model has two routes, and what stands at their ends.
pub(super) struct Pair {
    pub(super) first: FakeProvider,
    pub(super) second: FakeProvider,
    pub(super) gateway: Gateway,
    organization: Organization,
    pub(super) policies: Policies,
    _key: tempfile::NamedTempFile,
}

impl Pair {
    /// The second route is of the first one's kind.
    pub(super) async fn start() -> Self {
        Self::with("provider-alpha", None).await
    }

    /// The second route is served by this driver; the first leads to `address` instead of a provider.
    async fn with(driver: &str, address: Option<String>) -> Self {
        let (first, second) = (FakeProvider::start(), FakeProvider::start());
        let policies = Policies::copy();
        let id = format!("id = \"{MODEL}\"\n");
        let fallback = format!(
            "fallback = [{{ provider = \"west\", upstream_model = \"{ELSEWHERE}\", driver = \"{driver}\" }}]\n"
        );
        policies.edit("models.toml", &id, &format!("{id}{fallback}"));
        let key = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(key.path(), PROVIDER_KEY).unwrap();
        let mut west = toml::Table::new();
        west.insert("base_url".into(), second.base_url().into());
        let path = key.path().display().to_string();
        west.insert("api_key_file".into(), path.into());
        let mut alpha = toml::Table::new();
        alpha.insert("head_ms".into(), HEAD_MS.into());
        // Organizations may bring a credential of their own for either.
        let networks = vec![toml::Value::from("127.0.0.0/8")];
        let ports = vec![toml::Value::from(i64::from(second.address.port()))];
        let gateway = Setup::new(&address.unwrap_or_else(|| first.base_url()))
            .policies(policies.path())
            .key("integrations", "allowed_networks", networks)
            .key("integrations", "allowed_ports", ports)
            .key("integrations", "plain_http", true)
            .key("providers", "west", west)
            .key("providers", "alpha", alpha)
            .start()
            .await;
        let organization = bootstrap(&gateway, &[]);
        Self {
            first,
            second,
            gateway,
            organization,
            policies,
            _key: key,
        }
    }

    async fn ask(&self, surface: Surface, mark: &str, form: Form) -> Answer {
        let body = surface.question(MODEL, mark, form);
        let request = surface.request(&self.organization.key, &body);
        self.gateway.answer(&request).await
    }

    /// Asks the first provider for a behaviour and the second for an answer of its own.
    async fn failing(
        &self,
        mut behaviour: Value,
        surface: Surface,
        form: Form,
    ) -> (Answer, String) {
        let mark = mark();
        behaviour["contains"] = json!(mark);
        self.first.expect(behaviour).await;
        let second = json!({"contains": mark, "text": "from elsewhere"});
        self.second.expect(second).await;
        (self.ask(surface, &mark, form).await, mark)
    }

    /// A good call over the first route: failures in a row would open its circuit.
    pub(super) async fn sound(&self) {
        let mark = mark();
        let answer = self.ask(Surface::Native, &mark, Form::Whole).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(self.first.seen(&mark).await.len(), 1);
    }

    /// Requests with a mark at the two providers.
    async fn seen(&self, mark: &str) -> (usize, usize) {
        let (first, second) = (self.first.seen(mark).await, self.second.seen(mark).await);
        (first.len(), second.len())
    }

    async fn books(&self) {
        books::check(&self.gateway.database, &self.organization.id).await;
    }
}

fn told(surface: Surface, form: Form, answer: &Answer) -> String {
    let heard = match form {
        Form::Streamed => surface.heard(answer),
        Form::Whole => surface.read(answer),
    };
    assert_eq!(heard.end, Some(End::Well), "{}", answer.text());
    heard.text
}

#[tokio::test]
async fn a_failure_before_content_goes_on_to_the_next_route() {
    let pair = Pair::start().await;
    let mut failures: Vec<Value> = [401, 403, 404, 408, 429, 500, 502, 503, 504, 529]
        .map(|status| json!({"status": status}))
        .into();
    failures.extend([
        json!({"status": 503, "html_page": true}),
        json!({"html_page": true}),
        // A connection from the pool is repeated once: it may have been closed before the request came.
        json!({"close_after_events": 0, "close": "reset", "times": 2}),
        json!({"close_after_events": 0, "close": "cut", "times": 2}),
        json!({"stall_after_events": 0}),
        pings_and_an_error(),
    ]);
    for (at, failure) in failures.into_iter().enumerate() {
        let surface = SURFACES[at % SURFACES.len()];
        for form in FORMS {
            pair.sound().await;
            let (answer, mark) = pair.failing(failure.clone(), surface, form).await;
            assert_eq!(told(surface, form, &answer), "from elsewhere", "{failure}");
            let most = failure["times"].as_u64().unwrap_or(1);
            let (first, second) = pair.seen(&mark).await;
            assert!((1..=most).contains(&(first as u64)), "{failure}: {first}");
            assert_eq!(second, 1, "{failure}");
            pair.first.forget().await;
            let sent = &pair.second.seen(&mark).await[0]["body"];
            assert_eq!(sent["model"], ELSEWHERE);
            // The caller hears of one model and pays for one answer.
            assert!(!answer.text().contains(ELSEWHERE), "{}", answer.text());
            let database = &pair.gateway.database;
            let (_, terminal) = books::pair(database, answer.request_id()).await;
            assert_eq!(terminal["event"], "inference.completed");
        }
    }
    pair.books().await;
}

#[tokio::test]
async fn an_unstreamed_answer_that_breaks_off_is_asked_for_elsewhere() {
    let pair = Pair::start().await;
    let endless = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
        "content": [{"type": "text", "text": "half"}], "stop_reason": null,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    });
    for broken in [
        json!({"close_after_events": 1, "close": "cut"}),
        json!({"raw_body": endless.to_string(), "content_type": "application/json"}),
        // A provider may stream whatever it was asked for.
        json!({"raw_body": half_a_stream(), "content_type": "text/event-stream"}),
    ] {
        for surface in SURFACES {
            pair.sound().await;
            let (answer, mark) = pair.failing(broken.clone(), surface, Form::Whole).await;
            assert_eq!(told(surface, Form::Whole, &answer), "from elsewhere");
            assert_eq!(pair.seen(&mark).await, (1, 1), "{broken}");
        }
    }
    pair.books().await;
}

/// Kind A's events up to a word, and no end.
fn half_a_stream() -> String {
    let events = [
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
            "content": [], "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1},
        }}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "half "}}),
    ];
    framed(&events)
}

/// A stream of these events.
fn framed(events: &[Value]) -> String {
    let frame = |event: &Value| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(frame).collect()
}

/// Kind A's stream with the start of [`half_a_stream`], a block and its delta, and an end.
fn whole_stream(block: &Value, delta: &Value, reason: &str) -> String {
    let start = half_a_stream();
    let (start, _) = start.split_once("event: content_block_start").unwrap();
    let rest = [
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ];
    start.to_owned() + &framed(&rest)
}

/// Contract 12.1: the operator is billed for what a provider has read, whether or not its answer was of use.
#[tokio::test]
async fn what_answers_without_an_end_have_used_is_recorded() {
    let pair = Pair::start().await;
    let database = &pair.gateway.database;
    let half = || json!({"raw_body": half_a_stream(), "content_type": "text/event-stream"});
    for (second, input_tokens) in [(half(), 6), (json!({"status": 500}), 3)] {
        for surface in SURFACES {
            pair.sound().await;
            let mark = mark();
            for (fake, mut order) in [(&pair.first, half()), (&pair.second, second.clone())] {
                order["contains"] = json!(mark);
                fake.expect(order).await;
            }
            let answer = pair.ask(surface, &mark, Form::Whole).await;
            assert_eq!(surface.code(&answer.json()), "INFERENCE_UPSTREAM_FAILURE");
            assert_eq!(pair.seen(&mark).await, (1, 1));
            let (_, terminal) = books::pair(database, answer.request_id()).await;
            assert_eq!(terminal["event"], "inference.failed");
            let (debit, _) = books::postings(database, answer.request_id()).await;
            assert_eq!(debit["amount_micro"], 0);
            assert_eq!(debit["input_tokens"], input_tokens);
            assert!(debit["output_tokens"].as_i64() > Some(0), "{debit}");
            assert!(debit["cost_usd_micro"].as_i64() > Some(0), "{debit}");
            // A good answer of the second one, too, keeps its circuit closed.
            let (answer, _) = pair
                .failing(json!({"status": 500}), surface, Form::Whole)
                .await;
            assert_eq!(told(surface, Form::Whole, &answer), "from elsewhere");
        }
    }
    pair.books().await;
}

#[tokio::test]
async fn what_a_caller_leaves_behind_is_recorded() {
    let pair = Pair::start().await;
    let mark = mark();
    let half = half_a_stream();
    // Nothing comes behind the first half of what is ordered.
    let padded = format!("{half}:{}\n\n", "-".repeat(half.len()));
    let order = json!({
        "contains": mark, "raw_body": padded, "content_type": "text/event-stream", "stall_after_events": 1,
    });
    pair.first.expect(order).await;
    let body = Surface::Native.question(MODEL, &mark, Form::Whole);
    let request = Surface::Native.request(&pair.organization.key, &body);
    let mut connection = pair.gateway.connect().await;
    connection.send(&request.bytes()).await;
    pair.first.received(&mark).await;
    // The gateway has read the half by then.
    tokio::time::sleep(Duration::from_millis(500)).await;
    drop(connection);
    pair.first.ended(&mark).await;
    pair.books().await;
    let database = &pair.gateway.database;
    let sql = "SELECT request_id FROM audit WHERE org_id = $1 AND event = 'inference.cancelled'";
    let rows = database.rows(sql, &[&pair.organization.id]).await;
    assert_eq!(rows.len(), 1);
    let (debit, _) = books::postings(database, rows[0]["request_id"].as_str().unwrap()).await;
    assert_eq!(debit["input_tokens"], 3, "{debit}");
}

/// What no caller of the surface can be told is no answer, as long as another route can give one.
#[tokio::test]
async fn a_call_with_bad_arguments_is_asked_for_elsewhere() {
    let pair = Pair::start().await;
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": "[1]"});
    let body = whole_stream(&block, &delta, "tool_use");
    for surface in [Surface::Native, Surface::Messages] {
        pair.sound().await;
        let order = json!({"raw_body": body, "content_type": "text/event-stream"});
        let (answer, mark) = pair.failing(order, surface, Form::Whole).await;
        assert_eq!(told(surface, Form::Whole, &answer), "from elsewhere");
        assert_eq!(pair.seen(&mark).await, (1, 1));
    }
    pair.books().await;
}

/// A caller can have a model say anything: what cannot be told closes its provider to nobody.
#[tokio::test]
async fn calls_with_bad_arguments_open_no_circuit() {
    let pair = Pair::start().await;
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": "[1]"});
    let body = whole_stream(&block, &delta, "tool_use");
    // 5 failures in a row: FAILURES_TO_OPEN of the pipeline's breaker.
    for _ in 0..=5 {
        let order = json!({"raw_body": body, "content_type": "text/event-stream"});
        let (answer, mark) = pair.failing(order, Surface::Messages, Form::Whole).await;
        assert_eq!(
            told(Surface::Messages, Form::Whole, &answer),
            "from elsewhere"
        );
        assert_eq!(pair.seen(&mark).await, (1, 1));
    }
    pair.sound().await;
    pair.books().await;
}

/// The time until the first part of an answer is told, also where the gateway waits for all of it.
#[tokio::test]
async fn a_slow_answer_that_is_collected_began_when_it_began() {
    let pair = Pair::start().await;
    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": "slowly"});
    let mark = mark();
    // Two halves, a second apart; the fifth never comes.
    let order = json!({
        "contains": mark, "raw_body": whole_stream(&block, &delta, "end_turn"),
        "content_type": "text/event-stream", "delay_between_events_ms": 1_000, "stall_after_events": 5,
    });
    pair.first.expect(order).await;
    let answer = pair.ask(Surface::Native, &mark, Form::Whole).await;
    assert_eq!(told(Surface::Native, Form::Whole, &answer), "slowly");
    let request = Request::new("GET", "/v1/provider-status").bearer(&pair.organization.key);
    let status = pair.gateway.answer(&request).await.json();
    let mut providers = status["data"]["providers"].as_array().unwrap().iter();
    let alpha = providers
        .find(|provider| provider["name"] == "alpha")
        .unwrap();
    let took = alpha["latency_ms"]["p95"].as_u64().unwrap();
    assert!((1_000..1_800).contains(&took), "{took}");
}

#[tokio::test]
async fn what_a_provider_rejects_is_asked_once() {
    let pair = Pair::start().await;
    for status in [400, 413, 422] {
        for surface in SURFACES {
            for form in FORMS {
                let (answer, mark) = pair.failing(json!({"status": status}), surface, form).await;
                assert_eq!(surface.code(&answer.json()), "INFERENCE_UPSTREAM_FAILURE");
                assert_eq!(answer.header("retry-after"), None);
                if surface != Surface::Native {
                    assert_eq!(answer.header("x-should-retry"), Some("false"));
                }
                assert_eq!(pair.seen(&mark).await, (1, 0), "{status}");
                pair.second.forget().await;
            }
        }
    }
    pair.books().await;
}

#[tokio::test]
async fn nothing_is_asked_again_once_content_was_sent() {
    let pair = Pair::start().await;
    for failure in [
        json!({"close_after_events": 6, "close": "reset"}),
        json!({"no_terminal_event": true}),
        json!({"error_event_after_events": 6, "error_type": "overloaded_error"}),
    ] {
        for surface in SURFACES {
            pair.sound().await;
            let mut order = failure.clone();
            order["event_count"] = json!(12);
            let (answer, mark) = pair.failing(order, surface, Form::Streamed).await;
            let heard = surface.heard(&answer);
            assert!(
                matches!(heard.end, Some(End::Badly(_))),
                "{}",
                answer.text()
            );
            assert!(!heard.text.contains("elsewhere"), "{}", answer.text());
            assert_eq!(pair.seen(&mark).await, (1, 0), "{failure}");
            pair.second.forget().await;
        }
    }
    pair.books().await;
}

/// Nobody listens at the first address. After some failures its circuit is open and nobody tries any more.
#[tokio::test]
async fn a_provider_that_is_down_is_passed_over() {
    let nobody = format!("http://{}", port::free());
    let pair = Pair::with("provider-alpha", Some(nobody)).await;
    for round in 0..8 {
        let surface = SURFACES[round % SURFACES.len()];
        let mark = mark();
        let form = FORMS[round % FORMS.len()];
        let answer = pair.ask(surface, &mark, form).await;
        assert_eq!(told(surface, form, &answer), format!("You said: {mark}"));
        assert_eq!(pair.seen(&mark).await, (0, 1));
    }
    let metric = "svc_upstream_errors_total";
    let failed = pair.gateway.metric_sum(metric, &["alpha"]).await;
    // 5: FAILURES_TO_OPEN of the pipeline's breaker.
    assert!((5.0..8.0).contains(&failed), "{failed}");
    pair.books().await;
}

/// The last failure is the caller's answer; once both circuits are open there is no attempt at all.
#[tokio::test]
async fn when_every_route_fails_the_caller_hears_so() {
    let pair = Pair::start().await;
    let mut answers = Vec::new();
    for _ in 0..6 {
        let mark = mark();
        let failing = json!({"contains": mark, "status": 500});
        pair.first.expect(failing.clone()).await;
        pair.second.expect(failing).await;
        let answer = pair.ask(Surface::Native, &mark, Form::Streamed).await;
        let code = pair.seen(&mark).await;
        answers.push((answer.status, code));
    }
    let (last, failed) = answers.split_last().unwrap();
    assert!(
        failed.iter().all(|answer| *answer == (502, (1, 1))),
        "{answers:?}"
    );
    assert_eq!(*last, (503, (0, 0)));
    pair.books().await;
}

/// A route may lead to the other wire format: the caller sees no difference.
#[tokio::test]
async fn a_route_may_be_of_the_other_kind() {
    let pair = Pair::with("provider-beta", None).await;
    for surface in SURFACES {
        for form in FORMS {
            pair.sound().await;
            let (answer, mark) = pair.failing(json!({"status": 500}), surface, form).await;
            assert_eq!(told(surface, form, &answer), "from elsewhere");
            let request = &pair.second.seen(&mark).await[0];
            assert_eq!(request["path"], "/v1/chat/completions");
        }
    }
    pair.books().await;
}

/// What only the first route's kind can do is no fault of the caller: they hear of the outage, which may pass.
#[tokio::test]
async fn a_route_that_cannot_say_the_request_leaves_the_first_failure_standing() {
    let pair = Pair::with("provider-beta", None).await;
    let surface = Surface::Messages;
    for form in FORMS {
        pair.sound().await;
        let mark = mark();
        let failing = json!({"contains": mark, "status": 529});
        pair.first.expect(failing).await;
        let mut body = surface.question(MODEL, &mark, form);
        body["max_tokens"] = json!(2_048);
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 1_024});
        let request = surface.request(&pair.organization.key, &body);
        let answer = pair.gateway.answer(&request).await;
        assert_eq!(answer.status, 502, "{}", answer.text());
        let error = answer.json();
        assert_eq!(surface.code(&error), "INFERENCE_UPSTREAM_FAILURE");
        assert_eq!(error["error"]["retryable"], true);
        assert_eq!(pair.seen(&mark).await, (1, 0));
    }
    pair.books().await;
}

/// A route that nothing can be sent over is no route; it matters only once no other one answers.
#[tokio::test]
async fn a_route_without_its_driver_costs_the_others_nothing() {
    let pair = Pair::with("provider-nowhere", None).await;
    for surface in SURFACES {
        for form in FORMS {
            let mark = mark();
            let answer = pair.ask(surface, &mark, form).await;
            assert_eq!(told(surface, form, &answer), format!("You said: {mark}"));
        }
    }
    let surface = Surface::Native;
    let (answer, mark) = pair
        .failing(json!({"status": 529}), surface, Form::Whole)
        .await;
    // Of the provider that was asked.
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert_eq!(surface.code(&answer.json()), "INFERENCE_UPSTREAM_FAILURE");
    assert_eq!(pair.seen(&mark).await, (1, 0));
    pair.books().await;
}

/// The example of the shipped models: a further provider that has no address for test keys, or none at all.
#[tokio::test]
async fn a_provider_without_an_address_is_passed_over() {
    let fake = FakeProvider::start();
    for (first, second) in [("alpha", "alpha-west"), ("alpha-west", "alpha")] {
        let policies = Policies::copy();
        let id = format!("id = \"{MODEL}\"\n");
        let fallback = format!(
            "fallback = [{{ provider = \"{second}\", upstream_model = \"{MODEL}\", driver = \"provider-alpha\" }}]\n"
        );
        policies.edit("models.toml", &id, &format!("{id}{fallback}"));
        policies.edit(
            "models.toml",
            "provider = \"alpha\"\n",
            &format!("provider = \"{first}\"\n"),
        );
        let mut west = toml::Table::new();
        west.insert("connect_ms".into(), 1_000.into());
        let gateway = Setup::new(&fake.base_url())
            .policies(policies.path())
            .key("providers", "alpha-west", west)
            .start()
            .await;
        let organization = bootstrap(&gateway, &[]);
        let mark = mark();
        let body = Surface::Native.question(MODEL, &mark, Form::Whole);
        let request = Surface::Native.request(&organization.key, &body);
        let answer = gateway.answer(&request).await;
        let heard = told(Surface::Native, Form::Whole, &answer);
        assert_eq!(heard, format!("You said: {mark}"), "{first}");
        assert_eq!(fake.seen(&mark).await.len(), 1);
    }
}
