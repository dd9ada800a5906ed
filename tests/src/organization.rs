//! Fresh organizations, made by `svc-gateway admin bootstrap` beside the running gateway.

use std::convert::Infallible;

use serde_json::Value;
use svc_core::time::Timestamp;
use svc_store::master_key::MasterKey;
use svc_store::seal::Content;
use svc_store::{Store, StoreOptions, TransactionError, organization};

use crate::gateway::Gateway;
use crate::program;

#[derive(Clone, Debug)]
pub struct Organization {
    pub id: String,
    pub user_id: String,
    pub key_id: String,
    pub key: String,
    /// Where the owner sets a password.
    pub invitation: String,
}

/// Makes an organization with an owner and a key; `options` as the command takes them.
///
/// # Panics
/// When the command fails or prints anything but its six fields.
pub fn bootstrap(gateway: &Gateway, options: &[&str]) -> Organization {
    let mut command = gateway.command();
    let printed = program::output_of(command.args(["admin", "bootstrap", "--json"]).args(options));
    let said: Value =
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed:?}"));
    let names: Vec<&String> = said.as_object().expect("an object").keys().collect();
    assert_eq!(
        names,
        [
            "organization_id",
            "slug",
            "user_id",
            "api_key_id",
            "api_key",
            "invitation_url"
        ]
    );
    let text = |name: &str| {
        said[name]
            .as_str()
            .unwrap_or_else(|| panic!("{name} in {said}"))
            .to_owned()
    };
    Organization {
        id: text("organization_id"),
        user_id: text("user_id"),
        key_id: text("api_key_id"),
        key: text("api_key"),
        invitation: text("invitation_url"),
    }
}

/// Gives an organization a system prompt of its own, which is sealed in the database.
pub async fn set_system_prompt(gateway: &Gateway, made: &Organization, prompt: &str) {
    let master =
        MasterKey::load_or_create(&gateway.data().join("master.key")).expect("the master key");
    let url = gateway.database.url();
    let runtime = tokio::runtime::Handle::current();
    let store = Store::open(&url, StoreOptions::default(), master, &runtime)
        .await
        .expect("the store");
    let found = organization::find(&store, &made.id).await.expect("a query");
    let settings = found.expect("the organization").settings;
    let prompt = organization::seal_prompt(&store, &made.id, Some(&Content::new(prompt)))
        .await
        .expect("sealing the prompt");
    let id = made.id.clone();
    let saved = store.transaction(move |mut tx| {
        Box::pin(async move {
            organization::put_settings(&mut tx, &id, settings, prompt, Timestamp(1)).await?;
            Ok::<_, TransactionError<Infallible>>(())
        })
    });
    saved.await.expect("saving the settings");
    store.close().await;
}
