//! Conversations between the canonical chat and the store: turns are kept with placeholders in place, the
//! placeholders' values sealed beside them (contract 21, Restoring).

mod order;

use serde_json::Value;
use svc_core::chat::{ChatReply, Finish, Message, Part, Role, Usage};
use svc_core::fault::Fault;
use svc_core::id::IdKind;
use svc_core::money::Micro;
use svc_core::phi::PlaceholderMap;
use svc_core::surface::PhiMetadata;
use svc_core::surface::blocks;
use svc_core::surface::native::NativeRequest;
use svc_store::conversation::{self, Handle, NewMessage, Owner, WHOLE_HISTORY};
use svc_store::end_user::{self, EndUserKey};
use svc_store::seal::Content;

use crate::caller::Caller;
use crate::gateway::Gateway;
use crate::moment;
use crate::phi::Scan;

/// The conversation that an exchange belongs to.
pub struct Thread {
    /// Canonical form (`conv_…`); made where the caller names none.
    pub id: String,
    /// Whether it was there before this request.
    pub continues: bool,
    /// Whether this turn is stored (contract: the default is yes).
    pub store: bool,
    /// Whether the caller asked for that by name.
    pub asks_to_store: bool,
    /// Whether the body names a system prompt of its own.
    pub overrides_system: bool,
    /// What its placeholders stand for, until PHI Guard takes the map over.
    pub placeholders: PlaceholderMap,
    /// Messages of earlier turns, which go before this one.
    pub stored_messages: usize,
    /// The map as it was loaded, to see whether this turn adds to it.
    known: PlaceholderMap,
    handle: Option<Handle>,
    /// The key of the person that a new conversation is with.
    person: Option<EndUserKey>,
}

/// What one run adds to a conversation, in the store's terms, but for what only settling knows.
pub(crate) struct Turn {
    thread: conversation::Thread,
    user: NewMessage,
    assistant: Content,
    phi_map: Option<Content>,
}

/// A stored conversation, opened.
pub(crate) struct Stored {
    pub(crate) turns: Vec<Message>,
    placeholders: PlaceholderMap,
    handle: Handle,
}

impl Thread {
    /// What a native request asks for.
    pub fn asked(request: &NativeRequest) -> Self {
        Self {
            id: request
                .conversation_id
                .clone()
                .unwrap_or_else(|| moment::id(IdKind::Conversation)),
            continues: request.conversation_id.is_some(),
            store: request.store.unwrap_or(true),
            asks_to_store: request.store == Some(true),
            overrides_system: request.overrides_system,
            placeholders: PlaceholderMap::default(),
            stored_messages: 0,
            known: PlaceholderMap::default(),
            handle: None,
            person: None,
        }
    }

    /// A surface whose callers bring their whole conversation: nothing is loaded and nothing is stored.
    pub fn stateless() -> Self {
        Self {
            id: moment::id(IdKind::Conversation),
            continues: false,
            store: false,
            asks_to_store: false,
            overrides_system: true,
            placeholders: PlaceholderMap::default(),
            stored_messages: 0,
            known: PlaceholderMap::default(),
            handle: None,
            person: None,
        }
    }

    /// Notes the key of the person that a new conversation is with, if it is to be stored: who is erased while the model
    /// speaks has no such key any more, and nothing is stored.
    ///
    /// # Errors
    /// 503 where the store does not answer.
    pub(crate) async fn meet(&mut self, gateway: &Gateway, caller: &Caller) -> Result<(), Fault> {
        let Some(user) = caller.runtime_user().filter(|_| self.store) else {
            return Ok(());
        };
        let (store, org_id) = (&gateway.store, &caller.organization_id);
        let key = end_user::key_of(store, org_id, caller.mode, user, moment::now()).await;
        let key = key.map_err(|error| Fault::unavailable(format_args!("end user: {error}")))?;
        self.person = Some(key);
        Ok(())
    }

    /// Takes the loaded conversation in and gives its turns.
    pub(crate) fn resume(&mut self, stored: Stored) -> Vec<Message> {
        let Stored {
            turns,
            placeholders,
            handle,
        } = stored;
        self.known = placeholders.clone();
        self.placeholders = placeholders;
        self.handle = Some(handle);
        self.stored_messages = turns.len();
        turns
    }

    /// The id that the caller sees: none where there is nothing to continue later.
    pub(crate) fn shown_id(&self) -> Option<String> {
        (self.store || self.continues).then(|| self.id.clone())
    }

