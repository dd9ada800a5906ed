//! The audit log (contract 14): typed rows in, the JSON of contract 14.1 stored beside the columns that
//! queries filter on. Append-only: triggers refuse every change. A row has no content, by its type.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// Which of a request's rows this is; each request has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The intent, durable before any upstream byte.
    Requested,
    /// The end of what the intent announced.
    Terminal,
    /// The only row of a request, or of no request.
    Single,
}

impl Phase {
    const fn word(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Terminal => "terminal",
            Self::Single => "single",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorKind {
    ApiKey,
    AgentCredential,
    User,
    OauthApplication,
    WebhookToken,
    System,
    Anonymous,
}

impl ActorKind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::AgentCredential => "agent_credential",
            Self::User => "user",
            Self::OauthApplication => "oauth_application",
            Self::WebhookToken => "webhook_token",
            Self::System => "system",
            Self::Anonymous => "anonymous",
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Denied,
    Failure,
    Cancelled,
    Unknown,
}

impl Outcome {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Denied => "denied",
            Self::Failure => "failure",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Actor {
    pub kind: ActorKind,
    pub id: Option<String>,
    pub delegating_user_id: Option<String>,
    pub hint: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub id: String,
    pub method: String,
    pub path: String,
    pub surface: Option<String>,
    pub svc_version: Option<String>,
    pub ip: Option<String>,
    pub user_agent: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Target {
    pub kind: String,
    pub id: String,
}

/// Counts of PHI by kind, never the PHI.
#[derive(Clone, Debug)]
pub struct Phi {
    pub mode: String,
    pub entity_counts: BTreeMap<String, u64>,
    /// `name@version` or `name@version:digest` of each detector that ran.
    pub detectors: Vec<String>,
    pub policy_epoch: i64,
}

/// One audit row.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: String,
    pub phase: Phase,
    pub event: String,
    pub occurred_at: Timestamp,
    /// `None` where the row belongs to no organization.
    pub org_id: Option<String>,
    pub mode: Option<Mode>,
    pub actor: Actor,
    pub request: Option<Request>,
    pub target: Option<Target>,
    pub outcome: Outcome,
    /// HTTP status, where one was sent.
    pub status: Option<u16>,
    /// Code of the fault catalogue.
    pub code: Option<String>,
    pub phi: Option<Phi>,
    pub model: Option<String>,
    /// Ids, codes, counts and durations; `model` is added to them.
    pub details: Map<String, Value>,
}

impl Row {
    /// The row as contract 14.1 shows it, without `integrity`.
    pub fn document(&self) -> Value {
        let mut details = self.details.clone();
        if let Some(model) = &self.model {
            details.insert("model".to_owned(), json!(model));
        }
        json!({
            "id": self.id,
            "object": "audit_event",
            "event": self.event,
            "schema": 1,
            "occurred_at": self.occurred_at.to_string(),
            "org_id": self.org_id,
            "mode": self.mode.map(Mode::word),
            "actor": {
                "type": self.actor.kind.word(),
                "id": self.actor.id,
                "delegating_user_id": self.actor.delegating_user_id,
                "hint": self.actor.hint,
            },
            "request": self.request.as_ref().map(request_document),
            "target": self.target.as_ref().map(|target| json!({"type": target.kind, "id": target.id})),
            "outcome": {"result": self.outcome.word(), "status": self.status, "code": self.code},
            "phi": self.phi.as_ref().map(phi_document),
            "details": details,
        })
    }

