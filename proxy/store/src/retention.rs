//! The end of what is kept for a time only: audit rows past `retention.audit_days`, conversations past
//! `retention.conversation_days`. What is removed leaves a row in the audit log, in the same transaction. The triggers
//! of the database judge every audit row again: unsealed ones and younger ones stay, whoever asks.

use serde_json::{Map, Value, json};
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};

use crate::audit::{self, Row};
use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// Days that an audit row is kept at least: 6 years (45 CFR 164.316(b)(2); contract 14.4).
pub const MIN_AUDIT_DAYS: u32 = 2_190;

/// What one pass removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    pub audit_rows: u64,
    pub conversations: u64,
    /// Organizations, by mode, of which something may be left, because the database did not do it; the rows that belong
    /// to none count as one. The log says why.
    pub failed: u64,
}

/// Removed in one transaction, so that the writer is free in between.
const BATCH_AUDIT_ROWS: u32 = 500;
const BATCH_CONVERSATIONS: u32 = 50;
/// Of all conversations of a batch together; the rest of a long one goes with the next.
const BATCH_MESSAGES: u32 = 500;
/// Organizations of one query.
const ORGANIZATIONS: u32 = 100;
/// 1 h: how far our clock and the database's, by which the triggers judge, may be apart.
const CLOCK_MARGIN_MS: i64 = 3_600_000;

/// Removes what is over at `now`, one batch at a time, of each organization, and of the rows that belong to none. One
/// of them that fails keeps no other waiting.
///
/// # Errors
/// Those of looking for organizations; what was removed before stays removed.
pub async fn expire(store: &Store, now: Timestamp) -> Result<Expired, StoreError> {
    let mut expired = Expired::default();
    let mut after = String::new();
    loop {
        let organizations = organizations(store, after).await?;
        for organization in &organizations {
            for mode in [Mode::Live, Mode::Test] {
                if let Err(error) = expire_of(store, organization, mode, now, &mut expired).await {
                    let org_id = &organization.id;
                    tracing::error!(org_id, mode = mode.word(), %error, "{NOT_REMOVED}");
                    expired.failed += 1;
                }
            }
        }
        match organizations.last() {
            Some(last) if organizations.len() >= ORGANIZATIONS as usize => {
                after = last.id.clone();
            }
            _ => break,
        }
    }
    let rest = expire_rows(store, None, MIN_AUDIT_DAYS, now, &mut expired).await;
    if let Err(error) = rest {
        tracing::error!(%error, "{NOT_REMOVED}");
        expired.failed += 1;
    }
    Ok(expired)
}

const NOT_REMOVED: &str = "what is past its retention could not be removed yet";

async fn expire_of(
    store: &Store,
    organization: &Organization,
    mode: Mode,
    now: Timestamp,
    expired: &mut Expired,
) -> Result<(), StoreError> {
    let owner = Some((organization.id.clone(), mode));
    let rows = expire_rows(store, owner, organization.audit_days, now, expired).await;
    let conversations = expire_conversations(store, organization, mode, now, expired).await;
    rows.and(conversations)
}

async fn expire_conversations(
    store: &Store,
    organization: &Organization,
    mode: Mode,
    now: Timestamp,
    expired: &mut Expired,
) -> Result<(), StoreError> {
    loop {
        let batch = conversations(store, organization, mode, now).await?;
        expired.conversations += batch.conversations;
        if !batch.is_full() {
            return Ok(());
        }
    }
}

/// Has an end: nothing becomes older than `now`.
async fn expire_rows(
    store: &Store,
    owner: Option<(String, Mode)>,
    days: u32,
    now: Timestamp,
    expired: &mut Expired,
) -> Result<(), StoreError> {
    loop {
        let rows = audit_rows(store, owner.clone(), days, now).await?;
        expired.audit_rows += rows;
        if rows < u64::from(BATCH_AUDIT_ROWS) {
            return Ok(());
        }
    }
}

/// What one transaction removed.
#[derive(Clone, Copy)]
struct Batch {
    conversations: u64,
    messages: u64,
}

impl Batch {
    fn is_full(self) -> bool {
        self.conversations >= u64::from(BATCH_CONVERSATIONS)
            || self.messages >= u64::from(BATCH_MESSAGES)
    }
}

struct Organization {
    id: String,
    audit_days: u32,
    conversation_days: u32,
}

