//! `check`, `plugin list`, `phi scan`, `admin bootstrap`.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::gateway::{Gateway, Setup};
use svc_tests::organization::bootstrap;
use svc_tests::policies::Policies;
use svc_tests::program;
use svc_tests::world::World;

fn idle(policies: Option<&Policies>) -> Gateway {
    let setup = Setup::new("http://127.0.0.1:9");
    policies
        .map_or_else(
            || Setup::new("http://127.0.0.1:9"),
            |policies| setup.policies(policies.path()),
        )
        .prepare()
}

fn run(gateway: &Gateway, arguments: &[&str]) -> Output {
    program::run(gateway.command().args(arguments))
}

fn fed(gateway: &Gateway, arguments: &[&str], input: &str) -> Output {
    let mut command = gateway.command();
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn check_is_content_with_what_is_shipped() {
    let output = run(&idle(None), &["check"]);
    assert!(output.status.success(), "{}", program::text(&output.stdout));
}

/// One is one; and whoever reads no further is told nothing of it.
#[test]
fn problems_are_counted_for_whoever_reads_so_far() {
    let gateway = Setup::new("http://127.0.0.1:9")
        .key("limits", "body_mz", 1)
        .prepare();
    let output = run(&gateway, &["check"]);
    let out = program::text(&output.stdout);
    assert!(out.ends_with("\n1 problem\n"), "{out}");
    let mut command = gateway.command();
    command.args(["check"]).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(program::text(&output.stderr), "");
}

#[test]
fn check_prints_every_problem() {
    let policies = Policies::copy();
    policies.edit("pipelines.toml", "\"baa\", ", "");
    policies.edit(
        "plans.toml",
        "monthly_credits = \"1000\"",
        "monthly_credits = \"many\"",
    );
    policies.edit(
        "phi.toml",
        "detectors = [\"phi-patterns\", \"phi-names\", \"phi-context\"]",
        "detectors = []",
    );
    let output = run(&idle(Some(&policies)), &["check"]);
    let out = program::text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}");
    for file in ["pipelines.toml", "plans.toml", "phi.toml"] {
        assert!(out.contains(file), "no word of {file} in:\n{out}");
    }
}

/// No inference pipeline without its compliance filters, whatever the order and however it is spelled.
#[test]
fn check_refuses_a_pipeline_with_a_hole() {
    for (from, to) in [
        (
            "\"auth\", \"version\", \"scope\", \"limits\",\n",
            "\"version\", \"scope\", \"limits\",\n",
        ),
        ("\"baa\", ", ""),
        ("\"metering\", ", ""),
        ("\"metering\"", "\"unmetered\""),
        ("\"phi_guard\", ", ""),
        (", \"audit\"", ""),
        ("\"phi_guard\", \"audit\"", "\"audit\", \"phi_guard\""),
        ("\"phi_guard\"", "\"phi_gaurd\""),
        ("handler = \"chat\"", "handler = \"chatter\""),
        ("scope = \"ai:chat\"", "scope = \"ai:talk\""),
        ("pipeline = \"native_chat\"", "pipeline = \"read\""),
        ("pipeline = \"count_tokens\"", "pipeline = \"read\""),
    ] {
        let policies = Policies::copy();
        policies.edit("pipelines.toml", from, to);
        let output = run(&idle(Some(&policies)), &["check"]);
        let out = program::text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{from:?} to {to:?}: {out}");
        assert!(out.contains("pipelines.toml"), "{out}");
    }
}

/// Whoever opens a pipe waits for somebody who writes to it.
#[test]
fn check_opens_files_and_nothing_else() {
    let policies = Policies::copy();
    for name in ["plans.toml", "cases/phi.toml"] {
        let path = policies.path().join(name);
        std::fs::remove_file(&path).unwrap();
        pipe(&path);
    }
    let out = program::text(&run(&idle(Some(&policies)), &["check"]).stdout);
    for name in ["plans.toml", "cases/phi.toml"] {
        let told = format!("{name}: cannot be read: is not a regular file");
        assert!(out.contains(&told), "{out}");
    }
    let folder = svc_tests::policies::plugins();
    let component = folder.path().join("phi-names/plugin.wasm");
    std::fs::remove_file(&component).unwrap();
    pipe(&component);
    let gateway = Setup::new("http://127.0.0.1:9")
        .plugins(folder.path())
        .prepare();
    let table = program::text(&run(&gateway, &["plugin", "list"]).stdout);
    let told = "files: plugin.wasm: is not a regular file";
    assert!(table.contains(told), "{table}");
}

