//! Providers from configuration: addresses taken apart once, credentials put where only the host sees them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
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
        // Never the address itself: it may hold a secret.
        let target = target(name, base_url, configured)
            .with_context(|| format!("the base_url of provider {name}"))?;
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

/// An address that a configuration names. No error shows any of it.
///
/// # Errors
/// What it is not, in words that follow its key.
pub(crate) fn address(text: &str) -> anyhow::Result<Uri> {
    const NEITHER: &str = "must be an http:// or https:// address";
    let uri: Uri = text.parse().ok().context(NEITHER)?;
    ensure!(matches!(uri.scheme_str(), Some("http" | "https")), NEITHER);
    let authority = uri.authority().context(NEITHER)?;
    let host = authority.host();
    ensure!(!host.is_empty(), NEITHER);
    ensure!(
        !authority.as_str().contains('@'),
        "must not hold a user or a password: nothing sends them"
    );
    let is_portless = authority.as_str().len() == host.len();
    let has_port = authority.port_u16().is_some_and(|port| port > 0);
    ensure!(
        is_portless || has_port,
        "must have a port between 1 and 65535, or none"
    );
    ensure!(uri.query().is_none(), "must not have a query");
    Ok(uri)
}

fn target(
    name: &str,
    base_url: &str,
    configured: &configuration::Provider,
) -> anyhow::Result<Target> {
    let uri = address(base_url)?;
    let tls = uri.scheme_str() == Some("https");
    let host = uri.host().context("has no host")?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let path = uri.path().trim_end_matches('/');
    Ok(Target {
        name: name.into(),
        chosen_by: ChosenBy::Operator,
        tls,
        host: host.into(),
        port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        base_path: path.into(),
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
        for (url, base_path) in [
            ("https://a.example", ""),
            ("https://a.example/", ""),
            ("https://a.example/v1", "/v1"),
            ("https://a.example/v1/", "/v1"),
        ] {
            let target = parsed(url);
            assert_eq!(
                (target.tls, &*target.host, target.port, &*target.base_path),
                (true, "a.example", 443, base_path)
            );
            let sent = |path| format!("{base_path}{}", target.below(path));
            assert_eq!(sent("/v1/messages?a=/v1/"), "/v1/messages?a=/v1/");
            // A driver's own path stays below the operator's address.
            for path in ["/generate", "/v1beta/generate", "/v1", "/v1?a=b"] {
                assert_eq!(sent(path), format!("{base_path}{path}"));
            }
        }
        let target = parsed("http://[::1]:8080/llm/v1");
        assert_eq!((&*target.host, &*target.base_path), ("::1", "/llm/v1"));
        assert_eq!(target.below("/v1/messages"), "/messages");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in [
            "a.example",
            "ftp://a.example",
            "https://",
            "https://a.example/?x=1",
            "https://a.example:0",
            "https://a.example:99999",
            "https://user:pw@a.example",
            "https://user@a.example:443",
        ] {
            assert!(
                target("alpha", url, &configuration::Provider::default()).is_err(),
                "{url}"
            );
        }
    }
}
