//! The leaf that an audit row is in the log's tree: RFC 8785 canonical JSON of the row without `integrity` (contract
//! 14.4). The same for the gateway that seals a row and for whoever verifies it.

use serde_json::{Map, Value};

use crate::merkle::{self, Hash};

/// The member of a shown row that is not part of its leaf.
pub const INTEGRITY: &str = "integrity";

/// The leaf hash of a row, shown or stored. `None` for what is no JSON object, or has no canonical form.
pub fn hash(row: &Value) -> Option<Hash> {
    let row = row.as_object()?;
    let mut entry = Vec::with_capacity(ENTRY_BYTES);
    write_object(row, |name| name != INTEGRITY, &mut entry)?;
    Some(merkle::leaf(&entry))
}

/// Most rows fit in.
const ENTRY_BYTES: usize = 1024;

/// Integers up to 2^53 are written as they are.
const MAX_EXACT: u64 = 1 << 53;

/// The canonical form of a value whose parts need no copies to be put in order. What is delicate in it, numbers with a
/// fraction, is the library's; a test holds the rest against it.
fn write(value: &Value, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Object(members) => write_object(members, |_| true, out),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
            Some(())
        }
        Value::Number(number) if number.as_u64().is_none_or(|number| number > MAX_EXACT) => {
            out.extend(serde_json_canonicalizer::to_vec(number).ok()?);
            Some(())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            serde_json::to_writer(out, value).ok()
        }
    }
}

fn write_object(
    members: &Map<String, Value>,
    is_shown: impl Fn(&str) -> bool,
    out: &mut Vec<u8>,
) -> Option<()> {
    let members = members.iter().filter(|(name, _)| is_shown(name));
    let mut members: Vec<(&String, &Value)> = members.collect();
    members.sort_unstable_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push(b'{');
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, name).ok()?;
        out.push(b':');
        write(value, out)?;
    }
    out.push(b'}');
    Some(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use serde_json::json;

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
            let mut ours = Vec::new();
            let written = write(&value, &mut ours).map(|()| ours);
            prop_assert_eq!(written, serde_json_canonicalizer::to_vec(&value).ok());
        }
    }

    #[test]
    fn order_of_members_and_integrity_do_not_matter_and_everything_else_does() {
        let stored = json!({"id": "aud_1", "details": {"credits": 0.052, "b": 1}});
        let shown = json!({"integrity": {"leaf_index": 1}, "details": {"b": 1, "credits": 0.052}, "id": "aud_1"});
        let leaf = hash(&stored).unwrap();
        assert_eq!(hash(&shown), Some(leaf));
        assert_eq!(
            leaf,
            merkle::leaf(br#"{"details":{"b":1,"credits":0.052},"id":"aud_1"}"#)
        );
        let changed = json!({"id": "aud_1", "details": {"credits": 0.053, "b": 1}});
        assert_ne!(hash(&changed), Some(leaf));
        assert_eq!(hash(&json!("row")), None);
    }
}
