//! The worker: a process of its own in which the engine runs. It reads specs from standard input and writes
//! answers to standard output, until that closes. What it does wrong, it does to itself.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, Library};
use crate::frame::{self, Kind};
use crate::solve::{Outcome, Run, SolveError, solve};
use crate::spec;

/// What a worker says to a spec.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum Answer {
    Done {
        outcome: Outcome,
    },
    Stopped,
    /// In words of ours; nothing of the spec.
    Failed {
        reason: String,
    },
}

/// How a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The least penalty found so far.
    pub best: Option<f64>,
    /// No answer has less.
    pub bound: Option<f64>,
}

/// Why a worker ended.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("the limits of the process cannot be set: {0}")]
    Limits(#[from] rustix::io::Errno),
    #[error("the pipes to the gateway: {0}")]
    Pipes(#[from] io::Error),
}

/// Runs a worker until the gateway closes its input.
///
/// # Errors
/// Limits that cannot be set, pipes that break. A library that cannot be loaded is said to the gateway.
pub fn work(library: &Path, memory_bytes: u64) -> Result<(), WorkerError> {
    limit(memory_bytes)?;
    let (pipe, printed) = own_standard_output()?;
    let out = Arc::new(Mutex::new(File::from(pipe)));
    let library = match Library::open(library) {
        Ok(library) => Arc::new(library),
        Err(error) => {
            let reason = error.to_string();
            frame::write(&mut *out.lock(), Kind::Unusable, reason.as_bytes())?;
            return Ok(());
        }
    };
    frame::write(&mut *out.lock(), Kind::Ready, b"")?;
    let (sender, specs) = sync_channel(1);
    let (reading, greeting) = (Arc::clone(&library), Arc::clone(&out));
    thread::Builder::new()
        .name("solver-input".into())
        .spawn(move || read_input(&reading, &sender, &greeting))?;
    let telling = Arc::clone(&out);
    thread::Builder::new()
        .name("solver-log".into())
        .spawn(move || tell(printed, &telling))?;
    serve(&library, &specs, &out)?;
    Ok(())
}

fn serve(
    library: &Library,
    specs: &Receiver<(Vec<u8>, Run)>,
    out: &Mutex<File>,
) -> Result<(), WorkerError> {
    while let Ok((bytes, run)) = specs.recv() {
        let answer = serde_json::to_vec(&answer(library, &bytes, run)).map_err(io::Error::from)?;
        frame::write(&mut *out.lock(), Kind::Answer, &answer)?;
    }
    Ok(())
}

fn answer(library: &Library, bytes: &[u8], run: Run) -> Answer {
    let Ok(spec) = spec::parse(bytes) else {
        let reason = "the spec is not valid".to_owned();
        return Answer::Failed { reason };
    };
    match solve(library, &spec, run) {
        Ok(outcome) => Answer::Done { outcome },
        Err(SolveError::Engine(EngineError::Stopped)) => Answer::Stopped,
        Err(error) => Answer::Failed {
            reason: error.to_string(),
        },
    }
}

/// Memory of the process, and no core dumps: they would hold specs.
fn limit(memory_bytes: u64) -> Result<(), rustix::io::Errno> {
    let both = |limit| Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    setrlimit(Resource::Core, both(0))?;
    setrlimit(Resource::As, both(memory_bytes))
}

/// Standard output for frames alone. What the library prints goes into a pipe of ours, the second.
fn own_standard_output() -> Result<(OwnedFd, OwnedFd), rustix::io::Errno> {
    /// Standard input, output and error have the numbers below.
    const FIRST_FREE: i32 = 3;
    let frames = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), FIRST_FREE)?;
    let (printed, print) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::stdio::dup2_stdout(&print)?;
    Ok((frames, printed))
}

/// Specs go on; a wish to stop is carried out at once. When the gateway is gone, so is the worker, whatever it is
/// at: ending the process in good order would wait for the search.
fn read_input(library: &Library, specs: &SyncSender<(Vec<u8>, Run)>, out: &Mutex<File>) {
    let mut input = io::stdin().lock();
    loop {
        let run = match frame::read(&mut input) {
            Ok((Kind::Stop, _)) => {
                library.stop();
                continue;
            }
            Ok((Kind::Greet, _)) => match frame::write(&mut *out.lock(), Kind::Ready, b"") {
                Ok(()) => continue,
                Err(_) => break,
            },
            Ok((Kind::Solve, bytes)) => (bytes, Run::Silent),
            Ok((Kind::SolveAndTell, bytes)) => (bytes, Run::Telling),
            Ok(_) | Err(_) => break,
        };
        library.resume();
        if specs.send(run).is_err() {
            break;
        }
    }
    // Nothing is left to be done where even this fails.
    let _ = kill_process(getpid(), Signal::KILL);
}

/// Lines that the engine prints about its search, as progress.
fn tell(printed: OwnedFd, out: &Mutex<File>) {
    for line in BufReader::new(File::from(printed)).lines() {
        let Ok(line) = line else { break };
        let Some(progress) = progress(&line) else {
            continue;
        };
        let Ok(bytes) = serde_json::to_vec(&progress) else {
            continue;
        };
        if frame::write(&mut *out.lock(), Kind::Progress, &bytes).is_err() {
            break;
        }
    }
}

/// `#1 0.01s best:12 next:[5,11] …` or `#Bound 0.02s best:12 next:[7,11] …`.
fn progress(line: &str) -> Option<Progress> {
    if !line.starts_with('#') {
        return None;
    }
    let number = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        let end = rest.find([' ', ',', ']']).unwrap_or(rest.len());
        rest.get(..end)?
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
    };
    let progress = Progress {
        best: number("best:"),
        bound: number("next:["),
    };
    (progress.best.is_some() || progress.bound.is_some()).then_some(progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_from_the_lines_of_the_engine() {
        let line = "#1       0.01s best:12    next:[5,11]     fj_short_default";
        let expected = Progress {
            best: Some(12.0),
            bound: Some(5.0),
        };
        assert_eq!(progress(line), Some(expected));
        let line = "#Bound   0.02s best:inf   next:[7,11]     max_lp";
        let expected = Progress {
            best: None,
            bound: Some(7.0),
        };
        assert_eq!(progress(line), Some(expected));
        assert_eq!(progress("Starting search"), None);
        assert_eq!(progress("#Model   0.01s var:12/20 constraints:4/9"), None);
    }
}
