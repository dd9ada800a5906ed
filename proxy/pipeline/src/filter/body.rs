//! Request bodies for the decoders: read within the limit, checked for their media type, and parsed where that
//! takes nobody else's time.

use svc_core::fault::Fault;

use super::decode_native::json_media_type;
use crate::exchange::Exchange;

/// Parsing this much takes about a millisecond; more is not for a thread that serves others.
const INLINE_BYTES: usize = 256 * 1024;

/// Reads the body and parses it (contract 2, steps 9 to 11).
///
/// # Errors
/// 413 for a body beyond the limit, 422 for another media type, and the parser's own.
pub(super) async fn parsed<T: Send + 'static>(
    exchange: &mut Exchange,
    parse: impl FnOnce(&[u8]) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let limit_bytes = exchange.gateway.settings.inference_body_bytes;
    let body = exchange.body.read(limit_bytes).await?;
    json_media_type(&exchange.head.headers)?;
    if body.len() <= INLINE_BYTES {
        return parse(&body);
    }
    let parsing = exchange
        .gateway
        .background
        .spawn_blocking(move || parse(&body));
    parsing
        .await
        .map_err(|error| Fault::internal(format_args!("decoding a body: {error}")))?
}
