//! A receiver of webhooks on the loopback address: keeps every request as its raw bytes, and behaves as the path says.
//!
//! `/status/{code}` answers with it, `/slow/{ms}` after a while, `/dead` never, `/redirect` to [`Sink::elsewhere`],
//! `/long` with more than anybody reads, `/flaky/{n}` with 500 the first n times a delivery comes. Anything else is
//! taken with 204.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::patience::eventually;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    /// Names as they were sent.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Received {
    /// The value of a header.
    ///
    /// # Panics
    /// When it is not there once.
    pub fn header(&self, name: &str) -> &str {
        let named: Vec<&String> = self
            .headers
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect();
        assert_eq!(named.len(), 1, "{name} in {:?}", self.headers);
        named[0]
    }

    /// The id of the delivery.
    pub fn id(&self) -> &str {
        self.header("x-svc-webhook-id")
    }
}

/// A running receiver; it ends with its value.
pub struct Sink {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    _serving: JoinSet<()>,
}

impl Sink {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let received = Arc::new(Mutex::new(Vec::new()));
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&received)));
        Self {
            address,
            received,
            _serving: serving,
        }
    }

    /// The address of a path of this receiver.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What has come in so far at paths that begin with this.
    pub fn received(&self, path: &str) -> Vec<Received> {
        let received = self.received.lock().expect("what came in");
        let found = received.iter().filter(|one| one.path.starts_with(path));
        found.cloned().collect()
    }

    /// Waits until so many have come in.
    pub async fn wait(&self, path: &str, count: usize) -> Vec<Received> {
        eventually("deliveries", async || {
            let found = self.received(path);
            (found.len() >= count).then_some(found)
        })
        .await
    }
}

async fn serve(listener: TcpListener, received: Arc<Mutex<Vec<Received>>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        stream.set_nodelay(true).ok();
        connections.spawn(connection(stream, Arc::clone(&received)));
        while connections.try_join_next().is_some() {}
    }
}

/// One connection, request after request.
async fn connection(mut stream: TcpStream, received: Arc<Mutex<Vec<Received>>>) {
    let mut buffer = Vec::new();
    while let Some(request) = request(&mut stream, &mut buffer).await {
        let path = request.path.clone();
        let nth = {
            let mut all = received.lock().expect("what came in");
            let id = request.id().to_owned();
            all.push(request);
            all.iter().filter(|one| one.id() == id).count()
        };
        let mut parts = path.split(['/', '?']).skip(1);
        let (kind, number) = (parts.next(), parts.next());
        let number = number.and_then(|text| text.parse::<u64>().ok());
        let answer = match (kind, number) {
            (Some("status"), Some(code)) => head(code, ""),
            (Some("slow"), Some(ms)) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                head(204, "")
            }
            (Some("dead"), _) => return std::future::pending().await,
            (Some("redirect"), _) => head(302, "location: http://169.254.169.254/latest\r\n"),
            (Some("busy"), Some(seconds)) => head(503, &format!("retry-after: {seconds}\r\n")),
            (Some("flaky"), Some(times)) if nth as u64 <= times => head(500, ""),
            (Some("long"), _) => {
                let body = "x".repeat(LONG_BYTES);
                format!("HTTP/1.1 200 OK\r\ncontent-length: {LONG_BYTES}\r\n\r\n{body}")
            }
            _ => head(204, ""),
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// More than the 16 KiB that anybody reads of an answer.
const LONG_BYTES: usize = 4 * 1024 * 1024;

fn head(status: u64, headers: &str) -> String {
    let length = if status == 204 {
        ""
    } else {
        "content-length: 0\r\n"
    };
    format!("HTTP/1.1 {status} .\r\n{headers}{length}\r\n")
}

/// The next request of a connection; none at its end.
pub(crate) async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Received> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, buffer).await?;
    };
    let text = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = text.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = match length {
        Some((_, text)) => text.parse::<usize>().ok()?,
        None => 0,
    };
    while buffer.len() < end + length {
        more(stream, buffer).await?;
    }
    let body = buffer[end..end + length].to_vec();
    buffer.drain(..end + length);
    Some(Received {
        path,
        headers,
        body,
        at: Instant::now(),
    })
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let mut piece = [0; 16 * 1024];
    match stream.read(&mut piece).await {
        Ok(0) | Err(_) => None,
        Ok(count) => {
            buffer.extend_from_slice(&piece[..count]);
            Some(())
        }
    }
}
