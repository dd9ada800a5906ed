//! A request of an application, and what a user says to it (contract 16.3). The rules are here; the pages that ask are
//! those of `svc-dashboard`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::grant::{self, Grant};
use svc_core::limit::Rule;
pub use svc_core::oauth::authorization::Refusal;
use svc_core::oauth::authorization::{self, Error, Parameters, UNKNOWN_AGENT};
use svc_core::oauth::detail::{self, Detail};
use svc_core::oauth::redirect;
use svc_core::secret;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::filter::network;
use svc_pipeline::trail::{Entry, Scribe};
use svc_store::agent::{self, Agent, Line};
use svc_store::audit::{self, Actor, ActorKind, Row, Target};
use svc_store::oauth_application::{self, Application};
use svc_store::oauth_authorization::{self as store, CODE_MS, Code, PARKED_MS, Parked};
use svc_store::user::{self, User};
use svc_store::{Store, StoreError, Transaction, TransactionError, agent_credential};

use crate::call::store_fault;

/// A request that says everything it has to, and where its answer goes.
pub struct Asked {
    pub application: Arc<Application>,
    pub agent: Agent,
    parked: Parked,
}

/// What a user is asked to agree to.
pub struct Question {
    pub asked: Asked,
    /// What would be granted, an entry a grant.
    pub grants: Vec<Grant>,
    /// The models that the agent and all that it acts for allow; `None`: any.
    pub allowed_models: Option<Vec<String>>,
    /// What the form of the page brings back, so that what the user says is said of what they saw.
    pub shown: String,
}

/// What becomes of a request.
pub enum Verdict<T> {
    /// It goes on.
    Good(T),
    /// The application is told, at its own address.
    Redirect(String),
    /// Nobody but the user can be told: who asks, or where the answer goes, is in doubt.
    Page(Doubt),
}

/// What an error page says.
pub struct Doubt {
    /// HTTP status of the page.
    pub status: u16,
    /// RFC 6749, 4.1.2.1, for whoever asks for JSON.
    pub error: &'static str,
    /// For people.
    pub words: &'static str,
    pub retry_after_seconds: Option<u64>,
}

/// What a user says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// To what a page showed: [`Question::shown`].
    Allow {
        shown: String,
    },
    Deny,
}

/// What comes of what a user says.
pub enum Decided {
    /// The application is told, at this address.
    Told(String),
    /// Nothing: it is no longer what the user saw. They can be asked again.
    Outdated,
}

/// Why a decision is not done, inside its transaction.
struct Outdated;

/// Random bytes of the id of a parked request and of a code, which are written in base64url: 43 characters.
const SECRET_BYTES: usize = 32;

/// A hospital behind one address whose staff all come back from lunch stays below it.
const REQUESTS_PER_MINUTE: u32 = 300;

impl Doubt {
    const fn invalid(words: &'static str) -> Self {
        Self {
            status: 400,
            error: "invalid_request",
            words,
            retry_after_seconds: None,
        }
    }

    fn fault(fault: &Fault) -> Self {
        let status = fault.code.row().status;
        Self {
            status,
            error: if status == 503 {
                "temporarily_unavailable"
            } else {
                "server_error"
            },
            words: "The service cannot answer right now. Try again in a moment.",
            retry_after_seconds: fault.retry_after_seconds(),
        }
    }
}

const OVER: Doubt = Doubt::invalid(
    "This request is over: it was answered, it waited for more than ten minutes, or it was begun in another session. \
     Start again in the application.",
);
/// A form that says neither yes nor no.
pub const UNDECIDED: Doubt =
    Doubt::invalid("The form says neither yes nor no. Go back and decide.");
/// Contract 16.3: a bad value.
const UNKNOWN_MODEL: Refusal =
    Error::InvalidAuthorizationDetails.because("an entry names a model that does not exist");
const UNKNOWN_APPLICATION: Doubt =
    Doubt::invalid("The application that sent you here is not known, or was revoked.");
const UNKNOWN_ADDRESS: Doubt = Doubt::invalid(
    "The address that the application wants to return to is not one that it has registered.",
);

impl Asked {
    /// Where the answer goes.
    pub fn redirect_uri(&self) -> &str {
        &self.parked.redirect_uri
    }

    fn refused(&self, issuer: &str, refusal: Refusal) -> String {
        let Parked {
            redirect_uri,
            state,
            ..
        } = &self.parked;
        authorization::refused(redirect_uri, issuer, state.as_deref(), refusal)
    }
}

