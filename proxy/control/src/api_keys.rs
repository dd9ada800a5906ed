//! API keys (contract 9).

use rand::RngExt;
use serde_json::{Value, json};
use svc_core::fault::{Code, Fault, Problems};
use svc_core::id::IdKind;
use svc_core::scope::Scope;
use svc_core::secret::{self, Mode};
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_pipeline::moment;
use svc_store::api_key::{self, ApiKey, Filter, Listed, Status};
use svc_store::page::Position;

use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, refused, shown, store_fault,
};
use crate::cursor::Binding;
use crate::input::{self, MAX_ITEMS, MAX_NAME_CHARS};
use crate::query::PAGE;

/// The longest life of a key, in years of the calendar (contract 9).
const MAX_LIFE_YEARS: i16 = 2;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let mode = query.word("mode", Mode::parse, &mut problems);
        let is_test = call.caller.mode == Mode::Test;
        if is_test && mode == Some(Mode::Live) {
            problems.add("$query.mode", "a test key sees test keys only");
        }
        let filter = Filter {
            status: query.words("status", Status::parse, &mut problems),
            mode: if is_test { Some(Mode::Test) } else { mode },
            created_by: query.one("created_by", &mut problems),
        };
        let page = query.page(PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let organization = &call.caller.organization_id;
        let found =
            api_key::list(&call.gateway.store, organization, &filter, &page, call.now).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.last(|listed| Position::new(listed.key.created_at, &listed.key.id));
        let rows = found.rows.iter().map(|listed| record(listed, &call));
        Ok(Reply::page(
            rows.collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let mode = call.caller.mode;
        let wanted = Wanted::read(&mut call)?;
        let lacking = wanted
            .scopes
            .iter()
            .find(|scope| !call.caller.scopes.contains(scope));
        if let Some(scope) = lacking {
            let granted: Vec<&str> = call
                .caller
                .scopes
                .iter()
                .map(|scope| scope.word())
                .collect();
            return Err(Code::MissingScope
                .fault()
                .detail("required_scope", scope.word())
                .detail("granted_scopes", json!(granted)));
        }
        let new_mode = wanted.mode.unwrap_or(mode);
        let secret = secret::api_key(new_mode, || rand::rng().random_range(0..62));
        let user = call.caller.delegating_user.clone();
        let key = ApiKey {
            id: moment::id(IdKind::ApiKey),
            org_id: call.caller.organization_id.clone(),
            mode: new_mode,
            name: wanted.name,
            hint: secret::hint(&secret),
            scopes: wanted
                .scopes
                .iter()
                .map(|scope| scope.word().to_owned())
                .collect(),
            default_version: wanted
                .default_version
                .map(|version| version.word().to_owned()),
            per_minute: wanted.per_minute,
            delegating_user_id: user.as_ref().map(|user| user.id.clone()),
            created_by: call.caller.creator(),
            created_at: call.now,
            expires_at: wanted.expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        Ok(change(move |mut tx| {
            Box::pin(async move {
                api_key::issue(&mut tx, &key, &secret::digest(&secret)).await?;
                let id = key.id.clone();
                let scopes = json!(key.scopes);
                let listed = Listed {
                    key,
                    delegating_user: user,
                };
                let mut data = record(&listed, &call);
                data["key"] = Value::from(secret);
                Ok(Effect::created("api_key", &id, data).detail("scopes", scopes))
            })
        }))
    })
}

pub(crate) fn revoke(mut call: Call) -> Deciding {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("id", IdKind::ApiKey)?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let organization = &call.caller.organization_id;
                let revoked = api_key::revoke(&mut tx, organization, &id, call.now).await?;
                let revoked = revoked.ok_or_else(|| refused(missing()))?;
                // What test keys cannot make they cannot end: to them live keys do not exist.
                if call.caller.mode == Mode::Test && revoked.listed.key.mode == Mode::Live {
                    return Err(refused(missing()));
                }
                let is_new = revoked.listed.key.revoked_at == Some(call.now);
                let mut effect =
                    Effect::new("revoked", "api_key", &id, record(&revoked.listed, &call))
                        .detail("changed", is_new);
                effect.outdated.credentials.push(revoked.digest);
                Ok(effect)
            })
        }))
    })
}

/// What a caller asks of a new key.
struct Wanted {
    name: String,
    scopes: Vec<Scope>,
    mode: Option<Mode>,
    expires_at: Option<Timestamp>,
    default_version: Option<ApiVersion>,
    per_minute: Option<u32>,
}

