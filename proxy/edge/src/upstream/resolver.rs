//! Names to addresses: asynchronous, cached as long as the records say, with the system's name servers and
//! hosts file. Never connects.

use std::net::IpAddr;

use hickory_resolver::TokioResolver;
use svc_pipeline::upstream::UpstreamError;

pub(super) struct Resolver(TokioResolver);

impl Resolver {
    /// # Errors
    /// What is wrong with the system's settings.
    pub(super) fn new() -> Result<Self, String> {
        let mut builder = TokioResolver::builder_tokio().map_err(|error| error.to_string())?;
        // Both families, IPv4 first: a provider without IPv6 must not cost a round of failures.
        builder.options_mut().ip_strategy = hickory_resolver::config::LookupIpStrategy::Ipv4AndIpv6;
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
