//! Signing in at the operator's OpenID provider: the way there and the way back.
//!
//! Nothing is stored in between. What ties the answer to the browser that asked is computed from its guest cookie and
//! the random text in `state`; the codes of the provider are used up by their first redemption.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use rand::RngExt;
use svc_core::fault::{Code, Fault};
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::filter::network;
use svc_pipeline::openid::{OpenIdError, Proof, Vouched};
use svc_pipeline::response::Response;
use svc_pipeline::strangers;
use svc_store::throttle::{self, Bucket, Buckets};
use svc_store::user::User;
use svc_store::{identity, password};

use super::login::{self, Proof as Judged, Shown, let_in};
use crate::form::Fields;
use crate::frame::Answering;
use crate::proof::is_equal;
use crate::redirect::{local, see_other};
use crate::session::{self, Guest};
use crate::told::Told;
use crate::trouble::down;

/// 10 min: the time to sign in at the provider.
const LIFE_MS: i64 = 600_000;
/// Answers from one network in 15 minutes that let nobody in: each is a question to the provider.
const FREE_OF_NETWORK: u32 = 100;

/// The address that begins a sign-in and leads to `next` at its end.
pub(super) fn start(next: &str) -> String {
    let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    format!("/ui/login/openid?next={next}")
}

pub(crate) fn begin(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let openid = exchange.gateway.openid.clone();
        let openid = openid.ok_or_else(|| Code::NotFound.fault())?;
        let query = Fields::of_query(exchange);
        let next = local(query.filled("next")).to_owned();
        let guest = session::guest(exchange);
        let state = State {
            ends_at: exchange.now.plus_ms(LIFE_MS),
            next,
        };
        let proof = proof(&guest, state.write(&guest));
        match openid.authorization_url(&proof).await {
            Ok(url) => Ok(see_other(exchange, &url)),
            Err(error) => refuse(exchange, guest, state.next, &error).await,
        }
    })
}

pub(crate) fn finish(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let openid = exchange.gateway.openid.clone();
        let openid = openid.ok_or_else(|| Code::NotFound.fault())?;
        let query = Fields::of_query(exchange);
        let guest = session::guest(exchange);
        let sent = query.text("state");
        let Some(state) = State::read(&guest, sent, exchange.now) else {
            return out_of_date(exchange, guest).await;
        };
        let (next, proof) = (state.next, proof(&guest, sent.to_owned()));
        // RFC 9207, 2.4: the answer of another provider.
        let issuer = query.filled("iss");
        if issuer.is_some_and(|issuer| issuer != openid.issuer()) {
            return out_of_date(exchange, guest).await;
        }
        let Some(code) = query.filled("code") else {
            let error = query.text("error");
            if TROUBLE.contains(&error) {
                let error = OpenIdError::Unavailable(error.to_owned());
                return refuse(exchange, guest, next, &error).await;
            }
            let message = format!("The sign-in with {} did not come about.", openid.label());
            let told = Told::message(message);
            return login::render(exchange, StatusCode::UNAUTHORIZED, guest, next, "", told).await;
        };
        strangers::admit(exchange)?;
        let counted = counted(exchange);
        let taken = throttle::take(&exchange.gateway.store, &counted, exchange.now).await;
        if let Some(wait_ms) = taken.map_err(|error| down(&error))? {
            strangers::refuse(exchange, "sign_in_throttled");
            let told = login::told_to_wait(exchange, wait_ms);
            let status = StatusCode::TOO_MANY_REQUESTS;
            return login::render(exchange, status, guest, next, "", told).await;
        }
        let vouched = match openid.redeem(code.to_owned(), &proof).await {
            Ok(vouched) => vouched,
            Err(error) => return refuse(exchange, guest, next, &error).await,
        };
        let found = match whose(exchange, vouched, counted).await? {
            Ok(found) => found,
            Err(error) => return refuse(exchange, guest, next, &error).await,
        };
        let (status, message) = match found {
            Some((user, judged)) => match let_in(exchange, user, judged, &next).await? {
                Some(response) => return Ok(response),
                None => (StatusCode::UNAUTHORIZED, login::CHANGED),
            },
            None => (
                StatusCode::FORBIDDEN,
                "There is no account for you here. An administrator of your organization can invite you.",
            ),
        };
        login::render(exchange, status, guest, next, "", Told::message(message)).await
    })
}

/// What a provider says when it is the one that has failed (RFC 6749, 4.1.2.1).
const TROUBLE: [&str; 2] = ["server_error", "temporarily_unavailable"];

/// What an answer is counted by, before it is looked at.
fn counted(exchange: &Exchange) -> Buckets {
    let network = network(exchange.head.client).to_string();
    Buckets::from([Bucket::shared(
        &["openid network", &network],
        FREE_OF_NETWORK,
    )])
}

