//! Once a value is known, every further mention of it goes, also where no detector saw it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::Origin;
use super::kind::{ENTITY_KINDS, Kind, Spelling, national};
use super::lists::Allowed;
use super::map::PlaceholderMap;
use super::merge::{Claim, Finding, Standing, resolve};
use super::scan::TextScan;
use super::script::{is_word_alone, weight};
use super::token;

/// The request mentions known values more often than text of its length can; refuse it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("known values are mentioned more than {limit} times")]
pub struct TooManyMentions {
    /// Mentions that one request may have, by the length of its text.
    pub limit: usize,
}

/// Mentions kept, per request: more than text of this length can hold apart (`phi.wit` allows detectors
/// 64 + bytes / 4 spans); of letters that are words by themselves, each may begin one.
const MIN_MENTIONS: usize = 1_024;
const BYTES_PER_MENTION: usize = 3;

/// Occurrences looked at, per kept mention: known values that are parts of one another occur at every step.
/// With the bound above, 5 per byte of text: some 25 ms for a megabyte.
const OCCURRENCES_PER_MENTION: usize = 16;

/// Letters and digits of the shortest word that is looked for letter for letter. With what stands between two words, no
/// text has more of them than [`MIN_MENTIONS`] and [`BYTES_PER_MENTION`] allow.
const SHORT_MIN_CHARS: usize = 3;

/// Adds every further mention of the values of `findings` and `map` but the allowed ones, and takes placeholders out
/// of what was found. The result is what is refused, or replaced.
///
/// # Errors
/// [`TooManyMentions`], where looking on would cost too much.
pub fn sweep(
    scan: &TextScan,
    findings: Vec<Finding>,
    map: &PlaceholderMap,
    allowed: &Allowed,
) -> Result<Vec<Finding>, TooManyMentions> {
    let (guessed, told) = guesses(scan, &findings);
    let text_bytes = scan.reading().0.len();
    let known = Known::of(map.values().chain(told), text_bytes)?;
    let mut claims = Vec::new();
    let guessed = Known::of(guessed.into_iter(), text_bytes)?;
    guessed.find_words(scan, Tools::AreLeft, &mut claims)?;
    guessed.find_digits(scan, Tools::AreLeft, &mut claims);
    drop_doubted(scan, &findings, &mut claims);
    swept(scan, findings, map, (&[&known], claims), allowed)
}

/// Scores below are guesses, by the words around a value alone.
const TOLD: u16 = 700;
/// From how many mentions on a guess is doubted, and in how few of them it was found then, one in so many.
struct Doubt {
    mentions: usize,
    found_in: usize,
}

/// Of a word that stands in small letters somewhere.
const OF_WORDS: Doubt = Doubt {
    mentions: 12,
    found_in: 5,
};
/// Of what is written as a name is.
const OF_NAMES: Doubt = Doubt {
    mentions: 20,
    found_in: 10,
};
/// Digits of a value that is no word.
const MANY_DIGITS: usize = 4;

type Value<'f> = (&'f Kind, &'f str);

/// The values that are guesses wherever they were found, and the others.
fn guesses<'f>(scan: &'f TextScan, findings: &'f [Finding]) -> (Vec<Value<'f>>, Vec<Value<'f>>) {
    let values = || {
        findings
            .iter()
            .map(|finding| (finding, (&finding.kind, scan.value(finding))))
    };
    let told: HashSet<Value<'_>> = values()
        .filter(|(finding, _)| finding.score >= TOLD)
        .map(|(_, value)| value)
        .collect();
    let is_guess = |(kind, value): &Value<'_>| {
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        digits < MANY_DIGITS && !told.contains(&(*kind, *value))
    };
    values().map(|(_, value)| value).partition(is_guess)
}

