//! The upstream request around a body.

use serde::Serialize;

use crate::bindings::gateway::provider::types::{
    Document, DriverError, ErrorKind, Framing, Header, Message, Method, PartBody, ResultBody,
    UpstreamRequest,
};
use crate::fault::{plain, unsupported};

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

/// Looks for a document that the wire format does not take, in turns and in the results of tools.
///
/// # Errors
/// An unsupported parameter: the place of the first one in the request.
pub fn check_documents(
    messages: &[Message],
    is_taken: fn(&Document) -> bool,
) -> Result<(), DriverError> {
    for (turn, message) in messages.iter().enumerate() {
        for (at, part) in message.content.iter().enumerate() {
            let place = || format!("messages[{turn}].content[{at}]");
            match &part.body {
                PartBody::Document(document) if !is_taken(document) => {
                    return Err(unsupported(&format!("{}.media", place())));
                }
                PartBody::ToolResult(result) => {
                    let wrong = result.content.iter().position(|part| {
                        matches!(&part.body, ResultBody::Document(document) if !is_taken(document))
                    });
                    if let Some(inner) = wrong {
                        let param = format!("{}.content[{inner}].media", place());
                        return Err(unsupported(&param));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether a provider that takes so many characters takes this as the name of a tool.
pub fn is_tool_name(name: &str, max_chars: usize) -> bool {
    (1..=max_chars).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
