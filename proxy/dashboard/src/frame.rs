//! The frame of every page: who may see it, the headers that it is sent with, and what is shown where something is
//! refused.
//!
//! A form is answered where no disconnect reaches it, as writes of the API are, but for those that are of use to their
//! sender alone.

use askama::Template;
use futures_util::future::BoxFuture;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use svc_core::fault::Fault;
use svc_pipeline::exchange::{Exchange, log_fault};
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::response::{Body, Response};
use svc_pipeline::service;
use svc_store::tenant;

use crate::form::Fields;
use crate::page::invitation::OVER;
use crate::page::nowhere::above;
use crate::redirect;
use crate::session::{self, Visitor};
use crate::told::Told;

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

/// As [`Form`], for what is of use to its sender alone: it ends when they leave.
pub(crate) struct AttendedForm(pub(crate) Submitted);

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
                Ok(None) => return redirect::sign_in_first(&exchange),
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

impl Handler for AttendedForm {
    fn name(&self) -> &'static str {
        "page"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        let answer = self.0;
        Box::pin(async move {
            let answered = submit(&mut exchange, session::check_form, answer).await;
            answered.unwrap_or_else(|fault| failure(&exchange, &fault))
        })
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
        return Ok(redirect::sign_in_again(exchange));
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

#[derive(Template)]
#[template(path = "failure.html")]
struct Failure<'a> {
    status: u16,
    /// A link that somebody was sent, which worked once.
    is_over: bool,
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
        is_over: fault.details.get("reason").and_then(Value::as_str) == Some(OVER),
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
