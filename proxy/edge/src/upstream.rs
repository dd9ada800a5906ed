//! The way out over pingora's connection pool: resolves and vets addresses, falls through to the next one,
//! repeats what is safe to repeat, and keeps every deadline. Never reads a proxy variable of the environment,
//! never puts an upstream's words into an error.

mod exchange;
mod resolver;
mod trust;

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use pingora::connectors::http::Connector as Pool;
use pingora::protocols::ALPN;
use pingora::protocols::tls::CaType;
use pingora::upstreams::peer::HttpPeer;
use svc_pipeline::upstream::{
    Connector, InboundResponse, OutboundRequest, Reached, Target, UpstreamError,
};
use tokio::time::Instant;

use crate::metrics::UpstreamMetrics;
use exchange::{Attempt, Failure};
use resolver::Resolver;
pub use trust::check_authorities;
use trust::{Trust, TrustStore};

/// Whether a target may be reached at an address; asked for every resolved or literal address.
pub type AddressRule = Arc<dyn Fn(&Target, IpAddr) -> bool + Send + Sync>;

/// How a connector keeps connections and resolves names.
#[derive(Clone, Debug)]
pub struct ConnectorOptions {
    /// Idle connections kept, all targets together.
    pub pool_size: usize,
    /// How long an idle connection is kept.
    pub pool_idle: Duration,
    /// Name servers in place of the system's; empty: the system's.
    pub name_servers: Vec<SocketAddr>,
}

impl Default for ConnectorOptions {
    fn default() -> Self {
        Self {
            pool_size: 1_024,
            // 30 s: common servers close idle connections after 60 to 75 s; leave before they do.
            pool_idle: Duration::from_secs(30),
            name_servers: Vec::new(),
        }
    }
}

/// Why no connector could be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    #[error("cannot set up name resolution: {0}")]
    Resolver(String),
    #[error("cannot load the system's certificate authorities: {0}")]
    Authorities(String),
}

/// The connector of one user: inference, integrations and webhooks each have their own, with its own address
/// rule. Its connections are driven by the runtime that opened them; others may use them for as long as that lives.
#[derive(Clone)]
pub struct PingoraConnector {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Pool,
    resolver: Resolver,
    trust: TrustStore,
    rule: AddressRule,
    pool_idle: Duration,
    /// Names the groups of targets, see [`group_key`].
    groups: RandomState,
    /// The next odd number: each names a group of one connection.
    fresh_groups: AtomicU64,
    metrics: UpstreamMetrics,
}

impl PingoraConnector {
    /// A connector without connections. `rule` is asked about every address before anything is sent there.
    ///
    /// # Errors
    /// When the system's resolver settings or its certificate authorities cannot be read.
    pub fn new(
        options: ConnectorOptions,
        rule: AddressRule,
        metrics: UpstreamMetrics,
    ) -> Result<Self, ConnectorError> {
        // Pingora unwraps the loading of the system's authorities; try it first.
        let mut roots = pingora::tls::RootCertStore::empty();
        pingora::tls::load_platform_certs_incl_env_into_store(&mut roots)
            .map_err(|error| ConnectorError::Authorities(error.to_string()))?;
        let pool = Pool::new(Some(pingora::connectors::ConnectorOptions::new(
            options.pool_size,
        )));
        Ok(Self {
            inner: Arc::new(Inner {
                pool,
                resolver: Resolver::new(&options.name_servers).map_err(ConnectorError::Resolver)?,
                trust: TrustStore::default(),
                rule,
                pool_idle: options.pool_idle,
                groups: RandomState::new(),
                fresh_groups: AtomicU64::new(1),
                metrics,
            }),
        })
    }
}

