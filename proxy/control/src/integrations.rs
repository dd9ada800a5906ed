//! Credentials of other services (contract 11). A secret comes in and never goes out again.

use http::HeaderName;
use serde_json::{Value, json};
use svc_core::address::Base;
use svc_core::fault::{Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_pipeline::{feature, moment};
use svc_store::integration::{self, Auth, Integration};
use svc_store::page::Position;
use svc_store::seal::Content;
use svc_store::sealed_secret::SealedSecret;

use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, refused, shown, store_fault,
};
use crate::cursor;
use crate::input::{self, MAX_NAME_CHARS};
use crate::query::PAGE;

/// Contract 11.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 8..=4_096;
const MAX_USERNAME_CHARS: usize = 256;
const MAX_HEADER_NAME_CHARS: usize = 100;
/// Credentials in use of one organization and mode.
const MAX_ACTIVE: u32 = 200;
/// Shortest secret whose end is shown: four characters of it are still no help.
const MIN_HINTED_CHARS: usize = 12;
const HINT_CHARS: usize = 4;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = cursor::Binding::of(&call)?;
        let revoked = query.either("status", ["active", "revoked"], &mut problems);
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = integration::list(store, organization, caller.mode, revoked, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        // Where nothing is left, there is nothing to look at.
        match found.rows.is_empty() {
            true => available(&call)?,
            false => left(&call)?,
        }
        let last = found.last(|row| Position::new(row.created_at, &row.id));
        Ok(Reply::page(
            found.rows.iter().map(record).collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?;
        left(&call)?;
        Ok(Reply::of(single(&found)))
    })
}

/// The credential that the path names.
pub(crate) async fn find(call: &Call) -> Result<Integration, Fault> {
    let id = call.id("id", IdKind::Integration)?;
    let caller = &call.caller;
    let (store, organization) = (&call.gateway.store, &caller.organization_id);
    let found = integration::find(store, organization, caller.mode, &id).await;
    found
        .map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

/// Contract 2, step 13: for what makes, changes or sends something.
pub(crate) fn available(call: &Call) -> Result<(), Fault> {
    feature::integrations(&call.caller, &call.policy.plans)
}

/// The same for what looks at what is there, or ends it.
pub(crate) fn left(call: &Call) -> Result<(), Fault> {
    feature::integrations_left(&call.caller)
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let (wanted, secret) = Wanted::read(&mut call)?;
        available(&call)?;
        let caller = &call.caller;
        let integration = Integration {
            id: moment::id(IdKind::Integration),
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            name: wanted.name,
            base_url: wanted.base_url,
            auth: wanted.auth,
            secret_hint: hint(&secret),
            secret_version: 1,
            bindings_count: 0,
            created_by: caller.answerable(),
            created_at: call.now,
            rotated_at: None,
            revoked_at: None,
            last_used_at: None,
        };
        let sealed = seal(&call, &integration.id, &secret).await?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let Integration { org_id, mode, .. } = &integration;
                if integration::count_active(&mut tx, org_id, *mode).await? >= MAX_ACTIVE {
                    let problem =
                        format!("an organization has at most {MAX_ACTIVE} credentials in use");
                    return Err(refused(invalid("$body", problem)));
                }
                integration::insert(&mut tx, &integration, sealed).await?;
                let data = single(&integration);
                Ok(Effect::created(
                    "integration_credential",
                    &integration.id,
                    data,
                ))
            })
        }))
    })
}

