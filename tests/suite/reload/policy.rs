//! Policy files, changed under load.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::patience::eventually;
use svc_tests::policies::{Policies, copy, replace};
use svc_tests::postgres::{Durability, Server};
use svc_tests::world::World;

use crate::control::data;
use crate::control::meanwhile::{Slow, told};
use crate::load::under_load;
use crate::refusal::expect;

const REFUSED: &str = "svc_policy_reloads_total{outcome=\"refused\"}";
const ACCEPTED: &str = "svc_policy_reloads_total{outcome=\"accepted\"}";
const EPOCH: &str = "svc_policy_epoch";

async fn metric_reaches(world: &World, sample: &str, least: f64) {
    eventually(sample, async || {
        (world.gateway.metric(sample).await >= least).then_some(())
    })
    .await;
}

/// What the provider was asked to say at most, by a caller who asked for much.
async fn cap(world: &World, key: &str) -> Value {
    let mark = mark();
    let answer = world
        .gateway
        .chat(
            key,
            json!({"message": mark, "model": "alpha-haiku-4-5", "max_tokens": 8_000}),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    world.fake.received(&mark).await["body"]["max_tokens"].clone()
}

/// The catalogue with another limit for one model.
fn limited(policies: &Policies, tokens: u32) -> String {
    let text = policies.read("models.toml");
    let (before, model) = text.split_once("id = \"alpha-haiku-4-5\"").unwrap();
    let (line, after) = model.split_once("max_output_tokens = 64000").unwrap();
    format!("{before}id = \"alpha-haiku-4-5\"{line}max_output_tokens = {tokens}{after}")
}

#[tokio::test]
async fn a_changed_policy_takes_effect_without_a_failed_request() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let key = &organization.key;
    let first_epoch = world.gateway.metric(EPOCH).await;
    let good = policies.read("models.toml");
    under_load(&world, key, async |load| {
        assert_eq!(cap(&world, key).await, 8_000);
        policies.write("models.toml", &limited(&policies, 777));
        metric_reaches(&world, ACCEPTED, 1.0).await;
        assert_eq!(cap(&world, key).await, 777);
        load.more(20).await;

        // Broken in itself, broken in what it refers to, and gone: none replaces the good set.
        let broken: [(&str, &str); 3] = [
            ("models.toml", "this is no TOML"),
            ("pipelines.toml", "[pipelines]\nnative_chat = [\"auth\"]\n"),
            ("plans.toml", ""),
        ];
        for (at, (file, text)) in broken.into_iter().enumerate() {
            let before = policies.read(file);
            policies.write(file, text);
            #[expect(clippy::cast_precision_loss, reason = "counts to three")]
            metric_reaches(&world, REFUSED, at as f64 + 1.0).await;
            let page = world.gateway.admin_page("/readyz").await;
            let said: Value = serde_json::from_slice(&page.body).unwrap();
            assert_eq!(
                (page.status, &said["ready"]),
                (200, &json!(true)),
                "a good set is in force"
            );
            assert!(
                said["policy"]["refused"].to_string().contains(file),
                "{said}"
            );
            assert_eq!(cap(&world, key).await, 777);
            policies.write(file, &before);
            eventually("no refused file", async || {
                let page = world.gateway.admin_page("/readyz").await;
                let said: Value = serde_json::from_slice(&page.body).unwrap();
                said["policy"]["refused"]
                    .as_array()
                    .unwrap()
                    .is_empty()
                    .then_some(())
            })
            .await;
        }
        assert!(world.gateway.log().contains("policy set refused"));

        // A good change beside a broken file waits: the set is taken whole.
        let detectors = policies.read("phi.toml");
        policies.write("phi.toml", "detectors = []");
        metric_reaches(&world, REFUSED, 4.0).await;
        policies.write("models.toml", &good);
        metric_reaches(&world, REFUSED, 5.0).await;
        assert_eq!(cap(&world, key).await, 777);
        policies.write("phi.toml", &detectors);
        metric_reaches(&world, ACCEPTED, 2.0).await;
        assert_eq!(cap(&world, key).await, 8_000);
    })
    .await;
    // The last set is the first one again, and an epoch names a set.
    assert_eq!(
        world.gateway.metric(EPOCH).await.to_bits(),
        first_epoch.to_bits()
    );
    books::check(&world.gateway.database, &organization.id).await;
}

