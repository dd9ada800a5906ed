//! Credentials of agents (contract 10).

use rand::RngExt;
use serde_json::{Value, json};
use svc_core::fault::{Code, Fault, Problems, invalid};
use svc_core::grant;
use svc_core::id::IdKind;
use svc_core::secret::{self, Mode};
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_pipeline::policy::plans::Limits;
use svc_store::agent::{self, Agent};
use svc_store::agent_credential::{self, AgentCredential, Source, Status};
use svc_store::page::Position;

use crate::agents::{self, MAX_EXPIRY_HOURS};
use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, refused, shown, store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, MAX_NAME_CHARS};
use crate::query::PAGE;

/// Contract 10.
const MAX_RUNTIME_USER_CHARS: usize = 128;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let status = query.words("status", Status::parse, &mut problems);
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let agent = agents::find(&call).await?;
        let store = &call.gateway.store;
        let found = agent_credential::list(store, &agent, &status, &page, call.now).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|(row, _)| Position::new(row.created_at, &row.id));
        let limits = &call.policy.plans.limits;
        let rows = found.rows.iter();
        Ok(Reply::page(
            rows.map(|(row, archived_at)| record(row, *archived_at, limits, call.now))
                .collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn issue(mut call: Call) -> Deciding {
    Box::pin(async move {
        let wanted = Wanted::read(&mut call)?;
        let agent_id = agents::find(&call).await?.id;
        let user = call.caller.delegating_user.clone();
        let user = user.ok_or_else(|| Code::DelegatingUserRequired.fault())?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let caller = &call.caller;
                let organization_id = &caller.organization_id;
                let found =
                    agent::lock_line(&mut tx, organization_id, caller.mode, &agent_id).await?;
                let line = found.ok_or_else(|| refused(missing()))?;
                let agent = &line.agent;
                if line.archived_at().is_some() {
                    return Err(refused(archived(agent)));
                }
                let grants = wanted.grants_within(agent).map_err(refused)?;
                // Under the lock of the agent, so that two issues at the cap cannot both pass.
                let active = agent_credential::count_active(&mut tx, &agent_id, call.now).await?;
                let limit = agent.writable.max_active_credentials;
                if active >= limit {
                    let fault = Code::AgentConcurrentCredentialsExceeded.fault();
                    return Err(refused(
                        fault.detail("limit", limit).detail("active", active),
                    ));
                }
                let secret =
                    secret::agent_credential(agent.mode, || rand::rng().random_range(0..62));
                let hours = wanted.hours.unwrap_or(agent.writable.default_expiry_hours);
                let credential = AgentCredential {
                    id: moment::id(IdKind::AgentCredential),
                    org_id: agent.org_id.clone(),
                    mode: agent.mode,
                    agent_id: agent.id.clone(),
                    source: Source::Api,
                    application_id: None,
                    label: wanted.label,
                    hint: secret::hint(&secret),
                    scope_grants: grants,
                    runtime_user: wanted.runtime_user,
                    delegated_by: user.id,
                    per_minute: wanted.per_minute,
                    concurrency: wanted.concurrency,
                    created_at: call.now,
                    expires_at: input::in_hours(call.now, hours),
                    last_used_at: None,
                    revoked_at: None,
                };
                agent_credential::insert(&mut tx, &credential, &secret::digest(&secret)).await?;
                let limits = &call.policy.plans.limits;
                let mut data = record(&credential, line.archived_at(), limits, call.now);
                data["credential"] = Value::from(secret);
                Ok(Effect {
                    happened: "issued",
                    ..Effect::created("agent_credential", &credential.id, data)
                }
                .detail("agent_id", credential.agent_id))
            })
        }))
    })
}

pub(crate) fn revoke(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let agent = agents::find(&call).await?;
        let id = call.id("credential_id", IdKind::AgentCredential)?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let revoked = agent_credential::revoke(&mut tx, &agent, &id, call.now).await?;
                let (credential, digest) = revoked.ok_or_else(|| refused(missing()))?;
                let is_new = credential.revoked_at == Some(call.now);
                let limits = &call.policy.plans.limits;
                // What is revoked is that, archived or not.
                let data = record(&credential, None, limits, call.now);
                let mut effect = Effect::new("revoked", "agent_credential", &id, data)
                    .detail("changed", is_new)
                    .detail("agent_id", agent.id);
                effect.outdated.credentials.push(digest);
                Ok(effect)
            })
        }))
    })
}

