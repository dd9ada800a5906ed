//! `svc-gateway admin rotate-master-key` and `rotate-organization-key`: keys are wrapped anew, content stays as it is.
//!
//! Both work beside a running gateway that has the old and the new key, and both may be run again at any time: what
//! is wrapped already is passed over, so a run that was cut off goes on where it ended.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Map, Value};
use svc_pipeline::moment;
use svc_store::{
    Store, audit, baa, conversation, end_user, entity, integration, org_key, organization,
    phi_list, second_factor, signing_key, webhook_endpoint,
};

use super::{known, system_row};
use crate::wiring;

/// Gives an organization a new key and wraps all its data keys with it.
#[derive(clap::Args)]
pub(crate) struct RotateOrganization {
    #[arg(long, value_name = "ID")]
    organization: String,
}

/// Organizations that are read at once.
const ORGANIZATIONS_PER_PAGE: u32 = 100;
/// Conversations that are wrapped between two lines of progress.
const CONVERSATIONS_PER_STEP: u32 = 10_000;

/// # Errors
/// A key that is not at hand, or a store that does not take it; what was wrapped by then stays so.
pub(super) async fn rotate_master(store: &Store) -> anyhow::Result<ExitCode> {
    wiring::right_master_key(store).await?;
    let (mut organizations, mut keys) = (0_u64, 0_u64);
    let mut after = String::new();
    loop {
        let page = organization::ids(store, &after, ORGANIZATIONS_PER_PAGE).await;
        let page = page.context("reading the organizations")?;
        let Some(last) = page.last() else { break };
        after.clone_from(last);
        for org_id in &page {
            let wrapped = org_key::rewrap(store, org_id).await;
            let wrapped = wrapped.with_context(|| format!("wrapping the keys of {org_id}"))?;
            keys += wrapped;
            // One that was erased has none.
            organizations += u64::from(wrapped > 0);
        }
    }
    keys += signing_key::rewrap(store)
        .await
        .context("wrapping the signing keys")?;
    let row = system_row(None, "master_key.rotated", detail("keys", keys));
    audit::append(store, &[row]).await.context("auditing")?;
    writeln!(
        std::io::stdout().lock(),
        "{keys} keys are wrapped anew, those of {organizations} organizations among them"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// # Errors
/// As [`rotate_master`].
pub(super) async fn rotate_organization(
    store: &Store,
    options: RotateOrganization,
) -> anyhow::Result<ExitCode> {
    let RotateOrganization { organization: org } = options;
    known(store, &org).await?;
    let row = |version: u32| {
        system_row(
            Some(&org),
            "organization_key.rotated",
            detail("version", version),
        )
    };
    let version = org_key::rotate(store, &org, moment::now(), row).await;
    let version = version.context("making the key")?;
    let mut keys = 0;
    loop {
        let moved = conversation::rewrap(store, &org, CONVERSATIONS_PER_STEP).await;
        let moved = moved.context("wrapping the keys of conversations")?;
        if moved == 0 {
            break;
        }
        keys += moved;
    }
    keys += end_user::rewrap(store, &org)
        .await
        .context("wrapping the keys of end users")?;
    keys += baa::rewrap(store, &org)
        .await
        .context("wrapping the keys of agreements")?;
    keys += second_factor::rewrap(store, &org)
        .await
        .context("wrapping the keys of second factors")?;
    keys += integration::rewrap(store, &org)
        .await
        .context("wrapping the keys of integrations")?;
    keys += entity::rewrap(store, &org)
        .await
        .context("wrapping the keys of entities")?;
    keys += webhook_endpoint::rewrap(store, &org)
        .await
        .context("wrapping the keys of webhook endpoints")?;
    phi_list::rewrap(store, &org)
        .await
        .context("wrapping the key of lists")?;
    let row = system_row(
        Some(&org),
        "organization_key.rewrapped",
        detail("keys", keys),
    );
    audit::append(store, &[row]).await.context("auditing")?;
    writeln!(
        std::io::stdout().lock(),
        "{org} has key version {version}; {keys} keys are wrapped anew"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn detail(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value.into())])
}
