//! The OpenID provider that people of the dashboard may sign in at (OpenID Connect Core 1.0, authorization code flow
//! with PKCE). What it says of itself is kept for an hour and asked for again when a key is new.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, header};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreErrorResponseType, CoreIdToken,
    CoreIdTokenClaims, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreUserInfoClaims,
};
use openidconnect::{
    AccessToken, AsyncHttpClient, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId,
    ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, StandardErrorResponse, TokenResponse,
};
use svc_pipeline::openid::{OpenId, OpenIdError, Proof, Vouched};
use svc_pipeline::upstream::{
    ChosenBy, Connector, Deadlines, OutboundRequest, Reached, Repetition, Target, Unread,
    UpstreamError, whole,
};
use svc_store::identity::Identity;
use tokio::sync::Mutex;
use url::Url;

/// The path that the provider sends browsers back to; registered there below the gateway's address.
pub const CALLBACK: &str = "/ui/login/openid/callback";

/// How long what a provider says of itself is believed.
const FRESH: Duration = Duration::from_secs(3_600);
/// The shortest time between two looks at its keys, so that forged tokens cause no flood.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Longest answer of a provider: its document, its keys, a token.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;
const DEADLINES: Deadlines = Deadlines {
    connect: Duration::from_secs(5),
    head: Duration::from_secs(10),
    idle: Duration::from_secs(10),
    total: Duration::from_secs(20),
};

/// What the operator says of the provider.
pub struct Settings {
    /// Without `/.well-known/openid-configuration`.
    pub issuer: String,
    pub client_id: String,
    /// `None`: a public client, which PKCE alone protects.
    pub client_secret: Option<String>,
    pub label: String,
    /// Domains of addresses that accounts are found by; empty: all.
    pub email_domains: Vec<String>,
    pub ca_file: Option<PathBuf>,
    /// The gateway's own address, without a slash at its end.
    pub base_url: String,
}

/// A provider that cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the issuer is no https:// address (http:// is for loopback alone)")]
    Issuer,
    #[error("client_id is empty")]
    ClientId,
    #[error("the gateway's address is none: {0}")]
    BaseUrl(url::ParseError),
}

/// The provider, asked through the gateway's connector.
pub struct Provider {
    issuer: IssuerUrl,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    label: String,
    email_domains: Vec<String>,
    redirect_url: RedirectUrl,
    http: Http,
    known: ArcSwapOption<Known>,
    /// One question at a time, and when the last one got no answer.
    asking: Mutex<Option<Instant>>,
}

struct Known {
    metadata: CoreProviderMetadata,
    asked_at: Instant,
}

type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

impl Provider {
    /// # Errors
    /// Settings that can be no provider's.
    pub fn new(settings: Settings, connector: Arc<dyn Connector>) -> Result<Self, SettingsError> {
        let Settings {
            issuer,
            client_id,
            client_secret,
            label,
            email_domains,
            ca_file,
            base_url,
        } = settings;
        let issuer = IssuerUrl::new(issuer).map_err(|_| SettingsError::Issuer)?;
        if !is_trustworthy(issuer.url()) {
            return Err(SettingsError::Issuer);
        }
        if client_id.is_empty() {
            return Err(SettingsError::ClientId);
        }
        let redirect_url = RedirectUrl::new(format!("{base_url}{CALLBACK}"));
        Ok(Self {
            issuer,
            client_id: ClientId::new(client_id),
            client_secret: client_secret.map(ClientSecret::new),
            label,
            email_domains,
            redirect_url: redirect_url.map_err(SettingsError::BaseUrl)?,
            http: Http { connector, ca_file },
            known: ArcSwapOption::empty(),
            asking: Mutex::new(None),
        })
    }

    /// What the provider says of itself, at most this old.
    async fn known(&self, at_most: Duration) -> Result<Arc<Known>, OpenIdError> {
        let fresh = || {
            let known = self.known.load_full();
            known.filter(|known| known.asked_at.elapsed() < at_most)
        };
        if let Some(known) = fresh() {
            return Ok(known);
        }
        let mut failed_at = self.asking.lock().await;
        // Somebody else may have asked meanwhile.
        if let Some(known) = fresh() {
            return Ok(known);
        }
        if failed_at.is_some_and(|at| at.elapsed() < LOOK_AGAIN) {
            return Err(OpenIdError::Unavailable(
                "it did not answer lately".to_owned(),
            ));
        }
        let metadata = CoreProviderMetadata::discover_async(self.issuer.clone(), &self.http).await;
        *failed_at = metadata.is_err().then(Instant::now);
        let metadata = metadata.map_err(unavailable)?;
        let known = Arc::new(Known {
            metadata,
            asked_at: Instant::now(),
        });
        self.known.store(Some(known.clone()));
        Ok(known)
    }

