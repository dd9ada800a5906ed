//! One's own account: password, authenticator app, recovery codes.

use askama::Template;
use http::StatusCode;
use svc_core::fault::{Fault, invalid};
use svc_pipeline::exchange::Exchange;
use svc_pipeline::response::Response;
use svc_store::seal::Content;
use svc_store::session::Stage;
use svc_store::throttle::{self, Bucket, Buckets};
use svc_store::user::User;
use svc_store::{
    Transaction, TransactionError, audit, password as passwords, second_factor as factors,
    session as sessions, user,
};

use super::code::{self, Shown};
use super::login::too_often;
use crate::field::Input;
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::once::Once;
use crate::redirect::see_other;
use crate::session::{Fresh, Visitor};
use crate::show;
use crate::told::Told;
use crate::trouble::{down, failed};
use crate::{journal, password, second_factor};

/// Attempts at one's own password, or at confirming an app, in 15 minutes.
const FREE: u32 = 10;

#[derive(Template)]
#[template(path = "account.html")]
struct Account {
    layout: Layout,
    user: User,
    last_login: show::Clock,
    codes_left: u32,
    told: Told,
    current: Input,
    password: Input,
    again: Input,
    beginning: Input,
    removing: Input,
    renewing: Input,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move { render(exchange, visitor, StatusCode::OK, Told::default()).await })
}

async fn render(
    exchange: &Exchange,
    visitor: &Visitor,
    status: StatusCode,
    told: Told,
) -> Result<Response, Fault> {
    let codes_left = factors::codes_left(&exchange.gateway.store, &visitor.user.id).await;
    let user = visitor.user.clone();
    let page = Account {
        layout: Layout::new(exchange, visitor, "Your account"),
        last_login: show::ever(user.last_login_at),
        codes_left: codes_left.map_err(|error| down(&error))?,
        current: Input::password("current", "Current password")
            .autocomplete("current-password")
            .told(&told),
        password: Input::password("password", "New password")
            .autocomplete("new-password")
            .hint(password::HINT)
            .told(&told),
        again: Input::password("again", "The same once more")
            .autocomplete("new-password")
            .told(&told),
        beginning: Input::password("beginning", "Current password")
            .autocomplete("current-password")
            .told(&told),
        removing: Input::password("removing", "Current password")
            .autocomplete("current-password")
            .told(&told),
        renewing: Input::password("renewing", "Current password")
            .autocomplete("current-password")
            .told(&told),
        user,
        told,
    };
    html(exchange, status, &page)
}

async fn refused(exchange: &Exchange, visitor: &Visitor, fault: &Fault) -> Result<Response, Fault> {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    render(exchange, visitor, status, Told::of(fault)).await
}

fn counted(user: &User) -> Buckets {
    Buckets::from([Bucket::own(&["own account", &user.id], FREE)])
}

async fn count(exchange: &Exchange, user: &User, field: &str) -> Result<(), Fault> {
    let store = &exchange.gateway.store;
    let taken = throttle::take(store, &counted(user), exchange.now).await;
    match taken.map_err(|error| down(&error))? {
        None => Ok(()),
        Some(wait_ms) => Err(too_often(field, wait_ms)),
    }
}

/// Whoever sits at an open session is not always its owner: what weakens an account asks for the password again. Gives
/// the hash that it is right for.
async fn check_password(
    exchange: &Exchange,
    user: &User,
    field: &str,
    fields: &Fields,
) -> Result<String, Fault> {
    count(exchange, user, field).await?;
    let phc = passwords::of(&exchange.gateway.store, &user.id).await;
    let phc = phc.map_err(|error| down(&error))?;
    let Some(phc) = phc else {
        let message = "You have no password yet. An administrator can give you a link to set one.";
        return Err(invalid(field, message));
    };
    let judged = Some(phc.clone());
    if password::verify(&exchange.gateway, fields.text(field), judged).await? {
        Ok(phc)
    } else {
        let row = journal::unproved(exchange, user, "wrong_password");
        journal::write(exchange, row).await?;
        Err(invalid(field, "This is not your password."))
    }
}

/// Locks the user, and refuses what a password was right for that is another one by now.
async fn hold(
    tx: &mut Transaction<'_>,
    user: &User,
    field: &'static str,
    phc: &str,
) -> Result<(), TransactionError<Fault>> {
    if passwords::lock_as_judged(tx, user, phc).await? {
        Ok(())
    } else {
        let message = "Your account was changed just now. Try again.";
        Err(TransactionError::Refused(invalid(field, message)))
    }
}

