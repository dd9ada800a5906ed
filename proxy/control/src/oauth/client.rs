//! Which application calls (contract 16.4): by HTTP Basic, by the form, or, where it can keep no secret, by its name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use percent_encoding::percent_decode_str;
use svc_core::gcra::Quota;
use svc_core::limit::Rule;
use svc_core::secret;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::filter::network;
use svc_pipeline::strangers;
use svc_store::oauth_application::{self, Application};

use super::answer::Refusal;
use super::form::Form;

/// Who a request says it is from.
#[derive(Debug, PartialEq, Eq)]
struct Presented {
    client_id: String,
    secret: Option<String>,
}

/// Contract 6: a third of a minute's requests may come at once, and a third of a minute refills them.
const PARTS: u32 = 3;
const PART_MS: u32 = 60_000 / PARTS;

/// The application that sends this form, past its rate limit. One that shows nothing but its name is not known to be
/// itself, and is counted by network, until a code shows it ([`itself`]).
pub(super) async fn authenticate(exchange: &Exchange, form: &Form) -> Result<Application, Refusal> {
    let presented = presented(&exchange.head.headers, form)?;
    let Some(Presented { client_id, secret }) = presented else {
        strangers::refuse(exchange, "client_missing");
        return Err(Refusal::invalid_client());
    };
    let found = oauth_application::find_by_client_id(&exchange.gateway.store, &client_id).await;
    let Some((application, secrets)) = found.map_err(|error| Refusal::store(&error))? else {
        strangers::refuse(exchange, "client_unknown");
        return Err(Refusal::invalid_client());
    };
    let is_itself = match (&secret, application.kind.has_secret()) {
        (Some(secret), true) => secrets.accept(&secret::digest(secret), exchange.now),
        (None, false) => true,
        (Some(_), false) | (None, true) => false,
    };
    if !is_itself || application.revoked_at.is_some() {
        strangers::refuse(exchange, "client_refused");
        somebody(exchange, &application).await?;
        return Err(Refusal::invalid_client());
    }
    if application.kind.has_secret() {
        itself(exchange, &application).await?;
    } else {
        somebody(exchange, &application).await?;
    }
    Ok(application)
}

/// Counts a request of an application that has shown that it is itself.
pub(super) async fn itself(exchange: &Exchange, application: &Application) -> Result<(), Refusal> {
    take(exchange, &format!("oauth:{}", application.id)).await
}

/// Counts a request of whoever knows an application's name: by network, so that nobody can use up the requests of a
/// client that they only know by name.
async fn somebody(exchange: &Exchange, application: &Application) -> Result<(), Refusal> {
    let network = network(exchange.head.client);
    take(exchange, &format!("oauth:{}:{network}", application.id)).await
}

/// Takes one request out of the bucket of a client.
pub(super) async fn take(exchange: &Exchange, bucket: &str) -> Result<(), Refusal> {
    let per_minute = exchange.policy.plans.limits.oauth_client_per_minute;
    let rule = Rule::Rate(Quota {
        limit: per_minute.div_ceil(PARTS),
        window_ms: PART_MS,
    });
    let verdict = exchange.gateway.limiter.take(bucket, rule).await?;
    if verdict.allowed {
        Ok(())
    } else {
        Err(Refusal::limited(verdict.retry_after_seconds))
    }
}

/// What a request shows, by one method; nothing where it shows nothing that could be looked up.
fn presented(headers: &HeaderMap, form: &Form) -> Result<Option<Presented>, Refusal> {
    let several =
        Refusal::invalid_request("More than one method of client authentication is used.");
    let has_assertion = form.get("client_assertion").is_some();
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let header = match (sent.next(), sent.next()) {
        (Some(_), Some(_)) => return Err(several),
        (header, _) => header,
    };
    let (form_id, form_secret) = (form.get("client_id"), form.get("client_secret"));
    let Some(header) = header else {
        return match (has_assertion, form_secret) {
            (true, Some(_)) => Err(several),
            // A method that is not supported shows nothing.
            (true, None) => Ok(None),
            (false, secret) => Ok(form_id.map(|id| Presented {
                client_id: id.to_owned(),
                secret: secret.map(str::to_owned),
            })),
        };
    };
    if form_secret.is_some() || has_assertion {
        return Err(several);
    }
    let Some(presented) = header.to_str().ok().and_then(basic) else {
        return Ok(None);
    };
    // Libraries repeat their name in the form; another one there would be a second client.
    match form_id {
        Some(id) if id != presented.client_id => Err(several),
        _ => Ok(Some(presented)),
    }
}

/// RFC 6749, 2.3.1: both halves are form-encoded before they are put together, and some libraries send `%5F` for `_`.
fn basic(header: &str) -> Option<Presented> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (client_id, secret) = decoded.split_once(':')?;
    let secret = form_decoded(secret)?;
    // No application has a name that databases do not keep.
    let client_id = form_decoded(client_id).filter(|id| !id.contains('\0'))?;
    Some(Presented {
        client_id,
        secret: (!secret.is_empty()).then_some(secret),
    })
}

fn form_decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shown(text: &str) -> Option<(String, Option<String>)> {
        let found = basic(&format!("Basic {}", STANDARD.encode(text)))?;
        Some((found.client_id, found.secret))
    }

    #[test]
    fn both_halves_of_basic_are_form_decoded() {
        let both = Some(("svc_app_x".to_owned(), Some("svc_cs_y".to_owned())));
        assert_eq!(shown("svc_app_x:svc_cs_y"), both);
        assert_eq!(shown("svc%5Fapp%5fx:svc%5Fcs%5Fy"), both);
        assert_eq!(
            shown("a+b:c%3Ad:e"),
            Some(("a b".into(), Some("c:d:e".into())))
        );
        assert_eq!(shown("svc_app_x:"), Some(("svc_app_x".into(), None)));
        assert_eq!(shown("svc_app_x"), None);
        assert_eq!(shown("%ff:x"), None);
        assert_eq!(shown("a%00b:x"), None);
        assert!(basic("Bearer abc").is_none());
        assert!(basic("Basic ###").is_none());
    }
}
