//! JSON and what looks like it (also with single quotes, with quotes escaped inside of another string, and with `=>` for
//! a colon): `"key": "value"`, numbers, and the strings of an array under its key.

use super::fhir::Resources;
use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, PATIENT_ID, Visit, dicom, fhir, is_label, keyed};
use crate::chunk;
use crate::text::{byte, byte_before, is_word};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    each_from(text, 0, visit);
}

/// Visits the fields from `at` on.
fn each_from(text: &[u8], mut at: usize, visit: &mut Visit<'_>) {
    // What a nearby `system` or `code` says about the `value` that follows (FHIR identifiers and contact points).
    let mut hint = Hint::default();
    while let Some(quote) = next_quote(text, at) {
        let gap = text.get(at..quote).unwrap_or_default();
        hint.resources.pass(gap);
        if gap.contains(&b'}') {
            (hint.unsaid, hint.is_told) = (None, false);
            (hint.attribute, hint.named) = (None, None);
            // `[{…}, {…}]`: the next object of a list is of the same.
            hint.list = hint.list.filter(|_| !gap.contains(&b']'));
            hint.parent = hint.list.filter(|_| gap.ends_with(b"{"));
        }
        let Some((start, end, after)) = string(text, quote) else {
            at = behind_long(text, quote).unwrap_or(quote + 1);
            continue;
        };
        let key = text.get(start..end).unwrap_or_default();
        let is_row = hint.parent.is_some() && key.len() < 6 && key.iter().all(u8::is_ascii_digit);
        // `{"$numberLong": "60417"}`.
        let is_sign = key.starts_with(b"$") && ALONE.contains(&key);
        let is_key = is_label(key) || is_row && !key.is_empty() || is_sign;
        let Some(behind) = behind_colon(text, after).filter(|_| is_key) else {
            if key.len() == TAG_BYTES {
                hint.attribute = dicom::attribute(key);
            }
            at = after;
            continue;
        };
        let key = hint.attribute.filter(|_| key == b"Value").unwrap_or(key);
        at = value(text, key, behind, &mut hint, visit);
    }
}

/// `{\"…`, `[{\"…`: an object as the text of a string.
fn opens_object(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"[").unwrap_or(value);
    value
        .strip_prefix(b"{")
        .is_some_and(|value| value.trim_ascii_start().starts_with(b"\\\""))
}

/// The place behind a string that is longer than any value, where it stands as JSON has it: its end opens no other one.
fn behind_long(text: &[u8], quote: usize) -> Option<usize> {
    let head = text.get(..quote)?.trim_ascii_end();
    let opens = matches!(head.last(), Some(b':' | b',' | b'[' | b'{'));
    if byte(text, quote) != b'"' || !opens {
        return None;
    }
    let mut at = quote + 1;
    loop {
        at = chunk::next_of(text, at, [b'"', b'\\'])?;
        if byte(text, at) == b'\\' {
            at += 2;
            continue;
        }
        let next = byte(text, skip_space(text, at + 1));
        return matches!(next, b',' | b']' | b'}' | b':' | 0).then_some(at + 1);
    }
}

/// Where the next quote stands that may open a string; an apostrophe inside of a word opens none.
fn next_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = chunk::next_of(text, at, [b'"', b'\'', b'\\'])?;
        let is_apostrophe = byte(text, at) == b'\'' && is_word(byte_before(text, at));
        if !is_apostrophe {
            return Some(at);
        }
        at += 1;
    }
}

/// Visits the value at `at`; gives the place to go on from.
fn value<'t>(
    text: &'t [u8],
    key: &'t [u8],
    at: usize,
    hint: &mut Hint<'t>,
    visit: &mut Visit<'_>,
) -> usize {
    if let Some((start, end, after)) = string(text, at) {
        hinted(text, key, start, end, hint, visit);
        // `"content": "{\"mrn\": …}"`, as long as a value is; a longer one is walked like any text. Its own strings
        // are escaped, and those in them twice: no deeper call comes of it.
        if byte(text, at) == b'"'
            && let Some(inner) = text.get(..end)
            && opens_object(text.get(start..end).unwrap_or_default())
        {
            each_from(inner, start, visit);
        }
        return after;
    }
    if matches!(byte(text, at), b'[' | b'{') {
        let is_list = byte(text, at) == b'[';
        let has_objects = is_list && byte(text, skip_space(text, at + 1)) == b'{';
        hint.is_about_a_person = PERSONS.contains(&key);
        hint.parent = Some(key).filter(|_| !is_list || has_objects);
        hint.list = Some(key).filter(|_| has_objects);
        (hint.unsaid, hint.is_told) = (None, false);
        if !is_list {
            hint.resources.pass(b"{");
        }
    }
    if byte(text, at) == b'[' {
        return array(text, key, at + 1, visit);
    }
    let rest = text.get(at..).unwrap_or_default();
    let len = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.' || **byte == b'-')
        .count();
    if len > 0 {
        hinted(text, key, at, at + len, hint, visit);
    }
    at + len.max(usize::from(
        len == 0 && at < text.len() && byte(text, at) != b'"',
    ))
}

