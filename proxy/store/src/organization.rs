//! Organizations: the tenants, with the settings that every gate asks for (contract 8).

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use svc_core::money::Micro;
use svc_core::plan::Tier;
use svc_core::time::Timestamp;

use crate::audit;
use crate::engine::{Connection, Row, args};
use crate::org_key;
use crate::seal::{self, Content, Place};
use crate::{Store, StoreError, Transaction};

/// What happens to PHI in this organization's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhiMode {
    Redact,
    Block,
}

impl PhiMode {
    /// The word of `phi_mode`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Redact => "redact",
            Self::Block => "block",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "redact" => Some(Self::Redact),
            "block" => Some(Self::Block),
            _ => None,
        }
    }
}

/// Whether outbound webhooks carry the record or only its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookPayload {
    Thin,
    Full,
}

impl WebhookPayload {
    /// The word of `webhook_payload`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Thin => "thin",
            Self::Full => "full",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "thin" => Some(Self::Thin),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// One organization.
#[derive(Clone)]
pub struct Organization {
    pub id: String,
    /// Stands for the id in paths; unique in the deployment.
    pub slug: String,
    pub default_project_id: String,
    pub plan: Plan,
    /// Day of the month on which a billing cycle starts, 1 to 28.
    pub cycle_anchor_day: i8,
    /// `UTC`: the only one that cycles are counted in.
    pub cycle_timezone: String,
    pub settings: Settings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What the operator has agreed with an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub tier: Tier,
    /// Credits of one cycle; `None` is what the tier includes.
    pub monthly_credits: Option<Micro>,
    pub evaluation_ends_at: Option<Timestamp>,
    /// Requests per minute and per UTC day of the whole organization; `None` is the policy's default.
    pub per_minute: Option<u32>,
    pub per_day: Option<u32>,
}

/// What an organization decides for itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    pub name: String,
    pub phi_mode: PhiMode,
    /// Whether callers get the values in the place of placeholders (contract 21).
    pub phi_restore: bool,
    /// Whether inference and solving are refused (`AI_PAUSED`).
    pub ai_paused: bool,
    /// Catalogue ids of the premium models that are enabled.
    pub premium_models: Vec<String>,
    /// For requests that bring no system prompt of their own.
    pub default_system_prompt: Option<Content>,
    /// Output tokens of one request; what asks for more gets this (contract 21).
    pub per_request_max_tokens: u32,
    /// What the organization has switched on or off, by name.
    pub features: BTreeMap<String, bool>,
    pub webhook_payload: WebhookPayload,
    /// Days that a conversation is kept after its last turn.
    pub conversation_days: u32,
    /// Days that an audit row is kept, at least [`crate::retention::MIN_AUDIT_DAYS`].
    pub audit_days: u32,
}

/// Columns of [`from_row`]; other files join the table under this alias.
macro_rules! organization_columns {
    () => {
        "o.id AS org_id, o.name AS org_name, o.slug, o.plan_tier, o.monthly_credits_micro, o.evaluation_ends_at, \
         o.phi_mode, o.phi_restore, o.ai_paused, o.premium_models, o.default_system_prompt, \
         o.per_request_max_tokens, o.default_project_id, o.features, o.webhook_payload, o.cycle_anchor_day, \
         o.cycle_timezone, o.conversation_days, o.audit_days, o.per_minute AS org_per_minute, o.per_day, \
         o.created_at AS org_created_at, o.updated_at AS org_updated_at"
    };
}
pub(crate) use organization_columns;

/// Creates an organization and its encryption key.
///
/// # Errors
/// [`StoreError::Exists`] when the id or the slug is taken.
pub async fn create(store: &Store, organization: &Organization) -> Result<(), StoreError> {
    let draft = Draft::new(store, organization)?;
    store
        .db
        .write(|cx| Box::pin(async move { insert(cx, draft).await }))
        .await
}

/// An organization with everything sealed that has to be, ready to be written.
pub(crate) struct Draft {
    organization: Organization,
    wrapped_key: Vec<u8>,
    prompt: Option<Vec<u8>>,
}

impl Draft {
    pub(crate) fn new(store: &Store, organization: &Organization) -> Result<Self, StoreError> {
        let organization = organization.clone();
        let (wrapped_key, key) = store.ring.generate(&organization.id)?;
        let prompt = organization.settings.default_system_prompt.as_ref();
        let prompt = prompt
            .map(|text| {
                seal::seal(
                    &key,
                    org_key::FIRST_VERSION,
                    prompt_place(&organization.id),
                    text.as_str().as_bytes(),
                )
            })
            .transpose()?;
        Ok(Self {
            organization,
            wrapped_key,
            prompt,
        })
    }
}

