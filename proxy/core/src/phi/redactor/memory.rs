//! The values that a reply may mention again: those of the request, and those taken out of the reply so far.

use std::collections::HashSet;

use crate::phi::kind::Kind;
use crate::phi::map::PlaceholderMap;
use crate::phi::merge::Finding;
use crate::phi::scan::TextScan;
use crate::phi::sweep::{Known, TooManyMentions, sweep_known};

/// New values before all of them are made ready together again; below that only the new ones are.
const MIN_RECENT: usize = 64;

/// At most about so much of a reply is looked through at once, and seldom more than once.
const PIECE_BYTES: usize = 512;

/// Holds PHI.
pub(super) struct Memory {
    /// All values of the map but the recent ones; absent until it is needed.
    settled: Option<Known>,
    settled_values: usize,
    recent: Vec<(Kind, String)>,
    /// The recent ones; absent until it is needed.
    near: Option<Known>,
    /// Their words, in small letters.
    words: HashSet<String>,
}

impl Memory {
    pub(super) fn of(map: &PlaceholderMap) -> Self {
        let mut memory = Self {
            settled: None,
            settled_values: 0,
            recent: Vec::new(),
            near: None,
            words: HashSet::new(),
        };
        for (_, value) in map.values() {
            memory.learn(value);
        }
        memory
    }

    pub(super) fn words(&self) -> &HashSet<String> {
        &self.words
    }

    /// Adds what is known to what was found.
    pub(super) fn sweep(
        &mut self,
        scan: &TextScan,
        findings: Vec<Finding>,
        map: &PlaceholderMap,
    ) -> Result<Vec<Finding>, TooManyMentions> {
        if self.recent.len() > MIN_RECENT.max(self.settled_values) {
            self.settled = None;
        }
        let settled = match self.settled.take() {
            Some(settled) => settled,
            None => {
                self.settled_values = map.values().count();
                self.recent.clear();
                self.near = None;
                Known::of(map.values(), PIECE_BYTES)?
            }
        };
        let recent = self
            .recent
            .iter()
            .map(|(kind, value)| (kind, value.as_str()));
        let found = findings
            .iter()
            .map(|finding| (&finding.kind, scan.value(finding)));
        let near = match self.near.take().filter(|_| findings.is_empty()) {
            Some(near) => near,
            None => Known::of(recent.chain(found), PIECE_BYTES)?,
        };
        let is_reusable = findings.is_empty();
        let swept = sweep_known(scan, findings, map, &[&settled, &near]);
        self.settled = Some(settled);
        self.near = is_reusable.then_some(near);
        swept
    }

    /// A value was taken out of the reply.
    pub(super) fn add(&mut self, kind: Kind, value: String) {
        self.learn(&value);
        self.recent.push((kind, value));
        self.near = None;
    }

    fn learn(&mut self, value: &str) {
        let words = value.split(|letter: char| !letter.is_alphanumeric());
        self.words
            .extend(words.filter(|word| word.len() > 1).map(str::to_lowercase));
    }
}