fn hinted<'t>(
    text: &'t [u8],
    key: &[u8],
    start: usize,
    end: usize,
    hint: &mut Hint<'t>,
    visit: &mut Visit<'_>,
) {
    if start == end {
        return;
    }
    if let Some(parent) = hint.parent {
        // What its own object says of a value counts.
        let is_told = key == b"value" && hint.is_told;
        within(parent, key, is_told, (start, end), visit);
    }
    let said = text.get(start..end).unwrap_or_default();
    match key {
        b"text" | b"display" if hint.is_about_a_person => visit(PERSON, start, end),
        // Prose stands under `text` too.
        b"system" | b"code" | b"type" | b"text" | b"field" | b"key" | b"label" | b"question"
            if key == b"system" || said.len() <= MAX_LABEL_BYTES =>
        {
            let said = last_step(said);
            hint.is_told = true;
            match hint.unsaid.take() {
                Some((from, to)) => visit(said, from, to),
                None if key == b"system" => hint.system = Some(said),
                None => hint.meaning = Some(said),
            }
        }
        // What a value is called where it has a meaning of its own too: that of an extension of FHIR is the last word of
        // its address.
        b"name" | b"fieldName" | b"column" if said.len() <= MAX_LABEL_BYTES => {
            if let Some((from, to)) = hint.unsaid {
                visit(said, from, to);
            }
            hint.named = Some(said);
        }
        b"url"
            if said
                .windows(DEFINITION.len())
                .any(|part| part == DEFINITION) =>
        {
            hint.named = last_step(said).rsplit(|byte| *byte == b'-').next();
        }
        // `{"field": "mrn", "oldValue": …, "newValue": …}`.
        b"oldValue" => {
            for label in [hint.meaning, hint.named].into_iter().flatten() {
                visit(label, start, end);
            }
        }
        b"value" | b"valueString" | b"valueInteger" | b"answer" | b"fieldValue" | b"val"
        | b"newValue" => {
            let told = [hint.meaning.take(), hint.system.take()];
            if told == [None; 2] {
                hint.unsaid = Some((start, end));
            }
            for label in told.into_iter().chain([hint.named.take()]).flatten() {
                visit(label, start, end);
            }
        }
        // `{"reference": "Patient/44712239"}`.
        b"reference" => {
            let value = text.get(start..end).unwrap_or_default();
            if let Some(slash) = value.iter().rposition(|byte| *byte == b'/') {
                let kind = last_step(value.get(..slash).unwrap_or_default());
                fhir::refers(kind, start + slash + 1, end, visit);
            }
        }
        _ => {}
    }
    // `{"resourceType": "Patient", "id": …}`, in any order.
    let patient = match key {
        b"resourceType" if said == b"Patient" => hint.resources.is_patient(),
        b"id" => hint.resources.has_id((start, end)),
        _ => None,
    };
    if let Some((start, end)) = patient {
        visit(PATIENT_ID, start, end);
    }
    visit(key, start, end);
}

/// What stands in the address of an extension.
const DEFINITION: &[u8] = b"/StructureDefinition/";

/// Digits of the tag of an attribute of DICOM.
const TAG_BYTES: usize = 8;

/// What was said lately of the value that may follow.
#[derive(Default)]
struct Hint<'t> {
    system: Option<&'t [u8]>,
    meaning: Option<&'t [u8]>,
    /// What the value that may follow is called besides.
    named: Option<&'t [u8]>,
    /// A value of this object of which nothing was said yet: `{"value": …, "type": "MRN"}`.
    unsaid: Option<(usize, usize)>,
    /// Whether this object said what its value is.
    is_told: bool,
    /// The key of this object, or of the list that it is in.
    parent: Option<&'t [u8]>,
    /// The key of the list of objects that this one is in.
    list: Option<&'t [u8]>,
    /// What the attribute of DICOM is whose object this is: `{"00100020": {"vr": "LO", "Value": [...]}}`.
    attribute: Option<&'static [u8]>,
    /// What the objects that are open are.
    resources: Resources,
    /// Whether the object that was opened last is a person's name or refers to a person.
    is_about_a_person: bool,
}

