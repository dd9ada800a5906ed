//! Places below the state: cities, postal codes, streets. States and countries stay.

mod code;
mod home;
mod street;

use phi_text::text::{byte, byte_before, starts};

use crate::kind::{ADDRESS, Finding, LOCATION, PERHAPS_LOCATION};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use crate::vocabulary::STATE_CODES;
use phi_lexicon::roles::Role;
use phi_lexicon::{Class, Hash, look_up};

pub use code::find_zip;
use code::{is_code_abroad, is_zip};
use home::{find_county, find_home, find_labelled_city};

/// Words of the longest name of a city.
const MAX_CITY_WORDS: usize = 3;
/// Of a big city that nothing before or behind says to be somebody's.
const BARE_SCORE: u16 = 600;
/// Words between the number and the `Street`.
const MAX_STREET_WORDS: usize = 6;

/// `40 mg PO, OR hydrocortisone`, `RRT in AKI`: what charts shorten and no city is called.
fn is_abbreviation(token: &Token, text: &str) -> bool {
    const OF_CHARTS: [&str; 14] = [
        "PO", "IM", "IV", "SC", "SL", "PR", "AKI", "CKD", "BID", "TID", "QID", "PRN", "HS", "QD",
    ];
    token.shape == Shape::Upper && OF_CHARTS.contains(&token.text(text))
}

/// The city that begins at the token, and the first token behind it.
pub fn find_city(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    if first.is_glued
        || sentence.writing == Writing::Cased && is_abbreviation(first, sentence.text)
        || !matches!(first.shape, Shape::Capital | Shape::Upper)
            && sentence.writing == Writing::Cased
    {
        return None;
    }
    if matches!(
        first.role,
        Some(Role::Stop | Role::Generic | Role::State | Role::Title | Role::Person)
    ) && !first.class.is_city()
        && !begins_city(sentence, at)
    {
        return None;
    }
    // `Washington, Georgia, Virginia, Ohio` are states.
    let is_state =
        |token: Option<&Token>| token.is_some_and(|token| token.is(Role::State) && token.len() > 2);
    if is_state(Some(first))
        && at > 0
        && sentence.gap(at - 1) == b", "
        && is_state(sentence.before(at))
        && sentence.gap(at) == b", "
        && is_state(sentence.token(at + 1))
    {
        return None;
    }
    // In small letters only what stands before or behind tells.
    let is_told = || {
        sentence
            .before(at)
            .is_some_and(|before| before.is(Role::Place) || before.is(Role::Direction))
            || (0..MAX_CITY_WORDS).any(|more| sentence.gap(at + more).contains(&b','))
            || (0..MAX_CITY_WORDS).any(|more| is_followed_by_state(sentence, at + more))
            || is_behind_street(sentence, at)
    };
    if sentence.writing == Writing::Uncased && !is_told() {
        return None;
    }
    // New York is a state where no state follows.
    if first.text(sentence.text) == "New"
        && begins_city(sentence, at)
        && !is_city_of_list(sentence, at)
    {
        let end = sentence.token(at + 1)?.end;
        return Some((
            Finding::new(LOCATION, first.start, end, 850).contextual(),
            at + 2,
        ));
    }
    if let Some(found) = find_county(sentence, at).or_else(|| find_labelled_city(sentence, at)) {
        return Some(found);
    }
    let listed = (0..MAX_CITY_WORDS).rev().find_map(|more| {
        let last = at + more;
        let class = phrase(sentence, at, last)?;
        if !class.is_city() {
            return None;
        }
        let score = city_score(sentence, at, last, class)?;
        if is_thing(sentence, at, last) {
            return None;
        }
        let end = sentence.token(last)?.end;
        let kind = if score == BARE_SCORE {
            PERHAPS_LOCATION
        } else {
            LOCATION
        };
        let found = Finding::new(kind, first.start, end, score).contextual();
        Some((found, last + 1))
    });
    listed.or_else(|| find_home(sentence, at, first))
}

/// `New York NY`, `New Haven`: a city whose first word says nothing.
fn begins_city(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_new = sentence.token(at).is_some_and(|token| {
        token.shape == Shape::Capital
            && matches!(
                token.text(sentence.text),
                "New" | "West" | "Little" | "Green" | "Great" | "High" | "Long"
            )
    });
    // New York is a state too.
    let is_state = sentence
        .token(at + 1)
        .is_some_and(|next| next.text(sentence.text) == "York" || next.is(Role::State));
    is_new
        && sentence.gap(at) == b" "
        && (is_state && is_followed_by_state(sentence, at + 1)
            || !is_state && is_city_of_list(sentence, at))
}

