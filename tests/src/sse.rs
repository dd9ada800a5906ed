//! Server-sent events as a strict client reads them. The gateway writes the plainest form there is: anything
//! else fails here, and so does an event that is not documented.

use serde_json::Value;

use crate::openapi;
use crate::wire::Reply;

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub data: Value,
}

/// A stream being read.
pub struct Events {
    reply: Reply,
    pending: Vec<u8>,
}

impl Events {
    /// # Panics
    /// When the answer is no stream.
    pub fn of(reply: Reply) -> Self {
        assert_eq!(reply.status, 200, "{:?}", reply.headers);
        let media_type = reply.header("content-type").unwrap_or_default();
        assert!(media_type.starts_with("text/event-stream"), "{media_type}");
        Self {
            reply,
            pending: Vec::new(),
        }
    }

    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The next event; none at the end of the stream, which must be where an event ends.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.pending.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.pending.drain(..end + 2).collect();
                let event = parse(&frame[..end]);
                openapi::check_event(&event);
                return Some(event);
            }
            match self.reply.piece().await {
                Some(bytes) => self.pending.extend_from_slice(&bytes),
                None => {
                    assert!(
                        self.pending.is_empty(),
                        "half an event at the end: {:?}",
                        String::from_utf8_lossy(&self.pending)
                    );
                    return None;
                }
            }
        }
    }

    /// The next event that is no heartbeat.
    pub async fn next_telling(&mut self) -> Option<Event> {
        loop {
            match self.next().await {
                Some(event) if event.name == "heartbeat" => {}
                event => return event,
            }
        }
    }

    /// Reads up to the event of this name.
    ///
    /// # Panics
    /// When the stream ends before it.
    pub async fn until(&mut self, name: &str) -> Event {
        loop {
            match self.next().await {
                Some(event) if event.name == name => return event,
                Some(_) => {}
                None => panic!("the stream ended without {name}"),
            }
        }
    }

    /// Every event up to the end.
    pub async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next_telling().await {
            events.push(event);
        }
        events
    }
}

/// One frame: an `event:` line and a `data:` line with an object (spec, Events), and nothing else.
fn parse(frame: &[u8]) -> Event {
    let text = std::str::from_utf8(frame).expect("UTF-8");
    let lines: Vec<&str> = text.split('\n').collect();
    let [event, data] = lines[..] else {
        panic!("not two lines: {text:?}")
    };
    let name = event
        .strip_prefix("event: ")
        .unwrap_or_else(|| panic!("no event line: {text:?}"));
    let data = data
        .strip_prefix("data: ")
        .unwrap_or_else(|| panic!("no data line: {text:?}"));
    let data: Value =
        serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    assert!(data.is_object(), "{text:?}");
    Event {
        name: name.to_owned(),
        data,
    }
}

/// The text of all `message.delta` events.
pub fn text_of(events: &[Event]) -> String {
    let deltas = events.iter().filter(|event| event.name == "message.delta");
    deltas
        .map(|event| event.data["text"].as_str().expect("text"))
        .collect()
}

/// The names of events, runs of `message.delta` as one.
pub fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    names.dedup_by(|next, before| next == before && *before == "message.delta");
    names
}
