//! Records of entities (contract 17.2). Every value is sealed, whether its field is marked as PHI or not: what an
//! organization forgets to mark is unreadable too, and a field that is marked later needs no rewriting.

use svc_core::entity::Values;
use svc_core::time::Timestamp;

use crate::engine::{Arg, Connection, Row, args};
use crate::entity::{self, Entity, Judged, RecordKey};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction};

/// One record, opened.
#[derive(Clone)]
pub struct Record {
    pub id: String,
    pub values: Values,
    pub created_via: CreatedVia,
    /// What an inbound request said of the delivery that it comes from.
    pub origin_delivery_id: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// How a record came in: `created_via` (contract 17.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatedVia {
    Api,
    Inbound,
    Bulk,
    Ui,
}

impl CreatedVia {
    /// The word of `created_via`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Inbound => "inbound",
            Self::Bulk => "bulk",
            Self::Ui => "ui",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "api" => Some(Self::Api),
            "inbound" => Some(Self::Inbound),
            "bulk" => Some(Self::Bulk),
            "ui" => Some(Self::Ui),
            _ => None,
        }
    }
}

/// Records that a scan reads at once.
const SCAN_ROWS: u32 = 500;
/// 4 MiB: sealed values that are read at once, where one record may have 1 MiB of them.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// The size of a record, which neither engine reads its values for.
const BYTES: &str = "CAST(LENGTH(fields) AS BIGINT) AS bytes";

/// Stores records that were judged by this entity's schema.
///
/// # Errors
/// Those of the database.
pub async fn insert(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    key: &RecordKey,
    records: &[Record],
) -> Result<Judged, StoreError> {
    for record in records {
        let Record {
            id,
            values,
            created_via,
            origin_delivery_id,
            created_at,
            updated_at,
        } = record;
        let arguments = args![
            id,
            &entity.org_id,
            entity.mode,
            &entity.app_id,
            &entity.id,
            key.seal(id, values)?,
            created_via.word(),
            origin_delivery_id,
            *created_at,
            *updated_at,
        ];
        let sql = "INSERT INTO records (id, org_id, mode, app_id, entity_id, fields, created_via, \
                   origin_delivery_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        tx.cx.execute(sql, arguments).await?;
    }
    entity::is_current(tx, entity).await
}

/// Locks a record for the rest of the transaction.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn lock(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    key: &RecordKey,
    id: &str,
) -> Result<Option<Record>, StoreError> {
    let sql = "UPDATE records SET created_via = created_via WHERE id = $1 AND entity_id = $2";
    tx.cx.execute(sql, args![id, &entity.id]).await?;
    let row = tx.cx.row(FIND, args![id, &entity.id]).await?;
    row.map(|row| from_row(&row, key)).transpose()
}

/// Puts other values in the place of a locked record's.
///
/// # Errors
/// Those of the database; [`StoreError::Missing`] for a record that is not there.
pub async fn update(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    key: &RecordKey,
    record: &Record,
) -> Result<Judged, StoreError> {
    if entity::hold(tx, entity).await? == Judged::Outdated {
        return Ok(Judged::Outdated);
    }
    let sealed = key.seal(&record.id, &record.values)?;
    let arguments = args![&record.id, &entity.id, sealed, record.updated_at];
    let sql = "UPDATE records SET fields = $3, updated_at = $4 WHERE id = $1 AND entity_id = $2";
    tx.cx.execute_one("record", sql, arguments).await?;
    Ok(Judged::Current)
}

/// Removes a record; whether there was one.
///
/// # Errors
/// Those of the database.
pub async fn delete(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    id: &str,
) -> Result<bool, StoreError> {
    let sql = "DELETE FROM records WHERE id = $1 AND entity_id = $2";
    Ok(tx.cx.execute(sql, args![id, &entity.id]).await? > 0)
}

const FIND: &str = "SELECT * FROM records WHERE id = $1 AND entity_id = $2";

/// The record of this entity with this id.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn find(
    store: &Store,
    entity: &Entity,
    key: &RecordKey,
    id: &str,
) -> Result<Option<Record>, StoreError> {
    let arguments = args![id, &entity.id];
    let row = store
        .db
        .read(|cx| Box::pin(async move { cx.row(FIND, arguments).await }))
        .await?;
    row.map(|row| from_row(&row, key)).transpose()
}

