//! The run of this driver, and the exchange that it tries on itself.

use crate::response::Reply;

pub type Run = driver_kit::Run<Reply>;

/// One exchange of synthetic words, there and back.
pub fn self_test() -> Result<(), String> {
    driver_kit::self_test::<Reply>(
        br#"{"model":"model","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"ping"}]}],"stream":true}"#,
        &[
            r#"{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"pong"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    )
}
