//! Parts of a whole, scores and doses, which look like a day: `1/2 tablet`, `8/10 pain`, `strength is 4/5`, `Apgars 8/9`.

use crate::list::words;
use crate::token::{Token, shape};

/// Right before a day. Behind these only a dose is none.
const LEADS: &[u64] = words!(
    "on since until till by before after dated date dob dos seen admitted readmitted admit discharged discharge born died \
     arrived started restarted stopped resumed placed removed given due appt appointment visit surgery called fell \
     monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun \
     began begun onset again signed noticed resolved returned biopsy accident collision vaccine vaccinated shot delivered"
);

/// Behind a number, whatever stands before: nobody is given a day.
const UNITS: &[u64] =
    words!("mg mcg ml mcl meq mmol iu mmhg tablet tablets tab tabs capsule capsules caps");

/// Behind `6-12`: how long, how large, how much.
const SPANS: &[u64] = words!(
    "days weeks months years hours minutes mm cm wks mos yrs hrs mins mg mcg ml units beats"
);

/// Behind a part of a whole.
const COUNTED: &[u64] = words!(
    "cup cups teaspoon teaspoons tablespoon tablespoons tsp tbsp pill pills puff puffs dose doses drop drops unit units \
     node nodes core cores day days times hours weeks inch inches bottle bottles pack packs sites samples cycles courses \
     fractions dentists doctors patients people adults participants"
);

/// What is told as so many of ten, and as so many of five.
const OF_TEN: &[u64] =
    words!("pain painful discomfort severity ache headache nausea score rated rates rating scale");
const OF_FIVE: &[u64] = words!("strength motor power muscle weakness");
/// Of what is told as so many of five, what is another word before one of these: `power of attorney`, `motor vehicle`.
const OF_FORCE: &[u64] = words!("power motor");
const OF_OTHERS: &[u64] = words!("of vehicle wheelchair");
const APGARS: &[u64] = words!("apgar apgars");
const PART: &[u64] = words!("of");
/// Behind `of`, where a day is told: `6/9 of last year`.
const OF_TIMES: &[u64] = words!("this last next");
const ENDS: [&[u64]; 2] = [words!("from"), words!("to")];

/// Tokens that are looked back for what is told.
const REACH: usize = 5;

/// Whether the numbers `of` are no day. `before` and `behind` are the tokens on either side.
pub fn is_one(text: &str, before: &[Token], of: &[Token], behind: &[Token]) -> bool {
    let is_apgar = |token: &Token| APGARS.contains(&token.word);
    if of.first().is_some_and(is_apgar) || before.last().is_some_and(is_apgar) {
        return true;
    }
    let behind = next_to(behind);
    let is_span = matches!(of, [_, to] if to.gap.is_hyphen() && to.shape > shape::YEAR);
    if is_span
        && behind
            .first()
            .is_some_and(|token| SPANS.contains(&token.word))
    {
        return true;
    }
    let Some((numbers, count)) = slashed(text, of) else {
        return false;
    };
    let is = |list: &[u64]| {
        behind
            .first()
            .is_some_and(|token| list.contains(&token.word) && !is_of_other(token, behind.get(1)))
    };
    if is(UNITS) && !is_measured_then(behind) {
        return true;
    }
    let [part, whole, ..] = numbers;
    if count != 2 {
        return false;
    }
    let begins_line = of.first().is_some_and(|token| token.gap.is_line());
    let last = before.last().filter(|_| !begins_line);
    if is_change(text, before, whole, behind) {
        return true;
    }
    if last.is_some_and(|last| LEADS.contains(&last.word)) {
        return false;
    }
    if (part, whole) == (2, 2) && is_illness(text, behind) {
        return true;
    }
    let is_told = |list: &[u64]| is(list) || has(before, of, list);
    part < whole && (is(COUNTED) || is(PART) && !is_time(behind))
        || (part, whole) == (24, 7)
        || part <= whole && whole == 10 && is_told(OF_TEN)
        || part <= whole && whole == 5 && is_told(OF_FIVE)
}

/// `2/2 pneumonia`: secondary to it.
fn is_illness(text: &str, behind: &[Token]) -> bool {
    const ENDS: [&str; 9] = [
        "itis", "emia", "osis", "oma", "onia", "psis", "pathy", "rrhage", "rrhea",
    ];
    const SHORT: &[u64] = words!(
        "chf copd uti gi aki dka ckd mi pe dvt etoh tb hiv cva tia afib stroke infection bleed bleeding fall falls \
        trauma medication medications dehydration obesity volume poor alcohol ischemia"
    );
    behind.first().is_some_and(|token| {
        let word = text.get(token.start..token.end).unwrap_or_default();
        SHORT.contains(&token.word) || ENDS.iter().any(|end| word.ends_with(end))
    })
}

/// Two or three numbers with slashes between them.
fn slashed(text: &str, of: &[Token]) -> Option<([u32; 3], usize)> {
    let mut numbers = [0; 3];
    for (at, token) in of.iter().enumerate() {
        if at > 0 && !token.gap.is_only('/') {
            return None;
        }
        *numbers.get_mut(at)? = text.get(token.start..token.end)?.parse().ok()?;
    }
    (of.len() > 1).then_some((numbers, of.len()))
}

