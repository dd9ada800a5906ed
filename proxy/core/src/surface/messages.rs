//! The messages surface: `POST /v1/messages` and `POST /v1/messages/count_tokens` in the wire format of the
//! third-party messages API (spec, Endpoints; wire.md). It decodes and encodes and decides nothing.

mod encoder;
mod promise;
mod request;

use serde_json::{Value, json};

pub use encoder::Encoder;
pub use request::{WireVersion, decode, decode_count};

use crate::chat::Usage;

/// The reply of `POST /v1/messages/count_tokens`.
pub fn token_count(input_tokens: u64) -> Value {
    json!({"input_tokens": input_tokens})
}

/// Usage as this wire format counts it: input without both cache counts, as the canonical usage.
fn usage(usage: &Usage) -> Value {
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    } = usage;
    json!({
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": cache_creation_input_tokens,
        "cache_read_input_tokens": cache_read_input_tokens,
        "output_tokens": output_tokens,
    })
}
