//! Streets that no number and word `Street` tell together: behind what says where somebody lives, at corners, with the
//! word before the name (`Avenida`, `Rue`), of Britain; and the postal codes of Britain and Canada.

use phi_text::text::{byte, byte_before};

use crate::kind::{ADDRESS, Finding, LOCATION};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

/// Words of the longest name of such a street.
const MAX_WORDS: usize = 4;

/// Words that end a street behind a number and a name, and are words of every day: many streets of Britain.
const BRITISH: [&str; 18] = [
    "Close",
    "Gardens",
    "Grove",
    "Mews",
    "Heights",
    "Hollow",
    "Crescent",
    "Bend",
    "Ridge",
    "Landing",
    "Knoll",
    "Meadow",
    "Meadows",
    "Glen",
    "Wynd",
    "Quay",
    "Esplanade",
    "Vale",
];
/// Words that begin a street.
const FIRST: [&str; 11] = [
    "Avenida",
    "Calle",
    "Camino",
    "Paseo",
    "Rue",
    "Rua",
    "Calzada",
    "Carrera",
    "Chemin",
    "Callejon",
    "Boulevard",
];
/// Words that end a street and nothing else, behind `on` and `at`.
const ENDS: [&str; 13] = [
    "Street",
    "Avenue",
    "Ave",
    "Blvd",
    "Boulevard",
    "Road",
    "Rd",
    "Lane",
    "Drive",
    "Highway",
    "Hwy",
    "Parkway",
    "St",
];

/// The end of a street without its word, which is all behind its label: `Street: 48 Quillback`.
pub(super) fn labelled(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    const LABELS: [&str; 4] = ["street", "address", "addr", "residence"];
    const MOST: usize = 2;
    let label = sentence.before(at)?.text(sentence.text);
    if sentence.gap(at - 1) != b": " || !LABELS.iter().any(|one| label.eq_ignore_ascii_case(one)) {
        return None;
    }
    let may_be = |token: &Token| {
        let is_named = token.class.is_unknown() || token.class.is_name() && !token.class.is_word();
        // `Address: 12 concerns`.
        let is_counted = token.shape == Shape::Lower && token.text(sentence.text).ends_with('s');
        token.shape != Shape::Number
            && token.len() > 3
            && token.role.is_none()
            && is_named
            && !is_counted
    };
    let words = (at + 1..=at + MOST)
        .take_while(|at| sentence.gap(at - 1) == b" " && sentence.token(*at).is_some_and(may_be))
        .count();
    let end = at + 1 + words;
    let ends = matches!(
        sentence.sign(end - 1),
        0 | b'\n' | b'\r' | b',' | b';' | b'.'
    );
    (words > 0 && ends).then_some(end)
}

/// The rest of a street behind the number at `at`: `4410 S. Avenida Compadres`, `14 Pasadena Close`.
pub(super) fn behind_number(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    if sentence.writing == Writing::Uncased {
        return None;
    }
    let mut first = at + 1;
    let is_direction = |token: &Token| {
        token.is(Role::Direction) && token.is_capital() || token.shape == Shape::Initial
    };
    if matches!(sentence.gap(at), b" " | b", ") && sentence.token(first).is_some_and(is_direction) {
        first += 1;
    }
    if !matches!(sentence.gap(first - 1), b" " | b". " | b", ") {
        return None;
    }
    let word = sentence.token(first)?;
    if FIRST.contains(&word.text(sentence.text)) {
        let end = name_end(sentence, first + 1);
        return (end > first + 1).then_some(end);
    }
    // Between number and `Close` stand names: `2 Days Close` is none.
    for last in first + 1..first + MAX_WORDS {
        let is_name = sentence.token(last - 1).is_some_and(|token| {
            token.shape == Shape::Capital
                && (!token.class.is_common() || token.class.is_city() && last > first + 1)
        });
        if !is_name || sentence.gap(last - 1) != b" " {
            return None;
        }
        if BRITISH.contains(&sentence.token(last)?.text(sentence.text)) {
            return Some(last + 1);
        }
    }
    None
}

