//! E-mail addresses: from the `@` outwards, and as they are said, from the `dot com` backwards.

use super::{EMAIL, Finding};
use crate::text::{byte, byte_before, is_word};

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
    let len = rest.iter().take_while(|byte| is_domain(**byte)).count();
    let domain = rest.get(..len)?;
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    let top = domain.iter().rposition(|byte| *byte == b'.')?;
    let top = (top > 0).then(|| domain.get(top + 1..))??;
    let ends = TOPS
        .iter()
        .any(|known| top.eq_ignore_ascii_case(known.as_bytes()));
    let start = at - 1 - local;
    (local > 1 && ends).then_some(Finding::new(EMAIL, start, at + 2 + domain.len(), 850))
}

/// Domains that are said in full. Others do not stand in speech.
const TOPS: [&str; 6] = ["com", "org", "net", "edu", "gov", "us"];

/// `jane dot doe at gmail dot com`, where the `dot com` is `text[dot..end]`.
pub fn find_said(text: &[u8], dot: usize, end: usize) -> Option<Finding> {
    let domain = word_before(text, dot)?;
    let at = word_before(text, domain.0)?;
    let is_at = [&b"at"[..], b"(at)", b"[at]", b"@"].iter().any(|word| {
        text.get(at.0..at.1)
            .is_some_and(|said| said.eq_ignore_ascii_case(word))
    });
    let (mut start, mut first_end) = word_before(text, at.0)?;
    let fits = |start: usize, end: usize| {
        text.get(start..end)
            .is_some_and(|word| !word.is_empty() && word.iter().all(|byte| is_local(*byte)))
    };
    if !is_at || !fits(domain.0, domain.1) || !fits(start, first_end) {
        return None;
    }
    // `jane dot doe`, `jane underscore doe`.
    while let Some(joint) = word_before(text, start)
        && [&b"dot"[..], b"underscore", b"dash", b"hyphen", b"period"]
            .iter()
            .any(|word| {
                text.get(joint.0..joint.1)
                    .is_some_and(|said| said.eq_ignore_ascii_case(word))
            })
        && let Some(part) = word_before(text, joint.0)
        && fits(part.0, part.1)
    {
        (start, first_end) = part;
    }
    let is_word_of_every_day = text.get(start..first_end).is_some_and(|word| {
        ["us", "me", "online", "look", "is", "available", "found"]
            .iter()
            .any(|other| word.eq_ignore_ascii_case(other.as_bytes()))
    });
    (!is_word_of_every_day && end - start <= MAX_LOCAL_BYTES + MAX_DOMAIN_BYTES)
        .then_some(Finding::new(EMAIL, start, end, 850).contextual())
}

/// Where the word stands that ends one space before `at`.
fn word_before(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let end = at.checked_sub(1).filter(|end| byte(text, *end) == b' ')?;
    let head = text.get(end.saturating_sub(MAX_LOCAL_BYTES)..end)?;
    let len = head
        .iter()
        .rev()
        .take_while(|byte| is_word(**byte) || b"._+-()[]@".contains(byte))
        .count();
    (len > 0).then_some((end - len, end))
}

const fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'' | b'&' | b'~')
}

const fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'-' | b'_')
}
