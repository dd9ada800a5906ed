//! `svc-gateway plugin`: what is in the plugin folder and what the gateway makes of it.

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use svc_plugin::PluginStatus;

use crate::configuration::Configuration;
use crate::wiring;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Admit every plugin of the folder and show the outcome.
    List {
        /// One JSON object per line.
        #[arg(long)]
        json: bool,
    },
}

/// # Errors
/// When the folder cannot be read. A refused plugin is shown and makes the exit code 1.
pub(crate) async fn run(
    configuration: &Configuration,
    command: Command,
) -> anyhow::Result<ExitCode> {
    let Command::List { json } = command;
    let looking = wiring::looking_host(configuration).await?;
    let plugins = looking.host.status();
    let mut out = std::io::stdout().lock();
    for plugin in &plugins {
        let shown = shown(plugin);
        if json {
            writeln!(out, "{shown}")?;
        } else {
            let text = |key: &str| {
                shown
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or("-")
                    .to_owned()
            };
            writeln!(
                out,
                "{:<24} {:<10} {:<16} {:<10} {}",
                text("id"),
                text("version"),
                text("kind"),
                text("state"),
                text("error")
            )?;
        }
    }
    // Beside the list, which programs read.
    let mut aside = std::io::stderr().lock();
    for why in &looking.left_out {
        writeln!(aside, "left out: {why}")?;
    }
    for plugin in &plugins {
        if let Some(doubt) = &plugin.doubt {
            writeln!(aside, "{}: {doubt}", plugin.id)?;
        }
    }
    if plugins.is_empty() {
        let folder = configuration.plugins_folder()?;
        writeln!(aside, "no plugin in {}", folder.display())?;
    }
    let is_wrong = |plugin: &PluginStatus| plugin.last_error.is_some() || plugin.doubt.is_some();
    let refused = !looking.left_out.is_empty() || plugins.iter().any(is_wrong);
    Ok(if refused || plugins.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn shown(plugin: &PluginStatus) -> Value {
    let serving = plugin.serving.as_ref();
    json!({
        "id": plugin.id,
        "version": serving.map(|version| &version.version),
        "kind": serving.map(|version| version.kind.word()),
        "digest": serving.map(|version| &version.digest),
        "loaded_at": serving.map(|version| version.loaded_at.to_string()),
        "state": plugin.state.word(),
        "error": plugin.last_error,
        "doubt": plugin.doubt,
    })
}
