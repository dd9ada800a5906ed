//! Invitations and resets: whoever has the link sets the password, once.

use askama::Template;
use http::StatusCode;
use svc_core::fault::{Code, Fault};
use svc_core::secret;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::response::Response;
use svc_store::link::{self as stored, Link, Purpose};
use svc_store::session::Stage;
use svc_store::user::{self, User};
use svc_store::{TransactionError, audit, password as passwords, session as sessions};

use super::users::still_may_change;
use crate::field::Input;
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::redirect::see_other;
use crate::session::{self, Fresh, Guest};
use crate::told::Told;
use crate::trouble::{down, failed};
use crate::{journal, password};

#[derive(Template)]
#[template(path = "invitation.html")]
struct Invitation {
    csrf: String,
    action: String,
    is_invitation: bool,
    name: String,
    email: String,
    told: Told,
    password: Input,
    again: Input,
}

pub(crate) fn show(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let (link, user) = find(exchange).await?;
        let guest = session::guest(exchange);
        render(
            exchange,
            StatusCode::OK,
            guest,
            &link,
            user,
            Told::default(),
        )
    })
}

/// The link of the path and whom it is for, while it is good.
async fn find(exchange: &Exchange) -> Result<(Link, User), Fault> {
    let (store, digest) = (&exchange.gateway.store, digest(exchange));
    let found = stored::find(store, &digest, exchange.now).await;
    let (link, user) = found.map_err(|error| down(&error))?.ok_or_else(over)?;
    let by = match &link.issued_by {
        Some(id) => user::find(store, &link.org_id, id).await,
        None => Ok(None),
    };
    let by = by.map_err(|error| down(&error))?;
    if holds(&link, by.as_ref(), &user) {
        Ok((link, user))
    } else {
        Err(over())
    }
}

/// Whether a link lets its user in: neither while they are suspended, nor where whoever issued it could not issue it
/// now. Otherwise an admin would keep, in a link, what they have lost.
fn holds(link: &Link, by: Option<&User>, user: &User) -> bool {
    let is_backed = link.issued_by.is_none() || by.is_some_and(|by| still_may_change(by, user));
    is_backed && !user.suspended
}

/// Why there is nothing at the address of a link.
pub(crate) const OVER: &str = "link_over";

fn digest(exchange: &Exchange) -> [u8; 32] {
    secret::digest(exchange.parameter("token"))
}

fn over() -> Fault {
    let message = "This link was used before or is too old. Ask whoever sent it for another one.";
    Fault::new(Code::NotFound, message).detail("reason", OVER)
}

fn render(
    exchange: &Exchange,
    status: StatusCode,
    guest: Guest,
    link: &Link,
    user: User,
    told: Told,
) -> Result<Response, Fault> {
    let again = Input::password("again", "The same once more").autocomplete("new-password");
    let page = Invitation {
        csrf: guest.csrf,
        action: exchange.head.path.clone(),
        is_invitation: link.purpose == Purpose::Invitation,
        name: user.name,
        email: user.email,
        again: again.told(&told),
        password: Input::password("password", "New password")
            .autocomplete("new-password")
            .hint(password::HINT)
            .told(&told),
        told,
    };
    html(exchange, status, &page)
}

pub(crate) fn submit(exchange: &mut Exchange, fields: Fields) -> Answering<'_> {
    Box::pin(async move {
        let guest = session::check_guest(exchange, &fields)?;
        let (link, user) = find(exchange).await?;
        let wanted = fields.text("password");
        if let Err(fault) = password::check_new(wanted, fields.text("again"), &user.email) {
            let (status, told) = (StatusCode::UNPROCESSABLE_ENTITY, Told::of(&fault));
            return render(exchange, status, guest, &link, user, told);
        }
        let phc = password::hash(&exchange.gateway, wanted).await?;
        set(exchange, link, user, phc).await
    })
}

/// Uses the link up, sets the password and ends every session. Whoever has no second factor is signed in.
async fn set(
    exchange: &mut Exchange,
    link: Link,
    user: User,
    phc: String,
) -> Result<Response, Fault> {
    let now = exchange.now;
    let digest = digest(exchange);
    let fresh = Fresh::new(&exchange.gateway, &user, Stage::Whole, now);
    let (new, session_digest) = fresh.to_store();
    let row = journal::done(exchange, &user, "user.password_changed", &user);
    let row = journal::detailed(row, "by", link.purpose.word());
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            // As they stand by now: hashing takes its time.
            let user = user::lock(&mut tx, &user.org_id, &user.id).await?;
            let user = user.ok_or_else(|| TransactionError::Refused(over()))?;
            let by = match &link.issued_by {
                Some(id) => user::find_in(&mut tx, &link.org_id, id).await?,
                None => None,
            };
            let is_good = holds(&link, by.as_ref(), &user);
            if !is_good || !stored::redeem(&mut tx, &digest, now).await? {
                return Err(TransactionError::Refused(over()));
            }
            passwords::put(&mut tx, &user.org_id, &user.id, &phc, now).await?;
            sessions::end_all(&mut tx, &user.id).await?;
            if !user.mfa_enabled {
                sessions::insert(&mut tx, &new, &session_digest).await?;
                user::signed_in(&mut tx, &user.id, now).await?;
            }
            audit::record(&mut tx, &row).await?;
            Ok(user.mfa_enabled)
        })
    });
    let asks_more = done.await.map_err(failed)?;
    if asks_more {
        return Ok(see_other(exchange, "/ui/login"));
    }
    fresh.hand_out(exchange);
    Ok(see_other(exchange, "/ui"))
}
