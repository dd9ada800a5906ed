//! Names that mean no person by what stands around them: scales, lists of eponyms and of languages, idioms, products.

use phi_text::label::Labels;

use crate::sentence::Sentence;
use crate::token::{Shape, Token};
use phi_lexicon::roles::Role;

/// `Wagner grade 2`, `Ballard 34`, `Forrest Ib`, `Simpson biplane`: surnames that are scales or tools too, with what a
/// scale has behind it.
pub(super) fn is_scaled(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_scale =
        |token: &&Token| token.is_capital() && SCALES.by_hash(token.hash.value()).is_some();
    if !sentence.token(at).as_ref().is_some_and(is_scale) {
        return false;
    }
    if is_behind(sentence, at, "modified")
        || is_behind(sentence, at, "of") && at > 1 && is_behind(sentence, at - 1, "pouch")
    {
        return true;
    }
    let Some(next) = sentence.token(at + 1) else {
        return false;
    };
    let gap = sentence.gap(at);
    let word = next.text(sentence.text);
    // `Pt Simpson 45 yo`, `Blake removed his IV`.
    let is_somebody = sentence.before(at).is_some_and(|before| {
        before.is(Role::Person) || before.is(Role::Kin) || before.is(Role::Title)
    }) || sentence.token(at + 2).is_some_and(|behind| {
        let behind = behind.text(sentence.text);
        [
            "yo", "y", "yr", "yrs", "year", "years", "his", "her", "here", "the",
        ]
        .contains(&behind)
    });
    if is_somebody {
        return false;
    }
    let is_value = || match next.shape {
        Shape::Number => {
            next.text(sentence.text)
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                && next.len() <= 2
                || word.len() <= 3 && !word.ends_with(['M', 'F', 'm', 'f', 'y'])
        }
        // `Ib`, `C2M4`, `III`.
        Shape::Capital | Shape::Upper | Shape::Initial => {
            word.len() <= 4 && word.bytes().all(|byte| b"IVXabc".contains(&byte))
        }
        Shape::Lower => SCALED.contains(&word),
    };
    matches!(gap, b" " | b"'s " | b"\xe2\x80\x99s ")
        && (is_value() || word == "C" || word.starts_with("C2"))
}

fn is_behind(sentence: &Sentence<'_>, at: usize, word: &str) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| sentence.gap(before) == b" ")
        && sentence
            .before(at)
            .is_some_and(|before| before.text(sentence.text).eq_ignore_ascii_case(word))
}

/// Words behind scales and tools.
const SCALED: [&str; 31] = [
    "squeeze",
    "extent",
    "decimal",
    "sequence",
    "sequences",
    "grade",
    "score",
    "class",
    "type",
    "stage",
    "biplane",
    "croup",
    "exact",
    "visual",
    "free",
    "waves",
    "stitch",
    "drain",
    "drains",
    "removed",
    "scale",
    "scales",
    "negative",
    "maneuvers",
    "protocol",
    "view",
    "views",
    "laryngoscope",
    "blade",
    "ulcer",
    "iadl",
];

/// Surnames of scales, tests and tools that are surnames of many people too.
static SCALES: Labels<(), 256> = Labels::new(&[
    ("ballard", ()),
    ("crawford", ()),
    ("dewey", ()),
    ("ober", ()),
    ("stanford", ()),
    ("thompson", ()),
    ("addison", ()),
    ("adson", ()),
    ("allis", ()),
    ("babcock", ()),
    ("dixon", ()),
    ("gower", ()),
    ("hoffman", ()),
    ("swenson", ()),
    ("ladd", ()),
    ("shafer", ()),
    ("horner", ()),
    ("alvarado", ()),
    ("barrett", ()),
    ("barton", ()),
    ("beck", ()),
    ("bishop", ()),
    ("blake", ()),
    ("braden", ()),
    ("conners", ()),
    ("douglas", ()),
    ("fisher", ()),
    ("forrest", ()),
    ("frankel", ()),
    ("frazier", ()),
    ("garden", ()),
    ("goldman", ()),
    ("hamilton", ()),
    ("hawkins", ()),
    ("hess", ()),
    ("humphrey", ()),
    ("katz", ()),
    ("killip", ()),
    ("lawton", ()),
    ("leopold", ()),
    ("vincent", ()),
    ("mayo", ()),
    ("mcgrath", ()),
    ("meyers", ()),
    ("miller", ()),
    ("morse", ()),
    ("neer", ()),
    ("norton", ()),
    ("norwood", ()),
    ("o'leary", ()),
    ("osborn", ()),
    ("rankin", ()),
    ("rockwood", ()),
    ("rutherford", ()),
    ("salter", ()),
    ("savary", ()),
    ("simpson", ()),
    ("tanner", ()),
    ("wagner", ()),
    ("weber", ()),
    ("westley", ()),
]);