impl Connector for PingoraConnector {
    fn send(
        &self,
        target: Arc<Target>,
        request: OutboundRequest,
    ) -> BoxFuture<'static, Result<InboundResponse, UpstreamError>> {
        let inner = Arc::clone(&self.inner);
        async move {
            let deadline = Instant::now() + target.deadlines.total;
            let sending = inner.send(&target, &request, deadline);
            let result = match tokio::time::timeout_at(deadline, sending).await {
                Ok(result) => result,
                Err(_) => Err(UpstreamError::TotalTimeout),
            };
            if let Err(error) = &result {
                inner
                    .metrics
                    .errors
                    .with_label_values(&[target.label(), error.word()])
                    .inc();
            }
            result
        }
        .boxed()
    }
}

impl Inner {
    async fn send(
        self: &Arc<Self>,
        target: &Arc<Target>,
        request: &OutboundRequest,
        deadline: Instant,
    ) -> Result<InboundResponse, UpstreamError> {
        let usual = self
            .connect(target, &request.reached, deadline, Freshness::Any)
            .await?;
        match usual.run(request).await {
            Ok(response) => return Ok(response),
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Stale) => {}
        }
        // One repetition, and that one over a connection that cannot be stale.
        self.metrics
            .stale_retries
            .with_label_values(&[target.label()])
            .inc();
        let fresh = self
            .connect(target, &request.reached, deadline, Freshness::New)
            .await?;
        match fresh.run(request).await {
            Ok(response) => Ok(response),
            Err(Failure::Final(error)) => Err(error),
            Err(Failure::Stale) => Err(UpstreamError::Reset),
        }
    }

    /// A connection from the pool or a new one, to the first address that takes it.
    async fn connect(
        self: &Arc<Self>,
        target: &Arc<Target>,
        reached: &Reached,
        deadline: Instant,
        freshness: Freshness,
    ) -> Result<Attempt, UpstreamError> {
        let until = Instant::now() + target.deadlines.connect;
        let preparing = async {
            let addresses = self.addresses(target).await?;
            Ok((addresses, self.trust.of(target).await?))
        };
        let (addresses, trust) = tokio::time::timeout_at(until, preparing)
            .await
            .map_err(|_| UpstreamError::ConnectTimeout)??;
        let mut failure = UpstreamError::Resolve;
        let count = addresses.len();
        let usual_group = group_key(&self.groups, target, &trust);
        for (tried, address) in addresses.into_iter().enumerate() {
            let group = match freshness {
                Freshness::Any => usual_group,
                // A group that nobody has used: a lookup in the pool finds nothing there.
                Freshness::New => usual_group ^ self.fresh_groups.fetch_add(2, Ordering::Relaxed),
            };
            reached.note(address.ip());
            let peer = peer(target, address, &trust, group);
            // An address that swallows packets may use up its share of the time, not all of it.
            let left = until.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(count - tried).unwrap_or(u32::MAX).max(1);
            // Pingora's future of a connection is ten kilobytes, which every caller above would move along.
            let opening = Box::pin(self.pool.get_http_session(&peer));
            match tokio::time::timeout(share, opening).await {
                Ok(Ok((session, reused))) => {
                    let counter = if reused {
                        &self.metrics.reuses
                    } else {
                        &self.metrics.connects
                    };
                    counter.with_label_values(&[target.label()]).inc();
                    return Ok(Attempt {
                        session: exchange::Held::new(
                            session,
                            Arc::clone(self),
                            peer,
                            usual_group,
                            self.metrics.in_flight.with_label_values(&[target.label()]),
                        ),
                        target: Arc::clone(target),
                        reused,
                        deadline,
                    });
                }
                Ok(Err(error)) => failure = telling(failure, exchange::connect_error(&error)),
                Err(_) => failure = telling(failure, UpstreamError::ConnectTimeout),
            }
        }
        self.resolver.forget(&target.host);
        Err(failure)
    }

    /// Where the target may be reached.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, UpstreamError> {
        let found = match target.host.parse::<IpAddr>() {
            Ok(literal) => Arc::from([literal]),
            Err(_) => self.resolver.lookup(&target.host).await?,
        };
        judged(&self.rule, target, &found)
    }
}

