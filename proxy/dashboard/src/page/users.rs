//! The people of the organization: who may sign in, and as what. They have no endpoint of the API (contract 8); the
//! rules of their page are here.

use std::collections::HashMap;

use askama::Template;
use http::StatusCode;
use svc_core::fault::{Code, Fault, Problems, invalid};
use svc_core::id::IdKind;
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::moment;
use svc_pipeline::response::Response;
use svc_pipeline::role::not_allowed;
use svc_store::link::Purpose;
use svc_store::page::{Page, Paged, Position};
use svc_store::user::{self, Role, User};
use svc_store::{StoreError, Transaction, TransactionError, audit, session as sessions};

use crate::field::{Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::journal;
use crate::link::NewLink;
use crate::menu::Layout;
use crate::once::Once;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;
use crate::trouble::{down, failed};

const PAGE: &str = "/ui/users";
/// People that one page shows.
const SHOWN: u32 = 50;
/// People of one organization whose names other pages know.
const MAX_NAMED: u32 = 500;
/// Longest name of a person, in characters (contract 1.2).
const MAX_NAME_CHARS: usize = 100;

/// A person as the page shows them.
struct Line {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    is_suspended: bool,
    has_second_factor: bool,
    last_login: show::Clock,
    /// Whether the visitor may change them.
    is_open: bool,
}

#[derive(Template)]
#[template(path = "users.html")]
struct Users {
    layout: Layout,
    told: Told,
    users: Vec<Line>,
    pager: Pager,
    roles: Vec<&'static str>,
    may_change: bool,
    /// Shown once: whom it is for, and the link.
    link: Option<(String, String)>,
    name: Input,
    email: Input,
    role: Select,
}

/// Whoever answers for the organization sees who is in it.
pub(crate) const fn may_see(role: Role) -> bool {
    role.is_org_admin() || matches!(role, Role::Compliance)
}

/// Admins change everybody but owners; owners are for owners. Nobody changes themselves.
fn may_change(by: &User, to: &User) -> bool {
    let is_owner = by.role == Role::Owner;
    by.id != to.id && (is_owner || by.role == Role::Admin && to.role != Role::Owner)
}

/// As [`may_change`], for what is done or holds on the authority of somebody who may be suspended by now.
pub(super) fn still_may_change(by: &User, to: &User) -> bool {
    !by.suspended && may_change(by, to)
}

/// Roles that somebody may give.
fn given(by: Role) -> Vec<Role> {
    let roles = Role::ALL.iter().copied();
    roles
        .filter(|role| by == Role::Owner || by == Role::Admin && *role != Role::Owner)
        .collect()
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing(), None))
}

