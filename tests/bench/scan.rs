//! How fast the shipped detectors read: in their sandbox as the gateway calls them, interruption on, and as ordinary
//! code, over the same texts. Prints a table in Markdown.
//!
//! `scan PLUGINS NATIVE`: the folder of the built plugins, and the program `native-scan` of the guests' workspace.
//! The texts are our own templates of the evaluation of PHI detection: all of them, where every few words are PHI and
//! many texts are tables and messages of interfaces, and the clean ones, prose and code without PHI. What callers send
//! lies between.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool of the bench: what goes wrong ends it, its output is its product, and it measures real time"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_core::phi::Origin;
use svc_core::time::Timestamp;
use svc_plugin::{Ceilings, Detector, HostOptions, PluginHost, Reader, Segment, SignaturePolicy};

const DETECTORS: [&str; 3] = ["phi-patterns", "phi-names", "phi-context"];
/// Bytes of a text: a piece of a reply, a message, a prompt, a note, a document.
const LENGTHS: [usize; 5] = [64, 256, 1024, 8 * 1024, 64 * 1024];
/// Bytes that texts are cut from: more than the longest one has.
const STREAM_BYTES: usize = 192 * 1024;
/// Texts of one length: fewer of the long ones.
const MOST_TEXTS: usize = 64;
const ROUND_BYTES: usize = 256 * 1024;
/// As long as one length of text is measured. Of each text the fastest call counts, which nobody disturbed.
const MEASURED: Duration = Duration::from_secs(1);

/// What the texts are called, and what the names of their groups begin with.
const KINDS: [(&str, &str); 2] = [("dense", ""), ("clean", "clean")];

struct Texts<'t> {
    kind: &'static str,
    length: usize,
    texts: Vec<&'t str>,
}

/// By kind and length of the texts, and detector.
type Took = BTreeMap<(&'static str, usize, &'static str), Call>;

/// What a call takes, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Call {
    native: u128,
    /// On an instance of its own, as the texts of a request.
    fresh: u128,
    /// On an instance that has read before, as the later texts of a reply.
    used: u128,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Cargo adds an argument of its own.
    let [plugins, program] = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .collect::<Vec<_>>()[..]
    else {
        panic!("scan PLUGINS NATIVE");
    };
    let templates = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/phi/templates"
    ));
    let streams = KINDS.map(|(_, group)| stream(templates, group));
    let mut texts: Vec<Texts> = Vec::new();
    for ((kind, _), stream) in KINDS.iter().zip(&streams) {
        texts.extend(LENGTHS.map(|length| Texts {
            kind,
            length,
            texts: cut(stream, length),
        }));
    }
    let mut took: Took = native(program, &texts);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(sandboxed(Path::new(plugins), &texts, &mut took));
    print(&took);
}

/// The templates of the groups with their slots filled, one behind the other, over and over.
fn stream(folder: &Path, group: &str) -> String {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the templates")
        .map(|entry| entry.expect("a template").path())
        .collect();
    paths.sort();
    let mut stream = String::new();
    for path in paths {
        let file = fs::read_to_string(path).expect("a template");
        for template in file.split("=== ").skip(1) {
            let (head, body) = template.split_once('\n').expect("a head and a body");
            if head.starts_with(group) {
                fill(body, &mut stream);
            }
        }
    }
    let once = stream.clone();
    while stream.len() < STREAM_BYTES {
        stream.push_str(&once);
    }
    stream
}

/// Slots are `{{KIND:form}}` or `{{KIND}}`.
fn fill(template: &str, stream: &mut String) {
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (slot, behind) = behind.split_once("}}").expect("the end of a slot");
        let kind = slot.split(':').next().unwrap_or(slot);
        let value = VALUES.iter().find(|(known, _)| *known == kind);
        stream.push_str(before);
        stream.push_str(value.map_or("C48-1107", |(_, value)| value));
        rest = behind;
    }
    stream.push_str(rest);
}

/// One value of each kind; other kinds get a code.
const VALUES: [(&str, &str); 16] = [
    ("NAME", "Beatriz Lindqvist"),
    ("DATE", "03/14/2024"),
    ("AGE_OVER_89", "93"),
    ("PHONE", "(212) 555-0142"),
    ("FAX", "212-555-0143"),
    ("EMAIL", "b.lindqvist@example.org"),
    ("SSN", "219-09-9999"),
    ("MRN", "00482913"),
    ("ADDRESS", "12 Maple Avenue"),
    ("LOCATION", "Duluth"),
    ("STATE", "MN"),
    ("ORGANIZATION", "Lakeside General Hospital"),
    ("CREDIT_CARD", "4111 1111 1111 1111"),
    ("IP_ADDRESS", "203.0.113.54"),
    ("URL", "https://portal.lakeside-clinic.com/u/b"),
    ("VEHICLE_ID", "1M8GDM9AXKP042788"),
];

