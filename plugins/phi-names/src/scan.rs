//! One text with its segments: tokens, rules, and then every further mention of the names that were found.

use detector_kit::{Segment, SegmentOrigin, is_behind_its_key, is_definition, part};
use phi_text::fields;

use crate::kind::{ADDRESS, Finding, LOCATION, NAME, PERHAPS_LOCATION};
use crate::sentence::Sentence;
use crate::token::{self, Shape, Token, Writing};
use crate::{abroad, code, field, file_name, foreign, name, nobody, organization, place};
use phi_lexicon::Hash;

/// Words of names whose further mentions are looked for, in one text: more than the longest text has.
const MAX_KNOWN: usize = 65_536;
/// A finding below this score says nothing about other places.
const SURE_SCORE: u16 = 650;
/// Least score of a finding in a tool definition.
const DEFINITION_SCORE: u16 = 850;

/// The tokens of one segment: the first of them, and where they end.
struct Read {
    first: usize,
    end: usize,
    writing: Writing,
}

/// Appends the findings of all segments, sorted by start.
pub fn scan(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
    let mut tokens = Vec::with_capacity(text.len() / 6);
    let mut reads = Vec::with_capacity(segments.len());
    for segment in segments {
        let (start, end) = (segment.start as usize, segment.end as usize);
        let first = tokens.len();
        let writing = token::read(text, start, end, &mut tokens);
        let read = Read {
            first,
            end: tokens.len(),
            writing,
        };
        let from = findings.len();
        rules(&sentence(text, &tokens, &read), findings);
        drop_words(text, from, findings);
        field::find(text, start, end, findings);
        abroad::find(text, start, end, findings);
        file_name::find(text, start, end, findings);
        reads.push(read);
    }
    keyed(text, segments, findings);
    findings.retain(|finding| !is_told_missing(text, finding));
    sort(findings);
    let known = known(text, findings);
    if !known.is_empty() {
        let rules_end = findings.len();
        let mut next = 0;
        for read in &reads {
            let sentence = sentence(text, &tokens, read);
            mentions(&sentence, &known, findings, rules_end, &mut next);
        }
    }
    sort(findings);
    findings.retain(|finding| {
        finding.kind != NAME
            || !code::is_of_program(text, finding) && !code::is_of_card(text, finding)
    });
    drop_samples(text, segments, findings);
    settle_locations(text, findings);
}

/// `city: Field required`: what a library that checks forms says of a field which nobody has filled in. Agents send it
/// back to the model. Behind somebody whose name is Field the sentence goes on.
fn is_told_missing(text: &str, finding: &Finding) -> bool {
    let said = text.get(finding.start..);
    let behind = said.and_then(|said| said.strip_prefix("Field required"));
    behind.is_some_and(|behind| match behind.as_bytes() {
        [] | [b' ', b'[', ..] => true,
        [first, ..] => matches!(first, b'\n' | b'\r') || first.is_ascii_punctuation(),
    })
}

/// Drops names from `from` on that are words of another language, or name nobody where they stand. What a field or a key
/// says is a name stays.
fn drop_words(text: &str, from: usize, findings: &mut Vec<Finding>) {
    let mut at = 0;
    findings.retain(|finding| {
        at += 1;
        at <= from
            || finding.kind != NAME
            || !foreign::is_word(text, finding) && !nobody::is_one(text, finding)
    });
}

/// Segments are in order, so this sorts by segment too.
fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| (finding.start, finding.end));
}

/// Adds what a segment is under the key in the segment before it, or under what those before that say.
fn keyed(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
    for (at, value) in segments.iter().enumerate().skip(1) {
        let earlier = segments.get(..at).unwrap_or_default();
        let is_keyed = earlier
            .last()
            .is_some_and(|key| is_behind_its_key(key, value));
        if !is_keyed || !is_structured(value.origin) {
            continue;
        }
        let (start, end) = (value.start as usize, value.end as usize);
        let earlier = earlier.iter().rev();
        let mut keys = earlier
            .take(fields::MAX_KEYS)
            .map(|key| part(text, key).as_bytes());
        if let Some(label) = fields::keyed(keys.clone()) {
            field::find_value(text, label, start, end, findings);
        } else if let Some(key) = keys.next()
            && key.len() <= fields::MAX_LABEL_BYTES
        {
            field::find_value(text, key, start, end, findings);
        }
    }
}

/// Keys and values are segments of their own, in the order in which they stand.
const fn is_structured(origin: SegmentOrigin) -> bool {
    matches!(
        origin,
        SegmentOrigin::ToolArguments | SegmentOrigin::Metadata | SegmentOrigin::Other
    )
}