/// Behind the words of a name that begins at `at`: capitals, particles, numbers.
fn name_end(sentence: &Sentence<'_>, at: usize) -> usize {
    let mut end = at;
    while end < at + MAX_WORDS
        && matches!(sentence.gap(end - 1), b" ")
        && sentence.token(end).is_some_and(|token| {
            matches!(token.shape, Shape::Capital | Shape::Number)
                || token.is(Role::Particle)
                || matches!(
                    token.text(sentence.text),
                    "des" | "les" | "los" | "las" | "e"
                )
        })
    {
        end += 1;
    }
    end
}

/// `6120 Hwy 45`: a road that has a number instead of a name; the first token behind it.
pub(super) fn numbered_road(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    const ROADS: [&str; 5] = ["Hwy", "Highway", "Rte", "Route", "HWY"];
    let is_number = |token: &Token| token.shape == Shape::Number && token.len() <= 4;
    let fits = matches!(sentence.gap(at), b" ")
        && ROADS.contains(&sentence.token(at + 1)?.text(sentence.text))
        && sentence.gap(at + 1) == b" "
        && sentence.token(at + 2).is_some_and(is_number);
    fits.then_some(at + 3)
}

/// The street that begins with the token and ends with its number, as in much of the world.
pub(super) fn before_number(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let is_number = |at: usize| {
        sentence
            .token(at)
            .is_some_and(|token| token.shape == Shape::Number)
    };
    let has_number = (at + 1..=at + MAX_WORDS).any(is_number);
    has_number.then(|| german(sentence, at).or_else(|| romance(sentence, at)))?
}

/// `Lindenstraße 12`, `Hauptstr. 5a`: the word for a street at the end of its name, and the number behind it.
fn german(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    const ENDS: [&str; 5] = ["strasse", "straße", "str", "gasse", "allee"];
    /// Bytes of the shortest such name.
    const MIN_BYTES: usize = 7;
    let (street, number) = (sentence.token(at)?, sentence.token(at + 1)?);
    let fits = number.shape == Shape::Number
        && street.shape == Shape::Capital
        && street.len() >= MIN_BYTES
        && ENDS
            .iter()
            .any(|end| street.text(sentence.text).ends_with(end))
        && match sentence.gap(at) {
            b". " => true,
            b" " => !street.text(sentence.text).ends_with("str"),
            _ => false,
        }
        && number.len() <= 4;
    fits.then(|| {
        (
            Finding::new(ADDRESS, street.start, number.end, 800).contextual(),
            at + 2,
        )
    })
}

/// `Calle Luna 204`, `ul. Kwiatowa 7`: the word for a street before its name, and the number behind it.
fn romance(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    let is_polish = || {
        sentence.before(at).is_some_and(|ul| {
            ul.len() == 2 && ul.text(sentence.text) == "ul" && sentence.gap(at - 1) == b". "
        })
    };
    let may_be_first = first.shape == Shape::Capital
        && matches!(
            sentence.text.as_bytes().get(first.start),
            Some(b'A' | b'B' | b'C' | b'P' | b'R')
        );
    let start = if may_be_first && FIRST.contains(&first.text(sentence.text)) {
        at + 1
    } else if is_polish() {
        at
    } else {
        return None;
    };
    let end = (start..start + MAX_WORDS).find(|end| {
        sentence
            .token(*end)
            .is_none_or(|token| token.shape == Shape::Number || sentence.gap(*end) != b" ")
    })?;
    let are_names = (start..end).all(|at| {
        sentence.token(at).is_some_and(|token| {
            token.shape == Shape::Capital || token.is(Role::Particle) && token.shape == Shape::Lower
        })
    });
    let number = sentence
        .token(end)
        .filter(|number| number.shape == Shape::Number && number.len() <= 4)?;
    (end > start && are_names).then(|| {
        (
            Finding::new(ADDRESS, first.start, number.end, 800).contextual(),
            end + 1,
        )
    })
}

/// `on 12th st`, `at 82nd Ave`: a street that is a number, behind a word for a place.
pub(super) fn ordinal(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    const KINDS: [&str; 8] = ["st", "street", "ave", "avenue", "blvd", "rd", "road", "ln"];
    let (number, street) = (sentence.token(at)?, sentence.token(at + 1)?);
    let before = sentence.before(at)?.text(sentence.text);
    let is_there = ["on", "off", "near", "at"]
        .iter()
        .any(|word| before.eq_ignore_ascii_case(word));
    let kind = street.text(sentence.text);
    let fits = is_there
        && sentence.gap(at - 1) == b" "
        && sentence.gap(at) == b" "
        && KINDS.iter().any(|one| kind.eq_ignore_ascii_case(one));
    fits.then(|| {
        (
            Finding::new(ADDRESS, number.start, street.end, 700).contextual(),
            at + 2,
        )
    })
}

