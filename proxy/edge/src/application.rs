//! What the edge serves: the binary puts the pipeline, the health checks and the last goodbye in here.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use svc_core::fault::Fault;
use svc_pipeline::request::{BodyReader, RequestHead};
use svc_pipeline::response::Response;

/// Answers one request. Runs beside the answering of its body demands; dropped when the client leaves. What
/// must outlive that (settling an account) belongs on a runtime of the binary's own.
pub type Service =
    Arc<dyn Fn(RequestHead, BodyReader) -> BoxFuture<'static, Response> + Send + Sync>;

/// Answers a path of the admin listener; `None` is 404.
pub type AdminService =
    Arc<dyn Fn(String, PublicDoor) -> BoxFuture<'static, Option<AdminReply>> + Send + Sync>;

/// Whether the public listeners are for new callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicDoor {
    Open,
    /// The edge is leaving: they are closed, or are about to be.
    Closed,
}

/// The answer to a request that the edge refuses itself, by its id, path and fields: no id where it never was a
/// request, the others empty where the head could not be read.
pub type Refuse = Arc<dyn Fn(Option<&str>, &str, &HeaderMap, &Fault) -> Response + Send + Sync>;

/// Runs once, after the last exchange and before the services' runtimes end.
pub type Farewell = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// The answer to a path of the admin listener.
pub struct AdminReply {
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    pub body: Bytes,
}

/// Everything that the edge asks of the binary.
pub struct Application {
    /// Answers requests of the public listeners.
    pub serve: Service,
    /// Answers paths of the admin listener.
    pub admin: AdminService,
    /// Words the refusals that are the edge's own.
    pub refuse: Refuse,
    /// Runs before the runtimes end.
    pub farewell: Farewell,
}