    fn client(&self, metadata: &CoreProviderMetadata) -> Client {
        let client = CoreClient::from_provider_metadata(
            metadata.clone(),
            self.client_id.clone(),
            self.client_secret.clone(),
        );
        let client = client.set_redirect_uri(self.redirect_url.clone());
        let methods = metadata.token_endpoint_auth_methods_supported();
        let takes = |method| methods.is_none_or(|methods| methods.contains(&method));
        if takes(CoreClientAuthMethod::ClientSecretBasic) {
            client
        } else {
            client.set_auth_type(AuthType::RequestBody)
        }
    }

    /// The claims of a token that is good.
    fn judge<'a>(
        &self,
        token: &'a CoreIdToken,
        metadata: &CoreProviderMetadata,
        nonce: &Nonce,
    ) -> Result<&'a CoreIdTokenClaims, ClaimsVerificationError> {
        // What only the secret signs proves nothing that the secret does not, and "none" proves nothing.
        let algorithms = metadata.id_token_signing_alg_values_supported().iter();
        let algorithms = algorithms.filter(|algorithm| is_asymmetric(algorithm));
        let client = self.client(metadata);
        let verifier = client
            .id_token_verifier()
            .set_allowed_algs(algorithms.cloned());
        token.claims(&verifier, nonce)
    }

    async fn vouched(&self, code: String, proof: &Proof) -> Result<Vouched, OpenIdError> {
        let mut known = self.known(FRESH).await?;
        let client = self.client(&known.metadata);
        let exchange = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(unavailable)?
            .set_pkce_verifier(PkceCodeVerifier::new(proof.code_verifier.clone()));
        let answer = exchange
            .request_async(&self.http)
            .await
            .map_err(unredeemed)?;
        let token = answer
            .id_token()
            .ok_or_else(|| OpenIdError::Refused("no ID token".to_owned()))?;
        let nonce = Nonce::new(proof.nonce.clone());
        let mut judged = self.judge(token, &known.metadata, &nonce);
        if matches!(
            judged,
            Err(ClaimsVerificationError::SignatureVerification(_))
        ) {
            // The provider may have a new key.
            known = self.known(LOOK_AGAIN).await?;
            judged = self.judge(token, &known.metadata, &nonce);
        }
        let claims = judged.map_err(|error| OpenIdError::Refused(why(&error)))?;
        let email = match (claims.email(), claims.email_verified()) {
            (Some(email), Some(true)) => Ok(Some(email.to_string())),
            (Some(_), Some(false)) => Ok(None),
            _ => self.email(&client, answer.access_token(), claims).await,
        };
        let email = email.map(|email| email.filter(|email| self.takes(email)));
        Ok(Vouched {
            identity: Identity {
                issuer: self.issuer.to_string(),
                subject: claims.subject().to_string(),
            },
            email,
        })
    }

    /// Whether addresses of this domain count.
    fn takes(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        let mut domains = self.email_domains.iter();
        self.email_domains.is_empty() || domains.any(|known| known.eq_ignore_ascii_case(domain))
    }

    /// The verified address, from where providers keep it that put little into tokens (OpenID Connect Core 1.0, 5.4).
    async fn email(
        &self,
        client: &Client,
        token: &AccessToken,
        claims: &CoreIdTokenClaims,
    ) -> Result<Option<String>, OpenIdError> {
        let subject = Some(claims.subject().clone());
        // Providers without such an endpoint have told all that they tell.
        let Ok(request) = client.user_info(token.clone(), subject) else {
            return Ok(None);
        };
        let asked = request.request_async(&self.http).await;
        let about: CoreUserInfoClaims = asked.map_err(unavailable)?;
        let verified = about.email_verified() == Some(true);
        Ok(about
            .email()
            .filter(|_| verified)
            .map(|email| email.to_string()))
    }
}

impl OpenId for Provider {
    fn label(&self) -> &str {
        &self.label
    }

    fn issuer(&self) -> &str {
        self.issuer.as_str()
    }

    fn authorization_url<'a>(
        &'a self,
        proof: &'a Proof,
    ) -> BoxFuture<'a, Result<String, OpenIdError>> {
        Box::pin(async move {
            let known = self.known(FRESH).await?;
            let verifier = PkceCodeVerifier::new(proof.code_verifier.clone());
            let client = self.client(&known.metadata);
            let (state, nonce) = (proof.state.clone(), proof.nonce.clone());
            let asked = client.authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || CsrfToken::new(state),
                move || Nonce::new(nonce),
            );
            let asked = asked
                .add_scope(Scope::new("email".to_owned()))
                .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
            let (url, _, _) = asked.url();
            Ok(url.into())
        })
    }

    fn redeem<'a>(
        &'a self,
        code: String,
        proof: &'a Proof,
    ) -> BoxFuture<'a, Result<Vouched, OpenIdError>> {
        Box::pin(self.vouched(code, proof))
    }
}

