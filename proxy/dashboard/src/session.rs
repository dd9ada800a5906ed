//! Who is there, by the cookie of their session, and whether a form is theirs.
//!
//! A cookie is 256 random bits, of which the store keeps a digest. It is another one after every sign-in, every change
//! of password and every change of role.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use rand::RngExt;
use svc_core::fault::{Code, Fault};
use svc_core::id::IdKind;
use svc_core::secret::{self, Mode};
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::gateway::Gateway;
use svc_pipeline::inside::{self, Person};
use svc_pipeline::moment;
use svc_store::baa;
use svc_store::identity::Identity;
use svc_store::organization::Organization;
use svc_store::session::{self, SEEN_STEP_MS, Session, SignedIn, Stage};
use svc_store::user::User;
use svc_store::{StoreError, Transaction};

use crate::form::Fields;
use crate::trouble::down;
use crate::{cookie, proof};

/// Somebody who is signed in.
pub struct Visitor {
    pub user: User,
    pub organization: Organization,
    pub baa: baa::Standing,
    pub session_id: String,
    /// What the hidden field `csrf` of their forms holds.
    pub csrf: String,
    /// The same, of pages that show the other mode.
    other_csrf: String,
    /// Of what the pages show.
    pub mode: Mode,
}

impl Visitor {
    /// In whose name the API is asked.
    pub fn person(&self) -> Person<'_> {
        Person {
            user: &self.user,
            organization: &self.organization,
            baa: self.baa,
            mode: self.mode,
        }
    }

    /// Whether their role may ask the API for this.
    pub fn may(&self, exchange: &Exchange, method: &Method, path: &str) -> bool {
        inside::may(&exchange.policy, self.user.role, method, path)
    }
}

/// Somebody who is not, and the proof of their forms.
pub(crate) struct Guest {
    pub(crate) csrf: String,
    cookie: String,
}

impl Guest {
    pub(crate) fn of(cookie: String) -> Self {
        Self {
            csrf: proof::of(&cookie),
            cookie,
        }
    }

    /// 256 bits, as 43 characters of an address, that only this browser's next request can be checked by.
    pub(crate) fn tag(&self, purpose: &str, text: &str) -> String {
        proof::tag(&self.cookie, &[purpose, text])
    }
}

/// 10 min: the time for a second factor.
const HALF_MS: i64 = 600_000;

const SESSION_COOKIE: &str = "svc_session";
const GUEST_COOKIE: &str = "svc_guest";

/// Who sends a request, where they are signed in.
///
/// # Errors
/// 503 while the store is down.
pub async fn visitor(exchange: &Exchange) -> Result<Option<Visitor>, Fault> {
    let Some((cookie, found)) = find(exchange, Stage::Whole).await? else {
        return Ok(None);
    };
    let SignedIn {
        session,
        user,
        organization,
        baa,
    } = found;
    let other = match session.mode {
        Mode::Live => Mode::Test,
        Mode::Test => Mode::Live,
    };
    let now = exchange.now;
    if session.seen_at.plus_ms(SEEN_STEP_MS) <= now {
        let touched = session::touch(&exchange.gateway.store, &session.id, now).await;
        touched.map_err(|error| down(&error))?;
    }
    Ok(Some(Visitor {
        user,
        organization,
        baa,
        csrf: proof::of_mode(&cookie, session.mode),
        other_csrf: proof::of_mode(&cookie, other),
        session_id: session.id,
        mode: session.mode,
    }))
}

/// Somebody whose password was right and whose second factor is still to come.
pub(crate) struct Half {
    pub(crate) user: User,
    pub(crate) session: Session,
    pub(crate) csrf: String,
}

/// Who is half way in.
///
/// # Errors
/// 503 while the store is down.
pub(crate) async fn half(exchange: &Exchange) -> Result<Option<Half>, Fault> {
    let found = find(exchange, Stage::Password).await?;
    Ok(found.map(|(cookie, found)| Half {
        user: found.user,
        session: found.session,
        csrf: proof::of(&cookie),
    }))
}

/// The session of the request's cookie, if it has come to this stage and is not over.
async fn find(exchange: &Exchange, stage: Stage) -> Result<Option<(String, SignedIn)>, Fault> {
    let Some(cookie) = cookie::read(exchange, SESSION_COOKIE) else {
        return Ok(None);
    };
    let (gateway, now) = (&exchange.gateway, exchange.now);
    let found = session::find(&gateway.store, &secret::digest(&cookie), now).await;
    let idle_ms = gateway.settings.sessions.idle_ms;
    let found = found.map_err(|error| down(&error))?.filter(|found| {
        found.session.stage == stage
            && !found.user.suspended
            && !found.session.is_over(idle_ms, now)
    });
    Ok(found.map(|found| (cookie, found)))
}

