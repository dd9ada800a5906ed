//! One function for each decoder that takes bytes from outside: it feeds the bytes in and panics where a promise of
//! the decoder is broken. `make fuzz` gives them to libFuzzer; `make test` runs them over the committed inputs.
//!
//! Never reads the network, the clock or a file.

#![allow(clippy::panic, reason = "a panic is how a finding is reported")]

mod answer;
mod json;
mod phi;
mod reading;
mod redactor;
mod requests;
mod sse;

/// A decoder under test.
pub struct Target {
    /// Name of the executable and of the folder with its inputs.
    pub name: &'static str,
    pub check: fn(&[u8]),
}

/// Every target, in alphabetical order.
pub static TARGETS: &[Target] = &[
    target("alpha_answer", answer::of_alpha),
    target("alpha_count", answer::count_of_alpha),
    target("beta_answer", answer::of_beta),
    target("chat_completions", requests::chat_completions),
    target("json", json::strict),
    target("messages", requests::messages),
    target("native", requests::native),
    target("patterns", phi::patterns),
    target("phi_map", phi::map),
    target("phi_reading", reading::back_to_the_text),
    target("phi_redactor", redactor::cuts),
    target("phi_reply", phi::reply),
    target("phi_request", phi::request),
    target("sse", sse::framer),
];

const fn target(name: &'static str, check: fn(&[u8])) -> Target {
    Target { name, check }
}

/// Checks one input of the target of this name.
///
/// # Panics
/// When the decoder breaks a promise, or there is no such target.
pub fn run(name: &str, data: &[u8]) {
    match TARGETS.iter().find(|target| target.name == name) {
        Some(target) => (target.check)(data),
        None => panic!("no target {name}"),
    }
}