pub(crate) async fn insert(cx: &mut Connection, draft: Draft) -> Result<(), StoreError> {
    let Draft {
        organization,
        wrapped_key,
        prompt,
    } = draft;
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
    let Plan {
        tier,
        monthly_credits,
        evaluation_ends_at,
        per_minute,
        per_day,
    } = plan;
    let Settings {
        name,
        phi_mode,
        phi_restore,
        ai_paused,
        premium_models,
        default_system_prompt: _,
        per_request_max_tokens,
        features,
        webhook_payload,
        conversation_days,
        audit_days,
    } = settings;
    cx.execute(
        "INSERT INTO organizations (id, name, slug, plan_tier, monthly_credits_micro, evaluation_ends_at, \
         phi_mode, phi_restore, ai_paused, premium_models, default_system_prompt, per_request_max_tokens, \
         default_project_id, features, webhook_payload, cycle_anchor_day, cycle_timezone, conversation_days, \
         audit_days, per_minute, per_day, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, \
         $21, $22, $23)",
        args![
            &id, name, slug, tier.word(), monthly_credits, evaluation_ends_at, phi_mode.word(), phi_restore, ai_paused,
            &premium_models[..], prompt, per_request_max_tokens, default_project_id, &features_json(&features),
            webhook_payload.word(), i64::from(cycle_anchor_day), cycle_timezone, conversation_days, audit_days,
            per_minute, per_day, created_at, updated_at,
        ],
    )
    .await?;
    org_key::insert(cx, &id, wrapped_key, created_at).await
}

/// The organization with this id.
///
/// # Errors
/// Those of the database and of its sealed columns.
pub async fn find(store: &Store, org_id: &str) -> Result<Option<Organization>, StoreError> {
    let sql = concat!(
        "SELECT ",
        organization_columns!(),
        " FROM organizations o WHERE o.id = $1"
    );
    match store.db.find(sql, args![org_id], from_row).await? {
        Some(stored) => open(store, stored).await.map(Some),
        None => Ok(None),
    }
}

/// As [`find`], with the prompt as its column has it too: what [`lock`] gives later is the same, or it was changed in
/// between.
///
/// # Errors
/// As [`find`].
pub async fn find_sealed(
    store: &Store,
    org_id: &str,
) -> Result<Option<(Organization, SealedPrompt)>, StoreError> {
    let sql = concat!(
        "SELECT ",
        organization_columns!(),
        " FROM organizations o WHERE o.id = $1"
    );
    let Some(stored) = store.db.find(sql, args![org_id], from_row).await? else {
        return Ok(None);
    };
    let prompt = SealedPrompt(stored.prompt.clone());
    Ok(Some((open(store, stored).await?, prompt)))
}

/// The slug of an organization, also of one that was erased.
///
/// # Errors
/// Those of the database.
pub async fn slug(store: &Store, org_id: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT slug FROM organizations WHERE id = $1";
    store
        .db
        .find(sql, args![org_id], |row| row.get("slug"))
        .await
}

/// Ids of all organizations behind `after`, in order; at most `limit`.
///
/// # Errors
/// Those of the database.
pub async fn ids(store: &Store, after: &str, limit: u32) -> Result<Vec<String>, StoreError> {
    let arguments = args![after, limit];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT id FROM organizations WHERE id > $1 ORDER BY id LIMIT $2";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter().map(|row| row.get("id")).collect()
            })
        })
        .await
}

/// A system prompt as its column has it.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedPrompt(Option<Vec<u8>>);

/// Seals a prompt before the transaction that stores it.
///
/// # Errors
/// Those of the organization's key.
pub async fn seal_prompt(
    store: &Store,
    org_id: &str,
    prompt: Option<&Content>,
) -> Result<SealedPrompt, StoreError> {
    let Some(text) = prompt else {
        return Ok(SealedPrompt(None));
    };
    let keys = org_key::load(store, org_id).await?;
    let (version, key) = keys.current()?;
    let place = prompt_place(org_id);
    let sealed = seal::seal(key, version, place, text.as_str().as_bytes())?;
    Ok(SealedPrompt(Some(sealed)))
}

/// The settings of an organization that nobody else changes until the transaction ends, and its prompt, which
/// stays sealed.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    org_id: &str,
) -> Result<Option<(Settings, SealedPrompt)>, StoreError> {
    let sql = "UPDATE organizations SET updated_at = updated_at WHERE id = $1";
    if tx.cx.execute(sql, args![org_id]).await? == 0 {
        return Ok(None);
    }
    let sql = concat!(
        "SELECT ",
        organization_columns!(),
        " FROM organizations o WHERE o.id = $1"
    );
    let stored = tx.cx.one(sql, args![org_id], from_row).await?;
    Ok(stored.map(|stored| (stored.organization.settings, SealedPrompt(stored.prompt))))
}

