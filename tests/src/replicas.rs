//! Two gateways over one database.

use crate::fake::FakeProvider;
use crate::gateway::{Gateway, Setup};
use crate::organization::{Organization, bootstrap};
use crate::patience::eventually;
use crate::postgres;

pub struct Replicas {
    pub fake: FakeProvider,
    pub both: [Gateway; 2],
}

impl Replicas {
    /// Two replicas that know of each other, over a PostgreSQL database of their own.
    pub async fn start(further: impl Fn(Setup) -> Setup) -> Self {
        let database = tokio::task::spawn_blocking(postgres::database)
            .await
            .expect("a database");
        Self::over(database, further).await
    }

    /// The same over a database that is there already.
    pub async fn over(database: String, further: impl Fn(Setup) -> Setup) -> Self {
        let fake = FakeProvider::start();
        let setup = || further(Setup::new(&fake.base_url()).on(Some(database.clone())));
        let first = setup().start().await;
        let second = setup().prepare();
        // One master key for all replicas.
        std::fs::create_dir_all(second.data()).expect("a folder");
        let key = |gateway: &Gateway| gateway.data().join("master.key");
        std::fs::copy(key(&first), key(&second)).expect("copying the master key");
        second.start().await;
        let replicas = Self {
            fake,
            both: [first, second],
        };
        for gateway in &replicas.both {
            eventually("two replicas", async || {
                (gateway.metric("svc_replicas").await == 2.0).then_some(())
            })
            .await;
        }
        replicas
    }

    pub fn organization_with(&self, options: &[&str]) -> Organization {
        bootstrap(&self.both[0], options)
    }
}
