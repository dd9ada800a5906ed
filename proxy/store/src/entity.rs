//! Entities: the schema of a kind of records, and the key that their values are sealed with, which the organization
//! key wraps (contract 17.2 and 19.4).
//!
//! Who writes a record names the version of the schema by which it was judged; a schema that changes meanwhile turns
//! it away ([`Judged::Outdated`]), so that no record is stored that its schema refuses.

use svc_core::entity::{Schema, Values};
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::page::{Listing, Page, Paged};
use crate::seal::{self, Place, SecretKey};
use crate::sealed_secret::{self, Table, table};
use crate::{Store, StoreError, Transaction};
use crate::{app, org_key};

static TABLE: Table = table!("entities", "id");

/// An entity with its schema and its wrapped key.
#[derive(Clone)]
pub struct Entity {
    /// A bare ULID.
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub app_id: String,
    /// What the organization calls it; unique in its app.
    pub key: String,
    /// 1 for a new entity; one more with every change.
    pub schema_version: u32,
    pub schema: Schema,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    wrapped_key: Vec<u8>,
}

/// What a new entity is.
pub struct NewEntity {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub app_id: String,
    pub key: String,
    pub schema: Schema,
    pub now: Timestamp,
}

/// Whether a write was judged by the schema that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    Current,
    /// The schema has changed since: the write must not be.
    Outdated,
}

/// Seals and opens the values of one entity's records.
pub struct RecordKey {
    org_id: String,
    key: SecretKey,
}

pub(crate) const FIRST_SCHEMA_VERSION: u32 = 1;

/// Columns of [`from_row`]; other files join the table under this alias.
macro_rules! entity_columns {
    () => {
        "e.id AS entity_id, e.org_id AS entity_org_id, e.mode AS entity_mode, e.app_id AS entity_app_id, \
         e.key AS entity_key, e.schema_version AS entity_schema_version, e.fields AS entity_fields, \
         e.wrapped_key AS entity_wrapped_key, e.created_at AS entity_created_at, e.updated_at AS entity_updated_at"
    };
}
pub(crate) use entity_columns;

impl Entity {
    /// An entity with a fresh key, not stored yet.
    ///
    /// # Errors
    /// Those of the organization's keys.
    pub async fn new(store: &Store, new: NewEntity) -> Result<Self, StoreError> {
        let NewEntity {
            id,
            org_id,
            mode,
            app_id,
            key,
            schema,
            now,
        } = new;
        let keys = org_key::load(store, &org_id).await?;
        let (version, outer) = keys.current()?;
        let data_key = SecretKey::generate();
        let wrapped_key = seal::wrap(outer, version, key_place(&id, &org_id), &data_key)?;
        Ok(Self {
            id,
            org_id,
            mode,
            app_id,
            key,
            schema_version: FIRST_SCHEMA_VERSION,
            schema,
            created_at: now,
            updated_at: now,
            wrapped_key,
        })
    }

    /// The entity as [`replace_schema`] leaves it.
    #[must_use]
    pub fn with(self, schema: Schema, now: Timestamp) -> Self {
        Self {
            schema,
            schema_version: self.schema_version.saturating_add(1),
            updated_at: now,
            ..self
        }
    }
}

impl RecordKey {
    /// The key of an entity.
    ///
    /// # Errors
    /// Those of the organization's keys.
    pub async fn of(store: &Store, entity: &Entity) -> Result<Self, StoreError> {
        let Entity {
            id,
            org_id,
            wrapped_key,
            ..
        } = entity;
        let outer = org_key::opening(store, org_id, wrapped_key).await?;
        Ok(Self {
            org_id: org_id.clone(),
            key: seal::unwrap(&outer, key_place(id, org_id), wrapped_key)?,
        })
    }

    pub(crate) fn seal(&self, record_id: &str, values: &Values) -> Result<Vec<u8>, StoreError> {
        let place = self.place(record_id);
        let plain = values.to_text();
        Ok(seal::seal(
            &self.key,
            seal::ONLY_VERSION,
            place,
            plain.as_bytes(),
        )?)
    }

    pub(crate) fn open(&self, record_id: &str, sealed: &[u8]) -> Result<Values, StoreError> {
        let text = seal::open_text(&self.key, self.place(record_id), sealed)?;
        Values::from_text(text.as_str()).ok_or(StoreError::Corrupt {
            column: "records.fields",
        })
    }

    fn place<'a>(&'a self, record_id: &'a str) -> Place<'a> {
        Place {
            table: "records",
            row_id: record_id,
            column: "fields",
            org_id: &self.org_id,
        }
    }
}

