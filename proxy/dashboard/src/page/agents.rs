//! Agents, what they may do, and their credentials.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::{Fault, Problems};
use svc_core::surface::Surface;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::edit::Edit;
use crate::field::{Area, Boxes, Choice, Input, Select};
use crate::form::{Fields, unix};
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

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
    /// Whether an agent that is there speaks with models at all.
    speaks: Option<Boxes>,
    surfaces: Boxes,
    tools: Area,
    /// Which of the lists above, being empty, allow nothing instead of anything.
    none: Boxes,
    max_tokens: Input,
    max_active: Input,
    expiry: Input,
}

/// The box of an agent that speaks with models.
const SPEAKS: &str = "speaks";

/// The lists of the form: the field, and what its box in `none` says.
const LISTS: [(&str, &str); 3] = [
    ("allowed_models", "no model"),
    ("surfaces", "no surface"),
    ("tools", "no tool"),
];

/// What stands in a list of the form that allows nothing: another value than an empty one, which allows anything.
const NOTHING: &str = "nothing at all";

/// The list in whose place the API gets what it refuses, where the form contradicts itself.
const REFUSED: &str = "allowed_models";

/// A form as browsers send it, with its boxes of `none` in the lists that they are about, and nowhere else: what
/// somebody else makes of a list takes its box along.
fn bound(mut fields: Fields) -> Fields {
    for (list, _) in LISTS {
        if fields.all("none").any(|ticked| ticked == list) {
            let mut texts: Vec<String> = fields.all(list).map(str::to_owned).collect();
            texts.retain(|text| !text.trim().is_empty());
            let texts = texts.iter().map(String::as_str);
            fields.put(list, texts.chain([NOTHING]));
        }
    }
    fields.put("none", std::iter::empty());
    fields
}

/// Refuses lists in which something stands although they are ticked to allow nothing: nobody knows what was meant, and
/// anything is the wrong guess.
fn contradiction(fields: &Fields) -> Result<(), Fault> {
    let mut problems = Problems::default();
    for (list, label) in LISTS {
        let is_nothing = fields.all(list).any(|text| text == NOTHING);
        if is_nothing && fields.all(list).any(|text| text != NOTHING) {
            problems.add(
                list,
                format!("is not empty, and \u{201c}{label}\u{201d} is ticked: only one of them can be meant"),
            );
        }
    }
    problems.into_result()
}

/// With the contradiction of a form in the place of what the API has said of it.
fn explained(sent: Sent) -> Result<Sent, Fault> {
    let is_of_lists = sent.told.at(REFUSED).is_some();
    match sent.fields.as_ref().map(contradiction) {
        Some(Err(fault)) if is_of_lists && sent.status == StatusCode::UNPROCESSABLE_ENTITY => {
            Sent::refused(fault, sent.fields.unwrap_or_default())
        }
        _ => Ok(sent),
    }
}

/// What the form shows of an agent. Lists are right as a whole only: two that take one model each out of a list of two
/// would leave an empty one, which allows anything.
const EDIT: Edit = Edit {
    whole: &[
        "name",
        "description",
        "allowed_models",
        "default_model",
        SPEAKS,
        "surfaces",
        "tools",
        "max_tokens",
        "max_active_credentials",
        "default_expiry_hours",
    ],
    apart: &[],
};

/// Where the stored agent keeps what a field of the form shows.
fn pointer(field: &str, agent: Option<&Value>) -> String {
    match field {
        "surfaces" | "max_tokens" => format!("{}/constraints/{field}", chat_of(agent)),
        "tools" => format!("{}/tools", chat_of(agent)),
        _ => format!("/{field}"),
    }
}

/// The pointer to the grant that the form shows; one that leads nowhere where there is none.
fn chat_of(agent: Option<&Value>) -> String {
    let at = agent.and_then(chat_place);
    at.map_or_else(
        || "/scope_grants/none".to_owned(),
        |at| format!("/scope_grants/{at}"),
    )
}

fn chat_place(agent: &Value) -> Option<usize> {
    let grants = agent.get("scope_grants")?.as_array()?;
    let is_chat = |grant: &Value| show::plain(grant, "/scope") == CHAT;
    grants.iter().position(is_chat)
}

