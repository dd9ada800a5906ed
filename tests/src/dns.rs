//! A name server on the loopback address whose answers can change from one question to the next.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

type Records = Arc<Mutex<HashMap<String, Vec<Ipv4Addr>>>>;

/// A running server; it ends with its value. Its answers are good for no time at all.
pub struct NameServer {
    pub address: SocketAddr,
    records: Records,
    _serving: JoinSet<()>,
}

impl NameServer {
    pub async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
        let address = socket.local_addr().expect("its address");
        let records = Records::default();
        let mut serving = JoinSet::new();
        serving.spawn(serve(socket, Arc::clone(&records)));
        Self {
            address,
            records,
            _serving: serving,
        }
    }

    /// From now on the name has these addresses.
    pub fn answer(&self, name: &str, addresses: &[Ipv4Addr]) {
        let mut records = self.records.lock().expect("the records");
        records.insert(name.to_owned(), addresses.to_vec());
    }
}

async fn serve(socket: UdpSocket, records: Records) {
    let mut question = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut question).await {
        let answer = answer(&question[..length], &records);
        if let Some(answer) = answer {
            socket.send_to(&answer, from).await.ok();
        }
    }
}

/// Type A (RFC 1035, 3.2.2).
const A: [u8; 2] = [0, 1];

/// RFC 1035, 4.1: the head, the one question, and a record for each address.
fn answer(question: &[u8], records: &Records) -> Option<Vec<u8>> {
    const HEAD: usize = 12;
    let mut labels = Vec::new();
    let mut at = HEAD;
    loop {
        let length = usize::from(*question.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(question.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let kind = question.get(at..at + 2)?;
    let end = at + 4;
    let known = records.lock().expect("the records");
    let found = known.get(&labels.join("."));
    let addresses = match found {
        Some(addresses) if kind == A => addresses.as_slice(),
        _ => &[],
    };
    // An answer of this server's own; a name that it does not know does not exist.
    let flags = if found.is_some() {
        [0x84, 0]
    } else {
        [0x84, 3]
    };
    let mut bytes = question.get(..2)?.to_vec();
    bytes.extend(flags);
    bytes.extend([0, 1, 0, u8::try_from(addresses.len()).ok()?, 0, 0, 0, 0]);
    bytes.extend(question.get(HEAD..end)?);
    for address in addresses {
        // The name of the question, type A, class IN, no time to live, four bytes.
        bytes.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        bytes.extend(address.octets());
    }
    Some(bytes)
}
