//! `key=value`, `key='a value'`, `<key>value</key>`, and pages, where the label stands in an element of its own:
//! `<th>Key</th><td>value</td>`, `<b>Key:</b> value`. Logs, addresses of the web, SQL conditions, XML, HTML.

use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, Visit, fhir, hl7, is_label, trimmed, typed};
use crate::chunk;
use crate::text::{byte, byte_before};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut from = 0;
    while let Some(at) = chunk::next_of(text, from, [b'=', b'>']) {
        if byte(text, at) == b'=' {
            equals(text, at, visit);
        } else {
            element(text, at, visit);
        }
        from = at + 1;
    }
}

fn equals(text: &[u8], at: usize, visit: &mut Visit<'_>) {
    // The last sign of `==` counts; `=>` and `>=` are others'.
    if matches!(byte(text, at + 1), b'=' | b'>' | b'~') {
        return;
    }
    let sign = sign_start(text, at);
    let is_compared = at > sign && byte(text, sign) != b':';
    if matches!(byte(text, sign), b'<' | b'>') {
        return;
    }
    let mut key_end = sign;
    while key_end > 0 && byte_before(text, key_end) == b' ' {
        key_end -= 1;
    }
    let head = text
        .get(key_end.saturating_sub(MAX_LABEL_BYTES)..key_end)
        .unwrap_or_default();
    let key_len = head.iter().rev().take_while(|byte| is_key(**byte)).count();
    let key = head.get(head.len() - key_len..).unwrap_or_default();
    let has_label = is_label(key);
    let mut start = at + 1;
    while byte(text, start) == b' ' {
        start += 1;
    }
    // `N'Ely'`, `b"Ely"`
    let prefix = byte(text, start);
    let has_prefix = prefix.is_ascii_alphabetic() || matches!(prefix, b'@' | b'$');
    start += usize::from(has_prefix && matches!(byte(text, start + 1), b'"' | b'\''));
    let quote = byte(text, start);
    let is_quoted = matches!(quote, b'"' | b'\'' | b'`');
    start += usize::from(is_quoted);
    // A type stands before literals alone.
    let typed = if is_quoted || quote.is_ascii_digit() {
        typed::name(head)
    } else {
        None
    };
    if !has_label && typed.is_none() {
        return;
    }
    let rest = text.get(start..).unwrap_or_default();
    let ends = |byte: &u8| {
        if is_quoted {
            *byte == quote || *byte == b'\n'
        } else {
            ends_word(*byte)
        }
    };
    let Some(len) = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(ends)
        .or_else(|| (rest.len() < MAX_VALUE_BYTES).then_some(rest.len()))
    else {
        return;
    };
    // What a variable is compared with, or begins with, is another one where it has no quotes.
    let is_literal = is_quoted || rest.first().is_some_and(u8::is_ascii_digit) && len >= MIN_DIGITS;
    // `if fullname != "pip"` is about a program.
    let is_word = rest.first().is_some_and(u8::is_ascii_lowercase);
    if len == 0 || is_compared && (!is_literal || is_word) {
        return;
    }
    if let Some(name) = typed.filter(|_| is_literal) {
        visit(name, start, start + len);
    }
    if !has_label {
        return;
    }
    if !is_quoted && let Some(end) = words_end(text, start, start + len) {
        visit(key, start, end);
    }
    visit(key, start, start + len);
    if key == b"extension" && is_quoted {
        instance(text, key_end, start, start + len, visit);
    }
    if key == b"name" && is_quoted && !is_heading(text, key_end) {
        named(text, start, start + len, visit);
    }
    if key == b"value" && is_quoted {
        input(text, key_end, start, start + len, visit);
    }
    // `<family value="…"/>`: the element says what the value is.
    if key == b"value" && is_quoted {
        let head = text.get(key_end.saturating_sub(MAX_LABEL_BYTES)..key_end - key_len);
        if let Some(name) = head.and_then(|head| head.rsplit(|byte| *byte == b'<').next())
            && is_label(name.trim_ascii_end())
        {
            let open = (key_end - key_len).saturating_sub(name.len() + 1);
            let name = name.trim_ascii_end();
            // Without its namespace.
            let name = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
            visit(name, start, start + len);
            fhir::value(text, name, (open, start, start + len), visit);
        }
    }
}

