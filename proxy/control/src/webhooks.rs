//! Endpoints of outbound webhooks (contract 15.1). A signing secret is shown once, when it is made.

mod deliveries;
mod replays;

use serde_json::{Value, json};
use svc_core::address::Base;
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::secret;
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_core::webhook::{EVERY_EVENT, EventName, Subscription};
use svc_pipeline::{feature, moment};
use svc_store::page::Position;
use svc_store::seal::Content;
use svc_store::webhook_endpoint::{self, Disabled, Endpoint, Filter, Health, NewSecret};

use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, refused, shown, store_fault,
};
use crate::cursor;
use crate::input::{self, Given, MAX_DESCRIPTION_CHARS, MAX_ITEMS};
use crate::query::PAGE;
use crate::{apps, entities};

pub(crate) use deliveries::{list as list_deliveries, read as read_delivery};
pub(crate) use replays::{create as bulk_replay, read as read_replay};

/// Contract 15.1.
const MAX_ENDPOINTS: u32 = 50;
const IN_FLIGHT: std::ops::RangeInclusive<u32> = 1..=50;
/// As the record of contract 15.1 shows it.
const USUAL_IN_FLIGHT: u32 = 5;
/// Entities that one endpoint may name.
const MAX_ENTITY_KEYS: usize = 100;
/// 7 days (spec, Limits).
const MAX_GRACE_HOURS: u32 = 168;
const HINT_CHARS: usize = 4;
const KIND: &str = "webhook_endpoint";

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = cursor::Binding::of(&call)?;
        let filter = Filter {
            enabled: query.word("status", is_enabled, &mut problems),
            event: query
                .word("event", EventName::parse, &mut problems)
                .map(EventName::word),
        };
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = webhook_endpoint::list(store, organization, caller.mode, &filter, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        seen(&call, &found.rows)?;
        let last = found.last(|row| Position::new(row.created_at, &row.id));
        Ok(Reply::page(
            found.rows.iter().map(|row| record(row, call.now)).collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

fn is_enabled(word: &str) -> Option<bool> {
    match word {
        "enabled" => Some(true),
        "disabled" => Some(false),
        _ => None,
    }
}

/// Contract 2, step 13: for what makes, changes or sends something.
fn available(call: &Call) -> Result<(), Fault> {
    feature::webhooks(&call.caller, &call.policy.plans)
}

/// The same for what looks at what is there, or ends it.
fn left(call: &Call) -> Result<(), Fault> {
    feature::webhooks_left(&call.caller)
}

/// The same for a list; where nothing is left, there is nothing to look at.
fn seen<T>(call: &Call, rows: &[T]) -> Result<(), Fault> {
    if rows.is_empty() {
        available(call)
    } else {
        left(call)
    }
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?;
        left(&call)?;
        Ok(Reply::of(record(&found, call.now)))
    })
}

/// The endpoint that the path names.
async fn find(call: &Call) -> Result<Endpoint, Fault> {
    let id = call.id("id", IdKind::WebhookEndpoint)?;
    let caller = &call.caller;
    let (store, organization) = (&call.gateway.store, &caller.organization_id);
    let found = webhook_endpoint::find(store, organization, caller.mode, &id).await;
    found
        .map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

/// # Errors
/// 422 for an app of somebody else or of nobody, whose events would never come.
async fn check_app(call: &Call, app_id: &str) -> Result<(), Fault> {
    let found = apps::by_id(call, app_id).await?;
    let problem = || invalid("app_id", "is not an app of this organization");
    found.map(drop).ok_or_else(problem)
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let wanted = Wanted::read(&mut call)?;
        available(&call)?;
        if let Some(app_id) = &wanted.subscription.app_id {
            check_app(&call, app_id).await?;
        }
        let secret = new_secret();
        let caller = &call.caller;
        let endpoint = Endpoint {
            id: moment::id(IdKind::WebhookEndpoint),
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            url: wanted.url,
            description: wanted.description,
            subscription: wanted.subscription,
            max_in_flight: wanted.max_in_flight,
            disabled: None,
            secret_hint: hint(&secret),
            secret_created_at: call.now,
            previous_secret_expires_at: None,
            health: Health::default(),
            created_at: call.now,
            updated_at: call.now,
        };
        let (store, org_id) = (&call.gateway.store, &endpoint.org_id);
        let sealed = webhook_endpoint::seal_secret(store, org_id, &endpoint.id, &secret).await;
        let sealed = sealed.map_err(|error| store_fault(&error))?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let (org_id, mode) = (&endpoint.org_id, endpoint.mode);
                if webhook_endpoint::count(&mut tx, org_id, mode).await? >= MAX_ENDPOINTS {
                    let problem = format!("an organization has at most {MAX_ENDPOINTS} endpoints");
                    return Err(refused(invalid("$body", problem)));
                }
                webhook_endpoint::insert(&mut tx, &endpoint, sealed).await?;
                let mut data = record(&endpoint, call.now);
                if let Some(data) = data.as_object_mut() {
                    data.insert("secret".to_owned(), json!(secret.as_str()));
                }
                let effect = Effect::created(KIND, &endpoint.id, data);
                Ok(effect.detail("events", endpoint.subscription.events))
            })
        }))
    })
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let changes = Changes::read(&mut call)?;
        let found = find(&call).await?;
        if changes.only_disable() {
            left(&call)?;
        } else {
            available(&call)?;
        }
        if let Given::Value(app_id) = &changes.app_id {
            check_app(&call, app_id).await?;
        }
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let (org_id, mode) = (&found.org_id, found.mode);
                let locked = webhook_endpoint::lock(&mut tx, org_id, mode, &found.id).await?;
                let mut next = locked.ok_or_else(|| refused(missing()))?;
                let changed = changes.apply(&mut next);
                if !changed.is_empty() {
                    next.updated_at = call.now;
                    webhook_endpoint::update(&mut tx, &next).await?;
                    if changed.contains(&"status") && next.disabled.is_none() {
                        next.health.consecutive_failures = 0;
                    }
                }
                let effect = Effect::new("updated", KIND, &next.id, record(&next, call.now));
                Ok(effect.detail("changed", changed))
            })
        }))
    })
}

