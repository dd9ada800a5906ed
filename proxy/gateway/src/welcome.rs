//! `serve --welcome`: what somebody needs who starts a gateway for the first time.

use std::io::Write;

use svc_core::surface::native::DEFAULT_MODEL;
use svc_pipeline::policy::models::Model;
use svc_store::Store;

use crate::admin;
use crate::configuration::Configuration;

/// Makes an organization with a key and prints a line to paste.
///
/// # Errors
/// As [`admin::bootstrap`].
pub(crate) async fn print(
    configuration: &Configuration,
    store: &Store,
    fakes: bool,
) -> anyhow::Result<()> {
    let model = named_model(configuration)?;
    let created = admin::bootstrap(configuration, store, &admin::Bootstrap::default()).await?;
    let url = configuration.base_url();
    let mut out = std::io::stdout().lock();
    if fakes {
        writeln!(
            out,
            "\nNo provider key is set: the bundled fake provider answers."
        )?;
    }
    writeln!(
        out,
        "\nA first chat; the number and the address are replaced before the provider sees them:\n\n\
         curl -N {url}/v1/ai/chat \\\n  -H 'Authorization: Bearer {}' \\\n  -H 'Content-Type: application/json' \\\n  \
         -d '{{{model}\"message\":\"Patient Jo, SSN 536-22-1234, mail jo@example.com: summarize the visit.\"}}'\n",
        created.made.api_key
    )?;
    writeln!(
        out,
        "The dashboard, for the owner of that organization (this link sets the password, once):\n\n{}\n",
        created.invitation_url
    )?;
    out.flush()?;
    Ok(())
}

/// The member that names a model, where a request that names none would be for one that no provider here serves.
fn named_model(configuration: &Configuration) -> anyhow::Result<String> {
    let models = admin::policies(configuration)?.catalogue.models;
    let mut served: Vec<&Model> = models
        .iter()
        .filter(|model| model.retirement.is_none() && configuration.reaches(model))
        .collect();
    // The one that is meant without a name stands first.
    served.sort_by_key(|model| model.id != DEFAULT_MODEL);
    Ok(match served.first() {
        Some(model) if model.id != DEFAULT_MODEL => format!("\"model\":\"{}\",", model.id),
        _ => String::new(),
    })
}
