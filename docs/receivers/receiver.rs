//! Receives webhooks and believes only what is signed: the standard library, `hmac`, `sha2` and `serde_json`.
//!
//! WEBHOOK_SECRET is the endpoint's secret as it was shown, `whsec_` included; during a rotation, both with a comma
//! between.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// 5 minutes, either way: an old delivery may be a copy.
const TOLERANCE_S: u64 = 300;
/// Longer than any delivery.
const MAX_BODY_BYTES: u64 = 4 * 1024 * 1024;
/// Longer than the head of any delivery.
const MAX_HEAD_BYTES: u64 = 64 * 1024;
/// After so much silence a connection is closed.
const SILENCE: Duration = Duration::from_secs(60);

fn main() -> std::io::Result<()> {
    let secrets = std::env::var("WEBHOOK_SECRET").map_err(std::io::Error::other)?;
    let secrets: Vec<String> = secrets.split(',').map(str::to_owned).collect();
    let port = std::env::var("PORT").unwrap_or_else(|_| "8000".to_owned());
    let port: u16 = port.parse().map_err(std::io::Error::other)?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    receive(&listener, &secrets, |body| {
        if let Ok(event) = serde_json::from_slice::<serde_json::Value>(body) {
            println!("{} {}", event["event"], event["id"]);
        }
    });
    Ok(())
}

/// Whether any `v1` of the header is a signature of these very bytes, made within the tolerance.
pub fn is_signed(secrets: &[String], header: &str, body: &[u8], now_s: u64) -> bool {
    let pairs: Vec<(&str, &str)> = header
        .split(',')
        .filter_map(|entry| entry.split_once('='))
        .collect();
    let mut times = pairs
        .iter()
        .filter(|(name, _)| *name == "t")
        .map(|(_, value)| *value);
    let (Some(time), None) = (times.next(), times.next()) else {
        return false;
    };
    let Ok(at) = time.parse::<u64>() else {
        return false;
    };
    if now_s.abs_diff(at) > TOLERANCE_S {
        return false;
    }
    let tags = pairs
        .iter()
        .filter(|(name, _)| *name == "v1")
        .filter_map(|(_, value)| bytes(value));
    let tags: Vec<Vec<u8>> = tags.collect();
    secrets.iter().any(|secret| {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
            return false;
        };
        mac.update(time.as_bytes());
        mac.update(b".");
        mac.update(body);
        // In constant time.
        tags.iter().any(|tag| mac.clone().verify_slice(tag).is_ok())
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = (0..hex.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok())
        .collect()
}

/// Answers deliveries, each connection on a thread of its own, and gives those that are believed, each once, to `take`.
pub fn receive(listener: &TcpListener, secrets: &[String], take: impl Fn(&[u8]) + Sync) {
    // Keep these in your database, with the work, in one transaction: a delivery may come more than once.
    let seen = Mutex::new(HashSet::new());
    let (seen, take) = (&seen, &take);
    std::thread::scope(|scope| {
        for stream in listener.incoming().flatten() {
            let thread = std::thread::Builder::new().name("delivery".to_owned());
            // Where no thread is left, the connection is closed, and the delivery comes again.
            let _ = thread.spawn_scoped(scope, move || answer(stream, secrets, seen, take));
        }
    });
}

fn answer(
    mut stream: TcpStream,
    secrets: &[String],
    seen: &Mutex<HashSet<String>>,
    take: &impl Fn(&[u8]),
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = reader.by_ref().take(MAX_HEAD_BYTES);
    let (mut length, mut signature, mut delivery) = (0, String::new(), String::new());
    let mut line = String::new();
    loop {
        line.clear();
        head.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "svc-signature" => signature = value.to_owned(),
            "x-svc-webhook-id" => delivery = value.to_owned(),
            _ => {}
        }
    }
    let mut body = Vec::new();
    let now_s = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let status = if length > MAX_BODY_BYTES {
        "413 Content Too Large"
    } else {
        // The raw bytes: parsed and written again they would be others.
        reader.take(length).read_to_end(&mut body)?;
        if is_signed(secrets, &signature, &body, now_s) {
            let is_new = seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(delivery);
            if is_new {
                take(&body);
            }
            // At once, within 10 seconds: long work belongs in a queue of your own.
            "204 No Content"
        } else {
            "400 Bad Request"
        }
    };
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n\r\n")
}