/// A guess at one place is no reason to replace a word at twenty others that the same detector read and passed over:
/// `excludes` in a list of codes. What was found stays found.
fn drop_doubted(scan: &TextScan, findings: &[Finding], claims: &mut Vec<Claim>) {
    if claims.len() < OF_WORDS.mentions {
        return;
    }
    let (text, _) = scan.reading();
    let value = |claim: &Claim| {
        let value = claim.reads.clone().and_then(|reads| text.get(reads));
        (claim.kind.clone(), value.unwrap_or_default().to_lowercase())
    };
    let is_found = |claim: &Claim| {
        let next = findings.partition_point(|finding| finding.end <= claim.start);
        findings
            .get(next)
            .is_some_and(|finding| finding.start < claim.end)
    };
    let mut said: HashMap<(Kind, String), Said> = HashMap::new();
    for claim in claims.iter() {
        let written = claim.reads.clone().and_then(|reads| text.get(reads));
        let said = said.entry(value(claim)).or_default();
        said.mentions += 1;
        said.found += usize::from(is_found(claim));
        said.is_word |= written.is_some_and(begins_small);
    }
    claims.retain(|claim| {
        said.get(&value(claim))
            .is_none_or(|said| !said.is_doubted())
    });
}

/// How often a value is said.
#[derive(Default)]
struct Said {
    mentions: usize,
    found: usize,
    /// In small letters somewhere.
    is_word: bool,
}

impl Said {
    const fn is_doubted(&self) -> bool {
        let doubt = if self.is_word { OF_WORDS } else { OF_NAMES };
        self.mentions >= doubt.mentions && self.found * doubt.found_in < self.mentions
    }
}

/// As [`sweep`], for values that were collected before.
///
/// # Errors
/// As [`sweep`].
pub(super) fn sweep_known(
    scan: &TextScan,
    findings: Vec<Finding>,
    map: &PlaceholderMap,
    known: &[&Known],
) -> Result<Vec<Finding>, TooManyMentions> {
    swept(
        scan,
        findings,
        map,
        (known, Vec::new()),
        &Allowed::default(),
    )
}

/// Which of these values a request mentions outside of its system prompt: kinds, and values as [`said_form`] has them.
///
/// # Errors
/// As [`sweep`].
pub(super) fn mentioned<'v>(
    scan: &TextScan,
    values: impl Iterator<Item = (&'v Kind, &'v str)>,
) -> Result<HashSet<(Kind, String)>, TooManyMentions> {
    let (short, long): (Vec<_>, Vec<_>) = values.partition(|(kind, value)| is_short(kind, value));
    let mut claims = Vec::new();
    let text_bytes = scan.reading().0.len();
    let long = Known::of(long.into_iter(), text_bytes)?;
    for known in [long, Known::of_words(short, text_bytes)?] {
        known.find_words(scan, Tools::Count, &mut claims)?;
        known.find_digits(scan, Tools::Count, &mut claims);
    }
    let (text, _) = scan.reading();
    let said = claims.into_iter().filter_map(|claim| {
        let segment = scan.segments().get(scan.segment_at(claim.start))?;
        let value = text.get(claim.reads?)?;
        let is_operators = segment.origin == Origin::SystemPrompt;
        (!is_operators).then(|| {
            let form = said_form(&claim.kind, value);
            (claim.kind, form)
        })
    });
    Ok(said.collect())
}

/// The form in which a value of a reply and what the caller has said are equal: that of [`Kind::normal`], and every
/// letter as it stands where the value is short.
pub(super) fn said_form(kind: &Kind, value: &str) -> String {
    if is_short(kind, value) {
        value.to_owned()
    } else {
        kind.normal(value)
    }
}

/// Whether a value is a word too short to be looked for everywhere, or a short number with a sign in it (`8/10`): the
/// caller has said it where it stands letter for letter. Plain numbers that short stand in texts for something else, and
/// so do ages, however long they are.
pub(super) fn is_short(kind: &Kind, value: &str) -> bool {
    let chars = weight(value);
    kind.sweep_min_chars().is_some_and(|least| chars < least)
        && (value.contains(char::is_alphabetic) && chars >= SHORT_MIN_CHARS
            || is_divided_number(value))
}

/// `8/10`, `3-4`.
fn is_divided_number(value: &str) -> bool {
    value
        .split_once(['/', '-', '.'])
        .is_some_and(|(first, rest)| {
            let is_digit = |letter: char| letter.is_ascii_digit();
            first.ends_with(is_digit) && rest.starts_with(is_digit)
        })
}

