//! The control plane: one file per resource, one table of endpoints.
//!
//! An endpoint reads its input strictly, decides, and either answers ([`endpoint::Read`]) or says what is to be
//! done in one transaction ([`endpoint::Write`]), to which the frame adds the audit row and the response that an
//! idempotency key will get again (contract 4 and 19.1). Knows no SQL and no pingora.

mod agent_credentials;
mod agents;
pub mod agreement;
mod api_keys;
mod apps;
mod audit;
pub mod baa;
mod bindings;
mod budget;
mod call;
mod condition;
mod cursor;
mod egress;
mod end_users;
mod endpoint;
mod entities;
mod inbound_webhooks;
mod incoming;
mod input;
mod integrations;
mod lines;
pub mod oauth;
mod organizations;
mod provider_status;
mod query;
mod record_events;
mod records;
mod usage;
mod webhooks;

use http::Method;
use svc_core::scope::Scope;
use svc_pipeline::handler::Handler;
use svc_pipeline::policy::pipelines::{Access, Endpoint, Gate};

use egress::Egress;
use endpoint::{Read, Watched, Write};
use incoming::Incoming;
use oauth::applications;

/// Where calls to other services come in.
const EGRESS: &str = "/v1/egress/{project}/{alias}/{*path}";

const ENTITY: &str = "/v1/apps/{app_id}/entities/{entity_key}";
const RECORDS: &str = "/v1/apps/{app_id}/entities/{entity_key}/records";
const RECORD: &str = "/v1/apps/{app_id}/entities/{entity_key}/records/{record_id}";
const INBOUND: &str = "/v1/apps/{app_id}/inbound-webhooks";
const INBOUND_ONE: &str = "/v1/apps/{app_id}/inbound-webhooks/{id}";

