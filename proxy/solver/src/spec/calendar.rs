//! Days, weeks and weekends of a spec. Weeks are ISO weeks, from Monday; weekends are Saturday and Sunday.

use jiff::civil::Date;

use super::Slot;

/// Days from the first slot's to the last slot's, counted from 0.
#[derive(Clone, Copy)]
pub(crate) struct Calendar {
    first: Date,
    pub(crate) days: usize,
}

/// What a rule counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Horizon,
    Week,
    Weekend,
}

impl Period {
    /// In the order of [`Period::parse`]'s words.
    pub(crate) const WORDS: [&'static str; 3] = ["horizon", "week", "weekend"];

    pub(crate) const fn of(place: usize) -> Self {
        match place {
            1 => Self::Week,
            2 => Self::Weekend,
            _ => Self::Horizon,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Horizon => "horizon",
            Self::Week => "week",
            Self::Weekend => "weekend",
        }
    }
}

pub(crate) const MINUTES_PER_DAY: i64 = 24 * 60;
const DAYS_PER_WEEK: usize = 7;
/// Saturday, counted from Monday.
const SATURDAY: usize = 5;

impl Calendar {
    pub(crate) const fn new(first: Date, days: usize) -> Self {
        Self { first, days }
    }

    /// The day's place, for dates inside and outside of the horizon.
    pub(crate) fn offset(&self, date: Date) -> i64 {
        days_between(self.first, date)
    }

    /// Days since Monday.
    pub(crate) fn weekday(&self, day: usize) -> usize {
        let first = usize::try_from(self.first.weekday().to_monday_zero_offset()).unwrap_or(0);
        (first + day) % DAYS_PER_WEEK
    }

    pub(crate) fn is_weekend(&self, day: usize) -> bool {
        self.weekday(day) >= SATURDAY
    }

    /// Weeks since the one of the first day.
    pub(crate) fn week(&self, day: usize) -> usize {
        (self.weekday(0) + day) / DAYS_PER_WEEK
    }

    /// The slots of each period that has any of these; the horizon is one period even without slots.
    pub(crate) fn periods(&self, period: Period, slots: &[usize], all: &[Slot]) -> Vec<Vec<usize>> {
        match period {
            Period::Horizon => vec![slots.to_vec()],
            Period::Week => self.by_week(slots.iter().copied(), all),
            Period::Weekend => self.by_week(
                slots
                    .iter()
                    .copied()
                    .filter(|slot| all.get(*slot).is_some_and(|slot| self.is_weekend(slot.day))),
                all,
            ),
        }
    }

    fn by_week(&self, slots: impl Iterator<Item = usize>, all: &[Slot]) -> Vec<Vec<usize>> {
        let mut weeks: Vec<Vec<usize>> = vec![Vec::new(); self.week(self.days) + 1];
        for slot in slots {
            let week = all.get(slot).map_or(0, |slot| self.week(slot.day));
            if let Some(week) = weeks.get_mut(week) {
                week.push(slot);
            }
        }
        weeks.retain(|week| !week.is_empty());
        weeks
    }
}

/// Strictly `YYYY-MM-DD`, and a day that exists.
pub(crate) fn date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let form = bytes.len() == 10
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if form { text.parse().ok() } else { None }
}

/// Strictly `HH:MM`, as minutes after midnight.
pub(crate) fn minute(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |part: &str| {
        let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<i64>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

pub(crate) fn days_between(from: Date, to: Date) -> i64 {
    // Both dates are between the years 0 and 9999, so the span in days always exists.
    from.until(to).map_or(0, |span| i64::from(span.get_days()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn days_that_do_not_exist_are_refused() {
        assert!(date("2026-02-28").is_some() && date("2028-02-29").is_some());
        for text in [
            "2026-02-30",
            "2026-2-3",
            "20260203",
            "2026-02-03T00",
            "0x26-02-03",
            "",
        ] {
            assert!(date(text).is_none(), "{text}");
        }
    }

    #[test]
    fn minutes_are_strict() {
        assert_eq!(minute("00:00"), Some(0));
        assert_eq!(minute("23:59"), Some(23 * 60 + 59));
        for text in ["24:00", "7:00", "07:60", "07:5", "+7:00", "0700"] {
            assert!(minute(text).is_none(), "{text}");
        }
    }

    #[test]
    fn weeks_begin_on_monday() {
        // 2026-11-04 is a Wednesday.
        let calendar = Calendar::new(date("2026-11-04").unwrap(), 14);
        assert_eq!(calendar.weekday(0), 2);
        assert_eq!(
            [calendar.week(4), calendar.week(5), calendar.week(12)],
            [0, 1, 2]
        );
        let weekend: Vec<usize> = (0..14).filter(|day| calendar.is_weekend(*day)).collect();
        assert_eq!(weekend, [3, 4, 10, 11]);
        assert_eq!(calendar.offset(date("2026-12-04").unwrap()), 30);
        assert_eq!(calendar.offset(date("2026-11-03").unwrap()), -1);
    }
}
