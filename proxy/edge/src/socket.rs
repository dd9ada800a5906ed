//! Sockets by their number, where pingora gives no more.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use pingora::protocols::Stream;
use rustix::net::sockopt::set_tcp_cork;
use rustix::net::{Shutdown, shutdown};

/// What belongs together in one packet: pingora hands heads, pieces of bodies and their ends to the kernel one by one,
/// which would send them one by one, as many trips through the network stack, and a peer that is woken for each.
///
/// Until it is called with `false`, the kernel holds back what does not fill a packet, for a fifth of a second or so at
/// most (tcp(7)). Where it cannot, nothing is held back. HTTP/2, which has no stream of its own, collects its frames by
/// itself.
#[allow(unsafe_code)]
pub(crate) fn hold_back(stream: Option<&Stream>, held: bool) {
    let Some(socket) = stream
        .map(|stream| stream.id())
        .filter(|socket| *socket >= 0)
    else {
        return;
    };
    // SAFETY: the number is that of the stream's own socket, which stays open while the stream is borrowed.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    set_tcp_cork(socket, held).ok();
}

/// Ends a connection under whoever reads from it. `socket` must be open for as long as this takes.
#[allow(unsafe_code)]
pub(crate) fn hang_up(socket: RawFd) {
    if socket < 0 {
        return;
    }
    // SAFETY: open, as the caller promises.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    shutdown(socket, Shutdown::Both).ok();
}

/// A further descriptor of a listening socket in pingora's table.
///
/// # Errors
/// The socket is not open, or the process has no descriptor left.
#[allow(unsafe_code)]
pub(crate) fn copy(socket: RawFd) -> std::io::Result<OwnedFd> {
    if socket < 0 {
        return Err(std::io::Error::other("not a socket"));
    }
    // SAFETY: what is in the table stays open for as long as the process: pingora never closes it.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    socket.try_clone_to_owned()
}
