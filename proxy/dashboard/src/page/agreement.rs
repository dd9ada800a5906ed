//! The Business Associate Agreement: read, signed, and kept as a document.

use askama::Template;
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Method};
use serde_json::Value;
use svc_control::agreement::{Paragraph, paragraphs};
use svc_core::fault::Fault;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::field::{Boxes, Choice, Input};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const STATUS: &str = "/v1/compliance/baa";
pub(super) const ACCEPTANCES: &str = "/v1/compliance/baa/acceptances";
const PAGE: &str = "/ui/agreement";

#[derive(Template)]
#[template(path = "agreement.html")]
struct Agreement {
    layout: Layout,
    told: Told,
    status: Value,
    text: Vec<Paragraph>,
    acceptances: Vec<Value>,
    pager: Pager,
    may_sign: bool,
    name: Input,
    title: Input,
    email: Input,
    agree: Boxes,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let person = visitor.person();
    let standing = inside::ask(exchange, person, Ask::get(STATUS)).await?.data;
    let ask = Pager::turn(exchange, Ask::get(ACCEPTANCES));
    let acceptances = inside::ask(exchange, person, ask).await?;
    let value = |field: &str, known: &str| {
        let fields = sent.fields.as_ref();
        fields.map_or(known, |fields| fields.text(field)).to_owned()
    };
    let agree = Choice::new(
        "yes",
        "I have read the agreement, and I may sign it for my organization.",
    );
    let page = Agreement {
        layout: Layout::new(exchange, visitor, "Business Associate Agreement"),
        text: paragraphs(show::plain(&standing, "/template/body")),
        status: standing,
        acceptances: show::rows(acceptances.data),
        pager: Pager::new(exchange, PAGE, &acceptances.pagination),
        may_sign: visitor.may(exchange, &Method::POST, ACCEPTANCES),
        name: Input::text("signer_name", "Your name")
            .value(value("signer_name", &visitor.user.name))
            .autocomplete("name")
            .told(&sent.told),
        title: Input::text("signer_title", "Your title")
            .value(value("signer_title", ""))
            .autocomplete("organization-title")
            .told(&sent.told),
        email: Input::new("email", "signer_email", "Your e-mail address")
            .value(value("signer_email", &visitor.user.email))
            .autocomplete("email")
            .told(&sent.told),
        agree: Boxes::new("agree", "Signature", vec![agree]).told(&sent.told),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn sign<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = fields.texts(&[
            "template_version",
            "signer_name",
            "signer_title",
            "signer_email",
        ]);
        let agrees = fields.all("agree").any(|value| value == "yes");
        body.insert("agree".to_owned(), agrees.into());
        let ask = Ask::new(Method::POST, ACCEPTANCES)
            .body(body)
            .once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(_) => Ok(see_other(exchange, &format!("{PAGE}?done=signed"))),
            Err(fault) => render(exchange, visitor, Sent::refused(fault, fields)?).await,
        }
    })
}

pub(crate) fn download<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{ACCEPTANCES}/{}/download", exchange.parameter("id"));
        let mut response = inside::file(exchange, visitor.person(), Ask::get(path)).await?;
        let value = HeaderValue::from_static("no-store");
        response.headers.insert(CACHE_CONTROL, value);
        Ok(response)
    })
}
