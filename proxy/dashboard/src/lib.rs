//! What people see: signing in, consent, and the dashboard under `/ui`.
//!
//! Pages are rendered here, work without scripts and carry no rules of their own: what a page shows and changes goes
//! the way of an endpoint. Only what has no endpoint is decided here: accounts, sessions and who may sign in. Knows no
//! SQL and no pingora.

mod app;
mod asset;
mod chart;
mod cookie;
mod edit;
mod field;
mod form;
pub mod frame;
mod journal;
pub mod link;
mod menu;
mod once;
pub mod openid;
mod page;
mod pager;
mod password;
mod proof;
mod redirect;
mod second_factor;
mod sent;
pub mod session;
mod show;
mod sure;
mod told;
mod trouble;

use std::sync::LazyLock;

use http::Method;
use svc_control::oauth::AUTHORIZE;
use svc_pipeline::handler::Handler;
use svc_pipeline::policy::pipelines::{Access, Endpoint};

pub use form::Fields;
use frame::{AttendedForm, Form, ModelessForm, NoPage, Open, OpenForm, SignedIn};

/// Every page, and every address of a form that is no page itself: there a browser stands whose form was refused, and
/// going there again leads to the page that has the form.
pub static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let is_page = |path: &str| {
        let mut pages = PAGES.iter();
        pages.any(|page| page.method == Method::GET && page.path == path)
    };
    let forms = PAGES.iter().filter(|form| form.method == Method::POST);
    // The form of consent stands below its address, not above: whoever goes there has followed no link of ours.
    let forms = forms.filter(|form| form.path != page::consent::PAGE);
    let alone = forms.map(|form| form.path).filter(|path| !is_page(path));
    let above = alone.map(|path| page(Method::GET, path, &NoPage(page::nowhere::above_form)));
    PAGES.iter().cloned().chain(above).collect()
});

