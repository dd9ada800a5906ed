//! A code becomes a credential, once (contract 16.4). Whoever comes again with everything that the code asks for ends
//! what it produced: one of the two was not meant to have it.

use futures_util::future::BoxFuture;
use rand::RngExt;
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::id::IdKind;
use svc_core::oauth::{detail, pkce};
use svc_core::time::Timestamp;
use svc_core::{grant, secret};
use svc_pipeline::exchange::Exchange;
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::response::Response;
use svc_pipeline::trail::{Entry, Scribe};
use svc_pipeline::{moment, service};
use svc_store::agent_credential::{self, AgentCredential, Source};
use svc_store::audit::{self, Actor, ActorKind, Row, Target};
use svc_store::oauth_application::{self, Application};
use svc_store::oauth_authorization::{self, Code};
use svc_store::{StoreError, Transaction, TransactionError, agent, user};

use super::answer::{self, Refusal};
use super::client;
use super::form::Form;
use crate::input::in_hours;

pub(crate) struct Token;

impl Handler for Token {
    fn name(&self) -> &'static str {
        "oauth_token"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            // Where no disconnect reaches it: a code is not used up without its credential.
            let background = exchange.gateway.background.clone();
            let running = background.spawn(async move {
                let outcome = redeem(&mut exchange).await;
                answer::respond(&exchange, outcome)
            });
            running.await.unwrap_or_else(|_| service::internal_error())
        })
    }
}

/// What a client asks for, found to be well-formed.
struct Wish {
    digest: [u8; 32],
    verifier: String,
    redirect_uri: Option<String>,
    now: Timestamp,
}

impl Wish {
    fn read(form: &Form, now: Timestamp) -> Result<Self, Refusal> {
        let grant_type = form.required("grant_type", "grant_type is required.")?;
        if grant_type != "authorization_code" {
            return Err(Refusal::unsupported_grant_type());
        }
        let code = form.required("code", "code is required.")?;
        let verifier = form.required("code_verifier", "code_verifier is required.")?;
        if !pkce::is_verifier(verifier) {
            let refusal = "code_verifier must be 43 to 128 unreserved characters.";
            return Err(Refusal::invalid_request(refusal));
        }
        Ok(Self {
            digest: secret::digest(code),
            verifier: verifier.to_owned(),
            redirect_uri: form.get("redirect_uri").map(str::to_owned),
            now,
        })
    }

    /// Whether it has a code of this application, and what the code was asked for with: then it is the application that
    /// asks, whether or not the code is good for anything still.
    async fn shows(&self, exchange: &Exchange, application: &Application) -> Result<bool, Refusal> {
        let found = oauth_authorization::find(&exchange.gateway.store, &self.digest).await;
        let found = found.map_err(|error| Refusal::store(&error))?;
        Ok(found.is_some_and(|code| {
            code.application_id == application.id
                && pkce::proves(&self.verifier, &code.code_challenge)
        }))
    }
}

async fn redeem(exchange: &mut Exchange) -> Result<Value, Refusal> {
    let form = Form::read(exchange).await?;
    let application = client::authenticate(exchange, &form).await?;
    // The body may have taken its time: what counts is when it was there.
    let wish = Wish::read(&form, moment::now())?;
    if !application.kind.has_secret() && wish.shows(exchange, &application).await? {
        client::itself(exchange, &application).await?;
    }
    let scribe = exchange.trail.scribe();
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            let outcome = decide(&mut tx, &application, &wish).await?;
            if let Some(row) = outcome.row(&scribe, &application) {
                audit::record(&mut tx, &row).await?;
            }
            Ok::<_, TransactionError<Fault>>(outcome)
        })
    });
    let outcome = done.await.map_err(|error| match error {
        TransactionError::Refused(fault) => Refusal::internal(fault),
        TransactionError::Store(error) => Refusal::store(&error),
    })?;
    match outcome {
        Outcome::Issued(issued) => Ok(issued.body),
        Outcome::Replayed { digest, .. } => {
            exchange.gateway.callers.forget(&digest);
            Err(USED)
        }
        Outcome::Burned(_) => Err(WRONG_VERIFIER),
        Outcome::Refused(refusal) => Err(refusal),
    }
}

