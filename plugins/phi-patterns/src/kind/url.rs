//! Addresses of the web: `https://…`, `www.…`, and `facebook.com/…`. Those of public reference works are left alone.

use super::{Finding, URL};
use phi_text::address::{is_host, is_public};

use crate::text::{byte, byte_before, ends_with, is_border, is_word, starts};

const MAX_BYTES: usize = 2048;

/// From the word that an address begins with, which ends at `word_end`.
pub fn find(text: &[u8], start: usize, word_end: usize) -> Option<Finding> {
    let rest = text.get(word_end..)?;
    let host = if starts(rest, b"://") {
        word_end + 3
    } else if starts(rest, b".")
        && byte(text, word_end + 1).is_ascii_alphanumeric()
        && text.get(start..word_end)?.eq_ignore_ascii_case(b"www")
    {
        // `http.createServer` is none.
        start
    } else {
        return None;
    };
    let end = end(text, host)?;
    let host = text.get(host..end)?;
    let has_host = host.iter().take_while(|byte| is_host(**byte)).count() > 3;
    (has_host && !is_public(host)).then_some(Finding::new(URL, start, end, 900))
}

/// From the dot before a top-level domain with a path behind it.
pub fn find_bare(text: &[u8], dot: usize) -> Option<Finding> {
    let rest = text.get(dot + 1..)?;
    let top = ["com/", "org/", "net/", "edu/", "io/", "me/", "co/"];
    let head = text.get(dot.saturating_sub(64)..dot)?;
    let top = match top.iter().find(|top| starts(rest, top.as_bytes())) {
        Some(top) => top,
        None => short_top(head, rest)?,
    };
    let host_len = head.iter().rev().take_while(|byte| is_host(**byte)).count();
    let start = dot - host_len;
    let is_other = matches!(byte_before(text, start), b'@' | b'/' | b':') || host_len == 0;
    let path = dot + 1 + top.len();
    if is_other || !byte(text, path).is_ascii_alphanumeric() && byte(text, path) != b'@' {
        return None;
    }
    let end = end(text, start)?;
    let is_public = is_public(text.get(start..end)?);
    (!is_public && is_word(byte(text, start))).then_some(Finding::new(URL, start, end, 850))
}

/// The top-level domain of a service that makes addresses short, whose paths lead to anybody's form or file.
fn short_top(head: &[u8], rest: &[u8]) -> Option<&'static &'static str> {
    const SERVICES: [(&str, &str); 10] = [
        ("bit", "ly/"),
        ("ow", "ly/"),
        ("cutt", "ly/"),
        ("rebrand", "ly/"),
        ("t", "ly/"),
        ("forms", "gle/"),
        ("goo", "gl/"),
        ("rb", "gy/"),
        ("is", "gd/"),
        ("1drv", "ms/"),
    ];
    let may_be = matches!(rest, [b'l' | b'L' | b'g' | b'G' | b'm' | b'M', ..]);
    let is_one =
        |(name, top): &&(&str, &str)| starts(rest, top.as_bytes()) && ends_with(head, &[*name]);
    may_be
        .then(|| SERVICES.iter().find(is_one))?
        .map(|(_, top)| top)
}

/// Where the address ends; the signs of the sentence around it are no part of it.
fn end(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..text.len().min(start + MAX_BYTES))?;
    let ends = |byte: &u8| *byte <= b' ' || b"\"<>`|\\^{}".contains(byte);
    let mut len = rest.iter().position(ends).unwrap_or(rest.len());
    // `[![build](https://a.org/b.svg)](https://a.org/c)`.
    let next = rest.get(..len)?.windows(2).position(|pair| pair == b"](");
    len = next.unwrap_or(len);
    while len > 0 && b".,;:!?)]'*".contains(&byte(rest, len - 1)) {
        len -= 1;
    }
    while !is_border(text, start + len) {
        len -= 1;
    }
    (len > 0).then_some(start + len)
}
