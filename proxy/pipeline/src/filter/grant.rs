//! `grant`: what the agent behind a credential may do (contract 10). API keys pass: their scopes are all they have.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use svc_core::chat::ChatRequest;
use svc_core::fault::{Code, Fault};
use svc_core::grant::{self, Constraints};
use svc_core::scope::Scope;
use svc_core::surface::Surface;

use super::{Filter, Passed};
use crate::caller::Agent;
use crate::conversation::Thread;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::policy::pipelines::Route;

pub(super) struct Grant;

impl Filter for Grant {
    fn name(&self) -> &'static str {
        "grant"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Authorized, Fact::Chat]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Granted]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let Some(agent) = &caller.agent else {
                return Ok(());
            };
            let chat = given(exchange.facts.chat.as_mut(), "the chat")?;
            own(agent, given(exchange.facts.thread.as_mut(), "the thread")?)?;
            chat.max_tokens = judge(agent, &exchange.route, exchange.surface, chat)?;
            Ok(())
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        let Some(agent) = &passed.caller.agent else {
            return Ok(());
        };
        judge(agent, passed.route, passed.surface, passed.chat).map(drop)
    }
}

/// The most tokens that the request may ask for where one of the agent's grants allows it.
fn judge(
    agent: &Agent,
    route: &Route,
    surface: Surface,
    chat: &ChatRequest,
) -> Result<Option<u32>, Fault> {
    let (scope, _) = route.asks()?;
    let mut refusal: Option<Refusal> = None;
    for grant in agent.grants_of(scope) {
        match allow(grant, agent, surface, chat) {
            Ok(max_tokens) => return Ok(max_tokens),
            Err(next) => {
                let is_nearer = |last: &Refusal| next.what > last.what;
                if refusal.as_ref().is_none_or(is_nearer) {
                    refusal = Some(next);
                }
            }
        }
    }
    // Of several ways none allows it: the one that allows most of it says what it lacks, of equals the first.
    Err(given(refusal, "the grant")?.fault)
}

/// Why a grant does not allow a request.
struct Refusal {
    what: Lacks,
    fault: Fault,
}

/// What a grant is looked at for, in this order: one that lacks a later thing allows all before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lacks {
    Tool,
    Surface,
    Model,
    Tokens,
}

/// Holds a request to one grant.
fn allow(
    grant: &grant::Grant,
    agent: &Agent,
    surface: Surface,
    chat: &ChatRequest,
) -> Result<Option<u32>, Refusal> {
    let tools = grant.tools.as_ref();
    let foreign = tools.and_then(|tools| {
        let mut asked = chat.tools.iter();
        asked.position(|tool| !tools.contains(&tool.name))
    });
    if let Some(at) = foreign {
        // The name comes from the body and may be PHI: its place is told, not its text.
        let place = format!("tools[{at}]");
        return Err(Refusal {
            what: Lacks::Tool,
            fault: Code::ToolNotInScope
                .fault()
                .at(&place)
                .detail("tool", place),
        });
    }
    keep(&grant.constraints, agent, surface, chat)
}

/// Without a user of its own, a credential owns no stored conversation (contract X22).
fn own(agent: &Agent, thread: &mut Thread) -> Result<(), Fault> {
    if agent.runtime_user.is_some() {
        return Ok(());
    }
    if thread.asks_to_store || thread.continues {
        return Err(Code::ConversationOwnerRequired.fault());
    }
    thread.store = false;
    Ok(())
}

/// The constraints of the grant and of the agent. A limit of tokens that the caller does not name is lowered.
fn keep(
    constraints: &Constraints,
    agent: &Agent,
    surface: Surface,
    chat: &ChatRequest,
) -> Result<Option<u32>, Refusal> {
    let Constraints {
        max_tokens,
        models,
        surfaces,
    } = constraints;
    if !constraints.allows_surface(surface) {
        return Err(elsewhere(surfaces.as_deref()));
    }
    for allowed in [models, &agent.allowed_models].into_iter().flatten() {
        if !allowed.contains(&chat.model) {
            return Err(violated(Lacks::Model, json!(allowed)));
        }
    }
    match (*max_tokens, chat.max_tokens) {
        (Some(most), Some(asked)) if asked > most => Err(violated(Lacks::Tokens, json!(most))),
        (most, asked) => Ok(asked.or(most)),
    }
}

/// A grant that does not reach to the surface, but to these.
fn elsewhere(surfaces: Option<&[Surface]>) -> Refusal {
    let words = surfaces.unwrap_or_default().iter();
    let words: Vec<&str> = words.map(|surface| surface.word()).collect();
    violated(Lacks::Surface, json!(words))
}

/// Holds an agent that reads to what it may speak on: what is kept of a surface is for those who reach it.
///
/// # Errors
/// 403 as for a request to a model there.
pub(crate) fn reach(agent: &Agent, scope: Scope, surface: Surface) -> Result<(), Fault> {
    let mut refusal = None;
    for grant in agent.grants_of(scope) {
        let constraints = &grant.constraints;
        if constraints.allows_surface(surface) {
            return Ok(());
        }
        refusal = refusal.or_else(|| Some(elsewhere(constraints.surfaces.as_deref())));
    }
    Err(given(refusal, "the grant")?.fault)
}

fn violated(what: Lacks, limit: Value) -> Refusal {
    let (constraint, place) = match what {
        Lacks::Tool => ("tools", Some("tools")),
        Lacks::Surface => ("surfaces", None),
        Lacks::Model => ("models", Some("model")),
        Lacks::Tokens => ("max_tokens", Some("max_tokens")),
    };
    let fault = Code::ScopeConstraintViolation
        .fault()
        .detail("constraint", constraint)
        .detail("limit", limit);
    Refusal {
        what,
        fault: match place {
            Some(place) => fault.at(place),
            None => fault,
        },
    }
}
