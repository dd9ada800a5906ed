//! Agents, what they may do, and their credentials.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::surface::Surface;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::field::{Area, Boxes, Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, Told, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::session::{Visitor, see_other, token};
use crate::show;

const API: &str = "/v1/agents";
const PAGE: &str = "/ui/agents";
/// What an agent of this page does.
const CHAT: &str = "ai:chat";

#[derive(Template)]
#[template(path = "agents.html")]
struct Agents {
    layout: Layout,
    told: Told,
    agents: Vec<Value>,
    pager: Pager,
    may_change: bool,
    form: Form,
}

/// The fields of an agent.
struct Form {
    name: Input,
    description: Area,
    models: Boxes,
    default_model: Select,
    surfaces: Boxes,
    tools: Area,
    max_tokens: Input,
    max_active: Input,
    expiry: Input,
}

/// What the form shows before anybody typed.
struct Start<'a> {
    sent: &'a Fields,
    agent: Option<&'a Value>,
}

impl Start<'_> {
    /// What was sent, else what is stored.
    fn text(&self, field: &str, pointer: &str) -> String {
        if let Some(sent) = self.sent.sent(field) {
            return sent.to_owned();
        }
        match self.agent.and_then(|agent| agent.pointer(pointer)) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Array(items)) => {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                words.join("\n")
            }
            _ => String::new(),
        }
    }

    fn list(&self, field: &str, pointer: &str) -> Vec<String> {
        let sent: Vec<String> = self.sent.all(field).map(str::to_owned).collect();
        if !sent.is_empty() {
            return sent;
        }
        let stored = self.agent.and_then(|agent| agent.pointer(pointer));
        let items = stored.and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

fn form(exchange: &Exchange, start: &Start<'_>, told: &Told) -> Form {
    let catalogue = &exchange.policy.catalogue;
    let ids = || catalogue.models.iter().map(|model| model.id.as_str());
    let mut defaults = vec![Choice::new("", "none")];
    defaults.extend(Choice::words(ids()));
    let grants = start.agent.and_then(|agent| agent.get("scope_grants"));
    let mut grants = grants.and_then(Value::as_array).into_iter().flatten();
    let at = grants.position(|grant| show::plain(grant, "/scope") == CHAT);
    let chat = at.map_or_else(String::new, |at| format!("/scope_grants/{at}"));
    let surfaces = Surface::ALL.iter().map(|surface| surface.word());
    let ticked = |field: &str, pointer: &str| start.list(field, pointer);
    let models = ticked("allowed_models", "/allowed_models");
    let chosen_surfaces = ticked("surfaces", &format!("{chat}/constraints/surfaces"));
    Form {
        name: Input::text("name", "Name")
            .value(start.text("name", "/name"))
            .told(told),
        description: Area::new("description", "Description", 2)
            .value(start.text("description", "/description"))
            .told(told),
        models: Boxes::new("allowed_models", "Models", Choice::words(ids()))
            .hint("None ticked means any model that the organization may use.")
            .ticked(models.iter().map(String::as_str))
            .told(told),
        default_model: Select::new("default_model", "Default model", defaults)
            .chosen(&start.text("default_model", "/default_model"))
            .told(told),
        surfaces: Boxes::new("surfaces", "Surfaces", Choice::words(surfaces))
            .hint("None ticked means all of them.")
            .ticked(chosen_surfaces.iter().map(String::as_str))
            .told(told),
        tools: Area::new("tools", "Tools", 3)
            .hint("One name a line. Empty means any tool.")
            .value(start.text("tools", &format!("{chat}/tools")))
            .told(told),
        max_tokens: Input::new("number", "max_tokens", "Tokens of a reply, at most")
            .value(start.text("max_tokens", &format!("{chat}/constraints/max_tokens")))
            .optional()
            .told(told),
        max_active: Input::new(
            "number",
            "max_active_credentials",
            "Credentials at once, at most",
        )
        .value(start.text("max_active_credentials", "/max_active_credentials"))
        .optional()
        .told(told),
        expiry: Input::new(
            "number",
            "default_expiry_hours",
            "Hours that a credential works",
        )
        .value(start.text("default_expiry_hours", "/default_expiry_hours"))
        .optional()
        .told(told),
    }
}

/// The form as the API takes it. An agent made here speaks with models, within these limits.
fn wanted(fields: &Fields, before: Option<&Value>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("name".to_owned(), fields.text("name").trim().into());
    let or_null = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    body.insert(
        "description".to_owned(),
        or_null(fields.filled("description")),
    );
    body.insert(
        "default_model".to_owned(),
        or_null(fields.filled("default_model")),
    );
    body.insert(
        "allowed_models".to_owned(),
        any_or(fields.all("allowed_models").collect()),
    );
    let tools = fields.text("tools").lines().map(str::trim);
    let tools: Vec<&str> = tools.filter(|name| !name.is_empty()).collect();
    let mut constraints = Map::new();
    let surfaces: Vec<&str> = fields.all("surfaces").collect();
    if !surfaces.is_empty() {
        constraints.insert("surfaces".to_owned(), json!(surfaces));
    }
    if let Some(limit) = fields.number("max_tokens") {
        constraints.insert("max_tokens".to_owned(), limit);
    }
    // What the form does not show stays as it is: other grants, and the models of this one.
    let stored = before.and_then(|agent| agent.get("scope_grants")).cloned();
    let (chat, mut grants): (Vec<Value>, Vec<Value>) = show::rows(stored.unwrap_or_default())
        .into_iter()
        .partition(|grant| show::plain(grant, "/scope") == CHAT);
    let models = chat
        .first()
        .and_then(|grant| grant.pointer("/constraints/models"));
    if let Some(models) = models.filter(|models| models.is_array()) {
        constraints.insert("models".to_owned(), models.clone());
    }
    let grant = json!({"scope": CHAT, "tools": any_or(tools), "constraints": constraints});
    grants.insert(0, grant);
    body.insert("scope_grants".to_owned(), Value::Array(grants));
    for key in ["max_active_credentials", "default_expiry_hours"] {
        if let Some(number) = fields.number(key) {
            body.insert(key.to_owned(), number);
        }
    }
    body
}

fn any_or(words: Vec<&str>) -> Value {
    if words.is_empty() {
        Value::Null
    } else {
        json!(words)
    }
}

pub(crate) fn list<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let (status, told) = (StatusCode::OK, Told::default());
        render(exchange, visitor, status, &Fields::default(), told).await
    })
}

