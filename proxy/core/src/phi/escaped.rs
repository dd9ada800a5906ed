//! What detectors claim of a text whose escapes they have read as letters: `\nThank` is a line break and `Thank`, and no
//! word `nThank`. Such a text is read a second time with its escapes opened, and what it holds is claimed there.
//!
//! A guess that comes of the wrong reading is dropped; a rule's claim stays where the right reading has nothing in its
//! place, since not all that looks like an escape is one (`HOSPITAL\nkaur`). None begins or ends inside of an escape.

use std::ops::Range;

use super::merge::{CERTAIN, Claim};
use super::scan::TextScan;

/// Scores below are guesses, by the words around a value alone.
pub(super) const TOLD: u16 = 700;

/// Drops the claims that come of reading escapes as letters.
pub(super) fn drop_misread(scan: &TextScan, claims: &mut Vec<Claim>) {
    if !scan.is_disguised() || !claims.iter().any(|claim| is_misread(scan, claim)) {
        return;
    }
    let opened = claims.iter().filter(|claim| is_opened(scan, claim));
    let told = opened.filter(|claim| claim.standing.score.0 >= TOLD);
    let told = united(told.map(|claim| claim.start..claim.end).collect());
    let is_told = |claim: &Claim| {
        let next = told.partition_point(|stretch| stretch.end <= claim.start);
        told.get(next)
            .is_some_and(|stretch| stretch.start < claim.end)
    };
    claims.retain(|claim| {
        let score = claim.standing.score.0;
        let may_go = score < TOLD || (score < CERTAIN && is_told(claim));
        !(may_go && is_misread(scan, claim))
    });
}

/// A claim with the escapes whole that it would cut.
pub(super) fn whole(scan: &TextScan, claim: Claim) -> Claim {
    if !scan.is_disguised() {
        return claim;
    }
    let (mut start, mut end) = (claim.start, claim.end);
    for escape in escapes(scan, &claim).map(|(escape, _)| escape) {
        if escape.start < start && start < escape.end {
            start = escape.start;
        }
        if escape.start < end && end < escape.end {
            end = escape.end;
        }
    }
    let is_whole = (start, end) == (claim.start, claim.end);
    Claim {
        start,
        end,
        reads: claim.reads.clone().filter(|_| is_whole),
        ..claim
    }
}

fn is_opened(scan: &TextScan, claim: &Claim) -> bool {
    let reads = claim.reads.as_ref();
    reads.is_some_and(|reads| scan.is_opened(reads.start))
}

/// Whether a claim is of a text as it stands, and an escape is in it, or in its first or last word.
fn is_misread(scan: &TextScan, claim: &Claim) -> bool {
    !is_opened(scan, claim)
        && escapes(scan, claim).any(|(escape, reads)| {
            let is_letter = reads.contains(char::is_alphanumeric);
            let ends_like_one = || written(scan, &escape).ends_with(char::is_alphanumeric);
            if escape.end <= claim.start {
                is_letter || ends_like_one()
            } else {
                escape.start < claim.end || is_letter
            }
        })
}

/// The escapes in a claim and right beside it, and what they read as.
fn escapes<'s>(scan: &'s TextScan, claim: &Claim) -> impl Iterator<Item = (Range<usize>, &'s str)> {
    let replaced = scan.replaced(claim.start..claim.end);
    replaced.filter(|(escape, _)| is_escape(written(scan, escape)))
}

fn written<'s>(scan: &'s TextScan, place: &Range<usize>) -> &'s str {
    scan.text().get(place.clone()).unwrap_or_default()
}

/// Whether something is written by its code or its name: `\n`, `\u00e9`, `%20`, `&amp;`, `=20`. A sign behind a backslash
/// is read right.
fn is_escape(written: &str) -> bool {
    written.starts_with(['\\', '%', '&', '='])
        && written.contains(|letter: char| letter.is_ascii_alphanumeric())
}

/// Stretches in order, those as one that meet.
fn united(mut stretches: Vec<Range<usize>>) -> Vec<Range<usize>> {
    stretches.sort_by_key(|stretch| stretch.start);
    let mut united: Vec<Range<usize>> = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        match united.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => united.push(stretch),
        }
    }
    united
}
