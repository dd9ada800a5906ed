//! `auth`: who is calling (contract 2, steps 3 and 4; contract 7).

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, CACHE_CONTROL};
use http::{HeaderMap, HeaderName, HeaderValue};
use svc_core::fault::{Code, Fault};
use svc_core::secret;
use svc_core::surface::Surface;
use svc_core::time::Timestamp;
use svc_store::api_key::{self, LAST_USED_STEP_MS, Status};
use svc_store::{Store, StoreError, agent_credential};
use tokio::runtime::Handle;

use super::Filter;
use crate::caller::Caller;
use crate::exchange::Exchange;
use crate::fact::Fact;
use crate::lately::{Lately, Miss};
use crate::moment;
use crate::strangers::{self, Failure};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

pub(super) struct Auth;

impl Filter for Auth {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Caller]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            exchange
                .headers
                .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            strangers::admit(exchange)?;
            match authenticate(exchange).await {
                Ok(caller) => {
                    exchange.trail.knows(&caller);
                    exchange.facts.caller = Some(caller);
                    Ok(())
                }
                Err(refusal) => {
                    if let Refusal::Failed(failure) = &refusal {
                        strangers::refuse_as(exchange, failure.clone());
                    }
                    Err(refusal.into())
                }
            }
        })
    }
}

/// Who it is that was let in before, by what holds now. A request that is refused here has rows of its own, so it is
/// not counted among those of strangers.
///
/// # Errors
/// As the filter's.
pub(crate) async fn recognize(exchange: &Exchange) -> Result<Arc<Caller>, Fault> {
    Ok(authenticate(exchange).await?)
}

/// Why nobody is known.
pub enum Refusal {
    Failed(Failure),
    Unavailable(StoreError),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Failed(Failure { code, reason, .. }) => {
                let fault = code.fault().because(reason);
                if code == Code::AgentCredentialRevoked {
                    fault.detail("reason", reason)
                } else {
                    fault
                }
            }
            Refusal::Unavailable(error) => {
                Self::unavailable(format_args!("authentication: {error}"))
            }
        }
    }
}

fn refused(reason: &'static str) -> Refusal {
    Refusal::Failed(Failure::unknown(Code::InvalidApiKey, reason))
}

async fn authenticate(exchange: &Exchange) -> Result<Arc<Caller>, Refusal> {
    let gateway = &exchange.gateway;
    let sent = Sent {
        headers: &exchange.head.headers,
        surface: exchange.surface,
        at: exchange.now,
    };
    let callers = &gateway.callers;
    callers
        .authenticate(&gateway.store, sent, &gateway.background)
        .await
}

/// What authentication looks at.
#[derive(Clone, Copy)]
pub struct Sent<'a> {
    /// Looked at for `Authorization`, and on the messages surface for `x-api-key` (contract 7).
    pub headers: &'a HeaderMap,
    pub surface: Surface,
    /// When it counts as used.
    pub at: Timestamp,
}

/// What a bearer token may be; its prefix says it (contract 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ApiKey,
    AgentCredential,
}

impl Kind {
    const fn expired(self) -> Code {
        match self {
            Self::ApiKey => Code::InvalidApiKey,
            Self::AgentCredential => Code::AgentCredentialExpired,
        }
    }

    const fn unknown(self) -> Code {
        match self {
            Self::ApiKey => Code::InvalidApiKey,
            Self::AgentCredential => Code::AgentCredentialNotFound,
        }
    }
}

fn kind(token: &str) -> Result<Kind, Refusal> {
    if token.starts_with(secret::AGENT_PREFIX) {
        return match secret::agent_mode(token) {
            Some(_) => Ok(Kind::AgentCredential),
            None => Err(Refusal::Failed(Failure::unknown(
                Kind::AgentCredential.unknown(),
                "malformed",
            ))),
        };
    }
    match secret::api_key_mode(token) {
        Some(_) => Ok(Kind::ApiKey),
        None => Err(refused("malformed")),
    }
}

/// A credential as it is looked up, for whoever asks about it again when its headers are gone.
#[derive(Clone, Copy)]
pub(crate) struct Presented {
    kind: Kind,
    digest: [u8; 32],
}

impl Presented {
    /// What these headers present.
    pub(crate) fn read(headers: &HeaderMap, surface: Surface) -> Result<Self, Refusal> {
        let token = token(headers, surface)?;
        Ok(Self {
            kind: kind(&token)?,
            digest: secret::digest(&token),
        })
    }
}

