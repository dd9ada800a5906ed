//! The form that applications send (RFC 6749, 3.2): each parameter once, none of them in the address.

use std::collections::HashSet;

use svc_pipeline::arrival::Unread;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::filter::is_media_type;
use svc_pipeline::request::BodyError;
use svc_pipeline::strangers;

use super::answer::Refusal;

/// What was sent. An empty parameter is an absent one; unknown ones mean nothing.
pub(super) struct Form(Vec<(String, String)>);

/// A code, a verifier, an address and two credentials have room ten times over.
const MAX_BODY_BYTES: usize = 32 * 1024;
/// Longer than any parameter that means something.
const MAX_VALUE_BYTES: usize = 4_096;

/// What must not stand in an address, where logs and histories keep it.
const NEVER_IN_THE_ADDRESS: [&str; 10] = [
    "grant_type",
    "code",
    "code_verifier",
    "redirect_uri",
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
    "token",
    "token_type_hint",
];

impl Form {
    /// Reads the form of an address that has not failed too often.
    pub(super) async fn read(exchange: &mut Exchange) -> Result<Self, Refusal> {
        strangers::admit(exchange)?;
        let query = exchange.head.query.as_deref().unwrap_or_default();
        let is_in_the_address = form_urlencoded::parse(query.as_bytes())
            .any(|(name, _)| NEVER_IN_THE_ADDRESS.contains(&&*name));
        if is_in_the_address {
            let refusal = "Parameters belong into the body, not into the address.";
            return Err(Refusal::invalid_request(refusal));
        }
        if !is_media_type(&exchange.head.headers, "application/x-www-form-urlencoded") {
            let refusal = "Content-Type must be application/x-www-form-urlencoded.";
            return Err(Refusal::invalid_request(refusal));
        }
        let body = exchange.read_body(MAX_BODY_BYTES).await;
        let body = body.map_err(|unread| match unread {
            Unread::Broken(error) => Refusal::invalid_request(match error {
                BodyError::TooLarge { .. } => "The body is too long.",
                BodyError::TimedOut => "The body did not arrive in time.",
                BodyError::Misframed => "The body is not framed as HTTP says.",
                BodyError::Gone => "The body did not arrive.",
            }),
            Unread::Refused(fault) => fault.into(),
        })?;
        let pairs = form_urlencoded::parse(&body).into_owned();
        Self::of(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }

    fn of(pairs: Vec<(String, String)>) -> Result<Self, Refusal> {
        let mut names = HashSet::with_capacity(pairs.len());
        for (name, value) in &pairs {
            if !names.insert(name) {
                return Err(Refusal::invalid_request("A parameter is repeated."));
            }
            if value.contains('\0') {
                return Err(Refusal::invalid_request(
                    "A parameter holds a NUL character.",
                ));
            }
            if value.len() > MAX_VALUE_BYTES {
                return Err(Refusal::invalid_request("A parameter is too long."));
            }
        }
        Ok(Self(pairs))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn required(&self, name: &str, absent: &'static str) -> Result<&str, Refusal> {
        self.get(name).ok_or(Refusal::invalid_request(absent))
    }
}
