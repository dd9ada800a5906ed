//! Credentials of other services as requests use them: by the alias that a project has bound them to (contract 11).
//! What was found is at most two seconds old, or thirty while the store is down (contract 19.5). The binding of a
//! credential that is revoked in it is stale, and nothing goes out.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use svc_core::address::Base;
use svc_core::fault::{Code, Fault};
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_store::StoreError;
use svc_store::api_key::LAST_USED_STEP_MS;
use svc_store::binding::{self, Usable};
use svc_store::integration::{self, Auth, Integration};
use svc_store::ledger::BilledTo;
use svc_store::seal::Content;

use crate::caller::Caller;
use crate::feature::Lack;
use crate::gateway::Gateway;
use crate::inference::{Breaker, Observed};
use crate::lately::Lately;
use crate::provider::{Credential, Provider};
use crate::upstream::{ChosenBy, Deadlines, Target};

/// Organizations held at once, live and test apart; more are read from the store each time.
const MAX_ORGANIZATIONS: u64 = 10_000;

type Key = (String, Mode);

/// The bindings of organizations that were asked for lately.
pub struct Bindings(Lately<Key, Arc<Bound>>);

/// All bindings of one organization and mode.
pub struct Bound(Vec<Arc<Way>>);

/// One binding, ready to be used.
pub struct Way {
    pub binding_id: String,
    pub integration_id: String,
    project_id: String,
    pub alias: String,
    /// `None`: any path below the base address.
    allowed_paths: Option<Vec<String>>,
    pub state: Result<Ready, Unusable>,
    last_used_at: AtomicI64,
}

/// Where a binding leads.
pub struct Ready {
    /// The base address, with its deadlines; chosen by the caller, so that every address it has is vetted (contract
    /// 15.4).
    pub target: Arc<Target>,
    /// Carries the credential.
    pub header: (HeaderName, HeaderValue),
    /// The same service as a provider of models.
    provider: Arc<Provider>,
}

/// Why nothing may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// The credential is revoked.
    Stale,
    /// The address is none that callers may choose any more.
    Forbidden,
}

/// `details.reason` where a binding does not allow the path.
pub const PATH_NOT_ALLOWED: &str = "path_not_allowed";

impl Unusable {
    /// The word of `details.reason`.
    const fn word(self) -> &'static str {
        match self {
            Self::Stale => "credential_revoked",
            Self::Forbidden => "blocked_address",
        }
    }
}

impl Default for Bindings {
    fn default() -> Self {
        Self(Lately::new(MAX_ORGANIZATIONS))
    }
}

impl Bindings {
    /// Something was rotated, revoked, bound or unbound: this replica knows at once.
    pub fn forget(&self, org_id: &str, mode: Mode) {
        self.0.forget(&(org_id.to_owned(), mode));
    }

    /// The bindings of the caller's organization and mode.
    ///
    /// # Errors
    /// 503 while the store does not answer and nothing recent is known.
    pub async fn of(&self, gateway: &Gateway, caller: &Caller) -> Result<Arc<Bound>, Fault> {
        let key = (caller.organization_id.clone(), caller.mode);
        let found = self.0.get(&key, || self.read(gateway, &key)).await;
        found.map_err(|error| Fault::unavailable(format_args!("bindings: {error}")))
    }

    async fn read(&self, gateway: &Gateway, key: &Key) -> Result<Arc<Bound>, StoreError> {
        let (org_id, mode) = key;
        let usable = binding::usable(&gateway.store, org_id, *mode).await?;
        let before = self.0.known(key);
        let ways = usable
            .into_iter()
            .map(|usable| Arc::new(way(usable, gateway, before.as_deref())));
        Ok(Arc::new(Bound(ways.collect())))
    }
}

impl Bound {
    /// What the project calls by this alias.
    pub fn find(&self, project_id: &str, alias: &str) -> Option<&Arc<Way>> {
        self.0
            .iter()
            .find(|way| way.alias == alias && way.project_id == project_id)
    }
}

impl Way {
    /// The service as a provider of models. One that cannot be used, or whose organization may use none, is not replaced
    /// by the operator's: who pays, and who gets the content, does not change unasked (contract 11).
    ///
    /// # Errors
    /// 403.
    pub(crate) fn provider(&self, lack: Option<Lack>) -> Result<&Arc<Provider>, Fault> {
        match (&self.state, lack) {
            (_, Some(lack)) => Err(self.refused(lack.word())),
            (Ok(ready), None) => Ok(&ready.provider),
            (Err(unusable), None) => Err(self.refused(unusable.word())),
        }
    }

    /// Whether a path below the base address may be called.
    pub fn allows(&self, path: &str) -> bool {
        is_allowed(path, self.allowed_paths.as_deref())
    }

    /// Lets a driver's request through whose path below the base address may be called.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn admit(&self, path_and_query: &str) -> Result<(), Fault> {
        let path = path_and_query.split('?').next().unwrap_or_default();
        match self.allows(path) {
            true => Ok(()),
            false => Err(self.refused(PATH_NOT_ALLOWED)),
        }
    }

    fn refused(&self, reason: &str) -> Fault {
        let message = "The organization's own credential for this provider cannot be used.";
        let fault = Fault::new(Code::IntegrationsDisabled, message);
        let fault = fault.detail("reason", reason);
        fault.detail("integration_id", self.integration_id.as_str())
    }

    /// Notes the use of the credential, off the request path and at most once a minute.
    pub fn touch(&self, gateway: &Gateway, now: Timestamp) {
        let last = self.last_used_at.load(Ordering::Relaxed);
        let is_due = now.0 - last >= LAST_USED_STEP_MS;
        let is_mine = is_due
            && self
                .last_used_at
                .compare_exchange(last, now.0, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !is_mine {
            return;
        }
        let (store, id) = (gateway.store.clone(), self.integration_id.clone());
        gateway.background.spawn(async move {
            let touched = integration::touch(&store, &id, now).await;
            let what = "the last use of an integration could not be noted";
            store.told_of(what, &id, &touched);
        });
    }
}

