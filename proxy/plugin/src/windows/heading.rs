//! What the later pieces of a long text are missing: the header of the table that their records belong to. Knows how
//! tables are written, and nothing of what is in them. One pass, whatever the text is.

use std::ops::Range;

/// Bytes of the longest record, and of the longest header: what is longer is no table.
const MAX_RECORD_BYTES: usize = 8 * 1024;
/// Lines that may hold the header: a title, the labels, a rule.
pub(super) const HEAD_LINES: usize = 3;
/// What cells are apart by, in lines.
const SEPARATORS: [u8; 4] = [b',', b'|', b'\t', b';'];
/// Keys of a list of labels.
const LABELS: [&[u8]; 7] = [
    b"columns",
    b"cols",
    b"headers",
    b"header",
    b"fields",
    b"column_names",
    b"columnnames",
];

/// The headers in force at a place of a text that is read from its beginning on.
pub(super) struct Headings<'t> {
    text: &'t [u8],
    read: usize,
    line: Line,
    /// Lines in a row with as many of each separator, and those with columns apart by spaces.
    runs: [Run; SEPARATORS.len() + 1],
    /// `insert into t (a, b) values`.
    insert: Option<Range<usize>>,
    /// `<table><tr><th>a</th></tr>`.
    table: Option<Range<usize>>,
    /// `"columns": ["a", "b"]`.
    labels: Option<Range<usize>>,
    /// `[["a", "b"]`.
    list: Option<Range<usize>>,
}

/// The line that is read.
#[derive(Default)]
struct Line {
    start: usize,
    /// How many of each separator it has so far, outside of quotes.
    counts: [usize; SEPARATORS.len()],
    is_quoted: bool,
}

/// Lines that may be one table.
#[derive(Default)]
struct Run {
    separators: usize,
    lines: usize,
    /// Its first lines.
    head: Range<usize>,
}

impl<'t> Headings<'t> {
    /// At `start`, where nothing was read yet.
    pub(super) fn new(text: &'t str, start: usize) -> Self {
        Self {
            text: text.as_bytes(),
            read: start,
            line: Line {
                start,
                ..Line::default()
            },
            runs: Default::default(),
            insert: None,
            table: None,
            labels: None,
            list: None,
        }
    }

    /// Goes on to `to`.
    pub(super) fn read_to(&mut self, to: usize) {
        // More than a header begins with: the last look may have cut it.
        const BACK_BYTES: usize = 32;
        let from = self.read.saturating_sub(BACK_BYTES);
        self.marks(from, to);
        let text = self.text;
        for (at, sign) in text.iter().enumerate().take(to).skip(self.read) {
            match sign {
                b'\n' if text.get(..at).is_some_and(|head| head.ends_with(b"\r")) => {
                    self.line.start = at + 1;
                }
                b'\n' | b'\r' => self.end_line(at),
                b'"' => self.line.is_quoted = !self.line.is_quoted,
                sign => self.line.take(*sign),
            }
        }
        self.read = to;
    }

    /// The last place in `low..=high` where a record begins, as far as it is near.
    pub(super) fn record(&self, low: usize, high: usize) -> Option<usize> {
        let low = low.max(high.saturating_sub(MAX_RECORD_BYTES));
        let part = self.text.get(low..high)?;
        // Behind `VALUES` stands no comma.
        let tuple = self.insert.as_ref().and_then(|_| between(part, b')', b'('));
        let tuple = tuple.map(|comma| comma + 1);
        let row = || self.table.as_ref().and_then(|_| last_of(part, b"<tr"));
        let item = || {
            let list = self.labels.as_ref().or(self.list.as_ref());
            list.and_then(|_| between(part, b']', b'['))
        };
        let line = || part.iter().rposition(ends_line).map(|end| end + 1);
        let found = tuple.or_else(row).or_else(item).or_else(line)?;
        Some(low + found)
    }

    /// The headers of the record that begins at `start`, each in lines of its own, in at most `max_bytes`.
    pub(super) fn before(&self, start: usize, max_bytes: usize) -> String {
        let ahead = self.text.get(..start).unwrap_or_default();
        let begins_line = ahead.last().is_some_and(ends_line);
        let runs = self.runs.iter().filter(|run| begins_line && run.lines > 1);
        let lists = [&self.insert, &self.table, &self.labels, &self.list];
        let mut parts: Vec<Range<usize>> = runs
            .map(|run| run.head.clone())
            .chain(lists.into_iter().flatten().cloned())
            .collect();
        parts.sort_by_key(|part| part.start);
        let (mut heading, mut end) = (String::new(), 0);
        for part in parts {
            // What two tables have in common stands once.
            let own = ahead.get(part.start.max(end)..part.end);
            let said = own
                .and_then(|own| str::from_utf8(own).ok())
                .unwrap_or_default();
            if !said.is_empty() && heading.len() + said.len() < max_bytes {
                heading.push_str(said);
                heading.push('\n');
                end = part.end;
            }
        }
        heading
    }

