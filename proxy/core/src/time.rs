//! Points in time as the gateway stores and shows them: UTC milliseconds.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{DateTime, datetime};
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

/// Milliseconds since the Unix epoch, UTC. Never read from a clock here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

pub const MS_PER_SECOND: i64 = 1_000;
/// Milliseconds of an hour.
pub const MS_PER_HOUR: i64 = 3_600_000;
/// Milliseconds in a UTC day, which has no leap seconds here.
pub const MS_PER_DAY: i64 = 86_400_000;
/// Digits of a fraction of a second that say milliseconds.
const MS_DIGITS: usize = 3;
const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

impl Timestamp {
    /// Whole seconds since the Unix epoch, rounded down.
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(MS_PER_SECOND)
    }

    /// So many milliseconds later, or earlier where they are negative; saturates.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// The same day and time of the calendar so many years later, UTC; 28 February where that year has no 29.
    #[must_use]
    pub fn plus_years(self, years: i16) -> Self {
        let later = self
            .civil()
            .map(|at| at.saturating_add(jiff::Span::new().years(years)));
        later.map_or(self, Self::of_civil)
    }

    /// First instant of the UTC day, and of the day after it.
    pub const fn day(self) -> (Self, Self) {
        let start = self.0 - self.0.rem_euclid(MS_PER_DAY);
        (Self(start), Self(start + MS_PER_DAY))
    }

    /// The billing cycle around this instant: from the `anchor_day` of a month (1 to 28, UTC) to the same
    /// day of the next.
    pub fn cycle(self, anchor_day: i8) -> (Self, Self) {
        let date = self.zoned().date();
        let anchor = anchor_day.clamp(1, 28);
        let month_start = date.first_of_month();
        let shift = |months: i64| {
            let first = month_start.saturating_add(jiff::Span::new().months(months));
            let start = jiff::civil::date(first.year(), first.month(), anchor);
            start
                .to_zoned(TimeZone::UTC)
                .map_or(self, |zoned| Self(zoned.timestamp().as_millisecond()))
        };
        if date.day() >= anchor {
            (shift(0), shift(1))
        } else {
            (shift(-1), shift(0))
        }
    }

    /// Reads RFC 3339 with any offset, from the beginning of the year 0 to the end of the year 9999 (UTC), which is all
    /// that RFC 3339 can say in UTC again: what has no end often ends then, which is past jiff's last instant.
    pub fn parse(text: &str) -> Option<Self> {
        if !is_rfc_3339(text.as_bytes()) {
            return None;
        }
        let pieces = Pieces::parse(text).ok()?;
        let local = pieces.date().to_datetime(pieces.time()?);
        let ahead = i64::from(pieces.to_numeric_offset()?.seconds()) * MS_PER_SECOND;
        let at = Self(Self::of_civil(local).0.checked_sub(ahead)?);
        at.civil().filter(|at| at.year() >= 0).map(|_| at)
    }

    /// As [`Self::parse`], for an end of a span of what happened at whole milliseconds: what is told more finely ends
    /// between two of them, and everything from the later one on is behind it.
    pub fn parse_end(text: &str) -> Option<Self> {
        let at = Self::parse(text)?;
        let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
        let digits = fraction.bytes().take_while(u8::is_ascii_digit);
        let is_finer = digits.skip(MS_DIGITS).any(|digit| digit != b'0');
        let end = if is_finer { at.plus_ms(1) } else { at };
        // Behind the last day of the calendar there is none.
        Some(if end.civil().is_some() { end } else { at })
    }

    /// IMF-fixdate of RFC 9110, for HTTP headers.
    pub fn http_date(self) -> String {
        self.zoned()
            .strftime("%a, %d %b %Y %H:%M:%S GMT")
            .to_string()
    }

    /// Reads what [`Self::http_date`] writes.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let at = jiff::fmt::rfc2822::DateTimeParser::new()
            .parse_timestamp(text)
            .ok()?;
        Some(Self(at.as_millisecond()))
    }

    /// RFC 3339 with a numeric offset, as webhook bodies have it (contract 1.2).
    pub fn with_offset(self) -> String {
        let text = self.to_string();
        format!("{}+00:00", text.trim_end_matches('Z'))
    }

    /// The day and time of UTC; nothing outside of the years -9999 to 9999.
    fn civil(self) -> Option<DateTime> {
        EPOCH.checked_add(SignedDuration::from_millis(self.0)).ok()
    }

    fn of_civil(at: DateTime) -> Self {
        let ms = at.duration_since(EPOCH).as_millis();
        Self(i64::try_from(ms).unwrap_or(i64::MAX))
    }

    fn zoned(self) -> jiff::Zoned {
        self.instant().to_zoned(TimeZone::UTC)
    }

    fn instant(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

/// RFC 3339, UTC, milliseconds, `Z` (contract 1.2).
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}Z", self.civil().unwrap_or(EPOCH))
    }
}