/// `Patau, Turner, Klinefelter`, `Julia, Ruby, Perl`: whether a list in which the token stands has eponyms, languages of
/// programs or their releases in it.
pub(super) fn is_of_many_things(sentence: &Sentence<'_>, at: usize) -> bool {
    /// Words to either side that are looked at.
    const REACH: usize = 4;
    let is_scale = |token: &Token| SCALES.by_hash(token.hash.value()).is_some();
    // `Morse 55, Norton n/a, Hoyer lift`: what may be a scale is one in a list of eponyms and of other scales.
    let may_be_scale = sentence.token(at).is_some_and(is_scale);
    let is_thing = |token: &Token| {
        token.is_capital()
            && (token.is(Role::Eponym) && (may_be_scale || !token.class.is_surname())
                || may_be_scale && is_scale(token)
                || THINGS.by_hash(token.hash.value()).is_some())
    };
    let is_link = |gap: &[u8]| {
        matches!(gap, b", " | b" " | b"; " | b"/" | b" / ")
            || may_be_scale && matches!(gap, b"'s, " | b"\xe2\x80\x99s, ")
    };
    let is_part = |token: &Token| {
        token.is_capital()
            || token.shape == Shape::Number
            || matches!(token.len(), 2 | 3)
            || may_be_scale && FOUND.contains(&token.text(sentence.text))
            || may_be_scale && token.len() == 1
    };
    let has_comma = |at: usize| {
        let gap = sentence.gap(at);
        gap.ends_with(b", ") || gap == b"; "
    };
    let before = || {
        let mut commas = false;
        (1..=REACH)
            .map_while(|back| at.checked_sub(back))
            .take_while(|here| is_link(sentence.gap(*here)))
            .map_while(|here| {
                commas |= has_comma(here);
                sentence
                    .token(here)
                    .filter(|token| is_part(token))
                    .map(|token| (commas, token))
            })
            .any(|(commas, token)| commas && is_thing(token))
    };
    let behind = || {
        let mut commas = false;
        (at..at + REACH)
            .take_while(|here| is_link(sentence.gap(*here)))
            .map_while(|here| {
                commas |= has_comma(here);
                sentence
                    .token(here + 1)
                    .filter(|token| is_part(token))
                    .map(|token| (commas, token))
            })
            .any(|(commas, token)| commas && is_thing(token))
    };
    before() || behind()
}

/// What is found of a sign or a scale in a list of them.
const FOUND: [&str; 8] = [
    "absent", "present", "intact", "normal", "negative", "positive", "vertex", "n",
];

/// Languages, systems and releases that stand in lists with others that are names of people, and makers of devices.
static THINGS: Labels<(), 256> = Labels::new(&[
    ("bookworm", ()),
    ("bullseye", ()),
    ("buster", ()),
    ("catalina", ()),
    ("clojure", ()),
    ("cobol", ()),
    ("debian", ()),
    ("django", ()),
    ("elixir", ()),
    ("erlang", ()),
    ("flask", ()),
    ("fortran", ()),
    ("ansible", ()),
    ("cassandra", ()),
    ("gemini", ()),
    ("grafana", ()),
    ("jenkins", ()),
    ("kafka", ()),
    ("kubernetes", ()),
    ("llama", ()),
    ("mistral", ()),
    ("prometheus", ()),
    ("redis", ()),
    ("terraform", ()),
    ("golang", ()),
    ("haskell", ()),
    ("java", ()),
    ("javascript", ()),
    ("jekyll", ()),
    ("jinja", ()),
    ("jupyter", ()),
    ("kotlin", ()),
    ("lua", ()),
    ("macos", ()),
    ("medtronic", ()),
    ("monterey", ()),
    ("nephew", ()),
    ("pascal", ()),
    ("perl", ()),
    ("php", ()),
    ("powerport", ()),
    ("prolog", ()),
    ("python", ()),
    ("scala", ()),
    ("sequoia", ()),
    ("sonoma", ()),
    ("stryker", ()),
    ("trixie", ()),
    ("typescript", ()),
    ("ubuntu", ()),
    ("windows", ()),
]);

