//! Records (contract 17.2). Values go in and out; rows of the audit log say which record and which fields, never what
//! stands in them. Reading records leaves a row: they may be PHI (contract 15.2).

use serde_json::{Map, Value, json};
use svc_core::fault::{Fault, Problems};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_pipeline::moment;
use svc_store::entity::{Entity, Judged, RecordKey};
use svc_store::page::Position;
use svc_store::record::{self, CreatedVia, Record};

use crate::call::{
    Answering, Call, Deciding, Effect, Refused, Reply, change, missing, outdated, refused,
    store_fault,
};
use crate::cursor::Binding;
use crate::entities;
use crate::query::PAGE;
use crate::record_events::{self, shown};

/// Records of one bulk request (contract 17.2).
const BULK: std::ops::RangeInclusive<usize> = 1..=1_000;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let (entity, key) = entity(&call).await?;
        let found = record::list(&call.gateway.store, &entity, key, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|record| Position::new(record.created_at, &record.id));
        let rows = found.rows.iter().map(|record| shown(&entity, record));
        let reply = Reply::page(
            rows.collect(),
            query.pagination(&page, &binding, last.as_ref()),
        );
        let reply = reply.about("entity", &entities::target(&entity));
        Ok(reply
            .detail("count", found.rows.len())
            .detail("has_phi", entity.schema.has_phi()))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("record_id", IdKind::Bare)?;
        let (entity, key) = entity(&call).await?;
        let found = record::find(&call.gateway.store, &entity, &key, &id).await;
        let record = found
            .map_err(|error| store_fault(&error))?
            .ok_or_else(missing)?;
        let reply = Reply::of(shown(&entity, &record)).about("record", &id);
        Ok(reply
            .detail("entity", entities::target(&entity))
            .detail("has_phi", entity.schema.has_phi()))
    })
}

/// The entity that the path names, and what opens its records.
async fn entity(call: &Call) -> Result<(Entity, RecordKey), Fault> {
    let entity = entities::find(call).await?;
    let key = RecordKey::of(&call.gateway.store, &entity).await;
    Ok((entity, key.map_err(|error| store_fault(&error))?))
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let input = sent_fields(&mut call)?;
        let (entity, key) = entity(&call).await?;
        let mut problems = Problems::default();
        let values = entity.schema.judge(input, "fields", &mut problems);
        problems.into_result()?;
        let at = moment::now();
        let record = Record {
            id: moment::id(IdKind::Bare),
            values,
            created_via: CreatedVia::Api,
            origin_delivery_id: None,
            created_at: at,
            updated_at: at,
        };
        let payload = call.caller.webhook_payload;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let records = std::slice::from_ref(&record);
                current(record::insert(&mut tx, &entity, &key, records).await?)?;
                let event = record_events::created(&entity, &record, payload);
                record_events::publish(&mut tx, event, &call.policy).await?;
                let effect = Effect::created("record", &record.id, shown(&entity, &record));
                Ok(effect.detail("entity", entities::target(&entity)))
            })
        }))
    })
}

/// `{"fields": {…}}` and nothing else.
fn sent_fields(call: &mut Call) -> Result<Map<String, Value>, Fault> {
    let mut problems = Problems::default();
    call.query.end(&mut problems);
    let mut fields = Fields::top(std::mem::take(&mut call.body));
    fields.require("fields", &mut problems);
    let input = fields.object("fields", &mut problems);
    fields.end_strictly(&mut problems);
    problems.into_result()?;
    input.ok_or_else(|| Fault::internal("a record passed without fields"))
}

/// # Errors
/// The schema by which a record was judged is no longer the entity's: it is judged again.
fn current(judged: Judged) -> Result<(), Refused> {
    match judged {
        Judged::Current => Ok(()),
        Judged::Outdated => Err(outdated()),
    }
}

