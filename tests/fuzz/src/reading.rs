//! What a text reads as without disguise, and the way back: every finding in a reading lands on whole characters of
//! the text behind it, in order, and what stood there comes back.

use std::sync::Arc;

use svc_core::chat::{ChatRequest, Part};
use svc_core::phi::{
    Candidate, Channel, Finding, Listener, PlaceholderMap, RestoreTable, Segment, TextScan, merge,
    redact, restore,
};

/// Letters of a reading that are tried one by one; a longer reading is tried at as many, evenly spread.
const MAX_PROBES: usize = 100;

/// The kind of what is tried. Its form means nothing to anybody.
const KIND: &str = "OTHER_ID";

pub(crate) fn back_to_the_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut chat = ChatRequest::of_user_text(text);
    let scan = TextScan::of(&mut chat);
    assert!(scan.text() == text, "looking changes the text");
    let (reading, segments) = scan.reading();
    let again = TextScan::of(&mut chat);
    assert!(again.reading().0 == reading, "a text reads in two ways");
    for segment in segments {
        check_segment(&scan, segment);
    }
    check_return(text, chat, &scan);
}

/// Characters of a segment of the reading, evenly spread where there are many.
fn probes(reading: &str, segment: &Segment) -> Vec<(usize, usize)> {
    let Some(words) = reading.get(segment.start..segment.end) else {
        panic!("a segment of the reading cuts a character");
    };
    let step = words.chars().count().div_ceil(MAX_PROBES).max(1);
    let letters = words.char_indices().step_by(step);
    letters
        .map(|(at, letter)| (segment.start + at, segment.start + at + letter.len_utf8()))
        .collect()
}

/// Characters of a segment come from the text in their order, and a longer stretch from what its parts come from.
fn check_segment(scan: &TextScan, segment: &Segment) {
    let (reading, _) = scan.reading();
    let mut last_start = 0;
    let mut union: Option<(usize, usize)> = None;
    for (start, end) in probes(reading, segment) {
        let Some((from, to)) = behind(scan, start, end) else {
            continue;
        };
        check_width(scan.text().get(from..to).unwrap_or_default());
        assert!(from >= last_start, "findings change places on the way back");
        last_start = from;
        let whole = union.map_or((from, to), |(first, last)| (first.min(from), last.max(to)));
        union = Some(whole);
    }
    if let Some((from, to)) = union {
        let whole = behind(scan, segment.start, segment.end);
        assert!(
            whole.is_some_and(|(start, end)| start <= from && to <= end),
            "a part comes from outside of the whole"
        );
    }
}

/// Signs that begin or join an encoding, which may need its surroundings to be read as one.
const SIGNS: [char; 7] = ['%', '&', '=', '\\', '+', '_', '#'];

/// What one character comes from is one character, or disguised: more would be replaced than was found.
fn check_width(source: &str) {
    let mut alone = ChatRequest::of_user_text(source);
    let scan = TextScan::of(&mut alone);
    let is_plain = scan.reading().0 == source && !source.contains(SIGNS);
    assert!(
        !is_plain || source.chars().count() <= 1,
        "a character comes from more than itself"
    );
}

/// The bytes of the text that a stretch of the reading comes from; nothing where it is not worth a finding.
fn behind(scan: &TextScan, start: usize, end: usize) -> Option<(usize, usize)> {
    let found = found(scan, start, end);
    for finding in &found {
        let segment = scan.segments().get(finding.segment);
        assert!(
            segment.is_some_and(|segment| segment.start <= finding.start && finding.end <= segment.end),
            "a finding lies outside of its segment"
        );
        assert!(finding.start < finding.end, "a finding of nothing");
        assert!(
            scan.text().is_char_boundary(finding.start)
                && scan.text().is_char_boundary(finding.end),
            "a finding cuts a character"
        );
    }
    Some((found.first()?.start, found.last()?.end))
}

fn found(scan: &TextScan, start: usize, end: usize) -> Vec<Finding> {
    let candidate = Candidate {
        start,
        end,
        kind: KIND,
        score: 900,
        verified: true,
        partial: false,
        detector: 0,
    };
    merge(scan, &[candidate], |_, _| true)
}

/// What is replaced in the text is what comes back in its place, once, and nothing else.
fn check_return(text: &str, mut chat: ChatRequest, scan: &TextScan) {
    // Placeholders, things like them, and addresses have rules of their own.
    if text.contains(['[', ']', '\\', '/', ':', '_', '@', '.']) {
        return;
    }
    let (reading, _) = scan.reading();
    let third = reading.floor_char_boundary(reading.len() / 3);
    let two_thirds = reading.floor_char_boundary(reading.len() / 3 * 2);
    let findings = found(scan, third, two_thirds);
    let Some(first) = findings.first() else {
        return;
    };
    let mut map = PlaceholderMap::default();
    let listener = Listener {
        gets_values: true,
        ..Listener::default()
    };
    let first = std::slice::from_ref(first);
    let redacted = redact(&mut chat, scan, first, &mut map, listener);
    assert!(redacted.is_ok(), "the request did not change in between");
    let told = said(&chat);
    let table = Arc::new(RestoreTable::of(&map));
    let (back, count) = restore(told, &table, Channel::Prose);
    assert!(count == 1 && back == text, "something else comes back");
    let (again, count) = restore(&back, &table, Channel::Prose);
    assert!(
        count == 0 && again == back,
        "what came back comes back again"
    );
}

fn said(chat: &ChatRequest) -> &str {
    let part = chat.messages.first().and_then(|turn| turn.content.first());
    match part {
        Some(Part::Text { text, .. }) => text,
        _ => "",
    }
}
