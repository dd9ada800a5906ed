//! Places where no text of a patient belongs, and where somebody puts one all the same: heads, paths, what is no
//! request at all. Nothing of it may go on to a provider, into a log, a metric, a span or a row, or back in an error.

use serde_json::{Value, json};
use svc_tests::wire::Request;

use super::places::Route;
use super::plant::Plant;

/// Where a value may turn up although it is nobody's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nowhere.
    Nowhere,
    /// In the answer to who sent it, for this reason.
    ToItsSender(&'static str),
    /// In the audit row, for this reason.
    InTheAuditRow(&'static str),
}

impl Known {
    /// Whether a value may be in a sink.
    pub(super) fn is_in(self, sink: &str) -> bool {
        match self {
            Self::Nowhere => false,
            Self::ToItsSender(_) => sink == "answer",
            Self::InTheAuditRow(_) => sink == "table audit" || sink.contains("gateway.sqlite"),
        }
    }
}

pub(super) struct Stranger {
    pub(super) name: &'static str,
    pub(super) known: Known,
    /// The bytes of a connection.
    pub(super) bytes: fn(&Plant, &str) -> Vec<u8>,
}

use Known::{InTheAuditRow, Nowhere, ToItsSender};

/// Spec, Errors: the parameter is named, and the name is the caller's own.
const NAMED: Known = ToItsSender("spec, 400 UNSUPPORTED_PARAMETER: error.param names the field");

const fn comes(name: &'static str, known: Known, bytes: fn(&Plant, &str) -> Vec<u8>) -> Stranger {
    Stranger { name, known, bytes }
}

fn asked(key: &str) -> Request {
    Request::new("POST", Route::Native.path()).bearer(key)
}

fn post(route: Route, key: &str, body: &Value) -> Vec<u8> {
    Request::new("POST", route.path())
        .bearer(key)
        .json(body)
        .bytes()
}

fn native(key: &str, body: &Value) -> Vec<u8> {
    post(Route::Native, key, body)
}

/// An ordinary question with a header.
fn with_header(key: &str, name: &str, value: &str) -> Vec<u8> {
    let body = json!({"message": "well", "stream": false});
    asked(key).header(name, value).json(&body).bytes()
}

/// A question on the messages surface with a header.
fn with_messages_header(key: &str, name: &str, value: &str) -> Vec<u8> {
    let body = Route::Messages.body("alpha-haiku-4-5", false, json!({}));
    let request = Request::new("POST", Route::Messages.path()).bearer(key);
    request.header(name, value).json(&body).bytes()
}

fn get(key: &str, path: &str) -> Vec<u8> {
    Request::new("GET", path).bearer(key).bytes()
}

fn raw(key: &str, body: &[u8]) -> Vec<u8> {
    let request = asked(key).header("Content-Type", "application/json");
    request.body(body).bytes()
}

/// Bytes of a body above the limit of the gateway under test.
pub(super) const BODY_LIMIT_BYTES: i64 = 200_000;

#[rustfmt::skip] // One place, one line.
pub(super) const STRANGERS: &[Stranger] = &[
    // Heads.
    comes("a header", Nowhere, |p, key| with_header(key, "X-Patient", &p.text())),
    comes("a header's name", Nowhere, |p, key| with_header(key, &format!("X-{}", p.identifier()), "so")),
    comes("the client's name", InTheAuditRow("contract 14.1: user_agent"), |p, key| with_header(key, "User-Agent", &p.text())),
    comes("where the client comes from", Nowhere, |p, key| with_header(key, "Referer", &p.address())),
    comes("a cookie", Nowhere, |p, key| with_header(key, "Cookie", &format!("patient={}", p.text()))),
    comes("an SDK's header", Nowhere, |p, key| with_header(key, "X-Stainless-Lang", &p.text())),
    comes("a trace's name", Nowhere, |p, key| with_header(key, "traceparent", &p.text())),
    comes("a trace's baggage", Nowhere, |p, key| with_header(key, "baggage", &format!("patient={}", p.email()))),
    comes("a client's address", Nowhere, |p, key| with_header(key, "X-Forwarded-For", &p.text())),
    comes("an idempotency key", Nowhere, |p, key| with_header(key, "Idempotency-Key", &p.text())),
    comes("an id of a request", Nowhere, |p, key| with_header(key, "X-Request-Id", &p.text())),
    comes("a version", ToItsSender("contract 3.3: INVALID_API_VERSION details.requested"), |p, key| with_header(key, "Svc-Version", &p.text())),
    comes("a wire version", Nowhere, |p, key| with_messages_header(key, "anthropic-version", &p.text())),
    comes("a wire feature", Nowhere, |p, key| with_messages_header(key, "anthropic-beta", &p.text())),
    comes("a credential", Nowhere, |p, _| with_header(&p.text(), "X-So", "so")),
    comes("a credential of a form", Nowhere, |p, _| with_header(&format!("svc_api_live_{}", p.identifier()), "X-So", "so")),
    comes("another scheme", Nowhere, |p, _| Request::new("POST", Route::Native.path()).header("Authorization", &p.text()).json(&json!({"message": "well"})).bytes()),
    comes("the other credential", Nowhere, |p, _| Request::new("POST", Route::Messages.path()).header("x-api-key", &p.text()).json(&json!({})).bytes()),
    comes("a media type", Nowhere, |p, key| asked(key).header("Content-Type", &format!("text/{}", p.text())).body(b"{}").bytes()),
    comes("a host", Nowhere, |p, key| format!("GET /v1/models HTTP/1.1\r\nHost: {}.test\r\nAuthorization: Bearer {key}\r\n\r\n", p.identifier()).into()),
    comes("an encoding", Nowhere, |p, key| with_header(key, "Content-Encoding", &p.identifier())),
    comes("a method", Nowhere, |p, key| Request::new(&p.identifier(), Route::Native.path()).bearer(key).bytes()),
    // Paths.
    comes("a query", Nowhere, |p, key| Request::new("POST", &format!("/v1/ai/chat?ssn={}&mail={}", p.ssn(), p.email())).bearer(key).json(&json!({"message": "well", "stream": false})).bytes()),
    comes("a query of a read", Nowhere, |p, key| get(key, &format!("/v1/models?ssn={}&mail={}", p.ssn(), p.email()))),
    comes("an id of a message", Nowhere, |p, key| get(key, &format!("/v1/ai/messages/{}", p.email()))),
    comes("an id of a model", Nowhere, |p, key| get(key, &format!("/v1/models/{}", p.identifier()))),
    comes("a path", Nowhere, |p, key| get(key, &format!("/v1/patients/{}/{}", p.ssn(), p.email()))),
    comes("a path below a surface", Nowhere, |p, key| get(key, &format!("/v1/messages/{}", p.email()))),
    comes("a path without a credential", Nowhere, |p, _| Request::new("GET", &format!("/{}", p.email())).bytes()),
    // What is no HTTP.
    comes("a request line", Nowhere, |p, _| format!("{}\r\n\r\n", p.text()).into()),
    comes("a version of HTTP", Nowhere, |p, _| format!("GET /{} HTTP/7.3\r\nHost: a.test\r\n\r\n", p.email()).into()),
    comes("a line without a colon", Nowhere, |p, _| format!("GET / HTTP/1.1\r\nHost: a.test\r\n{}\r\n\r\n", p.text().replace(": ", " ")).into()),
    comes("two lengths", Nowhere, |p, key| format!("POST /v1/ai/chat HTTP/1.1\r\nHost: a.test\r\nAuthorization: Bearer {key}\r\nContent-Length: 5\r\nContent-Length: {}\r\n\r\n", p.identifier()).into()),
    // Bodies.
    comes("half a body of JSON", Nowhere, |p, key| raw(key, format!("{{\"message\": \"{}\", ", p.text()).as_bytes())),
    comes("a text", Nowhere, |p, key| raw(key, p.text().as_bytes())),
    comes("a list", Nowhere, |p, key| raw(key, json!([p.text()]).to_string().as_bytes())),
    comes("no UTF-8", Nowhere, |p, key| raw(key, &[format!("{{\"message\": \"{}", p.text()).as_bytes(), b"\xff\"}"].concat())),
    comes("a key twice", Nowhere, |p, key| { let text = p.text(); raw(key, format!("{{\"{text}\": 1, \"{text}\": 2}}").as_bytes())}),
    comes("a NUL", Nowhere, |p, key| raw(key, format!("{{\"message\": \"{}\\u0000\"}}", p.text()).as_bytes())),
    comes("depth", Nowhere, |p, key| raw(key, format!("{{\"message\": {}\"{}\"{}}}", "[".repeat(70), p.text(), "]".repeat(70)).as_bytes())),
    comes("too much", Nowhere, |p, key| native(key, &json!({"message": p.text().repeat(1 + usize::try_from(BODY_LIMIT_BYTES).unwrap() / p.text().len())}))),
    comes("a field's value", Nowhere, |p, key| native(key, &json!({"message": "well", "note": p.text()}))),
    comes("a field's name", NAMED, |p, key| native(key, &json!({"message": "well", p.text(): 1}))),
    comes("a field's name on the messages surface", NAMED, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({p.text(): 1})))),
    comes("a field's name on the chat-completions surface", NAMED, |p, key| post(Route::Chat, key, &Route::Chat.body("alpha-haiku-4-5", false, json!({p.text(): 1})))),
    comes("a name in the metadata", NAMED, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({"metadata": {p.text(): "so"}})))),
    comes("a thread", Nowhere, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({"thread": {"type": p.text()}})))),
    comes("a model's name", Nowhere, |p, key| native(key, &json!({"message": "well", "model": p.text()}))),
    comes("a model's name on the messages surface", Nowhere, |p, key| post(Route::Messages, key, &Route::Messages.body(&p.text(), false, json!({})))),
    comes("a model's name on the chat-completions surface", Nowhere, |p, key| post(Route::Chat, key, &Route::Chat.body(&p.text(), true, json!({})))),
    comes("an id of a conversation", Nowhere, |p, key| native(key, &json!({"message": "well", "conversation_id": p.text()}))),
    comes("a number's place", Nowhere, |p, key| native(key, &json!({"message": "well", "max_tokens": p.text()}))),
    comes("a yes's place", Nowhere, |p, key| native(key, &json!({"message": "well", "stream": p.text()}))),
    comes("a text's place", Nowhere, |p, key| native(key, &json!({"message": {"text": p.text()}}))),
    comes("a role", Nowhere, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({"messages": [{"role": p.text(), "content": "well"}]})))),
    comes("a role on the chat-completions surface", Nowhere, |p, key| post(Route::Chat, key, &Route::Chat.body("alpha-haiku-4-5", false, json!({"messages": [{"role": p.text(), "content": "well"}]})))),
    comes("a kind of block", Nowhere, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({"messages": [{"role": "user", "content": [{"type": p.text()}]}]})))),
    comes("a name of a tool", Nowhere, |p, key| native(key, &json!({"message": "well", "tools": [{"name": p.text(), "input_schema": {}}]}))),
    comes("a tool that is not there", Nowhere, |p, key| native(key, &json!({"message": "well", "tools": [{"name": "look", "input_schema": {}}], "tool_choice": {"type": "tool", "name": p.text()}}))),
    comes("what is no base64", Nowhere, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": p.text()}}]}]})))),
    comes("what is no address", Nowhere, |p, key| post(Route::Chat, key, &Route::Chat.body("alpha-haiku-4-5", false, json!({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": p.text()}}]}]})))),
    comes("what are no arguments", Nowhere, |p, key| post(Route::Chat, key, &Route::Chat.body("alpha-haiku-4-5", false, json!({"messages": [{"role": "user", "content": "well"}, {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": p.text()}}]}]})))),
    comes("a result without its call", Nowhere, |p, key| post(Route::Messages, key, &Route::Messages.body("alpha-haiku-4-5", false, json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": p.identifier(), "content": p.text()}]}]})))),
];
