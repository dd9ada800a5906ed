//! Inbound webhooks (contract 17.1): the tokens under which others post records to an entity. A token is shown once,
//! when it is made or rotated.

use rand::RngExt;
use serde_json::{Map, Value, json};
use svc_core::entity::{Clash, Mapping, Schema};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::secret;
use svc_core::surface::fields::Fields;
use svc_pipeline::moment;
use svc_store::inbound_webhook::{self, Configured, InboundWebhook, Status};
use svc_store::page::Position;

use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, refused, shown, store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, Given, MAX_NAME_CHARS};
use crate::query::PAGE;
use crate::{apps, entities};

/// Inbound webhooks of one app.
const MAX_WEBHOOKS: u32 = 200;
const MAX_PER_MINUTE: u32 = 1_000_000;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let status = query.word("status", Status::parse, &mut problems);
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let app = apps::find(&call).await?;
        let found = inbound_webhook::list(&call.gateway.store, &app.id, status, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|row| Position::new(row.webhook.created_at, &row.webhook.id));
        let rows = found.rows.iter();
        let rows = rows.map(|row| record(&row.webhook, &row.schema, default_per_minute(&call)));
        Ok(Reply::page(
            rows.collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let Configured { webhook, schema } = find(&call).await?;
        let data = record(&webhook, &schema, default_per_minute(&call));
        Ok(Reply::of(data))
    })
}

/// The webhook that the path names.
async fn find(call: &Call) -> Result<Configured, Fault> {
    let id = call.id("id", IdKind::InboundWebhook)?;
    let app = apps::find(call).await?;
    let found = inbound_webhook::find(&call.gateway.store, &app.id, &id).await;
    found
        .map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

fn default_per_minute(call: &Call) -> u32 {
    call.policy.plans.limits.inbound_per_minute
}

/// A new token, its digest and what people may see of it.
fn token() -> (String, [u8; 32], String) {
    let token = secret::inbound_token(|| rand::rng().random_range(0..62));
    let (digest, hint) = (secret::digest(&token), secret::hint(&token));
    (token, digest, hint)
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let entity_key = fields.required_string("entity_key", &mut problems);
        fields.require("name", &mut problems);
        let wanted = Wanted::read(&mut fields, &mut problems);
        fields.end_strictly(&mut problems);
        wanted.accept(problems)?;
        let (Some(entity_key), Some(name)) = (entity_key, wanted.name) else {
            return Err(Fault::internal(
                "an inbound webhook passed without its fields",
            ));
        };
        let app = apps::find(&call).await?;
        let entity = entities::by_key(&call, &app.id, &entity_key).await?;
        let entity = entity.ok_or_else(|| invalid("entity_key", "is not an entity of this app"))?;
        let mut problems = Problems::default();
        let pairs = wanted.field_mapping.unwrap_or_default();
        let schema = entity.schema;
        let field_mapping = Mapping::read(pairs, Some(&schema), MAPPING, &mut problems);
        problems.into_result()?;
        let (token, digest, token_hint) = token();
        let webhook = InboundWebhook {
            id: moment::id(IdKind::InboundWebhook),
            org_id: app.org_id,
            mode: app.mode,
            app_id: app.id,
            entity_id: entity.id,
            entity_key,
            name,
            status: wanted.status.unwrap_or(Status::Active),
            token_hint,
            field_mapping,
            per_minute: match wanted.per_minute {
                Given::Value(limit) => Some(limit),
                Given::Absent | Given::Null => None,
            },
            created_at: call.now,
            last_used_at: None,
        };
        let default = default_per_minute(&call);
        Ok(change(move |mut tx| {
            Box::pin(async move {
                if inbound_webhook::count(&mut tx, &webhook.app_id).await? >= MAX_WEBHOOKS {
                    let problem = format!("an app has at most {MAX_WEBHOOKS} inbound webhooks");
                    return Err(refused(invalid("$body", problem)));
                }
                inbound_webhook::insert(&mut tx, &webhook, &digest).await?;
                let mut data = record(&webhook, &schema, default);
                data["token"] = Value::from(token);
                let effect = Effect::created("inbound_webhook", &webhook.id, data);
                Ok(effect.detail(
                    "entity",
                    format!("{}/{}", webhook.app_id, webhook.entity_key),
                ))
            })
        }))
    })
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.refuse_nulls(&["name", "status", MAPPING], &mut problems);
        let wanted = Wanted::read(&mut fields, &mut problems);
        fields.end_strictly(&mut problems);
        wanted.accept(problems)?;
        let Configured {
            webhook: found,
            schema,
        } = find(&call).await?;
        let mapping = match wanted.field_mapping {
            None => None,
            Some(pairs) => {
                let mut problems = Problems::default();
                let mapping = Mapping::read(pairs, Some(&schema), MAPPING, &mut problems);
                problems.into_result()?;
                Some(mapping)
            }
        };
        let default = default_per_minute(&call);
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let locked = inbound_webhook::lock(&mut tx, &found.app_id, &found.id).await?;
                let locked = locked.ok_or_else(|| refused(missing()))?;
                let before = locked.webhook;
                let mut next = before.clone();
                next.name = wanted.name.unwrap_or(next.name);
                next.status = wanted.status.unwrap_or(next.status);
                next.field_mapping = mapping.unwrap_or(next.field_mapping);
                match wanted.per_minute {
                    Given::Absent => {}
                    Given::Null => next.per_minute = None,
                    Given::Value(limit) => next.per_minute = Some(limit),
                }
                inbound_webhook::update(&mut tx, &next).await?;
                let data = record(&next, &locked.schema, default);
                let effect = Effect::new("updated", "inbound_webhook", &next.id, data);
                let effect = effect.detail("status", next.status.word());
                Ok(effect.detail("changed", before != next))
            })
        }))
    })
}

