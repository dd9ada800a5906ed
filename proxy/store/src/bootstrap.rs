//! A new organization with everything that a first request needs, in one transaction: owner, default project,
//! agreement and API key.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use svc_core::id::IdKind;
use svc_core::money::Micro;
use svc_core::plan::Tier;
use svc_core::secret::{self, Mode};
use svc_core::time::Timestamp;

use crate::api_key::{self, ApiKey, Creator};
use crate::baa::{self, Acceptance, Template};
use crate::organization::{self, Draft, Organization, PhiMode, Plan, Settings, WebhookPayload};
use crate::project::{self, Project};
use crate::retention::MIN_AUDIT_DAYS;
use crate::user::{self, Role, User};
use crate::{Store, StoreError};

/// What to create.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    pub name: String,
    pub plan_tier: Tier,
    pub evaluation_ends_at: Option<Timestamp>,
    pub phi_mode: PhiMode,
    /// Ids of the catalogue's premium models that are enabled at once.
    pub premium_models: Vec<String>,
    /// What is switched on or off, by name.
    pub features: BTreeMap<String, bool>,
    /// Output tokens of one request.
    pub per_request_max_tokens: u32,
    pub mode: Mode,
    /// Words of [`svc_core::scope::Scope`].
    pub scopes: Vec<String>,
    /// Requests per minute, of the key and of the organization.
    pub per_minute: Option<u32>,
    /// Credits of one cycle; `None` is what the tier includes.
    pub monthly_credits: Option<Micro>,
    /// The agreement that the owner accepts; `None` leaves the organization without one.
    pub baa: Option<Template>,
    /// The owner's mailbox; a made-up one where the operator names none.
    pub owner_email: Option<String>,
    pub now: Timestamp,
}

/// What was created. The key is shown here and never again.
pub struct Bootstrapped {
    pub organization_id: String,
    /// What names the organization where people type its name.
    pub slug: String,
    pub user_id: String,
    pub project_id: String,
    pub api_key_id: String,
    pub api_key: String,
}

/// Contract 8's example: a year of conversations.
const CONVERSATION_DAYS: u32 = 365;

/// A template from its text.
pub fn template(version: &str, title: &str, body: &str, published_at: Timestamp) -> Template {
    let digest = Sha256::digest(body.as_bytes());
    Template {
        version: version.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        sha256: hex::encode(digest),
        published_at,
        reaccept_by: None,
    }
}

/// Creates the organization. Works beside a running gateway.
///
/// # Errors
/// Those of the database; then nothing was created.
pub async fn bootstrap(store: &Store, request: &Bootstrap) -> Result<Bootstrapped, StoreError> {
    let now = request.now;
    let id = |kind: IdKind| kind.make(now, rand::random());
    let secret_key = secret::api_key(request.mode, || rand::random_range(0..62));
    let organization_id = id(IdKind::Organization);
    let bootstrapped = Bootstrapped {
        slug: slug(&request.name, &organization_id),
        organization_id,
        user_id: id(IdKind::User),
        project_id: id(IdKind::Project),
        api_key_id: id(IdKind::ApiKey),
        api_key: secret_key,
    };
    let organization = Draft::new(store, &organization(request, &bootstrapped))?;
    let user = owner(request, &bootstrapped);
    let project = Project {
        id: bootstrapped.project_id.clone(),
        org_id: bootstrapped.organization_id.clone(),
        name: "default".to_owned(),
        created_at: now,
    };
    let key = key(request, &bootstrapped);
    let digest = secret::digest(&bootstrapped.api_key);
    let agreement = request.baa.as_ref().map(|template| {
        let acceptance = acceptance(template, &user, id(IdKind::BaaAcceptance), now);
        (template.clone(), acceptance)
    });
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                organization::insert(cx, organization).await?;
                user::insert(cx, &user).await?;
                project::insert(cx, &project).await?;
                api_key::insert(cx, &key, &digest).await?;
                if let Some((template, acceptance)) = &agreement {
                    baa::insert_template(cx, template).await?;
                    baa::insert(cx, acceptance).await?;
                }
                Ok(())
            })
        })
        .await?;
    Ok(bootstrapped)
}

