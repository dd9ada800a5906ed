//! E-mail addresses: from the `@` outwards, and as they are said, from the `dot com` backwards.

use super::{EMAIL, Finding};
use crate::text::{byte, byte_before, char_at, char_before, is_word, starts};

/// Longest local part and domain (RFC 5321, 4.5.3.1).
const MAX_LOCAL_BYTES: usize = 64;
const MAX_DOMAIN_BYTES: usize = 255;

pub fn find(text: &[u8], at: usize) -> Option<Finding> {
    if byte_before(text, at) == b' ' && byte(text, at + 1) == b' ' {
        return spaced(text, at);
    }
    let local = text.get(run_start(text, at, is_local)..at)?;
    let local = local.strip_prefix("\u{2019}".as_bytes()).unwrap_or(local);
    // Quotes, slashes and dots before the address belong to the sentence.
    let lead = local
        .iter()
        .take_while(|byte| !(byte.is_ascii_alphanumeric() || **byte >= 0x80))
        .count();
    let start = at - local.len() + lead;
    let domain_start = at + 1;
    let mut domain_end = run_end(text, domain_start, is_domain);
    // `wei@example.中国`: without a top of another script there is none.
    let dot = domain_end - 1;
    let has_no_top = byte(text, dot) == b'.'
        && !text
            .get(domain_start..dot)
            .is_some_and(|domain| domain.contains(&b'.'));
    if has_no_top {
        let end = run_end(text, domain_end, is_domain);
        if end - domain_start <= MAX_DOMAIN_BYTES {
            domain_end = end;
        }
    }
    while domain_end > domain_start && b".-".contains(&byte_before(text, domain_end)) {
        domain_end -= 1;
    }
    let domain = text.get(domain_start..domain_end)?;
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
        && !domain.windows(2).any(|pair| pair == b"..")
        // `members@odata.bind`, a property of OData.
        && !(domain.starts_with(b"odata.") && [&b"bind"[..], b"type", b"id", b"context", b"count"].contains(&top));
    is_address.then_some(Finding::new(EMAIL, start, domain_start + domain_len, 950))
}

/// `nkem.o @ gmail.com`: a name of an account on one side, a domain that mail goes to on the other.
fn spaced(text: &[u8], at: usize) -> Option<Finding> {
    let start = run_start(text, at - 1, is_local);
    let domain_start = at + 2;
    let mut end = run_end(text, domain_start, is_domain);
    // `example . com`.
    while end - domain_start < MAX_DOMAIN_BYTES
        && text.get(end..).is_some_and(|rest| rest.starts_with(b" . "))
        && byte(text, end + 3).is_ascii_lowercase()
    {
        end = run_end(text, end + 3, is_domain);
    }
    let domain = text.get(domain_start..end)?;
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    let top = domain.iter().rposition(|byte| *byte == b'.')?;
    let top = (top > 0).then(|| domain.get(top + 1..))??;
    let top = top.trim_ascii_start();
    let ends = TOPS
        .iter()
        .any(|known| top.eq_ignore_ascii_case(known.as_bytes()));
    let is_address = at - 1 - start > 1 && ends;
    is_address.then_some(Finding::new(EMAIL, start, domain_start + domain.len(), 850))
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
    let domain = text.get(joint.end..run_end(text, joint.end, is_domain))?;
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
        let (start, word_end) = part_before(text, end, is_domain)?;
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
    let start = run_start(text, end, is_part);
    (start < end).then_some((start, end))
}

/// Where the run of `is_part` begins that ends at `end`, as far back as a local part may reach.
fn run_start(text: &[u8], end: usize, is_part: fn(u8) -> bool) -> usize {
    let mut start = end;
    let mut is_unspaced = None;
    while let Some(char) = char_before(text, start)
        && goes_on(char, is_part, &mut is_unspaced)
        && end - start + char.len_utf8() <= MAX_LOCAL_BYTES
    {
        start -= char.len_utf8();
    }
    start
}

/// Where the run of `is_part` ends that begins at `start`, as far as a domain may reach.
fn run_end(text: &[u8], start: usize, is_part: fn(u8) -> bool) -> usize {
    let mut end = start;
    let mut is_unspaced = None;
    while let Some(char) = char_at(text, end)
        && goes_on(char, is_part, &mut is_unspaced)
        && end - start + char.len_utf8() <= MAX_DOMAIN_BYTES
    {
        end += char.len_utf8();
    }
    end
}

/// Whether a run has `char` in it. A script without spaces is the sentence that an address stands in, but where the run
/// begins with it: `用户@例子.公司`.
fn goes_on(char: char, is_part: fn(u8) -> bool, is_unspaced: &mut Option<bool>) -> bool {
    let is_foreign = is_unspaced_script(char);
    let may_be_foreign = *is_unspaced.get_or_insert(is_foreign);
    match u8::try_from(char) {
        Ok(byte) if byte.is_ascii() => is_part(byte),
        // `O’Brien`.
        _ if char == '\u{2019}' => is_part(b'\''),
        _ => (char.is_alphanumeric() || is_mark(char)) && (may_be_foreign || !is_foreign),
    }
}

/// Scripts whose words are not apart, or that hang endings on words of others: Thai, Lao, Burmese, Khmer, and those of
/// China, Japan and Korea.
const fn is_unspaced_script(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..)
}

/// Accents, vowels and tones that are characters of their own: what the blocks of scripts have besides letters, digits
/// and punctuation. Joiners stand between the letters of India and Iran.
const fn is_mark(char: char) -> bool {
    let is_punctuation = matches!(
        char,
        '\u{37e}' | '\u{387}' | '\u{55a}'..='\u{55f}' | '\u{589}'..='\u{58f}' | '\u{5be}' | '\u{5c0}' | '\u{5c3}'
            | '\u{5f3}'..='\u{5f4}' | '\u{600}'..='\u{60f}' | '\u{61b}'..='\u{61f}' | '\u{66a}'..='\u{66d}' | '\u{6d4}'
            | '\u{964}'..='\u{965}' | '\u{970}' | '\u{df4}' | '\u{e3f}' | '\u{e4f}' | '\u{e5a}'..='\u{e5b}'
            | '\u{104a}'..='\u{104f}' | '\u{10fb}' | '\u{1360}'..='\u{1368}' | '\u{1400}' | '\u{166d}'..='\u{1680}'
            | '\u{17d4}'..='\u{17db}' | '\u{1800}'..='\u{180a}'
    );
    let is_in_scripts = matches!(
        char,
        '\u{300}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{3099}' | '\u{309a}'
            | '\u{a000}'..='\u{abff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}'
    );
    is_in_scripts && !is_punctuation
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

const fn is_local(byte: u8) -> bool {
    is_domain(byte) || matches!(byte, b'%' | b'+' | b'\'' | b'&' | b'~')
}

const fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_')
}
