//! Everything that a gateway leaves behind, as bytes: what providers got, logs, metrics, spans, rows, files.

use std::path::Path;
use std::sync::{Arc, Mutex};

use svc_tests::database::Database;
use svc_tests::gateway::Gateway;
use svc_tests::wire::{Answer, Connection};
use svc_tests::world::World;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A sink's name and its bytes.
pub(super) type Sink = (String, Vec<u8>);

/// What only a running gateway shows.
pub(super) async fn while_running(world: &World) -> Vec<Sink> {
    let gateway = &world.gateway;
    let metrics = gateway.admin_page("/metrics").await.text();
    let mut sinks = vec![("metrics".to_owned(), metrics.into_bytes())];
    sinks.extend(tables(&gateway.database).await);
    sinks.extend(files("running", &gateway.data()));
    sinks.extend(open_files(gateway));
    sinks
}

/// What is left of one that has ended.
pub(super) fn left_behind(world: &World, collector: &Collector) -> Vec<Sink> {
    let mut sinks = vec![
        ("log".to_owned(), world.gateway.log().into_bytes()),
        ("spans".to_owned(), collector.bytes()),
    ];
    sinks.extend(files("left", &world.gateway.data()));
    sinks
}

/// What the providers got, heads included.
pub(super) fn provider(world: &World) -> Sink {
    let bytes = std::fs::read(world.fake.record_path()).unwrap();
    ("provider".to_owned(), bytes)
}

/// An answer with its head.
pub(super) fn answer_bytes(answer: &Answer) -> Vec<u8> {
    let mut bytes = answer.body.clone();
    for (name, value) in &answer.headers {
        bytes.extend_from_slice(format!("\n{name}: {value}").as_bytes());
    }
    bytes
}

/// Every row of every table: in the file a value may be cut in two by a page.
async fn tables(database: &Database) -> Vec<Sink> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let mut sinks = Vec::new();
    for table in database.rows(sql, &[]).await {
        let name = table["name"].as_str().unwrap().to_owned();
        let rows = database
            .rows(&format!("SELECT * FROM \"{name}\""), &[])
            .await;
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        sinks.push((format!("table {name}"), text.into_bytes()));
    }
    sinks
}

fn files(when: &str, folder: &Path) -> Vec<Sink> {
    let mut sinks = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sinks.extend(files(when, &path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            // A file of SQLite's may go while we look.
            sinks.push((format!("file {} ({when})", path.display()), bytes));
        }
    }
    sinks
}

/// Files elsewhere that the process holds open, those without a name among them: what was spooled somewhere else. What lies in
/// memory alone is no file that anybody could find: images of guests, and the kernel's tables of pages.
fn open_files(gateway: &Gateway) -> Vec<Sink> {
    let folder = format!("/proc/{}/fd", gateway.pid());
    let mut sinks = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let (Ok(target), Ok(about)) = (std::fs::read_link(&path), std::fs::metadata(&path)) else {
            continue;
        };
        let name = target.to_string_lossy();
        let is_in_memory = name.starts_with("/memfd:") || name.starts_with("/proc/");
        if about.is_file()
            && !is_in_memory
            && !target.starts_with(gateway.data())
            && let Ok(bytes) = std::fs::read(&path)
        {
            sinks.push((format!("open file {name}"), bytes));
        }
    }
    sinks
}

/// Takes every export of spans and keeps it.
pub(super) struct Collector {
    pub(super) endpoint: String,
    exports: Arc<Mutex<Vec<u8>>>,
    _task: JoinSet<()>,
}

impl Collector {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let exports = Arc::new(Mutex::new(Vec::new()));
        let mut task = JoinSet::new();
        task.spawn(take(listener, Arc::clone(&exports)));
        Self {
            endpoint,
            exports,
            _task: task,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.exports.lock().unwrap().clone()
    }
}

/// One export per connection, one connection at a time.
async fn take(listener: TcpListener, exports: Arc<Mutex<Vec<u8>>>) {
    const TAKEN: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\
                           Connection: close\r\n\r\n";
    while let Ok((mut stream, _)) = listener.accept().await {
        let bytes = request(&mut stream).await;
        exports.lock().unwrap().extend_from_slice(&bytes);
        // The exporter may have gone with its gateway.
        let _ = stream.write_all(TAKEN).await;
    }
}

/// The head and the body of one request.
async fn request(stream: &mut tokio::net::TcpStream) -> Vec<u8> {
    use tokio::io::AsyncReadExt;
    let (mut bytes, mut piece) = (Vec::new(), [0_u8; 16 * 1024]);
    loop {
        let count = stream.read(&mut piece).await.unwrap_or(0);
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            if count == 0 {
                return bytes;
            }
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || bytes.len() >= end + 4 + length.unwrap_or(0_usize) {
            return bytes;
        }
    }
}

/// What comes back on a connection that was sent these bytes; none where it is closed without a word.
pub(super) async fn told(gateway: &Gateway, bytes: &[u8]) -> Option<Answer> {
    let mut connection: Connection = gateway.connect().await;
    // A gateway that has heard enough may close before it has read all.
    let _ = connection.try_send(bytes).await;
    match connection.reply_if_any().await {
        Some(reply) => Some(reply.whole().await.0),
        None => None,
    }
}
