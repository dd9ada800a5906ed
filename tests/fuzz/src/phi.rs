//! The text side of PHI Guard: the walk over a request, restoring a reply, the stored map, and the detector that is
//! shipped.

use std::sync::Arc;

use phi_patterns::kind::KINDS;
use phi_patterns::scan::scan;
use svc_core::chat::ChatRequest;
use svc_core::phi::{
    Allowed, Candidate, Channel, Finding, Listener, PlaceholderMap, RestoreTable, Restorer,
    TextScan, merge, redact, restore, sweep,
};
use svc_core::surface::messages::{self, WireVersion};

/// Findings lie in the text, in order, on the borders of characters where the text has any.
pub(crate) fn patterns(data: &[u8]) {
    let mut findings = Vec::new();
    scan(data, &mut findings);
    let text = std::str::from_utf8(data).ok();
    let mut before = 0;
    for finding in findings {
        assert!(finding.start < finding.end && finding.end <= data.len());
        assert!(finding.start >= before, "findings come in order");
        before = finding.start;
        assert!(finding.score <= 1_000 && finding.kind < KINDS.len());
        if let Some(text) = text {
            assert!(text.is_char_boundary(finding.start) && text.is_char_boundary(finding.end));
        }
    }
}

/// A body of the messages surface through the whole guard.
pub(crate) fn request(data: &[u8]) {
    let Ok(decoded) = messages::decode(data, WireVersion::Classic) else {
        return;
    };
    let mut chat = decoded.chat;
    let before = chat.clone();
    let scan = TextScan::of(&mut chat);
    assert!(chat == before, "looking changes nothing");
    for gets_values in [false, true] {
        let listener = Listener {
            gets_values,
            ..Listener::default()
        };
        check_guard(chat.clone(), &scan, listener);
    }
}

/// What is found is gone, and no text moved; what its placeholders stand for reads the same as it was written.
fn check_guard(mut chat: ChatRequest, scan: &TextScan, listener: Listener) {
    let before = chat.clone();
    let mut map = PlaceholderMap::default();
    let none = redact(&mut chat, scan, &[], &mut map.clone(), listener);
    assert!(none.is_ok_and(|counts| counts.is_empty()) && chat == before);

    let found = guard(&mut chat, &mut map, listener);
    let again = TextScan::of(&mut chat);
    assert!(
        again.segments().len() == scan.segments().len(),
        "redaction moves no text"
    );
    // Tool definitions are not rewritten: findings there refuse the request.
    let written = again.segments().iter().enumerate();
    let written = written.filter(|(at, _)| !again.tools().contains(at));
    for (_, segment) in written {
        let text = again
            .text()
            .get(segment.start..segment.end)
            .unwrap_or_default();
        for value in &found {
            assert!(!mentions(text, value), "a found value is still there");
        }
    }
    let stored = map.to_json();
    let read = PlaceholderMap::from_json(&stored);
    assert!(
        read.is_ok_and(|read| read.to_json() == stored),
        "the map reads differently"
    );
}

/// Whether a text mentions a value, in a place of its own. Seven characters: a shorter value may stand in a placeholder,
/// or be a word, by chance; one with a bracket may hold a placeholder, which stays.
fn mentions(text: &str, value: &str) -> bool {
    let is_told = value.chars().count() > 6 && !value.contains(['[', ']']);
    is_told
        && text.match_indices(value).any(|(start, hit)| {
            let before = text.get(..start).and_then(|text| text.chars().next_back());
            let after = text
                .get(start + hit.len()..)
                .and_then(|text| text.chars().next());
            before.is_none_or(is_border) && after.is_none_or(is_border)
        })
}

/// Whether words end beside it for every reader; what cannot be seen is no border to a detector.
fn is_border(letter: char) -> bool {
    matches!(letter, ' ' | '\n') || letter.is_ascii_punctuation()
}

/// Kinds whose values are looked for in the whole request once they are known, however they were found.
const SOUGHT: &[&str] = &["EMAIL", "MRN", "SSN"];

/// Redacts what the shipped detector finds; gives the values whose every mention must go with them.
fn guard(chat: &mut ChatRequest, map: &mut PlaceholderMap, listener: Listener) -> Vec<String> {
    let scan = TextScan::of(chat);
    let mut candidates = Vec::new();
    for segment in scan.segments() {
        let Some(text) = scan.text().get(segment.start..segment.end) else {
            continue;
        };
        let mut findings = Vec::new();
        self::scan(text.as_bytes(), &mut findings);
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
    let merged = merge(&scan, &candidates, |claim, _| claim.score >= 500);
    let Ok(findings) = sweep(&scan, merged, map, &Allowed::default()) else {
        return Vec::new();
    };
    // What is left of a finding beside a better one is no value.
    let is_value = |finding: &&Finding| {
        let range = finding.start..finding.end;
        let is_whole = candidates
            .iter()
            .any(|candidate| (candidate.start..candidate.end) == range);
        is_whole && SOUGHT.contains(&finding.kind.as_str())
    };
    let values: Vec<String> = findings
        .iter()
        .filter(is_value)
        .filter_map(|finding| scan.text().get(finding.start..finding.end))
        .map(str::to_owned)
        .collect();
    let redacted = redact(chat, &scan, &findings, map, listener);
    assert!(redacted.is_ok(), "the request did not change in between");
    values
}

/// A stored map: refused, or read and written the same.
pub(crate) fn map(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(map) = PlaceholderMap::from_json(text) else {
        return;
    };
    let stored = map.to_json();
    let again = PlaceholderMap::from_json(&stored);
    assert!(
        again.is_ok_and(|again| again.to_json() == stored),
        "the map reads differently"
    );
    let table = Arc::new(RestoreTable::of(&map));
    restore("[NAME_1] [SSN_2]", &table, Channel::Prose);
}

/// What the replies here may restore; the first value is awkward in JSON.
const KNOWN: &str = r#"{"layout":1,"kinds":{
    "NAME":[{"n":1,"value":"J\"o\\e\n","from":"caller"},{"n":10,"value":"Ann","from":"caller"}],
    "SSN":[{"n":1,"value":"123-45-6789","from":"caller"}],
    "HEALTH_PLAN_ID":[{"n":1,"value":"HP-1","from":"caller"},{"n":2}]}}"#;

/// A reply is restored the same however it is cut; the first byte says how long the pieces are.
pub(crate) fn reply(data: &[u8]) {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let (Ok(text), Ok(map)) = (std::str::from_utf8(text), PlaceholderMap::from_json(KNOWN)) else {
        return;
    };
    let table = Arc::new(RestoreTable::of(&map));
    for channel in [Channel::Prose, Channel::Json] {
        let (whole, count) = restore(text, &table, channel);
        for chars in [usize::from(*first).max(1), 1] {
            let mut restorer = Restorer::new(Arc::clone(&table), channel);
            let letters: Vec<char> = text.chars().collect();
            let mut out = String::new();
            for piece in letters.chunks(chars) {
                out.push_str(&restorer.push(&piece.iter().collect::<String>()));
            }
            out.push_str(&restorer.finish());
            assert!(out == whole, "a cut changes what is restored");
            assert!(restorer.restored() == count, "a cut changes the count");
        }
        assert!(
            count > 0 || whole == text,
            "text changes without a placeholder"
        );
        let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        if channel == Channel::Json && is_json(text) {
            assert!(is_json(&whole), "restoring breaks JSON");
        }
    }
}
