//! Signing in with address and password, and signing out.

use askama::Template;
use http::StatusCode;
use http::header::RETRY_AFTER;
use svc_core::fault::{Code, Fault};
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::filter::network;
use svc_pipeline::response::Response;
use svc_pipeline::strangers;
use svc_store::identity::{self, Identity};
use svc_store::session::{Session, Stage};
use svc_store::throttle::{self, Bucket, Buckets};
use svc_store::user::{User, plain_email};
use svc_store::{
    StoreError, Transaction, TransactionError, audit, password as passwords, session as stored,
};

use super::consent;
use crate::field::Input;
use crate::form::Fields;
use crate::frame::{Answering, html_for};
use crate::redirect::{LOST, local, see_other};
use crate::session::{self, Fresh, Guest, Visitor};
use crate::told::Told;
use crate::trouble::{down, failed};
use crate::{journal, password};

/// Attempts in 15 minutes at one account from one network (contract 6), at one account, and from one network.
const FREE_OF_PAIR: u32 = 10;
const FREE_OF_ACCOUNT: u32 = 50;
const FREE_OF_NETWORK: u32 = 100;

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    csrf: String,
    next: String,
    told: Told,
    email: Input,
    password: Input,
    /// The other way in, where there is one: its address and what people call it.
    openid: Option<(String, String)>,
}

pub(crate) fn show(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let query = Fields::of_query(exchange);
        let next = local(query.filled("next")).to_owned();
        if session::visitor(exchange).await?.is_some() {
            return Ok(see_other(exchange, &next));
        }
        let guest = session::guest(exchange);
        let told = match query.filled(LOST) {
            Some(_) => Told::message("You were signed out. Nothing was saved."),
            None => Told::default(),
        };
        render(exchange, StatusCode::OK, guest, next, "", told).await
    })
}

pub(super) async fn render(
    exchange: &Exchange,
    status: StatusCode,
    guest: Guest,
    next: String,
    email: &str,
    told: Told,
) -> Result<Response, Fault> {
    let target = consent::target(exchange, &next).await?;
    let openid = exchange.gateway.openid.as_ref();
    let page = Login {
        openid: openid.map(|openid| (super::openid::start(&next), openid.label().to_owned())),
        csrf: guest.csrf,
        next,
        told,
        email: Input::new("email", "email", "E-mail address")
            .autocomplete("username")
            .value(email),
        password: Input::password("password", "Password").autocomplete("current-password"),
    };
    html_for(exchange, status, &page, target.as_slice())
}

pub(crate) fn submit(exchange: &mut Exchange, fields: Fields) -> Answering<'_> {
    Box::pin(async move {
        let guest = session::check_guest(exchange, &fields)?;
        let email = fields.text("email").trim().to_owned();
        let next = local(fields.filled("next")).to_owned();
        match attempt(exchange, &email, fields.text("password"), &next).await {
            Ok(response) => Ok(response),
            Err(Refusal::Fault(fault)) => Err(fault),
            Err(Refusal::Told(status, message)) => {
                let told = Told::message(message);
                render(exchange, status, guest, next, &email, told).await
            }
            Err(Refusal::Wait(wait_ms)) => {
                let told = told_to_wait(exchange, wait_ms);
                let status = StatusCode::TOO_MANY_REQUESTS;
                render(exchange, status, guest, next, &email, told).await
            }
        }
    })
}

