//! The listener's certificate: read from two files, swapped while connections are served. A pair that does
//! not load or does not match never replaces one that works.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use pingora::tls::sign::CertifiedKey;
use pingora::tls::{
    ClientHello, CryptoProvider, ResolvesServerCert, install_default_crypto_provider,
    load_certs_and_key_files,
};

use crate::metrics::EdgeMetrics;
use crate::options::TlsListener;

/// Why a certificate was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("the path {0} is not UTF-8")]
    Path(std::path::PathBuf),
    #[error("{0} is no file")]
    NoFile(std::path::PathBuf),
    #[error("the certificate or key file cannot be read: {0}")]
    Read(String),
    #[error("the files hold no certificate or no private key")]
    Incomplete,
    #[error("the key does not fit the certificate, or is of an unknown kind: {0}")]
    Mismatch(String),
}

/// What every handshake asks for the current pair.
pub(crate) struct Current(ArcSwap<CertifiedKey>);

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Current")
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Current {
    /// The pair, and the stamp of the files from before they were read: whatever changes after it is seen.
    ///
    /// # Errors
    /// When the first pair does not load: there is nothing to serve with.
    pub(crate) fn load(files: &TlsListener) -> Result<(Arc<Self>, Stamp), CertificateError> {
        let seen = stamp(files);
        let pair = read(&files.certificate, &files.key)?;
        Ok((Arc::new(Self(ArcSwap::from_pointee(pair))), seen))
    }
}

fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, CertificateError> {
    install_default_crypto_provider();
    // Opening a pipe would wait for somebody who writes to it.
    for path in [certificate, key] {
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(CertificateError::NoFile(path.to_owned()));
        }
    }
    let text = |path: &Path| {
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| CertificateError::Path(path.to_owned()))
    };
    let (chain, key) = load_certs_and_key_files(&text(certificate)?, &text(key)?)
        .map_err(|error| CertificateError::Read(error.to_string()))?
        .ok_or(CertificateError::Incomplete)?;
    let provider = CryptoProvider::get_default().ok_or(CertificateError::Incomplete)?;
    CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| CertificateError::Mismatch(error.to_string()))
}

/// Looks at the files every so often and swaps a changed pair in. Polling, not inotify: secrets are often
/// mounted as links into folders that are replaced whole, and some file systems tell nobody.
pub(crate) struct Renewal {
    pub(crate) files: TlsListener,
    pub(crate) current: Arc<Current>,
    /// The files as they were when `current` was read.
    pub(crate) seen: Stamp,
    /// What was wrong last with files that were not taken, and how they were then.
    pub(crate) refused: Option<(Stamp, String)>,
    pub(crate) metrics: EdgeMetrics,
}

/// Time of change and length of both files.
pub(crate) type Stamp = [Option<(SystemTime, u64)>; 2];

#[async_trait]
impl Service for Renewal {
    async fn start_service(
        &mut self,
        _fds: Option<ListenFds>,
        mut shutdown: ShutdownWatch,
        _listeners_per_fd: usize,
    ) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(self.files.check_every) => {}
                _ = shutdown.changed() => return,
            }
            let files = self.files.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || stamp(&files)).await else {
                continue;
            };
            if now != self.seen {
                self.renew(now).await;
            }
        }
    }

    fn name(&self) -> &str {
        "certificate"
    }

    fn threads(&self) -> Option<usize> {
        Some(1)
    }

    fn listen_addresses(&self) -> Option<Vec<String>> {
        Some(Vec::new())
    }
}

fn stamp(files: &TlsListener) -> Stamp {
    let one = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    [one(&files.certificate), one(&files.key)]
}

impl Renewal {
    /// Tries the files as they are `now`. Those that are refused are tried again at the next look: that they can be
    /// read by then need not show in their stamp.
    async fn renew(&mut self, now: Stamp) {
        let (certificate, key) = (self.files.certificate.clone(), self.files.key.clone());
        let pair = tokio::task::spawn_blocking(move || read(&certificate, &key)).await;
        let result = match pair {
            Ok(Ok(pair)) => {
                self.current.0.store(Arc::new(pair));
                self.seen = now;
                self.refused = None;
                tracing::info!("certificate replaced");
                "loaded"
            }
            Ok(Err(error)) => {
                let refused = Some((now, error.to_string()));
                if self.refused != refused {
                    tracing::error!(%error, "certificate not replaced; the former one stays");
                    self.refused = refused;
                }
                "rejected"
            }
            Err(_) => "rejected",
        };
        self.metrics
            .certificate_loads
            .with_label_values(&[result])
            .inc();
    }
}