fn pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// What is compiled for a look is nobody's afterwards, however the look ends.
#[test]
fn a_check_that_is_interrupted_leaves_nothing() {
    let gateway = idle(None);
    let scratch = tempfile::tempdir().unwrap();
    let has_something = || scratch.path().read_dir().unwrap().next().is_some();
    let mut command = gateway.command();
    command.arg("check").env("TMPDIR", scratch.path());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !has_something() {
        assert!(child.try_wait().unwrap().is_none(), "it made nothing");
        std::thread::yield_now();
    }
    svc_tests::gateway::signal(child.id(), "INT");
    child.wait().unwrap();
    assert!(!has_something());
}

/// A store that is made for the question would have nothing to tell.
#[test]
fn commands_refuse_a_store_that_is_not_there() {
    let gateway = idle(None);
    let refused = run(&gateway, &["admin", "recompute-usage"]);
    let told = program::text(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("there is no store"),
        "{told}"
    );
    assert!(!gateway.data().join("gateway.sqlite").exists());
    let first = run(&gateway, &["admin", "bootstrap", "--json"]);
    let told = program::text(&first.stderr);
    assert!(
        first.status.success() && told.contains("made a new store"),
        "{told}"
    );
    let second = run(&gateway, &["admin", "bootstrap", "--json"]);
    assert_eq!(program::text(&second.stderr), "");
    assert!(
        run(&gateway, &["admin", "recompute-usage"])
            .status
            .success()
    );
}

/// Without an address of a provider a stand-in answers: a slip in the name of a variable is enough for that.
#[test]
fn check_tells_who_would_answer() {
    let gateway = idle(None);
    let output = program::run(
        gateway
            .command()
            .arg("check")
            .env_remove("ALPHA_BASE_URL")
            .env_remove("BETA_BASE_URL")
            .env_remove("ALPHA_API_KEY")
            .env_remove("BETA_API_KEY"),
    );
    let told = program::text(&output.stdout);
    assert!(
        output.status.success() && told.contains("warning: configuration: no provider"),
        "{told}"
    );
    let told = program::text(&run(&gateway, &["check"]).stdout);
    assert!(!told.contains("no provider"), "{told}");
    let output = program::run(gateway.command().arg("check").env_remove("ALPHA_BASE_URL"));
    let told = program::text(&output.stdout);
    assert!(
        told.contains("warning: configuration: no provider of alpha-sonnet-4-6"),
        "{told}"
    );
}

/// Ninety days' notice (spec, Limits).
#[test]
fn check_refuses_a_retirement_without_notice() {
    for (announced, retired, code) in [
        ("2026-01-01", "2026-04-01", 0),
        ("2026-01-01", "2026-03-31", 1),
    ] {
        let policies = Policies::copy();
        let line = format!(
            "id = \"alpha-opus-4-6\"\nretirement = {{ announced_at = \"{announced}T00:00:00Z\", retired_at = \"{retired}T00:00:00Z\", \
             recommended_replacement = \"alpha-sonnet-4-6\", docs_url = \"https://docs.test\" }}\n"
        );
        policies.edit("models.toml", "id = \"alpha-opus-4-6\"\n", &line);
        let output = run(&idle(Some(&policies)), &["check"]);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{retired}: {}",
            program::text(&output.stdout)
        );
    }
}

#[test]
fn a_configuration_with_an_unknown_key_is_refused() {
    let gateway = Setup::new("http://127.0.0.1:9")
        .key("limits", "body_mz", 1)
        .prepare();
    let output = run(&gateway, &["serve"]);
    assert!(!output.status.success());
    let error = program::text(&output.stderr);
    assert!(error.contains("body_mz"), "{error}");
}

