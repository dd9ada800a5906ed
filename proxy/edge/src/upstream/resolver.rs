//! Names to addresses: asynchronous, cached as long as the records say, with the system's name servers (or those that
//! the operator names in their place) and hosts file. Never connects.

use std::net::{IpAddr, SocketAddr};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use svc_pipeline::upstream::UpstreamError;

pub(super) struct Resolver(TokioResolver);

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
        let resolver = builder.build().map_err(|error| error.to_string())?;
        Ok(Self(resolver))
    }

    /// The addresses of `host`, IPv4 first.
    pub(super) async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, UpstreamError> {
        let found = self
            .0
            .lookup_ip(host)
            .await
            .map_err(|_| UpstreamError::Resolve)?;
        let mut addresses: Vec<IpAddr> = found.iter().collect();
        if addresses.is_empty() {
            return Err(UpstreamError::Resolve);
        }
        addresses.sort_by_key(IpAddr::is_ipv6);
        Ok(addresses)
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
