//! Values that an organization lists: some always go, some never do.
//!
//! A list knows its values by keyed hash alone. Values are therefore sought by hashing what stands in the text: every
//! run of a few words whose length some listed value has. Nothing here costs anything where there is no list.

use std::collections::HashMap;
use std::ops::Range;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::kind::Kind;
use super::normal;
use super::scan::TextScan;
use super::script::{is_word_alone, weight};

/// Bytes of a list's key and of a digest (HMAC-SHA-256).
pub const DIGEST_BYTES: usize = 32;

/// Of SHA-256 (FIPS 180-4).
const BLOCK_BYTES: usize = 64;

/// Shortest value, in letters and digits (one of Han counts as two): a shorter one is a common word or number somewhere
/// else.
pub const MIN_LISTED_CHARS: usize = 3;

/// Longest normal form, in bytes: one bit of a `u128` per length.
pub const MAX_LISTED_BYTES: usize = 127;

/// Words of one value: an address has about ten.
const MAX_WORDS: usize = 16;

/// Longest gap, in bytes, between two words of one value, as in `Marsh, Helen` or `(415) 823`.
const MAX_GAP_BYTES: usize = 4;

/// A value in the form in which spellings are equal: its letters and digits alone, small. Holds what may be PHI.
pub struct ListedValue(String);

/// Why a value cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unlistable {
    #[error("a listed value has at least {MIN_LISTED_CHARS} letters or digits")]
    TooShort,
    #[error(
        "a listed value has at most {MAX_LISTED_BYTES} bytes of letters and digits and {MAX_WORDS} words"
    )]
    TooLong,
}

impl ListedValue {
    /// The normal form of a value as somebody writes it.
    ///
    /// # Errors
    /// [`Unlistable`], for what could not be told from other text, or never be found.
    pub fn of(written: &str) -> Result<Self, Unlistable> {
        let folded = normal::readings(written).folded;
        let text = folded.as_ref().map_or(written, |folded| folded.text());
        let mut normal = String::new();
        let words = words(text, 0..text.len(), &mut normal);
        if weight(&normal) < MIN_LISTED_CHARS {
            return Err(Unlistable::TooShort);
        }
        let runs = words.iter().filter(|word| !word.is_alone).count();
        if normal.len() > MAX_LISTED_BYTES || runs > MAX_WORDS {
            return Err(Unlistable::TooLong);
        }
        Ok(Self(normal))
    }

    /// Bytes of the normal form, [`MIN_LISTED_CHARS`] to [`MAX_LISTED_BYTES`].
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// What a list keeps of the value.
    pub fn digest(&self, key: &ListKey) -> [u8; DIGEST_BYTES] {
        key.digest(&self.0)
    }
}

/// The key of an organization's lists.
#[derive(Clone)]
pub struct ListKey(Hmac<Sha256>);

impl ListKey {
    /// `key` is the organization's own: digests made with another key are of no use.
    pub fn new(key: &[u8; DIGEST_BYTES]) -> Self {
        // A key shorter than a block of the hash is filled up with zeros (RFC 2104, section 2).
        let mut block = [0; BLOCK_BYTES];
        block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        Self(<Hmac<Sha256> as KeyInit>::new(&block.into()))
    }