/// Why somebody is not let in.
enum Refusal {
    Told(StatusCode, String),
    /// They tried too often.
    Wait(i64),
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

async fn attempt(
    exchange: &mut Exchange,
    email: &str,
    typed: &str,
    next: &str,
) -> Result<Response, Refusal> {
    strangers::admit(exchange)?;
    let store = exchange.gateway.store.clone();
    let counted = count(exchange, email).await?;
    let found = passwords::find(&store, email).await;
    let found = found.map_err(|error| down(&error))?;
    let (user, phc) = found.map_or((None, None), |(user, phc)| (Some(user), phc));
    let is_right = password::verify(&exchange.gateway, typed, phc.clone()).await?;
    let (user, phc) = match (user, phc) {
        (Some(user), Some(phc)) if is_right && !user.suspended => (user, phc),
        (user, phc) => {
            let reason = match (&user, is_right, phc) {
                (None, ..) => "unknown",
                (Some(_), true, _) => "suspended",
                (Some(_), false, Some(_)) => "wrong_password",
                (Some(_), false, None) => "no_password",
            };
            return Err(refuse(exchange, user, reason).await?);
        }
    };
    let proof = Proof {
        shown: Shown::Password(phc),
        counted,
    };
    let response = let_in(exchange, user, proof, next).await?;
    response.ok_or_else(|| Refusal::Told(StatusCode::UNAUTHORIZED, CHANGED.to_owned()))
}

/// Why somebody is not let in whose account became another one while they were judged.
pub(super) const CHANGED: &str = "This account was changed just now. Sign in again.";

/// How somebody has shown who they are.
pub(super) struct Proof {
    pub(super) shown: Shown,
    /// Forgiven once they are in.
    pub(super) counted: Buckets,
}

/// What somebody was judged by.
pub(super) enum Shown {
    /// The hash that their password was right for.
    Password(String),
    /// Who they are at the provider.
    Identity(Identity),
    /// The same, to be tied to the user from now on.
    NewIdentity(Identity),
}

impl Shown {
    /// The word of audit rows.
    const fn word(&self) -> &'static str {
        match self {
            Self::Password(_) => "password",
            Self::Identity(_) | Self::NewIdentity(_) => "openid",
        }
    }

    /// Locks the user and says whether this still shows that it is they, and that they may be let in like this.
    async fn still_shows(
        &self,
        tx: &mut Transaction<'_>,
        judged: &User,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Password(phc) => passwords::lock_as_judged(tx, judged, phc).await,
            Self::Identity(known) => identity::lock_as_judged(tx, judged, known).await,
            Self::NewIdentity(_) => svc_store::user::lock_as_judged(tx, judged).await,
        }
    }
}

/// Counts an attempt before it is judged.
async fn count(exchange: &Exchange, email: &str) -> Result<Buckets, Refusal> {
    let plain = plain_email(email);
    let network = network(exchange.head.client).to_string();
    let counted = Buckets::from([
        Bucket::own(&["sign-in", &plain, &network], FREE_OF_PAIR),
        Bucket::shared(&["sign-in account", &plain], FREE_OF_ACCOUNT),
        Bucket::shared(&["sign-in network", &network], FREE_OF_NETWORK),
    ]);
    let taken = throttle::take(&exchange.gateway.store, &counted, exchange.now).await;
    match taken.map_err(|error| down(&error))? {
        None => Ok(counted),
        Some(wait_ms) => {
            strangers::refuse(exchange, "sign_in_throttled");
            Err(Refusal::Wait(wait_ms))
        }
    }
}

/// What a page of 429 says, which is sent with `Retry-After`.
pub(super) fn told_to_wait(exchange: &mut Exchange, wait_ms: i64) -> Told {
    let seconds = wait_ms.max(1).unsigned_abs().div_ceil(1_000);
    exchange.headers.insert(RETRY_AFTER, seconds.into());
    Told::message(waiting(wait_ms))
}

/// How long somebody has to wait, in words.
fn waiting(wait_ms: i64) -> String {
    let minutes = wait_ms.max(1).unsigned_abs().div_ceil(60_000);
    let unit = if minutes == 1 { "minute" } else { "minutes" };
    format!("Too many attempts. Try again in {minutes} {unit}.")
}

/// The row of somebody who is not let into an account that exists. It is a failing authentication like any other.
pub(super) async fn turned_away(
    exchange: &Exchange,
    user: &User,
    reason: &str,
) -> Result<(), Fault> {
    strangers::count(exchange);
    let row = journal::denied(exchange, "user.sign_in_failed", user, reason);
    journal::write(exchange, row).await
}

/// The row of an attempt that failed. Whoever tried learns nothing of the reason.
async fn refuse(
    exchange: &Exchange,
    user: Option<User>,
    reason: &'static str,
) -> Result<Refusal, Fault> {
    match user {
        None => {
            strangers::refuse(exchange, "sign_in_unknown");
        }
        Some(user) => turned_away(exchange, &user, reason).await?,
    }
    let message = "Address and password do not belong together.";
    Ok(Refusal::Told(StatusCode::UNAUTHORIZED, message.to_owned()))
}

