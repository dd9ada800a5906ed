//! Names that are names by themselves: words of the lists in pairs, beside initials, before a degree, and alone where
//! the word is a name nearly always.

use super::eponym::{is_eponym, is_of_a_thing};
use super::pair::is_new_in_capitals;
use super::thing::{is_double_thing, is_idiom, is_of_many_things};
use super::told::{age_behind, ends_as_findings_do};
use super::{MAX_GUESSED_WORDS, MAX_WORDS, finding, is_blocked, is_name_word, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

const PAIR_SCORE: u16 = 850;
const DEGREE_SCORE: u16 = 800;
const GIVEN_SCORE: u16 = 700;
const SURNAME_SCORE: u16 = 600;

/// `Doe, Jane A.`
pub(super) fn reversed(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let (last, first) = (sentence.token(at)?, sentence.token(at + 1)?);
    if !matches!(sentence.gap(at), b", " | b"," | b"^") {
        return None;
    }
    let is_slot = is_in_slot(sentence, at);
    let is_alone =
        first.shape == Shape::Initial && is_own_cell(sentence, at) && is_cell_surname(last);
    // `Nakato, EDD 1 Feb`: an abbreviation, and no given name.
    if last.shape == Shape::Capital && first.shape == Shape::Upper && first.len() <= 4 {
        return None;
    }
    let is_initial = (is_slot || is_alone) && first.shape == Shape::Initial;
    let are_capital = last.is_capital() && (first.is_capital() || is_initial);
    let are_shouted = last.shape == Shape::Upper && first.shape == Shape::Upper;
    // `DOE,JANE` and `DOE^JANE` come from interfaces, `Doe,Jane,1961` from a table without labels.
    let is_between = match sentence.gap(at) {
        b", " => true,
        b"," => {
            are_shouted
                || is_alone && last.shape == Shape::Upper
                || sentence.is_first(at) && sentence.gap(at + 1) == b","
        }
        b"^" => true,
        _ => false,
    };
    if !is_between || !are_capital {
        return None;
    }
    let is_surname = last.class.is_surname() || last.class.is_unknown();
    let is_pair = first.class.is_given()
        && (last.class.is_sure() || first.class.is_sure())
        && !(last.class.is_common() && first.class.is_word());
    let is_booked = is_slot
        && !last.class.is_common()
        && (is_initial || first.class.is_given() || first.class.is_unknown());
    let fits = is_surname && (is_pair || is_booked || is_alone);
    // `Boston, Virginia` and `Jackson, Tyler and Ross` are no person.
    let is_place = last.class.is_city() && first.is(Role::State);
    let is_given = |at: usize| {
        sentence
            .token(at)
            .is_some_and(|third| third.is_capital() && third.class.is_given())
    };
    let is_last_of_list = || {
        sentence.gap(at + 1) == b" "
            && sentence
                .token(at + 2)
                .is_some_and(|or| matches!(or.text(sentence.text), "and" | "or"))
            && is_given(at + 3)
    };
    let is_list = sentence.gap(at + 1) == b", " && is_given(at + 2) || is_last_of_list();
    if !fits
        || is_place
        || is_list
        || is_blocked(last)
        || is_blocked(first)
            && !(first.is(Role::Day) && last.class.is_sure() && !last.class.is_word())
        || first.is(Role::Eponym)
        || is_of_a_thing(sentence, at)
        || is_of_a_thing(sentence, at + 1)
        || is_among_eponyms(sentence, at)
        || is_of_many_things(sentence, at)
    {
        return None;
    }
    // Cells of a table stay cells: the given name is found by itself.
    if sentence.gap(at) == b"," && !are_shouted && !is_alone {
        return Some((finding(sentence, at, at + 1, PAIR_SCORE)?, at + 1));
    }
    // `DOE, JANE Q`, `Nguyen, Thi Bich Ngoc`.
    let goes_on = |token: &Token| {
        let is_given = token.is_capital()
            && token.role.is_none()
            && !token.is_glued
            && (token.class.is_given() && !token.class.is_word()
                || token.class.is_unknown() && token.shape == Shape::Capital);
        token.shape == Shape::Initial || is_given || is_new_in_capitals(token)
    };
    let mut end = at + 2;
    while end < at + MAX_WORDS
        && sentence.is_joined_to(end - 1)
        && sentence.token(end).is_some_and(goes_on)
    {
        end += 1;
    }
    Some((finding(sentence, at, end, PAIR_SCORE)?, end))
}

/// `Lynch, Gilbert, Dubin-Johnson`: whether what stands before or behind the two words in a list is an eponym.
fn is_among_eponyms(sentence: &Sentence<'_>, at: usize) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| sentence.gap(before) == b", " && is_eponym(sentence, before))
        || sentence.gap(at + 1) == b", " && is_eponym(sentence, at + 2)
}

/// `Fitzwilliam, D.`, `Castillo, R`: whether surname and initial are all that a line or a cell holds.
fn is_own_cell(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_break = |gap: &[u8]| gap.iter().any(|sign| matches!(sign, b'\n' | b'|' | b'\t'));
    let opens = at.checked_sub(1).is_none_or(|before| {
        let gap = sentence.gap(before);
        is_break(gap) || gap == b": "
    });
    let behind = sentence.gap(at + 1);
    // `- Abernathy, L. – PT 0900`.
    let is_apart = matches!(
        behind,
        b" - "
            | b". - "
            | b" \xe2\x80\x93 "
            | b". \xe2\x80\x93 "
            | b" \xe2\x80\x94 "
            | b". \xe2\x80\x94 "
    );
    opens && (sentence.token(at + 2).is_none() || is_break(behind) || is_apart)
}

fn is_cell_surname(token: &Token) -> bool {
    token.class.is_surname()
        && (token.class.is_sure() || !token.class.is_word())
        && token.role.is_none()
}

/// `0800 Achebe, C`, `14:30 Achebe, Chidi`: whether the word stands behind the time that its line begins with.
fn is_in_slot(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(time) = at.checked_sub(1).and_then(|at| sentence.token(at)) else {
        return false;
    };
    // No more than a break and `14:`, however long the line is.
    let head = sentence.text.as_bytes();
    let head = head.get(time.start.saturating_sub(4)..time.start);
    let mut lines = head.unwrap_or_default().rsplit(|byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let is_hour = |hour: &[u8]| {
        hour.strip_suffix(b":")
            .is_some_and(|hour| matches!(hour.len(), 1 | 2) && hour.iter().all(u8::is_ascii_digit))
    };
    let text = time.text(sentence.text);
    sentence.gap(at - 1) == b" "
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (line.is_empty() && text.len() == 4 || is_hour(line) && text.len() == 2)
}

/// `Jane Doe`, `JANE Q. DOE`, `jane doe`.
pub(super) fn listed(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
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
    let (one, two) = (given.class, surname.class);
    let is_thing = if one.is_given() && one.is_sure() && !given.is(Role::Particle) {
        is_of_a_thing(sentence, last)
    } else {
        is_eponym(sentence, last)
    };
    if is_eponym(sentence, at) || is_thing {
        return None;
    }
    // `the Ryan White program`.
    let is_honoured = last == at + 1
        && sentence
            .before(at)
            .is_some_and(|the| matches!(the.text(sentence.text), "the" | "The"))
        && sentence.gap(at - 1) == b" "
        && sentence.gap(last) == b" "
        && sentence
            .token(last + 1)
            .is_some_and(|next| NAMED_AFTER.contains(&next.text(sentence.text)));
    if is_honoured {
        return None;
    }
    let is_stopped = given.role.is_some_and(|role| role != Role::Particle);
    let fits = match sentence.writing {
        Writing::Cased => {
            let known = one.is_given() && (two.is_surname() || two.is_unknown() || two.is_given())
                || one.is_unknown()
                    && two.is_surname()
                    && two.is_sure()
                    && (last > at + 1
                        || is_whose(sentence, at, given, surname)
                        || is_at_head(sentence, at, given, surname))
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

/// `pen delivery for Ottoline Briggs`: a word that no list has before a surname that is no word, behind a word that
/// people stand behind.
fn is_whose(sentence: &Sentence<'_>, at: usize, given: &Token, surname: &Token) -> bool {
    const BEFORE: [&str; 5] = ["for", "of", "with", "by", "from"];
    const BEHIND: [&str; 20] = [
        "to",
        "on",
        "in",
        "at",
        "and",
        "who",
        "is",
        "was",
        "has",
        "had",
        "for",
        "from",
        "with",
        "by",
        "of",
        "as",
        "needs",
        "today",
        "yesterday",
        "or",
    ];
    const SHORT: usize = 4;
    let is_behind = || {
        sentence
            .before(at)
            .is_some_and(|before| BEFORE.contains(&before.text(sentence.text)))
            && sentence.gap(at - 1) == b" "
    };
    // `Toñita Archuleta, your appointment is at 9`.
    let is_addressed = sentence.gap(at + 1) == b", "
        && sentence
            .token(at + 2)
            .is_some_and(|next| next.text(sentence.text) == "your");
    given.len() > SHORT
        && given.shape == Shape::Capital
        && given.role.is_none()
        && surname.shape == Shape::Capital
        && surname.role.is_none()
        && !surname.class.is_word()
        && !surname.class.is_city()
        && !ends_as_findings_do(given.text(sentence.text))
        && (is_behind() || is_addressed)
        && (sentence.gap(at + 1) != b" "
            || sentence
                .token(at + 2)
                .is_none_or(|next| BEHIND.contains(&next.text(sentence.text))))
}

/// `US OB: Mirembe Nakato, EDD`: a word that no list has before a surname that is no word, behind a label or at the
/// head of a line, with a comma behind.
fn is_at_head(sentence: &Sentence<'_>, at: usize, given: &Token, surname: &Token) -> bool {
    let is_part = |token: &Token| token.shape == Shape::Capital && token.role.is_none();
    let begins = at
        .checked_sub(1)
        .is_none_or(|before| matches!(sentence.gap(before), b": " | b"\n" | b"- " | b" | "));
    begins
        && is_part(given)
        && is_part(surname)
        && given.len() > 3
        && !surname.class.is_word()
        && !surname.class.is_city()
        && !ends_as_findings_do(given.text(sentence.text))
        && sentence.gap(at + 1).starts_with(b", ")
}

/// What is named after somebody whom all know.
const NAMED_AFTER: [&str; 12] = [
    "program",
    "programs",
    "Program",
    "Act",
    "Law",
    "Award",
    "Prize",
    "Study",
    "Trial",
    "Amendment",
    "amendment",
    "Lecture",
];

/// `J. Smith`, `Smith J`, `J.D. Smith`.
pub(super) fn with_initial(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let initial = sentence.token(at)?;
    if initial.shape != Shape::Initial || sentence.sign(at) != b'.' {
        return None;
    }
    if let Some(found) = initials(sentence, at) {
        return Some(found);
    }
    let mut last = at + 1;
    // Bounded, as every initial of a long row of them begins one.
    while last < at + MAX_WORDS
        && sentence.token(last)?.shape == Shape::Initial
        && matches!(sentence.gap(last - 1), b"." | b". ")
    {
        last += 1;
    }
    let surname = sentence.token(last)?;
    // `A. Whitcombe, MD`, `seen by A. Whitcombe`.
    let is_somebody = || {
        let has_degree = sentence.token(last + 1).is_some_and(|next| {
            next.is(Role::Credential) && matches!(sentence.gap(last), b", " | b" ")
        });
        let word = |back: usize| {
            let token = sentence.token(at.checked_sub(back)?)?;
            Some(token.text(sentence.text))
        };
        let is_by = word(1).is_some_and(|by| by.eq_ignore_ascii_case("by"))
            && word(2).is_some_and(|done| DONE_BY.iter().any(|one| done.eq_ignore_ascii_case(one)))
            || word(1).is_some_and(|copy| copy.eq_ignore_ascii_case("cc"));
        let is_name =
            surname.class.is_unknown() || surname.class.is_surname() && !surname.class.is_word();
        is_name && (has_degree || is_by)
    };
    // `R. Subramaniam seen`: no bacterium has such a surname.
    let is_rare = || {
        surname.class.is_surname()
            && !surname.class.is_word()
            && !surname.class.is_city()
            && sentence.token(last + 1).is_none_or(|next| {
                sentence.gap(last) != b" " || PATIENTS_ARE.contains(&next.text(sentence.text))
            })
    };
    let is_written = match sentence.writing {
        Writing::Cased => surname.shape == Shape::Capital,
        Writing::Uncased => surname.shape == Shape::Upper && !surname.class.is_word(),
    };
    // `K. Sung 41M`, `agree with the findings. - S. McIlhenny`.
    let is_told = || {
        let may_be = surname.class.is_surname() || surname.class.is_unknown();
        may_be && age_behind(sentence, last + 1) == Some(true)
            || may_be
                && !surname.class.is_word()
                && sentence.token(last + 1).is_none()
                && at.checked_sub(1).is_some_and(|before| {
                    matches!(
                        sentence.gap(before),
                        [b'.' | b'!' | b'?', .., b'-' | 0x93 | 0x94, b' ']
                            | [b'\n', .., b'-', b' ']
                    )
                })
    };
    let fits = matches!(sentence.gap(last - 1), b". " | b".")
        && is_written
        && (surname.class.is_surname() && surname.class.is_sure()
            || is_somebody()
            || is_rare()
            || is_told())
        && !is_blocked(surname)
        && !is_eponym(sentence, last);
    if !fits {
        return None;
    }
    let end = name_end(sentence, last);
    Some((finding(sentence, at, end, PAIR_SCORE)?, end))
}

/// `Initials: M.J.K.`
fn initials(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let label = sentence.before(at)?;
    let is_label = label.text(sentence.text).eq_ignore_ascii_case("initials");
    if !is_label || !matches!(sentence.gap(at - 1), b": " | b" " | b":") {
        return None;
    }
    let mut end = at + 1;
    while end < at + MAX_WORDS
        && sentence.gap(end - 1) == b"."
        && sentence
            .token(end)
            .is_some_and(|next| next.shape == Shape::Initial)
    {
        end += 1;
    }
    Some((finding(sentence, at, end, PAIR_SCORE)?.contextual(), end))
}

/// What is done by somebody, and by no bacterium: `caused by E. coli`.
const DONE_BY: [&str; 9] = [
    "seen",
    "signed",
    "read",
    "reviewed",
    "dictated",
    "examined",
    "performed",
    "referred",
    "evaluated",
];

/// `Jane Smith, MD`: the degree makes a name of the capitals before it.
pub(super) fn with_degree(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    if sentence.writing == Writing::Uncased
        || first.shape != Shape::Capital
        || is_blocked(first)
        || first.class.is_common()
    {
        return None;
    }
    let mut last = at;
    while last < at + MAX_GUESSED_WORDS && sentence.is_joined_to(last) {
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
        && !is_of_a_thing(sentence, at)
        && matches!(sentence.gap(last), b", " | b" ")
        && (last > at || first.class.is_surname());
    if !fits {
        return None;
    }
    Some((
        finding(sentence, at, last + 1, DEGREE_SCORE)?.contextual(),
        last + 1,
    ))
}

/// `Nkechi Okonjo is a 54 yo F`: words with a capital that no list has, and of which something is said that is said of
/// people alone.
pub(super) fn described(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let may_be_name = |token: &Token| {
        token.shape == Shape::Capital
            && token.role.is_none()
            && !token.class.is_common()
            && (token.class.is_unknown()
                || token.class.is_name()
                || token.class.is_city() && !token.class.is_word())
    };
    if sentence.writing == Writing::Uncased || !sentence.token(at).is_some_and(may_be_name) {
        return None;
    }
    let mut last = at;
    while last + 1 < at + MAX_GUESSED_WORDS
        && sentence.is_joined_to(last)
        && sentence
            .token(last + 1)
            .is_some_and(|next| may_be_name(next) || last > at && next.shape == Shape::Capital)
    {
        last += 1;
    }
    let word = |ahead: usize| {
        let token = sentence.token(last + ahead)?;
        (sentence.gap(last + ahead - 1) == b" ").then(|| token.text(sentence.text))
    };
    let is_said_of_people = match (word(1)?, word(2)) {
        ("is" | "was", Some("a" | "an")) => sentence
            .token(last + 3)
            .is_some_and(|token| token.shape == Shape::Number),
        ("was", Some(done)) => PATIENTS_ARE.contains(&done),
        (does, _) => PATIENTS_DO.contains(&does),
    };
    // One word where age and sex are said: `Whitehorse is a 61 yo M`.
    let is_somebody = || {
        last > at
            || matches!(word(1), Some("is" | "was"))
                && matches!(word(2), Some("a" | "an"))
                && has_sex_behind(sentence, last + 3)
    };
    if !is_said_of_people || !is_somebody() || is_eponym(sentence, at) {
        return None;
    }
    Some((finding(sentence, at, last + 1, GIVEN_SCORE)?, last + 1))
}

/// `61 yo M`, `61-year-old male`: whether a sex stands within the words behind the number at `at`.
fn has_sex_behind(sentence: &Sentence<'_>, at: usize) -> bool {
    /// Of `year-old` and `y o`.
    const WORDS: usize = 4;
    const SEXES: [&str; 8] = ["M", "F", "male", "female", "man", "woman", "boy", "girl"];
    (at + 1..=at + WORDS).any(|at| {
        sentence
            .token(at)
            .is_some_and(|token| SEXES.contains(&token.text(sentence.text)))
    })
}

/// What is done with people.
const PATIENTS_ARE: [&str; 9] = [
    "admitted",
    "seen",
    "discharged",
    "born",
    "transferred",
    "brought",
    "examined",
    "evaluated",
    "hospitalized",
];
/// What people do.
const PATIENTS_DO: [&str; 8] = [
    "presents",
    "presented",
    "states",
    "complains",
    "endorses",
    "denies",
    "reports",
    "says",
];

/// One word that is a name nearly always.
pub(super) fn alone(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let class = token.class;
    if !class.is_sure() || is_blocked(token) || is_eponym(sentence, at) || token.len() < 3 {
        return None;
    }
    if is_of_many_things(sentence, at) || is_idiom(sentence, at) || is_double_thing(sentence, at) {
        return None;
    }
    // `Smith et al.` are authors.
    let is_cited = sentence.token(at + 1).is_some_and(|et| {
        et.text(sentence.text) == "et" && sentence.gap(at) == b" " || is_journal(sentence, at + 1)
    });
    let is_written = match sentence.writing {
        Writing::Cased => token.shape == Shape::Capital && !is_cited,
        // A key of JSON is what somebody called a thing.
        Writing::Uncased => {
            class.is_given() && token.len() > 3 && !sentence.gap(at).starts_with(b"\":")
        }
    };
    if !is_written
        || token.role.is_some()
        || is_inside_of_title(sentence, at)
        || is_small_noun(sentence, at)
    {
        return None;
    }
    // `no Murphy's.` is a sign.
    let behind = sentence
        .text
        .as_bytes()
        .get(token.end..)
        .unwrap_or_default();
    let is_owner_of_nothing = matches!(
        behind,
        [b'\'', b's'] | [b'\'', b's', b'.' | b',' | b';' | b'\n', ..]
    );
    let is_sign = is_owner_of_nothing
        && sentence.before(at).is_some_and(|no| {
            matches!(
                no.text(sentence.text),
                "no" | "No" | "negative" | "positive"
            )
        });
    if is_sign {
        return None;
    }
    // `Columbia negative` is a scale of a city's university.
    let is_scale = class.is_city()
        && sentence.gap(at) == b" "
        && sentence
            .token(at + 1)
            .is_some_and(|next| matches!(next.text(sentence.text), "negative" | "positive"));
    if is_scale {
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
    // `Fitzpatrick II`, `Clark III`: a grade and nobody's grandson, where no given name stands before.
    if end == at + 2
        && sentence
            .token(at + 1)
            .is_some_and(|grade| grade.is(Role::Suffix) && grade.shape == Shape::Upper)
    {
        return None;
    }
    Some((finding(sentence, at, end, score)?, end))
}

/// `Jones (JAMA 2021)`: a journal or a year in brackets.
fn is_journal(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_year = |token: &Token| token.shape == Shape::Number && token.len() == 4;
    let behind = sentence.token(at + 1).is_some_and(is_year);
    at.checked_sub(1)
        .is_some_and(|before| sentence.gap(before) == b" (")
        && sentence
            .token(at)
            .is_some_and(|token| is_year(token) || token.shape == Shape::Upper && behind)
}

/// `her walker`, in a text without capitals: a surname does not stand there.
pub(super) fn is_small_noun(sentence: &Sentence<'_>, at: usize) -> bool {
    const DETERMINERS: [&str; 6] = ["a", "an", "the", "her", "his", "using"];
    let is_surname = sentence
        .token(at)
        .is_some_and(|token| token.class.is_surname());
    let before = sentence.before(at).filter(|_| !sentence.is_first(at));
    sentence.writing == Writing::Uncased
        && is_surname
        && before.is_some_and(|before| DETERMINERS.contains(&before.text(sentence.text)))
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
    // `my neighbor Big Mike`.
    let is_nicknamed = sentence
        .before(at)
        .is_some_and(|before| before.text(sentence.text) == "Big")
        && sentence
            .token(at)
            .is_some_and(|token| token.text(sentence.text) != "Ben");
    let before = at > 0
        && sentence.is_joined_to(at - 1)
        && !sentence.is_first(at - 1)
        && !is_nicknamed
        && is_other(sentence.before(at));
    let behind = sentence.is_joined_to(at)
        && is_other(sentence.token(at + 1))
        && sentence
            .token(at + 1)
            .is_some_and(|token| token.class.is_word());
    before || behind
}