/// `lives on Willow Creek Lane`, `near Bissonnet St`: a street without a number, at its first word.
pub(super) fn unnumbered(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    if first.shape != Shape::Capital || sentence.writing == Writing::Uncased {
        return None;
    }
    let before = sentence.before(at)?;
    let is_there = matches!(before.text(sentence.text), "on" | "off" | "near" | "along")
        && sentence.gap(at - 1) == b" ";
    if !is_there {
        return None;
    }
    for last in at + 1..at + MAX_WORDS {
        let token = sentence.token(last)?;
        if sentence.gap(last - 1) != b" " || !matches!(token.shape, Shape::Capital) {
            return None;
        }
        if ENDS.contains(&token.text(sentence.text)) {
            // `on Wall Street` is a market, `on Sesame Street` a play.
            // `on Google Drive` are files.
            let is_known = matches!(
                first.text(sentence.text),
                "Wall"
                    | "Sesame"
                    | "Main"
                    | "Silk"
                    | "Abbey"
                    | "Google"
                    | "Hard"
                    | "Shared"
                    | "One"
                    | "Flash"
                    | "Thumb"
                    | "Disk"
                    | "Network"
                    | "Team"
                    | "Tape"
                    | "Hold"
            );
            if is_known && last == at + 1 {
                return None;
            }
            return Some((
                Finding::new(ADDRESS, first.start, token.end, 750).contextual(),
                last + 1,
            ));
        }
    }
    None
}

/// `lives at 4th and Main`, `corner of Haight & Stanyan`: two streets that cross, at the first.
pub(super) fn crossing(
    sentence: &Sentence<'_>,
    at: usize,
    is_told: impl Fn() -> bool,
) -> Option<(Finding, usize)> {
    if sentence.writing == Writing::Uncased {
        return None;
    }
    let word = |back: usize| {
        let token = at.checked_sub(back).and_then(|at| sentence.token(at));
        token.map_or("", |token| token.text(sentence.text))
    };
    let is_corner = || word(1).eq_ignore_ascii_case("of") && word(2).eq_ignore_ascii_case("corner");
    let is_street = |token: &Token| {
        token.is_capital()
            && matches!(
                token.role,
                None | Some(Role::Street | Role::Direction | Role::State)
            )
            || is_ordinal(sentence.text, token)
    };
    let (one, and) = (sentence.token(at)?, sentence.token(at + 1)?);
    let second = match sentence.gap(at) {
        b" & " => at + 1,
        b" " if and.text(sentence.text) == "and" && sentence.gap(at + 1) == b" " => at + 2,
        _ => return None,
    };
    let two = sentence.token(second)?;
    let fits = (is_told() || is_corner()) && is_street(one) && is_street(two);
    fits.then(|| {
        (
            Finding::new(ADDRESS, one.start, two.end, 750).contextual(),
            second + 1,
        )
    })
}

/// `82nd`.
pub(super) fn is_ordinal(text: &str, token: &Token) -> bool {
    let word = token.text(text);
    let end = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    end.len() < word.len()
        && ["st", "nd", "rd", "th"]
            .iter()
            .any(|one| end.eq_ignore_ascii_case(one))
}

/// `SW1A 2AA`, `E1C 4Z7`, `V94 T2XK`: the postal code that begins with the word, behind a name (Royal Mail, PAF; Canada
/// Post; Eircode).
pub(super) fn postcode(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let bytes = sentence.text.as_bytes();
    if token.len() > 2
        || !byte(bytes, token.end).is_ascii_digit()
        || byte_before(bytes, token.start).is_ascii_alphanumeric()
    {
        return None;
    }
    let code = bytes.get(token.start..bytes.len().min(token.start + 8))?;
    let len = british_len(code)
        .or_else(|| canadian_len(code))
        .or_else(|| irish_len(code))?;
    let before = sentence.before(at)?;
    let is_behind_name =
        before.is_capital() && matches!(sentence.gap(at - 1), b" " | b", " | b"  ");
    if !is_behind_name
        || bytes
            .get(token.start + len)
            .is_some_and(u8::is_ascii_alphanumeric)
    {
        return None;
    }
    let end = token.start + len;
    let mut next = at + 1;
    while sentence.token(next).is_some_and(|token| token.start < end) {
        next += 1;
    }
    Some((
        Finding::new(LOCATION, token.start, end, 800).contextual(),
        next,
    ))
}