fn swept(
    scan: &TextScan,
    findings: Vec<Finding>,
    map: &PlaceholderMap,
    (known, mut claims): (&[&Known], Vec<Claim>),
    allowed: &Allowed,
) -> Result<Vec<Finding>, TooManyMentions> {
    for known in known {
        known.find_words(scan, Tools::AreLeft, &mut claims)?;
        known.find_digits(scan, Tools::AreLeft, &mut claims);
    }
    if !allowed.is_empty() {
        let covers = |reads: &Range<usize>| allowed.covers(reads.start, reads.end);
        claims.retain(|claim| !claim.reads.as_ref().is_some_and(covers));
    }
    let findings = if claims.is_empty() {
        findings
    } else {
        claims.extend(findings.into_iter().map(|finding| Claim {
            start: finding.start,
            end: finding.end,
            kind: finding.kind,
            standing: Standing {
                refuses: Reverse(finding.refuses),
                score: Reverse(finding.score),
                ..FOUND
            },
            partial: false,
            reads: finding.reads,
        }));
        resolve(scan, claims)
    };
    if findings.is_empty() {
        return Ok(findings);
    }
    let mut tokens = token::tokens(scan.text(), |kind| {
        map.knows_kind(kind) || ENTITY_KINDS.iter().any(|known| known.name == kind)
    });
    tokens.retain(|token| {
        token.number <= token::MAX_LITERAL_NUMBER || map.holds(token.kind.as_str(), token.number)
    });
    Ok(token::divide(scan, &findings, &tokens))
}

/// A detector's finding stands above a mention of equal length.
const FOUND: Standing = Standing {
    refuses: Reverse(false),
    verified: Reverse(true),
    score: Reverse(0),
    detector: 0,
};
const MENTIONED: Standing = Standing {
    refuses: Reverse(false),
    verified: Reverse(false),
    score: Reverse(1_000),
    detector: 0,
};

/// What a single word in a tool definition is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tools {
    /// Definitions are not rewritten, and no word refuses them.
    AreLeft,
    /// A mention like any other: a model may choose what its tool offers.
    Count,
}

/// The values to look for.
pub(super) struct Known {
    words: Vec<(Kind, String)>,
    /// Finds `words`; absent where there are none.
    automaton: Option<AhoCorasick>,
    /// By their digits alone.
    digits: HashMap<String, Kind>,
}

impl Known {
    /// Makes ready to look for values of kinds in texts of so many bytes.
    ///
    /// # Errors
    /// [`TooManyMentions`] where there are too many.
    pub(super) fn of<'v>(
        values: impl Iterator<Item = (&'v Kind, &'v str)>,
        text_bytes: usize,
    ) -> Result<Self, TooManyMentions> {
        let mut digits = HashMap::new();
        let mut written = Vec::new();
        for (kind, value) in values.filter(|(kind, value)| is_sought(kind, value)) {
            match number(kind, value) {
                Some(normal) => {
                    digits.entry(normal).or_insert_with(|| kind.clone());
                    // Right beside something else it is known as it is written.
                    if is_rare(value) {
                        written.push((kind, value));
                    }
                }
                None => written.push((kind, value)),
            }
        }
        Ok(Self {
            digits,
            ..Self::of_words(written, text_bytes)?
        })
    }

    /// As [`Self::of`], for values that are looked for as they are written, however short they are.
    fn of_words<'v>(
        values: impl IntoIterator<Item = (&'v Kind, &'v str)>,
        text_bytes: usize,
    ) -> Result<Self, TooManyMentions> {
        let mut words: Vec<(Kind, String)> = Vec::new();
        // Spellings that differ in case only are found by one pattern; one that begins small finds most.
        let mut spellings: HashMap<(&Kind, String), usize> = HashMap::new();
        for (kind, value) in values {
            let next = words.len();
            let at = *spellings
                .entry((kind, value.to_ascii_lowercase()))
                .or_insert(next);
            match words.get_mut(at) {
                None => words.push((kind.clone(), value.to_owned())),
                Some((_, first)) if begins_small(value) => value.clone_into(first),
                Some(_) => {}
            }
        }
        let automaton = match words.is_empty() {
            true => None,
            // One that cannot be built (too many values for its limits) fails closed too.
            false => AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .kind(kind_for(&words, text_bytes))
                .build(words.iter().map(|(_, value)| value))
                .map(Some)
                .map_err(|_| TooManyMentions {
                    limit: MIN_MENTIONS,
                })?,
        };
        Ok(Self {
            words,
            automaton,
            digits: HashMap::new(),
        })
    }

    /// Mentions as they were written, in any case of ASCII letters.
    fn find_words(
        &self,
        scan: &TextScan,
        tools: Tools,
        claims: &mut Vec<Claim>,
    ) -> Result<(), TooManyMentions> {
        let Some(automaton) = &self.automaton else {
            return Ok(());
        };
        let (text, _) = scan.reading();
        let limit = MIN_MENTIONS + text.len() / BYTES_PER_MENTION;
        for (at, hit) in automaton.find_overlapping_iter(text).enumerate() {
            if claims.len() >= limit || at >= limit * OCCURRENCES_PER_MENTION {
                return Err(TooManyMentions { limit });
            }
            let Some((kind, value)) = self.words.get(hit.pattern().as_usize()) else {
                continue;
            };
            if is_mention(scan, value, hit.start()..hit.end(), tools) {
                claims.extend(mentions(scan, hit.start()..hit.end(), kind));
            }
        }
        Ok(())
    }

    /// Mentions of numbers, however their digits are grouped.
    fn find_digits(&self, scan: &TextScan, tools: Tools, claims: &mut Vec<Claim>) {
        // Which lengths are known, as bits: most numbers of a text have another.
        let lengths = self
            .digits
            .keys()
            .fold(0_u64, |bits, digits| bits | 1 << digits.len());
        if lengths == 0 {
            return;
        }
        let (text, _) = scan.reading();
        let mut run = DigitRun::default();
        for group in digit_groups(text) {
            run.push(text, group);
            // One more digit than known: a country code.
            for (start, digits) in run.endings(MAX_DIGITS + 1) {
                let bit = 1_u64 << digits.len();
                if lengths & (bit | (bit >> 1)) == 0 {
                    continue;
                }
                let kind = self
                    .digits
                    .get(digits)
                    .or_else(|| self.digits.get(national(digits)));
                if let Some(kind) = kind
                    && stands_alone(text, start, group.1)
                    && !(tools == Tools::AreLeft && is_limit(digits) && in_tools(scan, start))
                {
                    claims.extend(mentions(scan, start..group.1, kind));
                }
            }
        }
    }
}

