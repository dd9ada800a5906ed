//! A detector that is missing or fails refuses every request (contract 21): never open.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::policies::{Policies, plugins, replace};
use svc_tests::world::World;

use crate::refusal::expect;

async fn refused(world: &World) {
    let organization = world.organization();
    let mark = mark();
    for body in [
        json!({"message": mark}),
        json!({"message": format!("{mark} 536-22-8714")}),
    ] {
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 503, "{}", answer.text());
        let error = expect(&answer, "INFERENCE_UNAVAILABLE", None);
        assert_eq!(error["retryable"], true);
        let (_, terminal) = books::pair(&world.gateway.database, answer.request_id()).await;
        assert_eq!(terminal["event"], "inference.failed");
    }
    assert!(world.fake.seen(&mark).await.is_empty());
    books::check(&world.gateway.database, &organization.id).await;
}

#[tokio::test]
async fn a_missing_detector_refuses() {
    let policies = Policies::copy();
    policies.edit(
        "phi.toml",
        "detectors = [\"phi-patterns\", \"phi-names\", \"phi-context\"]",
        "detectors = [\"phi-patterns\", \"phi-nowhere\"]",
    );
    let world = World::unready(|setup| setup.policies(policies.path())).await;
    refused(&world).await;
}

#[tokio::test]
async fn a_broken_detector_refuses() {
    let folder = plugins();
    let wasm = folder.path().join("phi-patterns/plugin.wasm");
    let bytes = std::fs::read(&wasm).unwrap();
    replace(&wasm, &bytes[..bytes.len() / 2]);
    let world = World::unready(|setup| setup.plugins(folder.path())).await;
    refused(&world).await;
    let listed = list(&world);
    let detector = listed
        .iter()
        .find(|plugin| plugin["id"] == "phi-patterns")
        .expect("still listed");
    assert!(detector["error"].is_string(), "{detector}");
}

/// A driver that is not there is no reason to be open either.
#[tokio::test]
async fn a_missing_driver_refuses() {
    let folder = plugins();
    std::fs::remove_dir_all(folder.path().join("provider-alpha")).unwrap();
    let world = World::with(|setup| setup.plugins(folder.path())).await;
    refused(&world).await;
}

fn list(world: &World) -> Vec<Value> {
    let output = world
        .gateway
        .command()
        .args(["plugin", "list", "--json"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