/// Judges what stands in the query of an authorization request, before anybody has signed in.
pub async fn judge(exchange: &Exchange) -> Verdict<Asked> {
    let store = &exchange.gateway.store;
    let parameters = Parameters::read(exchange.head.query.as_deref().unwrap_or_default());
    let (application, redirect_uri) = match addressee(exchange, &parameters).await {
        Ok(found) => found,
        Err(doubt) => return Verdict::Page(doubt),
    };
    let state = parameters.state();
    let refused = |refusal| {
        let issuer = &exchange.gateway.settings.base_url;
        Verdict::Redirect(authorization::refused(
            &redirect_uri,
            issuer,
            state,
            refusal,
        ))
    };
    let request = match parameters.check(&application.writable.details_types) {
        Ok(request) => request,
        Err(refusal) => return refused(refusal),
    };
    let catalogue = &exchange.policy.catalogue;
    let mut models = request.details.iter().flat_map(Detail::models);
    if models.any(|model| catalogue.find(model).is_none()) {
        return refused(UNKNOWN_MODEL);
    }
    let agent = match agent::find_any(store, application.mode, &request.agent_id).await {
        Ok(Some(agent)) => agent,
        Ok(None) => return refused(UNKNOWN_AGENT),
        Err(error) => return refused(trouble(&error)),
    };
    let now = exchange.now;
    let parked = Parked {
        org_id: agent.org_id.clone(),
        mode: application.mode,
        application_id: application.id.clone(),
        state: state.map(str::to_owned),
        code_challenge: request.code_challenge,
        agent_id: request.agent_id,
        details: parameters.details().to_owned(),
        created_at: now,
        expires_at: now.plus_ms(PARKED_MS),
        redirect_uri,
    };
    Verdict::Good(Asked {
        application,
        agent,
        parked,
    })
}

/// Who asks, and where the answer goes.
async fn addressee(
    exchange: &Exchange,
    parameters: &Parameters,
) -> Result<(Arc<Application>, String), Doubt> {
    let client_id = parameters.client_id();
    let client_id = client_id.map_err(|doubt| Doubt::invalid(doubt.0))?;
    let sent = parameters.redirect_uri();
    let sent = sent.map_err(|doubt| Doubt::invalid(doubt.0))?;
    let gateway = &exchange.gateway;
    let found = gateway.applications.find(&gateway.store, client_id).await;
    let found = found.map_err(|error| Doubt::fault(&store_fault(&error)))?;
    let application = found.ok_or(UNKNOWN_APPLICATION)?;
    if has_registered(&application, sent) {
        Ok((application, sent.to_owned()))
    } else {
        Err(UNKNOWN_ADDRESS)
    }
}

fn has_registered(application: &Application, sent: &str) -> bool {
    let mut registered = application.writable.redirect_uris.iter();
    registered.any(|registered| redirect::matches(registered, sent, application.kind))
}

/// Every request that is found good is kept for a while: a network that sends too many is not listened to.
async fn admit(exchange: &Exchange) -> Result<(), Doubt> {
    let rule = Rule::per_minute(REQUESTS_PER_MINUTE);
    let bucket = format!("authorize:{}", network(exchange.head.client));
    let verdict = exchange.gateway.limiter.take(&bucket, rule).await;
    let verdict = verdict.map_err(|fault| Doubt::fault(&fault))?;
    if verdict.allowed {
        return Ok(());
    }
    Err(Doubt {
        status: 429,
        error: "temporarily_unavailable",
        words: "Too many requests came from your address. Try again in a moment.",
        retry_after_seconds: Some(verdict.retry_after_seconds),
    })
}

/// The store's trouble, as the application is told of it.
fn trouble(error: &StoreError) -> Refusal {
    let fault = store_fault(error);
    tracing::error!(
        code = fault.code.word(),
        cause = fault.cause(),
        "authorization request"
    );
    if error.is_outage() {
        Error::TemporarilyUnavailable.because("the service is temporarily unavailable")
    } else {
        Error::ServerError.because("an unexpected error occurred")
    }
}

/// Keeps a request until its user has signed in and decided; `session_id` is that of whoever is signed in already. Its
/// id, which only the user's browser knows.
pub async fn park(exchange: &Exchange, asked: &Asked, session_id: Option<&str>) -> Verdict<String> {
    if let Err(doubt) = admit(exchange).await {
        return Verdict::Page(doubt);
    }
    let id = random();
    let store = &exchange.gateway.store;
    let kept = store::park(store, &secret::digest(&id), &asked.parked, session_id).await;
    match kept {
        Ok(()) => Verdict::Good(id),
        Err(error) => Verdict::Redirect(told(exchange, asked, trouble(&error))),
    }
}

/// Where the answer to the parked request with this id goes, before anybody has claimed it.
///
/// # Errors
/// 503 while the store is down.
pub async fn destination(exchange: &Exchange, id: &str) -> Result<Option<String>, Fault> {
    let store = &exchange.gateway.store;
    let found = store::destination(store, &secret::digest(id), exchange.now).await;
    found.map_err(|error| store_fault(&error))
}

