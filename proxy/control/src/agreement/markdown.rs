//! Markdown as paragraphs to be set: headings, lists, bold words. What there is no form for stands there as its text:
//! HTML as it is written, a row of a table on a line of its own, links and images with where they lead. Nothing of an
//! agreement is ever left out.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// One paragraph of an agreement, the same on paper and in pages.
#[derive(Default)]
pub struct Paragraph {
    pub(super) text: String,
    pub(super) bold: Vec<Range<usize>>,
    /// 1 to 6, where it is a heading.
    pub heading: Option<u8>,
    /// Lists that it stands in.
    pub depth: u8,
    /// What stands before the first paragraph of an item.
    pub marker: Option<String>,
}

impl Paragraph {
    /// Its text in pieces, of which the bold ones say so.
    pub fn pieces(&self) -> Vec<(bool, &str)> {
        let mut pieces = Vec::new();
        let mut at = 0;
        for range in &self.bold {
            pieces.push((false, at..range.start));
            pieces.push((true, range.clone()));
            at = range.end;
        }
        pieces.push((false, at..self.text.len()));
        let pieces = pieces.into_iter();
        let texts = pieces.map(|(is_bold, range)| (is_bold, self.text.get(range).unwrap_or("")));
        texts.filter(|(_, text)| !text.is_empty()).collect()
    }
}

/// The paragraphs of a text, in order.
pub fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut reader = Reader::default();
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::End(TagEnd::TableCell) => reader.cells_end = at.end,
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                reader.add_excess(text.get(reader.cells_end..at.end).unwrap_or_default());
            }
            _ => {}
        }
        reader.take(event);
    }
    reader.finish();
    reader.paragraphs
}

#[derive(Default)]
struct Reader {
    paragraphs: Vec<Paragraph>,
    /// The paragraph that is being read.
    text: String,
    bold: Vec<Range<usize>>,
    bold_from: Option<usize>,
    heading: Option<u8>,
    /// Open lists, outermost first: the next number, or none for bullets.
    lists: Vec<Option<u64>>,
    marker: Option<String>,
    /// Links and images that are open: where their text begins, and what stands behind it.
    links: Vec<(usize, String)>,
    /// Cells of the row that have begun, and where in the source the last one ends.
    cells: usize,
    cells_end: usize,
}

