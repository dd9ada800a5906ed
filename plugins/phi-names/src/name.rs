//! Names of persons: by what stands before them (titles, kin, greetings, labels), by what stands behind (degrees), and by
//! the lists. Diseases, signs and instruments that bear a name are left alone.

use crate::finding::{Finding, NAME};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use crate::vocabulary::Role;

/// Words of the longest name.
const MAX_WORDS: usize = 5;

const TITLE_SCORE: u16 = 900;
const PAIR_SCORE: u16 = 850;
const LABEL_SCORE: u16 = 800;
const GIVEN_SCORE: u16 = 700;
const SURNAME_SCORE: u16 = 600;

/// The name that begins at the token, or stands behind it, and the first token behind.
pub fn find(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    if token.is_glued || token.shape == Shape::Number {
        return None;
    }
    let found = match token.role {
        Some(Role::Title) => behind_title(sentence, at),
        Some(Role::Person) => {
            behind_person(sentence, at, Strength::of_person(token, sentence.text))
        }
        Some(Role::Kin) => behind_person(sentence, at, Strength::Weak),
        Some(Role::Greeting) => behind_greeting(sentence, at),
        _ => None,
    };
    found
        .or_else(|| reversed(sentence, at))
        .or_else(|| introduced(sentence, at))
        .or_else(|| listed(sentence, at))
        .or_else(|| with_initial(sentence, at))
        .or_else(|| with_degree(sentence, at))
        .or_else(|| alone(sentence, at))
}

/// `Dr. Kumar`, `mr . smith`: the word behind a title is a name unless it cannot be one.
fn behind_title(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let title = sentence.token(at)?;
    if !sentence.is_next_to(at) {
        return None;
    }
    let first = sentence.token(at + 1)?;
    // `Dr. Smith` and `doctor smith`, but `doctor will` and `the doctor said`.
    let is_spelt = title.len() > 3;
    let fits = if first.shape == Shape::Initial {
        sentence
            .token(at + 2)
            .is_some_and(|next| next.is_capital() && !next.class.is_common())
            || !is_spelt
    } else if first.is_capital() && sentence.writing == Writing::Cased {
        (!is_blocked(first) || !is_spelt && first.class.is_surname())
            && !(is_spelt && first.class.is_common() && !first.class.is_sure())
    } else {
        // `mr` without a dot may be a scan.
        let is_sure_title = !is_spelt
            && (sentence.gap(at).contains(&b'.')
                || !title.text(sentence.text).eq_ignore_ascii_case("mr"));
        may_follow_uncased(sentence, first, is_sure_title)
    };
    if !fits {
        return None;
    }
    let end = name_end(sentence, at + 1);
    Some((
        finding(sentence, at + 1, end, TITLE_SCORE)?.contextual(),
        end,
    ))
}

/// Small letters, or all capitals: the lists decide.
fn may_follow_uncased(sentence: &Sentence<'_>, token: &Token, is_short_title: bool) -> bool {
    if is_blocked(token) || token.shape == Shape::Number || token.len() < 2 {
        return false;
    }
    // Cased texts are asked here about words in small letters, whose class nobody looked up.
    if sentence.writing == Writing::Cased && token.shape == Shape::Lower {
        let class = token.class_of(sentence.text);
        return is_short_title && class.is_name() && class.is_sure()
            || is_short_title && class.is_surname() && !class.is_word();
    }
    token.class.is_sure()
        || is_short_title
            && (token.class.is_surname() || token.class.is_unknown())
            && token.len() > 2
        || token.class.is_name() && !token.class.is_word()
}

/// How much the word before says that a name follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Strong,
    Weak,
}

impl Strength {
    fn of_person(token: &Token, text: &str) -> Self {
        let word = token.text(text);
        if [
            "named",
            "name",
            "attn",
            "attending",
            "signed",
            "by",
            "nicknamed",
        ]
        .iter()
        .any(|strong| word.eq_ignore_ascii_case(strong))
        {
            Self::Strong
        } else {
            Self::Weak
        }
    }
}

