//! An HTTP/1.1 client that hides nothing: what a test writes is what goes out, and what comes back is kept as
//! it came.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::patience::in_time;

/// A plain or encrypted byte stream.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Duplex for S {}

/// A request in the making.
#[derive(Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    length: bool,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        let host = ("Host".to_owned(), "gateway.test".to_owned());
        Self {
            method: method.into(),
            path: path.into(),
            headers: vec![host],
            body: Vec::new(),
            length: true,
        }
    }

    pub fn method(&self) -> &str {
        &self.method
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn bearer(self, key: &str) -> Self {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json")
            .body(body.to_string().as_bytes())
    }

    #[must_use]
    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_owned();
        self
    }

    /// Leaves the body's length unsaid; a header of the test's own says what it wants.
    #[must_use]
    pub fn without_length(mut self) -> Self {
        self.length = false;
        self
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.length && (!self.body.is_empty() || self.method == "POST") {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A connection that carries one exchange after another.
pub struct Connection {
    stream: Box<dyn Duplex>,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = in_time("connecting", TcpStream::connect(address)).await;
        let stream = stream.unwrap_or_else(|error| panic!("connecting to {address}: {error}"));
        stream.set_nodelay(true).expect("TCP_NODELAY");
        Self::over(stream)
    }

    pub fn over(stream: impl Duplex + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            buffer: Vec::new(),
        }
    }

    pub async fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).await.expect("writing to the gateway");
    }

    /// As [`Connection::send`], for when the other side may have closed already.
    ///
    /// # Errors
    /// The socket's.
    pub async fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        in_time("writing", async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        })
        .await
    }

    /// The head of the next answer, the body still to be read.
    pub async fn reply(self) -> Reply {
        self.reply_to("POST").await
    }

    /// As [`Connection::reply`]; none when the connection closes without a byte.
    pub async fn reply_if_any(mut self) -> Option<Reply> {
        if self.buffer.is_empty() && !self.fill().await {
            return None;
        }
        Some(self.reply().await)
    }

    /// As [`Connection::reply`]; an answer to HEAD has no body whatever its head says.
    pub async fn reply_to(mut self, method: &str) -> Reply {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            assert!(
                self.fill().await,
                "closed before an answer; {:?} came",
                String::from_utf8_lossy(&self.buffer)
            );
        };
        let head: Vec<u8> = self.buffer.drain(..end + 4).collect();
        let head = String::from_utf8(head).expect("a head in ASCII");
        let mut lines = head.trim_end().split("\r\n");
        let status_line = lines.next().unwrap_or_default().to_owned();
        let status: u16 = status_line
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .expect("a status");
        let headers = lines.map(|line| {
            line.split_once(": ")
                .unwrap_or_else(|| panic!("no header: {line:?}"))
        });
        let headers: Vec<(String, String)> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        if (100..200).contains(&status) {
            return Box::pin(self.reply_to(method)).await;
        }
        let left = body_length(method, status, &headers);
        Reply {
            connection: self,
            status,
            headers,
            left,
        }
    }

    /// Whether the other side closes without another byte.
    pub async fn closes(&mut self) -> bool {
        !self.fill().await && self.buffer.is_empty()
    }

    /// The next line of a head, without its end.
    pub async fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
                return String::from_utf8_lossy(&line[..end]).into_owned();
            }
            assert!(self.fill().await, "the connection ended before a line did");
        }
    }

    async fn fill(&mut self) -> bool {
        let mut bytes = [0_u8; 16 * 1024];
        let read = in_time("reading", self.stream.read(&mut bytes)).await;
        // A reset is an end too: which of the two comes is the kernel's choice when bytes are unread.
        let count = read.unwrap_or(0);
        self.buffer.extend_from_slice(&bytes[..count]);
        count > 0
    }
}

/// What is still to come of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Bytes(usize),
    Chunked,
    UntilClose,
    Over,
}

fn body_length(method: &str, status: u16, headers: &[(String, String)]) -> Left {
    let find = |name: &str| {
        headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    if method == "HEAD" || status == 204 || status == 304 {
        return Left::Over;
    }
    match (find("transfer-encoding"), find("content-length")) {
        (Some("chunked"), None) => Left::Chunked,
        (None, Some(length)) => Left::Bytes(length.parse().expect("a length")),
        (None, None) => Left::UntilClose,
        both => panic!("two lengths: {both:?}"),
    }
}

/// An answer whose body is still to be read.
pub struct Reply {
    connection: Connection,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    left: Left,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The next bytes of the body; none at its end.
    ///
    /// # Panics
    /// When the connection ends before the body, or a chunk is empty.
    pub async fn piece(&mut self) -> Option<Vec<u8>> {
        match self.left {
            Left::Over | Left::Bytes(0) => None,
            Left::Bytes(left) => {
                if self.connection.buffer.is_empty() {
                    assert!(
                        self.connection.fill().await,
                        "the body is {left} bytes short"
                    );
                }
                let count = left.min(self.connection.buffer.len());
                self.left = Left::Bytes(left - count);
                Some(self.connection.buffer.drain(..count).collect())
            }
            Left::UntilClose => {
                if self.connection.buffer.is_empty() && !self.connection.fill().await {
                    self.left = Left::Over;
                    return None;
                }
                Some(std::mem::take(&mut self.connection.buffer))
            }
            Left::Chunked => {
                let size = self.connection.line().await;
                let size = usize::from_str_radix(&size, 16)
                    .unwrap_or_else(|_| panic!("no chunk size: {size:?}"));
                while self.connection.buffer.len() < size + 2 {
                    assert!(
                        self.connection.fill().await,
                        "the connection ended inside a chunk"
                    );
                }
                let piece: Vec<u8> = self.connection.buffer.drain(..size).collect();
                assert_eq!(
                    self.connection.buffer.drain(..2).collect::<Vec<u8>>(),
                    b"\r\n"
                );
                if size == 0 {
                    self.left = Left::Over;
                    return None;
                }
                Some(piece)
            }
        }
    }

    /// The whole answer, and the connection for the next one.
    pub async fn whole(mut self) -> (Answer, Connection) {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await {
            body.extend_from_slice(&piece);
        }
        (
            Answer {
                status: self.status,
                headers: self.headers,
                body,
            },
            self.connection,
        )
    }

    /// Whether the connection ends here although the body has not: what a caller sees of a killed gateway.
    pub async fn breaks(mut self) -> bool {
        loop {
            match self.left {
                Left::Over | Left::Bytes(0) => return false,
                Left::Chunked if self.connection.buffer.ends_with(b"0\r\n\r\n") => return false,
                _ if !self.connection.fill().await => return true,
                _ => {}
            }
        }
    }
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// How many headers have this name.
    pub fn count(&self, name: &str) -> usize {
        self.headers.iter().filter(|(key, _)| key == name).count()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// # Panics
    /// When the body is no JSON.
    pub fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{}",
            self.text()
        );
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn request_id(&self) -> &str {
        self.header("request-id").expect("a Request-Id header")
    }
}
