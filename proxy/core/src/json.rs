//! Request bodies as JSON, read strictly and once.
//!
//! Refused: anything but one JSON object, duplicate keys, more than 64 levels, more values than fit in memory for many
//! bodies at once, NUL characters, lone surrogates (serde_json refuses those itself) and text behind the object
//! (contract 1.2).

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::fault::{Fault, invalid};

/// Levels of arrays and objects, the outermost counted (contract 1.2).
pub const MAX_DEPTH: usize = 64;

/// Levels that serde_json reads: those of a text with none around it.
pub(crate) const MAX_PARSED_DEPTH: usize = 127;

/// Values in one body, arrays and objects counted with what they hold, and once more in all texts of it that are JSON
/// themselves. A value takes many times the memory of its text: 32 MiB of `0,` would be more than a gigabyte.
pub const MAX_VALUES: usize = 1_000_000;

/// Reads a request body as one JSON object.
///
/// # Errors
/// 422 `VALIDATION_FAILED` on `$body`; the message says where (line and column), never what stood there.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, Fault> {
    object_in(value(bytes, MAX_VALUES)?)
}

/// As [`object`], with as many values as its bytes hold: for whoever bounds how many bodies are read at once.
///
/// # Errors
/// As [`object`].
pub fn large_object(bytes: &[u8]) -> Result<Map<String, Value>, Fault> {
    object_in(value(bytes, usize::MAX)?)
}

fn object_in(value: Value) -> Result<Map<String, Value>, Fault> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(invalid("$body", "must be a JSON object")),
    }
}

/// As [`object`], where one JSON array is wanted.
///
/// # Errors
/// As [`object`].
pub fn array(bytes: &[u8]) -> Result<Vec<Value>, Fault> {
    match value(bytes, MAX_VALUES)? {
        Value::Array(items) => Ok(items),
        _ => Err(invalid("$body", "must be a JSON array")),
    }
}

fn value(bytes: &[u8], max_values: usize) -> Result<Value, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("$body", "is not valid UTF-8"))?;
    strict(text, max_values).map_err(|problem| invalid("$body", problem))
}

/// A text that is JSON as a body is, read as strictly.
///
/// # Errors
/// What is wrong and where (line and column), never what stood there.
pub fn of_person(text: &str) -> Result<Value, String> {
    strict(text, MAX_VALUES)
}

fn strict(text: &str, max_values: usize) -> Result<Value, String> {
    read(text, Manners::Strict, MAX_DEPTH, &Cell::new(max_values)).map_err(|error| describe(&error))
}

/// What a model wrote: duplicate keys, of which the last one stands, and NUL characters are no reason to lose it.
/// Nothing where it is no JSON, or has more than `max_depth` levels or `values_left`; from these goes what it has.
pub(crate) fn of_model(text: &str, max_depth: usize, values_left: &mut usize) -> Option<Value> {
    let left = Cell::new(*values_left);
    let value = read(text, Manners::Lenient, max_depth, &left).ok()?;
    *values_left = left.get();
    Some(value)
}

fn read(
    text: &str,
    manners: Manners,
    max_depth: usize,
    values_left: &Cell<usize>,
) -> serde_json::Result<Value> {
    let mut json = serde_json::Deserializer::from_str(text);
    let reader = Reader {
        manners,
        levels_left: max_depth,
        values_left,
    };
    let value = reader.deserialize(&mut json)?;
    json.end().map(|()| value)
}

/// Appends a value as compact JSON.
pub fn write(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // What is written here has texts as keys, and writing to memory does not fail.
    serde_json::to_writer(out, value).unwrap_or_default();
}

/// A value as compact JSON.
pub fn bytes(value: &Value) -> Vec<u8> {
    // Most answers fit in.
    let mut out = Vec::with_capacity(1024);
    write(value, &mut out);
    out
}

/// A whole number of at least zero; larger than fits is the largest. A fraction of zero changes nothing: to JSON
/// Schema, as to RFC 8785, `1.0` is `1`.
pub fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
        let digits = format!("{value:.0}");
        // What is left to fail is the size.
        (!digits.starts_with('-')).then(|| digits.parse().unwrap_or(u64::MAX))
    })
}

/// As [`whole`], of either sign; `None` too where it does not fit.
pub fn integer(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
        format!("{value:.0}").parse().ok()
    })
}