/// The addresses that are connected to, which are the ones that were judged: nothing is resolved a second time.
fn judged(
    rule: &AddressRule,
    target: &Target,
    found: &[IpAddr],
) -> Result<Vec<SocketAddr>, UpstreamError> {
    // One bad answer spoils them all: it may be the next one that is tried (contract 15.4).
    if !found.iter().all(|address| rule(target, *address)) {
        return Err(UpstreamError::Forbidden);
    }
    let addresses = found.iter();
    Ok(addresses
        .map(|address| SocketAddr::new(*address, target.port))
        .collect())
}

/// What is told of a target when one of its addresses failed after another. A certificate that is not trusted says more
/// than an address where nobody listens: names commonly have one of either family, and servers often listen at one.
fn telling(former: UpstreamError, later: UpstreamError) -> UpstreamError {
    match former {
        UpstreamError::Tls => former,
        _ => later,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Any,
    /// Not from the pool.
    New,
}

/// Pingora's name for one connection and everything that decides who may share it.
fn peer(target: &Target, address: SocketAddr, trust: &Trust, group: u64) -> HttpPeer {
    // A socket address converts without a name lookup, which would block and panic.
    let mut peer = HttpPeer::new(address, target.tls, target.host.to_string());
    peer.options.alpn = if target.tls { ALPN::H2H1 } else { ALPN::H1 };
    peer.options.verify_cert = true;
    peer.options.verify_hostname = true;
    peer.options.ca = trust.authorities.as_ref().map(Arc::<CaType>::clone);
    // 100: what servers commonly allow (RFC 9113, 6.5.2); pingora's default is 1.
    peer.options.max_h2_streams = 100;
    peer.group_key = group;
    peer
}

/// Pingora's pool key leaves authorities and protocol choice out: a connection verified under one target's
/// authority would serve another target (measured). Under a key of the process, no two can be made to share a group.
fn group_key(groups: &RandomState, target: &Target, trust: &Trust) -> u64 {
    let key = groups.hash_one((&target.name, target.tls, trust.fingerprint));
    // The last bit tells fresh groups from usual ones.
    key & !1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::sync::atomic::AtomicBool;

    use bytes::Bytes;
    use hickory_resolver::proto::op::{Message, ResponseCode};
    use hickory_resolver::proto::rr::{RData, Record, RecordType};
    use http::{HeaderMap, Method};
    use svc_pipeline::upstream::{ChosenBy, Deadlines, Repetition};
    use tokio::net::UdpSocket;
    use tokio::task::JoinSet;

    fn target(name: &str) -> Target {
        let second = Duration::from_secs(1);
        Target {
            name: name.into(),
            chosen_by: ChosenBy::Operator,
            tls: true,
            host: "provider.example".into(),
            port: 443,
            base_path: "".into(),
            ca_file: None,
            deadlines: Deadlines {
                connect: second,
                head: second,
                idle: second,
                total: second,
            },
        }
    }

    #[test]
    fn every_answer_of_a_name_is_judged_each_time() {
        let rules = svc_core::address::AddressRules::default();
        let rule: AddressRule = Arc::new(move |_, address| rules.allow(address));
        let target = target("webhook");
        let asked = |answer: &[&str]| {
            let found = answer.iter().filter_map(|text| text.parse().ok());
            let found: Vec<IpAddr> = found.collect();
            judged(&rule, &target, &found)
        };
        let public = ["93.184.215.14", "2606:2800:21f::1"];
        let expected: Vec<SocketAddr> = ["93.184.215.14:443", "[2606:2800:21f::1]:443"]
            .into_iter()
            .filter_map(|text| text.parse().ok())
            .collect();
        assert_eq!(asked(&public), Ok(expected));
        // The same name, asked again, with another answer; and with one bad answer among good ones.
        for answer in [
            &["127.0.0.1"][..],
            &["93.184.215.14", "169.254.169.254"],
            &["93.184.215.14", "::ffff:10.0.0.1"],
            &["2606:2800:21f::1", "fd00::1"],
        ] {
            assert_eq!(asked(answer), Err(UpstreamError::Forbidden), "{answer:?}");
        }
    }

    #[tokio::test]
    async fn a_name_whose_addresses_all_fail_is_asked_for_again() {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let options = ConnectorOptions {
            name_servers: vec![socket.local_addr().unwrap()],
            ..ConnectorOptions::default()
        };
        let knows_ipv4 = Arc::new(AtomicBool::new(false));
        let mut serving = JoinSet::new();
        serving.spawn(serve_names(socket, Arc::clone(&knows_ipv4)));
        let metrics = UpstreamMetrics::register(&prometheus::Registry::new()).unwrap();
        let connector = PingoraConnector::new(options, Arc::new(|_, _| true), metrics).unwrap();
        let lookup = || connector.inner.resolver.lookup("half.test");

        let half = lookup().await.unwrap();
        assert_eq!(*half, [IpAddr::from(Ipv6Addr::LOCALHOST)]);
        let known = lookup().await.unwrap();
        assert!(
            Arc::ptr_eq(&half, &known),
            "what is known is not put together anew"
        );
        knows_ipv4.store(true, Ordering::Relaxed);
        let known = lookup().await.unwrap();
        assert!(Arc::ptr_eq(&half, &known), "its records are still valid");

        // Nobody listens there (RFC 863, and no privilege to).
        let target = Target {
            tls: false,
            host: "half.test".into(),
            port: 9,
            ..target("half")
        };
        let request = OutboundRequest {
            method: Method::GET,
            path_and_query: "/".to_owned(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            repetition: Repetition::Harmless,
            reached: Reached::default(),
        };
        assert!(connector.send(Arc::new(target), request).await.is_err());
        let both: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        assert_eq!(*lookup().await.unwrap(), both);
    }

    /// A name server whose records hold for an hour, and that fails for IPv4 until it is told of it.
    async fn serve_names(socket: UdpSocket, knows_ipv4: Arc<AtomicBool>) {
        let mut question = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut question).await {
            let mut message = Message::from_vec(&question[..length])
                .unwrap()
                .into_response();
            let query = message.queries[0].clone();
            let address: IpAddr = match query.query_type() {
                RecordType::AAAA => Ipv6Addr::LOCALHOST.into(),
                _ => Ipv4Addr::LOCALHOST.into(),
            };
            if address.is_ipv6() || knows_ipv4.load(Ordering::Relaxed) {
                let data = RData::from(address);
                message.add_answer(Record::from_rdata(query.name().clone(), 3_600, data));
            } else {
                message.metadata.response_code = ResponseCode::ServFail;
            }
            socket.send_to(&message.to_vec().unwrap(), from).await.ok();
        }
    }

    #[test]
    fn a_handshake_that_failed_is_told_whatever_became_of_other_addresses() {
        let told = |failures: &[UpstreamError]| {
            let failures = failures.iter().copied();
            failures.fold(UpstreamError::Resolve, telling)
        };
        use UpstreamError::{Connect, ConnectTimeout, Tls};
        assert_eq!(told(&[Tls, Connect]), Tls);
        assert_eq!(told(&[ConnectTimeout, Tls]), Tls);
        assert_eq!(told(&[ConnectTimeout, Connect]), Connect);
    }

    #[test]
    fn nobody_shares_a_group_with_another_target_or_authority() {
        let system = Trust::default();
        let other = Trust {
            authorities: None,
            fingerprint: [7; 32],
        };
        let groups = RandomState::new();
        let group = |name, trust| group_key(&groups, &target(name), trust);
        let key = group("alpha", &system);
        assert_ne!(key, group("beta", &system));
        assert_ne!(key, group("alpha", &other));
        assert_eq!(key, group("alpha", &system));
        let clear = Target {
            tls: false,
            ..target("alpha")
        };
        assert_ne!(key, group_key(&groups, &clear, &system));
    }
}
