//! Setting blocks of text on pages: shaping, line breaking and right-to-left order by parley, the PDF by krilla.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use krilla::Document;
use krilla::SerializeSettings;
use krilla::configure::{Archival, ConfigurationBuilder};
use krilla::error::KrillaError;
use krilla::geom::Point;
use krilla::metadata::{DateTime, Metadata};
use krilla::page::PageSettings;
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use parley::fontique::{Blob, Collection, CollectionOptions, SourceCache};
use parley::style::{FontFamily, FontFamilyName, FontWeight, LineHeight, StyleProperty};
use parley::{Alignment, FontContext, Layout, LayoutContext, Line};
use svc_core::time::Timestamp;

use super::RenderError;
use super::markdown::Paragraph;

/// US Letter, in points.
const PAGE_WIDTH: f32 = 612.0;
const PAGE_HEIGHT: f32 = 792.0;
const MARGIN: f32 = 64.0;
/// Baseline of the footer, from the top.
const FOOTER_Y: f32 = PAGE_HEIGHT - 36.0;
/// Points that each level of a list is moved in.
const INDENT_POINTS: f32 = 20.0;
/// A list's marker stands this far left of its text.
const MARKER_POINTS: f32 = 18.0;
const BODY_SIZE: f32 = 10.5;
const LABEL_SIZE: f32 = 7.5;
const LINE_HEIGHT: f32 = 1.4;
/// Far more than an agreement of the largest size that policies take.
pub(super) const MAX_PAGES: usize = 400;

/// Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic (`fonts/README.md`).
static SANS: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
static SANS_BOLD: &[u8] = include_bytes!("../../fonts/DejaVuSans-Bold.ttf");
/// Chinese, Japanese.
static EAST_ASIAN: &[u8] = include_bytes!("../../fonts/DroidSansFallbackFull.ttf");
/// Korean.
static HANGUL: &[u8] = include_bytes!("../../fonts/NanumGothicCoding.ttf");
const FAMILIES: &[FontFamilyName<'static>] = &[
    FontFamilyName::Named(Cow::Borrowed("DejaVu Sans")),
    FontFamilyName::Named(Cow::Borrowed("Droid Sans Fallback")),
    FontFamilyName::Named(Cow::Borrowed("NanumGothicCoding")),
];

/// One paragraph and how it is set.
pub(super) struct Block {
    text: String,
    bold: Vec<Range<usize>>,
    is_bold: bool,
    size: f32,
    space_before: f32,
    indent: f32,
    marker: Option<String>,
    starts_page: bool,
}

impl Block {
    /// A paragraph of the agreement itself.
    pub(super) fn of(paragraph: Paragraph) -> Self {
        let Paragraph {
            text,
            bold,
            heading,
            depth,
            marker,
        } = paragraph;
        let block = match heading {
            Some(level) => Self::heading(&text, level),
            None => Self::paragraph(text),
        };
        Self {
            bold,
            indent: f32::from(depth) * INDENT_POINTS,
            marker,
            ..block
        }
    }

    pub(super) const fn paragraph(text: String) -> Self {
        Self {
            text,
            bold: Vec::new(),
            is_bold: false,
            size: BODY_SIZE,
            space_before: 6.0,
            indent: 0.0,
            marker: None,
            starts_page: false,
        }
    }

    pub(super) fn heading(text: &str, level: u8) -> Self {
        let size = match level {
            1 => 18.0,
            2 => 13.0,
            _ => 11.5,
        };
        Self {
            is_bold: true,
            size,
            space_before: size,
            ..Self::paragraph(text.to_owned())
        }
    }

    /// The name of a fact.
    pub(super) fn label(text: &str) -> Self {
        Self {
            is_bold: true,
            size: LABEL_SIZE,
            space_before: 5.0,
            ..Self::paragraph(text.to_owned())
        }
    }

    /// A fact, below its name.
    pub(super) fn value(text: &str) -> Self {
        Self {
            space_before: 0.0,
            ..Self::paragraph(text.to_owned())
        }
    }

    pub(super) const fn on_a_new_page(mut self) -> Self {
        self.starts_page = true;
        self
    }
}

/// What the file says of itself.
pub(super) struct Facts<'a> {
    pub(super) title: &'a str,
    pub(super) id: &'a str,
    pub(super) at: Timestamp,
}

/// A text that is shaped and broken into lines.
struct Set<'a> {
    text: &'a str,
    layout: Layout<()>,
}

