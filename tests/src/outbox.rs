//! Events, published beside a running gateway: into its database, with its master key, as its own code does it.

use serde_json::{Value, json};
use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::webhook::EventName;
use svc_store::master_key::MasterKey;
use svc_store::outbox::{self, Event};
use svc_store::{Store, StoreOptions, TransactionError};

use crate::gateway::Gateway;

/// The app of published events.
pub const APP: &str = "01JD0000000000000000000000";

/// The gateway's store, opened a second time. Its dispatcher finds what is published here when it looks.
pub async fn store(gateway: &Gateway) -> Store {
    let path = gateway.data().join("master.key");
    let master = MasterKey::load_or_create(&path).expect("the master key");
    let url = gateway.database.url();
    let runtime = tokio::runtime::Handle::current();
    Store::open(&url, StoreOptions::default(), master, &runtime)
        .await
        .expect("the store")
}

/// Publishes so many `record.created` events of an organization, each in a transaction of its own, and gives the
/// numbers that their data holds.
pub async fn publish(store: &Store, organization_id: &str, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let event = event(organization_id, json!({"number": number}));
        let done = store.transaction(move |mut tx| {
            Box::pin(async move {
                outbox::publish(&mut tx, &[event], &Tier::ALL).await?;
                Ok::<_, TransactionError<()>>(())
            })
        });
        done.await.expect("publishing");
    }
}

fn event(organization_id: &str, data: Value) -> Event {
    Event {
        org_id: organization_id.to_owned(),
        mode: Mode::Live,
        name: EventName::RecordCreated,
        app_id: APP.to_owned(),
        entity_key: "patient".to_owned(),
        at: now(),
        data,
    }
}

#[expect(clippy::disallowed_methods, reason = "events happen now")]
fn now() -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a time after 1970");
    Timestamp(i64::try_from(since.as_millis()).expect("a time"))
}