/// What a caller asks of a new credential.
struct Wanted {
    label: Option<String>,
    hours: Option<u32>,
    grants: Option<Vec<grant::Grant>>,
    runtime_user: Option<String>,
    per_minute: Option<u32>,
    concurrency: Option<u32>,
}

impl Wanted {
    fn read(call: &mut Call) -> Result<Self, Fault> {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let label = input::text(&mut fields, "label", 1..=MAX_NAME_CHARS, &mut problems);
        let mode = fields.word("mode", &["live", "test"], &mut problems);
        if mode
            .and_then(Mode::parse)
            .is_some_and(|mode| mode != call.caller.mode)
        {
            problems.add("mode", "must be the agent's own mode");
        }
        let hours = input::whole(
            &mut fields,
            "expires_in_hours",
            1..=MAX_EXPIRY_HOURS,
            &mut problems,
        );
        let grants = fields.take("scope_grants");
        let grants = grants.and_then(|value| grant::read(value, "scope_grants", &mut problems));
        let runtime_user = input::text(
            &mut fields,
            "runtime_user",
            1..=MAX_RUNTIME_USER_CHARS,
            &mut problems,
        );
        let limits = fields.take("rate_limits");
        let limits = limits.and_then(|limits| Fields::of(limits, "rate_limits", &mut problems));
        let (mut per_minute, mut concurrency) = (None, None);
        if let Some(mut limits) = limits {
            per_minute = input::whole(&mut limits, "per_minute", 0..=u32::MAX, &mut problems);
            concurrency = input::whole(&mut limits, "concurrency", 0..=u32::MAX, &mut problems);
            limits.end_strictly(&mut problems);
        }
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        Ok(Self {
            label,
            hours,
            grants,
            runtime_user,
            per_minute,
            concurrency,
        })
    }

    /// The agent's grants where none are asked for; never more than those.
    fn grants_within(&self, agent: &Agent) -> Result<Value, Fault> {
        let Some(wanted) = &self.grants else {
            return Ok(agent.writable.scope_grants.clone());
        };
        match grant::first_beyond(wanted, &agents::grants(&agent.writable.scope_grants)?) {
            None => Ok(grant::to_json(wanted)),
            Some(_) => Err(invalid(
                "scope_grants",
                "go further than the agent's grants",
            )),
        }
    }
}

/// No credential of such an agent would be good.
fn archived(agent: &Agent) -> Fault {
    let problem = match agent.archived_at {
        Some(_) => "the agent is archived",
        None => "an agent that it acts for is archived",
    };
    invalid("agentId", problem)
}

/// The credential as contract 10 shows it; `line_archived_at` is that of its agent's line.
pub(crate) fn record(
    credential: &AgentCredential,
    line_archived_at: Option<Timestamp>,
    limits: &Limits,
    now: Timestamp,
) -> Value {
    let AgentCredential {
        id,
        org_id: _,
        mode,
        agent_id,
        source,
        application_id,
        label,
        hint,
        scope_grants,
        runtime_user,
        delegated_by,
        per_minute,
        concurrency,
        created_at,
        expires_at,
        last_used_at,
        revoked_at,
    } = credential;
    json!({
        "id": id,
        "object": "agent_credential",
        "agent_id": agent_id,
        "mode": mode.word(),
        "status": credential.status(line_archived_at, now).word(),
        "source": source.word(),
        "application_id": application_id,
        "label": label,
        "hint": hint,
        "scope_grants": scope_grants,
        "runtime_user": runtime_user,
        "delegated_by": delegated_by,
        "rate_limits": {
            "per_minute": per_minute.unwrap_or(limits.agent_per_minute),
            "concurrency": concurrency.unwrap_or(limits.agent_concurrency),
        },
        "created_at": created_at.to_string(),
        "expires_at": expires_at.to_string(),
        "last_used_at": shown(*last_used_at),
        "revoked_at": shown(*revoked_at),
    })
}
