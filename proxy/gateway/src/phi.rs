//! `svc-gateway phi`: detection on text, through exactly the path of a request.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use svc_pipeline::phi::{Detectors, spans};
use svc_pipeline::policy::PolicySet;
use svc_pipeline::policy::phi::ProfileId;
use svc_plugin::PluginHost;

use crate::configuration::Configuration;
use crate::wiring;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Read text from standard input and write what the detectors find.
    Scan {
        /// One `{"id","text"}` per line in, one `{"id","spans"}` per line out; offsets in code points.
        /// Without it, all of the input is one text.
        #[arg(long)]
        jsonl: bool,
        /// Profile of the policy; the one in force when absent.
        #[arg(long)]
        profile: Option<String>,
    },
}

/// Longest line that is read; the bound of an inference body.
const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// # Errors
/// A policy or plugin that cannot be used, a line that is not of the form, or a detector that fails.
pub(crate) async fn run(
    configuration: &Configuration,
    command: Command,
) -> anyhow::Result<ExitCode> {
    let Command::Scan { jsonl, profile } = command;
    let policies = PolicySet::load(&configuration.policies_folder()?, &configuration.known());
    let policies = match policies {
        Ok(policies) => policies,
        Err(problems) => bail!(
            "{}",
            problems
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        ),
    };
    let profile = match profile {
        None => policies.phi.profile_in_force(),
        Some(name) => policies
            .phi
            .profile_named(&name)
            .with_context(|| format!("phi.toml has no profile {name}"))?,
    };
    let host = wiring::plugin_host(configuration).await?;
    // Beside the findings, which programs read: why a detector that the policy names is not there.
    let mut aside = std::io::stderr().lock();
    for plugin in host.status() {
        if let Some(error) = plugin.last_error {
            writeln!(aside, "{}: {error}", plugin.id)?;
        }
    }
    drop(aside);
    let input = std::io::stdin().lock();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if jsonl {
        for (at, line) in input.lines().enumerate() {
            let line = line.context("reading standard input")?;
            if line.len() > MAX_LINE_BYTES {
                bail!("line {}: longer than {MAX_LINE_BYTES} bytes", at + 1);
            }
            if line.trim().is_empty() {
                continue;
            }
            let (id, text) = record(&line).with_context(|| format!("line {}", at + 1))?;
            writeln!(
                out,
                "{}",
                json!({"id": id, "spans": scan(&host, &policies, profile, &text).await?})
            )?;
        }
    } else {
        let text = std::io::read_to_string(input).context("reading standard input")?;
        writeln!(
            out,
            "{}",
            json!({"spans": scan(&host, &policies, profile, &text).await?})
        )?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn record(line: &str) -> anyhow::Result<(Value, String)> {
    let mut record: Value =
        serde_json::from_str(line).map_err(|_| anyhow::anyhow!("is not JSON"))?;
    let Some(Value::String(text)) = record.get_mut("text").map(Value::take) else {
        bail!("has no string `text`")
    };
    Ok((record.get("id").cloned().unwrap_or(Value::Null), text))
}

async fn scan(
    host: &PluginHost,
    policies: &PolicySet,
    profile: ProfileId,
    text: &str,
) -> anyhow::Result<Vec<Value>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let detectors = Detectors::pin(host, &policies.phi, profile)?;
    let found = spans(text, &detectors, &policies.phi).await?;
    Ok(found
        .iter()
        .map(|span| json!({"start": span.start, "end": span.end, "kind": span.kind, "score": span.score}))
        .collect())
}
