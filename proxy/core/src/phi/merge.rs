//! From what several detectors say to one list of findings without overlap.
//!
//! Where findings overlap, the longest keeps its kind and the rest of the others stays a finding, but none covers what
//! refuses the request. No byte that a detector claimed above its threshold is left in clear, but for what holds JSON
//! together (`seam`) and names of models and programs (`model_name`, `assistant`).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::assistant;
use super::escaped;
use super::kind::Kind;
use super::model_name;
use super::scan::{self, TextScan};
use super::seam;
use super::visit::Form;

/// A score that is no guess, per mille.
pub const CERTAIN: u16 = 1_000;

/// What one detector claims about bytes `start..end` of [`TextScan::reading`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    pub start: usize,
    pub end: usize,
    /// The detector's word for the kind.
    pub kind: &'a str,
    /// Confidence per mille.
    pub score: u16,
    /// A check digit or an equal test passed.
    pub verified: bool,
    /// Part of a longer span of the same kind follows or precedes.
    pub partial: bool,
    /// Position of the detector in the policy; the earlier one wins a tie.
    pub detector: usize,
}

/// PHI inside one segment of [`TextScan::text`], on character borders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// Confidence per mille; a further mention of a found value is certain.
    pub score: u16,
    /// Position in [`TextScan::segments`].
    pub segment: usize,
    /// The request is refused for it.
    pub refuses: bool,
    /// Where [`TextScan::reading`] says it, if that is not all that can be read here: part of a blob.
    pub(super) reads: Option<Range<usize>>,
}

/// What a claim comes to, by policy and by the organization's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It leaves the text as it is.
    Nothing,
    Counts,
    /// It refuses the request, and keeps its kind whatever stands around it.
    Refuses,
}

impl From<bool> for Weight {
    fn from(counts: bool) -> Self {
        if counts { Self::Counts } else { Self::Nothing }
    }
}

/// Merges the claims of all detectors, as `weigh` says of each. The result is sorted and has no overlaps.
pub fn merge<W: Into<Weight>>(
    scan: &TextScan,
    candidates: &[Candidate<'_>],
    weigh: impl Fn(&Candidate<'_>, &Kind) -> W,
) -> Vec<Finding> {
    let mut claims: Vec<Claim> = candidates
        .iter()
        .filter_map(|candidate| {
            let kind = Kind::named(candidate.kind);
            let weight = weigh(candidate, &kind).into();
            (weight != Weight::Nothing).then(|| claims_of(scan, candidate, kind, weight))
        })
        .flatten()
        .collect();
    escaped::drop_misread(scan, &mut claims);
    let mut findings = resolve(scan, claims);
    drop_lone_names(scan, &mut findings);
    assistant::drop(scan, &mut findings);
    findings
}

/// Many a word in an address is a given name by itself: it counts where a name elsewhere has it, or whoever found it is
/// certain.
fn drop_lone_names(scan: &TextScan, findings: &mut Vec<Finding>) {
    let is_lone = |finding: &Finding| {
        let segment = scan.segments().get(finding.segment);
        finding.kind.as_str() == "NAME"
            && finding.score < CERTAIN
            && segment.is_some_and(|segment| segment.form == Form::Address)
            && !scan.value(finding).contains(char::is_whitespace)
    };
    let (lone, others): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| is_lone(finding));
    if lone.is_empty() {
        return;
    }
    let names = others
        .iter()
        .filter(|finding| finding.kind.as_str() == "NAME");
    let words: BTreeSet<String> = names
        .flat_map(|name| scan.value(name).split_whitespace())
        .map(str::to_lowercase)
        .collect();
    let known = |finding: &Finding| words.contains(&scan.value(finding).to_lowercase());
    findings.retain(|finding| !is_lone(finding) || known(finding));
}

/// A claim on bytes of one segment of [`TextScan::text`], on its way through the merge.
#[derive(Clone)]
pub(super) struct Claim {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) standing: Standing,
    pub(super) partial: bool,
    /// See [`Finding::reads`].
    pub(super) reads: Option<Range<usize>>,
}

