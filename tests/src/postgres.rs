//! One throw-away PostgreSQL server for the whole test process, and a database of its own for whoever asks. A test that
//! stops its server has one for itself.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::{guardian, port, program};

/// A cluster with its server.
pub struct Server {
    port: u16,
    programs: PathBuf,
    folder: PathBuf,
    root: bool,
    durability: Durability,
    process: Mutex<Option<Child>>,
}

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The owner of every database: no superuser, because row-level security binds none.
const ROLE: &str = "gateway";

/// The address of a new, empty database.
pub fn database() -> String {
    SERVER
        .get_or_init(|| Server::start(Durability::None))
        .database()
}

/// As [`database`], in a server of its own that keeps what it has committed.
pub fn durable_database() -> String {
    Server::start(Durability::Commits).database()
}

/// What of its commits a server keeps when the machine dies.
#[derive(Clone, Copy)]
pub enum Durability {
    /// A test server need not survive the machine.
    None,
    Commits,
}

impl Server {
    /// The address of a new, empty database of this server.
    pub fn database(&self) -> String {
        create(self)
    }

    /// A cluster in a folder that the guardian removes, with a server that it kills.
    pub fn start(durability: Durability) -> Self {
        start(durability)
    }

    /// Ends the server at once, as a crash does; every connection is gone.
    pub fn stop(&self) {
        let child = self.process.lock().expect("the server").take();
        let mut child = child.expect("a running server");
        let data = self.folder.join("cluster");
        let mut stop = as_server(self.root, &self.programs.join("pg_ctl"), &self.folder);
        stop.arg("stop")
            .arg("-D")
            .arg(data)
            .args(["-m", "immediate", "-w"]);
        program::output_of(&mut stop);
        child.wait().expect("the end of the server");
        guardian::forget(child.id());
    }

    /// Has it stand still: connections stay open and nobody answers, as if its machine had lost its network.
    pub fn freeze(&self) {
        self.signal("STOP");
    }

    pub fn thaw(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let process = self.process.lock().expect("the server");
        let postmaster = process.as_ref().expect("a running server").id();
        let signal = |pid: &str| Command::new("kill").args(["-s", name, pid]).output();
        // First of all, so that it starts nobody meanwhile.
        signal(&postmaster.to_string()).expect("a signal");
        let sessions = format!("/proc/{postmaster}/task/{postmaster}/children");
        let sessions = std::fs::read_to_string(sessions).expect("its sessions");
        for pid in sessions.split_whitespace() {
            // One that has ended meanwhile needs none.
            signal(pid).expect("a signal");
        }
    }

    /// Where it keeps what it is given.
    pub fn files(&self) -> &Path {
        &self.folder
    }

    /// Has it write all that it keeps in memory.
    pub fn flush(&self) {
        let port = self.port.to_string();
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args([
            "--host",
            "127.0.0.1",
            "--port",
            &port,
            "--username",
            "postgres",
        ]);
        program::output_of(psql.args(["--dbname", "postgres", "--command", "CHECKPOINT"]));
    }

    /// Starts it where it was.
    pub fn start_again(&self) {
        let server = run(self);
        *self.process.lock().expect("the server") = Some(server);
        wait(&self.programs, self.port);
    }
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
            "--owner",
            ROLE,
            &name,
        ])
        .output();
    let create = create.expect("running createdb");
    assert!(create.status.success(), "{}", program::text(&create.stderr));
    format!("postgres://{ROLE}@127.0.0.1:{port}/{name}")
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

/// PostgreSQL refuses to run as root, so root lends it the user `postgres`.
fn start(durability: Durability) -> Server {
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
    let server = Server {
        port,
        programs,
        folder,
        root,
        durability,
        process: Mutex::new(None),
    };
    server.start_again();
    let port = server.port.to_string();
    let mut createuser = Command::new(server.programs.join("createuser"));
    createuser.args(["--host", "127.0.0.1", "--port", &port]);
    program::output_of(createuser.args(["--username", "postgres", ROLE]));
    server
}

fn run(server: &Server) -> Child {
    let Server {
        port,
        programs,
        folder,
        root,
        durability,
        process: _,
    } = server;
    let cluster = folder.join("cluster");
    let fsync = match durability {
        Durability::None => "fsync=off",
        Durability::Commits => "fsync=on",
    };
    let mut server = as_server(*root, &programs.join("postgres"), folder);
    server
        .arg("-D")
        .arg(&cluster)
        .arg("-k")
        .arg(folder)
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
        .spawn()
        .expect("starting postgres");
    guardian::watch(server.id());
    server
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
