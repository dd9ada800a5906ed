//! Letters as labels count them: small, without accents, and what is no letter of a label.

/// What a character is in a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Letter {
    /// A letter or a digit, as a number that all ways to write it have.
    One(u32),
    /// Between words.
    Gap,
    /// A mark that some write and others do not.
    Mark,
    /// No label has it.
    Other,
}

/// Letters from U+00C0 and from U+1E00 on without their accents.
const LATIN: &[u8; 192] = b"\
aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty\
aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll\
lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
const MORE_LATIN: &[u8; 256] = b"\
aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm\
mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv\
wwwwwwwwwwxxxxyyzzzzzzhtwy      aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee\
eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy      ";

/// What the character with the number `letter` is.
pub(super) const fn letter(letter: u32) -> Letter {
    if letter < 0x80 {
        return PLAIN[letter as usize];
    }
    match letter {
        // No-break spaces, thin ones, and those as wide as a letter; hyphens, apostrophes, dots in the middle.
        0xa0 | 0xb7 | 0x2009 | 0x200a | 0x202f | 0x3000 | 0x2010 | 0x2011 | 0x2019 | 0x30fb => {
            Letter::Gap
        }
        // Signs of ordinal numbers, joiners, accents of their own, points of Hebrew and Arabic, the stroke that widens
        // a word, the dot of Hindi.
        0xaa | 0xb0 | 0xba | 0x200b..=0x200f | 0x300..=0x36f => Letter::Mark,
        0x591..=0x5c7 | 0x5f3 | 0x5f4 | 0x640 | 0x64b..=0x652 | 0x670 | 0x93c => Letter::Mark,
        0x80..=0xbf | 0x2000..=0x2115 | 0x2117..=0x2bff => Letter::Other,
        // `№`
        0x2116 => Letter::One('n' as u32),
        0xc0..=0x17f => Letter::One(LATIN[letter as usize - 0xc0] as u32),
        0x1a0 | 0x1a1 => Letter::One('o' as u32),
        0x1af | 0x1b0 => Letter::One('u' as u32),
        0x218 | 0x219 => Letter::One('s' as u32),
        0x21a | 0x21b => Letter::One('t' as u32),
        0x1e00..=0x1eff => Letter::One(MORE_LATIN[letter as usize - 0x1e00] as u32),
        0x370..=0x3ff => Letter::One(greek(letter)),
        // Cyrillic capitals, and the letter that most write without its dots.
        0x401 | 0x451 => Letter::One(0x435),
        0x400..=0x40f => Letter::One(letter + 0x50),
        0x410..=0x42f => Letter::One(letter + 0x20),
        0x490 => Letter::One(0x491),
        // Letters of Arabic that Persian and Urdu have in another form, and those with a sign above.
        0x622 | 0x623 | 0x625 => Letter::One(0x627),
        0x649 | 0x6cc => Letter::One(0x64a),
        0x6a9 => Letter::One(0x643),
        0x629 => Letter::One(0x647),
        0x600..=0x61f | 0x6d4 | 0x964 | 0x965 => Letter::Other,
        // Letters and digits as wide as those of Chinese.
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff41..=0xff5a => PLAIN[letter as usize - 0xfee0],
        0x3001..=0x3004 | 0x3008..=0x3020 | 0xfe00..=0xfe6f | 0xff00..=0xff65 => Letter::Other,
        other => Letter::One(other),
    }
}

/// What the characters of ASCII are.
const PLAIN: [Letter; 128] = {
    let mut plain = [Letter::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        let here = byte as u8;
        if here.is_ascii_alphanumeric() {
            plain[byte] = Letter::One(here.to_ascii_lowercase() as u32);
        } else if matches!(here, b' ' | b'_' | b'-' | b'.' | b'/' | b'\'') {
            plain[byte] = Letter::Gap;
        }
        byte += 1;
    }
    plain
};

const fn greek(letter: u32) -> u32 {
    match letter {
        0x386 | 0x3ac => 0x3b1,
        0x388 | 0x3ad => 0x3b5,
        0x389 | 0x3ae => 0x3b7,
        0x38a | 0x390 | 0x3af | 0x3ca => 0x3b9,
        0x38c | 0x3cc => 0x3bf,
        0x38e | 0x3b0 | 0x3cb | 0x3cd => 0x3c5,
        0x38f | 0x3ce => 0x3c9,
        0x3c2 => 0x3c3,
        0x391..=0x3a9 => letter + 0x20,
        other => other,
    }
}

/// The character of UTF-8 that ends before `end`, and where it begins.
pub(super) const fn before(text: &[u8], end: usize) -> Option<(u32, usize)> {
    let mut at = end;
    let (mut letter, mut bits) = (0, 0);
    while at > 0 && at + 4 > end {
        at -= 1;
        let byte = text[at] as u32;
        if byte < 0x80 {
            return Some((byte, at));
        }
        if byte < 0xc0 {
            letter |= (byte & 0x3f) << bits;
            bits += 6;
            continue;
        }
        let head = match bits {
            6 => byte & 0x1f,
            12 => byte & 0x0f,
            _ => byte & 0x07,
        };
        return Some((letter | head << bits, at));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_write_a_letter_meet() {
        let folded = |text: &str| {
            let letters = text.chars().map(|sign| letter(u32::from(sign)));
            let letters = letters.filter_map(|letter| match letter {
                Letter::One(one) => char::from_u32(one),
                Letter::Gap => Some(' '),
                Letter::Mark | Letter::Other => None,
            });
            letters.collect::<String>()
        };
        for (one, other) in [
            ("TÉLÉPHONE", "telephone"),
            ("Te\u{301}le\u{301}phone", "telephone"),
            ("N° de dossier", "n de dossier"),
            ("№\u{a0}dossier", "n dossier"),
            ("Số điện thoại", "so dien thoai"),
            ("Țară Şi Ș", "tara si s"),
            ("ΤΗΛΈΦΩΝΟ", "τηλεφωνο"),
            ("ЁЛКА", "елка"),
            ("کد ملی", "كد ملي"),
            ("ＴＥＬ", "tel"),
        ] {
            assert_eq!(folded(one), other);
        }
    }

    #[test]
    fn characters_are_read_from_behind() {
        for sign in ['a', 'é', '话', '\u{1f600}'] {
            let text = format!("x{sign}");
            let found = before(text.as_bytes(), text.len());
            assert_eq!(found, Some((u32::from(sign), 1)));
        }
        assert_eq!(before(b"", 0), None);
        assert_eq!(before(b"\x80\x80\x80\x80\x80", 5), None);
    }
}