/// Between the cells of a row.
const CELLS: &str = " | ";

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.finish();
                self.heading = Some(level as u8);
            }
            Event::Start(Tag::List(first)) => {
                self.finish();
                self.lists.push(first);
            }
            Event::Start(Tag::Item) => {
                self.finish();
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}.");
                        *number += 1;
                        marker
                    }
                    _ => "•".to_owned(),
                });
            }
            Event::Start(Tag::Strong) => self.bold_from = Some(self.text.len()),
            Event::End(TagEnd::Strong) => {
                if let Some(from) = self.bold_from.take() {
                    self.bold.push(from..self.text.len());
                }
            }
            Event::Start(
                Tag::Link {
                    dest_url, title, ..
                }
                | Tag::Image {
                    dest_url, title, ..
                },
            ) => {
                let title = match title.as_ref() {
                    "" => String::new(),
                    title => format!(", {title}"),
                };
                self.links
                    .push((self.text.len(), format!("{dest_url}{title}")));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((from, leads_to)) = self.links.pop() {
                    let label = self.text.get(from..).unwrap_or_default();
                    if label != leads_to.strip_prefix("mailto:").unwrap_or(&leads_to) {
                        self.text.push_str(&format!(" ({leads_to})"));
                    }
                }
            }
            Event::Start(Tag::Table(_)) => self.finish(),
            Event::Start(Tag::TableHead | Tag::TableRow) => self.cells = 0,
            Event::Start(Tag::TableCell) => {
                if self.cells > 0 {
                    self.text.push_str(CELLS);
                }
                self.cells += 1;
            }
            Event::End(TagEnd::List(_)) => {
                self.finish();
                self.lists.pop();
            }
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableHead
                | TagEnd::TableRow
                | TagEnd::HtmlBlock,
            )
            | Event::Rule => self.finish(),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.text.push_str(&text);
            }
            Event::SoftBreak => self.text.push(' '),
            Event::HardBreak => self.text.push('\n'),
            _ => {}
        }
    }

    /// What a row has behind as many cells as the head of its table, which the parser passes over: as it is written.
    fn add_excess(&mut self, written: &str) {
        let cells = written.trim_matches(|sign: char| sign == '|' || sign.is_whitespace());
        if !cells.is_empty() {
            self.text.push_str(CELLS);
            self.text.push_str(cells);
        }
    }

    fn finish(&mut self) {
        let heading = self.heading.take();
        let text = std::mem::take(&mut self.text);
        let bold = std::mem::take(&mut self.bold);
        if text.trim().is_empty() {
            return;
        }
        self.paragraphs.push(Paragraph {
            text,
            bold,
            heading,
            depth: u8::try_from(self.lists.len()).unwrap_or(u8::MAX),
            marker: self.marker.take(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_left_out() {
        let text = "# One\n\ntwo **three**\n\n1. four\n   five\n2. six\n   - seven\n\n> eight\n\n\
                    ```\nnine\n```\n\n<b>ten</b> [eleven](https://example.org/a \"titled\") ![twelve](x.png)\n\n\
                    | thirteen |\n\n[fourteen][1]\n\n[1]: https://example.org/b\n\n\
                    | fifteen | sixteen |\n|---|---|\n| | seventeen | eighteen | **nineteen** |\n> | twenty |\n";
        let all: String = paragraphs(text)
            .iter()
            .map(|paragraph| format!("{} ", paragraph.text))
            .collect();
        for word in
            "One two three four five six seven eight nine ten eleven https://example.org/a titled twelve x.png \
             thirteen fourteen https://example.org/b fifteen sixteen seventeen eighteen nineteen twenty"
                .split(' ')
        {
            assert!(all.contains(word), "{word} in {all}");
        }
    }

    fn texts(text: &str) -> Vec<String> {
        let found = paragraphs(text).into_iter();
        found.map(|paragraph| paragraph.text).collect()
    }

    #[test]
    fn links_say_where_they_lead() {
        for (text, reads) in [
            (
                "see [our policy](https://a.example/p).",
                "see our policy (https://a.example/p).",
            ),
            ("<https://a.example/p>", "https://a.example/p"),
            ("<legal@a.example>", "legal@a.example"),
            (
                "[legal@a.example](mailto:legal@a.example)",
                "legal@a.example",
            ),
            ("[**b**](#c)", "b (#c)"),
        ] {
            assert_eq!(texts(text), [reads]);
        }
    }

    #[test]
    fn a_row_of_a_table_is_a_line() {
        let table =
            "before\n\n| term | days |\n|---|---|\n| notice | **30** |\n| cure | 10 |\n\nbehind";
        assert_eq!(
            texts(table),
            [
                "before",
                "term | days",
                "notice | 30",
                "cure | 10",
                "behind"
            ]
        );
    }

    #[test]
    fn a_row_of_more_or_fewer_cells_than_its_table_has_them_all() {
        for (row, reads) in [
            (
                "| notice | 30 | except in an emergency |",
                "notice | 30 | except in an emergency",
            ),
            ("notice | 30 | a | b", "notice | 30 | a | b"),
            ("| notice | 30 | | b |", "notice | 30 | b"),
            ("| notice | 30 | |", "notice | 30"),
            ("| | 30 |", " | 30"),
            ("| notice |", "notice | "),
        ] {
            let table = format!("| term | days |\n|---|---|\n{row}\n| cure | 10 |");
            assert_eq!(texts(&table), ["term | days", reads, "cure | 10"], "{row}");
        }
    }

    #[test]
    fn bold_words_are_pieces() {
        let found = paragraphs("1. a **b** c\n\n## **d**");
        assert_eq!(
            found[0].pieces(),
            [(false, "a "), (true, "b"), (false, " c")]
        );
        assert_eq!(found[0].marker.as_deref(), Some("1."));
        assert_eq!(found[0].depth, 1);
        assert_eq!(found[1].pieces(), [(true, "d")]);
        assert_eq!(found[1].heading, Some(2));
    }
}
