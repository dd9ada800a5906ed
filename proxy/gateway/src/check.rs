//! `svc-gateway check`: configuration, policies with their cases, and plugins; every problem at once.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use svc_control::agreement;
use svc_core::phi::Kind;
use svc_core::surface::native::DEFAULT_MODEL;
use svc_pipeline::phi;
use svc_pipeline::policy::PolicySet;
use svc_plugin::Detector;

use crate::configuration::Configuration;
use crate::wiring;

/// # Errors
/// When the output cannot be written. Problems are printed and make the exit code 1.
pub(crate) async fn run(configuration: &Configuration) -> anyhow::Result<ExitCode> {
    let problems = configuration.problems().into_iter();
    let mut problems: Vec<String> = problems
        .chain(configuration.missing_solver())
        .map(|problem| format!("configuration: {problem}"))
        .collect();
    let policies = configuration
        .policies_folder()
        .map(|folder| PolicySet::load(&folder, &configuration.known()));
    let looking = wiring::looking_host(configuration).await;
    match &looking {
        Ok(looking) => {
            for plugin in looking.host.status() {
                for problem in plugin.last_error.iter().chain(&plugin.doubt) {
                    problems.push(format!("plugin {}: {problem}", plugin.id));
                }
            }
            let left_out = looking.left_out.iter();
            problems.extend(left_out.map(|why| format!("plugins: {why}")));
        }
        // Told with the configuration.
        Err(_) if configuration.plugins.is_there().is_err() => {}
        Err(_) if configuration.plugins.trust_roots().is_err() => {}
        Err(error) => problems.push(format!("plugins: {error:#}")),
    }
    let host = looking.as_ref().map(|looking| &looking.host);
    let mut doubts = configuration.doubts();
    // A gateway that starts says it with the address.
    doubts.extend(configuration.faked());
    match policies {
        Ok(Ok(set)) => {
            doubts.extend(unreached_default(configuration, &set));
            for template in &set.agreements {
                if let Err(error) = agreement::try_out(template) {
                    problems.push(format!("baa/{}.md: {error}", template.version));
                }
            }
            let Ok(host) = host else {
                return report(&problems, &doubts);
            };
            let before = problems.len();
            let mut kinds: BTreeSet<String> = BTreeSet::new();
            for id in &set.phi.detectors {
                match host.detector(id) {
                    Ok(detector) => kinds.extend(found_kinds(&detector)),
                    Err(error) => problems.push(format!("phi.toml: {error}")),
                }
            }
            if problems.len() == before {
                let unfound = set.phi.further_kinds.iter();
                let unfound = unfound.filter(|kind| !kinds.contains(*kind));
                problems.extend(unfound.map(|kind| {
                    format!("phi.toml: further_kinds: no detector of the policy finds {kind}")
                }));
                let failures = phi::failures(&set, host).await;
                problems.extend(failures.iter().map(ToString::to_string));
            }
        }
        Ok(Err(found)) => problems.extend(found.iter().map(ToString::to_string)),
        Err(error) => problems.push(format!("policies: {error:#}")),
    }
    report(&problems, &doubts)
}

/// Native requests that name no model would all fail, for want of an address that nothing else needs.
fn unreached_default(configuration: &Configuration, set: &PolicySet) -> Option<String> {
    let default = set.catalogue.find(DEFAULT_MODEL)?;
    let is_unreached = configuration.faked().is_none() && !configuration.reaches(default);
    is_unreached.then(|| {
        format!("no provider of {DEFAULT_MODEL} has an address: native requests that name no model are for it")
    })
}

/// The kinds that findings of a detector have.
fn found_kinds(detector: &Detector) -> impl Iterator<Item = String> {
    let kinds = detector.kinds().iter();
    kinds.map(|kind| Kind::named(kind).as_str().to_owned())
}

fn report(problems: &[String], doubts: &[String]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for doubt in doubts {
        writeln!(out, "warning: configuration: {doubt}")?;
    }
    for problem in problems {
        writeln!(out, "{problem}")?;
    }
    if problems.is_empty() {
        writeln!(out, "configuration, policies and plugins are valid")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{}", counted(problems.len() as u64))?;
    Ok(ExitCode::FAILURE)
}

/// How many problems there are, in words.
pub(crate) fn counted(problems: u64) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    }
}
