//! Drivers that count tokens, and those that do not.

use http::Method;
use serde_json::{Map, Value, json};
use svc_core::chat::{ChatRequest, Part, Role, Sampling};
use svc_plugin::{
    Driver, DriverFailure, DriverFaultKind, DriverRequest, PluginError, TokenAnswer,
    UpstreamRequest,
};

use crate::exchange::{bare, call, chat, driver_of, result, tool, turn, user};
use crate::stage::{ALPHA, BETA, EVIL_DRIVER, EVIL_DRIVER_MANIFEST, Stage, shipped_manifest};

const COUNTING: &str = "provider-driver-counting@";
const PLAIN: &str = "provider-driver@";

async fn asked(driver: &Driver, chat: &ChatRequest) -> Result<UpstreamRequest, DriverFailure> {
    let request = DriverRequest {
        chat,
        model: "model-a",
        extra: &Map::new(),
    };
    match bare(driver.count_tokens(&request).await)? {
        TokenAnswer::Ask(upstream) => Ok(upstream),
        TokenAnswer::Known(tokens) => panic!("counted {tokens} by itself"),
    }
}

fn kind<T>(answer: Result<T, DriverFailure>) -> DriverFaultKind {
    match answer {
        Err(DriverFailure::Fault(fault)) => fault.kind,
        Err(failure) => panic!("{failure}"),
        Ok(_) => panic!("no failure"),
    }
}

#[tokio::test]
async fn a_prompt_is_sent_to_be_counted_without_a_word_about_its_answer() {
    let driver = driver_of("provider-alpha", &ALPHA).await;
    assert!(driver.counts_tokens());
    // A budget for thinking goes on only from calls that began with some.
    let thought = Part::Reasoning {
        text: "hm".to_owned(),
        signature: Some("s".to_owned()),
        driver: None,
    };
    let mut request = chat(vec![
        user("look"),
        turn(Role::Assistant, vec![thought, call("toolu_1", "look")]),
        turn(Role::User, vec![result("toolu_1", "seen")]),
    ]);
    request.system = vec![Part::text("Be brief.")];
    request.tools = vec![tool("look")];
    request.sampling = Sampling {
        temperature: Some(0.5),
        top_p: Some(0.5),
        top_k: Some(5),
    };
    request.stop_sequences = vec!["END".to_owned()];
    request.metadata = [("user_id".to_owned(), "u".to_owned())].into();
    // Larger than the answer that the request allows: nothing is answered here.
    request.reasoning_tokens = Some(2_000);
    let upstream = asked(&driver, &request)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(
        (&upstream.method, upstream.path.as_str()),
        (&Method::POST, "/v1/messages/count_tokens")
    );
    assert_eq!(upstream.headers["anthropic-version"], "2023-06-01");
    assert_eq!(upstream.headers["accept"], "application/json");
    let body: Value = serde_json::from_slice(&upstream.body).unwrap();
    let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["model", "system", "messages", "tools", "thinking"]);
    assert_eq!(body["thinking"]["budget_tokens"], 2_000);
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_count_is_read_from_a_good_answer_alone() {
    let driver = driver_of("provider-alpha", &ALPHA).await;
    let read = async |status: u16, body: Value| {
        let body = body.to_string();
        bare(driver.read_token_count(status, body.as_bytes()).await)
    };
    assert_eq!(read(200, json!({"input_tokens": 2095})).await, Ok(2_095));
    let error = |word: &str, message: &str| json!({"type": "error", "error": {"type": word, "message": message}});
    for (status, body, expected) in [
        (200, json!({}), DriverFaultKind::Protocol),
        (200, json!({"input_tokens": "7"}), DriverFaultKind::Protocol),
        (200, json!(7), DriverFaultKind::Protocol),
        (
            400,
            error("invalid_request_error", "prompt is too long: John Doe"),
            DriverFaultKind::ContextTooLong,
        ),
        (
            429,
            error("rate_limit_error", "x"),
            DriverFaultKind::RateLimited,
        ),
        (503, json!({"input_tokens": 7}), DriverFaultKind::Overloaded),
    ] {
        assert_eq!(kind(read(status, body).await), expected, "{status}");
    }
    let page = driver.read_token_count(502, b"<html>").await;
    assert_eq!(kind(bare(page)), DriverFaultKind::UpstreamFailure);
}

#[tokio::test]
async fn what_the_wire_format_cannot_say_is_refused_before_anything_is_sent() {
    let driver = driver_of("provider-alpha", &ALPHA).await;
    let unanswered = chat(vec![turn(Role::Assistant, vec![call("toolu_1", "look")])]);
    let refused = asked(&driver, &unanswered).await;
    assert_eq!(kind(refused), DriverFaultKind::InvalidRequest);
}

#[tokio::test]
async fn a_driver_of_the_plain_world_does_not_count() {
    let driver = driver_of("provider-beta", &BETA).await;
    assert!(!driver.counts_tokens());
    let refused = asked(&driver, &chat(vec![user("a")])).await;
    assert!(matches!(
        refused,
        Err(DriverFailure::Plugin(PluginError::Contract(_)))
    ));
}

#[tokio::test]
async fn the_manifests_world_decides_what_is_asked_of_a_driver() {
    let stage = Stage::new();
    let claims = EVIL_DRIVER_MANIFEST.replacen(PLAIN, COUNTING, 1);
    stage.install("evil-driver", &EVIL_DRIVER, &claims);
    let modest = shipped_manifest("provider-alpha").replacen(COUNTING, PLAIN, 1);
    stage.install("provider-alpha", &ALPHA, &modest);
    let host = stage.open().await;
    // Its exports are not those of the world that the manifest names.
    assert!(host.driver("evil-driver").is_err());
    let status = host.status();
    let refused = status.iter().find(|plugin| plugin.id == "evil-driver");
    let error = refused.unwrap().last_error.as_deref().unwrap();
    assert!(
        error.contains("exports") && error.contains("token-count"),
        "{error}"
    );
    let driver = host
        .driver("provider-alpha")
        .unwrap_or_else(|_| panic!("{status:?}"));
    assert!(!driver.counts_tokens());
}
