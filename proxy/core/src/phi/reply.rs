//! Restores a whole reply, event by event: text, reasoning and each tool call by itself.
//!
//! What is held back in one channel is let go before an event that ends it, so that the order of content
//! stays. [`super::ReplyRedactor`] belongs in front of this: it must see placeholders, not values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::restore::forms::{FormPlaces, Former};
use super::restore::{Channel, RestoreTable, Restorer, restore};
use crate::chat::{ChatEvent, ChatRequest, Finish, ResponseFormat};

/// One reply on its way to the caller.
pub struct ReplyRestorer {
    table: Arc<RestoreTable>,
    /// Kept for the whole reply: readers join text around tool calls, and an address with it.
    text: Restorer,
    reasoning: Restorer,
    /// Which of the two spoke last.
    open: Option<Prose>,
    /// By the index of the tool call.
    calls: BTreeMap<u32, Call>,
    /// What was asked: its schemas say where numbers and dates are wanted.
    chat: Arc<ChatRequest>,
    /// Of the tools that were called.
    tools: BTreeMap<String, Option<Arc<FormPlaces>>>,
    /// Of a text that was asked for in a schema.
    text_forms: Option<Former>,
    /// In calls that are finished.
    restored_in_calls: u64,
    drifted_in_calls: u64,
}

/// For what is to conform to a schema, where that wants numbers or dates.
fn former(schema: &Value) -> Option<Former> {
    FormPlaces::of(schema).map(|places| Former::new(Arc::new(places)))
}

/// The arguments of one tool call.
struct Call {
    restorer: Restorer,
    former: Option<Former>,
}

impl Call {
    fn push(&mut self, fragment: &str) -> String {
        let restored = self.restorer.push(fragment);
        match &mut self.former {
            Some(former) => former.push(&restored),
            None => restored,
        }
    }

