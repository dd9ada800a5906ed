//! Puts listeners, applications and signals together into one pingora server, and runs it to its end.

use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use pingora::apps::{HttpServerOptions, ServerApp};
use pingora::listeners::tls::TlsSettings;
use pingora::server::configuration::{Opt, ServerConf};
use pingora::server::{RunArgs, Server};
use pingora::services::listening::Service as Listener;

use crate::admin::Admin;
use crate::admission::{Admission, BeforeTls};
use crate::application::Application;
use crate::certificate::{Current, Renewal};
use crate::connection::{Door, Entrance, Gate};
use crate::departure::DepartureWatch;
use crate::handshake::Handshakes;
use crate::inheritance::{Inheritance, Inherited, Sockets, inherit};
use crate::lifecycle::{Departure, EdgeHandle, Lifecycle};
use crate::listening::Stoppable;
use crate::metrics::EdgeMetrics;
use crate::options::{EdgeOptions, Start, TlsListener};
use crate::streams::Counting;

/// Why an edge could not be built or run.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error("no address to listen on")]
    NoListener,
    #[error("cannot use the certificate: {0}")]
    Certificate(String),
    #[error("the path {0} is not UTF-8")]
    Path(PathBuf),
    #[error("the sockets of the running gateway cannot be taken over at {path}: {source}")]
    TakeOver {
        path: String,
        source: std::io::Error,
    },
    #[error("the running gateway has waited for too long and serves on; start another successor")]
    TooLate,
    #[error("cannot write the process id file {path}: {source}")]
    PidFile {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("a listener failed after the start")]
    ListenerFailed,
    #[error("cannot watch signals: {0}")]
    Signals(std::io::Error),
}

/// One edge, ready to run.
pub struct Edge {
    server: Server,
    lifecycle: Arc<Lifecycle>,
    departure: DepartureWatch,
    ended: Arc<Mutex<Option<Result<Departure, EdgeError>>>>,
    pid_file: PathBuf,
    start: Start,
    inherited: Inherited,
    /// Addresses of the whole edge, as the table of sockets names them.
    expected: Arc<Vec<String>>,
}

impl Edge {
    /// Checks addresses and certificate and builds the listeners. Nothing is served before [`Edge::run`].
    ///
    /// # Errors
    /// [`EdgeError`], with the address or path that does not work.
    pub fn new(
        options: EdgeOptions,
        application: Application,
        metrics: EdgeMetrics,
    ) -> Result<Self, EdgeError> {
        let upgrade_sock = text(&options.upgrade_sock)?;
        let addresses = addresses(&options);
        if options.listen.is_empty() && options.tls.is_none() {
            return Err(EdgeError::NoListener);
        }
        if options.start == Start::Bind {
            check_free(&addresses)?;
        }
        let (lifecycle, wishes) = Lifecycle::new(metrics.clone());
        let lifecycle = Arc::new(lifecycle);
        let mut server = server(&options, &upgrade_sock);
        let sockets = Sockets::default();
        let Application {
            serve,
            admin,
            refuse,
            farewell,
        } = application;
        let gate = Arc::new(Gate {
            serve,
            refuse,
            limits: options.limits.clone(),
            trusted_proxies: options.trusted_proxies.clone(),
            lifecycle: Arc::clone(&lifecycle),
            metrics: metrics.clone(),
            server_options: server_options(),
        });
        let expected: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
        let expected = Arc::new(expected);
        let inherited = Inherited::default();
        let house = House {
            sockets: Arc::clone(&sockets),
            inherited: Arc::clone(&inherited),
            lifecycle: Arc::clone(&lifecycle),
            expected: Arc::clone(&expected),
        };
        house.add_public(&mut server, &options, &gate, &metrics)?;
        if let Some(address) = options.admin_listen {
            let handle = lifecycle.handle();
            let admin = Admin {
                service: admin,
                handle,
            };
            house.add_admin(&mut server, address, admin);
        }
        let ended = Arc::new(Mutex::new(None));
        let departure = DepartureWatch {
            wishes: tokio::sync::Mutex::new(wishes),
            lifecycle: Arc::clone(&lifecycle),
            sockets,
            upgrade_sock,
            pid_file: options.pid_file.clone(),
            notice: options.notice,
            drain_deadline: options.drain_deadline,
            farewell: Mutex::new(Some(farewell)),
            ended: Arc::clone(&ended),
        };
        Ok(Self {
            server,
            lifecycle,
            departure,
            ended,
            pid_file: options.pid_file,
            start: options.start,
            inherited,
            expected,
        })
    }

