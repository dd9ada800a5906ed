//! Tool-call ids: kind A accepts `[a-zA-Z0-9_-]` only, so foreign ids get a name of their own, one to one.

use std::fmt::Write as _;

use driver_kit::{Ids, hash};

use crate::bindings::gateway::provider::types::Message;

/// Longest id that passes unchanged.
const MAX_ID_BYTES: usize = 64;
const FOREIGN: &str = "x_";

/// All tool-call ids of a conversation.
pub fn ids(messages: &[Message]) -> Ids<'_> {
    Ids::of(messages, is_native, rename)
}

fn is_native(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Hex of a short id, a 128-bit hash of a long one; numbered where another id has that name.
fn rename(id: &str, tries: u32) -> String {
    /// Two characters per byte, and room for the prefix and a number.
    const HEX_BYTES: usize = 28;
    let mut name = FOREIGN.to_owned();
    if id.len() <= HEX_BYTES {
        for byte in id.bytes() {
            let _ = write!(name, "{byte:02x}");
        }
    } else {
        let _ = write!(name, "h{:032x}", hash(id));
    }
    if tries > 0 {
        let _ = write!(name, "_{}", tries + 1);
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn native_ids_pass_and_foreign_ones_never_collide() {
        let long = "é".repeat(100);
        let all = ["toolu_1", "call.1", "call:1", "x_63616c6c2e31", "", &long];
        let ids = Ids::new(all.iter().copied(), is_native, rename);
        assert_eq!(ids.name("toolu_1"), "toolu_1");
        assert_eq!(ids.name("x_63616c6c2e31"), "x_63616c6c2e31");
        assert_eq!(ids.name("call.1"), "x_63616c6c2e31_2");
        let names: BTreeSet<&str> = all.iter().map(|id| ids.name(id)).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|name| is_native(name)), "{names:?}");
    }
}
