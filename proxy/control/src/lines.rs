//! What is sent as lines of JSON (NDJSON): who wants it so, and how a line is written.

use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};
use svc_core::fault::Fault;

pub(crate) const LINES: &str = "application/x-ndjson";

/// Whether lines are asked for by name, and JSON is not preferred to them (RFC 9110, section 12.5.1).
pub(crate) fn accepts_lines(headers: &HeaderMap) -> bool {
    let lines = quality(headers, LINES);
    lines > 0.0 && lines >= quality(headers, "application/json")
}

/// How much a media type is wanted, from 0 to 1: 0 where it is refused or not named.
fn quality(headers: &HeaderMap, wanted: &str) -> f32 {
    let accepted = headers.get_all(ACCEPT).iter();
    let words = accepted.filter_map(|value| value.to_str().ok());
    let ranges = words.flat_map(|value| value.split(','));
    let qualities = ranges.filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(wanted) {
            return None;
        }
        let mut weights = parts.filter_map(|part| part.split_once('='));
        let weight = weights.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
        Some(weight.map_or(1.0, |(_, value)| value.trim().parse().unwrap_or(1.0)))
    });
    qualities.fold(0.0, f32::max)
}

/// Adds a line.
pub(crate) fn line(line: &Value, out: &mut Vec<u8>) {
    out.extend(line.to_string().into_bytes());
    out.push(b'\n');
}

/// The last thing said where lines end too early: there is no end behind it.
pub(crate) fn break_off(fault: &Fault, out: &mut Vec<u8>) {
    line(
        &json!({"type": "error", "data": {"code": fault.code.word()}}),
        out,
    );
}

/// Logs why lines end too early. Somebody who may not have the rest is no trouble of ours.
pub(crate) fn log_broken(fault: &Fault, what: &str) {
    let (code, cause) = (fault.code.word(), fault.cause());
    if fault.code.row().status >= 500 {
        tracing::error!(code, cause, "{what}");
    } else {
        tracing::info!(code, cause, "{what}");
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn lines_are_for_who_wants_them_most() {
        for (accept, wanted) in [
            ("application/x-ndjson", true),
            ("application/json, Application/X-NDJSON", true),
            ("text/csv, application/x-ndjson; q=0.5", true),
            ("application/x-ndjson;q=0, application/json", false),
            ("application/json, application/x-ndjson;q=0.5", false),
            ("application/*", false),
            ("*/*", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(accepts_lines(&headers), wanted, "{accept}");
        }
        assert!(!accepts_lines(&HeaderMap::new()));
    }
}