    /// What asks the edge to go, from anywhere, and tells when it listens.
    pub fn handle(&self) -> EdgeHandle {
        self.lifecycle.handle()
    }

    /// With [`Start::TakeOver`], waits until a predecessor hands its sockets over, however long that takes. Blocks:
    /// call it outside of any async runtime.
    ///
    /// # Errors
    /// [`EdgeError::TakeOver`] where nobody could hand anything over.
    pub fn take_over(&self) -> Result<(), EdgeError> {
        if self.start == Start::Bind || self.inherited.get().is_some() {
            return Ok(());
        }
        let path = self.departure.upgrade_sock.as_str();
        let inheritance = inherit(path, &self.expected).map_err(|source| EdgeError::TakeOver {
            path: path.to_owned(),
            source,
        })?;
        // Only this fills it, and `run` takes the edge away.
        self.inherited.get_or_init(|| inheritance);
        Ok(())
    }

    /// Serves until SIGTERM, SIGINT, SIGQUIT or the handle asks it to go, and returns when everything has ended.
    /// Blocks: call it outside of any async runtime.
    ///
    /// With [`Start::TakeOver`] this begins with [`Edge::take_over`]. The predecessor leaves when this edge listens; where
    /// it ends before, the predecessor serves on.
    ///
    /// # Errors
    /// When sockets cannot be taken over, or were and the predecessor waits no longer; when the process id file cannot be
    /// written, or a listener or the signal handlers cannot be set up.
    pub fn run(self) -> Result<Departure, EdgeError> {
        // The id of a predecessor stands in the file until then.
        self.take_over()?;
        let Self {
            mut server,
            lifecycle: _,
            departure,
            ended,
            pid_file,
            start: _,
            inherited,
            expected: _,
        } = self;
        if inherited.get().is_some_and(Inheritance::is_too_late) {
            return Err(EdgeError::TooLate);
        }
        server.bootstrap();
        let pid = std::process::id().to_string();
        write_pid(&pid_file, &pid).map_err(|source| EdgeError::PidFile {
            path: pid_file.clone(),
            source,
        })?;
        server.run(RunArgs {
            shutdown_signal: Box::new(departure),
        });
        // A successor has written its own id by now.
        if std::fs::read_to_string(&pid_file).is_ok_and(|found| found == pid) {
            let _ = std::fs::remove_file(&pid_file);
        }
        let ended = ended.lock().take();
        ended.unwrap_or(Err(EdgeError::ListenerFailed))
    }
}

/// For the gateway's own user alone, whatever the umask says; also where a predecessor's file was another's to read.
pub(crate) fn write_pid(path: &Path, pid: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    // Whoever may write to it need not be its owner.
    file.set_permissions(Permissions::from_mode(0o600)).ok();
    file.write_all(pid.as_bytes())
}

fn text(path: &Path) -> Result<String, EdgeError> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| EdgeError::Path(path.to_owned()))
}

fn addresses(options: &EdgeOptions) -> Vec<SocketAddr> {
    let mut addresses = options.listen.clone();
    if let Some(tls) = &options.tls {
        addresses.extend(&tls.listen);
    }
    addresses.extend(options.admin_listen);
    addresses
}

/// Pingora retries for seconds and then panics in a task; an operator deserves the reason at once.
fn check_free(addresses: &[SocketAddr]) -> Result<(), EdgeError> {
    for address in addresses {
        TcpListener::bind(address).map_err(|source| EdgeError::Listen {
            address: *address,
            source,
        })?;
    }
    Ok(())
}

