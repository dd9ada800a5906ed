//! The only SQL: every record that the gateway keeps, on SQLite and PostgreSQL alike.
//!
//! One file per record family, each with its typed rows and functions; one SQL text for both engines (the
//! rules are in `migrations/` and [`engine`]). Effects that must stand or fall together are one function here
//! ([`inference`], [`bootstrap`], [`recovery`]), or a closure that a caller hands in ([`Store::transaction`]) and that
//! waits for nothing but functions of this crate: transactions begin and end here alone. Time comes in as an
//! argument, but where machines must agree on it ([`clock`]). Knows no HTTP, no policy and no price list.

pub mod agent;
pub mod agent_credential;
pub mod api_key;
pub mod app;
pub mod audit;
pub mod audit_key;
pub mod audit_tree;
pub mod baa;
pub mod binding;
pub mod bootstrap;
pub mod budget;
pub mod clock;
pub mod conversation;
pub mod end_user;
mod engine;
pub mod entity;
pub mod erasure;
mod error;
pub mod idempotency;
pub mod identity;
pub mod inbound_webhook;
pub mod inference;
pub mod integration;
pub mod ledger;
pub mod limit;
pub mod link;
pub mod master_key;
pub mod message;
pub mod oauth_application;
pub mod oauth_authorization;
pub mod org_key;
pub mod organization;
mod outage;
pub mod outbox;
pub mod page;
pub mod password;
pub mod phi_activity;
pub mod phi_list;
pub mod policy_epoch;
pub mod project;
pub mod reasoning;
pub mod recomputation;
pub mod record;
pub mod recovery;
pub mod replica;
pub mod retention;
pub mod seal;
pub mod sealed_secret;
pub mod second_factor;
pub mod session;
pub mod signing_key;
mod sweep;
pub mod tenant;
pub mod throttle;
mod transaction;
pub mod usage;
pub mod user;
pub mod webhook_delivery;
pub mod webhook_endpoint;
pub mod webhook_replay;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Handle;

pub use engine::StoreOptions;
pub use error::StoreError;
use master_key::MasterKey;
use org_key::KeyRing;
pub use transaction::{Transaction, TransactionError};

/// The target of what PostgreSQL says besides its answers. Migrations have it say what they find done already, at level
/// `info`.
pub const NOTICES: &str = "sqlx::postgres::notice";

/// An open store: the database and the keys that its sealed columns are read with. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    db: engine::Db,
    ring: Arc<KeyRing>,
    wakes: Arc<outbox::Wakes>,
    usage: usage::Kept,
    failing: Arc<outage::Failing>,
}

impl Store {
    /// Opens `sqlite://path` or `postgres://…`, creating the SQLite file and bringing the schema up to date.
    /// Connections live on `runtime`, which has to outlive every use; callers may stand on any runtime.
    ///
    /// # Errors
    /// [`StoreError::Address`], [`StoreError::Schema`] (the database is newer than this program, or another
    /// one), or the database's own.
    pub async fn open(
        url: &str,
        options: StoreOptions,
        master: MasterKey,
        runtime: &Handle,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            db: engine::Db::open(url, options, runtime).await?,
            ring: Arc::new(KeyRing::new(master)),
            wakes: Arc::default(),
            usage: usage::Kept::default(),
            failing: Arc::default(),
        })
    }

    /// The file of the store at this address, `None` where it is none. Nothing is opened.
    ///
    /// # Errors
    /// [`StoreError::Address`].
    pub fn file(url: &str) -> Result<Option<PathBuf>, StoreError> {
        engine::file(url)
    }

    /// Whether this can be the address of a store. Nothing is opened, and no error shows any of it.
    ///
    /// # Errors
    /// [`StoreError::Address`].
    pub fn judge(url: &str) -> Result<(), StoreError> {
        engine::judge(url)
    }

    /// What a valid address rarely means; `None` where there is nothing to say. No secret of it is shown.
    pub fn doubt(url: &str) -> Option<String> {
        engine::doubt(url)
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// What keeps it from answering.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.db
            .read(|cx| Box::pin(async move { cx.row("SELECT 1", engine::args![]).await.map(drop) }))
            .await
    }

    /// Takes what was deleted or replaced out of the database's files: SQLite's write-ahead log has it until other
    /// changes come to stand in its place. Waits for whoever is reading. Nothing happens on PostgreSQL.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when somebody reads for too long, and those of the database.
    pub async fn empty_log(&self) -> Result<(), StoreError> {
        self.db.empty_log().await
    }

    /// A key for one purpose, made from the master key: the same on every replica, and in no database.
    ///
    /// # Errors
    /// [`StoreError::Seal`] without a master key.
    pub fn key_for(&self, purpose: &'static str) -> Result<[u8; seal::KEY_BYTES], StoreError> {
        Ok(self.ring.key_for(purpose)?)
    }

    /// Whether the master key is the one that this database was made with: it opens the newest signing keys and the
    /// newest key of an organization. Any key will do for a database that has neither. To be asked before something is
    /// written of which a part needs the key and another does not.
    ///
    /// `Some`: it is, but lacks this version, with which another process has wrapped the newest key of an organization.
    ///
    /// # Errors
    /// [`StoreError::Seal`] for another key, and those of the database.
    pub async fn check_master_key(&self) -> Result<Option<u32>, StoreError> {
        signing_key::check(self).await?;
        org_key::check(self).await
    }

    /// Finishes what is queued and closes every connection. Later calls are [`StoreError::Closed`].
    pub async fn close(&self) {
        self.db.close().await;
    }
}
