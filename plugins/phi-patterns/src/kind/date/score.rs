//! Pairs of numbers that are scores: so many of ten, of five or of what a questionnaire has.

use super::usual;
use super::words::{DATE_WORDS, DOUBTFUL_DATE_WORDS, OF_DAYS};
use crate::kind::clause::clause;
use crate::number::Numbers;
use crate::text::{begins_with, ends_with, has};

const FIVE: u32 = 5;
const TEN: u32 = 10;

/// `from 8/10 to 3/10`, `last 6/10`: so many of ten, or of five at both ends of a change.
pub(super) fn is_one(numbers: &Numbers<'_>, at: usize, near: &[u8], behind: &[u8]) -> bool {
    if usual::is_no_score(numbers, at)
        || ends_with(near, OF_DAYS)
        || begins_with(behind, &["through", "thru", "until", "till"])
    {
        return false;
    }
    let (Some(first), Some(whole)) = (numbers.value(at), numbers.value(at + 1)) else {
        return false;
    };
    match (pair_behind(behind), pair_before(near)) {
        (Some((next, other)), _) => {
            is_change(whole, (next, other)) && !is_absence(near, first, next)
        }
        (None, Some((last, other))) => {
            is_change(whole, (last, other)) && !is_absence(near, last, first)
        }
        (None, None) => whole == TEN,
    }
}

/// Whether the other pair of `from 8/10 to 3/10` has the same whole.
fn is_change(whole: u32, (first, other): (u32, u32)) -> bool {
    whole == other && first <= other && matches!(other, FIVE | TEN)
}

/// What a score does, and no day.
const CHANGED: &[&str] = &[
    "improved",
    "improving",
    "worsened",
    "declined",
    "worse",
    "better",
    "decreased",
    "increased",
    "dropped",
    "down",
    "up",
    "went",
    "rose",
    "fell",
];

/// `FMLA from 3/10 to 4/10`: how long somebody was away, where nothing got better or worse.
fn is_absence(near: &[u8], from: u32, to: u32) -> bool {
    const AWAY: &[&str] = &[
        "leave",
        "loa",
        "fmla",
        "hospitalized",
        "inpatient",
        "rehab",
        "snf",
    ];
    const YEAR: u32 = 12;
    // Nobody is away for longer, and the months go forward: `from 12/10 to 1/10`.
    const MOST: u32 = 6;
    let months = (to + YEAR).saturating_sub(from) % YEAR;
    let clause = clause(near);
    months <= MOST && has(clause, AWAY) && !has(clause, CHANGED)
}

fn pair_behind(behind: &[u8]) -> Option<(u32, u32)> {
    behind.strip_prefix(b" to ").and_then(usual::pair)
}

fn pair_before(near: &[u8]) -> Option<(u32, u32)> {
    let head = near.strip_suffix(b" to ")?;
    let word = head.rsplit(|byte| *byte == b' ').next().unwrap_or(head);
    usual::pair(word)
}

/// Questionnaires, and the most that each gives.
const QUESTIONNAIRES: [(&[&str], u32); 6] = [
    (&["phq"], 27),
    (&["gad"], 21),
    (&["tinetti"], 28),
    (&["mmse", "moca", "slums"], 30),
    (&["epworth", "ess"], 24),
    (&["bims"], 15),
];

/// `PHQ-9 improved from 12/27 to 5/27`, `from 10/30 to 12/30 on the MoCA`: what changes is a score. Alone, or right
/// behind a word of days, it may be a day: `PHQ-9 from 3/27`, `PHQ-9 on 3/27`.
pub(super) fn is_of_questionnaire(
    numbers: &Numbers<'_>,
    at: usize,
    near: &[u8],
    behind: &[u8],
) -> bool {
    let clause = clause(near);
    let whole = numbers.value(at + 1);
    // Behind the other end of the change.
    let rest = match pair_behind(behind) {
        Some(_) => behind
            .strip_prefix(b" to ")
            .and_then(|rest| rest.splitn(2, |byte| *byte == b' ').nth(1))
            .unwrap_or_default(),
        None => behind.trim_ascii_start(),
    };
    let rest = rest.strip_prefix(b"on ").unwrap_or_default();
    let rest = rest.strip_prefix(b"the ").unwrap_or(rest);
    let is_same = |pair: Option<(u32, u32)>| pair.is_some_and(|(_, other)| whole == Some(other));
    let is_pair = is_same(pair_behind(behind)) || is_same(pair_before(near));
    let is_of = |(words, most): &(&[&str], u32)| {
        whole == Some(*most)
            && (is_pair && has(clause, words)
                || begins_with(rest, words)
                || is_changed(clause, words))
    };
    QUESTIONNAIRES.iter().any(is_of)
        && !ends_with(near, OF_DAYS)
        && !ends_with(near, DATE_WORDS)
        && !ends_with(near, DOUBTFUL_DATE_WORDS)
}

/// `PHQ-9 score is down from`: what changed is the questionnaire, and nobody who fell.
fn is_changed(clause: &[u8], words: &[&str]) -> bool {
    const BETWEEN: &[&str] = &[
        "score", "scores", "is", "was", "has", "have", "went", "slightly", "again", "from", "to",
    ];
    if !ends_with(clause, &["from", "to"]) {
        return false;
    }
    let mut head = clause;
    let mut changes = false;
    while let Some(word) = [CHANGED, BETWEEN]
        .iter()
        .flat_map(|words| words.iter())
        .find(|word| ends_with(head, &[word]))
    {
        changes |= CHANGED.contains(word);
        head = head.trim_ascii_end();
        head = head.get(..head.len() - word.len()).unwrap_or_default();
    }
    // `PHQ-9`, `BIMS 12`.
    while let [rest @ .., b'0'..=b'9' | b'-' | b' '] = head {
        head = rest;
    }
    changes && ends_with(head, words)
}
