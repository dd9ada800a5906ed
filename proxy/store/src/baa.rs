//! Business Associate Agreements: templates, acceptances and where an organization stands (contract 13).
//!
//! Templates and acceptances are facts. A published text never changes, an acceptance is superseded or ended once, and
//! the database refuses anything else.

mod document;

use svc_core::time::Timestamp;

use crate::audit;
use crate::engine::{Connection, Row, args};
use crate::page::{Listing, Order, Page, Paged};
use crate::{Store, StoreError, Transaction};

pub use document::{
    Document, DocumentFacts, read_document, rewrap, seal_document, signed_message, signer,
};

/// The templates published by `$1` that came after the one that was accepted, in the order of [`read_current`].
macro_rules! newer {
    ($what:literal) => {
        concat!(
            "(SELECT ",
            $what,
            " FROM baa_templates t JOIN baa_templates own ON own.version = a.template_version \
             WHERE t.published_at <= $1 AND (t.published_at, t.version) > (own.published_at, own.version))"
        )
    };
}

/// Acceptances with the facts of their documents and with what was published since, by `$1`; a `WHERE` clause follows.
macro_rules! recorded {
    () => {
        concat!(
            "SELECT * FROM (SELECT a.*, d.size_bytes, d.sha256 AS document_sha256, d.signature, d.signing_key_id, ",
            newer!("COUNT(*)"),
            " AS newer_templates, ",
            newer!("MIN(t.reaccept_by)"),
            " AS grace_ends_at FROM baa_acceptances a LEFT JOIN baa_documents d ON d.acceptance_id = a.id) recorded"
        )
    };
}

/// Where an organization stands with its agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was accepted, or what was accepted is not in effect yet.
    None,
    Active,
    /// A newer template exists and the time of grace runs.
    ReacceptanceDue,
    Expired,
    Terminated,
}

impl Standing {
    /// The word of `status` (contract 13).
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
    /// What acceptances name it by.
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
    /// Hex.
    pub template_sha256: String,
    pub accepted_by_user_id: String,
    /// As the signer wrote it, like title and mailbox.
    pub signer_name: String,
    pub signer_title: String,
    pub signer_email: String,
    pub accepted_at: Timestamp,
    pub ip: Option<String>,
    pub user_agent: Option<String>,
    /// Does not count before.
    pub effective_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// An acceptance with what has become of it by the time at which it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub acceptance: Acceptance,
    pub superseded_at: Option<Timestamp>,
    pub terminated_at: Option<Timestamp>,
    /// `None`: the template that was accepted is the newest.
    pub outdated: Option<Outdated>,
    /// `None` where the acceptance was recorded without one.
    pub document: Option<DocumentFacts>,
}

/// Newer templates than the one that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outdated {
    /// The end of the first time of grace that one of them sets: a later template does not put in force again what has
    /// expired.
    pub grace_ends_at: Option<Timestamp>,
}

/// Where an organization stands, and what that rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub standing: Standing,
    /// What is to be accepted now.
    pub template: Option<Template>,
    /// The one that was accepted last.
    pub latest: Option<Recorded>,
}

impl Recorded {
    /// As the record shows it: `terminated`, `superseded`, `expired` or `in_force`.
    pub fn status(&self, now: Timestamp) -> &'static str {
        if self.terminated_at.is_some() {
            "terminated"
        } else if self.superseded_at.is_some() {
            "superseded"
        } else if self.expires_at().is_some_and(|end| end <= now) {
            "expired"
        } else {
            "in_force"
        }
    }

    /// When this acceptance stops counting: at its own end, or with the time of grace after a newer template.
    pub fn expires_at(&self) -> Option<Timestamp> {
        let grace = self.outdated.and_then(|outdated| outdated.grace_ends_at);
        let ends = [self.acceptance.expires_at, grace];
        ends.into_iter().flatten().min()
    }

    fn standing(&self, now: Timestamp) -> Standing {
        if self.terminated_at.is_some_and(|end| end <= now) {
            Standing::Terminated
        } else if self.expires_at().is_some_and(|end| end <= now) {
            Standing::Expired
        } else if self.acceptance.effective_at > now {
            Standing::None
        } else if self.outdated.is_some() {
            Standing::ReacceptanceDue
        } else {
            Standing::Active
        }
    }
}