pub(crate) fn remove(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?;
        left(&call)?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let (org_id, mode) = (&found.org_id, found.mode);
                let locked = webhook_endpoint::lock(&mut tx, org_id, mode, &found.id).await?;
                let locked = locked.ok_or_else(|| refused(missing()))?;
                webhook_endpoint::remove(&mut tx, &locked.id, call.now).await?;
                let data = json!({"id": locked.id, "object": KIND, "deleted": true});
                Ok(Effect::new("deleted", KIND, &locked.id, data))
            })
        }))
    })
}

pub(crate) fn rotate_secret(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let key = "expire_previous_in_hours";
        let hours = input::whole(&mut fields, key, 0..=MAX_GRACE_HOURS, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let hours = hours.unwrap_or(MAX_GRACE_HOURS);
        let found = find(&call).await?;
        available(&call)?;
        let secret = new_secret();
        let until = input::in_hours(call.now, hours);
        let new = NewSecret {
            hint: hint(&secret),
            secret,
            at: call.now,
            previous_until: (hours > 0).then_some(until),
        };
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let (org_id, mode) = (&found.org_id, found.mode);
                let locked = webhook_endpoint::lock(&mut tx, org_id, mode, &found.id).await?;
                let locked = locked.ok_or_else(|| refused(missing()))?;
                webhook_endpoint::rotate(&mut tx, &locked, &new).await?;
                let data = json!({
                    "id": locked.id,
                    "object": KIND,
                    "secret": new.secret.as_str(),
                    "previous_secret_expires_at": shown(new.previous_until),
                });
                let effect = Effect::new("secret_rotated", KIND, &locked.id, data);
                Ok(effect.detail("previous_hours", hours))
            })
        }))
    })
}

fn new_secret() -> Content {
    Content::new(secret::signing_secret(rand::random()))
}

