//! One exchange with a driver, in the few words that its tests need.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use svc_core::chat::{
    Arguments, ChatEvent, ChatRequest, Message, Part, Role, Sampling, Tool, ToolCall, ToolResult,
};
use svc_core::sse::Frame;
use svc_plugin::{Driver, DriverFailure, DriverFault, DriverRequest, DriverRun, Failed};

use crate::stage::{Stage, shipped_manifest};

/// A shipped driver, admitted with its own manifest.
pub(crate) async fn driver_of(id: &str, component: &[u8]) -> Arc<Driver> {
    let stage = Stage::new();
    stage.install(id, component, &shipped_manifest(id));
    let host = stage.open().await;
    host.driver(id)
        .unwrap_or_else(|_| panic!("{:?}", host.status()))
}

pub(crate) fn chat(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "catalogue-id".to_owned(),
        system: Vec::new(),
        has_house_prompt: false,
        messages,
        tools: Vec::new(),
        tool_choice: None,
        parallel_tool_calls: None,
        max_tokens: Some(100),
        sampling: Sampling::default(),
        stop_sequences: Vec::new(),
        response_format: None,
        reasoning_tokens: None,
        metadata: std::collections::BTreeMap::new(),
        stream: true,
        ext: Map::new(),
    }
}

pub(crate) fn turn(role: Role, content: Vec<Part>) -> Message {
    Message {
        role,
        content,
        name: None,
    }
}

pub(crate) fn user(text: &str) -> Message {
    turn(Role::User, vec![Part::text(text)])
}

pub(crate) fn call(id: &str, name: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: json!({"q": 1}),
        cache_mark: None,
    })
}

/// An assistant turn whose one call has arguments that are no JSON object.
pub(crate) fn unparsed_call(id: &str, arguments: &str) -> Message {
    let call = ToolCall {
        id: id.to_owned(),
        name: "one".to_owned(),
        arguments: Arguments::default().of_any(arguments),
        cache_mark: None,
    };
    turn(Role::Assistant, vec![Part::ToolCall(call)])
}

pub(crate) fn result(call_id: &str, text: &str) -> Part {
    Part::ToolResult(ToolResult {
        call_id: call_id.to_owned(),
        is_error: false,
        content: vec![Part::text(text)],
        cache_mark: None,
    })
}

pub(crate) fn tool(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: Some("looks up".to_owned()),
        input_schema: schema(),
        input_examples: None,
        strict: Some(true),
        cache_mark: Some(json!({"type": "ephemeral"})),
    }
}

/// The schema of every tool here: one that kind B takes strictly too.
pub(crate) fn schema() -> Value {
    json!({
        "$schema": "x",
        "type": "object",
        "properties": {"q": {"type": "number"}},
        "required": ["q"],
        "additionalProperties": false,
    })
}

pub(crate) async fn start(
    driver: &Driver,
    chat: &ChatRequest,
) -> Result<(DriverRun, svc_plugin::UpstreamRequest), DriverFailure> {
    let request = DriverRequest {
        chat,
        model: "model-a",
        extra: &Map::new(),
    };
    bare(driver.start(&request).await)
}

/// The answer to a call, whoever's failure it is.
pub(crate) fn bare<T>(answer: Result<T, Failed<DriverFailure>>) -> Result<T, DriverFailure> {
    answer.map_err(|failed| failed.error)
}

pub(crate) async fn body(driver: &Driver, chat: &ChatRequest) -> Value {
    let (_, upstream) = start(driver, chat)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    serde_json::from_slice(&upstream.body).unwrap()
}

pub(crate) async fn fault(driver: &Driver, chat: &ChatRequest) -> DriverFault {
    match start(driver, chat).await {
        Err(DriverFailure::Fault(fault)) => fault,
        Err(failure) => panic!("{failure}"),
        Ok(_) => panic!("the request was built"),
    }
}

/// Events as words: they have no `Debug`.
pub(crate) fn words(events: &[ChatEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| match event {
            ChatEvent::Started {
                provider_id,
                provider_model,
            } => format!("started {provider_id} {provider_model}"),
            ChatEvent::Text(text) => format!("text {text}"),
            ChatEvent::Declined => "declined".to_owned(),
            ChatEvent::Reasoning(text) => format!("reasoning {text}"),
            ChatEvent::ReasoningSignature(text) => format!("signature {text}"),
            ChatEvent::RedactedReasoning { data } => format!("redacted {data}"),
            ChatEvent::ToolCallStart { index, id, name } => format!("call {index} {id} {name}"),
            ChatEvent::ToolCallDelta { index, fragment } => format!("delta {index} {fragment}"),
            ChatEvent::ToolCallEnd { index } => format!("end {index}"),
            ChatEvent::ProviderToolCompleted { tool_type, item_id } => {
                format!("tool {tool_type} {item_id}")
            }
            ChatEvent::Usage(usage) => format!(
                "usage {} {} {} {}",
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens
            ),
            ChatEvent::KeepAlive => "alive".to_owned(),
            ChatEvent::Finished(finish) => {
                format!(
                    "finished {} {} {:?}",
                    finish.reason.word(),
                    finish.raw,
                    finish.stop_sequence
                )
            }
        })
        .collect()
}

pub(crate) fn content_type(value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(http::header::CONTENT_TYPE, HeaderValue::from_static(value))])
}

pub(crate) async fn run(driver: &Driver) -> DriverRun {
    start(driver, &chat(vec![user("a")]))
        .await
        .unwrap_or_else(|failure| panic!("{failure}"))
        .0
}

pub(crate) fn frame(data: &str) -> Frame {
    Frame {
        name: String::new(),
        data: data.to_owned(),
    }
}

pub(crate) fn frames(data: &[&str]) -> Vec<Frame> {
    data.iter().map(|data| frame(data)).collect()
}
