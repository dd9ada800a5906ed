//! Head and body of a request in one packet. Pingora hands the head to the kernel by itself, which would send it by
//! itself: a second trip through the network stack, and a provider that is woken twice.

use std::os::fd::BorrowedFd;

use pingora::protocols::http::client::HttpSession;
use rustix::net::sockopt::set_tcp_cork;

/// Until it is called with `false`, the kernel holds back what does not fill a packet, for 200 ms at most (tcp(7)).
/// Where it cannot, nothing is held back. HTTP/2 collects its frames by itself.
#[allow(unsafe_code)]
pub(super) fn hold_back(session: &HttpSession<()>, held: bool) {
    let Some(session) = session.as_http1() else {
        return;
    };
    let socket = session.stream().id();
    if socket >= 0 {
        // SAFETY: the number is that of the session's own socket, which stays open while the session is borrowed.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        set_tcp_cork(socket, held).ok();
    }
}