/// What the attribute `name` at `start..end` is the name of: a part of a form, `name="mrn"` and the line below the next,
/// or an element, `<param name="mrn">60417</param>`, `<property name="mrn" value="60417"/>`.
fn named(text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
    /// What stands between the attributes.
    const VALUE: &[u8] = b" value=";
    let label = text.get(start..end).unwrap_or_default();
    let rest = text.get(end + 1..text.len().min(end + 1 + MAX_VALUE_BYTES));
    let rest = rest.unwrap_or_default();
    let (gap, ends): (usize, &[u8]) = if rest.starts_with(b"\r\n\r\n") {
        (4, b"\r\n")
    } else if rest.starts_with(b"\n\n") {
        (2, b"\r\n")
    } else if rest.starts_with(b">") {
        (1, b"<\n")
    } else if rest.starts_with(VALUE) && matches!(byte(rest, VALUE.len()), b'"' | b'\'') {
        (VALUE.len() + 1, b"\"'\n")
    } else {
        return;
    };
    let inside = rest.get(gap..).unwrap_or_default();
    let len = inside.iter().position(|byte| ends.contains(byte));
    let from = end + 1 + gap;
    if is_label(label)
        && let Some((start, end)) = trimmed(text, from, from + len.unwrap_or(inside.len()))
    {
        visit(label, start, end);
    }
}

/// Whether the attribute that ends at `end` is one of an element whose text is a label itself:
/// `<th name="mrn">MRN</th>`.
fn is_heading(text: &[u8], end: usize) -> bool {
    const HEADINGS: [&[u8]; 4] = [b"th", b"label", b"legend", b"option"];
    let head = text.get(end.saturating_sub(MAX_LABEL_BYTES)..end);
    let element = head.and_then(|head| head.rsplit(|byte| *byte == b'<').next());
    let name = element.and_then(|element| element.split(|byte| *byte == b' ').next());
    name.is_some_and(|name| {
        HEADINGS
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    })
}

/// Whether a value without quotes ends before the byte.
const fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'&' | b',' | b';' | b')' | b'<' | b'>' | b'|')
        || matches!(byte, b'"' | b'\'' | b']' | b'}')
}

/// Where the sign begins whose last `=` is at `at`: `=`, `==`, `!=`, `:=`.
fn sign_start(text: &[u8], at: usize) -> usize {
    /// Bytes of the longest sign: `===`.
    const BYTES: usize = 3;
    let head = text.get((at + 1).saturating_sub(BYTES)..at);
    let signs = head.unwrap_or_default().iter().rev();
    at - signs.take_while(|byte| b"=!:<>".contains(byte)).count()
}

/// Where a value of several words with a capital each ends, which stands without quotes in its line or list:
/// `last_name = De Boer`, `{LastName = De Boer, …}`.
fn words_end(text: &[u8], start: usize, first_end: usize) -> Option<usize> {
    let is_word = |word: &[u8]| {
        word.first()
            .is_some_and(|first| first.is_ascii_uppercase() || *first >= 0x80)
            && word
                .iter()
                .all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80 || b"'-.".contains(byte))
    };
    let mut end = first_end;
    if byte(text, end) != b' ' || !is_word(text.get(start..end)?) {
        return None;
    }
    for _ in 1..MAX_WORDS {
        let rest = text.get(end + 1..text.len().min(end + 1 + MAX_LABEL_BYTES))?;
        let len = rest.iter().position(|byte| b" ,;)]}\r\n".contains(byte));
        let len = len.unwrap_or(rest.len());
        if !is_word(rest.get(..len)?) {
            return None;
        }
        end += 1 + len;
        if byte(text, end) != b' ' {
            return Some(end);
        }
    }
    None
}

