//! The chat-completions surface: `POST /v1/chat/completions` in the wire format of the third-party API of that
//! name (spec, Endpoints; wire.md). Stateless: it knows no conversation, and nothing of it is stored.

mod encoder;
mod request;
mod turns;

use serde_json::{Value, json};

pub use encoder::Encoder;
pub use request::decode;

use crate::chat::Usage;

/// Usage as this wire format counts it: input with both cache counts (wire.md 2).
fn usage(usage: &Usage) -> Value {
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    } = *usage;
    let prompt_tokens = input_tokens
        .saturating_add(cache_read_input_tokens)
        .saturating_add(cache_creation_input_tokens);
    let mut details = json!({"cached_tokens": cache_read_input_tokens});
    // Of few requests; many clients do not know the name.
    if cache_creation_input_tokens > 0 {
        details["cache_write_tokens"] = json!(cache_creation_input_tokens);
    }
    json!({
        "prompt_tokens": prompt_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": prompt_tokens.saturating_add(output_tokens),
        "prompt_tokens_details": details,
    })
}
