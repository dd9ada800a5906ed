//! Which signs a text has at all: most have too few to be structured. One look over the text says it for all readers.

/// What of a text is known before it is read: signs, and pairs of them, one bit each.
#[derive(Clone, Copy)]
pub(super) struct Signs(u32);

pub(super) const PIPE: u32 = 1;
pub(super) const COMMA: u32 = 1 << 1;
pub(super) const SINGLE: u32 = 1 << 2;
pub(super) const DOUBLE: u32 = 1 << 3;
pub(super) const QUOTE: u32 = SINGLE | DOUBLE;
pub(super) const COLON: u32 = 1 << 4;
pub(super) const EQUALS: u32 = 1 << 5;
/// `<` and `>`.
pub(super) const OPEN: u32 = 1 << 6;
pub(super) const CLOSE: u32 = 1 << 7;
pub(super) const SEMICOLON: u32 = 1 << 8;
pub(super) const TAB: u32 = 1 << 9;
pub(super) const LINE: u32 = 1 << 10;
/// Round ones, both.
pub(super) const BRACKET: u32 = 1 << 11;
pub(super) const SQUARE: u32 = 1 << 12;
/// What separators of NCPDP begin with, however they are written.
pub(super) const MARK: u32 = 1 << 13;
const SIGNS: u32 = (1 << 14) - 1;

/// `PID|`, `P|`: a capital or a digit before a bar.
pub(super) const SEGMENT: u32 = 1 << 14;
/// `NM1*`.
pub(super) const ELEMENT: u32 = 1 << 15;
/// `PID-`.
pub(super) const CODE: u32 = 1 << 16;
/// `5:`.
pub(super) const NUMBERED: u32 = 1 << 17;
/// `tN`: a small letter before a capital.
pub(super) const HUMP: u32 = 1 << 18;
/// `{l`, `[l`: a letter behind a bracket.
pub(super) const OBJECT: u32 = 1 << 19;
/// Two spaces.
pub(super) const GAP: u32 = 1 << 20;
pub(super) const DASHES: u32 = 1 << 21;
/// A bracket closes before `: `, ` = ` or the like.
pub(super) const HINT: u32 = 1 << 22;
/// A single quote that is no apostrophe inside of a word.
pub(super) const STRING: u32 = 1 << 23;
/// `("`, `('`, `(\`.
pub(super) const CALL: u32 = 1 << 24;
/// ` "`.
pub(super) const SPACED: u32 = 1 << 25;
/// `(0010`: a hexadecimal digit behind a bracket.
pub(super) const TAG: u32 = 1 << 26;
/// `<t`, of `<tr>`.
pub(super) const ROW: u32 = 1 << 27;
/// The first two bytes of signs that boxes are drawn with.
pub(super) const BOX: u32 = 1 << 28;
/// A line that begins with a digit, or with white space or what else is put before lines.
pub(super) const LEAD: u32 = 1 << 29;
/// `:V`, of `BEGIN:VCARD`.
pub(super) const CARD: u32 = 1 << 30;
/// A tab that is not the first of its line.
pub(super) const INNER_TAB: u32 = 1 << 31;

/// The signs that a byte is, and the pairs that it may begin.
const fn first(byte: u8) -> u32 {
    let signs = match byte {
        b'|' => PIPE,
        b',' => COMMA,
        b'\'' => SINGLE,
        b'"' => DOUBLE,
        b':' => COLON | CARD,
        b'=' => EQUALS,
        b'<' => OPEN | MARK | ROW,
        b'>' => CLOSE,
        b';' => SEMICOLON,
        b'\t' => TAB,
        b'\n' | b'\r' => LINE | LEAD,
        b'(' => BRACKET | CALL | TAG,
        b')' => BRACKET | HINT,
        b'[' => SQUARE | OBJECT,
        b'{' => OBJECT,
        b'^' | b'\\' | 0x1c => MARK,
        0xe2 => MARK | BOX,
        b' ' => GAP | SPACED,
        b'-' => DASHES,
        _ => 0,
    };
    let is_coded = byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_prefix = matches!(byte, b'N' | b'E');
    signs
        | given(is_coded, SEGMENT | ELEMENT | CODE)
        | given(byte.is_ascii_digit(), NUMBERED)
        | given(byte.is_ascii_lowercase(), HUMP)
        | given(is_prefix || !crate::text::is_word(byte), STRING)
        | given(!matches!(byte, b'\n' | b'\r' | b'\t'), INNER_TAB)
}