/// The bearer token; where there is none, the key that SDKs of the messages format send (contract 7).
fn token(headers: &HeaderMap, surface: Surface) -> Result<Cow<'_, str>, Refusal> {
    if surface != Surface::Messages || headers.contains_key(AUTHORIZATION) {
        return bearer(headers);
    }
    let mut sent = headers.get_all(X_API_KEY).iter();
    match (sent.next(), sent.next()) {
        (Some(value), None) => Ok(readable(value.as_bytes())),
        _ => Err(refused("missing")),
    }
}

/// The token of exactly one `Authorization: Bearer` header; the scheme's case does not matter.
fn bearer(headers: &HeaderMap) -> Result<Cow<'_, str>, Refusal> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (sent.next(), sent.next()) else {
        return Err(refused("missing"));
    };
    let value = value.as_bytes();
    let space = value.iter().position(|byte| *byte == b' ');
    let (scheme, token) = space
        .and_then(|at| value.split_at_checked(at))
        .ok_or(refused("malformed"))?;
    if scheme.eq_ignore_ascii_case(b"bearer") {
        Ok(readable(token.trim_ascii()))
    } else {
        Err(refused("malformed"))
    }
}

/// A token as text. What is none has marks in its place, so that its prefix still tells what it was meant to be.
fn readable(token: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(token)
}

/// The address, or of IPv6 its /64: one customer has all of it, and counting its addresses singly would count nothing.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((u128::from(v6) & (u128::MAX << 64)).into()),
        },
    }
}

/// Callers held at once; more are read from the store each time.
const MAX_CALLERS: u64 = 100_000;

/// Keys that were found good lately. Failures are never kept: a new key works at once.
pub struct Callers(Lately<[u8; 32], Arc<Caller>>);

impl Default for Callers {
    fn default() -> Self {
        Self(Lately::grouped(MAX_CALLERS, organization))
    }
}

/// Whose settings a caller's verdict contains.
fn organization(caller: &Arc<Caller>) -> Option<&str> {
    Some(&caller.organization_id)
}

/// Why a lookup finds no caller.
#[derive(Clone)]
enum Missed {
    Failed(Failure),
    Store(StoreError),
}

impl Missed {
    const fn unknown(code: Code) -> Self {
        Self::Failed(Failure::unknown(code, "unknown"))
    }

    /// A credential that no longer holds.
    fn over(credential: impl Into<Caller>, code: Code, reason: &'static str) -> Self {
        Self::Failed(Failure::of(&credential.into(), code, reason))
    }
}

impl Miss for Missed {
    fn is_outage(&self) -> bool {
        match self {
            Self::Failed(_) => false,
            Self::Store(error) => error.is_outage(),
        }
    }
}

impl Callers {
    /// A credential was changed or revoked: this replica knows at once (contract 9).
    pub fn forget(&self, digest: &[u8; 32]) {
        self.0.forget(digest);
    }

    /// What holds for all callers of an organization was changed: this replica knows at once.
    pub fn forget_organization(&self, org_id: &str) {
        self.0.forget_group(org_id);
    }

    /// Who sends a request.
    ///
    /// # Errors
    /// Nobody who is known, or no way to know.
    pub async fn authenticate(
        &self,
        store: &Store,
        sent: Sent<'_>,
        background: &Handle,
    ) -> Result<Arc<Caller>, Refusal> {
        let presented = Presented::read(sent.headers, sent.surface)?;
        self.find(store, presented, sent.at, background).await
    }

    /// As [`Self::authenticate`], by what was presented.
    pub(crate) async fn find(
        &self,
        store: &Store,
        Presented { kind, digest }: Presented,
        at: Timestamp,
        background: &Handle,
    ) -> Result<Arc<Caller>, Refusal> {
        let found = self
            .0
            .get(&digest, || load(store, kind, digest, background))
            .await;
        let caller = found.map_err(|missed| match missed {
            Missed::Failed(failure) => Refusal::Failed(failure),
            Missed::Store(error) => Refusal::Unavailable(error),
        })?;
        if caller.expires_at.is_some_and(|end| end <= at) {
            let failure = Failure::of(&caller, kind.expired(), "expired");
            return Err(Refusal::Failed(failure));
        }
        Ok(caller)
    }
}

/// The caller with this digest; refused where the credential does not exist, is revoked or has expired.
async fn load(
    store: &Store,
    kind: Kind,
    digest: [u8; 32],
    background: &Handle,
) -> Result<Arc<Caller>, Missed> {
    let caller = match kind {
        Kind::ApiKey => load_key(store, digest).await?,
        Kind::AgentCredential => load_agent(store, digest).await?,
    };
    let caller = Arc::new(caller);
    touch(store, &caller, moment::now(), background);
    Ok(caller)
}

