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

    /// A fresh organization.
    pub fn organization(&self) -> Organization {
        bootstrap(&self.gateway, &[])
    }

    /// A fresh organization, with options of `admin bootstrap`.
    pub fn organization_with(&self, options: &[&str]) -> Organization {
        bootstrap(&self.gateway, options)
    }
}