/// An unknown key hides neither another one nor what is wrong with policies and plugins.
#[test]
fn check_looks_at_everything_whatever_is_wrong() {
    let policies = Policies::copy();
    policies.edit("pipelines.toml", "\"baa\", ", "");
    let missing = policies.path().join("nowhere").join("plugins");
    let gateway = Setup::new("http://127.0.0.1:9")
        .policies(policies.path())
        .key("limits", "body_mz", 1)
        .key("server", "bar", 2)
        .key("webhooks", "max_attempts", 0)
        .plugins(&missing)
        .prepare();
    let output = run(&gateway, &["check"]);
    let out = program::text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}");
    for problem in [
        "body_mz",
        "`bar`",
        "webhooks.max_attempts",
        "pipelines.toml",
        "plugins.folder: there is no folder",
    ] {
        assert!(out.contains(problem), "no word of {problem} in:\n{out}");
    }
    assert!(!missing.parent().unwrap().exists(), "looking makes nothing");
    assert!(!gateway.data().exists(), "looking makes nothing");
}

/// A provider of one's own needs no file: the models name it, the environment has its address.
#[test]
fn a_provider_of_the_models_may_have_its_address_in_the_environment() {
    let policies = Policies::copy();
    let models = policies.read("models.toml");
    let models = models.replace("provider = \"beta\"", "provider = \"gamma-west\"");
    policies.write("models.toml", &models);
    let gateway = idle(Some(&policies));
    let check = |variables: &[(&str, &str)]| {
        let mut command = gateway.command();
        command.args(["check"]).envs(variables.iter().copied());
        let output = program::run(&mut command);
        (
            output.status.code(),
            program::text(&output.stdout).to_owned(),
        )
    };
    let (code, out) = check(&[]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("unknown provider gamma-west"), "{out}");
    let address = ("GAMMA_WEST_BASE_URL", "https://provider.example");
    let (code, out) = check(&[address, ("GAMMA_WEST_API_KEY", "k")]);
    assert_eq!(code, Some(0), "{out}");
    let (code, out) = check(&[("GAMMA_WEST_API_KEY", "k")]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("set GAMMA_WEST_BASE_URL"), "{out}");
}

/// Neither an empty folder nor two that contradict each other pass in silence.
#[test]
fn what_is_odd_about_a_plugin_folder_is_told() {
    let list = |folder: &std::path::Path| {
        let gateway = Setup::new("http://127.0.0.1:9").plugins(folder).prepare();
        let (listed, checked) = (
            run(&gateway, &["plugin", "list"]),
            run(&gateway, &["check"]),
        );
        assert_eq!(listed.status.code(), Some(1));
        assert_eq!(checked.status.code(), Some(1));
        let told = program::text(&listed.stderr);
        (told, program::text(&checked.stdout))
    };
    let empty = tempfile::tempdir().unwrap();
    let (told, _) = list(empty.path());
    assert!(told.contains("no plugin in"), "{told}");

    let folder = svc_tests::policies::plugins();
    let (from, to) = (
        folder.path().join("provider-beta"),
        folder.path().join("the-other"),
    );
    svc_tests::policies::copy(&from, &to);
    let mut component = std::fs::read(from.join("plugin.wasm")).unwrap();
    let digest = |bytes: &[u8]| hex::encode(<sha2::Sha256 as sha2::Digest>::digest(bytes));
    let (old, size) = (digest(&component), component.len());
    // A section of its own name, which changes nothing of what it does.
    component.extend([0, 2, 1, b'x']);
    let manifest = std::fs::read_to_string(from.join("plugin.toml")).unwrap();
    let manifest = manifest.replace(&old, &digest(&component));
    let manifest = manifest.replace(&format!("size = {size}"), &format!("size = {}", size + 4));
    std::fs::write(to.join("plugin.wasm"), component).unwrap();
    std::fs::write(to.join("plugin.toml"), manifest).unwrap();
    let (listed, checked) = list(folder.path());
    for told in [listed, checked] {
        assert!(
            told.contains("offer this version with different content"),
            "{told}"
        );
    }
}

/// Whoever looks may be another user than whoever serves, who could not use what it made.
#[test]
fn check_makes_nothing_in_a_data_folder_that_is_there() {
    let plugins = tempfile::tempdir().unwrap();
    let gateway = Setup::new("http://127.0.0.1:9")
        .plugins(plugins.path())
        .prepare();
    std::fs::create_dir(gateway.data()).unwrap();
    for arguments in [&["check"][..], &["plugin", "list"]] {
        let mut command = gateway.command();
        command.env_remove("SVC_PLUGIN_CACHE").args(arguments);
        program::run(&mut command);
        assert_eq!(std::fs::read_dir(gateway.data()).unwrap().count(), 0);
    }
}

