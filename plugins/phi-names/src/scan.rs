//! One text with its segments: tokens, rules, and then every further mention of the names that were found.

use std::collections::HashSet;

use crate::finding::{ADDRESS, Finding, KINDS, NAME};
use crate::lexicon::Hash;
use crate::sentence::Sentence;
use crate::token::{self, Shape, Token, Writing};
use crate::{field, name, organization, place};

/// Names whose further mentions are looked for, in one text.
const MAX_KNOWN: usize = 4_096;
/// A finding below this score says nothing about other places.
const SURE_SCORE: u16 = 650;

/// A part of the text, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub start: usize,
    pub end: usize,
}

struct Read {
    first: usize,
    end: usize,
    writing: Writing,
}

/// Findings of all parts, in the order of the parts; sorted inside of each.
pub fn scan(text: &str, parts: &[Part]) -> Vec<Vec<Finding>> {
    let mut tokens = Vec::with_capacity(text.len() / 6);
    let mut reads = Vec::with_capacity(parts.len());
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let first = tokens.len();
        let writing = token::read(text, part.start, part.end, &mut tokens);
        let read = Read {
            first,
            end: tokens.len(),
            writing,
        };
        let mut findings = Vec::new();
        rules(&sentence(text, &tokens, &read), &mut findings);
        field::find(text, part.start, part.end, &mut findings);
        reads.push(read);
        all.push(findings);
    }
    let known = known(text, &all);
    for (read, findings) in reads.iter().zip(&mut all) {
        if !known.is_empty() {
            mentions(&sentence(text, &tokens, read), &known, findings);
        }
        findings.sort_by_key(|finding| (finding.start, finding.end));
    }
    all
}

/// Words that say that a text is about a person.
const PERSON_WORDS: [&[u8]; 6] = [b"patient", b"mrn", b"ssn", b"dob", b"birth", b"member"];

/// Drops the findings that mean something only where a person is spoken of, in a text without one.
pub fn drop_lonely(text: &str, all: &mut [Vec<Finding>]) {
    let mut findings = all.iter().flatten();
    if !findings.clone().any(|finding| finding.needs_person) {
        return;
    }
    let has_person = findings.any(|finding| matches!(finding.kind, NAME | ADDRESS))
        || PERSON_WORDS.iter().any(|word| {
            text.as_bytes()
                .windows(word.len())
                .any(|part| part.eq_ignore_ascii_case(word))
        });
    if !has_person {
        for findings in all {
            findings.retain(|finding| !finding.needs_person);
        }
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
        } else if token.shape == Shape::Lower
            && token.role.is_none()
            && sentence.writing == Writing::Cased
            && token.class.is_unknown()
        {
            None
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

/// Hashes of the words of all names found.
fn known(text: &str, all: &[Vec<Finding>]) -> HashSet<u64> {
    let mut known = HashSet::new();
    let names = all
        .iter()
        .flatten()
        .filter(|finding| finding.kind == NAME && finding.score >= SURE_SCORE);
    let mut tokens = Vec::new();
    for finding in names {
        tokens.clear();
        token::read(text, finding.start, finding.end, &mut tokens);
        for token in &tokens {
            let class = token.class_of(text);
            let is_own = token.len() > 2 && token.role.is_none() && !class.is_common();
            if is_own && known.len() < MAX_KNOWN {
                known.insert(Hash::new().over(token.text(text)).value());
            }
        }
    }
    known
}

/// Adds the words of known names where no rule saw them. Tokens and findings are walked side by side.
fn mentions(sentence: &Sentence<'_>, known: &HashSet<u64>, findings: &mut Vec<Finding>) {
    findings.sort_by_key(|finding| (finding.start, finding.end));
    let first = findings.len();
    let (mut next, mut covered) = (0, 0);
    for token in sentence.tokens {
        let is_written = match sentence.writing {
            Writing::Cased => token.is_capital(),
            Writing::Uncased => !token.class.is_word(),
        };
        if !is_written || token.is_glued || !known.contains(&token.hash.value()) {
            continue;
        }
        while let Some(finding) = findings.get(next).filter(|_| next < first)
            && finding.start <= token.start
        {
            covered = covered.max(finding.end);
            next += 1;
        }
        if covered < token.end {
            findings.push(Finding::new(NAME, token.start, token.end, 800).contextual());
        }
    }
}

/// One sample of each kind, and one sentence without any.
pub fn self_test() -> Result<(), String> {
    for (at, sample) in SAMPLES.iter().enumerate() {
        let part = Part {
            start: 0,
            end: sample.len(),
        };
        let found = scan(sample, &[part]);
        if !found.iter().flatten().any(|finding| finding.kind == at) {
            return Err(format!(
                "{} is not found",
                KINDS.get(at).map_or("", |kind| kind.name)
            ));
        }
    }
    let clean =
        "Patient with Parkinson's disease on aspirin, Foley catheter in place, seen in the clinic.";
    if scan(
        clean,
        &[Part {
            start: 0,
            end: clean.len(),
        }],
    )
    .iter()
    .all(Vec::is_empty)
    {
        Ok(())
    } else {
        Err("a sentence without names has a finding".to_owned())
    }
}

/// In the order of `finding::KINDS`.
const SAMPLES: [&str; 4] = [
    "seen by Dr. Kumar today",
    "lives at 12 North Main Street, Apt 4",
    "moved to Boston, MA last year",
    "admitted to Lakeside General Hospital",
];

#[cfg(test)]
mod tests;
