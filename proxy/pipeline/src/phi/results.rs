//! What deterministic detectors found in a text not long ago: asked again, the same text need not be read again.
//!
//! A request comes again when its tokens are counted before it is sent, when a client retries, when another route is
//! tried; and each turn of a conversation sends all that was said before, under a prompt and with tools that hundreds of
//! others have. So each window of a text is looked up by itself. Offsets, kinds and scores are held, by a keyed hash of
//! the text: never text. The key is made with the process and kept nowhere. Organizations share nothing, so that nobody
//! learns from a fast answer what another has sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use prometheus::IntCounter;
use svc_plugin::{Detector, Failed, PluginError, Reader, Segment, Span, Window, in_order};

use crate::metrics::Metrics;

/// 16 MiB: a few hundred thousand findings.
const CAPACITY_BYTES: u64 = 16 * 1024 * 1024;

/// 10 min: longer than a client retries, or than most people think about what to say next.
const IDLE: Duration = Duration::from_secs(600);

/// What an entry takes beside its spans.
const ENTRY_BYTES: usize = 128;

/// BLAKE3 with a key. Every text is hashed on its way: SHA-256 took 13 us of a request on a processor that has no
/// instructions for it.
type Digest = [u8; blake3::OUT_LEN];

/// Results of all organizations.
pub struct Results {
    key: [u8; blake3::KEY_LEN],
    found: Cache<Digest, Arc<[Span]>>,
    hits: IntCounter,
    misses: IntCounter,
}

impl Results {
    /// Nothing is known yet; at most 16 MiB are held, each until 10 min after it was asked for. Counts into [`Metrics::phi_results`].
    pub fn new(metrics: &Metrics) -> Self {
        Self::with_capacity(metrics, CAPACITY_BYTES)
    }

    fn with_capacity(metrics: &Metrics, bytes: u64) -> Self {
        let weight = |_: &Digest, spans: &Arc<[Span]>| {
            u32::try_from(ENTRY_BYTES + std::mem::size_of_val::<[Span]>(spans)).unwrap_or(u32::MAX)
        };
        let count = |outcome| metrics.phi_results.with_label_values(&[outcome]);
        let found = Cache::builder()
            .max_capacity(bytes)
            .weigher(weight)
            .time_to_idle(IDLE)
            .build();
        Self {
            key: rand::random(),
            found,
            hits: count("hit"),
            misses: count("miss"),
        }
    }

    fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in parts {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

/// Results as one organization may use them.
#[derive(Clone)]
pub struct OwnResults {
    results: Arc<Results>,
    org_id: Arc<str>,
}

impl OwnResults {
    /// The share of one organization.
    pub fn new(results: &Arc<Results>, org_id: &str) -> Self {
        Self {
            results: Arc::clone(results),
            org_id: org_id.into(),
        }
    }

    /// How detectors read a text: those that are deterministic, and no others, by windows that are looked up.
    pub(super) fn plans<'d>(
        &self,
        detectors: impl Iterator<Item = &'d Detector>,
        text: &str,
        segments: &[Segment],
    ) -> Vec<Option<Plan<'_>>> {
        // Most detectors have the same windows.
        let mut contents = HashMap::new();
        detectors
            .map(|detector| {
                // What cannot be read at all is said by whoever reads it.
                let windows = detector.windows(text, segments).ok();
                let windows = windows.filter(|_| detector.deterministic())?;
                let windows = windows.into_iter().map(|window| {
                    let content = contents
                        .entry(window.bounds())
                        .or_insert_with(|| self.content(text, &window));
                    let key = self.results.digest(&[detector.fingerprint(), &*content]);
                    (window, key)
                });
                Some(Plan {
                    results: &self.results,
                    windows: windows.collect(),
                })
            })
            .collect()
    }

