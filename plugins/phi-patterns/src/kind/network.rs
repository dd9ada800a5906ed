//! Addresses of networks: IPv4, IPv6, and the hardware addresses of devices.

use super::{DEVICE_ID, Finding, IP_ADDRESS};
use crate::number::{Gap, Numbers};
use crate::text::{before, byte, byte_before, ends_with, has, is_word};
use phi_text::public;

const IP_WORDS: &[&str] = &[
    "ip", "ipv4", "address", "addr", "host", "client", "from", "remote",
];
/// What has four numbers and dots as well.
const VERSION_WORDS: &[&str] = &[
    "version", "ver", "v", "release", "firmware", "build", "oid", "section", "chapter", "rev",
    "revision",
];
/// Classes of enzymes, by the first number behind `EC`.
const MAX_ENZYME: u8 = 7;

/// Four numbers up to 255 with dots between, and neither version nor object identifier.
pub fn find_v4(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let is_four = (0..3).all(|index| numbers.gap(at + index) == Gap::Dot)
        && (0..4).all(|index| numbers.group(at + index).len() <= 3);
    if !is_four || !numbers.stands_alone(at, at + 3) {
        return None;
    }
    let mut octets = [0; 4];
    for (index, octet) in octets.iter_mut().enumerate() {
        *octet = u8::try_from(numbers.value(at + index)?).ok()?;
    }
    let start = numbers.group(at).start;
    let near = before(numbers.text, start);
    let looks_like_version = octets.iter().all(|octet| *octet < 20);
    let is_enzyme = octets[0] <= MAX_ENZYME && ends_with(near, &["ec"]);
    let is_version =
        is_enzyme || has(near, VERSION_WORDS) || looks_like_version && !has(near, IP_WORDS);
    // `5.6.31.1. Remarks`
    let behind = numbers
        .text
        .get(numbers.group(at + 3).end..)
        .unwrap_or_default();
    let is_section = octets.iter().all(|octet| *octet < 32)
        && matches!(behind, [b'.', b' ', next, ..] if next.is_ascii_uppercase())
        && (start == 0 || byte_before(numbers.text, start) == b'\n');
    let is_joined = is_section || matches!(byte_before(numbers.text, start), b'.' | b'-');
    (!public::is_machine(octets) && !is_version && !is_joined).then_some(Finding::new(
        IP_ADDRESS,
        start,
        numbers.group(at + 3).end,
        900,
    ))
}

/// Groups of hexadecimal digits between colons: eight, or fewer with one `::`.
pub fn find_v6(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    /// Characters of the longest address (RFC 4291, 2.2).
    const MAX_BYTES: usize = 39;
    if end - start > 4 || byte(text, end) != b':' {
        return None;
    }
    let rest = text.get(start..text.len().min(start + MAX_BYTES + 1))?;
    let mut len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit() || **byte == b':')
        .count();
    // One colon behind it belongs to the sentence.
    if len > 1 && byte(rest, len - 1) == b':' && byte(rest, len - 2) != b':' {
        len -= 1;
    }
    let code = rest.get(..len)?;
    let groups = code
        .split(|byte| *byte == b':')
        .filter(|group| !group.is_empty());
    let (mut count, mut longest) = (0, 0);
    for group in groups {
        count += 1;
        longest = longest.max(group.len());
    }
    let gaps = code.windows(2).filter(|pair| pair == b"::").count();
    let fits = longest <= 4
        && (count == 8 && gaps == 0 || (2..8).contains(&count) && gaps == 1 && longest > 2);
    (fits && len <= MAX_BYTES && !is_word(byte(text, start + len))).then_some(Finding::new(
        IP_ADDRESS,
        start,
        start + len,
        900,
    ))
}

/// Six pairs of hexadecimal digits with the same sign between.
pub fn find_mac(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    const BYTES: usize = 17;
    let sign = byte(text, end);
    if end - start != 2 || !matches!(sign, b':' | b'-') {
        return None;
    }
    let code = text.get(start..start + BYTES)?;
    let fits = code.iter().enumerate().all(|(at, byte)| {
        if at % 3 == 2 {
            *byte == sign
        } else {
            byte.is_ascii_hexdigit()
        }
    });
    let is_blank = code.iter().all(|byte| matches!(byte, b'0' | b':' | b'-'))
        || code
            .iter()
            .all(|byte| matches!(byte, b'f' | b'F' | b':' | b'-'));
    let tail = byte(text, start + BYTES);
    (fits && !is_blank && !is_word(tail) && tail != sign).then_some(Finding::new(
        DEVICE_ID,
        start,
        start + BYTES,
        900,
    ))
}
