//! Words around a place, without allocation and without regard to case.

/// Bytes that a deciding word may be away.
pub const NEAR_BYTES: usize = 40;

/// The text before `at`, as far as it is near.
pub fn before(text: &[u8], at: usize) -> &[u8] {
    text.get(at.saturating_sub(NEAR_BYTES)..at)
        .unwrap_or_default()
}

/// The text from `at` on, as far as it is near.
pub fn after(text: &[u8], at: usize) -> &[u8] {
    text.get(at..text.len().min(at + NEAR_BYTES))
        .unwrap_or_default()
}

/// The byte at `at`, or 0 beyond either end.
pub fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The byte before `at`, or 0 at the start.
pub fn byte_before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |at| byte(text, at))
}

/// The character that begins at `at`.
pub fn char_at(text: &[u8], at: usize) -> Option<char> {
    let part = text.get(at..text.len().min(at + MAX_CHAR_BYTES))?;
    part.utf8_chunks().next()?.valid().chars().next()
}

/// The character that ends at `end`.
pub fn char_before(text: &[u8], end: usize) -> Option<char> {
    let mut starts = (1..=MAX_CHAR_BYTES).filter_map(|len| end.checked_sub(len));
    let start = starts.find(|at| is_border(text, *at))?;
    std::str::from_utf8(text.get(start..end)?)
        .ok()?
        .chars()
        .next()
}

/// Whether no character goes on at `at`.
pub fn is_border(text: &[u8], at: usize) -> bool {
    byte(text, at) & 0xc0 != 0x80
}

/// Bytes of the longest character in UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// Letters, digits and the bytes of non-ASCII characters.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Where the last of `words` ends in `text`. One counts where no letter or digit stands before it and no letter of
/// ASCII behind it: a digit may, as in `SSN1`. Words are in small letters and begin with one.
pub fn last_of(text: &[u8], words: &[&str]) -> Option<usize> {
    let mut found = None;
    let mut is_inside = false;
    for (at, first) in text.iter().enumerate() {
        let begins = !std::mem::replace(&mut is_inside, is_word(*first)) && is_inside;
        if begins && let Some(end) = longest_at(text, at, first.to_ascii_lowercase(), words) {
            found = found.max(Some(end));
        }
    }
    found
}

/// Where the longest of `words` ends that stands at `at`, where the letter `first` is.
fn longest_at(text: &[u8], at: usize, first: u8, words: &[&str]) -> Option<usize> {
    let rest = text.get(at..)?;
    let is_here = |word: &&&str| {
        let word = word.as_bytes();
        word.first() == Some(&first)
            && starts(rest, word)
            && !(word.last().is_some_and(|last| is_word(*last))
                && byte(rest, word.len()).is_ascii_alphabetic())
    };
    words
        .iter()
        .filter(is_here)
        .map(|word| at + word.len())
        .max()
}

/// Whether one of `words` stands in `text`, as [`last_of`] counts.
pub fn has(text: &[u8], words: &[&str]) -> bool {
    last_of(text, words).is_some()
}

/// Whether `text`, behind white space, begins with one of `words` as a whole word.
pub fn begins_with(text: &[u8], words: &[&str]) -> bool {
    let text = text.trim_ascii_start();
    words.iter().any(|word| {
        starts(text, word.as_bytes()) && !(is_word_end(word) && is_word(byte(text, word.len())))
    })
}

/// Whether `text`, without the white space at its end, ends with one of `words` as a whole word.
pub fn ends_with(text: &[u8], words: &[&str]) -> bool {
    let text = text.trim_ascii_end();
    words.iter().any(|word| {
        let word = word.trim_ascii_end().as_bytes();
        text.len().checked_sub(word.len()).is_some_and(|at| {
            starts(text.get(at..).unwrap_or_default(), word)
                && !(word.first().is_some_and(|first| is_word(*first))
                    && is_word(byte_before(text, at)))
        })
    })
}

/// Whether `text` starts with `word` (lower case), whatever the case.
pub fn starts(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn is_word_end(word: &str) -> bool {
    word.bytes()
        .last()
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_the_last_one_counts() {
        assert_eq!(last_of(b"Fax or phone: ", &["fax", "phone"]), Some(12));
        assert!(!has(b"telefax", &["fax"]));
        assert!(has(b"SSN1", &["ssn"]));
        assert!(begins_with(b"  MG daily", &["mg"]));
        assert!(!begins_with(b" mgr", &["mg"]));
        assert!(begins_with(b"%", &["%"]));
    }
}
