//! Tool-call ids: kind B takes any short printable id, so nearly all pass unchanged and round-trip without a
//! table; the rest get a name that depends on the id alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Longest id that kind B's endpoints take.
const MAX_ID_BYTES: usize = 40;
const FOREIGN: &str = "call_x";

/// All tool-call ids of one request.
#[derive(Default)]
pub struct Ids<'a> {
    names: BTreeMap<&'a str, String>,
}

impl<'a> Ids<'a> {
    pub fn new(ids: impl Iterator<Item = &'a str>) -> Self {
        let (native, foreign): (BTreeSet<_>, BTreeSet<_>) = ids.partition(|id| is_native(id));
        let mut taken: BTreeSet<String> = native.iter().map(|&id| id.to_owned()).collect();
        let mut names = BTreeMap::new();
        for id in foreign {
            let mut hash = hash(id);
            let mut name = named(hash);
            while !taken.insert(name.clone()) {
                hash = hash.wrapping_add(1);
                name = named(hash);
            }
            names.insert(id, name);
        }
        Self { names }
    }

    /// The id as kind B sees it.
    pub fn name<'b>(&'b self, id: &'b str) -> &'b str {
        self.names.get(id).map_or(id, String::as_str)
    }
}

fn is_native(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

fn named(hash: u128) -> String {
    let mut name = FOREIGN.to_owned();
    let _ = write!(name, "{hash:032x}");
    name
}

/// FNV-1a, 128 bits.
fn hash(id: &str) -> u128 {
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
    fn short_ids_pass_and_the_others_never_collide() {
        let long = "a".repeat(41);
        let taken = named(hash(&long));
        let all = ["toolu_1", "call:1", &taken, "", "é", &long];
        let ids = Ids::new(all.iter().copied());
        assert_eq!(ids.name("toolu_1"), "toolu_1");
        assert_eq!(ids.name("call:1"), "call:1");
        assert_eq!(ids.name(&taken), taken);
        let names: BTreeSet<&str> = all.iter().map(|id| ids.name(id)).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|name| is_native(name)), "{names:?}");
    }
}