/// The page again, with why a change of the account was refused. The store's trouble goes on.
async fn not_done(
    exchange: &Exchange,
    visitor: &Visitor,
    error: TransactionError<Fault>,
) -> Result<Response, Fault> {
    match error {
        TransactionError::Refused(fault) => refused(exchange, visitor, &fault).await,
        error @ TransactionError::Store(_) => Err(failed(error)),
    }
}

pub(crate) fn change_password<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let user = &visitor.user;
        let wanted = fields.text("password");
        if let Err(fault) = password::check_new(wanted, fields.text("again"), &user.email) {
            return refused(exchange, visitor, &fault).await;
        }
        let old = match check_password(exchange, user, "current", &fields).await {
            Ok(phc) => phc,
            Err(fault) => return refused(exchange, visitor, &fault).await,
        };
        let new = password::hash(&exchange.gateway, wanted).await?;
        match put_password(exchange, visitor, old, new).await {
            Ok(()) => Ok(see_other(exchange, "/ui/account?done=password")),
            Err(error) => not_done(exchange, visitor, error).await,
        }
    })
}

/// The new password; every session and link ends, and this session goes on under another cookie.
async fn put_password(
    exchange: &mut Exchange,
    visitor: &Visitor,
    old: String,
    phc: String,
) -> Result<(), TransactionError<Fault>> {
    let now = exchange.now;
    let user = visitor.user.clone();
    let fresh = Fresh::new(&exchange.gateway, &user, Stage::Whole, now).showing(visitor.mode);
    let (new, digest) = fresh.to_store();
    let row = journal::done(exchange, &user, "user.password_changed", &user);
    let row = journal::detailed(row, "by", "user");
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            hold(&mut tx, &user, "current", &old).await?;
            passwords::put(&mut tx, &user.org_id, &user.id, &phc, now).await?;
            sessions::end_all(&mut tx, &user.id).await?;
            sessions::insert(&mut tx, &new, &digest).await?;
            throttle::forgive(&mut tx, &counted(&user)).await?;
            audit::record(&mut tx, &row).await?;
            Ok(())
        })
    });
    done.await?;
    fresh.hand_out(exchange);
    Ok(())
}

pub(crate) fn begin_totp<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let user = visitor.user.clone();
        if user.mfa_enabled {
            return Ok(see_other(exchange, "/ui/account"));
        }
        // The app of whoever begins this is asked for from then on.
        let phc = match check_password(exchange, &user, "beginning", &fields).await {
            Ok(phc) => phc,
            Err(fault) => return refused(exchange, visitor, &fault).await,
        };
        let now = exchange.now;
        let store = exchange.gateway.store.clone();
        let secret = Content::new(second_factor::new_secret());
        let sealed = factors::seal_secret(&store, &user.org_id, &user.id, &secret).await;
        let sealed = sealed.map_err(|error| down(&error))?;
        let row = journal::done(exchange, &user, "user.second_factor_begun", &user);
        let done = store.transaction(move |mut tx| {
            Box::pin(async move {
                hold(&mut tx, &user, "beginning", &phc).await?;
                factors::begin(&mut tx, &user.org_id, &user.id, sealed, now).await?;
                throttle::forgive(&mut tx, &counted(&user)).await?;
                audit::record(&mut tx, &row).await?;
                Ok(())
            })
        });
        match done.await {
            Ok(()) => Ok(see_other(exchange, "/ui/account/totp")),
            Err(error) => not_done(exchange, visitor, error).await,
        }
    })
}

#[derive(Template)]
#[template(path = "totp.html")]
struct Enrolment {
    layout: Layout,
    told: Told,
    picture: String,
    secret: String,
    code: Input,
}

pub(crate) fn enrol_totp<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move { enrolment(exchange, visitor, StatusCode::OK, Told::default()).await })
}

async fn enrolment(
    exchange: &Exchange,
    visitor: &Visitor,
    status: StatusCode,
    told: Told,
) -> Result<Response, Fault> {
    let user = &visitor.user;
    let found = factors::find(&exchange.gateway.store, &user.org_id, &user.id).await;
    let found = found.map_err(|error| down(&error))?;
    let Some(found) = found.filter(|found| found.confirmed_at.is_none()) else {
        return Ok(see_other(exchange, "/ui/account"));
    };
    let page = Enrolment {
        layout: Layout::new(exchange, visitor, "Two-step sign-in"),
        picture: second_factor::picture(found.secret.as_str(), &user.email)?,
        secret: found.secret.into_string(),
        code: Input::text("code", "Code that the app shows")
            .autocomplete("one-time-code")
            .told(&told),
        told,
    };
    html(exchange, status, &page)
}