/// Checks that a form of a visitor is one of ours, sent from a page that showed the mode that pages show now.
///
/// # Errors
/// 403.
pub fn check_form(exchange: &Exchange, visitor: &Visitor, fields: &Fields) -> Result<(), Fault> {
    match proof::check(exchange, &visitor.csrf, fields) {
        Err(_) if proof::check(exchange, &visitor.other_csrf, fields).is_ok() => {
            Err(other_mode(visitor.mode))
        }
        checked => checked,
    }
}

/// As [`check_form`], whichever mode the page showed.
///
/// # Errors
/// 403.
pub(crate) fn check_modeless_form(
    exchange: &Exchange,
    visitor: &Visitor,
    fields: &Fields,
) -> Result<(), Fault> {
    proof::check(exchange, &visitor.csrf, fields)
        .or_else(|_| proof::check(exchange, &visitor.other_csrf, fields))
}

/// The mode belongs to the session: another tab has switched it since this one was opened.
fn other_mode(now: Mode) -> Fault {
    let message = match now {
        Mode::Live => {
            "This page showed test data, and another one has switched to live data since."
        }
        Mode::Test => {
            "This page showed live data, and another one has switched to test data since."
        }
    };
    let message = format!(
        "{message} Nothing was done. Load the page again, and look at which data it shows."
    );
    Fault::new(Code::MissingScope, message)
}

/// Somebody whom we do not know. Their forms are proved by a cookie that means nothing else.
pub(crate) fn guest(exchange: &mut Exchange) -> Guest {
    let known = known_guest(exchange);
    known.unwrap_or_else(|| {
        let value = token();
        cookie::set(exchange, GUEST_COOKIE, &value);
        Guest::of(value)
    })
}

/// As [`guest`], where the browser has been here before.
pub(crate) fn known_guest(exchange: &Exchange) -> Option<Guest> {
    cookie::read(exchange, GUEST_COOKIE).map(Guest::of)
}

/// As [`guest`], for a form that was sent: whoever has no cookie sent none of ours.
pub(crate) fn check_guest(exchange: &Exchange, fields: &Fields) -> Result<Guest, Fault> {
    let guest = known_guest(exchange).ok_or_else(proof::foreign)?;
    proof::check(exchange, &guest.csrf, fields)?;
    Ok(guest)
}

/// A session that is about to be stored, and its cookie.
pub(crate) struct Fresh {
    session: Session,
    cookie: String,
}

impl Fresh {
    /// For this user, from now on.
    pub(crate) fn new(gateway: &Gateway, user: &User, stage: Stage, now: Timestamp) -> Self {
        let life_ms = match stage {
            Stage::Password => HALF_MS,
            Stage::Whole => gateway.settings.sessions.whole_ms,
        };
        Self {
            session: Session {
                id: moment::id(IdKind::Bare),
                user_id: user.id.clone(),
                org_id: user.org_id.clone(),
                mode: Mode::Live,
                stage,
                shown_by: "password".to_owned(),
                identity: None,
                created_at: now,
                seen_at: now,
                expires_at: now.plus_ms(life_ms),
            },
            cookie: token(),
        }
    }

    /// How they have shown who they are, and whom a provider has vouched for.
    pub(crate) fn shown(mut self, by: &str, identity: Option<Identity>) -> Self {
        by.clone_into(&mut self.session.shown_by);
        self.session.identity = identity;
        self
    }

    pub(crate) fn showing(mut self, mode: Mode) -> Self {
        self.session.mode = mode;
        self
    }

    /// What is to be done in a transaction.
    pub(crate) fn to_store(&self) -> (Session, [u8; 32]) {
        (self.session.clone(), secret::digest(&self.cookie))
    }

    /// Hands the cookie out, once the session is stored.
    pub(crate) fn hand_out(&self, exchange: &mut Exchange) {
        cookie::set(exchange, SESSION_COOKIE, &self.cookie);
    }
}

/// Ends the session that a request came with, whatever became of it, in a transaction.
pub(crate) async fn end_old(
    tx: &mut Transaction<'_>,
    old: Option<&String>,
) -> Result<(), StoreError> {
    match old {
        Some(id) => session::end(tx, id).await,
        None => Ok(()),
    }
}

/// The id of the session that a request came with, at whatever stage.
pub(crate) async fn old(exchange: &Exchange) -> Result<Option<String>, Fault> {
    let Some(cookie) = cookie::read(exchange, SESSION_COOKIE) else {
        return Ok(None);
    };
    let digest = secret::digest(&cookie);
    let found = session::find(&exchange.gateway.store, &digest, exchange.now).await;
    let found = found.map_err(|error| down(&error))?;
    Ok(found.map(|found| found.session.id))
}

/// Has the browser forget its session.
pub(crate) fn forget(exchange: &mut Exchange) {
    cookie::forget(exchange, SESSION_COOKIE);
}

/// 256 random bits as a text.
pub(crate) fn token() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}