async fn render(
    exchange: &mut Exchange,
    visitor: &Visitor,
    status: StatusCode,
    sent: &Fields,
    told: Told,
) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let start = Start { sent, agent: None };
    let page = Agents {
        layout: Layout::new(exchange, visitor, "Agents"),
        agents: show::rows(answer.data),
        pager: Pager::new(PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        form: form(exchange, &start, &told),
        told,
    };
    html(exchange, status, &page)
}

pub(crate) fn create<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::new(Method::POST, API).body(wanted(&fields, None));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let id = show::plain(&answer.data, "/agent/0/id");
                Ok(see_other(exchange, &format!("{PAGE}/{id}?done=created")))
            }
            Err(fault) => {
                let told = Told::of_form(fault)?;
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                render(exchange, visitor, status, &fields, told).await
            }
        }
    })
}

#[derive(Template)]
#[template(path = "agent.html")]
struct Agent {
    layout: Layout,
    told: Told,
    agent: Value,
    credentials: Vec<Value>,
    pager: Pager,
    new_credential: Option<String>,
    may_change: bool,
    once: String,
    form: Form,
    label: Input,
    runtime_user: Input,
    hours: Input,
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let (status, told) = (StatusCode::OK, Told::default());
        one(exchange, visitor, status, &Fields::default(), told, None).await
    })
}

/// The API's path of the agent that the page's path names.
fn path(exchange: &Exchange) -> String {
    format!("{API}/{}", exchange.parameter("id"))
}

