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

    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.address) else {
            return false;
        };
        let mut answer = [0; 7];
        stream.write_all(b"PING\r\n").is_ok()
            && stream.read_exact(&mut answer).is_ok()
            && answer == *b"+PONG\r\n"
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

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
