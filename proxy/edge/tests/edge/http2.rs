//! HTTP/2 at both ends, always over TLS.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Method, Request, StatusCode};
use svc_edge::Limits;
use svc_pipeline::upstream::{
    Connector, OutboundRequest, Reached, Repetition, Target, UpstreamError,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::disconnect::{SOON, pass};
use crate::house::{House, Plan, connector, metric, text};
use crate::peers::{HANGS, Upstream, closed, read_until, shared, target};
use crate::tls::{Papers, papers, place, tls_connect};

async fn client(house: &House, papers: &Papers) -> SendRequest<Bytes> {
    let stream = tls_connect(house.address, &[&papers.authority], b"h2")
        .await
        .unwrap();
    let (sender, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn plan(papers: &Papers, dir: &std::path::Path) -> Plan {
    Plan {
        tls: Some(place(papers, dir)),
        ..Plan::default()
    }
}

fn post() -> Request<()> {
    Request::post("https://localhost/echo?q=1")
        .body(())
        .unwrap()
}

/// Sends a body in pieces that flow control allows, ended by an empty frame.
async fn send_body(stream: &mut h2::SendStream<Bytes>, body: &[u8]) {
    let mut rest = Bytes::copy_from_slice(body);
    while !rest.is_empty() {
        stream.reserve_capacity(rest.len().min(16_384));
        let room = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await;
        let room = room.unwrap().unwrap().min(rest.len());
        stream.send_data(rest.split_to(room), false).unwrap();
    }
    stream.send_data(Bytes::new(), true).unwrap();
}

async fn read_body(body: &mut h2::RecvStream) -> Vec<u8> {
    let mut seen = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.unwrap();
        body.flow_control().release_capacity(data.len()).unwrap();
        seen.extend_from_slice(&data);
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_64_kib_is_echoed() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let house = House::open(plan(&papers, dir.path()), |head, mut body| async move {
        assert_eq!(head.headers["host"], "localhost");
        assert_eq!(
            (head.path.as_str(), head.query.as_deref()),
            ("/echo", Some("q=1"))
        );
        match body.read(1_000_000).await {
            Ok(bytes) => text(200, bytes),
            Err(error) => text(413, error.to_string()),
        }
    })
    .await;
    let body: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    let mut sender = client(&house, &papers).await.ready().await.unwrap();
    let (response, mut stream) = sender.send_request(post(), false).unwrap();
    send_body(&mut stream, &body).await;
    let mut response = response.await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(read_body(response.body_mut()).await == body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_by_an_empty_frame_makes_one_message_upstream() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let mut upstream = Upstream::open().await;
    let (connector, registry) = connector();
    let target = shared(upstream.target());
    // One thread, as in `connector`.
    let plan = Plan {
        threads: 1,
        ..plan(&papers, dir.path())
    };
    let house = House::open(plan, move |_, body| {
        pass(connector.clone(), Arc::clone(&target), body)
    })
    .await;
    let mut sender = client(&house, &papers).await.ready().await.unwrap();
    let mut accepted = None;
    for _ in 0..2 {
        let (response, mut stream) = sender.send_request(post(), false).unwrap();
        send_body(&mut stream, b"hello").await;
        let mut connection = match accepted.take() {
            Some(connection) => connection,
            None => upstream.accept().await,
        };
        let seen = read_until(&mut connection, b"hello").await;
        let seen = String::from_utf8(seen).unwrap();
        // From the first byte: whatever the former message left behind would stand before it.
        assert!(seen.starts_with("POST /upstream HTTP/1.1\r\n"), "{seen:?}");
        assert!(!seen.to_lowercase().contains("chunked"), "{seen:?}");
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        connection.write_all(answer).await.unwrap();
        let mut response = response.await.unwrap();
        assert_eq!(read_body(response.body_mut()).await, b"ok");
        accepted = Some(connection);
    }
    assert_eq!(metric(&registry, "svc_upstream_connects_total"), 1.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_stream_is_noticed_and_its_siblings_live() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let mut upstream = Upstream::open().await;
    let (connector, _) = connector();
    let target = shared(upstream.target());
    let house = House::open(plan(&papers, dir.path()), move |_, body| {
        pass(connector.clone(), Arc::clone(&target), body)
    })
    .await;
    let mut sender = client(&house, &papers).await.ready().await.unwrap();
    let (kept, mut kept_stream) = sender.send_request(post(), false).unwrap();
    send_body(&mut kept_stream, b"hello").await;
    let mut one = upstream.accept().await;
    read_until(&mut one, b"hello").await;
    let (dropped, mut stream) = sender.send_request(post(), false).unwrap();
    send_body(&mut stream, b"hello").await;
    let mut two = upstream.accept().await;
    read_until(&mut two, b"hello").await;
    stream.send_reset(h2::Reason::CANCEL);
    drop(dropped);
    let left = Instant::now();
    let late = closed(&mut two).await.unwrap() - left;
    assert!(late < SOON, "{late:?}");
    one.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        .await
        .unwrap();
    let mut response = kept.await.unwrap();
    assert_eq!(read_body(response.body_mut()).await, b"ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_body_times_out() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let plan = Plan {
        limits: Limits {
            body_deadline: Duration::from_millis(200),
            ..Limits::default()
        },
        ..plan(&papers, dir.path())
    };
    let house = House::open(plan, |_, mut body| async move {
        match body.read(1_000).await {
            Ok(bytes) => text(200, bytes),
            Err(error) => text(408, error.to_string()),
        }
    })
    .await;
    let mut sender = client(&house, &papers).await.ready().await.unwrap();
    let (response, mut stream) = sender.send_request(post(), false).unwrap();
    stream
        .send_data(Bytes::from_static(b"half"), false)
        .unwrap();
    let response = tokio::time::timeout(HANGS, response)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(response.status().as_u16(), 408);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_sends_its_preface_is_closed() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let plan = Plan {
        limits: Limits {
            header_deadline: Duration::from_millis(200),
            ..Limits::default()
        },
        ..plan(&papers, dir.path())
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    let mut stream = tls_connect(house.address, &[&papers.authority], b"h2")
        .await
        .unwrap();
    stream.write_all(b"PRI * HTTP/2.0").await.unwrap();
    let started = Instant::now();
    assert!(closed(&mut stream).await.is_some());
    assert!(started.elapsed() < Duration::from_secs(3));
}

/// Its client can tell then what was not served (RFC 9113, 6.8); one that is gone has nobody wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_ends_with_a_word() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let idle = Duration::from_millis(300);
    let plan = Plan {
        limits: Limits {
            h2_idle: idle,
            ..Limits::default()
        },
        ..plan(&papers, dir.path())
    };
    let house = House::open(plan, move |_, _| async move {
        tokio::time::sleep(2 * idle).await;
        text(200, "ok")
    })
    .await;
    let mut stream = tls_connect(house.address, &[&papers.authority], b"h2")
        .await
        .unwrap();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(preface).await.unwrap();
    let mut said = Vec::new();
    let reading = stream.read_to_end(&mut said);
    // However TLS likes the end of it.
    let _ = tokio::time::timeout(HANGS, reading).await.unwrap();
    let mut words = Vec::new();
    while let Some((head, rest)) = said.split_first_chunk::<9>() {
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        words.push((head[3], rest[..length].to_vec()));
        said = rest[length..].to_vec();
    }
    // GOAWAY: every stream so far, no error.
    assert!(
        words.contains(&(7, vec![0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])),
        "{words:?}"
    );

    let stream = tls_connect(house.address, &[&papers.authority], b"h2")
        .await
        .unwrap();
    let (sender, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut sender = sender.ready().await.unwrap();
    let (response, _) = sender.send_request(post(), true).unwrap();
    let response = tokio::time::timeout(HANGS, response).await.unwrap();
    assert_eq!(response.unwrap().status(), StatusCode::OK);
    // It ends, however TLS likes that, and no further request goes into it.
    let _ = tokio::time::timeout(HANGS, connection).await.unwrap();
    assert!(sender.ready().await.is_err());
}

/// As over HTTP/1.1; beyond twice the limit the library refuses by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_over_the_limit_is_answered() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let house = House::open(plan(&papers, dir.path()), |_, _| async { text(200, "ok") }).await;
    let limit = Limits::default().header_bytes;
    for (bytes, status) in [(limit / 2, 200), (limit + 1, 422)] {
        let mut sender = client(&house, &papers).await.ready().await.unwrap();
        let request = Request::get("https://localhost/")
            .header("x-large", "x".repeat(bytes))
            .body(())
            .unwrap();
        let (response, _) = sender.send_request(request, true).unwrap();
        let response = tokio::time::timeout(HANGS, response).await.unwrap();
        assert_eq!(response.unwrap().status().as_u16(), status, "{bytes}");
    }
    assert_eq!(house.metric("svc_edge_requests_refused_total"), 1.0);
}

/// An HTTP/2 upstream; sends `(path, body)` of each request, answers with the body, or hangs on `/hang`.
async fn h2_upstream(papers: &Papers) -> (std::net::SocketAddr, mpsc::Receiver<String>) {
    let key = PrivateKeyDer::try_from(papers.key.serialize_der()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![papers.certificate.clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, sees) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let stream = acceptor.accept(tcp).await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let seen = seen.clone();
            tokio::spawn(async move {
                while let Some(Ok((request, respond))) = connection.accept().await {
                    tokio::spawn(serve_h2(request, respond, seen.clone()));
                }
            });
        }
    });
    (address, sees)
}

async fn serve_h2(
    request: Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    seen: mpsc::Sender<String>,
) {
    let (head, mut body) = request.into_parts();
    let body = read_body(&mut body).await;
    seen.send(format!("{} {}", head.uri, body.len()))
        .await
        .unwrap();
    if head.uri.path() == "/hang" {
        let reason = std::future::poll_fn(|cx| respond.poll_reset(cx)).await;
        seen.send(format!("reset {:?}", reason.unwrap()))
            .await
            .unwrap();
        return;
    }
    let response = http::Response::new(());
    let mut stream = respond.send_response(response, false).unwrap();
    send_body(&mut stream, &body).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn upstreams_that_speak_http2_are_spoken_to_so() {
    let (papers, dir) = (papers(), tempfile::tempdir().unwrap());
    let ca_file = dir.path().join("ca.pem");
    std::fs::write(&ca_file, &papers.authority_pem).unwrap();
    let (address, mut sees) = h2_upstream(&papers).await;
    let of = |total| {
        let base = target("alpha", address);
        shared(Target {
            tls: true,
            ca_file: Some(ca_file.clone()),
            deadlines: svc_pipeline::upstream::Deadlines {
                total,
                ..base.deadlines
            },
            ..base
        })
    };
    let (connector, registry) = connector();
    let request = |path: &str| OutboundRequest {
        method: Method::POST,
        path_and_query: path.to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::from(vec![b'x'; 200_000]),
        repetition: Repetition::Harmless,
        reached: Reached::default(),
    };
    for _ in 0..2 {
        let mut answer = connector.send(of(HANGS), request("/v1?a=b")).await.unwrap();
        let mut length = 0;
        while let Some(bytes) = answer.body.next().await.unwrap() {
            length += bytes.len();
        }
        assert_eq!(length, 200_000);
        assert_eq!(
            sees.recv().await.unwrap(),
            format!("https://{address}/v1?a=b 200000")
        );
    }
    // Given up, the stream is reset and the connection serves on.
    let sent = connector
        .send(of(Duration::from_millis(300)), request("/hang"))
        .await;
    assert_eq!(sent.err(), Some(UpstreamError::TotalTimeout));
    assert_eq!(
        sees.recv().await.unwrap(),
        format!("https://{address}/hang 200000")
    );
    let reset = tokio::time::timeout(HANGS, sees.recv())
        .await
        .unwrap()
        .unwrap();
    assert!(reset.starts_with("reset"), "{reset}");
    assert!(connector.send(of(HANGS), request("/v1")).await.is_ok());
    assert_eq!(metric(&registry, "svc_upstream_connects_total"), 1.0);
    assert_eq!(metric(&registry, "svc_upstream_reuses_total"), 3.0);
}
