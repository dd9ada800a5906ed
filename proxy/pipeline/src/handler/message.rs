//! `message`: one stored message of the caller's organization (spec, `GET /v1/ai/messages/{id}`).

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::Value;
use svc_core::chat::{Part, Role};
use svc_core::fault::{Code, Fault, Problems};
use svc_core::id::IdKind;
use svc_core::phi::{Channel, RestoreTable, restore};
use svc_core::query;
use svc_core::scope::Scope;
use svc_core::surface::Surface;
use svc_core::surface::native::{self, MessageRecord};
use svc_store::message;

use super::Handler;
use crate::caller::Caller;
use crate::conversation::{stored_parts, stored_placeholders};
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::filter::reach;
use crate::response::Response;

pub(super) struct Message;

impl Handler for Message {
    fn name(&self) -> &'static str {
        "message"
    }

    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Authorized,
            Fact::Admitted,
        ]
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["id"]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            match find(&exchange).await {
                Ok(body) => exchange.json(StatusCode::OK, &body),
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

/// This endpoint takes no query parameter; an unknown one is refused, never ignored (contract 1.2).
pub(super) fn check_query(query: Option<&str>) -> Result<(), Fault> {
    let mut problems = Problems::default();
    for parameter in query::parameters(query.unwrap_or_default()) {
        let path = query::path(&parameter.name);
        if let Some(problem) = parameter.problem {
            problems.add(&path, problem);
        }
        problems.add(path, "is not a known parameter");
    }
    problems.into_result()
}

/// A message of another organization or mode does not exist (contract 7, tenancy), nor does one for an agent's
/// credential that it may not read.
async fn find(exchange: &Exchange) -> Result<Value, Fault> {
    check_query(exchange.head.query.as_deref())?;
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let (scope, _) = exchange.route.asks()?;
    if let Some(agent) = &caller.agent {
        reach(agent, scope, exchange.surface)?;
    }
    let Some(id) = IdKind::Message.accept(exchange.parameter("id")) else {
        return Err(missing());
    };
    let found = message::find(
        &exchange.gateway.store,
        &caller.organization_id,
        caller.mode,
        &id,
    )
    .await;
    let found = found
        .map_err(|error| Fault::unavailable(format_args!("message: {error}")))?
        .filter(|found| may_read(caller, scope, exchange.surface, found))
        .ok_or_else(missing)?;
    let record = shown(found, caller.phi_restore)?;
    Ok(native::message_record(&record, &exchange.request_id))
}

/// What was said with one person is for credentials that name this person, and for those of no agent. What else the
/// organization has said is for agents as far as their grants go (contract 7 and 10), and not for applications: nobody
/// was asked whether they may read it (contract 16.3).
fn may_read(caller: &Caller, scope: Scope, surface: Surface, found: &message::Message) -> bool {
    let Some(agent) = &caller.agent else {
        return true;
    };
    match &found.runtime_user {
        Some(person) => agent.runtime_user.as_ref() == Some(person),
        None => !agent.is_of_application && agent.may_use_on(scope, surface, &found.model),
    }
}

/// A stored message as a record shows it, with what its placeholders stand for where the organization restores.
///
/// # Errors
/// 500 where what is stored cannot be read.
pub fn shown(found: message::Message, phi_restore: bool) -> Result<MessageRecord, Fault> {
    let parts = stored_parts(&found.content)?;
    let mut content: String = parts
        .iter()
        .filter_map(|part| {
            if let Part::Text { text, .. } = part {
                Some(text.as_str())
            } else {
                None
            }
        })
        .collect();
    if phi_restore {
        let table = Arc::new(RestoreTable::of(&stored_placeholders(
            found.phi_map.as_ref(),
        )?));
        (content, _) = restore(&content, &table, Channel::Prose);
    }
    Ok(MessageRecord {
        id: found.id,
        request_id: found.request_id,
        org_id: found.org_id,
        conversation_id: found.conversation_id,
        model: found.model,
        role: if found.role == Role::User {
            "user".into()
        } else {
            "assistant".into()
        },
        usage: found.usage,
        credits_consumed: found.credits,
        content,
        created_at: found.created_at,
        stop_reason: found.stop_reason,
        phi: found.phi.unwrap_or(Value::Null),
        audit_id: found.audit_id,
    })
}

fn missing() -> Fault {
    Code::ResourceNotFound.fault()
}