/// Every endpoint of the control plane.
#[rustfmt::skip]
pub static ENDPOINTS: &[Endpoint] = &[
    silent(Method::GET, "/v1/api_keys", Scope::ControlRead, &Read(api_keys::list)),
    endpoint(Method::POST, "/v1/api_keys", Scope::ControlKeys, Gate::Scope, "api_key", &Write(api_keys::create)),
    endpoint(Method::DELETE, "/v1/api_keys/{id}", Scope::ControlKeys, Gate::Scope, "api_key", &Write(api_keys::revoke)),

    silent(Method::GET, "/v1/agents", Scope::ControlRead, &Read(agents::list)),
    endpoint(Method::POST, "/v1/agents", Scope::ControlAgents, Gate::Scope, "agent", &Write(agents::create)),
    silent(Method::GET, "/v1/agents/{id}", Scope::ControlRead, &Read(agents::read)),
    endpoint(Method::PATCH, "/v1/agents/{id}", Scope::ControlAgents, Gate::Scope, "agent", &Write(agents::update)),
    endpoint(Method::POST, "/v1/agents/{id}/archive", Scope::ControlAgents, Gate::Scope, "agent", &Write(agents::archive)),
    endpoint(Method::POST, "/v1/agents/{id}/reactivate", Scope::ControlAgents, Gate::Scope, "agent", &Write(agents::reactivate)),

    silent(Method::GET, "/v1/agents/{id}/credentials", Scope::ControlRead, &Read(agent_credentials::list)),
    endpoint(Method::POST, "/v1/agents/{id}/credentials", Scope::ControlAgents, Gate::User, "agent_credential", &Write(agent_credentials::issue)),
    endpoint(Method::POST, "/v1/agents/{id}/credentials/{credential_id}/revoke", Scope::ControlAgents, Gate::Scope, "agent_credential", &Write(agent_credentials::revoke)),

    silent(Method::GET, "/v1/integrations", Scope::ControlIntegrations, &Read(integrations::list)),
    endpoint(Method::POST, "/v1/integrations", Scope::ControlIntegrations, Gate::OrgAdmin, "integration", &Write(integrations::create)),
    silent(Method::GET, "/v1/integrations/{id}", Scope::ControlIntegrations, &Read(integrations::read)),
    endpoint(Method::DELETE, "/v1/integrations/{id}", Scope::ControlIntegrations, Gate::OrgAdmin, "integration", &Write(integrations::revoke)),
    endpoint(Method::POST, "/v1/integrations/{id}/rotate-secret", Scope::ControlIntegrations, Gate::OrgAdmin, "integration", &Write(integrations::rotate_secret)),
    silent(Method::GET, "/v1/integrations/{id}/bindings", Scope::ControlIntegrations, &Read(bindings::list)),
    endpoint(Method::POST, "/v1/integrations/{id}/bindings", Scope::ControlIntegrations, Gate::Scope, "integration_binding", &Write(bindings::create)),
    endpoint(Method::DELETE, "/v1/integrations/{id}/bindings/{binding_id}", Scope::ControlIntegrations, Gate::Scope, "integration_binding", &Write(bindings::remove)),
    endpoint(Method::GET, EGRESS, Scope::ControlIntegrations, Gate::Scope, "integration", &Egress),
    endpoint(Method::POST, EGRESS, Scope::ControlIntegrations, Gate::Scope, "integration", &Egress),
    endpoint(Method::PUT, EGRESS, Scope::ControlIntegrations, Gate::Scope, "integration", &Egress),
    endpoint(Method::PATCH, EGRESS, Scope::ControlIntegrations, Gate::Scope, "integration", &Egress),
    endpoint(Method::DELETE, EGRESS, Scope::ControlIntegrations, Gate::Scope, "integration", &Egress),

    silent(Method::GET, "/v1/apps", Scope::ControlApps, &Read(apps::list)),
    endpoint(Method::POST, "/v1/apps", Scope::ControlApps, Gate::Scope, "app", &Write(apps::create)),
    silent(Method::GET, "/v1/apps/{app_id}", Scope::ControlApps, &Read(apps::read)),
    silent(Method::GET, "/v1/apps/{app_id}/entities", Scope::ControlApps, &Read(entities::list)),
    silent(Method::GET, ENTITY, Scope::ControlApps, &Read(entities::read)),
    endpoint(Method::PUT, ENTITY, Scope::ControlApps, Gate::Scope, "entity", &Write(entities::put)),
    endpoint(Method::GET, RECORDS, Scope::ControlApps, Gate::Scope, "record", &Watched { answer: records::list, happened: "listed" }),
    endpoint(Method::POST, RECORDS, Scope::ControlApps, Gate::Scope, "record", &Write(records::create)),
    endpoint(Method::POST, "/v1/apps/{app_id}/entities/{entity_key}/records/bulk", Scope::ControlApps, Gate::Scope, "record", &Write(records::create_many)),
    endpoint(Method::GET, RECORD, Scope::ControlApps, Gate::Scope, "record", &Watched { answer: records::read, happened: "read" }),
    endpoint(Method::PATCH, RECORD, Scope::ControlApps, Gate::Scope, "record", &Write(records::update)),
    endpoint(Method::DELETE, RECORD, Scope::ControlApps, Gate::Scope, "record", &Write(records::remove)),
    silent(Method::GET, INBOUND, Scope::ControlApps, &Read(inbound_webhooks::list)),
    endpoint(Method::POST, INBOUND, Scope::ControlApps, Gate::Scope, "inbound_webhook", &Write(inbound_webhooks::create)),
    silent(Method::GET, INBOUND_ONE, Scope::ControlApps, &Read(inbound_webhooks::read)),
    endpoint(Method::PATCH, INBOUND_ONE, Scope::ControlApps, Gate::Scope, "inbound_webhook", &Write(inbound_webhooks::update)),
    endpoint(Method::DELETE, INBOUND_ONE, Scope::ControlApps, Gate::Scope, "inbound_webhook", &Write(inbound_webhooks::remove)),
    endpoint(Method::POST, "/v1/apps/{app_id}/inbound-webhooks/{id}/rotate-token", Scope::ControlApps, Gate::Scope, "inbound_webhook", &Write(inbound_webhooks::rotate_token)),
    own(Method::POST, "/api/svc/v1/incoming/{token}", "incoming", &Incoming),

    to_admins(Method::GET, "/v1/oauth/applications", Scope::ControlOauth, &Read(applications::list)),
    endpoint(Method::POST, "/v1/oauth/applications", Scope::ControlOauth, Gate::OrgAdmin, "oauth_application", &Write(applications::create)),
    to_admins(Method::GET, "/v1/oauth/applications/{id}", Scope::ControlOauth, &Read(applications::read)),
    endpoint(Method::PATCH, "/v1/oauth/applications/{id}", Scope::ControlOauth, Gate::OrgAdmin, "oauth_application", &Write(applications::update)),
    endpoint(Method::POST, "/v1/oauth/applications/{id}/rotate-secret", Scope::ControlOauth, Gate::OrgAdmin, "oauth_application", &Write(applications::rotate_secret)),
    endpoint(Method::POST, "/v1/oauth/applications/{id}/revoke", Scope::ControlOauth, Gate::OrgAdmin, "oauth_application", &Write(applications::revoke)),
    open(Method::GET, "/.well-known/oauth-authorization-server", &oauth::Metadata),
    open(Method::POST, oauth::TOKEN, &oauth::Token),
    open(Method::POST, oauth::INTROSPECT, &oauth::Introspection),
    silent(Method::GET, "/v1/webhooks", Scope::ControlWebhooks, &Read(webhooks::list)),
    endpoint(Method::POST, "/v1/webhooks", Scope::ControlWebhooks, Gate::Scope, "webhook_endpoint", &Write(webhooks::create)),
    silent(Method::GET, "/v1/webhooks/{id}", Scope::ControlWebhooks, &Read(webhooks::read)),
    endpoint(Method::PATCH, "/v1/webhooks/{id}", Scope::ControlWebhooks, Gate::Scope, "webhook_endpoint", &Write(webhooks::update)),
    endpoint(Method::DELETE, "/v1/webhooks/{id}", Scope::ControlWebhooks, Gate::Scope, "webhook_endpoint", &Write(webhooks::remove)),
    endpoint(Method::POST, "/v1/webhooks/{id}/rotate-secret", Scope::ControlWebhooks, Gate::Scope, "webhook_endpoint", &Write(webhooks::rotate_secret)),
    silent(Method::GET, "/v1/webhooks/deliveries", Scope::ControlWebhooks, &Read(webhooks::list_deliveries)),
    endpoint(Method::POST, "/v1/webhooks/deliveries/bulk-replay", Scope::ControlWebhooks, Gate::Scope, "webhook_delivery", &Write(webhooks::bulk_replay)),
    silent(Method::GET, "/v1/webhooks/deliveries/{id}", Scope::ControlWebhooks, &Read(webhooks::read_delivery)),
    silent(Method::GET, "/v1/webhooks/bulk-replays/{id}", Scope::ControlWebhooks, &Read(webhooks::read_replay)),

    silent(Method::GET, "/v1/usage", Scope::ControlRead, &Read(usage::read)),
    silent(Method::GET, "/v1/usage/budget", Scope::ControlRead, &Read(budget::read)),
    endpoint(Method::PATCH, "/v1/usage/budget", Scope::ControlUsage, Gate::OrgAdmin, "budget", &Write(budget::update)),

    endpoint(Method::GET, "/v1/audit", Scope::ControlRead, Gate::Scope, "audit", &audit::Log),
    silent(Method::GET, "/v1/audit/checkpoint", Scope::ControlRead, &audit::proof::Newest),
    silent(Method::GET, "/v1/audit/consistency", Scope::ControlRead, &Read(audit::proof::consistency)),
    endpoint(Method::GET, "/v1/audit/{id}/proof", Scope::ControlRead, Gate::Scope, "audit", &Watched { answer: audit::proof::inclusion, happened: "queried" }),

    silent(Method::GET, "/v1/provider-status", Scope::ControlRead, &Read(provider_status::read)),

    silent(Method::GET, "/v1/compliance/baa", Scope::ControlRead, &Read(baa::status)),
    silent(Method::GET, "/v1/compliance/baa/acceptances", Scope::ControlRead, &Read(baa::list)),
    endpoint(Method::POST, "/v1/compliance/baa/acceptances", Scope::ControlCompliance, Gate::OrgAdmin, "baa", &Write(baa::accept)),
    silent(Method::GET, "/v1/compliance/baa/acceptances/{id}", Scope::ControlRead, &Read(baa::read)),
    endpoint(Method::GET, "/v1/compliance/baa/acceptances/{id}/download", Scope::ControlRead, Gate::Scope, "baa", &Watched { answer: baa::download, happened: "downloaded" }),

    endpoint(Method::GET, "/v1/orgs/{organization}/end-users/{runtime_user}/export", Scope::OrgEndUsersRead, Gate::Scope, "end_user", &Watched { answer: end_users::export, happened: "exported" }),
    silent(Method::GET, "/v1/orgs/{organization}", Scope::ControlRead, &Read(organizations::read)),
    endpoint(Method::PATCH, "/v1/orgs/{organization}", Scope::ControlOrg, Gate::OrgAdmin, "organization", &Write(organizations::update)),
];

