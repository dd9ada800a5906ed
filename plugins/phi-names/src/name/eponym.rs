//! Words that are a name and mean a disease, a sign or an instrument: `Parkinson's disease`, `Foley catheter`.

use phi_text::label::Labels;

use crate::sentence::Sentence;
use crate::token::{Shape, Token};
use phi_lexicon::roles::{ROLES, Role};

/// `Parkinson's disease`, `Foley catheter`, `Guillain-Barre syndrome`.
pub(super) fn is_eponym(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(token) = sentence.token(at) else {
        return false;
    };
    token.is(Role::Eponym) || is_of_a_thing(sentence, at)
}

/// As above, for a word that stands beside a given name: `Susan Fowler` is somebody, `Susan Fowler position` is none.
pub(super) fn is_of_a_thing(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(token) = sentence.token(at) else {
        return false;
    };
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
    // `a Miller 2 blade`.
    let is_sized = sentence
        .token(at + 1)
        .is_some_and(|size| size.shape == Shape::Number && size.len() == 1)
        && is_medical(at + 2);
    let is_frank = word == "Frank"
        && sentence
            .token(at + 1)
            .is_some_and(|next| FRANK.contains(&next.text(sentence.text)));
    is_sized
        || super::thing::is_scaled(sentence, at)
        || is_half(sentence, at)
        || is_frank
        || is_medical(at + 1)
        || sentence.token(at + 1).is_some_and(Token::is_capital) && is_medical(at + 2)
}

/// Two words that are one sign, instrument or company.
const TWO: [(&str, &str); 52] = [
    ("Miller", "Fisher"),
    ("Marcus", "Gunn"),
    ("Argyll", "Robertson"),
    ("Ivor", "Lewis"),
    ("Eli", "Lilly"),
    ("Bair", "Hugger"),
    ("Austin", "Flint"),
    ("Graham", "Steell"),
    ("Treacher", "Collins"),
    ("Jackson", "Pratt"),
    ("Bence", "Jones"),
    ("Philips", "IntelliVue"),
    ("Jude", "Assurity"),
    ("Austin", "Moore"),
    ("Hunter", "Hess"),
    ("Stevens", "Johnson"),
    ("Becton", "Dickinson"),
    ("Floyd", "Warshall"),
    ("Kelly", "Paterson"),
    ("Ray", "Tec"),
    ("Marshall", "Marchetti"),
    ("Ross", "Konno"),
    ("Maddox", "Wing"),
    ("Bell", "Magendie"),
    ("Charles", "Schwab"),
    ("Bristol", "Myers"),
    ("Myers", "Squibb"),
    ("Aston", "Martin"),
    ("Alfa", "Romeo"),
    ("Merrill", "Lynch"),
    ("Goldman", "Sachs"),
    ("Morgan", "Stanley"),
    ("Edwards", "Sapien"),
    ("Ruy", "Lopez"),
    ("King", "Charles"),
    ("Carey", "Coombs"),
    ("Smith", "Nephew"),
    ("Ben", "Jerry"),
    ("Procter", "Gamble"),
    ("Barnes", "Noble"),
    ("Black", "Decker"),
    ("Bausch", "Lomb"),
    ("Ernst", "Young"),
    ("Harley", "Davidson"),
    ("Abercrombie", "Fitch"),
    ("Calvin", "Klein"),
    ("Ralph", "Lauren"),
    ("Tommy", "Hilfiger"),
    ("Aunt", "Jemima"),
    ("Johnnie", "Walker"),
    ("Jim", "Beam"),
    ("Monte", "Carlo"),
];

/// The words of [`TWO`]: most words fail here.
static HALVES: Labels<(), 512> = Labels::new(&[
    ("abercrombie", ()),
    ("alfa", ()),
    ("argyll", ()),
    ("assurity", ()),
    ("aston", ()),
    ("aunt", ()),
    ("austin", ()),
    ("bair", ()),
    ("barnes", ()),
    ("bausch", ()),
    ("beam", ()),
    ("becton", ()),
    ("bell", ()),
    ("ben", ()),
    ("bence", ()),
    ("black", ()),
    ("bristol", ()),
    ("calvin", ()),
    ("carey", ()),
    ("carlo", ()),
    ("charles", ()),
    ("collins", ()),
    ("coombs", ()),
    ("davidson", ()),
    ("decker", ()),
    ("dickinson", ()),
    ("edwards", ()),
    ("eli", ()),
    ("ernst", ()),
    ("fisher", ()),
    ("fitch", ()),
    ("flint", ()),
    ("floyd", ()),
    ("gamble", ()),
    ("goldman", ()),
    ("graham", ()),
    ("gunn", ()),
    ("harley", ()),
    ("hess", ()),
    ("hilfiger", ()),
    ("hugger", ()),
    ("hunter", ()),
    ("intellivue", ()),
    ("ivor", ()),
    ("jackson", ()),
    ("jemima", ()),
    ("jerry", ()),
    ("jim", ()),
    ("johnnie", ()),
    ("johnson", ()),
    ("jones", ()),
    ("jude", ()),
    ("kelly", ()),
    ("king", ()),
    ("klein", ()),
    ("konno", ()),
    ("lauren", ()),
    ("lewis", ()),
    ("lilly", ()),
    ("lomb", ()),
    ("lopez", ()),
    ("lynch", ()),
    ("maddox", ()),
    ("magendie", ()),
    ("marchetti", ()),
    ("marcus", ()),
    ("marshall", ()),
    ("martin", ()),
    ("merrill", ()),
    ("miller", ()),
    ("monte", ()),
    ("moore", ()),
    ("morgan", ()),
    ("myers", ()),
    ("nephew", ()),
    ("noble", ()),
    ("paterson", ()),
    ("philips", ()),
    ("pratt", ()),
    ("procter", ()),
    ("ralph", ()),
    ("ray", ()),
    ("robertson", ()),
    ("romeo", ()),
    ("ross", ()),
    ("ruy", ()),
    ("sachs", ()),
    ("sapien", ()),
    ("schwab", ()),
    ("smith", ()),
    ("squibb", ()),
    ("stanley", ()),
    ("steell", ()),
    ("stevens", ()),
    ("tec", ()),
    ("tommy", ()),
    ("treacher", ()),
    ("walker", ()),
    ("warshall", ()),
    ("wing", ()),
    ("young", ()),
]);

/// Whether the token is one of two such words beside each other.
fn is_half(sentence: &Sentence<'_>, at: usize) -> bool {
    let may_be = |token: &Token| {
        token.shape == Shape::Capital && HALVES.by_hash(token.hash.value()).is_some()
    };
    if !sentence.token(at).is_some_and(may_be) {
        return false;
    }
    let word = |at: usize| {
        sentence
            .token(at)
            .map_or("", |token| token.text(sentence.text))
    };
    let here = word(at);
    let is_joined = |at: usize| matches!(sentence.gap(at), b" " | b"-" | b" & ");
    TWO.iter().any(|(one, two)| {
        here == *one && is_joined(at) && word(at + 1) == *two
            || here == *two
                && at
                    .checked_sub(1)
                    .is_some_and(|before| is_joined(before) && word(before) == *one)
    })
}

/// What is frank, which is no Frank's.
const FRANK: [&str; 18] = [
    "blood",
    "bleeding",
    "melena",
    "stool",
    "sputum",
    "discussion",
    "conversation",
    "talk",
    "talks",
    "truth",
    "pus",
    "hematuria",
    "hematochezia",
    "hemoptysis",
    "hematemesis",
    "psychosis",
    "dehiscence",
    "breech",
];
