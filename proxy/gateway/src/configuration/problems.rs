//! What is wrong with a configuration, all of it at once. `check` prints it, and `serve` does not start with any.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use http::Uri;
use svc_edge::{Network, TlsListener};
use svc_store::limit::Counters;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::{Configuration, LimitsStore, Provider, Telemetry};
use crate::providers;

impl Configuration {
    /// Empty for one that can be served with.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.unreadable.clone();
        let mut judge = |judged: anyhow::Result<()>| {
            problems.extend(judged.err().map(|error| format!("{error:#}")));
        };
        let Self {
            server,
            limits,
            telemetry,
            ..
        } = self;
        judge(self.default_version().map(drop));
        judge(self.trusted_proxies().map(drop));
        judge(web_address("server.base_url", server.base_url.as_deref()));
        if let Some(listener) = self.tls_listener() {
            judge(listener.check().context("server.tls"));
        }
        for (name, value) in [
            ("header_bytes", limits.header_bytes as u64),
            ("header_ms", limits.header_ms),
            ("body_ms", limits.body_ms),
            ("inference_body_bytes", limits.inference_body_bytes as u64),
            ("keepalive_ms", limits.keepalive_ms),
            ("write_ms", limits.write_ms),
            (
                "connections_per_address",
                limits.connections_per_address as u64,
            ),
            ("connections", limits.connections as u64),
            ("heartbeat_ms", limits.heartbeat_ms),
        ] {
            judge(at_least_one(&format!("limits.{name}"), value));
        }
        judge(self.counted());
        judge(database(&self.database_url()));
        for (table, configured) in [
            ("providers", &self.providers),
            ("test_providers", &self.test_providers),
        ] {
            for (name, provider) in configured {
                judge(reachable(table, name, provider));
            }
        }
        let addresses = self.integrations.addresses();
        judge(
            self.webhooks
                .settings(addresses.as_ref().cloned().unwrap_or_default())
                .map(drop),
        );
        judge(addresses.map(drop));
        let endpoint = Some(telemetry.otlp_endpoint.as_str()).filter(|text| !text.is_empty());
        judge(web_address("telemetry.otlp_endpoint", endpoint));
        judge(telemetry.filter().map(drop));
        problems
    }

    /// A solver that cannot be there. The gateway serves without one, and answers `SOLVER_UNAVAILABLE`.
    pub(crate) fn missing_solver(&self) -> Option<String> {
        let library = self.solver.library.as_ref()?;
        let missing = || format!("solver.library: there is no file {}", library.display());
        (!library.is_file()).then(missing)
    }

    /// Proxies whose word on their callers' addresses is taken.
    ///
    /// # Errors
    /// A block that is none.
    pub(crate) fn trusted_proxies(&self) -> anyhow::Result<Vec<Network>> {
        let blocks = self.server.trusted_proxies.iter().map(|text| text.parse());
        let blocks: Result<_, _> = blocks.collect();
        blocks.context("server.trusted_proxies")
    }

    /// The listener for callers, where it speaks TLS.
    pub(crate) fn tls_listener(&self) -> Option<TlsListener> {
        let tls = self.server.tls.as_ref()?;
        Some(TlsListener {
            listen: vec![self.server.listen],
            certificate: tls.certificate.clone(),
            key: tls.key.clone(),
            check_every: CERTIFICATE_CHECK,
        })
    }

    fn counted(&self) -> anyhow::Result<()> {
        if let LimitsStore::Redis(url) = self.limits_store()? {
            Counters::redis(url).context("limits.store")?;
        }
        Ok(())
    }
}

/// How often the certificate files are looked at.
const CERTIFICATE_CHECK: Duration = Duration::from_secs(1);