/// The number that an object has under this key, digit by digit as it was sent: a [`Number`] has no more of them than a
/// double.
pub fn number_text(object: &[u8], key: &str) -> Option<String> {
    let mut fields: HashMap<String, &RawValue> = serde_json::from_slice(object).ok()?;
    let text = fields.remove(key)?.get();
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    is_number.then(|| text.to_owned())
}

/// The JSON type of a value, for messages.
pub const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Our own rules by name; a syntax error by its place only, since serde_json quotes values.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let rule = [DUPLICATE, TOO_DEEP, TOO_MANY, NUL]
        .into_iter()
        .find(|rule| text.starts_with(rule));
    let rule = rule.unwrap_or("is not valid JSON");
    format!("{rule} (line {}, column {})", error.line(), error.column())
}

const DUPLICATE: &str = "has a duplicate key";
const TOO_DEEP: &str = "is nested more than 64 levels deep";
const TOO_MANY: &str = "holds more than 1,000,000 values";
/// What is wrong with a text that databases do not keep, wherever it stands.
pub const NUL: &str = "holds a NUL character";

/// What is refused of JSON that could be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manners {
    /// Duplicate keys and NUL characters.
    Strict,
    Lenient,
}

/// Reads one value, and what it holds, within what is left of the limits.
#[derive(Clone, Copy)]
struct Reader<'r> {
    manners: Manners,
    levels_left: usize,
    values_left: &'r Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.values_left.get().checked_sub(1);
        self.values_left
            .set(left.ok_or_else(|| de::Error::custom(TOO_MANY))?);
        deserializer.deserialize_any(self)
    }
}

impl Reader<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        let levels_left = self.levels_left.checked_sub(1);
        Ok(Self {
            levels_left: levels_left.ok_or_else(|| E::custom(TOO_DEEP))?,
            ..self
        })
    }

    fn check_text<E: de::Error>(self, text: &str) -> Result<(), E> {
        if self.manners == Manners::Strict && memchr::memchr(0, text.as_bytes()).is_some() {
            Err(E::custom(NUL))
        } else {
            Ok(())
        }
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        self.check_text(value)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        self.check_text(&value)?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(seed)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut fields = Map::new();
        while let Some(Key(key)) = entries.next_key()? {
            self.check_text(&key)?;
            let value = entries.next_value_seed(seed)?;
            if fields.insert(key, value).is_some() && self.manners == Manners::Strict {
                return Err(de::Error::custom(DUPLICATE));
            }
        }
        Ok(Value::Object(fields))
    }
}

struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(body: &[u8]) -> String {
        let Err(fault) = object(body) else {
            return "accepted".into();
        };
        assert_eq!(fault.param.as_deref(), Some("$body"));
        fault.details_value()["$body"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    #[test]
    fn a_number_keeps_the_digits_that_it_was_sent_with() {
        let body = br#"{"a": 9999999999.123457000 , "\u0062":-1E+2,"c":"1","d":{"a":2},"e":null}"#;
        for (key, text) in [
            ("a", Some("9999999999.123457000")),
            ("b", Some("-1E+2")),
            ("c", None),
            ("d", None),
            ("e", None),
            ("f", None),
        ] {
            assert_eq!(number_text(body, key).as_deref(), text, "{key}");
        }
    }

    #[test]
    fn objects_are_read_in_order() {
        let fields = object(br#" {"b":1,"a":[true,null,-2,1.5,"x"]} "#).unwrap_or_default();
        assert_eq!(
            Value::Object(fields).to_string(),
            r#"{"b":1,"a":[true,null,-2,1.5,"x"]}"#
        );
    }

    #[test]
    fn what_is_not_one_clean_object_is_refused() {
        assert!(problem(br#"{"a":1,"a":2}"#).starts_with(DUPLICATE));
        assert!(problem(br#"{"a":{"b":1,"b":2}}"#).starts_with(DUPLICATE));
        assert!(problem(br#"{"a":"x\u0000y"}"#).starts_with(NUL));
        assert_eq!(problem(b"[1]"), "must be a JSON object");
        assert_eq!(problem(b"{\"a\":\"\xff\"}"), "is not valid UTF-8");
        for bad in [
            &b""[..],
            b"{",
            b"{} {}",
            br#"{"a":"\ud800"}"#,
            b"{'a':1}",
            br#"{"a":1e999}"#,
        ] {
            assert!(problem(bad).starts_with("is not valid JSON"), "{bad:?}");
        }
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_zero() {
        let read = |text: &str| whole(&text.parse().unwrap_or_else(|_| Number::from(7)));
        assert_eq!(
            (read("1"), read("1.0"), read("2e1")),
            (Some(1), Some(1), Some(20))
        );
        assert_eq!(
            (read("1.5"), read("-1"), read("-1.0"), read("-1e30")),
            (None, None, None, None)
        );
    }

    #[test]
    fn an_integer_has_a_sign_and_fits() {
        let read = |text: &str| integer(&text.parse().unwrap_or_else(|_| Number::from(7)));
        for (text, number) in [
            ("-7", Some(-7)),
            ("1.0", Some(1)),
            ("-2e1", Some(-20)),
            ("-0.0", Some(0)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808.0", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("1e30", None),
            ("1.5", None),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
    }

    #[test]
    fn a_whole_number_that_does_not_fit_is_the_largest() {
        let read = |text: &str| whole(&text.parse().unwrap_or_else(|_| Number::from(7)));
        for text in ["18446744073709551616", "1e20", "1e30"] {
            assert_eq!(read(text), Some(u64::MAX), "{text}");
        }
    }

    #[test]
    fn problems_never_quote_the_body() {
        assert!(!problem(br#"{"ssn": 123-45-6789}"#).contains("6789"));
    }

    #[test]
    fn a_million_values_pass_and_one_more_does_not() {
        let array = |values: usize| format!(r#"{{"a":[{}0]}}"#, "0,".repeat(values - 1));
        // The object and the array are values too.
        let most = MAX_VALUES - 2;
        assert!(object(array(most).as_bytes()).is_ok());
        assert!(problem(array(most + 1).as_bytes()).starts_with(TOO_MANY));
        let objects = format!(r#"{{"a":[{}0]}}"#, r#"{"b":[]},"#.repeat(MAX_VALUES / 2));
        assert!(problem(objects.as_bytes()).starts_with(TOO_MANY));
        assert!(large_object(array(most + 1).as_bytes()).is_ok());
    }

    #[test]
    fn what_a_model_wrote_shares_its_bound_with_what_it_wrote_before() {
        let mut left = 7;
        assert!(of_model("[0,0,0]", MAX_DEPTH, &mut left).is_some());
        assert_eq!(left, 3);
        // What is not kept takes nothing.
        for text in ["[0,0,0]", "[0,0", "[[0]]"] {
            assert!(of_model(text, 1, &mut left).is_none(), "{text}");
            assert_eq!(left, 3, "{text}");
        }
        assert!(of_model("[0,0]", MAX_DEPTH, &mut left).is_some());
        assert!(of_model("0", MAX_DEPTH, &mut left).is_none());
    }

    #[test]
    fn what_a_model_wrote_is_read_as_serde_json_reads_it() {
        for text in [
            r#"{"b":1,"a":[true,null,-2,1.5,"x"]}"#,
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"a":"x\u0000y"}"#,
            r#"[-0, -0.0, 18446744073709551615, 18446744073709551616, -9223372036854775808, 1e300]"#,
            "\"x\"",
        ] {
            let expected = serde_json::from_str::<Value>(text).ok();
            assert!(expected.is_some(), "{text}");
            let read = of_model(text, MAX_DEPTH, &mut { MAX_VALUES });
            assert_eq!(read, expected, "{text}");
        }
        for text in ["", "{", "{} {}", "1e999", r#"{"a":"\ud800"}"#, "[[[0]]]"] {
            assert_eq!(of_model(text, 2, &mut { MAX_VALUES }), None, "{text}");
        }
        for levels in [MAX_PARSED_DEPTH, MAX_PARSED_DEPTH + 1] {
            let text = "[".repeat(levels) + &"]".repeat(levels);
            let read = of_model(&text, MAX_PARSED_DEPTH, &mut { MAX_VALUES });
            assert_eq!(read.is_some(), levels == MAX_PARSED_DEPTH);
            assert_eq!(read, serde_json::from_str(&text).ok());
        }
    }

    #[test]
    fn sixty_four_levels_pass_and_sixty_five_do_not() {
        let nested =
            |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(object(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(problem(nested(MAX_DEPTH + 1).as_bytes()).starts_with(TOO_DEEP));
    }
}
