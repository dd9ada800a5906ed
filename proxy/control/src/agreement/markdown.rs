//! Markdown as blocks to be set: headings, paragraphs, lists, bold words. What the typesetter has no form for (tables,
//! images, HTML) stands there as its text: nothing of an agreement is ever left out.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::page::Block;

/// Points that each level of a list is moved in.
const INDENT_POINTS: f32 = 20.0;

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    for event in Parser::new(text) {
        reader.take(event);
    }
    reader.finish();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The block that is being read.
    text: String,
    bold: Vec<std::ops::Range<usize>>,
    bold_from: Option<usize>,
    heading: Option<u8>,
    /// Open lists, outermost first: the next number, or none for bullets.
    lists: Vec<Option<u64>>,
    marker: Option<String>,
}

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
            Event::End(TagEnd::List(_)) => {
                self.finish();
                self.lists.pop();
            }
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
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

    fn finish(&mut self) {
        let heading = self.heading.take();
        let text = std::mem::take(&mut self.text);
        let bold = std::mem::take(&mut self.bold);
        if text.trim().is_empty() {
            return;
        }
        let block = match heading {
            Some(level) => Block::heading(&text, level),
            None => Block::paragraph(text),
        };
        let depth = u8::try_from(self.lists.len()).unwrap_or(u8::MAX);
        let block = block.within(f32::from(depth) * INDENT_POINTS, self.marker.take());
        self.blocks.push(block.with_bold(bold));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_left_out() {
        let text = "# One\n\ntwo **three**\n\n1. four\n   five\n2. six\n   - seven\n\n> eight\n\n\
                    ```\nnine\n```\n\n<b>ten</b> [eleven](https://example.org) ![twelve](x.png)\n\n| thirteen |";
        let all: String = blocks(text)
            .iter()
            .map(|block| format!("{} ", block.text()))
            .collect();
        for word in
            "One two three four five six seven eight nine ten eleven twelve thirteen".split(' ')
        {
            assert!(all.contains(word), "{word} in {all}");
        }
    }
}
