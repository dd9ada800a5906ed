//! The playground: a message through the whole gateway, and side by side what was typed, what the provider received
//! and what came back. What the provider received is shown to the one who typed it, and kept nowhere.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::Value;
use svc_core::chat::{ChatRequest, Part};
use svc_core::fault::Fault;
use svc_core::surface::native::DEFAULT_MODEL;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask, Witness};
use svc_pipeline::response::Response;
use svc_pipeline::role::not_allowed;

use crate::field::{Area, Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const API: &str = "/v1/ai/chat";

#[derive(Template)]
#[template(path = "playground.html")]
struct Playground {
    layout: Layout,
    told: Told,
    model: Select,
    system: Input,
    message: Area,
    turn: Option<Turn>,
}

/// One message and what became of it.
struct Turn {
    typed: String,
    /// What the provider got; nothing where the message was refused before.
    received: Option<String>,
    /// What came back, with the caller's own words in their places again.
    answered: Option<String>,
    /// `NAME: 2`.
    found: Vec<String>,
    facts: Value,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        if !visitor.may(exchange, &Method::POST, API) {
            return Err(not_allowed());
        }
        render(exchange, visitor, Sent::nothing(), None)
    })
}

fn render(
    exchange: &Exchange,
    visitor: &Visitor,
    sent: Sent,
    turn: Option<Turn>,
) -> Result<Response, Fault> {
    let models = exchange.policy.catalogue.models.iter();
    let models = Choice::words(models.map(|model| model.id.as_str()));
    let chosen = sent.filled("model").unwrap_or(DEFAULT_MODEL);
    let page = Playground {
        layout: Layout::new(exchange, visitor, "Playground"),
        model: Select::new("model", "Model", models)
            .chosen(chosen)
            .told(&sent.told),
        system: Input::text("system", "System prompt")
            .sent(&sent)
            .optional(),
        message: Area::new("message", "Message", 6).sent(&sent),
        told: sent.told,
        turn,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn ask<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = fields.texts(&["model", "system", "message"]);
        body.insert("stream".to_owned(), false.into());
        body.insert("store".to_owned(), false.into());
        let witness = Witness::default();
        let asked = Ask::new(Method::POST, API).body(body).seen_by(&witness);
        let answered = inside::ask_whole(exchange, visitor.person(), asked).await;
        let mut turn = Turn {
            typed: fields.text("message").to_owned(),
            received: witness.seen().map(|chat| text_of(&chat)),
            answered: None,
            found: Vec::new(),
            facts: Value::Null,
        };
        let sent = match answered {
            Ok(envelope) => {
                turn.answered = Some(show::plain(&envelope, "/data/message/content").to_owned());
                turn.facts = envelope.pointer("/meta").cloned().unwrap_or_default();
                turn.found = words(&turn.facts, "/phi/entity_types");
                Sent::tried(fields)
            }
            Err(fault) => {
                turn.found = fault
                    .details
                    .get("entity_types")
                    .map(|found| words(found, ""))
                    .unwrap_or_default();
                // What was typed stays, whatever the provider's trouble is.
                let status = fault.code.row().status;
                if status < 500 {
                    Sent::refused(fault, fields)?
                } else {
                    let status = StatusCode::from_u16(status);
                    Sent {
                        status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
                        fields: Some(fields),
                        told: Told::of(&fault),
                    }
                }
            }
        };
        render(exchange, visitor, sent, Some(turn))
    })
}

fn words(value: &Value, pointer: &str) -> Vec<String> {
    let found = value.pointer(pointer).and_then(Value::as_array);
    let found = found.into_iter().flatten().filter_map(Value::as_str);
    found.map(str::to_owned).collect()
}

/// The texts of a request as the provider reads them.
fn text_of(chat: &ChatRequest) -> String {
    let turns = chat.messages.iter().flat_map(|message| &message.content);
    let texts = chat
        .system
        .iter()
        .chain(turns)
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
    texts.collect::<Vec<_>>().join("\n\n")
}