fn way(usable: Usable, gateway: &Gateway, before: Option<&Bound>) -> Way {
    let Usable {
        binding,
        integration,
        secret,
    } = usable;
    let state = match &secret {
        None => Err(Unusable::Stale),
        Some(secret) => ready(&integration, &binding.alias, secret, gateway),
    };
    let state = state.map(|ready| keep_health(ready, &binding.id, before));
    Way {
        binding_id: binding.id,
        integration_id: integration.id,
        project_id: binding.project_id,
        alias: binding.alias,
        allowed_paths: binding.allowed_paths,
        state,
        last_used_at: AtomicI64::new(integration.last_used_at.map_or(0, |at| at.0)),
    }
}

fn ready(
    integration: &Integration,
    alias: &str,
    secret: &Content,
    gateway: &Gateway,
) -> Result<Ready, Unusable> {
    let settings = &gateway.settings;
    let base = Base::read(&integration.base_url, &settings.addresses);
    let base = base.map_err(|_| Unusable::Forbidden)?;
    let header = header(&integration.auth, secret).ok_or(Unusable::Forbidden)?;
    let target = target(integration, base, settings.integration_deadlines);
    let operators = gateway.providers.live.get(alias);
    let deadlines = operators.map_or(target.deadlines, |known| known.target.deadlines);
    let provider = Provider {
        target: Arc::new(Target {
            deadlines,
            ..target.clone()
        }),
        credential: Credential::Header(header.0.clone(), header.1.clone()),
        breaker: Breaker::default(),
        observed: Observed::default(),
        billed_to: BilledTo::Organization,
    };
    Ok(Ready {
        target: Arc::new(target),
        header,
        provider: Arc::new(provider),
    })
}

/// `/fhir/*` allows everything below `/fhir/`; any other pattern allows itself.
fn is_allowed(path: &str, patterns: Option<&[String]>) -> bool {
    let Some(patterns) = patterns else {
        return true;
    };
    patterns
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix) && path.len() > prefix.len(),
            None => path == pattern,
        })
}

/// The circuit of a provider outlives what was read of it, as long as it is the same one.
fn keep_health(ready: Ready, binding_id: &str, before: Option<&Bound>) -> Ready {
    let known = before.and_then(|bound| bound.0.iter().find(|way| way.binding_id == binding_id));
    match known.map(|way| &way.state) {
        Some(Ok(known)) if known.target.name == ready.target.name => Ready {
            provider: Arc::clone(&known.provider),
            ..ready
        },
        _ => ready,
    }
}

/// Credentials never share connections, nor does a secret with the one before it.
fn target(integration: &Integration, base: Base, deadlines: Deadlines) -> Target {
    let Base {
        tls,
        host,
        port,
        path,
    } = base;
    Target {
        name: format!("{}:{}", integration.id, integration.secret_version).into(),
        chosen_by: ChosenBy::Caller {
            label: "integration",
        },
        tls,
        host: host.into(),
        port,
        base_path: path.into(),
        ca_file: None,
        deadlines,
    }
}

/// The header that presents the secret.
fn header(auth: &Auth, secret: &Content) -> Option<(HeaderName, HeaderValue)> {
    let secret = secret.as_str();
    let (name, text) = match auth {
        Auth::Bearer => (AUTHORIZATION, format!("Bearer {secret}")),
        Auth::Basic { username } => {
            let pair = STANDARD.encode(format!("{username}:{secret}"));
            (AUTHORIZATION, format!("Basic {pair}"))
        }
        Auth::Header { name } => (name.parse().ok()?, secret.to_owned()),
    };
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shown(auth: Auth) -> (String, String) {
        let (name, value) = header(&auth, &Content::new("s3cret")).unwrap();
        assert!(value.is_sensitive());
        (name.to_string(), value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_secret_is_presented_as_its_scheme_says() {
        let username = "clinic".to_owned();
        let name = "X-Api-Key".to_owned();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(shown(Auth::Bearer), pair("authorization", "Bearer s3cret"));
        // RFC 7617, 2: base64 of `clinic:s3cret`.
        assert_eq!(
            shown(Auth::Basic { username }),
            pair("authorization", "Basic Y2xpbmljOnMzY3JldA==")
        );
        assert_eq!(shown(Auth::Header { name }), pair("x-api-key", "s3cret"));
    }

    #[test]
    fn a_pattern_allows_itself_or_what_is_below() {
        let patterns = ["/fhir/*".to_owned(), "/ping".to_owned()];
        let allowed = |path| is_allowed(path, Some(&patterns));
        assert!(allowed("/fhir/Patient/1") && allowed("/ping"));
        for path in ["/fhir", "/fhir/", "/fhirx", "/ping/x", "/pin", "/FHIR/x"] {
            assert!(!allowed(path), "{path}");
        }
        assert!(is_allowed("/anything", None));
    }
}
