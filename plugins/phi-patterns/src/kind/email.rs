//! E-mail addresses: from the `@` outwards, and as they are said, from the `dot com` backwards.

use super::{EMAIL, Finding};
use crate::text::{byte, byte_before, is_word, starts};

/// Longest local part and domain (RFC 5321, 4.5.3.1).
const MAX_LOCAL_BYTES: usize = 64;
const MAX_DOMAIN_BYTES: usize = 255;

pub fn find(text: &[u8], at: usize) -> Option<Finding> {
    if byte_before(text, at) == b' ' && byte(text, at + 1) == b' ' {
        return spaced(text, at);
    }
    let head = text.get(at.saturating_sub(MAX_LOCAL_BYTES)..at)?;
    let local_len = head
        .iter()
        .rev()
        .take_while(|byte| is_local(**byte))
        .count();
    let local = head.get(head.len() - local_len..)?;
    // Quotes, slashes and dots before the address belong to the sentence.
    let lead = local
        .iter()
        .take_while(|byte| !(byte.is_ascii_alphanumeric() || **byte >= 0x80))
        .count();
    let start = at - local_len + lead;
    let domain_start = at + 1;
    let rest = text.get(domain_start..text.len().min(domain_start + MAX_DOMAIN_BYTES))?;
    let mut domain_len = rest.iter().take_while(|byte| is_domain(**byte)).count();
    while domain_len > 0 && b".-".contains(&byte(rest, domain_len - 1)) {
        domain_len -= 1;
    }
    let domain = rest.get(..domain_len)?;
    let last_dot = domain.iter().rposition(|byte| *byte == b'.')?;
    // Only labels below the first may have an underscore: behind it goes something else, `jane@lakeside.org_old`.
    let top = domain.get(last_dot + 1..)?;
    let top = top.split(|byte| *byte == b'_').next()?;
    let domain_len = last_dot + 1 + top.len();
    let is_address = start < at
        && last_dot > 0
        && byte(domain, 0) != b'.'
        && top.len() >= 2
        && top
            .iter()
            .all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80)
        && !domain.windows(2).any(|pair| pair == b"..");
    is_address.then_some(Finding::new(EMAIL, start, domain_start + domain_len, 950))
}

/// `nkem.o @ gmail.com`: a name of an account on one side, a domain that mail goes to on the other.
fn spaced(text: &[u8], at: usize) -> Option<Finding> {
    let head = text.get(..at - 1)?;
    let local = head
        .iter()
        .rev()
        .take(MAX_LOCAL_BYTES)
        .take_while(|byte| is_local(**byte))
        .count();
    let rest = text.get(at + 2..text.len().min(at + 2 + MAX_DOMAIN_BYTES))?;
    let mut len = rest.iter().take_while(|byte| is_domain(**byte)).count();
    // `example . com`.
    while rest.get(len..).is_some_and(|rest| rest.starts_with(b" . "))
        && let Some(part) = rest.get(len + 3..)
        && byte(part, 0).is_ascii_lowercase()
    {
        len += 3 + part.iter().take_while(|byte| is_domain(**byte)).count();
    }
    let domain = rest.get(..len)?;
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    let top = domain.iter().rposition(|byte| *byte == b'.')?;
    let top = (top > 0).then(|| domain.get(top + 1..))??;
    let top = top.trim_ascii_start();
    let ends = TOPS
        .iter()
        .any(|known| top.eq_ignore_ascii_case(known.as_bytes()));
    let start = at - 1 - local;
    (local > 1 && ends).then_some(Finding::new(EMAIL, start, at + 2 + domain.len(), 850))
}

/// Domains that are said in full. Others do not stand in speech.
const TOPS: [&str; 6] = ["com", "org", "net", "edu", "gov", "us"];

/// From the `dot` before the last word of a domain, or from the `at` between brackets: `jane dot doe at gmail dot com`,
/// `jane[at]gmail[dot]com`, `jane (at) gmail.com`.
pub fn find_said(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let joint = Joint::around(text, at, end)?;
    if starts(text.get(at..)?, b"at") {
        return find_marked_at(text, &joint);
    }
    let top_len = letters_len(text, joint.end);
    let top = text.get(joint.end..joint.end + top_len)?;
    let is_known = TOPS
        .iter()
        .any(|known| top.eq_ignore_ascii_case(known.as_bytes()));
    let is_top = is_known || joint.is_marked && MARKED_TOP.contains(&top_len);
    let end = joint.end + top_len;
    if !is_top || is_word(byte(text, end)) || Joint::behind(text, end, DOTS).is_some() {
        return None;
    }
    let (first, local_end) = address_before(text, joint.start)?;
    let is_word_of_every_day = !joint.is_marked
        && text.get(first..local_end).is_some_and(|word| {
            EVERY_DAY
                .iter()
                .any(|other| word.eq_ignore_ascii_case(other.as_bytes()))
        });
    (!is_word_of_every_day && end - first <= MAX_LOCAL_BYTES + MAX_DOMAIN_BYTES)
        .then_some(Finding::new(EMAIL, first, end, 850).contextual())
}