/// Whether the lists have a city of several words that begins with the token.
fn is_city_of_list(sentence: &Sentence<'_>, at: usize) -> bool {
    (1..MAX_CITY_WORDS).any(|more| phrase(sentence, at, at + more).is_some_and(Class::is_city))
}

/// `Los Angeles grade B`, `white Tacoma`: what bears the name of a city.
fn is_thing(sentence: &Sentence<'_>, first: usize, last: usize) -> bool {
    const COLORS: [&str; 12] = [
        "white", "black", "red", "blue", "silver", "gray", "grey", "green", "gold", "tan",
        "toyota", "hyundai",
    ];
    let is_graded = sentence.gap(last) == b" "
        && sentence.token(last + 1).is_some_and(|next| {
            next.shape == Shape::Lower
                && (next.is(Role::Medical)
                    || matches!(
                        next.text(sentence.text),
                        "negative" | "positive" | "protocol"
                    ))
        });
    let is_car = first == last
        && sentence.before(first).is_some_and(|before| {
            let before = before.text(sentence.text);
            COLORS
                .iter()
                .any(|color| before.eq_ignore_ascii_case(color))
        })
        && sentence.gap(first.saturating_sub(1)) == b" ";
    // Toyota is a city of Japan.
    let is_maker = first == last
        && sentence
            .token(first)
            .is_some_and(|maker| maker.text(sentence.text) == "Toyota");
    is_graded || is_car || is_maker
}

/// What the lists say about the tokens `first..=last` together.
fn phrase(sentence: &Sentence<'_>, first: usize, last: usize) -> Option<Class> {
    let token = sentence.token(first)?;
    if first == last {
        return Some(if token.class.is_unknown() {
            token.class_of(sentence.text)
        } else {
            token.class
        });
    }
    let mut hash = Hash::new().over(token.text(sentence.text));
    for at in first + 1..=last {
        let is_joined = matches!(sentence.gap(at - 1), b" " | b". ");
        let token = sentence
            .token(at)
            .filter(|token| is_joined && token.shape != Shape::Number)?;
        hash = hash.with(b' ').over(token.text(sentence.text));
    }
    Some(look_up(hash))
}

fn city_score(sentence: &Sentence<'_>, first: usize, last: usize, class: Class) -> Option<u16> {
    let token = sentence.token(first)?;
    if is_followed_by_state(sentence, last) {
        return Some(850);
    }
    let is_many = last > first;
    if is_where_somebody_lives(sentence, first)
        && !class.is_common()
        && (is_many || token.role.is_none())
    {
        return Some(700);
    }
    // `Hauptstr. 5, 69117 Heidelberg`.
    if first
        .checked_sub(1)
        .is_some_and(|code| code::is_zip_before_city(sentence, code))
    {
        return Some(800);
    }
    // `4417 Old Mill Rd, Shelbyville 40065`.
    if is_behind_street(sentence, first)
        && sentence
            .token(last + 1)
            .is_some_and(|zip| is_zip(zip.text(sentence.text)))
    {
        return Some(850);
    }
    // `9 Mulberry Pl, Tuskegee`.
    if (sentence.writing == Writing::Cased || is_many && class.is_big_city())
        && is_behind_street(sentence, first)
        && matches!(sentence.gap(first - 1), b", " | b"., ")
        && !class.is_common()
        && (sentence.token(last + 1).is_none() || !sentence.is_joined_to(last))
        && at_number(sentence, first)
    {
        return Some(700);
    }
    let is_plain_word =
        class.is_common() || class.is_word() && sentence.writing == Writing::Uncased;
    if is_plain_word || !is_many && token.role.is_some() && !token.is(Role::Particle) {
        return None;
    }
    let before = sentence
        .before(first)
        .filter(|_| matches!(sentence.gap(first - 1), b" " | b"  "));
    let is_in_place =
        before.is_some_and(|before| before.is(Role::Place) || before.is(Role::Direction));
    let is_followed_by_country = sentence.gap(last) == b", "
        && sentence
            .token(last + 1)
            .is_some_and(|next| next.is(Role::State));
    match sentence.writing {
        Writing::Cased if is_followed_by_country => Some(800),
        Writing::Cased if is_in_place && (!class.is_word() || class.is_big_city()) => Some(700),
        Writing::Cased if class.is_big_city() && !class.is_word() && !class.is_name() => {
            Some(BARE_SCORE)
        }
        Writing::Cased if is_many && class.is_big_city() => Some(BARE_SCORE),
        // `your Gardena office`.
        Writing::Cased
            if !class.is_word()
                && !class.is_name()
                && sentence.gap(last) == b" "
                && sentence.token(last + 1).is_some_and(|next| {
                    matches!(
                        next.text(sentence.text),
                        "office" | "location" | "clinic" | "campus"
                    )
                }) =>
        {
            Some(BARE_SCORE)
        }
        Writing::Uncased
            if is_in_place && class.is_big_city() && !class.is_given() && !class.is_word() =>
        {
            Some(620)
        }
        _ => None,
    }
}