#[rustfmt::skip]
static PAGES: &[Endpoint] = &[
    page(Method::GET, "/ui/assets/{name}", &Open(asset::show)),

    page(Method::GET, "/ui/login", &Open(page::login::show)),
    page(Method::POST, "/ui/login", &OpenForm(page::login::submit)),
    page(Method::GET, "/ui/login/totp", &Open(page::code::show)),
    page(Method::POST, "/ui/login/totp", &OpenForm(page::code::submit)),
    page(Method::GET, "/ui/login/openid", &Open(page::openid::begin)),
    page(Method::GET, openid::CALLBACK, &Open(page::openid::finish)),
    page(Method::POST, "/ui/logout", &ModelessForm(page::login::leave)),
    page(Method::GET, "/ui/invite/{token}", &Open(page::invitation::show)),
    page(Method::POST, "/ui/invite/{token}", &OpenForm(page::invitation::submit)),
    page(Method::GET, "/ui/reset/{token}", &Open(page::invitation::show)),
    page(Method::POST, "/ui/reset/{token}", &OpenForm(page::invitation::submit)),

    page(Method::GET, AUTHORIZE, &Open(page::consent::authorize)),
    page(Method::GET, "/ui/consent/{request}", &SignedIn(page::consent::show)),
    page(Method::POST, "/ui/consent", &ModelessForm(page::consent::submit)),

    page(Method::GET, "/ui", &SignedIn(page::overview::show)),
    page(Method::GET, "/ui/", &NoPage(page::nowhere::without_slash)),
    page(Method::GET, "/ui/{*rest}", &NoPage(page::nowhere::show)),
    page(Method::POST, "/ui/mode", &ModelessForm(page::mode::switch)),

    page(Method::GET, "/ui/keys", &SignedIn(page::keys::show)),
    page(Method::POST, "/ui/keys", &Form(page::keys::create)),
    page(Method::POST, "/ui/keys/{id}/revoke", &Form(page::keys::revoke)),

    page(Method::GET, "/ui/usage", &SignedIn(page::usage::show)),
    page(Method::POST, "/ui/usage/budget", &Form(page::usage::save)),

    page(Method::GET, "/ui/audit", &SignedIn(page::audit::list)),
    page(Method::GET, "/ui/audit/export", &SignedIn(page::audit::export)),
    page(Method::GET, "/ui/audit/{id}", &SignedIn(page::audit::one)),

    page(Method::GET, "/ui/phi", &SignedIn(page::phi::show)),

    page(Method::GET, "/ui/integrations", &SignedIn(page::integrations::list)),
    page(Method::POST, "/ui/integrations", &Form(page::integrations::create)),
    page(Method::GET, "/ui/integrations/{id}", &SignedIn(page::integrations::show_one)),
    page(Method::POST, "/ui/integrations/{id}/secret", &Form(page::integrations::rotate)),
    page(Method::POST, "/ui/integrations/{id}/revoke", &Form(page::integrations::revoke)),
    page(Method::POST, "/ui/integrations/{id}/bindings", &Form(page::integrations::bind)),
    page(Method::POST, "/ui/integrations/{id}/bindings/{binding_id}/remove", &Form(page::integrations::unbind)),

    page(Method::GET, "/ui/apps", &SignedIn(page::apps::list)),
    page(Method::POST, "/ui/apps", &Form(page::apps::create)),
    page(Method::GET, "/ui/apps/{app}", &SignedIn(page::apps::one)),
    page(Method::POST, "/ui/apps/{app}", &Form(page::apps::put_entity)),
    page(Method::GET, "/ui/apps/{app}/inbound", &SignedIn(page::inbound::wizard)),
    page(Method::POST, "/ui/apps/{app}/inbound", &Form(page::inbound::submit)),
    page(Method::GET, "/ui/apps/{app}/inbound/{id}", &SignedIn(page::inbound::show_one)),
    page(Method::POST, "/ui/apps/{app}/inbound/{id}/token", &Form(page::inbound::rotate)),
    page(Method::POST, "/ui/apps/{app}/inbound/{id}/status", &Form(page::inbound::switch)),
    page(Method::POST, "/ui/apps/{app}/inbound/{id}/remove", &Form(page::inbound::remove)),
    page(Method::GET, "/ui/apps/{app}/records/{key}", &SignedIn(page::records::show)),
    page(Method::GET, "/ui/apps/{app}/records/{key}/{id}", &SignedIn(page::records::show_one)),
    page(Method::POST, "/ui/apps/{app}/records/{key}/{id}/remove", &Form(page::records::remove)),

    page(Method::GET, "/ui/webhooks", &SignedIn(page::webhooks::show)),
    page(Method::POST, "/ui/webhooks", &Form(page::webhooks::create)),
    page(Method::GET, "/ui/webhooks/{id}", &SignedIn(page::webhooks::show_one)),
    page(Method::POST, "/ui/webhooks/{id}/rotate", &Form(page::webhooks::rotate)),
    page(Method::POST, "/ui/webhooks/{id}/status", &Form(page::webhooks::switch)),
    page(Method::POST, "/ui/webhooks/{id}/remove", &Form(page::webhooks::remove)),
    page(Method::GET, "/ui/deliveries", &SignedIn(page::deliveries::show)),
    page(Method::GET, "/ui/deliveries/{id}", &SignedIn(page::deliveries::show_one)),
    page(Method::GET, "/ui/replay", &SignedIn(page::deliveries::show_replay)),
    page(Method::POST, "/ui/replay", &Form(page::deliveries::replay)),

    page(Method::GET, "/ui/applications", &SignedIn(page::applications::show)),
    page(Method::POST, "/ui/applications", &Form(page::applications::create)),
    page(Method::POST, "/ui/applications/{id}/rotate", &Form(page::applications::rotate)),
    page(Method::POST, "/ui/applications/{id}/revoke", &Form(page::applications::revoke)),

    page(Method::GET, "/ui/playground", &SignedIn(page::playground::show)),
    page(Method::POST, "/ui/playground", &AttendedForm(page::playground::ask)),

    page(Method::GET, "/ui/users", &SignedIn(page::users::show)),
    page(Method::POST, "/ui/users", &Form(page::users::invite)),
    page(Method::POST, "/ui/users/{id}/role", &Form(page::users::change_role)),
    page(Method::POST, "/ui/users/{id}/suspend", &Form(page::users::suspend)),
    page(Method::POST, "/ui/users/{id}/reinstate", &Form(page::users::reinstate)),
    page(Method::POST, "/ui/users/{id}/link", &Form(page::users::send_link)),

    page(Method::GET, "/ui/settings", &SignedIn(page::settings::show)),
    page(Method::POST, "/ui/settings", &Form(page::settings::save)),
    page(Method::GET, "/ui/models", &SignedIn(page::models::show)),
    page(Method::POST, "/ui/models", &Form(page::models::save)),
    page(Method::GET, "/ui/plugins", &SignedIn(page::plugins::show)),
    page(Method::GET, "/ui/policies", &SignedIn(page::policies::show)),

    page(Method::GET, "/ui/agreement", &SignedIn(page::agreement::show)),
    page(Method::POST, "/ui/agreement", &Form(page::agreement::sign)),
    page(Method::GET, "/ui/agreement/{id}/download", &SignedIn(page::agreement::download)),

    page(Method::GET, "/ui/agents", &SignedIn(page::agents::list)),
    page(Method::POST, "/ui/agents", &Form(page::agents::create)),
    page(Method::GET, "/ui/agents/{id}", &SignedIn(page::agents::show_one)),
    page(Method::POST, "/ui/agents/{id}", &Form(page::agents::update)),
    page(Method::POST, "/ui/agents/{id}/archive", &Form(page::agents::change_standing)),
    page(Method::POST, "/ui/agents/{id}/reactivate", &Form(page::agents::change_standing)),
    page(Method::POST, "/ui/agents/{id}/credentials", &Form(page::agents::issue)),
    page(Method::POST, "/ui/agents/{id}/credentials/{credential_id}/revoke", &Form(page::agents::revoke)),

    page(Method::GET, "/ui/account", &SignedIn(page::account::show)),
    page(Method::POST, "/ui/account/password", &ModelessForm(page::account::change_password)),
    page(Method::POST, "/ui/account/totp", &ModelessForm(page::account::begin_totp)),
    page(Method::GET, "/ui/account/totp", &SignedIn(page::account::enrol_totp)),
    page(Method::POST, "/ui/account/totp/confirm", &ModelessForm(page::account::confirm_totp)),
    page(Method::POST, "/ui/account/totp/remove", &ModelessForm(page::account::remove_totp)),
    page(Method::POST, "/ui/account/recovery-codes", &ModelessForm(page::account::renew_codes)),
];

/// A page knows its visitors by their cookie.
const fn page(method: Method, path: &'static str, handler: &'static dyn Handler) -> Endpoint {
    Endpoint {
        method,
        path,
        access: Access::Own,
        audited_as: None,
        handler,
    }
}