/// A line in its place.
struct Placed<'a> {
    set: Arc<Set<'a>>,
    line: usize,
    x: f32,
    baseline: f32,
}

pub(crate) struct Typesetter {
    fonts: FontContext,
    layouts: LayoutContext<()>,
    embedded: HashMap<u64, Font>,
}

impl Typesetter {
    pub(crate) fn new() -> Result<Self, RenderError> {
        let options = CollectionOptions {
            shared: false,
            system_fonts: false,
        };
        let mut collection = Collection::new(options);
        for font in [SANS, SANS_BOLD, EAST_ASIAN, HANGUL] {
            if collection
                .register_fonts(Blob::new(Arc::new(font)), None)
                .is_empty()
            {
                return Err(RenderError::Font);
            }
        }
        Ok(Self {
            fonts: FontContext {
                collection,
                source_cache: SourceCache::default(),
            },
            layouts: LayoutContext::new(),
            embedded: HashMap::new(),
        })
    }

    /// Whether the bundled fonts have every character of `text`: Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew,
    /// Arabic, Chinese, Japanese and more.
    pub(crate) fn can_show(&mut self, text: &str) -> bool {
        let block = Block::paragraph(text.to_owned());
        let layout = self.layout(&block.text, &block, f32::MAX);
        layout.lines().all(|line| {
            let mut clusters = line.runs().flat_map(|run| run.visual_clusters());
            // Glyph 0 is the box that stands for a missing character.
            clusters.all(|cluster| cluster.glyphs().all(|glyph| glyph.id != 0))
        })
    }

    pub(super) fn document(
        &mut self,
        blocks: &[Block],
        footer: &str,
        facts: &Facts<'_>,
    ) -> Result<Vec<u8>, RenderError> {
        let pages = self.flow(blocks)?;
        let mut document = Document::new_with(settings()?);
        let count = pages.len();
        for (at, lines) in pages.iter().enumerate() {
            let footer = format!("{footer} · page {} of {count}", at + 1);
            let note = Block::label(&footer);
            let layout = self.layout(&footer, &note, PAGE_WIDTH - 2.0 * MARGIN);
            let size = PageSettings::from_wh(PAGE_WIDTH, PAGE_HEIGHT);
            let size = size.ok_or(RenderError::Invalid("page size"))?;
            let mut page = document.start_page_with(size);
            let mut surface = page.surface();
            for Placed {
                set,
                line,
                x,
                baseline,
            } in lines
            {
                if let Some(line) = set.layout.get(*line) {
                    self.draw(&mut surface, set.text, &line, (*x, *baseline))?;
                }
            }
            if let Some(line) = layout.get(0) {
                self.draw(&mut surface, &footer, &line, (MARGIN, FOOTER_Y))?;
            }
            surface.finish();
            page.finish();
        }
        document.set_metadata(metadata(facts));
        document.finish().map_err(|error| match error {
            KrillaError::Font(..) => RenderError::Font,
            KrillaError::Validation(_) => {
                RenderError::Invalid("a character that no bundled font has")
            }
            _ => RenderError::Invalid("a limit of the format"),
        })
    }

