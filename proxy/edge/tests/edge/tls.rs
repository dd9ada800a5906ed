//! Certificates: the listener's renewal, and whom the connector trusts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use svc_edge::Limits;
use svc_pipeline::upstream::{
    Connector, OutboundRequest, Reached, Repetition, Target, UpstreamError,
};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};

use crate::house::{House, Plan, connector, metric, text};
use crate::peers::{HANGS, closed, connect, read_answer, read_until, send, shared, target, until};

/// An authority and a certificate of it for 127.0.0.1 and `localhost`.
pub(crate) struct Papers {
    pub(crate) authority: CertificateDer<'static>,
    pub(crate) authority_pem: String,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) certificate_pem: String,
    pub(crate) key: KeyPair,
}

pub(crate) fn papers() -> Papers {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let leaf = CertificateParams::new(names)
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    Papers {
        authority: issuer.der().clone(),
        authority_pem: issuer.pem(),
        certificate: leaf.der().clone(),
        certificate_pem: leaf.pem(),
        key,
    }
}

/// Writes certificate and key where a listener looks for them.
pub(crate) fn place(papers: &Papers, dir: &Path) -> (PathBuf, PathBuf) {
    let (certificate, key) = (dir.join("cert.pem"), dir.join("key.pem"));
    std::fs::write(&certificate, &papers.certificate_pem).unwrap();
    std::fs::write(&key, papers.key.serialize_pem()).unwrap();
    (certificate, key)
}

pub(crate) async fn tls_connect(
    address: std::net::SocketAddr,
    authorities: &[&CertificateDer<'static>],
    alpn: &[u8],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add((*authority).clone()).unwrap();
    }
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    let tcp = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
}

/// Waits until new connections get the second certificate in place of the first.
async fn until_shown(house: &House, first: &Papers, second: &Papers) {
    let both = [&first.authority, &second.authority];
    let started = Instant::now();
    loop {
        let stream = tls_connect(house.address, &both, b"http/1.1")
            .await
            .unwrap();
        if shown(&stream) == second.certificate {
            break;
        }
        assert!(started.elapsed() < HANGS, "the new certificate is shown");
    }
}

fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    let (_, connection) = stream.get_ref();
    connection.peer_certificates().unwrap()[0]
        .clone()
        .into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_shown_and_a_broken_one_is_not() {
    let (first, second) = (papers(), papers());
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan {
        tls: Some(place(&first, dir.path())),
        ..Plan::default()
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    let both = [&first.authority, &second.authority];
    let mut kept = tls_connect(house.address, &both, b"http/1.1")
        .await
        .unwrap();
    assert_eq!(shown(&kept), first.certificate);
    // The certificate first: until its key follows the pair does not match and must not be taken.
    std::fs::write(dir.path().join("cert.pem"), &second.certificate_pem).unwrap();
    until(|| house.metric("svc_edge_certificate_loads_total") >= 1.0).await;
    let stream = tls_connect(house.address, &both, b"http/1.1")
        .await
        .unwrap();
    assert_eq!(shown(&stream), first.certificate);
    let started = Instant::now();
    std::fs::write(dir.path().join("key.pem"), second.key.serialize_pem()).unwrap();
    loop {
        let stream = tls_connect(house.address, &both, b"http/1.1")
            .await
            .unwrap();
        if shown(&stream) == second.certificate {
            break;
        }
        assert!(started.elapsed() < HANGS, "the new certificate is shown");
    }
    let before = house.metric("svc_edge_certificate_loads_total");
    std::fs::write(dir.path().join("cert.pem"), "garbage").unwrap();
    until(|| house.metric("svc_edge_certificate_loads_total") > before).await;
    let stream = tls_connect(house.address, &both, b"http/1.1")
        .await
        .unwrap();
    assert_eq!(shown(&stream), second.certificate);
    // A connection from before is not disturbed.
    kept.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(read_answer(&mut kept).await.status, 200);
}

/// As after `chmod`, or once files can be opened again.
#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_did_not_load_is_tried_again_though_its_files_look_the_same() {
    let (first, second) = (papers(), papers());
    let dir = tempfile::tempdir().unwrap();
    let (certificate, key) = place(&first, dir.path());
    let plan = Plan {
        tls: Some((certificate.clone(), key.clone())),
        ..Plan::default()
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    let loads = || house.metric("svc_edge_certificate_loads_total");
    let good = second.key.serialize_pem();
    std::fs::write(&key, "-".repeat(good.len())).unwrap();
    std::fs::write(&certificate, &second.certificate_pem).unwrap();
    let modified = std::fs::metadata(&key).unwrap().modified().unwrap();
    let before = loads();
    until(|| loads() > before + 1.0).await;
    let readable = dir.path().join("readable");
    std::fs::write(&readable, good).unwrap();
    let file = std::fs::File::options().write(true).open(&readable);
    file.unwrap().set_modified(modified).unwrap();
    std::fs::rename(&readable, &key).unwrap();
    until_shown(&house, &first, &second).await;
}

/// Reading a pipe waits for whoever writes to it, and would be the last look at the files.
#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_in_place_of_the_certificate_is_told_and_stops_nothing() {
    let (first, second) = (papers(), papers());
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan {
        tls: Some(place(&first, dir.path())),
        ..Plan::default()
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    let certificate = dir.path().join("cert.pem");
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    std::fs::rename(&pipe, &certificate).unwrap();
    until(|| house.metric("svc_edge_certificate_loads_total") >= 1.0).await;
    std::fs::remove_file(&certificate).unwrap();
    place(&second, dir.path());
    until_shown(&house, &first, &second).await;
}

/// Who does not shake hands has no longer than who sends no head; whoever has shaken hands has all the time there is.
#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_has_its_time() {
    let papers = papers();
    let dir = tempfile::tempdir().unwrap();
    let limit = Duration::from_millis(400);
    let plan = Plan {
        tls: Some(place(&papers, dir.path())),
        limits: Limits {
            header_deadline: limit,
            ..Limits::default()
        },
        ..Plan::default()
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    // The beginning of a record, and of the ClientHello in it.
    for said in [&b""[..], b"\x16\x03\x01\x01\x00\x01"] {
        let mut silent = connect(house.address).await;
        send(&mut silent, said).await;
        let started = Instant::now();
        assert!(closed(&mut silent).await.is_some());
        assert!(started.elapsed() < Duration::from_secs(3));
    }
    until(|| house.metric("svc_edge_connections_open") == 0.0).await;
    assert_eq!(house.metric("svc_edge_handshakes_failed_total"), 2.0);
    let mut stream = tls_connect(house.address, &[&papers.authority], b"http/1.1")
        .await
        .unwrap();
    let started = Instant::now();
    while started.elapsed() < 2 * limit {
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        assert_eq!(read_answer(&mut stream).await.status, 200);
        tokio::time::sleep(limit / 8).await;
    }
}

/// As with a chain that nobody trusts, or a load balancer that speaks plain HTTP: nothing else tells of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_that_fails_is_counted() {
    let (papers, others) = (papers(), papers());
    let dir = tempfile::tempdir().unwrap();
    let plan = Plan {
        tls: Some(place(&papers, dir.path())),
        ..Plan::default()
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    let failed = || house.metric("svc_edge_handshakes_failed_total");
    let distrusting = tls_connect(house.address, &[&others.authority], b"http/1.1").await;
    assert!(distrusting.is_err());
    until(|| failed() == 1.0).await;
    let mut plain = connect(house.address).await;
    send(&mut plain, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(closed(&mut plain).await.is_some());
    until(|| failed() == 2.0).await;
    // Whoever has shaken hands may leave without a word.
    let served = tls_connect(house.address, &[&papers.authority], b"http/1.1").await;
    let mut served = served.unwrap();
    let asked = served.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    asked.await.unwrap();
    assert_eq!(read_answer(&mut served).await.status, 200);
    drop(served);
    until(|| house.metric("svc_edge_connections_open") == 0.0).await;
    assert_eq!(failed(), 2.0);
}

/// A TLS upstream that answers every request with 200.
async fn tls_upstream(papers: &Papers) -> std::net::SocketAddr {
    let key = PrivateKeyDer::try_from(papers.key.serialize_der()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![papers.certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(tcp).await else {
                    return;
                };
                while !read_until(&mut stream, b"\r\n\r\n").await.is_empty() {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

// One thread, as in `connector`.
#[tokio::test]
async fn a_target_never_gets_a_connection_that_another_trust_verified() {
    let (right, wrong) = (papers(), papers());
    let dir = tempfile::tempdir().unwrap();
    let trust = |papers: &Papers, name: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, &papers.authority_pem).unwrap();
        path
    };
    let address = tls_upstream(&right).await;
    let of = |name: &str, ca_file| {
        shared(Target {
            tls: true,
            ca_file: Some(ca_file),
            ..target(name, address)
        })
    };
    let alpha = of("alpha", trust(&right, "right.pem"));
    let (connector, registry) = connector();
    let get = || OutboundRequest {
        method: Method::GET,
        path_and_query: "/".to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
        repetition: Repetition::Harmless,
        reached: Reached::default(),
    };
    for _ in 0..2 {
        let mut answer = connector.send(Arc::clone(&alpha), get()).await.unwrap();
        while answer.body.next().await.unwrap().is_some() {}
    }
    assert_eq!(metric(&registry, "svc_upstream_reuses_total"), 1.0);
    // The same name with another authority, and another name with the same: neither may use the pool's.
    let distrusting = of("alpha", trust(&wrong, "wrong.pem"));
    let sent = connector.send(distrusting, get()).await;
    assert_eq!(sent.err(), Some(UpstreamError::Tls));
    let beta = of("beta", trust(&right, "right.pem"));
    assert!(connector.send(beta, get()).await.is_ok());
    assert_eq!(metric(&registry, "svc_upstream_reuses_total"), 1.0);
    let missing = of("alpha", dir.path().join("missing.pem"));
    let sent = connector.send(missing, get()).await;
    assert_eq!(sent.err(), Some(UpstreamError::Tls));
    // The system's authorities do not know this one.
    let system = shared(Target {
        tls: true,
        ..target("alpha", address)
    });
    assert_eq!(
        connector.send(system, get()).await.err(),
        Some(UpstreamError::Tls)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_name_is_refused() {
    let right = papers();
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.pem");
    std::fs::write(&ca_file, &right.authority_pem).unwrap();
    let address = tls_upstream(&right).await;
    let (connector, _) = connector();
    let other = std::net::SocketAddr::new("127.0.0.2".parse().unwrap(), address.port());
    let listener = TcpListener::bind(other).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            let mut to = TcpStream::connect(address).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
        }
    });
    let target = shared(Target {
        tls: true,
        ca_file: Some(ca_file),
        ..target("alpha", other)
    });
    let request = OutboundRequest {
        method: Method::GET,
        path_and_query: "/".to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
        repetition: Repetition::Harmless,
        reached: Reached::default(),
    };
    assert_eq!(
        connector.send(target, request).await.err(),
        Some(UpstreamError::Tls)
    );
}
