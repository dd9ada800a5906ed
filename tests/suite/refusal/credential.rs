//! Who may call (contract 7). Every failure looks the same from outside.

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::expect;
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    a_revoked_or_expired_key_is_no_key,
    a_missing_scope_is_named,
}

on_sqlite! {
    every_bad_credential_gets_the_same_answer,
    the_scheme_is_case_insensitive,
    any_thirty_two_alphanumerics_may_be_a_key,
}

fn request(headers: &[(&str, &str)]) -> Request {
    let request =
        Request::new("POST", "/v1/ai/chat").json(&json!({"message": mark(), "stream": false}));
    headers.iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    })
}

async fn every_bad_credential_gets_the_same_answer(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let bearer = format!("Bearer {key}");
    let cases: Vec<Vec<(&str, String)>> = vec![
        vec![],
        vec![("Authorization", String::new())],
        vec![("Authorization", "Bearer".into())],
        vec![("Authorization", "Bearer ".into())],
        vec![("Authorization", key.clone())],
        vec![("Authorization", format!("Basic {key}"))],
        vec![("Authorization", format!("Bearer {}", key.to_lowercase()))],
        vec![("Authorization", format!("Bearer {}x", key))],
        vec![("Authorization", format!("Bearer {}", &key[..key.len() - 1]))],
        vec![("Authorization", format!("Bearer {key} {key}"))],
        vec![(
            "Authorization",
            "Bearer svc_api_live_00000000000000000000000000000000".into(),
        )],
        vec![(
            "Authorization",
            format!("Bearer {}", key.replace("svc_api_live_", "svc_api_test_")),
        )],
        vec![(
            "Authorization",
            format!("Bearer {}", key.replace("svc_api_", "svc_key_")),
        )],
        vec![("Authorization", "Bearer \u{fc}".into())],
        vec![
            ("Authorization", bearer.clone()),
            ("Authorization", bearer.clone()),
        ],
        // Not on this surface (contract 7).
        vec![("x-api-key", key.clone())],
        vec![("Cookie", format!("api_key={key}"))],
    ];
    for headers in cases {
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let answer = world.gateway.answer(&request(&headers)).await;
        assert_eq!(answer.status, 401, "{headers:?}: {}", answer.text());
        let error = expect(&answer, "INVALID_API_KEY", None);
        assert!(error["details"].is_null(), "{error}");
        assert_eq!(
            answer.header("www-authenticate"),
            Some("Bearer realm=\"svc\"")
        );
        assert_eq!(
            (answer.header("svc-version"), answer.header("cache-control")),
            (None, Some("no-store"))
        );
        assert!(!answer.text().contains("svc_api_live_"));
    }
}

async fn the_scheme_is_case_insensitive(world: &World) {
    let organization = world.organization();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let value = format!("{scheme} {}", organization.key);
        assert_eq!(
            world
                .gateway
                .answer(&request(&[("authorization", &value)]))
                .await
                .status,
            200,
            "{scheme}"
        );
    }
}

/// The checksum in a key is for secret scanners alone (contract 1.1).
async fn any_thirty_two_alphanumerics_may_be_a_key(world: &World) {
    let organization = world.organization();
    let own = format!("svc_api_live_{}{:0>22}", "Operator0Z", std::process::id());
    let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(own.as_bytes()));
    let sql = format!("UPDATE api_keys SET digest = X'{digest}' WHERE id = $1");
    world
        .gateway
        .database
        .change(&sql, &[&organization.key_id])
        .await;
    let value = format!("Bearer {own}");
    assert_eq!(
        world
            .gateway
            .answer(&request(&[("Authorization", &value)]))
            .await
            .status,
        200
    );
}

async fn a_revoked_or_expired_key_is_no_key(world: &World) {
    for sql in [
        "UPDATE api_keys SET revoked_at = 1 WHERE id = $1",
        "UPDATE api_keys SET expires_at = 1 WHERE id = $1",
    ] {
        let organization = world.organization();
        world
            .gateway
            .database
            .change(sql, &[&organization.key_id])
            .await;
        let value = format!("Bearer {}", organization.key);
        let answer = world
            .gateway
            .answer(&request(&[("Authorization", &value)]))
            .await;
        expect(&answer, "INVALID_API_KEY", None);
    }
}

async fn a_missing_scope_is_named(world: &World) {
    let organization = world.organization_with(&["--scopes", "control:read,org.end_users.read"]);
    let value = format!("Bearer {}", organization.key);
    let answer = world
        .gateway
        .answer(&request(&[("Authorization", &value)]))
        .await;
    let error = expect(&answer, "MISSING_SCOPE", None);
    let details = json!({"required_scope": "ai:chat", "granted_scopes": ["control:read", "org.end_users.read"]});
    assert_eq!(error["details"], details);
    let read = Request::new("GET", "/v1/ai/messages/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV")
        .bearer(&organization.key);
    expect(&world.gateway.answer(&read).await, "MISSING_SCOPE", None);
}
