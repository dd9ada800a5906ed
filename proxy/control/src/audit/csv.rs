//! Audit rows for spreadsheets: RFC 4180, every field in quotes, and none that a spreadsheet would run as a formula
//! (OWASP, CSV injection: a caller chooses its user agent and its path).

use csv::{QuoteStyle, Terminator, WriterBuilder};
use serde_json::Value;
use svc_core::audit_leaf::INTEGRITY;

/// A column: its name, and where a shown row has it.
struct Column {
    name: &'static str,
    pointer: &'static str,
}

macro_rules! columns {
    ($($name:literal $pointer:literal;)*) => {
        &[$(Column { name: $name, pointer: $pointer }),*]
    };
}

const COLUMNS: &[Column] = columns! {
    "id" "/id";
    "event" "/event";
    "occurred_at" "/occurred_at";
    "org_id" "/org_id";
    "mode" "/mode";
    "actor_type" "/actor/type";
    "actor_id" "/actor/id";
    "delegating_user_id" "/actor/delegating_user_id";
    "actor_hint" "/actor/hint";
    "request_id" "/request/id";
    "method" "/request/method";
    "path" "/request/path";
    "surface" "/request/surface";
    "svc_version" "/request/svc_version";
    "ip" "/request/ip";
    "user_agent" "/request/user_agent";
    "target_type" "/target/type";
    "target_id" "/target/id";
    "result" "/outcome/result";
    "status" "/outcome/status";
    "code" "/outcome/code";
    "phi_mode" "/phi/mode";
    "phi_detected" "/phi/detected";
    "phi_entity_counts" "/phi/entity_counts";
    "details" "/details";
    "leaf_index" "/integrity/leaf_index";
    "leaf_hash" "/integrity/leaf_hash";
};

/// What a spreadsheet takes for the beginning of a formula, full-width forms included, and what it may skip before one.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The first record.
pub(super) fn header() -> Vec<u8> {
    record(COLUMNS.iter().map(|column| column.name.to_owned()))
}

/// The record of a row as it is shown.
pub(super) fn row(row: &Value) -> Vec<u8> {
    debug_assert!(row.get(INTEGRITY).is_some(), "a row as it is shown");
    record(
        COLUMNS
            .iter()
            .map(|column| field(row.pointer(column.pointer))),
    )
}

/// The last record: the word `end` and how many rows there were. An export without it is cut off.
pub(super) fn end(rows: u64) -> Vec<u8> {
    let fields = COLUMNS.iter().map(|column| match column.name {
        "id" => "end".to_owned(),
        "event" => rows.to_string(),
        _ => String::new(),
    });
    record(fields)
}

fn field(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => harmless(text),
        Some(other) => other.to_string(),
    }
}

/// A text that begins like a formula gets an apostrophe, which spreadsheets take for "this is text".
fn harmless(text: &str) -> String {
    let begins = text.trim_start_matches(' ').starts_with(FORMULA);
    if begins {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

fn record(fields: impl Iterator<Item = String>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .quote_style(QuoteStyle::Always)
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing to memory does not fail.
    writer.write_record(fields.map(String::into_bytes)).ok();
    writer.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(agent: &str) -> String {
        let value = json!({"id": "aud_1", "request": {"user_agent": agent}, "outcome": {"status": 200},
            "details": {"credits": -1}, "integrity": null});
        String::from_utf8(row(&value)).unwrap_or_default()
    }

    #[test]
    fn nothing_begins_like_a_formula() {
        for agent in [
            "=HYPERLINK(1)",
            "+1",
            "-1",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "  =1",
            "＝1",
            "\n=1",
        ] {
            let shown = shown(agent);
            assert!(shown.contains(&format!("\"'{agent}\"")), "{shown}");
        }
        let shown = shown("a=1, \"b\"\nc");
        assert!(shown.contains("\"a=1, \"\"b\"\"\nc\""), "{shown}");
    }

    #[test]
    fn records_are_as_long_as_the_header_and_end_in_crlf() {
        for bytes in [header(), shown("x").into_bytes(), end(7)] {
            assert!(bytes.ends_with(b"\r\n"));
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(bytes.as_slice());
            let records: Vec<_> = reader.records().filter_map(Result::ok).collect();
            assert_eq!(records.len(), 1);
            assert!(records.iter().all(|record| record.len() == COLUMNS.len()));
        }
        assert!(end(7).starts_with(b"\"end\",\"7\","));
    }
}
