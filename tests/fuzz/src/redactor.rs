//! Taking PHI out of a reply while it arrives: whatever the cuts, the same comes out, and it is taken out whole.

use std::sync::Arc;

use phi_patterns::kind::KINDS;
use phi_patterns::scan::scan;
use svc_core::chat::{ChatEvent, ChatRequest};
use svc_core::phi::{Candidate, PlaceholderMap, ReplyRedactor, Step, TextScan, merge};

/// Where a reply's text comes.
#[derive(Clone, Copy)]
enum Channel {
    Text,
    Reasoning,
    Arguments,
}

const CHANNELS: [Channel; 3] = [Channel::Text, Channel::Reasoning, Channel::Arguments];

/// The first byte says how long the pieces are.
pub(crate) fn cuts(data: &[u8]) {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let letters: Vec<char> = text.chars().collect();
    for channel in CHANNELS {
        let whole = redacted([text.to_owned()], channel);
        for chars in [usize::from(*first).max(1), 1] {
            let pieces = letters.chunks(chars).map(|piece| piece.iter().collect());
            let cut = redacted(pieces, channel);
            assert!(cut == whole, "a cut changes what comes out");
        }
    }
}

/// What comes out of pieces, and how much was taken out of them; nothing where a reply cannot be judged.
fn redacted(pieces: impl IntoIterator<Item = String>, channel: Channel) -> Option<(String, u64)> {
    let mut map = PlaceholderMap::default();
    let mut redactor = ReplyRedactor::new(&map, Arc::new(ChatRequest::of_user_text("")));
    let mut out = String::new();
    for piece in pieces {
        redactor.push(match channel {
            Channel::Text => ChatEvent::Text(piece),
            Channel::Reasoning => ChatEvent::Reasoning(piece),
            Channel::Arguments => ChatEvent::ToolCallDelta {
                index: 0,
                fragment: piece,
            },
        });
        drive(&mut redactor, &mut map, &mut out)?;
    }
    if matches!(channel, Channel::Arguments) {
        redactor.push(ChatEvent::ToolCallEnd { index: 0 });
    }
    redactor.finish();
    drive(&mut redactor, &mut map, &mut out)?;
    Some((out, redactor.redacted().total()))
}

fn drive(redactor: &mut ReplyRedactor, map: &mut PlaceholderMap, out: &mut String) -> Option<()> {
    while let Some(step) = redactor.step() {
        match step {
            Step::Send(
                ChatEvent::Text(text)
                | ChatEvent::Reasoning(text)
                | ChatEvent::ToolCallDelta { fragment: text, .. },
            ) => out.push_str(&text),
            Step::Send(_) => {}
            Step::Scan(scan) => {
                let found = merge(&scan, &candidates(&scan), |claim, _| claim.score >= 500);
                redactor.found(&scan, found, map).ok()?;
            }
        }
    }
    Some(())
}

/// What the shipped detector finds, segment by segment.
fn candidates(looked_at: &TextScan) -> Vec<Candidate<'static>> {
    let (text, segments) = looked_at.reading();
    let mut candidates = Vec::new();
    for segment in segments {
        let words = text.get(segment.start..segment.end).unwrap_or_default();
        let mut findings = Vec::new();
        scan(words.as_bytes(), &mut findings);
        candidates.extend(findings.iter().filter_map(|finding| {
            Some(Candidate {
                start: segment.start + finding.start,
                end: segment.start + finding.end,
                kind: KINDS.get(finding.kind)?.name,
                score: finding.score,
                verified: finding.verified,
                partial: false,
                detector: 0,
            })
        }));
    }
    candidates
}