/// Digits of a number that is compared and is no count.
const MIN_DIGITS: usize = 4;

/// `<input value="…" name="ssn">`: visited under what the element calls it, wherever that stands in it.
fn input(text: &[u8], at: usize, start: usize, end: usize, visit: &mut Visit<'_>) {
    let from = at.saturating_sub(MAX_VALUE_BYTES);
    let head = text.get(from..at).unwrap_or_default();
    let Some(open) = head.iter().rposition(|byte| *byte == b'<') else {
        return;
    };
    let element = text.get(from + open..).unwrap_or_default();
    let len = element
        .iter()
        .take(MAX_VALUE_BYTES * 2)
        .position(|byte| *byte == b'>');
    let element = element.get(..len.unwrap_or_default()).unwrap_or_default();
    if !element.starts_with(b"<input") {
        return;
    }
    for attribute in [&b" name="[..], b" id="] {
        let said = element
            .windows(attribute.len())
            .position(|part| part == attribute);
        let said = said.and_then(|said| element.get(said + attribute.len() + 1..));
        let label = said.and_then(|said| said.split(|byte| matches!(byte, b'"' | b'\'')).next());
        if let Some(label) = label.filter(|label| is_label(label)) {
            visit(label, start, end);
        }
    }
}

/// Bytes before an identifier in which the element stands that it is of.
const MAX_OWNER_BYTES: usize = 512;

/// The identifiers of C-CDA, `<patientRole><id root="…" extension="5590231"/>`: visited under the element that has
/// them, and under what their root numbers.
fn instance(text: &[u8], key_end: usize, start: usize, end: usize, visit: &mut Visit<'_>) {
    let from = key_end.saturating_sub(MAX_OWNER_BYTES);
    let head = text.get(from..key_end).unwrap_or_default();
    let Some(open) = head.iter().rposition(|byte| *byte == b'<') else {
        return;
    };
    if !head.get(open..).is_some_and(|tag| tag.starts_with(b"<id ")) {
        return;
    }
    let rest = text.get(from + open..).unwrap_or_default();
    let len = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(|byte| *byte == b'>')
        .unwrap_or_default();
    let tag = rest.get(..len).unwrap_or_default();
    let root = ROOTS.iter().find(|(root, _)| {
        let mut parts = tag.split(|byte| matches!(byte, b'"' | b'\''));
        parts.any(|part| part == *root)
    });
    if let Some((_, label)) = root {
        visit(label, start, end);
        return;
    }
    // Other identifiers of the same element may stand before.
    let mut owners = head
        .get(..open)
        .unwrap_or_default()
        .rsplit(|byte| *byte == b'<')
        .filter(|element| !element.starts_with(b"id "));
    if let Some(owner) = owners.next()
        && let Some(name) = owner.split(|byte| b" >\r\n\t".contains(byte)).next()
        && is_label(name)
    {
        visit(&[name, b" id"].concat(), start, end);
    }
}

/// Roots that say what is numbered (HL7 OID registry).
const ROOTS: [(&[u8], &[u8]); 2] = [
    (b"2.16.840.1.113883.4.1", b"ssn"),
    (b"2.16.840.1.113883.4.6", b"npi"),
];

const fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The text of an element without elements inside, at the `>` of its start.
fn element(text: &[u8], at: usize, visit: &mut Visit<'_>) {
    let head = text
        .get(at.saturating_sub(MAX_LABEL_BYTES)..at)
        .unwrap_or_default();
    let Some(open) = head.iter().rposition(|byte| *byte == b'<') else {
        return;
    };
    let before = head.get(..open).unwrap_or_default();
    let name = head.get(open + 1..).unwrap_or_default();
    if let Some(name) = name.strip_prefix(b"/") {
        if LABEL_ELEMENTS.contains(&name) {
            behind_label(text, before, at + 1, visit);
        }
        return;
    }
    let name = name.split(|byte| *byte == b' ').next().unwrap_or(name);
    // Without its namespace.
    let name = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
    if !is_label(name) {
        return;
    }
    const CDATA: &[u8] = b"<![CDATA[";
    let mut start = at + 1;
    let mut rest = text.get(start..).unwrap_or_default();
    let mut ends: &[u8] = b"<";
    if let Some(inner) = rest.strip_prefix(CDATA) {
        (start, rest, ends) = (start + CDATA.len(), inner, b"]");
    }
    let Some(len) = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(|byte| ends.contains(byte))
    else {
        return;
    };
    if len > 0 && (byte(text, start + len + 1) == b'/' || ends == b"]") {
        visit(name, start, start + len);
        // `<PID.3><CX.1>51188</CX.1></PID.3>`: a part of the field.
        let around = before.rsplit(|byte| *byte == b'<').take(MAX_PARTS);
        let mut around = around
            .take_while(|element| !element.starts_with(b"/"))
            .filter_map(|element| element.split(|byte| matches!(byte, b'>' | b' ')).next());
        let mut numbered = [0; hl7::LABEL_BYTES];
        let is_field =
            |element: &&[u8]| hl7::of_path(&mut [0; hl7::LABEL_BYTES], element).is_some();
        if let Some(element) = around.find(is_field)
            && let Some(field) = hl7::of_path(&mut numbered, element)
        {
            visit(field, start, start + len);
        }
        if matches!(
            name,
            b"td" | b"dd" | b"string" | b"integer" | b"date" | b"value"
        ) && let Some(label) = label_cell(before)
        {
            visit(label, start, start + len);
        }
    }
}

/// Elements around a part of a field of HL7: `<PID.5><XPN.1><FN.1>`.
const MAX_PARTS: usize = 3;
/// Elements of prose that a label stands in.
const LABEL_ELEMENTS: [&[u8]; 5] = [b"b", b"strong", b"em", b"span", b"label"];
/// Words of a value that stands behind a label in prose; more are a sentence.
const MAX_WORDS: usize = 5;

/// The value behind `<b>Key:</b>`, up to the next element or the end of its line.
fn behind_label(text: &[u8], before: &[u8], from: usize, visit: &mut Visit<'_>) {
    let label = before.rsplit(|byte| *byte == b'>').next().unwrap_or(before);
    let rest = text.get(from..).unwrap_or_default();
    let (label, start) = match (label.strip_suffix(b":"), rest.strip_prefix(b":")) {
        (Some(label), _) => (label, from),
        (None, Some(_)) => (label, from + 1),
        (None, None) => return,
    };
    let rest = text.get(start..).unwrap_or_default();
    let len = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(|byte| matches!(byte, b'<' | b'\n'))
        .unwrap_or(rest.len().min(MAX_VALUE_BYTES));
    let value = rest.get(..len).unwrap_or_default();
    let words = value
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    if is_label(label)
        && (1..=MAX_WORDS).contains(&words.count())
        && let Some((start, end)) = trimmed(text, start, start + len)
    {
        visit(label, start, end);
    }
}

/// The text of the cell that ends where `before` does: `<th>Key</th>`.
fn label_cell(before: &[u8]) -> Option<&[u8]> {
    let before = before.trim_ascii_end();
    let cell = [&b"</th>"[..], b"</td>", b"</dt>", b"</key>", b"</name>"]
        .iter()
        .find_map(|end| before.strip_suffix(*end))?;
    let label = cell.rsplit(|byte| *byte == b'>').next()?.trim_ascii();
    let label = label.strip_suffix(b":").unwrap_or(label);
    is_label(label).then_some(label)
}