const UNKNOWN: Refusal = Refusal::invalid_grant("The code is unknown or has expired.");
const USED: Refusal = Refusal::invalid_grant("The code was used.");
const WRONG_VERIFIER: Refusal = Refusal::invalid_grant("code_verifier does not fit the code.");

/// What became of a code, inside the transaction.
enum Outcome {
    Issued(Box<Issued>),
    /// Used again by whoever has everything it asks for.
    Replayed {
        code: Box<Code>,
        credential_id: String,
        digest: [u8; 32],
    },
    /// Too many wrong verifiers.
    Burned(Box<Code>),
    /// Nothing is changed but a count.
    Refused(Refusal),
}

struct Issued {
    credential: AgentCredential,
    body: Value,
}

async fn decide(
    tx: &mut Transaction<'_>,
    application: &Application,
    wish: &Wish,
) -> Result<Outcome, StoreError> {
    // The application first, as its revocation does: neither waits for the other.
    let locked = oauth_application::lock_any(tx, &application.id).await?;
    if locked.is_none_or(|application| application.revoked_at.is_some()) {
        return Ok(Outcome::Refused(Refusal::invalid_client()));
    }
    let Some(code) = oauth_authorization::lock(tx, &wish.digest).await? else {
        return Ok(Outcome::Refused(UNKNOWN));
    };
    if code.application_id != application.id {
        return Ok(Outcome::Refused(UNKNOWN));
    }
    if !pkce::proves(&wish.verifier, &code.code_challenge) {
        let is_burned = oauth_authorization::count_attempt(tx, &wish.digest, wish.now).await?;
        return Ok(if is_burned {
            Outcome::Burned(Box::new(code))
        } else {
            Outcome::Refused(WRONG_VERIFIER)
        });
    }
    let sent = wish.redirect_uri.as_ref();
    if sent.is_some_and(|address| *address != code.redirect_uri) {
        let refusal = "redirect_uri is not the one that the code was asked for with.";
        return Ok(Outcome::Refused(Refusal::invalid_grant(refusal)));
    }
    if code.used_at.is_some() {
        return replayed(tx, code, wish.now).await;
    }
    if code.expires_at <= wish.now {
        return Ok(Outcome::Refused(UNKNOWN));
    }
    issue(tx, application, &code, wish).await
}

/// RFC 6749, 4.1.2: a code that comes again takes what it produced with it.
async fn replayed(
    tx: &mut Transaction<'_>,
    code: Code,
    now: Timestamp,
) -> Result<Outcome, StoreError> {
    let Some(credential_id) = code.credential_id.clone() else {
        return Ok(Outcome::Refused(USED));
    };
    let revoked = agent_credential::revoke_issued(tx, &credential_id, now).await?;
    Ok(match revoked {
        Some(digest) => Outcome::Replayed {
            code: Box::new(code),
            credential_id,
            digest,
        },
        None => Outcome::Refused(USED),
    })
}

