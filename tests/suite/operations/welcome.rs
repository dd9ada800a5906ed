//! The first minute: `serve --welcome` without provider keys prints a line that is ready to run.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::gateway::Setup;
use svc_tests::patience::eventually;
use svc_tests::sse::{self, Events};
use svc_tests::wire::Request;

#[tokio::test]
async fn the_printed_line_streams_a_redacted_audited_chat() {
    let gateway = Setup::new("").prepare();
    let mut child = gateway.spawn(&["serve", "--welcome"]);
    let log = eventually("a curl line", async || {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the gateway ended:\n{}",
            gateway.log()
        );
        let log = gateway.log();
        log.contains("-d '{").then_some(log)
    })
    .await;
    gateway.adopt(child);
    assert!(log.contains("fake provider"), "it must say who answers");
    let between = |from: &str, to: &str| {
        let behind = log
            .split_once(from)
            .unwrap_or_else(|| panic!("no {from:?} in {log}"))
            .1;
        behind.split_once(to).unwrap().0.to_owned()
    };
    assert_eq!(
        between("curl -N ", " "),
        format!("http://{}/v1/ai/chat", gateway.address)
    );
    let key = between("Authorization: Bearer ", "'");
    let body: Value = serde_json::from_str(&between("-d '", "'")).unwrap();
    let message = body["message"].as_str().unwrap().to_owned();
    let request = Request::new("POST", "/v1/ai/chat").bearer(&key).json(&body);
    let events = Events::of(gateway.ask(&request).await).rest().await;
    assert_eq!(
        sse::names(&events),
        ["run.started", "message.delta", "run.completed"]
    );
    assert!(
        sse::text_of(&events).contains(&message),
        "restored for the caller"
    );
    let phi = &events.last().unwrap().data["phi"];
    assert!(phi["redacted"].as_u64() >= Some(2), "{phi}");
    assert_eq!(phi["redacted"], phi["restored"]);
    let request_id = events[0].data["request_id"].as_str().unwrap();
    let (_, completed) = books::pair(&gateway.database, request_id).await;
    let counts = books::document(&completed)["phi"]["entity_counts"].clone();
    assert_eq!(counts["SSN"], json!(1), "{counts}");
    let organization = completed["org_id"].as_str().unwrap();
    books::check(&gateway.database, organization).await;
}
