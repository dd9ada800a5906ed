//! Certificates made on the spot, clients that trust one of them, and a front that puts TLS before a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, crypto};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::guardian;
use crate::patience::in_time;
use crate::policies::replace;

/// The name that every certificate here is for.
pub const NAME: &str = "gateway.test";

/// A self-signed certificate with its key, as PEM and for trusting.
pub struct Identity {
    certificate_pem: String,
    key_pem: String,
    certificate: CertificateDer<'static>,
}

impl Identity {
    pub fn fresh() -> Self {
        Self::named(NAME)
    }

    /// One for this name.
    pub fn named(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()])
            .expect("making a certificate");
        Self {
            certificate_pem: made.cert.pem(),
            key_pem: made.signing_key.serialize_pem(),
            certificate: made.cert.der().clone(),
        }
    }

    /// Connects, trusting this certificate alone.
    ///
    /// # Errors
    /// When the server shows another one.
    pub async fn connect(
        &self,
        address: SocketAddr,
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("a root");
        let provider = Arc::new(crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = config
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = bytes_of(protocols);
        let name = ServerName::try_from(NAME).expect("a name");
        in_time("a TLS handshake", async {
            let stream = TcpStream::connect(address).await?;
            TlsConnector::from(Arc::new(config))
                .connect(name, stream)
                .await
        })
        .await
    }
}

/// A front that ends TLS and passes the bytes on to a server on this machine, whatever they say.
pub struct Front {
    pub port: u16,
    /// The protocol that each connection has agreed upon.
    agreed: Arc<Mutex<Vec<String>>>,
    /// Dropping it ends every connection.
    _tasks: JoinSet<()>,
}

/// The name that [`Front`] is reached by.
pub const FRONT_NAME: &str = "localhost";

impl Front {
    /// Listens with this certificate, offering these protocols.
    pub async fn before(server: SocketAddr, identity: &Identity, protocols: &[&str]) -> Self {
        let key = PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes()).expect("a key");
        let provider = Arc::new(crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = config
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate.clone()], key)
            .expect("a certificate");
        config.alpn_protocols = bytes_of(protocols);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let agreed = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, acceptor, server, Arc::clone(&agreed)));
        Self {
            port,
            agreed,
            _tasks: tasks,
        }
    }

    /// The protocols that connections have agreed upon so far.
    pub fn agreed(&self) -> Vec<String> {
        self.agreed.lock().expect("the protocols").clone()
    }
}

async fn serve(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    server: SocketAddr,
    agreed: Arc<Mutex<Vec<String>>>,
) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, agreed) = (acceptor.clone(), Arc::clone(&agreed));
        connections.spawn(async move {
            // A client that does not trust us breaks off here.
            let Ok(mut outside) = acceptor.accept(stream).await else {
                return;
            };
            let protocol = outside.get_ref().1.alpn_protocol().unwrap_or_default();
            let protocol = String::from_utf8_lossy(protocol).into_owned();
            agreed.lock().expect("the protocols").push(protocol);
            let mut inside = TcpStream::connect(server).await.expect("the server");
            inside.set_nodelay(true).expect("TCP_NODELAY");
            // Either side may break off; the other one is told by the end of its connection.
            let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
        });
    }
}

fn bytes_of(protocols: &[&str]) -> Vec<Vec<u8>> {
    let bytes = protocols.iter().map(|name| name.as_bytes().to_vec());
    bytes.collect()
}

/// The two files that a gateway reads.
pub struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    pub fn with(identity: &Identity) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        guardian::folder(folder.path());
        let files = Self { folder };
        files.put(identity);
        files
    }

    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("tls.crt")
    }

    pub fn key(&self) -> PathBuf {
        self.folder.path().join("tls.key")
    }

    /// The key first: a certificate never stands beside a key that is older than itself for longer than one
    /// rename takes.
    pub fn put(&self, identity: &Identity) {
        replace(&self.key(), identity.key_pem.as_bytes());
        replace(&self.certificate(), identity.certificate_pem.as_bytes());
    }

    pub fn put_nonsense(&self) {
        replace(
            &self.certificate(),
            b"-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n",
        );
    }
}