/// Of tool definitions only what is sure counts, and is no sample.
fn drop_samples(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
    if !segments.iter().any(|segment| is_definition(segment.origin)) {
        return;
    }
    let mut at = 0;
    // The definition that was read last, and whether it speaks of a person.
    let mut told = None;
    findings.retain(|finding| {
        while segments
            .get(at)
            .is_some_and(|segment| (segment.end as usize) < finding.end)
        {
            at += 1;
        }
        let definition = segments
            .get(at)
            .filter(|segment| is_definition(segment.origin));
        definition.is_none_or(|segment| {
            let speaks_of_a_person = || match told {
                Some((segment, speaks)) if segment == at => speaks,
                _ => told.insert((at, speaks_of_a_person(part(text, segment)))).1,
            };
            finding.score >= DEFINITION_SCORE
                && !is_sample(text, segment, finding, speaks_of_a_person)
        })
    });
}

/// What says that a sample follows.
const SAMPLE_MARKS: &[&str] = &["e.g", "eg", "example", "examples", "such as", "i.e"];
/// Names that stand for anybody.
const ANYBODY: [&[&str]; 2] = [
    &["john", "jane", "joe", "jon"],
    &["doe", "smith", "public", "roe", "bloggs", "citizen"],
];

/// `e.g. Albert Einstein` shows what is meant. Where a definition speaks of patients, only names that stand for anybody
/// are samples.
fn is_sample(
    text: &str,
    segment: &Segment,
    finding: &Finding,
    speaks_of_a_person: impl FnOnce() -> bool,
) -> bool {
    let definition = part(text, segment);
    let Some(start) = finding.start.checked_sub(segment.start as usize) else {
        return false;
    };
    let before = phi_text::text::before(definition.as_bytes(), start);
    let name = text.get(finding.start..finding.end).unwrap_or_default();
    let end = start + name.len();
    let (head, behind) = (definition.get(..start), definition.get(end..));
    let (head, behind) = (head.unwrap_or_default(), behind.unwrap_or_default());
    if finding.kind == NAME && (is_constant(head, name, behind) || is_in_list(head, name, behind)) {
        return true;
    }
    // A value of a schema has nothing around it, and one that is shown has quotes.
    let quotes = ['\'', '"', '`'];
    let is_quoted = head.ends_with(quotes) && behind.starts_with(quotes);
    let is_marked = phi_text::text::has(before, SAMPLE_MARKS);
    let is_shown = is_marked || name == definition || is_quoted;
    is_shown && is_anybody(name) || is_marked && (is_quoted && shows(head) || !speaks_of_a_person())
}

/// `patient name (e.g., 'Emily Davis')`: whether a quote opens right behind what says that a sample follows.
fn shows(head: &str) -> bool {
    let head = head.trim_end_matches(|sign: char| "'\"`: ,.".contains(sign));
    SAMPLE_MARKS.iter().any(|mark| {
        head.len()
            .checked_sub(mark.len())
            .and_then(|at| head.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(mark))
    })
}

/// `SOFIA_PINK`, `MIN_MAX`: a word that a program has for a value.
fn is_constant(head: &str, name: &str, behind: &str) -> bool {
    let is_capital = !name.contains(char::is_lowercase);
    is_capital && (name.contains('_') || head.ends_with('_') || behind.starts_with('_'))
}

/// `(Hertz, Avis, Enterprise)`, `London, Paris or Tokyo`: what looks like a surname before a given name, in a list of
/// more such words.
fn is_in_list(head: &str, name: &str, behind: &str) -> bool {
    let begins_large = |text: &str| text.starts_with(char::is_uppercase);
    let goes_on = [", ", ", or ", ", and ", " or ", " and "]
        .iter()
        .filter_map(|joint| behind.strip_prefix(joint))
        .any(begins_large);
    let follows = head.ends_with(", ");
    let is_short = !name.contains(char::is_lowercase) && behind.starts_with(", ");
    name.contains(", ") && (goes_on || follows || is_short)
}

fn is_anybody(name: &str) -> bool {
    let is_of = |word: &str, all: &[&str]| all.iter().any(|one| one.eq_ignore_ascii_case(word));
    let words = name
        .split(|sign: char| sign.is_ascii_whitespace() || ",^".contains(sign))
        .filter(|word| word.len() > 1);
    let [given, surnames] = ANYBODY;
    let mut words = words.map(|word| (is_of(word, given), is_of(word, surnames)));
    match (words.next(), words.next(), words.next()) {
        (Some((given, of)), Some((other, surname)), None) => given && surname || of && other,
        _ => false,
    }
}

fn speaks_of_a_person(text: &str) -> bool {
    PERSON_WORDS.iter().any(|word| {
        text.as_bytes()
            .windows(word.len())
            .any(|part| part.eq_ignore_ascii_case(word))
    })
}

/// Words that say that a text is about a person.
const PERSON_WORDS: [&[u8]; 6] = [b"patient", b"mrn", b"ssn", b"dob", b"birth", b"member"];

/// Locations that mean something only where a person is spoken of become locations, or go.
fn settle_locations(text: &str, findings: &mut Vec<Finding>) {
    if !findings
        .iter()
        .any(|finding| finding.kind == PERHAPS_LOCATION)
    {
        return;
    }
    let has_person = findings
        .iter()
        .any(|finding| matches!(finding.kind, NAME | ADDRESS))
        || speaks_of_a_person(text);
    if has_person {
        for finding in findings {
            if finding.kind == PERHAPS_LOCATION {
                finding.kind = LOCATION;
            }
        }
    } else {
        findings.retain(|finding| finding.kind != PERHAPS_LOCATION);
    }
}

