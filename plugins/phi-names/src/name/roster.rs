//! Names by where they stand in what is written in haste: ward lists, hand-offs, families, mails, staff of a case.

use super::eponym::is_eponym;
use super::led::is_label_gap;
use super::listed::reversed;
use super::told::{ends_as_findings_do, may_be_name};
use super::ward::{among_items, among_rooms, in_bullets, in_ward_list, is_small_in_bed};
use super::{finding, is_blocked, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;
use phi_lexicon::{Hash, look_up};

const ROSTER_SCORE: u16 = 800;

/// The name that begins at the token.
pub(super) fn find(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    if let Some(found) = of_kin(sentence, at, token) {
        return Some(found);
    }
    if let Some(found) = acting(sentence, at, token) {
        return Some(found);
    }
    if behind_initials(sentence, at, token) {
        return Some((
            finding(sentence, at, at + 1, ROSTER_SCORE)?.contextual(),
            at + 1,
        ));
    }
    if let Some(found) = in_form(sentence, at, token) {
        return Some(found);
    }
    // `ANESTHESIA: ADEYEMI`, in a text of capitals.
    if sentence.writing == Writing::Uncased
        && token.shape == Shape::Upper
        && token.class.is_surname()
        && !token.class.is_word()
        && let Some(label) = sentence.before(at)
        && behind_staff(sentence, at, token, label)
    {
        return found(sentence, at);
    }
    let before = sentence.before(at);
    // `icu 9 okeke vent`, in a text of small letters.
    if sentence.writing == Writing::Uncased && is_small_in_bed(sentence, at, token) {
        return Some((
            finding(sentence, at, at + 1, ROSTER_SCORE)?.contextual(),
            at + 1,
        ));
    }
    // `Bed 12 SANTIAGO 45F`.
    let is_numbered = before.is_some_and(|before| before.shape == Shape::Number);
    let is_shouted = is_numbered && token.shape == Shape::Upper && token.class.is_name();
    if sentence.writing == Writing::Uncased || token.shape != Shape::Capital && !is_shouted {
        return None;
    }
    if let Some(found) = called(sentence, at, token) {
        return Some(found);
    }
    let before = before?;
    if let Some(found) = excused(sentence, at, token, before) {
        return Some(found);
    }
    let is_there = if before.shape == Shape::Number {
        in_ward_list(sentence, at, token)
            || among_items(sentence, at, token)
            || among_rooms(sentence, at, token)
            || behind_age(sentence, at, token, before)
    } else {
        in_bullets(sentence, at)
            || among_items(sentence, at, token)
            || behind_staff(sentence, at, token, before)
            || behind_subject(sentence, at, token, before)
            || in_family(sentence, at, token)
            || behind_myself(sentence, at, token)
            || ends_message(sentence, at, token)
            || behind_like(sentence, at, before)
            || behind_doctors(sentence, at, token, before)
            || is_household(sentence, at, token, before)
    };
    if !is_there || is_eponym(sentence, at) {
        return None;
    }
    found(sentence, at)
}

/// `@Brandon can you see bed 3`: who is spoken to in a conversation.
pub(super) fn addressed(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let bytes = sentence.text.as_bytes();
    let sign = token.start.checked_sub(1)?;
    let opens = sign == 0 || bytes.get(sign - 1).is_some_and(u8::is_ascii_whitespace);
    let is_one = bytes.get(sign) == Some(&b'@')
        && opens
        && token.shape == Shape::Capital
        && token.class.is_given()
        && token.class.is_sure()
        && matches!(
            sentence.sign(at),
            b' ' | b',' | b':' | b'?' | b'!' | b'\n' | 0
        );
    is_one.then(|| Some((finding(sentence, at, at + 1, ROSTER_SCORE)?, at + 1)))?
}

fn found(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let end = name_end(sentence, at);
    let end = reversed(sentence, at).map_or(end, |(_, reversed)| reversed.max(end));
    Some((finding(sentence, at, end, ROSTER_SCORE)?.contextual(), end))
}

/// `Subj 014-0024, initials RTD`.
fn behind_initials(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    token.shape == Shape::Upper
        && token.len() <= 4
        && token.role.is_none()
        && sentence
            .before(at)
            .is_some_and(|label| label.text(sentence.text).eq_ignore_ascii_case("initials"))
        && matches!(sentence.gap(at - 1), b" " | b": ")
}

/// `anand's mom called`, `Suresh's wife`.
fn of_kin(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    let is_owned = matches!(sentence.gap(at), b"'s " | b"\xe2\x80\x99s ");
    let fits = is_owned
        && sentence.token(at + 1)?.is(Role::Kin)
        && token.role.is_none()
        && !token.is_glued
        && match sentence.writing {
            Writing::Cased => token.shape == Shape::Capital && !token.class.is_word(),
            Writing::Uncased => token.class.is_name() && !token.class.is_word(),
        };
    fits.then(|| {
        Some((
            finding(sentence, at, at + 1, ROSTER_SCORE)?.contextual(),
            at + 1,
        ))
    })?
}

/// `Grace visited today`, `Hope denies pain`: a given name that is a word too, and does what people alone do.
fn acting(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    let does = |next: &Token| DONE_BY_PEOPLE.contains(&next.text(sentence.text));
    let class = token.class;
    // `FYI Delgado in bed 7 is refusing meds`.
    let is_word = |at: usize, words: &[&str]| {
        sentence
            .token(at)
            .is_some_and(|token| words.contains(&token.text(sentence.text)))
    };
    let has_number = |at: usize| {
        sentence
            .token(at)
            .is_some_and(|bed| bed.shape == Shape::Number)
    };
    // `ramirez in 14 needs a new iv`, where no years and no weeks are counted.
    let is_in_number = || {
        has_number(at + 2)
            && sentence.gap(at + 2) == b" "
            && sentence.token(at + 2).is_some_and(|bed| bed.len() <= 3)
            && sentence
                .token(at + 3)
                .is_some_and(|next| BED_DOES.contains(&next.text(sentence.text)))
    };
    let is_written = match sentence.writing {
        Writing::Cased => token.shape == Shape::Capital,
        Writing::Uncased => matches!(token.shape, Shape::Lower | Shape::Capital),
    };
    let is_in_bed = is_written
        && class.is_surname()
        && !class.is_word()
        && (class.is_sure() || !class.is_city())
        && token.role.is_none()
        && sentence.gap(at) == b" "
        && is_word(at + 1, &["in"])
        && (is_word(at + 2, &["bed", "room", "rm"]) && has_number(at + 3) || is_in_number());
    if is_in_bed {
        return found(sentence, at);
    }
    // `Hernandez tolerated PT`, `gonzalez refused meds`: a surname that is no word.
    let is_surname = class.is_surname() && !class.is_word() && !class.is_big_city();
    // `Tuiasosopo voided.`
    let is_new = || {
        class.is_unknown()
            && token.len() > 4
            && sentence
                .token(at + 1)
                .is_some_and(|next| DONE_BY_BODIES.contains(&next.text(sentence.text)))
            && !ends_as_findings_do(token.text(sentence.text))
    };
    if token.role.is_some() || token.is_glued || sentence.gap(at) != b" " || !sentence.is_first(at)
    {
        return None;
    }
    let fits = match sentence.writing {
        Writing::Cased => {
            token.shape == Shape::Capital && (class.is_given() || is_surname || is_new())
        }
        Writing::Uncased => is_surname && token.shape == Shape::Lower,
    };
    let fits = fits && sentence.token(at + 1).is_some_and(does);
    fits.then(|| {
        Some((
            finding(sentence, at, at + 1, ROSTER_SCORE)?.contextual(),
            at + 1,
        ))
    })?
}

/// `nickname: NotRequired[str]`, `NICKNAME = Identifier(…)`: types and calls of programs.
fn is_of_code(sentence: &Sentence<'_>, at: usize) -> bool {
    let has_hump = sentence.token(at).is_some_and(|token| {
        let word = token.text(sentence.text).as_bytes();
        let inner = word.get(3..).unwrap_or_default();
        inner.iter().any(u8::is_ascii_uppercase) && !word.contains(&b'-')
    });
    let is_assigned = at
        .checked_sub(1)
        .is_some_and(|before| sentence.gap(before).contains(&b'='));
    has_hump || is_assigned || matches!(sentence.sign(at), b'(' | b'[' | b'<' | b'{' | b'_')
}

/// `Nickname: Skip`, `prefers to be called Skip`, `goes by Skip`: any word with a capital.
fn called(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    let word = |back: usize| {
        let token = at.checked_sub(back).and_then(|at| sentence.token(at));
        token.map_or("", |token| token.text(sentence.text))
    };
    let gap = at
        .checked_sub(1)
        .map_or(&b""[..], |before| sentence.gap(before));
    let is_label = || {
        is_label_gap(gap)
            && (word(1).eq_ignore_ascii_case("nickname")
                || word(1).eq_ignore_ascii_case("name")
                    && ["preferred", "chosen", "given", "maiden"]
                        .iter()
                        .any(|kind| word(2).eq_ignore_ascii_case(kind)))
    };
    let is_said = || {
        matches!(gap, b" " | b" \"" | b" \xe2\x80\x9c")
            && (word(1) == "by" && matches!(word(2), "goes" | "go" | "went")
                || word(1) == "called"
                    && matches!(word(2), "be" | "being")
                    && matches!(word(3), "to" | "prefers" | "likes")
                || word(1) == "name" && word(2).eq_ignore_ascii_case("preferred"))
    };
    let fits = (is_label() || is_said())
        && !token.is_glued
        && !is_of_code(sentence, at)
        && matches!(
            token.role,
            None | Some(Role::Eponym | Role::Direction | Role::State)
        )
        && sentence.sign(at) != b':';
    fits.then(|| found(sentence, at))?
}

/// `patient_name LIKE '%Okonkwo%'`: what a column of names is searched for.
fn behind_like(sentence: &Sentence<'_>, at: usize, like: &Token) -> bool {
    let is_like = ["like", "ilike"]
        .iter()
        .any(|word| like.text(sentence.text).eq_ignore_ascii_case(word));
    let column = at.checked_sub(2).and_then(|at| sentence.token(at));
    is_like
        && matches!(sentence.gap(at - 1), b" '%" | b" '" | b" \"%" | b" \"")
        && column.is_some_and(|column| {
            let word = column.text(sentence.text).as_bytes();
            word.len()
                .checked_sub(4)
                .and_then(|at| word.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(b"name"))
                && column.is_glued
        })
}

/// `please excuse Braxton Whitehorse from school`.
fn excused(
    sentence: &Sentence<'_>,
    at: usize,
    token: &Token,
    before: &Token,
) -> Option<(Finding, usize)> {
    if !before.text(sentence.text).eq_ignore_ascii_case("excuse")
        || sentence.gap(at - 1) != b" "
        || !may_be_name(sentence, token)
    {
        return None;
    }
    // `Whitehorse` is a city as well.
    let is_last = |next: &&Token| next.shape == Shape::Capital && next.role.is_none();
    let two = usize::from(sentence.gap(at) == b" ")
        * usize::from(sentence.token(at + 1).as_ref().is_some_and(is_last));
    let end = name_end(sentence, at).max(at + 1 + two);
    let is_from = sentence
        .token(end)
        .is_some_and(|from| from.text(sentence.text) == "from");
    is_from.then(|| Some((finding(sentence, at, end, ROSTER_SCORE)?.contextual(), end)))?
}

/// `Drs. Malik and Thorne`: the further ones of several.
fn behind_doctors(sentence: &Sentence<'_>, at: usize, token: &Token, before: &Token) -> bool {
    /// Words back to the title.
    const REACH: usize = 5;
    let is_listed = match sentence.gap(at - 1) {
        b" " => before.text(sentence.text) == "and",
        b", " => before.is_capital(),
        _ => false,
    };
    is_listed
        && token.role.is_none()
        && !token.class.is_common()
        && (2..=REACH)
            .filter_map(|back| at.checked_sub(back))
            .take_while(|at| {
                let is_part = |token: &Token| {
                    token.is_capital()
                        || token.is(Role::Title)
                        || token.text(sentence.text) == "and"
                };
                matches!(sentence.gap(*at), b" " | b", " | b". ")
                    && sentence.token(*at).is_some_and(is_part)
            })
            .any(|at| {
                sentence.token(at).is_some_and(|title| {
                    matches!(title.text(sentence.text), "Drs" | "drs" | "Messrs")
                })
            })
}

/// `I, Temperance Brennan, hereby authorize`: who signs.
fn behind_myself(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    let is_i = at
        .checked_sub(1)
        .is_some_and(|i| sentence.gap(i) == b", " && sentence.is_first(i));
    let word = sentence.before(at).map_or("", |i| i.text(sentence.text));
    let end = name_end(sentence, at);
    is_i && word == "I"
        && token.role.is_none()
        && !token.class.is_common()
        && end > at + 1
        && sentence.sign(end - 1) == b','
}

/// `Can it be ready? - Jess W.`: who wrote, at the end of all.
fn ends_message(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    /// Words of the shortest message that is signed.
    const SHORTEST: usize = 5;
    let gap = at
        .checked_sub(1)
        .map_or(&b""[..], |before| sentence.gap(before));
    let is_behind_end = matches!(
        gap,
        [b'.' | b'!' | b'?', .., b'-' | b'~'] | [b'.' | b'!' | b'?', .., b'-', b' ']
    );
    let end = name_end(sentence, at);
    let is_initial = |token: &Token| token.shape == Shape::Initial;
    let end = end + usize::from(sentence.token(end).is_some_and(is_initial));
    // `Should i go up on lantus? Earl`.
    let is_signed = || {
        matches!(gap, b". " | b"? " | b"! " | b".\n" | b"?\n" | b"!\n")
            && !token.class.is_city()
            && !token.class.is_common()
            && end == at + 1
            && at > SHORTEST
            && sentence.sign(at) == 0
    };
    (is_behind_end || is_signed())
        && token.class.is_given()
        && token.role.is_none()
        && sentence.token(end).is_none()
}

/// What is said of who lies in a bed.
const BED_DOES: [&str; 14] = [
    "is", "was", "has", "had", "needs", "wants", "needed", "refused", "refuses", "refusing",
    "pulled", "fell", "got", "still",
];

/// Of these, what nothing does that a program or a drug is called by.
const DONE_BY_BODIES: [&str; 12] = [
    "ate",
    "vomited",
    "voided",
    "ambulated",
    "ambulating",
    "desatted",
    "febrile",
    "afebrile",
    "intubated",
    "extubated",
    "combative",
    "npo",
];

/// What people alone do, or are, and no organ or drug.
const DONE_BY_PEOPLE: [&str; 33] = [
    "febrile",
    "afebrile",
    "intubated",
    "extubated",
    "combative",
    "npo",
    "wants",
    "wanted",
    "spiked",
    "desatted",
    "vomited",
    "ate",
    "slept",
    "refuses",
    "voided",
    "requests",
    "asks",
    "asked",
    "visited",
    "called",
    "attended",
    "phoned",
    "texted",
    "emailed",
    "denies",
    "complains",
    "endorses",
    "verbalized",
    "ambulated",
    "ambulating",
    "refused",
    "tolerated",
    "says",
];

/// Whether the gap before the token begins a line.
pub(super) fn begins_line(sentence: &Sentence<'_>, at: usize) -> bool {
    at.checked_sub(1)
        .is_none_or(|before| sentence.gap(before).contains(&b'\n'))
}

/// Whether a line, a clause or the text ends with the token before `end`.
pub(super) fn ends_here(sentence: &Sentence<'_>, end: usize) -> bool {
    matches!(
        end.checked_sub(1).map_or(0, |last| sentence.sign(last)),
        0 | b'\n' | b'\r' | b',' | b';' | b'.' | b'|' | b'('
    )
}

/// `71M Johansson with CHF`: a surname right behind age and sex.
fn behind_age(sentence: &Sentence<'_>, at: usize, token: &Token, age: &Token) -> bool {
    let text = age.text(sentence.text);
    let class = token.class;
    matches!(text.as_bytes(), [b'1'..=b'9', b'0'..=b'9', b'M' | b'F'])
        && sentence.gap(at - 1) == b" "
        && token.role.is_none()
        && !token.is_glued
        && class.is_surname()
        && !class.is_word()
        && !class.is_city()
}

/// `Last: Whitcomb  First: Arlene  MI: J`: the parts of a name in a form, where a part is asked for beside the other.
fn in_form(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    /// Tokens between the labels of such a form.
    const REACH: usize = 6;
    const LASTS: [&str; 3] = ["last", "family", "surname"];
    const FIRSTS: [&str; 2] = ["first", "given"];
    const MIDDLES: [&str; 3] = ["mi", "middle", "m"];
    let label = sentence.before(at)?;
    let is_of = |token: &Token, all: &[&str]| {
        all.iter()
            .any(|one| token.text(sentence.text).eq_ignore_ascii_case(one))
    };
    if !matches!(sentence.gap(at - 1), b": " | b":" | b":  ") || token.is_glued {
        return None;
    }
    let (is_last, is_first, is_middle) = (
        is_of(label, &LASTS),
        is_of(label, &FIRSTS),
        is_of(label, &MIDDLES),
    );
    let fits = token.is_capital()
        && sentence.sign(at) != b':'
        && (token.class.is_name() || token.class.is_unknown())
        && (token.role.is_none() || token.class.is_name())
        || is_middle && token.shape == Shape::Initial;
    // `First: Mix well.`
    let goes_on = token.class.is_word()
        && sentence.gap(at) == b" "
        && sentence
            .token(at + 1)
            .is_some_and(|next| next.shape == Shape::Lower);
    if !(is_last || is_first || is_middle) || !fits || goes_on {
        return None;
    }
    let wanted: &[&str] = if is_last { &FIRSTS } else { &LASTS };
    let has_other = (at.saturating_sub(REACH)..=at + REACH).any(|other| {
        let is_label = sentence.sign(other) == b':'
            || sentence.sign(other + 1) == b':'
                && sentence
                    .token(other + 1)
                    .is_some_and(|name| is_of(name, &["name"]));
        is_label
            && sentence
                .token(other)
                .is_some_and(|token| is_of(token, wanted) || is_middle && is_of(token, &FIRSTS))
    });
    has_other.then(|| {
        let end = if is_middle {
            at + 1
        } else {
            name_end(sentence, at)
        };
        Some((finding(sentence, at, end, ROSTER_SCORE)?.contextual(), end))
    })?
}

/// Labels that only persons stand behind.
const STAFF: [&str; 31] = [
    "child",
    "camper",
    "decedent",
    "victim",
    "passenger",
    "caller",
    "visitor",
    "donor",
    "on",
    "adjuster",
    "asst",
    "anes",
    "pca",
    "doula",
    "cosigned",
    "cosigner",
    "transcribed",
    "scrub",
    "circulator",
    "scribe",
    "prov",
    "presenter",
    "preceptor",
    "medic",
    "medics",
    "sitter",
    "anesthesia",
    "assistant",
    "requestor",
    "nok",
    "poa",
];
/// Services, behind which the name of who consults may stand, and anything else.
const SERVICES: [&str; 20] = [
    "id",
    "cards",
    "renal",
    "gi",
    "nephro",
    "neuro",
    "ortho",
    "surg",
    "surgery",
    "onc",
    "pulm",
    "heme",
    "endo",
    "psych",
    "uro",
    "ent",
    "gyn",
    "peds",
    "consult",
    "hospitalist",
];

/// `Scrub: Abebe`, `ID: Chaudhry following`, `Ref Prov: Steinmetz, Uri`.
fn behind_staff(sentence: &Sentence<'_>, at: usize, token: &Token, label: &Token) -> bool {
    // `Cards Steinberg.`, `anes Rao`.
    let gap = sentence.gap(at - 1);
    let is_beside = gap == b" "
        && token.class.is_surname()
        && !token.class.is_word()
        && token.shape == Shape::Capital
        && ends_here(sentence, at + 1);
    if !is_beside && (gap == b" " || !is_label_gap(gap)) || !may_be_name(sentence, token) {
        return false;
    }
    let label = label.text(sentence.text);
    let is_one_of = |labels: &[&str]| labels.iter().any(|one| label.eq_ignore_ascii_case(one));
    let class = token.class;
    let end = name_end(sentence, at);
    !is_beside && is_one_of(&STAFF) && (class.is_name() || end > at + 1 || ends_here(sentence, end))
        || is_beside && is_one_of(&["anes"]) && class.is_surname()
        || is_one_of(&SERVICES) && class.is_surname() && class.is_sure() && !class.is_city()
}

/// `Re: Zielinski`, `Subject: RE: Zielinski`.
fn behind_subject(sentence: &Sentence<'_>, at: usize, token: &Token, label: &Token) -> bool {
    let class = token.class;
    matches!(
        label.text(sentence.text),
        "Re" | "RE" | "Fwd" | "FW" | "FWD"
    ) && sentence.gap(at - 1) == b": "
        && class.is_surname()
        && class.is_sure()
        && !class.is_word()
        && !class.is_big_city()
}

/// `The Hendersons dispute it`: the plural of a surname that is no word.
fn is_household(sentence: &Sentence<'_>, at: usize, token: &Token, the: &Token) -> bool {
    if !matches!(the.text(sentence.text), "the" | "The")
        || sentence.gap(at - 1) != b" "
        || token.role.is_some()
        || !token.class.is_unknown()
    {
        return false;
    }
    let Some(single) = token.text(sentence.text).strip_suffix('s') else {
        return false;
    };
    let class = look_up(Hash::new().over(single));
    class.is_surname()
        && class.is_sure()
        && !class.is_word()
        && sentence
            .token(at + 1)
            .is_none_or(|next| next.shape == Shape::Lower || sentence.gap(at) != b" ")
}

/// `kids Mike, Steph, and Jojo`, `two kids, Rowan (6) and Juniper (3)`: a name in a list behind a word for several of a
/// family.
fn in_family(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    /// Tokens of the longest list.
    const MOST: usize = 12;
    const SEVERAL: [&str; 10] = [
        "kids",
        "children",
        "sons",
        "daughters",
        "siblings",
        "twins",
        "brothers",
        "sisters",
        "grandchildren",
        "grandkids",
    ];
    let is_new = token.class.is_unknown() && token.role.is_none();
    let is_near = |gap: &[u8]| {
        matches!(
            gap,
            b" " | b", " | b" & " | b", & " | b" (" | b"), " | b") " | b": " | b" - "
        )
    };
    let is_given = token.class.is_given() && !token.class.is_common();
    if !(is_given || is_new) || token.is_glued || is_blocked(token) || is_of_code(sentence, at) {
        return false;
    }
    for back in 1..=MOST {
        let Some(here) = at.checked_sub(back) else {
            return false;
        };
        if !is_near(sentence.gap(here)) {
            return false;
        }
        let Some(word) = sentence.token(here) else {
            return false;
        };
        let text = word.text(sentence.text);
        let may_be = word.shape == Shape::Lower && text.len() > 3;
        if may_be
            && SEVERAL
                .iter()
                .any(|several| text.eq_ignore_ascii_case(several))
        {
            // `children: Vec<Node>` is a field: a name that no list has stands behind another.
            let has_sibling = || {
                sentence
                    .token(at + 1)
                    .is_some_and(|and| and.text(sentence.text) == "and")
                    && sentence.gap(at) == b" "
                    && sentence
                        .token(at + 2)
                        .is_some_and(|other| other.shape == Shape::Capital && other.class.is_name())
            };
            return is_given || back > 1 || has_sibling();
        }
        let is_part = word.shape == Shape::Capital && word.role.is_none()
            || word.shape == Shape::Number && word.len() <= 3
            || matches!(text, "and" | "yo" | "y" | "mo" | "age" | "aged");
        if !is_part {
            return false;
        }
    }
    false
}
