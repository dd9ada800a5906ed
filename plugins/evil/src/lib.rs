//! A detector that does on request what a bad one might do. For the tests of the plugin host; never shipped.
//!
//! The text says what to do. The version stands once in the module, so that tests can rewrite it in place.

mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/phi"],
        world: "gateway:phi/phi-detector",
        generate_all,
    });
}

use std::hint::black_box;

use bindings::exports::gateway::phi::detector::{self, DetectError, Segment, Span};
use bindings::exports::gateway::plugin::lifecycle;
use bindings::gateway::phi::types::{DetectorInfo, EntityKind, OffsetUnit, SpanHints};
use bindings::gateway::plugin::counters;
use bindings::gateway::plugin::types::PluginKind;

struct Evil;

/// Rewritten by tests.
static VERSION: &str = "7.7.1";
/// The version whose self-test fails.
const BROKEN_MARK: u8 = b'9';
/// The version whose self-test traps.
const TRAPPING_MARK: u8 = b'8';
/// The version that tells of a kind with numbers that there are not.
const STRANGE_MARK: u8 = b'7';

impl lifecycle::Guest for Evil {
    fn describe() -> lifecycle::Manifest {
        lifecycle::Manifest {
            id: "evil".to_owned(),
            version: black_box(VERSION).to_owned(),
            kind: PluginKind::PhiDetector,
            api: "0.1.0".to_owned(),
            config_schema: Vec::new(),
            counters: vec!["loud".to_owned(), "quiet".to_owned()],
            ext: Vec::new(),
        }
    }

    fn configure(config: Vec<u8>) -> Result<(), lifecycle::ConfigError> {
        match config.as_slice() {
            b"{}" => Ok(()),
            _ => Err(lifecycle::ConfigError {
                path: "/x".to_owned(),
                message: "not that".to_owned(),
            }),
        }
    }

    fn self_test() -> Result<(), String> {
        // Not counted: nothing is served yet.
        counters::add(1, 1);
        match last_digit() {
            BROKEN_MARK => Err("broken on purpose".to_owned()),
            TRAPPING_MARK => std::process::abort(),
            _ => Ok(()),
        }
    }
}

fn last_digit() -> u8 {
    black_box(VERSION).bytes().last().unwrap_or(0)
}

impl detector::Guest for Evil {
    fn info() -> DetectorInfo {
        DetectorInfo {
            kinds: vec![EntityKind {
                name: "SSN".to_owned(),
                hipaa_class: if last_digit() == STRANGE_MARK { 99 } else { 7 },
                default_threshold: 500,
            }],
            offsets: OffsetUnit::Utf8Bytes,
            languages: Vec::new(),
            max_text: 1 << 20,
            overlap: 64,
            deterministic: false,
            ext: Vec::new(),
        }
    }

    fn detect(text: String, _segments: Vec<Segment>) -> Result<Vec<Span>, DetectError> {
        match text.split(' ').next().unwrap_or("") {
            "good" => Ok(vec![span(0, 4, 0)]),
            // Which version answers: 50 times its last digit.
            "version" => Ok(vec![Span {
                score: u16::from(last_digit() - b'0') * 50,
                ..span(0, 7, 0)
            }]),
            "count" => count(),
            "trap" => trap(),
            "loop" => spin(),
            "memory" => hoard(),
            "recursion" => Ok(vec![span(0, recurse(black_box(0)), 0)]),
            "output" => Ok(vec![span(0, 1, 0); 1 << 19]),
            "many" => Ok(vec![span(0, 1, 0); 1_000]),
            "range" => Ok(vec![span(0, 1 << 20, 0)]),
            "empty" => Ok(vec![span(1, 1, 0)]),
            "cut" => Ok(vec![span(0, 5, 0)]),
            "kind" => Ok(vec![span(0, 1, 1)]),
            "refuse" => Err(DetectError::UnsupportedLanguage),
            _ => Ok(Vec::new()),
        }
    }
}

const fn span(start: u32, end: u32, kind: u16) -> Span {
    Span {
        start,
        end,
        kind,
        score: 900,
        hints: SpanHints::empty(),
    }
}

/// Once a counter that is not there, once as it should be, then too much and too often.
fn count() -> Result<Vec<Span>, DetectError> {
    counters::add(2, 1);
    counters::add(1, 3);
    for _ in 0..1_000 {
        counters::add(0, u32::MAX);
    }
    Ok(Vec::new())
}

fn trap() -> Result<Vec<Span>, DetectError> {
    std::process::abort()
}

fn spin() -> Result<Vec<Span>, DetectError> {
    let mut number = 1_u64;
    loop {
        number = black_box(
            number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
}

fn hoard() -> Result<Vec<Span>, DetectError> {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(Vec::<u8>::with_capacity(1 << 20)));
    }
}

#[allow(unconditional_recursion)]
fn recurse(depth: u32) -> u32 {
    let frame = black_box([depth; 64]);
    recurse(depth + 1) + frame.iter().sum::<u32>()
}

#[cfg(target_family = "wasm")]
bindings::export!(Evil with_types_in bindings);
