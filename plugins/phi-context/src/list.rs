//! Lists of words, written as one text each and known by their hashes, which are taken at compile time.

use phi_lexicon::Hash;

/// Words in small letters, apart by the sign (a space, if none is given), as what [`crate::token::Token::word`] is of
/// each.
macro_rules! words {
    ($list:expr) => {
        words!($list, b' ')
    };
    ($list:expr, $sign:expr) => {{
        const LIST: &str = $list;
        const WORDS: [u64; $crate::list::count(LIST, $sign)] = $crate::list::hashes(LIST, $sign);
        &WORDS
    }};
}

pub(crate) use words;

pub const fn count(list: &str, sign: u8) -> usize {
    let (mut count, mut at) = (1, 0);
    while at < list.len() {
        count += (list.as_bytes()[at] == sign) as usize;
        at += 1;
    }
    count
}

pub const fn hashes<const COUNT: usize>(list: &str, sign: u8) -> [u64; COUNT] {
    let mut hashes = [0; COUNT];
    let (mut word, mut at, mut hash) = (0, 0, Hash::new());
    while at < list.len() {
        let byte = list.as_bytes()[at];
        if byte == sign {
            hashes[word] = hash.value();
            (word, hash) = (word + 1, Hash::new());
        } else {
            hash = hash.with(byte);
        }
        at += 1;
    }
    hashes[word] = hash.value();
    hashes
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_known_as_texts_have_them() {
        let words: &[u64] = words!("phone póliza");
        let mut tokens = Vec::new();
        let text = "PHONE Póliza fax";
        crate::token::read(text, 0, text.len(), &mut tokens);
        let known: Vec<bool> = tokens
            .iter()
            .map(|token| words.contains(&token.word))
            .collect();
        assert_eq!(known, [true, true, false]);
    }
}
