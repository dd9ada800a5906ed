//! E-mail addresses, from the `@` outwards.

use super::{EMAIL, Finding};
use crate::text::byte;

/// Longest local part and domain (RFC 5321, 4.5.3.1).
const MAX_LOCAL_BYTES: usize = 64;
const MAX_DOMAIN_BYTES: usize = 255;

pub fn find(text: &[u8], at: usize) -> Option<Finding> {
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

const fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'' | b'&' | b'~')
}

const fn is_domain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'-' | b'_')
}
