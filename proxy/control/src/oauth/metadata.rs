//! What clients may know of this server (RFC 8414; contract 16.2).

use futures_util::future::BoxFuture;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};
use svc_core::oauth::detail;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::response::{Body, Response};

use super::{AUTHORIZE, INTROSPECT, TOKEN};

pub(crate) struct Metadata;

impl Handler for Metadata {
    fn name(&self) -> &'static str {
        "oauth_metadata"
    }

    fn needs(&self) -> &'static [Fact] {
        &[]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            // 5 min, for everybody: the same for all, and nothing of it is a secret (contract 16.2).
            let cached = HeaderValue::from_static("public, max-age=300");
            headers.insert(CACHE_CONTROL, cached);
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            let document = document(&exchange.gateway.settings.base_url).to_string();
            exchange.respond(StatusCode::OK, headers, Body::Full(document.into()))
        })
    }
}

fn document(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}{AUTHORIZE}"),
        "token_endpoint": format!("{issuer}{TOKEN}"),
        "introspection_endpoint": format!("{issuer}{INTROSPECT}"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "authorization_details_types_supported": [detail::TYPE],
        "authorization_response_iss_parameter_supported": true,
    })
}
