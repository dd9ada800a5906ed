//! Receives webhooks and believes only what is signed: the standard library, `hmac` and `sha2`.
//!
//! A secret is the endpoint's as it was shown, `whsec_` included; during a rotation there are two.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// 5 minutes, either way: an old delivery may be a copy.
const TOLERANCE_S: u64 = 300;
/// Longer than any delivery.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

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

/// Answers deliveries one after the other and gives those that are believed, each once, to `take`.
pub fn receive(listener: &TcpListener, secrets: &[String], mut take: impl FnMut(&[u8])) {
    // Keep these in your database, with the work, in one transaction: a delivery may come more than once.
    let mut seen = HashSet::new();
    for stream in listener.incoming().flatten() {
        let _ = answer(stream, secrets, &mut seen, &mut take);
    }
}

fn answer(
    mut stream: TcpStream,
    secrets: &[String],
    seen: &mut HashSet<String>,
    take: &mut impl FnMut(&[u8]),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut signature, mut delivery) = (0, String::new(), String::new());
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
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
    // The raw bytes: parsed and written again they would be others.
    let mut body = vec![0; length.min(MAX_BODY_BYTES)];
    reader.read_exact(&mut body)?;
    let now_s = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let status = if is_signed(secrets, &signature, &body, now_s) {
        if seen.insert(delivery) {
            take(&body);
        }
        // At once, within 10 seconds: long work belongs in a queue of your own.
        "204 No Content"
    } else {
        "400 Bad Request"
    };
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n\r\n")
}
