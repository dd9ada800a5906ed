//! Names in lists of wards: behind beds and rooms, at the head of items among others.

use super::name_end;
use super::pair::is_sure_surname;
use super::roster::{begins_line, ends_here};
use super::told::{age_behind, may_be_name};
use crate::sentence::Sentence;
use crate::token::{Shape, Token};
use phi_lexicon::roles::Role;

/// Whether the token says which kind of place the number behind it is the number of.
fn is_bed_word(sentence: &Sentence<'_>, token: &Token) -> bool {
    const BEDS: [&str; 7] = ["bed", "bay", "icu", "micu", "sicu", "triage", "pacu"];
    let word = token.text(sentence.text);
    token.is(Role::Unit) || BEDS.iter().any(|bed| word.eq_ignore_ascii_case(bed))
}

/// `icu 9 okeke vent`, `rm 4 barrow hfnc`: a surname that is no word behind a bed, where capitals tell nothing.
pub(super) fn is_small_in_bed(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    let is_number = |token: &Token| token.shape == Shape::Number && token.len() <= 4;
    let (Some(number), Some(bed)) = (at.checked_sub(1), at.checked_sub(2)) else {
        return false;
    };
    is_sure_surname(token)
        && !token.is_glued
        && matches!(sentence.gap(number), b" " | b": " | b" - ")
        && sentence.gap(bed) == b" "
        && sentence.token(number).is_some_and(is_number)
        && sentence
            .token(bed)
            .is_some_and(|bed| is_bed_word(sentence, bed))
}

/// `401 Thibodeaux POD2 … 402 Wojcik - d/c`: a surname behind the number of a room that begins a clause, with another
/// one near it.
pub(super) fn among_rooms(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    /// Tokens to either side in which the other is looked for.
    const REACH: usize = 40;
    let is_surname = |token: &Token| token.class.is_surname() && !token.class.is_word();
    let is_room = |at: usize| {
        let Some(number) = at.checked_sub(1) else {
            return false;
        };
        let is_number = sentence.token(number).is_some_and(|token| {
            token.shape == Shape::Number
                && matches!(token.len(), 3 | 4)
                && token
                    .text(sentence.text)
                    .bytes()
                    .take(3)
                    .all(|byte| byte.is_ascii_digit())
        });
        is_number
            && sentence.gap(number) == b" "
            && number.checked_sub(1).is_none_or(|before| {
                sentence
                    .gap(before)
                    .iter()
                    .any(|sign| matches!(sign, b'.' | b';' | b'\n' | b','))
            })
    };
    let may_be = |token: &Token| {
        token.shape == Shape::Capital && may_be_name(sentence, token) && !token.is(Role::Eponym)
    };
    is_room(at)
        && may_be(token)
        && (at.saturating_sub(REACH)..at + REACH).any(|other| {
            other != at
                && is_room(other)
                && sentence
                    .token(other)
                    .is_some_and(|token| may_be(token) && is_surname(token))
        })
}

/// `1. Lopez - CHF`, `Bed 12: Santiago`, `401 Bello 66M CHF`: the number of a line, a bed or a room stands before it.
pub(super) fn in_ward_list(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    let Some(number) = at.checked_sub(1) else {
        return false;
    };
    if !may_be_name(sentence, token) || token.is_glued {
        return false;
    }
    let end = name_end(sentence, at);
    let is_bed = || {
        number.checked_sub(1).is_some_and(|bed| {
            sentence.gap(bed) == b" "
                && sentence
                    .token(bed)
                    .is_some_and(|bed| is_bed_word(sentence, bed))
        })
    };
    let is_surname = token.class.is_surname() && (token.class.is_sure() || !token.class.is_city());
    let goes_on = || {
        sentence.token(end).is_some_and(|next| {
            matches!(next.shape, Shape::Upper | Shape::Number)
                || next.text(sentence.text).eq_ignore_ascii_case("bed")
                || next.is(Role::Unit)
        })
    };
    match sentence.gap(number) {
        // `rm 3 Nakamura G2P1`.
        b" " if is_bed() && token.class.is_surname() && !token.class.is_word() && is_surname => {
            true
        }
        b" " => age_behind(sentence, end) == Some(true),
        b": " if is_bed() => token.class.is_name() || ends_here(sentence, end),
        b". " | b") " => {
            let is_apart = matches!(
                sentence.gap(end - 1),
                b" - " | b", " | b": " | b" | " | b" \xe2\x80\x93 " | b" \xe2\x80\x94 "
            );
            begins_line(sentence, number) && is_apart && is_surname && goes_on()
        }
        _ => false,
    }
}

/// `- Grace Oduya: pending MRI`: an item of a list that begins with a given name and a name.
pub(super) fn in_bullets(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_item = at.checked_sub(1).is_some_and(|before| {
        let gap = sentence.gap(before);
        gap.contains(&b'\n') && matches!(gap, [.., b'-' | b'*', b' '] | [.., 0xa2, b' '])
    });
    let (Some(given), Some(surname)) = (sentence.token(at), sentence.token(at + 1)) else {
        return false;
    };
    is_item
        && given.class.is_given()
        && given.role.is_none()
        && sentence.gap(at) == b" "
        && surname.shape == Shape::Capital
        && may_be_name(sentence, surname)
        && sentence.sign(at + 1) == b':'
}

/// `1. Ramirez - stable`, `- Petrosyan, febrile`: a surname at the head of an item whose siblings have surnames too.
pub(super) fn among_items(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    /// Tokens to either side in which siblings are looked for.
    const REACH: usize = 24;
    if !is_item_head(sentence, at) || !may_be_name(sentence, token) || token.is(Role::Eponym) {
        return false;
    }
    let is_surname = |token: &Token| {
        token.class.is_surname()
            && (token.class.is_sure() || !token.class.is_word())
            && !token.is(Role::Eponym)
    };
    let (mut surnames, mut others) = (0, 0);
    for other in at.saturating_sub(REACH)..at + REACH {
        let Some(sibling) = sentence.token(other).filter(|_| other != at) else {
            continue;
        };
        if is_item_head(sentence, other) {
            surnames += usize::from(is_surname(sibling));
            others += usize::from(!is_surname(sibling) && !sibling.class.is_unknown());
        }
    }
    let wanted = if is_surname(token) { 1 } else { 2 };
    // Of a list of drugs or languages one or two may be names.
    surnames >= wanted && others == 0
}

/// Whether a word with a capital stands behind the number or the bullet of an item, and something else is apart from it.
fn is_item_head(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        // A text may begin with a bullet.
        return sentence.token(at).is_some_and(|token| {
            token.start > 0 && token.shape == Shape::Capital && is_apart(sentence, at)
        });
    };
    let gap = sentence.gap(before);
    let is_bullet =
        gap.contains(&b'\n') && matches!(gap, [.., b'-' | b'*', b' '] | [.., 0xa2, b' ']);
    let is_numbered = matches!(gap, b". " | b") ")
        && sentence
            .token(before)
            .is_some_and(|number| number.shape == Shape::Number && number.len() <= 2)
        && begins_line(sentence, before);
    (is_bullet || is_numbered)
        && sentence
            .token(at)
            .is_some_and(|token| token.shape == Shape::Capital)
        && is_apart(sentence, at)
}

fn is_apart(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(
        sentence.gap(at),
        b" - " | b", " | b" \xe2\x80\x93 " | b" \xe2\x80\x94 "
    )
}