/// A page of an entity's records; fewer than its limit where they have more than [`MAX_BYTES`].
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn list(
    store: &Store,
    entity: &Entity,
    key: RecordKey,
    page: &Page,
) -> Result<Paged<Record>, StoreError> {
    let (entity_id, page) = (entity.id.clone(), page.clone());
    let found = store.db.read(move |cx| {
        Box::pin(async move {
            let listing = |columns| {
                let select = format!("SELECT {columns} FROM records WHERE entity_id = $1");
                Listing::new(&select, args![&entity_id])
            };
            let sizes = listing(BYTES).read(cx, &page, |row| row.get("bytes"));
            let sizes = sizes.await?;
            let fewer = Page {
                limit: fitting(sizes.rows.iter().copied()),
                ..page
            };
            let read = |row: &Row| from_row(row, &key);
            listing("*").read(cx, &fewer, read).await
        })
    });
    found.await
}

/// Shows some records of an entity, one at a time, in the order of their ids from behind `after` on. Gives the id of
/// the last one; none once all were seen.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn scan(
    store: &Store,
    entity: &Entity,
    key: &RecordKey,
    after: &str,
    see: impl FnMut(&Record),
) -> Result<Option<String>, StoreError> {
    let arguments = args![&entity.id, after];
    let rows = store
        .db
        .read(|cx| {
            Box::pin(async move { batch(cx, "entity_id = $1 AND id > $2", arguments).await })
        })
        .await?;
    show(&rows, key, see)
}

/// As [`scan`], of those that were written at `since` or later, inside a transaction.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn scan_written_since(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    key: &RecordKey,
    since: Timestamp,
    after: &str,
    see: impl FnMut(&Record),
) -> Result<Option<String>, StoreError> {
    let condition = "entity_id = $1 AND id > $2 AND updated_at >= $3";
    let rows = batch(tx.cx, condition, args![&entity.id, after, since]).await?;
    show(&rows, key, see)
}

/// Rows in the order of their ids, no more than [`SCAN_ROWS`] and [`MAX_BYTES`], but one if there is one.
async fn batch(
    cx: &mut Connection,
    condition: &str,
    arguments: Vec<Arg>,
) -> Result<Vec<Row>, StoreError> {
    // One text, however many are read: each other one is one more statement to prepare.
    let statement = |columns, limit: u32| {
        let mut arguments = arguments.clone();
        arguments.push(limit.into());
        let place = arguments.len();
        let sql =
            format!("SELECT {columns} FROM records WHERE {condition} ORDER BY id LIMIT ${place}");
        (sql, arguments)
    };
    let (sql, arguments) = statement(BYTES, SCAN_ROWS);
    let sizes = cx.rows_of(sql, arguments).await?;
    let sizes = sizes.iter().map(|row| row.get("bytes"));
    let sizes = sizes.collect::<Result<Vec<u64>, _>>()?;
    let (sql, arguments) = statement("*", fitting(sizes.into_iter()));
    cx.rows_of(sql, arguments).await
}

/// How many values of these sizes are held at once: one, or as many as have [`MAX_BYTES`] together.
fn fitting(sizes: impl Iterator<Item = u64>) -> u32 {
    let mut bytes = 0;
    let within = sizes.take_while(|size| {
        bytes += size;
        bytes <= MAX_BYTES
    });
    u32::try_from(within.count()).unwrap_or(u32::MAX).max(1)
}

fn show(
    rows: &[Row],
    key: &RecordKey,
    mut see: impl FnMut(&Record),
) -> Result<Option<String>, StoreError> {
    for row in rows {
        see(&from_row(row, key)?);
    }
    rows.last().map(|row| row.get("id")).transpose()
}

fn from_row(row: &Row, key: &RecordKey) -> Result<Record, StoreError> {
    let id: String = row.get("id")?;
    let sealed: Vec<u8> = row.get("fields")?;
    Ok(Record {
        values: key.open(&id, &sealed)?,
        id,
        created_via: row.word("created_via", CreatedVia::parse)?,
        origin_delivery_id: row.get("origin_delivery_id")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_held_by_their_size() {
        for (sizes, count) in [
            (&[][..], 1),
            (&[1, 2, 3], 3),
            (&[MAX_BYTES, 1], 1),
            (&[MAX_BYTES + 1, 1], 1),
            (&[MAX_BYTES - 1, 1, 1], 2),
        ] {
            assert_eq!(fitting(sizes.iter().copied()), count, "{sizes:?}");
        }
    }
}