fn sentence<'t>(text: &'t str, tokens: &'t [Token], read: &Read) -> Sentence<'t> {
    Sentence {
        text,
        tokens: tokens.get(read.first..read.end).unwrap_or_default(),
        writing: read.writing,
    }
}

fn rules(sentence: &Sentence<'_>, findings: &mut Vec<Finding>) {
    let mut at = 0;
    while let Some(token) = sentence.token(at) {
        let found = if token.shape == Shape::Number {
            place::find_street(sentence, at).or_else(|| place::find_zip(sentence, at))
        } else if token.shape == Shape::Lower && sentence.writing == Writing::Cased {
            // Small letters in a cased text: most words by far, and few rules.
            if token.role.is_none()
                && token.class.is_unknown()
                && !name::has_article(token, sentence.text)
            {
                None
            } else {
                name::find_small(sentence, at).or_else(|| place::find_box(sentence, at))
            }
        } else {
            // A facility may bear a name, and a street too: the longer finding is kept by the host.
            let facility =
                organization::find_of(sentence, at).or_else(|| organization::find(sentence, at));
            if let Some((finding, _)) = facility {
                findings.push(finding);
            }
            name::find(sentence, at)
                .or_else(|| place::find_city(sentence, at))
                .or_else(|| place::find_street(sentence, at))
        };
        match found {
            Some((finding, next)) => {
                findings.push(finding);
                at = next.max(at + 1);
            }
            None => at += 1,
        }
    }
}

/// Hashes of the words of all names found, sorted.
fn known(text: &str, findings: &[Finding]) -> Vec<u64> {
    let mut known = Vec::new();
    let names = findings
        .iter()
        .filter(|finding| finding.kind == NAME && finding.score >= SURE_SCORE);
    let mut tokens = Vec::new();
    for finding in names {
        tokens.clear();
        token::read(text, finding.start, finding.end, &mut tokens);
        for token in &tokens {
            let class = token.class_of(text);
            let is_own = token.len() > 2 && token.role.is_none() && !class.is_common();
            if is_own && known.len() < MAX_KNOWN {
                known.push(Hash::new().over(token.text(text)).value());
            }
        }
    }
    known.sort_unstable();
    known.dedup();
    known
}

/// Adds the words of known names where no rule saw them. Tokens and the findings of the rules, which are the first
/// `rules_end`, are walked side by side; `next` is the first finding that was not passed yet.
fn mentions(
    sentence: &Sentence<'_>,
    known: &[u64],
    findings: &mut Vec<Finding>,
    rules_end: usize,
    next: &mut usize,
) {
    let mut covered = 0;
    for (at, token) in sentence.tokens.iter().enumerate() {
        let is_written = match sentence.writing {
            Writing::Cased => token.is_capital(),
            Writing::Uncased => !token.class.is_word(),
        };
        // Haste writes them small: `delgado wants surgery`.
        let is_known = if is_written {
            known.binary_search(&token.hash.value()).is_ok()
        } else if is_in_brackets(sentence, token) {
            is_login(sentence, token, known)
        } else {
            is_small_mention(sentence, token, known)
        };
        if !is_known || token.is_glued {
            continue;
        }
        while let Some(finding) = findings.get(*next).filter(|_| *next < rules_end)
            && finding.start <= token.start
        {
            covered = covered.max(finding.end);
            *next += 1;
        }
        if covered < token.end && !name::is_thing(sentence, at) {
            findings.push(Finding::new(NAME, token.start, token.end, 800).contextual());
        }
    }
}

fn is_in_brackets(sentence: &Sentence<'_>, token: &Token) -> bool {
    let text = sentence.text.as_bytes();
    phi_text::text::byte_before(text, token.start) == b'('
        && phi_text::text::byte(text, token.end) == b')'
}

/// `Kwabena Asante (kasante)`: a known name behind an initial, or alone.
fn is_login(sentence: &Sentence<'_>, token: &Token, known: &[u64]) -> bool {
    const MIN_BYTES: usize = 4;
    let word = token.text(sentence.text);
    [word, word.get(1..).unwrap_or_default()]
        .iter()
        .any(|part| {
            part.len() >= MIN_BYTES && known.binary_search(&Hash::new().over(part).value()).is_ok()
        })
        && !token.class_of(sentence.text).is_word()
}

/// Whether a word in small letters is one of the known names, and no word of the language.
fn is_small_mention(sentence: &Sentence<'_>, token: &Token, known: &[u64]) -> bool {
    const MIN_BYTES: usize = 4;
    token.shape == Shape::Lower
        && token.role.is_none()
        && token.len() >= MIN_BYTES
        && known
            .binary_search(&Hash::new().over(token.text(sentence.text)).value())
            .is_ok()
        && !token.class_of(sentence.text).is_word()
}

#[cfg(test)]
mod tests;
