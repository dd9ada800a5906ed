//! Takes PHI that is new in a reply out of it, event by event, before anybody sees it: text, reasoning and each
//! tool call by itself.
//!
//! A state machine without detectors: it says which text to scan ([`Step::Scan`]) and is told what was found.
//! Cuts depend on the text alone, so the reply comes out the same however it arrives; each text is scanned
//! once, with the text before it. Restoring belongs behind it, so that known values go out and come back.

mod arguments;
mod asked;
mod cutter;
mod memory;
mod prose;
mod unit;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use arguments::Arguments;
use asked::Asked;
pub use asked::{Answer, Inquiry};
use cutter::Cut;
use memory::Memory;
use prose::Prose;
use unit::{Edits, Unit};

use super::Origin;
use super::counts::Counts;
use super::kind::ENTITY_KINDS;
use super::map::PlaceholderMap;
use super::merge::Finding;
use super::redact::Shifted;
use super::scan::TextScan;
use super::sweep::TooManyMentions;
use super::token;
use crate::chat::{ChatEvent, ChatRequest};

/// What to do next.
pub enum Step {
    /// Send this on.
    Send(ChatEvent),
    /// Have this scanned, and give what [`super::merge`] made of it to [`ReplyRedactor::found`].
    Scan(TextScan),
}

