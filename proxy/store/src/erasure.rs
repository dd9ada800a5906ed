//! The end of an organization: its key is destroyed, and with it everything that is sealed below it (contract 19.4).
//! Audit log, ledger, agreements' hashes and the organization's name stay: they prove what was done, and hold no content.

use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::{Store, StoreError, Transaction, audit, oauth_application};

/// What an erasure has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Versions of the organization's key that are no more; 0: it was erased before.
    pub keys: u64,
    /// People that agents spoke with, by mode, whose keys are no more.
    pub end_users: u64,
    /// API keys, credentials of agents and OAuth applications that were good until now, and what the applications had
    /// issued in other organizations.
    pub credentials: u64,
    /// People of the organization, who lose name, address and password.
    pub users: u64,
}

const DESTROY: &str = "DELETE FROM org_keys WHERE org_id = $1";
const FORGET_END_USERS: &str = "UPDATE end_user_keys SET wrapped = NULL, runtime_user = NULL, erased_at = $2 \
    WHERE org_id = $1 AND erased_at IS NULL";
/// What is asked for nothing any more: `$1` the organization, `$2` when.
const REVOKE: [&str; 2] = [
    "UPDATE api_keys SET revoked_at = $2 WHERE org_id = $1 AND revoked_at IS NULL",
    "UPDATE agent_credentials SET revoked_at = $2 WHERE org_id = $1 AND revoked_at IS NULL",
];
const SWITCH_OFF: [&str; 3] = [
    "UPDATE integrations SET revoked_at = $2, secret = NULL, wrapped_key = NULL WHERE org_id = $1 AND revoked_at IS NULL",
    // What waits at an endpoint is cancelled when its turn comes.
    "UPDATE webhook_endpoints SET deleted_at = $2, updated_at = $2, wrapped_key = NULL, secret = NULL, \
     previous_secret = NULL, previous_secret_expires_at = NULL WHERE org_id = $1 AND deleted_at IS NULL",
    "UPDATE organizations SET ai_paused = TRUE, default_system_prompt = NULL, updated_at = $2 WHERE id = $1",
];
/// An address can be invited again elsewhere.
const FORGET_USERS: &str = "UPDATE users SET name = 'erased', email = LOWER(id) || '@erased.invalid', status = 'suspended' \
    WHERE org_id = $1";
const FORGET: [&str; 12] = [
    "DELETE FROM inbound_webhooks WHERE org_id = $1",
    "UPDATE agent_credentials SET runtime_user = NULL WHERE org_id = $1",
    "DELETE FROM sessions WHERE org_id = $1",
    "DELETE FROM account_links WHERE org_id = $1",
    "DELETE FROM passwords WHERE org_id = $1",
    "DELETE FROM recovery_codes WHERE org_id = $1",
    "DELETE FROM second_factors WHERE org_id = $1",
    "DELETE FROM identities WHERE org_id = $1",
    "DELETE FROM oauth_requests WHERE org_id = $1",
    "DELETE FROM oauth_codes WHERE org_id = $1",
    "DELETE FROM phi_list_entries WHERE org_id = $1",
    "DELETE FROM phi_lists WHERE org_id = $1",
];

/// Conversations that lose the name of their person in one transaction.
const NAMES_AT_ONCE: u32 = 5_000;

/// Whether an organization was erased: it has no key any more.
///
/// # Errors
/// Those of the database.
pub async fn is_erased(store: &Store, org_id: &str) -> Result<bool, StoreError> {
    let arguments = args![org_id];
    let keys = store.db.read(|cx| {
        Box::pin(async move {
            let sql = "SELECT version FROM org_keys WHERE org_id = $1 LIMIT 1";
            cx.row(sql, arguments).await
        })
    });
    Ok(keys.await?.is_none())
}

/// Erases an organization, and says so in the audit log; all or nothing. One that is erased stays so, and gets no
/// second row. Replicas that run go on with what they remember of it for [`crate::org_key`]'s minute at most.
///
/// # Errors
/// Those of the database.
pub async fn organization(
    store: &Store,
    org_id: &str,
    now: Timestamp,
    row: impl FnOnce(Erased) -> audit::Row + Send + 'static,
) -> Result<Erased, StoreError> {
    let id = org_id.to_owned();
    let erased = store.db.write(move |cx| {
        Box::pin(async move {
            let mut erased = Erased {
                keys: cx.execute(DESTROY, args![&id]).await?,
                end_users: cx.execute(FORGET_END_USERS, args![&id, now]).await?,
                users: cx.execute(FORGET_USERS, args![&id]).await?,
                credentials: 0,
            };
            for sql in REVOKE {
                erased.credentials += cx.execute(sql, args![&id, now]).await?;
            }
            erased.credentials += revoke_applications(cx, &id, now).await?;
            for sql in SWITCH_OFF {
                cx.execute(sql, args![&id, now]).await?;
            }
            for sql in FORGET {
                cx.execute(sql, args![&id]).await?;
            }
            if erased.keys > 0 {
                audit::record(&mut Transaction::alone(cx), &row(erased)).await?;
            }
            Ok(erased)
        })
    });
    let erased = erased.await?;
    while forget_names(store, org_id).await? > 0 {}
    store.ring.forget(org_id).await;
    Ok(erased)
}

/// Revokes the applications of an organization, with all that they have issued anywhere. How many applications and
/// credentials were good until now.
async fn revoke_applications(
    cx: &mut Connection,
    org_id: &str,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT id, revoked_at FROM oauth_applications WHERE org_id = $1";
    let mut count = 0;
    for application in cx.rows(sql, args![org_id]).await? {
        let id: String = application.get("id")?;
        let revoked_at: Option<Timestamp> = application.get("revoked_at")?;
        let ended = oauth_application::revoke(&mut Transaction::alone(cx), &id, now).await?;
        count += u64::from(revoked_at.is_none()) + ended.credentials.len() as u64;
    }
    Ok(count)
}

/// Whom conversations were with: they are many, so not in the same transaction.
async fn forget_names(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    let arguments = args![org_id, NAMES_AT_ONCE];
    let named = store.db.write(|cx| {
        Box::pin(async move {
            let sql = "UPDATE conversations SET runtime_user = NULL WHERE id IN (SELECT id FROM conversations \
                       WHERE org_id = $1 AND runtime_user IS NOT NULL LIMIT $2)";
            cx.execute(sql, arguments).await
        })
    });
    named.await
}
