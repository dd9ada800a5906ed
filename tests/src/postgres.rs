//! One throw-away PostgreSQL server for the whole test process, and a database of its own for whoever asks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{guardian, port, program};

struct Server {
    port: u16,
    programs: PathBuf,
}

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The address of a new, empty database.
pub fn database() -> String {
    // What a test server need not do: survive the machine.
    create(SERVER.get_or_init(|| start("fsync=off")))
}

/// As [`database`], in a server of its own that keeps what it has committed.
pub fn durable_database() -> String {
    create(&start("fsync=on"))
}

fn create(server: &Server) -> String {
    let name = format!("gateway_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    let port = server.port.to_string();
    let create = Command::new(server.programs.join("createdb"))
        .args([
            "--host",
            "127.0.0.1",
            "--port",
            &port,
            "--username",
            "postgres",
            &name,
        ])
        .output();
    let create = create.expect("running createdb");
    assert!(create.status.success(), "{}", program::text(&create.stderr));
    format!("postgres://postgres@127.0.0.1:{port}/{name}")
}

/// Where PostgreSQL keeps its programs, which are not on the path in Debian.
///
/// # Panics
/// When there is none.
fn programs() -> PathBuf {
    let told = Command::new("pg_config")
        .arg("--bindir")
        .stderr(Stdio::null())
        .output();
    let told = told
        .ok()
        .map(|output| PathBuf::from(program::text(&output.stdout).trim()));
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let folders = told
        .into_iter()
        .chain(debian.map(|entry| entry.path().join("bin")));
    let found = folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file());
    found.expect("PostgreSQL is not installed: run make setup")
}

/// A cluster in a folder that the guardian removes, a server that it kills. PostgreSQL refuses to run as
/// root, so root lends it the user `postgres`.
fn start(fsync: &str) -> Server {
    let programs = programs();
    let folder = tempfile::Builder::new()
        .prefix("svc-tests-postgres-")
        .tempdir()
        .expect("a folder")
        .keep();
    guardian::folder(&folder);
    let root = program::output_of(Command::new("id").arg("-u")).trim() == "0";
    if root {
        program::output_of(Command::new("chown").arg("postgres").arg(&folder));
    }
    let cluster = folder.join("cluster");
    let mut initdb = as_server(root, &programs.join("initdb"), &folder);
    initdb.args([
        "--auth",
        "trust",
        "--username",
        "postgres",
        "--encoding",
        "UTF8",
        "--no-sync",
        "--pgdata",
    ]);
    program::output_of(initdb.arg(&cluster));
    let port = port::free().port();
    let mut server = as_server(root, &programs.join("postgres"), &folder);
    server
        .arg("-D")
        .arg(&cluster)
        .arg("-k")
        .arg(&folder)
        .arg("-p")
        .arg(port.to_string());
    server.args([
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        fsync,
        "-c",
        "max_connections=300",
    ]);
    let server = server
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    guardian::watch(server.expect("starting postgres").id());
    wait(&programs, port);
    Server { port, programs }
}

/// Waits until the server takes connections; runs once, outside of any runtime.
fn wait(programs: &Path, port: u16) {
    let start = std::time::Instant::now();
    let port = port.to_string();
    let ask = || {
        let mut ask = Command::new(programs.join("pg_isready"));
        program::run(ask.args(["--host", "127.0.0.1", "--port", &port]))
            .status
            .success()
    };
    while !ask() {
        assert!(
            start.elapsed() < crate::patience::PATIENCE,
            "PostgreSQL did not start"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn as_server(root: bool, program: &Path, folder: &Path) -> Command {
    let mut command = if root {
        let mut command = Command::new("setpriv");
        command
            .args([
                "--reuid=postgres",
                "--regid=postgres",
                "--clear-groups",
                "--",
            ])
            .arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir(folder);
    command
}