async fn issue(
    tx: &mut Transaction<'_>,
    application: &Application,
    code: &Code,
    wish: &Wish,
) -> Result<Outcome, StoreError> {
    let refused = |description| Ok(Outcome::Refused(Refusal::invalid_grant(description)));
    let line = agent::lock_line(tx, &code.org_id, code.mode, &code.agent_id).await?;
    let Some(line) = line.filter(|line| line.archived_at().is_none()) else {
        return refused("The agent is archived.");
    };
    let agent = &line.agent;
    if grant::stored(&code.scope_grants).is_none() {
        let column = "scope_grants";
        return Err(StoreError::Corrupt { column });
    }
    let held = grant::held(&code.scope_grants, line.scope_grants());
    let details = detail::to_json(&held);
    if details.as_array().is_none_or(Vec::is_empty) {
        return refused("The agent can give nothing of what was consented to any more.");
    }
    let user = user::find_in(tx, &code.org_id, &code.user_id).await?;
    if user.is_none_or(|user| user.suspended || !user.role.may_delegate()) {
        return refused("The user who consented may not delegate any more.");
    }
    let active = agent_credential::count_active(tx, &agent.id, wish.now).await?;
    if active >= agent.writable.max_active_credentials {
        return refused("The agent is at its cap of active credentials.");
    }
    let token = secret::agent_credential(code.mode, || rand::rng().random_range(0..62));
    let credential = AgentCredential {
        id: moment::id(IdKind::AgentCredential),
        org_id: code.org_id.clone(),
        mode: code.mode,
        agent_id: agent.id.clone(),
        source: Source::Oauth,
        application_id: Some(application.id.clone()),
        label: Some(application.writable.name.clone()),
        hint: secret::hint(&token),
        scope_grants: code.scope_grants.clone(),
        runtime_user: None,
        delegated_by: code.user_id.clone(),
        per_minute: None,
        concurrency: None,
        created_at: wish.now,
        expires_at: in_hours(wish.now, code.expiry_hours),
        last_used_at: None,
        revoked_at: None,
    };
    agent_credential::insert(tx, &credential, &secret::digest(&token)).await?;
    let (id, expires_at) = (&credential.id, credential.expires_at);
    oauth_authorization::redeem(tx, &wish.digest, id, expires_at, wish.now).await?;
    let body = json!({
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": u64::from(code.expiry_hours) * SECONDS_PER_HOUR,
        "authorization_details": details,
        "agent_id": agent.id,
    });
    Ok(Outcome::Issued(Box::new(Issued { credential, body })))
}

const SECONDS_PER_HOUR: u64 = 3_600;

impl Outcome {
    /// The one row of what was done: in the log of the organization whose agent it is.
    fn row(&self, scribe: &Scribe, application: &Application) -> Option<Row> {
        let (event, org_id, user_id, target, more) = match self {
            Self::Issued(issued) => {
                let credential = &issued.credential;
                let more = json!({
                    "agent_id": credential.agent_id,
                    "expires_at": credential.expires_at.to_string(),
                });
                let target = ("agent_credential", &credential.id);
                let (org, user) = (&credential.org_id, &credential.delegated_by);
                ("oauth.token_issued", org, user, target, more)
            }
            Self::Replayed {
                code,
                credential_id,
                ..
            } => {
                let more = json!({"agent_id": code.agent_id, "reason": "code_used_again"});
                let target = ("agent_credential", credential_id);
                let (org, user) = (&code.org_id, &code.user_id);
                ("oauth.token_revoked", org, user, target, more)
            }
            Self::Burned(code) => {
                let more = json!({"agent_id": code.agent_id, "reason": "wrong_verifiers"});
                let target = ("oauth_application", &application.id);
                let (org, user) = (&code.org_id, &code.user_id);
                ("oauth.code_burned", org, user, target, more)
            }
            Self::Refused(_) => return None,
        };
        let mut details = Map::new();
        details.insert("application_id".to_owned(), json!(application.id));
        if let Value::Object(more) = more {
            details.extend(more);
        }
        let status = if matches!(self, Self::Issued(_)) {
            200
        } else {
            400
        };
        let row = scribe.row(Entry {
            event: event.to_owned(),
            target: Some(Target {
                kind: target.0.to_owned(),
                id: target.1.clone(),
            }),
            status,
            details,
        });
        Some(Row {
            org_id: Some(org_id.clone()),
            mode: Some(application.mode),
            actor: Actor {
                kind: ActorKind::OauthApplication,
                id: Some(application.id.clone()),
                delegating_user_id: Some(user_id.clone()),
                hint: application.secret_hint.clone(),
            },
            ..row
        })
    }
}