/// The form before anybody typed: what is stored, or nothing.
fn start(agent: Option<&Value>) -> Fields {
    let mut fields = Fields::default();
    for field in EDIT.whole {
        let stored = agent.and_then(|stored| stored.pointer(&pointer(field, agent)));
        let items = stored.and_then(Value::as_array);
        let words = items.into_iter().flatten().filter_map(Value::as_str);
        match *field {
            SPEAKS => {
                let speaks = agent.and_then(chat_place).map(|_| "models");
                fields.put(field, speaks.into_iter());
            }
            _ if items.is_some_and(Vec::is_empty) => fields.put(field, [NOTHING].into_iter()),
            "allowed_models" | "surfaces" => fields.put(field, words),
            "tools" => {
                let lines: Vec<&str> = words.collect();
                fields.put(field, [lines.join("\n").as_str()].into_iter());
            }
            _ => {
                let text = stored.map(show::typed).unwrap_or_default();
                fields.put(field, [text.as_str()].into_iter());
            }
        }
    }
    fields
}

/// Models to choose from: those of the catalogue, and what the agent has beside them.
fn models(exchange: &Exchange, agent: Option<&Value>) -> Vec<String> {
    let catalogue = &exchange.policy.catalogue;
    let mut ids: Vec<String> = catalogue.models.iter().map(|one| one.id.clone()).collect();
    let stored = start(agent);
    let models = stored.all("allowed_models");
    for model in models.chain(stored.filled("default_model")) {
        if model != NOTHING && !ids.iter().any(|id| id == model) {
            ids.push(model.to_owned());
        }
    }
    ids
}

/// The form as it was sent, else as it starts. Boxes that are not ticked are not sent, the name always is.
fn form(exchange: &Exchange, sent: &Sent, agent: Option<&Value>) -> Form {
    let start = start(agent);
    let typed = sent.fields.as_ref();
    let fields = typed.filter(|fields| fields.sent("name").is_some());
    let fields = fields.unwrap_or(&start);
    let told = &sent.told;
    let ids = models(exchange, agent);
    let ids = || Choice::words(ids.iter().map(String::as_str));
    let mut defaults = vec![Choice::new("", "none")];
    defaults.extend(ids());
    let surfaces = Surface::ALL.iter().map(|surface| surface.word());
    let nothings = LISTS.map(|(word, label)| Choice::new(word, label));
    let is_nothing = |list: &&str| fields.all(list).any(|text| text == NOTHING);
    let none = LISTS.iter().map(|(list, _)| *list).filter(is_nothing);
    let tools = Some(fields.text("tools")).filter(|text| *text != NOTHING);
    let number = |name: &'static str, label: &'static str| {
        Input::new("number", name, label)
            .value(fields.text(name))
            .optional()
            .told(told)
    };
    Form {
        name: Input::text("name", "Name")
            .value(fields.text("name"))
            .told(told),
        description: Area::new("description", "Description", 2)
            .value(fields.text("description"))
            .told(told),
        models: Boxes::new("allowed_models", "Models", ids())
            .hint("None ticked means any model that the organization may use.")
            .ticked(fields.all("allowed_models"))
            .told(told),
        default_model: Select::new("default_model", "Default model", defaults)
            .chosen(fields.text("default_model"))
            .told(told),
        speaks: agent.map(|_| {
            Boxes::new(
                SPEAKS,
                "Conversations",
                vec![Choice::new("models", "speaks with models")],
            )
            .hint("Without it, what stands below has no effect.")
            .ticked(fields.all(SPEAKS))
            .told(told)
        }),
        surfaces: Boxes::new("surfaces", "Surfaces", Choice::words(surfaces))
            .hint("None ticked means all of them.")
            .ticked(fields.all("surfaces"))
            .told(told),
        tools: Area::new("tools", "Tools", 3)
            .hint("One name a line. Empty means any tool.")
            .value(tools.unwrap_or_default())
            .told(told),
        none: Boxes::new("none", "Nothing at all", nothings.into())
            .hint("A list above that is empty and ticked here allows nothing instead of anything.")
            .ticked(none)
            .told(told),
        max_tokens: number("max_tokens", "Tokens of a reply, at most"),
        max_active: number("max_active_credentials", "Credentials at once, at most"),
        expiry: number("default_expiry_hours", "Hours that a credential works"),
    }
}