/// `LIVES IN DEARBORN`: in a text whose capitals tell nothing, the words before do.
fn is_where_somebody_lives(sentence: &Sentence<'_>, at: usize) -> bool {
    const VERBS: [&str; 8] = [
        "lives", "lived", "living", "resides", "residing", "born", "raised", "moved",
    ];
    let is = |back: usize, words: &[&str]| {
        let token = at.checked_sub(back).and_then(|at| sentence.token(at));
        token.is_some_and(|token| {
            words
                .iter()
                .any(|word| token.text(sentence.text).eq_ignore_ascii_case(word))
        })
    };
    sentence.writing == Writing::Uncased && is(1, &["in", "to", "near"]) && is(2, &VERBS)
}

/// Whether the word before the token, or before a comma, ends a street.
fn is_behind_street(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.before(at).is_some_and(|before| {
        ends_street(before, sentence.text)
            && matches!(sentence.gap(at - 1), b" " | b", " | b". " | b"., ")
    })
}

/// Whether a number stands where the street before the token begins.
fn at_number(sentence: &Sentence<'_>, at: usize) -> bool {
    (2..=MAX_STREET_WORDS + 1).any(|back| {
        at.checked_sub(back)
            .and_then(|at| sentence.token(at))
            .is_some_and(|token| token.shape == Shape::Number)
    })
}

/// `, MA` or `, Massachusetts` or ` MA 02115`.
fn is_followed_by_state(sentence: &Sentence<'_>, last: usize) -> bool {
    let Some(state) = sentence.token(last + 1) else {
        return false;
    };
    let gap = sentence.gap(last);
    if matches!(state.shape, Shape::Upper | Shape::Initial | Shape::Number)
        && state.len() <= 6
        && matches!(gap, b" " | b", " | b" - " | b"-")
        && is_code_abroad(sentence, last + 1)
    {
        return true;
    }
    let is_code = is_state_code(state.text(sentence.text)) && state.shape == Shape::Upper;
    match gap {
        b", " | b"," => is_code || state.is(Role::State),
        // `quincy ma 02169`, `portland oregon`.
        b" " if sentence.writing == Writing::Uncased => {
            let has_zip = || {
                sentence.token(last + 2).is_some_and(|zip| {
                    zip.shape == Shape::Number && is_zip(zip.text(sentence.text))
                })
            };
            let is_in_address = || is_behind_street(sentence, last);
            state.is(Role::State)
                || state.len() == 2
                    && (has_zip() || is_in_address())
                    && is_small_state_code(state.text(sentence.text))
        }
        b" " | b"  " => {
            is_code
                && (is_plain_code(state.text(sentence.text))
                    || sentence
                        .token(last + 2)
                        .is_some_and(|zip| is_zip(zip.text(sentence.text))))
        }
        _ => false,
    }
}

fn is_state_code(word: &str) -> bool {
    STATE_CODES.iter().any(|code| word.as_bytes() == *code)
}

/// `Elkins WV`: codes of states that are no abbreviations of medicine.
fn is_plain_code(word: &str) -> bool {
    [
        "AZ", "AK", "IA", "KS", "KY", "MN", "NH", "NJ", "NM", "NV", "NY", "OH", "TN", "TX", "UT",
        "VT", "WI", "WV", "WY",
    ]
    .contains(&word)
}

/// `ma`, in a text without capitals.
fn is_small_state_code(word: &str) -> bool {
    STATE_CODES
        .iter()
        .any(|code| word.as_bytes().eq_ignore_ascii_case(*code))
}