async fn render(
    exchange: &Exchange,
    visitor: &Visitor,
    sent: Sent,
    link: Option<(String, String)>,
) -> Result<Response, Fault> {
    let by = &visitor.user;
    if !may_see(by.role) {
        return Err(not_allowed());
    }
    let at = Fields::of_query(exchange).filled("cursor").and_then(place);
    let found = people(exchange, by, SHOWN, at).await?;
    let next = found.last(|user| Position::new(user.created_at, &user.id));
    let roles: Vec<&'static str> = given(by.role).into_iter().map(Role::word).collect();
    let page = Users {
        layout: Layout::new(exchange, visitor, "Users"),
        users: found.rows.iter().map(|user| line(user, by)).collect(),
        pager: Pager::before(
            exchange,
            PAGE,
            &[],
            next.map(|next| cursor(&next)).as_deref(),
        ),
        may_change: by.role.is_org_admin(),
        link,
        name: Input::text("name", "Name").sent(&sent),
        email: Input::new("email", "email", "E-mail address").sent(&sent),
        role: Select::new("role", "Role", Choice::words(roles.iter().copied()))
            .chosen(sent.filled("role").unwrap_or("member"))
            .told(&sent.told),
        roles,
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

async fn people(
    exchange: &Exchange,
    by: &User,
    limit: u32,
    after: Option<Position>,
) -> Result<Paged<User>, Fault> {
    let page = Page {
        limit,
        after,
        created_after: None,
        created_before: None,
    };
    let found = user::list(&exchange.gateway.store, &by.org_id, &page).await;
    found.map_err(|error| down(&error))
}

/// A place in the list, as the address of the next page has it. Whatever it names, the list is the organization's own.
fn cursor(place: &Position) -> String {
    format!("{}-{}", place.at.0, place.id)
}

/// The place that an address names; what names none is the beginning.
fn place(cursor: &str) -> Option<Position> {
    let (at, id) = cursor.split_once('-')?;
    let id = IdKind::User.accept(id)?;
    Some(Position::new(Timestamp(at.parse().ok()?), &id))
}

/// Names by user id, for pages that show whose something is; none for who may not see who is there.
pub(crate) async fn names(
    exchange: &Exchange,
    visitor: &Visitor,
) -> Result<HashMap<String, String>, Fault> {
    if !may_see(visitor.user.role) {
        return Ok(HashMap::new());
    }
    let people = people(exchange, &visitor.user, MAX_NAMED, None).await?;
    Ok(people
        .rows
        .into_iter()
        .map(|user| (user.id, user.name))
        .collect())
}

fn line(user: &User, by: &User) -> Line {
    let User {
        id,
        org_id: _,
        email,
        name,
        role,
        suspended,
        mfa_enabled,
        created_at: _,
        last_login_at,
    } = user;
    Line {
        id: id.clone(),
        name: name.clone(),
        email: email.clone(),
        role: role.word(),
        is_suspended: *suspended,
        has_second_factor: *mfa_enabled,
        last_login: show::ever(*last_login_at),
        is_open: may_change(by, user),
    }
}

pub(crate) fn invite<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let added = match wanted(exchange, visitor, &fields) {
            Ok(user) => add(exchange, visitor, user, &fields).await,
            Err(fault) => Err(fault),
        };
        match journal::kept(exchange, &visitor.user, added).await {
            Ok(link) => {
                let sent = Sent::done(StatusCode::CREATED);
                render(exchange, visitor, sent, Some(link)).await
            }
            Err(fault) => {
                let sent = Sent::refused(fault, fields)?;
                render(exchange, visitor, sent, None).await
            }
        }
    })
}

fn wanted(exchange: &Exchange, visitor: &Visitor, fields: &Fields) -> Result<User, Fault> {
    if !visitor.user.role.is_org_admin() {
        return Err(not_allowed());
    }
    let mut problems = Problems::default();
    let name = fields.text("name").trim().to_owned();
    if !(1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
        problems.add(
            "name",
            format!("must have 1 to {MAX_NAME_CHARS} characters"),
        );
    }
    let email = user::plain_email(fields.text("email"));
    if !user::is_email(&email) {
        problems.add("email", "is not an address");
    }
    let role = role(visitor, fields);
    if let Err(message) = role {
        problems.add("role", message);
    }
    problems.into_result()?;
    Ok(User {
        id: moment::id(IdKind::User),
        org_id: visitor.user.org_id.clone(),
        email,
        name,
        role: role.map_err(|message| invalid("role", message))?,
        suspended: false,
        mfa_enabled: false,
        created_at: exchange.now,
        last_login_at: None,
    })
}

fn role(visitor: &Visitor, fields: &Fields) -> Result<Role, &'static str> {
    let role = Role::parse(fields.text("role")).ok_or("is not a role")?;
    if given(visitor.user.role).contains(&role) {
        Ok(role)
    } else {
        Err(NOT_YOURS)
    }
}

const NOT_YOURS: &str = "is not yours to give";

