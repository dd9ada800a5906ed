//! Providers from configuration: addresses taken apart once, credentials put where only the host sees them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use http::Uri;
use svc_pipeline::inference::{Breaker, Observed};
use svc_pipeline::provider::{Credential, Provider, Secret};
use svc_pipeline::upstream::{ChosenBy, Deadlines, Target};
use svc_store::ledger::BilledTo;

use crate::configuration;

/// Every provider that has an address.
///
/// # Errors
/// An address that is not `http://` or `https://` with a host.
pub(crate) fn build(
    configured: &BTreeMap<String, configuration::Provider>,
) -> anyhow::Result<BTreeMap<String, Arc<Provider>>> {
    let mut providers = BTreeMap::new();
    for (name, configured) in configured {
        let Some(base_url) = &configured.base_url else {
            continue;
        };
        let target = target(name, base_url, configured)
            .with_context(|| format!("provider {name}: {base_url}"))?;
        let credential = match configured.api_key.clone() {
            Some(key) => Credential::Placed(Secret::new(key.0)),
            None => Credential::None,
        };
        providers.insert(
            name.clone(),
            Arc::new(Provider {
                target: Arc::new(target),
                credential,
                breaker: Breaker::default(),
                observed: Observed::default(),
                billed_to: BilledTo::Operator,
            }),
        );
    }
    Ok(providers)
}

/// Drivers give paths from the root (`/v1/messages`), so an address with a trailing `/v1` means the same.
fn target(
    name: &str,
    base_url: &str,
    configured: &configuration::Provider,
) -> anyhow::Result<Target> {
    let uri: Uri = base_url.parse().context("is not an address")?;
    let tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => bail!("must start with http:// or https://"),
    };
    let host = uri.host().context("has no host")?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if uri.query().is_some() {
        bail!("must not have a query");
    }
    let path = uri.path().trim_end_matches('/');
    Ok(Target {
        name: name.into(),
        chosen_by: ChosenBy::Operator,
        tls,
        host: host.into(),
        port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        base_path: path.strip_suffix("/v1").unwrap_or(path).into(),
        ca_file: configured.ca_file.clone(),
        deadlines: Deadlines {
            connect: Duration::from_millis(configured.connect_ms),
            head: Duration::from_millis(configured.head_ms),
            idle: Duration::from_millis(configured.idle_ms),
            total: Duration::from_millis(configured.total_ms),
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parsed(base_url: &str) -> Target {
        target("alpha", base_url, &configuration::Provider::default()).unwrap()
    }

    #[test]
    fn addresses_with_and_without_v1_mean_the_same() {
        for url in [
            "https://a.example",
            "https://a.example/",
            "https://a.example/v1",
            "https://a.example/v1/",
        ] {
            let target = parsed(url);
            assert_eq!(
                (target.tls, &*target.host, target.port, &*target.base_path),
                (true, "a.example", 443, "")
            );
        }
        assert_eq!(&*parsed("http://[::1]:8080/llm/v1").base_path, "/llm");
        assert_eq!(&*parsed("http://[::1]:8080/llm/v1").host, "::1");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in [
            "a.example",
            "ftp://a.example",
            "https://",
            "https://a.example/?x=1",
        ] {
            assert!(
                target("alpha", url, &configuration::Provider::default()).is_err(),
                "{url}"
            );
        }
    }
}
