//! Agents (contract 10).

use serde_json::{Value, json};
use svc_core::fault::{Code, Fault, Problems, invalid};
use svc_core::grant;
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_pipeline::moment;
use svc_store::agent::{self, Agent, Filter, Line, Writable};
use svc_store::page::Position;
use svc_store::{Transaction, agent_credential};

use crate::call::{
    Answering, Call, Change, Deciding, Effect, Refused, Reply, change, missing, refused, shown,
    store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, Given, MAX_DESCRIPTION_CHARS, MAX_ITEMS, MAX_NAME_CHARS};
use crate::query::PAGE;

/// Contract 10.
const DEFAULT_MAX_CREDENTIALS: u32 = 10;
const MAX_CREDENTIALS: u32 = 1_000;
const DEFAULT_EXPIRY_HOURS: u32 = 24;
pub(crate) const MAX_EXPIRY_HOURS: u32 = 720;
const MAX_DELEGATION_DEPTH: u32 = 3;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let filter = Filter {
            archived: query.either("status", ["active", "archived"], &mut problems),
            name_prefix: query.one("name", &mut problems),
        };
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = agent::list(store, organization, caller.mode, &filter, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|agent| Position::new(agent.created_at, &agent.id));
        Ok(Reply::page(
            found.rows.iter().map(record).collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let agent = find(&call).await?;
        Ok(Reply::of(single(&agent)))
    })
}

/// The agent that the path names.
pub(crate) async fn find(call: &Call) -> Result<Agent, Fault> {
    let id = call.id("id", IdKind::Agent)?;
    let caller = &call.caller;
    let (store, organization) = (&call.gateway.store, &caller.organization_id);
    let found = agent::find(store, organization, caller.mode, &id).await;
    found
        .map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.require("name", &mut problems);
        let mut writable = blank();
        let parent = fields.string("parent_agent_id", &mut problems);
        merge(&mut writable, &mut fields, &call, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let parent = match parent {
                    Some(id) => Some(parent_of(&mut tx, &call, &id, &writable).await?),
                    None => None,
                };
                let depth = parent
                    .as_ref()
                    .map_or(0, |parent| parent.delegation_depth + 1);
                if depth > MAX_DELEGATION_DEPTH {
                    return Err(refused(too_deep(depth)));
                }
                let agent = Agent {
                    id: moment::id(IdKind::Agent),
                    org_id: call.caller.organization_id.clone(),
                    mode: call.caller.mode,
                    writable,
                    parent_agent_id: parent.map(|parent| parent.id),
                    delegation_depth: depth,
                    created_by: call.caller.creator(),
                    created_at: call.now,
                    updated_at: call.now,
                    archived_at: None,
                };
                agent::insert(&mut tx, &agent).await?;
                Ok(Effect::created("agent", &agent.id, single(&agent)))
            })
        }))
    })
}

fn too_deep(depth: u32) -> Fault {
    Code::AgentDelegationChainDepthExceeded
        .fault()
        .detail("max_depth", MAX_DELEGATION_DEPTH)
        .detail("depth", depth)
}

/// A new agent of which nothing was said.
fn blank() -> Writable {
    Writable {
        name: String::new(),
        description: None,
        default_model: None,
        allowed_models: None,
        scope_grants: json!([]),
        max_active_credentials: DEFAULT_MAX_CREDENTIALS,
        default_expiry_hours: DEFAULT_EXPIRY_HOURS,
        metadata: std::collections::BTreeMap::new(),
    }
}

/// The agent that a new one acts for, which nobody narrows meanwhile; nobody hands on more than they have.
async fn parent_of(
    tx: &mut Transaction<'_>,
    call: &Call,
    id: &str,
    child: &Writable,
) -> Result<Agent, Refused> {
    let caller = &call.caller;
    let found = agent::lock_line(tx, &caller.organization_id, caller.mode, id).await?;
    let parent = found.filter(|line| line.agent.archived_at.is_none());
    let parent = parent.ok_or_else(|| {
        refused(invalid(
            "parent_agent_id",
            "is not an active agent of this organization",
        ))
    })?;
    within(child, &parent, |_| true).map_err(refused)?;
    Ok(parent.agent)
}

