//! Words that something unseen divides, `Thomas\u{200b}Barker`: a model reads two.
//!
//! The same characters stand inside words as well. Where a capital follows a small letter or a sign, it begins one of
//! its own. Between other letters nobody knows: a word is taken apart that stays whole in the readings beside.

use super::rewrite::{Joint, Rewrite, Rewriter, Unseen};

/// Least letters and digits of a word of its own, where no capital shows that it is one.
const MIN_WORD_CHARS: usize = 2;

/// Puts a space between the words of a text that it was made from without what is unseen; nothing where none are
/// divided so.
pub(super) fn part(reading: &Rewrite) -> Option<Rewrite> {
    let text = reading.text();
    let mut rewriter = Rewriter::new(text);
    let mut begins = 0;
    // Several in a row divide once, as the one of them that divides most.
    let mut rows = reading
        .joints()
        .chunk_by(|one, next| one.at == next.at)
        .peekable();
    while let Some(row) = rows.next() {
        let Some(at) = row.first().map(|joint| joint.at) else {
            continue;
        };
        let ends = rows.peek().and_then(|row| row.first());
        let left = text.get(begins..at).unwrap_or_default();
        let right = text.get(at..ends.map_or(text.len(), |joint| joint.at));
        let right = right.unwrap_or_default();
        begins = at;
        if let Some(first) = right.chars().next()
            && divides(left, row, right)
        {
            rewriter.replace(at..at + first.len_utf8(), &format!(" {first}"));
        }
    }
    rewriter.finish()
}

/// Whether what is left and right of a row of joints are two words. Looks at no more than the length of the shortest.
fn divides(left: &str, row: &[Joint], right: &str) -> bool {
    let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) else {
        return false;
    };
    let may_end = last.is_lowercase() || matches!(last, '.' | ',' | ':' | ';' | ')');
    if may_end && first.is_uppercase() {
        return true;
    }
    let is = |unseen| row.iter().any(|joint| joint.unseen == unseen);
    is(Unseen::Lost) || is(Unseen::Between) && is_word(left.chars().rev()) && is_word(right.chars())
}

/// Whether letters begin with as many as a word has.
fn is_word(letters: impl Iterator<Item = char>) -> bool {
    let of_word = letters
        .take(MIN_WORD_CHARS)
        .filter(|letter| letter.is_alphanumeric());
    of_word.count() == MIN_WORD_CHARS
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::fold::fold;
    use super::*;

    fn parted(text: &str) -> Option<String> {
        part(&fold(text)?).map(|read| read.text().to_owned())
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
            // In parts, as some systems write it, and with a sign on a letter.
            ("Jose\u{301}\u{200b}Garci\u{301}a", "Jos\u{e9} Garc\u{ed}a"),
            ("Thomas\u{336}\u{200b}Barker", "Thomas Barker"),
            ("Thomas\u{336}\u{200b}\u{336}Barker", "Thomas Barker"),
            ("thomas\u{200b}barker", "thomas barker"),
            ("thomas\u{200d}\u{200b}\u{200d}barker", "thomas barker"),
            ("THOMAS\u{feff}BARKER", "THOMAS BARKER"),
            ("MRN\u{200b}4411223", "MRN 4411223"),
            // Two numbers too: the reading beside has them as one.
            ("534-57-4715\u{200b}219-09-9999", "534-57-4715 219-09-9999"),
            // A dash or a bullet in another encoding, perhaps.
            ("02/28/2024\u{fffd}03/04/2024", "02/28/2024 03/04/2024"),
            ("Bed 4\u{fffd}Maria Lopez", "Bed 4 Maria Lopez"),
        ] {
            assert_eq!(parted(text).as_deref(), Some(reads), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_word_of_its_own_stays() {
        for text in [
            "j\u{200b}a\u{200b}n\u{200b}e",
            "J\u{200b}A\u{200b}N\u{200b}E",
            "536-22\u{200b}-1\u{200b}234",
            "hyper\u{ad}tension",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "Thomas \u{200b}Barker\u{200b}, seen\u{200b}",
            "\u{200b}",
            // What stands before the last of them is no part of the letter between two.
            "hyper\u{ad}t\u{200b}ension",
            "ab\u{200b}\u{200d}c\u{200b}\u{200d}defg",
        ] {
            assert_eq!(parted(text), None, "{text:?}");
        }
    }

    #[test]
    fn signs_in_a_row_are_looked_at_once() {
        // Each would take minutes if every sign were a reason to look at all that stands before it.
        for text in [
            "\u{e9}\u{e8}\u{200b}\u{200d}".repeat(200_000),
            "\u{f1}".repeat(200_000) + &"\u{200b}\u{200d}".repeat(200_000) + "b",
        ] {
            let folded = fold(&text).unwrap();
            assert_eq!(part(&folded).is_some(), text.ends_with('\u{200d}'));
        }
    }
}
