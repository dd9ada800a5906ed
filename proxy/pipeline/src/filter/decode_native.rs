//! `decode_native`: the body of `POST /v1/ai/chat` as a canonical chat (contract 2, steps 9 to 11).

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use svc_core::fault::{Fault, invalid};
use svc_core::surface::native::{self, NativeRequest};

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
            let request = decode(exchange, body).await?;
            exchange.facts.thread = Some(Thread::asked(&request));
            exchange.facts.chat = Some(request.chat);
            Ok(())
        })
    }
}

/// Parsing this much takes about a millisecond; more is not for a thread that serves others.
const INLINE_BYTES: usize = 256 * 1024;

async fn decode(exchange: &Exchange, body: Bytes) -> Result<NativeRequest, Fault> {
    if body.len() <= INLINE_BYTES {
        return native::decode(&body);
    }
    let parsing = exchange
        .gateway
        .background
        .spawn_blocking(move || native::decode(&body));
    parsing
        .await
        .map_err(|error| Fault::internal(format_args!("decoding a body: {error}")))?
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
