//! A changed text with the way back: which bytes of the source each stretch of it reads.

use std::ops::Range;

/// A text that reads differently from its source. Offsets are bytes on character borders.
pub(in crate::phi) struct Rewrite {
    text: String,
    /// In order in both texts. Source bytes of no piece read as nothing.
    pieces: Vec<Piece>,
    /// In order: where in the text something unseen was left out.
    joints: Vec<Joint>,
}

/// A place of a text at which its source has something that no reader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joint {
    /// The byte behind it.
    pub(super) at: usize,
    pub(super) unseen: Unseen,
}

/// What no reader sees, by where it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// In the place of a character that nobody could read: anything may have stood there.
    Lost,
    /// Between words: a space without a width, a mark of direction, a control.
    Between,
    /// Inside words of some script, or of any: joiners, selectors, the soft hyphen.
    Inside,
}

/// Texts are bodies of requests, far below 4 GiB.
#[derive(Clone, Copy)]
struct Piece {
    source: (u32, u32),
    reads: (u32, u32),
    /// Byte for byte the source; any other piece stands for its whole source.
    same: bool,
}

impl Rewrite {
    pub(in crate::phi) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The source bytes behind a stretch of the text; what cannot be divided comes whole.
    pub(in crate::phi) fn source_of(&self, reads: Range<usize>) -> Range<usize> {
        let (start, end) = (narrow(reads.start), narrow(reads.end));
        let first = self.pieces.partition_point(|piece| piece.reads.1 <= start);
        let behind = self.pieces.partition_point(|piece| piece.reads.0 < end);
        let pieces = self.pieces.get(first..behind).unwrap_or_default();
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return 0..0;
        };
        let from = if first.same {
            first.source.0 + start.saturating_sub(first.reads.0)
        } else {
            first.source.0
        };
        // Pieces of one blob share its source, so the last one's end is the furthest.
        let to = if last.same {
            last.source.1 - last.reads.1.saturating_sub(end)
        } else {
            last.source.1
        };
        from as usize..to as usize
    }

    /// Where source bytes are read; with what is around them where they cannot be divided.
    pub(in crate::phi) fn reads_of(&self, source: Range<usize>) -> Range<usize> {
        let (start, end) = (narrow(source.start), narrow(source.end));
        let first = self.pieces.partition_point(|piece| piece.source.1 <= start);
        let behind = self.pieces.partition_point(|piece| piece.source.0 < end);
        let pieces = self.pieces.get(first..behind).unwrap_or_default();
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return 0..0;
        };
        let from = if first.same {
            first.reads.0 + start.saturating_sub(first.source.0)
        } else {
            first.reads.0
        };
        let to = if last.same {
            last.reads.1 - last.source.1.saturating_sub(end)
        } else {
            last.reads.1
        };
        from as usize..to as usize
    }

    /// What of the source stands for something else, inside of a stretch or right beside it: its bytes, and what they read
    /// as.
    pub(in crate::phi) fn replaced(
        &self,
        source: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, &str)> {
        let (start, end) = (narrow(source.start), narrow(source.end));
        let first = self.pieces.partition_point(|piece| piece.source.1 < start);
        let ahead = self.pieces.get(first..).unwrap_or_default().iter();
        let near = ahead.take_while(move |piece| piece.source.0 <= end);
        near.filter(|piece| !piece.same).filter_map(|piece| {
            let reads = self
                .text
                .get(piece.reads.0 as usize..piece.reads.1 as usize)?;
            Some((piece.source.0 as usize..piece.source.1 as usize, reads))
        })
    }

    /// This rewrite followed by one of its text.
    pub(super) fn then(&self, next: &Self) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len() + next.pieces.len());
        let mut ahead = self.pieces.as_slice();
        for piece in &next.pieces {
            let passed = ahead.partition_point(|mine| mine.reads.1 <= piece.source.0);
            ahead = ahead.get(passed..).unwrap_or_default();
            if piece.same {
                divide(piece, ahead, &mut pieces);
            } else {
                let source = self.source_of(piece.source.0 as usize..piece.source.1 as usize);
                pieces.push(Piece {
                    source: (narrow(source.start), narrow(source.end)),
                    ..*piece
                });
            }
        }
        let mine = self.joints.iter().filter_map(|joint| {
            let at = next.place_of(joint.at)?;
            Some(Joint { at, ..*joint })
        });
        let mut joints: Vec<Joint> = mine.chain(next.joints.iter().copied()).collect();
        joints.sort_by_key(|joint| joint.at);
        Self {
            text: next.text.clone(),
            pieces,
            joints,
        }
    }

    /// Where a place of the source is in the text; nothing where it is inside of what cannot be divided, or left out.
    fn place_of(&self, source: usize) -> Option<usize> {
        let source = narrow(source);
        let behind = self
            .pieces
            .partition_point(|piece| piece.source.1 <= source);
        let piece = self.pieces.get(behind)?;
        let steps = source.checked_sub(piece.source.0)?;
        (steps == 0 || piece.same).then_some((piece.reads.0 + steps) as usize)
    }

    /// This rewrite, and the next one where there is something to rewrite.
    pub(super) fn and_then(self, next: impl Fn(&str) -> Option<Self>) -> Self {
        match next(&self.text) {
            Some(next) => self.then(&next),
            None => self,
        }
    }
}