/// Replaces the organization's own settings, with a prompt that was sealed before.
///
/// # Errors
/// [`StoreError::Missing`] for an unknown organization.
pub async fn put_settings(
    tx: &mut Transaction<'_>,
    org_id: &str,
    settings: Settings,
    prompt: SealedPrompt,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Settings {
        name,
        phi_mode,
        phi_restore,
        ai_paused,
        premium_models,
        default_system_prompt: _,
        per_request_max_tokens,
        features,
        webhook_payload,
        conversation_days,
        audit_days,
    } = settings;
    tx.cx.execute_one(
        "organization",
        "UPDATE organizations SET name = $2, phi_mode = $3, phi_restore = $4, ai_paused = $5, \
         premium_models = $6, default_system_prompt = $7, per_request_max_tokens = $8, features = $9, \
         webhook_payload = $10, conversation_days = $11, audit_days = $12, updated_at = $13 WHERE id = $1",
        args![
            org_id,
            name,
            phi_mode.word(),
            phi_restore,
            ai_paused,
            &premium_models[..],
            prompt.0,
            per_request_max_tokens,
            &features_json(&features),
            webhook_payload.word(),
            conversation_days,
            audit_days,
            now,
        ],
    )
    .await
}

/// Replaces what the operator has agreed with an organization, and writes this row.
///
/// # Errors
/// [`StoreError::Missing`] for an unknown organization.
pub async fn save_plan(
    store: &Store,
    org_id: &str,
    plan: &Plan,
    row: &audit::Row,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (id, row) = (org_id.to_owned(), row.arguments()?);
    let Plan {
        tier,
        monthly_credits,
        evaluation_ends_at,
        per_minute,
        per_day,
    } = plan.clone();
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                cx.execute_one(
                    "organization",
                    "UPDATE organizations SET plan_tier = $2, monthly_credits_micro = $3, \
                     evaluation_ends_at = $4, per_minute = $5, per_day = $6, updated_at = $7 WHERE id = $1",
                    args![id, tier.word(), monthly_credits, evaluation_ends_at, per_minute, per_day, now],
                )
                .await?;
                audit::insert(cx, &row).await
            })
        })
        .await
}

/// Keeps others from adding to what this organization has, for the rest of the transaction: two that count or read the
/// same cannot both go by it. An update that changes nothing holds the row on both engines alike.
///
/// # Errors
/// Those of the database.
pub(crate) async fn hold(tx: &mut Transaction<'_>, org_id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE organizations SET updated_at = updated_at WHERE id = $1";
    tx.cx.execute(sql, args![org_id]).await.map(drop)
}

/// A row whose prompt is still sealed.
pub(crate) struct Stored {
    organization: Organization,
    prompt: Option<Vec<u8>>,
}

/// Reads the columns of `organization_columns!`.
pub(crate) fn from_row(row: &Row) -> Result<Stored, StoreError> {
    let corrupt = |column| StoreError::Corrupt { column };
    let anchor_day: i64 = row.get("cycle_anchor_day")?;
    let organization = Organization {
        id: row.get("org_id")?,
        slug: row.get("slug")?,
        default_project_id: row.get("default_project_id")?,
        plan: Plan {
            tier: row.word("plan_tier", Tier::parse)?,
            monthly_credits: row.get("monthly_credits_micro")?,
            evaluation_ends_at: row.get("evaluation_ends_at")?,
            per_minute: row.get("org_per_minute")?,
            per_day: row.get("per_day")?,
        },
        cycle_anchor_day: i8::try_from(anchor_day).map_err(|_| corrupt("cycle_anchor_day"))?,
        cycle_timezone: row.get("cycle_timezone")?,
        settings: Settings {
            name: row.get("org_name")?,
            phi_mode: row.word("phi_mode", PhiMode::parse)?,
            phi_restore: row.get("phi_restore")?,
            ai_paused: row.get("ai_paused")?,
            premium_models: row.get("premium_models")?,
            default_system_prompt: None,
            per_request_max_tokens: row.get("per_request_max_tokens")?,
            features: features_from(&row.get("features")?).ok_or(corrupt("features"))?,
            webhook_payload: row.word("webhook_payload", WebhookPayload::parse)?,
            conversation_days: row.get("conversation_days")?,
            audit_days: row.get("audit_days")?,
        },
        created_at: row.get("org_created_at")?,
        updated_at: row.get("org_updated_at")?,
    };
    Ok(Stored {
        organization,
        prompt: row.get("default_system_prompt")?,
    })
}

/// Opens what is sealed in a row.
pub(crate) async fn open(store: &Store, stored: Stored) -> Result<Organization, StoreError> {
    let Stored {
        mut organization,
        prompt,
    } = stored;
    if let Some(sealed) = prompt {
        let key = org_key::opening(store, &organization.id, &sealed).await?;
        let text = seal::open_text(&key, prompt_place(&organization.id), &sealed)?;
        organization.settings.default_system_prompt = Some(text);
    }
    Ok(organization)
}

fn prompt_place(org_id: &str) -> Place<'_> {
    Place {
        table: "organizations",
        row_id: org_id,
        column: "default_system_prompt",
        org_id,
    }
}

fn features_json(features: &BTreeMap<String, bool>) -> Value {
    let pairs = features
        .iter()
        .map(|(name, on)| (name.clone(), Value::from(*on)));
    Value::Object(Map::from_iter(pairs))
}

fn features_from(value: &Value) -> Option<BTreeMap<String, bool>> {
    value
        .as_object()?
        .iter()
        .map(|(name, on)| Some((name.clone(), on.as_bool()?)))
        .collect()
}
