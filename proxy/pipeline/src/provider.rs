//! Providers as the operator configured them: where a driver's requests go and with which credential.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use svc_core::fault::{Code, Fault};
use svc_plugin::AuthPlacement;
use svc_store::ledger::BilledTo;

use crate::inference::{Breaker, Observed};
use crate::upstream::Target;

/// A secret that no `Debug` shows.
pub struct Secret(String);

impl Secret {
    /// The secret as the operator gave it.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}

/// How the host says who it is. Added after the driver has returned; a driver never sees it.
pub enum Credential {
    None,
    /// Where the driver's manifest wants it.
    Placed(Secret),
    /// As the organization that owns it says, whatever the driver wants.
    Header(HeaderName, HeaderValue),
}

/// One provider, as operator or organization set it up, and how it fares.
pub struct Provider {
    pub target: Arc<Target>,
    pub credential: Credential,
    pub breaker: Breaker,
    /// What its calls say about it.
    pub observed: Observed,
    /// Who pays it: the operator, or the organization whose credential this is.
    pub billed_to: BilledTo,
}

/// Providers of live and of test mode, by the name that the catalogue uses. Test mode never reaches a live
/// provider's key (contract 21).
#[derive(Default)]
pub struct Providers {
    pub live: BTreeMap<String, Arc<Provider>>,
    pub test: BTreeMap<String, Arc<Provider>>,
}

impl Provider {
    /// Puts the credential where the driver's manifest says.
    ///
    /// # Errors
    /// 503 when the manifest asks for what this host or this configuration does not have.
    pub fn authorize(
        &self,
        placement: &AuthPlacement,
        headers: &mut HeaderMap,
        path: &mut String,
    ) -> Result<(), Fault> {
        let secret = match &self.credential {
            Credential::Placed(Secret(secret)) => secret,
            Credential::Header(name, value) => {
                headers.insert(name, value.clone());
                return Ok(());
            }
            Credential::None => {
                return match placement {
                    AuthPlacement::None => Ok(()),
                    _ => Err(unusable("the provider has no credential")),
                };
            }
        };
        match placement {
            AuthPlacement::None => Ok(()),
            AuthPlacement::Header { name, template } => {
                let mut value = HeaderValue::from_str(&template.replace("{secret}", secret))
                    .map_err(|_| unusable("the provider's credential is not a header value"))?;
                value.set_sensitive(true);
                headers.insert(name, value);
                Ok(())
            }
            AuthPlacement::Query { name } => {
                path.push(if path.contains('?') { '&' } else { '?' });
                path.push_str(name);
                path.push('=');
                path.extend(utf8_percent_encode(secret, RESERVED));
                Ok(())
            }
        }
    }
}

fn unusable(cause: &'static str) -> Fault {
    Code::InferenceUnavailable.fault().because(cause)
}

/// RFC 3986: everything but unreserved characters.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
