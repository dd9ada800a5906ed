//! The canonical request as a Messages request.

use std::borrow::Cow;
use std::collections::BTreeSet;

use driver_kit::fault::{invalid, unsupported};
use driver_kit::json::{Passed, raw};
use driver_kit::{is_tool_name, post, user_id};
use serde_json::value::RawValue;

use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, Framing, PartBody, ResponseFormat, Role, Tool, ToolChoice,
    UpstreamRequest,
};
use crate::config::{self, Config};
use crate::schema::{Of, Unions, promised};
use crate::turns::{USER, mark, system, turns};
use crate::wire;

const PATH: &str = "/v1/messages";
const COUNT_PATH: &str = "/v1/messages/count_tokens";
const API_VERSION: &str = "anthropic-version";
/// Kind A requires a limit; for a caller without one, what most clients send on their own (wire notes 1).
const DEFAULT_MAX_TOKENS: u32 = 4_096;
/// Kind A takes no more of them in one request.
const MAX_CACHE_MARKS: usize = 4;
/// Longest name of a tool that kind A takes.
const MAX_TOOL_NAME_CHARS: usize = 128;
/// Longest user's name that kind A takes.
const MAX_USER_ID_CHARS: usize = 256;
/// Kind A's smallest reasoning budget.
const MIN_REASONING_TOKENS: u32 = 1_024;
/// The smallest `top_p` that kind A takes beside thinking.
const MIN_TOP_P_BESIDE_THINKING: f64 = 0.95;
/// Parameters that pass as they came.
const PASSED: [&str; 2] = ["service_tier", "inference_geo"];
/// Parameters that have a place of their own in the body.
const PLACED: [&str; 2] = [EFFORT, THINKING];
const EFFORT: &str = "effort";
const THINKING: &str = "thinking";
/// Thinking that the caller asks for beyond a budget.
const ASKED_THINKING: &str = "must-thinking";
/// Thinking that the caller does not want.
const DISABLED: &[u8] = br#"{"type":"disabled"}"#;
/// The hint of a tool that shows arguments, and its name at kind A.
const INPUT_EXAMPLES: &str = "input_examples";
/// What stands in for the definition of a tool that only the history knows.
const ANY_OBJECT: &[u8] = br#"{"type":"object"}"#;

/// Builds the upstream request.
pub fn build(chat: &ChatRequest, config: &Config) -> Result<UpstreamRequest, DriverError> {
    let has_sampling = chat.temperature.is_some() || chat.top_p.is_some() || chat.top_k.is_some();
    let api_version = match config.api_version.as_str() {
        version if has_sampling && version >= config::FIRST_WITHOUT_SAMPLING => config::OLDEST,
        version => version,
    };
    let framing = if chat.streaming {
        Framing::Sse
    } else {
        Framing::WholeBody
    };
    let max_tokens = chat.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let mut body = wire::Request {
        max_tokens: Some(max_tokens),
        // Canonical 0 to 2, kind A 0 to 1: clamped, not scaled (wire notes 2, point 22).
        temperature: chat.temperature.map(|value| value.clamp(0.0, 1.0)),
        top_p: chat.top_p,
        top_k: chat.top_k,
        stop_sequences: &chat.stop_sequences,
        metadata: user_id(&chat.metadata, MAX_USER_ID_CHARS)
            .map(|user_id| wire::Metadata { user_id }),
        stream: Some(chat.streaming),
        passed: passed(chat)?,
        ..prompt(chat, max_tokens)?
    };
    settle_thinking(chat, &mut body)?;
    answers_somebody(chat, &body)?;
    post(PATH, &[(API_VERSION, api_version)], framing, &body)
}

/// Refuses a last turn of the assistant, which would be the beginning of the reply: newer models do not go on from one
/// (wire notes 2, point 46).
fn answers_somebody(chat: &ChatRequest, body: &wire::Request<'_>) -> Result<(), DriverError> {
    if body.messages.last().is_none_or(|turn| turn.role == USER) {
        return Ok(());
    }
    let mut turns = chat.messages.iter();
    let last = turns.rposition(|turn| matches!(turn.role, Role::Assistant));
    Err(unsupported(&format!(
        "messages[{}]",
        last.unwrap_or_default()
    )))
}

