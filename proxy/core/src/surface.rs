//! Surfaces: the wire formats that callers speak. Each is one adapter between bytes and the canonical chat.

pub mod blocks;
pub mod chat_completions;
pub mod fields;
pub mod messages;
pub mod models;
pub mod native;
mod places;
mod turns;

use std::borrow::Cow;

pub use places::{Decoded, Places};
use serde_json::{Value, json};

use crate::chat::{ChatEvent, ChatReply, Finish, Usage};
use crate::fault::{Code, Fault};
use crate::json;
use crate::metering::Charge;
use crate::phi::Counts;
use crate::time::Timestamp;

/// A run as its first event names it.
#[derive(Clone)]
pub struct RunHead {
    pub request_id: String,
    pub message_id: String,
    /// `None` where nothing is stored and nothing was continued.
    pub conversation_id: Option<String>,
    /// Catalogue id.
    pub model: String,
    /// When the run began.
    pub created: Timestamp,
    /// Our own count of the prompt, for a surface that names one before the provider does.
    pub estimated_input_tokens: u64,
}

/// A finished run, besides its content.
pub struct RunSummary<'a> {
    pub head: &'a RunHead,
    pub usage: Usage,
    pub charge: Charge,
    pub finish: &'a Finish,
    pub phi: &'a PhiMetadata,
}

/// PHI metadata of one run (contract 21): counts and kinds, never text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhiMetadata {
    /// `redact` or `block`.
    pub mode: &'static str,
    /// Findings of the request by kind.
    pub counts: Counts,
    /// Placeholders that were restored in the reply.
    pub restored: u64,
}

impl PhiMetadata {
    /// The object `phi` of contract 21, as results, `run.completed` and message records have it. `redacted` is the sum
    /// of the counts.
    pub fn to_json(&self) -> Value {
        let Self {
            mode,
            counts,
            restored,
        } = self;
        let (redacted, kinds) = (counts.total(), counts.entity_types());
        json!({"mode": mode, "redacted": redacted, "entity_types": kinds, "restored": restored})
    }
}

/// How a surface writes a reply, streamed and whole. One value per run; it may keep state between events.
pub trait ReplyEncoder: Send {
    /// The frames that open a stream; none where the surface's first frame waits for the first event.
    fn open(&mut self, head: &RunHead, out: &mut Vec<u8>);

    /// The frames of one event.
    ///
    /// # Errors
    /// A fault when the event cannot be shown: the provider broke its own format.
    fn event(&mut self, event: &ChatEvent, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// The frames that end a good stream.
    fn complete(&mut self, run: &RunSummary<'_>, out: &mut Vec<u8>);

    /// The frames that end a failed stream.
    fn fail(&mut self, fault: &Fault, request_id: &str, out: &mut Vec<u8>);

    /// What keeps a silent stream open.
    fn heartbeat(&self) -> &'static [u8];

    /// The unstreamed body.
    fn whole(&self, reply: &ChatReply, run: &RunSummary<'_>) -> Value;
}

/// Appends a named event of a stream; JSON is one line.
fn put(name: &str, data: &Value, out: &mut Vec<u8>) {
    for piece in ["event: ", name, "\ndata: "] {
        out.extend_from_slice(piece.as_bytes());
    }
    json::write(data, out);
    out.extend_from_slice(b"\n\n");
}

/// Which envelope and which rules a route speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    Native,
    Messages,
    ChatCompletions,
}

impl Surface {
    /// In the order of the specification.
    pub const ALL: &[Self] = &[Self::Native, Self::Messages, Self::ChatCompletions];

    /// The word in audit rows, policies and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Messages => "messages",
            Self::ChatCompletions => "chat_completions",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|surface| surface.word() == word)
    }

    /// HTTP status of a fault on this surface.
    pub fn status(self, code: Code) -> u16 {
        let row = code.row();
        match self {
            Self::Native | Self::Messages => row.status,
            Self::ChatCompletions => row.chat_completions.unwrap_or(match row.status {
                status @ (401 | 404 | 405 | 429 | 503) => status,
                402 | 403 => 403,
                500 | 502 => 500,
                // Contract 3.4: every other refusal is a plain bad request there.
                _ => 400,
            }),
        }
    }

    /// The error body of this surface.
    pub fn error_body(self, fault: &Fault, request_id: &str) -> Value {
        match self {
            Self::Native => native_error(fault, request_id),
            // Contract X8: PHI_BLOCKED keeps the native envelope there, with a `type` for SDKs that look for it.
            Self::Messages if fault.code == Code::PhiBlocked => {
                let mut body = native_error(fault, request_id);
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("type".into(), json!("error"));
                }
                body
            }
            Self::Messages => messages_error(fault, request_id),
            Self::ChatCompletions => chat_completions_error(fault),
        }
    }
}

