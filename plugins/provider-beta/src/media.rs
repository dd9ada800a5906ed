//! Images and documents as parts of a user message.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use driver_kit::fault::{invalid, unsupported};
use driver_kit::json::raw;

use crate::bindings::gateway::provider::types::{Document, DriverError, Media};
use crate::wire::{File, ImageUrl, Part};

const PDF: &str = "application/pdf";
/// Kind B wants a name for every file.
const PDF_NAME: &str = "document.pdf";

pub fn text(text: &str) -> Part<'_> {
    Part::Text { text: text.into() }
}

/// An image with the hints that came with it: `detail`, how closely to look.
pub fn image<'a>(media: &'a Media, hints: &[(String, Vec<u8>)]) -> Result<Part<'a>, DriverError> {
    let detail = hints.iter().find(|(name, _)| name == "detail");
    let detail = detail.map(|(_, word)| raw(word, "detail")).transpose()?;
    let url = match media {
        Media::Inline(inline) => Cow::Owned(data_address(&inline.media_type, &inline.data)),
        Media::Url(url) => Cow::Borrowed(url.as_str()),
        Media::Text(_) => return Err(invalid("messages", "image_as_text")),
        Media::Other(_) => return Err(unsupported("messages")),
    };
    Ok(Part::ImageUrl {
        image_url: ImageUrl { url, detail },
    })
}

/// Whether kind B takes a document at all.
pub fn is_taken(document: &Document) -> bool {
    is_words(document)
        || matches!(&document.media, Media::Inline(inline) if inline.media_type == PDF)
}

/// Plain text goes as text; kind B takes files as data only, and PDF alone.
pub fn document<'a>(document: &'a Document, parts: &mut Vec<Part<'a>>) -> Result<(), DriverError> {
    let Media::Inline(inline) = &document.media else {
        parts.push(Part::Text {
            text: words(document)?.into(),
        });
        return Ok(());
    };
    if inline.media_type != PDF {
        if inline.media_type.starts_with("text/") {
            parts.push(Part::Text {
                text: words(document)?.into(),
            });
            return Ok(());
        }
        return Err(unsupported("messages"));
    }
    if let Some(context) = document.context.as_deref().filter(|text| !text.is_empty()) {
        parts.push(text(context));
    }
    let title = document.title.as_deref().filter(|title| !title.is_empty());
    parts.push(Part::File {
        file: File {
            filename: title.unwrap_or(PDF_NAME),
            file_data: data_address(PDF, &inline.data),
        },
    });
    Ok(())
}

/// A text document with its title and context in front.
pub fn words(document: &Document) -> Result<String, DriverError> {
    let body = match &document.media {
        Media::Text(text) => text.as_str(),
        Media::Inline(inline) if inline.media_type.starts_with("text/") => {
            std::str::from_utf8(&inline.data).map_err(|_| invalid("messages", "not_utf8"))?
        }
        Media::Inline(_) | Media::Url(_) | Media::Other(_) => {
            return Err(unsupported("messages"));
        }
    };
    let pieces = [
        document.title.as_deref(),
        document.context.as_deref(),
        Some(body),
    ];
    let pieces: Vec<&str> = pieces
        .into_iter()
        .flatten()
        .filter(|piece| !piece.is_empty())
        .collect();
    Ok(pieces.join("\n\n"))
}

/// Whether a document has words to read rather than bytes to attach.
pub fn is_words(document: &Document) -> bool {
    match &document.media {
        Media::Text(_) => true,
        Media::Inline(inline) => inline.media_type.starts_with("text/"),
        Media::Url(_) | Media::Other(_) => false,
    }
}

fn data_address(media_type: &str, data: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(data))
}