fn organization(request: &Bootstrap, ids: &Bootstrapped) -> Organization {
    let Bootstrap {
        name,
        plan_tier,
        evaluation_ends_at,
        phi_mode,
        premium_models,
        features,
        per_request_max_tokens,
        mode: _,
        scopes: _,
        per_minute,
        monthly_credits,
        baa: _,
        owner_email: _,
        now,
    } = request;
    Organization {
        id: ids.organization_id.clone(),
        slug: ids.slug.clone(),
        default_project_id: ids.project_id.clone(),
        plan: Plan {
            tier: *plan_tier,
            monthly_credits: *monthly_credits,
            evaluation_ends_at: *evaluation_ends_at,
            per_minute: *per_minute,
            per_day: None,
        },
        cycle_anchor_day: 1,
        cycle_timezone: "UTC".to_owned(),
        settings: Settings {
            name: name.clone(),
            phi_mode: *phi_mode,
            phi_restore: true,
            ai_paused: false,
            premium_models: premium_models.clone(),
            default_system_prompt: None,
            per_request_max_tokens: *per_request_max_tokens,
            features: features.clone(),
            webhook_payload: WebhookPayload::Thin,
            conversation_days: CONVERSATION_DAYS,
            audit_days: MIN_AUDIT_DAYS,
        },
        created_at: *now,
        updated_at: *now,
    }
}

/// The name in lower case with dashes, made unique by the end of the id (the name need not be).
fn slug(name: &str, organization_id: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter.to_ascii_lowercase(),
            false => '-',
        })
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let mut tail: Vec<char> = organization_id.chars().rev().take(8).collect();
    tail.reverse();
    let tail: String = tail.into_iter().collect::<String>().to_ascii_lowercase();
    format!("{}-{tail}", words.join("-"))
        .trim_start_matches('-')
        .to_owned()
}

fn owner(request: &Bootstrap, ids: &Bootstrapped) -> User {
    User {
        id: ids.user_id.clone(),
        org_id: ids.organization_id.clone(),
        // Reserved by RFC 2606: no mailbox has it.
        email: request
            .owner_email
            .clone()
            .unwrap_or_else(|| format!("owner+{}@example.invalid", ids.organization_id)),
        name: "Owner".to_owned(),
        role: Role::Owner,
        suspended: false,
        mfa_enabled: false,
        created_at: request.now,
        last_login_at: None,
    }
}

fn key(request: &Bootstrap, ids: &Bootstrapped) -> ApiKey {
    ApiKey {
        id: ids.api_key_id.clone(),
        org_id: ids.organization_id.clone(),
        mode: request.mode,
        name: "bootstrap".to_owned(),
        hint: secret::hint(&ids.api_key),
        scopes: request.scopes.clone(),
        default_version: None,
        per_minute: request.per_minute,
        delegating_user_id: Some(ids.user_id.clone()),
        created_by: Creator {
            kind: "user".to_owned(),
            id: ids.user_id.clone(),
        },
        created_at: request.now,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    }
}

fn acceptance(template: &Template, user: &User, id: String, now: Timestamp) -> Acceptance {
    Acceptance {
        id,
        org_id: user.org_id.clone(),
        template_version: template.version.clone(),
        template_sha256: template.sha256.clone(),
        accepted_by_user_id: user.id.clone(),
        signer_name: user.name.clone(),
        signer_title: "Owner".to_owned(),
        signer_email: user.email.clone(),
        accepted_at: now,
        ip: None,
        user_agent: None,
        effective_at: now,
        expires_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_plain_and_unique() {
        let id = "org_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(slug("Mercy Clinic, Inc.", id), "mercy-clinic-inc-q69g5fav");
        assert_eq!(slug("診療所", id), "q69g5fav");
    }
}