/// Who wins between claims; less is better. Length counts behind whether the request is refused for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Standing {
    pub(super) refuses: Reverse<bool>,
    pub(super) verified: Reverse<bool>,
    pub(super) score: Reverse<u16>,
    pub(super) detector: usize,
}

/// A candidate as claims on the text itself. Widens to whole characters and to what cannot be divided: too
/// much is covered rather than too little.
fn claims_of(scan: &TextScan, candidate: &Candidate<'_>, kind: Kind, weight: Weight) -> Vec<Claim> {
    let (text, _) = scan.reading();
    let start = text.floor_char_boundary(candidate.start);
    let end = text.ceil_char_boundary(candidate.end);
    // White space may be written as an escape, which [`resolve`] could not tell.
    let Some((start, end)) = trim(text, start, end) else {
        return Vec::new();
    };
    let standing = Standing {
        refuses: Reverse(weight == Weight::Refuses),
        verified: Reverse(candidate.verified),
        score: Reverse(candidate.score),
        detector: candidate.detector,
    };
    let pieces = scan.pieces(start..end).into_iter();
    pieces
        .filter(|piece| !is_own(scan, piece, &kind))
        .filter(|piece| {
            // What an organization denies is denied in them, too.
            candidate.score >= CERTAIN || !model_name::has(scan.text(), &piece.source, &kind)
        })
        .map(|piece| Claim {
            start: piece.source.start,
            end: piece.source.end,
            kind: kind.clone(),
            standing,
            partial: candidate.partial,
            reads: Some(piece.reads),
        })
        .collect()
}

/// What an address has because it is one: it is a web address, of a host that may be a number; file stores name things
/// by random numbers, and sign by accounts of programs.
fn is_own(scan: &TextScan, piece: &scan::Piece, kind: &Kind) -> bool {
    let segment = scan.segments().get(piece.segment);
    if segment.is_none_or(|segment| segment.form != Form::Address) {
        return false;
    }
    let written = scan.text().get(piece.source.clone()).unwrap_or_default();
    match kind.as_str() {
        "URL" => true,
        "IP_ADDRESS" => {
            let before = scan.text().get(..piece.source.start);
            before.is_some_and(|before| before.ends_with("://"))
        }
        "EMAIL" => written.ends_with(".gserviceaccount.com"),
        "OTHER_ID" => is_uuid(written),
        _ => false,
    }
}

/// 8, 4, 4, 4 and 12 hexadecimal digits (RFC 9562).
fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(|group| {
        let is_hex = group.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex { group.len() } else { 0 }
    });
    groups.eq([8, 4, 4, 4, 12])
}

/// Makes findings of claims: joined by kind, freed of overlaps, trimmed.
pub(super) fn resolve(scan: &TextScan, claims: Vec<Claim>) -> Vec<Finding> {
    if claims.is_empty() {
        return Vec::new();
    }
    let claims = claims.into_iter();
    let claims = join(
        scan,
        claims
            .flat_map(|claim| at_seams(scan, claim))
            .map(|claim| escaped::whole(scan, claim))
            .collect(),
    );
    contest(&claims)
        .into_iter()
        .filter_map(|piece| {
            let claim = claims.get(piece.claim)?;
            let (start, end) = trim(scan.text(), piece.start, piece.end)?;
            let is_whole = (start, end) == (claim.start, claim.end);
            let finding = Finding {
                start,
                end,
                kind: claim.kind.clone(),
                score: claim.standing.score.0,
                refuses: claim.standing.refuses.0,
                segment: scan.segment_at(start),
                reads: claim.reads.clone().filter(|_| is_whole),
            };
            scan.value(&finding)
                .contains(char::is_alphanumeric)
                .then_some(finding)
        })
        .collect()
}

