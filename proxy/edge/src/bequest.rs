//! The predecessor's end of a hand-over: it gives its listening sockets away, and waits for the word that somebody serves
//! with them. Without that word nobody does, as far as it knows. The other end is [`crate::inheritance`].

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use pingora::server::ListenFds;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use crate::inheritance::{HEARD, LEAVES_WHEN_TOLD, MOST_SOCKETS, SERVES, TOO_LATE};
use crate::socket;

/// 60 s: between its sockets and its first request a successor writes a few rows, for each of which the store takes 10 s
/// at most. Both programs hold the sockets meanwhile, and this one serves: waiting costs nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What became of a successor that has the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Successor {
    Serves,
    /// It is gone, or has not said in time that it serves and was told that it is too late.
    Fails,
}

/// Sends the sockets to the successor at the other end.
///
/// # Errors
/// A successor that is gone, and sockets that cannot be sent.
pub(crate) async fn hand_over(stream: &UnixStream, sockets: &ListenFds) -> std::io::Result<()> {
    let (names, sockets) = copies(sockets)?;
    loop {
        stream.writable().await?;
        match stream.try_io(Interest::WRITABLE, || send(stream, &names, &sockets)) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            sent => return sent,
        }
    }
}

/// Addresses, with the request to be told behind them, and a copy of each of their sockets.
fn copies(sockets: &ListenFds) -> std::io::Result<(String, Vec<OwnedFd>)> {
    let (mut names, numbers) = sockets.lock().serialize();
    names.push(LEAVES_WHEN_TOLD.to_owned());
    let copies: std::io::Result<Vec<OwnedFd>> = numbers.into_iter().map(socket::copy).collect();
    Ok((names.join(" "), copies?))
}

fn send(stream: &UnixStream, names: &str, sockets: &[OwnedFd]) -> std::io::Result<()> {
    let sockets: Vec<_> = sockets.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_SOCKETS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&sockets)) {
        return Err(std::io::Error::other("more sockets than a hand-over holds"));
    }
    // A text this short goes out whole or not at all.
    let names = [IoSlice::new(names.as_bytes())];
    sendmsg(stream, &names, &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for the successor's word. One that closes without it is gone. One of a program that says nothing closes at
/// once, while it lives: it is known by `pid_file`, which it writes just before it serves.
pub(crate) async fn outcome(
    stream: &mut UnixStream,
    pid_file: &Path,
    patience: Duration,
) -> Successor {
    let waiting = async {
        match stream.read_u8().await {
            Ok(HEARD) => match stream.read_u8().await {
                Ok(SERVES) => Successor::Serves,
                _ => Successor::Fails,
            },
            _ => {
                named_another(pid_file).await;
                Successor::Serves
            }
        }
    };
    match tokio::time::timeout(patience, waiting).await {
        Ok(outcome) => outcome,
        Err(_) => {
            // Whoever is gone, or never listened, does not hear it.
            stream.write_all(&[TOO_LATE]).await.ok();
            Successor::Fails
        }
    }
}

/// Returns when the file has the id of another process.
async fn named_another(pid_file: &Path) {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    let names_another = || {
        let found = std::fs::read_to_string(pid_file).ok();
        let id = found.and_then(|text| text.trim().parse::<u32>().ok());
        id.is_some_and(|id| id != std::process::id())
    };
    while !names_another() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Far longer than any of these tests takes.
    const LONG: Duration = Duration::from_secs(60);

    async fn told(word: &[u8]) -> Successor {
        let (mut predecessor, mut successor) = UnixStream::pair().unwrap();
        successor.write_all(word).await.unwrap();
        drop(successor);
        let nowhere = Path::new("/nowhere/pid");
        outcome(&mut predecessor, nowhere, LONG).await
    }

    #[tokio::test]
    async fn only_a_successor_that_says_so_serves() {
        assert_eq!(told(&[HEARD, SERVES]).await, Successor::Serves);
        assert_eq!(told(&[HEARD]).await, Successor::Fails);
        assert_eq!(told(&[HEARD, HEARD]).await, Successor::Fails);
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_told() {
        let (mut predecessor, mut successor) = UnixStream::pair().unwrap();
        successor.write_all(&[HEARD]).await.unwrap();
        let nowhere = Path::new("/nowhere/pid");
        let late = outcome(&mut predecessor, nowhere, Duration::ZERO).await;
        assert_eq!(late, Successor::Fails);
        assert_eq!(successor.read_u8().await.unwrap(), TOO_LATE);
    }

    #[tokio::test]
    async fn one_of_an_older_program_is_known_by_the_file_of_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let own = std::process::id();
        std::fs::write(&pid_file, own.to_string()).unwrap();
        let (mut predecessor, successor) = UnixStream::pair().unwrap();
        drop(successor);
        let silent = outcome(&mut predecessor, &pid_file, Duration::ZERO).await;
        assert_eq!(silent, Successor::Fails);
        std::fs::write(&pid_file, (own + 1).to_string()).unwrap();
        let (mut predecessor, successor) = UnixStream::pair().unwrap();
        drop(successor);
        let outcome = outcome(&mut predecessor, &pid_file, LONG).await;
        assert_eq!(outcome, Successor::Serves);
    }
}
