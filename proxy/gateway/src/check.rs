//! `svc-gateway check`: configuration, policies and plugins, every problem at once.

use std::io::Write;
use std::process::ExitCode;

use svc_pipeline::policy::PolicySet;

use crate::configuration::Configuration;
use crate::{providers, wiring};

/// # Errors
/// When the output cannot be written. Problems are printed and make the exit code 1.
pub(crate) async fn run(configuration: &Configuration) -> anyhow::Result<ExitCode> {
    let mut problems: Vec<String> = Vec::new();
    if let Err(error) = configuration.default_version() {
        problems.push(format!("configuration: {error:#}"));
    }
    for configured in [&configuration.providers, &configuration.test_providers] {
        if let Err(error) = providers::build(configured) {
            problems.push(format!("configuration: {error:#}"));
        }
    }
    let policies = configuration
        .policies_folder()
        .map(|folder| PolicySet::load(&folder));
    let host = wiring::plugin_host(configuration).await;
    match &host {
        Ok(host) => {
            for plugin in host.status() {
                if let Some(error) = &plugin.last_error {
                    problems.push(format!("plugin {}: {error}", plugin.id));
                }
            }
        }
        Err(error) => problems.push(format!("plugins: {error:#}")),
    }
    match policies {
        Ok(Ok(set)) => {
            let Ok(host) = &host else {
                return report(&problems);
            };
            for detector in &set.phi.detectors {
                if let Err(error) = host.detector(detector) {
                    problems.push(format!("phi.toml: {error}"));
                }
            }
        }
        Ok(Err(found)) => problems.extend(found.iter().map(ToString::to_string)),
        Err(error) => problems.push(format!("policies: {error:#}")),
    }
    report(&problems)
}

fn report(problems: &[String]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for problem in problems {
        writeln!(out, "{problem}")?;
    }
    if problems.is_empty() {
        writeln!(out, "configuration, policies and plugins are valid")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{} problems", problems.len())?;
    Ok(ExitCode::FAILURE)
}
