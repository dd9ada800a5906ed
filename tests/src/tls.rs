//! Certificates made on the spot, and clients that trust one of them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

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
        let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])
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
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
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
