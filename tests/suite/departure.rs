//! Leaving: SIGTERM drains, an idle gateway goes at once, the deadline ends what is left with a word, and an
//! upgrade hands the sockets over without a dropped request.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, signal};
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::sse::{self, Events};
use svc_tests::stall::Stall;
use svc_tests::surfaces::{End, Form, MODELS, Surface};
use svc_tests::wire::Request;
use svc_tests::world::World;

use crate::load::under_load;

/// A stream of ten events, so many milliseconds apart, that has said something.
async fn begun(world: &World, organization: &Organization, apart_ms: u64) -> Events {
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "event_count": 10, "delay_between_events_ms": apart_ms}))
        .await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await;
    stream.until("message.delta").await;
    stream
}

/// A stream takes its time; the gateway waits for it, and takes nobody else in.
#[tokio::test]
async fn a_draining_gateway_finishes_what_it_has_begun() {
    let world = World::start(None).await;
    let organization = world.organization();
    let stream = begun(&world, &organization, 200).await;
    world.gateway.signal("TERM");
    let events = stream.rest().await;
    assert_eq!(events.last().unwrap().name, "run.completed");
    let taken = tokio::net::TcpStream::connect(world.gateway.address).await;
    assert!(
        taken.is_err() || events.len() > 1,
        "still listening after the last stream"
    );
    assert!(world.gateway.ended().await.success());
    books::check(&world.gateway.database, &organization.id).await;
}

/// Other programs send these for reasons of their own: streams go on.
#[tokio::test]
async fn signals_of_others_end_nothing() {
    let world = World::start(None).await;
    let organization = world.organization();
    let stream = begun(&world, &organization, 50).await;
    for name in ["HUP", "USR1", "USR2", "ALRM"] {
        world.gateway.signal(name);
    }
    let events = stream.rest().await;
    assert_eq!(events.last().unwrap().name, "run.completed");
    eventually("a word on SIGHUP", async || {
        world.gateway.log().contains("SIGHUP").then_some(())
    })
    .await;
    world.gateway.signal("TERM");
    assert!(world.gateway.ended().await.success());
}

/// What failed to authenticate is counted, and written down at the latest when the gateway leaves: in the log of whoever
/// once had the credential, and in nobody's otherwise.
#[tokio::test]
async fn failed_authentications_are_told_their_owner() {
    let world = World::start(None).await;
    let organization = world.organization();
    let new = Request::new("POST", "/v1/api_keys").bearer(&organization.key);
    let new = new.json(&json!({"name": "lost", "scopes": ["ai:chat"]}));
    let made = world.gateway.answer(&new).await.json()["data"].clone();
    let (id, lost) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let revoke = Request::new("DELETE", &format!("/v1/api_keys/{id}")).bearer(&organization.key);
    assert_eq!(world.gateway.answer(&revoke).await.status, 200);
    let unknown = format!("svc_api_live_{}", "x".repeat(32));
    for key in [lost, lost, &unknown] {
        let answer = world.gateway.chat(key, json!({"message": mark()})).await;
        // Callers learn no difference.
        assert_eq!(
            (answer.status, &answer.json()["error"]["details"]),
            (401, &Value::Null)
        );
    }
    world.gateway.signal("TERM");
    assert!(world.gateway.ended().await.success());
    world.gateway.start().await;
    let log = Request::new("GET", "/v1/audit?event=auth.failed").bearer(&organization.key);
    let rows = world.gateway.answer(&log).await.json()["data"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
    assert_eq!(rows[0]["actor"]["type"], "api_key");
    assert_eq!(rows[0]["actor"]["id"], id);
    assert_eq!(rows[0]["outcome"]["code"], "INVALID_API_KEY");
    assert_eq!(
        (&rows[0]["details"]["reason"], &rows[0]["details"]["count"]),
        (&json!("revoked"), &json!(2))
    );
}

#[tokio::test]
async fn an_idle_gateway_leaves_at_once() {
    let world = World::with(|setup| setup.key("server", "drain_seconds", 60)).await;
    let organization = world.organization();
    // An idle kept connection is no reason to stay.
    let mut connection = world.gateway.connect().await;
    connection
        .send(
            &chat(
                &organization.key,
                json!({"message": mark(), "stream": false}),
            )
            .bytes(),
        )
        .await;
    let (_, mut connection) = connection.reply().await.whole().await;
    let start = Instant::now();
    world.gateway.signal("TERM");
    assert!(world.gateway.ended().await.success());
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "took {:?}",
        start.elapsed()
    );
    assert!(connection.closes().await);
}

