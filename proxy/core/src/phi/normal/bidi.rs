//! Text that is written backwards and turned round by an override, so that only a reader of bytes is fooled.

use super::rewrite::{Rewrite, Rewriter};

const RIGHT_TO_LEFT_OVERRIDE: char = '\u{202e}';
const POP_DIRECTION: char = '\u{202c}';

/// Turns what stands behind an override round; each such stretch can only be replaced whole.
pub(super) fn unreverse(text: &str) -> Option<Rewrite> {
    let mut rewriter = Rewriter::new(text);
    for (start, _) in text.match_indices(RIGHT_TO_LEFT_OVERRIDE) {
        if start < rewriter.done() {
            continue;
        }
        let from = start + RIGHT_TO_LEFT_OVERRIDE.len_utf8();
        let rest = text.get(from..).unwrap_or_default();
        let length = rest.find([POP_DIRECTION, '\n', '\r']).unwrap_or(rest.len());
        let turned: String = rest
            .get(..length)
            .unwrap_or_default()
            .chars()
            .rev()
            .collect();
        let mut end = from + length;
        if text
            .get(end..)
            .is_some_and(|rest| rest.starts_with(POP_DIRECTION))
        {
            end += POP_DIRECTION.len_utf8();
        }
        rewriter.replace(start..end, &turned);
    }
    rewriter.finish()
}