    fn finish(&mut self) -> String {
        let restored = self.restorer.finish();
        match &mut self.former {
            Some(former) => former.push(&restored) + &former.finish(),
            None => restored,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Prose {
    Text,
    Reasoning,
}

impl Prose {
    fn event(self, text: String) -> ChatEvent {
        match self {
            Self::Text => ChatEvent::Text(text),
            Self::Reasoning => ChatEvent::Reasoning(text),
        }
    }
}

impl ReplyRestorer {
    /// A restorer for a reply to `chat`, of which nothing was seen yet.
    pub fn new(table: Arc<RestoreTable>, chat: Arc<ChatRequest>) -> Self {
        let text_forms = match &chat.response_format {
            Some(ResponseFormat::JsonSchema { schema, .. }) if !table.is_empty() => former(schema),
            _ => None,
        };
        Self {
            chat,
            tools: BTreeMap::new(),
            text_forms,
            text: Restorer::new(Arc::clone(&table), Channel::Prose),
            reasoning: Restorer::new(Arc::clone(&table), Channel::Prose),
            table,
            open: None,
            calls: BTreeMap::new(),
            restored_in_calls: 0,
            drifted_in_calls: 0,
        }
    }

    /// Takes in the next event; appends the events to send on, none when all of it is held back.
    pub fn push(&mut self, event: ChatEvent, out: &mut Vec<ChatEvent>) {
        if self.table.is_empty() {
            out.push(event);
            return;
        }
        match event {
            ChatEvent::Text(piece) => self.prose(Prose::Text, &piece, out),
            ChatEvent::Reasoning(piece) => self.prose(Prose::Reasoning, &piece, out),
            ChatEvent::ToolCallStart { index, id, name } => {
                self.end_prose(out);
                let restorer = Restorer::new(Arc::clone(&self.table), Channel::Json);
                let former = self.places(&name).map(Former::new);
                self.calls.insert(index, Call { restorer, former });
                out.push(ChatEvent::ToolCallStart { index, id, name });
            }
            ChatEvent::ToolCallDelta { index, fragment } => {
                let fragment = match self.calls.get_mut(&index) {
                    Some(call) => call.push(&fragment),
                    None => fragment,
                };
                if !fragment.is_empty() {
                    out.push(ChatEvent::ToolCallDelta { index, fragment });
                }
            }
            ChatEvent::ToolCallEnd { index } => {
                self.end_call(index, out);
                out.push(ChatEvent::ToolCallEnd { index });
            }
            ChatEvent::Finished(finish) => {
                self.finish(out);
                out.push(ChatEvent::Finished(self.stop_sequence(finish)));
            }
            ChatEvent::Declined
            | ChatEvent::ReasoningSignature(_)
            | ChatEvent::RedactedReasoning { .. }
            | ChatEvent::ProviderToolCompleted { .. } => {
                self.end_prose(out);
                out.push(event);
            }
            ChatEvent::Started { .. } | ChatEvent::Usage(_) | ChatEvent::KeepAlive => {
                out.push(event);
            }
        }
    }

    /// The end of a reply, also of one that was cut short; appends what was held back.
    pub fn finish(&mut self, out: &mut Vec<ChatEvent>) {
        self.end_prose(out);
        while let Some(index) = self.calls.keys().next().copied() {
            self.end_call(index, out);
        }
    }

    /// Placeholders restored so far.
    pub fn restored(&self) -> u64 {
        let calls: u64 = self
            .calls
            .values()
            .map(|call| call.restorer.restored())
            .sum();
        self.text.restored() + self.reasoning.restored() + calls + self.restored_in_calls
    }

    /// How many of them the model had written in another form, `[Name 1]`.
    pub fn drifted(&self) -> u64 {
        let calls: u64 = self
            .calls
            .values()
            .map(|call| call.restorer.drifted())
            .sum();
        self.text.drifted() + self.reasoning.drifted() + calls + self.drifted_in_calls
    }

    fn prose(&mut self, prose: Prose, piece: &str, out: &mut Vec<ChatEvent>) {
        if self.open != Some(prose) {
            self.end_prose(out);
            self.open = Some(prose);
        }
        let mut text = self.restorer(prose).push(piece);
        if let Some(former) = self.former(prose) {
            text = former.push(&text);
        }
        if !text.is_empty() {
            out.push(prose.event(text));
        }
    }

    fn end_prose(&mut self, out: &mut Vec<ChatEvent>) {
        if let Some(prose) = self.open.take() {
            let mut text = self.restorer(prose).finish();
            if let Some(former) = self.former(prose) {
                text = former.push(&text) + &former.finish();
            }
            if !text.is_empty() {
                out.push(prose.event(text));
            }
        }
    }

    /// Where a tool wants numbers and dates; each schema is read once.
    fn places(&mut self, name: &str) -> Option<Arc<FormPlaces>> {
        let places = self.tools.entry(name.to_owned()).or_insert_with(|| {
            let mut tools = self.chat.tools.iter();
            let tool = tools.find(|tool| tool.name == name)?;
            FormPlaces::of(&tool.input_schema).map(Arc::new)
        });
        places.clone()
    }

    fn former(&mut self, prose: Prose) -> Option<&mut Former> {
        self.text_forms.as_mut().filter(|_| prose == Prose::Text)
    }

    fn restorer(&mut self, prose: Prose) -> &mut Restorer {
        match prose {
            Prose::Text => &mut self.text,
            Prose::Reasoning => &mut self.reasoning,
        }
    }

    fn end_call(&mut self, index: u32, out: &mut Vec<ChatEvent>) {
        if let Some(mut call) = self.calls.remove(&index) {
            let fragment = call.finish();
            self.restored_in_calls += call.restorer.restored();
            self.drifted_in_calls += call.restorer.drifted();
            if !fragment.is_empty() {
                out.push(ChatEvent::ToolCallDelta { index, fragment });
            }
        }
    }

    /// The stop sequence is the caller's own text that comes back.
    fn stop_sequence(&self, finish: Finish) -> Finish {
        let Finish {
            reason,
            raw,
            stop_sequence,
            refused_category,
        } = finish;
        let stop_sequence = stop_sequence.map(|stop| restore(&stop, &self.table, Channel::Prose).0);
        Finish {
            reason,
            raw,
            stop_sequence,
            refused_category,
        }
    }
}
