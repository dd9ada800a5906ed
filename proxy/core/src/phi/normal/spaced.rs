//! Words and numbers written one character at a time: `J a n e`, `1-2-3-4`.

use super::rewrite::{Rewrite, Rewriter};

/// Characters that make a row; fewer are initials or a list.
pub(super) const MIN_SINGLES: usize = 4;

/// What may stand between the characters; commas divide lists of numbers.
const SEPARATORS: [char; 9] = [' ', '\t', '.', '-', '_', '*', '|', '/', '\u{b7}'];

/// Separators between two words of a row.
const MAX_GAP: usize = 4;

/// Joins rows of single characters; nothing where there are none.
pub(super) fn join(text: &str) -> Option<Rewrite> {
    let mut rewriter = Rewriter::new(text);
    let mut at = 0;
    while let Some(row) = next_row(text, at) {
        at = row.end;
        if row.singles.len() >= MIN_SINGLES {
            write(&row, &mut rewriter);
        }
    }
    rewriter.finish()
}

/// Single characters with one separator between them.
struct Row {
    /// Position and character.
    singles: Vec<(usize, char)>,
    /// Where to look on.
    end: usize,
}

/// The row that starts with the next single character.
fn next_row(text: &str, from: usize) -> Option<Row> {
    let start = next_single(text, from)?;
    let rest = text.get(start..)?;
    let mut letters = rest.char_indices();
    let (_, first) = letters.next()?;
    let mut row = Row {
        singles: vec![(start, first)],
        end: start + first.len_utf8(),
    };
    let Some((_, separator)) = letters.next().filter(|(_, next)| is_separator(*next)) else {
        return Some(row);
    };
    while let Some((at, single)) = follower(text, row.end, separator) {
        row.singles.push((at, single));
        row.end = at + single.len_utf8();
    }
    Some(row)
}

/// The next character behind one to [`MAX_GAP`] separators that has one behind itself, or the end.
fn follower(text: &str, end: usize, separator: char) -> Option<(usize, char)> {
    let rest = text.get(end..)?;
    let behind = rest.trim_start_matches(separator);
    let gap = (rest.len() - behind.len()) / separator.len_utf8();
    let mut letters = behind.chars();
    let single = letters.next()?;
    let ends = letters.next().is_none_or(|next| !next.is_alphanumeric());
    let fits = single.is_alphanumeric()
        || (separator == ' ' && single.is_ascii_punctuation() && letters_follow(behind));
    (1..=MAX_GAP).contains(&gap).then_some(())?;
    (ends && fits).then(|| (end + rest.len() - behind.len(), single))
}

/// Whether a sign stands alone before another character: the dash of `4 - 5`.
fn letters_follow(behind: &str) -> bool {
    let mut letters = behind.chars().skip(1);
    letters.next() == Some(' ') && letters.next().is_some_and(char::is_alphanumeric)
}

fn is_separator(letter: char) -> bool {
    SEPARATORS.contains(&letter)
}

/// Where the next letter or digit stands that has neither as a neighbour.
fn next_single(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut before = text
        .get(..from)
        .and_then(|text| text.chars().next_back())
        .is_some_and(char::is_alphanumeric);
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_word = letter.is_alphanumeric();
        let goes_on = letters
            .peek()
            .is_some_and(|(_, next)| next.is_alphanumeric());
        if is_word && !before && !goes_on {
            return Some(from + at);
        }
        before = is_word;
    }
    None
}

/// Takes the separators out; a wider gap, or a capital behind a small letter, begins a word.
fn write(row: &Row, rewriter: &mut Rewriter<'_>) {
    let widths = row.singles.windows(2).map(|pair| match pair {
        [(at, letter), (next, _)] => next - at - letter.len_utf8(),
        _ => 0,
    });
    let least = widths.min().unwrap_or(1);
    for pair in row.singles.windows(2) {
        let [(at, letter), (next, following)] = pair else {
            continue;
        };
        let from = at + letter.len_utf8();
        let is_word_end =
            next - from > least || (letter.is_lowercase() && following.is_uppercase());
        rewriter.replace(from..*next, if is_word_end { " " } else { "" });
    }
}