/// Who is told to send nobody else needs time to hear it: callers come until then, and are served.
#[tokio::test]
async fn whoever_sends_callers_is_given_notice() {
    let world = World::with(|setup| setup.key("server", "notice_seconds", 4)).await;
    let organization = world.organization();
    let (start, mut served) = (Instant::now(), 0);
    world.gateway.signal("TERM");
    eventually("a gateway that says so", async || {
        let page = world.gateway.admin_page("/readyz").await;
        (page.status == 503).then(|| {
            let said = page.json();
            assert_eq!(
                (&said["ready"], &said["draining"]),
                (&json!(false), &json!(true))
            );
        })
    })
    .await;
    // A second before the end of it, for a busy machine.
    while start.elapsed() < Duration::from_secs(3) {
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        // Whoever asks again goes by whoever knows better.
        assert_eq!(answer.header("connection"), Some("close"));
        served += 1;
    }
    assert!(served > 0);
    assert!(world.gateway.ended().await.success());
    assert!(start.elapsed() >= Duration::from_secs(4));
    let taken = tokio::net::TcpStream::connect(world.gateway.address).await;
    assert!(taken.is_err());
    books::check(&world.gateway.database, &organization.id).await;
}

#[tokio::test]
async fn a_second_signal_ends_the_notice() {
    let world = World::with(|setup| setup.key("server", "notice_seconds", 300)).await;
    world.gateway.signal("TERM");
    eventually("a gateway that has heard it", async || {
        let page = world.gateway.admin_page("/readyz").await;
        (page.status == 503).then_some(())
    })
    .await;
    world.gateway.signal("TERM");
    assert!(world.gateway.ended().await.success());
    assert!(world.gateway.log().contains("AtOnce"));
}

#[tokio::test]
async fn the_deadline_ends_streams_with_a_retryable_error() {
    let world = World::with(|setup| setup.key("server", "drain_seconds", 1)).await;
    let organization = world.organization();
    let (streamed, awaited) = (mark(), mark());
    world
        .fake
        .expect(json!({"contains": streamed, "event_count": 50, "stall_after_events": 8}))
        .await;
    world
        .fake
        .expect(json!({"contains": awaited, "stall_after_events": 0}))
        .await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": streamed}))
        .await;
    stream.until("message.delta").await;
    let mut waiting = world.gateway.connect().await;
    waiting
        .send(
            &chat(
                &organization.key,
                json!({"message": awaited, "stream": false}),
            )
            .bytes(),
        )
        .await;
    world.fake.received(&awaited).await;
    world.gateway.signal("TERM");
    let events = stream.rest().await;
    let last = events.last().unwrap();
    assert_eq!(last.name, "error", "{:?}", sse::names(&events));
    assert_eq!(
        (&last.data["code"], &last.data["retryable"]),
        (&json!("INFERENCE_UNAVAILABLE"), &json!(true))
    );
    assert_eq!(last.data["failure_layer"], "gateway");
    let answer = waiting.reply().await.whole().await.0;
    crate::refusal::expect(&answer, "INFERENCE_UNAVAILABLE", None);
    assert!(world.gateway.ended().await.success());
    // Everything was settled before the process ended: nobody else could do it now.
    let sql = "SELECT event, request_id FROM audit WHERE org_id = $1 AND phase = 'terminal'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 2, "{rows:?}");
    // Whoever asks about the answer finds its rows.
    let answered = &answer.json()["error"]["request_id"];
    assert!(
        rows.iter().any(|row| row["request_id"] == *answered),
        "{rows:?}"
    );
    // Nobody left: it was the gateway that broke them off.
    for row in &rows {
        assert_eq!(row["event"], "inference.failed", "{rows:?}");
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// A run that has failed is being written down when the deadline comes: its caller hears of the failure.
#[tokio::test]
async fn the_deadline_swallows_no_error() {
    let world = World::with(|setup| setup.key("server", "drain_seconds", 1)).await;
    let organization = world.organization();
    let stall = Stall::at(
        &world.gateway.database,
        "ledger",
        "INSERT",
        &organization.id,
    )
    .await;
    let (surface, mark) = (Surface::Messages, mark());
    // Nothing that is shown comes before the connection breaks.
    let order = json!({"contains": mark, "close_after_events": 1, "close": "cut"});
    world.fake.expect(order).await;
    let (_, model) = MODELS[0];
    let body = surface.question(model, &mark, Form::Streamed);
    let request = surface.request(&organization.key, &body);
    let mut connection = world.gateway.connect().await;
    connection.send(&request.bytes()).await;
    stall.reached().await;
    world.gateway.signal("TERM");
    let answer = connection.reply().await.whole().await.0;
    let heard = surface.heard(&answer);
    let Some(End::Badly(error)) = &heard.end else {
        panic!("{}", answer.text());
    };
    assert_eq!(surface.code(error), "INFERENCE_UPSTREAM_FAILURE");
}

/// Nobody is left to be told that a refusal could not be recorded: the log is.
#[tokio::test]
async fn rows_that_are_lost_after_their_caller_left_are_told() {
    let database = tokio::task::spawn_blocking(svc_tests::postgres::database);
    let world = World::start(Some(database.await.unwrap())).await;
    let organization = world.organization();
    let known = Request::new("GET", "/v1/models").bearer(&organization.key);
    assert_eq!(world.gateway.answer(&known).await.status, 200);
    let stall = Stall::at(&world.gateway.database, "audit", "INSERT", &organization.id).await;
    let refused = chat(&organization.key, json!({"message": 1}));
    let mut connection = world.gateway.connect().await;
    connection.send(&refused.bytes()).await;
    stall.reached().await;
    drop(connection);
    eventually("a gateway that has seen it", async || {
        let in_flight = world.gateway.metric("svc_edge_requests_in_flight").await;
        (in_flight < 1.0).then_some(())
    })
    .await;
    let end = "SELECT pg_terminate_backend(pid) AS ended FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    eventually("a word on the rows", async || {
        world.gateway.database.rows(end, &[]).await;
        let log = world.gateway.log();
        log.contains("rows of a left request are not written")
            .then_some(())
    })
    .await;
    stall.lift().await;
}