/// Builds the request that counts the tokens of the same prompt.
pub fn build_count(chat: &ChatRequest, config: &Config) -> Result<UpstreamRequest, DriverError> {
    // Nothing is answered, so no reasoning budget can be too large for the answer.
    let mut body = prompt(chat, u32::MAX)?;
    settle_thinking(chat, &mut body)?;
    let headers = [(API_VERSION, config.api_version.as_str())];
    post(COUNT_PATH, &headers, Framing::WholeBody, &body)
}

/// What the prompt consists of, and nothing about the answer.
fn prompt(chat: &ChatRequest, max_tokens: u32) -> Result<wire::Request<'_>, DriverError> {
    if marks(chat) > MAX_CACHE_MARKS {
        return Err(unsupported("cache_control"));
    }
    let mut unions = Unions::beside(promises(chat));
    let mut tools = tools(chat, &mut unions)?;
    let mut tool_choice = tool_choice(chat)?;
    if tools.is_empty() {
        tools = synthesised(chat)?;
        if !tools.is_empty() {
            // The caller offers no tool now: the history alone needs the definitions (wire notes 2, point 47).
            tool_choice = Some(choice("none", None));
        }
    }
    Ok(wire::Request {
        model: &chat.model,
        max_tokens: None,
        system: system_field(chat)?,
        messages: turns(&chat.messages)?,
        tools,
        tool_choice,
        temperature: None,
        top_p: None,
        top_k: None,
        stop_sequences: &[],
        thinking: thinking(chat, max_tokens)?,
        output_config: output_config(chat, &mut unions)?,
        metadata: None,
        stream: None,
        passed: Passed::default(),
    })
}

/// How many places of the prompt the caller wants cached up to.
fn marks(chat: &ChatRequest) -> usize {
    let parts = chat.messages.iter().flat_map(|message| &message.content);
    let in_parts = chat.system.iter().chain(parts).map(|part| {
        let inner = match &part.body {
            PartBody::ToolResult(result) => result.content.as_slice(),
            _ => &[],
        };
        let inner = inner.iter().filter(|part| part.cache_mark.is_some());
        usize::from(part.cache_mark.is_some()) + inner.count()
    });
    let on_tools = chat.tools.iter().filter(|tool| tool.cache_mark.is_some());
    in_parts.sum::<usize>() + on_tools.count()
}

/// One unmarked block is a string, as most clients send it.
fn system_field(chat: &ChatRequest) -> Result<wire::System<'_>, DriverError> {
    let blocks = system(&chat.system)?;
    Ok(match blocks.as_slice() {
        [
            wire::Block {
                body: wire::Body::Text { text },
                cache_control: None,
            },
        ] => wire::System::Text(text),
        _ => wire::System::Blocks(blocks),
    })
}

/// The schemas that are to be promised, as the host gave them.
fn promises(chat: &ChatRequest) -> impl Iterator<Item = (&[u8], Of)> + Clone {
    let tools = chat.tools.iter().filter(|tool| is_strict(tool));
    let answer = match &chat.response_format {
        Some(ResponseFormat::JsonSchema(format)) => Some((format.schema.as_slice(), Of::Answer)),
        _ => None,
    };
    tools
        .map(|tool| (tool.input_schema.as_slice(), Of::Arguments))
        .chain(answer)
}

fn is_strict(tool: &Tool) -> bool {
    tool.strict == Some(true)
}

fn tools<'a>(
    chat: &'a ChatRequest,
    unions: &mut Unions,
) -> Result<Vec<wire::Tool<'a>>, DriverError> {
    let mut tools = Vec::with_capacity(chat.tools.len());
    for (index, tool) in chat.tools.iter().enumerate() {
        if !is_tool_name(&tool.name, MAX_TOOL_NAME_CHARS) {
            return Err(invalid(&format!("tools[{index}].name"), "tool_name"));
        }
        tools.push(wire::Tool {
            name: &tool.name,
            description: tool.description.as_deref(),
            input_schema: input_schema(tool, index, unions)?,
            input_examples: input_examples(tool, index)?,
            strict: tool.strict,
            cache_control: mark(&tool.cache_mark)?,
        });
    }
    Ok(tools)
}

