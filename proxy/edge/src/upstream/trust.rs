//! The certificate authorities of targets that do not use the system's: read from their files, kept until the
//! file changes. Never falls back to the system's when a file does not load.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use pingora::protocols::tls::CaType;
use pingora::tls::{CertificateDer, RootCertStore};
use pingora::utils::tls::{WrappedX509, parse_x509};
use rustls_pki_types::pem::PemObject;
use sha2::{Digest, Sha256};
use svc_pipeline::upstream::{Target, UpstreamError};

/// Whom a target trusts; the default is the system's authorities.
#[derive(Clone, Default)]
pub(super) struct Trust {
    pub(super) authorities: Option<Arc<CaType>>,
    /// SHA-256 over the certificates; zeroes for the system's.
    pub(super) fingerprint: [u8; 32],
}

#[derive(Default)]
pub(super) struct TrustStore {
    known: Mutex<HashMap<PathBuf, (Stamp, Trust)>>,
}

type Stamp = (SystemTime, u64);

/// 256 files: one per integration of a large deployment; past that the cache starts over.
const MOST_FILES: usize = 256;

impl TrustStore {
    /// # Errors
    /// `Tls` when the file is missing, unreadable or holds no certificate.
    pub(super) async fn of(&self, target: &Target) -> Result<Trust, UpstreamError> {
        let Some(path) = &target.ca_file else {
            return Ok(Trust::default());
        };
        let metadata = tokio::fs::metadata(path).await;
        // Opening a pipe would wait for somebody who writes to it.
        if metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(unusable(path, &"is no file"));
        }
        let stamp = metadata
            .and_then(|metadata| Ok((metadata.modified()?, metadata.len())))
            .map_err(|error| unusable(path, &error))?;
        if let Some((known, trust)) = self.known.lock().get(path)
            && *known == stamp
        {
            return Ok(trust.clone());
        }
        let pem = tokio::fs::read(path)
            .await
            .map_err(|error| unusable(path, &error))?;
        // On a thread of its own: pingora's parser panics where it disagrees with rustls's.
        let trust = tokio::task::spawn_blocking(move || parse(&pem))
            .await
            .map_err(|error| unusable(path, &error))?
            .map_err(|error| unusable(path, &error))?;
        let mut known = self.known.lock();
        if known.len() >= MOST_FILES {
            known.clear();
        }
        known.insert(path.clone(), (stamp, trust.clone()));
        Ok(trust)
    }
}

/// Tries a file of authorities out, before any target needs it.
///
/// # Errors
/// Why nobody can be trusted by it.
pub fn check_authorities(path: &Path) -> Result<(), String> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(format!("{} is no file", path.display()));
    }
    let pem = std::fs::read(path);
    let pem = pem.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let path = path.display();
    // Pingora's parser panics where it disagrees with rustls's.
    match std::panic::catch_unwind(|| parse(&pem).map(drop)) {
        Ok(parsed) => parsed.map_err(|why| format!("{path}: {why}")),
        Err(_) => Err(format!("{path} holds a certificate that cannot be read")),
    }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> UpstreamError {
    tracing::error!(path = %path.display(), %error, "cannot use the authorities of a target");
    UpstreamError::Tls
}

/// Reads every certificate of a PEM text.
fn parse(pem: &[u8]) -> Result<Trust, String> {
    let certificates = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    if certificates.is_empty() {
        return Err("no certificate in it".to_owned());
    }
    let mut hash = Sha256::new();
    let mut authorities = Vec::with_capacity(certificates.len());
    for certificate in certificates {
        let length = u64::try_from(certificate.len()).unwrap_or(u64::MAX);
        hash.update(length.to_be_bytes());
        hash.update(&certificate);
        let der = certificate.to_vec();
        RootCertStore::empty()
            .add(certificate)
            .map_err(|error| error.to_string())?;
        authorities.push(WrappedX509::new(der, parse_x509));
    }
    Ok(Trust {
        authorities: Some(Arc::from(authorities)),
        fingerprint: hash.finalize().into(),
    })
}