/// The street that begins with the number at the token: `12 N Main St Apt 4`, or a post office box.
pub fn find_street(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    if let Some(found) = find_box(sentence, at).or_else(|| find_route(sentence, at)) {
        return Some(found);
    }
    if token.shape != Shape::Number || token.is_glued {
        return street::postcode(sentence, at)
            .or_else(|| street::unnumbered(sentence, at))
            .or_else(|| street::before_number(sentence, at))
            .or_else(|| street::crossing(sentence, at, || is_told_address(sentence, at)));
    }
    if street::is_ordinal(sentence.text, token) {
        return street::crossing(sentence, at, || is_told_address(sentence, at))
            .or_else(|| street::ordinal(sentence, at));
    }
    let digits = token
        .text(sentence.text)
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    if !(1..=6).contains(&digits) || token.len() > digits + 1 {
        return None;
    }
    if let Some(end) = street::labelled(sentence, at) {
        let found = Finding::new(ADDRESS, token.start, sentence.token(end - 1)?.end, 750);
        return Some((found.contextual(), end));
    }
    if let Some(end) = street::behind_number(sentence, at).or_else(|| street::numbered_road(sentence, at))
        // `88 Hickory Hollow Rd`.
        && !(sentence.gap(end - 1) == b" "
            && sentence
                .token(end)
                .is_some_and(|next| next.is_capital() && ends_street(next, sentence.text)))
    {
        let stop = unit_end(sentence, end - 1);
        let found = Finding::new(
            ADDRESS,
            number_start(sentence, at),
            sentence.token(stop - 1)?.end,
            800,
        );
        return Some((found.contextual(), stop));
    }
    let is_told = is_told_address(sentence, at) || unit_start(sentence, at).is_some();
    let mut last = at;
    let mut words = 0;
    while words < MAX_STREET_WORDS
        && (matches!(sentence.gap(last), b" " | b". " | b"  ")
            // `118 Old Mill`, and `Road` in the next line.
            || sentence.gap(last) == b"\n"
                && words > 0
                && sentence
                    .token(last + 1)
                    .is_some_and(|next| next.is(Role::Street) && next.is_capital())
                && matches!(sentence.sign(last + 1), b',' | b'.' | b';' | b'\n' | 0))
    {
        let next = sentence.token(last + 1)?;
        last += 1;
        if !is_told && street::is_of_plan(sentence, last) {
            return None;
        }
        if ends_street(next, sentence.text) && words > 0 && is_street(sentence, at, last, is_told) {
            let end = unit_end(sentence, county_road_end(sentence, last));
            let stop = sentence.token(end - 1)?.end;
            let start = number_start(sentence, at);
            return Some((Finding::new(ADDRESS, start, stop, 850).contextual(), end));
        }
        let is_ordinal = next.shape == Shape::Number;
        // `4400 block of Kessler Blvd`.
        let is_of_block = matches!(next.text(sentence.text), "block" | "blk") && words == 0
            || words == 1 && next.text(sentence.text) == "of";
        let is_lower_word = next.shape == Shape::Lower
            && sentence.writing == Writing::Cased
            && !is_told
            && !is_of_block
            && !next.is(Role::Street);
        if is_lower_word
            || is_ordinal && words > 1
            || next.is(Role::Medical)
            || next.is(Role::Person)
        {
            return None;
        }
        words += 1;
    }
    is_told.then(|| unnamed_street(sentence, at)).flatten()
}

/// Where `94-1021` begins, whose second part is the token at `at`.
fn number_start(sentence: &Sentence<'_>, at: usize) -> usize {
    let start = sentence.token(at).map_or(0, |token| token.start);
    let before = sentence.before(at).filter(|before| {
        before.shape == Shape::Number && before.len() <= 3 && sentence.gap(at - 1) == b"-"
    });
    // `N7584 County Road Q` (a grid of Wisconsin).
    if let Some(start) = unit_start(sentence, at) {
        return start;
    }
    let bytes = sentence.text.as_bytes();
    let is_grid = matches!(byte_before(bytes, start), b'N' | b'S' | b'E' | b'W')
        && !byte_before(bytes, start - 1).is_ascii_alphanumeric();
    before.map_or(start - usize::from(is_grid), |before| before.start)
}

/// Where `Flat 4, 118 Peckham Rye` begins, whose number is the token at `at`.
fn unit_start(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    let (number, unit) = (at.checked_sub(1)?, at.checked_sub(2)?);
    if sentence.gap(number) != b", " || sentence.gap(unit) != b" " {
        return None;
    }
    let is_short =
        |token: &Token| token.len() <= 4 && matches!(token.shape, Shape::Number | Shape::Initial);
    let unit_word = sentence.token(unit).filter(|word| {
        let word = word.text(sentence.text);
        ["flat", "apt", "apartment"]
            .iter()
            .any(|one| word.eq_ignore_ascii_case(one))
    })?;
    sentence
        .token(number)
        .is_some_and(is_short)
        .then_some(unit_word.start)
}

