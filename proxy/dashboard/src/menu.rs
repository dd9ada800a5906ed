//! What stands around the content of a page: who is there, what they look at, and where they may go.

use svc_core::secret::Mode;
use svc_pipeline::exchange::Exchange;
use svc_store::user::Role;

use crate::form::Fields;
use crate::session::Visitor;

/// A way to a page.
struct Entry {
    path: &'static str,
    label: &'static str,
    /// Whether a role may go there.
    is_open: fn(Role) -> bool,
}

/// Every page that has a place in the menu, in its order.
static ENTRIES: &[Entry] = &[Entry {
    path: "/ui/account",
    label: "Your account",
    is_open: |_| true,
}];

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
    pub(crate) items: Vec<Item>,
    /// What the form that led here has done.
    pub(crate) notice: Option<&'static str>,
}

impl Layout {
    pub(crate) fn new(exchange: &Exchange, visitor: &Visitor, title: &'static str) -> Self {
        let here = exchange.head.path.as_str();
        let open = ENTRIES
            .iter()
            .filter(|entry| (entry.is_open)(visitor.user.role));
        Self {
            title,
            person: visitor.user.name.clone(),
            organization: visitor.organization.settings.name.clone(),
            is_test: visitor.mode == Mode::Test,
            csrf: visitor.csrf.clone(),
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
    ("second-factor-removed", "Two-step sign-in is switched off."),
];

fn notice(exchange: &Exchange) -> Option<&'static str> {
    let query = Fields::of_query(exchange);
    let word = query.text("done");
    let known = NOTICES.iter().find(|(known, _)| *known == word);
    known.map(|(_, text)| *text)
}