/// Letters of a top-level domain that brackets mark.
const MARKED_TOP: std::ops::RangeInclusive<usize> = 2..=6;
const EVERY_DAY: [&str; 7] = ["us", "me", "online", "look", "is", "available", "found"];
/// How the sign between a name and its domain is said, and those inside of them.
const ATS: &[&str] = &["at", "@"];
const DOTS: &[&str] = &["dot"];
const SIGNS: &[&str] = &["dot", "underscore", "dash", "hyphen", "period", "plus"];

/// `jane (at) gmail.com`; what is said behind the domain is found from its last `dot`.
fn find_marked_at(text: &[u8], joint: &Joint) -> Option<Finding> {
    let rest = text.get(joint.end..)?;
    let len = rest.iter().take_while(|byte| is_domain(**byte)).count();
    let domain = rest.get(..len)?;
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    // `items[at].name` is code.
    let dot = domain.iter().rposition(|byte| *byte == b'.')?;
    let top = domain.get(dot + 1..)?;
    let is_top =
        byte(domain, 0) != b'.' && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic);
    let (start, _) = part_before(text, joint.start, is_local)?;
    (joint.is_marked && dot > 0 && is_top).then_some(Finding::new(
        EMAIL,
        start,
        joint.end + domain.len(),
        850,
    ))
}

/// Where the address begins whose domain ends at `end`, and where the first word of its name ends.
fn address_before(text: &[u8], end: usize) -> Option<(usize, usize)> {
    /// Words of a domain, and of a name.
    const MAX_WORDS: usize = 6;
    let mut end = end;
    for _ in 0..MAX_WORDS {
        let (start, word_end) = part_before(text, end, is_domain_word)?;
        if matches!(text.get(start..word_end)?, b"the" | b"a") {
            return None;
        }
        if byte_before(text, start) == b'@' {
            return part_before(text, start - 1, is_local);
        }
        if let Some(at) = Joint::before(text, start, ATS) {
            return local_before(text, at.start);
        }
        end = Joint::before(text, start, DOTS)?.start;
    }
    None
}

/// Where the name begins that ends at `end`, and where its first word ends: `jane dot doe`.
fn local_before(text: &[u8], end: usize) -> Option<(usize, usize)> {
    let mut found = part_before(text, end, is_local)?;
    while let Some(joint) = Joint::before(text, found.0, SIGNS)
        && let Some(part) = part_before(text, joint.start, is_local)
    {
        found = part;
    }
    Some(found)
}

/// The signs of one kind that end at `end`.
fn part_before(text: &[u8], end: usize, is_part: fn(u8) -> bool) -> Option<(usize, usize)> {
    let head = text.get(end.saturating_sub(MAX_LOCAL_BYTES)..end)?;
    let len = head.iter().rev().take_while(|byte| is_part(**byte)).count();
    (len > 0).then_some((end - len, end))
}

/// A word in the place of a sign, with what sets it apart: ` dot `, `[dot]`, ` (at) `.
struct Joint {
    start: usize,
    end: usize,
    /// Whether brackets are around it.
    is_marked: bool,
}

impl Joint {
    /// Around the word at `at..end`; nothing where it is a part of another one.
    fn around(text: &[u8], at: usize, end: usize) -> Option<Self> {
        let opens = matches!(byte_before(text, at), b'[' | b'(' | b'{' | b'<');
        let closes = matches!(byte(text, end), b']' | b')' | b'}' | b'>');
        let (mut start, mut end) = (at - usize::from(opens), end + usize::from(closes));
        let is_spaced = byte_before(text, start) == b' ' && byte(text, end) == b' ';
        start -= usize::from(byte_before(text, start) == b' ');
        end += usize::from(byte(text, end) == b' ');
        let is_marked = opens && closes;
        (is_marked || is_spaced && !opens && !closes).then_some(Self {
            start,
            end,
            is_marked,
        })
    }

    /// The one of `words` that ends before `end`.
    fn before(text: &[u8], end: usize, words: &[&str]) -> Option<Self> {
        let mut at = end - usize::from(byte_before(text, end) == b' ');
        at -= usize::from(matches!(byte_before(text, at), b']' | b')' | b'}' | b'>'));
        let head = text.get(..at)?;
        let word = words.iter().find(|word| {
            let from = head.len().checked_sub(word.len());
            from.is_some_and(|from| starts(head.get(from..).unwrap_or_default(), word.as_bytes()))
        })?;
        Self::around(text, at - word.len(), at)
    }

    /// The one of `words` that begins behind `start`.
    fn behind(text: &[u8], start: usize, words: &[&str]) -> Option<Self> {
        let mut at = start + usize::from(byte(text, start) == b' ');
        at += usize::from(matches!(byte(text, at), b'[' | b'(' | b'{' | b'<'));
        let rest = text.get(at..)?;
        let word = words.iter().find(|word| starts(rest, word.as_bytes()))?;
        let joint = Self::around(text, at, at + word.len())?;
        is_word(byte(text, joint.end)).then_some(joint)
    }
}

fn letters_len(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count()
}

const fn is_domain_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'-' | b'_' | b'.')
}

const fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'' | b'&' | b'~')
}

const fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'-' | b'_')
}
