//! Refusing a request for its PHI: in block mode; in every mode for tool definitions, and for addresses of media.

use std::ops::Range;

use serde_json::Value;

use super::counts::Counts;
use super::kind::Kind;
use super::map::PlaceholderMap;
use super::merge::Finding;
use super::scan::TextScan;
use super::visit::{Form, visit};
use crate::chat::{ChatRequest, Part};
use crate::fault::{Code, Fault};

/// Locations named in one refusal; the counts say how many findings there are.
pub const MAX_LOCATIONS: usize = 100;

/// 403 `PHI_BLOCKED` with kinds, counts and places, never text (contract 21).
pub fn blocked(chat: &mut ChatRequest, findings: &[Finding]) -> Fault {
    let counts: Counts = findings.iter().map(|finding| &finding.kind).collect();
    counted(&counts).detail("locations", locations(chat, findings))
}

/// As [`blocked`], for what was found in a request that has been rewritten since: nobody knows the places any more.
pub fn blocked_since(counts: &Counts) -> Fault {
    counted(counts).detail("locations", Value::Array(Vec::new()))
}

fn counted(counts: &Counts) -> Fault {
    Code::PhiBlocked
        .fault()
        .detail("entity_types", counts.entity_types())
        .detail("counts", Value::Object(counts.to_json()))
}

/// 400 `PHI_IN_TOOL_SCHEMA` when a finding is in a tool definition; `error.param` is tool and JSON pointer.
pub fn in_tool_definition(
    chat: &mut ChatRequest,
    scan: &TextScan,
    findings: &[Finding],
) -> Option<Fault> {
    let param = first_in_tools(chat, scan, findings)?;
    Some(Code::PhiInToolSchema.fault().at(param))
}

/// As [`blocked`], for findings in addresses that the provider fetches: a placeholder there would lead nowhere.
pub fn in_address(chat: &mut ChatRequest, scan: &TextScan, findings: &[Finding]) -> Option<Fault> {
    let there = findings.iter().filter(|one| is_in_address(scan, one));
    let there: Vec<Finding> = there.cloned().collect();
    (!there.is_empty()).then(|| {
        let mut fault = blocked(chat, &there);
        fault.message = IN_ADDRESS.into();
        fault
    })
}

const IN_ADDRESS: &str =
    "An address of an image or document contains PHI, which cannot be replaced there.";

fn is_in_address(scan: &TextScan, finding: &Finding) -> bool {
    let segment = scan.segments().get(finding.segment);
    segment.is_some_and(|segment| segment.form == Form::Address)
}

/// Leaves in text that cannot be rewritten, tool definitions and addresses, what that may hold, unless the
/// organization denies it: ranges of [`TextScan::reading`].
pub fn leave_in_fixed_text(
    scan: &TextScan,
    findings: &mut Vec<Finding>,
    may_hold: impl Fn(&Kind) -> bool,
    denied: &[Range<usize>],
) {
    let tools = scan.tools();
    leave(scan, findings, denied, |finding| {
        let is_fixed = tools.contains(&finding.segment) || is_in_address(scan, finding);
        let segment = scan.segments().get(finding.segment);
        let first = segment.map_or(0, |segment| segment.start);
        is_fixed && may_hold(&finding.kind) && !speaks_of_birth(scan, first, finding)
    });
}

/// What an id begins with that is somebody's number.
const LABELS: [&str; 6] = ["mrn", "ssn", "dob", "patient", "chart", "member"];

/// Leaves an id that is there to tell users apart, and says no more of anybody, unless the request speaks of it elsewhere
/// or the organization denies it: with one placeholder for all of them, a provider that shuts out one user would shut
/// out everybody.
pub fn leave_pseudonyms(
    scan: &TextScan,
    findings: &mut Vec<Finding>,
    known: &PlaceholderMap,
    denied: &[Range<usize>],
) {
    let is_whole = |finding: &Finding| {
        let segment = scan.segments().get(finding.segment);
        finding.kind.as_str() == "OTHER_ID"
            && segment.is_some_and(|segment| {
                segment.form == Form::Pseudonym
                    && (segment.start, segment.end) == (finding.start, finding.end)
            })
    };
    let plain = |value: &str| -> String {
        let signs = value.chars().filter(|sign| sign.is_alphanumeric());
        signs.flat_map(char::to_lowercase).collect()
    };
    if !findings.iter().any(is_whole) {
        return;
    }
    let others = findings.iter().filter(|finding| !is_whole(finding));
    let others = others.map(|finding| scan.value(finding));
    let known = known.values().map(|(_, value)| value);
    // Whole values, and the words of them.
    let words = |value: &str| -> Vec<String> {
        let words = value.split(|sign: char| !sign.is_alphanumeric());
        words.map(plain).chain([plain(value)]).collect()
    };
    let spoken_of: Vec<String> = others.chain(known).flat_map(words).collect();
    let is_spoken_of = |finding: &Finding| {
        let id = plain(scan.value(finding));
        let is_labeled = LABELS.iter().any(|label| {
            let number = id.strip_prefix(label);
            number.is_some_and(|number| number.starts_with(|sign: char| sign.is_ascii_digit()))
        });
        let is_part = |value: &String| {
            !value.is_empty() && value.contains(&id)
                || value.chars().count() >= 3 && id.contains(value.as_str())
        };
        is_labeled || spoken_of.iter().any(is_part)
    };
    leave(scan, findings, denied, |finding| {
        is_whole(finding) && !is_spoken_of(finding)
    });
}

