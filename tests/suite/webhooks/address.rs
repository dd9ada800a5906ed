//! Where deliveries may go (contract 15.4): judged when an endpoint is registered and again at every attempt.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use svc_tests::dns::NameServer;

use super::Hooks;

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_however_they_are_written() {
    let hooks = Hooks::with(None, &[], |setup| {
        let none: Vec<toml::Value> = Vec::new();
        setup
            .key("integrations", "allowed_networks", none)
            .key("integrations", "plain_http", false)
            .key(
                "integrations",
                "allowed_ports",
                vec![toml::Value::from(443)],
            )
    })
    .await;
    for url in [
        "https://127.0.0.1/in",
        "https://0x7f000001/in",
        "https://017700000001/in",
        "https://2130706433/in",
        "https://127.1/in",
        "https://localhost/in",
        "https://LOCALHOST./in",
        "https://[::1]/in",
        "https://[::ffff:127.0.0.1]/in",
        "https://[64:ff9b::a00:1]/in",
        "https://10.1.2.3/in",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/in",
        "https://192.168.1.1/in",
        "https://hooks.example.org:22/in",
        "https://user:pw@hooks.example.org/in",
        "https://hooks.example.org/in#part",
        "http://hooks.example.org/in",
        "ftp://hooks.example.org/in",
        "hooks.example.org",
        "",
    ] {
        let body = json!({"url": url, "events": ["*"]});
        let refused = hooks.call("POST", "/v1/webhooks", body).await;
        let param = refused.json()["error"]["param"].clone();
        assert_eq!((refused.status, param), (422, json!("url")), "{url}");
        assert!(url.is_empty() || !refused.text().contains(url));
    }
    let long = format!("https://hooks.example.org/{}", "a".repeat(2_048));
    let body = json!({"url": long, "events": ["*"]});
    assert_eq!(hooks.call("POST", "/v1/webhooks", body).await.status, 422);
    let body = json!({"url": "https://hooks.example.org/in?token=a", "events": ["*"]});
    assert_eq!(hooks.call("POST", "/v1/webhooks", body).await.status, 201);
}

/// The address of an endpoint, changed in the database as nobody can, so that only the attempt judges it.
async fn turn_to(hooks: &Hooks, endpoint: &Value, url: &str) {
    let sql = "UPDATE webhook_endpoints SET url = $2 WHERE id = $1";
    let id = endpoint["id"].as_str().unwrap();
    hooks.world.gateway.database.change(sql, &[id, url]).await;
}

#[tokio::test]
async fn an_attempt_judges_the_address_again_and_follows_no_redirect() {
    let hooks = Hooks::start(None).await;
    let sink = &hooks.sink;
    let port = sink.address.port();
    let mut turned = Vec::new();
    for url in [
        format!("http://10.0.0.1:{port}/in"),
        format!("http://[::1]:{port}/in"),
        format!("http://169.254.169.254:{port}/latest"),
    ] {
        let endpoint = hooks.endpoint(&sink.url("/in")).await;
        turn_to(&hooks, &endpoint, &url).await;
        turned.push(endpoint);
    }
    let redirecting = hooks.endpoint(&sink.url("/redirect/x")).await;
    hooks.publish(1).await;
    for endpoint in &turned {
        let given_up = hooks.settled(endpoint, 1, "exhausted").await;
        let delivery = hooks.delivery(&given_up[0]["id"]).await;
        for attempt in delivery["attempts"].as_array().unwrap() {
            assert_eq!(attempt["error"], "blocked_address");
            assert_eq!(attempt["address"], Value::Null, "nothing was connected to");
        }
    }
    assert!(sink.received("/in").is_empty());
    let given_up = hooks.settled(&redirecting, 1, "exhausted").await;
    let delivery = hooks.delivery(&given_up[0]["id"]).await;
    assert_eq!(delivery["attempts"][0]["error"], "redirect");
    assert_eq!(delivery["attempts"][0]["status_code"], 302);
    let unknown = hooks.endpoint(&sink.url("/in")).await;
    turn_to(&hooks, &unknown, &format!("http://no.such.invalid:{port}/")).await;
    let closed = hooks.endpoint(&sink.url("/in")).await;
    turn_to(&hooks, &closed, "http://127.0.0.1:1/").await;
    hooks.publish(1).await;
    let given_up = hooks.settled(&unknown, 1, "exhausted").await;
    let delivery = hooks.delivery(&given_up[0]["id"]).await;
    let error = delivery["attempts"][0]["error"].as_str().unwrap();
    assert!(["dns", "timeout"].contains(&error), "{error}");
    let given_up = hooks.settled(&closed, 1, "exhausted").await;
    let delivery = hooks.delivery(&given_up[0]["id"]).await;
    assert_eq!(
        delivery["attempts"][0]["error"], "blocked_address",
        "a port that is not allowed"
    );
}

#[tokio::test]
async fn a_name_that_changes_its_addresses_is_judged_at_every_attempt() {
    let names = NameServer::start().await;
    let server = toml::Value::from(names.address.to_string());
    let hooks = Hooks::with(None, &[], |setup| {
        setup.key("server", "name_servers", vec![server])
    })
    .await;
    let (here, elsewhere) = (Ipv4Addr::LOCALHOST, Ipv4Addr::new(169, 254, 169, 254));
    let port = hooks.sink.address.port();
    let mut endpoints = Vec::new();
    for (name, addresses) in [
        ("turns.test", &[here][..]),
        ("mixed.test", &[here, elsewhere]),
        ("inside.test", &[Ipv4Addr::new(10, 0, 0, 1)]),
    ] {
        names.answer(name, addresses);
        endpoints.push(
            hooks
                .endpoint(&format!("http://{name}:{port}/{name}"))
                .await,
        );
    }
    hooks.publish(1).await;
    hooks.settled(&endpoints[0], 1, "delivered").await;
    assert_eq!(hooks.sink.received("/turns.test").len(), 1);
    // One forbidden address among several is enough.
    for endpoint in &endpoints[1..] {
        let given_up = hooks.settled(endpoint, 1, "exhausted").await;
        let delivery = hooks.delivery(&given_up[0]["id"]).await;
        for attempt in delivery["attempts"].as_array().unwrap() {
            assert_eq!(attempt["error"], "blocked_address");
        }
    }
    // A connection that is open already is no way around it.
    names.answer("turns.test", &[elsewhere]);
    hooks.publish(1).await;
    let given_up = hooks.settled(&endpoints[0], 1, "exhausted").await;
    let delivery = hooks.delivery(&given_up[0]["id"]).await;
    assert_eq!(delivery["attempts"][0]["error"], "blocked_address");
    for path in ["/turns.test", "/mixed.test", "/inside.test"] {
        let wanted = usize::from(path == "/turns.test");
        assert_eq!(hooks.sink.received(path).len(), wanted, "{path}");
    }
}
