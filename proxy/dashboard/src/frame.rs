//! The frame of every page: who may see it, the headers that it is sent with, and what is shown where something is
//! refused.
//!
//! A form is answered where no disconnect reaches it, as writes of the API are.

use askama::Template;
use futures_util::future::BoxFuture;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use svc_core::fault::{Code, Fault};
use svc_pipeline::exchange::{Exchange, log_fault};
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::response::{Body, Response};
use svc_pipeline::service;
use svc_store::tenant;

use crate::form::Fields;
use crate::page::nowhere::above;
use crate::session::{self, Visitor};

/// What a page comes to.
pub(crate) type Answering<'a> = BoxFuture<'a, Result<Response, Fault>>;

/// A page that anybody may open.
pub(crate) struct Open(pub(crate) for<'a> fn(&'a mut Exchange) -> Answering<'a>);

/// An address that is no page of its own.
pub(crate) struct NoPage(pub(crate) for<'a> fn(&'a mut Exchange) -> Answering<'a>);

/// The name of its handler.
pub(crate) const NO_PAGE: &str = "no page";

/// A form that somebody sends who is not signed in. Whose form it is, is checked by the page.
pub(crate) struct OpenForm(pub(crate) for<'a> fn(&'a mut Exchange, Fields) -> Answering<'a>);

/// A page for somebody who is signed in.
pub(crate) struct SignedIn(pub(crate) for<'a> fn(&'a mut Exchange, &'a Visitor) -> Answering<'a>);

/// What answers a form of somebody who is signed in.
type Submitted = for<'a> fn(&'a mut Exchange, &'a Visitor, Fields) -> Answering<'a>;

/// A form of somebody who is signed in, sent from a page of ours that showed the mode that pages show now.
pub(crate) struct Form(pub(crate) Submitted);

/// As [`Form`], for what is the same in both modes.
pub(crate) struct ModelessForm(pub(crate) Submitted);

impl Handler for Open {
    fn name(&self) -> &'static str {
        "page"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        opened(exchange, self.0)
    }
}

impl Handler for NoPage {
    fn name(&self) -> &'static str {
        NO_PAGE
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        opened(exchange, self.0)
    }
}

fn opened(
    mut exchange: Exchange,
    answer: for<'a> fn(&'a mut Exchange) -> Answering<'a>,
) -> BoxFuture<'static, Response> {
    Box::pin(async move {
        match answer(&mut exchange).await {
            Ok(response) => response,
            Err(fault) => failure(&exchange, &fault),
        }
    })
}

impl Handler for OpenForm {
    fn name(&self) -> &'static str {
        "page"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        let answer = self.0;
        undisturbed(exchange, move |mut exchange| {
            Box::pin(async move {
                let answered = match Fields::read(&mut exchange).await {
                    Ok(fields) => answer(&mut exchange, fields).await,
                    Err(fault) => Err(fault),
                };
                answered.unwrap_or_else(|fault| failure(&exchange, &fault))
            })
        })
    }
}

impl Handler for SignedIn {
    fn name(&self) -> &'static str {
        "page"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        let answer = self.0;
        Box::pin(async move {
            let visitor = match session::visitor(&exchange).await {
                Ok(Some(visitor)) => visitor,
                Ok(None) => return session::sign_in_first(&exchange),
                Err(fault) => return failure(&exchange, &fault),
            };
            let working = answer(&mut exchange, &visitor);
            let answered = tenant::within(&visitor.user.org_id, working).await;
            answered.unwrap_or_else(|fault| failure(&exchange, &fault))
        })
    }
}

impl Handler for Form {
    fn name(&self) -> &'static str {
        "page"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        submitted(exchange, session::check_form, self.0)
    }
}

impl Handler for ModelessForm {
    fn name(&self) -> &'static str {
        "page"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        submitted(exchange, session::check_modeless_form, self.0)
    }
}

/// Whether a form is one that the visitor may have sent.
type Check = fn(&Exchange, &Visitor, &Fields) -> Result<(), Fault>;

fn submitted(exchange: Exchange, check: Check, answer: Submitted) -> BoxFuture<'static, Response> {
    undisturbed(exchange, move |mut exchange| {
        Box::pin(async move {
            let answered = submit(&mut exchange, check, answer).await;
            answered.unwrap_or_else(|fault| failure(&exchange, &fault))
        })
    })
}

async fn submit(
    exchange: &mut Exchange,
    check: Check,
    answer: Submitted,
) -> Result<Response, Fault> {
    let fields = Fields::read(exchange).await?;
    let Some(visitor) = session::visitor(exchange).await? else {
        return Ok(session::see_other(exchange, "/ui/login"));
    };
    check(exchange, &visitor, &fields)?;
    tenant::within(&visitor.user.org_id, answer(exchange, &visitor, fields)).await
}

