//! Whether an age identifies: numbers are read, because a model that has seen a few of them cannot count.

use phi_lexicon::language::Language;

use crate::token::Token;

/// The ages that are PHI; nobody is older.
const AGES: core::ops::RangeInclusive<u32> = 90..=125;
/// Words of ages from ninety on, in English and Spanish.
const WORDS: [&str; 9] = [
    "ninety",
    "nineties",
    "ninetieth",
    "nonagenarian",
    "hundred",
    "centenarian",
    "noventa",
    "cien",
    "ciento",
];

/// The same in other languages: parts of words, and signs. Hyphens are spaces.
const PARTS: [&str; 53] = [
    "neunzig",
    "hundert",
    "negentig",
    "honderd",
    "quatre vingt dix",
    "quatre vingt onze",
    "quatre vingt douze",
    "quatre vingt treize",
    "quatre vingt quatorze",
    "quatre vingt quinze",
    "quatre vingt seize",
    "nonante",
    "cent ",
    "centenaire",
    "novanta",
    "cento",
    "centen",
    "katrevendis",
    "dziewi\u{119}\u{107}dziesi\u{105}t",
    "sto ",
    "devades\u{e1}t",
    "devedeset",
    "nittio",
    "nitti",
    "hundra",
    "hundre",
    "halvfems",
    "yhdeks\u{e4}nkymment\u{e4}",
    "kilencven",
    "nou\u{103}zeci",
    "doksan",
    "ch\u{ed}n m\u{1b0}\u{1a1}i",
    "siyamnapu",
    "noventa",
    "\u{434}\u{435}\u{432}\u{44f}\u{43d}\u{43e}\u{441}\u{442}",
    "\u{434}\u{435}\u{432}\u{2bc}\u{44f}\u{43d}\u{43e}\u{441}\u{442}",
    "\u{441}\u{442}\u{43e}",
    "\u{62a}\u{633}\u{639}\u{64a}\u{646}",
    "\u{62a}\u{633}\u{639}\u{648}\u{646}",
    "\u{645}\u{626}\u{629}",
    "\u{645}\u{627}\u{626}\u{629}",
    "\u{646}\u{648}\u{62f}",
    "\u{635}\u{62f}",
    "\u{4e5d}\u{5341}",
    "\u{767e}",
    "\u{c544}\u{d754}",
    "\u{ad6c}\u{c2ed}",
    "\u{bc31}",
    "\u{928}\u{92c}\u{94d}\u{92c}\u{947}",
    "\u{938}\u{94c}",
    "\u{5ea}\u{5e9}\u{5e2}\u{5d9}\u{5dd}",
    "\u{3b5}\u{3bd}\u{3b5}\u{3bd}\u{3ae}\u{3bd}\u{3c4}\u{3b1}",
    "\u{5de}\u{5d0}\u{5d4}",
];

/// Whether the words and numbers are an age over 89.
pub fn is_over_89(text: &str, language: Language, tokens: &[Token]) -> bool {
    if language == Language::Other && has_part(text, tokens) {
        return true;
    }
    let mut words = tokens
        .iter()
        .filter_map(|token| text.get(token.start..token.end));
    words.any(|word| {
        let digits = word.trim_end_matches(char::is_alphabetic);
        match digits.parse::<u32>() {
            Ok(age) => AGES.contains(&age),
            Err(_) => WORDS
                .iter()
                .any(|over| word.to_lowercase().starts_with(over)),
        }
    })
}

fn has_part(text: &str, tokens: &[Token]) -> bool {
    let ends = tokens.first().zip(tokens.last());
    let whole = ends.and_then(|(first, last)| text.get(first.start..last.end));
    let whole = whole.unwrap_or_default().to_lowercase().replace('-', " ") + " ";
    PARTS.iter().any(|part| whole.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_in(language: Language, text: &str) -> bool {
        let mut tokens = Vec::new();
        crate::token::read(text, 0, text.len(), &mut tokens);
        is_over_89(text, language, &tokens)
    }

    fn over(text: &str) -> bool {
        over_in(Language::Own, text)
    }

    #[test]
    fn only_ages_from_ninety_on_count() {
        for age in [
            "90",
            "93yo",
            "a hundred and two",
            "Ninety-seven",
            "noventa y nueve",
        ] {
            assert!(over(age), "{age}");
        }
        for age in [
            "dreiundneunzig",
            "quatre-vingt-douze",
            "cent deux",
            "\u{4e5d}\u{5341}\u{4e09}",
        ] {
            assert!(over_in(Language::Other, age), "{age}");
        }
        for age in ["89", "69-year", "sixty four", "16", "89yo", "212"] {
            assert!(!over(age), "{age}");
        }
        for age in ["quatre-vingt-deux", "neun", "19"] {
            assert!(!over_in(Language::Other, age), "{age}");
        }
    }
}
