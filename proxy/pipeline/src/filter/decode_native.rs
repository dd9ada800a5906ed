//! `decode_native`: the body of `POST /v1/ai/chat` as a canonical chat (contract 2, steps 9 to 11).

use futures_util::future::BoxFuture;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use svc_core::fault::{Fault, invalid};
use svc_core::surface::native;

use super::Filter;
use crate::conversation::Thread;
use crate::exchange::Exchange;
use crate::fact::Fact;

pub(super) struct DecodeNative;

impl Filter for DecodeNative {
    fn name(&self) -> &'static str {
        "decode_native"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Admitted]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Chat]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let limit_bytes = exchange.gateway.settings.inference_body_bytes;
            let body = exchange.body.read(limit_bytes).await?;
            json_media_type(&exchange.head.headers)?;
            let request = native::decode(&body)?;
            exchange.facts.thread = Some(Thread::asked(&request));
            exchange.facts.chat = Some(request.chat);
            Ok(())
        })
    }
}

/// Contract 1.2: a wrong media type is a validation failure.
pub(super) fn json_media_type(headers: &HeaderMap) -> Result<(), Fault> {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(invalid("$header.Content-Type", "must be application/json"))
}