    /// This turn for the store; `None` where nothing is stored.
    pub(crate) fn turn(
        &mut self,
        message: &Message,
        reply: &ChatReply,
        scan: &Scan,
        caller: &Caller,
    ) -> Option<Turn> {
        if !self.store {
            return None;
        }
        let thread = match self.handle.take() {
            Some(handle) => conversation::Thread::Existing(handle),
            None => {
                let owner = Owner {
                    kind: caller.actor().word().into(),
                    id: caller.key_id.clone(),
                    runtime_user: caller.runtime_user().map(str::to_owned),
                };
                conversation::Thread::New {
                    id: self.id.clone(),
                    owner,
                    person: self.person.take(),
                }
            }
        };
        let user = NewMessage {
            id: moment::id(IdKind::Message),
            role: Role::User,
            content: sealed_form(&message.content),
            model: String::new(),
            usage: Usage::default(),
            credits: Micro::ZERO,
            stop_reason: None,
            phi: None,
            audit_id: None,
        };
        let grown = scan.placeholders != self.known;
        let phi_map = grown.then(|| Content::new(scan.placeholders.to_json()));
        Some(Turn {
            thread,
            user,
            assistant: sealed_form(&reply.content),
            phi_map,
        })
    }
}

/// What settling adds to a turn.
pub(crate) struct ReplyFacts<'a> {
    pub(crate) message_id: &'a str,
    pub(crate) model: &'a str,
    pub(crate) usage: Usage,
    pub(crate) credits: Micro,
    pub(crate) finish: &'a Finish,
    pub(crate) phi: &'a PhiMetadata,
    pub(crate) audit_id: &'a str,
}

impl Turn {
    /// The turn as the store writes it.
    pub(crate) fn settled(self, facts: &ReplyFacts<'_>) -> conversation::Turn {
        let Self {
            thread,
            user,
            assistant,
            phi_map,
        } = self;
        let user = NewMessage {
            model: facts.model.to_owned(),
            ..user
        };
        let reply = NewMessage {
            id: facts.message_id.to_owned(),
            role: Role::Assistant,
            content: assistant,
            model: facts.model.to_owned(),
            usage: facts.usage,
            credits: facts.credits,
            stop_reason: Some(facts.finish.reason.word().to_owned()),
            phi: Some(facts.phi.to_json()),
            audit_id: Some(facts.audit_id.to_owned()),
        };
        conversation::Turn {
            thread,
            messages: vec![user, reply],
            phi_map,
        }
    }
}

/// Parts as the text that is sealed and stored.
fn sealed_form(parts: &[Part]) -> Content {
    Content::new(Value::Array(parts.iter().map(blocks::encode).collect()).to_string())
}

/// The parts of a stored message.
///
/// # Errors
/// 500 when the stored text is not what [`sealed_form`] writes.
pub(crate) fn stored_parts(content: &Content) -> Result<Vec<Part>, Fault> {
    let blocks: Option<Vec<Value>> = serde_json::from_str(content.as_str()).ok();
    blocks
        .and_then(blocks::decode_stored)
        .ok_or_else(|| Fault::internal("a stored message is not in the stored form"))
}

/// The placeholders of a stored conversation.
///
/// # Errors
/// 500 when the stored map cannot be read.
pub(crate) fn stored_placeholders(map: Option<&Content>) -> Result<PlaceholderMap, Fault> {
    match map {
        None => Ok(PlaceholderMap::default()),
        Some(text) => PlaceholderMap::from_json(text.as_str())
            .map_err(|error| Fault::internal(format_args!("a stored placeholder map: {error}"))),
    }
}

/// A conversation of the caller's organization and mode; `None` where there is none.
///
/// # Errors
/// 503 where the store does not answer, 500 for content that cannot be read.
pub(crate) async fn load(
    gateway: &Gateway,
    caller: &Caller,
    id: &str,
) -> Result<Option<Stored>, Fault> {
    let found = conversation::load(
        &gateway.store,
        &caller.organization_id,
        caller.mode,
        id,
        WHOLE_HISTORY,
    )
    .await;
    let found = found.map_err(|error| Fault::unavailable(format_args!("conversation: {error}")))?;
    // A credential of an agent goes on with what its own user has begun, and with nothing else.
    let found = found.filter(|found| {
        caller.agent.is_none() || caller.runtime_user() == found.owner.runtime_user.as_deref()
    });
    let Some(found) = found else { return Ok(None) };
    let mut turns = Vec::with_capacity(found.history.len());
    for past in &found.history {
        turns.push(Message {
            role: past.role,
            content: stored_parts(&past.content)?,
            name: None,
        });
    }
    let placeholders = stored_placeholders(found.phi_map.as_ref())?;
    Ok(Some(Stored {
        turns: order::in_order(turns),
        placeholders,
        handle: found.handle,
    }))
}

#[cfg(test)]
mod tests {
    use svc_core::chat::{Arguments, MAX_ARGUMENT_DEPTH, ToolCall};

    use super::*;

    #[test]
    fn the_deepest_arguments_come_back_from_storage() {
        let levels = MAX_ARGUMENT_DEPTH;
        let text = format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        let parts: Vec<Part> = Arguments::default()
            .of_call(&text, 0)
            .map(|arguments| {
                Part::ToolCall(ToolCall {
                    id: "c".into(),
                    name: "f".into(),
                    arguments,
                    cache_mark: None,
                })
            })
            .into_iter()
            .collect();
        assert_eq!(parts.len(), 1);
        assert!(stored_parts(&sealed_form(&parts)).is_ok_and(|back| back == parts));
    }
}
