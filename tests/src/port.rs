//! Free ports on the loopback address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range that the kernel gives to outgoing connections (32768 on), so that none of those takes a
/// port between the look and the listening.
const FIRST: u16 = 18_000;
const COUNT: u16 = 14_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// An address that nobody listens on. Each call of this process gives another one.
///
/// # Panics
/// When every port is taken.
pub fn free() -> SocketAddr {
    // Two test processes at once start at different places.
    let offset = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap_or(0);
    for _ in 0..COUNT {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (offset.wrapping_mul(7) % COUNT + step % COUNT) % COUNT;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no free port from {FIRST} on");
}
