//! Audit rows of what people do with their accounts. What they do with anything else is written by the endpoint that
//! does it.

use serde_json::{Map, Value};
use svc_core::fault::Fault;
use svc_core::id::IdKind;
use svc_core::secret::Mode;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::moment;
use svc_store::audit::{self, Actor, ActorKind, Outcome, Phase, Request, Row, Target};
use svc_store::user::User;

/// What a user did to their own account, or to another's.
pub(crate) fn done(exchange: &Exchange, by: &User, event: &str, to: &User) -> Row {
    Row {
        actor: actor(by),
        outcome: Outcome::Success,
        status: Some(200),
        ..row(exchange, event, to)
    }
}

/// What somebody tried on the account of a user, and was not let.
pub(crate) fn denied(exchange: &Exchange, event: &str, to: &User, reason: &str) -> Row {
    let row = row(exchange, event, to);
    Row {
        status: Some(401),
        ..detailed(row, "reason", reason)
    }
}

/// What somebody who is signed in could not show that they are the owner of the account for.
pub(crate) fn unproved(exchange: &Exchange, by: &User, reason: &str) -> Row {
    Row {
        actor: actor(by),
        ..denied(exchange, "user.denied", by, reason)
    }
}

/// What came of a change of somebody's account by somebody else. One that is refused leaves its row (contract 14.2).
///
/// # Errors
/// The refusal itself; 503 where it cannot be audited.
pub(crate) async fn kept<T>(
    exchange: &Exchange,
    by: &User,
    done: Result<T, Fault>,
) -> Result<T, Fault> {
    if let Err(fault) = &done
        && fault.code.row().status < 500
    {
        let id = exchange.parameter("id");
        let target = IdKind::User.accept(id).map(|id| Target {
            kind: "user".to_owned(),
            id,
        });
        let status = fault.code.row().status;
        let row = Row {
            actor: actor(by),
            outcome: if status == 403 {
                Outcome::Denied
            } else {
                Outcome::Failure
            },
            status: Some(status),
            code: Some(fault.code.word().to_owned()),
            target,
            ..row(exchange, "user.denied", by)
        };
        write(exchange, row).await?;
    }
    done
}

/// The row with one more detail.
pub(crate) fn detailed(mut row: Row, key: &str, value: impl Into<Value>) -> Row {
    row.details.insert(key.to_owned(), value.into());
    row
}

fn actor(user: &User) -> Actor {
    Actor {
        kind: ActorKind::User,
        id: Some(user.id.clone()),
        delegating_user_id: None,
        hint: None,
    }
}

fn row(exchange: &Exchange, event: &str, to: &User) -> Row {
    let head = &exchange.head;
    let mut details = Map::new();
    details.insert("via".to_owned(), Value::from("ui"));
    Row {
        id: moment::audit_id(),
        phase: Phase::Single,
        event: event.to_owned(),
        occurred_at: moment::now(),
        org_id: Some(to.org_id.clone()),
        // What concerns the whole organization stands in its live log.
        mode: Some(Mode::Live),
        actor: Actor {
            kind: ActorKind::Anonymous,
            id: None,
            delegating_user_id: None,
            hint: None,
        },
        request: Some(Request {
            id: exchange.request_id.clone(),
            method: head.method.to_string(),
            // As the table of routes has it: a path may hold the token of a link.
            path: exchange.route.path.clone(),
            surface: None,
            svc_version: None,
            ip: Some(head.client.to_string()),
            user_agent: head.user_agent(),
        }),
        target: Some(Target {
            kind: "user".to_owned(),
            id: to.id.clone(),
        }),
        outcome: Outcome::Denied,
        status: None,
        code: None,
        phi: None,
        model: None,
        details,
    }
}

/// Writes a row that belongs to no other effect.
///
/// # Errors
/// 503: what cannot be audited does not happen.
pub(crate) async fn write(exchange: &Exchange, row: Row) -> Result<(), Fault> {
    let written = audit::append(&exchange.gateway.store, &[row]).await;
    written.map_err(|error| Fault::unavailable(format_args!("audit row of an account: {error}")))
}
