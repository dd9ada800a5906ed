//! Answers of both provider kinds through the drivers, as the host calls them: heads, frames or whole bodies, the end.
//! Events keep the order that the host demands, whatever the provider sends and however it is cut.
//!
//! Input: a byte that picks status and content type, a byte for the length of the pieces, then the body.

use driver_kit::bindings::exports::gateway::provider::driver::{End, Frame, GuestRun};
use driver_kit::bindings::gateway::provider::types::{DriverError, Event, Framing, Header};
use driver_kit::counting::exports::gateway::provider::token_count::Guest;
use provider_alpha::Alpha;

use crate::sse::frames;

/// Status and content type of the answers tried; what a provider may send, and what stands before one.
const HEADS: [(u16, &str); 8] = [
    (200, "text/event-stream; charset=utf-8"),
    (200, "application/json"),
    (400, "application/json"),
    (429, "application/json; charset=utf-8"),
    (500, "application/json"),
    (503, "text/html"),
    (200, "text/html"),
    (302, "application/json"),
];

/// Where a run stands; the same rules as the host's, which ends a run that breaks them.
#[derive(Default)]
struct Order {
    is_started: bool,
    is_over: bool,
    /// Per call, whether its end is still to come.
    calls: Vec<bool>,
}

impl Order {
    fn take_all(&mut self, events: &[Event], said: &mut Vec<String>) {
        for event in events {
            self.take(event);
            said.push(format!("{event:?}"));
        }
    }

    fn take(&mut self, event: &Event) {
        assert!(!self.is_over, "an event after the last");
        let is_early = matches!(
            event,
            Event::Started(_) | Event::KeepAlive | Event::Failed(_)
        );
        assert!(self.is_started || is_early, "an event before the first");
        match event {
            Event::Started(_) => {
                assert!(!self.is_started, "two first events");
                self.is_started = true;
            }
            Event::ToolCallStart((index, ..)) => {
                assert!(*index as usize == self.calls.len(), "calls are not dense");
                self.calls.push(true);
            }
            Event::ToolCallDelta((index, _)) => {
                assert!(self.is_open(*index), "a piece of no open call");
            }
            Event::ToolCallEnd(index) => {
                assert!(self.is_open(*index), "the end of no open call");
                if let Some(open) = self.calls.get_mut(*index as usize) {
                    *open = false;
                }
            }
            Event::Finished(_) => {
                assert!(!self.calls.contains(&true), "the reply ends inside a call");
                self.is_over = true;
            }
            Event::Failed(error) => {
                failed(error);
                self.is_over = true;
            }
            _ => {}
        }
    }

    fn is_open(&self, index: u32) -> bool {
        self.calls.get(index as usize) == Some(&true)
    }
}

pub(crate) fn of_alpha(data: &[u8]) {
    check::<provider_alpha::run::Run>(data);
}

pub(crate) fn of_beta(data: &[u8]) {
    check::<provider_beta::run::Run>(data);
}

/// The answer to counting tokens: the first byte picks the status.
pub(crate) fn count_of_alpha(data: &[u8]) {
    let Some((head, body)) = data.split_first() else {
        return;
    };
    let Some((status, _)) = HEADS.get(usize::from(*head) % HEADS.len()) else {
        return;
    };
    match Alpha::parse(*status, body.to_vec()) {
        Ok(_) => assert!(*status == 200, "a count without a good status"),
        Err(error) => {
            let words = [&error.upstream_code, &error.param];
            let mut words = words.into_iter().flatten();
            assert!(words.all(|word| is_machine_word(word)), "free words");
        }
    }
}

fn check<R: GuestRun + Default>(data: &[u8]) {
    let [head, piece_bytes, body @ ..] = data else {
        return;
    };
    let Some((status, content_type)) = HEADS.get(usize::from(*head) % HEADS.len()) else {
        return;
    };
    let whole = run::<R>(*status, content_type, body, usize::MAX);
    let cut = run::<R>(*status, content_type, body, usize::from(*piece_bytes));
    assert!(cut == whole, "a cut changes events");
}

/// What the host lets pass as a machine word (provider.wit, `driver-error`); anything else may be the provider's words.
fn is_machine_word(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-[]".contains(&byte);
    (1..=64).contains(&word.len()) && word.bytes().all(is_part)
}

/// One run of a driver with an answer; the events as text, to be compared.
fn run<R: GuestRun + Default>(
    status: u16,
    content_type: &str,
    body: &[u8],
    piece_bytes: usize,
) -> Vec<String> {
    let headers = [("content-type", content_type), ("retry-after", "7")];
    let headers = headers.map(|(name, value)| Header {
        name: name.to_owned(),
        value: value.to_owned(),
    });
    let run = R::default();
    let framing = match run.head(status, headers.into()) {
        Ok(framing) => framing,
        Err(error) => return vec![failed(&error)],
    };
    let frames = match framing {
        Framing::Sse => frames(body, piece_bytes),
        _ => Ok(vec![svc_core::sse::Frame {
            name: String::new(),
            data: String::from_utf8_lossy(body).into_owned(),
        }]),
    };
    let Ok(frames) = frames else {
        return Vec::new();
    };
    let (mut order, mut said) = (Order::default(), Vec::new());
    // As the host does: several frames at a time, nothing after the last event.
    for several in frames.chunks(piece_bytes.clamp(1, 64)) {
        match push(&run, several) {
            Ok(events) => order.take_all(&events, &mut said),
            Err(error) => {
                said.push(failed(&error));
                return said;
            }
        }
        if order.is_over {
            return said;
        }
    }
    order.take_all(&run.close(End::Complete), &mut said);
    assert!(order.is_over, "a run that was closed goes on");
    said
}

/// Hands frames over in one buffer, as the host does.
fn push(run: &impl GuestRun, frames: &[svc_core::sse::Frame]) -> Result<Vec<Event>, DriverError> {
    let mut data = Vec::new();
    let mut place = |text: &str| {
        let start = data.len() as u32;
        data.extend_from_slice(text.as_bytes());
        (start, data.len() as u32)
    };
    let mut ranges = Vec::new();
    for frame in frames {
        let (name_start, name_end) = place(&frame.name);
        let (data_start, data_end) = place(&frame.data);
        ranges.push(Frame {
            name_start,
            name_end,
            data_start,
            data_end,
        });
    }
    run.push(data, ranges)
}

/// A failure as text.
fn failed(error: &DriverError) -> String {
    for word in [&error.upstream_code, &error.param].into_iter().flatten() {
        assert!(is_machine_word(word), "a failure in free words");
    }
    format!("Failed({error:?})")
}
