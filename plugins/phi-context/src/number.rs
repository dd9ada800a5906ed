//! Numbers of code and pictures: nobody's ids, phones or ages, whatever they look like.

use phi_text::color;

use crate::token::{Token, shape};

/// Whether a value is numbers of base sixteen (`0x1F, 0x2A`), a color (`fill="#848400"`), a factor (`* 1.012`), or taken
/// from coordinates: `c2.1-4.7,4.9-8.7,8.5-12.1`.
pub fn is_of_code(text: &str, tokens: &[Token]) -> bool {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return false;
    };
    let word = |token: &Token| text.get(token.start..token.end).unwrap_or_default();
    let before = text.get(..first.start).unwrap_or_default();
    let behind = text.get(last.end..).unwrap_or_default();
    // In a list: by itself it may be letters of somebody.
    let is_listed = tokens.len() > 2 && tokens.iter().skip(1).all(|token| token.gap.divides())
        || before.trim_end().ends_with(',')
        || behind.starts_with(',');
    is_listed && tokens.iter().all(|token| is_word_of_memory(word(token)))
        || tokens.len() == 1 && color::is_one(text.as_bytes(), first.start, first.end)
        || is_decimal(tokens) && is_factor(before)
        || tokens.iter().all(|token| letters(word(token)) < 2)
            && is_coordinate(text, first.start, last.end)
        || tokens
            .iter()
            .all(|token| word(token).bytes().all(is_of_path))
            && is_in_path(before)
}

fn is_word_of_memory(word: &str) -> bool {
    /// Digits of 64 bits.
    const MOST: usize = 16;
    word.strip_prefix("0x")
        .is_some_and(|digits| digits.len() <= MOST)
}

fn letters(word: &str) -> usize {
    word.chars().filter(|letter| letter.is_alphabetic()).count()
}

/// Whether a value is one number with a point: `1.012`.
fn is_decimal(tokens: &[Token]) -> bool {
    let is_number = |token: &Token| token.shape >= shape::YEAR;
    matches!(tokens, [whole, part] if is_number(whole) && is_number(part) && part.gap.is_only('.'))
}

/// Whether what stands behind `before` is multiplied with it: `0.9938**age * (…`.
fn is_factor(before: &str) -> bool {
    let head = before.trim_end_matches([' ', '(']);
    let product = head.trim_end_matches('*');
    product.len() < head.len()
        && product
            .trim_end_matches(' ')
            .ends_with(|sign: char| sign.is_alphanumeric() || sign == ')')
}

/// What paths of SVG are made of: commands, numbers, and signs between them.
const fn is_of_path(byte: u8) -> bool {
    matches!(
        byte,
        b'0'..=b'9' | b' ' | b'\t' | b'\n' | b'\r' | b'.' | b',' | b'-' | b'+'
    ) || matches!(
        byte.to_ascii_lowercase(),
        b'm' | b'l' | b'h' | b'v' | b'c' | b's' | b'q' | b't' | b'a' | b'z' | b'e'
    )
}

/// Whether what stands behind `before` is in an attribute of such a path, or of points: `d="M8 24c2.208 0 4-1.792"`.
fn is_in_path(before: &str) -> bool {
    const ATTRIBUTES: [&str; 4] = [" d=", "\td=", "points=", "viewBox="];
    /// Bytes back to the attribute.
    const REACH: usize = 4096;
    let bytes = before.bytes().rev().take(REACH);
    let inside = bytes.take_while(|byte| is_of_path(*byte)).count();
    let head = before.get(..before.len() - inside).unwrap_or_default();
    head.strip_suffix(['"', '\''])
        .is_some_and(|head| ATTRIBUTES.iter().any(|attribute| head.ends_with(attribute)))
}

const fn is_of_list(byte: &u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_whitespace() || matches!(*byte, b',' | b'.' | b'-')
}

