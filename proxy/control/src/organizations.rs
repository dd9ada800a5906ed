//! The caller's organization (contract 8).

use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Fault, Problems};
use svc_core::plan::Tier;
use svc_core::secret;
use svc_core::surface::fields::{Fields, join};
use svc_pipeline::feature;
use svc_pipeline::policy::PolicySet;
use svc_pipeline::policy::models::Access;
use svc_store::baa;
use svc_store::organization::{
    self, Organization, PhiMode, SealedPrompt, Settings, WebhookPayload,
};
use svc_store::retention::MIN_AUDIT_DAYS;
use svc_store::seal::Content;

use crate::call::{
    Answering, Call, Deciding, Effect, Reply, change, missing, outdated, refused, store_fault,
};
use crate::input::{self, Given, MAX_ITEMS, MAX_NAME_CHARS};

/// Longest default system prompt, in characters.
const MAX_PROMPT_CHARS: usize = 32_000;
/// 100 years of conversations and of audit rows.
const MAX_DAYS: u32 = 36_500;
const MAX_TOKENS: u32 = 1_000_000;

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let organization = find(&call).await?;
        let standing = baa::standing(&call.gateway.store, &organization.id, call.now).await;
        let standing = standing.map_err(|error| store_fault(&error))?;
        Ok(Reply::of(record(&organization, standing, &call)))
    })
}

/// The organization that the path names, by id or slug. Another one than the caller's is a mismatch, whether it
/// exists or not (contract X12).
pub(crate) async fn find(call: &Call) -> Result<Organization, Fault> {
    let own = own(call).await?;
    expect_named(call, &own)?;
    Ok(own)
}

/// With the prompt as it is stored.
async fn own_sealed(call: &Call) -> Result<(Organization, SealedPrompt), Fault> {
    let store = &call.gateway.store;
    let own = organization::find_sealed(store, &call.caller.organization_id).await;
    own.map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

async fn own(call: &Call) -> Result<Organization, Fault> {
    let own = organization::find(&call.gateway.store, &call.caller.organization_id).await;
    own.map_err(|error| store_fault(&error))?
        .ok_or_else(missing)
}

fn expect_named(call: &Call, own: &Organization) -> Result<(), Fault> {
    let named = call.parameter("organization");
    if named == own.id || named == own.slug {
        Ok(())
    } else {
        Err(Code::OrganizationMismatch.fault())
    }
}

pub(crate) fn update(mut call: Call) -> Deciding {
    Box::pin(async move {
        let (before, prompt_before) = own_sealed(&call).await?;
        let store = call.gateway.store.clone();
        let mut problems = Problems::default();
        call.query.end(&mut problems);
        let body = std::mem::take(&mut call.body);
        let mut wanted = before.settings.clone();
        let mut fields = Fields::top(body.clone());
        merge(&mut wanted, &mut fields, &call, &mut problems);
        fields.end_strictly(&mut problems);
        problems.into_result()?;
        // What is wrong with the request comes before where it is asked for (contract 2).
        expect_named(&call, &before)?;
        let has_prompt = body.contains_key("default_system_prompt");
        let prompt = wanted.default_system_prompt.as_ref();
        let sealed = organization::seal_prompt(&store, &before.id, prompt).await;
        let sealed = sealed.map_err(|error| store_fault(&error))?;
        let standing = baa::standing(&store, &before.id, call.now).await;
        let standing = standing.map_err(|error| store_fault(&error))?;
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let locked = organization::lock(&mut tx, &before.id).await?;
                let (mut settings, kept) = locked.ok_or_else(|| refused(missing()))?;
                // The prompt is opened outside of the transaction: where it was changed since, what was read of it is
                // neither the old value nor the one that stays.
                if kept != prompt_before {
                    return Err(outdated());
                }
                settings.default_system_prompt = before.settings.default_system_prompt.clone();
                let old = settings.clone();
                let mut problems = Problems::default();
                merge(&mut settings, &mut Fields::top(body), &call, &mut problems);
                problems.into_result().map_err(refused)?;
                let prompt = if has_prompt { sealed } else { kept };
                let (id, now) = (&before.id, call.now);
                organization::put_settings(&mut tx, id, settings.clone(), prompt, now).await?;
                let changes = differences(&old, &settings);
                let organization = Organization {
                    settings,
                    updated_at: call.now,
                    ..before
                };
                let data = record(&organization, standing, &call);
                let mut effect = Effect::new("updated", "organization", &organization.id, data);
                effect.outdated.organization = true;
                Ok(effect.detail("changes", changes))
            })
        }))
    })
}