/// Only what is to be promised is compiled: any other schema is words for the model.
fn input_schema(
    tool: &Tool,
    index: usize,
    unions: &mut Unions,
) -> Result<Box<RawValue>, DriverError> {
    if is_strict(tool) {
        let param = format!("tools[{index}].strict");
        promised(&tool.input_schema, Of::Arguments, &param, unions)
    } else {
        raw(&tool.input_schema, &format!("tools[{index}].input_schema"))
    }
}

fn input_examples(tool: &Tool, index: usize) -> Result<Option<Box<RawValue>>, DriverError> {
    let hint = tool.ext.iter().find(|(name, _)| name == INPUT_EXAMPLES);
    hint.map(|(_, examples)| raw(examples, &format!("tools[{index}].{INPUT_EXAMPLES}")))
        .transpose()
}

/// Definitions for the tools that the history calls, by first appearance.
fn synthesised(chat: &ChatRequest) -> Result<Vec<wire::Tool<'_>>, DriverError> {
    let mut tools: Vec<wire::Tool<'_>> = Vec::new();
    let mut names = BTreeSet::new();
    for part in chat.messages.iter().flat_map(|message| &message.content) {
        if let PartBody::ToolCall(call) = &part.body {
            if !is_tool_name(&call.name, MAX_TOOL_NAME_CHARS) {
                return Err(invalid("messages", "tool_name"));
            }
            if names.insert(call.name.as_str()) {
                let input_schema = raw(ANY_OBJECT, "tools")?;
                tools.push(wire::Tool {
                    name: &call.name,
                    description: None,
                    input_schema,
                    input_examples: None,
                    strict: None,
                    cache_control: None,
                });
            }
        }
    }
    Ok(tools)
}

const fn choice<'a>(kind: &'static str, name: Option<&'a str>) -> wire::ToolChoice<'a> {
    wire::ToolChoice {
        kind,
        name,
        disable_parallel_tool_use: None,
    }
}

fn tool_choice(chat: &ChatRequest) -> Result<Option<wire::ToolChoice<'_>>, DriverError> {
    if chat.tools.is_empty() {
        // Without tools any choice is a 400; auto and none mean the same as no choice at all.
        return match &chat.tool_choice {
            None | Some(ToolChoice::Auto | ToolChoice::None) => Ok(None),
            Some(_) => Err(invalid("tool_choice", "no_tools")),
        };
    }
    let one_call = (chat.parallel_tool_calls == Some(false)).then_some(true);
    let mut choice = match &chat.tool_choice {
        None if one_call.is_none() => return Ok(None),
        None | Some(ToolChoice::Auto) => choice("auto", None),
        Some(ToolChoice::None) => return Ok(Some(choice("none", None))),
        Some(ToolChoice::Required) => choice("any", None),
        Some(ToolChoice::Named(name)) if chat.tools.iter().any(|tool| &tool.name == name) => {
            choice("tool", Some(name))
        }
        Some(ToolChoice::Named(_)) => return Err(invalid("tool_choice", "unknown_tool")),
        Some(ToolChoice::Other(_)) => return Err(unsupported("tool_choice")),
    };
    choice.disable_parallel_tool_use = one_call;
    Ok(Some(choice))
}

fn thinking(
    chat: &ChatRequest,
    max_tokens: u32,
) -> Result<Option<wire::Thinking<'_>>, DriverError> {
    match chat.reasoning_tokens {
        None => whole_thinking(chat),
        Some(budget) if budget < MIN_REASONING_TOKENS || budget >= max_tokens => {
            Err(invalid("reasoning_tokens", "reasoning_budget"))
        }
        Some(budget_tokens) => Ok(Some(whole_thinking(chat)?.unwrap_or(
            wire::Thinking::Budget {
                kind: "enabled",
                budget_tokens,
            },
        ))),
    }
}

