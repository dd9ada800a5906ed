//! FHIR in XML: an element `value` is what the elements before it in the same one say, `<identifier><type>…<code
//! value="MR"/>…</type><value value="4471223"/>`, and a reference is a number of what it refers to. In JSON see `json`.

use super::json::last_step;
use super::{IDENTIFIER, PATIENT_ID, Visit, is_label};
use crate::chunk;
use crate::text::byte;

/// Bytes before a value in which the element stands that it is of.
const MAX_OWNER_BYTES: usize = 768;
/// Elements that explain.
const MEANINGS: [&[u8]; 3] = [b"code", b"system", b"text"];

/// Visits `text[start..end]`, the attribute `value` of the element `name` that opens at `open`.
pub(super) fn value(
    text: &[u8],
    name: &[u8],
    (open, start, end): (usize, usize, usize),
    visit: &mut Visit<'_>,
) {
    let head = text
        .get(open.saturating_sub(MAX_OWNER_BYTES)..open)
        .unwrap_or_default();
    match name {
        b"value" => explained(head, start, end, visit),
        b"reference" => {
            let said = text.get(start..end).unwrap_or_default();
            if let Some(slash) = said.iter().rposition(|byte| *byte == b'/') {
                let kind = last_step(said.get(..slash).unwrap_or_default());
                refers(kind, start + slash + 1, end, visit);
            }
        }
        // `<Patient xmlns="…"><id value="4471223"/>`
        b"id" if elements(head).next().map(name_of) == Some(b"Patient") => {
            visit(PATIENT_ID, start, end);
        }
        _ => {}
    }
}

/// Objects in one another whose resource is known, one bit each.
const MAX_DEPTH: usize = 16;

/// Which of the objects of JSON that are open are patients (FHIR R4), and what they are called by: `id` may stand before
/// the type or behind other keys. Objects farther in are none.
#[derive(Default)]
pub(super) struct Resources {
    depth: usize,
    patients: u16,
    ids: [Option<(usize, usize)>; MAX_DEPTH],
}

impl Resources {
    /// Goes over the braces of what stands between two strings.
    pub(super) fn pass(&mut self, between: &[u8]) {
        let mut at = 0;
        while let Some(brace) = chunk::next_of(between, at, [b'{', b'}']) {
            at = brace + 1;
            // The object that was entered or left begins anew.
            let from = if byte(between, brace) == b'{' {
                self.depth += 1;
                self.depth
            } else {
                let left = self.depth;
                self.depth = left.saturating_sub(1);
                left
            };
            if let Some(id) = self.ids.get_mut(from) {
                *id = None;
                self.patients &= !(1 << from);
            }
        }
    }

    /// This object is a patient; gives its `id` where that has come.
    pub(super) fn is_patient(&mut self) -> Option<(usize, usize)> {
        let id = self.ids.get_mut(self.depth)?;
        self.patients |= 1 << self.depth;
        id.take()
    }

    /// This object has an `id`; gives it where the object is known to be a patient.
    pub(super) fn has_id(&mut self, place: (usize, usize)) -> Option<(usize, usize)> {
        let id = self.ids.get_mut(self.depth)?;
        if self.patients >> self.depth & 1 == 1 {
            return Some(place);
        }
        *id = Some(place);
        None
    }
}

/// Visits the number of a resource of a kind: `Patient/44712239`.
pub(super) fn refers(kind: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
    visit(kind, start, end);
    if kind == b"Patient" {
        visit(PATIENT_ID, start, end);
    }
}

/// Visits a value under what the elements before it say, back to the one that has them all.
fn explained(head: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
    let mut is_told = false;
    for element in elements(head) {
        let name = name_of(element);
        match name {
            b"identifier" => return visit(IDENTIFIER, start, end),
            b"telecom" if is_told => return,
            b"telecom" => return visit(name, start, end),
            b"/identifier" | b"/telecom" => return,
            _ if MEANINGS.contains(&name) => {
                let said = attribute(element).map(last_step);
                if let Some(said) = said.filter(|said| is_label(said)) {
                    visit(said, start, end);
                    is_told = true;
                }
            }
            _ => {}
        }
    }
}

/// From the last to the first, without their `<`.
fn elements(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    // What stands before the first is no element.
    let first = head.iter().position(|byte| *byte == b'<').map(|at| at + 1);
    let elements = first.and_then(|first| head.get(first..));
    elements
        .into_iter()
        .flat_map(|elements| elements.rsplit(|byte| *byte == b'<'))
}

fn name_of(element: &[u8]) -> &[u8] {
    let name = element.split(|byte| b" >\r\n\t".contains(byte)).next();
    let name = name.unwrap_or_default();
    // Without its namespace, but for the end of an element.
    match name.first() {
        Some(b'/') => name,
        _ => name.rsplit(|byte| *byte == b':').next().unwrap_or(name),
    }
}

/// What the attribute `value` of an element says.
fn attribute(element: &[u8]) -> Option<&[u8]> {
    let said = element.windows(7).position(|at| at == b"value=\"")?;
    element.get(said + 7..)?.split(|byte| *byte == b'"').next()
}
