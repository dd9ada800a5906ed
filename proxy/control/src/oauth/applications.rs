//! Applications of an organization (contract 16.1). A secret is shown once; revoking is for good.

use std::ops::RangeInclusive;

use rand::RngExt;
use serde_json::{Value, json};
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::oauth::{ClientKind, detail, redirect};
use svc_core::secret::{self, Mode};
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_store::oauth_application::{self, Application, Writable};
use svc_store::page::Position;

use crate::call::{
    Answering, Call, Change, Deciding, Effect, Refused, Reply, change, missing, refused, shown,
    store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, Given, MAX_ITEMS, MAX_NAME_CHARS};
use crate::query::PAGE;

/// Contract 16.1.
const REDIRECT_URIS: RangeInclusive<usize> = 1..=10;
const MAX_GRACE_HOURS: u32 = 24;
/// Applications in use of one organization and mode.
const MAX_ACTIVE: u32 = 200;
const KIND: &str = "oauth_application";

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let revoked = query.either("status", ["active", "revoked"], &mut problems);
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = oauth_application::list(store, organization, caller.mode, revoked, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|row| Position::new(row.created_at, &row.id));
        let rows = found.rows.iter();
        Ok(Reply::page(
            rows.map(|row| record(row, call.now)).collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?;
        Ok(Reply::of(record(&found, call.now)))
    })
}

/// The application that the path names.
async fn find(call: &Call) -> Result<Application, Fault> {
    let id = call.id("id", IdKind::OauthApplication)?;
    let caller = &call.caller;
    let (store, organization) = (&call.gateway.store, &caller.organization_id);
    let found = oauth_application::find(store, organization, caller.mode, &id).await;
    found
        .map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let (kind, writable) = wanted(&mut call)?;
        let caller = &call.caller;
        let text = kind.has_secret().then(fresh_secret);
        let application = Application {
            id: moment::id(IdKind::OauthApplication),
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            client_id: secret::client_id(|| rand::rng().random_range(0..62)),
            kind,
            writable,
            secret_hint: text.as_deref().map(secret::hint),
            previous_secret_expires_at: None,
            created_by: caller.answerable(),
            created_at: call.now,
            updated_at: call.now,
            revoked_at: None,
        };
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let Application { org_id, mode, .. } = &application;
                if oauth_application::count_active(&mut tx, org_id, *mode).await? >= MAX_ACTIVE {
                    let problem =
                        format!("an organization has at most {MAX_ACTIVE} applications in use");
                    return Err(refused(invalid("$body", problem)));
                }
                let digest = text.as_deref().map(secret::digest);
                oauth_application::insert(&mut tx, &application, digest.as_ref()).await?;
                let mut data = record(&application, call.now);
                if let Some(text) = text {
                    data["client_secret"] = Value::from(text);
                }
                Ok(Effect::created(KIND, &application.id, data)
                    .detail("type", application.kind.word())
                    .detail("redirect_uris", application.writable.redirect_uris.clone()))
            })
        }))
    })
}

fn fresh_secret() -> String {
    secret::client_secret(|| rand::rng().random_range(0..62))
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let before = find(&call).await;
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let body = std::mem::take(&mut call.body);
        // Read once for its problems, which come before whether the application is there (contract 2); applied to the
        // row as it is in the transaction.
        let (mut draft, kind) = match &before {
            Ok(before) => (before.writable.clone(), before.kind),
            Err(_) => (blank(), WIDEST),
        };
        let mut fields = Fields::top(body.clone());
        merge(&mut draft, kind, &mut fields, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let before = before?;
        let changed: Vec<Value> = body.keys().map(|key| Value::from(key.clone())).collect();
        Ok(locked(before, call.now, move |application| {
            let mut fields = Fields::top(body);
            let mut problems = Problems::default();
            let kind = application.kind;
            merge(&mut application.writable, kind, &mut fields, &mut problems);
            Next::Updated(changed)
        }))
    })
}

