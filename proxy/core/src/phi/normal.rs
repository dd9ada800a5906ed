//! What a text reads as: the same words without disguise, and the way back to the bytes that stand there.
//!
//! A text has up to three readings beside itself. The *folded* one takes away what no reader sees (zero-width
//! characters, direction marks, compatibility forms, look-alike letters, other scripts' digits). The *decoded*
//! one also opens escapes and encodings, one in another down to [`MAX_DEPTH`], and takes words apart that file names
//! and code join. The *divided* one is like it, but begins with taking words apart that something unseen divides: in
//! the two others they stay whole. All are for reading only: what is rewritten is always the original, and an encoded
//! blob goes as a whole.

mod address;
mod answer;
mod bidi;
mod blob;
mod calm;
mod divided;
mod escape;
mod fold;
mod joined;
mod look_alike;
mod rewrite;
mod spaced;
mod tex;
mod twin;
mod wrap;

pub(super) use answer::{answered, answers};
use calm::Doubts;
pub use fold::is_unseen;
pub(super) use rewrite::{Rewrite, Rewriter};
pub(super) use wrap::wraps;

/// Encodings that are opened inside one another (architecture, section 4).
pub(super) const MAX_DEPTH: usize = 2;

/// The readings of a text that differ from it. All are absent for nearly every text.
#[derive(Default)]
pub(super) struct Readings {
    pub(super) folded: Option<Rewrite>,
    pub(super) decoded: Option<Rewrite>,
    pub(super) divided: Option<Rewrite>,
}

impl Readings {
    /// Whether the text reads as it stands.
    pub(super) const fn are_plain(&self) -> bool {
        self.folded.is_none() && self.decoded.is_none() && self.divided.is_none()
    }
}

/// One way to read a text; nothing where it reads as it stands.
type Read = fn(&str) -> Option<Rewrite>;

/// Reads a text. Costs one look at each byte where nothing is disguised, and allocates nothing then.
pub(super) fn readings(text: &str) -> Readings {
    let doubts = Doubts::of(text);
    if doubts == Doubts::default() {
        return Readings::default();
    }
    let (mut folded, mut decoded) = (None, None);
    if doubts.letters {
        folded = fold::fold(text);
        decoded = bidi::unreverse(text).map(|straight| straight.and_then(fold::fold));
    }
    for _ in 0..if doubts.escapes { MAX_DEPTH } else { 0 } {
        let base = decoded.as_ref().or(folded.as_ref());
        let Some(opened) = escape::open(base.map_or(text, Rewrite::text)) else {
            break;
        };
        let opened = match base {
            Some(base) => base.then(&opened),
            None => opened,
        };
        decoded = Some(opened.and_then(fold::fold));
    }
    let base = decoded.as_ref().or(folded.as_ref());
    let divided = base.and_then(|base| Some(base.then(&divided::part(base)?)));
    let steps: [(bool, Read); 3] = [
        (doubts.rows, spaced::join),
        (doubts.twins, twin::straighten),
        (doubts.joints, joined::part),
    ];
    let divided = steps.iter().fold(divided, |divided, (_, read)| {
        divided.map(|divided| divided.and_then(read))
    });
    for (is_doubted, read) in steps {
        // What was not doubted of the text itself may be in what it reads as.
        if !is_doubted && decoded.is_none() {
            continue;
        }
        let base = decoded.as_ref().or(folded.as_ref());
        if let Some(next) = read(base.map_or(text, Rewrite::text)) {
            decoded = Some(match base {
                Some(base) => base.then(&next),
                None => next,
            });
        }
    }
    Readings {
        folded,
        decoded,
        divided,
    }
}

/// Reads a web address: its words, not the address that they make up.
pub(super) fn address_readings(text: &str) -> Readings {
    let words = address::words(text);
    let opened = readings(words.as_ref().map_or(text, Rewrite::text));
    let behind = |next: Rewrite| match &words {
        Some(words) => words.then(&next),
        None => next,
    };
    let divided = opened.divided.map(behind);
    let decoded = opened.decoded.map(behind);
    let folded = opened.folded.map(behind);
    Readings {
        folded: folded.or(words),
        decoded,
        divided,
    }
}

/// Whether a text that looks like sealed data is text in an encoding that anybody can open.
pub(super) fn is_readable_blob(text: &str) -> bool {
    blob::reads_as_text(text)
}

#[cfg(test)]
mod tests;
