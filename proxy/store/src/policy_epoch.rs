//! Epochs of policy sets: one number per content, the same on every replica, larger for what came later.

use crate::baa::{self, Template};
use crate::engine::{Connection, args};
use crate::{Store, StoreError, TransactionError};

/// Takes a policy set in, whole or not at all: publishes its agreements, and gives the epoch of the set with this
/// digest; a new one gets the next number.
///
/// # Errors
/// The versions of the agreements that are published with another text or title, or those of the database. Nothing has
/// changed then.
pub async fn enter(
    store: &Store,
    digest: &str,
    agreements: &[Template],
) -> Result<i64, TransactionError<Vec<String>>> {
    let (digest, agreements) = (digest.to_owned(), agreements.to_vec());
    let entered = store.transaction(move |tx| {
        Box::pin(async move {
            let cx = tx.cx;
            let epoch = epoch_for(cx, &digest).await?;
            let mut clashing = Vec::new();
            for template in agreements {
                if !baa::put_template(cx, &template).await? {
                    clashing.push(template.version);
                }
            }
            if clashing.is_empty() {
                Ok(epoch)
            } else {
                Err(TransactionError::Refused(clashing))
            }
        })
    });
    entered.await
}

async fn epoch_for(cx: &mut Connection, digest: &str) -> Result<i64, StoreError> {
    // Takes the lock of the counter's row, so that replicas get their numbers one after another.
    let lock = "UPDATE policy_epoch_counter SET last_epoch = last_epoch WHERE only_row = 1 \
                RETURNING last_epoch";
    let counter = cx.row(lock, args![]).await?;
    let counter = counter.ok_or(StoreError::Missing("policy epoch counter"))?;
    let known = "SELECT epoch FROM policy_epochs WHERE digest = $1";
    if let Some(row) = cx.row(known, args![digest]).await? {
        return row.get("epoch");
    }
    let epoch = counter.get::<i64>("last_epoch")?.saturating_add(1);
    let insert = "INSERT INTO policy_epochs (digest, epoch) VALUES ($1, $2)";
    cx.execute(insert, args![digest, epoch]).await?;
    let advance = "UPDATE policy_epoch_counter SET last_epoch = $1 WHERE only_row = 1";
    cx.execute(advance, args![epoch]).await?;
    Ok(epoch)
}
