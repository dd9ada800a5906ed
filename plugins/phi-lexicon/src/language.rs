//! In which language something is written, as far as its words say: in English or Spanish, or in another.

use crate::{Hash, look_up};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English or Spanish.
    Own,
    Other,
}

/// Words, at least, of a language for something to be in it, and where none is of another.
const LEAST_WORDS: usize = 3;
const LEAST_ALONE: usize = 2;

/// How many words say that they are of which language.
#[derive(Clone, Copy, Debug, Default)]
pub struct Votes {
    pub own: usize,
    pub other: usize,
}

impl Votes {
    pub const fn add(&mut self, says: Option<Language>) {
        match says {
            Some(Language::Own) => self.own += 1,
            Some(Language::Other) => self.other += 1,
            None => {}
        }
    }

    #[must_use]
    pub const fn and(self, more: Self) -> Self {
        Self {
            own: self.own + more.own,
            other: self.other + more.other,
        }
    }

    /// What more words say, however few.
    pub const fn leaning(self) -> Option<Language> {
        if self.other > self.own {
            Some(Language::Other)
        } else if self.own > self.other {
            Some(Language::Own)
        } else {
            None
        }
    }

    /// What most words say, if there are enough.
    pub const fn language(self) -> Option<Language> {
        let (most, least, language) = if self.other > self.own {
            (self.other, self.own, Language::Other)
        } else {
            (self.own, self.other, Language::Own)
        };
        if most >= LEAST_WORDS || most >= LEAST_ALONE && least == 0 {
            Some(language)
        } else {
            None
        }
    }
}

/// What the words of a text say.
pub fn votes(text: &str) -> Votes {
    let mut votes = Votes::default();
    for word in text.split(|sign: char| !sign.is_alphabetic()) {
        let is_large = || !word.contains(char::is_lowercase);
        let class = look_up(Hash::new().over(word));
        let is_name = class.is_name() && word.starts_with(char::is_uppercase);
        if !is_name && !is_too_short(word.len(), is_large) {
            votes.add(class.language());
        }
    }
    votes
}

/// Whether a word of so many bytes says nothing, because it is a letter or an abbreviation.
pub fn is_too_short(len: usize, is_large: impl FnOnce() -> bool) -> bool {
    const LONGEST_ABBREVIATION: usize = 4;
    len < 2 || len <= LONGEST_ABBREVIATION && is_large()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_words_say_the_language() {
        let of = |text| votes(text).language();
        assert_eq!(of("The patient went home."), Some(Language::Own));
        assert_eq!(
            of("La paciente fue dada de alta ayer."),
            Some(Language::Own)
        );
        for text in [
            "Die Patientin wurde gestern entlassen.",
            "Le patient est sorti hier avec son traitement.",
            "O paciente n\u{e3}o tem mais dor e vai para casa.",
            "Pacjentka zosta\u{142}a wczoraj wypisana ze szpitala.",
            "Hindi po makatulog si nanay kahapon dahil sa ubo.",
        ] {
            assert_eq!(of(text), Some(Language::Other), "{text}");
        }
        assert_eq!(of("CABG x4, K 3.9"), None);
    }
}
