//! Answers of both provider kinds through the drivers, as the host calls them: heads, frames or whole bodies, the end.
//! Events keep the order that the host demands, whatever the provider sends and however it is cut.
//!
//! Input: a byte that picks status and content type, a byte for the length of the pieces, then the body.

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

/// Events in words that both drivers share.
enum Word {
    Started,
    Content,
    CallStart(u32),
    CallPiece(u32),
    CallEnd(u32),
    Alive,
    Finished,
    Failed,
}

/// Where a run stands; the same rules as the host's, which ends a run that breaks them.
#[derive(Default)]
struct Order {
    is_started: bool,
    is_over: bool,
    /// Per call, whether its end is still to come.
    calls: Vec<bool>,
}

impl Order {
    fn take(&mut self, word: &Word) {
        assert!(!self.is_over, "an event after the last");
        let is_early = matches!(word, Word::Started | Word::Alive | Word::Failed);
        assert!(self.is_started || is_early, "an event before the first");
        match *word {
            Word::Started => {
                assert!(!self.is_started, "two first events");
                self.is_started = true;
            }
            Word::CallStart(index) => {
                assert!(index as usize == self.calls.len(), "calls are not dense");
                self.calls.push(true);
            }
            Word::CallPiece(index) => assert!(self.is_open(index), "a piece of no open call"),
            Word::CallEnd(index) => {
                assert!(self.is_open(index), "the end of no open call");
                if let Some(open) = self.calls.get_mut(index as usize) {
                    *open = false;
                }
            }
            Word::Finished => {
                assert!(!self.calls.contains(&true), "the reply ends inside a call");
                self.is_over = true;
            }
            Word::Failed => self.is_over = true,
            Word::Content | Word::Alive => {}
        }
    }

    fn is_open(&self, index: u32) -> bool {
        self.calls.get(index as usize) == Some(&true)
    }
}

/// One run of a driver with an answer; the events as text, to be compared.
type Run = fn(u16, &str, &[u8], usize) -> Vec<String>;

pub(crate) fn of_alpha(data: &[u8]) {
    check(data, alpha);
}

pub(crate) fn of_beta(data: &[u8]) {
    check(data, beta);
}

fn check(data: &[u8], run: Run) {
    let [head, piece_bytes, body @ ..] = data else {
        return;
    };
    let Some((status, content_type)) = HEADS.get(usize::from(*head) % HEADS.len()) else {
        return;
    };
    let whole = run(*status, content_type, body, usize::MAX);
    let cut = run(*status, content_type, body, usize::from(*piece_bytes));
    assert!(cut == whole, "a cut changes events");
}

/// What the host lets pass as a machine word (provider.wit, `driver-error`); anything else may be the provider's words.
fn is_machine_word(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-[]".contains(&byte);
    (1..=64).contains(&word.len()) && word.bytes().all(is_part)
}

/// The functions of one guest; both have the same, with types of their own.
macro_rules! run_of {
    ($name:ident, $guest:ident) => {
        fn $name(status: u16, content_type: &str, body: &[u8], piece_bytes: usize) -> Vec<String> {
            use $guest::bindings::exports::gateway::provider::driver::{End, Frame, GuestRun};
            use $guest::bindings::gateway::provider::types::{DriverError, Event, Framing, Header};

            let word = |event: &Event| match event {
                Event::Started(_) => Word::Started,
                Event::ToolCallStart((index, ..)) => Word::CallStart(*index),
                Event::ToolCallDelta((index, _)) => Word::CallPiece(*index),
                Event::ToolCallEnd(index) => Word::CallEnd(*index),
                Event::KeepAlive => Word::Alive,
                Event::Finished(_) => Word::Finished,
                Event::Failed(_) => Word::Failed,
                _ => Word::Content,
            };
            let failed = |error: &DriverError| {
                for word in [&error.upstream_code, &error.param].into_iter().flatten() {
                    assert!(is_machine_word(word), "a failure in free words");
                }
                format!("Failed({error:?})")
            };
            let mut order = Order::default();
            let mut said = Vec::new();
            let mut take = |events: Vec<Event>| {
                for event in events {
                    order.take(&word(&event));
                    if let Event::Failed(error) = &event {
                        failed(error);
                    }
                    said.push(format!("{event:?}"));
                }
                order.is_over
            };
            let headers = [("content-type", content_type), ("retry-after", "7")];
            let headers = headers.map(|(name, value)| Header {
                name: name.to_owned(),
                value: value.to_owned(),
            });
            let run = $guest::run::Run::default();
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
                return said;
            };
            // As the host does: frames in one buffer, several at a time; nothing after the last event.
            for several in frames.chunks(piece_bytes.clamp(1, 64)) {
                let mut data = Vec::new();
                let mut place = |text: &str| {
                    let start = data.len() as u32;
                    data.extend_from_slice(text.as_bytes());
                    (start, data.len() as u32)
                };
                let mut ranges = Vec::new();
                for frame in several {
                    let (name_start, name_end) = place(&frame.name);
                    let (data_start, data_end) = place(&frame.data);
                    ranges.push(Frame {
                        name_start,
                        name_end,
                        data_start,
                        data_end,
                    });
                }
                match run.push(data, ranges) {
                    Ok(events) => {
                        if take(events) {
                            return said;
                        }
                    }
                    Err(error) => {
                        said.push(failed(&error));
                        return said;
                    }
                }
            }
            let is_over = take(run.close(End::Complete));
            assert!(is_over, "a run that was closed goes on");
            said
        }
    };
}

run_of!(alpha, provider_alpha);
run_of!(beta, provider_beta);
