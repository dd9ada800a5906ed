//! Business Associate Agreements: templates, acceptances and where an organization stands (contract 13).

use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// Where an organization stands with its agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    None,
    Active,
    /// A newer template exists and the time of grace runs.
    ReacceptanceDue,
    Expired,
    Terminated,
}

impl Standing {
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Active => "active",
            Self::ReacceptanceDue => "reacceptance_due",
            Self::Expired => "expired",
            Self::Terminated => "terminated",
        }
    }

    /// Whether inference is allowed.
    pub const fn allows_inference(self) -> bool {
        matches!(self, Self::Active | Self::ReacceptanceDue)
    }
}

/// A text that organizations accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub version: String,
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Hex of the body's SHA-256.
    pub sha256: String,
    /// Current from then on, until a later one is published.
    pub published_at: Timestamp,
    /// Until when acceptances of an older template still count; `None` is without end.
    pub reaccept_by: Option<Timestamp>,
}

/// One acceptance. A fact: only its end is ever added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub id: String,
    pub org_id: String,
    pub template_version: String,
    pub template_sha256: String,
    pub accepted_by_user_id: String,
    pub signer_name: String,
    pub signer_title: String,
    pub signer_email: String,
    pub accepted_at: Timestamp,
    pub ip: Option<String>,
    pub user_agent: Option<String>,
    pub effective_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// Publishes a template; publishing the same version again changes nothing.
///
/// # Errors
/// Those of the database.
pub async fn publish(store: &Store, template: &Template) -> Result<(), StoreError> {
    let template = template.clone();
    store
        .db
        .write(|cx| Box::pin(async move { insert_template(cx, &template).await }))
        .await
}

pub(crate) async fn insert_template(
    cx: &mut Connection,
    template: &Template,
) -> Result<(), StoreError> {
    let Template {
        version,
        title,
        body,
        sha256,
        published_at,
        reaccept_by,
    } = template;
    cx.execute(
        "INSERT INTO baa_templates (version, title, body, sha256, published_at, reaccept_by) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (version) DO NOTHING",
        args![version, title, body, sha256, *published_at, *reaccept_by],
    )
    .await
    .map(drop)
}

/// Records an acceptance; the organization's earlier ones are superseded.
///
/// # Errors
/// [`StoreError::Exists`] when the id is taken; [`StoreError::Refused`] for an unknown template or user.
pub async fn accept(store: &Store, acceptance: &Acceptance) -> Result<(), StoreError> {
    let acceptance = acceptance.clone();
    store
        .db
        .write(|cx| Box::pin(async move { insert(cx, &acceptance).await }))
        .await
}

pub(crate) async fn insert(cx: &mut Connection, acceptance: &Acceptance) -> Result<(), StoreError> {
    let Acceptance {
        id,
        org_id,
        template_version,
        template_sha256,
        accepted_by_user_id,
        signer_name,
        signer_title,
        signer_email,
        accepted_at,
        ip,
        user_agent,
        effective_at,
        expires_at,
    } = acceptance;
    cx.execute(
        "UPDATE baa_acceptances SET superseded_at = $2 \
         WHERE org_id = $1 AND superseded_at IS NULL AND terminated_at IS NULL",
        args![org_id, *accepted_at],
    )
    .await?;
    cx.execute(
        "INSERT INTO baa_acceptances (id, org_id, template_version, template_sha256, accepted_by_user_id, \
         signer_name, signer_title, signer_email, accepted_at, ip, user_agent, effective_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        args![
            id,
            org_id,
            template_version,
            template_sha256,
            accepted_by_user_id,
            signer_name,
            signer_title,
            signer_email,
            *accepted_at,
            ip,
            user_agent,
            *effective_at,
            *expires_at,
        ],
    )
    .await
    .map(drop)
}

/// Ends the acceptance in force.
///
/// # Errors
/// [`StoreError::Missing`] when none is in force.
pub async fn terminate(store: &Store, org_id: &str, now: Timestamp) -> Result<(), StoreError> {
    let arguments = args![org_id, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                cx.execute_one(
                    "BAA in force",
                    "UPDATE baa_acceptances SET terminated_at = $2 \
                     WHERE org_id = $1 AND superseded_at IS NULL AND terminated_at IS NULL",
                    arguments,
                )
                .await
            })
        })
        .await
}

/// Where the organization stands at `now`.
///
/// # Errors
/// Those of the database.
pub async fn standing(store: &Store, org_id: &str, now: Timestamp) -> Result<Standing, StoreError> {
    let id = org_id.to_owned();
    store
        .db
        .read(move |cx| Box::pin(async move { read_standing(cx, &id, now).await }))
        .await
}

pub(crate) async fn read_standing(
    cx: &mut Connection,
    org_id: &str,
    now: Timestamp,
) -> Result<Standing, StoreError> {
    let latest = cx
        .row(
            "SELECT template_version, effective_at, expires_at, terminated_at FROM baa_acceptances \
             WHERE org_id = $1 AND superseded_at IS NULL ORDER BY accepted_at DESC, id DESC LIMIT 1",
            args![org_id],
        )
        .await?;
    let Some(latest) = latest else {
        return Ok(Standing::None);
    };
    let reached = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
    if reached(latest.get("terminated_at")?) {
        return Ok(Standing::Terminated);
    }
    if reached(latest.get("expires_at")?) {
        return Ok(Standing::Expired);
    }
    if latest.get::<Timestamp>("effective_at")? > now {
        return Ok(Standing::None);
    }
    let current = cx
        .row(
            "SELECT version, reaccept_by FROM baa_templates \
             WHERE published_at <= $1 ORDER BY published_at DESC, version DESC LIMIT 1",
            args![now],
        )
        .await?;
    let Some(current) = current else {
        return Ok(Standing::Active);
    };
    let accepted: String = latest.get("template_version")?;
    Ok(if current.get::<String>("version")? == accepted {
        Standing::Active
    } else if reached(current.get("reaccept_by")?) {
        Standing::Expired
    } else {
        Standing::ReacceptanceDue
    })
}
