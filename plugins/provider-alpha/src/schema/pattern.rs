//! Patterns of texts, of which kind A's grammars have a part.

/// Whether a pattern has only what a grammar can be made of: no look around, no reference back, no edge of a word, and
/// no repetition with a least number and no greatest.
pub(super) fn is_plain_pattern(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        at += match (byte, next) {
            (b'\\', Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b'r' | b't')) => 2,
            (b'\\', Some(escaped)) if escaped.is_ascii_punctuation() => 2,
            (b'{', _) => match repetition(bytes.get(at..).unwrap_or_default()) {
                Some(bytes) => bytes,
                None => return false,
            },
            (b'\\', _) | (b'(', Some(b'?')) => return false,
            _ => 1,
        };
    }
    true
}

/// The bytes of `{2}` or `{2,40}`, of numbers that a grammar can hold.
fn repetition(pattern: &[u8]) -> Option<usize> {
    let length = pattern.iter().position(|byte| *byte == b'}')?;
    let inner = std::str::from_utf8(pattern.get(1..length)?).ok()?;
    let is_small = |number: &str| {
        (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
    (is_small(least) && is_small(most)).then_some(length + 1)
}
