//! Whether numbers can be a date. Where words stand beside them, the model has decided.

use phi_lexicon::language::Language;

use crate::list::words;
use crate::token::{Token, shape};

/// Words before numbers that are no date.
const COUNTED: &[u64] = words!(
    "version v release section chapter figure fig table retry page ver build step slide chunk"
);

const WEEKDAYS: &[u64] = words!(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun lunes martes \
     miércoles miercoles jueves viernes sábado sabado domingo lun mié mie jue vie sáb sab dom"
);

/// Numbers behind these are times.
const BEFORE_TIMES: &[u64] = words!("at las");

/// What stands beside a day of the week that has no date.
const BESIDE_WEEKDAYS: &[u64] = words!(
    "at on the this next last until till by before after from to and or in morning noon afternoon evening night el los la \
     a las de este próximo proximo por para hasta mañana tarde noche"
);

/// Years of Iran and of Islam, and of Thailand.
const OTHER_YEARS: [core::ops::Range<u32>; 2] = [1300..1460, 2440..2640];

/// Whether the tokens may be a date finer than a year; `before` is the one before them. Other languages have other
/// calendars, too.
pub fn may_be(text: &str, language: Language, before: Option<&Token>, tokens: &[Token]) -> bool {
    if before.is_some_and(|before| COUNTED.contains(&before.word)) {
        return false;
    }
    if is_weekday_alone(tokens)
        || is_alone_in_json(text, tokens)
        || language == Language::Own && is_of_no_day(tokens)
    {
        return false;
    }
    // `7.4% / 57`
    let inside = tokens.get(1..).unwrap_or_default();
    if inside.iter().any(|token| token.gap.is_share()) {
        return false;
    }
    let mut numbers = [0_u32; 4];
    let mut count = 0;
    for token in tokens {
        let Some(slot) = numbers.get_mut(count) else {
            return false;
        };
        let digits = text.get(token.start..token.end).unwrap_or_default();
        if is_age(digits) {
            return false;
        }
        // A word or a code: `14-Mar`, `12th`.
        if token.shape < shape::YEAR {
            return true;
        }
        let Ok(number) = digits.parse() else {
            return false;
        };
        *slot = number;
        count += 1;
    }
    // `4.1` is a value of a laboratory, `17.05` may be a day.
    if let ([_, second], 2) = (tokens, count)
        && second.end - second.start == 1
        && text.as_bytes().get(second.start - 1) == Some(&b'.')
    {
        return false;
    }
    let is_day = |day: u32| (1..=31).contains(&day);
    let is_month = |month: u32| (1..=12).contains(&month);
    let is_pair = |a: u32, b: u32| is_month(a) && is_day(b) || is_day(a) && is_month(b);
    let is_other = language == Language::Other;
    let is_year = |year: u32| {
        year < 100
            || (1900..2100).contains(&year)
            || is_other && OTHER_YEARS.iter().any(|years| years.contains(&year))
    };
    match (count, numbers) {
        // `20250314`, `250314`; a day alone, as in `from the 6 to the 17 of May`.
        (1, [number, ..]) => match number {
            1..=31 => true,
            10_000..=999_999 => {
                is_pair(number / 100 % 100, number % 100)
                    || is_pair(number / 10_000, number / 100 % 100)
            }
            _ => is_year(number / 10_000) && is_pair(number / 100 % 100, number % 100),
        },
        (2, [a, b, ..]) => {
            is_pair(a, b)
                || is_month(a) && is_year(b) && b > 31
                || is_year(a) && a > 31 && is_month(b)
        }
        (3, [a, b, c, _]) => is_pair(a, b) && is_year(c) || is_year(a) && is_pair(b, c),
        // With hours, or a stretch of days.
        (4, [a, b, c, d]) => {
            is_pair(a, b) && (is_pair(c, d) || is_year(c)) || is_year(a) && is_pair(b, c)
        }
        _ => false,
    }
}

