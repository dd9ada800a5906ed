//! JSON that passes through a driver as it came, and what a model or an endpoint may spoil in the JSON of an answer.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::bindings::gateway::provider::types::DriverError;
use crate::fault::invalid;

/// The bytes of a parameter as JSON.
///
/// # Errors
/// An invalid request, with the parameter's name, for what is no JSON.
pub fn raw(bytes: &[u8], param: &str) -> Result<Box<RawValue>, DriverError> {
    serde_json::from_slice(bytes).map_err(|_| invalid(param, "bad_json"))
}

/// Parameters that pass as they came, by name; to be flattened into a request.
#[derive(Default)]
pub struct Passed<'a>(Vec<(&'a str, Box<RawValue>)>);

impl<'a> Passed<'a> {
    /// Takes a parameter in. The last one of a name wins: the request's own stands behind the catalogue's.
    ///
    /// # Errors
    /// As [`raw`].
    pub fn put(&mut self, name: &'a str, value: &[u8]) -> Result<(), DriverError> {
        let value = raw(value, name)?;
        self.0.retain(|(earlier, _)| *earlier != name);
        self.0.push((name, value));
        Ok(())
    }
}

impl Serialize for Passed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// JSON in which escapes of half a character (a UTF-16 surrogate without its other half, which models write and which
/// is no text) stand for U+FFFD; none where there is no such escape. For what could not be read as it came.
pub fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended = None;
    let mut at = 0;
    while let Some(rest) = json.get(at..).filter(|rest| !rest.is_empty()) {
        let bytes = match escaped(rest) {
            Some(HIGH) if rest.get(ESCAPE_BYTES..).and_then(escaped) == Some(LOW) => {
                2 * ESCAPE_BYTES
            }
            Some(HIGH | LOW) => {
                let mended: &mut Vec<u8> = mended.get_or_insert_with(|| json.to_vec());
                if let Some(escape) = mended.get_mut(at..at + ESCAPE_BYTES) {
                    escape.copy_from_slice(REPLACEMENT);
                }
                ESCAPE_BYTES
            }
            Some(_) => ESCAPE_BYTES,
            // What is behind a backslash begins no escape of its own.
            None if rest.starts_with(b"\\") => 2,
            None => 1,
        };
        at += bytes;
    }
    mended
}

/// The upper six bits of the UTF-16 unit whose escape stands here.
fn escaped(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some(unit >> 10)
}

/// What the two halves of a pair begin with: D800 to DBFF, and DC00 to DFFF.
const HIGH: u16 = 0xd800 >> 10;
const LOW: u16 = 0xdc00 >> 10;
const REPLACEMENT: &[u8; ESCAPE_BYTES] = b"\\ufffd";
const ESCAPE_BYTES: usize = 6;

/// Text that may be null, which is as good as absent.
///
/// # Errors
/// For what is neither.
pub fn text<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'a, str>, D::Error> {
    /// Borrowed where it can be; behind an `Option`, a plain one is always copied.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    let text = Option::<Text<'a>>::deserialize(deserializer)?;
    Ok(text.map(|Text(text)| text).unwrap_or_default())
}

/// What may be null, which is as good as absent.
///
/// # Errors
/// Those of the value.
pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A count of tokens. Some endpoints write it with a fraction of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(CountVisitor).map(Self)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        if number.fract() == 0.0 && (0.0..LEAST_INEXACT).contains(&number) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number within range"
            )]
            return Ok(number as u64);
        }
        Err(E::custom("not a whole number"))
    }
}

/// 2^53: from here on a double holds no longer every whole number.
const LEAST_INEXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<String> {
        let mended = mended(json.as_bytes())?;
        serde_json::from_slice(&mended).ok()
    }

    #[test]
    fn half_a_character_is_replaced_and_nothing_else() {
        for (json, text) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\uDE00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\u0041\ude00""#, "\u{fffd}A\u{fffd}"),
            (r#""\ud83dA\n\\\ude00""#, "\u{fffd}A\n\\\u{fffd}"),
        ] {
            assert_eq!(read(json).as_deref(), Some(text), "{json}");
        }
        for json in [
            r#""plain""#,
            r#""\ud83d\ude00\u00e9\n""#,
            r#""\\ud83d""#,
            r#""\ud83"#,
            r#""\u+83d""#,
            "\\",
            "",
        ] {
            assert_eq!(mended(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn null_is_as_good_as_absent() {
        #[derive(Deserialize)]
        struct Block<'a> {
            #[serde(borrow, default, deserialize_with = "text")]
            text: Cow<'a, str>,
            #[serde(default, deserialize_with = "or_default")]
            index: u64,
        }
        for json in ["{}", r#"{"text": null, "index": null}"#] {
            let read: Result<Block<'_>, _> = serde_json::from_str(json);
            assert!(read.is_ok_and(|block| block.text.is_empty() && block.index == 0));
        }
        let read: Result<Block<'_>, _> = serde_json::from_str(r#"{"text": "a", "index": 2}"#);
        assert!(
            read.is_ok_and(|block| matches!(block.text, Cow::Borrowed("a")) && block.index == 2)
        );
        assert!(serde_json::from_str::<Block<'_>>(r#"{"text": 1}"#).is_err());
    }

    #[test]
    fn counts_may_have_a_fraction_of_zero() {
        let count = |json: &str| serde_json::from_str::<Count>(json).ok();
        for (json, number) in [("3", 3), ("3.0", 3), ("0.0", 0), ("1e3", 1_000)] {
            assert_eq!(count(json), Some(Count(number)), "{json}");
        }
        for json in ["3.5", "-1", "-1.0", "1e300", "\"3\"", "null"] {
            assert_eq!(count(json), None, "{json}");
        }
    }
}