/// A read that leaves no audit row (contract 14.2).
const fn silent(
    method: Method,
    path: &'static str,
    scope: Scope,
    handler: &'static dyn Handler,
) -> Endpoint {
    unaudited(method, path, scope, Gate::Scope, handler)
}

/// A read for org admins alone that leaves no audit row.
const fn to_admins(
    method: Method,
    path: &'static str,
    scope: Scope,
    handler: &'static dyn Handler,
) -> Endpoint {
    unaudited(method, path, scope, Gate::OrgAdmin, handler)
}

const fn unaudited(
    method: Method,
    path: &'static str,
    scope: Scope,
    gate: Gate,
    handler: &'static dyn Handler,
) -> Endpoint {
    Endpoint {
        method,
        path,
        access: Access::Credential { scope, gate },
        audited_as: None,
        handler,
    }
}

/// An endpoint whose callers are known otherwise than by a credential, and which writes its own audit rows.
const fn open(method: Method, path: &'static str, handler: &'static dyn Handler) -> Endpoint {
    Endpoint {
        method,
        path,
        access: Access::Own,
        audited_as: None,
        handler,
    }
}

const fn endpoint(
    method: Method,
    path: &'static str,
    scope: Scope,
    gate: Gate,
    family: &'static str,
    handler: &'static dyn Handler,
) -> Endpoint {
    Endpoint {
        method,
        path,
        access: Access::Credential { scope, gate },
        audited_as: Some(family),
        handler,
    }
}

/// An endpoint that knows its callers in a way of its own.
const fn own(
    method: Method,
    path: &'static str,
    family: &'static str,
    handler: &'static dyn Handler,
) -> Endpoint {
    Endpoint {
        method,
        path,
        access: Access::Own,
        audited_as: Some(family),
        handler,
    }
}