/// What has a value always.
const NEVER_NULL: [&str; 9] = [
    "name",
    "phi_mode",
    "phi_restore",
    "ai_paused",
    "premium_models_enabled",
    "per_request_max_tokens",
    "features",
    "webhook_payload",
    "retention",
];

/// Takes over what was sent.
fn merge(settings: &mut Settings, fields: &mut Fields, call: &Call, problems: &mut Problems) {
    fields.refuse_nulls(&NEVER_NULL, problems);
    if let Some(name) = input::text(fields, "name", 1..=MAX_NAME_CHARS, problems) {
        settings.name = name;
    }
    if let Some(mode) = fields.word("phi_mode", &["redact", "block"], problems) {
        settings.phi_mode = PhiMode::parse(mode).unwrap_or(settings.phi_mode);
    }
    if let Some(restore) = fields.boolean("phi_restore", problems) {
        settings.phi_restore = restore;
    }
    if let Some(paused) = fields.boolean("ai_paused", problems) {
        settings.ai_paused = paused;
    }
    if let Some(models) = fields.take("premium_models_enabled") {
        let mut repeated = input::repeated();
        let wrong = |model: &str| repeated(model).or_else(|| not_premium(model, call));
        let path = "premium_models_enabled";
        if let Some(models) = input::texts(models, path, 0..=MAX_ITEMS, problems, wrong) {
            settings.premium_models = models;
        }
    }
    match input::text_or_null(
        fields,
        "default_system_prompt",
        1..=MAX_PROMPT_CHARS,
        problems,
    ) {
        Given::Absent => {}
        Given::Null => settings.default_system_prompt = None,
        Given::Value(text) => settings.default_system_prompt = Some(Content::new(text)),
    }
    if let Some(tokens) = input::whole(fields, "per_request_max_tokens", 1..=MAX_TOKENS, problems) {
        settings.per_request_max_tokens = tokens;
    }
    merge_features(settings, fields, &call.policy, problems);
    if let Some(payload) = fields.word("webhook_payload", &["thin", "full"], problems) {
        settings.webhook_payload =
            WebhookPayload::parse(payload).unwrap_or(settings.webhook_payload);
    }
    if let Some(retention) = fields.take("retention")
        && let Some(mut retention) = Fields::of(retention, "retention", problems)
    {
        retention.refuse_nulls(&["conversation_days", "audit_days"], problems);
        let days = input::whole(&mut retention, "conversation_days", 1..=MAX_DAYS, problems);
        settings.conversation_days = days.unwrap_or(settings.conversation_days);
        let days = input::whole(
            &mut retention,
            "audit_days",
            MIN_AUDIT_DAYS..=MAX_DAYS,
            problems,
        );
        settings.audit_days = days.unwrap_or(settings.audit_days);
        retention.end_strictly(problems);
    }
}

fn not_premium(model: &str, call: &Call) -> Option<String> {
    let problem = match call.policy.catalogue.find(model) {
        None => "is not a model of the catalog",
        Some(model) if model.access != Access::Premium => "is open to everybody",
        Some(_) => return None,
    };
    Some(problem.to_owned())
}

