//! A text as the model sees it: the features of its tokens, and the tags that they should have.

use std::collections::HashMap;

use phi_context::feature::Sequence;
use phi_context::tag::{NOTHING, first, inside};
use phi_context::token::{self, Token, UNKNOWN, shape};
use phi_lexicon::language::Language;

use crate::random::Random;
use crate::text::Text;

/// Texts that a feature must be in to be learnt.
const LEAST_TEXTS: u32 = 2;
/// The number of a feature.
pub type Key = u64;

pub struct Draft {
    source: usize,
    features: Vec<Vec<Key>>,
    tags: Vec<u8>,
}

/// What is learnt from: by token, the numbers of its features.
pub struct Example {
    pub features: Vec<u32>,
    /// Where the features of each token end.
    pub ends: Vec<usize>,
    pub tags: Vec<u8>,
}

impl Draft {
    pub fn of(
        text: &Text,
        language: Language,
        source: usize,
        unsure: usize,
        random: &mut Random,
    ) -> Self {
        let (_, mut tokens, tags) = tagged(text);
        if language == Language::Other {
            tokens.iter_mut().for_each(Token::put_abroad);
        }
        for token in &mut tokens {
            if token.shape < shape::NUMBER
                && token.class & !UNKNOWN != 0
                && random.percent(unsure)
                && is_forgettable(token)
            {
                token.class = UNKNOWN;
            }
        }
        Self {
            source,
            features: features(&tokens),
            tags,
        }
    }
}

/// Words of every day are always known.
const fn is_forgettable(token: &Token) -> bool {
    const COMMON: u16 = 64;
    token.class & COMMON == 0
}

/// The text without marks, its tokens, and their tags.
pub fn tagged(text: &Text) -> (String, Vec<Token>, Vec<u8>) {
    let mut whole = String::new();
    let mut marks = Vec::new();
    for piece in &text.pieces {
        let start = whole.len();
        whole.push_str(&piece.text);
        if let Some(sort) = piece.sort {
            marks.push((start, whole.len(), sort));
        }
    }
    let mut tokens = Vec::new();
    token::read(&whole, 0, whole.len(), &mut tokens);
    let mut last = None;
    let tags = tokens
        .iter()
        .map(|token| {
            let mark = marks
                .iter()
                .position(|(start, end, _)| token.start < *end && token.end > *start);
            let tag = match mark.and_then(|mark| marks.get(mark)) {
                None => NOTHING,
                Some((_, _, sort)) if last == mark => inside(*sort),
                Some((_, _, sort)) => first(*sort),
            };
            last = mark;
            u8::try_from(tag).unwrap_or_default()
        })
        .collect();
    (whole, tokens, tags)
}

pub fn features(tokens: &[Token]) -> Vec<Vec<Key>> {
    let sequence = Sequence::new(tokens);
    (0..tokens.len())
        .map(|at| {
            let mut keys = Vec::with_capacity(48);
            sequence.each(at, |feature| keys.push(feature));
            keys
        })
        .collect()
}

/// Gives numbers to the features that are in texts enough.
pub fn count(drafts: Vec<Draft>) -> (HashMap<Key, u32>, Vec<Example>) {
    let mut seen: HashMap<Key, (usize, u32)> = HashMap::new();
    for draft in &drafts {
        for key in draft.features.iter().flatten() {
            let (last, texts) = seen.entry(*key).or_insert((usize::MAX, 0));
            if *last != draft.source {
                (*last, *texts) = (draft.source, *texts + 1);
            }
        }
    }
    let mut keys: Vec<Key> = seen
        .into_iter()
        .filter(|(_, (_, texts))| *texts >= LEAST_TEXTS)
        .map(|(key, _)| key)
        .collect();
    keys.sort_unstable();
    let alphabet: HashMap<Key, u32> = keys.into_iter().zip(0..).collect();
    let examples = drafts
        .into_iter()
        .map(|draft| {
            let mut example = Example {
                features: Vec::new(),
                ends: Vec::new(),
                tags: draft.tags,
            };
            for keys in &draft.features {
                let numbers = keys.iter().filter_map(|key| alphabet.get(key));
                example.features.extend(numbers);
                example.ends.push(example.features.len());
            }
            example
        })
        .collect();
    (alphabet, examples)
}

impl Example {
    /// Without some of the features of each token, so that no single one is relied on.
    pub fn thinned(&self, random: &mut Random) -> Self {
        const LEFT_OUT: usize = 23;
        let mut features = Vec::with_capacity(self.features.len());
        let mut ends = Vec::with_capacity(self.ends.len());
        let mut from = 0;
        for end in &self.ends {
            let of = self.features.get(from..*end).unwrap_or_default();
            features.extend(of.iter().filter(|_| !random.percent(LEFT_OUT)));
            ends.push(features.len());
            from = *end;
        }
        Self {
            features,
            ends,
            tags: self.tags.clone(),
        }
    }

    /// Without the features that are not kept.
    pub fn keep(&mut self, kept: &[bool]) {
        let mut features = Vec::with_capacity(self.features.len());
        let mut from = 0;
        for end in &mut self.ends {
            let of = self.features.get(from..*end).unwrap_or_default();
            features.extend(
                of.iter()
                    .filter(|feature| kept.get(**feature as usize).is_some_and(|kept| *kept)),
            );
            from = *end;
            *end = features.len();
        }
        self.features = features;
    }
}