async fn load_key(store: &Store, digest: [u8; 32]) -> Result<Caller, Missed> {
    let now = moment::now();
    let verdict = api_key::find_by_digest(store, &digest, now)
        .await
        .map_err(Missed::Store)?;
    let verdict = verdict.ok_or(Missed::unknown(Code::InvalidApiKey))?;
    // Callers learn no difference to a key that was made up; its organization does.
    let over = |verdict, reason| Err(Missed::over(verdict, Code::InvalidApiKey, reason));
    match verdict.key.status(now) {
        Status::Active => Ok(Caller::from(verdict)),
        Status::Expired => over(verdict, "expired"),
        Status::Revoked => over(verdict, "revoked"),
    }
}

async fn load_agent(store: &Store, digest: [u8; 32]) -> Result<Caller, Missed> {
    use agent_credential::{Issuer, Status};
    let now = moment::now();
    let verdict = agent_credential::find_by_digest(store, &digest, now)
        .await
        .map_err(Missed::Store)?;
    let verdict = verdict.ok_or(Missed::unknown(Code::AgentCredentialNotFound))?;
    // Contract 7: what became of the application comes first.
    let code = match verdict.issuer {
        Issuer::Stands => None,
        Issuer::ApplicationRevoked => Some(Code::DeveloperCredentialRevoked),
        Issuer::ApplicationMissing => Some(Code::DeveloperCredentialNotFound),
    };
    if let Some(code) = code {
        return Err(Missed::over(verdict, code, "application_over"));
    }
    let (code, reason) = match verdict.credential.status(verdict.line.archived_at(), now) {
        Status::Active => return Ok(Caller::from(verdict)),
        Status::Expired => (Code::AgentCredentialExpired, "expired"),
        Status::Revoked => (Code::AgentCredentialRevoked, "revoked"),
        Status::Suspended => (Code::AgentCredentialRevoked, "agent_archived"),
    };
    Err(Missed::over(verdict, code, reason))
}

/// Notes the use of a key, off the request path and at most once a minute.
fn touch(store: &Store, caller: &Arc<Caller>, now: Timestamp, background: &Handle) {
    if caller
        .last_used_at
        .is_some_and(|last| now.0 - last.0 < LAST_USED_STEP_MS)
    {
        return;
    }
    let (store, caller) = (store.clone(), Arc::clone(caller));
    background.spawn(async move {
        let id = &caller.key_id;
        let touched = if caller.agent.is_some() {
            agent_credential::touch(&store, id, now).await
        } else {
            api_key::touch(&store, id, now).await
        };
        let what = "the last use of a credential could not be noted";
        store.told_of(what, id, &touched);
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn token(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        bearer(&headers).ok().map(Cow::into_owned)
    }

    #[test]
    fn exactly_one_bearer_header_counts() {
        assert_eq!(token(&["bEaReR abc"]).as_deref(), Some("abc"));
        for bad in [
            &[][..],
            &["Bearer a", "Bearer a"],
            &["Basic abc"],
            &["Bearer"],
        ] {
            assert_eq!(token(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_messages_sdks_key_counts_where_authorization_is_absent() {
        let mut headers = HeaderMap::new();
        headers.insert(X_API_KEY, HeaderValue::from_static("abc"));
        let token = |headers: &HeaderMap| {
            let token = super::token(headers, Surface::Messages);
            token.ok().map(Cow::into_owned)
        };
        assert_eq!(token(&headers).as_deref(), Some("abc"));
        assert!(super::token(&headers, Surface::ChatCompletions).is_err());
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer def"));
        assert_eq!(token(&headers).as_deref(), Some("def"));
    }

    #[test]
    fn a_prefix_tells_what_a_malformed_token_was_meant_to_be() {
        let code = |sent: &[u8], name| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_bytes(sent).unwrap());
            match super::token(&headers, Surface::Messages).and_then(|token| kind(&token)) {
                Err(Refusal::Failed(failure)) => Some(failure.code),
                _ => None,
            }
        };
        for (token, wanted) in [
            (&b"svc_agt_short"[..], Code::AgentCredentialNotFound),
            ("svc_agt_ééé".as_bytes(), Code::AgentCredentialNotFound),
            (b"svc_agt_\xff", Code::AgentCredentialNotFound),
            ("svc_api_live_é".as_bytes(), Code::InvalidApiKey),
            ("é".as_bytes(), Code::InvalidApiKey),
        ] {
            assert_eq!(code(token, X_API_KEY), Some(wanted), "{token:?}");
            let bearer = [b"Bearer ", token].concat();
            assert_eq!(code(&bearer, AUTHORIZATION), Some(wanted), "{token:?}");
        }
    }

    #[test]
    fn addresses_are_counted_by_customer() {
        let same = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1"));
    }
}