#[test]
fn plugins_are_listed() {
    let output = run(&idle(None), &["plugin", "list", "--json"]);
    assert!(output.status.success());
    let plugins: Vec<Value> = program::text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<&str> = plugins
        .iter()
        .map(|plugin| plugin["id"].as_str().unwrap())
        .collect();
    // What is shipped is what has a manifest among the guests.
    let guests = std::fs::read_dir(program::repository().join("plugins"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let shipped = guests.filter(|folder| folder.join("plugin.toml").is_file());
    let mut shipped: Vec<String> = shipped
        .map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    shipped.sort();
    assert_eq!(ids, shipped);
    for plugin in &plugins {
        assert_eq!(
            (&plugin["state"], &plugin["error"]),
            (&json!("ready"), &json!(null)),
            "{plugin}"
        );
        assert!(
            plugin["digest"]
                .as_str()
                .is_some_and(|digest| digest.len() == 64),
            "{plugin}"
        );
    }
    let table = program::text(&run(&idle(None), &["plugin", "list"]).stdout);
    assert!(
        table.lines().count() >= 2 && table.contains("provider-alpha"),
        "{table}"
    );
}

/// Offsets are code points, and the text comes back nowhere.
#[test]
fn phi_is_found_from_the_command_line() {
    let lines = [
        json!({"id": 1, "text": "Größe ß: 536-22-8714."}),
        json!({"id": "b", "text": "nothing here"}),
    ];
    let input = format!("{}\n\n{}\n", lines[0], lines[1]);
    let output = fed(&idle(None), &["phi", "scan", "--jsonl"], &input);
    assert!(output.status.success(), "{}", program::text(&output.stderr));
    let found: Vec<Value> = program::text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(found.len(), 2);
    let span = &found[0]["spans"][0];
    assert_eq!(
        (&found[0]["id"], &span["start"], &span["end"], &span["kind"]),
        (&json!(1), &json!(9), &json!(20), &json!("SSN"))
    );
    assert_eq!(found[1], json!({"id": "b", "spans": []}));
    assert!(!program::text(&output.stdout).contains("8714"));
    let bad = fed(
        &idle(None),
        &["phi", "scan", "--jsonl"],
        "{\"id\":1,\"text\":\"536-22-8714\"",
    );
    assert!(!bad.status.success());
    assert!(
        program::text(&bad.stderr).contains("line 1")
            && !program::text(&bad.stderr).contains("8714")
    );
}

/// Whoever scans is told what keeps a detector away, beside the findings that others read.
#[test]
fn a_scan_says_why_a_detector_is_not_there() {
    let folder = svc_tests::policies::plugins();
    std::fs::write(folder.path().join("phi-names/plugin.wasm"), b"torn").unwrap();
    let gateway = Setup::new("http://127.0.0.1:9")
        .plugins(folder.path())
        .prepare();
    let output = fed(&gateway, &["phi", "scan"], "Größe ß: 536-22-8714.");
    let told = program::text(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(
        told.contains("\nphi-names: ") || told.starts_with("phi-names: "),
        "{told}"
    );
}

/// The command line switches what the API switches.
#[test]
fn bootstrap_switches_on_what_the_catalogue_marks() {
    let policies = Policies::copy();
    let marked = "[features]\nscribe = { hipaa_eligible = true }\n";
    let models = policies.read("models.toml");
    policies.write("models.toml", &models.replacen("[features]\n", marked, 1));
    let gateway = idle(Some(&policies));
    let made = run(
        &gateway,
        &["admin", "bootstrap", "--json", "--features", "scribe"],
    );
    let told = program::text(&made.stderr);
    assert!(made.status.success(), "{told}");
}

/// Whoever keeps everything elsewhere finds no empty folder where they called the program.
#[tokio::test]
async fn bootstrap_makes_no_folder_that_holds_nothing() {
    let database = tokio::task::spawn_blocking(svc_tests::postgres::database);
    let gateway = Setup::new("http://127.0.0.1:9")
        .on(Some(database.await.unwrap()))
        .prepare();
    let mut command = gateway.command();
    // 32 bytes of 1.
    command.env(
        "SVC_MASTER_KEY",
        "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
    );
    let output = program::run(command.args(["admin", "bootstrap", "--json"]));
    let error = program::text(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert!(!gateway.data().exists());
}

#[test]
fn bootstrap_refuses_what_it_does_not_know() {
    let gateway = idle(None);
    for options in [
        &["--scopes", "ai:talk"][..],
        &["--phi-mode", "maybe"],
        &["--models", "some"],
        &["--per-minute", "-1"],
        &["--credits", "many"],
        &["--credits", "-5"],
        &["--colour", "red"],
        &["--name", " "],
        &["--features", "foo"],
    ] {
        let output = run(
            &gateway,
            &[&["admin", "bootstrap", "--json"], options].concat(),
        );
        assert!(
            !output.status.success(),
            "{options:?}: {}",
            program::text(&output.stdout)
        );
        assert!(output.stdout.is_empty(), "{options:?}");
    }
    // The second owner of one address.
    let twice = ["admin", "bootstrap", "--json", "--email", "o@example.org"];
    assert!(run(&gateway, &twice).status.success());
    let output = run(&gateway, &twice);
    assert!(!output.status.success());
    assert!(program::text(&output.stderr).contains("somebody has this address already"));
}

/// A key that is not the store's makes nothing, and passes for nothing (contract 19.1).
#[tokio::test]
async fn another_master_key_changes_nothing() {
    let world = World::start(None).await;
    let organization = bootstrap(&world.gateway, &[]);
    for arguments in [
        &["admin", "bootstrap", "--json"][..],
        &["admin", "bootstrap", "--json", "--no-baa"],
        &["admin", "rotate-master-key"],
    ] {
        for version in ["1", "2"] {
            // 32 bytes of 1.
            let key = format!("{version} AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
            let mut command = world.gateway.command();
            let output = program::run(command.args(arguments).env("SVC_MASTER_KEY", key));
            let error = program::text(&output.stderr);
            assert!(!output.status.success(), "{arguments:?} {version}");
            assert!(error.contains("the master key is not the one"), "{error}");
        }
    }
    let database = &world.gateway.database;
    for table in ["organizations", "users", "api_keys", "org_keys"] {
        let sql = format!("SELECT COUNT(*) AS kept FROM {table}");
        assert_eq!(database.rows(&sql, &[]).await[0]["kept"], 1, "{table}");
    }
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(answer.status, 200);
}

/// Beside a running gateway, effective with the next request.
#[tokio::test]
async fn bootstrap_options_do_what_they_say() {
    let world = World::sqlite().await;
    let organization = bootstrap(
        &world.gateway,
        &[
            "--name",
            "Mercy Clinic \u{e9}",
            "--credits",
            "12.5",
            "--per-minute",
            "77",
        ],
    );
    let sql =
        "SELECT name, phi_mode, monthly_credits_micro, per_minute FROM organizations WHERE id = $1";
    let row = world
        .gateway
        .database
        .rows(sql, &[&organization.id])
        .await
        .remove(0);
    let expected = json!({"name": "Mercy Clinic \u{e9}", "phi_mode": "redact", "monthly_credits_micro": 12_500_000, "per_minute": 77});
    assert_eq!(row, expected);
    let sql = "SELECT per_minute, mode, delegating_user_id, digest FROM api_keys WHERE id = $1";
    let key = world
        .gateway
        .database
        .rows(sql, &[&organization.key_id])
        .await
        .remove(0);
    assert_eq!(
        (&key["per_minute"], &key["mode"], &key["delegating_user_id"]),
        (&json!(77), &json!("live"), &json!(organization.user_id))
    );
    let digest = <sha2::Sha256 as sha2::Digest>::digest(organization.key.as_bytes());
    assert_eq!(
        key["digest"],
        hex::encode(digest),
        "the key itself is stored nowhere"
    );
    let answer = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": mark(), "model": "alpha-opus-4-7", "max_tokens": 100}),
        )
        .await;
    assert_eq!(
        (answer.status, answer.header("x-ratelimit-limit")),
        (200, Some("77"))
    );
    let user = world
        .gateway
        .database
        .rows(
            "SELECT role, status FROM users WHERE id = $1",
            &[&organization.user_id],
        )
        .await;
    assert_eq!(user[0], json!({"role": "owner", "status": "active"}));
}
