//! Both ends of raw sockets: clients that send exactly these bytes, upstreams that write down what they see.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_pipeline::upstream::{ChosenBy, Deadlines, Target};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Nothing here takes longer unless it hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(10);

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

pub(crate) async fn send(stream: &mut TcpStream, bytes: impl AsRef<[u8]>) {
    stream.write_all(bytes.as_ref()).await.unwrap();
}

/// Reads up to and including `needle`; what the peer sent before it closed, if it did.
pub(crate) async fn read_until(stream: &mut (impl AsyncRead + Unpin), needle: &[u8]) -> Vec<u8> {
    let mut seen = Vec::new();
    let reading = async {
        while !seen.ends_with(needle) {
            match stream.read_u8().await {
                Ok(byte) => seen.push(byte),
                Err(_) => break,
            }
        }
    };
    timeout(HANGS, reading).await.expect("the peer answers");
    seen
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Reads one head and its body by Content-Length, by chunks, or none.
pub(crate) async fn read_answer(stream: &mut (impl AsyncRead + Unpin)) -> Answer {
    let head = read_until(stream, b"\r\n\r\n").await;
    let head = String::from_utf8(head).unwrap();
    let status = head
        .get(9..12)
        .and_then(|code| code.parse().ok())
        .unwrap_or_else(|| panic!("no status in {head:?}"));
    let mut answer = Answer {
        status,
        head,
        body: Vec::new(),
    };
    if let Some(length) = answer.header("content-length") {
        let mut body = vec![0; length.parse().unwrap()];
        timeout(HANGS, stream.read_exact(&mut body))
            .await
            .expect("the body comes")
            .unwrap();
        answer.body = body;
    } else if answer.header("transfer-encoding") == Some("chunked") {
        while let Some(chunk) = read_chunk(stream).await {
            answer.body.extend(chunk);
        }
    }
    answer
}

/// One chunk; `None` for the last.
pub(crate) async fn read_chunk(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let size = read_until(stream, b"\r\n").await;
    let size = String::from_utf8(size).unwrap();
    let size = usize::from_str_radix(size.trim(), 16).expect("a chunk size");
    let mut chunk = vec![0; size + 2];
    stream.read_exact(&mut chunk).await.unwrap();
    assert!(chunk.ends_with(b"\r\n"));
    chunk.truncate(size);
    (size > 0).then_some(chunk)
}

/// When the peer closed or reset, `None` if it did not.
pub(crate) async fn closed(stream: &mut (impl AsyncRead + Unpin)) -> Option<Instant> {
    let mut sink = [0; 4096];
    let reading = async {
        loop {
            match stream.read(&mut sink).await {
                Ok(0) | Err(_) => return Instant::now(),
                Ok(_) => {}
            }
        }
    };
    timeout(HANGS, reading).await.ok()
}

/// Accepts connections one after the other and hands them out.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    connections: mpsc::Receiver<TcpStream>,
}

impl Upstream {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, connections) = mpsc::channel(64);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if sender.send(stream).await.is_err() {
                    break;
                }
            }
        });
        Self {
            address,
            connections,
        }
    }

    pub(crate) async fn accept(&mut self) -> TcpStream {
        timeout(HANGS, self.connections.recv())
            .await
            .expect("somebody connects")
            .unwrap()
    }

    /// Whether somebody has connected and nobody looked yet.
    pub(crate) fn has_more(&mut self) -> bool {
        self.connections.try_recv().is_ok()
    }

    pub(crate) fn target(&self) -> Target {
        target("alpha", self.address)
    }
}

pub(crate) fn target(name: &str, address: SocketAddr) -> Target {
    Target {
        name: name.into(),
        chosen_by: ChosenBy::Operator,
        tls: false,
        host: address.ip().to_string().into(),
        port: address.port(),
        base_path: "".into(),
        ca_file: None,
        deadlines: Deadlines {
            connect: HANGS,
            head: HANGS,
            idle: HANGS,
            total: HANGS,
        },
    }
}

pub(crate) fn shared(target: Target) -> Arc<Target> {
    Arc::new(target)
}

/// Waits for something that nothing announces.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(HANGS, waiting)
        .await
        .expect("it comes about");
}