/// Bytes of the longest value that is looked for: nobody says a longer one twice in the same words, and what looks for it
/// would be as large as all that it is looked for in.
const MAX_SOUGHT_BYTES: usize = 256;

/// Whether further mentions of a value are looked for.
fn is_sought(kind: &Kind, value: &str) -> bool {
    value.len() <= MAX_SOUGHT_BYTES
        && kind
            .sweep_min_chars()
            .is_some_and(|least| weight(value) >= least)
}

/// The digits of a value that is found by them alone.
fn number(kind: &Kind, value: &str) -> Option<String> {
    let is_number = matches!(kind.spelling(), Spelling::Digits | Spelling::PhoneDigits);
    let normal = is_number.then(|| kind.normal(value))?;
    let is_plain = normal.bytes().all(|byte| byte.is_ascii_digit());
    (is_plain && normal.len() <= MAX_DIGITS).then_some(normal)
}

/// The words of a text, by their hashes: letters and digits with neither on either side, in small ASCII letters. Says
/// of most values that the text does not mention them, without reading it.
pub(super) struct Words {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl Words {
    pub(super) fn of(scan: &TextScan) -> Self {
        let mut words = Self {
            hashes: HashSet::new(),
            hasher: RandomState::new(),
        };
        let (text, _) = scan.reading();
        let mut small = String::new();
        for word in words_of(text) {
            small.clear();
            small.push_str(word);
            small.make_ascii_lowercase();
            words.hashes.insert(words.hasher.hash_one(small.as_str()));
        }
        words
    }

    /// Whether [`mentioned`] could find a value in the text. A mention stands alone, so that its words, or the groups of
    /// its digits, are words of the text.
    pub(super) fn may_hold(&self, kind: &Kind, value: &str) -> bool {
        let digits = match is_sought(kind, value) {
            true => number(kind, value),
            false if is_short(kind, value) => None,
            false => return false,
        };
        match digits {
            // With a country code, or without.
            Some(digits) => self.may_group(&digits) || self.may_group(&format!("1{digits}")),
            None => words_of(&value.to_ascii_lowercase()).all(|word| self.has(word)),
        }
    }

    fn has(&self, word: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(word))
    }

