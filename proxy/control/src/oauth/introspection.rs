//! What a token is good for (RFC 7662; contract 16.5). Of everything that is not the asker's own and alive, one answer.

use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;
use serde_json::{Value, json};
use svc_core::oauth::detail;
use svc_core::scope::Scope;
use svc_core::secret::{self, Mode};
use svc_core::surface::Surface;
use svc_core::{grant, time::Timestamp};
use svc_pipeline::exchange::Exchange;
use svc_pipeline::fact::Fact;
use svc_pipeline::filter::{Refusal as Stranger, Sent};
use svc_pipeline::handler::Handler;
use svc_pipeline::response::Response;
use svc_pipeline::strangers;
use svc_store::agent_credential::{self, Issuer, Status, Verdict};
use svc_store::oauth_application;

use super::answer::{self, Refusal};
use super::client;
use super::form::Form;

pub(crate) struct Introspection;

impl Handler for Introspection {
    fn name(&self) -> &'static str {
        "oauth_introspection"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let outcome = introspect(&mut exchange).await;
            answer::respond(&exchange, outcome)
        })
    }
}

/// Whose tokens are shown.
enum Asker {
    /// Those that were issued to it.
    Application { id: String },
    /// Those that act for its agents.
    Organization { id: String, mode: Mode },
}

impl Asker {
    fn owns(&self, verdict: &Verdict) -> bool {
        let credential = &verdict.credential;
        match self {
            Self::Application { id } => credential.application_id.as_ref() == Some(id),
            Self::Organization { id, mode } => {
                let is_issued = credential.application_id.is_some();
                is_issued && credential.org_id == *id && credential.mode == *mode
            }
        }
    }
}

async fn introspect(exchange: &mut Exchange) -> Result<Value, Refusal> {
    let form = Form::read(exchange).await?;
    let asker = asker(exchange, &form).await?;
    let token = form.required("token", "token is required.")?;
    if secret::agent_mode(token).is_none() {
        return Ok(inactive());
    }
    let (store, now) = (&exchange.gateway.store, exchange.now);
    let found = agent_credential::find_by_digest(store, &secret::digest(token), now).await;
    let found = found.map_err(|error| Refusal::store(&error))?;
    let found = found.filter(|verdict| is_alive(verdict, now) && asker.owns(verdict));
    let Some(verdict) = found else {
        return Ok(inactive());
    };
    let application = verdict.credential.application_id.as_deref();
    let found = oauth_application::find_any(store, application.unwrap_or_default()).await;
    match found.map_err(|error| Refusal::store(&error))? {
        Some(application) => {
            let issuer = &exchange.gateway.settings.base_url;
            Ok(active(&verdict, &application.client_id, issuer))
        }
        None => Ok(inactive()),
    }
}

fn is_alive(verdict: &Verdict, now: Timestamp) -> bool {
    let status = verdict.credential.status(verdict.line.archived_at(), now);
    verdict.issuer == Issuer::Stands && status == Status::Active
}

fn inactive() -> Value {
    json!({"active": false})
}

fn active(verdict: &Verdict, client_id: &str, issuer: &str) -> Value {
    let Verdict {
        credential, line, ..
    } = verdict;
    // What it may do today: the grants of those that it acts for may have become fewer since.
    let grants = grant::held(&credential.scope_grants, line.scope_grants());
    json!({
        "active": true,
        "client_id": client_id,
        "token_type": "Bearer",
        "exp": credential.expires_at.unix_seconds(),
        "iat": credential.created_at.unix_seconds(),
        "iss": issuer,
        "sub": credential.delegated_by,
        "jti": credential.id,
        "agent_id": credential.agent_id,
        "org_id": credential.org_id,
        "mode": credential.mode.word(),
        "authorization_details": detail::to_json(&grants),
    })
}

/// A confidential application, or an API key that may read.
async fn asker(exchange: &Exchange, form: &Form) -> Result<Asker, Refusal> {
    let header = exchange.head.headers.get(AUTHORIZATION);
    let header = header.and_then(|value| value.to_str().ok());
    let scheme = header.unwrap_or_default().split(' ').next();
    if scheme.unwrap_or_default().eq_ignore_ascii_case("bearer") {
        let names_client = form.get("client_id").is_some() || form.get("client_secret").is_some();
        if names_client {
            let refusal = "More than one method of client authentication is used.";
            return Err(Refusal::invalid_request(refusal));
        }
        return organization(exchange).await;
    }
    let application = client::authenticate(exchange, form).await?;
    if application.kind.has_secret() {
        Ok(Asker::Application { id: application.id })
    } else {
        Err(Refusal::invalid_client())
    }
}

async fn organization(exchange: &Exchange) -> Result<Asker, Refusal> {
    let gateway = &exchange.gateway;
    let sent = Sent {
        headers: &exchange.head.headers,
        surface: Surface::Native,
        at: exchange.now,
    };
    let found = gateway
        .callers
        .authenticate(&gateway.store, sent, &gateway.background);
    let caller = match found.await {
        Ok(caller) => caller,
        Err(Stranger::Unavailable(error)) => return Err(Refusal::store(&error)),
        Err(Stranger::Failed(failure)) => {
            strangers::refuse_as(exchange, failure);
            return Err(Refusal::invalid_client());
        }
    };
    if caller.agent.is_some() {
        return Err(Refusal::invalid_client());
    }
    client::take(exchange, &format!("oauth:{}", caller.key_id)).await?;
    if !caller.scopes.contains(&Scope::ControlRead) {
        return Err(Refusal::insufficient_scope());
    }
    Ok(Asker::Organization {
        id: caller.organization_id.clone(),
        mode: caller.mode,
    })
}