/// Beside thinking, kind A takes no sampling of one's own, and beside a budget no forced tool. Where the caller asks for
/// both, the request is refused; thinking that the catalogue alone adds is left out. So is a budget in the middle of a
/// loop of calls that began without thinking, or whose thinking nobody brought back: kind A refuses the results of such
/// calls, and they have been run already.
fn settle_thinking(chat: &ChatRequest, request: &mut wire::Request<'_>) -> Result<(), DriverError> {
    let has_budget = request.thinking.as_ref().is_some_and(has_budget);
    if has_budget && goes_on_without_thinking(&request.messages) {
        request.thinking = None;
    }
    let barred = request
        .thinking
        .as_ref()
        .filter(|thinking| thinks(thinking))
        .and_then(|_| barred_by_thinking(request, has_budget));
    let Some(param) = barred else {
        return Ok(());
    };
    let is_asked =
        chat.reasoning_tokens.is_some() || chat.ext.iter().any(|(name, _)| name == ASKED_THINKING);
    if is_asked {
        return Err(unsupported(param));
    }
    request.thinking = None;
    Ok(())
}

fn thinks(thinking: &wire::Thinking<'_>) -> bool {
    kind_of(thinking).is_none_or(|kind| kind != "disabled")
}

/// Thinking with a budget goes on only from calls that had some, and is not forced to call; what adapts itself begins
/// anywhere.
fn has_budget(thinking: &wire::Thinking<'_>) -> bool {
    kind_of(thinking).is_some_and(|kind| kind == "enabled")
}

fn kind_of<'t>(thinking: &'t wire::Thinking<'_>) -> Option<Cow<'t, str>> {
    match thinking {
        wire::Thinking::Budget { kind, .. } => Some(Cow::Borrowed(kind)),
        wire::Thinking::Whole(whole) => {
            let said = serde_json::from_str::<wire::ThinkingKind<'_>>(whole.get());
            said.ok().map(|said| said.kind)
        }
    }
}

/// Whether the last turn answers calls of a loop that did not begin with thinking. A loop of calls and their results is
/// one turn of the model, however many steps it has: it thinks in the first, if at all, and seldom again.
fn goes_on_without_thinking(turns: &[wire::Turn<'_>]) -> bool {
    let is_answer = |block: &wire::Block<'_>| matches!(block.body, wire::Body::ToolResult { .. });
    let is_call = |block: &wire::Block<'_>| matches!(block.body, wire::Body::ToolUse { .. });
    let asks = |turn: &wire::Turn<'_>| turn.role == USER && !turn.content.iter().any(is_answer);
    let asked = turns.iter().rposition(asks);
    let first = asked.and_then(|asked| turns.get(asked + 1));
    first.is_some_and(|first| {
        let begins = first.content.first().map(|block| &block.body);
        first.content.iter().any(is_call)
            && !matches!(
                begins,
                Some(wire::Body::Thinking { .. } | wire::Body::RedactedThinking { .. })
            )
    })
}

/// The first parameter that cannot stand beside thinking. A choice is named by its type: that is what forces a tool.
fn barred_by_thinking(request: &wire::Request<'_>, has_budget: bool) -> Option<&'static str> {
    let choice = request.tool_choice.as_ref().map(|choice| choice.kind);
    if has_budget && matches!(choice, Some("any" | "tool")) {
        Some("tool_choice.type")
    } else if request.temperature.is_some_and(|value| value < 1.0) {
        Some("temperature")
    } else if request
        .top_p
        .is_some_and(|value| value < MIN_TOP_P_BESIDE_THINKING)
    {
        Some("top_p")
    } else if request.top_k.is_some() {
        Some("top_k")
    } else {
        None
    }
}

/// What the caller said beyond a budget. An effort of none is not to think: without a word, some models do.
fn whole_thinking(chat: &ChatRequest) -> Result<Option<wire::Thinking<'_>>, DriverError> {
    let is_barred = chat.reasoning_tokens.is_none()
        && extra(chat, EFFORT).is_some_and(|effort| effort == br#""none""#);
    let said = extra(chat, THINKING).or_else(|| is_barred.then_some(DISABLED));
    let value = said.map(serde_json::from_slice::<&RawValue>).transpose();
    Ok(value
        .map_err(|_| invalid(THINKING, "bad_json"))?
        .map(wire::Thinking::Whole))
}

/// The words of kind A for an effort; less than its lowest is its lowest, and none is told by [`whole_thinking`].
fn effort(chat: &ChatRequest) -> Result<Option<&str>, DriverError> {
    let Some(value) = extra(chat, EFFORT) else {
        return Ok(None);
    };
    let word: &str = serde_json::from_slice(value).map_err(|_| invalid(EFFORT, "bad_json"))?;
    Ok(match word {
        "none" => None,
        "minimal" => Some("low"),
        word => Some(word),
    })
}

/// A parameter without a field of its own; the request's stands behind the catalogue's and wins.
fn extra<'a>(chat: &'a ChatRequest, wanted: &str) -> Option<&'a [u8]> {
    let found = chat.ext.iter().rfind(|(name, _)| bare(name) == wanted);
    found.map(|(_, value)| value.as_slice())
}

