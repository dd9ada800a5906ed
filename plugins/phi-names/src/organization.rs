//! Facilities and other organizations by the words that their names end or begin with. Bodies that publish guidelines
//! and words that say only which department are none.

use crate::kind::{Finding, ORGANIZATION};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

/// Words before the one that says what it is.
const MAX_WORDS: usize = 5;

/// The organization whose name ends with the token, and the first token behind it.
pub fn find(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    // Most words with a capital stand before one in small letters.
    let may_be_two = matches!(sentence.gap(at), b" " | b". ")
        && sentence
            .token(at + 1)
            .is_some_and(|next| next.is_capital() || next.shape == Shape::Number);
    if may_be_two
        && let Some(found) = of_chain(sentence, at)
            .or_else(|| known(sentence, at))
            .or_else(|| of_saint(sentence, at))
            .or_else(|| attended(sentence, at))
    {
        return Some(found);
    }
    if !token.is(Role::Facility) && !ends_as_home(sentence, at) && !ends_as_practice(sentence, at)
        || token.is_glued
    {
        return None;
    }
    // `Mercy Health System`: the last of several.
    let next = sentence.token(at + 1);
    if sentence.is_joined_to(at)
        && next
            .is_some_and(|next| next.is(Role::Facility) && next.is_capital() == token.is_capital())
    {
        return None;
    }
    // `the Nurses' Health Study`.
    let is_of_research = |next: &Token| {
        sentence.gap(at) == b" "
            && [
                "Study",
                "Initiative",
                "Trial",
                "Survey",
                "Act",
                "Questionnaire",
            ]
            .contains(&next.text(sentence.text))
    };
    if next.is_some_and(is_of_research) {
        return None;
    }
    if sentence.writing == Writing::Cased && is_of_other_things(sentence, at) {
        return None;
    }
    let first = match sentence.writing {
        Writing::Cased if token.is_capital() => cased(sentence, at)?,
        Writing::Cased => return None,
        Writing::Uncased => uncased(sentence, at)?,
    };
    let is_home = sentence.is_joined_to(at)
        && next.is_some_and(|next| {
            next.is_capital() && next.text(sentence.text).eq_ignore_ascii_case("home")
        });
    let end = if is_home {
        at + 2
    } else {
        of_place(sentence, at)
    };
    let (start, stop) = (sentence.token(first)?.start, sentence.token(end - 1)?.end);
    Some((
        Finding::new(ORGANIZATION, start, stop, 750).contextual(),
        end,
    ))
}

/// `File System`, `Sprint Health Snapshot`: words that end names of facilities and much else. A system is one of a
/// facility by the word before it, and health goes on with none.
fn is_of_other_things(sentence: &Sentence<'_>, at: usize) -> bool {
    const OF_FACILITIES: [&str; 12] = [
        "health",
        "healthcare",
        "hospital",
        "hospitals",
        "medical",
        "school",
        "university",
        "care",
        "clinic",
        "library",
        "college",
        "transit",
    ];
    const OF_HEALTH: [&str; 14] = [
        "snapshot",
        "check",
        "checks",
        "status",
        "score",
        "scores",
        "dashboard",
        "report",
        "metrics",
        "data",
        "monitor",
        "index",
        "literacy",
        "policy",
    ];
    let Some(token) = sentence.token(at) else {
        return false;
    };
    let word = token.text(sentence.text);
    let before = sentence
        .before(at)
        .filter(|_| sentence.is_joined_to(at - 1));
    let is_of_facility = before.is_some_and(|before| {
        let before = before.text(sentence.text);
        OF_FACILITIES
            .iter()
            .any(|one| before.eq_ignore_ascii_case(one))
    });
    let goes_on = sentence.gap(at) == b" "
        && sentence.token(at + 1).is_some_and(|next| {
            let next = next.text(sentence.text);
            OF_HEALTH.iter().any(|one| next.eq_ignore_ascii_case(one))
        });
    let is_chain = before.is_some_and(|before| CHAINS.contains(&before.text(sentence.text)));
    let is_everybodys = before.is_some_and(|before| {
        EVERYBODYS.iter().any(|(first, second)| {
            before.text(sentence.text).eq_ignore_ascii_case(first)
                && word.eq_ignore_ascii_case(second)
        })
    });
    is_everybodys
        || word.eq_ignore_ascii_case("system") && !is_of_facility && !is_chain
        || ["health", "imaging", "medicine"]
            .iter()
            .any(|one| word.eq_ignore_ascii_case(one))
            && goes_on
}

