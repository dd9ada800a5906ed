//! What a run uses at its providers, noted as it comes in: who is left half-way has been at work all the same, and is
//! paid for it (contract 12.1).

use std::time::Instant;

use parking_lot::Mutex;
use svc_core::chat::{ChatEvent, Usage};
use svc_store::ledger::BilledTo;

/// One run, route by route. Held by the call, which may be dropped at any time, and by the trail that settles it.
#[derive(Default)]
pub struct Meter(Mutex<Vec<Used>>);

/// What one provider has said so far.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    /// Who pays for it.
    pub(crate) billed_to: BilledTo,
    pub(crate) usage: Usage,
    /// Bytes of its text, for a provider that never says its own count.
    pub(crate) output_bytes: u64,
    /// Whether it has begun to answer, and so has read the prompt.
    pub(crate) answered: bool,
    pub(crate) first_token: Option<Instant>,
}

impl Meter {
    /// A provider is asked: what is noted from here on is its own.
    pub(crate) fn begin(&self, billed_to: BilledTo) {
        self.0.lock().push(Used {
            billed_to,
            usage: Usage::default(),
            output_bytes: 0,
            answered: false,
            first_token: None,
        });
    }

    /// Notes what the provider that was asked last has said.
    pub(crate) fn note(&self, events: &[ChatEvent]) {
        let mut all = self.0.lock();
        let Some(used) = all.last_mut() else { return };
        for event in events {
            used.answered |= !matches!(event, ChatEvent::KeepAlive);
            match event {
                ChatEvent::Usage(usage) => used.usage = *usage,
                ChatEvent::Text(text)
                | ChatEvent::Reasoning(text)
                | ChatEvent::ToolCallDelta { fragment: text, .. } => {
                    used.output_bytes += text.len() as u64;
                    used.first_token.get_or_insert_with(Instant::now);
                }
                _ => {}
            }
        }
    }

    /// Of all providers that have answered, in the order in which they were asked.
    pub(crate) fn used(&self) -> Vec<Used> {
        let all = self.0.lock();
        all.iter().filter(|used| used.answered).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_is_counted_by_itself() {
        let meter = Meter::default();
        let counted = |input_tokens| {
            ChatEvent::Usage(Usage {
                input_tokens,
                ..Usage::default()
            })
        };
        meter.note(&[counted(9)]);
        meter.begin(BilledTo::Operator);
        meter.note(&[counted(1), ChatEvent::Text("four".into()), counted(2)]);
        meter.begin(BilledTo::Organization);
        meter.note(&[ChatEvent::KeepAlive]);
        meter.begin(BilledTo::Organization);
        meter.note(&[ChatEvent::Reasoning("one".into())]);
        let used = meter.used();
        let counts: Vec<(u64, u64)> = used
            .iter()
            .map(|used| (used.usage.input_tokens, used.output_bytes))
            .collect();
        assert_eq!(counts, [(2, 4), (0, 3)]);
        assert!(used.iter().all(|used| used.first_token.is_some()));
    }
}
