//! Tool-call ids. What a provider accepts passes unchanged, so its own ids round-trip without a table. A foreign id
//! gets a name that depends on the id alone (prompt caches stay warm) unless another id of the request has it already.

use std::collections::{BTreeMap, BTreeSet};

use crate::bindings::gateway::provider::types::{Message, PartBody};

/// All tool-call ids of one request.
pub struct Ids<'a> {
    names: BTreeMap<&'a str, String>,
    taken: BTreeSet<String>,
    /// How many names of an id were tried: all of them are taken.
    tries: BTreeMap<&'a str, u32>,
    /// Ids whose call has come.
    called: BTreeSet<&'a str>,
    rename: fn(&str, u32) -> String,
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
        let mut ids = Self {
            names: BTreeMap::new(),
            taken: native.iter().map(|&id| id.to_owned()).collect(),
            tries: BTreeMap::new(),
            called: BTreeSet::new(),
            rename,
        };
        for id in foreign {
            ids.name_anew(id);
        }
        ids
    }

    /// The id as the provider sees it.
    pub fn name<'b>(&'b self, id: &'b str) -> &'b str {
        self.names.get(id).map_or(id, String::as_str)
    }

    /// As [`Ids::name`], for the next call in order, where no two calls of a conversation may have one id: one that
    /// was there before gets a name of its own, which is then that of its result.
    pub fn call(&mut self, id: &'a str) -> &str {
        if !self.called.insert(id) {
            self.name_anew(id);
        }
        self.names.get(id).map_or(id, String::as_str)
    }

    fn name_anew(&mut self, id: &'a str) {
        let tries = self.tries.entry(id).or_default();
        loop {
            let name = (self.rename)(id, *tries);
            *tries += 1;
            if self.taken.insert(name.clone()) {
                self.names.insert(id, name);
                return;
            }
        }
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

    #[test]
    fn a_second_call_of_one_id_has_a_name_of_its_own() {
        let all = ["plain", "odd0"];
        let rename = |_: &str, tries: u32| format!("odd{tries}");
        let mut ids = Ids::new(all.into_iter(), |_| true, rename);
        let calls = ["plain", "odd0", "plain", "plain"].map(|id| ids.call(id).to_owned());
        assert_eq!(calls, ["plain", "odd0", "odd1", "odd2"]);
        assert_eq!(ids.name("plain"), "odd2");
    }

    #[test]
    fn a_name_that_was_tried_is_not_made_again() {
        use std::sync::atomic::{AtomicU32, Ordering};

        static MADE: AtomicU32 = AtomicU32::new(0);
        let rename = |_: &str, tries: u32| {
            MADE.fetch_add(1, Ordering::Relaxed);
            format!("odd{tries}")
        };
        let mut ids = Ids::new(["plain"].into_iter(), |_| true, rename);
        for _ in 0..100 {
            ids.call("plain");
        }
        assert_eq!(ids.name("plain"), "odd98");
        assert_eq!(MADE.load(Ordering::Relaxed), 99);
    }
}
