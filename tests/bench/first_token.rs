//! How long a caller waits for the first words of a streamed reply: at the upstream itself, through a gateway whose
//! detector finds nothing, and through one with the shipped detectors. One request at a time, the three in turn, so that
//! what slows the machine slows all of them.
//!
//! The upstream says a piece every [`PIECE_MS`], as a model does: a word that is held back until the next piece shows as
//! that time. PHI Guard cannot be switched off; what it adds is at most what the gateway adds to the upstream, and at
//! least what the shipped detectors add to the other one.
//!
//! `first-token ROUNDS UPSTREAM KEY WITHOUT KEY WITH KEY` prints a table; addresses on the loopback.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool of the bench: what goes wrong ends it, and its output is its product"
)]

use std::net::SocketAddr;
use std::time::Instant;

use serde_json::{Value, json};
use svc_tests::turn;
use svc_tests::wire::{Connection, Request};

/// 20 ms: 50 pieces a second, about what large models say.
const PIECE_MS: u32 = 20;
/// Bytes of the prompts: a question, and a question with a note of a visit (target: 8 KB under 1 ms).
const PROMPTS_BYTES: [usize; 2] = [1_000, 8_000];
/// What replies begin with: words that can be nobody's, and what may be somebody's until more has been read.
const REPLIES: [(&str, &str); 4] = [
    (
        "plain words",
        "all is well, and nothing needs to be changed.",
    ),
    (
        "a sentence",
        "The patient should take the tablets in the evening.",
    ),
    (
        "a number",
        "500 mg twice a day is the usual amount for her.",
    ),
    ("a name", "Ruth Aldana was seen by the nurse this morning."),
];
const NOTE: &str = "The patient was seen for a follow-up of her blood pressure, takes lisinopril 10 mg once a day, has no \
                    complaints, and asks when to come again. BP 128/82, pulse 71, lungs clear. ";
/// Rounds before those that count.
const WARM: usize = 3;
const MOST_ROUNDS: usize = 1_000;

/// One way to the upstream.
struct Way {
    address: SocketAddr,
    key: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, ways @ ..] = arguments.as_slice() else {
        panic!("first-token ROUNDS UPSTREAM KEY WITHOUT KEY WITH KEY");
    };
    let rounds = rounds.parse::<usize>().expect("a number of rounds");
    let (pairs, _) = ways.as_chunks::<2>();
    let ways: Vec<Way> = pairs.iter().map(way).collect();
    let [upstream, without, with] =
        <[Way; 3]>::try_from(ways).unwrap_or_else(|_| panic!("an upstream and two gateways"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!(
        "| prompt | reply begins with | upstream ms | detector that finds nothing ms | shipped detectors ms | detectors \
         add, p50 / p90 ms | gateway adds, p50 / p90 ms |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|");
    for prompt_bytes in PROMPTS_BYTES {
        for (begins_with, reply) in REPLIES {
            let body = body(prompt_bytes, reply).to_string();
            let ways = [&upstream, &without, &with];
            let rounds = rounds.clamp(1, MOST_ROUNDS);
            let times = runtime.block_on(measure(ways, &body, rounds));
            print_row(prompt_bytes, begins_with, &times);
        }
    }
}

fn way([address, key]: &[String; 2]) -> Way {
    let address: SocketAddr = address.parse().expect("an address");
    assert!(address.ip().is_loopback(), "loopback only");
    Way {
        address,
        key: key.clone(),
    }
}

fn body(prompt_bytes: usize, reply: &str) -> Value {
    let note: String = NOTE.chars().cycle().take(prompt_bytes).collect();
    let said = format!(
        "{note} {} [[fake:delay {PIECE_MS}]] [[fake:text {reply}]]",
        turn::WORD
    );
    let turns = json!([{"role": "user", "content": said}]);
    json!({"model": "alpha-sonnet-4-6", "max_tokens": 4096, "stream": true, "messages": turns})
}

/// Milliseconds to the first words, by way, round by round.
async fn measure(ways: [&Way; 3], body: &str, rounds: usize) -> [Vec<f64>; 3] {
    let mut times = [const { Vec::new() }; 3];
    for round in 0..WARM + rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            // Another word in each round: no gateway remembers the text.
            let body = turn::numbered(body.as_bytes(), round);
            let waited_ms = first_words_ms(way, &body).await;
            if round >= WARM {
                times.push(waited_ms);
            }
        }
    }
    times
}

/// Milliseconds from the request to the first words of its reply; reads the rest too.
async fn first_words_ms(way: &Way, body: &[u8]) -> f64 {
    let request = Request::new("POST", "/v1/messages")
        .header("Content-Type", "application/json")
        .header("anthropic-version", "2023-06-01")
        .header("x-api-key", &way.key)
        .body(body);
    let mut connection = Connection::open(way.address).await;
    let start = Instant::now();
    connection.send(&request.bytes()).await;
    let mut reply = connection.reply().await;
    assert_eq!(reply.status, 200, "no stream from {}", way.address);
    let (mut heard, mut waited_ms) = (Vec::new(), None);
    while let Some(piece) = reply.piece().await {
        heard.extend_from_slice(&piece);
        if waited_ms.is_none() && has_words(&heard) {
            waited_ms = Some(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    waited_ms.unwrap_or_else(|| panic!("no words from {}", way.address))
}

/// Whether a whole event with text has come.
fn has_words(heard: &[u8]) -> bool {
    let heard = String::from_utf8_lossy(heard);
    let whole = heard
        .rfind("\n\n")
        .map_or("", |end| heard.get(..end).unwrap_or_default());
    let mut data = whole.lines().filter_map(|line| line.strip_prefix("data: "));
    data.any(|data| {
        let event: Value = serde_json::from_str(data).unwrap_or_default();
        let text = event["delta"]["text"].as_str();
        text.is_some_and(|text| !text.is_empty())
    })
}

fn print_row(prompt_bytes: usize, begins_with: &str, [upstream, without, with]: &[Vec<f64>; 3]) {
    let [bare, blind, shipped] = [upstream, without, with].map(|times| share(times, 0.5));
    let added = |times: &[f64], base: &[f64]| {
        let differences: Vec<f64> = times
            .iter()
            .zip(base)
            .map(|(one, other)| one - other)
            .collect();
        format!(
            "{:.2} / {:.2}",
            share(&differences, 0.5),
            share(&differences, 0.9)
        )
    };
    println!(
        "| {prompt_bytes} bytes | {begins_with} | {bare:.2} | {blind:.2} | {shipped:.2} | {} | {} |",
        added(with, without),
        added(with, upstream),
    );
}

/// The value that this share of all values does not exceed.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a position in a list of a thousand values"
)]
fn share(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = ((sorted.len() - 1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
