//! The rules of delegated access (contract 16) as pure functions: what an application may register, what an
//! authorization request has to say, what of it is granted, and where the answer goes. OAuth 2.1 with PKCE (RFC 7636),
//! rich authorization requests (RFC 9396) and the issuer in the response (RFC 9207).

pub mod authorization;
pub mod detail;
pub mod pkce;
pub mod redirect;

/// What an application is, and with it how it shows who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    /// Keeps a secret.
    Confidential,
    /// Runs in a browser; keeps none.
    Public,
    /// Runs on a device; keeps none, and listens on a loopback port or a scheme of its own.
    Native,
}

impl ClientKind {
    /// The word of `type` (contract 16.1).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Confidential => "confidential",
            Self::Public => "public",
            Self::Native => "native",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Confidential, Self::Public, Self::Native]
            .into_iter()
            .find(|kind| kind.word() == word)
    }

    /// Whether a secret is issued to such an application and asked of it.
    pub const fn has_secret(self) -> bool {
        matches!(self, Self::Confidential)
    }
}