impl Wanted {
    fn read(call: &mut Call) -> Result<Self, Fault> {
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let mut fields = Fields::top(std::mem::take(&mut call.body));
        fields.require("name", &mut problems);
        let name = input::text(&mut fields, "name", 1..=MAX_NAME_CHARS, &mut problems);
        fields.require("scopes", &mut problems);
        let scopes = scopes(&mut fields, &mut problems);
        let mode = fields.word("mode", &["live", "test"], &mut problems);
        if mode == Some("live") && call.caller.mode == Mode::Test {
            problems.add("mode", "a test key creates test keys only");
        }
        let expires_at = expiry(&mut fields, call.now, &mut problems);
        let default_version = fields
            .string("default_version", &mut problems)
            .and_then(|word| {
                let version = ApiVersion::parse(&word);
                if version.is_none() {
                    problems.add("default_version", "is not a supported version");
                }
                version
            });
        let usual = call.policy.plans.limits.key_per_minute;
        let most = call.caller.per_minute.unwrap_or(usual);
        let limits = fields.take("rate_limits");
        let per_minute = limits.and_then(|limits| per_minute(limits, most, &mut problems));
        // A key never makes one that may do more than itself, also where nobody says how much.
        let per_minute = per_minute.or((most < usual).then_some(most));
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        let (Some(name), Some(scopes)) = (name, scopes) else {
            return Err(Fault::internal(
                "a key passed validation without its fields",
            ));
        };
        Ok(Self {
            name,
            scopes,
            mode: mode.and_then(Mode::parse),
            expires_at,
            default_version,
            per_minute,
        })
    }
}

fn scopes(fields: &mut Fields, problems: &mut Problems) -> Option<Vec<Scope>> {
    let mut repeated = input::repeated();
    let wrong = |word: &str| {
        let is_unknown = Scope::parse(word).is_none();
        let unknown = is_unknown.then(|| "unknown scope".to_owned());
        unknown.or_else(|| repeated(word))
    };
    let words = input::texts(
        fields.take("scopes")?,
        "scopes",
        1..=MAX_ITEMS,
        problems,
        wrong,
    )?;
    Some(words.iter().filter_map(|word| Scope::parse(word)).collect())
}

fn expiry(fields: &mut Fields, now: Timestamp, problems: &mut Problems) -> Option<Timestamp> {
    let at = input::time(fields, "expires_at", problems)?;
    if let Some(problem) = unfit(at, now) {
        problems.add("expires_at", problem);
    }
    Some(at)
}

/// What is wrong with the end of a key's life. Two years from now are in.
fn unfit(end: Timestamp, now: Timestamp) -> Option<&'static str> {
    if end <= now {
        Some("must be in the future")
    } else if end > now.plus_years(MAX_LIFE_YEARS) {
        Some("must be within two years")
    } else {
        None
    }
}

fn per_minute(limits: Value, most: u32, problems: &mut Problems) -> Option<u32> {
    let mut limits = Fields::of(limits, "rate_limits", problems)?;
    let found = input::whole(&mut limits, "per_minute", 0..=most, problems);
    limits.end_strictly(problems);
    found
}

/// The key as contract 9 shows it.
fn record(listed: &Listed, call: &Call) -> Value {
    let Listed {
        key,
        delegating_user,
    } = listed;
    let default_per_minute = call.policy.plans.limits.key_per_minute;
    json!({
        "id": key.id,
        "object": "api_key",
        "name": key.name,
        "mode": key.mode.word(),
        "hint": key.hint,
        "scopes": key.scopes,
        "status": key.status(call.now).word(),
        "default_version": key.default_version,
        "delegating_user": delegating_user
            .as_ref()
            .map(|user| json!({"id": user.id, "role": user.role.word()})),
        "rate_limits": {"per_minute": key.per_minute.unwrap_or(default_per_minute)},
        "created_by": {"type": key.created_by.kind, "id": key.created_by.id},
        "created_at": key.created_at.to_string(),
        "expires_at": shown(key.expires_at),
        "last_used_at": shown(key.last_used_at),
        "revoked_at": shown(key.revoked_at),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_key_lives_for_two_years_of_the_calendar_at_most() {
        let now = Timestamp::parse("2026-11-25T18:12:06.123Z").unwrap();
        for (end, problem) in [
            ("2026-11-25T18:12:06.123Z", Some("must be in the future")),
            ("2026-11-25T18:12:06.124Z", None),
            ("2028-11-25T18:12:06.123Z", None),
            ("2028-11-25T18:12:06.124Z", Some("must be within two years")),
        ] {
            assert_eq!(unfit(Timestamp::parse(end).unwrap(), now), problem, "{end}");
        }
    }
}