/// Whether `text[start..end]` is in a list of numbers between brackets: `[3, 4, 5]`.
pub fn is_in_list(text: &str, start: usize, end: usize) -> bool {
    /// Bytes on either side.
    const REACH: usize = 256;
    let bytes = text.as_bytes();
    let before = bytes.get(start.saturating_sub(REACH)..start);
    let behind = bytes.get(end..text.len().min(end + REACH));
    let inside = bytes.get(start..end).unwrap_or_default();
    inside.iter().all(is_of_list)
        && before
            .unwrap_or_default()
            .iter()
            .rev()
            .find(|byte| !is_of_list(byte))
            == Some(&b'[')
        && behind
            .unwrap_or_default()
            .iter()
            .find(|byte| !is_of_list(byte))
            == Some(&b']')
}

/// Whether numbers with points, and single letters, are nearly all that is around.
fn is_coordinate(text: &str, start: usize, end: usize) -> bool {
    const AROUND: usize = 80;
    const MANY: usize = 8;
    let from = text.floor_char_boundary(start.saturating_sub(AROUND));
    let to = text.ceil_char_boundary((end + AROUND).min(text.len()));
    let around = text.get(from..to).unwrap_or_default();
    let words = around
        .split(|letter: char| !letter.is_alphanumeric() && letter != '.')
        .filter(|word| letters(word) > 2)
        .count();
    let points = around
        .as_bytes()
        .windows(2)
        .filter(|pair| matches!(pair, [b'.', digit] if digit.is_ascii_digit()))
        .count();
    points >= MANY && words * 4 <= points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of `value`, which is in `text`.
    fn tokens(text: &str, value: &str) -> Vec<Token> {
        let start = text.rfind(value).unwrap_or_default();
        let mut tokens = Vec::new();
        crate::token::read(text, 0, text.len(), &mut tokens);
        tokens.retain(|token| start <= token.start && token.end <= start + value.len());
        assert!(!tokens.is_empty(), "{value} is not in {text}");
        tokens
    }

    #[test]
    fn a_list_of_numbers_has_brackets() {
        let is_in_list = |text: &str, value: &str| {
            let start = text.find(value).unwrap_or_default();
            is_in_list(text, start, start + value.len())
        };
        assert!(is_in_list("{\"data\": [\n  3,\n  4,\n  5\n]}", "4"));
        assert!(is_in_list("[3, 4, 5]", "3, 4"));
        assert!(!is_in_list("seen May [3, 4", "3, 4"));
        assert!(!is_in_list("[May 3, 4]", "3, 4"));
    }

    #[test]
    fn numbers_of_code_are_nobodys() {
        let is_of_code = |text: &str, value: &str| is_of_code(text, &tokens(text, value));
        assert!(is_of_code("t = {0x92523a42, 0x1eb7a89c};", "0x1eb7a89c"));
        assert!(is_of_code("<body vlink=\"#840084\">", "840084"));
        assert!(is_of_code(
            "<path d=\"M8 1c-.55.442-1.03 1-1.03zM3.6 7.7c.78 3.3 4.69 4.43 7.7 3.28\"/>",
            "4.43 7.7"
        ));
        assert!(is_of_code(
            "<path d=\"M8 24c2 0 4-1 4-4v10h9v7z\"/>",
            "4v10h9v7z"
        ));
        assert!(is_of_code(
            "max(scr / k, 1)**-1.2 * (1.012 if female",
            "1.012"
        ));
        for (text, value) in [
            ("* seen today\n* 12.345 is the chart", "12.345"),
            ("<id value=\"4471223 0\"/>", "4471223"),
            ("chart #840084", "840084"),
            ("the letters are 0x49 0x64 0x61", "0x49 0x64 0x61"),
            (
                "WBC 7.8, Hgb 12.1, Na 138.2, K 4.1, MRN 448812, Cl 101.3",
                "448812",
            ),
        ] {
            assert!(!is_of_code(text, value), "{text}");
        }
    }
}