/// Whose account somebody may use whom the provider vouches for. An account is known by its identity, and once by the
/// address that it was invited under.
async fn whose(
    exchange: &Exchange,
    vouched: Vouched,
    counted: Buckets,
) -> Result<Result<Option<(User, Judged)>, OpenIdError>, Fault> {
    let Vouched { identity, email } = vouched;
    let store = &exchange.gateway.store;
    let known = identity::find(store, &identity).await;
    let known = known.map_err(|error| down(&error))?;
    let (user, shown) = match (known, email) {
        (Some(user), _) => (Some(user), Shown::Identity(identity)),
        (None, Ok(Some(email))) => {
            let invited = password::find(store, &email).await;
            let invited = invited.map_err(|error| down(&error))?;
            (invited.map(|(user, _)| user), Shown::NewIdentity(identity))
        }
        (None, Ok(None)) => (None, Shown::NewIdentity(identity)),
        (None, Err(error)) => return Ok(Err(error)),
    };
    match user {
        None => {
            strangers::refuse(exchange, "sign_in_unknown");
            Ok(Ok(None))
        }
        Some(user) if user.suspended => {
            login::turned_away(exchange, &user, "suspended").await?;
            Ok(Ok(None))
        }
        Some(user) => {
            let judged = Judged { shown, counted };
            Ok(Ok(Some((user, judged))))
        }
    }
}

/// The sign-in page again, which says what became of the attempt. Why stands in the log.
async fn refuse(
    exchange: &Exchange,
    guest: Guest,
    next: String,
    error: &OpenIdError,
) -> Result<Response, Fault> {
    tracing::warn!(request_id = %exchange.request_id, %error, "a sign-in through the OpenID provider failed");
    let (status, message) = match error {
        OpenIdError::Unavailable(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The sign-in service cannot be used at the moment.",
        ),
        OpenIdError::Refused(_) => {
            strangers::refuse(exchange, "sign_in_refused");
            (
                StatusCode::UNAUTHORIZED,
                "The sign-in service did not confirm who you are. Try it again.",
            )
        }
    };
    login::render(exchange, status, guest, next, "", Told::message(message)).await
}

/// An answer that this browser did not ask for, or not lately.
async fn out_of_date(exchange: &Exchange, guest: Guest) -> Result<Response, Fault> {
    strangers::refuse(exchange, "sign_in_out_of_date");
    let told = Told::message(
        "This sign-in is out of date, or was begun in another browser. Begin it again.",
    );
    let next = local(None).to_owned();
    login::render(exchange, StatusCode::BAD_REQUEST, guest, next, "", told).await
}

/// What `state` and the cookie amount to.
fn proof(guest: &Guest, state: String) -> Proof {
    Proof {
        nonce: guest.tag("openid nonce", &state),
        code_verifier: guest.tag("openid verifier", &state),
        state,
    }
}

/// What comes back from the provider: `{ends_at}.{random}.{next}.{tag}`.
#[derive(Debug, PartialEq, Eq)]
struct State {
    ends_at: Timestamp,
    next: String,
}

impl State {
    fn write(&self, guest: &Guest) -> String {
        let random = URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 16]>());
        let next = URL_SAFE_NO_PAD.encode(&self.next);
        let text = format!("{}.{random}.{next}", self.ends_at.0);
        let tag = guest.tag("openid state", &text);
        format!("{text}.{tag}")
    }

    /// What this guest was sent away with, while it is good.
    fn read(guest: &Guest, sent: &str, now: Timestamp) -> Option<Self> {
        let (text, tag) = sent.rsplit_once('.')?;
        if !is_equal(tag, &guest.tag("openid state", text)) {
            return None;
        }
        let mut words = text.split('.');
        let ends_at = Timestamp(words.next()?.parse().ok()?);
        let next = URL_SAFE_NO_PAD.decode(words.nth(1)?).ok()?;
        let next = String::from_utf8(next).ok()?;
        (now < ends_at).then_some(Self { ends_at, next })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_state_belongs_to_one_browser_and_ten_minutes() {
        let (ours, theirs) = (Guest::of("a".into()), Guest::of("b".into()));
        let now = Timestamp(1_000_000);
        let state = State {
            ends_at: now.plus_ms(LIFE_MS),
            next: "/ui/keys?status=active".into(),
        };
        let written = state.write(&ours);
        assert_eq!(State::read(&ours, &written, now).unwrap(), state);
        assert!(State::read(&ours, &written, now.plus_ms(LIFE_MS)).is_none());
        assert!(State::read(&theirs, &written, now).is_none());
        assert_ne!(state.write(&ours), written);
        let elsewhere = written.replacen('.', ".A", 1);
        for forged in ["", ".", "1.2.3.4", &elsewhere, &written[1..]] {
            assert!(State::read(&ours, forged, now).is_none(), "{forged}");
        }
    }

    #[test]
    fn what_goes_to_the_provider_tells_nothing_of_the_cookie_and_differs() {
        let guest = Guest::of("a".into());
        let Proof {
            state,
            nonce,
            code_verifier,
        } = proof(&guest, "state".into());
        assert_eq!(code_verifier.len(), 43);
        assert!(nonce != code_verifier && nonce != state && nonce != guest.csrf);
    }
}