/// Publishes a template. One that is published already may get other times, but no other text or title: `false` then,
/// and nothing has changed.
///
/// # Errors
/// Those of the database.
pub async fn publish(store: &Store, template: &Template) -> Result<bool, StoreError> {
    let template = template.clone();
    store
        .db
        .write(|cx| Box::pin(async move { put_template(cx, &template).await }))
        .await
}

/// As [`publish`], in a transaction.
pub(crate) async fn put_template(
    cx: &mut Connection,
    template: &Template,
) -> Result<bool, StoreError> {
    insert_template(cx, template).await?;
    let sql = "UPDATE baa_templates SET published_at = $4, reaccept_by = $5 \
               WHERE version = $1 AND sha256 = $2 AND title = $3";
    let Template {
        version,
        title,
        body: _,
        sha256,
        published_at,
        reaccept_by,
    } = template;
    let arguments = args![version, sha256, title, *published_at, *reaccept_by];
    Ok(cx.execute(sql, arguments).await? == 1)
}

/// The template that is to be accepted at `now`.
///
/// # Errors
/// Those of the database.
pub async fn current_template(
    store: &Store,
    now: Timestamp,
) -> Result<Option<Template>, StoreError> {
    store
        .db
        .read(move |cx| Box::pin(async move { read_current(cx, now).await }))
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

/// Records an acceptance without a document; the organization's earlier ones are superseded.
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

/// What became of an acceptance with what was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    Recorded,
    /// Its template is no longer the one to be accepted.
    NotCurrent,
    /// Another one was accepted or ended at its time or later: none is superseded before it was accepted.
    Overtaken,
}

/// Records an acceptance with what was signed, in a transaction; nothing where it cannot stand as it is.
///
/// # Errors
/// As [`accept`].
pub async fn accept_signed(
    tx: &mut Transaction<'_>,
    acceptance: &Acceptance,
    document: &Document,
) -> Result<Accepted, StoreError> {
    // Two acceptances at once stand one after the other: the second supersedes the first.
    crate::organization::lock(tx, &acceptance.org_id).await?;
    let at = acceptance.accepted_at;
    let current = read_current(tx.cx, at).await?;
    let is_current = current.is_some_and(|template| {
        template.version == acceptance.template_version
            && template.sha256 == acceptance.template_sha256
    });
    if !is_current {
        return Ok(Accepted::NotCurrent);
    }
    let sql = "SELECT COUNT(*) AS found FROM baa_acceptances \
               WHERE org_id = $1 AND (accepted_at >= $2 OR terminated_at >= $2)";
    let since: u32 = tx.cx.count(sql, args![&acceptance.org_id, at]).await?;
    if since > 0 {
        return Ok(Accepted::Overtaken);
    }
    insert(tx.cx, acceptance).await?;
    document::insert(tx.cx, document).await?;
    Ok(Accepted::Recorded)
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

/// Ends the acceptance in force, and says so in the audit log; both or neither. Returns its id.
///
/// # Errors
/// [`StoreError::Missing`] when none is in force.
pub async fn terminate(
    store: &Store,
    org_id: &str,
    now: Timestamp,
    row: impl FnOnce(&str) -> audit::Row + Send + 'static,
) -> Result<String, StoreError> {
    let arguments = args![org_id, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let ended = cx
                    .row(
                        "UPDATE baa_acceptances SET terminated_at = $2 \
                         WHERE org_id = $1 AND superseded_at IS NULL AND terminated_at IS NULL RETURNING id",
                        arguments,
                    )
                    .await?;
                let ended = ended.ok_or(StoreError::Missing("BAA in force"))?;
                let id: String = ended.get("id")?;
                audit::record(&mut Transaction::alone(cx), &row(&id)).await?;
                Ok(id)
            })
        })
        .await
}