/// The end of a secret, for people: 4 of its 43 random characters.
fn hint(secret: &Content) -> String {
    let text = secret.as_str();
    let start = text.len().saturating_sub(HINT_CHARS);
    format!("…{}", text.get(start..).unwrap_or_default())
}

/// What a registration asks for.
struct Wanted {
    url: String,
    description: Option<String>,
    subscription: Subscription,
    max_in_flight: u32,
}

impl Wanted {
    fn read(call: &mut Call) -> Result<Self, Fault> {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.require("url", &mut problems);
        let url = url(call, &mut fields, &mut problems);
        fields.require("events", &mut problems);
        let events = events(&mut fields, &mut problems);
        let longest = 0..=MAX_DESCRIPTION_CHARS;
        let description = input::text(&mut fields, "description", longest, &mut problems);
        let app_id = given(app_id(&mut fields, &mut problems));
        let entity_keys = given(entity_keys(&mut fields, &mut problems));
        let max_in_flight = input::whole(&mut fields, "max_in_flight", IN_FLIGHT, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let (Some(url), Some(events)) = (url, events) else {
            return Err(Fault::internal(
                "an endpoint passed validation without its fields",
            ));
        };
        Ok(Self {
            url,
            description,
            subscription: Subscription {
                events,
                app_id,
                entity_keys,
            },
            max_in_flight: max_in_flight.unwrap_or(USUAL_IN_FLIGHT),
        })
    }
}

fn given<T>(value: Given<T>) -> Option<T> {
    match value {
        Given::Value(value) => Some(value),
        Given::Absent | Given::Null => None,
    }
}

/// What a change asks for.
struct Changes {
    url: Option<String>,
    events: Option<Vec<String>>,
    description: Given<String>,
    app_id: Given<String>,
    entity_keys: Given<Vec<String>>,
    enabled: Option<bool>,
}

impl Changes {
    fn read(call: &mut Call) -> Result<Self, Fault> {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.refuse_nulls(&["url", "events", "status"], &mut problems);
        let longest = 0..=MAX_DESCRIPTION_CHARS;
        let changes = Self {
            url: url(call, &mut fields, &mut problems),
            events: events(&mut fields, &mut problems),
            description: input::text_or_null(&mut fields, "description", longest, &mut problems),
            app_id: app_id(&mut fields, &mut problems),
            entity_keys: entity_keys(&mut fields, &mut problems),
            enabled: fields
                .word("status", &["enabled", "disabled"], &mut problems)
                .map(|word| word == "enabled"),
        };
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        Ok(changes)
    }

    /// Whether all that is asked for is that the endpoint gets nothing.
    fn only_disable(&self) -> bool {
        let Self {
            url,
            events,
            description,
            app_id,
            entity_keys,
            enabled,
        } = self;
        let others = [
            url.is_none(),
            events.is_none(),
            matches!(description, Given::Absent),
            matches!(app_id, Given::Absent),
            matches!(entity_keys, Given::Absent),
        ];
        *enabled == Some(false) && others.iter().all(|is_absent| *is_absent)
    }

    /// The names of the fields that are now others.
    fn apply(self, endpoint: &mut Endpoint) -> Vec<&'static str> {
        let Self {
            url,
            events,
            description,
            app_id,
            entity_keys,
            enabled,
        } = self;
        let mut changed = Vec::new();
        let wanted = &mut endpoint.subscription;
        set(&mut endpoint.url, url, "url", &mut changed);
        set(&mut wanted.events, events, "events", &mut changed);
        let description = nullable(description);
        set(
            &mut endpoint.description,
            description,
            "description",
            &mut changed,
        );
        set(&mut wanted.app_id, nullable(app_id), "app_id", &mut changed);
        let entity_keys = nullable(entity_keys);
        set(
            &mut wanted.entity_keys,
            entity_keys,
            "entity_keys",
            &mut changed,
        );
        // Switching off what the gateway has switched off changes nothing.
        let status = enabled.map(|enabled| match (enabled, endpoint.disabled) {
            (true, _) => None,
            (false, before) => Some(before.unwrap_or(Disabled::Manual)),
        });
        set(&mut endpoint.disabled, status, "status", &mut changed);
        changed
    }
}