fn server(options: &EdgeOptions, upgrade_sock: &str) -> Server {
    let conf = ServerConf {
        threads: options.threads.max(1),
        // Without stealing one long poll stalls every connection of its thread.
        work_stealing: true,
        upgrade_sock: upgrade_sock.to_owned(),
        // The drain is ours; pingora would sleep through its whole period.
        grace_period_seconds: Some(0),
        graceful_shutdown_timeout_seconds: Some(0),
        ..ServerConf::default()
    };
    // Its own way to take sockets over gives up after six seconds and ends the process; see `Edge::take_over`.
    Server::new_with_opt_and_conf(Opt::default(), conf)
}

fn server_options() -> HttpServerOptions {
    let mut server_options = HttpServerOptions::default();
    server_options.h2c = false;
    server_options
}

/// What every listener shares.
struct House {
    sockets: Sockets,
    inherited: Inherited,
    lifecycle: Arc<Lifecycle>,
    expected: Arc<Vec<String>>,
}

impl House {
    fn add_public(
        &self,
        server: &mut Server,
        options: &EdgeOptions,
        gate: &Arc<Gate>,
        metrics: &EdgeMetrics,
    ) -> Result<(), EdgeError> {
        let admission = Admission::new(&options.limits, &options.trusted_proxies, metrics.clone());
        let mut doors = Vec::new();
        if !options.listen.is_empty() {
            let door = Door {
                gate: Arc::clone(gate),
                entrance: Entrance::Plain(Arc::clone(&admission)),
            };
            let mut listener = Listener::new("public".to_owned(), door);
            for address in &options.listen {
                listener.add_tcp(&address.to_string());
            }
            doors.push(listener);
        }
        if let Some(tls) = &options.tls {
            let (current, seen) =
                Current::load(tls).map_err(|error| EdgeError::Certificate(error.to_string()))?;
            let handshakes = Handshakes::new(options.limits.header_deadline, metrics.clone());
            let door = Door {
                gate: Arc::clone(gate),
                entrance: Entrance::Tls(Arc::clone(&handshakes)),
            };
            let before = BeforeTls {
                admission,
                handshakes,
            };
            doors.push(tls_listener(tls, door, &current, before)?);
            server.add_service(Renewal {
                files: tls.clone(),
                current,
                seen,
                refused: None,
                metrics: metrics.clone(),
            });
        }
        for listener in doors {
            self.add(server, listener, self.lifecycle.public_stop());
        }
        Ok(())
    }

    fn add_admin(&self, server: &mut Server, address: SocketAddr, admin: Admin) {
        let mut listener = Listener::new("admin".to_owned(), admin);
        listener.add_tcp(&address.to_string());
        listener.threads = Some(1);
        self.add(server, listener, self.lifecycle.admin_stop());
    }

    fn add<A: ServerApp + Send + Sync + 'static>(
        &self,
        server: &mut Server,
        listener: Listener<A>,
        stop: pingora::server::ShutdownWatch,
    ) {
        server.add_service(Stoppable {
            listener,
            stop,
            sockets: Arc::clone(&self.sockets),
            inherited: Arc::clone(&self.inherited),
            lifecycle: Arc::clone(&self.lifecycle),
            expected: Arc::clone(&self.expected),
        });
    }
}

fn tls_listener(
    tls: &TlsListener,
    door: Door,
    current: &Arc<Current>,
    before: BeforeTls,
) -> Result<Listener<Door>, EdgeError> {
    let mut listener = Listener::new("public-tls".to_owned(), door);
    listener.endpoints().set_pre_tls_callback(Arc::new(before));
    for address in &tls.listen {
        let mut settings = TlsSettings::with_callbacks(Box::new(Counting))
            .map_err(|error| EdgeError::Certificate(error.to_string()))?;
        settings.set_cert_resolver(Arc::clone(current) as _);
        settings.enable_h2();
        listener.add_tls_with_settings(&address.to_string(), None, settings);
    }
    Ok(listener)
}
