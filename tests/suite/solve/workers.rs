//! Solver processes that are killed, left, missing, wrong, crashing or hanging: one call has a fault that can be
//! retried, and nothing else is harmed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use svc_core::time::Timestamp;
use svc_tests::fake::mark;
use svc_tests::gateway::whole;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::wire::Answer;
use svc_tests::world::World;
use svc_tests::{gateway, program};

use super::{request, roster, solve};

/// A roster whose best answer takes far longer to prove than any test waits.
fn endless() -> Value {
    let resources: Vec<Value> = (0..40)
        .map(|place| json!({"id": format!("r{place:02}"), "attributes": {"rate": place * 7 % 11}}))
        .collect();
    let shifts = [
        ("early", "07:00", "15:00"),
        ("late", "15:00", "23:00"),
        ("night", "23:00", "07:00"),
    ];
    let slots: Vec<Value> = (0..84)
        .map(|place| {
            let (shift, start, end) = shifts[place % 3];
            json!({
                "id": format!("s{place:02}"), "day": format!("2026-11-{:02}", 2 + place / 3),
                "start": start, "end": end, "attributes": {"shift": shift},
                "requirements": [{"count": 6 + place % 4, "where": []}],
            })
        })
        .collect();
    json!({
        "resources": resources,
        "slots": slots,
        "constraints": [
            {"type": "min_rest", "minutes": 660},
            {"type": "consecutive_days", "min": 2, "max": 5},
            {"type": "rolling", "window_days": 7, "unit": "minutes", "max": 2880},
        ],
        "preferences": [
            {"type": "balance", "unit": "minutes", "weight": 1},
            {"type": "cost", "attribute": "rate", "weight": 13},
            {"type": "complete_weekends", "weight": 40},
            {"type": "consecutive_days_off", "min": 2, "weight": 17},
            {"type": "consecutive_slots", "slot_where": [{"key": "shift", "equals": "night"}], "min": 2, "max": 4, "weight": 23},
        ],
        "options": {"time_limit_seconds": 30},
    })
}

/// Process ids of a gateway's workers, with the processor time that each has used.
fn workers(gateway: u32) -> Vec<(u32, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Ok(statistics) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name may hold anything; the fields that count come behind it.
        let Some((_, fields)) = statistics.rsplit_once(") ") else {
            continue;
        };
        let fields: Vec<&str> = fields.split(' ').collect();
        let number = |place: usize| fields[place].parse::<u64>().unwrap();
        if number(1) == u64::from(gateway) && fields[0] != "Z" {
            found.push((pid, number(11) + number(12)));
        }
    }
    found
}

/// A worker that is at work: it has used this much processor time (hundredths of a second).
const BUSY_TICKS: u64 = 60;

async fn busy_worker(world: &World) -> u32 {
    let gateway = world.gateway.pid();
    eventually("a busy worker", async || {
        let mut workers = workers(gateway).into_iter();
        workers
            .find(|(_, ticks)| *ticks >= BUSY_TICKS)
            .map(|(pid, _)| pid)
    })
    .await
}

fn unavailable(answer: &Answer, reason: &str) {
    assert_eq!(answer.status, 503, "{}", answer.text());
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "SOLVER_UNAVAILABLE");
    assert_eq!(error["retryable"], true);
    assert_eq!(error["details"]["reason"], reason, "{error}");
    let seconds = error["details"]["retry_after_seconds"].as_u64().unwrap();
    assert_eq!(
        answer.header("retry-after"),
        Some(seconds.to_string().as_str())
    );
}

async fn solver_status(world: &World, organization: &Organization) -> Vec<(Value, Value)> {
    let sql = "SELECT * FROM audit WHERE org_id = $1 AND event = 'workflow.solve_completed'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    rows.iter()
        .map(|row| {
            let details = &svc_tests::books::document(row)["details"];
            (row["result"].clone(), details["solver_status"].clone())
        })
        .collect()
}

#[tokio::test]
async fn a_worker_that_is_killed_at_work_costs_one_call() {
    let world = World::start(None).await;
    let organization = world.organization();
    let spec = endless();
    let (answer, ()) = tokio::join!(solve(&world, &organization, &spec), async {
        let worker = busy_worker(&world).await;
        gateway::signal(worker, "KILL");
    });
    unavailable(&answer, "crashed");
    let next = solve(&world, &organization, &roster()).await;
    assert_eq!(next.json()["data"]["status"], "optimal", "{}", next.text());
    // One that dies while it waits costs nothing.
    for (pid, _) in workers(world.gateway.pid()) {
        gateway::signal(pid, "KILL");
    }
    eventually("the end of the workers", async || {
        workers(world.gateway.pid()).is_empty().then_some(())
    })
    .await;
    let next = solve(&world, &organization, &roster()).await;
    assert_eq!(next.json()["data"]["status"], "optimal", "{}", next.text());
    let booked = solver_status(&world, &organization).await;
    assert_eq!(booked.len(), 3);
    assert_eq!(booked[0], (json!("failure"), json!("unavailable")));
}