/// Whether an agent gets no more than the one it acts for has by now, in those fields that are asked for: what it was
/// given before its parent had less counts for no more than the parent has.
fn within(child: &Writable, parent: &Line, is_asked: impl Fn(&str) -> bool) -> Result<(), Fault> {
    let mut problems = Problems::default();
    if is_asked("scope_grants") {
        let held = grant::held(&parent.agent.writable.scope_grants, parent.scope_grants());
        if let Some(at) = grant::first_beyond(&grants(&child.scope_grants)?, &held) {
            problems.add(
                format!("scope_grants[{at}]"),
                "goes further than the parent agent's grants",
            );
        }
    }
    let Some(allowed) = parent.allowed_models() else {
        return problems.into_result();
    };
    let beyond = "is not a model that the parent agent may use";
    if is_asked("allowed_models") {
        let wanted = child.allowed_models.iter().flatten().enumerate();
        for (at, _) in wanted.filter(|(_, model)| !allowed.contains(model)) {
            problems.add(format!("allowed_models[{at}]"), beyond);
        }
    }
    if is_asked("default_model")
        && let Some(model) = &child.default_model
        && !allowed.contains(model)
    {
        problems.add("default_model", beyond);
    }
    problems.into_result()
}

/// Grants that were checked when they were stored.
pub(crate) fn grants(stored: &Value) -> Result<Vec<grant::Grant>, Fault> {
    grant::stored(stored).ok_or_else(|| Fault::internal("stored grants cannot be read"))
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let before = find(&call).await;
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let body = std::mem::take(&mut call.body);
        // Read once for its problems, which come before whether the agent is there (contract 2); applied to the row as
        // it is in the transaction.
        let mut draft = before
            .as_ref()
            .map_or_else(|_| blank(), |before| before.writable.clone());
        let mut fields = Fields::top(body.clone());
        fields.refuse_nulls(&["name"], &mut problems);
        merge(&mut draft, &mut fields, &call, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let before = before?;
        let changed: Vec<Value> = body.keys().map(|key| Value::from(key.clone())).collect();
        locked(call, before.id, move |call, agent| {
            let mut problems = Problems::default();
            merge(
                &mut agent.writable,
                &mut Fields::top(body),
                call,
                &mut problems,
            );
            problems.into_result()?;
            agent.updated_at = call.now;
            Ok(Next::Updated(changed))
        })
    })
}

pub(crate) fn archive(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = find(&call).await?.id;
        locked(call, id, |call, agent| {
            let is_change = agent.archived_at.is_none();
            agent.archived_at = agent.archived_at.or(Some(call.now));
            Ok(Next::Archived(is_change))
        })
    })
}

pub(crate) fn reactivate(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = find(&call).await?.id;
        locked(call, id, |_, agent| {
            let is_change = agent.archived_at.take().is_some();
            Ok(Next::Reactivated(is_change))
        })
    })
}

/// What became of an agent.
enum Next {
    /// Names of the fields.
    Updated(Vec<Value>),
    /// Whether that is new.
    Archived(bool),
    Reactivated(bool),
}

/// Changes an agent that nobody else changes meanwhile. Its credentials are judged anew at once.
fn locked(
    call: Call,
    id: String,
    decide: impl FnOnce(&Call, &mut Agent) -> Result<Next, Fault> + Send + 'static,
) -> Result<Change, Fault> {
    Ok(change(move |mut tx| {
        Box::pin(async move {
            let caller = &call.caller;
            let found = agent::lock(&mut tx, &caller.organization_id, caller.mode, &id).await?;
            let mut agent = found.ok_or_else(|| refused(missing()))?;
            let next = decide(&call, &mut agent).map_err(refused)?;
            let (happened, is_change) = match &next {
                Next::Updated(fields) => {
                    if let Some(parent) = &agent.parent_agent_id {
                        let (organization, mode) = (&caller.organization_id, caller.mode);
                        let parent = agent::lock_line(&mut tx, organization, mode, parent).await?;
                        let parent = parent.ok_or_else(|| refused(missing()))?;
                        let is_asked = |name: &str| fields.iter().any(|field| field == name);
                        within(&agent.writable, &parent, is_asked).map_err(refused)?;
                    }
                    agent::update(&mut tx, &agent, call.now).await?;
                    ("updated", true)
                }
                Next::Archived(is_change) => ("archived", *is_change),
                Next::Reactivated(is_change) => ("reactivated", *is_change),
            };
            if is_change && !matches!(next, Next::Updated(_)) {
                agent.updated_at = call.now;
                agent::set_archived(&mut tx, &agent, agent.archived_at, call.now).await?;
            }
            let digests = agent_credential::digests(&mut tx, &id, call.now).await?;
            let mut effect = Effect::new(happened, "agent", &id, single(&agent));
            effect.outdated.credentials = digests;
            Ok::<_, Refused>(match next {
                Next::Updated(fields) => effect.detail("fields", fields),
                Next::Archived(_) | Next::Reactivated(_) => effect.detail("changed", is_change),
            })
        })
    }))
}