pub(crate) fn rotate_secret(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        let secret = secret(&mut fields, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let secret = secret.ok_or_else(|| Fault::internal("a secret passed without a value"))?;
        let found = find(&call).await?;
        let mut problems = Problems::default();
        fit(&found.auth, &secret, &mut problems);
        problems.into_result()?;
        available(&call)?;
        let sealed = seal(&call, &found.id, &secret).await?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let (org_id, mode) = (&found.org_id, found.mode);
                let locked = integration::lock(&mut tx, org_id, mode, &found.id).await?;
                let mut next = locked.ok_or_else(|| refused(missing()))?;
                in_use(&next).map_err(refused)?;
                next.secret_version = next.secret_version.saturating_add(1);
                next.secret_hint = hint(&secret);
                next.rotated_at = Some(call.now);
                integration::rotate(&mut tx, &next, sealed).await?;
                let data = single(&next);
                let mut effect =
                    Effect::new("secret_rotated", "integration_credential", &next.id, data);
                effect.outdated.bindings = true;
                Ok(effect.detail("secret_version", next.secret_version))
            })
        }))
    })
}

/// A revoked credential is neither rotated nor bound (contract 11).
pub(crate) fn in_use(integration: &Integration) -> Result<(), Fault> {
    match integration.revoked_at {
        None => Ok(()),
        Some(_) => Err(invalid("integrationId", "the credential is revoked")),
    }
}

pub(crate) fn revoke(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let found = find(&call).await?;
        left(&call)?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let (org_id, mode) = (&found.org_id, found.mode);
                let locked = integration::lock(&mut tx, org_id, mode, &found.id).await?;
                let mut next = locked.ok_or_else(|| refused(missing()))?;
                let is_change = next.revoked_at.is_none();
                integration::revoke(&mut tx, &next.id, call.now).await?;
                next.revoked_at = next.revoked_at.or(Some(call.now));
                let data = single(&next);
                let mut effect = Effect::new("revoked", "integration_credential", &next.id, data);
                effect.outdated.bindings = true;
                Ok(effect.detail("changed", is_change))
            })
        }))
    })
}

/// What a registration asks for.
struct Wanted {
    name: String,
    base_url: String,
    auth: Auth,
}

impl Wanted {
    fn read(call: &mut Call) -> Result<(Self, Content), Fault> {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.require("type", &mut problems);
        fields.word("type", &["custom_http"], &mut problems);
        fields.require("name", &mut problems);
        let name = input::text(&mut fields, "name", 1..=MAX_NAME_CHARS, &mut problems);
        let base_url = fields.required_string("base_url", &mut problems);
        if let Some(text) = &base_url
            && let Err(problem) = Base::read(text, &call.gateway.settings.addresses)
        {
            problems.add("base_url", problem);
        }
        fields.require("auth", &mut problems);
        let auth = fields
            .take("auth")
            .and_then(|auth| auth_of(auth, &mut problems));
        let secret = secret(&mut fields, &mut problems);
        fields.end_strictly(&mut problems);
        if let (Some(auth), Some(secret)) = (&auth, &secret) {
            fit(auth, secret, &mut problems);
        }
        problems.into_result()?;
        match (name, base_url, auth, secret) {
            (Some(name), Some(base_url), Some(auth), Some(secret)) => Ok((
                Self {
                    name,
                    base_url,
                    auth,
                },
                secret,
            )),
            _ => Err(Fault::internal(
                "a credential passed validation without its fields",
            )),
        }
    }
}

fn auth_of(auth: Value, problems: &mut Problems) -> Option<Auth> {
    let mut fields = Fields::of(auth, "auth", problems)?;
    fields.require("scheme", problems);
    let scheme = fields.word("scheme", &["bearer", "basic", "header"], problems);
    let auth = match scheme {
        Some("bearer") => Some(Auth::Bearer),
        Some("basic") => {
            fields.require("username", problems);
            username(&mut fields, problems).map(|username| Auth::Basic { username })
        }
        Some("header") => {
            fields.require("header_name", problems);
            header_name(&mut fields, problems).map(|name| Auth::Header { name })
        }
        _ => {
            // Which of its fields belong is not known; none of them is judged.
            fields.take("username");
            fields.take("header_name");
            None
        }
    };
    fields.end_strictly(problems);
    auth
}