#[tokio::test]
async fn a_caller_who_leaves_frees_the_solver() {
    let world = World::start(None).await;
    let organization = world.organization();
    let mut connection = world.gateway.connect().await;
    connection
        .send(&request(&organization.key, &endless()).bytes())
        .await;
    busy_worker(&world).await;
    drop(connection);
    // The only worker answers the next caller long before the budget of the first would have ended.
    let next = solve(&world, &organization, &roster()).await;
    assert_eq!(next.json()["data"]["status"], "optimal", "{}", next.text());
    eventually("both audit rows", async || {
        let booked = solver_status(&world, &organization).await;
        let cancelled = (json!("cancelled"), json!("unavailable"));
        (booked.len() == 2 && booked.contains(&cancelled)).then_some(())
    })
    .await;
}

/// The row says who ended a call: here nobody left.
#[tokio::test]
async fn a_solve_that_the_gateway_breaks_off_has_failed() {
    let world = World::with(|setup| setup.key("server", "drain_seconds", 1)).await;
    let organization = world.organization();
    let spec = endless();
    let (answer, ()) = tokio::join!(solve(&world, &organization, &spec), async {
        busy_worker(&world).await;
        world.gateway.signal("TERM");
    });
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(world.gateway.ended().await.success());
    let sql = "SELECT * FROM audit WHERE org_id = $1 AND event = 'workflow.solve_completed'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    let outcomes: Vec<Value> = rows
        .iter()
        .map(|row| svc_tests::books::document(row)["outcome"].clone())
        .collect();
    let failed = json!({"result": "failure", "status": 503, "code": "INFERENCE_UNAVAILABLE"});
    assert_eq!(outcomes, [failed]);
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with the times of audit rows"
)]
fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_millis()).unwrap()
}

/// When the one solve of an organization happened, as the log says, and how long it took.
async fn dated(world: &World, organization: &Organization) -> Option<(i64, i64)> {
    let sql = "SELECT * FROM audit WHERE org_id = $1 AND event = 'workflow.solve_completed'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    let row = svc_tests::books::document(rows.first()?);
    let at = Timestamp::parse(row["occurred_at"].as_str()?)?;
    Some((at.0, row["details"]["wall_time_ms"].as_i64()?))
}

/// Who pulls the log span by span has read past the start of a long solve before its row is there.
#[tokio::test]
async fn a_solve_is_dated_by_its_end() {
    let world = World::start(None).await;
    let mut spec = endless();
    spec["options"]["time_limit_seconds"] = json!(1);
    // First who leaves: later the worker has been busy before.
    for stays in [false, true] {
        let organization = world.organization();
        let sent_ms = now_ms();
        if stays {
            // Whether the time suffices for an answer is not asked here.
            solve(&world, &organization, &spec).await;
        } else {
            let mut connection = world.gateway.connect().await;
            let request = request(&organization.key, &endless());
            connection.send(&request.bytes()).await;
            busy_worker(&world).await;
        }
        let dated = eventually("the row", async || dated(&world, &organization).await);
        let (at_ms, took_ms) = dated.await;
        assert!(took_ms > 100, "{took_ms}");
        assert!(
            at_ms >= sent_ms + took_ms,
            "{stays}: {at_ms} {sent_ms} {took_ms}"
        );
    }
}

#[tokio::test]
async fn workers_end_with_their_gateway() {
    let world = World::start(None).await;
    let organization = world.organization();
    let mut connection = world.gateway.connect().await;
    connection
        .send(&request(&organization.key, &endless()).bytes())
        .await;
    let worker = busy_worker(&world).await;
    world.gateway.kill();
    eventually("the end of the worker", async || {
        (!Path::new(&format!("/proc/{worker}")).exists()).then_some(())
    })
    .await;
}

