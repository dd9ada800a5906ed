//! Telephone and fax numbers: North American by shape, others by `+` or by the words around.

use super::clause::clause;
use super::licence::is_npi;
use super::{FAX, Finding, LICENSE_NUMBER, PHONE};
use crate::number::{Gap, Numbers};
use crate::text::{
    after, before, begins_with, byte, byte_before, ends_with, has, is_word, last_of,
};
use phi_text::public;

const FAX_WORDS: &[&str] = &["fax", "fax#", "facsimile", "efax", "telefax"];
const PHONE_WORDS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "ph",
    "call",
    "called",
    "calling",
    "cell",
    "cellphone",
    "mobile",
    "home",
    "work",
    "pager",
    "beeper",
    "contact",
    "reach",
    "reached",
    "text",
    "callback",
    "dial",
    "hotline",
    "whatsapp",
    "sms",
    "cb",
    "caller",
    "number",
];
/// Words right before seven digits that are a telephone number.
const SEVEN_BEFORE: &[&str] = &[
    "phone",
    "phone:",
    "telephone",
    "telephone:",
    "tel",
    "tel:",
    "tel.",
    "cell",
    "cell:",
    "mobile",
    "mobile:",
    "mob",
    "mob.",
    "tel. home",
    "tel home",
    "home phone",
    "home phone:",
    "call",
    "phone number",
    "phone number:",
    "phone number is",
    "fax",
    "fax:",
    "phone is",
    "cell is",
    "dial",
    "her number is",
    "his number is",
    "my number is",
    "their number is",
    "your number is",
    "new number is",
    "number's",
    "her # is",
    "his # is",
    "my # is",
];
/// Words right before a number whose groups are none of North America.
const ABROAD_BEFORE: &[&str] = &[
    "tel",
    "tel:",
    "tel.",
    "telephone",
    "phone",
    "phone:",
    "mobile",
    "mobile:",
    "mob",
    "mob.",
    "mob:",
    "cell",
    "contact",
    "contact:",
    "contact no",
    "contact no.",
    "call",
    "ph",
    "ph:",
    "ph.",
    "whatsapp",
];
/// Words of telephones alone.
const DIALLED: &[&str] = &["phone", "tel", "call", "cell", "mobile"];
/// A ten-digit number that is said to be something else.
const OTHER_WORDS: &[&str] = &[
    "npi", "mrn", "account", "acct", "order", "claim", "invoice", "lot", "ndc", "id", "upc", "nct",
    "part", "serial", "ref", "cas", "isbn", "model",
];

pub fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    if at > 0
        && matches!(
            numbers.gap(at - 1),
            Gap::Dash | Gap::Dot | Gap::Slash | Gap::Bracket
        )
    {
        return None;
    }
    let head = byte_before(numbers.text, group.start);
    if is_word(head)
        || head == b'_'
        || head == b'$'
        || head == b'#' && byte_before(numbers.text, group.start - 1) == b'&'
    {
        return None;
    }
    let (last, score) = match head {
        b'+' => international(numbers, at)?,
        _ => north_american(numbers, at)
            .or_else(|| labelled(numbers, at))
            .or_else(|| half_apart(numbers, at))
            .or_else(|| elsewhere(numbers, at))
            .or_else(|| of_exchange(numbers, at))?,
    };
    let end = extension_end(numbers.text, numbers.group(last).end);
    let end = match score < SHAPE_SCORE {
        true => end,
        false => second_end(numbers.text, end),
    };
    let digits = numbers.text.get(group.start..numbers.group(last).end)?;
    if is_word(byte(numbers.text, end)) || public::is_phone(digits) {
        return None;
    }
    // `(555) 123-4567` and `+1 555 …` begin at their sign.
    let is_bracketed = head == b'(' && numbers.text.get(group.start..end)?.contains(&b')');
    let start = if is_bracketed || head == b'+' {
        group.start - 1
    } else {
        group.start
    };
    let finding = Finding::new(kind(numbers.text, start, end), start, end, score);
    Some(if score < SHAPE_SCORE {
        finding.contextual()
    } else {
        finding
    })
}

/// A number whose shape alone says what it is.
const SHAPE_SCORE: u16 = 800;

