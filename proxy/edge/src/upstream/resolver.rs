//! Names to addresses: asynchronous, cached as long as the records say, with the system's name servers (or those that
//! the operator names in their place) and hosts file. Never connects.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use parking_lot::Mutex;
use svc_pipeline::upstream::UpstreamError;

pub(super) struct Resolver {
    records: TokioResolver,
    /// What the records of a name came to, which each lookup in `records` would put together anew.
    known: Mutex<HashMap<Box<str>, Known>>,
}

/// Addresses, and until when they are valid.
type Known = (Arc<[IpAddr]>, Instant);

/// 1 024 names: one per target of a large deployment; past that the cache starts over.
const MOST_NAMES: usize = 1_024;

impl Resolver {
    /// # Errors
    /// What is wrong with the system's settings.
    pub(super) fn new(name_servers: &[SocketAddr]) -> Result<Self, String> {
        let mut builder = if name_servers.is_empty() {
            TokioResolver::builder_tokio().map_err(|error| error.to_string())?
        } else {
            let servers = name_servers.iter().copied().map(server).collect();
            let config = ResolverConfig::from_name_servers(servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        // Both families, IPv4 first: a provider without IPv6 must not cost a round of failures.
        builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        let records = builder.build().map_err(|error| error.to_string())?;
        Ok(Self {
            records,
            known: Mutex::default(),
        })
    }

    /// The addresses of `host`, IPv4 first.
    pub(super) async fn lookup(&self, host: &str) -> Result<Arc<[IpAddr]>, UpstreamError> {
        if let Some((addresses, until)) = self.known.lock().get(host)
            && Instant::now() < *until
        {
            return Ok(Arc::clone(addresses));
        }
        let found = self
            .records
            .lookup_ip(host)
            .await
            .map_err(|_| UpstreamError::Resolve)?;
        let mut addresses: Vec<IpAddr> = found.iter().collect();
        if addresses.is_empty() {
            return Err(UpstreamError::Resolve);
        }
        addresses.sort_by_key(IpAddr::is_ipv6);
        let addresses = Arc::from(addresses);
        let mut known = self.known.lock();
        if known.len() >= MOST_NAMES {
            known.clear();
        }
        known.insert(host.into(), (Arc::clone(&addresses), found.valid_until()));
        Ok(addresses)
    }

    /// What is known of `host` is put together again: its records may have come for one family while the other went
    /// unanswered, which is asked for again. An answer holds for as long as its server has said.
    pub(super) fn forget(&self, host: &str) {
        self.known.lock().remove(host);
    }
}

/// A server that is asked over UDP, and over TCP where an answer is too long for that.
fn server(address: SocketAddr) -> NameServerConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = address.port();
    }
    NameServerConfig::new(address.ip(), true, connections)
}
