//! Every target over its committed inputs, and over what becomes of them when bytes are lost or changed. What
//! `make fuzz` has found stays among the inputs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

use std::path::Path;

use svc_fuzz::TARGETS;

/// Bytes that mean something to one decoder or another.
const TELLING: &[u8] = b"\0\n\r\"\\{}[]:,0-e_\xEF\xFF";
/// Changes tried per input, spread evenly over it.
const CHANGES: usize = 200;

/// The inputs of a target by name, in the order of their names.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap())
        })
        .collect();
    inputs.sort();
    inputs
}

/// The input with one byte replaced, one left out, or the rest cut off.
fn changed(input: &[u8], change: usize) -> Vec<u8> {
    let at = change * input.len().max(1) / CHANGES;
    let mut bytes = input.to_vec();
    match (change % 3, bytes.get_mut(at)) {
        (0, Some(byte)) => *byte = TELLING[change / 3 % TELLING.len()],
        (1, Some(_)) => drop(bytes.remove(at)),
        _ => bytes.truncate(at),
    }
    bytes
}

#[test]
fn no_decoder_breaks_a_promise() {
    for target in TARGETS {
        let inputs = inputs(target.name);
        assert!(
            inputs.len() > 2,
            "{} has no inputs to speak of",
            target.name
        );
        for (name, input) in inputs {
            let changes = (0..CHANGES).map(|change| changed(&input, change));
            for bytes in [input.clone()].into_iter().chain(changes) {
                let checked = std::panic::catch_unwind(|| (target.check)(&bytes));
                assert!(
                    checked.is_ok(),
                    "{}/{name}: {:?}",
                    target.name,
                    String::from_utf8_lossy(&bytes)
                );
            }
        }
    }
}

#[test]
fn every_folder_of_inputs_has_a_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for entry in std::fs::read_dir(corpus).unwrap() {
        let name = entry.unwrap().file_name();
        let known = TARGETS.iter().any(|target| *target.name == *name);
        assert!(known, "{name:?}");
    }
}
