//! What belongs together in one packet. Pingora hands heads, pieces of bodies and their ends to the kernel one by one,
//! which would send them one by one: as many trips through the network stack, and a peer that is woken for each.

use std::os::fd::BorrowedFd;

use pingora::protocols::Stream;
use rustix::net::sockopt::set_tcp_cork;

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