/// `patient John`, `wife Mary`, `Patient Name: DOE, JANE`, `signed by J. Smith`.
fn behind_person(
    sentence: &Sentence<'_>,
    at: usize,
    strength: Strength,
) -> Option<(Finding, usize)> {
    let gap = sentence.gap(at);
    let is_labelled = matches!(
        gap,
        b": " | b":" | b" : " | b":  " | b":\t" | b" - " | b"# "
    );
    let is_listed = gap == b", ";
    if !is_labelled && !is_listed && !matches!(gap, b" " | b"  ") {
        // `Name is Jane`.
        return None;
    }
    let mut first = at + 1;
    let mut token = sentence.token(first)?;
    let says = token.text(sentence.text);
    if ["is", "was", "name", "called", "named", "by"]
        .iter()
        .any(|word| says.eq_ignore_ascii_case(word))
        && !is_labelled
    {
        first += 1;
        if token.is(Role::Person) {
            return None;
        }
        token = sentence.token(first)?;
        if !matches!(sentence.gap(first - 1), b" " | b": ") {
            return None;
        }
    }
    if is_blocked(token) || token.shape == Shape::Number || token.is_glued {
        return None;
    }
    let is_strong = is_labelled || strength == Strength::Strong && first == at + 1;
    let fits = match sentence.writing {
        Writing::Cased if token.is_capital() => {
            let next = sentence.token(first + 1);
            let pair = next.is_some_and(|next| {
                next.is_capital()
                    && (next.class.is_name() || next.class.is_unknown())
                    && !is_blocked(next)
            }) && sentence.is_joined_to(first);
            let known = token.class.is_sure() || token.class.is_name() && !token.class.is_word();
            known
                || is_strong && pair && !token.class.is_common()
                || is_strong && token.class.is_unknown() && pair
        }
        Writing::Cased if token.shape == Shape::Initial => return None,
        Writing::Cased => {
            let class = token.class_of(sentence.text);
            class.is_given() && class.is_sure() && token.len() > 2
        }
        Writing::Uncased => token.class.is_sure() && (token.class.is_given() || is_strong),
    };
    if !fits || is_eponym(sentence, first) {
        return None;
    }
    let end = name_end(sentence, first);
    let end = reversed(sentence, first).map_or(end, |(_, reversed)| reversed.max(end));
    Some((
        finding(sentence, first, end, LABEL_SCORE)?.contextual(),
        end,
    ))
}

/// `Hi Jane,`, `Dear Ms. Doe`, `Regards,\nJane`.
fn behind_greeting(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let gap = sentence.gap(at);
    let ends_letter = ["thanks", "regards", "sincerely", "cheers", "best"]
        .iter()
        .any(|word| {
            sentence
                .token(at)
                .is_some_and(|token| token.text(sentence.text).eq_ignore_ascii_case(word))
        });
    let is_near = matches!(gap, b" " | b", " | b" , ")
        || ends_letter && gap.first() == Some(&b',') && gap.len() <= 4 && gap.contains(&b'\n');
    let first = sentence.token(at + 1)?;
    if !is_near || is_blocked(first) || first.shape == Shape::Number {
        return None;
    }
    let is_own_line = gap.contains(&b'\n');
    let fits = if sentence.writing == Writing::Cased && first.is_capital() {
        first.class.is_sure()
            || first.class.is_given()
            || (is_own_line || gap == b" ") && !first.class.is_word()
    } else if sentence.writing == Writing::Uncased {
        first.class.is_given() && first.class.is_sure()
    } else {
        let class = first.class_of(sentence.text);
        class.is_given() && class.is_sure()
    };
    if !fits {
        return None;
    }
    let end = name_end(sentence, at + 1);
    Some((
        finding(sentence, at + 1, end, LABEL_SCORE)?.contextual(),
        end,
    ))
}

/// `my name is Jane`, `I'm Jane`, `this is Dr`… the name begins at the token.
fn introduced(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let before = sentence.before(at)?;
    let last = before.text(sentence.text).as_bytes();
    if !matches!(
        last,
        [
            ..,
            b's' | b'S' | b'm' | b'M' | b'e' | b'E' | b'a' | b'A' | b'y' | b'Y' | b'f' | b'F'
        ]
    ) || last.len() > 7
    {
        return None;
    }
    let head = sentence.text.get(..token.start)?.trim_end();
    let is_introduced = [
        "name is",
        "name's",
        "i'm",
        "i am",
        "this is",
        "name:",
        "goes by",
        "known as",
        "aka",
        "calls himself",
        "calls herself",
    ]
    .iter()
    .any(|words| {
        head.len() >= words.len()
            && head
                .as_bytes()
                .get(head.len() - words.len()..)
                .is_some_and(|tail| tail.eq_ignore_ascii_case(words.as_bytes()))
    });
    if !is_introduced || before.shape == Shape::Number || is_blocked(token) {
        return None;
    }
    let class = token.class_of(sentence.text);
    let fits = match sentence.writing {
        Writing::Cased if token.is_capital() => class.is_name() || class.is_unknown(),
        _ => class.is_given() && class.is_sure(),
    };
    if !fits {
        return None;
    }
    let end = name_end(sentence, at);
    Some((finding(sentence, at, end, LABEL_SCORE)?.contextual(), end))
}

