//! Words that are a name and mean a disease, a sign or an instrument: `Parkinson's disease`, `Foley catheter`.

use crate::sentence::Sentence;
use crate::token::Token;
use crate::vocabulary::{ROLES, Role};

/// `Parkinson's disease`, `Foley catheter`, `Guillain-Barre syndrome`.
pub(super) fn is_eponym(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(token) = sentence.token(at) else {
        return false;
    };
    if token.is(Role::Eponym) {
        return true;
    }
    let word = token.text(sentence.text);
    if word.contains('-')
        && word
            .split('-')
            .any(|part| ROLES.get(part.as_bytes()) == Some(&Role::Eponym))
    {
        return true;
    }
    let is_medical = |at: usize| {
        sentence
            .token(at)
            .is_some_and(|token| token.is(Role::Medical))
            && matches!(
                sentence.gap(at - 1),
                b" " | b"'s " | b"\xe2\x80\x99s " | b"-" | b"s "
            )
    };
    is_medical(at + 1)
        || sentence.token(at + 1).is_some_and(Token::is_capital) && is_medical(at + 2)
}
