//! Numbers that are measured of somebody: `heart rate was 95`, `my sugar was 212`. An age is told in the same words.

use crate::list::words;
use crate::token::{Token, shape};

/// What is measured, and is told by a number of two or three digits.
const MEASURES: &[u64] = words!(
    "hr rate rates pulse pulses heartbeat pressure pressures bp sbp dbp map systolic diastolic sat sats saturation \
     saturations spo2 sao2 o2 oxygen ox oximeter satting sugar sugars glucose bg bgs fbs bs fsbg fsbs cgm dexcom libre \
     accucheck fingerstick fingersticks a1c alt ast alp ggt ldh na sodium potassium cl chloride bicarb bun creatinine \
     inr ptt hgb hemoglobin plt plts platelet platelets wbc crp esr ldl hdl cholesterol triglycerides ferritin tsh egfr \
     gfr fev1 troponin weight wt height flow temp temps temperature tmax fever rr resp respirations level levels reading \
     readings score scores number numbers count counts dose glucosa azúcar pulso presión saturación peso"
);

/// What stands between a measure and its number.
const BETWEEN: &[u64] = words!(
    "was is were are been being at of to about around now today only still up down stayed stays ran runs running reads read \
     dropped rose fell went came back as low high the and then or just over under above below near estaba está era es de en"
);

/// Behind a number that is an age, whatever stands before.
const YEARS: &[u64] = words!("year years yr yrs yo y old años");

const WHEN: &[u64] = words!("when on after");
const CHECKED: &[u64] = words!("checked rechecked recheck tested measured");
/// Behind `checked`, where somebody comes or goes.
const COMES: &[u64] = words!("in into out himself herself");

const ON: &[u64] = words!("on");
const AIR: &[u64] = words!("room ra air nc oxygen o2 bipap cpap hfnc nrb");
const LITERS: &[u64] = words!("l lpm liters liter nc");
const AND: &[u64] = words!("and or");
const OLDER: &[u64] = words!("older over above up");

/// Words between a measure and its number, further numbers among them.
const MOST_BETWEEN: usize = 6;

/// Whether the one number `of` is what was measured, by the words `before` and `behind` it.
pub fn is_one(before: &[Token], of: &[Token], behind: &[Token]) -> bool {
    let [number] = of else {
        return false;
    };
    let is_of_years = |token: &Token| YEARS.contains(&token.word) && token.gap.is_close();
    if number.shape < shape::YEAR || behind.first().is_some_and(is_of_years) {
        return false;
    }
    if is_checked(behind) || is_on_oxygen(behind) || is_limit(behind) {
        return true;
    }
    let mut gap = number.gap;
    for token in before.iter().rev().take(MOST_BETWEEN) {
        if gap.ends_a_sentence() {
            return false;
        }
        if MEASURES.contains(&token.word) {
            return true;
        }
        if !BETWEEN.contains(&token.word) && token.shape < shape::YEAR {
            return false;
        }
        gap = token.gap;
    }
    false
}

/// `was 95 on room air`, `91 on 3 L`.
fn is_on_oxygen(behind: &[Token]) -> bool {
    let ([on, air, ..], true) = (behind, behind.first().is_some_and(|on| on.gap.is_space())) else {
        return false;
    };
    let is_flow = behind
        .get(2)
        .is_some_and(|unit| LITERS.contains(&unit.word));
    ON.contains(&on.word) && (AIR.contains(&air.word) || air.shape >= shape::YEAR && is_flow)
}

/// `adults aged 90 and older`: a border of many people's ages.
fn is_limit(behind: &[Token]) -> bool {
    matches!(behind, [and, older, ..]
        if and.gap.is_space() && AND.contains(&and.word) && OLDER.contains(&older.word))
}

/// `was 91 when I checked her sugar`.
fn is_checked(behind: &[Token]) -> bool {
    let [when, rest @ ..] = behind else {
        return false;
    };
    let checked = rest
        .iter()
        .take(2)
        .position(|token| CHECKED.contains(&token.word));
    let comes = |at: usize| {
        rest.get(at + 1)
            .is_some_and(|next| COMES.contains(&next.word))
    };
    when.gap.is_space() && WHEN.contains(&when.word) && checked.is_some_and(|at| !comes(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the number between bars was measured.
    fn is_measured(marked: &str) -> bool {
        let (head, rest) = marked.split_once('|').unwrap_or_default();
        let (value, tail) = rest.split_once('|').unwrap_or_default();
        let text = format!("{head}{value}{tail}");
        let mut tokens = Vec::new();
        crate::token::read(&text, 0, text.len(), &mut tokens);
        let at = tokens.partition_point(|token| token.start < head.len());
        is_one(&tokens[..at], &tokens[at..=at], &tokens[at + 1..])
    }

    #[test]
    fn vital_signs_and_values_of_laboratories_are_no_ages() {
        for measured in [
            "Her heart rate was |95| and her pressure was 110.",
            "ALT was 99 and AST was |101|.",
            "The sat is |92| on room air.",
            "Weight was |95| this morning",
            "Peak flow was |95| today",
            "CGM was |92| at bedtime",
            "her oxygen was |91| last night",
            "his number was |110| at CVS",
            "sats 93, 95 and |91|",
            "pulse down to |92|",
            "she was |91| when I checked her sugar",
            "She was |95| on room air",
            "was |91| on 3 L",
            "adults aged |90| and older",
        ] {
            assert!(is_measured(measured), "{measured}");
        }
        for age in [
            "She is |95| and lives alone",
            "She was |95| when I met her",
            "He was |93| when he checked himself out",
            "She was |93| when she checked in",
            "She was |95| on Tuesday",
            "Her pulse was good. Was |95| in May",
            "her mother, who was |93|, has a pressure of 110",
            "pulse 88, age |93|",
            "pressure 110 |93| year old",
            "weight stable, she is |93|",
        ] {
            assert!(!is_measured(age), "{age}");
        }
    }
}
