//! The detached signature over a manifest: `plugin.toml.sig`, 64 bytes of ed25519 in hex.
//!
//! The manifest pins the component's digest, so one signature covers both. Keys that sign are never here.

use ed25519_dalek::{Signature, VerifyingKey};

use crate::error::AdmissionError;

/// What to do with a manifest that nobody signed. A signature that is malformed or of no trust root is refused all the
/// same, unless signatures are not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignaturePolicy {
    /// Refuse it.
    #[default]
    Require,
    /// Admit it and log a warning.
    Warn,
    /// Admit it; signatures are not looked at.
    Off,
}

/// A public key whose signatures count.
#[derive(Clone)]
pub struct TrustRoot(VerifyingKey);

impl TrustRoot {
    /// Reads 32 bytes in hex.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = hex::decode(text.trim()).ok()?.try_into().ok()?;
        VerifyingKey::from_bytes(&bytes).ok().map(Self)
    }
}

/// Whether one of `roots` signed `manifest`.
///
/// # Errors
/// A signature that is malformed or by a stranger is refused under `Require` and `Warn` alike: it promises
/// what it does not keep. A missing one is refused under `Require`.
pub(crate) fn check(
    policy: SignaturePolicy,
    roots: &[TrustRoot],
    manifest: &[u8],
    signature: Option<&[u8]>,
) -> Result<bool, AdmissionError> {
    let refuse = |reason: &str| Err(AdmissionError::new("signature", reason));
    match (policy, signature) {
        (SignaturePolicy::Off, _) | (SignaturePolicy::Warn, None) => Ok(false),
        (SignaturePolicy::Require, None) => {
            refuse("the manifest has no plugin.toml.sig and the policy requires one")
        }
        (_, Some(text)) => {
            let parsed = hex::decode(text.trim_ascii())
                .ok()
                .and_then(|bytes| Signature::from_slice(&bytes).ok());
            let Some(signature) = parsed else {
                return refuse("plugin.toml.sig is not 64 bytes in hex");
            };
            if roots
                .iter()
                .any(|root| root.0.verify_strict(manifest, &signature).is_ok())
            {
                Ok(true)
            } else {
                refuse("no trust root made plugin.toml.sig for this manifest")
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ed25519_dalek::{Signer, SigningKey};

    use super::*;

    #[test]
    fn only_a_trust_root_counts_and_only_for_the_bytes_it_signed() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let root = TrustRoot::parse(&hex::encode(key.verifying_key().to_bytes())).unwrap();
        let stranger = TrustRoot::parse(&hex::encode(
            SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes(),
        ));
        let signature = hex::encode(key.sign(b"manifest").to_bytes()) + "\n";
        let signature = Some(signature.as_bytes());
        let require = SignaturePolicy::Require;
        assert_eq!(
            check(require, std::slice::from_ref(&root), b"manifest", signature),
            Ok(true)
        );
        assert!(
            check(
                require,
                std::slice::from_ref(&root),
                b"manifest!",
                signature
            )
            .is_err()
        );
        assert!(
            check(
                SignaturePolicy::Warn,
                &[stranger.unwrap()],
                b"manifest",
                signature
            )
            .is_err()
        );
        assert!(check(require, &[root], b"manifest", None).is_err());
        assert_eq!(
            check(SignaturePolicy::Warn, &[], b"manifest", None),
            Ok(false)
        );
        assert_eq!(
            check(SignaturePolicy::Off, &[], b"manifest", signature),
            Ok(false)
        );
    }
}