    fn columns(&self) -> Columns {
        let detected = |phi: &Phi| phi.entity_counts.values().any(|count| *count > 0);
        let request = self.request.as_ref();
        Columns {
            id: self.id.clone(),
            org_id: self.org_id.clone(),
            mode: self.mode,
            request_id: request.map(|request| request.id.clone()),
            phase: self.phase,
            event: self.event.clone(),
            occurred_at: self.occurred_at,
            actor_type: self.actor.kind.word().to_owned(),
            actor_id: self.actor.id.clone(),
            target_type: self.target.as_ref().map(|target| target.kind.clone()),
            target_id: self.target.as_ref().map(|target| target.id.clone()),
            outcome: self.outcome,
            surface: request.and_then(|request| request.surface.clone()),
            model: self.model.clone(),
            phi_detected: self.phi.as_ref().is_some_and(detected),
            document: self.document(),
        }
    }
}

fn request_document(request: &Request) -> Value {
    let Request {
        id,
        method,
        path,
        surface,
        svc_version,
        ip,
        user_agent,
    } = request;
    json!({
        "id": id, "method": method, "path": path, "surface": surface,
        "svc_version": svc_version, "ip": ip, "user_agent": user_agent,
    })
}

fn phi_document(phi: &Phi) -> Value {
    let Phi {
        mode,
        entity_counts,
        detectors,
        policy_epoch,
    } = phi;
    json!({
        "mode": mode,
        "detected": entity_counts.values().any(|count| *count > 0),
        "entity_counts": entity_counts,
        "detectors": detectors,
        "policy_epoch": policy_epoch,
    })
}

/// A row as the table has it.
pub(crate) struct Columns {
    pub(crate) id: String,
    pub(crate) org_id: Option<String>,
    pub(crate) mode: Option<Mode>,
    pub(crate) request_id: Option<String>,
    pub(crate) phase: Phase,
    pub(crate) event: String,
    pub(crate) occurred_at: Timestamp,
    pub(crate) actor_type: String,
    pub(crate) actor_id: Option<String>,
    pub(crate) target_type: Option<String>,
    pub(crate) target_id: Option<String>,
    pub(crate) outcome: Outcome,
    pub(crate) surface: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) phi_detected: bool,
    pub(crate) document: Value,
}

/// Rows that one call may append.
pub const APPEND_ROWS: usize = 1_000;

/// Appends rows, all or none.
///
/// # Errors
/// [`StoreError::Exists`] when a request already has a row of that phase; [`StoreError::Overloaded`] for more
/// than [`APPEND_ROWS`].
pub async fn append(store: &Store, rows: &[Row]) -> Result<(), StoreError> {
    if rows.len() > APPEND_ROWS {
        return Err(StoreError::Overloaded);
    }
    let columns: Vec<Columns> = rows.iter().map(Row::columns).collect();
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                for row in columns {
                    if !insert_columns(cx, row).await? {
                        return Err(StoreError::Exists {
                            constraint: "audit.request_id, audit.phase".to_owned(),
                        });
                    }
                }
                Ok(())
            })
        })
        .await
}

/// The rows of a request as JSON, in the order of their phases.
///
/// # Errors
/// Those of the database.
pub async fn by_request(
    store: &Store,
    org_id: &str,
    mode: Mode,
    request_id: &str,
) -> Result<Vec<Value>, StoreError> {
    let arguments = args![org_id, mode, request_id];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                // At most one row per phase, in the alphabetical order of their words.
                let sql = "SELECT document FROM audit \
                           WHERE org_id = $1 AND mode = $2 AND request_id = $3 ORDER BY phase";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter().map(|row| row.get("document")).collect()
            })
        })
        .await
}

/// Inserts a row; `false` when its request has a row of that phase.
pub(crate) async fn insert(cx: &mut Connection, row: &Row) -> Result<bool, StoreError> {
    insert_columns(cx, row.columns()).await
}

pub(crate) async fn insert_columns(
    cx: &mut Connection,
    columns: Columns,
) -> Result<bool, StoreError> {
    let Columns {
        id,
        org_id,
        mode,
        request_id,
        phase,
        event,
        occurred_at,
        actor_type,
        actor_id,
        target_type,
        target_id,
        outcome,
        surface,
        model,
        phi_detected,
        document,
    } = columns;
    let inserted = cx
        .execute(
            "INSERT INTO audit (id, org_id, mode, request_id, phase, event, occurred_at, actor_type, actor_id, \
             target_type, target_id, result, surface, model, phi_detected, document) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
             ON CONFLICT (request_id, phase) DO NOTHING",
            args![
                id, org_id, mode, request_id, phase.word(), event, occurred_at, actor_type, actor_id, target_type,
                target_id, outcome.word(), surface, model, phi_detected, &document,
            ],
        )
        .await?;
    Ok(inserted == 1)
}
