//! An edge on an address of its own, with an application made of one closure.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, StatusCode};
use prometheus::Registry;
use svc_core::surface::Surface;
use svc_edge::{
    AdminReply, Application, ConnectorOptions, Departure, Edge, EdgeError, EdgeHandle, EdgeMetrics,
    EdgeOptions, Limits, PingoraConnector, PublicDoor, Start, TlsListener, UpstreamMetrics,
};
use svc_pipeline::exchange::fault_response;
use svc_pipeline::request::{BodyReader, RequestHead};
use svc_pipeline::response::{Body, Response};
use tempfile::TempDir;

/// What a test may change.
pub(crate) struct Plan {
    pub(crate) threads: usize,
    pub(crate) limits: Limits,
    pub(crate) drain_deadline: Duration,
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) start: Start,
    pub(crate) upgrade_sock: Option<PathBuf>,
    pub(crate) address: Option<SocketAddr>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            threads: 2,
            limits: Limits::default(),
            drain_deadline: Duration::from_millis(200),
            tls: None,
            start: Start::Bind,
            upgrade_sock: None,
            address: None,
        }
    }
}

pub(crate) struct House {
    /// Plain HTTP, or TLS where the plan has a certificate.
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) handle: EdgeHandle,
    pub(crate) registry: Registry,
    thread: Option<JoinHandle<Result<Departure, EdgeError>>>,
    dir: TempDir,
}

/// An address that no other test and no outgoing connection uses: every edge has its own loopback host.
pub(crate) fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let [_, _, high, low] = (process ^ (count << 8)).to_be_bytes();
    let host = std::net::Ipv4Addr::new(127, 1 + (count & 0x3f) as u8, high, low.max(1));
    let probe = std::net::TcpListener::bind((host, 0)).unwrap();
    probe.local_addr().unwrap()
}

impl House {
    pub(crate) async fn open<S, F>(plan: Plan, serve: S) -> Self
    where
        S: Fn(RequestHead, BodyReader) -> F + Send + Sync + 'static,
        F: Future<Output = Response> + Send + 'static,
    {
        let mut house = Self::begin(plan, serve);
        assert!(house.handle.listening().await, "the edge listens");
        house
    }

    /// Starts without waiting for the listeners: a successor gets them later.
    pub(crate) fn begin<S, F>(plan: Plan, serve: S) -> Self
    where
        S: Fn(RequestHead, BodyReader) -> F + Send + Sync + 'static,
        F: Future<Output = Response> + Send + 'static,
    {
        let dir = tempfile::tempdir().unwrap();
        let address = plan.address.unwrap_or_else(free_address);
        let admin = SocketAddr::new(address.ip(), address.port().wrapping_add(1).max(1024));
        let tls = plan.tls.map(|(certificate, key)| TlsListener {
            listen: vec![address],
            certificate,
            key,
            check_every: Duration::from_millis(20),
        });
        let options = EdgeOptions {
            listen: if tls.is_some() { vec![] } else { vec![address] },
            tls,
            admin_listen: Some(admin),
            threads: plan.threads,
            limits: plan.limits,
            trusted_proxies: vec![],
            notice: Duration::ZERO,
            drain_deadline: plan.drain_deadline,
            start: plan.start,
            pid_file: dir.path().join("pid"),
            upgrade_sock: plan
                .upgrade_sock
                .unwrap_or_else(|| dir.path().join("upgrade.sock")),
        };
        let registry = Registry::new();
        let application = Application {
            serve: Arc::new(move |head, body| serve(head, body).boxed()),
            admin: Arc::new(|path, door| {
                async move {
                    (path == "/healthz").then(|| AdminReply {
                        status: 200,
                        content_type: "application/json",
                        body: match door {
                            PublicDoor::Open => Bytes::from_static(b"{}"),
                            PublicDoor::Closed => Bytes::from_static(b"leaving"),
                        },
                    })
                }
                .boxed()
            }),
            refuse: Arc::new(|_, _, _, fault| fault_response(Surface::Native, fault, "req_test")),
            farewell: Box::new(|| async {}.boxed()),
        };
        let metrics = EdgeMetrics::register(&registry).unwrap();
        let edge = Edge::new(options, application, metrics).unwrap();
        let handle = edge.handle();
        let thread = std::thread::spawn(move || edge.run());
        Self {
            address,
            admin,
            handle,
            registry,
            thread: Some(thread),
            dir,
        }
    }

    /// Waits until the edge has left.
    pub(crate) async fn left(mut self) -> Departure {
        let thread = self.thread.take().unwrap();
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        joined.unwrap().unwrap().unwrap()
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.dir.path().join("pid")
    }

    /// Sum of a counter or gauge over its labels.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        metric(&self.registry, name)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.handle.drain();
        if let Some(thread) = self.thread.take()
            && !std::thread::panicking()
        {
            thread.join().unwrap().unwrap();
        }
    }
}

pub(crate) fn metric(registry: &Registry, name: &str) -> f64 {
    registry
        .gather()
        .iter()
        .filter(|family| family.name() == name)
        .flat_map(|family| family.get_metric())
        .map(|metric| metric.get_counter().get_value() + metric.get_gauge().get_value())
        .sum()
}

pub(crate) fn text(status: u16, body: impl Into<Bytes>) -> Response {
    Response {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: Body::Full(body.into()),
    }
}

/// A connector that may go anywhere.
pub(crate) fn connector() -> (PingoraConnector, Registry) {
    let registry = Registry::new();
    let metrics = UpstreamMetrics::register(&registry).unwrap();
    let rule = Arc::new(|_: &_, _| true);
    let connector = PingoraConnector::new(ConnectorOptions::default(), rule, metrics).unwrap();
    (connector, registry)
}