/// Divides a piece that copies a stretch of the middle text at the borders of the pieces that made it.
fn divide(piece: &Piece, made_by: &[Piece], pieces: &mut Vec<Piece>) {
    for mine in made_by
        .iter()
        .take_while(|mine| mine.reads.0 < piece.source.1)
    {
        let from = mine.reads.0.max(piece.source.0);
        let to = mine.reads.1.min(piece.source.1);
        let source = if mine.same {
            let start = mine.source.0 + (from - mine.reads.0);
            (start, start + (to - from))
        } else {
            mine.source
        };
        let shift = piece.reads.0;
        pieces.push(Piece {
            source,
            reads: (
                shift + (from - piece.source.0),
                shift + (to - piece.source.0),
            ),
            same: mine.same,
        });
    }
}

/// Makes a [`Rewrite`] from left to right. Allocates nothing before the first change.
pub(in crate::phi) struct Rewriter<'t> {
    source: &'t str,
    text: String,
    pieces: Vec<Piece>,
    joints: Vec<Joint>,
    /// Everything before is written.
    done: usize,
    changed: bool,
}

impl<'t> Rewriter<'t> {
    pub(in crate::phi) fn new(source: &'t str) -> Self {
        Self {
            source,
            text: String::new(),
            pieces: Vec::new(),
            joints: Vec::new(),
            done: 0,
            changed: false,
        }
    }

    /// Bytes of the source that were replaced or passed over by a replacement.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// Lets `range`, which is behind every earlier one, read as `text`.
    pub(in crate::phi) fn replace(&mut self, range: Range<usize>, text: &str) {
        self.copy_to(range.start);
        self.changed = true;
        self.done = range.end;
        if text.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece {
            source: (narrow(range.start), narrow(range.end)),
            reads: (narrow(start), narrow(self.text.len())),
            same: false,
        });
    }

    /// Lets `range`, which is behind every earlier one, read as nothing, because nobody sees it.
    pub(super) fn leave_out(&mut self, range: Range<usize>, unseen: Unseen) {
        self.replace(range, "");
        let at = self.text.len();
        // Many may stand in a row: a file of control characters is as long as its text.
        let joint = Joint { at, unseen };
        if self.joints.last() != Some(&joint) {
            self.joints.push(joint);
        }
    }

    /// The result; nothing where nothing was replaced.
    pub(in crate::phi) fn finish(mut self) -> Option<Rewrite> {
        if !self.changed {
            return None;
        }
        self.copy_to(self.source.len());
        Some(Rewrite {
            text: self.text,
            pieces: self.pieces,
            joints: self.joints,
        })
    }

    fn copy_to(&mut self, end: usize) {
        if !self.changed {
            self.text.reserve(self.source.len());
        }
        let same = self.source.get(self.done..end).unwrap_or_default();
        if same.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(same);
        self.pieces.push(Piece {
            source: (narrow(self.done), narrow(end)),
            reads: (narrow(start), narrow(self.text.len())),
            same: true,
        });
        self.done = end;
    }
}

fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
