//! Lines that were broken where they were full: a name or an address goes on in the next one.

use std::ops::Range;

use super::fold;
use super::rewrite::{Rewrite, Rewriter};

/// Bytes of the widest line that such a text has: narrower ones are lists, wider ones are paragraphs.
const WIDTHS: std::ops::RangeInclusive<usize> = 20..=120;

/// Bytes that are read on each side of a break.
const SIDE_BYTES: usize = 40;

/// Breaks of a text that are read: more than lines that are full.
const MIN_BREAKS: usize = 64;
const BYTES_PER_BREAK: usize = 32;

/// What is around each break behind which the first word would not have fitted, as one line.
pub(in crate::phi) fn wraps(text: &str) -> impl Iterator<Item = (Range<usize>, Rewrite)> {
    let width = if text.contains('\n') {
        width_of(text)
    } else {
        None
    };
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let wraps = breaks.filter_map(move |at| wrap_at(text, at, width?));
    wraps.take(MIN_BREAKS + text.len() / BYTES_PER_BREAK)
}

/// Bytes of the widest line; nothing where the text is no wrapped one. Addresses of the web stay whole, however wide.
fn width_of(text: &str) -> Option<usize> {
    let mut width = 0;
    for line in text.lines() {
        let line = line.trim_end();
        let line = line.get(lead_len(line)..)?;
        if line.len() <= *WIDTHS.end() {
            width = width.max(line.len());
        } else if line.contains(' ') {
            return None;
        }
    }
    WIDTHS.contains(&width).then_some(width)
}

fn wrap_at(text: &str, at: usize, width: usize) -> Option<(Range<usize>, Rewrite)> {
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..at)?;
    let lead = lead_len(line);
    let line_end = start + line.trim_end().len();
    let next = text.get(at + 1..)?.lines().next()?;
    let next_lead = lead_len(next);
    let head = next.get(next_lead..)?;
    let first = head.split(' ').next()?;
    let last = text.get(start + lead..line_end)?.rsplit(' ').next()?;
    let is_full = line_end - start - lead + 1 + first.len() > width;
    if !is_full || !is_prose(last) || !is_prose(first) || !goes_on(last) || !begins_inside(first) {
        return None;
    }
    let from = text
        .ceil_char_boundary(line_end.saturating_sub(SIDE_BYTES))
        .max(start + lead);
    // A word that is cut off is none.
    let from = if from > start + lead {
        from + text.get(from..line_end)?.find(' ')? + 1
    } else {
        from
    };
    let head_start = at + 1 + next_lead;
    let most = text.floor_char_boundary(head_start + SIDE_BYTES.min(head.len()));
    let to = if most - head_start < head.len() {
        head_start + text.get(head_start..most)?.rfind(' ')?
    } else {
        most
    };
    let around = text.get(from..to)?;
    let mut rewriter = Rewriter::new(around);
    let joint = if last.ends_with('-') { "" } else { " " };
    rewriter.replace(line_end - from..head_start - from, joint);
    Some((from..to, rewriter.finish()?.and_then(fold::fold)))
}

/// Bytes of white space and marks of citation that a line begins with.
fn lead_len(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t', '>']).len()
}

/// Whether the word is one of prose, and none of a record or of code: their lines end where something ends.
fn is_prose(word: &str) -> bool {
    word.chars().all(|sign| {
        sign.is_alphanumeric() || !sign.is_ascii() || ",.;:?!'\"()-/#&+%".contains(sign)
    })
}

/// Whether a line that ends with the word may go on: no sentence ends with it.
fn goes_on(word: &str) -> bool {
    /// Bytes of the longest title with its full stop.
    const TITLE_BYTES: usize = 5;
    match word.chars().next_back() {
        Some('.') => word.len() <= TITLE_BYTES && word.starts_with(char::is_uppercase),
        Some(last) => last.is_alphanumeric() || matches!(last, ',' | ')' | '-' | '\'' | '"'),
        None => false,
    }
}

/// Whether a line that begins with the word may go on from the one before: it is no item of a list.
fn begins_inside(word: &str) -> bool {
    let is_item = word.ends_with(['.', ')', ':'])
        && word.len() <= 3
        && word.starts_with(|c: char| c.is_ascii_digit());
    !is_item
        && word
            .starts_with(|first: char| first.is_alphanumeric() || matches!(first, '(' | '#' | '"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        wraps(text)
            .map(|(_, rewrite)| rewrite.text().to_owned())
            .collect()
    }

    #[test]
    fn full_lines_go_on() {
        for (text, expected) in [
            (
                "I saw your patient Maria\nLopez in clinic.",
                "I saw your patient Maria Lopez in clinic.",
            ),
            (
                "> I saw your patient Maria \r\n> Lopez in clinic.",
                "I saw your patient Maria Lopez in clinic.",
            ),
            (
                "She has moved to 2209 Prospect\n  Hill Rd, Boston",
                "She has moved to 2209 Prospect Hill Rd, Boston",
            ),
            (
                "seen today is a 93-year-\nold woman from here",
                "seen today is a 93-year-old woman from here",
            ),
            (
                "She was referred by Dr.\nAdeyemi.",
                "She was referred by Dr. Adeyemi.",
            ),
        ] {
            assert_eq!(read(text), [expected], "{text}");
        }
        let long = format!("{} Ann\nLee {}", "word".repeat(20), "word".repeat(20));
        assert_eq!(read(&long), ["Ann Lee"]);
        let address = format!(
            "She was referred by Ann\nLee.\nhttps://example.org/{}",
            "a".repeat(200)
        );
        assert_eq!(read(&address), ["She was referred by Ann Lee."]);
    }

    #[test]
    fn other_breaks_end_what_they_end() {
        for text in [
            "",
            "\n\n",
            "Regards,\nJohn\nSmith",
            "The patient is doing well today.\nAnn Lee",
            "Maria\nLopez was seen in clinic today by all of us",
            "PID|1||88213004||LOPEZ^MARIA\nPV1|1|I|ICU^12^A|||||LEE^ANN",
            "The following were present:\nAnn Lee",
            "A list of what was done by Ann\n1. Lee",
            "Ann\n\nLee was seen in clinic",
        ] {
            assert_eq!(read(text), Vec::<String>::new(), "{text}");
        }
        let paragraphs = format!("{}Ann\nLee {}", "word ".repeat(30), "word ".repeat(30));
        assert_eq!(read(&paragraphs), Vec::<String>::new());
    }
}
