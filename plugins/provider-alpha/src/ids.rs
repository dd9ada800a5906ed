//! Tool-call ids: kind A accepts `[a-zA-Z0-9_-]` only, so foreign ids get a name of their own, one to one.
//!
//! An id that kind A accepts passes unchanged, so its own ids round-trip without a table. The name of a foreign
//! id depends on the id alone (prompt caches stay warm) unless another id of the request has it already.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Longest id that passes unchanged.
const MAX_ID_BYTES: usize = 64;
const FOREIGN: &str = "x_";

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
            let stem = stem(id);
            let mut name = stem.clone();
            let mut next = 2_u32;
            while !taken.insert(name.clone()) {
                name = format!("{stem}_{next}");
                next += 1;
            }
            names.insert(id, name);
        }
        Self { names }
    }

    /// The id as kind A sees it.
    pub fn name<'b>(&'b self, id: &'b str) -> &'b str {
        self.names.get(id).map_or(id, String::as_str)
    }
}

fn is_native(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Hex of a short id, a 128-bit hash of a long one.
fn stem(id: &str) -> String {
    /// FNV-1a, 128 bits: offset basis and prime.
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    /// Two characters per byte, and room for the prefix and a number.
    const HEX_BYTES: usize = 28;
    let mut name = FOREIGN.to_owned();
    if id.len() <= HEX_BYTES {
        for byte in id.bytes() {
            let _ = write!(name, "{byte:02x}");
        }
    } else {
        let hash = id.bytes().fold(BASIS, |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(PRIME)
        });
        let _ = write!(name, "h{hash:032x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_ids_pass_and_foreign_ones_never_collide() {
        let long = "é".repeat(100);
        let all = ["toolu_1", "call.1", "call:1", "x_63616c6c2e31", "", &long];
        let ids = Ids::new(all.iter().copied());
        assert_eq!(ids.name("toolu_1"), "toolu_1");
        assert_eq!(ids.name("x_63616c6c2e31"), "x_63616c6c2e31");
        assert_eq!(ids.name("call.1"), "x_63616c6c2e31_2");
        let names: BTreeSet<&str> = all.iter().map(|id| ids.name(id)).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|name| is_native(name)), "{names:?}");
    }
}
