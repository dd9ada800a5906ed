//! One dead and one slow endpoint delay nobody.

use super::on_each;

/// Deliveries to each endpoint.
const EACH: usize = 60;

#[tokio::test]
async fn a_dead_and_a_slow_endpoint_do_not_delay_a_healthy_one() {
    for hooks in on_each().await {
        hooks.endpoint(&hooks.sink.url("/dead")).await;
        hooks.endpoint(&hooks.sink.url("/slow/1500")).await;
        hooks.publish(EACH).await;
        hooks.sink.wait("/dead", 1).await;
        hooks.sink.wait("/slow", 1).await;
        // With a backlog at both of them.
        let healthy = hooks.endpoint(&hooks.sink.url("/in")).await;
        hooks.publish(EACH).await;
        let received = hooks.sink.wait("/in", EACH).await;
        assert_eq!(received.len(), EACH);
        // By count and not by the clock: what they got meanwhile is a small part of what waits there.
        for path in ["/dead", "/slow"] {
            let got = hooks.sink.received(path).len();
            assert!(got < EACH, "{got} at {path}");
        }
        hooks.settled(&healthy, EACH, "delivered").await;
    }
}