/// The tokens behind a value, if nothing but space parts them from it.
fn next_to(behind: &[Token]) -> &[Token] {
    match behind.first() {
        Some(first) if first.gap.is_close() => behind,
        _ => &[],
    }
}

/// `3/14 mg 1.8`: what is measured of somebody's blood, and no dose.
fn is_measured_then(behind: &[Token]) -> bool {
    behind.get(1).is_some_and(|token| {
        token.shape >= shape::YEAR && (token.gap.is_space() || token.gap.is_label())
    })
}

/// `6/9 of last year`, `6/9 of 2024`.
fn is_time(behind: &[Token]) -> bool {
    behind
        .get(1)
        .is_some_and(|token| token.shape == shape::YEAR || OF_TIMES.contains(&token.word))
}

/// `from 8/10 to 3/10`: both ends have the same whole.
fn is_change(text: &str, before: &[Token], whole: u32, behind: &[Token]) -> bool {
    if !matches!(whole, 5 | 10) {
        return false;
    }
    let [from, to] = ENDS;
    let is_same = |pair: &[Token]| {
        slashed(text, pair).is_some_and(|([part, other, _], _)| part <= other && other == whole)
    };
    match (before, behind) {
        ([.., lead], [word, first, second, ..])
            if from.contains(&lead.word) && to.contains(&word.word) =>
        {
            is_same(&[*first, *second])
        }
        ([.., lead, first, second, word], _)
            if from.contains(&lead.word) && to.contains(&word.word) =>
        {
            is_same(&[*first, *second])
        }
        _ => false,
    }
}

/// Whether one of the words stands before the value in its sentence.
fn has(before: &[Token], of: &[Token], list: &[u64]) -> bool {
    let mut gap = of.first().map(|token| token.gap).unwrap_or_default();
    let mut next = None;
    for token in before.iter().rev().take(REACH) {
        if gap.ends_a_sentence() {
            return false;
        }
        if list.contains(&token.word) && !is_of_other(token, next) {
            return true;
        }
        gap = token.gap;
        next = Some(token);
    }
    false
}

/// `power of attorney`, `motor vehicle`: no strength of somebody.
fn is_of_other(token: &Token, next: Option<&Token>) -> bool {
    OF_FORCE.contains(&token.word) && next.is_some_and(|next| OF_OTHERS.contains(&next.word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the numbers between bars are a part of a whole.
    fn is_share(marked: &str) -> bool {
        let (head, rest) = marked.split_once('|').unwrap_or_default();
        let (value, tail) = rest.split_once('|').unwrap_or_default();
        let text = format!("{head}{value}{tail}");
        let mut tokens = Vec::new();
        crate::token::read(&text, 0, text.len(), &mut tokens);
        let first = tokens.partition_point(|token| token.start < head.len());
        let end = tokens.partition_point(|token| token.start < head.len() + value.len());
        is_one(&text, &tokens[..first], &tokens[first..end], &tokens[end..])
    }

    #[test]
    fn parts_scores_and_doses_are_no_days() {
        for share in [
            "|1/2| tablet twice daily",
            "|2/3| of the daily dose",
            "Lotrel |5/20| capsule.",
            "Dose |5/10/20| mg is available",
            "|1/3| of doses",
            "Pain improved from |8/10| to 3/10.",
            "Pain improved from 8/10 to |3/10|.",
            "Pain was |8/10| on arrival.",
            "|8/10| pain on",
            "Strength is |4/5| in the left arm",
            "motor power |4/5| in both legs",
            "Apgars |8/9| at birth",
            "|Apgars 8/9| at birth",
            "|2/14| nodes positive",
            "|7/8| doses taken",
            "|3/7| days per week",
            "|24/7| nurse line",
            "follow-up |6-12| months",
            "Hypoxia |2/2| pneumonia",
            "AKI |2/2| sepsis",
        ] {
            assert!(is_share(share), "{share}");
        }
    }

    #[test]
    fn days_beside_such_words_are_days() {
        for day in [
            "chest pain since |8/10| at night",
            "seen |8/10| pain is better",
            "Pain is better. |8/10| seen in clinic",
            "leave from |3/10| to 4/12",
            "surgery on |4/5| strength returned",
            "CABG |6/19| of last year",
            "CABG |6/9| of 2024",
            "on |3/14| mg 1.8 and K 4.1",
            "|3/14| seen in clinic",
            "given |3/14| doses held",
            "|3/14/24| tablets",
            "on |24/7| she fell",
            "seen |6-12| in clinic",
            "seen |2/2| pneumonia resolved",
            "Labs |2/2| were fine",
            "power of attorney form |4/5|",
            "|4/5| motor vehicle crash",
            "power wheelchair came |4/5|",
            "pain began |8/10|",
            "weakness onset |4/5|",
        ] {
            let is_dose = day.contains("tablets");
            assert_eq!(is_share(day), is_dose, "{day}");
        }
    }
}
