//! Makes requests of a bench differ in one word, so that nothing that remembers texts answers from memory.

/// Stands once in a body whose requests are to differ.
pub const WORD: &str = "turnaaaaaaaa";

/// How much of [`WORD`] changes.
const LETTERS: usize = 8;

/// The same bytes with another word of the same length for each turn.
///
/// # Panics
/// When the bytes have no [`WORD`].
pub fn numbered(bytes: &[u8], turn: usize) -> Vec<u8> {
    let mut windows = bytes.windows(WORD.len());
    let start = windows.position(|window| window == WORD.as_bytes());
    let end = start.expect("the word that tells requests apart") + WORD.len();
    let mut numbered = bytes.to_vec();
    let mut rest = turn;
    for letter in numbered[end - LETTERS..end].iter_mut().rev() {
        *letter = b"abcdefghijklmnopqrstuvwxyz"[rest % 26];
        rest /= 26;
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_has_a_word_of_its_own() {
        let body = format!("<{WORD}>");
        let of = |turn| String::from_utf8(numbered(body.as_bytes(), turn)).unwrap();
        assert_eq!(of(0), "<turnaaaaaaaa>");
        assert_eq!(of(27), "<turnaaaaaabb>");
        let words: std::collections::BTreeSet<String> = (0..10_000).map(of).collect();
        assert_eq!(words.len(), 10_000);
    }
}
