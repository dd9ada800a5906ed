//! `svc-gateway admin erase-end-user` and `erase-organization`: a key is destroyed, and with it everything that is sealed
//! below it.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Map, Value};
use svc_pipeline::moment;
use svc_store::Store;
use svc_store::audit::Row;
use svc_store::{end_user, erasure, organization};

use super::{known, system_row};

/// Destroys the key of a person that agents speak with: their conversations become unreadable, in live and test mode.
#[derive(clap::Args)]
pub(crate) struct EndUser {
    #[arg(long, value_name = "ID")]
    organization: String,
    /// As agents' credentials name the person.
    #[arg(long)]
    runtime_user: String,
}

/// Destroys the key of an organization: nothing that it stored can be read any more. Its keys, credentials, people,
/// integrations and webhooks end with it. Audit log, ledger and the record of its agreements stay.
#[derive(clap::Args)]
pub(crate) struct Organization {
    #[arg(long, value_name = "ID")]
    organization: String,
    /// Its slug, as a confirmation: this cannot be undone.
    #[arg(long, value_name = "SLUG")]
    confirm: String,
}

/// # Errors
/// An unknown organization, or a store that does not take it.
pub(super) async fn end_user(store: &Store, options: EndUser) -> anyhow::Result<ExitCode> {
    let EndUser {
        organization: org,
        runtime_user,
    } = options;
    known(store, &org).await?;
    let org_id = org.clone();
    let erased = end_user::erase(store, &org, &runtime_user, moment::now(), move |erased| {
        end_user_row(&org_id, erased)
    });
    let end_user::Erased {
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
fn end_user_row(org_id: &str, erased: end_user::Erased) -> Row {
    let mut details = Map::new();
    details.insert("keys".to_owned(), Value::from(erased.keys));
    details.insert(
        "conversations".to_owned(),
        Value::from(erased.conversations),
    );
    system_row(Some(org_id), "end_user.erased", details)
}

/// # Errors
/// An unknown organization, another slug than its own, or a store that does not take it.
pub(super) async fn organization(store: &Store, options: Organization) -> anyhow::Result<ExitCode> {
    let Organization {
        organization: org,
        confirm,
    } = options;
    match organization::slug(store, &org)
        .await
        .context("reading the organization")?
    {
        None => bail!("there is no organization {org}"),
        Some(slug) if slug != confirm => {
            bail!("the slug of {org} is {slug}, not {confirm}: nothing was erased")
        }
        Some(_) => {}
    }
    let org_id = org.clone();
    let erased = erasure::organization(store, &org, moment::now(), move |erased| {
        organization_row(&org_id, erased)
    });
    let erased = erased.await.context("erasing")?;
    let emptied = store.empty_log().await;
    emptied.context(
        "the organization is erased, but the database's log still has its key: try again",
    )?;
    let mut out = std::io::stdout().lock();
    if erased.keys == 0 {
        writeln!(out, "the organization was erased before")?;
    } else {
        let erasure::Erased {
            keys: _,
            end_users,
            credentials,
            users,
        } = erased;
        writeln!(
            out,
            "nothing of {org} can be read any more; {credentials} credentials, {users} users and {end_users} end users \
             ended with it"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn organization_row(org_id: &str, erased: erasure::Erased) -> Row {
    let counts = [
        ("keys", erased.keys),
        ("end_users", erased.end_users),
        ("credentials", erased.credentials),
        ("users", erased.users),
    ];
    let details = counts.map(|(name, count)| (name.to_owned(), Value::from(count)));
    system_row(
        Some(org_id),
        "organization.erased",
        details.into_iter().collect(),
    )
}
