//! Turns an answer and its behaviour into steps: what is sent, when, and how it breaks.
//!
//! Pure: the steps are carried out in [`crate::fake_provider::answer`].

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Barrier;

use crate::fake_provider::format::{Event, Format, Refusal};
use crate::fake_provider::frame::{self, Place};
use crate::fake_provider::listener::Close;
use crate::fake_provider::reply::Reply;
use crate::fake_provider::script::{Behaviour, LineEnd};

/// One step of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Wait(Duration),
    Send(Bytes),
    /// Nothing more happens until the caller leaves.
    Stall,
    Break(Close),
}

/// An answer ready to be carried out.
pub(crate) struct Plan {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) retry_after: Option<String>,
    /// Length of the body where it is sent in one piece.
    pub(crate) content_length: Option<usize>,
    /// Where it waits for other answers before anything else.
    pub(crate) meeting: Option<Arc<Barrier>>,
    pub(crate) before_head: Vec<Step>,
    pub(crate) body: Vec<Step>,
}

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const PAGE: &str = "<!DOCTYPE html><html><head><title>Just a moment</title></head>\
                    <body>This page is not an answer.</body></html>";

/// The plan of a reply, whole or as a stream.
pub(crate) fn answer(
    format: &Format,
    reply: &Reply,
    behaviour: &Behaviour,
    stream: bool,
    event_delay: Duration,
) -> Plan {
    let delay = behaviour
        .delay_between_events_ms
        .map_or(event_delay, Duration::from_millis);
    if let Some(foreign) = foreign(behaviour) {
        return foreign;
    }
    if !stream {
        let body = (format.whole)(reply).to_string();
        return whole(200, JSON, body.into(), behaviour);
    }
    let mut events = (format.events)(reply);
    if behaviour.no_terminal_event {
        events.retain(|event| !event.terminal);
    }
    if let Some(at) = behaviour.error_event_after_events {
        events.truncate(at);
        events.push((format.error_event)(&refusal(behaviour, 529, "")));
    }
    let pieces = encode(&events, behaviour);
    let body = steps(pieces, delay, behaviour);
    plan(200, EVENT_STREAM, None, body, behaviour)
}

/// The plan of a count of tokens.
pub(crate) fn count(format: &Format, tokens: u64, behaviour: &Behaviour) -> Plan {
    let body = || (format.count)(tokens).to_string().into();
    foreign(behaviour).unwrap_or_else(|| whole(200, JSON, body(), behaviour))
}

/// What no provider would say, where the behaviour asks for it.
fn foreign(behaviour: &Behaviour) -> Option<Plan> {
    let body = match &behaviour.raw_body {
        Some(body) => body.clone(),
        None if behaviour.html_page => PAGE.into(),
        None => return None,
    };
    Some(whole(200, HTML, body.into(), behaviour))
}

/// The plan of an error answer.
pub(crate) fn error(
    format: &Format,
    refusal: &Refusal,
    request_id: &str,
    behaviour: &Behaviour,
) -> Plan {
    let body = (format.error)(refusal, request_id).to_string();
    let body = behaviour.raw_body.clone().unwrap_or(body);
    let content_type = if behaviour.html_page { HTML } else { JSON };
    let body = if behaviour.html_page {
        PAGE.into()
    } else {
        body
    };
    whole(refusal.status, content_type, body.into(), behaviour)
}

/// The error that a behaviour asks for. Its default message quotes the caller, as a real one may.
pub(crate) fn refusal(behaviour: &Behaviour, status: u16, said: &str) -> Refusal {
    let message = behaviour.error_message.clone();
    Refusal {
        status,
        kind: behaviour.error_type.clone(),
        message: message.unwrap_or_else(|| format!("Ordered failure while answering: {said}")),
    }
}

fn encode(events: &[Event], behaviour: &Behaviour) -> Vec<Bytes> {
    let count = events.len();
    let plain = behaviour.line_end == LineEnd::Lf
        && !(behaviour.bom
            || behaviour.comments
            || behaviour.no_space
            || behaviour.multi_line_data
            || behaviour.id_and_retry
            || behaviour.unterminated);
    events
        .iter()
        .enumerate()
        .map(|(at, event)| {
            if behaviour.malformed_after_events == Some(at) {
                return malformed(event);
            }
            let place = Place {
                first: at == 0,
                last: at + 1 == count,
            };
            if plain {
                frame::plain(event)
            } else {
                frame::odd(event, behaviour, place)
            }
        })
        .collect()
}

/// An event whose JSON ends in the middle.
fn malformed(event: &Event) -> Bytes {
    let data = event.data.line();
    let half: String = data.chars().take(data.chars().count() / 2).collect();
    match event.name {
        "" => format!("data: {half}\n\n").into(),
        name => format!("event: {name}\ndata: {half}\n\n").into(),
    }
}

/// A body with a known length. Where it has to break, it breaks between its halves.
fn whole(status: u16, content_type: &str, body: Bytes, behaviour: &Behaviour) -> Plan {
    let length = body.len();
    let breaks = behaviour.stall_after_events.is_some() || behaviour.close_after_events.is_some();
    let pieces = if breaks {
        let (head, tail) = (body.slice(..length / 2), body.slice(length / 2..));
        vec![head, tail]
    } else {
        vec![body]
    };
    let delay = behaviour.delay_between_events_ms.unwrap_or(0);
    let body = steps(pieces, Duration::from_millis(delay), behaviour);
    plan(status, content_type, Some(length), body, behaviour)
}

fn steps(pieces: Vec<Bytes>, delay: Duration, behaviour: &Behaviour) -> Vec<Step> {
    let mut steps = Vec::with_capacity(pieces.len() * 2);
    let count = pieces.len();
    for (at, piece) in pieces.into_iter().enumerate() {
        if breaks_at(behaviour, at, &mut steps) {
            return steps;
        }
        if !delay.is_zero() {
            steps.push(Step::Wait(delay));
        }
        steps.push(Step::Send(piece));
    }
    breaks_at(behaviour, count, &mut steps);
    steps
}

/// Adds the break that belongs behind `sent` events, if one does.
fn breaks_at(behaviour: &Behaviour, sent: usize, steps: &mut Vec<Step>) -> bool {
    if behaviour.stall_after_events == Some(sent) {
        steps.push(Step::Stall);
    } else if behaviour.close_after_events == Some(sent) {
        steps.push(Step::Break(behaviour.close));
    } else {
        return false;
    }
    true
}

fn plan(
    status: u16,
    content_type: &str,
    content_length: Option<usize>,
    body: Vec<Step>,
    behaviour: &Behaviour,
) -> Plan {
    let mut before_head = Vec::new();
    if behaviour.delay_before_head_ms > 0 {
        let delay = Duration::from_millis(behaviour.delay_before_head_ms);
        before_head.push(Step::Wait(delay));
    }
    // "After no event" means that not even the head is seen.
    breaks_at(behaviour, 0, &mut before_head);
    let ordered = behaviour.content_type.clone();
    Plan {
        status,
        content_type: ordered.unwrap_or_else(|| content_type.to_owned()),
        retry_after: behaviour.retry_after.clone(),
        content_length,
        meeting: behaviour.meeting.clone(),
        before_head,
        body,
    }
}
