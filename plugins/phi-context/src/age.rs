//! Whether an age identifies: numbers are read, because a model that has seen a few of them cannot count.

use crate::token::Token;

/// The first age that is PHI.
const FIRST: u32 = 90;
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

/// Whether the words and numbers are an age over 89.
pub fn is_over_89(text: &str, tokens: &[Token]) -> bool {
    let mut words = tokens
        .iter()
        .filter_map(|token| text.get(token.start..token.end));
    words.any(|word| {
        let digits = word.trim_end_matches(char::is_alphabetic);
        match digits.parse::<u32>() {
            Ok(age) => age >= FIRST,
            Err(_) => WORDS
                .iter()
                .any(|over| word.to_lowercase().starts_with(over)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(text: &str) -> bool {
        let mut tokens = Vec::new();
        crate::token::read(text, 0, text.len(), &mut tokens);
        is_over_89(text, &tokens)
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
        for age in ["89", "69-year", "sixty four", "16", "89yo"] {
            assert!(!over(age), "{age}");
        }
    }
}
