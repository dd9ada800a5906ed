//! Values that calls of programs have a name for: `setLastName("Doe")`, `.mrn("60417")`, `put("mrn", "60417")`,
//! `expect(patient.mrn).toBe("60417")`; and lists of pairs, `[('mrn', '60417')]`.

use super::json::{skip_space, string};
use super::{MAX_LABEL_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before};

/// Calls that set what their first argument names.
const SETTERS: [&[u8]; 18] = [
    b"put",
    b"set",
    b"add",
    b"append",
    b"with",
    b"field",
    b"param",
    b"eq",
    b"where",
    b"bindvalue",
    b"setitem",
    b"setproperty",
    b"setattribute",
    b"setparameter",
    b"setstring",
    b"addwithvalue",
    b"queryparam",
    b"hasfieldorpropertywithvalue",
];
/// What such a call compares by, where it has three arguments.
const OPERATORS: [&[u8]; 22] = [
    b"=",
    b"==",
    b"===",
    b"!=",
    b"!==",
    b"<>",
    b"<",
    b">",
    b"<=",
    b">=",
    b"like",
    b"not like",
    b"ilike",
    b"not ilike",
    b"rlike",
    b"regexp",
    b"in",
    b"not in",
    b"between",
    b"not between",
    b"is",
    b"is not",
];
/// Calls that compare what stands before them.
const COMPARISONS: [&[u8]; 9] = [
    b"equals",
    b"equalsignorecase",
    b"tobe",
    b"toequal",
    b"tostrictequal",
    b"isequalto",
    b"isequaltoignoringcase",
    b"startswith",
    b"compareto",
];
/// What the name of a call begins with that sets or gives what the rest of it names.
const PREFIXES: [&[u8]; 3] = [b"set", b"with", b"get"];

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(open) = chunk::next_of(text, at, [b'(']) {
        at = open + 1;
        let Some((start, end, after)) = string(text, at) else {
            continue;
        };
        let head = text
            .get(open.saturating_sub(MAX_LABEL_BYTES)..open)
            .unwrap_or_default();
        let name = last_name(head);
        // Pairs of a list have no name: `[('mrn', '60417'), …]`.
        if is_one_of(name, &SETTERS) || name.is_empty() && opens_pair(head) {
            named(text, (start, end), after, visit);
            continue;
        }
        let before = head.get(..head.len() - name.len()).unwrap_or_default();
        let label = if is_one_of(name, &COMPARISONS) {
            compared(before)
        } else {
            set(name, before)
        };
        if is_label(label) && start < end {
            visit(label, start, end);
        }
    }
}

/// Whether a bracket that `head` stands before is that of an item of a list.
fn opens_pair(head: &[u8]) -> bool {
    matches!(head.trim_ascii_end().last(), Some(b'[' | b','))
}

/// `put("mrn", "60417")`
fn named(text: &[u8], (start, end): (usize, usize), after: usize, visit: &mut Visit<'_>) {
    let comma = skip_space(text, after);
    let label = text.get(start..end).unwrap_or_default();
    let label = label.strip_prefix(b"@").unwrap_or(label);
    if byte(text, comma) != b',' || !is_label(label) {
        return;
    }
    let Some((mut start, mut end, after)) = string(text, skip_space(text, comma + 1)) else {
        return;
    };
    // `where('last_name', 'like', '%Doe%')`: without a third argument it is a value.
    let comma = skip_space(text, after);
    let operator = text.get(start..end).unwrap_or_default();
    if byte(text, comma) == b',' && is_one_of(operator, &OPERATORS) {
        let Some(value) = string(text, skip_space(text, comma + 1)) else {
            return;
        };
        (start, end) = (value.0, value.1);
        while start < end && byte(text, start) == b'%' {
            start += 1;
        }
        while start < end && byte_before(text, end) == b'%' {
            end -= 1;
        }
    }
    if start < end {
        visit(label, start, end);
    }
}

/// What a call sets: `setLastName`, or the name of a builder's, `.lastName`.
fn set<'t>(name: &'t [u8], before: &[u8]) -> &'t [u8] {
    match without_prefix(name) {
        Some(label) => label,
        None if before.ends_with(b".") => name,
        None => &[],
    }
}

fn without_prefix(name: &[u8]) -> Option<&[u8]> {
    PREFIXES.iter().find_map(|prefix| {
        let rest = name.strip_prefix(*prefix)?;
        let rest = rest.strip_prefix(b"_").unwrap_or(rest);
        let is_name = rest.len() < name.len() - prefix.len() || byte(rest, 0).is_ascii_uppercase();
        (is_name && !rest.is_empty()).then_some(rest)
    })
}

/// The name of what is compared: `patient.getLastName()).`, `p.mrn).`, `row["mrn"].`.
fn compared(before: &[u8]) -> &[u8] {
    let mut head = before.strip_suffix(b".").unwrap_or(before);
    for noise in [&b".toString()"[..], b".trim()"] {
        head = head.strip_suffix(noise).unwrap_or(head);
    }
    while let [rest @ .., b')' | b']' | b'"' | b'\'' | b'('] = head {
        head = rest;
    }
    let name = last_name(head);
    without_prefix(name).unwrap_or(name)
}

fn is_one_of(name: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The name that `head` ends with.
fn last_name(head: &[u8]) -> &[u8] {
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = head.iter().rev().take_while(is_of_name).count();
    let name = head.get(head.len() - len..).unwrap_or_default();
    if byte_before(head, head.len() - len) >= 0x80 {
        &[]
    } else {
        name
    }
}