/// A request lives and ends under the rules that it began with.
#[tokio::test]
async fn a_request_under_way_keeps_its_policy() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();
    let mark = mark();
    let slow = json!({"contains": mark, "event_count": 3, "delay_before_head_ms": 1_500});
    world.fake.expect(slow).await;
    let body = json!({"message": mark, "model": "alpha-haiku-4-5"});
    let running = world.gateway.chat(&organization.key, body.clone());
    let reload = async {
        world.fake.received(&mark).await;
        let text = policies.read("models.toml");
        policies.write(
            "models.toml",
            &text.replace("id = \"alpha-haiku-4-5\"", "id = \"alpha-haiku-9\""),
        );
        metric_reaches(&world, ACCEPTED, 1.0).await;
        expect(
            &world.gateway.chat(&organization.key, body.clone()).await,
            "MODEL_ACCESS_DENIED",
            Some("model"),
        )
    };
    let (answer, _) = futures_util::future::join(running, reload).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let (requested, completed) = books::pair(&world.gateway.database, answer.request_id()).await;
    let epoch = |row: &Value| books::document(row)["phi"]["policy_epoch"].clone();
    assert_eq!(epoch(&requested), epoch(&completed));
    let after = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": svc_tests::fake::mark()}),
        )
        .await;
    let (_, later) = books::pair(&world.gateway.database, after.request_id()).await;
    assert!(epoch(&later).as_i64() > epoch(&completed).as_i64());
}