/// The pairs that a byte may end. Of signs that need no other one it may be behind all.
const fn second(byte: u8) -> u32 {
    let pairs = match byte {
        b'|' => SEGMENT,
        b'*' => ELEMENT,
        b'-' => CODE | DASHES,
        b':' => NUMBERED | HINT,
        b' ' => GAP | HINT | LEAD,
        b'\'' => STRING | CALL,
        b'"' => CALL | SPACED | LEAD,
        b'\\' => CALL,
        b't' | b'T' => ROW,
        0x94 | 0x95 => BOX,
        b'>' => LEAD,
        b'\t' => LEAD | INNER_TAB,
        b'v' | b'V' => CARD,
        _ => 0,
    };
    SIGNS
        | pairs
        | given(byte.is_ascii_uppercase(), HUMP)
        | given(byte.is_ascii_alphabetic(), OBJECT)
        | given(byte.is_ascii_hexdigit(), TAG)
        | given(byte.is_ascii_digit(), LEAD)
}

const fn given(is_so: bool, signs: u32) -> u32 {
    if is_so { signs } else { 0 }
}

const FIRST: [u32; 256] = {
    let mut signs = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        signs[byte] = first(byte as u8);
        byte += 1;
    }
    signs
};

const SECOND: [u32; 256] = {
    let mut signs = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        signs[byte] = second(byte as u8);
        byte += 1;
    }
    signs
};

impl Signs {
    pub(super) fn of(text: &[u8]) -> Self {
        let first = |byte: u8| FIRST.get(usize::from(byte)).copied().unwrap_or_default();
        let second = |byte: u8| SECOND.get(usize::from(byte)).copied().unwrap_or_default();
        // What a text begins with stands behind the end of a line.
        let (mut signs, mut before) = (0, first(b'\n') & !SIGNS);
        // Several at a time: see `chunk`.
        let (chunks, rest) = text.as_chunks::<8>();
        for [a, b, c, d, e, f, g, h] in chunks.iter().copied() {
            signs |= before & second(a) | first(a) & second(b) | first(b) & second(c);
            signs |= first(c) & second(d) | first(d) & second(e) | first(e) & second(f);
            signs |= first(f) & second(g) | first(g) & second(h);
            before = first(h);
        }
        for byte in rest {
            signs |= before & second(*byte);
            before = first(*byte);
        }
        Self(signs | before & SIGNS)
    }

    /// Whether the text has one of `signs`.
    pub(super) const fn has(self, signs: u32) -> bool {
        self.0 & signs != 0
    }

    /// Whether the text has one of each of `needs`.
    pub(super) fn have(self, needs: &[u32]) -> bool {
        needs.iter().all(|signs| self.has(*signs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_found_wherever_it_stands() {
        let pairs = [
            ("D|", SEGMENT),
            ("1*", ELEMENT),
            ("D-", CODE),
            ("5:", NUMBERED),
            ("tN", HUMP),
            ("[l", OBJECT),
            ("  ", GAP),
            ("--", DASHES),
            (") ", HINT),
            ("N'", STRING),
            ("(\"", CALL),
            (" \"", SPACED),
            ("(f", TAG),
            ("<T", ROW),
            ("\r7", LEAD),
            (":v", CARD),
        ];
        for (pair, sign) in pairs {
            for before in 0..20 {
                for behind in 0..10 {
                    let text = ["é".repeat(before), pair.into(), "é".repeat(behind)].concat();
                    assert!(Signs::of(text.as_bytes()).has(sign), "{text}");
                }
                let apart: Vec<String> = pair.chars().map(String::from).collect();
                let text = ["é".repeat(before), apart.join("é")].concat();
                assert!(!Signs::of(text.as_bytes()).has(sign), "{text}");
            }
        }
    }

    #[test]
    fn what_a_text_begins_with_begins_a_line_too() {
        assert!(Signs::of(b"0183101").has(LEAD));
        assert!(Signs::of(b"'a'").has(STRING));
        assert!(!Signs::of(b"\ta\n\t\tb").has(INNER_TAB));
        assert!(Signs::of(b"a\t").has(INNER_TAB));
        assert!(Signs::of("\u{2502}".as_bytes()).has(BOX));
        assert!(!Signs::of("\u{2192}".as_bytes()).has(BOX));
        assert!(!Signs::of(b"").has(LEAD | LINE));
    }

    #[test]
    fn every_sign_counts_alone() {
        for (sign, bit) in [
            ("|", PIPE),
            (",", COMMA),
            ("'", SINGLE),
            ("=", EQUALS),
            ("\r", LINE),
        ] {
            for before in 0..10 {
                let text = ["k".repeat(before).as_str(), sign].concat();
                assert!(Signs::of(text.as_bytes()).have(&[bit, bit | TAB]), "{text}");
                assert!(!Signs::of(text.as_bytes()).have(&[bit, TAB]), "{text}");
            }
        }
    }
}