/// Adds somebody; gives whom, and the link by which they set their password.
async fn add(
    exchange: &Exchange,
    visitor: &Visitor,
    user: User,
    fields: &Fields,
) -> Result<(String, String), Fault> {
    let once = Once::of(exchange, visitor, fields).await?;
    if let Some(answered) = once.answered(exchange).await? {
        return again(&user, &answered);
    }
    let link = new_link(exchange, &visitor.user, &user, Purpose::Invitation);
    let shown = (user.email.clone(), link.url.clone());
    let kept = once.answer(&format!("{}\n{}", link.url, asked(&user)))?;
    let row = journal::done(exchange, &visitor.user, "user.created", &user);
    let row = journal::detailed(row, "role", user.role.word());
    let added = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            kept.store(&mut tx).await?;
            user::add(&mut tx, &user).await?;
            link.issue(&mut tx).await?;
            audit::record(&mut tx, &row).await?;
            Ok::<_, TransactionError<Fault>>(())
        })
    });
    match added.await {
        Ok(()) => Ok(shown),
        Err(TransactionError::Store(StoreError::Exists { .. })) => {
            Err(invalid("email", "is somebody's already"))
        }
        Err(error) => Err(failed(error)),
    }
}

/// The link of an invitation that was sent before, where the same was asked for: a browser that went back may have
/// something else in the same form.
fn again(user: &User, answered: &str) -> Result<(String, String), Fault> {
    match answered.split_once('\n') {
        Some((url, before)) if before == asked(user) => Ok((user.email.clone(), url.to_owned())),
        _ => {
            let message =
                "This form was sent before, with something else in it. Open the page anew.";
            Err(Fault::new(Code::IdempotencyConflict, message))
        }
    }
}

fn asked(user: &User) -> String {
    [&user.email, user.role.word(), &user.name].join("\n")
}

fn new_link(exchange: &Exchange, by: &User, user: &User, purpose: Purpose) -> NewLink {
    let base_url = &exchange.gateway.settings.base_url;
    NewLink::new(base_url, user, purpose, Some(by), exchange.now)
}

/// A new link for somebody: an invitation until they have signed in, then a reset.
pub(crate) fn send_link<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let found = find(exchange, visitor).await;
        let user = journal::kept(exchange, &visitor.user, found).await?;
        let once = Once::of(exchange, visitor, &fields).await?;
        if let Some(url) = once.answered(exchange).await? {
            let shown = Some((user.email, url));
            return render(exchange, visitor, Sent::done(StatusCode::CREATED), shown).await;
        }
        let (purpose, event) = if user.last_login_at.is_none() {
            (Purpose::Invitation, "user.invited")
        } else {
            (Purpose::Reset, "user.password_reset_issued")
        };
        let link = new_link(exchange, &visitor.user, &user, purpose);
        let shown = (user.email.clone(), link.url.clone());
        let kept = once.answer(&link.url)?;
        let row = journal::done(exchange, &visitor.user, event, &user);
        let by = visitor.user.clone();
        let issued = exchange.gateway.store.transaction(move |mut tx| {
            Box::pin(async move {
                let to = user::lock(&mut tx, &user.org_id, &user.id).await?;
                let (_, to) = judge(&mut tx, &by, to).await?;
                if to.suspended {
                    return Err(TransactionError::Refused(suspended()));
                }
                kept.store(&mut tx).await?;
                link.issue(&mut tx).await?;
                audit::record(&mut tx, &row).await?;
                Ok(())
            })
        });
        let issued = issued.await.map_err(failed);
        match journal::kept(exchange, &visitor.user, issued).await {
            Ok(()) => {
                let sent = Sent::done(StatusCode::CREATED);
                render(exchange, visitor, sent, Some(shown)).await
            }
            Err(fault) => {
                let sent = Sent::refused(fault, Fields::default())?;
                render(exchange, visitor, sent, None).await
            }
        }
    })
}

fn suspended() -> Fault {
    let message = "Nobody can use a link while suspended. Reinstate them first.";
    Fault::new(Code::ValidationFailed, message)
}

/// Somebody of the page's path whom the visitor may change.
async fn find(exchange: &Exchange, visitor: &Visitor) -> Result<User, Fault> {
    let id = exchange.parameter("id");
    let found = user::find(&exchange.gateway.store, &visitor.user.org_id, id).await;
    let found = found.map_err(|error| down(&error))?;
    let found = found.ok_or_else(|| Code::ResourceNotFound.fault())?;
    if may_change(&visitor.user, &found) {
        Ok(found)
    } else {
        Err(not_allowed())
    }
}