/// Suppliers, programs and departments that every hospital has.
const EVERYBODYS: [(&str, &str); 7] = [
    ("cardinal", "health"),
    ("cloud", "healthcare"),
    ("employee", "health"),
    ("oracle", "health"),
    ("particle", "health"),
    ("interventional", "radiology"),
    ("nuclear", "medicine"),
];

/// Chains whose places are named behind them.
const CHAINS: [&str; 8] = [
    "UPMC",
    "DaVita",
    "Fresenius",
    "Kaiser",
    "Banner",
    "Providence",
    "Ascension",
    "Sutter",
];

/// `DaVita Northgate`, `UPMC Shadyside`: a place that no list of words has behind the name of a chain.
fn of_chain(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let chain = sentence.token(at)?;
    let place = sentence.token(at + 1)?;
    let fits = place.shape == Shape::Capital
        && chain.is_capital()
        && place.role.is_none()
        && !place.class.is_word()
        && sentence.gap(at) == b" "
        && CHAINS.contains(&chain.text(sentence.text))
        && !chain.is_glued;
    if !fits {
        return None;
    }
    let mut end = at + 2;
    while end < at + MAX_WORDS
        && sentence.is_joined_to(end - 1)
        && sentence
            .token(end)
            .is_some_and(|next| next.is_capital() && next.class.is_city())
    {
        end += 1;
    }
    let found = Finding::new(ORGANIZATION, chain.start, sentence.token(end - 1)?.end, 750);
    Some((found.contextual(), end))
}

/// `Aspen Ridge Assisted Living`, `Kramer Funeral Home`: two words that say together what it is, at the second one.
fn ends_as_home(sentence: &Sentence<'_>, at: usize) -> bool {
    const HOMES: [(&str, &str); 8] = [
        ("urgent", "care"),
        ("nursing", "home"),
        ("assisted", "living"),
        ("senior", "living"),
        ("memory", "care"),
        ("kidney", "care"),
        ("funeral", "home"),
        ("group", "home"),
    ];
    let is = |at: Option<usize>, word: &str| {
        at.and_then(|at| sentence.token(at))
            .is_some_and(|token| token.text(sentence.text).eq_ignore_ascii_case(word))
    };
    let is_capital = sentence.token(at).is_some_and(Token::is_capital);
    is_capital
        && HOMES.iter().any(|(first, second)| {
            is(Some(at), second) && is(at.checked_sub(1), first) && sentence.gap(at - 1) == b" "
        })
}

/// `Piedmont Neurology`: a speciality behind a name or a city that is no word.
fn ends_as_practice(sentence: &Sentence<'_>, at: usize) -> bool {
    /// Of the shortest.
    const MIN_BYTES: usize = 7;
    const PRACTICES: [&str; 9] = [
        "Neurology",
        "Urology",
        "Nephrology",
        "Gastroenterology",
        "Rheumatology",
        "Psychiatry",
        "Endocrinology",
        "Ophthalmology",
        "Pulmonology",
    ];
    let is_one = sentence.token(at).is_some_and(|token| {
        token.shape == Shape::Capital
            && token.len() >= MIN_BYTES
            && sentence.text.as_bytes().get(token.end - 1) == Some(&b'y')
            && PRACTICES.contains(&token.text(sentence.text))
    });
    is_one
        && at.checked_sub(1).is_some_and(|before| {
            sentence.gap(before) == b" "
                && sentence.token(before).is_some_and(|name| {
                    name.shape == Shape::Capital
                        && name.role.is_none()
                        && (name.class.is_city() && !name.class.is_common()
                            || name.class.is_surname() && !name.class.is_word())
                })
        })
}

/// Facilities that are known by two words without one that says what they are.
const KNOWN: [(&str, &str); 16] = [
    ("mass", "general"),
    ("johns", "hopkins"),
    ("good", "samaritan"),
    ("beth", "israel"),
    ("mount", "sinai"),
    ("md", "anderson"),
    ("sloan", "kettering"),
    ("memorial", "hermann"),
    ("cook", "county"),
    ("bellevue", "hospital"),
    ("lenox", "hill"),
    ("cedars", "sinai"),
    ("massachusetts", "general"),
    ("scripps", "mercy"),
    ("boston", "childrens"),
    ("city", "hope"),
];

