//! What stands around the content of a page: who is there, what they look at, and where they may go.

use http::Method;
use svc_core::fault::Fault;
use svc_core::scope::Scope;
use svc_core::secret::Mode;
use svc_pipeline::caller::Caller;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::policy::plans::Plans;
use svc_pipeline::{feature, inside, role};
use svc_store::user::Role;

use crate::form::Fields;
use crate::page::users;
use crate::session::{Visitor, token};

/// A way to a page.
struct Entry {
    path: &'static str,
    label: &'static str,
    needs: Needs,
}

/// Who has such a page.
enum Needs {
    /// Whoever is signed in.
    Nothing,
    /// Whoever may ask the API for this.
    Api(&'static str),
    /// As [`Needs::Api`], where the organization has the feature too.
    Feature(&'static str, Gate),
    /// Whoever the rule of the page lets in.
    Role(fn(Role) -> bool),
}

type Gate = fn(&Caller, &Plans) -> Result<(), Fault>;

/// Every page that has a place in the menu, in its order.
#[rustfmt::skip]
static ENTRIES: &[Entry] = &[
    Entry { path: "/ui", label: "Overview", needs: Needs::Api("/v1/usage") },
    Entry { path: "/ui/keys", label: "API keys", needs: Needs::Api("/v1/api_keys") },
    Entry { path: "/ui/agents", label: "Agents", needs: Needs::Api("/v1/agents") },
    Entry { path: "/ui/usage", label: "Usage and budget", needs: Needs::Api("/v1/usage") },
    Entry { path: "/ui/phi", label: "PHI activity", needs: Needs::Api("/v1/audit") },
    Entry { path: "/ui/audit", label: "Audit log", needs: Needs::Api("/v1/audit") },
    Entry { path: "/ui/integrations", label: "Integrations", needs: Needs::Feature("/v1/integrations", feature::integrations) },
    Entry { path: "/ui/webhooks", label: "Webhooks", needs: Needs::Feature("/v1/webhooks", feature::webhooks) },
    Entry { path: "/ui/deliveries", label: "Deliveries", needs: Needs::Feature("/v1/webhooks/deliveries", feature::webhooks) },
    Entry { path: "/ui/apps", label: "Records", needs: Needs::Api("/v1/apps") },
    Entry { path: "/ui/applications", label: "Applications", needs: Needs::Api("/v1/oauth/applications") },
    Entry { path: "/ui/playground", label: "Playground", needs: Needs::Role(may_chat) },
    Entry { path: "/ui/agreement", label: "Agreement", needs: Needs::Api("/v1/compliance/baa") },
    Entry { path: "/ui/users", label: "Users", needs: Needs::Role(users::may_see) },
    Entry { path: "/ui/settings", label: "Organization", needs: Needs::Api("/v1/usage") },
    Entry { path: "/ui/models", label: "Models and providers", needs: Needs::Api("/v1/provider-status") },
    Entry { path: "/ui/plugins", label: "Plugins", needs: Needs::Api("/v1/provider-status") },
    Entry { path: "/ui/policies", label: "Policies", needs: Needs::Api("/v1/provider-status") },
    Entry { path: "/ui/account", label: "Your account", needs: Needs::Nothing },
];

/// Whoever may speak with a model.
fn may_chat(role: Role) -> bool {
    role::scopes(role, &Method::POST).contains(&Scope::AiChat)
}

/// An entry as the page shows it.
pub(crate) struct Item {
    pub(crate) path: &'static str,
    pub(crate) label: &'static str,
    pub(crate) is_here: bool,
}

/// The frame around the content of one page.
pub(crate) struct Layout {
    pub(crate) title: &'static str,
    pub(crate) person: String,
    pub(crate) organization: String,
    pub(crate) is_test: bool,
    pub(crate) csrf: String,
    /// What tells the forms of this page from those of the page as it is shown again ([`Fields::once`]).
    pub(crate) once: String,
    /// This page.
    pub(crate) here: String,
    pub(crate) items: Vec<Item>,
    /// What the form that led here has done.
    pub(crate) notice: Option<&'static str>,
}

impl Layout {
    pub(crate) fn new(exchange: &Exchange, visitor: &Visitor, title: &'static str) -> Self {
        let here = exchange.head.path.as_str();
        let role = visitor.user.role;
        let may_read = |path| visitor.may(exchange, &Method::GET, path);
        let is_open = |entry: &&Entry| match entry.needs {
            Needs::Nothing => true,
            Needs::Api(path) => may_read(path),
            Needs::Feature(path, gate) => {
                may_read(path) && inside::offers(&exchange.policy, visitor.person(), gate)
            }
            Needs::Role(is_open) => is_open(role),
        };
        let open = ENTRIES.iter().filter(is_open);
        Self {
            title,
            person: visitor.user.name.clone(),
            organization: visitor.organization.settings.name.clone(),
            is_test: visitor.mode == Mode::Test,
            csrf: visitor.csrf.clone(),
            once: token(),
            here: here.to_owned(),
            items: open
                .map(|entry| Item {
                    path: entry.path,
                    label: entry.label,
                    is_here: is_at(here, entry.path),
                })
                .collect(),
            notice: notice(exchange),
        }
    }
}

/// The overview is above everything; other pages have pages of their own below them.
fn is_at(here: &str, path: &str) -> bool {
    let below = here.strip_prefix(path);
    below.is_some_and(|rest| rest.is_empty() || path != "/ui" && rest.starts_with('/'))
}

/// What forms say on the page that they lead to; addresses carry the word, never the text.
static NOTICES: &[(&str, &str)] = &[
    (
        "password",
        "Your password is changed. You are signed out everywhere else.",
    ),
    ("created", "It is created."),
    ("removed", "It is removed."),
    ("saved", "It is saved."),
    ("signed", "The agreement is signed. Its document is below."),
    ("revoked", "It is revoked."),
    ("second-factor-removed", "Two-step sign-in is switched off."),
];

fn notice(exchange: &Exchange) -> Option<&'static str> {
    let query = Fields::of_query(exchange);
    let word = query.text("done");
    let known = NOTICES.iter().find(|(known, _)| *known == word);
    known.map(|(_, text)| *text)
}