/// The grammar of RFC 3339, section 5.6: the parser takes more for granted, and other signs.
fn is_rfc_3339(text: &[u8]) -> bool {
    let Some((instant, rest)) = text.split_at_checked(b"2026-11-20T20:09:00".len()) else {
        return false;
    };
    let has_signs = [
        (4, b"--"),
        (7, b"--"),
        (10, b"Tt"),
        (13, b"::"),
        (16, b"::"),
    ]
    .into_iter()
    .all(|(at, signs)| instant.get(at).is_some_and(|sign| signs.contains(sign)));
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let offset = match rest.strip_prefix(b".") {
        Some(fraction) => match fraction.split_at(digits(fraction)) {
            ([], _) => return false,
            (_, offset) => offset,
        },
        None => rest,
    };
    // Nothing here counts leap seconds: the parser would make the second before it of one.
    let is_leap_second = instant.get(17) == Some(&b'6');
    has_signs
        && !is_leap_second
        && match offset {
            b"Z" | b"z" => true,
            [b'+' | b'-', hour @ .., b':', minute, _] if hour.len() == 2 => {
                digits(hour) == 2 && hour <= &b"23"[..] && (b'0'..=b'5').contains(minute)
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_are_written_and_read() {
        let at = Timestamp(1_445_412_480_000);
        assert_eq!(at.http_date(), "Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(Timestamp::parse_http_date(&at.http_date()), Some(at));
        for text in ["", "7", "Wed, 21 Oct 2015", "soon"] {
            assert_eq!(Timestamp::parse_http_date(text), None);
        }
    }

    #[test]
    fn shows_milliseconds_and_z() {
        assert_eq!(
            Timestamp(1_795_205_340_123).to_string(),
            "2026-11-20T20:09:00.123Z"
        );
        assert_eq!(
            Timestamp(1_795_205_340_123).with_offset(),
            "2026-11-20T20:09:00.123+00:00"
        );
        assert_eq!(
            Timestamp::parse("2026-11-20T21:09:00.123+01:00"),
            Some(Timestamp(1_795_205_340_123))
        );
    }

    #[test]
    fn an_end_between_two_milliseconds_is_behind_the_first() {
        let whole = Timestamp(1_795_853_028_594);
        assert_eq!(whole.to_string(), "2026-11-28T08:03:48.594Z");
        for (fraction, after_ms) in [
            ("594", 0),
            ("594000", 0),
            ("594900", 1),
            ("594000001", 1),
            ("593999", 0),
        ] {
            for zone in ["Z", "+00:00"] {
                let text = format!("2026-11-28T08:03:48.{fraction}{zone}");
                let end = Timestamp::parse_end(&text);
                assert_eq!(end, Some(whole.plus_ms(after_ms)), "{text}");
            }
        }
        let last = Timestamp::parse("9999-12-31T23:59:59.999Z");
        let end = Timestamp::parse_end("9999-12-31T23:59:59.9999999Z");
        assert_eq!(end, last);
        let end = Timestamp::parse_end("2026-11-28T08:03:48Z");
        assert_eq!(end, Some(whole.plus_ms(-594)));
    }

    #[test]
    fn the_last_moments_of_the_calendar_are_times() {
        for (text, shown) in [
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"),
            ("9999-12-31T23:59:59.999-00:00", "9999-12-31T23:59:59.999Z"),
            ("9999-12-31T23:00:00+05:00", "9999-12-31T18:00:00.000Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("0000-01-01T00:00:00-05:00", "0000-01-01T05:00:00.000Z"),
            ("0000-01-01T05:00:00+05:00", "0000-01-01T00:00:00.000Z"),
        ] {
            let read = Timestamp::parse(text).map(|at| at.to_string());
            assert_eq!(read.as_deref(), Some(shown), "{text}");
        }
        for text in [
            "9999-12-31T23:59:59-05:00",
            "0000-01-01T00:00:00+23:59",
            "0000-01-01T04:59:59.999+05:00",
            "2026-11-20T20:09:00",
            "2026-11-20",
            "2026-02-30T00:00:00Z",
            // What parsers of RFC 3339 take that is not in it.
            "2026-11-20T20Z",
            "2026-11-20T20:09Z",
            "2026-11-20 20:09:00Z",
            "2026-11-20T200900Z",
            "2026-11-20T20:09:00,5Z",
            "2026-11-20T20:09:00.Z",
            "2026-11-20T20:09:00+02",
            "2026-11-20T20:09:00+0200",
            "2026-11-20T20:09:00+25:00",
            "2026-11-20T20:09:00+02:60",
            "2026-11-20T20:09:00+02:00:30",
            "2026-11-20T20:09:00Zulu",
            // Leap seconds.
            "2027-01-01T00:00:60Z",
            "2016-12-31T23:59:60Z",
            "2016-12-31T23:59:60.5+00:00",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn years_are_those_of_the_calendar() {
        for (from, to) in [
            ("2026-11-25T18:12:06.123Z", "2028-11-25T18:12:06.123Z"),
            ("2027-03-01T00:00:00Z", "2029-03-01T00:00:00.000Z"),
            ("2028-02-29T23:59:59Z", "2030-02-28T23:59:59.000Z"),
            ("9998-11-20T20:09:00Z", "9999-12-31T23:59:59.999Z"),
        ] {
            let later = Timestamp::parse(from).map(|at| at.plus_years(2).to_string());
            assert_eq!(later.as_deref(), Some(to), "{from}");
        }
    }

    #[test]
    fn cycles_start_on_the_anchor_day() {
        let at = Timestamp(1_795_205_340_123);
        let (start, end) = at.cycle(1);
        assert_eq!(
            (start.to_string(), end.to_string()),
            (
                "2026-11-01T00:00:00.000Z".into(),
                "2026-12-01T00:00:00.000Z".into()
            )
        );
        let (start, end) = at.cycle(25);
        assert_eq!(
            (start.to_string(), end.to_string()),
            (
                "2026-10-25T00:00:00.000Z".into(),
                "2026-11-25T00:00:00.000Z".into()
            )
        );
    }
}