pub(crate) fn rotate_secret(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let grace = input::whole(
            &mut fields,
            "grace_hours",
            0..=MAX_GRACE_HOURS,
            &mut problems,
        );
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let found = find(&call).await?;
        if !found.kind.has_secret() {
            return Err(invalid("id", "an application of this type has no secret"));
        }
        let grace = grace.unwrap_or(0);
        let ends = (grace > 0).then(|| input::in_hours(call.now, grace));
        Ok(locked(found, call.now, move |application| {
            let text = fresh_secret();
            application.secret_hint = Some(secret::hint(&text));
            application.previous_secret_expires_at = ends;
            Next::Rotated(text, grace)
        }))
    })
}

/// What is to be done with an application under its lock.
enum Next {
    Updated(Vec<Value>),
    /// The new secret, and the hours for which the old one is accepted too.
    Rotated(String, u32),
}

/// A change of an application that is in use.
fn locked(
    found: Application,
    now: Timestamp,
    decide: impl FnOnce(&mut Application) -> Next + Send + 'static,
) -> Change {
    change(move |mut tx| {
        Box::pin(async move {
            let Application {
                id, org_id, mode, ..
            } = &found;
            let locked = oauth_application::lock(&mut tx, org_id, *mode, id).await?;
            let mut next = locked.ok_or_else(|| refused(missing()))?;
            if next.revoked_at.is_some() {
                return Err::<_, Refused>(refused(invalid("id", "the application is revoked")));
            }
            let what = decide(&mut next);
            next.updated_at = now;
            let effect = match what {
                Next::Updated(changed) => {
                    oauth_application::update(&mut tx, &next).await?;
                    Effect::new("updated", KIND, id, record(&next, now))
                        .detail("changed", changed)
                        .detail("redirect_uris", next.writable.redirect_uris.clone())
                }
                Next::Rotated(text, grace_hours) => {
                    oauth_application::rotate(&mut tx, &next, &secret::digest(&text)).await?;
                    let mut data = record(&next, now);
                    data["client_secret"] = Value::from(text);
                    Effect::new("secret_rotated", KIND, id, data).detail("grace_hours", grace_hours)
                }
            };
            Ok(effect)
        })
    })
}

pub(crate) fn revoke(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let Application {
                    id, org_id, mode, ..
                } = &found;
                let locked = oauth_application::lock(&mut tx, org_id, *mode, id).await?;
                let mut next = locked.ok_or_else(|| refused(missing()))?;
                let is_change = next.revoked_at.is_none();
                let ended = oauth_application::revoke(&mut tx, id, call.now).await?;
                if is_change {
                    (next.revoked_at, next.updated_at) = (Some(call.now), call.now);
                }
                next.previous_secret_expires_at = None;
                let mut effect = Effect::new("revoked", KIND, id, record(&next, call.now))
                    .detail("changed", is_change)
                    .detail("credentials", ended.credentials.len())
                    .detail("codes", ended.codes);
                effect.outdated.credentials = ended.credentials;
                Ok(effect)
            })
        }))
    })
}

/// What a registration asks for.
fn wanted(call: &mut Call) -> Result<(ClientKind, Writable), Fault> {
    let mut problems = Problems::default();
    call.query.end(&mut problems);
    let mut fields = Fields::top(std::mem::take(&mut call.body));
    let mode = fields.word("mode", &["live", "test"], &mut problems);
    if mode
        .and_then(Mode::parse)
        .is_some_and(|mode| mode != call.caller.mode)
    {
        problems.add("mode", "must be the key's own mode");
    }
    fields.require("name", &mut problems);
    fields.require("type", &mut problems);
    let words = ["confidential", "public", "native"];
    let kind = fields.word("type", &words, &mut problems);
    let kind = kind.and_then(ClientKind::parse);
    fields.require("redirect_uris", &mut problems);
    let mut writable = blank();
    // Where the type itself is wrong, its own problem is said already.
    let judged = kind.unwrap_or(WIDEST);
    merge(&mut writable, judged, &mut fields, &mut problems);
    fields.end_strictly(&mut problems);
    problems.into_result()?;
    let kind = kind.ok_or_else(|| Fault::internal("an application passed without its type"))?;
    Ok((kind, writable))
}

