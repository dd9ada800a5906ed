//! The script and the journal.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{KEY, ask, options, record_file, start, start_embedded, start_with};

#[tokio::test]
async fn behaviours_are_taken_in_order_by_what_they_match() {
    let fake = start().await;
    let orders = json!([
        {"contains": "alpha-2", "status": 503},
        {"contains": "special", "text": "matched", "times": 2},
        {"status": 529, "retry_after": "7", "error_message": "busy"},
    ]);
    fake.order(orders).await;
    let text = async |said: &str| fake.send(&ask(said)).await.1["content"][0]["text"].clone();
    assert_eq!(text("a special one").await, "matched");
    let response = fake
        .request("/v1/messages", &ask("x"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["retry-after"], "7");
    let answer: Value = response.json().await.unwrap();
    assert_eq!(
        answer["error"],
        json!({"type": "overloaded_error", "message": "busy"})
    );
    assert_eq!(text("x").await, "You said: x");
    assert_eq!(text("special").await, "matched");
    assert_eq!(text("special").await, "You said: special");
    let url = fake.url("/_control/script");
    let left: Value = fake
        .client
        .get(url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(left, json!({"waiting": 1}));
}

#[tokio::test]
async fn an_error_quotes_the_caller_as_a_real_one_may() {
    let fake = start().await;
    let (status, answer) = fake.send(&ask("my secret [[fake:status 500]]")).await;
    assert_eq!(status, 500);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("my secret")
    );
}

#[tokio::test]
async fn an_unknown_field_of_a_behaviour_is_refused() {
    let fake = start().await;
    let body = json!({"behaviours": [{"statsu": 500}]});
    let request = fake.client.put(fake.url("/_control/script")).json(&body);
    assert_eq!(request.send().await.unwrap().status(), 422);
}

#[tokio::test]
async fn requests_are_remembered_without_their_credential() {
    let fake = start().await;
    let body = ask("remember me");
    fake.request("/v1/messages?beta=true", &body)
        .send()
        .await
        .unwrap();
    let seen = &fake.requests("await_ended=1").await[0];
    assert_eq!(seen["path"], "/v1/messages?beta=true");
    assert_eq!(seen["body"], body);
    assert_eq!(seen["status"], 200);
    assert_eq!(seen["finished"], true);
    assert_eq!(seen["key_digest"], hex::encode(Sha256::digest(KEY)));
    assert!(!seen.to_string().contains(KEY));
    let after = seen["seq"].as_u64().unwrap();
    fake.send(&ask("next")).await;
    assert_eq!(fake.requests(&format!("after={after}")).await.len(), 1);
    fake.client
        .delete(fake.url("/_control/requests"))
        .send()
        .await
        .unwrap();
    assert!(fake.requests("").await.is_empty());
}

#[tokio::test]
async fn what_does_not_come_is_said() {
    let fake = start().await;
    let url = fake.url("/_control/requests?await_received=1&timeout_ms=20");
    assert_eq!(fake.client.get(url).send().await.unwrap().status(), 408);
    let url = fake.url("/_control/requests?await=1");
    assert_eq!(fake.client.get(url).send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn the_file_has_a_request_before_its_answer_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = options();
    recorded.record = Some(record_file(&folder));
    let fake = start_with(recorded).await;
    fake.order(json!([{"stall_after_events": 0}])).await;
    let _stalled = fake.connect(&ask("stalled")).await;
    fake.requests("await_received=1").await;
    let lines = std::fs::read_to_string(record_file(&folder)).unwrap();
    assert_eq!(lines.lines().count(), 1);
    let line: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(line["body"], ask("stalled"));
}

#[tokio::test]
async fn the_one_of_a_serving_gateway_takes_no_orders_and_shows_nothing() {
    let fake = start_embedded().await;
    let (status, first) = fake.send(&ask("of one organization")).await;
    assert_eq!((status, &first["id"]), (200, &json!("msg_fake_000001")));
    let (_, second) = fake.send(&ask("of another")).await;
    assert_eq!(second["id"], "msg_fake_000002");
    for path in ["/_control/requests", "/_control/script"] {
        let answer = fake.client.get(fake.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        let text = answer.text().await.unwrap();
        assert!(!text.contains("organization"), "{text}");
    }
}
