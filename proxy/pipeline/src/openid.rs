//! Signing in through an OpenID provider: what pages ask of the one that the operator has configured.

use futures_util::future::BoxFuture;
use svc_store::identity::Identity;

/// What ties the answer of a provider to the browser that asked (OpenID Connect Core 1.0, 3.1.2.1; RFC 7636). Never
/// stored: whoever sent the browser away computes it again.
#[derive(Clone)]
pub struct Proof {
    pub state: String,
    pub nonce: String,
    /// 43 to 128 unreserved characters.
    pub code_verifier: String,
}

/// Somebody whom the provider vouches for.
#[derive(Debug)]
pub struct Vouched {
    pub identity: Identity,
    /// Present only where the provider says that it has verified it, and the operator takes addresses of its domain. An
    /// error where it could not be asked for; whose identity is known needs none.
    pub email: Result<Option<String>, OpenIdError>,
}

/// Why nobody is vouched for. No text of the provider is shown to anybody.
#[derive(Debug, thiserror::Error)]
pub enum OpenIdError {
    /// The provider does not answer, or not as one.
    #[error("the OpenID provider cannot be used: {0}")]
    Unavailable(String),
    /// The code or the token is not good.
    #[error("the OpenID provider's answer is refused: {0}")]
    Refused(String),
}

/// The configured provider.
pub trait OpenId: Send + Sync {
    /// What people call it: the text of the button.
    fn label(&self) -> &str;

    /// As the provider writes it, to the byte.
    fn issuer(&self) -> &str;

    /// Where a browser goes to sign in.
    fn authorization_url<'a>(
        &'a self,
        proof: &'a Proof,
    ) -> BoxFuture<'a, Result<String, OpenIdError>>;

    /// Redeems a code and judges the token that it gives.
    fn redeem<'a>(
        &'a self,
        code: String,
        proof: &'a Proof,
    ) -> BoxFuture<'a, Result<Vouched, OpenIdError>>;
}