/// The last token of `County Road Q` and `State Highway 12`, whose street ends at `last`.
fn county_road_end(sentence: &Sentence<'_>, last: usize) -> usize {
    let is_numbered = last
        .checked_sub(1)
        .and_then(|kind| sentence.token(kind))
        .is_some_and(|kind| {
            matches!(
                kind.text(sentence.text),
                "County" | "State" | "Township" | "Farm"
            )
        });
    let is_name = |token: &Token| {
        token.shape == Shape::Initial
            || token.shape == Shape::Number && token.len() <= 4
            || token.shape == Shape::Upper && token.len() <= 2
    };
    if is_numbered && sentence.gap(last) == b" " && sentence.token(last + 1).is_some_and(is_name) {
        last + 1
    } else {
        last
    }
}

/// `3311 S Lamar`, where the text says that an address follows: a street without a word that says so.
fn unnamed_street(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    /// Words of such a street.
    const MOST: usize = 4;
    let is_part = |token: &Token| {
        token.is_capital() && !token.is(Role::Medical) && !token.is(Role::Person)
            || token.is(Role::Direction)
            || token.shape == Shape::Initial
            || street::is_ordinal(sentence.text, token)
    };
    let mut end = at + 1;
    while end <= at + MOST
        && matches!(sentence.gap(end - 1), b" " | b". ")
        && sentence.token(end).is_some_and(is_part)
    {
        end += 1;
    }
    let last = sentence.token(end - 1)?;
    if end == at + 1 || sentence.writing == Writing::Uncased || last.len() < 3 {
        return None;
    }
    let stop = unit_end(sentence, end - 1);
    let found = Finding::new(
        ADDRESS,
        number_start(sentence, at),
        sentence.token(stop - 1)?.end,
        800,
    );
    Some((found.contextual(), stop))
}

/// `RR 2 Box 118`, `HC 61 Box 22`: routes of the post in the country (USPS Publication 28, 25).
fn find_route(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let route = sentence.token(at).filter(|route| route.len() <= 3)?;
    let is_route = ["rr", "hc", "hcr"]
        .iter()
        .any(|word| route.text(sentence.text).eq_ignore_ascii_case(word));
    let is_number = |token: &Token| token.shape == Shape::Number && token.len() <= 5;
    let fits = is_route
        && sentence.token(at + 1).is_some_and(is_number)
        && sentence
            .token(at + 2)
            .is_some_and(|word| word.text(sentence.text).eq_ignore_ascii_case("box"))
        && sentence.token(at + 3).is_some_and(is_number)
        && (at..at + 3).all(|at| matches!(sentence.gap(at), b" " | b", "));
    let found = || {
        Finding::new(
            ADDRESS,
            route.start,
            sentence.token(at + 3).map_or(0, |box_| box_.end),
            850,
        )
    };
    fits.then(|| (found().contextual(), at + 4))
}

/// `St` and `Dr` are saints and doctors in front of a name.
fn ends_street(token: &Token, text: &str) -> bool {
    token.is(Role::Street)
        || ["st", "dr", "ter"]
            .iter()
            .any(|short| token.text(text).eq_ignore_ascii_case(short))
}

/// Whether somebody is said to live where the number at the token is, which is then an address in small letters too:
/// `Address: 412 elm street`, `lives at 412 elm street`.
fn is_told_address(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_one_of = |token: Option<&Token>, words: &[&str]| {
        let word = token.map_or("", |token| token.text(sentence.text));
        words.iter().any(|known| word.eq_ignore_ascii_case(known))
    };
    let before = sentence.before(at);
    if is_one_of(before, &["address", "addr", "residence"]) {
        return matches!(sentence.gap(at - 1), b": " | b":" | b" is ");
    }
    let says = at.checked_sub(2).and_then(|says| sentence.token(says));
    is_one_of(before, &["at", "on", "is"])
        && is_one_of(
            says,
            &[
                "live", "lives", "lived", "living", "reside", "resides", "residing", "address",
                "stay", "stays", "staying",
            ],
        )
}

