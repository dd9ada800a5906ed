//! The leaf that an audit row is in the log's tree: RFC 8785 canonical JSON of the row without `integrity` (contract
//! 14.4). The same for the gateway that seals a row and for whoever verifies it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::merkle::{self, Hash};

/// The member of a shown row that is not part of its leaf.
pub const INTEGRITY: &str = "integrity";

/// The leaf hash of a row, shown or stored. `None` for what is no JSON object, or has no canonical form.
pub fn hash(row: &Value) -> Option<Hash> {
    leaf(Node::from(row))
}

/// As [`hash`], of the text that a row is stored as: its parts are put in order where they stand.
pub fn hash_text(row: &str) -> Option<Hash> {
    leaf(serde_json::from_str(row).ok()?)
}

/// Most rows fit in.
const ENTRY_BYTES: usize = 1024;

/// Integers up to 2^53 are written as they are.
const MAX_EXACT: u64 = 1 << 53;

fn leaf(row: Node<'_>) -> Option<Hash> {
    let Node::Object(mut members) = row else {
        return None;
    };
    members.retain(|(name, _)| name != INTEGRITY);
    let mut entry = Vec::with_capacity(ENTRY_BYTES);
    write(Node::Object(members), &mut entry)?;
    Some(merkle::leaf(&entry))
}

/// A value whose parts need no copies to be put in order.
enum Node<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    Array(Vec<Self>),
    Object(Vec<(Cow<'a, str>, Self)>),
}

/// The canonical form. What is delicate in it, numbers with a fraction, is the library's; a test holds the rest against
/// it.
fn write(value: Node<'_>, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Node::Null => out.extend_from_slice(b"null"),
        Node::Bool(true) => out.extend_from_slice(b"true"),
        Node::Bool(false) => out.extend_from_slice(b"false"),
        Node::Number(number) if number.as_u64().is_some_and(|whole| whole <= MAX_EXACT) => {
            serde_json::to_writer(out, &number).ok()?;
        }
        Node::Number(number) => out.extend(serde_json_canonicalizer::to_vec(&number).ok()?),
        Node::Text(text) => serde_json::to_writer(out, &*text).ok()?,
        Node::Array(items) => {
            out.push(b'[');
            for (at, item) in items.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
        }
        Node::Object(mut members) => {
            members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            out.push(b'{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                serde_json::to_writer(&mut *out, &*name).ok()?;
                out.push(b':');
                write(value, out)?;
            }
            out.push(b'}');
        }
    }
    Some(())
}

impl<'a> From<&'a Value> for Node<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(word) => Self::Bool(*word),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(Cow::Borrowed(text)),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, value)| (Cow::Borrowed(name.as_str()), Self::from(value)));
                Self::Object(members.collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, word: bool) -> Result<Self::Value, E> {
        Ok(Node::Bool(word))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).map_or(Node::Null, Node::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Node::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Node::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element()? {
            read.push(item);
        }
        Ok(Node::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut read: Vec<(Cow<'de, str>, Node<'de>)> = Vec::with_capacity(MEMBERS);
        while let Some(Name(name)) = members.next_key()? {
            let value = members.next_value()?;
            // Of a member that is there twice the last one counts, as everywhere else.
            match read.iter_mut().find(|(known, _)| *known == name) {
                Some((_, before)) => *before = value,
                None => read.push((name, value)),
            }
        }
        Ok(Node::Object(read))
    }
}

/// Most objects of a row have no more.
const MEMBERS: usize = 14;

struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameReader;
        impl<'de> Visitor<'de> for NameReader {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameReader)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-5_i64..5).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\\x00-\\x20\"/\\\\\\x7f\u{e9}\u{2028}\u{fffd}\u{1f600}]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let name = prop_oneof!["[a-c_A-B]{0,3}", "[\u{e9}\u{ffee}\u{1f600}a]{0,2}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((name, inner), 0..6)
                    .prop_map(|members| Value::from(Map::from_iter(members))),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_form_is_that_of_the_library(value in any_value()) {
            let expected = serde_json_canonicalizer::to_vec(&value).ok();
            let text = value.to_string();
            for node in [Node::from(&value), serde_json::from_str(&text).unwrap()] {
                let mut ours = Vec::new();
                let written = write(node, &mut ours).map(|()| ours);
                prop_assert_eq!(&written, &expected);
            }
        }
    }

    #[test]
    fn order_of_members_and_integrity_do_not_matter_and_everything_else_does() {
        let stored = json!({"id": "aud_1", "details": {"credits": 0.052, "b": 1}});
        let shown = json!({"integrity": {"leaf_index": 1}, "details": {"b": 1, "credits": 0.052}, "id": "aud_1"});
        let leaf = hash(&stored).unwrap();
        assert_eq!(hash(&shown), Some(leaf));
        assert_eq!(hash_text(&stored.to_string()), Some(leaf));
        assert_eq!(hash_text(&shown.to_string()), Some(leaf));
        assert_eq!(hash_text("{\"id\": \"aud_1\""), None);
        assert_eq!(
            leaf,
            merkle::leaf(br#"{"details":{"b":1,"credits":0.052},"id":"aud_1"}"#)
        );
        let changed = json!({"id": "aud_1", "details": {"credits": 0.053, "b": 1}});
        assert_ne!(hash(&changed), Some(leaf));
        assert_eq!(hash(&json!("row")), None);
    }
}