    /// Puts every line of every block on a page.
    fn flow<'a>(&mut self, blocks: &'a [Block]) -> Result<Vec<Vec<Placed<'a>>>, RenderError> {
        let mut pages: Vec<Vec<Placed<'a>>> = Vec::new();
        let mut page: Vec<Placed<'a>> = Vec::new();
        let mut y = MARGIN;
        for block in blocks {
            if block.starts_page && !page.is_empty() {
                pages.push(std::mem::take(&mut page));
                y = MARGIN;
            }
            if !page.is_empty() {
                y += block.space_before;
            }
            let width = PAGE_WIDTH - 2.0 * MARGIN - block.indent;
            let layout = self.layout(&block.text, block, width);
            let set = Arc::new(Set {
                text: &block.text,
                layout,
            });
            for (at, line) in set.layout.lines().enumerate() {
                let metrics = line.metrics();
                let height = metrics.block_max_coord - metrics.block_min_coord;
                if y + height > PAGE_HEIGHT - MARGIN {
                    pages.push(std::mem::take(&mut page));
                    y = MARGIN;
                    if pages.len() >= MAX_PAGES {
                        return Err(RenderError::TooLong);
                    }
                }
                let baseline = y + metrics.baseline - metrics.block_min_coord;
                let x = MARGIN + block.indent;
                if let (0, Some(marker)) = (at, &block.marker) {
                    let layout = self.layout(marker, block, MARKER_POINTS);
                    page.push(Placed {
                        set: Arc::new(Set {
                            text: marker,
                            layout,
                        }),
                        line: 0,
                        x: x - MARKER_POINTS,
                        baseline,
                    });
                }
                page.push(Placed {
                    set: Arc::clone(&set),
                    line: at,
                    x,
                    baseline,
                });
                y += height;
            }
        }
        pages.push(page);
        Ok(pages)
    }

    fn layout(&mut self, text: &str, block: &Block, width: f32) -> Layout<()> {
        let mut builder = self
            .layouts
            .ranged_builder(&mut self.fonts, text, 1.0, false);
        builder.push_default(StyleProperty::FontFamily(FontFamily::List(Cow::Borrowed(
            FAMILIES,
        ))));
        builder.push_default(StyleProperty::FontSize(block.size));
        builder.push_default(StyleProperty::LineHeight(LineHeight::FontSizeRelative(
            LINE_HEIGHT,
        )));
        if block.is_bold {
            builder.push_default(StyleProperty::FontWeight(FontWeight::BOLD));
        }
        for range in &block.bold {
            // A marker is shorter than the text that its block's ranges are about.
            if range.end <= text.len() && text == block.text {
                builder.push(StyleProperty::FontWeight(FontWeight::BOLD), range.clone());
            }
        }
        let mut layout = builder.build(text);
        layout.break_all_lines(Some(width));
        layout.align(Alignment::Start, parley::AlignmentOptions::default());
        layout
    }

    fn draw(
        &mut self,
        surface: &mut Surface<'_>,
        text: &str,
        line: &Line<'_, ()>,
        (left, baseline): (f32, f32),
    ) -> Result<(), RenderError> {
        let mut x = left + line.metrics().offset;
        for run in line.runs() {
            let data = run.font().clone();
            let (bytes, id) = data.data.into_raw_parts();
            let font = match self.embedded.get(&id) {
                Some(font) => font.clone(),
                None => {
                    let font = Font::new(bytes.into(), data.index).ok_or(RenderError::Font)?;
                    self.embedded.insert(id, font.clone());
                    font
                }
            };
            let size = run.font_size();
            let (start, mut glyphs) = (x, Vec::<KrillaGlyph>::new());
            for cluster in run.visual_clusters() {
                if cluster.is_ligature_continuation() {
                    // The ligature stands for this text too when it is copied.
                    if let Some(glyph) = glyphs.last_mut() {
                        let more = cluster.text_range();
                        glyph.text_range.start = glyph.text_range.start.min(more.start);
                        glyph.text_range.end = glyph.text_range.end.max(more.end);
                    }
                    continue;
                }
                for glyph in cluster.glyphs() {
                    glyphs.push(KrillaGlyph::new(
                        GlyphId::new(glyph.id),
                        glyph.advance / size,
                        glyph.x / size,
                        glyph.y / size,
                        0.0,
                        cluster.text_range(),
                        None,
                    ));
                    x += glyph.advance;
                }
            }
            surface.draw_glyphs(
                Point::from_xy(start, baseline),
                &glyphs,
                font,
                text,
                size,
                false,
            );
        }
        Ok(())
    }
}

/// PDF/A-2u: fonts embedded, every glyph mapped to text, readable in decades.
fn settings() -> Result<SerializeSettings, RenderError> {
    let configuration = ConfigurationBuilder::new()
        .with_archival_validator(Archival::A2_U)
        .finish();
    Ok(SerializeSettings {
        configuration: configuration.map_err(|_| RenderError::Invalid("configuration"))?,
        ..SerializeSettings::default()
    })
}

fn metadata(facts: &Facts<'_>) -> Metadata {
    let Facts { title, id, at } = facts;
    Metadata::new()
        .title((*title).to_owned())
        .document_id((*id).to_owned())
        .language("en".to_owned())
        .creator("svc-gateway".to_owned())
        .creation_date(date(*at))
}

/// The parts of `2026-11-20T20:09:00.123Z`.
fn date(at: Timestamp) -> DateTime {
    let text = at.to_string();
    let part = |range: Range<usize>| text.get(range).and_then(|digits| digits.parse::<u8>().ok());
    let year = text.get(0..4).and_then(|digits| digits.parse().ok());
    DateTime::new(year.unwrap_or_default())
        .month(part(5..7).unwrap_or(1))
        .day(part(8..10).unwrap_or(1))
        .hour(part(11..13).unwrap_or_default())
        .minute(part(14..16).unwrap_or_default())
        .second(part(17..19).unwrap_or_default())
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}