impl Telemetry {
    /// Which log lines are written. A word that is neither a level nor about a part of the program would be taken for
    /// the name of one, and everything else would fall silent.
    ///
    /// # Errors
    /// A directive that is none.
    pub(crate) fn filter(&self) -> anyhow::Result<EnvFilter> {
        let directives = self.log_level.split(',').map(str::trim);
        for directive in directives.filter(|text| !text.is_empty()) {
            let is_about_a_part = directive.contains(['=', '[']);
            ensure!(
                is_about_a_part || directive.parse::<LevelFilter>().is_ok(),
                "telemetry.log_level: {directive} is not a level"
            );
        }
        EnvFilter::try_new(&self.log_level).context("telemetry.log_level")
    }
}

fn at_least_one(name: &str, value: u64) -> anyhow::Result<()> {
    ensure!(value > 0, "{name} must be at least 1");
    Ok(())
}

fn web_address(name: &str, text: Option<&str>) -> anyhow::Result<()> {
    let Some(text) = text else {
        return Ok(());
    };
    let uri: Result<Uri, _> = text.parse();
    let is_one = uri.is_ok_and(|uri| {
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        is_web && uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none()
    });
    ensure!(is_one, "{name} must be an http:// or https:// address");
    Ok(())
}

/// Not shown: an address may hold a password.
fn database(url: &str) -> anyhow::Result<()> {
    const SCHEMES: [&str; 3] = ["sqlite:", "postgres:", "postgresql:"];
    if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
        bail!("store.database_url must start with sqlite: or postgres:");
    }
    Ok(())
}

fn reachable(table: &str, name: &str, provider: &Provider) -> anyhow::Result<()> {
    let alone = BTreeMap::from([(name.to_owned(), provider.clone())]);
    providers::build(&alone).context(table.to_owned()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        match toml::from_str::<Configuration>(text) {
            Ok(configuration) => configuration.problems(),
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(problems(""), [""; 0]);
    }

    #[test]
    fn every_problem_is_named_by_its_key() {
        for (text, key) in [
            ("[versions]\ndefault = '1999-01-01'", "versions.default"),
            ("[limits]\nstore = 'mongo'", "limits.store"),
            ("[limits]\nstore = 'redis://'", "limits.store"),
            ("[limits]\nheader_ms = 0", "limits.header_ms"),
            ("[limits]\nheader_bytes = 0", "limits.header_bytes"),
            (
                "[integrations]\nallowed_networks = ['abc']",
                "integrations.allowed_networks",
            ),
            ("[webhooks]\ndelays_ms = []", "webhooks.max_attempts"),
            ("[webhooks]\ntimeout_ms = 99999", "webhooks.timeout_ms"),
            (
                "[server]\ntrusted_proxies = ['x']",
                "server.trusted_proxies",
            ),
            ("[server]\nbase_url = 'not a url'", "server.base_url"),
            (
                "[server]\nbase_url = 'ftp://example.org'",
                "server.base_url",
            ),
            (
                "[server.tls]\ncertificate = '/nope'\nkey = '/nope'",
                "server.tls",
            ),
            ("[store]\ndatabase_url = 'mysql://x'", "store.database_url"),
            ("[providers.alpha]\nbase_url = 'alpha'", "providers"),
            (
                "[telemetry]\notlp_endpoint = 'zz'",
                "telemetry.otlp_endpoint",
            ),
            ("[telemetry]\nlog_level = 'loud'", "telemetry.log_level"),
            (
                "[telemetry]\nlog_level = 'info,svc_store=loud'",
                "telemetry.log_level",
            ),
        ] {
            let found = problems(text);
            assert!(
                matches!(&found[..], [one] if one.starts_with(key)),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn all_problems_come_at_once() {
        let text = "[limits]\nstore = 'mongo'\nwrite_ms = 0\n[server]\nbase_url = 'x'\n[webhooks]\nin_flight = 0";
        assert_eq!(problems(text).len(), 4);
    }

    #[test]
    fn usual_filters_pass() {
        for level in [
            "info",
            "WARN",
            "off",
            "info,svc_store=debug",
            "svc_pipeline[request]=trace",
            "",
        ] {
            let telemetry = Telemetry {
                log_level: level.to_owned(),
                ..Telemetry::default()
            };
            assert!(telemetry.filter().is_ok(), "{level}");
        }
    }
}
