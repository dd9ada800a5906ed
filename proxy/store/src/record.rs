//! Records of entities (contract 17.2). Every value is sealed, whether its field is marked as PHI or not: what an
//! organization forgets to mark is unreadable too, and a field that is marked later needs no rewriting.

use svc_core::entity::Values;
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
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

/// Records that a scan opens at once.
const SCAN_ROWS: u32 = 500;

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

/// A page of an entity's records.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn list(
    store: &Store,
    entity: &Entity,
    key: RecordKey,
    page: &Page,
) -> Result<Paged<Record>, StoreError> {
    let listing = Listing::new(
        "SELECT * FROM records WHERE entity_id = $1",
        args![&entity.id],
    );
    let read = move |row: &Row| from_row(row, &key);
    listing.page(store, page, read).await
}

/// Some records of an entity in the order of their ids, from behind `after` on; none once all were seen.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn scan(
    store: &Store,
    entity: &Entity,
    key: &RecordKey,
    after: &str,
) -> Result<Vec<Record>, StoreError> {
    let arguments = args![&entity.id, after, SCAN_ROWS];
    let rows = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql =
                    "SELECT * FROM records WHERE entity_id = $1 AND id > $2 ORDER BY id LIMIT $3";
                cx.rows(sql, arguments).await
            })
        })
        .await?;
    rows.iter().map(|row| from_row(row, key)).collect()
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
) -> Result<Vec<Record>, StoreError> {
    let sql = "SELECT * FROM records WHERE entity_id = $1 AND updated_at >= $2 AND id > $3 ORDER BY id LIMIT $4";
    let arguments = args![&entity.id, since, after, SCAN_ROWS];
    let rows = tx.cx.rows(sql, arguments).await?;
    rows.iter().map(|row| from_row(row, key)).collect()
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