    fn digest(&self, normal: &str) -> [u8; DIGEST_BYTES] {
        let mut mac = self.0.clone();
        mac.update(normal.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

/// What a list says of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Is never taken out, unless something longer is.
    Allow,
    /// Always goes, as this kind.
    Deny(Kind),
}

/// The lists of one organization.
pub struct ValueLists {
    key: ListKey,
    entries: HashMap<[u8; DIGEST_BYTES], Listing>,
    /// Which lengths listed values have, as bits.
    lengths: u128,
}

/// One entry as it is stored.
pub struct ListEntry {
    pub digest: [u8; DIGEST_BYTES],
    /// Bytes of the value's normal form.
    pub bytes: usize,
    pub listing: Listing,
}

impl ValueLists {
    /// Lists as they are stored. Entries longer than [`MAX_LISTED_BYTES`] cannot be, and are left out.
    pub fn new(key: ListKey, stored: impl IntoIterator<Item = ListEntry>) -> Self {
        let mut entries = HashMap::new();
        let mut lengths = 0;
        for ListEntry {
            digest,
            bytes,
            listing,
        } in stored
        {
            if bytes <= MAX_LISTED_BYTES {
                lengths |= 1_u128 << bytes;
                entries.insert(digest, listing);
            }
        }
        Self {
            key,
            entries,
            lengths,
        }
    }

    /// Whether nothing is listed: then there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where listed values stand in what detectors read. For each word of the text, at most as many hashes as listed values
    /// have lengths, of runs of at most [`MAX_WORDS`] words; letters that are words by themselves do not count.
    pub fn find(&self, scan: &TextScan) -> Mentions {
        let mut mentions = Mentions::default();
        let (text, segments) = scan.reading();
        let mut normal = String::new();
        let mut allowed = Vec::new();
        for segment in segments {
            normal.clear();
            let words = words(text, segment.start..segment.end, &mut normal);
            for at in 0..words.len() {
                let run = words.get(at..).unwrap_or_default();
                self.find_at(run, &normal, &mut allowed, &mut mentions.denied);
            }
        }
        let allowed = allowed.into_iter().map(|range| with_signs(text, range));
        mentions.allowed = Allowed::of(allowed.collect());
        mentions
    }

    /// Listed values that begin with the first of `words`.
    fn find_at(
        &self,
        words: &[Word],
        normal: &str,
        allowed: &mut Vec<Range<usize>>,
        denied: &mut Vec<(Range<usize>, Kind)>,
    ) {
        let Some(first) = words.first() else {
            return;
        };
        let (mut end, mut runs) = (first.start, 0);
        for (at, word) in words.iter().enumerate() {
            let bytes = word.normal_end - first.normal_start;
            let is_near = at == 0 || word.start - end <= MAX_GAP_BYTES;
            runs += usize::from(!word.is_alone);
            if !is_near || bytes > MAX_LISTED_BYTES || runs > MAX_WORDS {
                return;
            }
            end = word.end;
            if self.lengths & (1 << bytes) == 0 {
                continue;
            }
            let Some(value) = normal.get(first.normal_start..word.normal_end) else {
                return;
            };
            match self.entries.get(&self.key.digest(value)) {
                None => {}
                Some(Listing::Allow) => allowed.push(first.start..end),
                Some(Listing::Deny(kind)) => denied.push((first.start..end, kind.clone())),
            }
        }
    }
}

/// A run of letters and digits: where it stands in the text, and its small form in the normal one.
struct Word {
    /// Whether it is one letter that is a word by itself.
    is_alone: bool,
    start: usize,
    end: usize,
    normal_start: usize,
    normal_end: usize,
}

/// A stretch with the signs around it, as a finding may have some of them: `(212) 555-0100`.
fn with_signs(text: &str, range: Range<usize>) -> Range<usize> {
    let signs = |letters: &mut dyn Iterator<Item = char>| -> usize {
        let signs = letters.take_while(|letter| letter.is_ascii_punctuation());
        signs.take(MAX_GAP_BYTES).count()
    };
    let before = text.get(..range.start).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default();
    range.start - signs(&mut before.chars().rev())..range.end + signs(&mut behind.chars())
}

/// The words of a stretch of text; their normal forms are appended to `normal`, one after another.
fn words(text: &str, range: Range<usize>, normal: &mut String) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let from = range.start;
    let mut is_open = false;
    for (at, letter) in text.get(range).unwrap_or_default().char_indices() {
        if !letter.is_alphanumeric() {
            is_open = false;
            continue;
        }
        let (start, normal_start) = (from + at, normal.len());
        normal.extend(letter.to_lowercase());
        let (end, normal_end) = (start + letter.len_utf8(), normal.len());
        let is_alone = is_word_alone(letter);
        match words.last_mut().filter(|_| is_open && !is_alone) {
            Some(word) => (word.end, word.normal_end) = (end, normal_end),
            None => words.push(Word {
                is_alone,
                start,
                end,
                normal_start,
                normal_end,
            }),
        }
        is_open = !is_alone;
    }
    words
}

/// Where listed values stand, in bytes of [`TextScan::reading`].
#[derive(Default)]
pub struct Mentions {
    /// What stays, unless something longer goes.
    pub allowed: Allowed,
    /// What goes, and as which kind.
    pub denied: Vec<(Range<usize>, Kind)>,
}

/// Stretches of [`TextScan::reading`] that the organization allows.
#[derive(Default)]
pub struct Allowed {
    /// By start; with each the furthest end of those up to it.
    stretches: Vec<(usize, usize)>,
}

impl Allowed {
    fn of(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|range| range.start);
        let mut furthest = 0;
        let stretches = ranges
            .into_iter()
            .map(|range| {
                furthest = range.end.max(furthest);
                (range.start, furthest)
            })
            .collect();
        Self { stretches }
    }

    /// Whether nothing in the text is allowed.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Whether one allowed value covers all of `start..end`.
    pub fn covers(&self, start: usize, end: usize) -> bool {
        let behind = self.stretches.partition_point(|(from, _)| *from <= start);
        let before = behind.checked_sub(1).and_then(|at| self.stretches.get(at));
        before.is_some_and(|(_, furthest)| end <= *furthest)
    }
}