/// `Mass General`, `Johns Hopkins`, `at Denver General`, `at Kingsmead Surgery`, `Salinas PD`.
fn known(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let (one, two) = (sentence.token(at)?, sentence.token(at + 1)?);
    if !one.is_capital() || !two.is_capital() || sentence.gap(at) != b" " || one.is_glued {
        return None;
    }
    let (first, second) = (one.text(sentence.text), two.text(sentence.text));
    let is_known = KNOWN
        .iter()
        .any(|(a, b)| first.eq_ignore_ascii_case(a) && second.eq_ignore_ascii_case(b));
    let is_general = || {
        matches!(second, "General" | "Surgery")
            && is_in_place(sentence, at)
            && (one.class.is_city()
                || one.class.is_name()
                || one.class.is_unknown() && one.len() > 4)
            && !one.class.is_word()
            && one.role.is_none()
            && one.shape == Shape::Capital
    };
    let is_of_city = || {
        matches!(second, "PD" | "ISD" | "VAMC")
            && one.class.is_city()
            && !one.class.is_common()
            && one.shape == Shape::Capital
    };
    // `Good Samaritan law`, `Johns Hopkins criteria`; a longer name is found from its end.
    let is_other = sentence.gap(at + 1) == b" "
        && sentence.token(at + 2).is_some_and(|next| {
            next.is(Role::Medical)
                || next.is(Role::Facility) && next.is_capital()
                || next.is_capital() && next.is(Role::Generic)
        });
    let fits = (is_known || is_of_city() || is_general())
        && !is_other
        && sentence.writing == Writing::Cased;
    fits.then(|| {
        (
            Finding::new(ORGANIZATION, one.start, two.end, 750).contextual(),
            at + 2,
        )
    })
}

/// Whether `at`, `from`, `to` or `in` stands before the token.
fn is_in_place(sentence: &Sentence<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| sentence.token(before));
    before.is_some_and(|before| {
        ["at", "from", "to", "attends", "attended", "in"]
            .iter()
            .any(|word| before.text(sentence.text).eq_ignore_ascii_case(word))
    }) && sentence.gap(at - 1) == b" "
}

/// `at St. Joseph's`.
fn of_saint(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let saint = sentence.token(at).filter(|saint| saint.is_capital())?;
    let name = sentence.token(at + 1)?;
    let fits = matches!(saint.text(sentence.text), "St" | "Saint" | "Mt" | "Mount")
        && matches!(sentence.gap(at), b". " | b" ")
        && name.shape == Shape::Capital
        && is_in_place(sentence, at)
        && sentence.writing == Writing::Cased;
    if !fits {
        return None;
    }
    let rest = sentence.text.get(name.end..)?;
    let len = ["'s", "\u{2019}s"]
        .iter()
        .find_map(|end| rest.starts_with(end).then_some(end.len()))?;
    let is_other = sentence.token(at + 2).is_some_and(|next| {
        matches!(sentence.gap(at + 1), b"'s " | b"\xe2\x80\x99s ")
            && (next.is(Role::Medical) || next.is_capital())
    });
    let found = Finding::new(ORGANIZATION, saint.start, name.end + len, 750).contextual();
    (!is_other).then_some((found, at + 2))
}

/// `goes to Lincoln High`, `5th grader at PS 118`: schools as those who go there call them.
fn attended(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let (name, last) = (sentence.token(at)?, sentence.token(at + 1)?);
    let is_school =
        name.is_capital() && (last.shape == Shape::Number || last.text(sentence.text) == "High");
    if !is_school || sentence.gap(at) != b" " || !is_in_place(sentence, at) {
        return None;
    }
    /// Words before a school by its number, in which a pupil stands.
    const NEAR: usize = 5;
    let is_pupil = || {
        (1..=NEAR).any(|back| {
            let token = at.checked_sub(back).and_then(|at| sentence.token(at));
            token.is_some_and(|token| {
                ["grader", "student", "teacher", "pupil", "grade", "school"]
                    .iter()
                    .any(|word| token.text(sentence.text).eq_ignore_ascii_case(word))
            })
        })
    };
    let is_numbered = matches!(name.text(sentence.text), "PS" | "IS" | "MS" | "JHS")
        && last.shape == Shape::Number
        && last.len() <= 3
        && is_pupil();
    let is_high = last.text(sentence.text) == "High"
        && name.shape == Shape::Capital
        && name.class.is_name()
        && !name.class.is_word()
        && name.role.is_none()
        && sentence.writing == Writing::Cased
        && sentence
            .token(at + 2)
            .is_none_or(|next| !next.is_capital() || sentence.gap(at + 1) != b" ");
    let fits = is_numbered || is_high;
    fits.then(|| {
        (
            Finding::new(ORGANIZATION, name.start, last.end, 750).contextual(),
            at + 2,
        )
    })
}