fn username(fields: &mut Fields, problems: &mut Problems) -> Option<String> {
    let name = input::text(fields, "username", 1..=MAX_USERNAME_CHARS, problems)?;
    // RFC 7617, 2: a colon would end it, control characters are not allowed.
    if name.contains(':') || name.chars().any(char::is_control) {
        problems.add(
            "auth.username",
            "must hold no colon and no control character",
        );
        return None;
    }
    Some(name)
}

/// Headers that frame a message or belong to one connection.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn header_name(fields: &mut Fields, problems: &mut Problems) -> Option<String> {
    let text = input::text(fields, "header_name", 1..=MAX_HEADER_NAME_CHARS, problems)?;
    match text.parse::<HeaderName>() {
        Ok(name) if !RESERVED.contains(&name.as_str()) => Some(text),
        Ok(_) => {
            problems.add("auth.header_name", "is a header that carries no secret");
            None
        }
        Err(_) => {
            problems.add("auth.header_name", "is not a header name");
            None
        }
    }
}

fn secret(fields: &mut Fields, problems: &mut Problems) -> Option<Content> {
    let secret = fields.required_string("secret", problems)?;
    if SECRET_BYTES.contains(&secret.len()) {
        return Some(Content::new(secret));
    }
    let (least, most) = (SECRET_BYTES.start(), SECRET_BYTES.end());
    problems.add("secret", format!("must have {least} to {most} bytes"));
    None
}

/// What goes into a header as it is must be able to stand there (RFC 9110, 5.5).
fn fit(auth: &Auth, secret: &Content, problems: &mut Problems) {
    let text = secret.as_str();
    let fits = match auth {
        Auth::Basic { .. } => !text.chars().any(char::is_control),
        Auth::Bearer | Auth::Header { .. } => {
            text.bytes()
                .all(|byte| byte == b' ' || byte.is_ascii_graphic())
                && text.trim() == text
        }
    };
    if !fits {
        problems.add("secret", "cannot be sent in a header");
    }
}

/// The end of a secret, for people.
fn hint(secret: &Content) -> String {
    let characters: Vec<char> = secret.as_str().chars().collect();
    match characters.len().checked_sub(HINT_CHARS) {
        Some(start) if characters.len() >= MIN_HINTED_CHARS => {
            let end: String = characters.into_iter().skip(start).collect();
            format!("…{end}")
        }
        _ => "…".to_owned(),
    }
}

async fn seal(call: &Call, id: &str, secret: &Content) -> Result<SealedSecret, Fault> {
    let (store, org_id) = (&call.gateway.store, &call.caller.organization_id);
    let sealed = integration::seal_secret(store, org_id, id, secret).await;
    sealed.map_err(|error| store_fault(&error))
}

/// One credential is an array of one (spec).
fn single(integration: &Integration) -> Value {
    json!([record(integration)])
}

/// The credential as contract 11 shows it.
fn record(integration: &Integration) -> Value {
    let Integration {
        id,
        org_id: _,
        mode: _,
        name,
        base_url,
        auth,
        secret_hint,
        secret_version,
        bindings_count,
        created_by,
        created_at,
        rotated_at,
        revoked_at,
        last_used_at,
    } = integration;
    let auth = match auth {
        Auth::Bearer => json!({"scheme": "bearer"}),
        Auth::Basic { username } => json!({"scheme": "basic", "username": username}),
        Auth::Header { name } => json!({"scheme": "header", "header_name": name}),
    };
    json!({
        "id": id,
        "object": "integration_credential",
        "type": "custom_http",
        "name": name,
        "base_url": base_url,
        "auth": auth,
        "status": if revoked_at.is_some() { "revoked" } else { "active" },
        "secret_hint": secret_hint,
        "secret_version": secret_version,
        "bindings_count": bindings_count,
        "created_by": {"type": created_by.kind, "id": created_by.id},
        "created_at": created_at.to_string(),
        "rotated_at": shown(*rotated_at),
        "revoked_at": shown(*revoked_at),
        "last_used_at": shown(*last_used_at),
    })
}
