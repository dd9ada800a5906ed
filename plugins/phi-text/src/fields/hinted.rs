//! Labels with a unit or a hint behind them: `Age (years): 94`, `Patient name (last, first) - Okafor, Ann`.

use super::{MAX_LABEL_BYTES, Visit, is_label, trimmed};
use crate::chunk;
use crate::text::byte;

/// Bytes of the longest hint, and of the longest value behind one.
const MAX_HINT_BYTES: usize = 40;
const MAX_VALUE_BYTES: usize = 80;
/// Words of a value; more are a sentence.
const MAX_WORDS: usize = 6;

/// Hints that say that a label means something else.
const OTHERS: [&[u8]; 10] = [
    b"months", b"month", b"mo", b"mos", b"weeks", b"wks", b"days", b"hours", b"count", b"n",
];

/// The label without its hint; nothing where it has none, or where the hint makes it another one: `Age (months)`.
pub(super) fn without_hint(label: &[u8]) -> Option<&[u8]> {
    let inside = label.trim_ascii_end().strip_suffix(b")")?;
    let open = inside.iter().rposition(|byte| *byte == b'(')?;
    let (label, hint) = inside.split_at_checked(open)?;
    let hint = hint.get(1..)?.trim_ascii();
    let is_other = OTHERS.iter().any(|other| hint.eq_ignore_ascii_case(other));
    let label = label.trim_ascii_end();
    (!is_other && is_hint(hint) && !label.is_empty()).then_some(label)
}

/// Whether what stands in brackets says something, and declares nothing of a program.
fn is_hint(inside: &[u8]) -> bool {
    !inside.trim_ascii().is_empty() && !inside.iter().any(|byte| b":=".contains(byte))
}

/// Whether a bracket stands directly behind a name of a program: `firstName(`, and no `DOB(`.
fn is_called(before: &[u8]) -> bool {
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = before.iter().rev().take_while(is_of_name).count();
    let name = before.get(before.len() - len..).unwrap_or_default();
    name.first()
        .is_some_and(|first| first.is_ascii_lowercase() || *first == b'_')
}

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(close) = chunk::next_of(text, at, [b')']) {
        at = close + 1;
        let Some(start) = behind_sign(text, at) else {
            continue;
        };
        let Some(label) = label(text, at) else {
            continue;
        };
        if let Some((start, end)) = value(text, start) {
            visit(label, start, end);
        }
    }
}

/// Where the value stands behind `: `, ` = ` or ` - `.
fn behind_sign(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let signs: &[&[u8]] = match rest.first()? {
        b':' => &[b": ", b":\t"],
        b' ' if matches!(rest.get(1)?, b':' | b'=' | b'-' | 0xe2) => {
            &[b" : ", b" = ", b" - ", "\u{20}\u{2013} ".as_bytes()]
        }
        _ => return None,
    };
    let sign = signs.iter().find(|sign| rest.starts_with(sign))?;
    Some(at + sign.len())
}

/// The label with its hint that ends at `end`: from the beginning of its line, or from what divides a line.
fn label(text: &[u8], end: usize) -> Option<&[u8]> {
    let head = text.get(end.saturating_sub(MAX_LABEL_BYTES + MAX_HINT_BYTES)..end)?;
    let open = head.iter().rposition(|byte| *byte == b'(')?;
    let (before, hint) = head.split_at_checked(open)?;
    let inside = hint.get(1..hint.len() - 1)?;
    if is_called(before) || !is_hint(inside) {
        return None;
    }
    let is_divider = |byte: &u8| b"\n\r\t|;,>*\"".contains(byte);
    let from = before.iter().rposition(is_divider).map_or(0, |at| at + 1);
    let words = before.get(from..)?.trim_ascii_start();
    let words = words.strip_prefix(b"- ").unwrap_or(words);
    // Columns are two spaces apart.
    let gap = words
        .trim_ascii_end()
        .windows(2)
        .rposition(|pair| pair == b"  ");
    let words = gap.map_or(words, |gap| words.get(gap + 2..).unwrap_or_default());
    let label = words.trim_ascii_end();
    let start = open - words.len();
    (is_label(label) && hint.len() <= MAX_HINT_BYTES && !hint.contains(&b'\n'))
        .then(|| head.get(start..))?
}

/// What stands at `start`, up to the end of its line or what divides it.
fn value(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let rest = text.get(start..text.len().min(start + MAX_VALUE_BYTES))?;
    let end = rest.iter().position(|byte| b"\n\r\t|;(<".contains(byte));
    let mut value = rest.get(..end.unwrap_or(rest.len()))?;
    if let Some(gap) = value.trim_ascii().windows(2).position(|pair| pair == b"  ") {
        value = value.get(..gap)?;
    }
    // The label of the next value stands before its hint.
    if end.is_some_and(|end| byte(rest, end) == b'(') {
        let comma = value.iter().rposition(|byte| *byte == b',')?;
        value = value.get(..comma)?;
    }
    let words = value
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let is_sentence = words.count() > MAX_WORDS || value.windows(2).any(|pair| pair == b": ");
    let (start, end) = trimmed(text, start, start + value.len())?;
    let is_told = is_small(text.get(start..end)?);
    (!is_sentence && !is_told).then_some((start, end))
}

/// Whether a value has a word in small letters that is no particle of a name, as explanations do: `Please enter yours`.
pub(super) fn is_small(value: &[u8]) -> bool {
    /// Letters of `van` and `del`.
    const PARTICLE: usize = 3;
    let mut words = value.split(|byte| *byte == b' ').enumerate();
    let is_numbered = byte(value, 0).is_ascii_digit();
    words.any(|(at, word)| {
        byte(word, 0).is_ascii_lowercase() && (at == 0 || word.len() > PARTICLE && !is_numbered)
    })
}