/// An application of which nothing was said.
fn blank() -> Writable {
    Writable {
        name: String::new(),
        publisher: None,
        redirect_uris: Vec::new(),
        homepage_url: None,
        details_types: vec![detail::TYPE.to_owned()],
    }
}

/// The type with the widest rules, for an application whose type nobody knows.
const WIDEST: ClientKind = ClientKind::Native;

/// Puts what is sent in the place of what was; nothing is cleared that has to be there.
fn merge(writable: &mut Writable, kind: ClientKind, fields: &mut Fields, problems: &mut Problems) {
    if let Some(name) = required_text(fields, "name", problems) {
        if let Some(problem) = input::misleading(&name) {
            problems.add("name", problem);
        }
        writable.name = name;
    }
    match input::text_or_null(fields, "publisher", 1..=MAX_NAME_CHARS, problems) {
        Given::Absent => {}
        Given::Null => writable.publisher = None,
        Given::Value(publisher) => {
            if let Some(problem) = input::misleading(&publisher) {
                problems.add("publisher", problem);
            }
            writable.publisher = Some(publisher);
        }
    }
    let longest = 1..=redirect::MAX_CHARS;
    match input::text_or_null(fields, "homepage_url", longest, problems) {
        Given::Absent => {}
        Given::Null => writable.homepage_url = None,
        // A page that people open: never a scheme of an application.
        Given::Value(address) => match redirect::check(&address, ClientKind::Public) {
            Ok(()) => writable.homepage_url = Some(address),
            Err(problem) => problems.add("homepage_url", problem),
        },
    }
    if let Some(addresses) = list_of(fields, "redirect_uris", REDIRECT_URIS, problems) {
        for (at, address) in addresses.iter().enumerate() {
            if let Err(problem) = redirect::check(address, kind) {
                problems.add(format!("redirect_uris[{at}]"), problem);
            }
        }
        writable.redirect_uris = addresses;
    }
    let count = 1..=MAX_ITEMS;
    if let Some(types) = list_of(fields, "authorization_details_types", count, problems) {
        for (at, word) in types.iter().enumerate() {
            if word != detail::TYPE {
                let place = format!("authorization_details_types[{at}]");
                problems.add(place, "is not a known type");
            }
        }
        writable.details_types = types;
    }
}

/// A text that a null does not clear.
fn required_text(fields: &mut Fields, key: &str, problems: &mut Problems) -> Option<String> {
    match input::text_or_null(fields, key, 1..=MAX_NAME_CHARS, problems) {
        Given::Absent => None,
        Given::Null => {
            problems.add(key, "must not be null");
            None
        }
        Given::Value(text) => Some(text),
    }
}

/// A list of distinct texts that a null does not clear.
fn list_of(
    fields: &mut Fields,
    key: &str,
    count: RangeInclusive<usize>,
    problems: &mut Problems,
) -> Option<Vec<String>> {
    let value = fields.take_or_null(key)?;
    input::texts(value, key, count, problems, input::repeated())
}

/// The application as contract 16.1 shows it.
fn record(application: &Application, now: Timestamp) -> Value {
    let Application {
        id,
        org_id: _,
        mode,
        client_id,
        kind,
        writable,
        secret_hint,
        previous_secret_expires_at,
        created_by,
        created_at,
        updated_at,
        revoked_at,
    } = application;
    let Writable {
        name,
        publisher,
        redirect_uris,
        homepage_url,
        details_types,
    } = writable;
    json!({
        "id": id,
        "object": "oauth_application",
        "client_id": client_id,
        "name": name,
        "publisher": publisher,
        "type": kind.word(),
        "mode": mode.word(),
        "redirect_uris": redirect_uris,
        "homepage_url": homepage_url,
        "authorization_details_types": details_types,
        "status": if revoked_at.is_some() { "revoked" } else { "active" },
        "secret_hint": secret_hint,
        "previous_secret_expires_at": shown(previous_secret_expires_at.filter(|end| *end > now)),
        "created_by": {"type": created_by.kind, "id": created_by.id},
        "created_at": created_at.to_string(),
        "updated_at": updated_at.to_string(),
        "revoked_at": shown(*revoked_at),
    })
}
