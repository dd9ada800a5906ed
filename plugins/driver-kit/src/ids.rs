//! Tool-call ids. What a provider accepts passes unchanged, so its own ids round-trip without a table. A foreign id
//! gets a name that depends on the id alone (prompt caches stay warm) unless another id of the request has it already.

use std::collections::{BTreeMap, BTreeSet};

use crate::bindings::gateway::provider::types::{Message, PartBody};

/// All tool-call ids of one request.
#[derive(Default)]
pub struct Ids<'a> {
    names: BTreeMap<&'a str, String>,
}

impl<'a> Ids<'a> {
    /// The ids of all calls and results. `rename` gives a foreign id's name; the number counts how many names of the
    /// same id were taken before.
    pub fn of(
        messages: &'a [Message],
        is_native: fn(&str) -> bool,
        rename: fn(&str, u32) -> String,
    ) -> Self {
        let parts = messages.iter().flat_map(|message| &message.content);
        let ids = parts.filter_map(|part| match &part.body {
            PartBody::ToolCall(call) => Some(call.id.as_str()),
            PartBody::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        });
        Self::new(ids, is_native, rename)
    }

    /// As [`Ids::of`], of ids that stand anywhere.
    pub fn new(
        ids: impl Iterator<Item = &'a str>,
        is_native: fn(&str) -> bool,
        rename: fn(&str, u32) -> String,
    ) -> Self {
        let (native, foreign): (BTreeSet<_>, BTreeSet<_>) = ids.partition(|id| is_native(id));
        let mut taken: BTreeSet<String> = native.iter().map(|&id| id.to_owned()).collect();
        let mut names = BTreeMap::new();
        for id in foreign {
            let mut tries = 0;
            let mut name = rename(id, tries);
            while !taken.insert(name.clone()) {
                tries += 1;
                name = rename(id, tries);
            }
            names.insert(id, name);
        }
        Self { names }
    }

    /// The id as the provider sees it.
    pub fn name<'b>(&'b self, id: &'b str) -> &'b str {
        self.names.get(id).map_or(id, String::as_str)
    }
}

/// FNV-1a, 128 bits: a name of fixed length for an id of any.
pub fn hash(id: &str) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    id.bytes().fold(BASIS, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_given_to_nobody_else() {
        let all = ["plain", "odd", "odd0", "strange"];
        let is_native = |id: &str| id == "plain" || id == "odd0";
        let rename = |_: &str, tries: u32| format!("odd{tries}");
        let ids = Ids::new(all.into_iter(), is_native, rename);
        assert_eq!(
            all.map(|id| ids.name(id)),
            ["plain", "odd1", "odd0", "odd2"]
        );
        assert_eq!(ids.name("of nobody"), "of nobody");
    }
}