/// The parked request with this id, which is the session's from now on.
pub async fn claim(exchange: &Exchange, id: &str, session_id: &str) -> Verdict<Asked> {
    match claimed(&exchange.gateway.store, id, session_id, exchange).await {
        Ok(Some(asked)) => Verdict::Good(asked),
        Ok(None) => Verdict::Page(OVER),
        Err(error) => Verdict::Page(Doubt::fault(&store_fault(&error))),
    }
}

async fn claimed(
    store: &Store,
    id: &str,
    session_id: &str,
    exchange: &Exchange,
) -> Result<Option<Asked>, StoreError> {
    let digest = secret::digest(id);
    let Some(parked) = store::claim(store, &digest, session_id, exchange.now).await? else {
        return Ok(None);
    };
    let application = oauth_application::find_any(store, &parked.application_id).await?;
    let application = application.filter(|application| {
        application.revoked_at.is_none() && has_registered(application, &parked.redirect_uri)
    });
    let agent = agent::find_any(store, parked.mode, &parked.agent_id).await?;
    Ok(application.zip(agent).map(|(application, agent)| Asked {
        application: Arc::new(application),
        agent,
        parked,
    }))
}

/// Whether this user can be asked, and what for exactly.
pub async fn question(exchange: &Exchange, asked: Asked, user: &User) -> Verdict<Question> {
    let now = exchange.now;
    let found = exchange.gateway.store.transaction({
        let agent_id = asked.agent.id.clone();
        move |mut tx| {
            Box::pin(async move {
                let active = agent_credential::count_active(&mut tx, &agent_id, now).await?;
                Ok::<_, TransactionError<Fault>>(active)
            })
        }
    });
    let active = match found.await {
        Ok(active) => active,
        Err(TransactionError::Store(error)) => {
            return Verdict::Redirect(told(exchange, &asked, trouble(&error)));
        }
        Err(TransactionError::Refused(fault)) => return Verdict::Page(Doubt::fault(&fault)),
    };
    let line = match agent::line_of(&exchange.gateway.store, &asked.agent.id).await {
        Ok(line) => line,
        Err(error) => return Verdict::Redirect(told(exchange, &asked, trouble(&error))),
    };
    match grantable(&asked.application, &line, &asked.parked, user, active) {
        Ok(grants) => Verdict::Good(Question {
            shown: shown(&asked.application, &line, &grants),
            allowed_models: line.allowed_models(),
            grants,
            asked: Asked {
                agent: line.agent,
                ..asked
            },
        }),
        Err(refusal) => Verdict::Redirect(told(exchange, &asked, refusal)),
    }
}

/// A digest of everything that a page says of a request and that somebody may change while it is open. The rest is
/// fixed when the request is parked.
fn shown(application: &Application, line: &Line, grants: &[Grant]) -> String {
    let agent = &line.agent.writable;
    let text = json!({
        "application": application.writable.name,
        "publisher": application.writable.publisher,
        "agent": agent.name,
        "grants": grant::to_json(grants),
        "models": line.allowed_models(),
        "expiry_hours": agent.default_expiry_hours,
    });
    URL_SAFE_NO_PAD.encode(secret::digest(&text.to_string()))
}

/// Where the application is told of a refusal.
fn told(exchange: &Exchange, asked: &Asked, refusal: Refusal) -> String {
    asked.refused(&exchange.gateway.settings.base_url, refusal)
}

/// What the user can give of what is asked for.
fn grantable(
    application: &Application,
    line: &Line,
    parked: &Parked,
    user: &User,
    active: u32,
) -> Result<Vec<Grant>, Refusal> {
    let denied = |description| Error::AccessDenied.because(description);
    let agent = &line.agent;
    if user.org_id != agent.org_id {
        return Err(denied("the user's organization does not own the agent"));
    }
    if user.suspended || !user.role.may_delegate() {
        return Err(denied("the user's role may not delegate"));
    }
    if line.archived_at().is_some() {
        return Err(denied("the agent is archived"));
    }
    if active >= agent.writable.max_active_credentials {
        return Err(denied("the agent is at its cap of active credentials"));
    }
    let nothing =
        Error::InvalidAuthorizationDetails.because("the agent can give nothing of an entry");
    let details = detail::read(&parked.details, &application.writable.details_types);
    let owned = grant::held(&agent.writable.scope_grants, line.scope_grants());
    let details = details.map_err(|_| nothing)?;
    detail::granted(&details, &owned).ok_or(nothing)
}

