//! Gateways that many tests share, one on each engine. Each test has organizations of its own in them, and
//! speaks to the fake provider about messages with a mark of its own.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::fake::FakeProvider;
use crate::gateway::{Gateway, Setup};
use crate::organization::{Organization, bootstrap};
use crate::postgres;

pub struct World {
    pub fake: FakeProvider,
    pub gateway: Gateway,
}

static SQLITE: OnceCell<Arc<World>> = OnceCell::const_new();
static POSTGRES: OnceCell<Arc<World>> = OnceCell::const_new();
static IMPATIENT: OnceCell<Arc<World>> = OnceCell::const_new();

/// Deadlines and limits of the impatient gateway.
pub const BODY_MS: i64 = 700;
pub const HEADER_MS: i64 = 700;
pub const BODY_BYTES: i64 = 100_000;
pub const HEARTBEAT_MS: i64 = 200;
pub const PROVIDER_HEAD_MS: i64 = 2_000;
pub const PROVIDER_IDLE_MS: i64 = 1_500;
pub const PROVIDER_TOTAL_MS: i64 = 6_000;

impl World {
    /// The shared gateway on SQLite.
    pub async fn sqlite() -> Arc<Self> {
        Arc::clone(
            SQLITE
                .get_or_init(async || Arc::new(Self::start(None).await))
                .await,
        )
    }

    /// The shared gateway on PostgreSQL.
    pub async fn postgres() -> Arc<Self> {
        let start = async || {
            let database = tokio::task::spawn_blocking(postgres::database)
                .await
                .expect("a database");
            Arc::new(Self::start(Some(database)).await)
        };
        Arc::clone(POSTGRES.get_or_init(start).await)
    }

    /// A shared gateway on SQLite whose limits are small and whose deadlines are short.
    pub async fn impatient() -> Arc<Self> {
        let start = async || {
            let mut alpha = toml::Table::new();
            for (name, ms) in [
                ("connect_ms", 1_000),
                ("head_ms", PROVIDER_HEAD_MS),
                ("idle_ms", PROVIDER_IDLE_MS),
                ("total_ms", PROVIDER_TOTAL_MS),
            ] {
                alpha.insert(name.into(), ms.into());
            }
            let limits = |setup: Setup| {
                let setup =
                    setup
                        .key("limits", "body_ms", BODY_MS)
                        .key("limits", "header_ms", HEADER_MS);
                let setup = setup.key("limits", "inference_body_bytes", BODY_BYTES);
                setup
                    .key("limits", "heartbeat_ms", HEARTBEAT_MS)
                    .key("providers", "alpha", alpha)
            };
            Arc::new(Self::with(limits).await)
        };
        Arc::clone(IMPATIENT.get_or_init(start).await)
    }

    /// A world of one's own.
    pub async fn start(database_url: Option<String>) -> Self {
        Self::with(|setup| setup.on(database_url)).await
    }

    /// A world of one's own whose gateway is set up further.
    pub async fn with(further: impl FnOnce(Setup) -> Setup) -> Self {
        let fake = FakeProvider::start();
        // Trace level: the tests that look for content in logs look into everything there is.
        let setup = Setup::new(&fake.base_url()).key("telemetry", "log_level", "trace");
        let gateway = further(setup).start().await;
        Self { fake, gateway }
    }

    /// As [`World::with`], where what is missing keeps the gateway from being ready.
    pub async fn unready(further: impl FnOnce(Setup) -> Setup) -> Self {
        let fake = FakeProvider::start();
        let gateway = further(Setup::new(&fake.base_url())).start_unready().await;
        Self { fake, gateway }
    }

    /// A fresh organization.
    pub fn organization(&self) -> Organization {
        bootstrap(&self.gateway, &[])
    }

    /// A fresh organization, with options of `admin bootstrap`.
    pub fn organization_with(&self, options: &[&str]) -> Organization {
        bootstrap(&self.gateway, options)
    }
}
