//! Listening sockets from one gateway to its successor, and the successor's word that it serves with them. Pingora's
//! waiting for the sockets of a predecessor ends the process after six seconds without a word; ours takes as long as it
//! takes. The other end is [`crate::bequest`].

use std::fs::Permissions;
use std::io::{ErrorKind, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use pingora::server::ListenFds;
use rustix::io::retry_on_intr;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// The listening sockets, once a service has them; what a successor is given.
pub(crate) type Sockets = Arc<Mutex<Option<ListenFds>>>;

/// What a predecessor has handed over; empty where none was asked.
pub(crate) type Inherited = Arc<OnceLock<Inheritance>>;

/// Behind the addresses, where the predecessor leaves only once it is told that its successor serves. A successor that
/// does not know it takes it for an address without a socket, which it ignores.
pub(crate) const LEAVES_WHEN_TOLD: &str = "leaves-when-told";
/// From the successor: it has the sockets, and will say when it serves.
pub(crate) const HEARD: u8 = b'h';
/// From the successor: it serves.
pub(crate) const SERVES: u8 = b's';
/// From the predecessor: it waits no longer and serves on.
pub(crate) const TOO_LATE: u8 = b'x';

/// Addresses and sockets of a predecessor, and the way to say that they are in use.
pub(crate) struct Inheritance {
    pub(crate) sockets: Vec<(String, RawFd)>,
    /// Until it is told; none where it does not wait to be.
    predecessor: Mutex<Option<UnixStream>>,
}

impl Inheritance {
    /// Whether the predecessor has waited for too long and serves on. One that is gone has not.
    pub(crate) fn is_too_late(&self) -> bool {
        let predecessor = self.predecessor.lock();
        let Some(mut stream) = predecessor.as_ref() else {
            return false;
        };
        let mut word = [0];
        let heard = stream
            .set_nonblocking(true)
            .and_then(|()| stream.read(&mut word));
        matches!(heard, Ok(1)) && word == [TOO_LATE]
    }

    /// Tells the predecessor that it may leave, which may be gone already; `false` where it serves on because this came
    /// too late.
    #[must_use]
    pub(crate) fn serves(&self) -> bool {
        if self.is_too_late() {
            return false;
        }
        if let Some(mut stream) = self.predecessor.lock().take() {
            stream.write_all(&[SERVES]).ok();
        }
        true
    }
}

/// What a hand-over holds at most, as pingora writes it: sockets, and their addresses in one text with blanks between.
pub(crate) const MOST_SOCKETS: usize = 32;
const MOST_NAME_BYTES: usize = 2_048;
/// 5 s: a predecessor connects when it has everything to send.
const WORD: Duration = Duration::from_secs(5);

/// Waits until a predecessor hands its sockets over at `path`, for as long as that takes. Sockets of addresses that are
/// not `expected` are closed. Blocking.
///
/// # Errors
/// When nobody could hand anything over there.
pub(crate) fn inherit(path: &str, expected: &[String]) -> std::io::Result<Inheritance> {
    // A successor that was ended while it waited leaves its socket.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // One socket for all of the waiting: whoever connects is heard, whenever that is.
    let waiting = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let (handed_over, predecessor) = loop {
        let (stream, _) = waiting.accept()?;
        match received(&stream) {
            Ok(handed_over) if !handed_over.sockets.is_empty() => {
                break (
                    handed_over.sockets,
                    handed_over.leaves_when_told.then_some(stream),
                );
            }
            // Whoever spoke there was no predecessor.
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "somebody connected and handed nothing over"),
        }
    };
    std::fs::remove_file(path).ok();
    if let Some(mut stream) = predecessor.as_ref() {
        // One that has gone meanwhile hears nothing, and waits for nothing.
        stream.write_all(&[HEARD]).ok();
    }
    // Connections to a socket that nobody accepts from would hang: those that are not kept are closed here.
    let sockets = handed_over
        .into_iter()
        .filter(|(address, _)| expected.contains(address))
        .map(|(address, socket)| (address, socket.into_raw_fd()));
    Ok(Inheritance {
        sockets: sockets.collect(),
        predecessor: Mutex::new(predecessor),
    })
}

/// What a predecessor has sent.
struct HandedOver {
    sockets: Vec<(String, OwnedFd)>,
    leaves_when_told: bool,
}

/// Addresses and their sockets, as pingora's `Fds::send_to_sock` sends them too.
fn received(stream: &UnixStream) -> std::io::Result<HandedOver> {
    stream.set_read_timeout(Some(WORD))?;
    let mut names = [0_u8; MOST_NAME_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_SOCKETS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = retry_on_intr(|| {
        let mut parts = [IoSliceMut::new(&mut names)];
        recvmsg(stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut sockets: Vec<OwnedFd> = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = part {
            sockets.extend(more);
        }
    }
    let names = names.get(..message.bytes).unwrap_or_default();
    let names = std::str::from_utf8(names).map_err(std::io::Error::other)?;
    let names = names.split_ascii_whitespace();
    let leaves_when_told = names.clone().any(|name| name == LEAVES_WHEN_TOLD);
    Ok(HandedOver {
        sockets: names.map(str::to_owned).zip(sockets).collect(),
        leaves_when_told,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use pingora::server::Fds;

    use super::*;

    #[test]
    fn whoever_hands_nothing_over_does_not_end_the_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("upgrade.sock");
        let path = path.to_str().unwrap().to_owned();
        let expected = ["127.0.0.1:1".to_owned()];
        let inherited = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| inherit(&path, &expected));
            while UnixStream::connect(&path).is_err() {
                std::thread::yield_now();
            }
            let sockets = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
            let mut table = Fds::new();
            for (address, socket) in ["127.0.0.1:1", "127.0.0.1:2"].iter().zip(&sockets) {
                table.add((*address).to_owned(), socket.as_raw_fd());
            }
            table.send_to_sock(path.as_str()).unwrap();
            waiting.join().unwrap().unwrap()
        });
        let addresses: Vec<&str> = inherited
            .sockets
            .iter()
            .map(|(address, _)| address.as_str())
            .collect();
        assert_eq!(addresses, ["127.0.0.1:1"]);
        // A predecessor that leaves without being told: nobody is there to say that it is too late.
        assert!(!inherited.is_too_late());
        assert!(inherited.serves());
        assert!(!std::path::Path::new(&path).exists());
    }
}