/// What a user has said, done: the code and its audit row, or the row of the denial, in one transaction. Each request
/// is decided once.
pub async fn decide(
    exchange: &mut Exchange,
    asked: Asked,
    id: &str,
    session_id: &str,
    user: &User,
    decision: Decision,
) -> Verdict<Decided> {
    let scribe = exchange.trail.scribe();
    let issuer = exchange.gateway.settings.base_url.clone();
    let (digest, now) = (secret::digest(id), exchange.now);
    let (session, user) = (session_id.to_owned(), user.clone());
    let application_id = asked.application.id.clone();
    let running = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            // The application first, as its revocation does: neither waits for the other.
            let locked = oauth_application::lock_any(&mut tx, &application_id).await?;
            let locked = locked.filter(|application| application.revoked_at.is_none());
            let taken = store::take(&mut tx, &digest, &session, now).await?;
            let Some((application, parked)) = locked.zip(taken) else {
                return Ok(None);
            };
            if !has_registered(&application, &parked.redirect_uri) {
                return Ok(None);
            }
            let said = match &decision {
                Decision::Deny => Err(Error::AccessDenied.because("the user said no")),
                Decision::Allow { shown } => {
                    allow(&mut tx, &application, &parked, &user, shown, now).await?
                }
            };
            let row = row(&scribe, &application, &parked, &user, said.as_ref().err());
            audit::record(&mut tx, &row).await?;
            let Parked {
                redirect_uri,
                state,
                ..
            } = &parked;
            let location = match said {
                Ok(code) => authorization::granted(redirect_uri, &issuer, state.as_deref(), &code),
                Err(refusal) => {
                    authorization::refused(redirect_uri, &issuer, state.as_deref(), refusal)
                }
            };
            Ok::<_, TransactionError<Outdated>>(Some(location))
        })
    });
    match running.await {
        Ok(Some(location)) => Verdict::Good(Decided::Told(location)),
        Ok(None) => Verdict::Page(OVER),
        Err(TransactionError::Refused(Outdated)) => Verdict::Good(Decided::Outdated),
        Err(TransactionError::Store(error)) => {
            Verdict::Redirect(told(exchange, &asked, trouble(&error)))
        }
    }
}

/// A code for what the user can give, as everything stands inside the transaction. What has been changed since the user
/// saw it is not what they have allowed: were it granted, whoever changes the agent would consent in their place.
async fn allow(
    tx: &mut Transaction<'_>,
    application: &Application,
    parked: &Parked,
    user: &User,
    seen: &str,
    now: svc_core::time::Timestamp,
) -> Result<Result<String, Refusal>, TransactionError<Outdated>> {
    let denied = |description| Ok(Err(Error::AccessDenied.because(description)));
    let Some(user) = user::find_in(tx, &user.org_id, &user.id).await? else {
        return denied("the user's role may not delegate");
    };
    let found = agent::lock_line(tx, &parked.org_id, parked.mode, &parked.agent_id).await?;
    let Some(line) = found else {
        return denied("the agent is archived");
    };
    let active = agent_credential::count_active(tx, &line.agent.id, now).await?;
    let grants = match grantable(application, &line, parked, &user, active) {
        Ok(grants) => grants,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if shown(application, &line, &grants) != seen {
        return Err(TransactionError::Refused(Outdated));
    }
    let text = random();
    let code = Code {
        org_id: parked.org_id.clone(),
        mode: parked.mode,
        application_id: application.id.clone(),
        redirect_uri: parked.redirect_uri.clone(),
        code_challenge: parked.code_challenge.clone(),
        agent_id: line.agent.id,
        user_id: user.id,
        scope_grants: grant::to_json(&grants),
        expiry_hours: line.agent.writable.default_expiry_hours,
        attempts: 0,
        created_at: now,
        expires_at: now.plus_ms(CODE_MS),
        used_at: None,
        credential_id: None,
    };
    store::insert(tx, &secret::digest(&text), &code).await?;
    Ok(Ok(text))
}

/// The one row of a decision, in the log of the user's organization.
fn row(
    scribe: &Scribe,
    application: &Application,
    parked: &Parked,
    user: &User,
    refusal: Option<&Refusal>,
) -> Row {
    let mut details = Map::new();
    details.insert("application_id".to_owned(), json!(application.id));
    details.insert("agent_id".to_owned(), json!(parked.agent_id));
    if let Some(refusal) = refusal {
        details.insert("reason".to_owned(), Value::from(refusal.description));
    }
    let event = match refusal {
        None => "oauth.code_issued",
        Some(_) => "oauth.access_denied",
    };
    let row = scribe.row(Entry {
        event: event.to_owned(),
        target: Some(Target {
            kind: "oauth_application".to_owned(),
            id: application.id.clone(),
        }),
        status: 303,
        details,
    });
    Row {
        org_id: Some(user.org_id.clone()),
        mode: Some(parked.mode),
        actor: Actor {
            kind: ActorKind::User,
            id: Some(user.id.clone()),
            delegating_user_id: None,
            hint: None,
        },
        ..row
    }
}

fn random() -> String {
    let bytes: [u8; SECRET_BYTES] = rand::random();
    URL_SAFE_NO_PAD.encode(bytes)
}