/// `Doe, Jane A.`
fn reversed(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let (last, first) = (sentence.token(at)?, sentence.token(at + 1)?);
    let are_capital = last.is_capital() && first.is_capital();
    let are_shouted = last.shape == Shape::Upper && first.shape == Shape::Upper;
    if sentence.gap(at) != b", " && !(sentence.gap(at) == b"," && are_shouted) || !are_capital {
        return None;
    }
    let is_surname = last.class.is_surname() || last.class.is_unknown();
    let fits = is_surname
        && first.class.is_given()
        && (last.class.is_sure() || first.class.is_sure())
        && !(last.class.is_common() && first.class.is_word());
    // `Boston, Virginia` and `Jackson, Tyler and Ross` are no person.
    let is_place = last.class.is_city() && first.is(Role::State);
    let is_list = sentence.gap(at + 1) == b", "
        && sentence
            .token(at + 2)
            .is_some_and(|third| third.is_capital() && third.class.is_given());
    if !fits
        || is_place
        || is_list
        || is_blocked(last)
        || is_blocked(first)
        || is_eponym(sentence, at)
    {
        return None;
    }
    let mut end = at + 2;
    while sentence.is_joined_to(end - 1)
        && sentence
            .token(end)
            .is_some_and(|token| matches!(token.shape, Shape::Initial))
    {
        end += 1;
    }
    Some((finding(sentence, at, end, PAIR_SCORE)?, end))
}

/// `Jane Doe`, `JANE Q. DOE`, `jane doe`.
fn listed(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let given = sentence.token(at)?;
    if !is_name_word(sentence, given) || given.shape == Shape::Initial {
        return None;
    }
    let mut last = at + 1;
    while last < at + MAX_WORDS
        && sentence.is_joined_to(last - 1)
        && sentence
            .token(last)
            .is_some_and(|token| token.shape == Shape::Initial || token.is(Role::Particle))
    {
        last += 1;
    }
    let surname = sentence
        .token(last)
        .filter(|_| sentence.is_joined_to(last - 1))?;
    if !is_name_word(sentence, surname)
        || is_blocked(surname)
        || given.is(Role::State)
        || surname.is(Role::State)
    {
        return None;
    }
    if is_eponym(sentence, at) || is_eponym(sentence, last) {
        return None;
    }
    let (one, two) = (given.class, surname.class);
    let is_stopped = given.role.is_some_and(|role| role != Role::Particle);
    let fits = match sentence.writing {
        Writing::Cased => {
            let known = one.is_given() && (two.is_surname() || two.is_unknown() || two.is_given())
                || one.is_unknown() && two.is_surname() && two.is_sure() && last > at + 1
                || one.is_surname() && one.is_sure() && two.is_given() && two.is_sure();
            let doubtful = one.is_word() && !one.is_sure() && (two.is_word() || two.is_unknown());
            known
                && !doubtful
                && (!is_stopped || two.is_surname() && !two.is_word())
                && (!sentence.is_first(at) || !one.is_common() || one.is_sure() || two.is_sure())
        }
        Writing::Uncased => {
            one.is_given() && one.is_sure() && two.is_surname() && !two.is_common() && !is_stopped
        }
    };
    if !fits {
        return None;
    }
    let end = name_end(sentence, at).max(last + 1);
    Some((finding(sentence, at, end, PAIR_SCORE)?, end))
}

/// `J. Smith`, `Smith J`, `J.D. Smith`.
fn with_initial(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let initial = sentence.token(at)?;
    if initial.shape != Shape::Initial
        || sentence.writing == Writing::Uncased
        || sentence.sign(at) != b'.'
    {
        return None;
    }
    let mut last = at + 1;
    while sentence.token(last)?.shape == Shape::Initial
        && matches!(sentence.gap(last - 1), b"." | b". ")
    {
        last += 1;
    }
    let surname = sentence.token(last)?;
    let fits = matches!(sentence.gap(last - 1), b". " | b".")
        && surname.shape == Shape::Capital
        && surname.class.is_surname()
        && surname.class.is_sure()
        && !is_blocked(surname)
        && !is_eponym(sentence, last);
    if !fits {
        return None;
    }
    let end = name_end(sentence, last);
    Some((finding(sentence, at, end, PAIR_SCORE)?, end))
}

/// `Jane Smith, MD`: the degree makes a name of the capitals before it.
fn with_degree(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    if sentence.writing == Writing::Uncased
        || first.shape != Shape::Capital
        || is_blocked(first)
        || first.class.is_common()
    {
        return None;
    }
    let mut last = at;
    while last < at + MAX_WORDS && sentence.is_joined_to(last) {
        let next = sentence.token(last + 1)?;
        if next.is(Role::Credential) || !(matches!(next.shape, Shape::Capital | Shape::Initial)) {
            break;
        }
        last += 1;
    }
    let degree = sentence.token(last + 1)?;
    let is_degree = degree.is(Role::Credential) && degree.shape == Shape::Upper
        || degree.text(sentence.text) == "DO"
        || degree.text(sentence.text) == "PhD"
        || degree.text(sentence.text) == "PharmD";
    let fits = is_degree
        && matches!(sentence.gap(last), b", " | b" ")
        && (last > at || first.class.is_surname());
    if !fits {
        return None;
    }
    Some((
        finding(sentence, at, last + 1, LABEL_SCORE)?.contextual(),
        last + 1,
    ))
}

