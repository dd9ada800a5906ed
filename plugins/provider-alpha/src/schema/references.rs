//! The references of a schema. Each names a definition at its root, which stays where it is however the schema is said,
//! and none leads back to where it stands: a grammar without end is none.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Words behind which definitions stand.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The word behind which a definition stands, and its name.
type Name = (&'static str, String);

/// The definition of `root` that a reference names: one of the root's own, and nothing within it.
pub(super) fn definition<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let (word, name) = name(reference)?;
    root.get(word)?.get(name)
}

fn name(reference: &str) -> Option<Name> {
    let path = reference.strip_prefix("#/")?;
    DEFINITIONS.into_iter().find_map(|word| {
        let name = path.strip_prefix(word)?.strip_prefix('/')?;
        (!name.contains('/')).then(|| (word, name.replace("~1", "/").replace("~0", "~")))
    })
}

/// Whether every reference names a definition, and no definition needs itself.
pub(super) fn refers_well(root: &Value) -> bool {
    let mut found = BTreeSet::new();
    references(root, &mut found);
    let mut found = found.into_iter();
    found.all(|reference| definition(root, reference).is_some()) && all_end(root)
}

/// Takes those away that need no other, until none is left or each that is left needs another that is left.
fn all_end(root: &Value) -> bool {
    let mut needed: BTreeMap<Name, usize> = BTreeMap::new();
    let mut users: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    let mut free = Vec::new();
    for word in DEFINITIONS {
        let named = root.get(word).and_then(Value::as_object);
        for (own, schema) in named.into_iter().flatten() {
            let own = (word, own.clone());
            let mut found = BTreeSet::new();
            references(schema, &mut found);
            let others: BTreeSet<Name> = found.into_iter().filter_map(name).collect();
            if others.is_empty() {
                free.push(own.clone());
            }
            needed.insert(own.clone(), others.len());
            for other in others {
                users.entry(other).or_default().push(own.clone());
            }
        }
    }
    let mut ended = 0;
    while let Some(one) = free.pop() {
        ended += 1;
        for user in users.remove(&one).into_iter().flatten() {
            if let Some(left) = needed.get_mut(&user) {
                *left -= 1;
                if *left == 0 {
                    free.push(user);
                }
            }
        }
    }
    ended == needed.len()
}

/// The references of a schema and of all that stand in it, those in values and names aside.
fn references<'s>(schema: &'s Value, found: &mut BTreeSet<&'s str>) {
    let Some(fields) = schema.as_object() else {
        return;
    };
    for (word, value) in fields {
        match (word.as_str(), value) {
            ("$ref", Value::String(name)) => {
                found.insert(name);
            }
            ("$ref", _) => {
                found.insert("");
            }
            ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values().for_each(|inner| references(inner, found));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(listed)) => {
                listed.iter().for_each(|inner| references(inner, found));
            }
            ("items" | "additionalProperties", inner) => references(inner, found),
            _ => {}
        }
    }
}
