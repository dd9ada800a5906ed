//! PHI Guard across the boundary: what the provider sees, what the caller sees, and where nothing may be seen.

mod block;
mod canary;
mod detector;
mod earlier;
mod json;
mod lists;
mod long;
mod profiles;
mod quality;
mod redact;
mod reply;
mod residue;
mod results;

use serde_json::{Value, json};

/// Values that the shipped detector must know, by kind. Each is made up, and in the form of the real thing.
pub(crate) const PLANTED: [(&str, &str); 6] = [
    ("SSN", "536-22-8714"),
    ("PHONE", "(415) 823-4467"),
    ("EMAIL", "ruth.aldana@lakeside-mail.org"),
    ("MRN", "MRN: 84731962"),
    ("DATE", "March 14, 1987"),
    ("CREDIT_CARD", "4539 1488 0343 6467"),
];

/// The part of a planted value that must never be seen: what stands behind its label.
pub(crate) fn core(value: &str) -> &str {
    value.strip_prefix("MRN: ").unwrap_or(value)
}

/// A stream of kind A in which a tool ran at the provider.
pub(crate) fn ran(kind: &str, id: &str) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_1", "model": "m", "usage": usage});
    let block = json!({"type": format!("{kind}_tool_result"), "tool_use_id": id, "content": []});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let frame = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    events.iter().map(frame).collect()
}
