//! Organization keys: wrapped by the master key, they wrap the data keys (contract 19.4).

use std::sync::Arc;
use std::time::Duration;

use hkdf::Hkdf;
use moka::future::Cache;
use sha2::Sha256;
use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::master_key::MasterKey;
use crate::seal::{self, Place, SealError, SecretKey};
use crate::{Store, StoreError, Transaction, audit};

/// The master key and the organization keys used lately.
pub(crate) struct KeyRing {
    master: MasterKey,
    recent: Cache<String, Arc<OrganizationKeys>>,
}

/// All versions of one organization's key, oldest first.
pub(crate) struct OrganizationKeys {
    versions: Vec<(u32, SecretKey)>,
}

/// 10,000 organizations at about 100 bytes each.
const CACHED_ORGANIZATIONS: u64 = 10_000;
/// 60 s: how long a replica may go on with keys after another one has rotated or destroyed them.
const CACHE_TTL: Duration = Duration::from_secs(60);
/// What is missing of an organization that was erased.
pub(crate) const ERASED: &str = "organization key";
/// The version of a new organization's key.
pub(crate) const FIRST_VERSION: u32 = 1;

impl KeyRing {
    pub(crate) fn new(master: MasterKey) -> Self {
        let recent = Cache::builder()
            .max_capacity(CACHED_ORGANIZATIONS)
            .time_to_live(CACHE_TTL)
            .build();
        Self { master, recent }
    }

    pub(crate) const fn master(&self) -> &MasterKey {
        &self.master
    }

    /// A fresh key for a new organization, wrapped for the row that [`insert`] writes.
    pub(crate) fn generate(&self, org_id: &str) -> Result<(Vec<u8>, SecretKey), SealError> {
        let key = SecretKey::generate();
        Ok((self.wrap(org_id, FIRST_VERSION, &key)?, key))
    }

    /// As [`Store::key_for`].
    pub(crate) fn key_for(
        &self,
        purpose: &'static str,
    ) -> Result<[u8; seal::KEY_BYTES], SealError> {
        let (_, master) = self.master.current()?;
        let mut key = [0; seal::KEY_BYTES];
        Hkdf::<Sha256>::new(None, master.bytes())
            .expand(purpose.as_bytes(), &mut key)
            .map_err(|_| SealError::Malformed)?;
        Ok(key)
    }

    /// Forgets the keys of an organization, which are destroyed.
    pub(crate) async fn forget(&self, org_id: &str) {
        self.recent.invalidate(org_id).await;
    }

    fn wrap(&self, org_id: &str, version: u32, key: &SecretKey) -> Result<Vec<u8>, SealError> {
        let (master_version, master) = self.master.current()?;
        let row_id = row_id(org_id, version);
        seal::wrap(master, master_version, place(org_id, &row_id), key)
    }

    fn unwrap(&self, org_id: &str, version: u32, wrapped: &[u8]) -> Result<SecretKey, SealError> {
        let master = self.master.version(seal::key_version(wrapped)?)?;
        let row_id = row_id(org_id, version);
        seal::unwrap(master, place(org_id, &row_id), wrapped)
    }
}

impl OrganizationKeys {
    /// The version that new data is sealed with.
    pub(crate) fn current(&self) -> Result<(u32, &SecretKey), SealError> {
        let newest = self.versions.last().map(|(version, key)| (*version, key));
        newest.ok_or(SealError::KeyMissing {
            owner: "organization",
            version: FIRST_VERSION,
        })
    }

    /// The version that a sealed value names.
    pub(crate) fn of(&self, sealed: &[u8]) -> Result<&SecretKey, SealError> {
        let version = seal::key_version(sealed)?;
        self.versions
            .iter()
            .find(|(known, _)| *known == version)
            .map(|(_, key)| key)
            .ok_or(SealError::KeyMissing {
                owner: "organization",
                version,
            })
    }
}

/// The keys of an organization, from memory or the database.
pub(crate) async fn load(store: &Store, org_id: &str) -> Result<Arc<OrganizationKeys>, StoreError> {
    if let Some(keys) = store.ring.recent.get(org_id).await {
        return Ok(keys);
    }
    let keys = Arc::new(read(store, org_id).await?);
    if keys.versions.is_empty() {
        return Err(StoreError::Missing(ERASED));
    }
    store
        .ring
        .recent
        .insert(org_id.to_owned(), keys.clone())
        .await;
    Ok(keys)
}

/// The key that a sealed value names, also when another replica has made that version since.
pub(crate) async fn opening(
    store: &Store,
    org_id: &str,
    sealed: &[u8],
) -> Result<SecretKey, StoreError> {
    if let Ok(key) = load(store, org_id).await?.of(sealed) {
        return Ok(key.clone());
    }
    store.ring.forget(org_id).await;
    Ok(load(store, org_id).await?.of(sealed)?.clone())
}

/// As [`opening`], inside a transaction: from the database, with nothing else to wait for.
pub(crate) async fn within(
    ring: &KeyRing,
    cx: &mut Connection,
    org_id: &str,
    sealed: &[u8],
) -> Result<SecretKey, StoreError> {
    let version = seal::key_version(sealed)?;
    let sql = "SELECT wrapped FROM org_keys WHERE org_id = $1 AND version = $2";
    let row = cx.row(sql, args![org_id, version]).await?;
    let row = row.ok_or(StoreError::Missing(ERASED))?;
    let wrapped: Vec<u8> = row.get("wrapped")?;
    Ok(ring.unwrap(org_id, version, &wrapped)?)
}