/// The name of a parameter, whether or not it must be honoured.
fn bare(name: &str) -> &str {
    name.strip_prefix("must-").unwrap_or(name)
}

fn output_config<'a>(
    chat: &'a ChatRequest,
    unions: &mut Unions,
) -> Result<Option<wire::OutputConfig<'a>>, DriverError> {
    let format = match &chat.response_format {
        None => None,
        Some(ResponseFormat::JsonSchema(format)) => Some(wire::OutputFormat {
            kind: "json_schema",
            schema: promised(&format.schema, Of::Answer, "response_format.schema", unions)?,
        }),
        // Kind A has no plain JSON mode.
        Some(ResponseFormat::JsonObject | ResponseFormat::Other(_)) => {
            return Err(unsupported("response_format"));
        }
    };
    let effort = effort(chat)?;
    let is_given = format.is_some() || effort.is_some();
    Ok(is_given.then_some(wire::OutputConfig { format, effort }))
}

fn passed(chat: &ChatRequest) -> Result<Passed<'_>, DriverError> {
    let mut passed = Passed::default();
    for (name, value) in &chat.ext {
        let bare = bare(name);
        if PASSED.contains(&bare) {
            passed.put(bare, value)?;
        } else if bare != name.as_str() && !PLACED.contains(&bare) {
            return Err(unsupported(bare));
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::bindings::gateway::provider::types::{
        ErrorKind, Message, Part, Reasoning, Role, ToolCall, ToolResult,
    };

    fn chat() -> ChatRequest {
        let part = Part {
            body: PartBody::Text("a".to_owned()),
            cache_mark: None,
            ext: Vec::new(),
        };
        ChatRequest {
            model: "model".to_owned(),
            system: Vec::new(),
            messages: vec![Message {
                role: Role::User,
                content: vec![part],
                name: None,
                ext: Vec::new(),
            }],
            tools: vec![Tool {
                name: "one".to_owned(),
                description: None,
                input_schema: ANY_OBJECT.to_vec(),
                strict: None,
                cache_mark: None,
                ext: Vec::new(),
            }],
            tool_choice: None,
            parallel_tool_calls: None,
            max_output_tokens: Some(4_000),
            temperature: None,
            top_p: None,
            top_k: None,
            stop_sequences: Vec::new(),
            response_format: None,
            reasoning_tokens: None,
            metadata: Vec::new(),
            streaming: false,
            ext: Vec::new(),
        }
    }

    fn said(name: &str, thinking: &Value) -> (String, Vec<u8>) {
        (name.to_owned(), thinking.to_string().into_bytes())
    }

    /// The thinking that is sent, or the parameter that is refused.
    fn sent(built: Result<UpstreamRequest, DriverError>) -> Result<Value, Option<String>> {
        match built {
            Ok(upstream) => {
                let body: Value = serde_json::from_slice(&upstream.body).unwrap_or_default();
                Ok(body["thinking"].clone())
            }
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::UnsupportedParameter);
                Err(error.param)
            }
        }
    }

    fn built(chat: &ChatRequest) -> Result<Value, Option<String>> {
        sent(build(chat, config::get()))
    }

    fn counted(chat: &ChatRequest) -> Result<Value, Option<String>> {
        sent(build_count(chat, config::get()))
    }

    type Spoil = fn(&mut ChatRequest);
    /// What kind A does not take beside thinking, by name.
    const BARRED: [(&str, Spoil); 5] = [
        ("tool_choice.type", |chat| {
            chat.tool_choice = Some(ToolChoice::Required);
        }),
        ("tool_choice.type", |chat| {
            chat.tool_choice = Some(ToolChoice::Named("one".to_owned()));
        }),
        ("temperature", |chat| chat.temperature = Some(0.9)),
        ("top_p", |chat| chat.top_p = Some(0.94)),
        ("top_k", |chat| chat.top_k = Some(3)),
    ];

    #[test]
    fn what_cannot_stand_beside_thinking_is_refused_by_name() {
        let asked: [Spoil; 2] = [
            |chat| chat.reasoning_tokens = Some(2_000),
            |chat| {
                let whole =
                    json!({"type": "enabled", "budget_tokens": 2_000, "display": "omitted"});
                chat.reasoning_tokens = Some(2_000);
                chat.ext.push(said(ASKED_THINKING, &whole));
            },
        ];
        for (param, spoil) in BARRED {
            let mut without = chat();
            spoil(&mut without);
            assert_eq!(built(&without), Ok(Value::Null), "{param}");
            for ask in asked {
                let mut request = chat();
                ask(&mut request);
                assert!(built(&request).is_ok_and(|thinking| thinking.is_object()));
                spoil(&mut request);
                let refused = Err(Some(param.to_owned()));
                assert_eq!(built(&request), refused);
                // Counting sends no sampling.
                if param == "tool_choice.type" {
                    assert_eq!(counted(&request), refused);
                } else {
                    assert!(counted(&request).is_ok_and(|thinking| thinking.is_object()));
                }
            }
        }
    }

    #[test]
    fn thinking_that_adapts_itself_may_be_forced_to_call() {
        let adaptive = json!({"type": "adaptive", "display": "omitted"});
        for name in [ASKED_THINKING, THINKING] {
            for (param, spoil) in BARRED {
                let mut request = chat();
                request.ext.push(said(name, &adaptive));
                spoil(&mut request);
                let expected = match (param, name) {
                    ("tool_choice.type", _) => Ok(adaptive.clone()),
                    (_, ASKED_THINKING) => Err(Some(param.to_owned())),
                    _ => Ok(Value::Null),
                };
                assert_eq!(built(&request), expected, "{name}, {param}");
            }
        }
    }

    #[test]
    fn not_to_think_is_said() {
        let disabled = json!({"type": "disabled"});
        let mut request = chat();
        request.ext.push(said(THINKING, &disabled));
        assert_eq!(built(&request), Ok(disabled.clone()));
        let none = json!("none");
        request.ext = vec![said("must-effort", &none)];
        assert_eq!(built(&request), Ok(disabled));
        assert_eq!(built(&request), counted(&request));
        // Whoever asks for some gets it.
        request.reasoning_tokens = Some(2_000);
        let enabled = json!({"type": "enabled", "budget_tokens": 2_000});
        assert_eq!(built(&request), Ok(enabled));
        request.reasoning_tokens = None;
        let adaptive = json!({"type": "adaptive"});
        request.ext.push(said(ASKED_THINKING, &adaptive));
        assert_eq!(built(&request), Ok(adaptive));
    }

    #[test]
    fn what_asks_for_nothing_stands_beside_thinking() {
        let harmless: [Spoil; 6] = [
            |chat| chat.tool_choice = Some(ToolChoice::Auto),
            |chat| chat.tool_choice = Some(ToolChoice::None),
            |chat| chat.parallel_tool_calls = Some(false),
            |chat| chat.temperature = Some(1.0),
            |chat| chat.temperature = Some(1.7),
            |chat| chat.top_p = Some(0.95),
        ];
        for change in harmless {
            let mut request = chat();
            request.reasoning_tokens = Some(2_000);
            change(&mut request);
            let expected = json!({"type": "enabled", "budget_tokens": 2_000});
            assert_eq!(built(&request), Ok(expected));
        }
    }

    fn call(id: &str) -> PartBody {
        PartBody::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "one".to_owned(),
            arguments: b"{}".to_vec(),
        })
    }

    fn thought(signature: Option<&str>) -> PartBody {
        PartBody::Reasoning(Reasoning {
            text: "hm".to_owned(),
            signature: signature.map(str::to_owned),
        })
    }

    /// A request with the results of these steps of a loop.
    fn answering(steps: Vec<Vec<PartBody>>) -> ChatRequest {
        let turn = |role, bodies: Vec<PartBody>| Message {
            role,
            content: bodies
                .into_iter()
                .map(|body| Part {
                    body,
                    cache_mark: None,
                    ext: Vec::new(),
                })
                .collect(),
            name: None,
            ext: Vec::new(),
        };
        let mut request = chat();
        for parts in steps {
            let results = parts.iter().filter_map(|part| match part {
                PartBody::ToolCall(call) => Some(PartBody::ToolResult(ToolResult {
                    call_id: call.id.clone(),
                    is_error: false,
                    content: Vec::new(),
                })),
                _ => None,
            });
            let results = results.collect();
            request.messages.push(turn(Role::Assistant, parts));
            request.messages.push(turn(Role::User, results));
        }
        request
    }

    fn asked_for(
        mut request: ChatRequest,
        thinking: Option<&Value>,
    ) -> Result<Value, Option<String>> {
        match thinking {
            Some(thinking) => request.ext.push(said(ASKED_THINKING, thinking)),
            None => request.reasoning_tokens = Some(2_000),
        }
        assert_eq!(built(&request), counted(&request));
        built(&request)
    }

    #[test]
    fn calls_that_came_without_thinking_go_on_without() {
        let enabled = json!({"type": "enabled", "budget_tokens": 2_000});
        let adaptive = json!({"type": "adaptive"});
        for thinking in [None, Some(&enabled)] {
            for lost in [vec![call("a")], vec![thought(None), call("a")]] {
                assert_eq!(asked_for(answering(vec![lost]), thinking), Ok(Value::Null));
            }
            let kept = answering(vec![vec![thought(Some("s")), call("a")]]);
            assert_eq!(asked_for(kept, thinking), Ok(enabled.clone()));
        }
        // Which says by itself when to think.
        let bare = answering(vec![vec![call("a")]]);
        assert_eq!(asked_for(bare, Some(&adaptive)), Ok(adaptive));
    }

    /// A loop of calls is one turn of the model, which begins with thinking or has none.
    #[test]
    fn the_first_step_of_a_loop_says_whether_it_thinks() {
        let enabled = json!({"type": "enabled", "budget_tokens": 2_000});
        let (first, text) = (
            || vec![thought(Some("s")), call("a")],
            || PartBody::Text("so".to_owned()),
        );
        for later in [
            vec![call("b")],
            vec![text(), call("b")],
            vec![thought(Some("s")), call("b")],
        ] {
            let goes_on = answering(vec![first(), later]);
            assert_eq!(asked_for(goes_on, None), Ok(enabled.clone()));
        }
        let late = answering(vec![vec![call("a")], vec![thought(Some("s")), call("b")]]);
        assert_eq!(asked_for(late, None), Ok(Value::Null));
        // A loop that is over says nothing of what is asked now.
        let mut next = answering(vec![vec![call("a")]]);
        let (mut said, mut asks) = (chat().messages, chat().messages);
        said[0].role = Role::Assistant;
        next.messages.append(&mut said);
        next.messages.append(&mut asks);
        assert_eq!(asked_for(next, None), Ok(enabled));
    }

    #[test]
    fn thinking_of_the_catalogue_gives_way() {
        let enabled = json!({"type": "enabled", "budget_tokens": 2_000});
        let disabled = json!({"type": "disabled"});
        for (param, spoil) in BARRED {
            let mut request = chat();
            request.ext.push(said(THINKING, &enabled));
            assert_eq!(built(&request), Ok(enabled.clone()));
            spoil(&mut request);
            assert_eq!(built(&request), Ok(Value::Null), "{param}");
            request.ext = vec![said(THINKING, &disabled)];
            assert_eq!(built(&request), Ok(disabled.clone()), "{param}");
        }
    }
}
