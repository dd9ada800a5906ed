//! Trouble with the store: applications that are known are told at their own address, and codes are not used up.

use serde_json::json;
use svc_tests::postgres::{Durability, Server};
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{REDIRECT, Scene, error, parameter};

#[tokio::test]
async fn while_the_store_is_down_applications_are_told_so() {
    let server = tokio::task::spawn_blocking(|| Server::start(Durability::Commits)).await;
    let server = server.expect("a server");
    let world = World::with(|setup| setup.on(Some(server.database()))).await;
    let scene = Scene::new(&world).await;
    let stranger = scene.beside(&world, json!({})).await;
    let mut browser = scene.owner(&world).await;
    let code = scene.code(&mut browser).await;
    server.stop();
    let answer = world
        .gateway
        .answer(&Request::new("GET", &scene.authorize(&[])))
        .await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let location = answer.header("location").unwrap();
    assert!(location.starts_with(REDIRECT), "{location}");
    assert_eq!(
        parameter(location, "error").as_deref(),
        Some("temporarily_unavailable")
    );
    assert!(parameter(location, "iss").is_some() && parameter(location, "state").is_some());
    // Of one that was not asked about lately nothing is known: no redirect.
    let request =
        Request::new("GET", &stranger.authorize(&[])).header("Accept", "application/json");
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["error"], "temporarily_unavailable");
    let answer = scene.redeem(&world, &code).await;
    assert_eq!(error(&answer, 503), "temporarily_unavailable");
    assert!(answer.header("retry-after").is_some());
}
