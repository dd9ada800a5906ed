//! A driver that does on request what a bad one might do. For the tests of the plugin host; never shipped.
//!
//! The model's name says at which call and what: `push:loop`. A driver that is asked for nothing bad sends one
//! word and ends well.

mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/provider"],
        world: "gateway:provider/provider-driver",
        generate_all,
    });
}

use std::hint::black_box;

use bindings::exports::gateway::plugin::lifecycle;
use bindings::exports::gateway::provider::driver::{self, End, Frame, GuestRun};
use bindings::gateway::plugin::counters;
use bindings::gateway::plugin::types::PluginKind;
use bindings::gateway::provider::types::{
    AuthScheme, ChatRequest, DriverError, DriverInfo, Event, Features, Finish, FinishReason,
    Framing, Header, Method, ProviderKind, UpstreamRequest,
};

struct Evil;

/// The bad deed of a run, as the model's name gave it.
struct Run(String);

impl lifecycle::Guest for Evil {
    fn describe() -> lifecycle::Manifest {
        lifecycle::Manifest {
            id: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: PluginKind::ProviderDriver,
            api: "0.1.0".to_owned(),
            config_schema: Vec::new(),
            counters: vec!["frames".to_owned()],
            ext: Vec::new(),
        }
    }

    fn configure(_config: Vec<u8>) -> Result<(), lifecycle::ConfigError> {
        Ok(())
    }

    fn self_test() -> Result<(), String> {
        Ok(())
    }
}

impl driver::Guest for Evil {
    type Run = Run;

    fn info() -> DriverInfo {
        DriverInfo {
            kind: ProviderKind::Custom,
            auth: AuthScheme::Header(("authorization".to_owned(), "Bearer {secret}".to_owned())),
            features: Features::all(),
            wants_headers: Vec::new(),
            ext: Vec::new(),
        }
    }
}

impl GuestRun for Run {
    fn start(request: ChatRequest) -> Result<(driver::Run, UpstreamRequest), DriverError> {
        let run = Self(request.model);
        run.misbehave("start");
        let upstream = UpstreamRequest {
            method: Method::Post,
            path: match run.deed("start") {
                "address" => "https://elsewhere.example/".to_owned(),
                "climb" => "/v1/../admin".to_owned(),
                _ => "/v1/good".to_owned(),
            },
            headers: match run.deed("start") {
                "credential" => vec![header("Authorization", "Bearer mine")],
                "host" => vec![header("host", "elsewhere.example")],
                "split" => vec![header("accept", "a\r\nhost: elsewhere.example")],
                _ => Vec::new(),
            },
            body: b"{}".to_vec(),
            framing: Framing::Sse,
        };
        Ok((driver::Run::new(run), upstream))
    }

    fn head(&self, _status: u16, _headers: Vec<Header>) -> Result<Framing, DriverError> {
        self.misbehave("head");
        Ok(Framing::Sse)
    }

    fn push(&self, _data: Vec<u8>, frames: Vec<Frame>) -> Result<Vec<Event>, DriverError> {
        counters::add(0, u32::try_from(frames.len()).unwrap_or(u32::MAX));
        self.misbehave("push");
        let text = || Event::Text("word".to_owned());
        Ok(match self.deed("push") {
            "early" => vec![text()],
            "twice" => vec![started(), started()],
            "after" => vec![started(), finished(), text()],
            "output" => vec![Event::Text("x".repeat(8 << 20))],
            _ => vec![started(), text()],
        })
    }

    fn close(&self, _how: End) -> Vec<Event> {
        self.misbehave("close");
        match self.deed("close") {
            "never" => Vec::new(),
            "after" => vec![finished(), finished()],
            _ => vec![finished()],
        }
    }
}

impl Run {
    /// What this run does at a call; nothing when it misbehaves elsewhere.
    fn deed(&self, call: &str) -> &str {
        match self.0.split_once(':') {
            Some((at, deed)) if at == call => deed,
            _ => "",
        }
    }

    fn misbehave(&self, call: &str) {
        match self.deed(call) {
            "trap" => std::process::abort(),
            "loop" => spin(),
            "memory" => hoard(),
            "recursion" => drop(black_box(recurse(black_box(0)))),
            _ => {}
        }
    }
}

fn header(name: &str, value: &str) -> Header {
    Header {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn started() -> Event {
    Event::Started(("id".to_owned(), "model".to_owned()))
}

fn finished() -> Event {
    Event::Finished(Finish {
        reason: FinishReason::End,
        raw: "end".to_owned(),
        stop_sequence: None,
        ext: Vec::new(),
    })
}

fn spin() {
    let mut number = 1_u64;
    loop {
        number = black_box(
            number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
}

fn hoard() {
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
