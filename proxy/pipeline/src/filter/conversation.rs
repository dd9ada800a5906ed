//! `conversation`: stored history before this turn, and the organization's system prompt (contract 2, step 12).

use futures_util::future::BoxFuture;
use svc_core::chat::{Message, Part, Role};
use svc_core::fault::{Code, Fault, Problems, invalid};

use super::Filter;
use crate::conversation;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;

pub(super) struct Conversation;

impl Filter for Conversation {
    fn name(&self) -> &'static str {
        "conversation"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Chat, Fact::Granted]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Conversation]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let thread = given(exchange.facts.thread.as_mut(), "the thread")?;
            let chat = given(exchange.facts.chat.as_mut(), "the chat")?;
            if !thread.overrides_system
                && let Some(prompt) = &caller.default_system_prompt
            {
                chat.system.push(Part::text(prompt));
                chat.has_house_prompt = true;
            }
            if thread.continues {
                let stored = conversation::load(&exchange.gateway, caller, &thread.id).await?;
                let Some(stored) = stored else {
                    return Err(Code::ResourceNotFound.fault().at("conversation_id"));
                };
                let mut messages = thread.resume(stored);
                if let Some(places) = &mut exchange.facts.places {
                    places.put_behind(messages.len());
                }
                messages.append(&mut chat.messages);
                chat.messages = messages;
            } else {
                thread.meet(&exchange.gateway, caller).await?;
            }
            check_results(&chat.messages)
        })
    }
}

/// Every tool call of the last reply needs its result in this turn, and every result its call: a dangling
/// one is refused by both provider kinds (wire.md 2, point 5).
fn check_results(messages: &[Message]) -> Result<(), Fault> {
    let Some((turn, history)) = messages.split_last() else {
        return Err(invalid("message", "is required"));
    };
    let calls: Vec<&str> = history
        .last()
        .filter(|message| message.role == Role::Assistant)
        .into_iter()
        .flat_map(|message| &message.content)
        .filter_map(|part| {
            if let Part::ToolCall(call) = part {
                Some(call.id.as_str())
            } else {
                None
            }
        })
        .collect();
    let results: Vec<&str> = turn
        .content
        .iter()
        .filter_map(|part| {
            if let Part::ToolResult(result) = part {
                Some(result.call_id.as_str())
            } else {
                None
            }
        })
        .collect();
    let mut problems = Problems::default();
    for (at, id) in results.iter().enumerate() {
        if !calls.contains(id) {
            problems.add(
                format!("tool_results[{at}].tool_call_id"),
                "names no open tool call of the conversation",
            );
        } else if results.iter().take(at).any(|earlier| earlier == id) {
            problems.add(format!("tool_results[{at}].tool_call_id"), "stands twice");
        }
    }
    if calls.iter().any(|id| !results.contains(id)) {
        problems.add(
            "tool_results",
            "must answer every open tool call of the conversation",
        );
    }
    problems.into_result()
}