/// Stores an entity, unless the app has one with this key meanwhile.
///
/// # Errors
/// Those of the database.
pub async fn insert(tx: &mut Transaction<'_>, entity: &Entity) -> Result<Judged, StoreError> {
    let Entity {
        id,
        org_id,
        mode,
        app_id,
        key,
        schema_version,
        schema,
        created_at,
        updated_at,
        wrapped_key,
    } = entity;
    let arguments = args![
        id,
        org_id,
        *mode,
        app_id,
        key,
        *schema_version,
        &schema.to_json(),
        wrapped_key.as_slice(),
        *created_at,
        *updated_at,
    ];
    let sql = "INSERT INTO entities (id, org_id, mode, app_id, key, schema_version, fields, wrapped_key, \
               created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
               ON CONFLICT (app_id, key) DO NOTHING";
    Ok(match tx.cx.execute(sql, arguments).await? {
        0 => Judged::Outdated,
        _ => Judged::Current,
    })
}

/// Puts the entity's schema in the place of the one before it, for the rest of the transaction alone: nobody writes a
/// record meanwhile.
///
/// # Errors
/// Those of the database.
pub async fn replace_schema(
    tx: &mut Transaction<'_>,
    before: &Entity,
    schema: &Schema,
    now: Timestamp,
) -> Result<Judged, StoreError> {
    let arguments = args![
        &before.id,
        before.schema_version,
        before.schema_version.saturating_add(1),
        &schema.to_json(),
        now,
    ];
    let sql = "UPDATE entities SET schema_version = $3, fields = $4, updated_at = $5 \
               WHERE id = $1 AND schema_version = $2";
    Ok(match tx.cx.execute(sql, arguments).await? {
        0 => Judged::Outdated,
        _ => Judged::Current,
    })
}

/// Keeps the schema as it is for the rest of the transaction.
pub(crate) async fn hold(tx: &mut Transaction<'_>, entity: &Entity) -> Result<Judged, StoreError> {
    // An update that changes nothing holds the row on both engines alike.
    let sql = "UPDATE entities SET key = key WHERE id = $1 AND schema_version = $2";
    let arguments = args![&entity.id, entity.schema_version];
    Ok(match tx.cx.execute(sql, arguments).await? {
        0 => Judged::Outdated,
        _ => Judged::Current,
    })
}

/// Whether the schema still is what a record was judged by. Asked behind an insert, whose foreign key keeps it so.
pub(crate) async fn is_current(
    tx: &mut Transaction<'_>,
    entity: &Entity,
) -> Result<Judged, StoreError> {
    let sql = "SELECT id FROM entities WHERE id = $1 AND schema_version = $2";
    let arguments = args![&entity.id, entity.schema_version];
    Ok(match tx.cx.row(sql, arguments).await? {
        None => Judged::Outdated,
        Some(_) => Judged::Current,
    })
}

/// How many entities an app has, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count(tx: &mut Transaction<'_>, app_id: &str) -> Result<u32, StoreError> {
    app::hold(tx, app_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM entities WHERE app_id = $1";
    tx.cx.count(sql, args![app_id]).await
}

/// The entity of this organization and mode, by its app and key.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    app_id: &str,
    key: &str,
) -> Result<Option<Entity>, StoreError> {
    let sql = concat!(
        "SELECT ",
        entity_columns!(),
        " FROM entities e WHERE e.app_id = $1 AND e.key = $2 AND e.org_id = $3 AND e.mode = $4"
    );
    let arguments = args![app_id, key, org_id, mode];
    store.db.find(sql, arguments, from_row).await
}

/// A page of an app's entities.
///
/// # Errors
/// Those of the database.
pub async fn list(store: &Store, app_id: &str, page: &Page) -> Result<Paged<Entity>, StoreError> {
    let listing = Listing::new(
        concat!(
            "SELECT ",
            entity_columns!(),
            " FROM entities e WHERE e.app_id = $1"
        ),
        args![app_id],
    );
    listing.page(store, page, from_row).await
}

/// Wraps the keys of an organization's entities with its newest key. Returns how many.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    sealed_secret::rewrap(store, &TABLE, org_id).await
}

pub(crate) fn from_row(row: &Row) -> Result<Entity, StoreError> {
    let schema = Schema::stored(row.get("entity_fields")?);
    Ok(Entity {
        id: row.get("entity_id")?,
        org_id: row.get("entity_org_id")?,
        mode: row.get("entity_mode")?,
        app_id: row.get("entity_app_id")?,
        key: row.get("entity_key")?,
        schema_version: row.get("entity_schema_version")?,
        schema: schema.ok_or(StoreError::Corrupt {
            column: "entities.fields",
        })?,
        created_at: row.get("entity_created_at")?,
        updated_at: row.get("entity_updated_at")?,
        wrapped_key: row.get("entity_wrapped_key")?,
    })
}

fn key_place<'a>(id: &'a str, org_id: &'a str) -> Place<'a> {
    Place {
        table: TABLE.name,
        row_id: id,
        column: "wrapped_key",
        org_id,
    }
}