/// The form as the API takes it. An agent made here speaks with models, within these limits. Of an agent that is there,
/// only what differs is sent: what nobody touched stays as it is, whoever wrote it.
fn wanted(fields: &Fields, before: Option<&Value>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("name".to_owned(), fields.text("name").trim().into());
    for key in ["description", "default_model"] {
        let text = fields.filled(key).map(unix);
        body.insert(key.to_owned(), text.map_or(Value::Null, Value::from));
    }
    let models: Vec<&str> = fields.all("allowed_models").collect();
    let models = listed("allowed_models", &models, before);
    body.insert("allowed_models".to_owned(), models);
    for key in ["max_active_credentials", "default_expiry_hours"] {
        if let Some(number) = fields.number(key) {
            body.insert(key.to_owned(), number);
        }
    }
    body.insert("scope_grants".to_owned(), granted(fields, before));
    if let Some(before) = before {
        body.retain(|key, value| {
            before.get(key.as_str()) != Some(&*value) && !is_as_shown(fields, key, before)
        });
    }
    if contradiction(fields).is_err() {
        // No list at all: the API refuses it behind its own gates, and keeps a row of that.
        body.insert(REFUSED.to_owned(), NOTHING.into());
    }
    body
}

/// Grants of the agent, of which the form shows one. What it does not show stays as it is: others, and the models of
/// this one.
fn granted(fields: &Fields, before: Option<&Value>) -> Value {
    let stored = before.and_then(|agent| agent.get("scope_grants")).cloned();
    let mut grants = show::rows(stored.unwrap_or_default());
    let place = before.and_then(chat_place);
    let speaks = before.is_none() || fields.all(SPEAKS).next().is_some();
    match place {
        Some(at) if !speaks => {
            grants.remove(at);
        }
        Some(at) => {
            if let Some(grant) = grants.get_mut(at) {
                *grant = chat(fields, before);
            }
        }
        None if speaks => grants.insert(0, chat(fields, before)),
        None => {}
    }
    Value::Array(grants)
}

/// The grant that the form shows.
fn chat(fields: &Fields, before: Option<&Value>) -> Value {
    let tools = fields.lines("tools");
    let tools = match before {
        // Names that lines cannot carry stay what they are.
        Some(before) if !tools.is_empty() && is_as_shown(fields, "tools", before) => {
            let stored = before.pointer(&pointer("tools", Some(before)));
            stored.cloned().unwrap_or_default()
        }
        _ => listed("tools", &tools, before),
    };
    let mut constraints = Map::new();
    if let Some(limit) = fields.number("max_tokens") {
        constraints.insert("max_tokens".to_owned(), limit);
    }
    let models = before.and_then(|agent| {
        let models = format!("{}/constraints/models", chat_of(Some(agent)));
        agent.pointer(&models).filter(|models| models.is_array())
    });
    if let Some(models) = models {
        constraints.insert("models".to_owned(), models.clone());
    }
    let surfaces: Vec<&str> = fields.all("surfaces").collect();
    let surfaces = listed("surfaces", &surfaces, before);
    if !surfaces.is_null() {
        constraints.insert("surfaces".to_owned(), surfaces);
    }
    json!({"scope": CHAT, "tools": tools, "constraints": constraints})
}

/// A list of the form: null for anything, empty for nothing, and as it is stored where only its order is another.
fn listed(field: &str, words: &[&str], before: Option<&Value>) -> Value {
    let stored = before.and_then(|agent| agent.pointer(&pointer(field, Some(agent))));
    let items = stored.and_then(Value::as_array);
    let is_same = |items: &&Vec<Value>| {
        let mut all = items.iter().map(Value::as_str);
        items.len() == words.len() && all.all(|item| item.is_some_and(|item| words.contains(&item)))
    };
    match (words, items.filter(is_same)) {
        ([], _) => Value::Null,
        ([NOTHING], _) => json!([]),
        (_, Some(items)) => Value::Array(items.clone()),
        (_, None) => json!(words),
    }
}