/// The first token of the name: capitals back from the facility, of which one says whose it is.
fn cased(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    let mut first = at;
    let mut is_named = false;
    for _ in 0..MAX_WORDS {
        let Some(before) = first
            .checked_sub(1)
            .and_then(|before| sentence.token(before))
        else {
            break;
        };
        let is_near = matches!(
            sentence.gap(first - 1),
            b" " | b"'s " | b"\xe2\x80\x99s " | b" & " | b"' "
        ) || sentence.gap(first - 1) == b". " && is_shortened(before, sentence.text);
        let is_link = matches!(before.text(sentence.text), "and" | "of" | "the" | "for");
        let is_part = before.is_capital() && !before.is(Role::Stop) && !before.is(Role::Title);
        if !is_near || !(is_part || is_link && first < at) || before.is_glued {
            break;
        }
        if before.is(Role::Body) {
            return None;
        }
        if before.text(sentence.text).eq_ignore_ascii_case("the") && first < at {
            break;
        }
        // `Rec SNF`, `Resume Home Health`: what is done, and no part.
        if is_done(before, sentence.text) {
            break;
        }
        is_named |= is_naming(before);
        first -= 1;
    }
    // Links and words that say nothing at the front are no part.
    while first < at
        && sentence.token(first).is_some_and(|token| {
            token.shape == Shape::Lower
                || token.is(Role::Generic)
                    && !token.class.is_name()
                    && is_link_word(token, sentence.text)
        })
    {
        first += 1;
    }
    (is_named && first < at).then_some(first)
}

/// `St. Luke's`, `J. Smith`: words that a dot shortens, and does not end a sentence behind.
fn is_shortened(token: &Token, text: &str) -> bool {
    token.shape == Shape::Initial
        || matches!(
            token.text(text),
            "St" | "Ste" | "Mt" | "Ft" | "ST" | "MT" | "FT"
        )
}

/// What is done about a facility, or what kind of health is meant: `Await SNF`, `Protected Health Information`.
fn is_done(token: &Token, text: &str) -> bool {
    const DONE: [&str; 44] = [
        "protected",
        "personal",
        "unsecured",
        "secured",
        "identifiable",
        "sensitive",
        "record",
        "records",
        "information",
        "rec",
        "recs",
        "recommend",
        "recommended",
        "dispo",
        "disposition",
        "await",
        "awaiting",
        "resume",
        "order",
        "ordered",
        "start",
        "continue",
        "arrange",
        "arranged",
        "refer",
        "referred",
        "referral",
        "consider",
        "pending",
        "likely",
        "needs",
        "need",
        "request",
        "requested",
        "prior",
        "previous",
        "current",
        "discharge",
        "discharged",
        "dc",
        "transfer",
        "accept",
        "accepted",
        "vs",
    ];
    let word = token.text(text);
    DONE.iter().any(|one| word.eq_ignore_ascii_case(one))
}

fn is_link_word(token: &Token, text: &str) -> bool {
    [
        "the", "a", "an", "our", "your", "my", "this", "that", "her", "his", "their", "and", "of",
        "for", "local",
    ]
    .iter()
    .any(|word| token.text(text).eq_ignore_ascii_case(word))
}

/// A word that tells one facility from the others.
fn is_naming(token: &Token) -> bool {
    match token.role {
        None => token.shape == Shape::Capital || token.class.is_name() || token.class.is_city(),
        Some(Role::Particle | Role::Direction | Role::State | Role::Place) => {
            token.len() > 1 && token.is_capital() && !token.is(Role::Place)
        }
        _ => false,
    }
}