/// The last group and the score: `+` and eight to fifteen digits (E.164).
fn international(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    // `x + 0.0128283`: no country has it.
    if numbers.value(at) == Some(0)
        && numbers.gap(at) == Gap::Dot
        && numbers.gap(at + 1) != Gap::Dot
    {
        return None;
    }
    let mut digits = 0;
    let mut last = at;
    for index in at..numbers.count() {
        let len = numbers.group(index).len();
        if digits + len > 15 || numbers.gap(index.saturating_sub(1)) == Gap::Slash && index > at {
            break;
        }
        digits += len;
        last = index;
    }
    (8..=15).contains(&digits).then_some((last, 900))
}

fn north_american(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    // The country code may stand before it.
    let first = if numbers.group(at).len() == 1 && numbers.value(at) == Some(1) {
        at + 1
    } else {
        at
    };
    // `(312)4427188`.
    let is_bracketed = numbers.has_lengths(first, &[3, 7]) && numbers.gap(first) == Gap::Bracket;
    if is_bracketed && numbers.stands_alone_after(first + 1) {
        return Some((first + 1, 850));
    }
    if !numbers.has_lengths(first, &[3, 3, 4]) {
        return None;
    }
    let gaps = (numbers.gap(first), numbers.gap(first + 1));
    let is_apart = |gap: Gap| matches!(gap, Gap::Dash | Gap::Dot | Gap::Space | Gap::Bracket);
    let is_wide = gaps == (Gap::Wide, Gap::Wide);
    let is_area_apart = is_apart(gaps.0) || is_wide || gaps == (Gap::Slash, Gap::Dash);
    // `404-555-0182/0183`: two numbers, of which the second is what differs.
    let is_pair =
        numbers.gap(first + 2) == Gap::Slash && matches!(numbers.group(first + 3).len(), 1..=4);
    let is_whole =
        numbers.stands_alone_after(first + 2) || is_pair && numbers.stands_alone_after(first + 3);
    let is_rest_apart = is_apart(gaps.1) || is_wide || gaps == (Gap::Bracket, Gap::Wide);
    if !is_area_apart || !is_rest_apart || !is_whole {
        return None;
    }
    let is_valid = numbers.value(first)? >= 200 && numbers.value(first + 1)? >= 200;
    let score = match (is_valid, gaps) {
        (true, (Gap::Space, Gap::Space) | (Gap::Wide, Gap::Wide)) => 800,
        (true, _) => 900,
        (false, (Gap::Space, Gap::Space) | (Gap::Wide, Gap::Wide)) => {
            return labelled(numbers, at);
        }
        (false, _) => 650,
    };
    Some((first + 2 + usize::from(is_pair), score))
}

/// `404-5550182`.
fn half_apart(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    /// The first seven digits that a subscriber has.
    const SUBSCRIBERS: u32 = 200_0000;
    let is_number = numbers.has_lengths(at, &[3, 7])
        && numbers.gap(at) == Gap::Dash
        && numbers.value(at)? >= 200
        && numbers.value(at + 1)? >= SUBSCRIBERS;
    let near = before(numbers.text, numbers.group(at).start);
    (is_number && numbers.stands_alone_after(at + 1) && !has(near, OTHER_WORDS))
        .then_some((at + 1, 700))
}

/// Seven or ten digits, or a number with a leading zero, where a word says that it is one.
fn labelled(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    // The shape is asked first: looking for words costs more.
    let found = labelled_shape(numbers, at)?;
    let near = before(numbers.text, numbers.group(at).start);
    let end = numbers.group(found.0).end;
    // `9195550151 (c)`, `her # is 5550187`.
    let is_typed = numbers.text.get(end..).is_some_and(|rest| {
        [
            &b" (c)"[..],
            b" (h)",
            b" (w)",
            b" (m)",
            b" (cell)",
            b" (home)",
            b" (work)",
        ]
        .iter()
        .any(|mark| rest.starts_with(mark))
    });
    if is_typed
        || ends_with(
            near,
            &["her # is", "his # is", "my # is", "phone #", "cell #"],
        )
    {
        return Some(found);
    }
    if is_lettered(near) || is_kins(near) {
        return Some(found);
    }
    let said = last_of(near, PHONE_WORDS).max(last_of(near, FAX_WORDS))?;
    let is_other = last_of(near, OTHER_WORDS).is_some_and(|other| other > said);
    (!is_other).then_some(found)
}

