//! Consent (contract 16.3): an application asks for one agent, and a user says yes or no. What may be asked and what an
//! answer does is decided by `svc_control::oauth::authorization`.

use askama::Template;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use svc_control::oauth::authorization::{
    self, Asked, Decided, Decision, Doubt, Question, Verdict, claim, decide, judge, park, question,
};
use svc_core::fault::Fault;
use svc_core::grant::Grant;
use svc_core::oauth::redirect;
use svc_core::secret::Mode;
use svc_core::surface::Surface;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::response::{Body, Response};
use svc_store::oauth_application;

use crate::edit::SHOWN;
use crate::form::Fields;
use crate::frame::{self, Answering, html, html_for};
use crate::redirect::see_other;
use crate::session::{self, Visitor};
use crate::told::Told;
use crate::trouble::down;

pub(crate) const PAGE: &str = "/ui/consent";

/// `GET /v1/oauth/authorize`: where applications send their users.
pub(crate) fn authorize(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let asked = match judge(exchange).await {
            Verdict::Good(asked) => asked,
            Verdict::Redirect(location) => return Ok(see_other(exchange, &location)),
            Verdict::Page(doubt) => return doubtful(exchange, &doubt),
        };
        let visitor = session::visitor(exchange).await?;
        let session_id = visitor.as_ref().map(|visitor| visitor.session_id.as_str());
        let id = match park(exchange, &asked, session_id).await {
            Verdict::Good(id) => id,
            Verdict::Redirect(location) => return Ok(see_other(exchange, &location)),
            Verdict::Page(doubt) => return doubtful(exchange, &doubt),
        };
        match visitor {
            Some(visitor) => ask(exchange, asked, &id, &visitor, Seen::Never).await,
            None => {
                let next = format!("{PAGE}/{id}");
                let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
                Ok(see_other(exchange, &format!("/ui/login?next={next}")))
            }
        }
    })
}

/// `GET /ui/consent/{request}`: where users come back to once they have signed in.
pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let id = exchange.parameter("request").to_owned();
        reopen(exchange, &id, visitor, Seen::Never).await
    })
}

/// Asks what a parked request asks.
async fn reopen(
    exchange: &Exchange,
    id: &str,
    visitor: &Visitor,
    seen: Seen,
) -> Result<Response, Fault> {
    match claim(exchange, id, &visitor.session_id).await {
        Verdict::Good(asked) => ask(exchange, asked, id, visitor, seen).await,
        Verdict::Redirect(location) => Ok(see_other(exchange, &location)),
        Verdict::Page(doubt) => doubtful(exchange, &doubt),
    }
}

/// `POST /ui/consent`: what the user says.
pub(crate) fn submit<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let decision = match fields.text("decision") {
            "allow" => Decision::Allow {
                shown: fields.text(SHOWN).to_owned(),
            },
            "deny" => Decision::Deny,
            _ => return doubtful(exchange, &authorization::UNDECIDED),
        };
        let (id, session_id) = (fields.text("request"), &visitor.session_id);
        let asked = match claim(exchange, id, session_id).await {
            Verdict::Good(asked) => asked,
            Verdict::Redirect(location) => return Ok(see_other(exchange, &location)),
            Verdict::Page(doubt) => return doubtful(exchange, &doubt),
        };
        match decide(exchange, asked, id, session_id, &visitor.user, decision).await {
            Verdict::Good(Decided::Told(location)) | Verdict::Redirect(location) => {
                Ok(see_other(exchange, &location))
            }
            Verdict::Good(Decided::Outdated) => {
                reopen(exchange, id, visitor, Seen::Otherwise).await
            }
            Verdict::Page(doubt) => doubtful(exchange, &doubt),
        }
    })
}

/// What a user has seen of a question before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    /// They have allowed what it was before.
    Otherwise,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct Page<'a> {
    csrf: &'a str,
    request: &'a str,
    shown: &'a str,
    told: Told,
    application: &'a str,
    publisher: Option<&'a str>,
    /// The organization that registered the application, where it is not the user's own.
    registered_by: Option<String>,
    /// Where the answer goes.
    destination: String,
    is_test: bool,
    agent: &'a str,
    organization: &'a str,
    person: &'a str,
    grants: Vec<Lines>,
    lifetime: String,
}

/// What one entry allows, in words.
struct Lines {
    actions: String,
    models: String,
    tools: String,
    tokens: Option<u32>,
}

