//! Routes and methods that there are not (contract 2, steps 1 and 2).

use serde_json::json;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::expect;
use crate::engines::on_sqlite;

on_sqlite! {
    unknown_routes_do_not_exist_for_anyone,
    unknown_methods_are_told_the_known_ones,
    an_unknown_method_of_an_open_route_may_be_kept,
    an_unknown_method_is_told_in_the_shape_of_the_sdk_that_asks,
    head_of_nothing_has_no_body,
}

async fn unknown_routes_do_not_exist_for_anyone(world: &World) {
    let organization = world.organization();
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/ai",
        "/v1/ai/chat/",
        "//v1/ai/chat",
        "/V1/ai/chat",
        "/v1/ai/chat/x",
        "/v1/ai/%63hat",
        "/v1/ai/messages",
        "/v1/ai/messages/",
        "/v1/ai/messages/a/b",
        "/v1/ai/../ai/chat",
        "/healthz",
        "/metrics",
        "/v1/responses",
        "/%00",
        "/%ff",
    ] {
        for request in [
            Request::new("GET", path),
            Request::new("POST", path)
                .bearer(&organization.key)
                .body(b"{}"),
        ] {
            let answer = world.gateway.answer(&request).await;
            assert_eq!(answer.status, 404, "{path}: {}", answer.text());
            expect(&answer, "NOT_FOUND", None);
            assert_eq!(
                (
                    answer.header("svc-version"),
                    answer.header("x-ratelimit-limit")
                ),
                (None, None)
            );
            // The one name that SDKs of the chat-completions surface know.
            assert_eq!(answer.header("x-request-id"), Some(answer.request_id()));
        }
    }
}

async fn unknown_methods_are_told_the_known_ones(world: &World) {
    let message = "/v1/ai/messages/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let cases = [
        (
            "/v1/ai/chat",
            &[
                "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "HEAD",
            ][..],
            "POST",
        ),
        (
            message,
            &["POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            "GET, HEAD",
        ),
    ];
    for (path, methods, allow) in cases {
        for method in methods {
            let mut connection = world.gateway.connect().await;
            connection.send(&Request::new(method, path).bytes()).await;
            let answer = connection.reply_to(method).await.whole().await.0;
            assert_eq!(
                (answer.status, answer.header("allow")),
                (405, Some(allow)),
                "{method} {path}"
            );
            assert_eq!(answer.header("svc-version"), None);
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            if *method != "HEAD" {
                expect(&answer, "METHOD_NOT_ALLOWED", None);
            }
        }
    }
}

/// Who asks for no credential has nothing to hide.
async fn an_unknown_method_of_an_open_route_may_be_kept(world: &World) {
    let path = "/.well-known/oauth-authorization-server";
    let answer = world.gateway.answer(&Request::new("POST", path)).await;
    assert_eq!((answer.status, answer.header("cache-control")), (405, None));
}

async fn an_unknown_method_is_told_in_the_shape_of_the_sdk_that_asks(world: &World) {
    for path in ["/v1/models", "/v1/models/alpha-haiku-4-5"] {
        let request = Request::new("DELETE", path);
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 405);
        let body = answer.json();
        assert_eq!(body["error"]["svc_code"], "METHOD_NOT_ALLOWED", "{body}");
        let request = request.header("anthropic-version", "2023-06-01");
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 405);
        let body = answer.json();
        assert_eq!(
            (&body["type"], &body["error"]["code"]),
            (&json!("error"), &json!("METHOD_NOT_ALLOWED"))
        );
    }
}

async fn head_of_nothing_has_no_body(world: &World) {
    let mut connection = world.gateway.connect().await;
    connection
        .send(&Request::new("HEAD", "/v1/nothing").bytes())
        .await;
    let (answer, mut connection) = connection.reply_to("HEAD").await.whole().await;
    assert_eq!(answer.status, 404);
    connection
        .send(&Request::new("GET", "/v1/nothing").bytes())
        .await;
    expect(&connection.reply().await.whole().await.0, "NOT_FOUND", None);
}