/// HTTPS, or plain HTTP that does not leave the machine.
fn is_trustworthy(url: &Url) -> bool {
    let is_loopback = || match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || url.scheme() == "http" && is_loopback()
}

const fn is_asymmetric(algorithm: &CoreJwsSigningAlgorithm) -> bool {
    !matches!(
        algorithm,
        CoreJwsSigningAlgorithm::None
            | CoreJwsSigningAlgorithm::HmacSha256
            | CoreJwsSigningAlgorithm::HmacSha384
            | CoreJwsSigningAlgorithm::HmacSha512
    )
}

fn unavailable(error: impl std::error::Error) -> OpenIdError {
    OpenIdError::Unavailable(why(&error))
}

/// An error and what caused it. The library's own words and ours; what a provider writes is in none of them.
fn why(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A code that the provider refuses is the browser's trouble; anything else is the provider's or the configuration's.
fn unredeemed(
    error: RequestTokenError<HttpError, StandardErrorResponse<CoreErrorResponseType>>,
) -> OpenIdError {
    let RequestTokenError::ServerResponse(answer) = &error else {
        return unavailable(error);
    };
    match answer.error() {
        CoreErrorResponseType::InvalidGrant => {
            OpenIdError::Refused("the code is not redeemed".to_owned())
        }
        CoreErrorResponseType::InvalidClient | CoreErrorResponseType::UnauthorizedClient => {
            OpenIdError::Unavailable("it does not know this client or its secret".to_owned())
        }
        _ => OpenIdError::Unavailable("it refused the request for a token".to_owned()),
    }
}

/// The gateway's connector as the library wants it: one request, one whole answer, no redirects.
#[derive(Clone)]
struct Http {
    connector: Arc<dyn Connector>,
    ca_file: Option<PathBuf>,
}

/// Why a provider gave no answer.
#[derive(Debug, thiserror::Error)]
enum HttpError {
    #[error("an address of the provider is no https:// address")]
    Address,
    #[error("an answer of the provider is too long")]
    TooLong,
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

impl From<Unread> for HttpError {
    fn from(error: Unread) -> Self {
        match error {
            Unread::TooLong => Self::TooLong,
            Unread::Upstream(error) => Self::Upstream(error),
        }
    }
}

impl<'c> AsyncHttpClient<'c> for Http {
    type Error = HttpError;
    type Future = BoxFuture<'static, Result<HttpResponse, HttpError>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        self.clone().send(request)
    }
}

impl Http {
    fn send(self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let url = Url::parse(&parts.uri.to_string()).map_err(|_| HttpError::Address)?;
            let target = self.target(&url)?;
            let mut headers: HeaderMap = parts.headers;
            if !headers.contains_key(header::ACCEPT) {
                headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
            }
            let path = parts.uri.path_and_query();
            let request = OutboundRequest {
                repetition: Repetition::of(&parts.method),
                method: parts.method,
                path_and_query: path.map_or_else(|| "/".to_owned(), ToString::to_string),
                headers,
                body: Bytes::from(body),
                reached: Reached::default(),
            };
            let answer = self.connector.send(Arc::new(target), request).await?;
            let mut response = HttpResponse::new(whole(answer.body, MAX_ANSWER_BYTES).await?);
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }

    fn target(&self, url: &Url) -> Result<Target, HttpError> {
        let host = url.host_str().filter(|_| is_trustworthy(url));
        let host = host.ok_or(HttpError::Address)?;
        Ok(Target {
            // A provider may keep its keys on another host.
            name: format!("openid/{}", url.authority()).into(),
            chosen_by: ChosenBy::Operator,
            tls: url.scheme() == "https",
            host: host.trim_start_matches('[').trim_end_matches(']').into(),
            port: url.port_or_known_default().ok_or(HttpError::Address)?,
            base_path: "".into(),
            ca_file: self.ca_file.clone(),
            deadlines: DEADLINES,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn plain_http_stays_on_the_machine() {
        for good in [
            "https://login.example",
            "http://127.0.0.1:8000",
            "http://[::1]/x",
            "http://localhost:1",
        ] {
            assert!(is_trustworthy(&Url::parse(good).unwrap()), "{good}");
        }
        for bad in [
            "http://login.example",
            "http://10.0.0.1",
            "ftp://login.example",
            "http://localhost.example",
        ] {
            assert!(!is_trustworthy(&Url::parse(bad).unwrap()), "{bad}");
        }
    }

    #[test]
    fn only_a_key_of_the_providers_own_signs() {
        assert!(is_asymmetric(
            &CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256
        ));
        assert!(is_asymmetric(&CoreJwsSigningAlgorithm::EcdsaP256Sha256));
        assert!(is_asymmetric(&CoreJwsSigningAlgorithm::EdDsa));
        assert!(!is_asymmetric(&CoreJwsSigningAlgorithm::None));
        assert!(!is_asymmetric(&CoreJwsSigningAlgorithm::HmacSha256));
    }
}
