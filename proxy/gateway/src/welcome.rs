//! `serve --welcome`: what somebody needs who starts a gateway for the first time.

use std::io::Write;

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
         -d '{{\"message\":\"Patient Jo, SSN 536-22-1234, mail jo@example.com: summarize the visit.\"}}'\n",
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
