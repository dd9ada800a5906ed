//! What the fake received: every request, when its caller left, and whether its answer was given whole.
//!
//! Kept in memory within bounds, and on demand in a file that is written before an answer starts, so that
//! a test can kill the gateway and still count what the provider saw. Holds no credential, only a digest.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

/// Bounds on what is remembered; the oldest requests are forgotten first.
const MAX_ENTRIES: usize = 50_000;
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// One request as `GET /_control/requests` and the record file show it.
#[derive(Clone, Serialize)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    /// Microseconds since the Unix epoch, as all times here.
    pub(crate) received_at_us: u64,
    pub(crate) connection: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    /// SHA-256 of the credential in hex; none when none was sent.
    pub(crate) key_digest: Option<String>,
    pub(crate) body: Body,
    pub(crate) status: Option<u16>,
    /// The whole answer has been handed to the network.
    pub(crate) finished: bool,
    /// The script ended the connection.
    pub(crate) closed_by_script: bool,
    /// When the caller closed or reset while we were answering.
    pub(crate) closed_by_peer_at_us: Option<u64>,
}

/// A request's body as it came; shown as JSON where it is JSON, else as text.
#[derive(Clone)]
pub(crate) struct Body(Bytes);

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_slice::<Value>(&self.0) {
            Ok(json) => json.serialize(serializer),
            Err(_) => String::from_utf8_lossy(&self.0).serialize(serializer),
        }
    }
}

/// Requests since the last clearing.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    /// Finished, broken off by the script or left by the caller.
    pub(crate) ended: u64,
}

pub(crate) struct Journal {
    log: Mutex<Log>,
    file: Option<Mutex<File>>,
    counts: watch::Sender<Counts>,
}

#[derive(Default)]
struct Log {
    last_seq: u64,
    /// The first number that counts since the last clearing.
    first_seq: u64,
    entries: VecDeque<(usize, Entry)>,
    bytes: usize,
}

/// The head of a request, as far as the journal keeps it.
pub(crate) struct Received<'r> {
    pub(crate) connection: u64,
    pub(crate) method: &'r Method,
    pub(crate) uri: &'r Uri,
    pub(crate) headers: &'r HeaderMap,
    pub(crate) credential_headers: &'r [&'r str],
    pub(crate) key: Option<&'r str>,
    pub(crate) body: &'r [u8],
}

/// One request being answered. Dropped before its end is said, it notes that the caller has left.
pub(crate) struct Ticket {
    /// None: nothing is remembered, or all is said.
    journal: Option<Arc<Journal>>,
    pub(crate) seq: u64,
}

impl Journal {
    /// # Errors
    /// When the record file cannot be opened for appending.
    pub(crate) fn open(record: Option<&Path>) -> anyhow::Result<Self> {
        let file = match record {
            Some(path) => Some(Mutex::new(
                OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
                    .with_context(|| format!("opening the record file {}", path.display()))?,
            )),
            None => None,
        };
        Ok(Self {
            log: Mutex::new(Log::default()),
            file,
            counts: watch::Sender::new(Counts::default()),
        })
    }

    /// Notes a request, in the file too, before anything is answered.
    ///
    /// # Errors
    /// When the record file refuses the line.
    pub(crate) fn receive(self: &Arc<Self>, received: Received<'_>) -> anyhow::Result<Ticket> {
        let mut entry = entry(received);
        {
            let mut log = self.log.lock();
            log.last_seq += 1;
            entry.seq = log.last_seq;
            if let Some(file) = &self.file {
                let mut line =
                    serde_json::to_vec(&entry).context("encoding a line of the record file")?;
                line.push(b'\n');
                // One write per line, under the lock: lines stay whole and in order after a kill.
                file.lock()
                    .write_all(&line)
                    .context("writing a line of the record file")?;
            }
            log.push(entry.clone());
        }
        self.counts.send_modify(|counts| counts.received += 1);
        Ok(Ticket {
            journal: Some(Arc::clone(self)),
            seq: entry.seq,
        })
    }

