//! Agents (contract 10): who credentials act for, and what they may do at most.

use std::collections::BTreeMap;

use serde_json::Value;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::api_key::Creator;
use crate::engine::{Connection, Row, args};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction};

/// One agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub writable: Writable,
    /// The agent that it acts for.
    pub parent_agent_id: Option<String>,
    /// That of its parent and 1; 0 without one, at most 3 (contract 10).
    pub delegation_depth: u32,
    pub created_by: Creator,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub archived_at: Option<Timestamp>,
}

/// What its organization decides about an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Writable {
    pub name: String,
    pub description: Option<String>,
    /// Catalogue id, for requests that name no model.
    pub default_model: Option<String>,
    /// Catalogue ids; `None`: any.
    pub allowed_models: Option<Vec<String>>,
    /// The grants as contract 10 shows them.
    pub scope_grants: Value,
    /// Credentials that may be good at once.
    pub max_active_credentials: u32,
    /// The life of a credential that asks for no other, 1 to 720 (contract 10).
    pub default_expiry_hours: u32,
    pub metadata: BTreeMap<String, String>,
}

/// An agent, and those that it acts for: nobody hands on more than they have, nor longer than they last.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub agent: Agent,
    /// The nearest first.
    pub ancestors: Vec<Agent>,
}

impl Line {
    /// When the agent was archived, or else one that it acts for: then none of its credentials are good.
    pub fn archived_at(&self) -> Option<Timestamp> {
        self.agents().find_map(|agent| agent.archived_at)
    }

    /// The grants of all of them, within each of which a credential of the agent stays.
    pub fn scope_grants(&self) -> impl Iterator<Item = &Value> {
        self.agents().map(|agent| &agent.writable.scope_grants)
    }

    /// The models that all of them allow; `None`: any.
    pub fn allowed_models(&self) -> Option<Vec<String>> {
        let lists = self.agents();
        let mut lists = lists.filter_map(|agent| agent.writable.allowed_models.as_ref());
        let mut models = lists.next()?.clone();
        for outer in lists {
            models.retain(|model| outer.contains(model));
        }
        Some(models)
    }

    fn agents(&self) -> impl Iterator<Item = &Agent> {
        std::iter::once(&self.agent).chain(&self.ancestors)
    }
}

/// Filters of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `Some(true)`: archived ones only.
    pub archived: Option<bool>,
    /// How its name begins.
    pub name_prefix: Option<String>,
}

/// Stores a new agent.
///
/// # Errors
/// Those of the database.
pub async fn insert(tx: &mut Transaction<'_>, agent: &Agent) -> Result<(), StoreError> {
    let Agent {
        id,
        org_id,
        mode,
        writable,
        parent_agent_id,
        delegation_depth,
        created_by,
        created_at,
        updated_at,
        archived_at,
    } = agent;
    let Writable {
        name,
        description,
        default_model,
        allowed_models,
        scope_grants,
        max_active_credentials,
        default_expiry_hours,
        metadata,
    } = writable;
    tx.cx
        .execute(
            "INSERT INTO agents (id, org_id, mode, name, description, default_model, allowed_models, \
             scope_grants, parent_agent_id, delegation_depth, max_active_credentials, default_expiry_hours, \
             metadata, created_by_type, created_by_id, created_at, updated_at, archived_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
            args![
                id,
                org_id,
                *mode,
                name,
                description,
                default_model,
                models_json(allowed_models.as_deref()),
                scope_grants,
                parent_agent_id,
                *delegation_depth,
                *max_active_credentials,
                *default_expiry_hours,
                &metadata_json(metadata),
                &created_by.kind,
                &created_by.id,
                *created_at,
                *updated_at,
                *archived_at,
            ],
        )
        .await
        .map(drop)
}

/// Replaces what is writable.
///
/// # Errors
/// [`StoreError::Missing`] for an agent that this organization and mode do not have.
pub async fn update(
    tx: &mut Transaction<'_>,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Writable {
        name,
        description,
        default_model,
        allowed_models,
        scope_grants,
        max_active_credentials,
        default_expiry_hours,
        metadata,
    } = &agent.writable;
    tx.cx
        .execute_one(
            "agent",
            "UPDATE agents SET name = $4, description = $5, default_model = $6, allowed_models = $7, \
             scope_grants = $8, max_active_credentials = $9, default_expiry_hours = $10, metadata = $11, \
             updated_at = $12 WHERE id = $1 AND org_id = $2 AND mode = $3",
            args![
                &agent.id,
                &agent.org_id,
                agent.mode,
                name,
                description,
                default_model,
                models_json(allowed_models.as_deref()),
                scope_grants,
                *max_active_credentials,
                *default_expiry_hours,
                &metadata_json(metadata),
                now,
            ],
        )
        .await
}

