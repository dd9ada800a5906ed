//! What an audit row quotes of a caller's own words, without PHI: nobody can take it out of the row again.

use std::sync::Arc;

use svc_core::chat::{ChatRequest, Message, Part, Role};
use svc_core::fault::Fault;
use svc_core::phi::{self, Listener, PlaceholderMap, TextScan};

use super::{Detected, Detectors};
use crate::estimate::is_large;
use crate::exchange::{Exchange, given};
use crate::policy::phi::PhiPolicy;

/// Stands for words that no detector has read.
pub(crate) const UNREAD: &str = "[UNREAD]";

/// Texts with a placeholder in the place of everything that PHI Guard finds in them, in the organization's profile and
/// under its lists, whatever its mode. Where the guard fails, none of them is quoted: `[UNREAD]` stands for each.
pub(crate) async fn quoted(exchange: &Exchange, texts: Vec<String>) -> Vec<String> {
    if texts.is_empty() {
        return texts;
    }
    let many = texts.len();
    match read(exchange, texts).await {
        Ok(texts) => texts,
        Err(fault) => {
            tracing::error!(
                request_id = exchange.request_id.as_str(),
                cause = fault.cause(),
                "an audit row goes without the words that it should quote"
            );
            vec![UNREAD.to_owned(); many]
        }
    }
}

async fn read(exchange: &Exchange, texts: Vec<String>) -> Result<Vec<String>, Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let (gateway, policy) = (&exchange.gateway, &exchange.policy.phi);
    let org_id = &caller.organization_id;
    let lists = gateway.phi_lists.of(&gateway.store, org_id).await?.lists;
    let detectors =
        Detectors::pin(&gateway.plugins, policy, policy.profile_of(org_id))?.with_lists(lists);
    let chat = asked(texts);
    if !is_large(&chat) {
        return without_phi(chat, &detectors, policy).await;
    }
    let (policy, background) = (Arc::clone(&exchange.policy), gateway.background.clone());
    let reading = background.clone().spawn_blocking(move || {
        let reading = without_phi(chat, &detectors, &policy.phi);
        background.block_on(reading)
    });
    let read = reading.await;
    read.map_err(|error| Fault::internal(format_args!("PHI Guard: {error}")))?
}

/// Each text is read on its own.
fn asked(texts: Vec<String>) -> ChatRequest {
    let mut chat = ChatRequest::of_user_text(String::new());
    chat.messages = texts
        .into_iter()
        .map(|text| Message {
            role: Role::User,
            content: vec![Part::text(text)],
            name: None,
        })
        .collect();
    chat
}

async fn without_phi(
    mut chat: ChatRequest,
    detectors: &Detectors,
    policy: &PhiPolicy,
) -> Result<Vec<String>, Fault> {
    let failed =
        |error: &dyn std::fmt::Display| Fault::internal(format_args!("PHI Guard: {error}"));
    let mut placeholders = PlaceholderMap::default();
    let scan = TextScan::of(&mut chat);
    let Detected {
        findings, allowed, ..
    } = detectors.find(&scan, policy).await?;
    let findings =
        phi::sweep(&scan, findings, &placeholders, &allowed).map_err(|error| failed(&error))?;
    phi::redact(
        &mut chat,
        &scan,
        &findings,
        &mut placeholders,
        Listener::default(),
    )
    .map_err(|error| failed(&error))?;
    let parts = chat
        .messages
        .into_iter()
        .flat_map(|message| message.content);
    let quoted = parts.filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    });
    Ok(quoted.collect())
}