async fn organizations(store: &Store, after: String) -> Result<Vec<Organization>, StoreError> {
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT id, audit_days, conversation_days FROM organizations \
                           WHERE id > $1 ORDER BY id LIMIT $2";
                let rows = cx.rows(sql, args![after, ORGANIZATIONS]).await?;
                rows.iter()
                    .map(|row| {
                        Ok(Organization {
                            id: row.get("id")?,
                            audit_days: row.get("audit_days")?,
                            conversation_days: row.get("conversation_days")?,
                        })
                    })
                    .collect()
            })
        })
        .await
}

/// The instant before which things are over.
fn before(now: Timestamp, days: u32) -> Timestamp {
    now.plus_ms(-(i64::from(days) * MS_PER_DAY))
}

async fn audit_rows(
    store: &Store,
    owner: Option<(String, Mode)>,
    days: u32,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let before = before(now, days.max(MIN_AUDIT_DAYS)).plus_ms(-CLOCK_MARGIN_MS);
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let removed = match &owner {
                    Some((org_id, mode)) => {
                        let sql = "DELETE FROM audit WHERE id IN (SELECT a.id FROM audit a \
                                   JOIN audit_leaves l ON l.audit_id = a.id \
                                   WHERE a.org_id = $1 AND a.mode = $2 AND a.occurred_at < $3 \
                                   ORDER BY a.occurred_at, a.id LIMIT $4)";
                        let arguments = args![org_id, *mode, before, BATCH_AUDIT_ROWS];
                        cx.execute(sql, arguments).await?
                    }
                    None => {
                        let sql = "DELETE FROM audit WHERE id IN (SELECT a.id FROM audit a \
                                   JOIN audit_leaves l ON l.audit_id = a.id \
                                   WHERE a.org_id IS NULL AND a.occurred_at < $1 \
                                   ORDER BY a.occurred_at, a.id LIMIT $2)";
                        cx.execute(sql, args![before, BATCH_AUDIT_ROWS]).await?
                    }
                };
                if removed > 0 {
                    let details = json!({"rows": removed, "before": before.to_string()});
                    record(cx, "audit.expired", owner, details, now).await?;
                }
                Ok(removed)
            })
        })
        .await
}

/// A long conversation loses its oldest messages first; whoever continues it meanwhile keeps the rest of it.
async fn conversations(
    store: &Store,
    organization: &Organization,
    mode: Mode,
    now: Timestamp,
) -> Result<Batch, StoreError> {
    let before = before(now, organization.conversation_days);
    let org_id = organization.id.clone();
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                // Locks them: a turn that is being stored now makes its conversation young before or comes too late.
                let sql = "UPDATE conversations SET updated_at = updated_at WHERE id IN \
                           (SELECT id FROM conversations WHERE org_id = $1 AND mode = $2 AND updated_at < $3 \
                           ORDER BY updated_at, id LIMIT $4) AND updated_at < $3 RETURNING id";
                let arguments = args![&org_id, mode, before, BATCH_CONVERSATIONS];
                let found = cx.rows(sql, arguments).await?;
                let mut batch = Batch {
                    conversations: 0,
                    messages: 0,
                };
                for row in &found {
                    let id: String = row.get("id")?;
                    let room = u64::from(BATCH_MESSAGES).saturating_sub(batch.messages);
                    let sql = "DELETE FROM messages WHERE id IN \
                               (SELECT id FROM messages WHERE conversation_id = $1 ORDER BY seq LIMIT $2)";
                    batch.messages += cx.execute(sql, args![&id, room]).await?;
                    // There may be more of this one.
                    if batch.messages >= u64::from(BATCH_MESSAGES) {
                        break;
                    }
                    let sql = "DELETE FROM conversations WHERE id = $1";
                    batch.conversations += cx.execute(sql, args![&id]).await?;
                }
                if batch.conversations > 0 || batch.messages > 0 {
                    let Batch {
                        conversations,
                        messages,
                    } = batch;
                    let before = before.to_string();
                    let details =
                        json!({"conversations": conversations, "messages": messages, "before": before});
                    let owner = Some((org_id, mode));
                    record(cx, "conversation.expired", owner, details, now).await?;
                }
                Ok(batch)
            })
        })
        .await
}

/// The row of a removal.
async fn record(
    cx: &mut Connection,
    event: &str,
    owner: Option<(String, Mode)>,
    details: Value,
    now: Timestamp,
) -> Result<(), StoreError> {
    let details = match details {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    let row = Row::of_system(event, owner, None, details, now);
    audit::insert(cx, &row.arguments()?).await
}