/// The agent as it is.
async fn stored(exchange: &mut Exchange, visitor: &Visitor) -> Result<Value, Fault> {
    let ask = Ask::get(path(exchange));
    let mut found = inside::ask(exchange, visitor.person(), ask).await?;
    let agent = found.data.pointer_mut("/agent/0").map(Value::take);
    Ok(agent.unwrap_or_default())
}

async fn one(
    exchange: &mut Exchange,
    visitor: &Visitor,
    status: StatusCode,
    sent: &Fields,
    told: Told,
    new_credential: Option<String>,
) -> Result<Response, Fault> {
    let path = path(exchange);
    let agent = stored(exchange, visitor).await?;
    let ask = Pager::turn(exchange, Ask::get(format!("{path}/credentials")));
    let credentials = inside::ask(exchange, visitor.person(), ask).await?;
    let start = Start {
        sent,
        agent: Some(&agent),
    };
    let page = Agent {
        layout: Layout::new(exchange, visitor, "Agent"),
        credentials: show::rows(credentials.data),
        pager: Pager::new(&exchange.head.path, &credentials.pagination),
        new_credential,
        may_change: visitor.may(exchange, &Method::POST, API),
        once: token(),
        form: form(exchange, &start, &told),
        label: Input::text("label", "Label")
            .hint("Where it is used: a device, a ward, a job.")
            .value(sent.text("label"))
            .optional()
            .told(&told),
        runtime_user: Input::text("runtime_user", "Person it speaks with")
            .hint("An identifier of yours, no name. Only such a credential keeps conversations.")
            .value(sent.text("runtime_user"))
            .optional()
            .told(&told),
        hours: Input::new("number", "expires_in_hours", "Hours that it works")
            .value(sent.text("expires_in_hours"))
            .optional()
            .told(&told),
        agent,
        told,
    };
    html(exchange, status, &page)
}

pub(crate) fn update<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let before = stored(exchange, visitor).await?;
        let body = wanted(&fields, Some(&before));
        let ask = Ask::new(Method::PATCH, path(exchange)).body(body);
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(_) => Ok(see_other(exchange, &back(exchange, "saved"))),
            Err(fault) => {
                let told = Told::of_form(fault)?;
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                one(exchange, visitor, status, &fields, told, None).await
            }
        }
    })
}

/// The page of the agent, where a form says what it has done.
fn back(exchange: &Exchange, done: &str) -> String {
    format!("{PAGE}/{}?done={done}", exchange.parameter("id"))
}

/// Archives or reactivates; which of them is the last word of the page's path.
pub(crate) fn change_standing<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let word = exchange.head.path.rsplit('/').next().unwrap_or_default();
        let path = format!("{}/{word}", path(exchange));
        inside::ask(exchange, visitor.person(), Ask::new(Method::POST, path)).await?;
        Ok(see_other(exchange, &back(exchange, "saved")))
    })
}

pub(crate) fn issue<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = Map::new();
        for key in ["label", "runtime_user"] {
            if let Some(text) = fields.filled(key) {
                body.insert(key.to_owned(), text.into());
            }
        }
        if let Some(hours) = fields.number("expires_in_hours") {
            body.insert("expires_in_hours".to_owned(), hours);
        }
        let path = format!("{}/credentials", path(exchange));
        let ask = Ask::new(Method::POST, path)
            .body(body)
            .once(fields.text("once"));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let credential = Some(show::plain(&answer.data, "/credential").to_owned());
                let (status, told) = (StatusCode::CREATED, Told::default());
                one(
                    exchange,
                    visitor,
                    status,
                    &Fields::default(),
                    told,
                    credential,
                )
                .await
            }
            Err(fault) => {
                let told = Told::of_form(fault)?;
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                one(exchange, visitor, status, &fields, told, None).await
            }
        }
    })
}

pub(crate) fn revoke<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let id = exchange.parameter("credential_id");
        let path = format!("{}/credentials/{id}/revoke", path(exchange));
        inside::ask(exchange, visitor.person(), Ask::new(Method::POST, path)).await?;
        Ok(see_other(exchange, &back(exchange, "revoked")))
    })
}
