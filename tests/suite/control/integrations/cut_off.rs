//! Calls through a binding that come to nothing: each has its end in the books.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn a_call_that_a_crash_cuts_off_gets_its_end() {
    for clinic in clinics().await {
        clinic.bind(SECRET, "up", Value::Null).await;
        let mark = mark();
        let slow = json!({"contains": mark, "event_count": 6, "delay_between_events_ms": 60_000});
        clinic.service.expect(slow).await;
        let before = clinic.service.count();
        let mut body = question(&mark);
        body["stream"] = true.into();
        let request = Request::new("POST", "/v1/egress/default/up/v1/messages");
        let request = request.bearer(&clinic.organization.key).json(&body);
        let request = request.header("anthropic-version", "2023-06-01");
        let gateway = &clinic.world.gateway;
        let mut connection = gateway.connect().await;
        connection.send(&request.bytes()).await;
        clinic.service.recorded(before + 1).await;
        gateway.kill();
        gateway.start().await;
        let org = clinic.organization.id.as_str();
        let sql = "SELECT event, result FROM audit WHERE org_id = $1 AND event IN \
                   ('integration.requested', 'integration.abandoned', 'integration.failed') ORDER BY phase";
        let rows = eventually("the end of the call", async || {
            let rows = gateway.database.rows(sql, &[org]).await;
            (rows.len() > 1).then_some(rows)
        });
        let last = json!({"event": "integration.abandoned", "result": "unknown"});
        assert_eq!(rows.await[1..], [last]);
        // One that is answered, and one that is not, leave nothing open.
        let answer = eventually("an answer after the restart", async || {
            let answer = clinic.dispatch("up", "/v1/messages", &question("x")).await;
            (answer.status == 200).then_some(answer)
        });
        answer.await;
        let held = "SELECT request_id FROM holds WHERE org_id = $1";
        assert!(gateway.database.rows(held, &[org]).await.is_empty());
    }
}

/// The service may have done what it was asked to: the row says which one, and how much it was sent.
#[tokio::test]
async fn a_call_that_was_sent_and_came_to_nothing_is_not_denied() {
    for clinic in clinics().await {
        let path = clinic.bind(SECRET, "ehr", Value::Null).await;
        let database = &clinic.world.gateway.database;
        let integration = path.rsplit('/').next().unwrap();
        let says = |row: &Value, event: &str, status: u16| {
            let document = books::document(row);
            assert_eq!(document["event"], event);
            assert_eq!(document["target"]["id"], integration);
            assert_eq!(document["outcome"]["status"], status);
            assert_eq!(document["details"]["alias"], "ehr");
            assert!(document["details"]["request_bytes"].as_u64().unwrap() > 0);
        };
        let cut = mark();
        let order = json!({"contains": cut, "close_after_events": 0});
        clinic.service.expect(order).await;
        let refused = clinic
            .dispatch("ehr", "/v1/messages", &question(&cut))
            .await;
        assert_eq!(refused.status, 502, "{}", refused.text());
        let rows = books::rows(database, refused.request_id()).await;
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["event"], "integration.requested");
        says(&rows[1], "integration.failed", 502);

        let left = mark();
        let order = json!({"contains": left, "stall_after_events": 0});
        clinic.service.expect(order).await;
        let request = clinic.request("ehr", "/v1/messages", &question(&left));
        let mut connection = clinic.world.gateway.connect().await;
        connection.send(&request.bytes()).await;
        clinic.service.received(&left).await;
        drop(connection);
        let org = clinic.organization.id.as_str();
        let sql =
            "SELECT document FROM audit WHERE org_id = $1 AND event = 'integration.cancelled'";
        let rows = eventually("the end of the call", async || {
            let rows = database.rows(sql, &[org]).await;
            (!rows.is_empty()).then_some(rows)
        })
        .await;
        says(&rows[0], "integration.cancelled", 499);
        books::check(database, org).await;
    }
}

/// Also while the row of the call is on its way to the store.
#[tokio::test]
async fn whoever_leaves_a_call_at_any_moment_leaves_nothing_open() {
    for clinic in clinics().await {
        clinic.bind(SECRET, "ehr", Value::Null).await;
        let request = clinic.request("ehr", "/v1/messages", &question(&mark()));
        for step in 0..100 {
            let mut connection = clinic.world.gateway.connect().await;
            connection.send(&request.bytes()).await;
            tokio::time::sleep(Duration::from_micros(100 * step)).await;
        }
        books::check(&clinic.world.gateway.database, &clinic.organization.id).await;
    }
}