/// As [`leave_in_fixed_text`], of what a model states by itself.
pub fn leave_in_reply(
    scan: &TextScan,
    findings: &mut Vec<Finding>,
    may_hold: impl Fn(&Kind) -> bool,
    denied: &[Range<usize>],
) {
    leave(scan, findings, denied, |finding| {
        // In arguments a value is behind its key, which is a text of its own.
        may_hold(&finding.kind) && !speaks_of_birth(scan, 0, finding)
    });
}

/// Takes out of `findings` what `may` stay, unless it is denied.
fn leave(
    scan: &TextScan,
    findings: &mut Vec<Finding>,
    denied: &[Range<usize>],
    may: impl Fn(&Finding) -> bool,
) {
    let denied = denied.iter().flat_map(|reads| scan.pieces(reads.clone()));
    let denied: Vec<Range<usize>> = denied.map(|piece| piece.source).collect();
    let is_denied = |finding: &Finding| {
        let mut on_it = denied.iter();
        on_it.any(|denied| denied.start < finding.end && finding.start < denied.end)
    };
    findings.retain(|finding| !may(finding) || is_denied(finding));
}

/// Bytes that a word about birth may stand before what it is about.
const NEAR_BYTES: usize = 24;

/// `born 03/04/1961` is about somebody, whatever kinds may stay: whether such a word is right before a finding, and
/// not before byte `first`.
fn speaks_of_birth(scan: &TextScan, first: usize, finding: &Finding) -> bool {
    let from = finding.start.saturating_sub(NEAR_BYTES).max(first);
    let near = scan.text().as_bytes().get(from..finding.start);
    let near = near.unwrap_or_default().to_ascii_lowercase();
    ["born", "dob", "birth"].iter().any(|word| {
        let mut parts = near.windows(word.len());
        parts.any(|part| part == word.as_bytes())
    })
}

/// Where the first finding inside `tools` is: `tools[0]/input_schema/properties/x/description`. A key that
/// is PHI itself is named by its object: keys come before their values, so no PHI key is on the way.
pub fn first_in_tools(
    chat: &mut ChatRequest,
    scan: &TextScan,
    findings: &[Finding],
) -> Option<String> {
    let tools = scan.tools();
    let first = findings
        .iter()
        .map(|finding| finding.segment)
        .find(|segment| tools.contains(segment))?;
    let mut param = None;
    let mut at = 0;
    visit(chat, &mut |spot, _| {
        if at == first {
            param = Some(spot.pointer());
        }
        at += 1;
        None
    });
    param
}

/// The places of findings, each once, in order, at most [`MAX_LOCATIONS`]. A message that is one text has no parts to
/// tell apart: `messages[2].content`.
pub fn locations(chat: &mut ChatRequest, findings: &[Finding]) -> Vec<String> {
    let mut segments = findings.iter().map(|finding| finding.segment).peekable();
    let mut named: Vec<String> = Vec::new();
    let mut at = 0;
    visit(chat, &mut |spot, _| {
        let mut hit = false;
        while segments.next_if_eq(&at).is_some() {
            hit = true;
        }
        at += 1;
        if hit && named.len() < MAX_LOCATIONS {
            let location = spot.location();
            if named.last() != Some(&location) {
                named.push(location);
            }
        }
        None
    });
    for (turn, message) in chat.messages.iter().enumerate() {
        if matches!(message.content.as_slice(), [Part::Text { .. }]) {
            let content = format!("messages[{turn}].content");
            let only_part = format!("{content}[0]");
            for name in named.iter_mut().filter(|name| **name == only_part) {
                name.clone_from(&content);
            }
        }
    }
    named
}
