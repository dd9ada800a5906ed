//! The admin listener: one path, one answer, GET and HEAD alone. Never reads a body, and says nothing before every
//! listener is open: who is told that the gateway is ready can connect to it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, Method, StatusCode};
use pingora::apps::{HttpPersistentSettings, HttpServerApp, ReusedHttpStream};
use pingora::protocols::http::ServerSession;
use pingora::server::ShutdownWatch;
use svc_pipeline::response::{Body, Response};

use crate::application::{AdminReply, AdminService};
use crate::downstream::Downstream;
use crate::lifecycle::EdgeHandle;
use crate::watched::Pace;

pub(crate) struct Admin {
    pub(crate) service: AdminService,
    pub(crate) handle: EdgeHandle,
}

/// 10 s for a head and for a write: only operators' machines come here, and they are near.
const PATIENCE: Duration = Duration::from_secs(10);
/// Scrapers come back every 15 to 60 s.
const IDLE_SECONDS: u64 = 90;

#[async_trait]
impl HttpServerApp for Admin {
    async fn process_new_http(
        self: &Arc<Self>,
        mut session: ServerSession,
        _shutdown: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        let patience = PATIENCE + Duration::from_secs(IDLE_SECONDS);
        let read = tokio::time::timeout(patience, session.read_request()).await;
        if !matches!(read, Ok(Ok(true))) {
            return None;
        }
        let keep_alive = session.get_keepalive().is_some();
        session.set_keepalive(keep_alive.then_some(IDLE_SECONDS));
        let header = session.req_header();
        if !self.handle.clone().listening().await {
            return None;
        }
        let reply = if matches!(header.method, Method::GET | Method::HEAD) {
            (self.service)(header.uri.path().to_owned(), self.handle.public_door()).await
        } else {
            Some(plain(StatusCode::METHOD_NOT_ALLOWED))
        };
        let reply = reply.unwrap_or_else(|| plain(StatusCode::NOT_FOUND));
        let pace = Pace::default();
        Downstream::new(&mut session, &pace, PATIENCE)
            .send_whole(response(reply))
            .await
            .ok()?;
        let settings = HttpPersistentSettings::for_session(&session);
        let stream = session.finish().await.ok()??;
        Some(ReusedHttpStream::from_reusable_stream(stream, settings))
    }
}

fn plain(status: StatusCode) -> AdminReply {
    AdminReply {
        status: status.as_u16(),
        content_type: "text/plain; charset=utf-8",
        body: Bytes::from_static(status.canonical_reason().unwrap_or("error").as_bytes()),
    }
}

fn response(reply: AdminReply) -> Response {
    let AdminReply {
        status,
        content_type,
        body,
    } = reply;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Response {
        status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        headers,
        body: Body::Full(body),
    }
}
