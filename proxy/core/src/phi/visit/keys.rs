//! New names for keys of objects, without losing a value.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Gives keys, named by position, new names; order and values stay, and no value is lost.
pub(super) fn rename(fields: &mut Map<String, Value>, renamed: Vec<(usize, String)>) {
    let mut renamed = renamed.into_iter().peekable();
    let mut copies = HashMap::new();
    let old = std::mem::take(fields);
    for (at, (key, value)) in old.into_iter().enumerate() {
        let key = match renamed.next_if(|(position, _)| *position == at) {
            Some((_, changed)) => changed,
            None => key,
        };
        let key = free_key(key, &mut copies, |key| fields.contains_key(key));
        fields.insert(key, value);
    }
}

/// Two spellings of one value as keys of one object would fall together: the later one gets a number.
/// `copies` remembers the last number of each key, so that many copies cost no search each.
pub(super) fn free_key(
    wanted: String,
    copies: &mut HashMap<String, u64>,
    taken: impl Fn(&str) -> bool,
) -> String {
    if !taken(&wanted) {
        return wanted;
    }
    let copy = copies.entry(wanted.clone()).or_insert(1);
    loop {
        *copy += 1;
        let numbered = format!("{wanted} ({copy})");
        if !taken(&numbered) {
            return numbered;
        }
    }
}