/// The reply cannot be judged and must not go on.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unjudged {
    #[error(transparent)]
    TooManyMentions(#[from] TooManyMentions),
    /// What was found is not of the text that was scanned.
    #[error(transparent)]
    Shifted(#[from] Shifted),
}

/// One reply on its way. Holds content.
pub struct ReplyRedactor {
    events: VecDeque<ChatEvent>,
    /// Bytes of the first event's text that were taken in.
    taken: usize,
    out: VecDeque<ChatEvent>,
    text: Prose,
    reasoning: Prose,
    /// Which of the two spoke last.
    open: Option<Channel>,
    /// By the index of the tool call.
    calls: BTreeMap<u32, Arguments>,
    is_over: bool,
    /// What is out for scanning, and where it belongs.
    waiting: Option<(Channel, Unit)>,
    memory: Memory,
    asked: Asked,
    counts: Counts,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    Text,
    Reasoning,
    Call(u32),
}

impl Channel {
    const fn origin(self) -> Origin {
        match self {
            Self::Text | Self::Reasoning => Origin::AssistantText,
            Self::Call(_) => Origin::ToolArguments,
        }
    }

    fn event(self, text: String) -> ChatEvent {
        match self {
            Self::Text => ChatEvent::Text(text),
            Self::Reasoning => ChatEvent::Reasoning(text),
            Self::Call(index) => ChatEvent::ToolCallDelta {
                index,
                fragment: text,
            },
        }
    }
}

impl ReplyRedactor {
    /// A reply to a request whose values are in `map`; `chat` is that request as the provider got it. What stands there
    /// is not new.
    pub fn new(map: &PlaceholderMap, chat: Arc<ChatRequest>) -> Self {
        Self {
            events: VecDeque::new(),
            taken: 0,
            out: VecDeque::new(),
            text: Prose::default(),
            reasoning: Prose::default(),
            open: None,
            calls: BTreeMap::new(),
            is_over: false,
            waiting: None,
            memory: Memory::of(map),
            asked: Asked::new(chat),
            counts: Counts::default(),
        }
    }

    /// Takes in the next event; [`Self::step`] gives what becomes of it.
    pub fn push(&mut self, event: ChatEvent) {
        self.events.push_back(event);
    }

    /// No more events come, also where the last one is missing; [`Self::step`] gives what was held back.
    pub fn finish(&mut self) {
        self.is_over = true;
    }

    /// The next thing to do; nothing while more events are needed, or while a scan is out.
    pub fn step(&mut self) -> Option<Step> {
        loop {
            if let Some(event) = self.out.pop_front() {
                return Some(Step::Send(event));
            }
            if self.waiting.is_some() {
                return None;
            }
            let due = match self.events.pop_front() {
                Some(event) => self.take(event),
                None if self.is_over => Some(self.close_any()?),
                None => return None,
            };
            if let Some((channel, unit)) = due
                && let Some(scan) = self.submit(channel, unit)
            {
                return Some(Step::Scan(scan));
            }
        }
    }

    /// What [`Self::found`] has to look for in the request, where it does not know yet: for whoever has that done
    /// elsewhere. The answer is for [`Self::learn`].
    pub fn inquire(&self, scan: &TextScan, findings: &[Finding]) -> Option<Inquiry> {
        self.asked.inquire(scan, findings)
    }

    /// Takes in what an inquiry has answered.
    pub fn learn(&mut self, answer: Answer) {
        self.asked.learn(answer);
    }

    /// What the scan of the last [`Step::Scan`] found. New values get placeholders that are never restored. What was not
    /// inquired yet is looked for here.
    ///
    /// # Errors
    /// [`Unjudged`].
    pub fn found(
        &mut self,
        scan: &TextScan,
        findings: Vec<Finding>,
        map: &mut PlaceholderMap,
    ) -> Result<(), Unjudged> {
        let Some((channel, unit)) = self.waiting.take() else {
            return Ok(());
        };
        if let Some(finding) = findings.iter().find(|finding| !scan.holds(finding)) {
            let segment = finding.segment;
            return Err(Shifted { segment }.into());
        }
        reserve_look_alikes(scan, map);
        let findings = self.asked.without_said(scan, findings)?;
        let findings = self.memory.sweep(scan, findings, map)?;
        let mut edits = Edits {
            map,
            counts: &mut self.counts,
            values: Vec::new(),
        };
        let text = unit.redact(scan, &findings, &mut edits)?;
        let values = edits.values;
        for (kind, value) in values {
            self.memory.add(kind, value);
        }
        self.out.push_back(channel.event(text));
        Ok(())
    }

    /// What was taken out of the reply so far.
    pub fn redacted(&self) -> &Counts {
        &self.counts
    }

    /// Takes an event in, up to the first unit that becomes due; the rest of it comes again.
    fn take(&mut self, event: ChatEvent) -> Option<(Channel, Unit)> {
        match &event {
            ChatEvent::Text(piece) => {
                let (due, is_done) = self.take_prose(Channel::Text, piece);
                self.put_back(event, is_done);
                due
            }
            ChatEvent::Reasoning(piece) => {
                let (due, is_done) = self.take_prose(Channel::Reasoning, piece);
                self.put_back(event, is_done);
                due
            }
            ChatEvent::ToolCallDelta { index, fragment } => {
                let call = self.calls.entry(*index).or_default();
                let rest = fragment.get(self.taken..).unwrap_or_default();
                let (bytes, is_due) = call.take(rest);
                let unit = is_due.then(|| call.unit()).flatten();
                let due = unit.map(|unit| (Channel::Call(*index), unit));
                self.taken += bytes;
                let is_done = self.taken >= fragment.len();
                self.put_back(event, is_done);
                due
            }
            ChatEvent::ToolCallEnd { index } => {
                let channel = Channel::Call(*index);
                let due = self.close(channel);
                self.pass_or_wait(event, due)
            }
            ChatEvent::Finished(_) => {
                let due = self.close_any();
                self.pass_or_wait(event, due)
            }
            ChatEvent::Declined
            | ChatEvent::ToolCallStart { .. }
            | ChatEvent::ReasoningSignature(_)
            | ChatEvent::RedactedReasoning { .. }
            | ChatEvent::ProviderToolCompleted { .. } => {
                let due = self.open.and_then(|channel| self.close(channel));
                self.pass_or_wait(event, due)
            }
            ChatEvent::Started { .. } | ChatEvent::Usage(_) | ChatEvent::KeepAlive => {
                self.out.push_back(event);
                None
            }
        }
    }

    /// Takes prose in; gives what became due, and whether the piece is done with.
    fn take_prose(&mut self, channel: Channel, piece: &str) -> (Option<(Channel, Unit)>, bool) {
        if let Some(open) = self.open.filter(|open| *open != channel) {
            let due = self.close(open);
            if due.is_some() {
                return (due, false);
            }
        }
        self.open = Some(channel);
        let prose = match channel {
            Channel::Reasoning => &mut self.reasoning,
            Channel::Text | Channel::Call(_) => &mut self.text,
        };
        let rest = piece.get(self.taken..).unwrap_or_default();
        let (bytes, cut) = prose.take(rest, self.memory.words());
        self.taken += bytes;
        let is_done = self.taken >= piece.len();
        let unit = match cut {
            Cut::No => None,
            Cut::Here | Cut::Opening => prose.unit(),
        };
        match unit {
            Some(unit) if cut == Cut::Opening => {
                self.out.push_back(channel.event(unit.raw()));
                (None, is_done)
            }
            unit => (unit.map(|unit| (channel, unit)), is_done),
        }
    }

    fn put_back(&mut self, event: ChatEvent, is_done: bool) {
        if is_done {
            self.taken = 0;
        } else {
            self.events.push_front(event);
        }
    }

    /// Sends an event on that everything before it must precede.
    fn pass_or_wait(
        &mut self,
        event: ChatEvent,
        due: Option<(Channel, Unit)>,
    ) -> Option<(Channel, Unit)> {
        match due {
            Some(_) => self.events.push_front(event),
            None => self.out.push_back(event),
        }
        due
    }

    /// Ends what a channel has held back, and gives it. Text may come on it again; a call is over.
    fn close(&mut self, channel: Channel) -> Option<(Channel, Unit)> {
        let unit = match channel {
            Channel::Text => self.text.unit(),
            Channel::Reasoning => self.reasoning.unit(),
            Channel::Call(index) => self.calls.remove(&index).and_then(|mut call| call.unit()),
        };
        if self.open == Some(channel) {
            self.open = None;
        }
        unit.map(|unit| (channel, unit))
    }

    /// Ends the first channel that holds something.
    fn close_any(&mut self) -> Option<(Channel, Unit)> {
        loop {
            let call = self.calls.keys().next();
            let channel = self.open.or(call.map(|index| Channel::Call(*index)))?;
            if let Some(due) = self.close(channel) {
                return Some(due);
            }
        }
    }

    /// Has a unit scanned, where that can find anything.
    fn submit(&mut self, channel: Channel, unit: Unit) -> Option<TextScan> {
        if unit.is_blank() {
            self.out.push_back(channel.event(unit.raw()));
            return None;
        }
        let scan = unit.scan(channel.origin());
        self.waiting = Some((channel, unit));
        Some(scan)
    }
}

/// What the model wrote in the shape of a placeholder stands for nothing, also later.
fn reserve_look_alikes(scan: &TextScan, map: &mut PlaceholderMap) {
    let tokens = token::tokens(scan.text(), |kind| {
        map.knows_kind(kind) || ENTITY_KINDS.iter().any(|known| known.name == kind)
    });
    for token in tokens {
        map.reserve(&token.kind, token.number);
    }
}