/// Archives an agent (`Some`) or takes it back (`None`).
///
/// # Errors
/// [`StoreError::Missing`] for an agent that this organization and mode do not have.
pub async fn set_archived(
    tx: &mut Transaction<'_>,
    agent: &Agent,
    archived_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.cx
        .execute_one(
            "agent",
            "UPDATE agents SET archived_at = $4, updated_at = $5 WHERE id = $1 AND org_id = $2 AND mode = $3",
            args![&agent.id, &agent.org_id, agent.mode, archived_at, now],
        )
        .await
}

/// As [`lock`], with the agents that it acts for, which others may change.
///
/// # Errors
/// Those of the database.
pub async fn lock_line(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Line>, StoreError> {
    let Some(agent) = lock(tx, org_id, mode, id).await? else {
        return Ok(None);
    };
    line(tx.cx, &agent.id).await.map(Some)
}

/// The agent with this id, whoever owns it, and those that it acts for.
///
/// # Errors
/// Those of the database; [`StoreError::Missing`] where one of them is gone.
pub async fn line_of(store: &Store, id: &str) -> Result<Line, StoreError> {
    let id = id.to_owned();
    store
        .db
        .read_of_all(|cx| Box::pin(async move { line(cx, &id).await }))
        .await
}

/// The agent of this organization and mode with this id, which nobody else changes until the transaction ends.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Agent>, StoreError> {
    // SQLite has one writer; on PostgreSQL an update that changes nothing holds the row on both engines alike.
    let sql = "UPDATE agents SET updated_at = updated_at WHERE id = $1 AND org_id = $2 AND mode = $3 RETURNING *";
    tx.cx.one(sql, args![id, org_id, mode], from_row).await
}

pub(crate) async fn line(cx: &mut Connection, id: &str) -> Result<Line, StoreError> {
    let sql = "WITH RECURSIVE line (id, parent_agent_id) AS \
               (SELECT id, parent_agent_id FROM agents WHERE id = $1 UNION \
               SELECT a.id, a.parent_agent_id FROM agents a JOIN line l ON a.id = l.parent_agent_id) \
               SELECT * FROM agents WHERE id IN (SELECT id FROM line) ORDER BY delegation_depth DESC";
    let rows = cx.rows(sql, args![id]).await?;
    let mut agents = rows.iter().map(from_row);
    let agent = agents.next().ok_or(StoreError::Missing("agent"))??;
    let ancestors = agents.collect::<Result<Vec<Agent>, StoreError>>()?;
    // Without one of them its limits would be missing too.
    let root = ancestors.last().unwrap_or(&agent);
    if root.parent_agent_id.is_some() {
        return Err(StoreError::Missing("agent"));
    }
    Ok(Line { agent, ancestors })
}

/// The agent of this organization and mode with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Agent>, StoreError> {
    let sql = "SELECT * FROM agents WHERE id = $1 AND org_id = $2 AND mode = $3";
    store.db.find(sql, args![id, org_id, mode], from_row).await
}

/// The agent of this mode with this id, whoever owns it: one that an authorization request names.
///
/// # Errors
/// Those of the database.
pub async fn find_any(store: &Store, mode: Mode, id: &str) -> Result<Option<Agent>, StoreError> {
    let arguments = args![id, mode];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM agents WHERE id = $1 AND mode = $2";
                cx.one(sql, arguments, from_row).await
            })
        })
        .await
}

/// A page of the agents of this organization and mode.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    filter: &Filter,
    page: &Page,
) -> Result<Paged<Agent>, StoreError> {
    let mut listing = Listing::new(
        "SELECT * FROM agents WHERE org_id = $1 AND mode = $2",
        args![org_id, mode],
    );
    let Filter {
        archived,
        name_prefix,
    } = filter.clone();
    listing.only_set("archived_at", archived);
    if let Some(prefix) = name_prefix {
        listing.starts_with("name", prefix);
    }
    listing.page(store, page, from_row).await
}

fn models_json(models: Option<&[String]>) -> Option<String> {
    models.map(|models| Value::from(models.to_vec()).to_string())
}

fn metadata_json(metadata: &BTreeMap<String, String>) -> Value {
    metadata
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(value.clone())))
        .collect()
}

pub(crate) fn from_row(row: &Row) -> Result<Agent, StoreError> {
    let metadata: Value = row.get("metadata")?;
    let metadata =
        serde_json::from_value(metadata).map_err(|_| StoreError::Corrupt { column: "metadata" })?;
    Ok(Agent {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        writable: Writable {
            name: row.get("name")?,
            description: row.get("description")?,
            default_model: row.get("default_model")?,
            allowed_models: row.get("allowed_models")?,
            scope_grants: row.get("scope_grants")?,
            max_active_credentials: row.get("max_active_credentials")?,
            default_expiry_hours: row.get("default_expiry_hours")?,
            metadata,
        },
        parent_agent_id: row.get("parent_agent_id")?,
        delegation_depth: row.get("delegation_depth")?,
        created_by: Creator::from_row(row)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        archived_at: row.get("archived_at")?,
    })
}
