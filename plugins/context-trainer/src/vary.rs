//! More texts from one: other values in its places, other writing. What is learnt should be the words around.

use crate::random::Random;
use crate::text::{Piece, Text};
use phi_context::tag::{SORTS, Sort};

/// Values of all texts by sort, and names that are in no text.
pub struct Pools {
    by_sort: Vec<Vec<String>>,
}

impl Pools {
    pub fn of(texts: &[Text]) -> Self {
        let mut by_sort = vec![Vec::new(); SORTS.len()];
        for piece in texts.iter().flat_map(|text| &text.pieces) {
            if let Some(pool) = piece.sort.and_then(|sort| by_sort.get_mut(sort)) {
                pool.push(piece.text.clone());
            }
        }
        Self { by_sort }
    }

    /// A value of the same sort that is written as `value` is.
    fn other(&self, sort: usize, value: &str, random: &mut Random) -> String {
        if SORTS.get(sort) == Some(&Sort::Code)
            || value.chars().any(|letter| letter.is_ascii_digit())
        {
            return other_digits(value, random);
        }
        let of = script(value);
        if SORTS.get(sort) == Some(&Sort::Name) && of == Script::Latin && random.percent(25) {
            return value
                .split(' ')
                .map(|word| like(word, &invented(random)))
                .collect::<Vec<_>>()
                .join(" ");
        }
        const TRIES: usize = 20;
        let pool = self.by_sort.get(sort).map_or(&[][..], Vec::as_slice);
        let words = value.split(' ').count();
        for _ in 0..TRIES {
            let Some(other) = random.one_of(pool) else {
                break;
            };
            let has_digits = other.chars().any(|letter| letter.is_ascii_digit());
            let is_like = other.split(' ').count().abs_diff(words) <= 1 && script(other) == of;
            if is_like && !has_digits {
                return like(value, other);
            }
        }
        value.to_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    /// Han and what is written beside it in Japanese.
    Han,
    Hangul,
    /// By its block of Unicode.
    Block(u32),
}

/// What a value is written in.
fn script(value: &str) -> Script {
    let letter = value.chars().find(|letter| letter.is_alphabetic());
    match letter.map_or(0, u32::from) {
        0..0x250 | 0x1e00..0x1f00 => Script::Latin,
        0x3000..0x3100 | 0x3400..0xa000 | 0x20000.. => Script::Han,
        0xac00..0xd7b0 => Script::Hangul,
        // 128 letters to a block.
        other => Script::Block(other >> 7),
    }
}

/// The same form with other digits: what the form means stays.
fn other_digits(value: &str, random: &mut Random) -> String {
    // A date has to stay one: only long numbers change.
    let digits = value.chars().filter(char::is_ascii_digit).count();
    if digits < 5 {
        return value.to_owned();
    }
    value
        .chars()
        .map(|letter| match letter {
            '0'..='9' => char::from(b'0' + u8::try_from(random.below(10)).unwrap_or_default()),
            other => other,
        })
        .collect()
}

/// `other` in small or large letters as `value` is.
fn like(value: &str, other: &str) -> String {
    let has = |test: fn(char) -> bool| value.chars().any(test);
    match (has(char::is_uppercase), has(char::is_lowercase)) {
        (false, true) => other.to_lowercase(),
        (true, false) if value.chars().count() > 2 => other.to_uppercase(),
        _ => other.to_owned(),
    }
}

/// A name that nobody has, of two to four syllables.
fn invented(random: &mut Random) -> String {
    const BEGIN: [&str; 24] = [
        "b", "br", "ch", "d", "dz", "f", "g", "gr", "h", "j", "k", "kh", "l", "m", "n", "p", "r",
        "s", "sh", "t", "tr", "v", "y", "z",
    ];
    const MIDDLE: [&str; 14] = [
        "a", "e", "i", "o", "u", "ai", "ee", "ia", "ou", "y", "a", "o", "e", "au",
    ];
    const END: [&str; 14] = [
        "", "", "n", "r", "l", "s", "m", "nd", "k", "th", "sk", "ng", "tz", "h",
    ];
    let mut name = String::new();
    for _ in 0..2 + random.below(2) {
        for part in [&BEGIN[..], &MIDDLE, &END] {
            name.push_str(random.one_of(part).copied().unwrap_or_default());
        }
    }
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// Whether a text is the source of a program, or what stands around it.
pub fn is_code(text: &Text) -> bool {
    text.group.starts_with("source")
}

/// The text itself and variants of it, and in each how many of a hundred words the lists are not asked about.
pub fn variants(text: &Text, pools: &Pools, random: &mut Random) -> Vec<(Text, usize)> {
    let is_small = !text
        .pieces
        .iter()
        .any(|piece| piece.text.contains(char::is_uppercase));
    let mut variants = vec![(text.clone(), 10)];
    let swapped = swap(text, pools, 70, random);
    variants.push((swapped, 25));
    // Nobody says code, or writes it in haste: in small letters without signs it would look like what people do say.
    if is_code(text) {
        return variants;
    }
    let swapped = swap(text, pools, 50, random);
    if is_small {
        variants.push((swapped, 25));
    } else {
        variants.push((mapped(&swapped, |text| text.to_lowercase()), 25));
        let again = swap(text, pools, 50, random);
        if random.percent(50) {
            let spelt = spelt(&again, random);
            let is_small = random.percent(60);
            let heard = |text: &str| {
                hasty(&if is_small {
                    text.to_lowercase()
                } else {
                    text.to_owned()
                })
            };
            variants.push((mapped(&spelt, heard), 25));
        } else if random.percent(30) {
            variants.push((mapped(&again, str::to_uppercase), 25));
        }
    }
    variants
}

fn swap(text: &Text, pools: &Pools, percent: usize, random: &mut Random) -> Text {
    let piece = |piece: &Piece| match piece.sort {
        Some(sort) if random.percent(percent) => Piece {
            text: pools.other(sort, &piece.text, random),
            sort: piece.sort,
        },
        _ => piece.clone(),
    };
    Text {
        group: text.group.clone(),
        pieces: text.pieces.iter().map(piece).collect(),
    }
}

fn mapped(text: &Text, map: impl Fn(&str) -> String) -> Text {
    let piece = |piece: &Piece| Piece {
        text: map(&piece.text),
        sort: piece.sort,
    };
    Text {
        group: text.group.clone(),
        pieces: text.pieces.iter().map(piece).collect(),
    }
}

/// With some short words in capitals letter by letter, as machines hear them: `M R I`. Where nobody is named.
fn spelt(text: &Text, random: &mut Random) -> Text {
    const SHARE: usize = 60;
    let is_short = |word: &str| {
        (2..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let mut piece = |piece: &Piece| {
        if piece.sort.is_some() {
            return piece.clone();
        }
        let mut spelt = String::with_capacity(piece.text.len());
        for (at, word) in piece.text.split(' ').enumerate() {
            if at > 0 {
                spelt.push(' ');
            }
            if is_short(word) && random.percent(SHARE) {
                let letters: Vec<String> = word.chars().map(String::from).collect();
                spelt.push_str(&letters.join(" "));
            } else {
                spelt.push_str(word);
            }
        }
        Piece {
            text: spelt,
            sort: None,
        }
    };
    Text {
        group: text.group.clone(),
        pieces: text.pieces.iter().map(&mut piece).collect(),
    }
}

/// Without signs between sentences, as people type and machines listen.
fn hasty(text: &str) -> String {
    let mut hasty = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends = letters.peek().is_none_or(|next| next.is_whitespace());
        if !(ends && matches!(letter, '.' | ',' | '?' | '!' | ';' | ':')) {
            hasty.push(letter);
        }
    }
    hasty
}
