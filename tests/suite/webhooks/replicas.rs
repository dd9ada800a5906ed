//! Two replicas share the queue: each delivery is made once, and both take part.

use std::collections::BTreeSet;

use serde_json::json;
use svc_tests::outbox;
use svc_tests::replicas::Replicas;
use svc_tests::sink::Sink;
use svc_tests::wire::Request;

use super::quick;

const ENDPOINTS: usize = 8;
const EVENTS: usize = 60;

#[tokio::test]
async fn two_replicas_deliver_everything_once() {
    let sink = Sink::start().await;
    let port = sink.address.port();
    // Few places: one replica alone leaves endpoints for the other.
    let replicas =
        Replicas::start(|setup| quick(setup, &[port]).key("webhooks", "in_flight", 4)).await;
    let organization = replicas.organization_with(&["--per-minute", "1000000"]);
    for at in 0..ENDPOINTS {
        let body = json!({"url": sink.url(&format!("/slow/20/{at}")), "events": ["*"]});
        let request = Request::new("POST", "/v1/webhooks").bearer(&organization.key);
        let answer = replicas.both[at % 2].answer(&request.json(&body)).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let store = outbox::store(&replicas.both[0]).await;
    outbox::publish(&store, &organization.id, 0..EVENTS).await;
    let received = sink.wait("/slow", ENDPOINTS * EVENTS).await;
    let sql = "SELECT id FROM webhook_deliveries WHERE status <> 'delivered'";
    svc_tests::patience::eventually("the end of the queue", async || {
        let open = replicas.both[0].database.rows(sql, &[]).await;
        open.is_empty().then_some(())
    })
    .await;
    let ids: BTreeSet<&str> = received.iter().map(|one| one.id()).collect();
    assert_eq!(ids.len(), ENDPOINTS * EVENTS);
    assert_eq!(
        sink.received("/slow").len(),
        ENDPOINTS * EVENTS,
        "none twice"
    );
    for replica in &replicas.both {
        let took = replica.metric("svc_webhook_attempt_seconds_count").await;
        assert!(took > 0.0, "both take part");
    }
}