/// Whether a text came back as it was shown.
fn is_as_shown(fields: &Fields, field: &str, before: &Value) -> bool {
    if !matches!(field, "name" | "description" | "default_model" | "tools") {
        return false;
    }
    let sent = fields.sent(field);
    sent.is_some_and(|sent| unix(sent) == unix(start(Some(before)).text(field)))
}

/// With refusals of the grant beside the fields that it was made of.
fn moved(sent: Sent, before: Option<&Value>) -> Sent {
    let at = before.and_then(chat_place).unwrap_or_default();
    let grant = format!("scope_grants[{at}]");
    sent.moved(&format!("{grant}.tools"), "tools")
        .moved(&format!("{grant}.constraints.surfaces"), "surfaces")
        .moved(&format!("{grant}.constraints.max_tokens"), "max_tokens")
}

pub(crate) fn list<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let page = Agents {
        layout: Layout::new(exchange, visitor, "Agents"),
        agents: show::rows(answer.data),
        pager: Pager::new(exchange, PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        form: form(exchange, &sent, None),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn create<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let fields = bound(fields);
        let ask = Ask::new(Method::POST, API)
            .body(wanted(&fields, None))
            .once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let id = show::plain(&answer.data, "/agent/0/id");
                Ok(see_other(exchange, &format!("{PAGE}/{id}?done=created")))
            }
            Err(fault) => {
                let sent = moved(Sent::refused(fault, fields)?, None);
                render(exchange, visitor, explained(sent)?).await
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
    form: Form,
    shown: String,
    label: Input,
    runtime_user: Input,
    hours: Input,
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(one(exchange, visitor, Sent::nothing(), None))
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
    sent: Sent,
    new_credential: Option<String>,
) -> Result<Response, Fault> {
    let path = path(exchange);
    let agent = stored(exchange, visitor).await?;
    let ask = Pager::turn(exchange, Ask::get(format!("{path}/credentials")));
    let credentials = inside::ask(exchange, visitor.person(), ask).await?;
    let page = Agent {
        layout: Layout::new(exchange, visitor, "Agent"),
        credentials: show::rows(credentials.data),
        pager: Pager::new(exchange, &exchange.head.path, &credentials.pagination),
        new_credential,
        may_change: visitor.may(exchange, &Method::POST, API),
        form: form(exchange, &sent, Some(&agent)),
        shown: EDIT.shown(&start(Some(&agent))),
        label: Input::text("label", "Label")
            .hint("Where it is used: a device, a ward, a job.")
            .sent(&sent)
            .optional(),
        runtime_user: Input::text("runtime_user", "Person it speaks with")
            .hint("An identifier of yours, no name. Only such a credential keeps conversations.")
            .sent(&sent)
            .optional(),
        hours: Input::new("number", "expires_in_hours", "Hours that it works")
            .sent(&sent)
            .optional(),
        agent,
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn update<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let before = stored(exchange, visitor).await?;
        let path = path(exchange);
        let wanted = |fields: &Fields| wanted(fields, Some(&before));
        let (now, fields) = (start(Some(&before)), bound(fields));
        let saving = EDIT.save(exchange, visitor, &path, &now, fields, wanted);
        match saving.await? {
            None => Ok(see_other(exchange, &back(exchange, "saved"))),
            Some(sent) => {
                let sent = explained(moved(sent, Some(&before)))?;
                one(exchange, visitor, sent, None).await
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
        let mut body = fields.texts(&["label", "runtime_user"]);
        if let Some(hours) = fields.number("expires_in_hours") {
            body.insert("expires_in_hours".to_owned(), hours);
        }
        let path = format!("{}/credentials", path(exchange));
        let ask = Ask::new(Method::POST, path)
            .body(body)
            .once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let credential = Some(show::plain(&answer.data, "/credential").to_owned());
                let sent = Sent::done(StatusCode::CREATED);
                one(exchange, visitor, sent, credential).await
            }
            Err(fault) => {
                let sent = Sent::refused(fault, fields)?;
                one(exchange, visitor, sent, None).await
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