/// Runs to its end, whoever leaves.
fn undisturbed(
    exchange: Exchange,
    work: impl FnOnce(Exchange) -> BoxFuture<'static, Response> + Send + 'static,
) -> BoxFuture<'static, Response> {
    let background = exchange.gateway.background.clone();
    Box::pin(async move {
        let running = background.spawn(work(exchange));
        running.await.unwrap_or_else(|_| service::internal_error())
    })
}

/// Headers of every page (contract 16.3). Forms may lead to these origins or schemes beside our own.
pub fn headers(form_action: &[String]) -> HeaderMap {
    const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
        HeaderName::from_static("cross-origin-opener-policy");
    let mut policy = String::from(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
         base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    );
    for target in form_action {
        policy.push(' ');
        policy.push_str(target);
    }
    let mut headers = HeaderMap::new();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

/// A page of our own.
///
/// # Errors
/// 500 when it cannot be rendered.
pub fn html(
    exchange: &Exchange,
    status: StatusCode,
    page: &impl Template,
) -> Result<Response, Fault> {
    html_for(exchange, status, page, &[])
}

/// As [`html`], for a page that asks for parts of itself (`templates/live.html`).
///
/// # Errors
/// As [`html`].
pub(crate) fn live_html(
    exchange: &Exchange,
    status: StatusCode,
    page: &impl Template,
) -> Result<Response, Fault> {
    let mut response = html(exchange, status, page)?;
    let policy = response.headers.get(CONTENT_SECURITY_POLICY);
    let policy = policy.and_then(|policy| policy.to_str().ok());
    let policy =
        policy.map(|policy| HeaderValue::from_str(&format!("{policy}; connect-src 'self'")));
    if let Some(Ok(policy)) = policy {
        response.headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// As [`html`], where forms may lead elsewhere too.
///
/// # Errors
/// As [`html`].
pub fn html_for(
    exchange: &Exchange,
    status: StatusCode,
    page: &impl Template,
    form_action: &[String],
) -> Result<Response, Fault> {
    let text = page.render();
    let text = text.map_err(|error| Fault::internal(format_args!("rendering a page: {error}")))?;
    let mut headers = headers(form_action);
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    Ok(exchange.respond(status, headers, Body::Full(text.into())))
}

/// What a page says of an attempt that was refused: one message, and what is wrong with which field.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) message: Option<String>,
    fields: Vec<(String, String)>,
}

impl Told {
    pub(crate) fn of(fault: &Fault) -> Self {
        let fields: Vec<(String, String)> = fault
            .details
            .iter()
            .filter_map(|(field, messages)| Some((field.clone(), joined(messages)?)))
            .collect();
        let message = if fault.param.is_some() && !fields.is_empty() {
            "Something has to be corrected.".to_owned()
        } else {
            fault.message.to_string()
        };
        Self {
            message: Some(message),
            fields,
        }
    }

    /// As [`Told::of`], for what the sender of a form can do something about.
    ///
    /// # Errors
    /// The fault itself where it is of another kind, or where the role does not allow it: that is a page of its own.
    pub(crate) fn of_form(fault: Fault) -> Result<Self, Fault> {
        match fault.code.row().status {
            400..=499 if fault.code != Code::OrgAdminRequired => Ok(Self::of(&fault)),
            _ => Err(fault),
        }
    }

    /// As [`Told::of`], for filters that stand in the address.
    pub(crate) fn of_query(fault: &Fault) -> Self {
        let mut told = Self::of(fault);
        for (name, _) in &mut told.fields {
            if let Some(plain) = name.strip_prefix("$query.") {
                *name = plain.to_owned();
            }
        }
        told
    }

    /// A message that is about no field.
    pub(crate) fn message(text: impl Into<String>) -> Self {
        Self {
            message: Some(text.into()),
            fields: Vec::new(),
        }
    }

    /// A message, and what there is to say of some fields.
    pub(crate) fn fields(text: impl Into<String>, fields: Vec<(String, String)>) -> Self {
        Self {
            message: Some(text.into()),
            fields,
        }
    }

    /// With what is told of one path of the API told of a field of the form.
    pub(crate) fn moved(mut self, path: &str, field: &str) -> Self {
        for (name, _) in &mut self.fields {
            if is_about(name, path) {
                let rest = name.get(path.len()..).unwrap_or_default();
                *name = format!("{field}{rest}");
            }
        }
        self
    }

    /// What is wrong with a field, a line for each place in it.
    pub(crate) fn at(&self, field: &str) -> Option<String> {
        let about = self.fields.iter();
        let about = about.filter(|(name, _)| is_about(name, field));
        let lines: Vec<String> = about
            .map(|(name, text)| match place(name, field) {
                place if place.is_empty() => text.clone(),
                place => format!("{place}: {text}"),
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// What is said above a form with these fields, which are in the order of the page.
    pub(crate) fn over<'a>(&'a self, fields: &[&'a str]) -> Notice<'a> {
        Notice {
            told: self,
            first: fields
                .iter()
                .find(|field| self.at(field).is_some())
                .copied(),
            others: self.elsewhere(fields),
        }
    }

    /// What is wrong with something that is none of these fields.
    pub(crate) fn elsewhere(&self, fields: &[&str]) -> Vec<String> {
        let others = self
            .fields
            .iter()
            .filter(|(name, _)| !fields.iter().any(|field| is_about(name, field)));
        others
            .map(|(name, text)| format!("{name}: {text}"))
            .collect()
    }
}

/// What stands above a form that was refused.
#[derive(Template)]
#[template(path = "notice.html")]
pub(crate) struct Notice<'a> {
    told: &'a Told,
    /// The first field that something is wrong with, which the message leads to.
    first: Option<&'a str>,
    others: Vec<String>,
}

/// `scopes[1]` is about `scopes`.
fn is_about(name: &str, field: &str) -> bool {
    let rest = name.strip_prefix(field);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Where in a field something is, as people count: `no. 2, key` for `fields[1].key`.
fn place(name: &str, field: &str) -> String {
    let rest = name.strip_prefix(field).unwrap_or_default();
    let parts = rest.split(['.', '[']).filter(|part| !part.is_empty());
    let words: Vec<String> = parts
        .map(|part| {
            let index = part.strip_suffix(']').and_then(|at| at.parse::<u32>().ok());
            index.map_or_else(
                || part.to_owned(),
                |at| format!("no. {}", at.saturating_add(1)),
            )
        })
        .collect();
    words.join(", ")
}

/// Words of the API that mean something else to whoever fills a form in.
const WORDS: [(&str, &str); 6] = [
    (", or null for the default", ""),
    (", or null", ""),
    (" or null", ""),
    ("an array of ", ""),
    ("an RFC 3339 time", "a date and a time"),
    ("must be true", "must be ticked"),
];

/// The messages of one field of `error.details`.
fn joined(messages: &Value) -> Option<String> {
    let texts: Vec<&str> = messages
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let text = texts.join("; ");
    let plain = WORDS
        .iter()
        .fold(text, |text, (word, plain)| text.replace(word, plain));
    (!texts.is_empty()).then_some(plain)
}

#[derive(Template)]
#[template(path = "failure.html")]
struct Failure<'a> {
    status: u16,
    told: Told,
    /// The page that a refused form stands on.
    back: Option<&'a str>,
    request_id: &'a str,
}

/// A fault as a page.
pub fn failure(exchange: &Exchange, fault: &Fault) -> Response {
    log_fault(fault, &exchange.request_id, &exchange.route.path);
    let status = fault.code.row().status;
    let page = Failure {
        status,
        told: Told::of(fault),
        back: (exchange.head.method == Method::POST).then(|| above(exchange, &exchange.head.path)),
        request_id: &exchange.request_id,
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match html(exchange, status, &page) {
        Ok(mut response) => {
            if let Some(seconds) = fault.retry_after_seconds() {
                let seconds = HeaderValue::from(seconds);
                response.headers.insert(RETRY_AFTER, seconds);
            }
            response
        }
        Err(_) => service::internal_error(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;
    use svc_core::fault::Problems;

    #[test]
    fn what_is_wrong_stands_with_its_place() {
        let mut problems = Problems::default();
        for (path, message) in [
            ("fields[1].key", "is named twice"),
            ("fields[2]", "must be an object"),
            ("fields", "must have at most 2 items"),
            ("grants[0].limits.most", "must be a number"),
            ("fieldsets", "is not known"),
        ] {
            problems.add(path, message);
        }
        let fault = problems.into_result().expect_err("problems");
        let told = Told::of(&fault).moved("grants[0].limits.most", "most");
        let at = told.at("fields").expect("of the field");
        for line in [
            "no. 2, key: is named twice",
            "no. 3: must be an object",
            "must have at most 2 items",
        ] {
            assert!(at.lines().any(|one| one == line), "{line} in {at}");
        }
        assert_eq!(at.lines().count(), 3);
        assert_eq!(told.at("most").as_deref(), Some("must be a number"));
        let elsewhere = told.elsewhere(&["fields", "most"]);
        assert_eq!(elsewhere, ["fieldsets: is not known"]);
    }
}
