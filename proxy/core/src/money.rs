//! Exact money: signed 64-bit integers of millionths. No binary float appears in any sum (contract 1.2).

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde_json::{Number, Value};

/// Millionths in one of whatever is counted.
pub const MICRO: i64 = 1_000_000;

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

    /// Reads a JSON number of at most six decimals. Small ones and large ones have an exponent as JSON, which a plain
    /// decimal has not.
    pub fn of_number(number: &Number) -> Option<Self> {
        let text = number.to_string();
        match number.as_f64() {
            Some(float) if text.contains(['e', 'E']) => Self::parse(&float.to_string()),
            _ => Self::parse(&text),
        }
    }

    /// The JSON number with at most six decimals. A double holds 15 significant digits exactly enough for
    /// every amount below 10⁹ units; larger ones keep their leading digits.
    #[expect(clippy::cast_precision_loss, reason = "display only, never summed")]
    pub fn to_json(self) -> Value {
        if self.0 % MICRO == 0 {
            return Value::from(self.0 / MICRO);
        }
        Number::from_f64(self.0 as f64 / MICRO as f64).map_or(Value::Null, Value::Number)
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
    fn numbers_with_an_exponent_are_numbers() {
        let read = |text: &str| {
            let number: Option<Number> = serde_json::from_str(text).ok();
            number.and_then(|number| Micro::of_number(&number))
        };
        for (text, micro) in [
            ("0.000001", Some(1)),
            ("1e-6", Some(1)),
            ("-0.000002", Some(-2)),
            ("12.5", Some(12_500_000)),
            ("1e3", Some(1_000_000_000)),
            ("0.0000001", None),
            ("0.0000015", None),
            ("1e300", None),
        ] {
            assert_eq!(read(text), micro.map(Micro), "{text}");
        }
    }

    #[test]
    fn json_numbers_keep_every_decimal() {
        assert_eq!(Micro(1_234_567_000).to_json().to_string(), "1234.567");
        assert_eq!(Micro(12_345_678).to_json().to_string(), "12.345678");
        assert_eq!(Micro(3_000_000).to_json().to_string(), "3");
    }
}
