//! A secret that a row holds, sealed under a key of its own, which the organization key wraps (contract 19.4):
//! destroying the two columns destroys the secret.

use crate::engine::{Row, args};
use crate::org_key;
use crate::seal::{self, Content, Place, SecretKey};
use crate::{Store, StoreError};

/// A secret that no statement and no log can read: the columns `secret` and `wrapped_key` of one row.
#[derive(Clone)]
pub struct SealedSecret {
    pub(crate) secret: Vec<u8>,
    pub(crate) wrapped_key: Vec<u8>,
}

/// A table whose rows have keys of their own in a column `wrapped_key`.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Rows of an organization after one, by id.
    pub(crate) page: &'static str,
    /// Puts another wrapping in the place of one that is still there.
    pub(crate) replace: &'static str,
}

/// The [`Table`] of this name, whose rows are known by this column.
macro_rules! table {
    ($name:literal, $id:literal) => {
        $crate::sealed_secret::Table {
            name: $name,
            page: concat!(
                "SELECT ",
                $id,
                " AS id, wrapped_key FROM ",
                $name,
                " WHERE org_id = $1 AND wrapped_key IS NOT NULL AND ",
                $id,
                " > $2 ORDER BY ",
                $id,
                " LIMIT 100"
            ),
            replace: concat!(
                "UPDATE ",
                $name,
                " SET wrapped_key = $3 WHERE ",
                $id,
                " = $1 AND wrapped_key = $2"
            ),
        }
    };
}
pub(crate) use table;

/// The row that a secret is bound to; it opens in no other.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub(crate) table: &'static Table,
    pub(crate) row_id: &'a str,
    pub(crate) org_id: &'a str,
}

impl<'a> Owner<'a> {
    pub(crate) const fn place(self, column: &'a str) -> Place<'a> {
        Place {
            table: self.table.name,
            row_id: self.row_id,
            column,
            org_id: self.org_id,
        }
    }
}

/// Seals a secret under a fresh key.
///
/// # Errors
/// Those of the organization's keys.
pub(crate) async fn seal(
    store: &Store,
    owner: Owner<'_>,
    secret: &Content,
) -> Result<SealedSecret, StoreError> {
    let keys = org_key::load(store, owner.org_id).await?;
    let (version, outer) = keys.current()?;
    let key = SecretKey::generate();
    Ok(SealedSecret {
        secret: seal_text(&key, owner.place("secret"), secret)?,
        wrapped_key: seal::wrap(outer, version, owner.place("wrapped_key"), &key)?,
    })
}

/// Seals one more text under the key of a row.
///
/// # Errors
/// Those of the sealing.
pub(crate) fn seal_text(
    key: &SecretKey,
    place: Place<'_>,
    text: &Content,
) -> Result<Vec<u8>, StoreError> {
    Ok(seal::seal(
        key,
        seal::ONLY_VERSION,
        place,
        text.as_str().as_bytes(),
    )?)
}

/// Opens a secret.
///
/// # Errors
/// Those of the organization's keys, and of columns that were not sealed for this row.
pub(crate) async fn open(
    store: &Store,
    owner: Owner<'_>,
    sealed: &SealedSecret,
) -> Result<Content, StoreError> {
    let outer = org_key::opening(store, owner.org_id, &sealed.wrapped_key).await?;
    let key = seal::unwrap(&outer, owner.place("wrapped_key"), &sealed.wrapped_key)?;
    Ok(seal::open_text(
        &key,
        owner.place("secret"),
        &sealed.secret,
    )?)
}

/// The sealed secret of a row; `None` once it is destroyed.
///
/// # Errors
/// Columns of another type.
pub(crate) fn of_row(row: &Row) -> Result<Option<SealedSecret>, StoreError> {
    let secret: Option<Vec<u8>> = row.get("secret")?;
    let wrapped_key: Option<Vec<u8>> = row.get("wrapped_key")?;
    let both = secret.zip(wrapped_key);
    Ok(both.map(|(secret, wrapped_key)| SealedSecret {
        secret,
        wrapped_key,
    }))
}

/// Wraps the keys of an organization's rows with its newest key; gives how many it moved.
///
/// # Errors
/// Those of the database and of the keys.
pub(crate) async fn rewrap(
    store: &Store,
    table: &'static Table,
    org_id: &str,
) -> Result<u64, StoreError> {
    let keys = org_key::load(store, org_id).await?;
    let (version, current) = keys.current()?;
    let (mut after, mut moved) = (String::new(), 0);
    loop {
        let page = args![org_id, &after];
        let rows = store
            .db
            .read(move |cx| Box::pin(async move { cx.rows(table.page, page).await }))
            .await?;
        let Some(last) = rows.last() else {
            return Ok(moved);
        };
        after = last.get("id")?;
        for row in &rows {
            let (id, wrapped): (String, Vec<u8>) = (row.get("id")?, row.get("wrapped_key")?);
            if seal::key_version(&wrapped)? == version {
                continue;
            }
            let owner = Owner {
                table,
                row_id: &id,
                org_id,
            };
            let place = owner.place("wrapped_key");
            let outer = org_key::opening(store, org_id, &wrapped).await?;
            let key = seal::unwrap(&outer, place, &wrapped)?;
            let again = seal::wrap(current, version, place, &key)?;
            // Conditional: one that is replaced or destroyed meanwhile stays as it is.
            let arguments = args![&id, wrapped, again];
            moved += store
                .db
                .write(move |cx| {
                    Box::pin(async move { cx.execute(table.replace, arguments).await })
                })
                .await?;
        }
    }
}
