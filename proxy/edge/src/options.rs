//! What the edge can be told. Reads no file and no environment; the binary fills these in.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::certificate::{CertificateError, Current};

/// Listeners, limits and life of one edge.
#[derive(Clone, Debug)]
pub struct EdgeOptions {
    /// Plain HTTP/1.1 listeners. HTTP/2 without TLS is never spoken: its preface has no time limit.
    pub listen: Vec<SocketAddr>,
    /// Listeners with TLS 1.2 and 1.3, HTTP/1.1 and HTTP/2 by ALPN.
    pub tls: Option<TlsListener>,
    /// Health, readiness and metrics; plain HTTP/1.1.
    pub admin_listen: Option<SocketAddr>,
    /// Threads of the public service.
    pub threads: usize,
    pub limits: Limits,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<Network>,
    /// How long new callers are still served after a stop was asked for, and whoever asks is told that they should not
    /// come.
    pub notice: Duration,
    /// How long exchanges in flight may last after the listeners were closed.
    pub drain_deadline: Duration,
    pub start: Start,
    /// Written at the start, removed at the end.
    pub pid_file: PathBuf,
    /// Where a successor takes the listening sockets over. Never in a shared folder.
    pub upgrade_sock: PathBuf,
}

/// Addresses that speak TLS, and with which certificate.
#[derive(Clone, Debug)]
pub struct TlsListener {
    /// All with the same certificate.
    pub listen: Vec<SocketAddr>,
    /// PEM chain, leaf first.
    pub certificate: PathBuf,
    /// PEM private key of the leaf.
    pub key: PathBuf,
    /// How often the two files are looked at for a change.
    pub check_every: Duration,
}

impl TlsListener {
    /// Tries the files out.
    ///
    /// # Errors
    /// Why there is nothing to serve with.
    pub fn check(&self) -> Result<(), CertificateError> {
        Current::load(self).map(drop)
    }
}

/// Where the listening sockets come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Bind,
    /// From the predecessor, through `upgrade_sock`, once it gets SIGQUIT.
    TakeOver,
}

/// What one client may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Request line and headers together.
    pub header_bytes: usize,
    /// Fields of one head.
    pub header_count: usize,
    /// From the first byte of a head to its last, however it drips.
    pub header_deadline: Duration,
    /// From the service's wish for the body to its last byte.
    pub body_deadline: Duration,
    /// Silence between two requests of an HTTP/1.1 connection.
    pub idle: Duration,
    /// Silence of an HTTP/2 connection without open streams.
    pub h2_idle: Duration,
    /// Streams at once in one HTTP/2 connection.
    pub h2_streams: u32,
    /// One write to a client that does not read.
    pub write: Duration,
    /// Connections at once, all clients together.
    pub connections: usize,
    /// Connections at once of one address, or of one IPv6 customer's network; trusted proxies are exempt.
    pub connections_per_address: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // 32 KiB and 100 fields: four times what browsers send, a thirtieth of pingora's own limit.
            header_bytes: 32 * 1024,
            header_count: 100,
            // 10 s: a head is one packet; the slowest mobile client needs less.
            header_deadline: Duration::from_secs(10),
            // 30 s for the largest body of 10 MB is 3 Mbit/s.
            body_deadline: Duration::from_secs(30),
            // 75 s: longer than the 60 s of common load balancers, so that they close first.
            idle: Duration::from_secs(75),
            h2_idle: Duration::from_secs(75),
            // 100: the minimum that RFC 9113, 6.5.2, recommends.
            h2_streams: 100,
            write: Duration::from_secs(30),
            // 10,000 connections at about 72 KiB (measured) are 700 MiB at worst.
            connections: 10_000,
            connections_per_address: 256,
        }
    }
}

/// An address block: `10.0.0.0/8`, `2001:db8::/32`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    base: u128,
    mask: u128,
}

/// A text that is no [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an address block like 10.0.0.0/8")]
pub struct BadNetwork;

impl Network {
    /// Whether the address lies in the block. An IPv4 address and the same one mapped into IPv6 are equal.
    pub fn contains(&self, address: IpAddr) -> bool {
        number(address) & self.mask == self.base
    }
}

/// IPv4 lives in its mapped IPv6 block, so that a dual-stack listener's view matches too.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| BadNetwork)?;
        let width: u32 = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().map_err(|_| BadNetwork)?,
            None => width,
        };
        if bits > width {
            return Err(BadNetwork);
        }
        let host_bits = width - bits;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Ok(Self {
            base: number(address) & mask,
            mask,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn blocks_contain_what_they_should() {
        let ten: Network = "10.1.2.3/8".parse().unwrap();
        assert!(ten.contains("10.255.0.1".parse().unwrap()));
        assert!(ten.contains("::ffff:10.0.0.1".parse().unwrap()));
        assert!(!ten.contains("11.0.0.1".parse().unwrap()));
        let one: Network = "2001:db8::1".parse().unwrap();
        assert!(one.contains("2001:db8::1".parse().unwrap()));
        assert!(!one.contains("2001:db8::2".parse().unwrap()));
        let all: Network = "::/0".parse().unwrap();
        assert!(all.contains("1.2.3.4".parse().unwrap()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0/8", "::1/129", "10.0.0.0/x"] {
            assert_eq!(text.parse::<Network>(), Err(BadNetwork), "{text}");
        }
    }
}
