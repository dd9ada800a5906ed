//! Bindings: the aliases under which a project uses the organization's integrations (contract 11).

use serde_json::{Value, json};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_pipeline::moment;
use svc_store::StoreError;
use svc_store::binding::{self, Binding, MAX_BINDINGS};
use svc_store::integration::{self, Integration};
use svc_store::page::Position;
use svc_store::project;

use crate::call::{
    Answering, Call, Deciding, Effect, Refused, Reply, change, missing, refused, store_fault,
};
use crate::cursor;
use crate::egress;
use crate::input;
use crate::integrations::{available, find, in_use, left};
use crate::query::PAGE;

/// Contract 11: `[a-z0-9_-]{1,40}`.
const MAX_ALIAS_CHARS: usize = 40;
const MAX_PATHS: usize = 100;
const MAX_PATH_CHARS: usize = 512;
/// The name that stands for the organization's first project (contract 8).
pub(crate) const DEFAULT_PROJECT: &str = "default";

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let cursors = cursor::Binding::of(&call)?;
        let page = query.page(PAGE, &cursors, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let integration = find(&call).await?;
        left(&call)?;
        let found = binding::list(&call.gateway.store, &integration, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|row| Position::new(row.created_at, &row.id));
        let rows = found.rows.iter().map(|row| record(row, &integration));
        Ok(Reply::page(
            rows.collect(),
            query.pagination(&page, &cursors, last.as_ref()),
        ))
    })
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let wanted = Wanted::read(&mut call)?;
        let integration = find(&call).await?;
        let project_id = project(&call, wanted.project_id).await?;
        available(&call)?;
        let binding = Binding {
            id: moment::id(IdKind::Binding),
            org_id: integration.org_id.clone(),
            mode: integration.mode,
            integration_id: integration.id.clone(),
            project_id,
            alias: wanted.alias,
            allowed_paths: wanted.allowed_paths,
            created_at: call.now,
        };
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let Binding {
                    org_id,
                    mode,
                    integration_id,
                    ..
                } = &binding;
                let locked = integration::lock(&mut tx, org_id, *mode, integration_id).await?;
                let integration = locked.ok_or_else(|| refused(missing()))?;
                in_use(&integration).map_err(refused)?;
                if binding::is_taken(&mut tx, &binding).await? {
                    return Err(taken());
                }
                if binding::count(&mut tx, org_id, *mode).await? >= MAX_BINDINGS {
                    let problem = format!("an organization has at most {MAX_BINDINGS} bindings");
                    return Err(refused(invalid("$body", problem)));
                }
                let inserted = binding::insert(&mut tx, &binding).await;
                inserted.map_err(|error| match error {
                    StoreError::Exists { .. } => taken(),
                    other => other.into(),
                })?;
                let data = record(&binding, &integration);
                let mut effect = Effect::created("integration_binding", &binding.id, data);
                effect.outdated.bindings = true;
                let effect = effect.detail("integration_id", binding.integration_id.as_str());
                Ok(effect.detail("alias", binding.alias))
            })
        }))
    })
}

pub(crate) fn remove(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let integration = find(&call).await?;
        let id = call.id("binding_id", IdKind::Binding)?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                if !binding::delete(&mut tx, &integration, &id).await? {
                    return Err(refused(missing()));
                }
                // What is not there comes before what is not on (contract 2); a refusal undoes the deletion.
                left(&call).map_err(refused)?;
                let data = json!({"id": id, "object": "integration_binding", "deleted": true});
                let mut effect = Effect::new("deleted", "integration_binding", &id, data);
                effect.outdated.bindings = true;
                Ok(effect.detail("integration_id", integration.id))
            })
        }))
    })
}

fn taken() -> Refused {
    refused(invalid("alias", "is an alias of this project already"))
}

struct Wanted {
    project_id: String,
    alias: String,
    allowed_paths: Option<Vec<String>>,
}

impl Wanted {
    fn read(call: &mut Call) -> Result<Self, Fault> {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let project_id = fields.required_string("project_id", &mut problems);
        fields.require("alias", &mut problems);
        let alias = input::text(&mut fields, "alias", 1..=MAX_ALIAS_CHARS, &mut problems);
        let is_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if let Some(alias) = &alias
            && !alias.bytes().all(is_word)
        {
            problems.add("alias", "must consist of a-z, 0-9, _ and -");
        }
        let allowed_paths = fields.take("allowed_paths");
        let allowed_paths = allowed_paths.and_then(|value| paths(value, &mut problems));
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        match (project_id, alias) {
            (Some(project_id), Some(alias)) => Ok(Self {
                project_id,
                alias,
                allowed_paths,
            }),
            _ => Err(Fault::internal(
                "a binding passed validation without its fields",
            )),
        }
    }
}

fn paths(value: Value, problems: &mut Problems) -> Option<Vec<String>> {
    let mut repeated = input::repeated();
    let wrong = |path: &str| {
        let plain = path.strip_suffix("/*").unwrap_or(path);
        let is_plain =
            path.starts_with('/') && !plain.contains(['*', '?', '#', '%']) && egress::is_safe(path);
        let problem = input::other_length(path, 0..=MAX_PATH_CHARS).or_else(|| {
            (!is_plain).then(|| "must be a plain path such as /fhir/Patient or /fhir/*".to_owned())
        });
        problem.or_else(|| repeated(path))
    };
    input::texts(value, "allowed_paths", 1..=MAX_PATHS, problems, wrong)
}

/// A project of the organization, by id or as `default`.
async fn project(call: &Call, named: String) -> Result<String, Fault> {
    let caller = &call.caller;
    if named == DEFAULT_PROJECT {
        return Ok(caller.default_project_id.clone());
    }
    let found = project::find(&call.gateway.store, &caller.organization_id, &named).await;
    match found.map_err(|error| store_fault(&error))? {
        Some(project) => Ok(project.id),
        None => Err(invalid(
            "project_id",
            "is not a project of this organization",
        )),
    }
}

/// The binding as contract 11 shows it.
fn record(binding: &Binding, integration: &Integration) -> Value {
    let Binding {
        id,
        org_id: _,
        mode: _,
        integration_id,
        project_id,
        alias,
        allowed_paths,
        created_at,
    } = binding;
    json!({
        "id": id,
        "object": "integration_binding",
        "integration_id": integration_id,
        "project_id": project_id,
        "alias": alias,
        "allowed_paths": allowed_paths,
        "credential_state": if integration.revoked_at.is_some() { "stale" } else { "active" },
        "created_at": created_at.to_string(),
    })
}