/// Small letters: a name or a city right before, or a saint.
fn uncased(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    let before = at.checked_sub(1)?;
    let token = sentence.token(before)?;
    // `ST. LUKE'S REGIONAL MEDICAL CENTER`, `lakeside general hospital`.
    let (before, token) = match back_over_kinds(sentence, before) {
        Some(first) if first < before => (first, sentence.token(first)?),
        _ => (before, token),
    };
    let is_many = before + 1 < at;
    let is_near = matches!(sentence.gap(before), b" " | b"'s " | b"'S ");
    let facility = sentence.token(at)?.text(sentence.text);
    let is_plain = [
        "hospital",
        "clinic",
        "pharmacy",
        "hospice",
        "university",
        "infirmary",
        "manor",
        "orthopedics",
        "pediatrics",
        "cardiology",
        "dialysis",
        "rehab",
        "elementary",
        "nursing",
        "dental",
        "ambulance",
    ]
    .iter()
    .any(|word| facility.eq_ignore_ascii_case(word))
        || is_many && facility.eq_ignore_ascii_case("center");
    if !is_near || !is_plain || token.role.is_some() {
        return None;
    }
    let saint = before.checked_sub(1).filter(|saint| {
        sentence.token(*saint).is_some_and(|saint| {
            matches!(
                saint.text(sentence.text),
                "st" | "saint" | "mount" | "mt" | "ST" | "SAINT" | "MOUNT"
            )
        })
    });
    if let Some(saint) = saint {
        return Some(saint);
    }
    let class = token.class;
    let is_known = class.is_sure() || class.is_big_city();
    // `AT MERCY HOSPITAL`: a name that is a word, where somebody is.
    let is_there = is_in_place(sentence, before)
        && (class.is_name() || class.is_city() || class.is_unknown() && token.len() > 4)
        && !class.is_common();
    (is_known && !class.is_word() || is_there).then_some(before)
}

/// The token before all words that say what kind of facility it is, from the token at `at` backwards.
fn back_over_kinds(sentence: &Sentence<'_>, mut at: usize) -> Option<usize> {
    const KINDS: [&str; 9] = [
        "regional",
        "medical",
        "general",
        "community",
        "memorial",
        "health",
        "university",
        "county",
        "childrens",
    ];
    for _ in 0..MAX_WORDS {
        let word = sentence.token(at)?.text(sentence.text);
        if !KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind)) {
            return Some(at);
        }
        at = at.checked_sub(1)?;
        if !matches!(sentence.gap(at), b" " | b"'s " | b"'S ") {
            return None;
        }
    }
    None
}

/// The first token behind `of Boston`, where the name goes on so.
fn of_place(sentence: &Sentence<'_>, at: usize) -> usize {
    let goes_on = sentence.gap(at) == b" "
        && sentence
            .token(at + 1)
            .is_some_and(|of| of.text(sentence.text) == "of")
        && sentence
            .token(at + 2)
            .is_some_and(|place| place.is_capital() && place.role.is_none());
    if !goes_on {
        return at + 1;
    }
    let mut end = at + 3;
    while sentence.is_joined_to(end - 1)
        && sentence
            .token(end)
            .is_some_and(|token| token.is_capital() && token.role.is_none())
        && end < at + 6
    {
        end += 1;
    }
    end
}

/// `University of Iowa Hospitals`, `Hospital of Saint Raphael`: begins with the token.
pub fn find_of(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence
        .token(at)
        .filter(|token| token.is(Role::Facility))?;
    let word = token.text(sentence.text);
    let is_head = [
        "University",
        "Hospital",
        "College",
        "Institute",
        "UNIVERSITY",
        "HOSPITAL",
    ]
    .contains(&word);
    if !is_head
        || sentence.gap(at) != b" "
        || sentence.token(at + 1)?.text(sentence.text) != "of"
            && sentence.token(at + 1)?.text(sentence.text) != "OF"
    {
        return None;
    }
    // `American College of Cardiology` publishes guidelines.
    if sentence
        .before(at)
        .is_some_and(|before| before.is(Role::Body))
    {
        return None;
    }
    let mut end = at + 2;
    while end < at + 2 + MAX_WORDS {
        let Some(next) = sentence.token(end) else {
            break;
        };
        if !sentence.is_joined_to(end - 1)
            || !next.is_capital() && next.text(sentence.text) != "the"
        {
            break;
        }
        end += 1;
    }
    if end == at + 2 {
        return None;
    }
    Some((
        Finding::new(ORGANIZATION, token.start, sentence.token(end - 1)?.end, 750).contextual(),
        end,
    ))
}
