//! The caller: a credential that was found good, with what its organization allows.

use std::collections::BTreeMap;

use svc_core::grant::{self, Grant};
use svc_core::money::Micro;
use svc_core::plan::Tier;
use svc_core::scope::Scope;
use svc_core::secret::Mode;
use svc_core::surface::Surface;
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_store::agent_credential::{self, Source};
pub use svc_store::api_key::DelegatingUser;
use svc_store::api_key::{Creator, Verdict};
use svc_store::audit::ActorKind;
use svc_store::baa;
use svc_store::organization::Organization;
pub use svc_store::organization::{PhiMode, WebhookPayload};

use crate::inside::Person;

use crate::policy::plans::Plans;

/// Everything that the gates ask of a credential and its organization, read in one go and at most two seconds old, or
/// thirty while the store is down (contract 9 and 19.5).
pub struct Caller {
    /// Id of the credential, or of the user where it is a person.
    pub key_id: String,
    /// Prefix and last characters of the key, for audit rows.
    pub key_hint: String,
    pub mode: Mode,
    pub scopes: Vec<Scope>,
    pub default_version: Option<ApiVersion>,
    pub delegating_user: Option<DelegatingUser>,
    pub expires_at: Option<Timestamp>,
    /// As it was noted when the verdict was read.
    pub last_used_at: Option<Timestamp>,
    /// Requests per minute of this key; `None` is the policy's default.
    pub per_minute: Option<u32>,
    /// What holds for credentials of agents alone.
    pub agent: Option<Agent>,
    /// Whether it is a person at a page, and no credential at all.
    pub is_person: bool,

    pub organization_id: String,
    pub default_project_id: String,
    /// Requests per minute; `None` is the policy's default.
    pub organization_per_minute: Option<u32>,
    /// Requests per UTC day; `None` is the policy's default.
    pub organization_per_day: Option<u32>,
    pub ai_paused: bool,
    pub phi_mode: PhiMode,
    /// Whether replies get the values in the place of placeholders (contract 21).
    pub phi_restore: bool,
    /// Catalogue ids of the premium models that are enabled.
    pub premium_models: Vec<String>,
    /// Features that the organization has switched on or off by its own decision.
    pub features: BTreeMap<String, bool>,
    /// Operator text, set before every conversation that names no system prompt.
    pub default_system_prompt: Option<String>,
    /// Output tokens of one request; what asks for more gets this (contract 21).
    pub per_request_max_tokens: u32,
    pub webhook_payload: WebhookPayload,
    pub plan_tier: Tier,
    pub evaluation_ends_at: Option<Timestamp>,
    /// Credits of one cycle; `None` is the plan's.
    pub monthly_credits: Option<Micro>,
    /// Day of the month on which a cycle starts.
    pub cycle_anchor_day: i8,
    /// Whether inference is allowed (contract 13).
    pub baa_in_force: bool,

    pub buckets: Buckets,
}

/// The agent behind a credential (contract 10).
pub struct Agent {
    pub id: String,
    /// What the credential's grants, its agent's and those of all agents that it acts for allow.
    pub grants: Vec<Grant>,
    /// Catalogue id, for requests that name no model.
    pub default_model: Option<String>,
    /// Catalogue ids that it and all agents that it acts for allow; `None`: any.
    pub allowed_models: Option<Vec<String>>,
    /// Whom it speaks with; only such a credential can own stored conversations.
    pub runtime_user: Option<String>,
    /// Whether a user gave it to an application, on a page that says all that it is for (contract 16.3).
    pub is_of_application: bool,
    /// Requests in flight; `None` is the policy's default.
    pub concurrency: Option<u32>,
}

impl Agent {
    /// Every way in which it may use the scope; one of them has to allow a request.
    pub fn grants_of(&self, scope: Scope) -> impl Iterator<Item = &Grant> {
        self.grants.iter().filter(move |grant| grant.scope == scope)
    }

    /// Whether any of these ways leads to the model.
    pub fn may_use(&self, scope: Scope, model: &str) -> bool {
        let mut grants = self.grants_of(scope);
        self.may_have(model) && grants.any(|grant| grant.constraints.allows_model(model))
    }

    /// Whether one of these ways leads to the model on this surface.
    pub fn may_use_on(&self, scope: Scope, surface: Surface, model: &str) -> bool {
        let mut grants = self.grants_of(scope).map(|grant| &grant.constraints);
        self.may_have(model)
            && grants.any(|grant| grant.allows_surface(surface) && grant.allows_model(model))
    }

    fn may_have(&self, model: &str) -> bool {
        let models = self.allowed_models.as_ref();
        models.is_none_or(|models| models.iter().any(|id| id == model))
    }
}

/// Names of this caller's rate-limit buckets, made once.
pub struct Buckets {
    /// Of the credential, per minute.
    pub key: String,
    /// Of the organization in one mode, per minute.
    pub organization: String,
    /// Of the organization in one mode, per UTC day.
    pub organization_day: String,
}

impl Caller {
    /// Which kind of credential it is, as audit rows and the ledger say.
    pub fn actor(&self) -> ActorKind {
        if self.is_person {
            ActorKind::User
        } else if self.agent.is_some() {
            ActorKind::AgentCredential
        } else {
            ActorKind::ApiKey
        }
    }

    /// Who has made what this caller makes.
    pub fn creator(&self) -> Creator {
        Creator {
            kind: self.actor().word().to_owned(),
            id: self.key_id.clone(),
        }
    }