/// `t_{1/2}`: what stands above or below a sign of a formula; `fmt(day).toBe`, what is done with what a call gives.
pub fn is_of_formula(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    before.ends_with("_{") || before.ends_with("^{") || before.ends_with(").")
}

/// `88yoM`: an age and a sex.
fn is_age(word: &str) -> bool {
    let behind = word.trim_start_matches(|sign: char| sign.is_ascii_digit());
    behind.len() < word.len() && behind.starts_with("yo")
}

/// Where a day ends that has its time behind: `2024-03-05` of `2024-03-05T14:22` (ISO 8601).
pub fn without_hour(text: &str, end: usize) -> usize {
    const HOUR: usize = "T14".len();
    let Some(day_end) = end.checked_sub(HOUR) else {
        return end;
    };
    let (day, hour) = (text.get(..day_end), text.get(day_end..end));
    let is_hour = hour
        .and_then(|hour| hour.strip_prefix('T'))
        .is_some_and(|hour| hour.bytes().all(|byte| byte.is_ascii_digit()));
    let ends_in_digit = day.is_some_and(|day| day.ends_with(|sign: char| sign.is_ascii_digit()));
    let has_minutes = text
        .get(end..)
        .is_some_and(|behind| behind.starts_with(':'));
    if is_hour && ends_in_digit && has_minutes {
        day_end
    } else {
        end
    }
}

/// `{"january": 12}`, `["March", "May"]`: a month or a day that is all of a key or a value, where nothing near says
/// whose.
fn is_alone_in_json(text: &str, tokens: &[Token]) -> bool {
    /// What stands before parts of a date that is somebody's, and before names that are months too.
    const TOLD: [&str; 11] = [
        "dob", "birth", "born", "admi", "disch", "date", "names", "patient", "kids", "given",
        "family",
    ];
    /// What a month beside it is of.
    const DAY: &str = "\"day\"";
    const NEAR: usize = 80;
    let [token] = tokens else {
        return false;
    };
    let behind = text.get(token.end..).unwrap_or_default().trim_start();
    let is_alone = token.gap.is_seam()
        && !token.is_long_number()
        && behind.starts_with(['"', '\\', ',', '}', ']']);
    if !is_alone {
        return false;
    }
    let from = text.floor_char_boundary(token.start.saturating_sub(NEAR));
    let head = text.get(from..token.start).unwrap_or_default();
    let head = head.to_ascii_lowercase();
    let to = behind.floor_char_boundary(NEAR.min(behind.len()));
    let behind = behind.get(..to).unwrap_or_default();
    let has_day = head.contains(DAY) || behind.contains(DAY);
    !has_day && !TOLD.iter().any(|told| head.contains(told))
}

const MONTHS: &[u64] = words!(
    "jan feb mar apr may jun jul aug sep sept oct nov dec ene abr ago dic january february march april june july august \
     september october november december enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre \
     noviembre diciembre"
);

/// `S`, `S/p`, `ROS`: letters that stand for words, as they begin a line behind a day.
fn is_of_no_day(tokens: &[Token]) -> bool {
    /// Letters of the longest that is taken for one.
    const LETTERS: usize = 4;
    let is_letter = |token: &Token| token.end - token.start == 1 && token.shape < shape::CODE;
    let is_abbreviation = |token: &Token| {
        token.shape == shape::UPPER
            && token.end - token.start <= LETTERS
            && !MONTHS.contains(&token.word)
    };
    tokens.iter().all(is_letter) || matches!(tokens, [token] if is_abbreviation(token))
}

