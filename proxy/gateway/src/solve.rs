//! `svc-gateway solve`: a spec from a file, through exactly the path of a request. And the worker that both use.

mod picture;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use svc_core::fault::Fault;
use svc_solver::{Exported, Pool, Progress, Settings, Spec, Status, solve_result};
use tokio::runtime::Handle;

use crate::configuration::Configuration;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The spec, as a client would post it.
    file: PathBuf,
    /// Write the roster to this file too, as a page to look at.
    #[arg(long)]
    html: Option<PathBuf>,
    /// Write what the engine gets into this folder too: model.pb (a CpModelProto) and parameters.pb (SatParameters).
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct WorkerOptions {
    #[arg(long)]
    library: PathBuf,
    #[arg(long)]
    memory_bytes: u64,
}

/// Runs a worker until the process that started it is gone.
///
/// # Errors
/// Limits that cannot be set, pipes that break.
pub(crate) fn work(options: &WorkerOptions) -> anyhow::Result<ExitCode> {
    svc_solver::work(&options.library, options.memory_bytes).context("solver worker")?;
    Ok(ExitCode::SUCCESS)
}

/// Workers of this program. None is started before it is needed.
///
/// # Errors
/// When the program cannot be found.
pub(crate) fn pool(configuration: &Configuration, runtime: Handle) -> anyhow::Result<Pool> {
    let solver = &configuration.solver;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let settings = Settings {
        program: std::env::current_exe().context("finding the executable")?,
        library: configuration.solver_library(),
        workers: match solver.workers {
            0 => (cores / 2).max(1),
            workers => workers,
        },
        queue: solver.queue,
        memory_bytes: solver.memory_bytes,
    };
    Ok(Pool::new(settings, runtime))
}

/// Exit status 0 for a roster, 2 for a spec that is infeasible.
///
/// # Errors
/// A file that cannot be read, a spec that is refused, a solver that is not available.
pub(crate) async fn run(
    configuration: &Configuration,
    options: Options,
) -> anyhow::Result<ExitCode> {
    let path = options.file.display();
    let bytes = tokio::fs::read(&options.file)
        .await
        .with_context(|| format!("reading {path}"))?;
    let spec = match svc_solver::parse(&bytes) {
        Ok(spec) => Arc::new(spec),
        Err(fault) => return refuse(&fault),
    };
    if let Some(folder) = &options.model {
        write_model(&spec, folder).await?;
    }
    let pool = pool(configuration, Handle::current())?;
    let began = Instant::now();
    let solved = if std::io::stderr().is_terminal() {
        pool.solve_telling(&spec, &bytes, &|progress| tell(progress, began))
            .await
    } else {
        pool.solve(&spec, &bytes).await
    };
    let solved = match solved {
        Ok(solved) => solved,
        Err(error) if error.fault().retryable => return Err(error.into()),
        Err(error) => return refuse(&error.fault()),
    };
    let wall_time_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    if let Some(html) = &options.html {
        let document = serde_json::from_slice(&bytes).context("reading the spec again")?;
        tokio::fs::write(html, picture::page(&document, &solved))
            .await
            .with_context(|| format!("writing {}", html.display()))?;
    }
    let result = solve_result(&solved, wall_time_ms);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{result:#}")?;
    Ok(if solved.status == Status::Infeasible {
        ExitCode::from(INFEASIBLE)
    } else {
        ExitCode::SUCCESS
    })
}

async fn write_model(spec: &Spec, folder: &Path) -> anyhow::Result<()> {
    let exported = svc_solver::export(spec);
    let Exported { model, parameters } = exported.context("the rules expand to too much")?;
    for (name, bytes) in [("model.pb", model), ("parameters.pb", parameters)] {
        let path = folder.join(name);
        let written = tokio::fs::write(&path, bytes).await;
        written.with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Exit status for a spec that cannot be: neither success nor a failure of ours.
const INFEASIBLE: u8 = 2;

/// The answer that a client would get.
fn refuse(fault: &Fault) -> anyhow::Result<ExitCode> {
    let details = fault.details_value();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:#}",
        serde_json::json!({"code": fault.code.word(), "message": fault.message, "details": details})
    )?;
    Ok(ExitCode::FAILURE)
}

/// A line on the terminal.
fn tell(progress: Progress, began: Instant) {
    let number =
        |number: Option<f64>| number.map_or_else(|| "?".to_owned(), |found| found.to_string());
    let line = format!(
        "{:7.2} s  best {}  bound {}\n",
        began.elapsed().as_secs_f64(),
        number(progress.best),
        number(progress.bound)
    );
    // Nobody reads it any more: the result says everything.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