/// Visits a value with what the key of its object says about it: `{"mrn": {"value": …}}`, `{"account": {"no": …}}`.
fn within(
    parent: &[u8],
    key: &[u8],
    is_told: bool,
    (start, end): (usize, usize),
    visit: &mut Visit<'_>,
) {
    visit(&[parent, b" ", key].concat(), start, end);
    // `{"mrn": {"0": …, "1": …}}`: the rows of a column.
    let is_row = key.iter().all(u8::is_ascii_digit);
    if (is_row || ALONE.contains(&key) || keyed::GROUPS.contains(&key)) && !is_told {
        visit(parent, start, end);
    }
}

/// Keys that say nothing but that here the value stands.
const ALONE: [&[u8]; 34] = [
    b"$eq",
    b"$ne",
    b"$date",
    b"$numberInt",
    b"$numberLong",
    b"$numberDouble",
    b"$numberDecimal",
    b"S",
    b"N",
    b"string",
    b"int",
    b"long",
    b"double",
    b"stringValue",
    b"integerValue",
    b"doubleValue",
    b"timestampValue",
    b"longValue",
    b"intValue",
    b"query",
    b"value",
    b"number",
    b"num",
    b"no",
    b"id",
    b"text",
    b"full",
    b"raw",
    b"formatted",
    b"display",
    b"home",
    b"work",
    b"mobile",
    b"primary",
];

/// The label of what a person is called.
const PERSON: &[u8] = b"person";
/// Keys of objects whose `text` or `display` is a person's name (FHIR R4, `HumanName` and references).
const PERSONS: [&[u8]; 17] = [
    b"name",
    b"subject",
    b"patient",
    b"performer",
    b"author",
    b"individual",
    b"actor",
    b"member",
    b"requester",
    b"recorder",
    b"asserter",
    b"practitioner",
    b"provider",
    b"generalPractitioner",
    b"beneficiary",
    b"subscriber",
    b"attester",
];

/// The last step of a URL or a URN, which is what it is about: `…/sid/us-ssn`.
pub(super) fn last_step(system: &[u8]) -> &[u8] {
    system
        .rsplit(|byte| matches!(byte, b'/' | b':'))
        .next()
        .unwrap_or(system)
}

/// Strings directly inside of an array. Other items are left to the walk.
fn array(text: &[u8], key: &[u8], mut at: usize, visit: &mut Visit<'_>) -> usize {
    loop {
        at = skip_space(text, at);
        let Some((start, end, after)) = string(text, at) else {
            return at;
        };
        if behind_colon(text, after).is_some() {
            return at;
        }
        if start < end {
            visit(key, start, end);
        }
        at = skip_space(text, after);
        if byte(text, at) != b',' {
            return at;
        }
        at += 1;
    }
}

/// The string whose quote is at `at`: its text, and where the quote behind it ends.
pub(super) fn string(text: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let (quote, depth) = match (byte(text, at), byte(text, at + 1)) {
        (b'"', _) => (b'"', 0),
        (b'\'', _) => (b'\'', 0),
        (b'\\', b'"') => (b'"', 1),
        _ => return None,
    };
    let start = at + 1 + depth;
    let limit = text.len().min(start + MAX_LABEL_BYTES.max(MAX_VALUE_BYTES));
    let mut end = start;
    while end < limit {
        match byte(text, end) {
            b'\\' if depth == 1 && byte(text, end + 1) == quote => {
                return Some((start, end, end + 2));
            }
            b'\\' => end += 2,
            // An apostrophe inside of a word ends nothing.
            found if found == quote && depth == 0 => {
                if quote == b'\'' && byte(text, end + 1).is_ascii_alphabetic() {
                    end += 1;
                    continue;
                }
                return Some((start, end, end + 1));
            }
            b'\n' if quote == b'\'' => return None,
            _ => end += 1,
        }
    }
    None
}

/// Where the value stands whose key ends at `at`.
fn behind_colon(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(text, at);
    match (byte(text, at), byte(text, at + 1)) {
        (b':', _) => Some(skip_space(text, at + 1)),
        // Ruby, Perl, PHP.
        (b'=', b'>') => Some(skip_space(text, at + 2)),
        _ => None,
    }
}

pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(byte(text, at), b' ' | b'\t' | b'\n' | b'\r') {
        at += 1;
    }
    at
}
