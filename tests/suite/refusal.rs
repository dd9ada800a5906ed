//! Refusals: bad input, bad credentials, policies and limits, each with its one exact answer.

mod credential;
mod framing;
mod gate;
mod input;
mod limit;
mod order;
mod route;

use serde_json::{Value, json};
use svc_tests::wire::Answer;

/// Checks that an answer is the error envelope whole and sound, and gives its `error`.
pub(crate) fn error_of(answer: &Answer) -> Value {
    let body = answer.json();
    let names = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&body), ["success", "error", "meta"], "{body:#}");
    assert_eq!(body["success"], false);
    let error = &body["error"];
    let mut fields = names(error);
    if error["code"] == "CONSUMPTION_BLOCKED" {
        assert_eq!(fields.pop().as_deref(), Some("context"));
        assert_eq!(error["context"], error["details"]);
    }
    assert_eq!(
        fields,
        [
            "code",
            "type",
            "message",
            "param",
            "details",
            "retryable",
            "request_id"
        ],
        "{body:#}"
    );
    assert_eq!(error["request_id"], answer.request_id());
    assert_eq!(body["meta"], json!({"request_id": answer.request_id()}));
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    assert!(error["param"].is_null() || error["param"].is_string());
    assert!(error["details"].is_null() || error["details"].is_object());
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let row = svc_core::fault::CATALOGUE
        .iter()
        .find(|row| row.word == error["code"])
        .expect("a code of the catalogue");
    assert_eq!(
        (answer.status, error["type"].as_str()),
        (row.status, Some(row.kind.word())),
        "{body:#}"
    );
    let wait = &error["details"]["retry_after_seconds"];
    if error["retryable"] == true {
        let seconds = wait
            .as_u64()
            .filter(|seconds| *seconds >= 1)
            .expect("a wait of whole seconds");
        assert_eq!(
            answer.header("retry-after"),
            Some(seconds.to_string().as_str())
        );
    } else {
        assert_eq!(answer.header("retry-after"), None, "{body:#}");
    }
    error.clone()
}

/// As [`error_of`], and its code and param are these.
pub(crate) fn expect(answer: &Answer, code: &str, param: Option<&str>) -> Value {
    let error = error_of(answer);
    assert_eq!(
        (error["code"].as_str(), error["param"].as_str()),
        (Some(code), param),
        "{}",
        answer.text()
    );
    error
}