/// Takes what was sent over into the agent; a null clears (contract 10).
fn merge(writable: &mut Writable, fields: &mut Fields, call: &Call, problems: &mut Problems) {
    if let Some(name) = input::text(fields, "name", 1..=MAX_NAME_CHARS, problems) {
        writable.name = name;
    }
    match input::text_or_null(fields, "description", 0..=MAX_DESCRIPTION_CHARS, problems) {
        Given::Absent => {}
        Given::Null => writable.description = None,
        Given::Value(text) => writable.description = Some(text),
    }
    let mut are_good = true;
    match fields.take_or_null("allowed_models") {
        None => {}
        Some(Value::Null) => writable.allowed_models = None,
        Some(value) => {
            let mut repeated = input::repeated();
            let wrong = |model: &str| repeated(model).or_else(|| unknown_model(model, call));
            let count = 0..=MAX_ITEMS;
            let models = input::texts(value, "allowed_models", count, problems, wrong);
            are_good = models.is_some();
            writable.allowed_models = models.or(writable.allowed_models.take());
        }
    }
    match input::text_or_null(fields, "default_model", 1..=MAX_NAME_CHARS, problems) {
        Given::Absent => {}
        Given::Null => writable.default_model = None,
        Given::Value(model) => {
            if let Some(problem) = unknown_model(&model, call) {
                problems.add("default_model", problem);
            }
            writable.default_model = Some(model);
        }
    }
    if let (Some(model), Some(allowed)) = (&writable.default_model, &writable.allowed_models)
        && are_good
        && !allowed.contains(model)
    {
        problems.add("default_model", "is not among allowed_models");
    }
    match fields.take_or_null("scope_grants") {
        None => {}
        Some(Value::Null) => writable.scope_grants = json!([]),
        Some(value) => {
            if let Some(grants) = grant::read(value, "scope_grants", problems) {
                for (at, grant) in grants.iter().enumerate() {
                    for (place, model) in grant.constraints.models.iter().flatten().enumerate() {
                        if let Some(problem) = unknown_model(model, call) {
                            let path = format!("scope_grants[{at}].constraints.models[{place}]");
                            problems.add(path, problem);
                        }
                    }
                }
                writable.scope_grants = grant::to_json(&grants);
            }
        }
    }
    merge_numbers(writable, fields, problems);
    match fields.take_or_null("metadata") {
        None => {}
        Some(Value::Null) => writable.metadata.clear(),
        Some(value) => input::merge_metadata(&mut writable.metadata, value, "metadata", problems),
    }
}

fn merge_numbers(writable: &mut Writable, fields: &mut Fields, problems: &mut Problems) {
    for (key, most, default, target) in [
        (
            "max_active_credentials",
            MAX_CREDENTIALS,
            DEFAULT_MAX_CREDENTIALS,
            &mut writable.max_active_credentials,
        ),
        (
            "default_expiry_hours",
            MAX_EXPIRY_HOURS,
            DEFAULT_EXPIRY_HOURS,
            &mut writable.default_expiry_hours,
        ),
    ] {
        match fields.take_or_null(key) {
            None => {}
            Some(Value::Null) => *target = default,
            Some(value) => {
                let mut one = Fields::top([(key.to_owned(), value)].into_iter().collect());
                if let Some(number) = input::whole(&mut one, key, 1..=most, problems) {
                    *target = number;
                }
            }
        }
    }
}

fn unknown_model(model: &str, call: &Call) -> Option<String> {
    let is_unknown = call.policy.catalogue.find(model).is_none();
    is_unknown.then(|| "is not a model of the catalog".to_owned())
}

/// One agent is an array of one (spec).
fn single(agent: &Agent) -> Value {
    json!({"agent": [record(agent)]})
}

/// The agent as contract 10 shows it.
pub(crate) fn record(agent: &Agent) -> Value {
    let Agent {
        id,
        org_id: _,
        mode,
        writable,
        parent_agent_id,
        delegation_depth,
        created_by,
        created_at,
        updated_at,
        archived_at,
    } = agent;
    let Writable {
        name,
        description,
        default_model,
        allowed_models,
        scope_grants,
        max_active_credentials,
        default_expiry_hours,
        metadata,
    } = writable;
    json!({
        "id": id,
        "object": "agent",
        "name": name,
        "description": description,
        "status": if archived_at.is_some() { "archived" } else { "active" },
        "mode": mode.word(),
        "default_model": default_model,
        "allowed_models": allowed_models,
        "scope_grants": scope_grants,
        "parent_agent_id": parent_agent_id,
        "delegation_depth": delegation_depth,
        "max_active_credentials": max_active_credentials,
        "default_expiry_hours": default_expiry_hours,
        "metadata": metadata,
        "created_by": {"type": created_by.kind, "id": created_by.id},
        "created_at": created_at.to_string(),
        "updated_at": updated_at.to_string(),
        "archived_at": shown(*archived_at),
    })
}
