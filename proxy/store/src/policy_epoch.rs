//! Epochs of policy sets: one number per content, the same on every replica, larger for what came later.

use crate::engine::args;
use crate::{Store, StoreError};

/// The epoch of the policy set with this digest; a new one gets the next number.
///
/// # Errors
/// Those of the database.
pub async fn epoch_for(store: &Store, digest: &str) -> Result<i64, StoreError> {
    let digest = digest.to_owned();
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                // Takes the lock of the counter's row, so that replicas get their numbers one after another.
                let lock = "UPDATE policy_epoch_counter SET last_epoch = last_epoch WHERE only_row = 1 \
                            RETURNING last_epoch";
                let counter = cx.row(lock, args![]).await?;
                let counter = counter.ok_or(StoreError::Missing("policy epoch counter"))?;
                let known = "SELECT epoch FROM policy_epochs WHERE digest = $1";
                if let Some(row) = cx.row(known, args![&digest]).await? {
                    return row.get("epoch");
                }
                let epoch = counter.get::<i64>("last_epoch")?.saturating_add(1);
                let insert = "INSERT INTO policy_epochs (digest, epoch) VALUES ($1, $2)";
                cx.execute(insert, args![&digest, epoch]).await?;
                let advance = "UPDATE policy_epoch_counter SET last_epoch = $1 WHERE only_row = 1";
                cx.execute(advance, args![epoch]).await?;
                Ok(epoch)
            })
        })
        .await
}
