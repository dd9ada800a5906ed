//! The leaf that an audit row is in the log's tree: RFC 8785 canonical JSON of the row without `integrity` (contract
//! 14.4). The same for the gateway that seals a row and for whoever verifies it.

use serde_json::Value;

use crate::merkle::{self, Hash};

/// The member of a shown row that is not part of its leaf.
pub const INTEGRITY: &str = "integrity";

/// The leaf hash of a row, shown or stored. `None` for what is no JSON object, or has no canonical form.
pub fn hash(row: &Value) -> Option<Hash> {
    let mut row = row.clone();
    row.as_object_mut()?.shift_remove(INTEGRITY);
    let entry = serde_json_canonicalizer::to_vec(&row).ok()?;
    Some(merkle::leaf(&entry))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

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
