//! How many connections at once, in all and per address, where an IPv6 customer's whole network is one. Counts from
//! accept to close, TLS handshake included.

use std::collections::HashMap;
use std::net::IpAddr;
use std::os::fd::RawFd;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::listeners::PreTlsProcess;
use pingora::protocols::l4::stream::Stream as L4Stream;
use pingora::protocols::{GetSocketDigest, UniqueID};
use pingora::upstreams::peer::{Tracer, Tracing};
use svc_pipeline::filter::network;

use crate::handshake::Handshakes;
use crate::metrics::EdgeMetrics;
use crate::options::{Limits, Network};

pub(crate) struct Admission {
    total_limit: usize,
    address_limit: usize,
    exempt: Vec<Network>,
    open: Mutex<Open>,
    metrics: EdgeMetrics,
}

#[derive(Default)]
struct Open {
    total: usize,
    /// By [`network`].
    by_network: HashMap<IpAddr, usize>,
}

impl Admission {
    pub(crate) fn new(
        limits: &Limits,
        trusted_proxies: &[Network],
        metrics: EdgeMetrics,
    ) -> Arc<Self> {
        Arc::new(Self {
            total_limit: limits.connections,
            address_limit: limits.connections_per_address,
            exempt: trusted_proxies.to_vec(),
            open: Mutex::default(),
            metrics,
        })
    }

    /// Room for one more connection, given back when the permit is dropped.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Arc<Permit>> {
        let exempt = self.exempt.iter().any(|block| block.contains(address));
        let network = network(address);
        let refused = {
            let mut open = self.open.lock();
            let here = open.by_network.get(&network).copied().unwrap_or(0);
            if open.total >= self.total_limit {
                Some("total")
            } else if !exempt && here >= self.address_limit {
                Some("address")
            } else {
                open.total += 1;
                open.by_network.insert(network, here + 1);
                None
            }
        };
        if let Some(reason) = refused {
            self.metrics
                .connections_refused
                .with_label_values(&[reason])
                .inc();
            tracing::debug!(reason, "connection refused");
            return None;
        }
        self.metrics.connections_open.inc();
        Some(Arc::new(Permit {
            admission: Arc::clone(self),
            network,
        }))
    }
}

/// One admitted connection.
pub(crate) struct Permit {
    admission: Arc<Admission>,
    network: IpAddr,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.admission.open.lock();
        open.total = open.total.saturating_sub(1);
        let here = open.by_network.get(&self.network).copied().unwrap_or(0);
        if here <= 1 {
            open.by_network.remove(&self.network);
        } else {
            open.by_network.insert(self.network, here - 1);
        }
        drop(open);
        self.admission.metrics.connections_open.dec();
    }
}

/// TLS connections are admitted before their handshake, which gets its time; the permit rides on the socket.
pub(crate) struct BeforeTls {
    pub(crate) admission: Arc<Admission>,
    pub(crate) handshakes: Arc<Handshakes>,
}

#[async_trait]
impl PreTlsProcess for BeforeTls {
    async fn process(&self, stream: &mut L4Stream) -> pingora::Result<()> {
        let address = stream
            .get_socket_digest()
            .and_then(|digest| digest.peer_addr()?.as_inet().map(|inet| inet.ip()));
        match address.and_then(|address| self.admission.admit(address)) {
            Some(permit) => {
                let socket = stream.id();
                self.handshakes.begin(socket);
                let riding = Riding {
                    permit,
                    handshakes: Arc::clone(&self.handshakes),
                    socket,
                };
                stream.tracer = Some(Tracer(Box::new(riding)));
                Ok(())
            }
            None => pingora::Error::e_explain(
                pingora::ErrorType::AcceptError,
                "connection limit reached",
            ),
        }
    }
}

#[derive(Clone)]
struct Riding {
    permit: Arc<Permit>,
    handshakes: Arc<Handshakes>,
    socket: RawFd,
}

impl std::fmt::Debug for Riding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Riding({})", self.permit.network)
    }
}

impl Tracing for Riding {
    fn on_connected(&self) {}
    /// The socket is closed after this.
    fn on_disconnected(&self) {
        self.handshakes.close(self.socket);
    }
    fn boxed_clone(&self) -> Box<dyn Tracing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn admission(connections: usize, connections_per_address: usize) -> Arc<Admission> {
        let limits = Limits {
            connections,
            connections_per_address,
            ..Limits::default()
        };
        let metrics = EdgeMetrics::register(&prometheus::Registry::new()).unwrap();
        Admission::new(&limits, &["10.0.0.0/8".parse().unwrap()], metrics)
    }

    #[test]
    fn an_address_gets_its_share_and_no_more() {
        let admission = admission(10, 2);
        let address = "192.0.2.1".parse().unwrap();
        let first = admission.admit(address);
        let second = admission.admit(address);
        assert!(first.is_some() && second.is_some());
        assert!(admission.admit(address).is_none());
        assert!(admission.admit("192.0.2.2".parse().unwrap()).is_some());
        drop(first);
        assert!(admission.admit(address).is_some());
        assert!(
            !admission
                .open
                .lock()
                .by_network
                .contains_key(&"192.0.2.2".parse::<IpAddr>().unwrap())
        );
    }

    #[test]
    fn a_network_of_one_customer_is_one_address() {
        let admission = admission(10, 2);
        let admit = |address: &str| admission.admit(address.parse().unwrap());
        let held = [admit("2001:db8::1"), admit("2001:db8::2")];
        assert!(held.iter().all(Option::is_some));
        assert!(admit("2001:db8::3").is_none());
        assert!(admit("2001:db8:0:1::1").is_some());
        drop(held);
        assert!(admit("2001:db8::3").is_some());
        assert!(admission.open.lock().by_network.is_empty());
    }

    #[test]
    fn trusted_proxies_share_only_the_total() {
        let admission = admission(3, 1);
        let proxy = "10.0.0.1".parse().unwrap();
        let held: Vec<_> = (0..3).map(|_| admission.admit(proxy)).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(admission.admit("192.0.2.1".parse().unwrap()).is_none());
    }
}
