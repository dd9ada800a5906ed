//! Words that something unseen divides, `Thomas\u{200b}Barker`: a model reads two.
//!
//! The same characters stand inside words as well. Where a capital follows a small letter or a sign, it begins one of its
//! own. Between other letters nobody knows: a word is taken apart that stays whole in the reading beside.

use super::rewrite::{Joint, Rewrite, Rewriter, Unseen};

/// Least letters and digits of a word of its own, where no capital shows that it is one.
const MIN_WORD_CHARS: usize = 2;

/// Which words are taken apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Those that begin with a capital behind a small letter.
    Capital,
    /// All that have the length of a word.
    Any,
}

/// Puts a space between the words of a text that it was made from without what is unseen; nothing where none are
/// divided so.
pub(super) fn part(reading: &Rewrite, words: Words) -> Option<Rewrite> {
    let text = reading.text();
    let joints = reading.joints();
    let mut rewriter = Rewriter::new(text);
    let mut begins = 0;
    for (place, joint) in joints.iter().enumerate() {
        // Several in a row divide once, as the one of them that divides most.
        if joint.at < rewriter.done() {
            continue;
        }
        let behind = joints.get(place..).unwrap_or_default();
        let ends = behind
            .get(behind.partition_point(|next| next.at <= joint.at))
            .map_or(text.len(), |next| next.at);
        let left = text.get(begins..joint.at).unwrap_or_default();
        let right = text.get(joint.at..ends).unwrap_or_default();
        if joints.get(place + 1).is_none_or(|next| next.at > joint.at) {
            begins = joint.at;
        }
        let Some(first) = right.chars().next() else {
            continue;
        };
        if divides(left, *joint, right, words) {
            let end = joint.at + first.len_utf8();
            rewriter.replace(joint.at..end, &format!(" {first}"));
        }
    }
    rewriter.finish()
}

/// Whether what is left and right of a joint are two words.
fn divides(left: &str, joint: Joint, right: &str, words: Words) -> bool {
    let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) else {
        return false;
    };
    let may_end = last.is_lowercase() || matches!(last, '.' | ',' | ':' | ';' | ')');
    if may_end && first.is_uppercase() {
        return true;
    }
    let is_of_word = |letter: &char| letter.is_alphanumeric();
    let is_number = last.is_numeric() && first.is_numeric();
    words == Words::Any
        && joint.unseen == Unseen::Between
        && !is_number
        && left.chars().rev().take_while(is_of_word).count() >= MIN_WORD_CHARS
        && right.chars().take_while(is_of_word).count() >= MIN_WORD_CHARS
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::*;

    fn parted(text: &str, words: Words) -> Option<String> {
        part(&fold(text)?, words).map(|read| read.text().to_owned())
    }

    #[test]
    fn words_that_something_unseen_divides_read_apart() {
        for (text, reads) in [
            ("Thomas\u{200b}Barker", "Thomas Barker"),
            ("Thomas\u{200b}\u{2060}\u{feff}Barker", "Thomas Barker"),
            ("Thomas\u{200d}\u{200b}Barker", "Thomas Barker"),
            ("Thomas\u{ad}Barker", "Thomas Barker"),
            ("Thomas\u{1}Barker", "Thomas Barker"),
            ("Thomas\u{fffd}Barker", "Thomas Barker"),
            (
                "T\u{200b}h\u{200b}omas\u{200b}B\u{200b}arker",
                "Thomas Barker",
            ),
            (
                "Dr.\u{200b}Marsh saw Maria\u{200b}Lopez",
                "Dr. Marsh saw Maria Lopez",
            ),
            ("Zo\u{e9}\u{200b}\u{c9}mile", "Zo\u{e9} \u{c9}mile"),
        ] {
            for words in [Words::Capital, Words::Any] {
                assert_eq!(parted(text, words).as_deref(), Some(reads), "{text:?}");
            }
        }
        for (text, reads) in [
            ("thomas\u{200b}barker", "thomas barker"),
            ("THOMAS\u{feff}BARKER", "THOMAS BARKER"),
            ("MRN\u{200b}4411223", "MRN 4411223"),
        ] {
            assert_eq!(parted(text, Words::Any).as_deref(), Some(reads), "{text:?}");
            assert_eq!(parted(text, Words::Capital), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_word_of_its_own_stays() {
        for text in [
            "j\u{200b}a\u{200b}n\u{200b}e",
            "J\u{200b}A\u{200b}N\u{200b}E",
            "536-22\u{200b}-12\u{200b}34",
            "hyper\u{ad}tension",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "Thomas \u{200b}Barker\u{200b}, seen\u{200b}",
            "\u{200b}",
        ] {
            assert_eq!(parted(text, Words::Any), None, "{text:?}");
        }
    }
}