pub(crate) fn rotate_token(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?.webhook;
        let (token, digest, hint) = token();
        let default = default_per_minute(&call);
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let locked = inbound_webhook::lock(&mut tx, &found.app_id, &found.id).await?;
                let locked = locked.ok_or_else(|| refused(missing()))?;
                let mut next = locked.webhook;
                inbound_webhook::rotate(&mut tx, &next.id, &digest, &hint).await?;
                next.token_hint = hint;
                let mut data = record(&next, &locked.schema, default);
                data["token"] = Value::from(token);
                Ok(Effect::new(
                    "token_rotated",
                    "inbound_webhook",
                    &next.id,
                    data,
                ))
            })
        }))
    })
}

pub(crate) fn remove(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?.webhook;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                if !inbound_webhook::delete(&mut tx, &found.app_id, &found.id).await? {
                    return Err(refused(missing()));
                }
                let id = found.id;
                let data = json!({"id": id, "object": "inbound_webhook", "deleted": true});
                Ok(Effect::new("deleted", "inbound_webhook", &id, data))
            })
        }))
    })
}

const MAPPING: &str = "field_mapping";

/// What may be said of a webhook at any time.
struct Wanted {
    name: Option<String>,
    status: Option<Status>,
    field_mapping: Option<Map<String, Value>>,
    per_minute: Given<u32>,
}

impl Wanted {
    fn read(fields: &mut Fields, problems: &mut Problems) -> Self {
        let name = input::text(fields, "name", 1..=MAX_NAME_CHARS, problems);
        let status = fields.word("status", &["active", "inactive"], problems);
        let field_mapping = fields.object(MAPPING, problems);
        Self {
            name,
            status: status.and_then(Status::parse),
            field_mapping,
            per_minute: input::whole_or_null(fields, "per_minute", 0..=MAX_PER_MINUTE, problems),
        }
    }

    /// # Errors
    /// Where there are problems: these, and what is wrong with the form of the mapping. With the mapping alone it waits
    /// for the entity, and then all that is wrong with it is said.
    fn accept(&self, mut problems: Problems) -> Result<(), Fault> {
        if let Some(pairs) = &self.field_mapping
            && !problems.is_empty()
        {
            Mapping::read(pairs.clone(), None, MAPPING, &mut problems);
        }
        problems.into_result()
    }
}

/// The webhook as contract 17.1 shows it. What its mapping does not mean by itself stands in `warnings`.
fn record(webhook: &InboundWebhook, schema: &Schema, default_per_minute: u32) -> Value {
    let InboundWebhook {
        id,
        org_id: _,
        mode: _,
        app_id,
        entity_id: _,
        entity_key,
        name,
        status,
        token_hint,
        field_mapping,
        per_minute,
        created_at,
        last_used_at,
    } = webhook;
    let clashes = field_mapping.clashes();
    let clashes = clashes.iter().map(|Clash { source, field }| {
        let message = format!(
            "A later source becomes {field} too; where both have a value, the later one counts."
        );
        warning(source, message)
    });
    let lost = field_mapping.lost(schema);
    let lost = lost.iter().map(|(source, field)| {
        let message =
            format!("The entity has no field {field} any more; what stands there is dropped.");
        warning(source, message)
    });
    let warnings: Value = clashes.chain(lost).collect();
    json!({
        "id": id,
        "object": "inbound_webhook",
        "app_id": app_id,
        "entity_key": entity_key,
        "name": name,
        "status": status.word(),
        "token_hint": token_hint,
        "field_mapping": field_mapping.to_json(),
        "per_minute": per_minute.unwrap_or(default_per_minute),
        "warnings": warnings,
        "created_at": created_at.to_string(),
        "last_used_at": shown(*last_used_at),
    })
}

fn warning(source: &str, message: String) -> Value {
    json!({"param": format!("{MAPPING}.{source}"), "message": message})
}