/// A claim, cut where values of JSON meet.
fn at_seams(scan: &TextScan, claim: Claim) -> Vec<Claim> {
    let whole = 0..claim.end.saturating_sub(claim.start);
    let parts = seam::between(scan.text().get(claim.start..claim.end).unwrap_or_default());
    if parts == [whole] {
        return vec![claim];
    }
    let part = |part: Range<usize>| Claim {
        start: claim.start + part.start,
        end: claim.start + part.end,
        reads: None,
        ..claim.clone()
    };
    parts.into_iter().map(part).collect()
}

/// Joins claims of one kind that overlap, and parts that only white space divides.
fn join(scan: &TextScan, mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.retain(|claim| claim.start < claim.end);
    claims.sort_by(|a, b| (&a.kind, a.start).cmp(&(&b.kind, b.start)));
    let mut joined: Vec<Claim> = Vec::with_capacity(claims.len());
    for claim in claims {
        match joined.last_mut() {
            Some(last) if last.kind == claim.kind && belongs(scan.text(), last, &claim) => {
                if (last.start, last.end) != (claim.start, claim.end) {
                    last.reads = None;
                }
                last.end = last.end.max(claim.end);
                last.standing = last.standing.min(claim.standing);
                last.partial |= claim.partial;
            }
            _ => joined.push(claim),
        }
    }
    joined
}

fn belongs(text: &str, last: &Claim, next: &Claim) -> bool {
    let gap_is_white = || {
        text.get(last.end..next.start)
            .is_some_and(|gap| gap.chars().all(|c| c == ' ' || c == '\t'))
    };
    next.start < last.end || (last.partial && next.partial && gap_is_white())
}

struct Piece {
    start: usize,
    end: usize,
    /// Position in the claims.
    claim: usize,
}

/// Gives each stretch of text to the best of the claims on it: what refuses the request, then longest first, then by
/// standing. One sweep over the borders of all claims, n log n.
fn contest(claims: &[Claim]) -> Vec<Piece> {
    let mut borders: Vec<(usize, usize)> = Vec::with_capacity(claims.len() * 2);
    for (at, claim) in claims.iter().enumerate() {
        borders.push((claim.start, at));
        borders.push((claim.end, at));
    }
    borders.sort_unstable();
    let mut open = BTreeSet::new();
    let mut pieces: Vec<Piece> = Vec::with_capacity(claims.len());
    let mut borders = borders.into_iter().peekable();
    while let Some((here, at)) = borders.next() {
        if let Some(claim) = claims.get(at) {
            let length = Reverse(claim.end - claim.start);
            let rank = (claim.standing.refuses, length, claim.standing, at);
            // The second border of a claim closes it.
            if !open.remove(&rank) {
                open.insert(rank);
            }
        }
        let Some(&(next, _)) = borders.peek() else {
            break;
        };
        let Some(&(_, _, _, best)) = open.first() else {
            continue;
        };
        if here == next {
            continue;
        }
        match pieces.last_mut() {
            Some(last) if last.claim == best && last.end == here => last.end = next,
            _ => pieces.push(Piece {
                start: here,
                end: next,
                claim: best,
            }),
        }
    }
    pieces
}

/// Without white space at the ends; nothing where nothing else is left.
fn trim(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let piece = text.get(start..end)?;
    let head = piece.len() - piece.trim_start().len();
    let tail = piece.len() - piece.trim_end().len();
    (head < piece.len()).then(|| (start + head, end - tail))
}

/// The part `start..end` of a finding, trimmed; nothing where no letter or digit can be read in it.
pub(super) fn part(
    scan: &TextScan,
    finding: &Finding,
    start: usize,
    end: usize,
) -> Option<Finding> {
    let (start, end) = trim(scan.text(), start, end)?;
    if (start, end) == (finding.start, finding.end) {
        return Some(finding.clone());
    }
    let part = Finding {
        start,
        end,
        reads: None,
        ..finding.clone()
    };
    scan.value(&part)
        .contains(char::is_alphanumeric)
        .then_some(part)
}