    /// Whether digits can be put together of words.
    fn may_group(&self, digits: &str) -> bool {
        let mut ends = vec![0];
        for end in 1..=digits.len() {
            let mut starts = ends.iter();
            if starts.any(|start| digits.get(*start..end).is_some_and(|group| self.has(group))) {
                ends.push(end);
            }
        }
        ends.last() == Some(&digits.len())
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.flat_map(apart)
}

/// A run of letters and digits as words: each letter that is one by itself, and what stands between these.
fn apart(mut run: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let first = if run.is_ascii() {
            None
        } else {
            run.find(is_word_alone)
        };
        let end = match first {
            Some(0) => run.chars().next().map_or(0, char::len_utf8),
            Some(at) => at,
            None => run.len(),
        };
        let (word, rest) = run.split_at_checked(end)?;
        run = rest;
        (!word.is_empty()).then_some(word)
    })
}

/// A mention, cut where it runs from one segment into the next.
fn mentions(scan: &TextScan, reads: Range<usize>, kind: &Kind) -> impl Iterator<Item = Claim> {
    scan.pieces(reads).into_iter().map(|piece| Claim {
        start: piece.source.start,
        end: piece.source.end,
        kind: kind.clone(),
        standing: MENTIONED,
        partial: false,
        reads: Some(piece.reads),
    })
}

/// Whether an occurrence of `value` is the value and no other word. A single word is no mention where it
/// begins small and the value does not ("Will", "will"), nor in a tool definition where that is left alone.
fn is_mention(scan: &TextScan, value: &str, at: Range<usize>, tools: Tools) -> bool {
    let (text, _) = scan.reading();
    let Range { start, end } = at;
    // What the caller has said stands alone.
    let may_be_beside = || tools == Tools::AreLeft && is_rare(value);
    let stands =
        stands_alone(text, start, end) || may_be_beside() && is_between_others(text, start, end);
    if !stands {
        return false;
    }
    if value.contains(|c: char| !c.is_alphabetic()) {
        let is_sample = || {
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
            is_made_up(value) || is_number && is_limit(value)
        };
        return !(tools == Tools::AreLeft && is_sample() && in_tools(scan, start));
    }
    let occurrence = text.get(start..end).unwrap_or_default();
    let is_left = tools == Tools::AreLeft && in_tools(scan, start);
    !is_left && (begins_small(value) || !begins_small(occurrence))
}

fn in_tools(scan: &TextScan, start: usize) -> bool {
    scan.tools().contains(&scan.segment_behind(start))
}

/// What stands in definitions to show a form, whoever else is called so or writes there.
fn is_made_up(value: &str) -> bool {
    const DOMAINS: [&str; 3] = ["@example.com", "@example.org", "@example.net"];
    let value = value.to_lowercase();
    DOMAINS.iter().any(|domain| value.ends_with(domain))
        || matches!(
            value.as_str(),
            "john doe" | "jane doe" | "john smith" | "jane smith" | "123-45-6789"
        )
}

/// A number that a schema has for a limit or a default, or that counts up: `30000`, `65535`, `123456789`.
fn is_limit(digits: &str) -> bool {
    const SHORT: usize = 5;
    let counts = digits.as_bytes().windows(2);
    let mut counts =
        counts.map(|pair| matches!(pair, [a, b] if a + 1 == *b || (*a, *b) == (b'9', b'0')));
    digits.len() <= SHORT || digits.ends_with("000") || counts.all(|counts| counts)
}

fn begins_small(word: &str) -> bool {
    word.starts_with(char::is_lowercase)
}

/// Whether no letter or digit continues the text on either side, but for letters that are words by themselves.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let (before, rest) = text.split_at_checked(start).unwrap_or_default();
    let (value, after) = rest.split_at_checked(end - start).unwrap_or_default();
    let goes_on = |beside: Option<char>, edge: Option<char>| {
        beside.is_some_and(|beside| beside.is_alphanumeric() && !is_word_alone(beside))
            && !edge.is_some_and(is_word_alone)
    };
    !goes_on(before.chars().next_back(), value.chars().next())
        && !goes_on(after.chars().next(), value.chars().next_back())
}

/// Letters and digits of a value that stands by chance in no text.
const RARE_CHARS: usize = 6;

