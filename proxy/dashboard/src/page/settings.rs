//! What the organization decides for itself.

use askama::Template;
use http::Method;
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::feature::{INTEGRATIONS, RETRIEVAL, WEBHOOKS, is_on_at_first};
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::edit::{Edit, differing};
use crate::field::{Area, Boxes, Choice, Input, Select};
use crate::form::{Fields, unix};
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const PAGE: &str = "/ui/settings";

/// Features that organizations switch by their own decision, beside what the catalogue marks.
const FEATURES: [&str; 2] = [INTEGRATIONS, WEBHOOKS];

#[derive(Template)]
#[template(path = "settings.html")]
struct Settings {
    layout: Layout,
    told: Told,
    organization: Value,
    may_change: bool,
    shown: String,
    name: Input,
    phi_mode: Select,
    switches: Boxes,
    features: Boxes,
    max_tokens: Input,
    prompt: Area,
    webhook_payload: Select,
    conversation_days: Input,
    audit_days: Input,
}

fn api(visitor: &Visitor) -> String {
    format!("/v1/orgs/{}", visitor.organization.id)
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

/// What the form shows of the organization.
const EDIT: Edit = Edit {
    whole: &[
        "name",
        "phi_mode",
        "per_request_max_tokens",
        "default_system_prompt",
        "webhook_payload",
        "conversation_days",
        "audit_days",
    ],
    apart: &["switches", "features"],
};

/// The form before anybody typed.
fn stored(organization: &Value) -> Fields {
    let texts = EDIT.whole.iter().map(|name| {
        let retention = format!("/retention/{name}");
        let value = organization.get(name).or(organization.pointer(&retention));
        (*name, value.map(show::typed).unwrap_or_default())
    });
    let on = |word: &&str| organization.get(word) == Some(&Value::Bool(true));
    let switches = SWITCHES.iter().map(|(word, _)| *word).filter(on);
    let features = feature_names(organization);
    let features = features.iter().map(String::as_str);
    let features = features.filter(|name| is_on(name, organization));
    let switches = switches.map(|word| ("switches", word.to_owned()));
    let features = features.map(|name| ("features", name.to_owned()));
    let all = texts.chain(switches).chain(features);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let found = inside::ask(exchange, visitor.person(), Ask::get(api(visitor))).await?;
    let organization = found.data;
    let stored = stored(&organization);
    let sent = sent.else_showing(&stored);
    let number = |name, label| Input::new("number", name, label).sent(&sent);
    let switch_choices = SWITCHES.map(|(word, label)| Choice::new(word, label));
    let feature_names = feature_names(&organization);
    let feature_choices = Choice::words(feature_names.iter().map(String::as_str));
    let page = Settings {
        layout: Layout::new(exchange, visitor, "Organization"),
        may_change: visitor.may(exchange, &Method::PATCH, &api(visitor)),
        shown: EDIT.shown(&stored),
        name: Input::text("name", "Name").sent(&sent),
        phi_mode: Select::new("phi_mode", "PHI in requests", phi_modes())
            .hint("Holds from the next request on.")
            .sent(&sent),
        switches: Boxes::new("switches", "Switches", switch_choices.into()).sent(&sent),
        features: Boxes::new("features", "Features", feature_choices)
            .hint("What the plan includes works once it is switched on.")
            .sent(&sent),
        max_tokens: number("per_request_max_tokens", "Tokens of a reply, at most"),
        prompt: Area::new("default_system_prompt", "System prompt", 5)
            .hint("Set before every conversation that brings none. Kept encrypted; the audit log has its hash.")
            .sent(&sent),
        webhook_payload: Select::new("webhook_payload", "Webhooks carry", payloads()).sent(&sent),
        conversation_days: number("conversation_days", "Days that conversations are kept"),
        audit_days: number("audit_days", "Days that audit rows are kept")
            .hint("2190 at least: six years."),
        organization,
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

fn phi_modes() -> Vec<Choice> {
    vec![
        Choice::new("redact", "taken out before a provider sees it"),
        Choice::new("block", "not allowed: the request is refused"),
    ]
}

fn payloads() -> Vec<Choice> {
    vec![
        Choice::new("thin", "identifiers only"),
        Choice::new("full", "the records themselves"),
    ]
}

const SWITCHES: [(&str, &str); 2] = [
    ("phi_restore", "Put PHI back into replies for the caller"),
    ("ai_paused", "Pause AI for the whole organization"),
];

/// Features that the page has boxes for: those to decide on, and those that the organization has switched.
fn feature_names(organization: &Value) -> Vec<String> {
    let stored = organization.get("features").and_then(Value::as_object);
    let mut names: Vec<String> = FEATURES.map(str::to_owned).into();
    // Its record always names this one, which nothing asks for.
    let others = stored
        .into_iter()
        .flatten()
        .filter(|(name, on)| *name != RETRIEVAL || on.as_bool() == Some(true));
    names.extend(others.map(|(name, _)| name.clone()));
    names.sort();
    names.dedup();
    names
}

/// Whether the organization has a feature, as far as it decides.
fn is_on(name: &str, organization: &Value) -> bool {
    let stored = organization.get("features").and_then(|all| all.get(name));
    stored.map_or_else(|| is_on_at_first(name), |on| on.as_bool() == Some(true))
}

pub(crate) fn save<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let path = api(visitor);
        let before = inside::ask(exchange, visitor.person(), Ask::get(&path)).await?;
        let before = before.data;
        let wanted = |fields: &Fields| differing(wanted(fields, &before), &before);
        let now = stored(&before);
        let saving = EDIT.save(exchange, visitor, &path, &now, fields, wanted);
        match saving.await? {
            None => Ok(see_other(exchange, &format!("{PAGE}?done=saved"))),
            Some(sent) => {
                let sent = sent
                    .moved("retention.conversation_days", "conversation_days")
                    .moved("retention.audit_days", "audit_days");
                render(exchange, visitor, sent).await
            }
        }
    })
}

/// The form as the API takes it; what the API does not know is left out of it.
fn wanted(fields: &Fields, before: &Value) -> Map<String, Value> {
    let mut body = Map::new();
    for key in ["name", "phi_mode", "webhook_payload"] {
        body.insert(key.to_owned(), fields.text(key).trim().into());
    }
    for (key, _) in SWITCHES {
        let is_on = fields.all("switches").any(|word| word == key);
        body.insert(key.to_owned(), is_on.into());
    }
    let number = |key: &str| fields.number(key).unwrap_or_default();
    body.insert(
        "per_request_max_tokens".to_owned(),
        number("per_request_max_tokens"),
    );
    let prompt = fields.filled("default_system_prompt");
    body.insert(
        "default_system_prompt".to_owned(),
        prompt.map(unix).map_or(Value::Null, Value::from),
    );
    let mut features = Map::new();
    for name in feature_names(before) {
        let is_ticked = fields.all("features").any(|ticked| ticked == name);
        // What was never switched stays so.
        if is_ticked != is_on(&name, before) {
            features.insert(name, is_ticked.into());
        }
    }
    body.insert("features".to_owned(), Value::Object(features));
    let days = json!({"conversation_days": number("conversation_days"), "audit_days": number("audit_days")});
    body.insert("retention".to_owned(), days);
    body
}
