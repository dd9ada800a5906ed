//! The tool calls of one reply: pieces as kind B sends them, canonical events as they must come.
//!
//! Pieces of several calls may be mixed; canonical calls are numbered in the order in which they start and all
//! end with the reply.

use crate::bindings::gateway::provider::types::Event;
use crate::wire::CallDelta;

#[derive(Default)]
pub struct Calls {
    all: Vec<Call>,
    started: u32,
}

/// A call that has been heard of.
#[derive(Default)]
struct Call {
    /// The wire's index; none where an endpoint gives none.
    index: Option<u64>,
    id: String,
    name: String,
    /// Arguments that came before the call could start.
    held: String,
    /// The canonical index, once started.
    number: Option<u32>,
}

impl Calls {
    /// Takes in one piece; `index` tells the call.
    pub fn take(&mut self, index: Option<u64>, piece: &CallDelta<'_>, events: &mut Vec<Event>) {
        let id = piece.id.as_deref().unwrap_or("");
        // Some endpoints give every call the same index and tell them apart by id.
        let known = self.all.iter().rposition(|call| {
            (index.is_none() || call.index == index)
                && (id.is_empty() || call.id.is_empty() || call.id == id)
        });
        let at = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(Call {
                index,
                ..Call::default()
            });
        }
        let Some(call) = self.all.get_mut(at) else {
            return;
        };
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        let (name, arguments) = match &piece.function {
            Some(function) => (function.name.as_deref(), function.arguments.as_deref()),
            None => (None, None),
        };
        if call.name.is_empty() {
            call.name.push_str(name.unwrap_or(""));
        }
        call.held.push_str(arguments.unwrap_or(""));
        if call.number.is_none() && !call.id.is_empty() && !call.name.is_empty() {
            call.number = Some(self.started);
            events.push(Event::ToolCallStart((
                self.started,
                call.id.clone(),
                call.name.clone(),
            )));
            self.started += 1;
        }
        if let Some(number) = call.number.filter(|_| !call.held.is_empty()) {
            events.push(Event::ToolCallDelta((
                number,
                std::mem::take(&mut call.held),
            )));
        }
    }

    /// Ends every call; false when one never got an id and a name.
    pub fn end(&mut self, events: &mut Vec<Event>) -> bool {
        let mut calls = std::mem::take(&mut self.all);
        calls.sort_by_key(|call| call.number);
        for call in &calls {
            let Some(number) = call.number else {
                return false;
            };
            events.push(Event::ToolCallEnd(number));
        }
        true
    }

    /// Whether any call has started.
    pub fn any(&self) -> bool {
        self.started > 0
    }
}
