//! What deterministic detectors found in a text not long ago: asked again, the same text need not be read again.
//!
//! A request comes again when its tokens are counted before it is sent, when a client retries, when another route is
//! tried. Offsets, kinds and scores are held, by a keyed hash of the text: never text. The key is made with the process
//! and kept nowhere. Organizations share nothing, so that nobody learns from a fast answer what another has sent.

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use prometheus::IntCounter;
use svc_plugin::{Detector, Failed, PluginError, Reader, Segment, Span};

use crate::metrics::Metrics;

/// 16 MiB: a few hundred thousand findings.
const CAPACITY_BYTES: u64 = 16 * 1024 * 1024;

/// 10 min: longer than a client retries.
const AGE: Duration = Duration::from_secs(600);

/// Longer texts are not looked up: hashing them takes a while, and they come once.
const MAX_TEXT_BYTES: usize = 256 * 1024;

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
    /// Nothing is known yet; at most 16 MiB are held, each for 10 min. Counts into [`Metrics::phi_results`].
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
            .time_to_live(AGE)
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

    /// A text that is about to be read; none where it is not worth looking up.
    pub(super) fn lookup(&self, text: &str, segments: &[Segment]) -> Option<Lookup<'_>> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        let mut places = Vec::with_capacity(segments.len() * SEGMENT_BYTES);
        for Segment { start, end, origin } in segments {
            places.extend((*start as u64).to_be_bytes());
            places.extend((*end as u64).to_be_bytes());
            places.push(*origin as u8);
        }
        let parts = [self.org_id.as_bytes(), &places, text.as_bytes()];
        Some(Lookup {
            results: &self.results,
            content: self.results.digest(&parts),
        })
    }
}

/// Start, end, origin.
const SEGMENT_BYTES: usize = 17;

/// One text in the results.
pub(super) struct Lookup<'r> {
    results: &'r Results,
    content: Digest,
}

impl Lookup<'_> {
    fn key(&self, detector: &Detector) -> Digest {
        self.results
            .digest(&[detector.fingerprint(), &self.content])
    }
}

/// What a detector finds: what it found in the same text before, where it says that this is the same.
pub(super) async fn detect(
    reader: &mut Reader,
    text: &str,
    segments: &[Segment],
    lookup: Option<&Lookup<'_>>,
) -> Result<Arc<[Span]>, Failed<PluginError>> {
    let detector = reader.detector();
    let Some(lookup) = lookup.filter(|_| detector.deterministic()) else {
        return Ok(reader.detect(text, segments).await?.into());
    };
    let key = lookup.key(detector);
    if let Some(spans) = lookup.results.found.get(&key) {
        lookup.results.hits.inc();
        return Ok(spans);
    }
    lookup.results.misses.inc();
    let spans: Arc<[Span]> = reader.detect(text, segments).await?.into();
    lookup.results.found.insert(key, Arc::clone(&spans));
    Ok(spans)
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
        let content = |org: &str, text: &str, segments: &[Segment]| {
            let own = OwnResults::new(&results, org);
            own.lookup(text, segments).unwrap().content
        };
        let whole = [segment(0, 4, Origin::UserText)];
        let first = content("org_a", "text", &whole);
        assert_eq!(first, content("org_a", "text", &whole));
        for other in [
            content("org_b", "text", &whole),
            content("org_a", "texts", &whole),
            content("org_a", "text", &[segment(0, 3, Origin::UserText)]),
            content("org_a", "text", &[segment(0, 4, Origin::SystemPrompt)]),
            content("org_a", "text", &[]),
        ] {
            assert_ne!(first, other);
        }
        // Another process has another key.
        let own = OwnResults::new(&self::results(CAPACITY_BYTES), "org_a");
        assert_ne!(first, own.lookup("text", &whole).unwrap().content);
    }

    #[test]
    fn long_texts_are_read_each_time() {
        let own = OwnResults::new(&results(CAPACITY_BYTES), "org_a");
        assert!(own.lookup(&"x".repeat(MAX_TEXT_BYTES), &[]).is_some());
        assert!(own.lookup(&"x".repeat(MAX_TEXT_BYTES + 1), &[]).is_none());
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
