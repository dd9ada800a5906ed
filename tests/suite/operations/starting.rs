//! What a gateway says when it starts, or why it does not.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::fake::{FakeProvider, mark};
use svc_tests::gateway::{Gateway, Setup};
use svc_tests::organization::bootstrap;
use svc_tests::patience::eventually;
use svc_tests::world::World;
use svc_tests::{guardian, port, postgres, program};
use tokio::net::TcpStream;

fn idle() -> Setup {
    Setup::new("http://127.0.0.1:9")
}

fn run(command: &mut Command) -> (Output, String) {
    let output = program::run(command);
    let told = program::text(&output.stderr);
    (output, told)
}

#[test]
fn serve_tells_every_problem_of_the_configuration_at_once() {
    let gateway = idle()
        .key("limits", "body_mz", 1)
        .key("webhooks", "max_attempts", 0)
        .key(
            "providers",
            "alpha",
            toml::Table::from_iter([("ca_file".to_owned(), "/nowhere".into())]),
        )
        .prepare();
    let (output, told) = run(gateway.command().arg("serve").env("SVC_LISTEN", "nowhere"));
    assert_eq!(output.status.code(), Some(1), "{told}");
    for problem in [
        "body_mz",
        "webhooks.max_attempts",
        "providers.alpha.ca_file",
        "SVC_LISTEN",
    ] {
        assert!(told.contains(problem), "no word of {problem} in:\n{told}");
    }
}

#[test]
fn a_log_for_machines_says_why_the_program_ends() {
    let gateway = idle()
        .key("telemetry", "log_format", "json")
        .key("webhooks", "max_attempts", 0)
        .prepare();
    let (output, told) = run(gateway.command().arg("serve"));
    assert_eq!(output.status.code(), Some(1), "{told}");
    let lines: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect();
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["level"], &last["target"]),
        (&json!("ERROR"), &json!("svc_gateway"))
    );
    let error = last["error"].as_str().unwrap();
    assert!(error.contains("webhooks.max_attempts"), "{error}");
}

#[tokio::test]
async fn a_key_that_is_not_the_stores_is_told_and_none_is_made_in_its_place() {
    for postgres in [None, Some(postgres_database().await)] {
        let gateway = idle().on(postgres).prepare();
        gateway.start().await;
        gateway.signal("TERM");
        assert!(gateway.ended().await.success());
        // 32 bytes of 1.
        let another = "1 AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        let (output, told) = run(gateway
            .command()
            .arg("serve")
            .env("SVC_MASTER_KEY", another));
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("the master key is not the one"), "{told}");
        let (key, aside) = (
            gateway.data().join("master.key"),
            gateway.data().join("aside"),
        );
        std::fs::rename(&key, &aside).unwrap();
        for arguments in [&["serve"][..], &["admin", "bootstrap"]] {
            let (output, told) = run(gateway.command().args(arguments));
            assert_eq!(output.status.code(), Some(1), "{told}");
            assert!(told.contains("there is no master key"), "{told}");
            assert!(!key.exists(), "a key was made");
        }
        std::fs::rename(&aside, &key).unwrap();
        gateway.start().await;
    }
}

async fn postgres_database() -> String {
    tokio::task::spawn_blocking(postgres::database)
        .await
        .unwrap()
}

#[test]
fn a_plugin_folder_that_is_named_is_not_made() {
    let nowhere = tempfile::tempdir().unwrap();
    let folder = nowhere.path().join("plugns");
    let gateway = idle()
        .plugins(&folder)
        .key("limits", "body_ms", 0)
        .prepare();
    let (output, told) = run(gateway.command().arg("serve"));
    assert_eq!(output.status.code(), Some(1), "{told}");
    for problem in ["plugins.folder: there is no folder", "limits.body_ms"] {
        assert!(told.contains(problem), "no word of {problem} in:\n{told}");
    }
    assert!(!folder.exists());
    assert!(!gateway.data().join("master.key").exists());
}

/// As while the master key is replaced, one replica after the other.
#[tokio::test]
async fn a_key_that_lacks_the_newest_version_serves() {
    let gateway = idle().prepare();
    gateway.start().await;
    bootstrap(&gateway, &[]);
    let key = std::fs::read_to_string(gateway.data().join("master.key")).unwrap();
    // 32 bytes of 1.
    let next = format!("{key}2 AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
    let mut bootstrap = gateway.command();
    bootstrap
        .args(["admin", "bootstrap", "--json", "--no-baa"])
        .env("SVC_MASTER_KEY", next);
    let (output, told) = run(&mut bootstrap);
    assert!(output.status.success(), "{told}");
    gateway.signal("TERM");
    assert!(gateway.ended().await.success());
    gateway.start().await;
    let log = gateway.log();
    assert!(log.contains("the master key lacks this version"), "{log}");
}

#[tokio::test]
async fn each_missing_detector_is_an_error_in_the_log() {
    let empty = tempfile::tempdir().unwrap();
    let gateway = idle().plugins(empty.path()).start_unready().await;
    let log = gateway.log();
    for detector in ["phi-patterns", "phi-names"] {
        let told = |line: &&str| line.contains("ERROR") && line.contains(detector);
        assert_eq!(log.lines().filter(told).count(), 1, "{log}");
    }
}

/// The second would write its id over the first one's, and take its place at the next upgrade.
#[tokio::test]
async fn a_data_folder_is_for_one_gateway() {
    let gateway = idle().on(Some(postgres_database().await)).start().await;
    let pid = std::fs::read_to_string(gateway.data().join("svc-gateway.pid")).unwrap();
    let mut second = gateway.command();
    second
        .arg("serve")
        .env("DATABASE_URL", postgres_database().await)
        .env("SVC_LISTEN", port::free().to_string())
        .env("SVC_ADMIN_LISTEN", port::free().to_string());
    let (output, told) = run(&mut second);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("data folder"), "{told}");
    let still = std::fs::read_to_string(gateway.data().join("svc-gateway.pid")).unwrap();
    assert_eq!(still, pid);
}