pub(crate) fn confirm_totp<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        match confirm(exchange, visitor, &fields).await {
            Ok(codes) => show_codes(exchange, visitor, codes),
            Err(fault) => {
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                enrolment(exchange, visitor, status, Told::of(&fault)).await
            }
        }
    })
}

async fn confirm(
    exchange: &Exchange,
    visitor: &Visitor,
    fields: &Fields,
) -> Result<Vec<String>, Fault> {
    let user = visitor.user.clone();
    let once = Once::of(exchange, visitor, fields).await?;
    // Its code works once. Whoever has none to confirm any more may have sent the form that did it again.
    if user.mfa_enabled
        && let Some(codes) = once.answered(exchange).await?
    {
        return Ok(codes.lines().map(str::to_owned).collect());
    }
    count(exchange, &user, "code").await?;
    let shown = code::read(exchange, &user, fields.text("code")).await?;
    let Some(Shown::Step(step)) = shown else {
        return Err(wrong_code());
    };
    let now = exchange.now;
    let (codes, digests) = second_factor::recovery_codes();
    let kept = once.answer(&codes.join("\n"))?;
    let row = journal::done(exchange, &user, "user.second_factor_enabled", &user);
    let row = journal::detailed(row, "second_factor", "totp");
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            if !user::lock_as_judged(&mut tx, &user).await?
                || !factors::use_step(&mut tx, &user.id, &step).await?
            {
                return Err(TransactionError::Refused(wrong_code()));
            }
            kept.store(&mut tx).await?;
            factors::confirm(&mut tx, &user.org_id, &user.id, &digests, now).await?;
            throttle::forgive(&mut tx, &counted(&user)).await?;
            audit::record(&mut tx, &row).await?;
            Ok(())
        })
    });
    done.await.map_err(failed)?;
    Ok(codes)
}

fn wrong_code() -> Fault {
    invalid(
        "code",
        "This code is not right. Is the clock of the device right?",
    )
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
struct RecoveryCodes {
    layout: Layout,
    codes: Vec<String>,
}

fn show_codes(
    exchange: &Exchange,
    visitor: &Visitor,
    codes: Vec<String>,
) -> Result<Response, Fault> {
    let page = RecoveryCodes {
        layout: Layout::new(exchange, visitor, "Recovery codes"),
        codes,
    };
    html(exchange, StatusCode::OK, &page)
}

pub(crate) fn remove_totp<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let user = visitor.user.clone();
        let phc = match check_password(exchange, &user, "removing", &fields).await {
            Ok(phc) => phc,
            Err(fault) => return refused(exchange, visitor, &fault).await,
        };
        let row = journal::done(exchange, &user, "user.second_factor_removed", &user);
        let done = exchange.gateway.store.transaction(move |mut tx| {
            Box::pin(async move {
                hold(&mut tx, &user, "removing", &phc).await?;
                let was_there = factors::remove(&mut tx, &user.id).await?;
                throttle::forgive(&mut tx, &counted(&user)).await?;
                let row = journal::detailed(row, "changed", was_there);
                audit::record(&mut tx, &row).await?;
                Ok(())
            })
        });
        match done.await {
            Ok(()) => Ok(see_other(
                exchange,
                "/ui/account?done=second-factor-removed",
            )),
            Err(error) => not_done(exchange, visitor, error).await,
        }
    })
}

pub(crate) fn renew_codes<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let user = visitor.user.clone();
        if !user.mfa_enabled {
            return Ok(see_other(exchange, "/ui/account"));
        }
        let phc = match check_password(exchange, &user, "renewing", &fields).await {
            Ok(phc) => phc,
            Err(fault) => return refused(exchange, visitor, &fault).await,
        };
        let once = Once::of(exchange, visitor, &fields).await?;
        if let Some(codes) = once.answered(exchange).await? {
            return show_codes(
                exchange,
                visitor,
                codes.lines().map(str::to_owned).collect(),
            );
        }
        let (codes, digests) = second_factor::recovery_codes();
        let kept = once.answer(&codes.join("\n"))?;
        let row = journal::done(exchange, &user, "user.recovery_codes_renewed", &user);
        let done = exchange.gateway.store.transaction(move |mut tx| {
            Box::pin(async move {
                hold(&mut tx, &user, "renewing", &phc).await?;
                kept.store(&mut tx).await?;
                factors::put_codes(&mut tx, &user.org_id, &user.id, &digests).await?;
                throttle::forgive(&mut tx, &counted(&user)).await?;
                audit::record(&mut tx, &row).await?;
                Ok(())
            })
        });
        match done.await {
            Ok(()) => show_codes(exchange, visitor, codes),
            Err(error) => not_done(exchange, visitor, error).await,
        }
    })
}
