//! What webhooks are told of records and schemas (contract 15.2): ids alone, or the record too where the organization
//! has asked for full payloads.

use serde_json::{Value, json};
use svc_core::entity::Change;
use svc_core::time::Timestamp;
use svc_core::webhook::EventName;
use svc_pipeline::caller::WebhookPayload;
use svc_pipeline::policy::PolicySet;
use svc_store::entity::Entity;
use svc_store::outbox::{self, Event};
use svc_store::record::Record;
use svc_store::{StoreError, Transaction};

/// Has whoever asked for an event told of it, in the transaction that made it happen.
///
/// # Errors
/// Those of the database and of the endpoints' keys.
pub(crate) async fn publish(
    tx: &mut Transaction<'_>,
    event: Event,
    policy: &PolicySet,
) -> Result<(), StoreError> {
    outbox::publish(tx, &[event], &policy.plans.with_webhooks()).await
}

pub(crate) fn created(entity: &Entity, record: &Record, payload: WebhookPayload) -> Event {
    let data = json!({"record_id": record.id, "created_via": record.created_via.word()});
    let data = with_record(data, entity, record, payload);
    event(entity, EventName::RecordCreated, record.created_at, data)
}

pub(crate) fn updated(
    entity: &Entity,
    record: &Record,
    changed: &[String],
    payload: WebhookPayload,
) -> Event {
    let data = json!({"record_id": record.id, "changed_fields": changed});
    let data = with_record(data, entity, record, payload);
    event(entity, EventName::RecordUpdated, record.updated_at, data)
}

pub(crate) fn deleted(entity: &Entity, record_id: &str, at: Timestamp) -> Event {
    let data = json!({"record_id": record_id});
    event(entity, EventName::RecordDeleted, at, data)
}

pub(crate) fn bulk_created(
    entity: &Entity,
    batch_id: &str,
    record_ids: &[String],
    at: Timestamp,
) -> Event {
    let data = json!({"batch_id": batch_id, "count": record_ids.len(), "record_ids": record_ids});
    event(entity, EventName::RecordBulkCreated, at, data)
}

pub(crate) fn schema_updated(entity: &Entity, changes: &[Change], at: Timestamp) -> Event {
    let changes: Value = changes.iter().map(Change::to_json).collect();
    let data = json!({"schema_version": entity.schema_version, "changes": changes});
    event(entity, EventName::SchemaUpdated, at, data)
}

/// The record as contract 17.2 shows it.
pub(crate) fn shown(entity: &Entity, record: &Record) -> Value {
    let Record {
        id,
        values,
        created_via,
        origin_delivery_id,
        created_at,
        updated_at,
    } = record;
    json!({
        "id": id,
        "object": "record",
        "app_id": entity.app_id,
        "entity_key": entity.key,
        "fields": values.shown(&entity.schema),
        "created_at": created_at.to_string(),
        "updated_at": updated_at.to_string(),
        "created_via": created_via.word(),
        "origin_delivery_id": origin_delivery_id,
    })
}

fn with_record(
    mut data: Value,
    entity: &Entity,
    record: &Record,
    payload: WebhookPayload,
) -> Value {
    if payload == WebhookPayload::Full {
        data["record"] = shown(entity, record);
    }
    data
}

fn event(entity: &Entity, name: EventName, at: Timestamp, data: Value) -> Event {
    Event {
        org_id: entity.org_id.clone(),
        mode: entity.mode,
        name,
        app_id: entity.app_id.clone(),
        entity_key: entity.key.clone(),
        at,
        data,
    }
}