/// Texts of about `length` bytes from all over the stream.
fn cut(stream: &str, length: usize) -> Vec<&str> {
    let count = (ROUND_BYTES / length).min(MOST_TEXTS);
    let room = stream.len() - length.min(stream.len());
    (0..count)
        .map(|at| {
            let from = stream.floor_char_boundary(room * at / count);
            let to = stream.floor_char_boundary((from + length).min(stream.len()));
            stream.get(from..to).expect("borders of characters")
        })
        .collect()
}

/// What the program without a sandbox says.
fn native(program: &str, texts: &[Texts<'_>]) -> Took {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, texts) in texts.iter().enumerate() {
        let file = folder.path().join(number.to_string());
        fs::write(file, texts.texts.join("\0")).expect("the texts");
    }
    let output = Command::new(program).arg(folder.path()).output();
    let output = output.expect("the native program");
    assert!(output.status.success(), "the native program failed");
    let mut took = Took::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [id, number, nanoseconds] = fields[..] else {
            panic!("a line of three fields, not {line}");
        };
        let texts = number.parse().ok().and_then(|at: usize| texts.get(at));
        let texts = texts.expect("a file that was written");
        let id = DETECTORS.iter().find(|known| **known == id);
        let id = id.expect("a detector that is shipped");
        let call = took.entry((texts.kind, texts.length, id)).or_default();
        call.native = nanoseconds.parse().expect("a time");
    }
    took
}

async fn sandboxed(plugins: &Path, texts: &[Texts<'_>], took: &mut Took) {
    let cache = tempfile::tempdir().expect("a folder");
    let options = HostOptions {
        folder: plugins.to_owned(),
        cache_folder: cache.path().to_owned(),
        signatures: SignaturePolicy::Off,
        trust_roots: Vec::new(),
        ceilings: Ceilings::default(),
        configuration: BTreeMap::new(),
        background: tokio::runtime::Handle::current(),
        now: || Timestamp(0),
    };
    let host = PluginHost::open(options).await.expect("a host");
    for id in DETECTORS {
        let detector = host.detector(id).expect("a detector that is admitted");
        for Texts {
            kind,
            length,
            texts,
        } in texts
        {
            let call = took.entry((kind, *length, id)).or_default();
            call.fresh = fresh(&detector, texts).await;
            call.used = used(&detector, texts).await;
        }
    }
}

async fn fresh(detector: &Arc<Detector>, texts: &[&str]) -> u128 {
    let mut best = vec![u128::MAX; texts.len()];
    let began = Instant::now();
    while began.elapsed() < MEASURED {
        for (text, best) in texts.iter().zip(&mut best) {
            let call = Instant::now();
            let spans = detector.detect(text, &[whole(text)]).await;
            *best = call.elapsed().as_nanos().min(*best);
            spans.expect("an answer");
        }
    }
    best.iter().sum::<u128>() / texts.len() as u128
}

async fn used(detector: &Arc<Detector>, texts: &[&str]) -> u128 {
    let mut best = vec![u128::MAX; texts.len()];
    let began = Instant::now();
    while began.elapsed() < MEASURED {
        // What one instance may give back is bounded over its life.
        let mut reader = Reader::new(Arc::clone(detector));
        for (text, best) in texts.iter().zip(&mut best) {
            let call = Instant::now();
            let spans = reader.detect(text, &[whole(text)]).await;
            *best = call.elapsed().as_nanos().min(*best);
            spans.expect("an answer");
        }
    }
    best.iter().sum::<u128>() / texts.len() as u128
}

fn whole(text: &str) -> Segment {
    Segment {
        start: 0,
        end: text.len(),
        origin: Origin::UserText,
    }
}

/// MB are 10^6 bytes.
fn print(took: &Took) {
    println!(
        "| texts | length | detector | native µs | sandbox µs | used instance µs | native MB/s | sandbox MB/s | used instance MB/s |"
    );
    println!("|---|---:|---|---:|---:|---:|---:|---:|---:|");
    for (kind, _) in KINDS {
        for length in LENGTHS {
            let mut all = Call::default();
            for id in DETECTORS {
                let call = took.get(&(kind, length, id)).copied().unwrap_or_default();
                all.native += call.native;
                all.fresh += call.fresh;
                all.used += call.used;
                row(kind, length, &format!("`{id}`"), call);
            }
            row(kind, length, "all", all);
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "times of a few milliseconds, printed with three digits"
)]
fn row(kind: &str, length: usize, detector: &str, call: Call) {
    let text = if length < 1024 {
        format!("{length} B")
    } else {
        format!("{} KB", length / 1024)
    };
    let Call {
        native,
        fresh,
        used,
    } = call;
    let micros = |nanoseconds: u128| nanoseconds as f64 / 1000.0;
    let rate = |nanoseconds: u128| length as f64 * 1000.0 / nanoseconds.max(1) as f64;
    println!(
        "| {kind} | {text} | {detector} | {:.1} | {:.1} | {:.1} | {:.0} | {:.1} | {:.1} |",
        micros(native),
        micros(fresh),
        micros(used),
        rate(native),
        rate(fresh),
        rate(used),
    );
}