    fn end_line(&mut self, end: usize) {
        let next = Line {
            start: end + 1,
            ..Line::default()
        };
        let Line { start, counts, .. } = std::mem::replace(&mut self.line, next);
        let line = self.text.get(start..end).unwrap_or_default();
        let is_rule = is_rule(line);
        let has_columns = line.trim_ascii().windows(2).any(|pair| pair == b"  ");
        let counts = counts.into_iter().chain([usize::from(has_columns)]);
        for (run, count) in self.runs.iter_mut().zip(counts) {
            let separators = if is_rule { run.separators } else { count };
            run.next(start..end, separators);
        }
    }

    /// Notes what begins a table in `from..to` that is not made of lines.
    fn marks(&mut self, from: usize, to: usize) {
        let part = self.text.get(from..to).unwrap_or_default();
        let (table, table_end) = (last_of(part, b"<table"), last_of(part, b"</table"));
        if table_end > table {
            self.table = None;
        }
        let tables: [(_, &[u8], _); 4] = [
            (last_of(part, b"insert into"), b"values", &mut self.insert),
            (
                table.filter(|_| table > table_end),
                b"</tr>",
                &mut self.table,
            ),
            (last_list(part, names_labels), b"]", &mut self.labels),
            (last_list(part, opens_list), b"]", &mut self.list),
        ];
        for (start, last, known) in tables {
            if let Some(start) = start {
                *known = until(self.text, from + start, last);
            }
        }
    }
}

impl Line {
    fn take(&mut self, sign: u8) {
        let counts = SEPARATORS.iter().zip(&mut self.counts);
        for (separator, count) in counts {
            *count += usize::from(sign == *separator && !self.is_quoted);
        }
    }
}

impl Run {
    fn next(&mut self, line: Range<usize>, separators: usize) {
        if separators == 0 || self.separators != separators {
            *self = Self {
                separators,
                lines: 0,
                head: line.clone(),
            };
        }
        self.lines += 1;
        if self.lines <= HEAD_LINES && line.end - self.head.start <= MAX_RECORD_BYTES {
            self.head.end = line.end;
        }
    }
}

const fn ends_line(sign: &u8) -> bool {
    matches!(sign, b'\n' | b'\r')
}

/// Whether a line only divides others: `---+---`, `|:--|--:|`.
fn is_rule(line: &[u8]) -> bool {
    line.windows(2).any(|pair| matches!(pair, b"--" | b"=="))
        && line.iter().all(|sign| b"-+=|: \t".contains(sign))
}

/// Where `word` stands last, whatever the case.
fn last_of(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len())
        .rposition(|part| part.eq_ignore_ascii_case(word))
}

/// From `start` to behind the next `word`, where it is near.
fn until(text: &[u8], start: usize, word: &[u8]) -> Option<Range<usize>> {
    let part = text.get(start..text.len().min(start + MAX_RECORD_BYTES))?;
    let mut words = part.windows(word.len());
    let found = words.position(|part| part.eq_ignore_ascii_case(word))?;
    Some(start..start + found + word.len())
}

/// Where the last comma stands between two of a list, `),(`: the next one goes on with it.
fn between(text: &[u8], close: u8, open: u8) -> Option<usize> {
    let ends = |at: usize| text.get(..at).map(<[u8]>::trim_ascii_end);
    let goes_on = |at: usize| text.get(at + 1..).map(<[u8]>::trim_ascii_start);
    (0..text.len()).rev().find(|at| {
        text.get(*at) == Some(&b',')
            && ends(*at).and_then(<[u8]>::last) == Some(&close)
            && goes_on(*at).and_then(<[u8]>::first) == Some(&open)
    })
}

/// Where the last list begins whose `[` has before it what `begins` finds the beginning of.
fn last_list(text: &[u8], begins: fn(&[u8]) -> Option<usize>) -> Option<usize> {
    (0..text.len()).rev().find_map(|at| {
        let head = text.get(..at).filter(|_| text.get(at) == Some(&b'['));
        begins(head?.trim_ascii_end())
    })
}

/// `[[`.
fn opens_list(head: &[u8]) -> Option<usize> {
    head.strip_suffix(b"[").map(<[u8]>::len)
}

/// `"columns": [`, perhaps inside of a string.
fn names_labels(head: &[u8]) -> Option<usize> {
    let key = head.strip_suffix(b":")?.trim_ascii_end();
    let key = key.strip_suffix(b"\"").or_else(|| key.strip_suffix(b"'"))?;
    let key = key.strip_suffix(b"\\").unwrap_or(key);
    LABELS.iter().find_map(|name| {
        let quote = key.len().checked_sub(name.len() + 1)?;
        let (quote_sign, said) = key.get(quote..)?.split_first()?;
        let is_name = matches!(quote_sign, b'"' | b'\'') && said.eq_ignore_ascii_case(name);
        is_name.then_some(quote)
    })
}
