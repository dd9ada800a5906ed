//! The run of this driver, and the exchange that it tries on itself.

use crate::response::Reply;

pub type Run = driver_kit::Run<Reply>;

/// One exchange of synthetic words, there and back.
pub fn self_test() -> Result<(), String> {
    driver_kit::self_test::<Reply>(
        br#"{"model":"model","messages":[{"role":"user","content":"ping"}],"max_completion_tokens":1,"stream":true,"stream_options":{"include_usage":true}}"#,
        &[
            r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"content":"pong"},"finish_reason":null}],"usage":null}"#,
            r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
            r#"{"id":"c","model":"x","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
            "[DONE]",
        ],
    )
}