/// No new caller comes in, so nobody should be sent here; and whoever sends a second signal gets an end with a word for
/// everybody, now.
#[tokio::test]
async fn a_second_signal_does_not_wait() {
    let world = World::with(|setup| setup.key("server", "drain_seconds", 300)).await;
    let organization = world.organization();
    let stalled = mark();
    world
        .fake
        .expect(json!({"contains": stalled, "event_count": 50, "stall_after_events": 8}))
        .await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": stalled}))
        .await;
    stream.until("message.delta").await;
    world.gateway.signal("TERM");
    eventually("a gateway that is not ready", async || {
        let page = world.gateway.admin_page("/readyz").await;
        (page.status == 503).then(|| assert_eq!(page.json()["draining"], true))
    })
    .await;
    let start = Instant::now();
    world.gateway.signal("TERM");
    let events = stream.rest().await;
    let last = events.last().unwrap();
    assert_eq!(last.name, "error", "{:?}", sse::names(&events));
    assert_eq!(last.data["retryable"], true);
    assert!(world.gateway.ended().await.success());
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "took {:?}",
        start.elapsed()
    );
    let sql = "SELECT event FROM audit WHERE org_id = $1 AND phase = 'terminal'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(world.gateway.log().contains("AtOnce"));
    books::check(&world.gateway.database, &organization.id).await;
}

/// SQLite is for one gateway and its successor.
#[tokio::test]
async fn a_second_gateway_of_the_same_folder_is_refused() {
    let world = World::start(None).await;
    let pid = std::fs::read_to_string(world.gateway.data().join("svc-gateway.pid")).unwrap();
    let mut second = world.gateway.spawn(&["serve"]);
    let ended = eventually("the end of the second", async || second.try_wait().unwrap()).await;
    assert!(!ended.success(), "{ended}");
    let log = world.gateway.log();
    assert!(log.contains("another gateway serves"), "{log}");
    let still = std::fs::read_to_string(world.gateway.data().join("svc-gateway.pid"));
    assert_eq!(still.unwrap(), pid);
    assert_eq!(world.gateway.admin_page("/readyz").await.status, 200);
}

/// The database is what two must not serve from, not the data folder.
#[tokio::test]
async fn a_second_gateway_of_the_same_database_is_refused_in_a_folder_of_its_own() {
    let world = World::start(None).await;
    let second = world
        .gateway
        .command()
        .arg("serve")
        .env("SVC_DATA_DIR", world.gateway.data().join("another"))
        .env("DATABASE_URL", world.gateway.database.url())
        .output()
        .unwrap();
    assert!(!second.status.success(), "{}", second.status);
    let told = [second.stdout, second.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("another gateway serves"), "{told}");
    assert_eq!(world.gateway.admin_page("/readyz").await.status, 200);
}

/// Whoever waits for the sockets is no replica yet.
#[tokio::test]
async fn a_successor_that_waits_takes_nothing() {
    let world = World::start(None).await;
    let mut successor = world.gateway.spawn(&["serve", "--upgrade"]);
    let socket = world.gateway.data().join("upgrade.sock");
    eventually("a successor that waits", async || {
        socket.exists().then_some(())
    })
    .await;
    let sql = "SELECT id FROM replicas";
    let replicas = world.gateway.database.rows(sql, &[]).await;
    assert_eq!(replicas.len(), 1, "{replicas:?}");
    signal(successor.id(), "TERM");
    eventually("the end of the successor", async || {
        successor.try_wait().unwrap()
    })
    .await;
    assert_eq!(world.gateway.admin_page("/readyz").await.status, 200);
}

