//! Entities: the schema of an app's records, and how it changes (contract 17.2).
//!
//! A change that could leave stored records without a place in the schema is looked for in the records themselves: all
//! of them before the transaction, those that were written meanwhile inside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use svc_core::entity::{Change as SchemaChange, Schema, is_key};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_pipeline::policy::PolicySet;
use svc_store::Transaction;
use svc_store::entity::{self, Entity, Judged, NewEntity, RecordKey};
use svc_store::page::Position;
use svc_store::record::{self, Record};

use crate::apps;
use crate::call::{
    Answering, Call, Change, Deciding, Effect, Refused, Reply, change, missing, outdated, refused,
    store_fault,
};
use crate::cursor::Binding;
use crate::query::PAGE;
use crate::record_events;

/// Entities of one app.
const MAX_ENTITIES: u32 = 200;
/// 60 s: further apart than the clocks of two replicas, and longer than a write is on its way.
const SCAN_MARGIN_MS: i64 = 60_000;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let app = apps::find(&call).await?;
        let found = entity::list(&call.gateway.store, &app.id, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|entity| Position::new(entity.created_at, &entity.id));
        Ok(Reply::page(
            found.rows.iter().map(shown).collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        Ok(Reply::of(shown(&find(&call).await?)))
    })
}

/// The entity that the path names.
pub(crate) async fn find(call: &Call) -> Result<Entity, Fault> {
    let app_id = call.id("app_id", IdKind::Bare)?;
    let found = by_key(call, &app_id, call.parameter("entity_key")).await?;
    found.ok_or_else(missing)
}

/// The entity of an app with this key.
pub(crate) async fn by_key(call: &Call, app_id: &str, key: &str) -> Result<Option<Entity>, Fault> {
    let caller = &call.caller;
    let (store, organization) = (&call.gateway.store, &caller.organization_id);
    let found = entity::find(store, organization, caller.mode, app_id, key).await;
    found.map_err(|error| store_fault(&error))
}

/// The entity's own id is no one's business outside; rows of the log name it by app and key.
pub(crate) fn target(entity: &Entity) -> String {
    format!("{}/{}", entity.app_id, entity.key)
}

pub(crate) fn put(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        if let Some(problem) = no_key(call.parameter("entity_key")) {
            problems.add("entity_key", problem);
        }
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.require("fields", &mut problems);
        let wanted = fields.array("fields", &mut problems);
        let schema = wanted.map(|wanted| Schema::read(wanted, "fields", &mut problems));
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let schema = schema.ok_or_else(|| Fault::internal("a schema passed without fields"))?;
        let app = apps::find(&call).await?;
        let key = call.parameter("entity_key").to_owned();
        match by_key(&call, &app.id, &key).await? {
            None => create(&call, app.id, key, schema).await,
            Some(before) => update(&call, before, schema).await,
        }
    })
}

/// What is wrong with a text that can be the key of no entity.
pub(crate) fn no_key(text: &str) -> Option<&'static str> {
    (!is_key(text)).then_some("must be a small letter and up to 39 of a-z, 0-9 and _")
}

async fn create(call: &Call, app_id: String, key: String, schema: Schema) -> Result<Change, Fault> {
    let new = NewEntity {
        id: moment::id(IdKind::Bare),
        org_id: call.caller.organization_id.clone(),
        mode: call.caller.mode,
        app_id,
        key,
        schema,
        now: call.now,
    };
    let entity = Entity::new(&call.gateway.store, new).await;
    let entity = entity.map_err(|error| store_fault(&error))?;
    let changes = Schema::default().changes(&entity.schema);
    let policy = Arc::clone(&call.policy);
    Ok(change(move |mut tx| {
        Box::pin(async move {
            if entity::count(&mut tx, &entity.app_id).await? >= MAX_ENTITIES {
                let problem = format!("an app has at most {MAX_ENTITIES} entities");
                return Err(refused(invalid("$body", problem)));
            }
            if entity::insert(&mut tx, &entity).await? == Judged::Outdated {
                return Err(outdated());
            }
            announce(&mut tx, &entity, &changes, entity.created_at, &policy).await?;
            let made = effect("created", &entity, changes.len());
            Ok(made.with_status(StatusCode::CREATED))
        })
    }))
}

