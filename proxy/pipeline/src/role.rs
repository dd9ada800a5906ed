//! What the roles of people allow (contract 7): which scopes they have in pages, for reading and for changing.
//!
//! A page asks a route of the API for what it shows and does, and the route asks for its scope and gate as ever; a
//! role is the scopes of whoever is signed in.

use http::Method;
use svc_core::fault::{Code, Fault};
use svc_core::scope::Scope;
use svc_store::user::Role;

use crate::policy::pipelines::{Access, Gate, Route};

/// Everything but owners and admins have to themselves: keys, budget, agreements, the organization, applications and
/// the export of a person.
const WORK: &[Scope] = &[
    Scope::AiChat,
    Scope::ControlRead,
    Scope::ControlWebhooks,
    Scope::ControlWorkflows,
    Scope::ControlIntegrations,
    Scope::ControlAgents,
    Scope::ControlApps,
];

/// Whoever looks after the rules sees everything that is kept, and changes nothing.
const OVERSIGHT: &[Scope] = &[
    Scope::ControlRead,
    Scope::ControlWebhooks,
    Scope::ControlIntegrations,
    Scope::OrgEndUsersRead,
    Scope::ControlApps,
    Scope::ControlOauth,
];

const VIEW: &[Scope] = &[Scope::ControlRead];

/// The audit log is for those who answer for it.
const AUDIT_LOG: &str = "/v1/audit";

/// The scopes of a role for requests of this method.
pub fn scopes(role: Role, method: &Method) -> &'static [Scope] {
    let reads = reads(method);
    match role {
        Role::Owner | Role::Admin => Scope::ALL,
        Role::Compliance if reads => OVERSIGHT,
        Role::Member => WORK,
        Role::Viewer if reads => VIEW,
        Role::Compliance | Role::Viewer => &[],
    }
}

/// Whether a role may ask a route at all.
pub fn may(role: Role, route: &Route) -> bool {
    let Access::Credential { scope, gate } = route.access else {
        return false;
    };
    let is_kept_from =
        route.path.starts_with(AUDIT_LOG) && matches!(role, Role::Member | Role::Viewer);
    !is_kept_from
        && scopes(role, &route.method).contains(&scope)
        && (gate != Gate::OrgAdmin || role.is_org_admin() || is_overseen(role, &route.method))
}

/// Contract 7: whoever looks after the rules reads everything, what asks for an org admin too.
fn is_overseen(role: Role, method: &Method) -> bool {
    role == Role::Compliance && reads(method)
}

fn reads(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// What somebody is told whose role does not allow what they ask.
pub fn not_allowed() -> Fault {
    Fault::new(Code::OrgAdminRequired, "Your role does not allow this.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_looks_changes_nothing() {
        for role in [Role::Compliance, Role::Viewer] {
            for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE] {
                assert!(scopes(role, &method).is_empty(), "{role:?} {method}");
            }
            assert!(scopes(role, &Method::GET).contains(&Scope::ControlRead));
        }
    }

    #[test]
    fn nobody_but_admins_has_keys_or_the_organization() {
        for role in Role::ALL {
            for scope in [Scope::ControlKeys, Scope::ControlOrg, Scope::ControlUsage] {
                let has = scopes(*role, &Method::POST).contains(&scope);
                assert_eq!(has, role.is_org_admin(), "{role:?} {scope:?}");
            }
        }
    }
}
