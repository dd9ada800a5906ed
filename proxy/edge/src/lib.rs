//! The only pingora: listeners, the way of one HTTP exchange over its session, and the upstream connector.
//!
//! Take-over, not the proxy phases: [`Edge`] is a plain pingora HTTP application. It hands a request to a
//! [`Service`] and answers the client itself, so that a body can be read before the upstream is chosen, a
//! silent stream gets heartbeats, and a client that leaves cancels the work at once. It is built on
//! `HttpServerApp` rather than on `ProxyHttp::request_filter`: the proxy would add an upstream machinery that
//! is never used, a second shutdown rule and its own error pages. Never looks into a body.

mod admin;
mod admission;
mod application;
mod bequest;
mod certificate;
mod connection;
mod departure;
mod downstream;
mod edge;
mod exchange;
mod framing;
mod handshake;
mod head;
mod inheritance;
mod intake;
mod lifecycle;
mod listening;
mod metrics;
mod options;
mod socket;
mod streams;
mod timer;
mod upstream;
mod watched;

use tracing::level_filters::LevelFilter;

pub use application::{
    AdminReply, AdminService, Application, Farewell, PublicDoor, Refuse, Service,
};
pub use certificate::CertificateError;
pub use edge::{Edge, EdgeError};
pub use lifecycle::{Departure, EdgeHandle};
pub use metrics::{EdgeMetrics, UpstreamMetrics};
pub use options::{EdgeOptions, Limits, Network, Start, TlsListener};
pub use upstream::{
    AddressRule, ConnectorError, ConnectorOptions, PingoraConnector, check_authorities,
};

/// The target of log lines that show, as a warning, fields of a head as they came.
pub const SHOWS_FIELDS: &str = "pingora_core::protocols";

/// The least severe log lines of pingora's that are worth a line, by their targets.
pub const LOG_LEVELS: [(&str, LevelFilter); 3] = [
    // How it starts and ends, our own lines say.
    ("pingora", LevelFilter::WARN),
    (SHOWS_FIELDS, LevelFilter::ERROR),
    // Errors here are what strangers send in place of a handshake.
    ("pingora_core::apps", LevelFilter::OFF),
];

/// The target of what pingora says of connections that it has, or has not, accepted.
pub const ACCEPTING: &str = "pingora_core::services::listening";

/// How a line of [`ACCEPTING`] about one stranger begins, one for each connection that is refused or breaks off its
/// handshake. They are counted (`svc_edge_connections_refused_total`, `svc_edge_handshakes_failed_total`); whoever likes
/// could fill a disk with them. Its other lines are of this machine, and come as fast as it can write them where it has no
/// room for a connection.
pub const OF_A_STRANGER: &str = "Downstream handshake";