/// The last group of a number that is grouped as in Poland, India or Mexico; `100 200 300` counts.
fn abroad(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    const GROUPS: [&[usize]; 3] = [&[3, 3, 3], &[5, 5], &[2, 4, 4]];
    let lengths = GROUPS
        .into_iter()
        .find(|lengths| numbers.has_lengths(at, lengths))?;
    let last = at + lengths.len() - 1;
    let is_round = |index| numbers.value(index).is_some_and(|value| value % 100 == 0);
    let fits = (at..last).all(|index| numbers.gap(index) == numbers.gap(at))
        && numbers.stands_alone_after(last)
        && !(at + 1..=last).all(is_round);
    fits.then_some(last)
}

fn labelled_shape(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    // `919/555/0148`.
    let is_slashed = numbers.has_lengths(at, &[3, 3, 4])
        && numbers.gap(at) == Gap::Slash
        && numbers.gap(at + 1) == Gap::Slash;
    if is_slashed && numbers.stands_alone_after(at + 2) {
        return Some((at + 2, 750));
    }
    let is_local =
        numbers.has_lengths(at, &[3, 4]) && matches!(numbers.gap(at), Gap::Dash | Gap::Dot);
    if is_local && numbers.stands_alone_after(at + 1) {
        return Some((at + 1, 750));
    }
    // `773-5550-116`, with a slip of the hand.
    let is_slip = numbers.has_lengths(at, &[3, 4, 3])
        && matches!(numbers.gap(at), Gap::Dash | Gap::Space)
        && numbers.gap(at + 1) == numbers.gap(at)
        && numbers.value(at)? >= 200
        && numbers.value(at + 1)? >= 2000;
    if is_slip && numbers.stands_alone_after(at + 2) {
        return Some((at + 2, 700));
    }
    let is_split =
        numbers.has_lengths(at, &[3, 7]) && matches!(numbers.gap(at), Gap::Dash | Gap::Space);
    if is_split && numbers.stands_alone_after(at + 1) {
        return Some((at + 1, 750));
    }
    // Seven digits without a sign between them are told by the word right before.
    let is_apart = numbers.has_lengths(at, &[3, 4]) && numbers.gap(at) == Gap::Space;
    let seven_end = if is_apart && byte(numbers.text, numbers.group(at).start) != b'0' {
        Some(at + 1)
    } else {
        (numbers.group(at).len() == 7).then_some(at)
    };
    // `tel. 601 234 567`.
    if matches!(numbers.gap(at), Gap::Space | Gap::Dash)
        && let Some(last) = abroad(numbers, at)
        && ends_with(before(numbers.text, numbers.group(at).start), ABROAD_BEFORE)
    {
        return Some((last, 700));
    }
    if let Some(last) = seven_end.filter(|last| numbers.stands_alone_after(*last))
        && ends_with(before(numbers.text, numbers.group(at).start), SEVEN_BEFORE)
    {
        return Some((last, 700));
    }
    let is_plain = matches!(numbers.group(at).len(), 10 | 11);
    if is_plain && numbers.stands_alone_after(at) {
        return Some((at, 750));
    }
    // National numbers elsewhere: a zero first, ten or eleven digits in groups.
    if byte(numbers.text, numbers.group(at).start) != b'0' {
        return None;
    }
    // `0049 30 901820`: as the `+` is dialled.
    let is_abroad = numbers
        .text
        .get(numbers.group(at).start..)
        .is_some_and(|rest| rest.starts_with(b"00"));
    let lengths = if is_abroad { 11..=15 } else { 10..=11 };
    let mut digits = 0;
    let mut found = None;
    for index in at..numbers.count() {
        digits += numbers.group(index).len();
        if lengths.contains(&digits) && numbers.stands_alone_after(index) {
            found = Some((index, 700));
            if !is_abroad {
                break;
            }
        }
        if numbers.gap(index) == Gap::None {
            break;
        }
    }
    found
}

