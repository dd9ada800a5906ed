//! Data frames as they are printed, `   mrn last_name`, `0  12       Doe`: columns one space apart, whose values begin or
//! end where their labels do. Those two spaces apart or more are `aligned`.

use super::{Visit, is_label};
use crate::chunk;
use crate::text::byte;

/// Columns of one frame.
const MAX_COLUMNS: usize = 32;
/// Fewest columns where the rows have no number.
const MIN_COLUMNS: usize = 3;

type Words = [(usize, usize); MAX_COLUMNS];

/// The header that the lines are below.
#[derive(Default)]
pub(super) struct Reader {
    header: Option<Header>,
}

impl Reader {
    pub(super) fn line(&mut self, text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
        // What is above the numbers of the rows is blank.
        if self.header.is_some() || byte(text, start) == b' ' {
            self.header = line(text, start, end, self.header.take(), visit);
        }
    }
}

/// Reads a line below the header, or a header; gives what the next one is below.
fn line(
    text: &[u8],
    start: usize,
    end: usize,
    header: Option<Header>,
    visit: &mut Visit<'_>,
) -> Option<Header> {
    let may_be_header = has_names(text.get(start..end).unwrap_or_default());
    if header.is_none() && !may_be_header {
        return None;
    }
    let mut words = [(0, 0); MAX_COLUMNS];
    if let Some(header) = header {
        let count = split(text, start, end, &mut words, |_| true);
        // `<dbl> <chr>`: types of the columns.
        let first = words.first().map_or(start, |first| first.0);
        if count > 0 && byte(text, first) == b'<' || header.row(text, start, &words, count, visit) {
            return Some(header);
        }
    }
    if !may_be_header {
        return None;
    }
    let count = split(text, start, end, &mut words, is_name);
    Header::read(text, start, words, count)
}

/// Whether a line has nothing but what names of columns have: most have other signs behind their first word.
fn has_names(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let rest = line.get(chunk::letters_end(line, 0)..).unwrap_or_default();
    rest.iter().all(|byte| is_of_name(*byte) || *byte == b' ')
}

/// Whether a word can name a column.
fn is_name(word: &[u8]) -> bool {
    is_label(word) && word.iter().all(|byte| is_of_name(*byte))
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

struct Header {
    words: Words,
    count: usize,
    start: usize,
}

impl Header {
    fn read(text: &[u8], start: usize, words: Words, count: usize) -> Option<Self> {
        let mut labels = words
            .iter()
            .take(count)
            .filter_map(|(from, to)| text.get(*from..*to));
        let is_named = labels.any(|label| {
            label.contains(&b'_') || label.first().is_some_and(u8::is_ascii_lowercase)
        });
        (is_named && count >= 2).then_some(Self {
            words,
            count,
            start,
        })
    }

    /// Visits the row where every word stands below a label; gives whether it does.
    fn row(
        &self,
        text: &[u8],
        start: usize,
        words: &Words,
        count: usize,
        visit: &mut Visit<'_>,
    ) -> bool {
        let numbered = usize::from(count == self.count + 1);
        let first = words.first().and_then(|(from, to)| text.get(*from..*to));
        let is_numbered = first.is_some_and(|first| first.iter().all(u8::is_ascii_digit));
        if count != self.count + numbered
            || numbered == 1 && !is_numbered
            || numbered == 0 && self.count < MIN_COLUMNS
        {
            return false;
        }
        let cells = || {
            self.words
                .iter()
                .zip(words.iter().skip(numbered))
                .take(self.count)
        };
        let is_below = |(label, word): (&(usize, usize), &(usize, usize))| {
            label.0 - self.start == word.0 - start || label.1 - self.start == word.1 - start
        };
        if !cells().all(is_below) {
            return false;
        }
        for (label, word) in cells() {
            if let Some(label) = text.get(label.0..label.1) {
                visit(label, word.0, word.1);
            }
        }
        true
    }
}

/// The words of a line; gives how many there are, and none where one does not fit or they are too many.
fn split(
    text: &[u8],
    start: usize,
    end: usize,
    words: &mut Words,
    fits: fn(&[u8]) -> bool,
) -> usize {
    let line = text.get(..end).unwrap_or_default();
    let mut count = 0;
    let mut at = start;
    loop {
        while at < end && byte(line, at) == b' ' {
            at += 1;
        }
        if at >= end {
            return count;
        }
        let stop = chunk::next_of(line, at, [b' ']).unwrap_or(end);
        match words.get_mut(count) {
            Some(slot) if line.get(at..stop).is_some_and(fits) => *slot = (at, stop),
            _ => return 0,
        }
        (at, count) = (stop, count + 1);
    }
}