#[test]
fn a_postgres_that_is_not_there_is_told_with_its_address() {
    let address = port::free();
    let url = format!("postgres://svc:secretpw@{address}/svc");
    let gateway = idle().on(Some(url)).prepare();
    let (output, told) = run(gateway.command().arg("serve"));
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("PostgreSQL at {address}: ")),
        "{told}"
    );
    assert!(told.contains("refused"), "{told}");
    assert!(!told.contains("secretpw"), "{told}");
}

#[test]
fn a_database_address_that_is_not_meant_so_is_told() {
    let check = |parameters: &str| {
        let url = format!("postgres://svc:secretpw@db.example/svc{parameters}");
        let output = program::run(idle().on(Some(url)).prepare().command().arg("check"));
        let told = program::text(&output.stdout);
        assert!(!told.contains("secretpw"), "{told}");
        (output.status.code(), told)
    };
    let (code, told) = check("?sslmod=verify-full");
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("store.database_url") && told.contains("sslmod"),
        "{told}"
    );
    let (code, told) = check("");
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("warning: configuration: store.database_url"),
        "{told}"
    );
    let (code, told) = check("?sslmode=require");
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("store.database_url"), "{told}");
}

/// A command with these limits of file descriptors, soft and hard.
fn limited(gateway: &Gateway, limits: &str) -> Command {
    let plain = gateway.command();
    let mut command = Command::new("prlimit");
    command.env_clear();
    command.arg(format!("--nofile={limits}"));
    command.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    if let Some(folder) = plain.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

async fn started(gateway: &Gateway, limits: &str) {
    let log = || {
        let path = gateway.data().with_file_name("log");
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap()
    };
    let mut command = limited(gateway, limits);
    command.arg("serve").stdin(Stdio::null());
    let child = command.stdout(log()).stderr(log()).spawn().unwrap();
    guardian::watch(child.id());
    gateway.adopt(child);
    gateway.ready().await;
}

/// Systems give a process few file descriptors, and more if it asks.
#[tokio::test]
async fn a_gateway_asks_for_the_file_descriptors_that_it_may_have() {
    let gateway = idle().key("limits", "connections", 400).prepare();
    started(&gateway, "300:4096").await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", gateway.pid())).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let numbers: Vec<&str> = files.unwrap().split_whitespace().skip(3).collect();
    assert_eq!(numbers[..2], ["4096", "4096"], "{limits}");
    let log = gateway.log();
    assert!(!log.contains("limits.connections"), "{log}");
    let check = |limits: &str| {
        let output = program::run(limited(&gateway, limits).arg("check"));
        program::text(&output.stdout)
    };
    assert!(!check("300:4096").contains("warning"));
    let told = check("300:1024");
    assert!(
        told.contains("warning: configuration: limits.connections"),
        "{told}"
    );
}

/// What the memory of a gateway holds is on no disk.
#[tokio::test]
async fn a_gateway_that_crashes_leaves_no_core_dump() {
    let gateway = idle().start().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", gateway.pid())).unwrap();
    let mut lines = limits.lines();
    let core = lines.find(|line| line.starts_with("Max core file size"));
    let numbers: Vec<&str> = core.unwrap().split_whitespace().skip(4).collect();
    assert_eq!(numbers[..2], ["0", "0"], "{limits}");
}

/// What pingora says of its sockets reaches the log; what strangers do at the door does not.
#[tokio::test]
async fn a_gateway_without_file_descriptors_says_so() {
    let fake = FakeProvider::start();
    let gateway = Setup::new(&fake.base_url()).prepare();
    started(&gateway, "256:256").await;
    let world = World { fake, gateway };
    assert!(
        world.gateway.log().contains("limits.connections"),
        "no warning at the start"
    );
    let organization = bootstrap(&world.gateway, &[]);
    let mut callers = Vec::new();
    for _ in 0..300 {
        callers.extend(TcpStream::connect(world.gateway.address).await);
    }
    eventually("a word on it", async || {
        world
            .gateway
            .log()
            .contains("Accept() failed")
            .then_some(())
    })
    .await;
    drop(callers);
    eventually("an answer", async || {
        let asked = world
            .gateway
            .chat(&organization.key, json!({"message": mark()}));
        let answered = tokio::time::timeout(Duration::from_secs(2), asked).await;
        answered
            .is_ok_and(|answer| answer.status == 200)
            .then_some(())
    })
    .await;
}
