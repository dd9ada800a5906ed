//! `/healthz`, `/readyz`, `/metrics` on the admin listener.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::wire::Request;
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! { a_ready_gateway_says_so }

async fn a_ready_gateway_says_so(world: &World) {
    let healthy = world.gateway.admin_page("/healthz").await;
    assert_eq!((healthy.status, healthy.text().as_str()), (200, "ok\n"));
    let ready = world.gateway.admin_page("/readyz").await;
    let said: Value = serde_json::from_slice(&ready.body).unwrap();
    assert_eq!(
        (ready.status, &said["ready"], &said["store"]),
        (200, &json!(true), &json!(null))
    );
    assert_eq!(world.gateway.admin_page("/elsewhere").await.status, 404);
    let request = Request::new("GET", "/metrics");
    assert_eq!(
        world.gateway.answer(&request).await.status,
        404,
        "nothing of this on the public listener"
    );
}

/// Every metric that the documents name (issue, Operations; lessons, metric names).
#[tokio::test]
async fn metrics_have_their_names_after_one_chat() {
    let world = World::start(None).await;
    let organization = world.organization();
    let events = world
        .gateway
        .stream(
            &organization.key,
            json!({"message": format!("{} 536-22-8714", mark())}),
        )
        .await;
    events.rest().await;
    let page = world.gateway.admin_page("/metrics").await;
    assert!(
        page.header("content-type")
            .unwrap()
            .starts_with("text/plain; version=0.0.4")
    );
    let text = page.text();
    for sample in [
        "gen_ai_client_token_usage_sum{gen_ai_request_model=\"alpha-sonnet-4-6\",gen_ai_token_type=\"input\"}",
        "gen_ai_client_token_usage_sum{gen_ai_request_model=\"alpha-sonnet-4-6\",gen_ai_token_type=\"output\"}",
        "gen_ai_server_request_duration_seconds_count{",
        "gen_ai_server_time_to_first_token_seconds_count{gen_ai_request_model=\"alpha-sonnet-4-6\"}",
        "gen_ai_server_time_per_output_token_seconds_count{gen_ai_request_model=\"alpha-sonnet-4-6\"}",
        "svc_overhead_seconds_count 1",
        "svc_filter_duration_seconds_count{filter=\"phi_guard\"} 1",
        "svc_filter_duration_seconds_count{filter=\"audit\"} 1",
        "svc_requests_total{route=\"/v1/ai/chat\",status=\"200\"} 1",
        "svc_phi_entities_total{action=\"redacted\",kind=\"SSN\"} 1",
        "svc_phi_scan_seconds_count 1",
        "svc_unsettled_runs 0",
        "svc_unwritten_runs 0",
        // What is alerted on is there before it happens.
        "svc_policy_reloads_total{outcome=\"refused\"} 0",
        "svc_plugin_kills_total{plugin=\"phi-patterns\",reason=\"deadline\",version=\"0.1.0\"} 0",
        "svc_edge_handshakes_failed_total{reason=\"broken\"} 0",
        "svc_edge_certificate_loads_total{result=\"rejected\"} 0",
        "svc_webhook_disabled_total{reason=\"failing\"} 0",
        "svc_policy_epoch ",
        "svc_plugin_calls_total{function=\"detect\",outcome=\"ok\",plugin=\"phi-patterns\"",
        "svc_plugin_calls_total{function=\"push\",outcome=\"ok\",plugin=\"provider-alpha\"",
        "svc_plugin_call_seconds_count{",
        "svc_edge_connections_open ",
        "svc_edge_requests_in_flight ",
        "svc_upstream_connects_total{",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(sample)),
            "no {sample} in\n{text}"
        );
    }
    assert!(
        !text.contains(&organization.id) && !text.contains("536-22"),
        "labels are names, not data"
    );
}