async fn ask(
    exchange: &Exchange,
    asked: Asked,
    id: &str,
    visitor: &Visitor,
    seen: Seen,
) -> Result<Response, Fault> {
    let Question {
        asked,
        grants,
        allowed_models,
        shown,
    } = match question(exchange, asked, &visitor.user).await {
        Verdict::Good(question) => question,
        Verdict::Redirect(location) => return Ok(see_other(exchange, &location)),
        Verdict::Page(doubt) => return doubtful(exchange, &doubt),
    };
    let application = &asked.application;
    let is_own = application.org_id == visitor.user.org_id;
    let registered_by = if is_own {
        None
    } else {
        let found = oauth_application::owner_name(&exchange.gateway.store, application).await;
        Some(found.map_err(|error| down(&error))?)
    };
    let (status, told) = match seen {
        Seen::Never => (StatusCode::OK, Told::default()),
        Seen::Otherwise => (StatusCode::CONFLICT, Told::message(CHANGED)),
    };
    let page = Page {
        csrf: &visitor.csrf,
        request: id,
        shown: &shown,
        told,
        application: &application.writable.name,
        publisher: application.writable.publisher.as_deref(),
        registered_by,
        destination: redirect::shown(asked.redirect_uri()),
        is_test: application.mode == Mode::Test,
        agent: &asked.agent.writable.name,
        organization: &visitor.organization.settings.name,
        person: &visitor.user.name,
        grants: grants
            .iter()
            .map(|grant| lines(grant, allowed_models.as_deref()))
            .collect(),
        lifetime: lifetime(asked.agent.writable.default_expiry_hours),
    };
    // Chromium holds the redirect that follows a form to this directive too (contract 16.3).
    let target = redirect::policy_source(asked.redirect_uri());
    html_for(exchange, status, &page, target.as_slice())
}

const CHANGED: &str = "This was changed elsewhere since the page was opened. Nothing is allowed yet: read it once more, and decide.";

/// What `form-action` of a page names whose form leads to `next`: the application's address, where that is the consent
/// page of a request, which may be refused at once.
///
/// # Errors
/// 503 while the store is down.
pub(super) async fn target(exchange: &Exchange, next: &str) -> Result<Option<String>, Fault> {
    let id = next
        .strip_prefix(PAGE)
        .and_then(|rest| rest.strip_prefix('/'));
    let address = match id {
        Some(id) => authorization::destination(exchange, id).await?,
        None => None,
    };
    Ok(address.as_deref().and_then(redirect::policy_source))
}

/// `agent_models`: what the agent may use.
fn lines(grant: &Grant, agent_models: Option<&[String]>) -> Lines {
    let surfaces = grant.constraints.surfaces.as_deref().unwrap_or_default();
    let actions: Vec<&str> = surfaces
        .iter()
        .map(|surface| match surface {
            Surface::Native => "hold conversations with models (chat)",
            Surface::Messages => "send requests to models in the messages format (messages)",
            Surface::ChatCompletions => {
                "send requests to models in the chat-completions format (chat_completions)"
            }
        })
        .collect();
    let allowed = |model: &&String| agent_models.is_none_or(|allowed| allowed.contains(model));
    let models = match (&grant.constraints.models, agent_models) {
        (Some(models), _) => named(
            models.iter().filter(allowed),
            "none that the agent may use now",
        ),
        (None, Some(allowed)) => named(allowed.iter(), "none that the agent may use now"),
        (None, None) => "every model that the organization may use".to_owned(),
    };
    let tools = match &grant.tools {
        Some(tools) => named(tools.iter(), "none"),
        None => "every tool that the application brings".to_owned(),
    };
    Lines {
        actions: actions.join("; "),
        models,
        tools,
        tokens: grant.constraints.max_tokens,
    }
}

fn named<'n>(names: impl Iterator<Item = &'n String>, nothing: &str) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        nothing.to_owned()
    } else {
        names.join(", ")
    }
}

fn lifetime(hours: u32) -> String {
    const HOURS_PER_DAY: u32 = 24;
    match (hours / HOURS_PER_DAY, hours % HOURS_PER_DAY) {
        (0, 1) => "1 hour".to_owned(),
        (1, 0) => "24 hours".to_owned(),
        (days, 0) => format!("{days} days"),
        _ => format!("{hours} hours"),
    }
}

#[derive(Template)]
#[template(path = "authorization_error.html")]
struct ErrorPage<'a> {
    words: &'a str,
    error: &'a str,
    request_id: &'a str,
}

/// What only the user can be told; programs that ask for JSON get it.
fn doubtful(exchange: &Exchange, doubt: &Doubt) -> Result<Response, Fault> {
    let Doubt {
        status,
        error,
        words,
        retry_after_seconds,
    } = doubt;
    let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = if wants_json(exchange) {
        let mut headers = frame::headers(&[]);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = json!({"error": error, "error_description": words}).to_string();
        exchange.respond(status, headers, Body::Full(body.into()))
    } else {
        let page = ErrorPage {
            words,
            error,
            request_id: &exchange.request_id,
        };
        html(exchange, status, &page)?
    };
    if let Some(seconds) = retry_after_seconds {
        let seconds = HeaderValue::from((*seconds).max(1));
        response.headers.insert(RETRY_AFTER, seconds);
    }
    Ok(response)
}

/// Whether JSON is asked for, and no page.
fn wants_json(exchange: &Exchange) -> bool {
    let sent = exchange.head.headers.get_all(ACCEPT).iter();
    let texts: Vec<&str> = sent.filter_map(|value| value.to_str().ok()).collect();
    let types = texts.iter().flat_map(|text| text.split(','));
    let types: Vec<&str> = types
        .map(|one| one.split(';').next().unwrap_or_default().trim())
        .collect();
    types.contains(&"application/json") && !types.contains(&"text/html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_said_as_people_say_them() {
        assert_eq!(lifetime(1), "1 hour");
        assert_eq!(lifetime(8), "8 hours");
        assert_eq!(lifetime(24), "24 hours");
        assert_eq!(lifetime(36), "36 hours");
        assert_eq!(lifetime(720), "30 days");
    }
}