pub(crate) fn create_many(mut call: Call) -> Deciding {
    Box::pin(async move {
        let (inputs, mut problems) = sent_records(&mut call)?;
        let (entity, key) = match entity(&call).await {
            Ok(found) => found,
            Err(fault) => return Err(problems.into_result().err().unwrap_or(fault)),
        };
        let at = moment::now();
        let mut records = Vec::with_capacity(inputs.len());
        for (place, input) in inputs {
            let path = format!("records[{place}].fields");
            // A limit of all values together is only looked at where nothing else is wrong.
            let mut own = Problems::default();
            let values = entity.schema.judge(input, &path, &mut own);
            problems.append(own);
            records.push(Record {
                id: moment::id(IdKind::Bare),
                values,
                created_via: CreatedVia::Bulk,
                origin_delivery_id: None,
                created_at: at,
                updated_at: at,
            });
        }
        problems.into_result()?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                current(record::insert(&mut tx, &entity, &key, &records).await?)?;
                let batch_id = moment::id(IdKind::Bare);
                let ids: Vec<String> = records.iter().map(|record| record.id.clone()).collect();
                let event = record_events::bulk_created(&entity, &batch_id, &ids, at);
                record_events::publish(&mut tx, event, &call.policy).await?;
                let data = json!({
                    "id": batch_id,
                    "object": "record_batch",
                    "count": ids.len(),
                    "record_ids": ids,
                });
                let mut effect = Effect::created("record_batch", &batch_id, data);
                effect.happened = "bulk_created";
                let effect = effect.detail("entity", entities::target(&entity));
                Ok(effect.detail("count", records.len()))
            })
        }))
    })
}

/// Fields of records by their place.
type Placed = Vec<(usize, Map<String, Value>)>;

/// `{"records": [{"fields": {…}}, …]}` and nothing else: the records that can be judged, and what is wrong with the
/// others.
fn sent_records(call: &mut Call) -> Result<(Placed, Problems), Fault> {
    let mut problems = Problems::default();
    call.query.end(&mut problems);
    let mut fields = Fields::top(std::mem::take(&mut call.body));
    fields.require("records", &mut problems);
    let items = fields.array("records", &mut problems).unwrap_or_default();
    fields.end_strictly(&mut problems);
    if problems.is_empty() && !BULK.contains(&items.len()) {
        let (least, most) = (BULK.start(), BULK.end());
        problems.add("records", format!("must hold {least} to {most} records"));
        return Ok((Vec::new(), problems));
    }
    let mut inputs = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let path = format!("records[{at}]");
        let Some(mut item) = Fields::of(item, &path, &mut problems) else {
            continue;
        };
        item.require("fields", &mut problems);
        let input = item.object("fields", &mut problems);
        inputs.extend(input.map(|input| (at, input)));
        item.end_strictly(&mut problems);
    }
    Ok((inputs, problems))
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let input = sent_fields(&mut call)?;
        let id = call.id("record_id", IdKind::Bare)?;
        let (entity, key) = entity(&call).await?;
        let payload = call.caller.webhook_payload;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let locked = record::lock(&mut tx, &entity, &key, &id).await?;
                let before = locked.ok_or_else(|| refused(missing()))?;
                let mut problems = Problems::default();
                let merged = entity
                    .schema
                    .merge(&before.values, input, "fields", &mut problems);
                problems.into_result().map_err(refused)?;
                let (values, changed) = merged;
                let mut next = Record { values, ..before };
                if !changed.is_empty() {
                    next.updated_at = moment::now();
                    current(record::update(&mut tx, &entity, &key, &next).await?)?;
                    let event = record_events::updated(&entity, &next, &changed, payload);
                    record_events::publish(&mut tx, event, &call.policy).await?;
                }
                let effect = Effect::new("updated", "record", &id, shown(&entity, &next));
                let effect = effect.detail("entity", entities::target(&entity));
                Ok(effect.detail("changed_fields", changed))
            })
        }))
    })
}

pub(crate) fn remove(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("record_id", IdKind::Bare)?;
        let entity = entities::find(&call).await?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                if !record::delete(&mut tx, &entity, &id).await? {
                    return Err(refused(missing()));
                }
                let event = record_events::deleted(&entity, &id, moment::now());
                record_events::publish(&mut tx, event, &call.policy).await?;
                let data = json!({"id": id, "object": "record", "deleted": true});
                let effect = Effect::new("deleted", "record", &id, data);
                Ok(effect.detail("entity", entities::target(&entity)))
            })
        }))
    })
}
