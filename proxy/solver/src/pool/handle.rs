//! The gateway's end of one worker: its process and its pipes.

use std::io;
use std::process::Stdio;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::Settings;
use crate::frame::{self, Kind};
use crate::worker::{Answer, Progress};

pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read of a frame that is not whole yet.
    heard: BytesMut,
}

/// Read at once.
const READ_BYTES: usize = 16 * 1024;

/// What a worker says.
pub(super) enum Heard {
    Ready,
    Unusable(String),
    Answer(Answer),
    Progress(Progress),
}

impl Worker {
    /// Starts a process; it says when it is ready. Its words on standard error are nobody's: an abort of the
    /// engine prints what it works on. Its environment is empty.
    pub(super) fn start(settings: &Settings) -> io::Result<Self> {
        let mut child = Command::new(&settings.program)
            .arg("solver-worker")
            .arg("--library")
            .arg(&settings.library)
            .arg("--memory-bytes")
            .arg(settings.memory_bytes.to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| io::Error::other("no pipes"))?;
        Ok(Self {
            child,
            input,
            output,
            heard: BytesMut::new(),
        })
    }

    /// Has an idle worker say that it is ready; an error where it cannot any more. A process that is being killed
    /// still looks alive from outside.
    pub(super) async fn greet(&mut self) -> io::Result<()> {
        self.write(Kind::Greet, b"").await?;
        loop {
            match self.hear().await? {
                Heard::Ready => return Ok(()),
                // The last words of the search before.
                Heard::Progress(_) => {}
                Heard::Unusable(_) | Heard::Answer(_) => {
                    return Err(io::Error::other("a worker that should be idle is not"));
                }
            }
        }
    }

    pub(super) async fn ask(&mut self, spec: &[u8], telling: bool) -> io::Result<()> {
        let kind = if telling {
            Kind::SolveAndTell
        } else {
            Kind::Solve
        };
        self.write(kind, spec).await
    }

    async fn write(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        self.input.write_all(&frame::header(kind, payload)?).await?;
        self.input.write_all(payload).await?;
        self.input.flush().await
    }

    /// The next thing that the worker says; an error when it is gone. Whoever stops listening in the midst of it hears
    /// the whole the next time.
    pub(super) async fn hear(&mut self) -> io::Result<Heard> {
        let (kind, payload) = loop {
            if let Some(frame) = frame::take(&mut self.heard)? {
                break frame;
            }
            self.heard.reserve(READ_BYTES);
            if self.output.read_buf(&mut self.heard).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        match kind {
            Kind::Ready => Ok(Heard::Ready),
            Kind::Unusable => Ok(Heard::Unusable(
                String::from_utf8_lossy(&payload).into_owned(),
            )),
            Kind::Answer => Ok(Heard::Answer(serde_json::from_slice(&payload)?)),
            Kind::Progress => Ok(Heard::Progress(serde_json::from_slice(&payload)?)),
            Kind::Solve | Kind::SolveAndTell | Kind::Stop | Kind::Greet => {
                Err(io::Error::other("a worker does not ask"))
            }
        }
    }

    /// Ends the search that runs: gives the worker's last word on it.
    pub(super) async fn stop(&mut self) -> io::Result<Answer> {
        self.write(Kind::Stop, b"").await?;
        loop {
            if let Heard::Answer(answer) = self.hear().await? {
                return Ok(answer);
            }
        }
    }

    /// Ends the process, whatever it is at.
    pub(super) async fn kill(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::error!(%error, "a solver process could not be killed");
        }
    }

    /// Memory that the process holds. `None` where the system does not say.
    pub(super) fn resident_bytes(&self) -> Option<u64> {
        let statistics =
            std::fs::read_to_string(format!("/proc/{}/statm", self.child.id()?)).ok()?;
        let pages: u64 = statistics.split(' ').nth(1)?.parse().ok()?;
        Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
    }
}