async fn read(store: &Store, org_id: &str) -> Result<OrganizationKeys, StoreError> {
    let rows = read_wrapped(store, org_id).await?;
    let mut versions = Vec::with_capacity(rows.len());
    for (version, wrapped) in rows {
        versions.push((version, store.ring.unwrap(org_id, version, &wrapped)?));
    }
    Ok(OrganizationKeys { versions })
}

async fn read_wrapped(store: &Store, org_id: &str) -> Result<Vec<(u32, Vec<u8>)>, StoreError> {
    let id = org_id.to_owned();
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                cx.rows(
                    "SELECT version, wrapped FROM org_keys WHERE org_id = $1 ORDER BY version",
                    args![id],
                )
                .await?
                .iter()
                .map(|row| Ok((row.get("version")?, row.get("wrapped")?)))
                .collect::<Result<Vec<(u32, Vec<u8>)>, StoreError>>()
            })
        })
        .await
}

/// Writes the first key of a new organization.
pub(crate) async fn insert(
    cx: &mut Connection,
    org_id: &str,
    wrapped: Vec<u8>,
    now: Timestamp,
) -> Result<(), StoreError> {
    insert_version(cx, org_id, FIRST_VERSION, wrapped, now).await
}

async fn insert_version(
    cx: &mut Connection,
    org_id: &str,
    version: u32,
    wrapped: Vec<u8>,
    now: Timestamp,
) -> Result<(), StoreError> {
    cx.execute(
        "INSERT INTO org_keys (org_id, version, wrapped, created_at) VALUES ($1, $2, $3, $4)",
        args![org_id, version, wrapped, now],
    )
    .await
    .map(drop)
}

/// Gives the organization a new key for what is sealed from now on, says so in the audit log, and returns its version;
/// older ones open what they sealed. [`crate::conversation::rewrap`] moves existing data keys over.
///
/// # Errors
/// [`StoreError::Exists`] when another rotation of the same organization was faster; [`StoreError::Seal`] for an
/// organization without a key.
pub async fn rotate(
    store: &Store,
    org_id: &str,
    now: Timestamp,
    row: impl FnOnce(u32) -> audit::Row,
) -> Result<u32, StoreError> {
    let keys = read(store, org_id).await?;
    let version = keys.current()?.0.saturating_add(1);
    let wrapped = store.ring.wrap(org_id, version, &SecretKey::generate())?;
    let (id, row) = (org_id.to_owned(), row(version));
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                insert_version(cx, &id, version, wrapped, now).await?;
                audit::record(&mut Transaction::alone(cx), &row).await
            })
        })
        .await?;
    store.ring.forget(org_id).await;
    Ok(version)
}

/// Whether the master key opens the newest key of any organization. `Some`: it opens the oldest one, and lacks this
/// version, which the newest one was wrapped with.
///
/// # Errors
/// [`StoreError::Seal`] where it opens neither, and those of the database.
pub(crate) async fn check(store: &Store) -> Result<Option<u32>, StoreError> {
    let newest = open_first(
        store,
        "SELECT org_id, version, wrapped FROM org_keys \
         ORDER BY created_at DESC, org_id DESC, version DESC LIMIT 1",
    );
    let version = match newest.await {
        Err(StoreError::Seal(SealError::KeyMissing { version, .. })) => version,
        opened => return opened.map(|()| None),
    };
    let oldest = open_first(
        store,
        "SELECT org_id, version, wrapped FROM org_keys ORDER BY created_at, org_id, version LIMIT 1",
    );
    oldest.await.map(|()| Some(version))
}

/// Opens the key that a query finds, if it finds one.
async fn open_first(store: &Store, sql: &'static str) -> Result<(), StoreError> {
    let found = store
        .db
        .read_of_all(move |cx| Box::pin(async move { cx.row(sql, args![]).await }));
    let Some(row) = found.await? else {
        return Ok(());
    };
    let (org_id, version): (String, u32) = (row.get("org_id")?, row.get("version")?);
    let wrapped: Vec<u8> = row.get("wrapped")?;
    store.ring.unwrap(&org_id, version, &wrapped)?;
    Ok(())
}

/// Wraps every version of the organization's key with the current master key; those that are wrapped with it already
/// are only opened. Nothing else changes: what the key has sealed stays as it is. Returns how many.
///
/// # Errors
/// Those of the database, and [`StoreError::Seal`] where a key is opened by no master key that is at hand.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    let (current, _) = store.ring.master.current()?;
    let mut wrapped = Vec::new();
    for (version, old) in read_wrapped(store, org_id).await? {
        // Also where nothing is left to do: another key of the same version would look like success.
        let key = store.ring.unwrap(org_id, version, &old)?;
        if seal::key_version(&old)? != current {
            wrapped.push((version, store.ring.wrap(org_id, version, &key)?));
        }
    }
    let moved = wrapped.len() as u64;
    let id = org_id.to_owned();
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                for (version, wrapped) in wrapped {
                    cx.execute_one(
                        "organization key",
                        "UPDATE org_keys SET wrapped = $3 WHERE org_id = $1 AND version = $2",
                        args![&id, version, wrapped],
                    )
                    .await?;
                }
                Ok(moved)
            })
        })
        .await
}

fn row_id(org_id: &str, version: u32) -> String {
    format!("{org_id}/{version}")
}

fn place<'a>(org_id: &'a str, row_id: &'a str) -> Place<'a> {
    Place {
        table: "org_keys",
        row_id,
        column: "wrapped",
        org_id,
    }
}