/// `on thursday at 8:30`, with nothing of a date.
fn is_weekday_alone(tokens: &[Token]) -> bool {
    let is_any = |list: &[u64], token: &Token| list.contains(&token.word);
    let mut is_time = false;
    tokens.iter().any(|token| is_any(WEEKDAYS, token))
        && tokens.iter().all(|token| {
            let is_hour = is_time && token.shape >= shape::NUMBER && !token.is_long_number();
            is_time = is_hour || is_any(BEFORE_TIMES, token);
            is_hour || is_any(WEEKDAYS, token) || is_any(BESIDE_WEEKDAYS, token)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_before_its_time() {
        let text = "2024-03-05T14:22 2024-03-05T14 14T14:22";
        let end = |of: &str| text.find(of).map(|at| at + of.len());
        let day = end("2024-03-05");
        assert_eq!(end("2024-03-05T14").map(|end| without_hour(text, end)), day);
        let whole = end(" 2024-03-05T14");
        assert_eq!(whole.map(|end| without_hour(text, end)), whole);
        assert_eq!(without_hour("T14:", 2), 2);
    }

    fn tokens(text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        crate::token::read(text, 0, text.len(), &mut tokens);
        tokens
    }

    fn is_date(text: &str) -> bool {
        may_be(text, Language::Own, None, &tokens(text))
    }

    #[test]
    fn what_stands_below_a_sign_is_no_day() {
        let is = |text: &str| text.find("1/2").is_some_and(|at| is_of_formula(text, at));
        assert!(is("$t_{1/2}$") && is("x^{1/2}") && is("f(x).1/2"));
        assert!(!is("on 1/2") && !is("{1/2}") && !is("(Tue) 1/2"));
    }

    #[test]
    fn a_month_that_is_all_of_a_value_is_nobodys() {
        let text = r#"{"march": 12, "seen": ["20250314", "May 2", "June"], "s": "{\"july\": 3}"}"#;
        let tokens = tokens(text);
        let may_be =
            |at: usize, end: usize| super::may_be(text, Language::Own, None, &tokens[at..end]);
        for (at, end, expected) in [
            (0, 1, false),
            (1, 2, false),
            (3, 4, true),
            (4, 6, true),
            (6, 7, false),
            (8, 9, false),
            (9, 10, false),
        ] {
            assert_eq!(may_be(at, end), expected, "{at}");
        }
        assert!(is_date("May") && is_date("12"));
        for told in [
            r#"{"dob": {"m": "March"}}"#,
            r#"{"birth_month": "March"}"#,
            r#"{"month": "March", "day": 14}"#,
            r#"{"names": ["Ann", "March"]}"#,
        ] {
            let tokens = super::tests::tokens(told);
            let mut places = tokens.iter();
            let at = places.position(|token| &told[token.start..token.end] == "March");
            let at = at.unwrap_or_default();
            assert!(
                super::may_be(told, Language::Own, None, &tokens[at..=at]),
                "{told}"
            );
        }
    }

    #[test]
    fn numbers_are_dates_where_a_calendar_has_them() {
        for date in [
            "3/14",
            "14/3",
            "03/14/2024",
            "2024-03-14",
            "20250314",
            "250611",
            "9/95",
            "2023-09",
            "6",
            "3/1 - 3/8",
            "17.05",
            "march 3",
            "the tenth of june",
            "14-Mar-24",
            "the 17th",
            "Tuesday the 3rd",
            "martes 4 de mayo",
            "sat mar 9",
            "Thursday at 8 on 3/14",
            "MAR",
            "EASTER",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "7.28/52/38/24",
            "2023",
            "120/80",
            "36/44",
            "400-600",
            "44054006",
            "4.1",
            "0",
            "1/2/3/4/5",
            "Thursday at",
            "Thursday at 8:30",
            "jueves a las 9",
            "on Tues",
            "el martes por la tarde",
            "S",
            "S/p",
            "ROS",
            "88yoM fall",
            "2024, 0, 15",
        ] {
            assert!(!is_date(other), "{other}");
        }
        for date in ["1402/10/22", "1367-03-15", "15/3/2567"] {
            let read = tokens(date);
            assert!(may_be(date, Language::Other, None, &read), "{date}");
            assert!(!may_be(date, Language::Own, None, &read), "{date}");
        }
        let mut tokens = Vec::new();
        let text = "version 10.4";
        crate::token::read(text, 0, text.len(), &mut tokens);
        assert!(!may_be(text, Language::Own, tokens.first(), &tokens[1..]));
    }
}