/// `M: 07700 900381`, `F: 3035550143`: the letter of what is dialled.
fn is_lettered(near: &[u8]) -> bool {
    let Some([head @ .., letter]) = near.trim_ascii_end().strip_suffix(b":") else {
        return false;
    };
    b"MWHTCOPFmwhtcopf".contains(letter) && !is_word(byte_before(head, head.len()))
}

/// `wife Mirjana 555-0131`, `her # 786 5550 138`: right behind one of the family, a name between.
fn is_kins(near: &[u8]) -> bool {
    const KIN: &[&str] = &[
        "wife",
        "husband",
        "spouse",
        "partner",
        "son",
        "daughter",
        "dtr",
        "mom",
        "mother",
        "dad",
        "father",
        "sister",
        "brother",
        "niece",
        "nephew",
        "aunt",
        "uncle",
        "grandson",
        "granddaughter",
        "friend",
        "neighbor",
        "neighbour",
        "caregiver",
        "guardian",
        "nok",
        "poa",
        "hcp",
        "her #",
        "his #",
        "their #",
        "my #",
    ];
    let mut head = near.trim_ascii_end();
    for _ in 0..=2 {
        head = head
            .strip_suffix(b":")
            .or(head.strip_suffix(b"("))
            .unwrap_or(head)
            .trim_ascii_end();
        if ends_with(head, KIN) {
            return true;
        }
        let letters = head
            .iter()
            .rev()
            .take_while(|byte| {
                is_word(**byte) && !byte.is_ascii_digit() || matches!(byte, b'-' | b'\'')
            })
            .count();
        let start = head.len() - letters;
        if letters < 2 || !byte(head, start).is_ascii_uppercase() {
            return false;
        }
        head = head.get(..start).unwrap_or_default().trim_ascii_end();
    }
    false
}

/// `07700 900381`, `020 7946 0018`, `(02) 9876 5432`: numbers of Britain and Australia as nothing else is divided.
fn elsewhere(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    let start = numbers.group(at).start;
    let is_zero = byte(numbers.text, start) == b'0';
    let gaps = (numbers.gap(at), numbers.gap(at + 1));
    let is_mobile = numbers.has_lengths(at, &[5, 6])
        && byte(numbers.text, start + 1) == b'7'
        && gaps.0 == Gap::Space;
    let is_city = numbers.has_lengths(at, &[3, 4, 4]) && gaps == (Gap::Space, Gap::Space);
    let is_bracketed = matches!(numbers.group(at).len(), 2 | 3)
        && numbers.has_lengths(at + 1, &[4, 4])
        && byte_before(numbers.text, start) == b'('
        && gaps == (Gap::Bracket, Gap::Space);
    let last = if is_mobile { at + 1 } else { at + 2 };
    let is_number = is_zero && (is_mobile || is_city || is_bracketed);
    let near = before(numbers.text, start);
    (is_number && numbers.stands_alone_after(last) && !has(near, OTHER_WORDS) && at == 0)
        .then_some((last, 700))
}

/// `555-0144`: the exchange that directories and stories have; ranges and parts are numbered otherwise.
fn of_exchange(numbers: &Numbers<'_>, at: usize) -> Option<(usize, u16)> {
    let is_number = at == 0
        && numbers.group(at).start > 0
        && numbers.has_lengths(at, &[3, 4])
        && numbers.gap(at) == Gap::Dash
        && numbers.value(at) == Some(555)
        && numbers.stands_alone_after(at + 1);
    let start = numbers.group(at).start;
    let near = before(numbers.text, start);
    let head = byte_before(numbers.text, start);
    let is_apart = matches!(head, b' ' | b'(' | b'|' | b'\n' | b'\t' | b',' | b'"' | 0);
    const COUNTED: &[&str] = &[
        "page", "pages", "form", "section", "icd", "grant", "room", "item", "error", "code",
    ];
    (is_number && is_apart && !has(near, OTHER_WORDS) && !has(near, COUNTED))
        .then_some((at + 1, 650))
}

