//! Tool-call ids: kind B takes any short printable id, so nearly all pass unchanged; the rest get a name of their
//! own.

use driver_kit::{Ids, hash};

use crate::bindings::gateway::provider::types::Message;

/// Longest id that kind B's endpoints take.
const MAX_ID_BYTES: usize = 40;
const FOREIGN: &str = "call_x";

/// All tool-call ids of a conversation.
pub fn ids(messages: &[Message]) -> Ids<'_> {
    Ids::of(messages, is_native, rename)
}

fn is_native(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The id's hash, or the next one that no other id has.
fn rename(id: &str, tries: u32) -> String {
    format!("{FOREIGN}{:032x}", hash(id).wrapping_add(u128::from(tries)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn short_ids_pass_and_the_others_never_collide() {
        let long = "a".repeat(41);
        let taken = rename(&long, 0);
        let all = ["toolu_1", "call:1", &taken, "", "é", &long];
        let ids = Ids::new(all.iter().copied(), is_native, rename);
        assert_eq!(ids.name("toolu_1"), "toolu_1");
        assert_eq!(ids.name("call:1"), "call:1");
        assert_eq!(ids.name(&taken), taken);
        let names: BTreeSet<&str> = all.iter().map(|id| ids.name(id)).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|name| is_native(name)), "{names:?}");
    }
}