/// The native envelope (spec, Error envelope).
fn native_error(fault: &Fault, request_id: &str) -> Value {
    let mut error = json!({
        "code": fault.code.word(),
        "type": fault.code.row().kind.word(),
        "message": fault.message,
        "param": fault.param,
        "details": fault.details_value(),
        "retryable": fault.retryable,
        "request_id": request_id,
    });
    give_context(fault, &mut error);
    json!({"success": false, "error": error, "meta": {"request_id": request_id}})
}

/// Contract X9: cycle and cap detail of this one code stands under `context` too.
fn give_context(fault: &Fault, error: &mut Value) {
    if let (Code::ConsumptionBlocked, Some(fields)) = (fault.code, error.as_object_mut()) {
        fields.insert("context".into(), fault.details_value());
    }
}

/// The third-party shape of the messages surface, native fields beside it (wire.md 3).
fn messages_error(fault: &Fault, request_id: &str) -> Value {
    let mut error = json!({
        "type": compat_type(Surface::Messages.status(fault.code)),
        "message": with_problems(fault),
        "code": fault.code.word(),
        "param": fault.param,
        "details": fault.details_value(),
        "retryable": fault.retryable,
        "request_id": request_id,
    });
    give_context(fault, &mut error);
    json!({"type": "error", "error": error, "request_id": request_id})
}

/// The third-party shape of the chat-completions surface (spec, Errors).
fn chat_completions_error(fault: &Fault) -> Value {
    json!({"error": {
        "message": with_problems(fault),
        "type": compat_type(Surface::ChatCompletions.status(fault.code)),
        "param": fault.param,
        "code": fault.code.word().to_lowercase(),
        "svc_code": fault.code.word(),
    }})
}

/// Clients of both shapes show a person the message alone, and of these one has no place for details: it says each
/// problem and where it is. Written here alone: paths hold names that the caller chose, and a fault's own message may be
/// logged.
fn with_problems(fault: &Fault) -> Cow<'_, str> {
    match (fault.code, &fault.param) {
        (Code::ValidationFailed, _) if !fault.details.is_empty() => {
            let mut message = "The request is not valid.".to_owned();
            for (path, problems) in fault.details.iter() {
                for problem in problems.as_array().into_iter().flatten() {
                    let problem = problem.as_str().unwrap_or_default();
                    message.push_str(&format!(" {path} {problem}."));
                }
            }
            Cow::Owned(message)
        }
        (Code::UnsupportedParameter | Code::PhiInToolSchema, Some(param)) => {
            Cow::Owned(format!("{} ({param})", fault.message))
        }
        _ => Cow::Borrowed(&fault.message),
    }
}

/// The five compat types of the specification, by status (wire.md 3).
const fn compat_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 | 403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_completions_follows_its_own_table() {
        let listed = [
            (Code::InvalidApiKey, 401),
            (Code::BaaRequired, 403),
            (Code::ConsumptionBlocked, 403),
            (Code::AiPaused, 403),
            (Code::FeatureNotHipaaEligible, 403),
            (Code::ModelAccessDenied, 400),
            (Code::PhiBlocked, 400),
            (Code::ModelRetired, 400),
            (Code::RateLimited, 429),
            (Code::InferenceUpstreamFailure, 500),
            (Code::InferenceUnavailable, 503),
            (Code::ValidationFailed, 400),
            (Code::PayloadTooLarge, 400),
            (Code::MethodNotAllowed, 405),
        ];
        for (code, status) in listed {
            assert_eq!(
                Surface::ChatCompletions.status(code),
                status,
                "{}",
                code.word()
            );
        }
    }

    #[test]
    fn the_native_envelope_carries_every_field() {
        let fault = Code::ConsumptionBlocked
            .fault()
            .detail("cap_kind", "plan_credits")
            .because("used up");
        let body = Surface::Native.error_body(&fault, "req_1");
        assert_eq!(
            body,
            json!({
                "success": false,
                "error": {
                    "code": "CONSUMPTION_BLOCKED", "type": "payment_required",
                    "message": "The credit allotment of this cycle is used up.", "param": null,
                    "details": {"cap_kind": "plan_credits"}, "retryable": false, "request_id": "req_1",
                    "context": {"cap_kind": "plan_credits"},
                },
                "meta": {"request_id": "req_1"},
            })
        );
    }
}
