//! Remembered findings: a text that was read before is not read again, and comes out the same.

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::world::World;

use crate::engines::on_worlds_of_their_own;

on_worlds_of_their_own! {
    a_text_that_comes_again_is_not_read_again,
    a_prompt_is_read_once,
}

const HIT: &str = "svc_phi_results_total{outcome=\"hit\"}";
const MISS: &str = "svc_phi_results_total{outcome=\"miss\"}";
/// phi-patterns, phi-names and phi-context, all of them deterministic.
const DETECTORS: f64 = 3.0;

async fn outcomes(world: &World) -> [f64; 2] {
    [
        world.gateway.metric(HIT).await,
        world.gateway.metric(MISS).await,
    ]
}

async fn a_text_that_comes_again_is_not_read_again(world: &World) {
    let (one, other) = (world.organization(), world.organization());
    let mark = mark();
    let body =
        json!({"message": format!("{mark} SSN 536-22-8714 of Thomas Barker"), "store": false});
    for (at, (key, expected)) in [
        (&one.key, [0.0, DETECTORS]),
        (&one.key, [DETECTORS, DETECTORS]),
        // What another organization has sent is no concern of this one, and cannot be told from the time it takes.
        (&other.key, [DETECTORS, 2.0 * DETECTORS]),
        (&other.key, [2.0 * DETECTORS, 2.0 * DETECTORS]),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = world.gateway.chat(key, body.clone()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(
            answer.header("svc-phi-entities"),
            Some("NAME=1,SSN=1"),
            "request {at}"
        );
        assert_eq!(outcomes(world).await, expected, "request {at}");
    }
    let sent: Vec<String> = world
        .fake
        .seen(&mark)
        .await
        .iter()
        .map(|request| request["body"]["messages"].to_string())
        .collect();
    assert_eq!(sent.len(), 4);
    assert!(
        sent.iter()
            .all(|text| *text == sent[0] && text.contains("[SSN_1] of [NAME_1]")),
        "{sent:?}"
    );
}

/// phi-names reads all that is said together, and the others each long text by itself.
async fn a_prompt_is_read_once(world: &World) {
    let organization = world.organization();
    let prompt = "Answer in one sentence, and say what you do not know. ".repeat(40);
    let mut read = Vec::new();
    for _ in 0..2 {
        let mark = mark();
        let message = format!("{mark} SSN 536-22-8714 of Thomas Barker");
        let body = json!({"system": prompt, "message": message, "store": false});
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("svc-phi-entities"), Some("NAME=1,SSN=1"));
        assert!(
            world.fake.seen(&mark).await[0]["body"]["messages"]
                .to_string()
                .contains("[SSN_1] of [NAME_1]")
        );
        read.push(outcomes(world).await);
    }
    // Prompt and message for two of them, and the whole for the third.
    assert_eq!(read, [[0.0, 5.0], [2.0, 8.0]]);
}
