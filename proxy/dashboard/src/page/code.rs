//! The second step of signing in: a code of an authenticator app, or a recovery code.

use askama::Template;
use http::StatusCode;
use svc_core::fault::Fault;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::response::Response;
use svc_pipeline::strangers;
use svc_store::second_factor::{self as stored, Step};
use svc_store::session::Stage;
use svc_store::throttle::{self, Bucket, Buckets};
use svc_store::user::{self, User};
use svc_store::{TransactionError, audit, session as sessions};

use super::consent;
use super::login;
use crate::field::Input;
use crate::form::Fields;
use crate::frame::{Answering, html_for};
use crate::redirect::{local, see_other};
use crate::session::{self, Fresh, Half};
use crate::told::Told;
use crate::trouble::down;
use crate::{journal, proof, second_factor};

/// Wrong codes of one account in 15 minutes, wherever they come from.
const FREE: u32 = 5;

#[derive(Template)]
#[template(path = "code.html")]
struct Code {
    csrf: String,
    next: String,
    told: Told,
    code: Input,
}

pub(crate) fn show(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async move {
        let query = Fields::of_query(exchange);
        let next = local(query.filled("next")).to_owned();
        let Some(half) = session::half(exchange).await? else {
            return Ok(see_other(exchange, "/ui/login"));
        };
        render(exchange, StatusCode::OK, &half, next, Told::default()).await
    })
}

async fn render(
    exchange: &Exchange,
    status: StatusCode,
    half: &Half,
    next: String,
    told: Told,
) -> Result<Response, Fault> {
    let target = consent::target(exchange, &next).await?;
    let page = Code {
        csrf: half.csrf.clone(),
        next,
        told,
        code: Input::text("code", "Code")
            .autocomplete("one-time-code")
            .hint("Six digits from your authenticator app, or one of your recovery codes."),
    };
    html_for(exchange, status, &page, target.as_slice())
}

/// What somebody has shown.
pub(crate) enum Shown {
    Step(Step),
    Recovery([u8; 32]),
}

impl Shown {
    const fn word(&self) -> &'static str {
        match self {
            Self::Step(_) => "totp",
            Self::Recovery(_) => "recovery_code",
        }
    }
}

pub(crate) fn submit(exchange: &mut Exchange, fields: Fields) -> Answering<'_> {
    Box::pin(async move {
        let Some(half) = session::half(exchange).await? else {
            return Ok(see_other(exchange, "/ui/login"));
        };
        proof::check(exchange, &half.csrf, &fields)?;
        let next = local(fields.filled("next")).to_owned();
        strangers::admit(exchange)?;
        let counted = Buckets::from([Bucket::own(&["second factor", &half.user.id], FREE)]);
        let store = &exchange.gateway.store;
        let taken = throttle::take(store, &counted, exchange.now).await;
        if let Some(wait_ms) = taken.map_err(|error| down(&error))? {
            strangers::refuse(exchange, "sign_in_throttled");
            let told = login::told_to_wait(exchange, wait_ms);
            return render(exchange, StatusCode::TOO_MANY_REQUESTS, &half, next, told).await;
        }
        let shown = read(exchange, &half.user, fields.text("code")).await?;
        let end = match shown {
            Some(shown) => finish(exchange, &half, shown, counted).await?,
            None => End::Wrong,
        };
        match end {
            End::In => return Ok(see_other(exchange, &next)),
            End::Over => return Ok(see_other(exchange, "/ui/login")),
            End::Wrong => {}
        }
        login::turned_away(exchange, &half.user, "wrong_code").await?;
        let told = Told::message("This code is not right, or was used before.");
        render(exchange, StatusCode::UNAUTHORIZED, &half, next, told).await
    })
}

/// What a code is, where it can be right.
pub(crate) async fn read(
    exchange: &Exchange,
    user: &User,
    code: &str,
) -> Result<Option<Shown>, Fault> {
    let digits = code
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .count();
    if digits > second_factor::CODE_CHARS {
        return Ok(Some(Shown::Recovery(second_factor::recovery_digest(code))));
    }
    let found = stored::find(&exchange.gateway.store, &user.org_id, &user.id).await;
    let Some(found) = found.map_err(|error| down(&error))? else {
        return Ok(None);
    };
    let step = second_factor::step(found.secret.as_str(), code, exchange.now)?;
    Ok(step.map(|step| Shown::Step(found.at(step))))
}

/// What a second step comes to.
enum End {
    In,
    /// The code is not right, or somebody was faster.
    Wrong,
    /// What was shown before it counts no more: its session has ended meanwhile.
    Over,
}

/// Uses the code up and makes the session a whole one, with another cookie.
async fn finish(
    exchange: &mut Exchange,
    half: &Half,
    shown: Shown,
    counted: Buckets,
) -> Result<End, Fault> {
    let now = exchange.now;
    let (shown_by, identity) = (&half.session.shown_by, half.session.identity.clone());
    let fresh = Fresh::new(&exchange.gateway, &half.user, Stage::Whole, now);
    let fresh = fresh.shown(shown_by, identity);
    let user = half.user.clone();
    let (new, digest) = fresh.to_store();
    let old = half.session.id.clone();
    let row = journal::done(exchange, &half.user, "user.signed_in", &half.user);
    let row = journal::detailed(row, "by", shown_by.as_str());
    let row = journal::detailed(row, "second_factor", shown.word());
    let done = exchange.gateway.store.transaction(move |mut tx| {
        Box::pin(async move {
            user::lock(&mut tx, &user.org_id, &user.id).await?;
            if !sessions::is_there(&mut tx, &old).await? {
                return Ok::<_, TransactionError<Fault>>(End::Over);
            }
            let is_new = match &shown {
                Shown::Step(step) => stored::use_step(&mut tx, &user.id, step).await?,
                Shown::Recovery(code) => stored::use_code(&mut tx, &user.id, code, now).await?,
            };
            if !is_new {
                return Ok(End::Wrong);
            }
            sessions::end(&mut tx, &old).await?;
            login::tie(&mut tx, &user, &new, now).await?;
            sessions::insert(&mut tx, &new, &digest).await?;
            throttle::forgive(&mut tx, &counted).await?;
            user::signed_in(&mut tx, &user.id, now).await?;
            audit::record(&mut tx, &row).await?;
            Ok(End::In)
        })
    });
    let end = match done.await {
        Ok(end) => end,
        Err(error) => return Err(login::not_tied(exchange, &half.user, error).await?),
    };
    if matches!(end, End::In) {
        fresh.hand_out(exchange);
    }
    Ok(end)
}
