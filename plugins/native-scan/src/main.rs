//! The shipped detectors as ordinary code, without the sandbox: what a call takes, for `tests/bench/scan.rs`, which
//! writes the texts. A tool of the bench; no plugin, and never part of a gateway.
//!
//! `native-scan FOLDER`: each file has texts of one length, apart by a zero byte. Prints `DETECTOR FILE NANOSECONDS`
//! a line, the mean over the texts.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use detector_kit::{Detector, Segment, SegmentOrigin};
use phi_context::Context;
use phi_names::Names;
use phi_patterns::Patterns;

/// As long as one length of text is measured: long enough for calls that nobody disturbed.
const MEASURED: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("native-scan FOLDER")?;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file = std::fs::read_to_string(&path)?;
        let texts: Vec<&str> = file.split('\0').collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for (id, nanoseconds) in [
            (Patterns::ID, measure::<Patterns>(&texts)?),
            (Names::ID, measure::<Names>(&texts)?),
            (Context::ID, measure::<Context>(&texts)?),
        ] {
            println!("{id} {name} {nanoseconds}");
        }
    }
    Ok(())
}

/// Nanoseconds of a call, on average over the texts; of each text the fastest call counts.
fn measure<D: Detector>(texts: &[&str]) -> Result<u128, Box<dyn Error>> {
    let mut best = vec![u128::MAX; texts.len()];
    let began = Instant::now();
    while began.elapsed() < MEASURED {
        for (text, best) in texts.iter().zip(&mut best) {
            let segment = Segment {
                start: 0,
                end: u32::try_from(text.len())?,
                origin: SegmentOrigin::UserText,
            };
            let mut findings = Vec::new();
            let call = Instant::now();
            D::find(text, &[segment], &mut findings);
            *best = call.elapsed().as_nanos().min(*best);
            black_box(findings);
        }
    }
    Ok(best.iter().sum::<u128>() / u128::try_from(texts.len())?)
}