    /// The remembered requests with a number above `after`, the oldest first.
    pub(crate) fn entries(&self, after: u64) -> Vec<Entry> {
        let log = self.log.lock();
        log.entries
            .iter()
            .filter(|(_, entry)| entry.seq > after)
            .map(|(_, entry)| entry.clone())
            .collect()
    }

    /// Forgets everything; numbers go on.
    pub(crate) fn clear(&self) {
        let mut log = self.log.lock();
        log.entries.clear();
        log.bytes = 0;
        log.first_seq = log.last_seq + 1;
        self.counts.send_replace(Counts::default());
    }

    pub(crate) fn counts(&self) -> watch::Receiver<Counts> {
        self.counts.subscribe()
    }

    fn change(&self, seq: u64, change: impl FnOnce(&mut Entry)) {
        let mut log = self.log.lock();
        let Some((_, front)) = log.entries.front() else {
            return;
        };
        let Some(at) = seq.checked_sub(front.seq) else {
            return;
        };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some((_, entry)) = log.entries.get_mut(at) {
            change(entry);
        }
    }

    fn end(&self, seq: u64, change: impl FnOnce(&mut Entry)) {
        self.change(seq, change);
        let first_seq = self.log.lock().first_seq;
        if seq >= first_seq {
            self.counts.send_modify(|counts| counts.ended += 1);
        }
    }
}

impl Log {
    fn push(&mut self, entry: Entry) {
        let headers = entry.headers.iter();
        let headers_bytes: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        let bytes = entry.path.len() + headers_bytes + entry.body.0.len();
        self.bytes += bytes;
        self.entries.push_back((bytes, entry));
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            match self.entries.pop_front() {
                Some((bytes, _)) => self.bytes -= bytes,
                None => break,
            }
        }
    }
}

impl Ticket {
    /// For a request that nobody remembers.
    pub(crate) const fn unrecorded(seq: u64) -> Self {
        Self { journal: None, seq }
    }

    /// The head of the answer is chosen.
    pub(crate) fn answering(&self, status: u16) {
        self.change(|entry| entry.status = Some(status));
    }

    /// The last byte of the answer is handed over.
    pub(crate) fn finish(mut self) {
        self.end(|entry| entry.finished = true);
    }

    /// The script ends the connection; nothing that follows is the caller's doing.
    pub(crate) fn break_off(mut self) {
        self.end(|entry| entry.closed_by_script = true);
    }

    /// The script closes our side only; the caller's leaving is still of interest.
    pub(crate) fn half_close(&self) {
        self.change(|entry| entry.closed_by_script = true);
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        if let Some(journal) = &self.journal {
            journal.change(self.seq, change);
        }
    }

    fn end(&mut self, change: impl FnOnce(&mut Entry)) {
        if let Some(journal) = self.journal.take() {
            journal.end(self.seq, change);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.end(|entry| entry.closed_by_peer_at_us = Some(now_us()));
    }
}

fn entry(received: Received<'_>) -> Entry {
    let Received {
        connection,
        method,
        uri,
        headers,
        credential_headers,
        key,
        body,
    } = received;
    let headers = headers
        .iter()
        .filter(|(name, _)| !credential_headers.contains(&name.as_str()))
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), value.into_owned())
        })
        .collect();
    Entry {
        seq: 0,
        received_at_us: now_us(),
        connection,
        method: method.as_str().to_owned(),
        path: uri
            .path_and_query()
            .map_or_else(String::new, ToString::to_string),
        headers,
        key_digest: key.map(|key| hex::encode(Sha256::digest(key.as_bytes()))),
        // A copy: what came in one piece may keep the whole buffer that it was read into.
        body: Body(Bytes::copy_from_slice(body)),
        status: None,
        finished: false,
        closed_by_script: false,
        closed_by_peer_at_us: None,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the fake stands for a machine of someone else, with a clock of its own; tests compare its \
              times with theirs"
)]
fn now_us() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
        })
}
