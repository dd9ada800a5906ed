//! Exact money: signed 64-bit integers of millionths. No binary float appears in any sum (contract 1.2).

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde_json::{Number, Value};

/// Millionths in one of whatever is counted.
pub const MICRO: i64 = 1_000_000;

/// Digits of [`MICRO`] behind the point.
const DECIMALS: i64 = 6;

/// Millionths of a credit, a dollar, or whatever the field's name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micro(pub i64);

impl Micro {
    pub const ZERO: Self = Self(0);

    /// Reads a plain decimal with at most six digits after the point.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(fraction) || fraction.len() > 6 {
            return None;
        }
        let whole: i64 = whole.parse().ok()?;
        let fraction: i64 = format!("{fraction:0<6}").parse().ok()?;
        whole
            .checked_mul(MICRO)?
            .checked_add(fraction)?
            .checked_mul(sign)
            .map(Self)
    }

    /// Reads a JSON number by its text: one of at most six decimals, zeros at their end not counted, with or without an
    /// exponent.
    pub fn parse_number(text: &str) -> Option<Self> {
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let (sign, whole) = match whole.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, whole),
        };
        let digits = [whole, fraction].concat();
        let significant = digits.trim_end_matches('0');
        let zeros = digits.len() - significant.len();
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self::ZERO);
        }
        // By how many places the digits are to be moved to be millionths.
        let places = exponent
            .parse::<i64>()
            .ok()?
            .checked_add(i64::try_from(zeros).ok()?)?
            .checked_sub(i64::try_from(fraction.len()).ok()?)?
            .checked_add(DECIMALS)?;
        let factor = 10_i64.checked_pow(u32::try_from(places).ok()?)?;
        let digits: i64 = significant.parse().ok()?;
        digits.checked_mul(factor)?.checked_mul(sign).map(Self)
    }

    /// The JSON number with at most six decimals. It is a double, which tells apart all amounts below 2³³ units;
    /// of larger ones with decimals see [`Self::is_exact_in_json`].
    pub fn to_json(self) -> Value {
        if self.0 % MICRO == 0 {
            return Value::from(self.0 / MICRO);
        }
        let nearest = self.to_string().parse().ok();
        let number = nearest.and_then(Number::from_f64);
        number.map_or(Value::Null, Value::Number)
    }

    /// Whether [`Self::to_json`] says this very amount.
    pub fn is_exact_in_json(self) -> bool {
        Self::parse_number(&self.to_json().to_string()) == Some(self)
    }
}

impl Add for Micro {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Micro {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Micro {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// A plain decimal without trailing zeros.
impl fmt::Display for Micro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, value) = if self.0 < 0 {
            ("-", self.0.unsigned_abs())
        } else {
            ("", self.0.unsigned_abs())
        };
        let (whole, fraction) = (value / MICRO.unsigned_abs(), value % MICRO.unsigned_abs());
        if fraction == 0 {
            return write!(f, "{sign}{whole}");
        }
        let fraction = format!("{fraction:06}");
        write!(f, "{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows_decimals() {
        for (text, micro) in [
            ("0", 0),
            ("1.7", 1_700_000),
            ("0.000001", 1),
            ("-2.5", -2_500_000),
            ("20000", 20_000_000_000),
        ] {
            assert_eq!(Micro::parse(text), Some(Micro(micro)), "{text}");
            assert_eq!(Micro(micro).to_string(), text);
        }
        for bad in ["", ".5", "1.0000001", "1e3", "--1", "9223372036854775807"] {
            assert_eq!(Micro::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn json_numbers_are_read_digit_by_digit() {
        for (text, micro) in [
            ("0", Some(0)),
            ("-0.0", Some(0)),
            ("0e99999999999999999999", Some(0)),
            ("7", Some(7_000_000)),
            ("1.500000000", Some(1_500_000)),
            ("1.5E+2", Some(150_000_000)),
            ("1200e-2", Some(12_000_000)),
            ("9999999999.123457", Some(9_999_999_999_123_457)),
            ("9223372036854.775807", Some(i64::MAX)),
            ("9223372036854.775808", None),
            ("1.00000000000000000001", None),
            ("1e99999999999999999999", None),
            ("0.000001", Some(1)),
            ("1e-6", Some(1)),
            ("-0.000002", Some(-2)),
            ("12.5", Some(12_500_000)),
            ("1e3", Some(1_000_000_000)),
            ("0.0000001", None),
            ("0.0000015", None),
            ("1e300", None),
        ] {
            assert_eq!(Micro::parse_number(text), micro.map(Micro), "{text}");
        }
    }

    #[test]
    fn json_numbers_keep_every_decimal() {
        assert_eq!(Micro(1_234_567_000).to_json().to_string(), "1234.567");
        assert_eq!(Micro(12_345_678).to_json().to_string(), "12.345678");
        assert_eq!(Micro(3_000_000).to_json().to_string(), "3");
        // The last ones below 2³³, where a double has a place for each millionth.
        for micro in 8_589_934_591_999_000..8_589_934_592_000_000 {
            assert_eq!(Micro(micro).to_json().to_string(), Micro(micro).to_string());
        }
    }

    #[test]
    fn amounts_that_a_double_does_not_tell_apart_are_known() {
        for (micro, exact) in [
            (8_589_934_591_999_999, true),
            (9_000_000_000_500_000, true),
            (9_999_999_999_123_457, true),
            (9_999_999_999_123_458, false),
            (9_223_372_036_854_775_000, true),
            (i64::MAX, false),
            (i64::MAX / MICRO * MICRO, true),
        ] {
            assert_eq!(Micro(micro).is_exact_in_json(), exact, "{micro}");
        }
    }
}