/// `x54471`, `p4471`: an extension or a pager, from its letter on, where somebody is to be called.
pub fn find_extension(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    const DIGITS: std::ops::RangeInclusive<usize> = 4..=6;
    let [letter, digits @ ..] = text.get(start..end)? else {
        return None;
    };
    let words: &[&str] = match letter {
        b'x' | b'X' => &[
            "dr",
            "call",
            "calls",
            "called",
            "contact",
            "page",
            "paged",
            "reach",
            "text",
            "ext",
            "nurse",
            "rn",
            "md",
            "np",
            "pa",
            "desk",
            "phone",
            "callback",
            "cb",
            "questions",
            "ph",
            "tel",
            "office",
        ],
        b'p' | b'P' => &[
            "dr",
            "page",
            "paged",
            "pager",
            "contact",
            "md",
            "np",
            "rn",
            "resident",
            "intern",
            "attending",
        ],
        _ => return None,
    };
    let near = before(text, start);
    let is_called = has(clause(near), words);
    let is_code = DIGITS.contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let is_apart = matches!(byte_before(text, start), b' ' | b'(' | b'|' | b'\t');
    // `x555-0187`: a whole number behind the letter.
    let rest = text.get(end..).unwrap_or_default();
    let line = rest
        .iter()
        .skip(1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if is_apart
        && digits.len() == 3
        && digits.iter().all(u8::is_ascii_digit)
        && byte(rest, 0) == b'-'
        && line == 4
        && !is_word(byte(rest, 5))
    {
        return Some(Finding::new(PHONE, start, end + 5, 650).contextual());
    }
    let tail = byte(text, end);
    let is_end = !is_word(tail) && !matches!(tail, b'-' | b'_' | b'%');
    (is_code && is_apart && is_end && is_called)
        .then(|| Finding::new(PHONE, start, end, 650).contextual())
}

/// Where ` x123` or ` ext. 123` ends.
fn extension_end(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let gap = rest
        .iter()
        .take_while(|byte| b" ,".contains(byte))
        .count()
        .min(2);
    let behind = rest.get(gap..).unwrap_or_default();
    let words: [&[u8]; 5] = [b"extension", b"ext.", b"ext", b"x.", b"x"];
    let Some(word) = words.iter().find(|word| crate::text::starts(behind, word)) else {
        return end;
    };
    let behind = behind.get(word.len()..).unwrap_or_default();
    let space = behind
        .iter()
        .take_while(|byte| b" #".contains(byte))
        .count()
        .min(2);
    let digits = behind
        .iter()
        .skip(space)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if (1..=6).contains(&digits) {
        end + gap + word.len() + space + digits
    } else {
        end
    }
}

/// `(919) 555-0142 or -0143`: where the last four digits of a second number end.
fn second_end(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let sign = [" or -", " and -", " / -", "/-", ", -", " or "]
        .iter()
        .find(|sign| rest.starts_with(sign.as_bytes()));
    let Some(sign) = sign else {
        return end;
    };
    let from = end + sign.len();
    let is_year = |digits: &[u8]| matches!(digits, [b'1', b'9', ..] | [b'2', b'0', ..]);
    let is_number = text.get(from..from + 4).is_some_and(|digits| {
        digits.iter().all(u8::is_ascii_digit) && !(*sign == " or " && is_year(digits))
    });
    let tail = byte(text, from + 4);
    let goes_on = is_word(tail) || matches!(tail, b'-' | b'/') && is_word(byte(text, from + 5));
    match is_number && !goes_on {
        true => from + 4,
        false => end,
    }
}

/// Fax where the nearest word before says so, or the one right behind.
fn kind(text: &[u8], start: usize, end: usize) -> usize {
    let near = before(text, start);
    let fax = last_of(near, FAX_WORDS);
    let is_fax = fax.is_some()
        && fax
            > last_of(
                near,
                PHONE_WORDS.get(..PHONE_WORDS.len() - 1).unwrap_or_default(),
            );
    let behind = after(text, end);
    let is_lettered = matches!(
        near.trim_ascii_end(),
        [.., b' ' | b'\n', b'F', b':'] | [b'F', b':']
    );
    let is_said_behind =
        is_lettered || begins_with(behind, &["(fax", "fax)", "[fax"]) && !has(near, FAX_WORDS);
    // `NPI number, e.g. 1497758544`: ten digits too.
    let is_provider =
        || text.get(start..end).is_some_and(is_npi) && has(near, &["npi"]) && !has(near, DIALLED);
    match is_fax || is_said_behind {
        true => FAX,
        false if is_provider() => LICENSE_NUMBER,
        false => PHONE,
    }
}
