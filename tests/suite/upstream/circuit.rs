//! The circuit of a provider from outside: what opens it, whom it concerns, and how one trial decides.

use serde_json::json;
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::patience::eventually;
use svc_tests::surfaces::{Form, MODELS, SURFACES, Surface};
use svc_tests::world::World;

use crate::engines::on_worlds_of_their_own;

on_worlds_of_their_own! {
    a_failing_trial_opens_the_circuit_again,
    what_is_the_callers_own_fault_opens_nothing,
    an_open_circuit_is_told_on_every_surface,
}

/// Failures in a row that open a circuit (the pipeline's FAILURES_TO_OPEN).
const FAILURES: usize = 5;

/// Asks for an answer of this status; gives the caller's status and whether the provider was asked at all.
async fn ordered(world: &World, key: &str, model: &str, status: u16) -> (u16, bool) {
    let mark = mark();
    if status != 200 {
        let order = json!({"contains": mark, "status": status});
        world.fake.expect(order).await;
    }
    let body = Surface::Native.question(model, &mark, Form::Whole);
    let request = Surface::Native.request(key, &body);
    let answer = world.gateway.answer(&request).await;
    let asked = !world.fake.seen(&mark).await.is_empty();
    (answer.status, asked)
}

async fn a_failing_trial_opens_the_circuit_again(world: &World) {
    // Waiting for a trial asks often; on a quick machine more often than an organization usually may.
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let key = &organization.key;
    let [(_, model), (_, other)] = MODELS;
    for _ in 0..FAILURES {
        assert_eq!(ordered(world, key, model, 500).await, (502, true));
    }
    assert_eq!(ordered(world, key, model, 500).await, (503, false));
    // Circuits belong to providers.
    assert_eq!(ordered(world, key, other, 200).await, (200, true));
    // After a while one call is let through. It fails, and the circuit is open again at once.
    let trial = eventually("a trial", async || {
        let answer = ordered(world, key, model, 500).await;
        answer.1.then_some(answer)
    });
    assert_eq!(trial.await, (502, true));
    assert_eq!(ordered(world, key, model, 500).await, (503, false));
    // The next trial goes well: all is as before.
    world.fake.forget().await;
    let trial = eventually("another trial", async || {
        let answer = ordered(world, key, model, 200).await;
        answer.1.then_some(answer)
    });
    assert_eq!(trial.await, (200, true));
    for _ in 0..FAILURES - 1 {
        assert_eq!(ordered(world, key, model, 500).await, (502, true));
    }
    assert_eq!(ordered(world, key, model, 200).await, (200, true));
    books::check(&world.gateway.database, &organization.id).await;
}

async fn what_is_the_callers_own_fault_opens_nothing(world: &World) {
    let organization = world.organization();
    for (_, model) in MODELS {
        for status in [400, 413, 422, 429, 401, 404] {
            for _ in 0..2 {
                let answer = ordered(world, &organization.key, model, status).await;
                assert_eq!(answer, (502, true), "{model} {status}");
            }
        }
        let answer = ordered(world, &organization.key, model, 200).await;
        assert_eq!(answer, (200, true), "{model}");
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn an_open_circuit_is_told_on_every_surface(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for (_, model) in MODELS {
        for _ in 0..FAILURES {
            assert_eq!(ordered(world, key, model, 503).await, (502, true));
        }
        for surface in SURFACES {
            let mark = mark();
            let body = surface.question(model, &mark, Form::Streamed);
            let answer = world.gateway.answer(&surface.request(key, &body)).await;
            assert_eq!(answer.status, 503, "{}", answer.text());
            assert_eq!(surface.code(&answer.json()), "INFERENCE_UNAVAILABLE");
            // The whole of what is left until a trial; some of the ten seconds have passed.
            let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((2..=10).contains(&wait), "{wait}");
            assert!(world.fake.seen(&mark).await.is_empty());
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}