    /// Who answers for what this caller makes: the user that its credential acts for, else the credential itself.
    pub fn answerable(&self) -> Creator {
        match &self.delegating_user {
            Some(user) => Creator {
                kind: ActorKind::User.word().to_owned(),
                id: user.id.clone(),
            },
            None => self.creator(),
        }
    }

    /// Whether the organization has switched the feature on.
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.get(name) == Some(&true)
    }

    /// Whether the organization has switched the feature off.
    pub fn has_switched_off(&self, name: &str) -> bool {
        self.features.get(name) == Some(&false)
    }

    /// Whom an agent's credential speaks with.
    pub fn runtime_user(&self) -> Option<&str> {
        self.agent.as_ref()?.runtime_user.as_deref()
    }

    /// Credits of one cycle. A tier that the policy does not know includes nothing: metering fails closed.
    pub fn allotment(&self, plans: &Plans) -> Micro {
        let plan = || {
            plans
                .find(self.plan_tier)
                .map_or(Micro::ZERO, |plan| plan.monthly_credits)
        };
        self.monthly_credits.unwrap_or_else(plan)
    }
}

/// What a credential and its organization say, before anything is made of it.
struct Credential {
    id: String,
    hint: String,
    mode: Mode,
    scopes: Vec<Scope>,
    default_version: Option<ApiVersion>,
    delegating_user: Option<DelegatingUser>,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    per_minute: Option<u32>,
    agent: Option<Agent>,
}

impl Caller {
    fn new(credential: Credential, organization: Organization, baa: baa::Standing) -> Self {
        let Credential {
            id,
            hint,
            mode,
            scopes,
            default_version,
            delegating_user,
            expires_at,
            last_used_at,
            per_minute,
            agent,
        } = credential;
        let word = mode.word();
        let buckets = Buckets {
            key: format!("key:{id}"),
            organization: format!("org:{}:{word}", organization.id),
            organization_day: format!("day:{}:{word}", organization.id),
        };
        let settings = organization.settings;
        Self {
            key_id: id,
            key_hint: hint,
            mode,
            scopes,
            default_version,
            delegating_user,
            expires_at,
            last_used_at,
            per_minute,
            agent,
            is_person: false,
            organization_id: organization.id,
            default_project_id: organization.default_project_id,
            organization_per_minute: organization.plan.per_minute,
            organization_per_day: organization.plan.per_day,
            ai_paused: settings.ai_paused,
            phi_mode: settings.phi_mode,
            phi_restore: settings.phi_restore,
            premium_models: settings.premium_models,
            features: settings.features,
            default_system_prompt: settings
                .default_system_prompt
                .map(|text| text.into_string()),
            per_request_max_tokens: settings.per_request_max_tokens,
            webhook_payload: settings.webhook_payload,
            plan_tier: organization.plan.tier,
            evaluation_ends_at: organization.plan.evaluation_ends_at,
            monthly_credits: organization.plan.monthly_credits,
            cycle_anchor_day: organization.cycle_anchor_day,
            baa_in_force: baa.allows_inference(),
            buckets,
        }
    }
}

impl Caller {
    /// Somebody at a page, with the scopes that their role has for it.
    pub(crate) fn of_person(person: Person<'_>, scopes: &[Scope]) -> Self {
        let Person {
            user,
            organization,
            baa,
            mode,
        } = person;
        let credential = Credential {
            id: user.id.clone(),
            hint: String::new(),
            mode,
            scopes: scopes.to_vec(),
            default_version: None,
            delegating_user: Some(DelegatingUser {
                id: user.id.clone(),
                role: user.role,
                suspended: user.suspended,
            }),
            expires_at: None,
            last_used_at: None,
            per_minute: None,
            agent: None,
        };
        Self {
            is_person: true,
            ..Self::new(credential, organization.clone(), baa)
        }
    }
}

impl From<Verdict> for Caller {
    fn from(verdict: Verdict) -> Self {
        let Verdict {
            key,
            delegating_user,
            organization,
            baa,
        } = verdict;
        let scopes = key.scopes.iter().filter_map(|word| Scope::parse(word));
        let credential = Credential {
            id: key.id,
            hint: key.hint,
            mode: key.mode,
            scopes: scopes.collect(),
            default_version: key.default_version.as_deref().and_then(ApiVersion::parse),
            delegating_user,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            per_minute: key.per_minute,
            agent: None,
        };
        Self::new(credential, organization, baa)
    }
}

impl From<agent_credential::Verdict> for Caller {
    fn from(verdict: agent_credential::Verdict) -> Self {
        let agent_credential::Verdict {
            credential,
            issuer: _,
            line,
            delegating_user,
            organization,
            baa,
        } = verdict;
        let grants = grant::held(&credential.scope_grants, line.scope_grants());
        let mut scopes: Vec<Scope> = Vec::new();
        for grant in &grants {
            if !scopes.contains(&grant.scope) {
                scopes.push(grant.scope);
            }
        }
        let credential = Credential {
            id: credential.id,
            hint: credential.hint,
            mode: credential.mode,
            scopes,
            default_version: None,
            delegating_user,
            expires_at: Some(credential.expires_at),
            last_used_at: credential.last_used_at,
            per_minute: credential.per_minute,
            agent: Some(Agent {
                allowed_models: line.allowed_models(),
                id: line.agent.id,
                grants,
                default_model: line.agent.writable.default_model,
                runtime_user: credential.runtime_user,
                is_of_application: credential.source == Source::Oauth,
                concurrency: credential.concurrency,
            }),
        };
        Self::new(credential, organization, baa)
    }
}