/// Who changes somebody and whom, as both stand by now; the latter is locked.
async fn judge(
    tx: &mut Transaction<'_>,
    by: &User,
    to: Option<User>,
) -> Result<(User, User), TransactionError<Fault>> {
    let refused = TransactionError::Refused;
    let to = to.ok_or_else(|| refused(Code::ResourceNotFound.fault()))?;
    let by = user::find_in(tx, &by.org_id, &by.id).await?;
    let by = by.filter(|by| still_may_change(by, &to));
    let by = by.ok_or_else(|| refused(not_allowed()))?;
    Ok((by, to))
}

/// What is to become of somebody.
#[derive(Clone, Copy)]
enum Change {
    Role { from: Option<Role>, to: Role },
    Suspended(bool),
}

pub(crate) fn change_role<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let change = role(visitor, &fields).map(|to| Change::Role {
            // As the form showed it.
            from: Role::parse(fields.text("from")),
            to,
        });
        let change = change.map_err(|message| invalid("role", message));
        apply(exchange, visitor, change).await
    })
}

pub(crate) fn suspend<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move { apply(exchange, visitor, Ok(Change::Suspended(true))).await })
}

pub(crate) fn reinstate<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move { apply(exchange, visitor, Ok(Change::Suspended(false))).await })
}

/// Changes somebody of the page's path, or leaves the row of a change that is refused.
async fn apply(
    exchange: &Exchange,
    visitor: &Visitor,
    change: Result<Change, Fault>,
) -> Result<Response, Fault> {
    let done = match find(exchange, visitor).await {
        Ok(user) => match change {
            Ok(change) => put(exchange, visitor, user, change).await,
            Err(fault) => Err(fault),
        },
        Err(fault) => Err(fault),
    };
    journal::kept(exchange, &visitor.user, done).await?;
    Ok(see_other(exchange, &format!("{PAGE}?done=saved")))
}

/// Changes somebody and ends every way into their account: no session has rights that its user lost, and no link leads
/// to rights that whoever issued it could not give.
async fn put(
    exchange: &Exchange,
    visitor: &Visitor,
    user: User,
    change: Change,
) -> Result<(), Fault> {
    let by = visitor.user.clone();
    let event = match change {
        Change::Role { .. } => "user.role_changed",
        Change::Suspended(true) => "user.suspended",
        Change::Suspended(false) => "user.reinstated",
    };
    let row = journal::done(exchange, &by, event, &user);
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            let before = user::lock_with_owners(&mut tx, &user.org_id, &user.id).await?;
            let (by, before) = judge(&mut tx, &by, before).await?;
            let (role, suspended) = match change {
                Change::Role { to, .. } if !given(by.role).contains(&to) => {
                    return Err(TransactionError::Refused(invalid("role", NOT_YOURS)));
                }
                Change::Role { from, to } if from == Some(before.role) || to == before.role => {
                    (to, before.suspended)
                }
                Change::Role { .. } => {
                    return Err(TransactionError::Refused(changed_elsewhere(before.role)));
                }
                Change::Suspended(suspended) => (before.role, suspended),
            };
            user::put_standing(&mut tx, &user.org_id, &user.id, role, suspended).await?;
            if user::count_owners(&mut tx, &user.org_id).await? == 0 {
                return Err(TransactionError::Refused(last_owner()));
            }
            sessions::end_all(&mut tx, &user.id).await?;
            let row = journal::detailed(row, "old_role", before.role.word());
            let row = journal::detailed(row, "role", role.word());
            audit::record(&mut tx, &row).await?;
            Ok(())
        })
    });
    done.await.map_err(failed)
}

/// As [`crate::edit::Edit::over`] has it.
fn changed_elsewhere(role: Role) -> Fault {
    let message = format!(
        "Their role was changed elsewhere since the page was opened: it is {} by now. Nothing is saved.",
        role.word()
    );
    Fault::new(Code::IdempotencyConflict, message)
}

fn last_owner() -> Fault {
    invalid("role", "an organization keeps at least one owner")
}