/// `Claude Code`, `Anthropic's CLI for Claude`: the model, and what is made of it. Callers of a gateway for models speak
/// of it in every other prompt; a surname behind it makes it somebody.
pub(super) fn is_program(sentence: &Sentence<'_>, at: usize) -> bool {
    /// Words to either side in which its maker stands.
    const REACH: usize = 8;
    let word = |at: usize| sentence.token(at).map(|token| token.text(sentence.text));
    if word(at) != Some("Claude") {
        return false;
    }
    let next = word(at + 1).filter(|_| sentence.gap(at) == b" ");
    next.is_some_and(|next| OF_CLAUDE.contains(&next))
        || !sentence
            .token(at + 1)
            .is_some_and(|next| sentence.is_joined_to(at) && next.is_capital())
            && (at.saturating_sub(REACH)..at + REACH).any(|near| word(near) == Some("Anthropic"))
}

const OF_CLAUDE: [&str; 16] = [
    "AI", "API", "Agent", "Code", "Console", "Cowork", "Desktop", "Haiku", "Instant", "Max",
    "Opus", "Pro", "SDK", "Skills", "Sonnet", "Team",
];

/// `Jack of all trades`, `Carol singing`: a given name that is a word of the language, in company it has as a word.
pub(super) fn is_idiom(sentence: &Sentence<'_>, at: usize) -> bool {
    let (Some(token), Some(next)) = (sentence.token(at), sentence.token(at + 1)) else {
        return false;
    };
    let (word, next) = (token.text(sentence.text), next.text(sentence.text));
    sentence.gap(at) == b" "
        && IDIOMS
            .iter()
            .any(|(one, behind)| word.eq_ignore_ascii_case(one) && behind.contains(&next))
}

const IDIOMS: [(&str, &[&str]); 16] = [
    (
        "amber",
        &[
            "alert", "alerts", "color", "colored", "light", "lights", "glass", "urine", "fluid",
        ],
    ),
    ("graham", &["cracker", "crackers", "crust"]),
    ("jordan", &["almond", "almonds"]),
    ("ted", &["talk", "talks"]),
    ("jack", &["of", "stand", "knife", "hammer", "cheese"]),
    ("josh", &["a", "around"]),
    ("carol", &["singing", "singers", "service", "concert"]),
    (
        "rosemary",
        &[
            "chicken", "potatoes", "oil", "sprig", "sprigs", "focaccia", "lamb", "bread", "extract",
        ],
    ),
    ("robin", &["redbreast", "nest", "egg", "eggs"]),
    ("miranda", &["warning", "warnings", "rights"]),
    ("terry", &["stop", "stops", "cloth"]),
    ("victor", &["wins"]),
    ("rob", &["a", "the"]),
    ("ruby", &["red", "gem", "gems"]),
    ("crystal", &["clear", "meth", "arthropathy"]),
    ("jude", &["valve"]),
];

/// `The Nile`, `Knuth-Morris`: a given name with an article, or two surnames with a dash, that nothing else says to be
/// somebody.
pub(super) fn is_double_thing(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(token) = sentence.token(at) else {
        return false;
    };
    let has_article = at > 0
        && sentence.gap(at - 1) == b" "
        && sentence
            .before(at)
            .is_some_and(|before| matches!(before.text(sentence.text), "The" | "the"));
    let word = token.text(sentence.text);
    let is_double = word.contains('-');
    let is_family = || {
        const FAMILY: [&str; 10] = [
            "family",
            "baby",
            "kid",
            "kids",
            "boy",
            "girl",
            "twins",
            "patient",
            "couple",
            "household",
        ];
        sentence
            .token(at + 1)
            .is_some_and(|next| FAMILY.contains(&next.text(sentence.text)))
    };
    has_article
        && !is_family()
        && (is_double
            || token.shape != Shape::Capital && token.class.is_given() && !token.class.is_surname())
        || is_double && word.split('-').count() > 2
}

/// `Mrs. Dash`, `Dr Pepper`, `MR. COUNSEL`: a title and what nobody is called.
pub(super) fn is_titled_thing(sentence: &Sentence<'_>, at: usize) -> bool {
    let (Some(title), Some(word)) = (sentence.token(at), sentence.token(at + 1)) else {
        return false;
    };
    let (title, word) = (title.text(sentence.text), word.text(sentence.text));
    TITLED.iter().any(|(one, two)| {
        word.eq_ignore_ascii_case(two) && (one.is_empty() || title.eq_ignore_ascii_case(one))
    })
}

const TITLED: [(&str, &str); 14] = [
    ("dr", "pepper"),
    ("mrs", "dash"),
    ("mr", "clean"),
    ("mr", "coffee"),
    ("dr", "scholl"),
    ("dr", "seuss"),
    ("mr", "darcy"),
    ("", "counsel"),
    ("", "chairman"),
    ("", "chairwoman"),
    ("", "speaker"),
    ("", "secretary"),
    ("", "president"),
    ("", "ambassador"),
];