fn nullable<T>(value: Given<T>) -> Option<Option<T>> {
    match value {
        Given::Absent => None,
        Given::Null => Some(None),
        Given::Value(value) => Some(Some(value)),
    }
}

fn set<T: PartialEq>(
    field: &mut T,
    value: Option<T>,
    name: &'static str,
    changed: &mut Vec<&'static str>,
) {
    if let Some(value) = value
        && *field != value
    {
        *field = value;
        changed.push(name);
    }
}

fn url(call: &Call, fields: &mut Fields, problems: &mut Problems) -> Option<String> {
    let url = fields.string("url", problems)?;
    match Base::read_whole(&url, &call.gateway.settings.addresses) {
        Ok(_) => Some(url),
        Err(problem) => {
            problems.add("url", problem);
            None
        }
    }
}

/// Known names, each once, or `*` alone.
fn events(fields: &mut Fields, problems: &mut Problems) -> Option<Vec<String>> {
    let value = fields.take("events")?;
    let is_alone = value.as_array().is_some_and(|events| events.len() == 1);
    let mut repeated = input::repeated();
    let wrong = |event: &str| {
        if event == EVERY_EVENT && !is_alone {
            Some("must stand alone".to_owned())
        } else if event != EVERY_EVENT && EventName::parse(event).is_none() {
            Some("is not a known event".to_owned())
        } else {
            repeated(event)
        }
    };
    input::texts(value, "events", 1..=MAX_ITEMS, problems, wrong)
}

fn app_id(fields: &mut Fields, problems: &mut Problems) -> Given<String> {
    match fields.take_or_null("app_id") {
        None => Given::Absent,
        Some(Value::Null) => Given::Null,
        Some(Value::String(text)) if IdKind::Bare.accept(&text).is_some() => Given::Value(text),
        Some(_) => {
            problems.add("app_id", "must be the id of an app or null");
            Given::Absent
        }
    }
}

fn entity_keys(fields: &mut Fields, problems: &mut Problems) -> Given<Vec<String>> {
    let mut repeated = input::repeated();
    let wrong = |key: &str| {
        entities::no_key(key)
            .map(str::to_owned)
            .or_else(|| repeated(key))
    };
    let keys = match fields.take_or_null("entity_keys") {
        None => return Given::Absent,
        Some(Value::Null) => return Given::Null,
        Some(value) => input::texts(value, "entity_keys", 1..=MAX_ENTITY_KEYS, problems, wrong),
    };
    keys.map_or(Given::Absent, Given::Value)
}

/// The endpoint as contract 15.1 shows it.
fn record(endpoint: &Endpoint, now: Timestamp) -> Value {
    let Endpoint {
        id,
        org_id: _,
        mode: _,
        url,
        description,
        subscription,
        max_in_flight,
        disabled,
        secret_hint,
        secret_created_at,
        previous_secret_expires_at,
        health,
        created_at,
        updated_at,
    } = endpoint;
    let Subscription {
        events,
        app_id,
        entity_keys,
    } = subscription;
    let Health {
        last_success_at,
        last_failure_at,
        consecutive_failures,
    } = health;
    json!({
        "id": id,
        "object": KIND,
        "url": url,
        "description": description,
        "events": events,
        "app_id": app_id,
        "entity_keys": entity_keys,
        "status": if disabled.is_some() { "disabled" } else { "enabled" },
        "disabled_reason": disabled.map(Disabled::word),
        "max_in_flight": max_in_flight,
        "secret_hint": secret_hint,
        "secret_created_at": secret_created_at.to_string(),
        "previous_secret_expires_at": shown(previous_secret_expires_at.filter(|end| *end > now)),
        "health": {
            "last_success_at": shown(*last_success_at),
            "last_failure_at": shown(*last_failure_at),
            "consecutive_failures": consecutive_failures,
        },
        "created_at": created_at.to_string(),
        "updated_at": updated_at.to_string(),
    })
}
