//! The upstream request around a body.

use serde::Serialize;

use crate::bindings::gateway::provider::types::{
    DriverError, ErrorKind, Framing, Header, Method, UpstreamRequest,
};
use crate::fault::plain;

/// A POST of JSON, whose answer is `framing`: server-sent events or one JSON body.
///
/// # Errors
/// An internal error where the body cannot be encoded.
pub fn post(
    path: &str,
    headers: &[(&str, &str)],
    framing: Framing,
    body: &impl Serialize,
) -> Result<UpstreamRequest, DriverError> {
    let body = serde_json::to_vec(body).map_err(|_| plain(ErrorKind::Internal, Some("encode")))?;
    let accept = match framing {
        Framing::Sse => "text/event-stream",
        Framing::WholeBody | Framing::JsonLines | Framing::Raw => JSON,
    };
    let always = [("content-type", JSON), ("accept", accept)];
    let headers = always.iter().chain(headers);
    Ok(UpstreamRequest {
        method: Method::Post,
        path: path.to_owned(),
        headers: headers
            .map(|(name, value)| Header {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            })
            .collect(),
        body,
        framing,
    })
}

const JSON: &str = "application/json";

/// Whether every provider takes this as the name of a tool.
pub fn is_tool_name(name: &str) -> bool {
    (1..=MAX_TOOL_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Longest tool name that every provider takes (wire notes 2, point 8).
const MAX_TOOL_NAME_BYTES: usize = 64;