/// Switches features; those that are not named stay as they are, and null forgets one.
fn merge_features(
    settings: &mut Settings,
    fields: &mut Fields,
    policy: &PolicySet,
    problems: &mut Problems,
) {
    let Some(features) = fields.object("features", problems) else {
        return;
    };
    let known = feature::known(&policy.catalogue);
    for (name, value) in features {
        match value {
            // What was switched while it was known can be forgotten when it is so no more.
            Value::Null if known.contains(&*name) || settings.features.contains_key(&name) => {
                settings.features.remove(&name);
            }
            Value::Bool(on) if known.contains(&*name) => {
                settings.features.insert(name, on);
            }
            Value::Null | Value::Bool(_) => {
                let names: Vec<&str> = known.iter().copied().collect();
                let problem = format!("is none of {}", names.join(", "));
                problems.add(join("features", &name), problem);
            }
            _ => problems.add(join("features", &name), "must be a boolean or null"),
        }
    }
}

/// What changed, old and new; of the prompt its hash only (contract 8).
fn differences(old: &Settings, new: &Settings) -> Value {
    let (old, new) = (shown(old), shown(new));
    let changes = new.into_iter().filter_map(|(key, new)| {
        let old = old.get(&key).cloned().unwrap_or_default();
        (old != new).then(|| (key, json!({"old": old, "new": new})))
    });
    Value::Object(changes.collect())
}

fn shown(settings: &Settings) -> Map<String, Value> {
    let Settings {
        name,
        phi_mode,
        phi_restore,
        ai_paused,
        premium_models,
        default_system_prompt,
        per_request_max_tokens,
        features,
        webhook_payload,
        conversation_days,
        audit_days,
    } = settings;
    let prompt = default_system_prompt
        .as_ref()
        .map(|prompt| hex::encode(secret::digest(prompt.as_str())));
    let shown = [
        ("name", json!(name)),
        ("phi_mode", json!(phi_mode.word())),
        ("phi_restore", json!(phi_restore)),
        ("ai_paused", json!(ai_paused)),
        ("premium_models_enabled", json!(premium_models)),
        ("default_system_prompt_sha256", json!(prompt)),
        ("per_request_max_tokens", json!(per_request_max_tokens)),
        ("features", json!(features)),
        ("webhook_payload", json!(webhook_payload.word())),
        (
            "retention",
            json!({"conversation_days": conversation_days, "audit_days": audit_days}),
        ),
    ];
    shown
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The organization as contract 8 shows it.
fn record(organization: &Organization, standing: baa::Standing, call: &Call) -> Value {
    let Organization {
        id,
        slug,
        default_project_id,
        plan,
        cycle_anchor_day,
        cycle_timezone,
        settings,
        created_at,
        updated_at,
    } = organization;
    let plans = &call.policy.plans;
    let tier = plans.find(plan.tier);
    let monthly_credits = call.caller.allotment(plans);
    let mut shown_plan = json!({
        "tier": plan.tier.word(),
        "monthly_credits": monthly_credits.to_json(),
        "features": tier.map(|tier| tier.features.clone()).unwrap_or_default(),
    });
    let end = plan.evaluation_ends_at;
    if end.is_some() || plan.tier == Tier::Evaluation {
        shown_plan["evaluation_ends_at"] = json!(end.map(|end| end.to_string()));
    }
    let prompt = settings.default_system_prompt.as_ref();
    json!({
        "id": id,
        "object": "organization",
        "name": settings.name,
        "slug": slug,
        "plan": shown_plan,
        "phi_mode": settings.phi_mode.word(),
        "phi_restore": settings.phi_restore,
        "ai_paused": settings.ai_paused,
        "premium_models_enabled": settings.premium_models,
        "default_system_prompt": prompt.map(Content::as_str),
        "per_request_max_tokens": settings.per_request_max_tokens,
        "default_project_id": default_project_id,
        "features": feature::shown(&settings.features),
        "webhook_payload": settings.webhook_payload.word(),
        "cycle": {"anchor_day": cycle_anchor_day, "timezone": cycle_timezone},
        "retention": {
            "conversation_days": settings.conversation_days,
            "audit_days": settings.audit_days,
        },
        "baa_status": standing.word(),
        "created_at": created_at.to_string(),
        "updated_at": updated_at.to_string(),
    })
}