/// A body that had to be waited for is read by the set that is in force when it is whole, as a new request would be.
#[tokio::test]
async fn a_body_that_comes_late_is_judged_by_the_set_of_its_end() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();
    let scopes = json!({"name": "speaks", "scopes": ["ai:chat"]});
    let made = data(&world, &organization.key, "POST", "/v1/api_keys", scopes).await;
    let key = made["key"].as_str().unwrap();
    let chat = "path = \"/v1/ai/chat\"\nsurface = \"native\"\n";
    let scope = |word: &str| format!("{chat}scope = \"{word}\"");
    let cases = [
        (
            "models.toml",
            "id = \"alpha-haiku-4-5\"".to_owned(),
            "id = \"alpha-haiku-9\"".to_owned(),
            (403, "MODEL_ACCESS_DENIED"),
        ),
        (
            "phi.toml",
            "action = \"redact\"".to_owned(),
            "action = \"block\"".to_owned(),
            (403, "PHI_BLOCKED"),
        ),
        (
            "pipelines.toml",
            scope("ai:chat"),
            scope("control:read"),
            (403, "MISSING_SCOPE"),
        ),
        // Another way leads through the filters: it can be taken from its beginning only.
        (
            "pipelines.toml",
            chat.to_owned(),
            chat.replace("/chat", "/talk"),
            (503, "INFERENCE_UNAVAILABLE"),
        ),
    ];
    let mut reloads = 0.0;
    for (file, from, to, (status, code)) in cases {
        let mark = mark();
        let message = format!("{mark} SSN 536-22-1234");
        let body = json!({"message": message, "model": "alpha-haiku-4-5", "stream": false});
        let slow = Slow::begin(&world, Some(key), "POST /v1/ai/chat", body).await;
        let before = policies.read(file);
        policies.edit(file, &from, &to);
        metric_reaches(&world, ACCEPTED, reloads + 1.0).await;
        let epoch = world.gateway.metric(EPOCH).await;
        let answer = slow.end().await;
        assert_eq!(told(&answer), (status, code.to_owned()), "{file}");
        assert!(world.fake.seen(&mark).await.is_empty());
        if status == 403 {
            let (_, terminal) = books::pair(&world.gateway.database, answer.request_id()).await;
            let details = books::document(&terminal)["details"].clone();
            assert_eq!(details["policy_epoch"].as_f64(), Some(epoch), "{file}");
        }
        policies.write(file, &before);
        reloads += 2.0;
        metric_reaches(&world, ACCEPTED, reloads).await;
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// Back to the old files is back to the old epoch: an epoch names a set, not a moment.
#[tokio::test]
async fn the_same_files_have_the_same_epoch() {
    let policies = Policies::copy();
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let first = world.gateway.metric(EPOCH).await;
    let text = policies.read("models.toml");
    policies.write("models.toml", &limited(&policies, 777));
    metric_reaches(&world, ACCEPTED, 1.0).await;
    assert!(world.gateway.metric(EPOCH).await > first);
    policies.write("models.toml", &text);
    metric_reaches(&world, ACCEPTED, 2.0).await;
    assert_eq!(world.gateway.metric(EPOCH).await.to_bits(), first.to_bits());
}

/// Notifications come from the folder that lies there now, not from the one that was watched first.
#[tokio::test]
async fn a_folder_that_was_replaced_is_watched_again() {
    let policies = Policies::copy();
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("policies");
    copy(policies.path(), &folder);
    let world = World::with(|setup| setup.policies(&folder)).await;
    let good = policies.read("models.toml");
    policies.write("models.toml", &limited(&policies, 777));
    std::fs::rename(&folder, outer.path().join("former")).unwrap();
    copy(policies.path(), &folder);
    metric_reaches(&world, ACCEPTED, 1.0).await;
    let start = Instant::now();
    replace(&folder.join("models.toml"), good.as_bytes());
    metric_reaches(&world, ACCEPTED, 2.0).await;
    // Without a word it is looked at every 10 s.
    assert!(start.elapsed() < Duration::from_secs(7));
}

/// What is made in the place of a folder that was removed may have the number of that one, and nobody watches it.
#[tokio::test]
async fn a_folder_that_was_removed_and_made_again_is_watched_again() {
    let policies = Policies::copy();
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("policies");
    copy(policies.path(), &folder);
    let world = World::with(|setup| setup.policies(&folder)).await;
    let models = |tokens: u32| limited(&policies, tokens);
    let (first, second, third) = (models(777), models(778), models(779));
    std::fs::remove_dir_all(&folder).unwrap();
    copy(policies.path(), &folder);
    replace(&folder.join("models.toml"), first.as_bytes());
    metric_reaches(&world, ACCEPTED, 1.0).await;
    // By the look that renews the watch, if not before.
    replace(&folder.join("models.toml"), second.as_bytes());
    metric_reaches(&world, ACCEPTED, 2.0).await;
    let start = Instant::now();
    replace(&folder.join("models.toml"), third.as_bytes());
    metric_reaches(&world, ACCEPTED, 3.0).await;
    assert!(start.elapsed() < Duration::from_secs(7));
}

/// A set that the database was not there to take is taken once it is back, without another change of a file.
#[tokio::test]
async fn a_change_during_an_outage_is_taken_after_it() {
    let policies = Policies::copy();
    let server = tokio::task::spawn_blocking(|| Server::start(Durability::None))
        .await
        .unwrap();
    let database = server.database();
    let world = World::with(|setup| setup.policies(policies.path()).on(Some(database))).await;
    let first = world.gateway.metric(EPOCH).await;
    server.stop();
    policies.write("models.toml", &limited(&policies, 777));
    metric_reaches(&world, REFUSED, 1.0).await;
    assert_eq!(world.gateway.metric(EPOCH).await.to_bits(), first.to_bits());
    server.start_again();
    metric_reaches(&world, ACCEPTED, 1.0).await;
    assert!(world.gateway.metric(EPOCH).await > first);
}
