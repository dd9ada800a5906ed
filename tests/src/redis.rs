//! A throw-away Redis or Valkey server, which a test may kill and start again.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::patience::PATIENCE;
use crate::{guardian, port};

pub struct Redis {
    address: SocketAddr,
    child: Option<Child>,
}

/// Either is enough.
const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

impl Redis {
    /// A server that keeps nothing on disk.
    pub fn start() -> Self {
        let mut server = Self {
            address: port::free(),
            child: None,
        };
        server.start_again();
        server
    }

    /// The address, as `limits.store` takes it.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Empty, at the same address.
    pub fn start_again(&mut self) {
        let port = self.address.port().to_string();
        let spawned = PROGRAMS.iter().find_map(|program| {
            let mut command = Command::new(program);
            command
                .args(["--port", &port, "--bind", "127.0.0.1"])
                .args(["--save", "", "--appendonly", "no"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.spawn().ok()
        });
        let child = spawned.expect("neither valkey-server nor redis-server: run make setup");
        guardian::watch(child.id());
        self.child = Some(child);
        let start = std::time::Instant::now();
        while !self.answers() {
            assert!(start.elapsed() < PATIENCE, "the server did not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The address with a password, which the server need not have.
    pub fn url_with(&self, password: &str) -> String {
        format!("redis://:{password}@{}", self.address)
    }

    /// Has the server ask for `password` where it asks for `former` now, or for none where that is empty.
    pub fn demand_password(&self, former: &str, password: &str) {
        let mut stream = TcpStream::connect(self.address).expect("the server");
        if !former.is_empty() {
            say(&mut stream, &format!("AUTH {former}"), b"+OK\r\n").expect("logging in");
        }
        let order = format!("CONFIG SET requirepass {password}");
        say(&mut stream, &order, b"+OK\r\n").expect("the new password");
    }

    fn answers(&self) -> bool {
        let stream = TcpStream::connect(self.address);
        stream.is_ok_and(|mut stream| say(&mut stream, "PING", b"+PONG\r\n").is_some())
    }

    /// `kill -9`, and the end of it.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("killing the server");
            child.wait().expect("the end of the server");
            guardian::forget(child.id());
        }
    }
}

/// Says one line and hears one, which must be this one.
fn say<const N: usize>(stream: &mut TcpStream, line: &str, expected: &[u8; N]) -> Option<()> {
    let mut answer = [0; N];
    stream.write_all(format!("{line}\r\n").as_bytes()).ok()?;
    stream.read_exact(&mut answer).ok()?;
    (answer == *expected).then_some(())
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