/// Whoever has shown who they are is in, or asked for the second factor. `None` where the account was changed meanwhile
/// ([`CHANGED`]).
pub(super) async fn let_in(
    exchange: &mut Exchange,
    user: User,
    proof: Proof,
    next: &str,
) -> Result<Option<Response>, Fault> {
    let Proof { shown, counted } = proof;
    let by = shown.word();
    let stage = if user.mfa_enabled {
        Stage::Password
    } else {
        Stage::Whole
    };
    let fresh = Fresh::new(&exchange.gateway, &user, stage, exchange.now);
    let fresh = match &shown {
        Shown::NewIdentity(identity) => fresh.shown(by, Some(identity.clone())),
        Shown::Password(_) | Shown::Identity(_) => fresh.shown(by, None),
    };
    let whom = user.clone();
    let old = session::old(exchange).await?;
    let (new, digest) = fresh.to_store();
    let now = exchange.now;
    let row = journal::done(exchange, &user, "user.signed_in", &user);
    let row = journal::detailed(row, "by", by);
    let row = journal::detailed(row, "second_factor", "none");
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            if !shown.still_shows(&mut tx, &user).await? {
                return Ok(false);
            }
            session::end_old(&mut tx, old.as_ref()).await?;
            if stage == Stage::Whole {
                tie(&mut tx, &user, &new, now).await?;
            }
            stored::insert(&mut tx, &new, &digest).await?;
            throttle::forgive(&mut tx, &counted).await?;
            if stage == Stage::Whole {
                svc_store::user::signed_in(&mut tx, &new.user_id, now).await?;
                audit::record(&mut tx, &row).await?;
            }
            Ok::<_, TransactionError<Fault>>(true)
        })
    });
    match done.await {
        Ok(true) => fresh.hand_out(exchange),
        Ok(false) => {
            turned_away(exchange, &whom, "changed").await?;
            return Ok(None);
        }
        Err(error) => return Err(not_tied(exchange, &whom, error).await?),
    }
    Ok(Some(match stage {
        Stage::Whole => see_other(exchange, next),
        Stage::Password => {
            let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
            see_other(exchange, &format!("/ui/login/totp?next={next}"))
        }
    }))
}

/// Ties whom the provider vouches for to the account, where the session says so.
pub(super) async fn tie(
    tx: &mut Transaction<'_>,
    user: &User,
    session: &Session,
    now: Timestamp,
) -> Result<(), TransactionError<Fault>> {
    match &session.identity {
        Some(identity) if !identity::tie(tx, user, identity, now).await? => {
            let message = "This account belongs to somebody else's sign-in. An administrator can reset it with a new link.";
            let fault = Fault::new(Code::MissingScope, message);
            Err(TransactionError::Refused(
                fault.detail("reason", "identity"),
            ))
        }
        _ => Ok(()),
    }
}

/// What keeps somebody out at the last step. An address that has changed hands at the provider leaves a row.
pub(super) async fn not_tied(
    exchange: &Exchange,
    user: &User,
    error: TransactionError<Fault>,
) -> Result<Fault, Fault> {
    if matches!(error, TransactionError::Refused(_)) {
        turned_away(exchange, user, "identity").await?;
    }
    Ok(failed(error))
}

pub(crate) fn leave<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let id = visitor.session_id.clone();
        let row = journal::done(exchange, &visitor.user, "user.signed_out", &visitor.user);
        let done = exchange.gateway.store.transaction(move |mut tx| {
            Box::pin(async move {
                stored::end(&mut tx, &id).await?;
                audit::record(&mut tx, &row).await?;
                Ok::<_, TransactionError<Fault>>(())
            })
        });
        done.await.map_err(failed)?;
        session::forget(exchange);
        Ok(see_other(exchange, "/ui/login"))
    })
}

/// 422 for somebody who tries too often while signed in.
pub(crate) fn too_often(field: &str, wait_ms: i64) -> Fault {
    let mut fault = svc_core::fault::invalid(field, waiting(wait_ms));
    fault.code = Code::RateLimited;
    fault
}