    fn content(&self, text: &str, window: &Window) -> Digest {
        let segments = window.stretches();
        let mut places = Vec::with_capacity(segments.len() * SEGMENT_BYTES);
        for Segment { start, end, origin } in segments {
            places.extend((start as u64).to_be_bytes());
            places.extend((end as u64).to_be_bytes());
            places.push(origin as u8);
        }
        let read = window.read(text).unwrap_or_default();
        let parts = [self.org_id.as_bytes(), &places, read.as_bytes()];
        self.results.digest(&parts)
    }
}

/// Start, end, origin.
const SEGMENT_BYTES: usize = 17;

/// The windows in which one detector reads a text, each with its key in the results.
pub(super) struct Plan<'r> {
    results: &'r Results,
    windows: Vec<(Window, Digest)>,
}

/// What a detector finds: what it found in the same text before, where it says that this is the same.
pub(super) async fn detect(
    reader: &mut Reader,
    text: &str,
    segments: &[Segment],
    plan: Option<Plan<'_>>,
) -> Result<Vec<Span>, Failed<PluginError>> {
    let Some(Plan { results, windows }) = plan else {
        return reader.detect(text, segments).await;
    };
    let mut spans = Vec::new();
    for (window, key) in windows {
        // Wherever a window stands, what is found in it stands at the same places of it.
        let start = window.start();
        if let Some(found) = results.found.get(&key) {
            results.hits.inc();
            spans.extend(found.iter().map(|span| moved(span, |at| at + start)));
            continue;
        }
        results.misses.inc();
        let found = reader.read(text, &window).await?;
        let inside = found.iter().map(|span| moved(span, |at| at - start));
        results.found.insert(key, inside.collect());
        spans.extend(found);
    }
    Ok(in_order(spans))
}

fn moved(span: &Span, place: impl Fn(usize) -> usize) -> Span {
    Span {
        start: place(span.start),
        end: place(span.end),
        ..*span
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use prometheus::Registry;
    use svc_core::phi::Origin;
    use svc_plugin::Hints;

    use super::*;

    fn results(bytes: u64) -> Arc<Results> {
        let metrics = Metrics::new(&Registry::new()).unwrap();
        Arc::new(Results::with_capacity(&metrics, bytes))
    }

    fn segment(start: usize, end: usize, origin: Origin) -> Segment {
        Segment { start, end, origin }
    }

    #[test]
    fn only_the_same_text_of_the_same_organization_is_the_same() {
        let results = results(CAPACITY_BYTES);
        let content = |org: &str, text: &str, whole: Segment| {
            OwnResults::new(&results, org).content(text, &Window::of(whole))
        };
        let whole = segment(0, 4, Origin::UserText);
        let first = content("org_a", "text", whole);
        assert_eq!(first, content("org_a", "text", whole));
        // Where it stands is no matter.
        let later = segment(9, 13, Origin::UserText);
        assert_eq!(first, content("org_a", "Some say\ntext", later));
        for other in [
            content("org_b", "text", whole),
            content("org_a", "test", whole),
            content("org_a", "text", segment(0, 3, Origin::UserText)),
            content("org_a", "text", segment(0, 4, Origin::SystemPrompt)),
        ] {
            assert_ne!(first, other);
        }
        // Another process has another key.
        let own = OwnResults::new(&self::results(CAPACITY_BYTES), "org_a");
        assert_ne!(first, own.content("text", &Window::of(whole)));
    }

    #[test]
    fn what_is_held_has_a_bound_in_bytes() {
        let bytes = 64 * 1024;
        let results = results(bytes);
        let span = Span {
            start: 0,
            end: 1,
            kind: 0,
            score: 500,
            hints: Hints::default(),
        };
        for at in 0..1_000_u64 {
            let key = results.digest(&[&at.to_be_bytes()]);
            results.found.insert(key, vec![span; 100].into());
        }
        results.found.run_pending_tasks();
        assert!(results.found.weighted_size() <= bytes);
        assert!(results.found.entry_count() > 0);
    }
}