/// Whether a value is nobody else's, so that it is meant also where a model has put it right beside something:
/// `chart[MRN_1]` comes back as `chart4471223`. A number of enough digits, or words that begin with capitals.
fn is_rare(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let mut words = value.split_whitespace();
    let is_named = |word: &str| word.starts_with(char::is_uppercase) && word.len() > 1;
    digits >= RARE_CHARS
        || weight(value) >= RARE_CHARS && words.clone().count() > 1 && words.all(is_named)
}

/// Whether what stands right beside an occurrence is of another sort: a letter beside a digit, a capital behind a small
/// letter. Digits beside digits are other numbers, but for those with signs in them, which no longer one has.
fn is_between_others(text: &str, start: usize, end: usize) -> bool {
    let (before, rest) = text.split_at_checked(start).unwrap_or_default();
    let (value, after) = rest.split_at_checked(end - start).unwrap_or_default();
    let is_divided = value
        .bytes()
        .filter(|byte| !byte.is_ascii_alphanumeric())
        .count()
        > 1;
    let ends_between = |left: Option<char>, right: Option<char>| match (left, right) {
        (Some(left), Some(right)) if left.is_alphanumeric() && right.is_alphanumeric() => {
            let are_numeric = (left.is_numeric(), right.is_numeric());
            match are_numeric {
                (true, true) => is_divided,
                (false, false) => left.is_lowercase() && right.is_uppercase(),
                _ => true,
            }
        }
        _ => true,
    };
    ends_between(before.chars().next_back(), value.chars().next())
        && ends_between(value.chars().next_back(), after.chars().next())
}

/// Which of these values stand in a text, by themselves; nothing where they are too many to be looked for.
pub(super) fn stand_in(text: &str, values: &[&str]) -> Option<HashSet<usize>> {
    if values.is_empty() {
        return Some(HashSet::new());
    }
    let automaton = AhoCorasick::new(values).ok()?;
    let hits = automaton.find_overlapping_iter(text);
    let alone = hits.filter(|hit| stands_alone(text, hit.start(), hit.end()));
    Some(alone.map(|hit| hit.pattern().as_usize()).collect())
}

/// The automaton that is made soonest, for a text that is short beside the words; `None` for the one that reads fastest.
fn kind_for(words: &[(Kind, String)], text_bytes: usize) -> Option<AhoCorasickKind> {
    /// From so many times their length on, a text is read faster by so much that it was worth making.
    const WORTH: usize = 16;
    let bytes: usize = words.iter().map(|(_, word)| word.len()).sum();
    (text_bytes / WORTH <= bytes).then_some(AhoCorasickKind::ContiguousNFA)
}

/// Runs of ASCII digits, as start and end.
fn digit_groups(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..)?;
        let start = at + rest.iter().position(u8::is_ascii_digit)?;
        let rest = bytes.get(start..)?;
        let length = rest.iter().position(|byte| !byte.is_ascii_digit());
        let end = start + length.unwrap_or(rest.len());
        at = end;
        Some((start, end))
    })
}

/// Longest number, in digits, that is found however it is grouped; cards have 19 (ISO/IEC 7812).
const MAX_DIGITS: usize = 32;

/// Longest gap, in bytes, between two groups of one number, as in `(212) 555`.
const MAX_GAP_BYTES: usize = 2;

/// Groups that could together be one number.
#[derive(Default)]
struct DigitRun {
    digits: String,
    /// Where each group starts: in the text and in `digits`.
    groups: Vec<(usize, usize)>,
    end: usize,
}

impl DigitRun {
    fn push(&mut self, text: &str, (start, end): (usize, usize)) {
        let gap = text.get(self.end..start).unwrap_or_default();
        let continues =
            gap.len() <= MAX_GAP_BYTES && gap.bytes().all(|byte| b" -.()/".contains(&byte));
        if !continues {
            self.digits.clear();
            self.groups.clear();
        }
        self.groups.push((start, self.digits.len()));
        self.digits
            .push_str(text.get(start..end).unwrap_or_default());
        self.end = end;
    }

    /// The numbers of at most `longest` digits that end with the last group, with their start in the text.
    fn endings(&self, longest: usize) -> impl Iterator<Item = (usize, &str)> {
        self.groups
            .iter()
            .rev()
            .map(|(start, offset)| (*start, self.digits.get(*offset..).unwrap_or_default()))
            .take_while(move |(_, digits)| digits.len() <= longest)
    }
}