/// One page of an organization's acceptances as they stand at `now`, newest first.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    page: &Page,
    now: Timestamp,
) -> Result<Paged<Recorded>, StoreError> {
    let sql = concat!(recorded!(), " WHERE org_id = $2");
    let listing = Listing::new(sql, args![now, org_id]).by("accepted_at", Order::NewestFirst);
    listing.page(store, page, from_row).await
}

/// An acceptance of an organization as it stands at `now`.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    id: &str,
    now: Timestamp,
) -> Result<Option<Recorded>, StoreError> {
    let sql = concat!(recorded!(), " WHERE org_id = $2 AND id = $3");
    store.db.find(sql, args![now, org_id, id], from_row).await
}

/// Where the organization stands at `now`.
///
/// # Errors
/// Those of the database.
pub async fn standing(store: &Store, org_id: &str, now: Timestamp) -> Result<Standing, StoreError> {
    Ok(status(store, org_id, now).await?.standing)
}

/// As [`standing`], with what it rests on.
///
/// # Errors
/// Those of the database.
pub async fn status(store: &Store, org_id: &str, now: Timestamp) -> Result<Status, StoreError> {
    let id = org_id.to_owned();
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let template = read_current(cx, now).await?;
                let latest = read_latest(cx, &id, now).await?;
                Ok(Status {
                    standing: standing_of(latest.as_ref(), now),
                    template,
                    latest,
                })
            })
        })
        .await
}

pub(crate) async fn read_standing(
    cx: &mut Connection,
    org_id: &str,
    now: Timestamp,
) -> Result<Standing, StoreError> {
    let latest = read_latest(cx, org_id, now).await?;
    Ok(standing_of(latest.as_ref(), now))
}

fn standing_of(latest: Option<&Recorded>, now: Timestamp) -> Standing {
    latest.map_or(Standing::None, |latest| latest.standing(now))
}

async fn read_latest(
    cx: &mut Connection,
    org_id: &str,
    now: Timestamp,
) -> Result<Option<Recorded>, StoreError> {
    let sql = concat!(
        recorded!(),
        " WHERE org_id = $2 AND superseded_at IS NULL ORDER BY accepted_at DESC, id DESC LIMIT 1"
    );
    cx.one(sql, args![now, org_id], from_row).await
}

async fn read_current(cx: &mut Connection, now: Timestamp) -> Result<Option<Template>, StoreError> {
    let sql = "SELECT * FROM baa_templates WHERE published_at <= $1 ORDER BY published_at DESC, version DESC LIMIT 1";
    let Some(row) = cx.row(sql, args![now]).await? else {
        return Ok(None);
    };
    Ok(Some(Template {
        version: row.get("version")?,
        title: row.get("title")?,
        body: row.get("body")?,
        sha256: row.get("sha256")?,
        published_at: row.get("published_at")?,
        reaccept_by: row.get("reaccept_by")?,
    }))
}

fn from_row(row: &Row) -> Result<Recorded, StoreError> {
    let grace_ends_at: Option<Timestamp> = row.get("grace_ends_at")?;
    let newer: u32 = row.get("newer_templates")?;
    Ok(Recorded {
        acceptance: Acceptance {
            id: row.get("id")?,
            org_id: row.get("org_id")?,
            template_version: row.get("template_version")?,
            template_sha256: row.get("template_sha256")?,
            accepted_by_user_id: row.get("accepted_by_user_id")?,
            signer_name: row.get("signer_name")?,
            signer_title: row.get("signer_title")?,
            signer_email: row.get("signer_email")?,
            accepted_at: row.get("accepted_at")?,
            ip: row.get("ip")?,
            user_agent: row.get("user_agent")?,
            effective_at: row.get("effective_at")?,
            expires_at: row.get("expires_at")?,
        },
        superseded_at: row.get("superseded_at")?,
        terminated_at: row.get("terminated_at")?,
        outdated: (newer > 0).then_some(Outdated { grace_ends_at }),
        document: document::facts(row)?,
    })
}
