//! `version`: which dated shapes this response has (contract 5).

use futures_util::future::BoxFuture;
use http::HeaderValue;
use serde_json::json;
use svc_core::fault::{Code, Fault};
use svc_core::version::ApiVersion;

use super::Filter;
use crate::exchange::{Exchange, SVC_VERSION, given};
use crate::fact::Fact;

pub(super) struct Version;

impl Filter for Version {
    fn name(&self) -> &'static str {
        "version"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Version]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let version = resolve(exchange)?;
            exchange.facts.version = Some(version);
            exchange.trail.versioned(version);
            exchange
                .headers
                .insert(SVC_VERSION, HeaderValue::from_static(version.word()));
            Ok(())
        })
    }
}

/// Header, then the key's default, then the deployment's. Two headers are refused like an unlisted date.
fn resolve(exchange: &Exchange) -> Result<ApiVersion, Fault> {
    let mut sent = exchange.head.headers.get_all(SVC_VERSION).iter();
    match (sent.next(), sent.next()) {
        (None, _) => {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            Ok(caller
                .default_version
                .unwrap_or(exchange.gateway.settings.default_version))
        }
        (Some(value), None) => {
            let requested = value.to_str().unwrap_or_default();
            ApiVersion::parse(requested).ok_or_else(|| unsupported(requested))
        }
        (Some(_), Some(_)) => Err(unsupported("")),
    }
}

/// Longest date that is echoed in the error's details.
const MAX_ECHO_CHARS: usize = 32;

fn unsupported(requested: &str) -> Fault {
    let supported: Vec<&str> = ApiVersion::ALL
        .iter()
        .map(|version| version.word())
        .collect();
    let requested: String = requested.chars().take(MAX_ECHO_CHARS).collect();
    Code::InvalidApiVersion
        .fault()
        .at("Svc-Version")
        .detail("requested", requested)
        .detail("supported", json!(supported))
}
