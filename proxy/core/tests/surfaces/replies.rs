//! Replies for the encoders: one run, its events in any order that a driver may send, and both ways to write it.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use svc_core::chat::{ChatEvent, ChatReply, Finish, FinishReason, ReplyBuilder, Usage};
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::sse::{Frame, Framer};
use svc_core::surface::{PhiMetadata, ReplyEncoder, RunHead, RunSummary};
use svc_core::time::Timestamp;

pub(crate) const USAGE: Usage = Usage {
    input_tokens: 11,
    output_tokens: 7,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 3,
};

pub(crate) fn head() -> RunHead {
    RunHead {
        request_id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        message_id: "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        conversation_id: None,
        model: "alpha-haiku-4-5".into(),
        created: Timestamp(1_795_205_340_123),
        estimated_input_tokens: 12,
    }
}

pub(crate) fn finish(reason: FinishReason) -> Finish {
    Finish {
        reason,
        raw: String::new(),
        stop_sequence: None,
        refused_category: None,
    }
}

/// A run in both forms.
pub(crate) struct Written {
    pub(crate) stream: String,
    pub(crate) whole: Value,
}

/// Writes a run as a stream and whole.
pub(crate) fn write<E: ReplyEncoder + Default>(events: &[ChatEvent], finish: &Finish) -> Written {
    let head = head();
    let phi = PhiMetadata::default();
    let run = RunSummary {
        head: &head,
        usage: USAGE,
        charge: Charge {
            credits: Micro::ZERO,
            sonnet_equivalent_tokens: 0,
            cost_usd: Micro::ZERO,
        },
        finish,
        phi: &phi,
    };
    let mut encoder = E::default();
    let mut out = Vec::new();
    encoder.open(&head, &mut out);
    for event in events {
        encoder.event(event, &mut out).unwrap();
    }
    encoder.complete(&run, &mut out);
    Written {
        stream: String::from_utf8(out).unwrap(),
        whole: E::default().whole(&built(events), &run),
    }
}

pub(crate) fn built(events: &[ChatEvent]) -> ChatReply {
    let mut builder = ReplyBuilder::keeping_unparsed();
    for event in events {
        builder.push(event);
    }
    builder.finish().unwrap()
}

pub(crate) fn frames(stream: &str) -> Vec<Frame> {
    let (mut framer, mut frames) = (Framer::default(), Vec::new());
    framer.push(stream.as_bytes(), &mut frames).unwrap();
    framer.finish(&mut frames).unwrap();
    frames
}

pub(crate) fn text(text: &str) -> ChatEvent {
    ChatEvent::Text(text.into())
}

pub(crate) fn start(index: u32, id: &str, name: &str) -> ChatEvent {
    ChatEvent::ToolCallStart {
        index,
        id: id.into(),
        name: name.into(),
    }
}

pub(crate) fn delta(index: u32, fragment: &str) -> ChatEvent {
    ChatEvent::ToolCallDelta {
        index,
        fragment: fragment.into(),
    }
}

pub(crate) fn end(index: u32) -> ChatEvent {
    ChatEvent::ToolCallEnd { index }
}

/// One step of a made-up run.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Text(String),
    Reasoning(String),
    Signature(String),
    Redacted(String),
    Usage,
    KeepAlive,
    Start,
    /// A piece for one of the open calls.
    Delta(usize, usize),
    End(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let piece = "[a-zé\"\\\\\n😀]{0,4}";
    prop_oneof![
        3 => piece.prop_map(Step::Text),
        2 => piece.prop_map(Step::Reasoning),
        1 => "[A-Za-z0-9=]{1,6}".prop_map(Step::Signature),
        1 => "[A-Za-z0-9=]{1,6}".prop_map(Step::Redacted),
        1 => Just(Step::Usage),
        1 => Just(Step::KeepAlive),
        2 => Just(Step::Start),
        5 => (any::<usize>(), 0_usize..5).prop_map(|(call, chars)| Step::Delta(call, chars)),
        2 => any::<usize>().prop_map(Step::End),
    ]
}

/// Arguments that the calls of a run have, in turn.
const ARGUMENTS: &[&str] = &[
    "{}",
    "{\"a\":1}",
    "{\"text\":\"é😀 \\\"q\\\"\",\"n\":[1,2,{\"x\":null}]}",
];

/// Steps of a run; events themselves cannot be shown, since they hold content.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 0..40)
}

/// Events in any order that the host lets through: dense indices, pieces only of open calls, every call ended.
pub(crate) fn events(steps: Vec<Step>) -> Vec<ChatEvent> {
    let mut events = Vec::new();
    let mut open: Vec<(u32, Vec<char>)> = Vec::new();
    let mut next = 0;
    for step in steps {
        match step {
            Step::Text(piece) => events.push(ChatEvent::Text(piece)),
            Step::Reasoning(piece) => events.push(ChatEvent::Reasoning(piece)),
            Step::Signature(mark) => events.push(ChatEvent::ReasoningSignature(mark)),
            Step::Redacted(data) => events.push(ChatEvent::RedactedReasoning { data }),
            Step::Usage => events.push(ChatEvent::Usage(USAGE)),
            Step::KeepAlive => events.push(ChatEvent::KeepAlive),
            Step::Start => {
                let arguments = ARGUMENTS[next as usize % ARGUMENTS.len()];
                open.push((next, arguments.chars().collect()));
                events.push(start(next, &format!("call_{next}"), "tool"));
                next += 1;
            }
            Step::Delta(which, chars) if !open.is_empty() => {
                let at = which % open.len();
                let (index, rest) = &mut open[at];
                let piece: String = rest.drain(..chars.min(rest.len())).collect();
                events.push(delta(*index, &piece));
            }
            Step::End(which) if !open.is_empty() => {
                let (index, rest) = open.remove(which % open.len());
                events.push(delta(index, &rest.iter().collect::<String>()));
                events.push(end(index));
            }
            Step::Delta(..) | Step::End(_) => {}
        }
    }
    for (index, rest) in open {
        events.push(delta(index, &rest.iter().collect::<String>()));
        events.push(end(index));
    }
    events
}

pub(crate) fn any_reason() -> impl Strategy<Value = FinishReason> {
    proptest::sample::select(vec![
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::Refusal,
        FinishReason::ContentFilter,
        FinishReason::Other,
    ])
}
