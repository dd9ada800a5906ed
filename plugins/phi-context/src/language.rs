//! Which clauses of a text are in another language than English and Spanish. Another model knows those: what is a word in
//! one language is a name in the next.

use core::ops::Range;

use phi_lexicon::language::{Language, Votes, is_too_short};

use crate::token::{Token, shape};

/// Words of another language or script, at least, for a clause to be in it.
const LEAST_OTHERS: usize = 2;
/// Words and numbers of a text that is one field.
const FEW: usize = 8;
/// Clauses before and behind one that says little.
const AROUND: usize = 3;

/// Clauses in a row that are in one language, as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub language: Language,
    pub range: Range<usize>,
}

/// A line or a clause of one, which ends at a token, and what its words say.
#[derive(Clone, Copy, Debug, Default)]
struct Clause {
    end: usize,
    votes: Votes,
    /// Words that are written as neither English nor Spanish is.
    of_script: usize,
}

impl Clause {
    /// Where something is written in another script, whoever is named in it is: the model for other languages has read
    /// English too, but not the other way round.
    const fn language(self) -> Option<Language> {
        if self.of_script >= LEAST_OTHERS {
            Some(Language::Other)
        } else {
            self.votes.language()
        }
    }
}

/// Tells the languages of a text, and its tokens what they are there.
pub fn tell(tokens: &mut [Token]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::with_capacity(1);
    let mut add = |language, range: Range<usize>| match stretches.last_mut() {
        Some(last) if last.language == language => last.range.end = range.end,
        _ => stretches.push(Stretch { language, range }),
    };
    let is_of = |token: &Token, language| token.tongue.language == Some(language);
    let others = tokens
        .iter()
        .filter(|token| is_of(token, Language::Other))
        .count();
    // `Telefon: 0221 5558123`
    let is_short = tokens.len() <= FEW && !tokens.iter().any(|token| is_of(token, Language::Own));
    if others < LEAST_OTHERS && !(others > 0 && is_short) {
        add(Language::Own, 0..tokens.len());
        return stretches;
    }
    let clauses = clauses(tokens);
    let of_all = sum(&clauses);
    let mut last = match of_all.votes.other > of_all.votes.own {
        true => Language::Other,
        false => Language::Own,
    };
    let mut start = 0;
    for (at, clause) in clauses.iter().enumerate() {
        let around = at.saturating_sub(AROUND)..clauses.len().min(at + AROUND + 1);
        let around = || sum(clauses.get(around).unwrap_or_default());
        // One that says little goes on in the language before it, if it says that; else it is as those around it.
        let goes_on = || clause.votes.leaning().filter(|says| *says == last);
        let language = clause
            .language()
            .or_else(goes_on)
            .or_else(|| around().language());
        last = language.unwrap_or(last);
        add(last, start..clause.end);
        start = clause.end;
    }
    for stretch in &stretches {
        if stretch.language == Language::Other {
            let tokens = tokens.get_mut(stretch.range.clone()).unwrap_or_default();
            tokens.iter_mut().for_each(Token::put_abroad);
        }
    }
    stretches
}

/// The language that a word is of, if it says one. Names do not, and neither do those of programs: `K.COMMENT`.
fn says(token: &Token) -> Option<Language> {
    let is_large = || token.shape == shape::UPPER;
    let is_word = token.shape < shape::MIXED && (token.gap.is_wide() || !token.tongue.is_cased);
    let is_name = token.shape != shape::SMALL && token.is_listed_name();
    token
        .tongue
        .language
        .filter(|_| is_word && !is_name && !is_too_short(token.end - token.start, is_large))
}

fn clauses(tokens: &[Token]) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.gap.begins_clause() || at == 0 {
            clauses.push(Clause::default());
        }
        if let Some(clause) = clauses.last_mut() {
            clause.end = at + 1;
            clause.votes.add(says(token));
            clause.of_script += usize::from(token.tongue.is_of_script);
        }
    }
    clauses
}

fn sum(clauses: &[Clause]) -> Clause {
    clauses
        .iter()
        .fold(Clause::default(), |sum, clause| Clause {
            end: clause.end,
            votes: sum.votes.and(clause.votes),
            of_script: sum.of_script + clause.of_script,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token;

    fn told(text: &str) -> Vec<(Language, &str)> {
        let mut tokens = Vec::new();
        token::read(text, 0, text.len(), &mut tokens);
        let stretches = tell(&mut tokens);
        let part = |stretch: &Stretch| {
            let tokens = tokens.get(stretch.range.clone()).unwrap_or_default();
            let ends = tokens.first().zip(tokens.last());
            let range = ends.map_or(0..0, |(first, last)| first.start..last.end);
            (stretch.language, text.get(range).unwrap_or_default())
        };
        stretches.iter().map(part).collect()
    }

    #[test]
    fn lines_are_told_by_their_words() {
        use Language::{Other, Own};
        assert_eq!(told("the patient went home").len(), 1);
        assert_eq!(told("Die Patientin wurde entlassen.")[0].0, Other);
        assert_eq!(told("La paciente fue dada de alta ayer.")[0].0, Own);
        assert_eq!(
            told("Pt \u{738b}\u{79c0}\u{82f1} was seen today for chest pain.")[0].0,
            Other
        );
        let text = "The family asked in the lobby: K\u{f6}nnen Sie uns bitte helfen? Then they left the ward.";
        assert_eq!(
            told(text),
            [
                (Own, "The family asked in the lobby"),
                (Other, "K\u{f6}nnen Sie uns bitte helfen"),
                (Own, "Then they left the ward"),
            ]
        );
        // A field of its own.
        assert_eq!(told("Telefon: 0221 5558123")[0].0, Other);
        let units = "5 \u{3bc}g of TNF-\u{3b1} and IFN-\u{3b3} was given to the patient";
        assert_eq!(told(units)[0].0, Own);
        let text = "Please translate this letter for me:\nDie Patientin wurde am Montag entlassen.\nBefund: unauff\u{e4}llig";
        assert_eq!(
            told(text),
            [
                (Own, "Please translate this letter for me"),
                (
                    Other,
                    "Die Patientin wurde am Montag entlassen.\nBefund: unauff\u{e4}llig"
                )
            ]
        );
    }
}