/// Short forms and words of every day end a street only where the rest looks like one.
fn is_street(sentence: &Sentence<'_>, first: usize, last: usize, is_told: bool) -> bool {
    let Some(street) = sentence.token(last) else {
        return false;
    };
    if sentence.writing == Writing::Cased {
        let is_written = street.is_capital()
            || sentence
                .token(last - 1)
                .is_some_and(|word| word.is_capital());
        if is_written || !is_told {
            return is_written;
        }
    }
    let word = street.text(sentence.text);
    let is_plain = is_told
        || unit_end(sentence, last) > last + 1
        || [
            "street",
            "avenue",
            "ave",
            "blvd",
            "boulevard",
            "road",
            "lane",
            "drive",
            "parkway",
            "rd",
        ]
        .iter()
        .any(|plain| word.eq_ignore_ascii_case(plain))
        // `FROM 88 ELM ST`.
        || is_short_street(word) && is_from(sentence, first);
    // `2 in the road` is none: between number and street stand names.
    let are_names = (first + 1..last).all(|at| {
        sentence.token(at).is_some_and(|token| {
            token.shape == Shape::Number
                || token.is(Role::Direction)
                || !matches!(token.role, Some(Role::Stop | Role::Generic | Role::Place))
        })
    });
    is_plain && are_names
}

fn is_short_street(word: &str) -> bool {
    ["st", "ln", "ct", "dr", "hwy", "pkwy"]
        .iter()
        .any(|short| word.eq_ignore_ascii_case(short))
}

/// Whether somebody comes from the number at the token, or is there.
fn is_from(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.before(at).is_some_and(|before| {
        let word = before.text(sentence.text);
        ["from", "at"]
            .iter()
            .any(|from| word.eq_ignore_ascii_case(from))
    })
}

/// The first token behind `Apt 4B` and `#12`, where one follows the street.
fn unit_end(sentence: &Sentence<'_>, street: usize) -> usize {
    /// Directions behind a street: `NW`, `N W`.
    const MOST: usize = 2;
    let is_direction = |at: usize| {
        let token = sentence.token(at);
        token.is_some_and(|next| {
            next.is(Role::Direction) && next.shape != Shape::Lower && next.len() <= 2
        }) && matches!(sentence.gap(at - 1), b", " | b" " | b". " | b"., ")
            && !sentence.sign(at).is_ascii_digit()
    };
    let directions = (street + 1..=street + MOST).take_while(|at| is_direction(*at));
    let last = street + directions.count();
    let is_near = matches!(
        sentence.gap(last),
        b", " | b" " | b". " | b"., " | b" #" | b", #"
    );
    let Some(next) = sentence.token(last + 1).filter(|_| is_near) else {
        return last + 1;
    };
    if sentence.gap(last).contains(&b'#') {
        return last + 2;
    }
    let has_number = sentence.token(last + 2).is_some_and(|number| {
        number.len() <= 5 && matches!(number.shape, Shape::Number | Shape::Initial)
    });
    let is_unit = next.is(Role::Unit)
        && has_number
        && matches!(sentence.gap(last + 1), b" " | b". " | b" #" | b"");
    if is_unit { last + 3 } else { last + 1 }
}

/// `P.O. Box 12`, `PO Box 12`.
#[inline]
pub fn find_box(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let may_be_box = byte(sentence.text.as_bytes(), token.start).eq_ignore_ascii_case(&b'p');
    may_be_box.then(|| read_box(sentence, at, token)).flatten()
}

fn read_box(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    let rest = sentence.text.as_bytes().get(token.start..)?;
    let is_box = [
        "p.o. box ",
        "po box ",
        "p.o.box ",
        "p o box ",
        "post office box ",
    ]
    .iter()
    .any(|words| starts(rest, words.as_bytes()));
    if !is_box {
        return None;
    }
    let number = (at + 1..at + 5).find(|at| {
        sentence
            .token(*at)
            .is_some_and(|token| token.shape == Shape::Number)
    })?;
    let end = sentence.token(number)?.end;
    (end - token.start < 32).then_some((Finding::new(ADDRESS, token.start, end, 900), number + 1))
}

/// A value that is a city because its field is one.
pub fn is_city_value(value: &str) -> bool {
    value.len() <= 48
        && value.chars().any(char::is_alphabetic)
        && !value.contains(|sign: char| sign.is_ascii_digit())
        && look_up(Hash::new().over(value)) != Class::default()
        || value.chars().next().is_some_and(char::is_uppercase)
            && value.len() <= 48
            && !value.contains(|sign: char| sign.is_ascii_digit())
}
