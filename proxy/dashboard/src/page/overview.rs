//! The first page: where the organization stands.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::Value;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};

use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::page::agreement;
use crate::session::Visitor;

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    layout: Layout,
    organization: Value,
    baa: Value,
    usage: Value,
    providers: Value,
    is_unprotected: bool,
    may_sign: bool,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let person = visitor.person();
        let path = format!("/v1/orgs/{}", visitor.organization.id);
        let organization = inside::ask(exchange, person, Ask::get(path)).await?.data;
        let baa = inside::ask(exchange, person, Ask::get("/v1/compliance/baa")).await?;
        let usage = inside::ask(exchange, person, Ask::get("/v1/usage")).await?;
        let providers = inside::ask(exchange, person, Ask::get("/v1/provider-status")).await?;
        let page = Overview {
            layout: Layout::new(exchange, visitor, "Overview"),
            organization,
            baa: baa.data,
            usage: usage.data,
            providers: providers.data,
            is_unprotected: !visitor.user.mfa_enabled,
            may_sign: visitor.may(exchange, &Method::POST, agreement::ACCEPTANCES),
        };
        html(exchange, StatusCode::OK, &page)
    })
}
