//! `svc-gateway audit`: checks an export of the audit log. Offline: it reads files and nothing else, neither the
//! configuration nor the store, so that whoever was given an export need not trust whoever gave it.

mod export;

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use svc_core::checkpoint::Verifier;

use crate::check::counted;
use export::{Expected, Report, Says};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Verify an export: every row, every proof, the checkpoint's signature, and that nothing is cut off.
    Verify(Verify),
}

#[derive(clap::Args)]
pub(crate) struct Verify {
    /// What `GET /v1/audit` with `Accept: application/x-ndjson` answered.
    file: PathBuf,
    /// The log's key (`svc-gateway admin audit-key`), got from the operator apart from the export. Without it, the
    /// export's own word is taken for whose it is.
    #[arg(long)]
    key: Option<String>,
    /// A checkpoint that was kept: the log must be a continuation of it. Ask for the export with `since_size`, the
    /// second line of that checkpoint.
    #[arg(long)]
    since: Option<PathBuf>,
}

/// Exit status 0 where everything holds, 1 where anything does not.
///
/// # Errors
/// Files that cannot be read, a key that is none.
pub(crate) fn run(command: &Command) -> anyhow::Result<ExitCode> {
    let Command::Verify(options) = command;
    let key = match &options.key {
        Some(text) => match Verifier::parse(text) {
            Some(key) => Some(key),
            None => bail!("--key is no verifier key (name+id+key)"),
        },
        None => None,
    };
    let since = match &options.since {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Some(text.with_context(|| format!("reading {}", path.display()))?)
        }
        None => None,
    };
    let path = options.file.display();
    let file = File::open(&options.file).with_context(|| format!("opening {path}"))?;
    let expected = Expected { key, since };
    let report = export::verify(BufReader::new(file), &expected)
        .with_context(|| format!("reading {path}"))?;
    show(&report, &expected)?;
    Ok(if report.holds() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn show(report: &Report, expected: &Expected) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for problem in &report.problems {
        writeln!(out, "WRONG: {problem}")?;
    }
    if report.unlisted > 0 {
        writeln!(out, "WRONG: and {} more", report.unlisted)?;
    }
    if let Some(verifier) = &report.verifier {
        let word = if expected.key.is_some() {
            "as given"
        } else {
            "named by the export itself: compare it with what the operator told you"
        };
        writeln!(out, "key: {verifier} ({word})")?;
    }
    if let Some(checkpoint) = &report.checkpoint {
        let (origin, size) = (&checkpoint.origin, checkpoint.head.size);
        writeln!(out, "log: {origin}, {size} rows of all organizations")?;
    }
    if let Some(says) = &report.says {
        for line in told(says) {
            writeln!(out, "{line}")?;
        }
    }
    if report.is_filtered {
        writeln!(
            out,
            "note: the export has filters; rows that they leave out are not looked at"
        )?;
    }
    if let Some(size) = report.continues {
        writeln!(out, "continues the log of {size} rows: yes")?;
    }
    let (rows, expired) = (report.rows, report.expired);
    let verdict = if report.holds() { "VERIFIED" } else { "FAILED" };
    writeln!(
        out,
        "{verdict}: {rows} rows, {expired} more that are past their retention, {}",
        counted(report.problems.len() as u64 + report.unlisted)
    )?;
    out.flush()?;
    Ok(())
}

/// What an export says it is of. The file may be anybody's: signs that steer a terminal are written out.
fn told(says: &Says) -> Vec<String> {
    let Says {
        org_id,
        mode,
        generated_at,
        from,
        to,
    } = says;
    let mut lines = vec![format!(
        "export: organization {}, {} mode, made at {}",
        org_id.escape_debug(),
        mode.escape_debug(),
        generated_at.escape_debug()
    )];
    if from.is_some() || to.is_some() {
        let bound = |bound: &Option<String>, without: &str| match bound {
            Some(time) => time.escape_debug().to_string(),
            None => without.to_owned(),
        };
        lines.push(format!(
            "note: the export is of {} to {}; rows of other times are not looked at",
            bound(from, "the beginning"),
            bound(to, "its making")
        ));
    }
    lines
}
