//! Frozen transcripts in `tests/golden/`: one canonical exchange, and every fault, on each compat surface.
//!
//! A golden file is made once, by running the tests with `SVC_WRITE_GOLDEN=1`; after that a difference is a
//! failure.

use std::fmt::Write as _;
use std::path::Path;

use svc_core::chat::{ChatEvent, FinishReason};
use svc_core::fault::{CATALOGUE, Code};
use svc_core::surface::{ReplyEncoder, Surface, chat_completions, messages, native};

use super::replies::{USAGE, delta, end, finish, start, text, write};

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    #[expect(
        clippy::disallowed_methods,
        reason = "whether to write golden files is for the person at the terminal"
    )]
    let writes = std::env::var_os("SVC_WRITE_GOLDEN").is_some();
    if writes && !path.exists() {
        std::fs::write(&path, text).expect("writing a golden file");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == text,
        "{name} differs.\n--- golden\n{golden}\n--- now\n{text}"
    );
}

/// Reasoning, text, two calls that interleave, one of them with empty arguments.
fn exchange() -> Vec<ChatEvent> {
    vec![
        ChatEvent::Started {
            provider_id: "p".into(),
            provider_model: "m".into(),
        },
        ChatEvent::Usage(USAGE),
        ChatEvent::Reasoning("Two lookups".into()),
        ChatEvent::Reasoning(" will do.".into()),
        ChatEvent::ReasoningSignature("c2ln".into()),
        ChatEvent::RedactedReasoning {
            data: "c2VhbA==".into(),
        },
        text("Let me look: \"\u{e9}\"\n"),
        start(0, "call_a", "weather"),
        delta(0, ""),
        delta(0, "{\"city\":"),
        start(1, "call_b", "clock"),
        delta(1, "{}"),
        end(1),
        delta(0, "\"Bern\"}"),
        end(0),
        ChatEvent::Usage(USAGE),
        ChatEvent::Finished(finish(FinishReason::ToolCalls)),
    ]
}

fn transcript<E: ReplyEncoder + Default>() -> String {
    let written = write::<E>(&exchange(), &finish(FinishReason::ToolCalls));
    let mut failed = Vec::new();
    let mut encoder = E::default();
    encoder.open(&super::replies::head(), &mut failed);
    encoder.event(&text("Half"), &mut failed).unwrap();
    failed.extend_from_slice(encoder.heartbeat());
    let fault = Code::InferenceUpstreamFailure.fault().from_provider();
    encoder.fail(&fault, "req_1", &mut failed);
    format!(
        "--- streamed\n{}--- whole\n{:#}\n--- failed\n{}",
        written.stream,
        written.whole,
        String::from_utf8(failed).unwrap()
    )
}

#[test]
fn one_exchange_on_every_surface() {
    compare("native.txt", &transcript::<native::Encoder>());
    compare("messages.txt", &transcript::<messages::Encoder>());
    compare(
        "chat_completions.txt",
        &transcript::<chat_completions::Encoder>(),
    );
}

#[test]
fn every_fault_on_every_surface() {
    for surface in [Surface::Native, Surface::Messages, Surface::ChatCompletions] {
        let mut text = String::new();
        for row in CATALOGUE {
            let body = surface.error_body(&row.code.fault(), "req_1");
            writeln!(text, "{} {body}", surface.status(row.code)).unwrap();
        }
        compare(&format!("{}_faults.txt", surface.word()), &text);
    }
}
