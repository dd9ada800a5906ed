//! Who is there: the cookie of a session, the proof that a form is ours, and the address that people are sent to when
//! they have to sign in first.
//!
//! A cookie is 256 random bits, of which the store keeps a digest. It is another one after every sign-in, every change
//! of password and every change of role.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cookie::{Cookie, SameSite};
use hmac::{Hmac, KeyInit, Mac};
use http::header::{COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rand::RngExt;
use sha2::Sha256;
use svc_core::fault::{Code, Fault};
use svc_core::id::IdKind;
use svc_core::secret::{self, Mode};
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::gateway::Gateway;
use svc_pipeline::inside::{self, Person};
use svc_pipeline::moment;
use svc_pipeline::response::{Body, Response};
use svc_store::baa;
use svc_store::identity::Identity;
use svc_store::organization::Organization;
use svc_store::session::{self, SEEN_STEP_MS, Session, SignedIn, Stage};
use svc_store::user::User;
use svc_store::{StoreError, Transaction};
use url::Url;

use crate::form::Fields;

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
            csrf: proof(&cookie),
            cookie,
        }
    }

    /// 256 bits, as 43 characters of an address, that only this browser's next request can be checked by.
    pub(crate) fn tag(&self, purpose: &str, text: &str) -> String {
        tag(&self.cookie, &[purpose, text])
    }
}

/// 10 min: the time for a second factor.
const HALF_MS: i64 = 600_000;

const SESSION_COOKIE: &str = "svc_session";
const GUEST_COOKIE: &str = "svc_guest";
/// Browsers take such a cookie from the very host alone, over HTTPS, for all paths (RFC 6265bis, 4.1.3.2).
const HOST_PREFIX: &str = "__Host-";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

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
    let now = exchange.started_at;
    if session.seen_at.plus_ms(SEEN_STEP_MS) <= now {
        let touched = session::touch(&exchange.gateway.store, &session.id, now).await;
        touched.map_err(|error| down(&error))?;
    }
    Ok(Some(Visitor {
        user,
        organization,
        baa,
        csrf: proof_in(&cookie, session.mode),
        other_csrf: proof_in(&cookie, other),
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
        csrf: proof(&cookie),
    }))
}

/// The session of the request's cookie, if it has come to this stage and is not over.
async fn find(exchange: &Exchange, stage: Stage) -> Result<Option<(String, SignedIn)>, Fault> {
    let Some(cookie) = cookie(exchange, SESSION_COOKIE) else {
        return Ok(None);
    };
    let (gateway, now) = (&exchange.gateway, exchange.started_at);
    let found = session::find(&gateway.store, &secret::digest(&cookie), now).await;
    let idle_ms = gateway.settings.sessions.idle_ms;
    let found = found.map_err(|error| down(&error))?.filter(|found| {
        found.session.stage == stage
            && !found.user.suspended
            && !found.session.is_over(idle_ms, now)
    });
    Ok(found.map(|found| (cookie, found)))
}

/// What htmx says of itself, and how it is sent to another page: it would put what a 303 leads to into this one.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// The way to the sign-in page and back to the page that was asked for.
pub fn sign_in_first(exchange: &Exchange) -> Response {
    let head = &exchange.head;
    let asked = match &head.query {
        Some(query) => format!("{}?{query}", head.path),
        None => head.path.clone(),
    };
    let next: String = form_urlencoded::byte_serialize(asked.as_bytes()).collect();
    let mut response = see_other(exchange, &format!("/ui/login?next={next}"));
    if head.headers.contains_key(HX_REQUEST)
        && let Some(location) = response.headers.remove(LOCATION)
    {
        response.status = StatusCode::OK;
        response.headers.insert(HX_REDIRECT, location);
    }
    response
}

/// 303: what comes next is a GET of another page of ours.
pub fn see_other(exchange: &Exchange, local: &str) -> Response {
    let mut headers = crate::frame::headers(&[]);
    if let Ok(location) = HeaderValue::from_str(local) {
        headers.insert(LOCATION, location);
    }
    exchange.respond(
        StatusCode::SEE_OTHER,
        headers,
        Body::Full(Default::default()),
    )
}