/// One word that is a name nearly always.
fn alone(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let class = token.class;
    if !class.is_sure() || is_blocked(token) || is_eponym(sentence, at) || token.len() < 3 {
        return None;
    }
    let is_written = match sentence.writing {
        Writing::Cased => token.shape == Shape::Capital,
        Writing::Uncased => class.is_given() && token.len() > 3,
    };
    if !is_written || token.role.is_some() || is_inside_of_title(sentence, at) {
        return None;
    }
    // A word of one language is a name in another: given names alone count where they are no city.
    let score = if class.is_given() && !class.is_big_city() {
        GIVEN_SCORE
    } else if class.is_surname()
        && !class.is_city()
        && sentence.writing == Writing::Cased
        && token.len() > 3
        && !sentence.is_first(at)
    {
        SURNAME_SCORE
    } else {
        return None;
    };
    let end = name_end(sentence, at);
    Some((finding(sentence, at, end, score)?, end))
}

/// A capital between other capitals is part of a heading or of a product more often than a name.
fn is_inside_of_title(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_other = |token: Option<&Token>| {
        token.is_some_and(|token| {
            token.is_capital()
                && (token.class.is_word() || token.class.is_unknown())
                && token.role.is_none()
        })
    };
    let before = at > 0
        && sentence.is_joined_to(at - 1)
        && !sentence.is_first(at - 1)
        && is_other(sentence.before(at));
    let behind = sentence.is_joined_to(at)
        && is_other(sentence.token(at + 1))
        && sentence
            .token(at + 1)
            .is_some_and(|token| token.class.is_word());
    before || behind
}

/// The first token behind the name that begins at `at`.
fn name_end(sentence: &Sentence<'_>, at: usize) -> usize {
    let mut end = at + 1;
    while end < at + MAX_WORDS && sentence.is_joined_to(end - 1) {
        let Some(token) = sentence.token(end) else {
            break;
        };
        let goes_on = match token.role {
            Some(Role::Suffix) => true,
            Some(Role::Particle) => sentence.token(end + 1).is_some_and(|next| {
                sentence.is_joined_to(end)
                    && (next.is_capital() || next.is(Role::Particle))
                    && next.class.is_name()
            }),
            Some(Role::Credential | Role::Facility | Role::Medical | Role::Title) => false,
            Some(
                Role::Stop
                | Role::Generic
                | Role::Place
                | Role::Person
                | Role::Kin
                | Role::Greeting
                | Role::Street
                | Role::Unit,
            ) => false,
            _ => is_name_word(sentence, token),
        };
        if !goes_on || token.is_glued {
            break;
        }
        end += 1;
    }
    // `Smith, Jr.`
    if sentence.gap(end - 1) == b", "
        && sentence
            .token(end)
            .is_some_and(|token| token.is(Role::Suffix))
    {
        end += 1;
    }
    end
}

/// A word that can go on a name: written as one, or known as one.
fn is_name_word(sentence: &Sentence<'_>, token: &Token) -> bool {
    if token.is_glued {
        return false;
    }
    match sentence.writing {
        Writing::Cased => match token.shape {
            Shape::Initial => !matches!(token.text(sentence.text), "I" | "A"),
            Shape::Capital | Shape::Upper => {
                token.class.is_name() && (token.class.is_surname() || !token.class.is_common())
                    || token.class.is_unknown() && token.shape == Shape::Capital
            }
            Shape::Lower | Shape::Number => false,
        },
        Writing::Uncased => {
            token.class.is_name() && !token.class.is_common() && token.shape != Shape::Initial
        }
    }
}

/// Words that are never a name by themselves.
fn is_blocked(token: &Token) -> bool {
    match token.role {
        None | Some(Role::Particle | Role::Suffix | Role::Place) => false,
        Some(Role::Stop | Role::State | Role::Generic) => !token.class.is_sure(),
        Some(Role::Direction) => token.len() < 3,
        Some(Role::Eponym) => false,
        Some(_) => true,
    }
}

/// `Parkinson's disease`, `Foley catheter`, `Guillain-Barre syndrome`.
fn is_eponym(sentence: &Sentence<'_>, at: usize) -> bool {
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
            .any(|part| crate::vocabulary::ROLES.get(part.as_bytes()) == Some(&Role::Eponym))
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

fn finding(sentence: &Sentence<'_>, first: usize, end: usize, score: u16) -> Option<Finding> {
    let (start, stop) = (
        sentence.token(first)?.start,
        sentence.token(end.checked_sub(1)?)?.end,
    );
    Some(Finding::new(NAME, start, stop, score))
}
