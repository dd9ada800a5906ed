//! `svc-gateway`: the binary. Wiring in reading order; no rule of the service is decided here.

#![recursion_limit = "256"]

mod admin;
mod admin_page;
mod audit;
mod baa;
mod check;
mod configuration;
mod core_dump;
mod descriptors;
mod fake_provider;
mod key_source;
mod lock;
mod phi;
mod plugin;
mod providers;
mod serve;
mod signals;
mod solve;
mod telemetry;
mod welcome;
mod wiring;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use configuration::{Configuration, LogFormat};

/// glibc's allocator reached twice the memory after waves of streams.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The gateway that a hospital would trust with its AI traffic.
#[derive(Parser)]
#[command(name = "svc-gateway", version, about)]
struct Arguments {
    /// Configuration file; `config/gateway.toml` when it is there.
    #[arg(long, global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve (the default).
    Serve(serve::Options),
    /// Validate configuration, policies and plugins, and print every problem.
    Check,
    /// Manage organizations and keys; works while the gateway runs.
    #[command(subcommand)]
    Admin(admin::Command),
    /// Verify exports of the audit log, offline.
    #[command(subcommand)]
    Audit(audit::Command),
    /// Signing keys of agreements, and the proof of a downloaded document.
    #[command(subcommand)]
    Baa(baa::Command),
    /// Look at plugins.
    #[command(subcommand)]
    Plugin(plugin::Command),
    /// Run PHI detection on text.
    #[command(subcommand)]
    Phi(phi::Command),
    /// Solve a spec from a file and write the result.
    Solve(solve::Options),
    /// The process in which the gateway lets the solver run; it is spoken to in frames.
    #[command(hide = true)]
    SolverWorker(solve::WorkerOptions),
    /// Serve a strict stand-in for a model provider.
    FakeProvider(fake_provider::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let is_serving = matches!(arguments.command, None | Some(Command::Serve(_)));
    match run(arguments) {
        Ok(code) => code,
        // Whoever reads the output has what they wanted, and knows it.
        Err(error) if !is_serving && is_unread(&error) => ExitCode::FAILURE,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { config, command } = arguments;
    let configured = || Configuration::load(config.as_deref());
    let readable = || -> anyhow::Result<Configuration> {
        let configuration = configured()?;
        configuration.readable()?;
        Ok(configuration)
    };
    match command.unwrap_or(Command::Serve(serve::Options::default())) {
        // These two tell what cannot be read with everything else that is wrong.
        Command::Serve(options) => serve(&configured()?, &options),
        Command::Check => wiring::tidily(check::run(&configured()?)),
        Command::Admin(command) => wiring::blocking(admin::run(&readable()?, command))?,
        // Whoever verifies an export need not have a gateway.
        Command::Audit(command) => audit::run(&command),
        Command::Baa(command) => wiring::blocking(baa::run(&readable()?, command))?,
        Command::Plugin(command) => wiring::tidily(plugin::run(&readable()?, command)),
        Command::Phi(command) => wiring::blocking(phi::run(&readable()?, command))?,
        Command::Solve(options) => wiring::blocking(solve::run(&readable()?, options))?,
        // Knows nothing of the gateway, its configuration included.
        Command::SolverWorker(options) => solve::work(&options),
        Command::FakeProvider(options) => {
            readable()?;
            wiring::blocking(fake_provider::serve(options))?.map(|()| ExitCode::SUCCESS)
        }
    }
}

/// Whether it was the output that could not be written, because its reader has left.
fn is_unread(error: &anyhow::Error) -> bool {
    let is_last = error.chain().nth(1).is_none();
    let written = error.downcast_ref::<std::io::Error>();
    is_last && written.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Serves; what ends the program is a line of its log, where its log is for machines.
fn serve(configuration: &Configuration, options: &serve::Options) -> anyhow::Result<ExitCode> {
    match (
        serve::run(configuration, options),
        configuration.telemetry.log_format,
    ) {
        (Err(error), LogFormat::Json) => {
            report_to_machines(&error);
            Ok(ExitCode::FAILURE)
        }
        (ended, _) => ended,
    }
}

/// As the lines of the log are; there may be no log yet.
#[expect(clippy::print_stderr, reason = "the log is the error output")]
fn report_to_machines(error: &anyhow::Error) {
    let line = serde_json::json!({
        "timestamp": svc_pipeline::moment::now().to_string(),
        "level": "ERROR",
        "message": "the gateway ends",
        "error": format!("{error:#}"),
        "target": "svc_gateway",
    });
    eprintln!("{line}");
}

/// The one place that writes an error for a person: every cause, one line each.
#[expect(clippy::print_stderr, reason = "the command line's error output")]
fn report(error: &anyhow::Error) {
    eprintln!("svc-gateway: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
}