/// A path of our own; whatever could lead anywhere else is the overview.
pub(crate) fn local(next: Option<&str>) -> &str {
    let is_local = |next: &&str| {
        let second = next.as_bytes().get(1);
        next.starts_with('/')
            && !matches!(second, Some(b'/' | b'\\'))
            && next.bytes().all(|byte| byte.is_ascii_graphic())
            && !next.contains('\\')
    };
    next.filter(is_local).unwrap_or("/ui")
}

/// Checks that a form of a visitor is one of ours, sent from a page that showed the mode that pages show now.
///
/// # Errors
/// 403.
pub fn check_form(exchange: &Exchange, visitor: &Visitor, fields: &Fields) -> Result<(), Fault> {
    match check(exchange, &visitor.csrf, fields) {
        Err(_) if check(exchange, &visitor.other_csrf, fields).is_ok() => {
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
    check(exchange, &visitor.csrf, fields).or_else(|_| check(exchange, &visitor.other_csrf, fields))
}

pub(crate) fn check(exchange: &Exchange, csrf: &str, fields: &Fields) -> Result<(), Fault> {
    let headers = &exchange.head.headers;
    let base = &exchange.gateway.settings.base_url;
    if is_foreign(headers, base) || !is_equal(fields.text("csrf"), csrf) {
        return Err(foreign());
    }
    Ok(())
}

fn foreign() -> Fault {
    Fault::new(
        Code::MissingScope,
        "This form is out of date or was sent from another site. Go back, load the page again and repeat it.",
    )
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

/// What browsers say of where a form was sent from. Pages that send no referrer have their forms' `Origin` be `null`, so
/// that only `Sec-Fetch-Site` tells ours from others; over plain HTTP browsers leave it out, and the token decides.
fn is_foreign(headers: &HeaderMap, base_url: &str) -> bool {
    let one = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = one(SEC_FETCH_SITE) {
        return site != "same-origin";
    }
    match one(ORIGIN) {
        None | Some("null") => false,
        Some(origin) => Some(origin) != origin_of(base_url).as_deref(),
    }
}

fn origin_of(base_url: &str) -> Option<String> {
    let url = Url::parse(base_url).ok()?;
    Some(url.origin().ascii_serialization())
}

/// Of two texts of which one is secret, without telling where they differ.
pub(crate) fn is_equal(sent: &str, expected: &str) -> bool {
    let digest = |text: &str| secret::digest(text);
    !expected.is_empty() && digest(sent) == digest(expected)
}

/// Somebody whom we do not know. Their forms are proved by a cookie that means nothing else.
pub(crate) fn guest(exchange: &mut Exchange) -> Guest {
    let known = known_guest(exchange);
    known.unwrap_or_else(|| {
        let value = token();
        set_cookie(exchange, GUEST_COOKIE, &value);
        Guest::of(value)
    })
}

/// As [`guest`], where the browser has been here before.
pub(crate) fn known_guest(exchange: &Exchange) -> Option<Guest> {
    cookie(exchange, GUEST_COOKIE).map(Guest::of)
}

/// As [`guest`], for a form that was sent: whoever has no cookie sent none of ours.
pub(crate) fn check_guest(exchange: &Exchange, fields: &Fields) -> Result<Guest, Fault> {
    let guest = known_guest(exchange).ok_or_else(foreign)?;
    check(exchange, &guest.csrf, fields)?;
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
        set_cookie(exchange, SESSION_COOKIE, &self.cookie);
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
    let Some(cookie) = cookie(exchange, SESSION_COOKIE) else {
        return Ok(None);
    };
    let digest = secret::digest(&cookie);
    let found = session::find(&exchange.gateway.store, &digest, exchange.started_at).await;
    let found = found.map_err(|error| down(&error))?;
    Ok(found.map(|found| found.session.id))
}

/// Has the browser forget its session.
pub(crate) fn forget(exchange: &mut Exchange) {
    let (name, is_secure) = named(exchange, SESSION_COOKIE);
    let cookie = written(&name, "", is_secure) + "; Max-Age=0";
    append(exchange, &cookie);
}

/// 256 random bits as a text.
pub(crate) fn token() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}

/// What a form of whoever has this cookie carries. It tells nothing about the cookie.
fn proof(cookie: &str) -> String {
    tag(cookie, &["svc form"])
}

/// As [`proof`], of pages that show this mode.
fn proof_in(cookie: &str, mode: Mode) -> String {
    tag(cookie, &["svc form", mode.word()])
}

/// The words under the key that a cookie is; which word ends where is part of it.
fn tag(cookie: &str, words: &[&str]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(cookie.as_bytes()) else {
        return String::new();
    };
    for word in words {
        mac.update(&(word.len() as u64).to_be_bytes());
        mac.update(word.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// The name of a cookie, and whether it is for HTTPS alone.
fn named(exchange: &Exchange, name: &str) -> (String, bool) {
    let is_secure = exchange.gateway.settings.base_url.starts_with("https:");
    let name = if is_secure {
        format!("{HOST_PREFIX}{name}")
    } else {
        name.to_owned()
    };
    (name, is_secure)
}

fn cookie(exchange: &Exchange, name: &str) -> Option<String> {
    let (name, _) = named(exchange, name);
    let sent = exchange.head.headers.get_all(COOKIE).iter();
    let texts = sent.filter_map(|value| value.to_str().ok());
    let mut cookies = texts.flat_map(Cookie::split_parse).flatten();
    let found = cookies.find(|cookie| cookie.name() == name)?;
    Some(found.value().to_owned()).filter(|value| !value.is_empty())
}

fn set_cookie(exchange: &mut Exchange, name: &str, value: &str) {
    let (name, is_secure) = named(exchange, name);
    append(exchange, &written(&name, value, is_secure));
}

fn written(name: &str, value: &str, is_secure: bool) -> String {
    Cookie::build((name, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_secure)
        .to_string()
}

fn append(exchange: &mut Exchange, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        exchange.headers.append(SET_COOKIE, value);
    }
}

pub(crate) fn down(error: &StoreError) -> Fault {
    if error.is_outage() {
        Fault::unavailable(format_args!("accounts: {error}"))
    } else {
        Fault::internal(format_args!("accounts: {error}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for ours in [
            "/ui",
            "/ui/keys?status=active",
            "/v1/oauth/authorize?client_id=svc_app_1",
        ] {
            assert_eq!(local(Some(ours)), ours);
        }
        for foreign in [
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "ui",
            "",
            "/ui\r\nSet-Cookie: a=b",
            "/ui/\\..",
            "javascript:alert(1)",
        ] {
            assert_eq!(local(Some(foreign)), "/ui", "{foreign:?}");
        }
    }

    #[test]
    fn forms_of_other_sites_are_foreign() {
        let base = "https://gateway.example:8443/";
        let foreign = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_str(value).expect("a value"));
            }
            is_foreign(&headers, base)
        };
        assert!(!foreign(&[
            ("sec-fetch-site", "same-origin"),
            ("origin", "null")
        ]));
        assert!(!foreign(&[("origin", "https://gateway.example:8443")]));
        assert!(!foreign(&[]));
        assert!(foreign(&[("sec-fetch-site", "cross-site")]));
        assert!(foreign(&[
            ("sec-fetch-site", "same-site"),
            ("origin", "https://gateway.example:8443")
        ]));
        assert!(foreign(&[("sec-fetch-site", "none")]));
        assert!(foreign(&[("origin", "https://gateway.example")]));
        assert!(foreign(&[("origin", "https://evil.example")]));
    }

    #[test]
    fn a_proof_belongs_to_one_cookie() {
        assert_eq!(proof("a"), proof("a"));
        assert_ne!(proof("a"), proof("b"));
        assert_ne!(proof_in("a", Mode::Live), proof_in("a", Mode::Test));
        assert!(!is_equal("", ""));
    }
}
