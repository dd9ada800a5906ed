//! How values of the API stand in pages: times, numbers, words with a colour. Pure.

use std::fmt::{self, Display, Formatter};

use askama::filters::HtmlSafe;
use serde_json::Value;
use svc_core::time::Timestamp;

/// The text of a field; a dash where there is none.
pub(crate) fn text(record: &Value, pointer: &str) -> String {
    match record.pointer(pointer) {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(true)) => "yes".to_owned(),
        Some(Value::Bool(false)) => "no".to_owned(),
        Some(Value::Number(number)) => grouped(&number.to_string()),
        Some(Value::Array(items)) => words(items),
        Some(other) => other.to_string(),
    }
}

/// The text of a field where it is one, as forms need it.
pub(crate) fn plain<'a>(record: &'a Value, pointer: &str) -> &'a str {
    record
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A text or a number as somebody would type it; empty for anything else.
pub(crate) fn typed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Counts by word: `NAME 2, SSN 1`.
pub(crate) fn counts(record: &Value, pointer: &str) -> String {
    let counts = record.pointer(pointer).and_then(Value::as_object);
    let counts: Vec<String> = counts
        .into_iter()
        .flatten()
        .map(|(word, count)| format!("{word} {count}"))
        .collect();
    if counts.is_empty() {
        "–".to_owned()
    } else {
        counts.join(", ")
    }
}

/// What stands there as people read and write JSON; empty where there is nothing.
pub(crate) fn pretty(record: &Value, pointer: &str) -> String {
    let found = record.pointer(pointer);
    let text = found.and_then(|value| serde_json::to_string_pretty(value).ok());
    text.unwrap_or_default()
}

/// Characters of a value that a list shows; its own page has the rest.
const SHORT_CHARS: usize = 120;

/// The beginning of a long text.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The value of a field of an entity in a list of records, as it was sent: no grouping of digits here.
pub(crate) fn field(record: &Value, field: &Value) -> String {
    let value = record.get("fields");
    match value.and_then(|fields| fields.get(plain(field, "/key"))) {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => short(text),
        Some(other) => short(&other.to_string()),
    }
}

/// A word of the API as people write it.
pub(crate) fn words_of(word: &str) -> String {
    word.replace('_', " ")
}

pub(crate) fn is_true(record: &Value, pointer: &str) -> bool {
    record.pointer(pointer).and_then(Value::as_bool) == Some(true)
}

/// Rows of a list.
pub(crate) fn rows(data: Value) -> Vec<Value> {
    match data {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    }
}

fn words(items: &[Value]) -> String {
    let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
    if words.is_empty() {
        "–".to_owned()
    } else {
        words.join(", ")
    }
}

/// A time to the second, in UTC as every log has it. Day and time may stand on two lines, and none of them breaks.
pub(crate) enum Clock {
    At {
        day: String,
        time: String,
    },
    /// What stands there where there is no time.
    Never(&'static str),
}

impl Display for Clock {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { day, time } => {
                write!(
                    to,
                    "<time><span>{day}</span> <span>{time} UTC</span></time>"
                )
            }
            Self::Never(word) => to.write_str(word),
        }
    }
}

// Digits and signs of a time, or a word of ours.
impl HtmlSafe for Clock {}

/// As [`time`], of an instant.
pub(crate) fn instant(at: Timestamp) -> Clock {
    clock(&at.to_string())
}

/// The time of a field; a dash where there is none.
pub(crate) fn time(record: &Value, pointer: &str) -> Clock {
    clock(plain(record, pointer))
}

fn clock(text: &str) -> Clock {
    let known = Timestamp::parse(text).map(|at| at.to_string());
    let known = known.as_deref().unwrap_or_default();
    match (known.get(..10), known.get(11..19)) {
        (Some(day), Some(time)) => Clock::At {
            day: day.to_owned(),
            time: time.to_owned(),
        },
        _ => Clock::Never("–"),
    }
}

/// When something has happened, if it ever has.
pub(crate) fn ever(at: Option<Timestamp>) -> Clock {
    at.map_or(Clock::Never("never"), instant)
}

/// A number with its digits in groups.
pub(crate) fn count(number: impl Display) -> String {
    grouped(&number.to_string())
}

/// The colour of a word that says how something stands.
pub(crate) fn colour(word: &str) -> &'static str {
    match word {
        "active" | "enabled" | "operational" | "closed" | "success" | "in_force" | "live"
        | "delivered" | "redact" => "good",
        "revoked" | "expired" | "outage" | "open" | "denied" | "failure" | "terminated"
        | "none" | "suspended" | "failed" | "stale" | "exhausted" => "wrong",
        "archived" | "inactive" | "disabled" | "degraded" | "half_open" | "cancelled"
        | "reacceptance_due" | "test" | "pending" | "retrying" | "held" | "superseded" => "warn",
        _ => "",
    }
}

/// Digits in groups of three; what stands behind the point is left as it is.
fn grouped(number: &str) -> String {
    let (sign, rest) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (whole, fraction) = match rest.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (rest, None),
    };
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_shown_as_people_write_them() {
        let record = json!({
            "count": 1_234_567, "credits": 1234.567, "name": "", "none": null, "on": true, "of": ["a", "b"],
            "at": "2026-11-20T20:09:00.123Z", "least": -1000,
        });
        for (pointer, shown) in [
            ("/count", "1,234,567"),
            ("/credits", "1,234.567"),
            ("/name", "–"),
            ("/none", "–"),
            ("/on", "yes"),
            ("/of", "a, b"),
            ("/nothing", "–"),
            ("/least", "-1,000"),
        ] {
            assert_eq!(text(&record, pointer), shown);
        }
        assert_eq!(
            time(&record, "/at").to_string(),
            "<time><span>2026-11-20</span> <span>20:09:00 UTC</span></time>"
        );
        for none in ["/none", "/name", "/nothing"] {
            assert_eq!(time(&record, none).to_string(), "–");
        }
        let forged = json!({"at": "2026-11-20<b>20:09:00</b>"});
        assert_eq!(time(&forged, "/at").to_string(), "–");
        assert_eq!(count(200_000_u64), "200,000");
        let long = "é".repeat(SHORT_CHARS);
        assert_eq!(short(&long), long);
        assert_eq!(short(&format!("{long}é")), format!("{long}…"));
    }
}