async fn update(call: &Call, before: Entity, schema: Schema) -> Result<Change, Fault> {
    if before.schema == schema {
        return Ok(change(move |_| {
            Box::pin(async move { Ok(effect("updated", &before, 0)) })
        }));
    }
    let changes = before.schema.changes(&schema);
    let narrows = changes.iter().any(|change| change.narrows);
    let store = &call.gateway.store;
    let key = RecordKey::of(store, &before).await;
    let key = key.map_err(|error| store_fault(&error))?;
    let since = moment::now().plus_ms(-SCAN_MARGIN_MS);
    if narrows {
        let mut misfits = BTreeSet::new();
        let mut after = String::new();
        loop {
            let see = |one: &Record| misfits.extend(schema.misfits(&one.values));
            let last = record::scan(store, &before, &key, &after, see).await;
            let Some(last) = last.map_err(|error| store_fault(&error))? else {
                break;
            };
            after = last;
        }
        fits(&schema, &misfits)?;
    }
    let (now, policy) = (call.now, Arc::clone(&call.policy));
    Ok(change(move |mut tx| {
        Box::pin(async move {
            let replaced = entity::replace_schema(&mut tx, &before, &schema, now).await?;
            if replaced == Judged::Outdated {
                return Err(outdated());
            }
            if narrows {
                scan_the_rest(&mut tx, &before, &key, &schema, since).await?;
            }
            let next = before.with(schema, now);
            announce(&mut tx, &next, &changes, now, &policy).await?;
            Ok(effect("updated", &next, changes.len()))
        })
    }))
}

async fn scan_the_rest(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    key: &RecordKey,
    schema: &Schema,
    since: Timestamp,
) -> Result<(), Refused> {
    let mut after = String::new();
    loop {
        let mut misfits = BTreeSet::new();
        let see = |one: &Record| misfits.extend(schema.misfits(&one.values));
        let last = record::scan_written_since(tx, entity, key, since, &after, see).await?;
        fits(schema, &misfits).map_err(refused)?;
        let Some(last) = last else {
            return Ok(());
        };
        after = last;
    }
}

/// # Errors
/// 422 that names every field whose stored values have no place in the schema.
fn fits(schema: &Schema, misfits: &BTreeSet<String>) -> Result<(), Fault> {
    let mut problems = Problems::default();
    for (at, field) in schema.fields().iter().enumerate() {
        if misfits.contains(&field.key) {
            problems.add(
                format!("fields[{at}]"),
                "does not fit records that are stored",
            );
        }
    }
    for key in misfits.iter().filter(|key| schema.field(key).is_none()) {
        problems.add("fields", format!("stored records have values of {key}"));
    }
    problems.into_result()
}

async fn announce(
    tx: &mut Transaction<'_>,
    entity: &Entity,
    changes: &[SchemaChange],
    at: Timestamp,
    policy: &PolicySet,
) -> Result<(), Refused> {
    let event = record_events::schema_updated(entity, changes, at);
    Ok(record_events::publish(tx, event, policy).await?)
}

fn effect(happened: &'static str, entity: &Entity, changes: usize) -> Effect {
    Effect::new(happened, "entity", &target(entity), shown(entity))
        .detail("schema_version", entity.schema_version)
        .detail("changes", changes)
}

/// The entity as contract 17.2 shows it.
fn shown(entity: &Entity) -> Value {
    json!({
        "key": entity.key,
        "object": "entity",
        "app_id": entity.app_id,
        "schema_version": entity.schema_version,
        "fields": entity.schema.to_json(),
        "created_at": entity.created_at.to_string(),
        "updated_at": entity.updated_at.to_string(),
    })
}
