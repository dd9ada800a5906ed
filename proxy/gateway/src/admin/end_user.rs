//! `svc-gateway admin erase-end-user`: one person's key is destroyed, and with it everything that is sealed below it.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Map, Value};
use svc_pipeline::moment;
use svc_store::Store;
use svc_store::audit::Row;
use svc_store::end_user::{self, Erased};

use super::{known, system_row};

/// Destroys the key of a person that agents speak with: their conversations become unreadable, in live and test mode.
#[derive(clap::Args)]
pub(crate) struct Erase {
    #[arg(long, value_name = "ID")]
    organization: String,
    /// As agents' credentials name the person.
    #[arg(long)]
    runtime_user: String,
}

/// # Errors
/// An unknown organization, or a store that does not take it.
pub(super) async fn erase(store: &Store, options: Erase) -> anyhow::Result<ExitCode> {
    let Erase {
        organization: org,
        runtime_user,
    } = options;
    known(store, &org).await?;
    let org_id = org.clone();
    let erased = end_user::erase(store, &org, &runtime_user, moment::now(), move |erased| {
        row(&org_id, erased)
    });
    let Erased {
        keys,
        conversations,
    } = erased.await.context("erasing")?;
    let emptied = store.empty_log().await;
    emptied.context("the person is erased, but the database's log still has the key: try again")?;
    let mut out = std::io::stdout().lock();
    if keys == 0 && conversations == 0 {
        writeln!(out, "nothing is stored of that person")?;
    } else {
        writeln!(out, "{conversations} conversations are unreadable")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The audit row: how much, never of whom. What erases a person must not name them for six years.
fn row(org_id: &str, erased: Erased) -> Row {
    let mut details = Map::new();
    details.insert("keys".to_owned(), Value::from(erased.keys));
    details.insert(
        "conversations".to_owned(),
        Value::from(erased.conversations),
    );
    system_row(Some(org_id), "end_user.erased", details)
}