/// A library with the functions of the engine, whose search does what `body` says.
fn library(folder: &Path, body: &str) -> PathBuf {
    let (source, library) = (folder.join("engine.c"), folder.join("libengine.so"));
    let text = format!(
        "#include <stdlib.h>\n#include <unistd.h>\n\
         void *SolveCpNewEnv(void) {{ return malloc(1); }}\n\
         void SolveCpDestroyEnv(void *env) {{ free(env); }}\n\
         void SolveCpStopSearch(void *env) {{ (void)env; }}\n\
         void SolveCpInterruptible(void *env, const void *model, int model_bytes, const void *parameters,\n\
         int parameter_bytes, void **response, int *response_bytes) {{ {body} }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let compiled = Command::new("cc")
        .args(["-w", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .unwrap();
    assert!(compiled.success());
    library
}

async fn world_with(library: &Path) -> World {
    let path = library.display().to_string();
    World::with(|setup| setup.key("solver", "library", path)).await
}

/// The rest of the gateway serves.
async fn chats(world: &World, organization: &Organization) {
    let answer = world
        .gateway
        .chat(&organization.key, whole(json!({"message": mark()})))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn libraries_that_cannot_be_used_are_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let strange = folder.path().join("strange.so");
    let source = folder.path().join("strange.c");
    std::fs::write(&source, "int nothing;").unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&strange, &source])
        .status();
    assert!(compiled.unwrap().success());
    for library in [folder.path().join("missing.so"), text, strange] {
        let world = world_with(&library).await;
        let organization = world.organization();
        unavailable(&solve(&world, &organization, &roster()).await, "unusable");
        chats(&world, &organization).await;
        let booked = solver_status(&world, &organization).await;
        assert_eq!(booked, [(json!("failure"), json!("unavailable"))]);
        // Specs are judged all the same.
        let answer = solve(
            &world,
            &organization,
            &json!({"resources": [], "slots": []}),
        )
        .await;
        assert_eq!(answer.status, 422);
    }
}

#[tokio::test]
async fn a_library_that_aborts_costs_the_calls_that_use_it() {
    let folder = tempfile::tempdir().unwrap();
    let world = world_with(&library(folder.path(), "abort();")).await;
    let organization = world.organization();
    for _ in 0..3 {
        unavailable(&solve(&world, &organization, &roster()).await, "crashed");
    }
    chats(&world, &organization).await;
}

#[tokio::test]
async fn a_library_that_answers_nonsense_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    // A response that says optimal and has no solution.
    let body = "char *bytes = malloc(2); bytes[0] = 8; bytes[1] = 4; *response = bytes; *response_bytes = 2;";
    let world = world_with(&library(folder.path(), body)).await;
    let organization = world.organization();
    unavailable(&solve(&world, &organization, &roster()).await, "failed");
}

#[tokio::test]
async fn a_library_that_hangs_is_killed_when_its_time_is_over_or_its_caller_left() {
    let folder = tempfile::tempdir().unwrap();
    let world = world_with(&library(folder.path(), "for (;;) pause();")).await;
    let organization = world.organization();
    let hung = eventually("a worker that hangs", async || {
        // The gateway's own self-check hangs first.
        workers(world.gateway.pid()).first().map(|(pid, _)| *pid)
    })
    .await;
    let mut spec = roster();
    spec["options"]["time_limit_seconds"] = json!(1);
    unavailable(&solve(&world, &organization, &spec).await, "timed_out");
    eventually("the end of the worker", async || {
        let pids: Vec<u32> = workers(world.gateway.pid())
            .iter()
            .map(|(pid, _)| *pid)
            .collect();
        (!pids.contains(&hung)).then_some(())
    })
    .await;
    chats(&world, &organization).await;
}

#[tokio::test]
async fn the_queue_is_short_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = library(folder.path(), "for (;;) pause();")
        .display()
        .to_string();
    let world = World::with(|setup| {
        let setup = setup.key("solver", "library", path);
        setup.key("solver", "workers", 1).key("solver", "queue", 1)
    })
    .await;
    let organization = world.organization();
    let spec = roster();
    // The self-check has the worker, or one of three callers has; one more waits; whoever is left hears it at once.
    let callers = [(); 3].map(|()| Box::pin(solve(&world, &organization, &spec)));
    let (first, _) = futures_util::future::select_ok(callers.map(|caller| {
        Box::pin(async move {
            let answer = caller.await;
            let busy = answer.json()["error"]["details"]["reason"] == "busy";
            if busy { Ok(answer) } else { Err(()) }
        })
    }))
    .await
    .expect("a caller that is turned away");
    unavailable(&first, "busy");
}

#[test]
fn the_command_line_solves_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("roster.json");
    std::fs::write(&file, roster().to_string()).unwrap();
    let output = program::run(program::command().arg("solve").arg(&file));
    assert!(output.status.success(), "{}", program::text(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&result["status"], &result["objective"]),
        (&json!("optimal"), &json!(2))
    );
    let mut spec = roster();
    spec["slots"][0]["requirements"][0]["count"] = json!(9);
    std::fs::write(&file, spec.to_string()).unwrap();
    let output = program::command().arg("solve").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    spec["slots"] = json!([]);
    std::fs::write(&file, spec.to_string()).unwrap();
    let output = program::command().arg("solve").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}