/// `[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}`; the last two letters are none of C, I, K, M, O, V.
fn british_len(code: &[u8]) -> Option<usize> {
    let space = code.iter().position(|sign| *sign == b' ')?;
    let (out, rest) = (code.get(..space)?, code.get(space + 1..space + 4)?);
    let letters = out
        .iter()
        .take_while(|sign| sign.is_ascii_uppercase())
        .count();
    let is_out = (1..=2).contains(&letters)
        && matches!(out.get(letters..)?, [digit] | [digit, _] if digit.is_ascii_digit())
        && out
            .iter()
            .all(|sign| sign.is_ascii_uppercase() || sign.is_ascii_digit());
    let is_last = |sign: &u8| sign.is_ascii_uppercase() && !b"CIKMOV".contains(sign);
    let is_in =
        matches!(rest, [digit, one, two] if digit.is_ascii_digit() && is_last(one) && is_last(two));
    (is_out && is_in).then_some(space + 4)
}

/// `[A-Z][0-9][0-9W] [0-9A-Z]{4}`, without B, G, I, J, L, M, O, Q, S, U, Z.
fn irish_len(code: &[u8]) -> Option<usize> {
    let is_sign = |sign: &u8| {
        sign.is_ascii_digit() || sign.is_ascii_uppercase() && !b"BGIJLMOQSUZ".contains(sign)
    };
    let [first, one, two, b' ', unit @ ..] = code else {
        return None;
    };
    let unit = unit.get(..4)?;
    let fits = first.is_ascii_uppercase()
        && is_sign(first)
        && one.is_ascii_digit()
        && (two.is_ascii_digit() || *two == b'W')
        && unit.iter().all(is_sign)
        && unit.iter().any(u8::is_ascii_uppercase)
        && unit.iter().any(u8::is_ascii_digit);
    fits.then_some(8)
}

/// Whether a postal code of Britain stands at `start`.
pub(super) fn is_british(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    let code = bytes.get(start..bytes.len().min(start + 8));
    let len = code.and_then(british_len);
    len.is_some_and(|len| !byte(bytes, start + len).is_ascii_alphanumeric())
}

/// Whether a postal code of Canada stands at `start`.
pub(super) fn is_canadian(text: &str, start: usize) -> bool {
    text.as_bytes()
        .get(start..)
        .and_then(canadian_len)
        .is_some()
}

/// `[A-Z][0-9][A-Z] [0-9][A-Z][0-9]`, without D, F, I, O, Q, U.
fn canadian_len(code: &[u8]) -> Option<usize> {
    let code = code.get(..7)?;
    let is_letter = |sign: u8| sign.is_ascii_uppercase() && !b"DFIOQU".contains(&sign);
    let [a, one, b, b' ', two, c, three] = *code else {
        return None;
    };
    let fits = is_letter(a)
        && is_letter(b)
        && is_letter(c)
        && !b"WZ".contains(&a)
        && [one, two, three].iter().all(u8::is_ascii_digit);
    fits.then_some(7)
}

/// `3. Self-heal loop`, `6. Critical Path`: whether the street that ends with the token is a way to do something.
pub(super) fn is_of_plan(sentence: &Sentence<'_>, last: usize) -> bool {
    const WAYS: [&str; 2] = ["path", "loop"];
    const DONE: [&str; 26] = [
        "critical",
        "happy",
        "module",
        "review",
        "heal",
        "dev",
        "file",
        "code",
        "fast",
        "slow",
        "hot",
        "upgrade",
        "migration",
        "feedback",
        "main",
        "event",
        "agent",
        "build",
        "clean",
        "learning",
        "career",
        "data",
        "self-heal",
        "provide",
        "tool",
        "control",
    ];
    let is_one_of = |token: Option<&Token>, words: &[&str]| {
        token.is_some_and(|token| {
            let said = token.text(sentence.text);
            words.iter().any(|word| said.eq_ignore_ascii_case(word))
        })
    };
    is_one_of(sentence.token(last), &WAYS) && is_one_of(sentence.before(last), &DONE)
}