/// Whoever orders the sockets to be handed over need not wait until a successor is that far.
#[tokio::test]
async fn a_successor_is_waited_for() {
    let world = World::start(None).await;
    let organization = world.organization();
    let mut old = world.gateway.release();
    signal(old.id(), "QUIT");
    eventually("a gateway that waits", async || {
        let log = world.gateway.log();
        log.contains("waiting for a successor").then_some(())
    })
    .await;
    let successor = world.gateway.spawn(&["serve", "--upgrade"]);
    world.gateway.adopt(successor);
    let ended = eventually("the end of the old one", async || old.try_wait().unwrap()).await;
    assert!(ended.success(), "{ended}");
    world.gateway.ready().await;
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// A successor that fails when it has the sockets already is none, and there may be another.
#[tokio::test]
async fn a_successor_that_fails_leaves_the_old_one_serving() {
    let world = World::start(None).await;
    let organization = world.organization();
    let served = async || {
        let body = json!({"message": mark()});
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    };
    let waits = async || {
        let socket = world.gateway.data().join("upgrade.sock");
        eventually("a successor that waits", async || {
            socket.exists().then_some(())
        })
        .await;
    };
    let mut failing = world.gateway.spawn(&["serve", "--upgrade"]);
    waits().await;
    // Just before it serves it writes its id.
    let pid_file = world.gateway.data().join("svc-gateway.pid");
    std::fs::remove_file(&pid_file).unwrap();
    std::fs::create_dir(&pid_file).unwrap();
    world.gateway.signal("QUIT");
    let ended = eventually("the end of the successor", async || {
        failing.try_wait().unwrap()
    })
    .await;
    assert!(!ended.success(), "{ended}");
    eventually("a gateway that goes on serving", async || {
        let log = world.gateway.log();
        log.contains("nobody took the listening sockets over")
            .then_some(())
    })
    .await;
    served().await;
    assert_eq!(world.gateway.admin_page("/readyz").await.status, 200);
    std::fs::remove_dir(&pid_file).unwrap();
    let successor = world.gateway.spawn(&["serve", "--upgrade"]);
    waits().await;
    let mut old = world.gateway.release();
    signal(old.id(), "QUIT");
    world.gateway.adopt(successor);
    let ended = eventually("the end of the old one", async || old.try_wait().unwrap()).await;
    assert!(ended.success(), "{ended}");
    served().await;
    books::check(&world.gateway.database, &organization.id).await;
}

/// Nobody comes: an order to stop is obeyed all the same.
#[tokio::test]
async fn a_gateway_that_waits_for_a_successor_serves_and_can_be_stopped() {
    let world = World::start(None).await;
    let organization = world.organization();
    world.gateway.signal("QUIT");
    eventually("a gateway that waits", async || {
        let log = world.gateway.log();
        log.contains("waiting for a successor").then_some(())
    })
    .await;
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(world.gateway.admin_page("/readyz").await.status, 200);
    world.gateway.signal("TERM");
    assert!(world.gateway.ended().await.success());
    let log = world.gateway.log();
    assert!(!log.contains("server not ready"), "{log}");
}

#[tokio::test]
async fn an_upgrade_drops_no_request() {
    let world = World::start(None).await;
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let slow = mark();
    world
        .fake
        .expect(json!({"contains": slow, "event_count": 20, "delay_between_events_ms": 150}))
        .await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": slow}))
        .await;
    stream.until("message.delta").await;
    under_load(&world, &organization.key, async |load| {
        for _ in 0..2 {
            let mut old = world.gateway.release();
            let successor = world.gateway.spawn(&["serve", "--upgrade"]);
            // The successor says when it waits for the sockets, by its own socket.
            eventually("a successor that waits", async || {
                world
                    .gateway
                    .data()
                    .join("upgrade.sock")
                    .exists()
                    .then_some(())
            })
            .await;
            signal(old.id(), "QUIT");
            world.gateway.adopt(successor);
            let ended =
                eventually("the end of the old one", async || old.try_wait().unwrap()).await;
            assert!(ended.success(), "{ended}");
            world.gateway.ready().await;
            load.more(20).await;
        }
    })
    .await;
    let events = stream.rest().await;
    assert_eq!(events.last().unwrap().name, "run.completed");
    books::check(&world.gateway.database, &organization.id).await;
}
