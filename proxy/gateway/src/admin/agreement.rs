//! `svc-gateway admin terminate-baa`, and the agreement that a bootstrapped organization accepts.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::Map;
use svc_control::baa::Signing;
use svc_core::id::IdKind;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_store::audit::{Row, Target};
use svc_store::baa::{self, Acceptance, Accepted, Template};
use svc_store::bootstrap::Bootstrapped;
use svc_store::{Store, StoreError, TransactionError};

use super::{known, system_row};

/// Ends an organization's agreement: inference answers BAA_REQUIRED within two seconds.
#[derive(clap::Args)]
pub(crate) struct Terminate {
    #[arg(long)]
    organization: String,
}

/// # Errors
/// An unknown organization, one without an agreement in force, or a store that does not take it.
pub(super) async fn terminate(store: &Store, options: Terminate) -> anyhow::Result<ExitCode> {
    let Terminate { organization } = options;
    known(store, &organization).await?;
    let org_id = organization.clone();
    let now = moment::now();
    let ended = baa::terminate(store, &organization, now, move |id| {
        row(&org_id, "baa.terminated", id, now)
    });
    match ended.await {
        Ok(id) => writeln!(std::io::stdout().lock(), "{id} is terminated")?,
        Err(StoreError::Missing(_)) => bail!("{organization} has no agreement in force"),
        Err(error) => return Err(error).context("ending the agreement"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Publishes the template that a new organization is going to accept.
///
/// # Errors
/// One that is not the one to be accepted, or a store that does not take it.
pub(super) async fn publish(
    store: &Store,
    template: &Template,
    now: Timestamp,
) -> anyhow::Result<()> {
    baa::publish(store, template)
        .await
        .context("publishing the agreement")?;
    let current = baa::current_template(store, now).await;
    let current = current.context("reading the agreement")?;
    let is_current = current.is_some_and(|current| {
        current.version == template.version && current.sha256 == template.sha256
    });
    if !is_current {
        bail!("a newer agreement is published than the policies know");
    }
    Ok(())
}

/// The owner of a new organization accepts `template`, which is published.
///
/// # Errors
/// A document that cannot be rendered, or a store that does not take it.
pub(super) async fn accept(
    store: &Store,
    created: &Bootstrapped,
    organization_name: &str,
    template: Template,
    now: Timestamp,
) -> anyhow::Result<()> {
    let acceptance = Acceptance {
        id: moment::id(IdKind::BaaAcceptance),
        org_id: created.organization_id.clone(),
        template_version: template.version.clone(),
        template_sha256: template.sha256.clone(),
        accepted_by_user_id: created.user_id.clone(),
        signer_name: "Owner".to_owned(),
        signer_title: "Owner".to_owned(),
        // Reserved by RFC 2606: a bootstrapped owner has no mailbox until an operator gives one.
        signer_email: format!("owner+{}@example.invalid", created.organization_id),
        accepted_at: now,
        ip: None,
        user_agent: None,
        effective_at: now,
        expires_at: None,
    };
    let signing = Signing {
        template,
        acceptance,
        organization_name: organization_name.to_owned(),
        request_id: None,
    };
    let Template {
        version, sha256, ..
    } = signing.template.clone();
    let (acceptance, document) = signing.document(store).await?;
    let mut row = row(&acceptance.org_id, "baa.accepted", &acceptance.id, now);
    // As the row of an acceptance by the API has them.
    for (name, value) in [
        ("template_version", version),
        ("template_sha256", sha256),
        ("document_sha256", document.facts.sha256.clone()),
    ] {
        row.details.insert(name.to_owned(), value.into());
    }
    let accepted = store.transaction(move |mut tx| {
        Box::pin(async move {
            match baa::accept_signed(&mut tx, &acceptance, &document).await? {
                Accepted::Recorded => {}
                refused => return Err(TransactionError::Refused(refused)),
            }
            svc_store::audit::record(&mut tx, &row).await?;
            Ok(())
        })
    });
    match accepted.await {
        Ok(()) => Ok(()),
        Err(TransactionError::Refused(Accepted::Overtaken)) => {
            bail!("the organization accepted an agreement meanwhile")
        }
        Err(TransactionError::Refused(_)) => {
            bail!("a newer agreement is published than the policies know")
        }
        Err(TransactionError::Store(error)) => Err(error).context("accepting the agreement"),
    }
}

fn row(org_id: &str, event: &str, acceptance_id: &str, now: Timestamp) -> Row {
    Row {
        occurred_at: now,
        target: Some(Target {
            kind: "baa_acceptance".to_owned(),
            id: acceptance_id.to_owned(),
        }),
        ..system_row(Some(org_id), event, Map::new())
    }
}
