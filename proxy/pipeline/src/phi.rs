//! PHI Guard over a canonical chat: detectors find, the core decides and rewrites. Knows no surface.
//!
//! Everything here fails closed: a detector that is missing, fails or breaks its interface refuses the request.

mod cases;
pub mod lists;
mod quoted;
mod reasoning;
mod reply;
pub mod results;

pub use cases::failures;
pub(crate) use quoted::{UNREAD, quoted};
pub(crate) use reasoning::{FOREIGN_THINKING, Sealing, Thoughts};
pub(crate) use reply::{Outlet, ReplyGuard};

use std::ops::Range;
use std::sync::Arc;

use futures_util::future::try_join_all;
use svc_core::chat::ChatRequest;
use svc_core::fault::Fault;
use svc_core::phi::{
    self, Allowed, Candidate, Counts, Finding, Kind, Listener, Mentions, PlaceholderMap, TextScan,
    ValueLists, Weight,
};
use svc_core::surface::PhiMetadata;
use svc_plugin::{Detector, PluginHost, Reader, Segment, Span};

use crate::caller::PhiMode;
use crate::phi::results::OwnResults;
use crate::policy::phi::{Action, PhiPolicy, ProfileId};

/// What the guard knows about one request once it has let it pass.
pub struct Scan {
    pub mode: PhiMode,
    /// What was replaced in the request, by kind.
    pub counts: Counts,
    /// `id@version` of every detector that read the request.
    pub detectors: Vec<String>,
    /// The same detectors, for the reply: at work still, where instances are plenty.
    readers: Readers,
    /// Values and their placeholders; restores the reply and is stored, sealed, with the conversation.
    pub placeholders: PlaceholderMap,
}

impl Scan {
    /// The next text of the reply has to be waited for: the plugin instances can serve others meanwhile.
    pub(crate) fn rest(&mut self) {
        self.readers.rest();
    }

    /// What callers and audit rows see of it.
    pub fn metadata(&self, restored: u64) -> PhiMetadata {
        PhiMetadata {
            mode: self.mode.word(),
            counts: self.counts.clone(),
            restored,
        }
    }
}

/// Detectors and profile of a policy, pinned for one request and its reply, with the lists of the organization. Belongs
/// to the policy that it was pinned with.
#[derive(Clone)]
pub struct Detectors {
    detectors: Vec<Arc<Detector>>,
    profile: ProfileId,
    /// Absent where the organization lists nothing.
    lists: Option<Arc<ValueLists>>,
    /// For requests. A reply is read in pieces that no other reply has.
    results: Option<OwnResults>,
}

/// What the detectors found in a text, and what the organization allows and denies there.
struct Detected {
    findings: Vec<Finding>,
    allowed: Allowed,
    /// Bytes of [`TextScan::reading`].
    denied: Vec<Range<usize>>,
}

impl Detectors {
    /// Pins the version in force of every detector that the policy names.
    ///
    /// # Errors
    /// 503 when one is not loaded.
    pub fn pin(
        plugins: &PluginHost,
        policy: &PhiPolicy,
        profile: ProfileId,
    ) -> Result<Self, Fault> {
        let found: Result<Vec<_>, _> = policy
            .detectors
            .iter()
            .map(|id| plugins.detector(id))
            .collect();
        let detectors =
            found.map_err(|error| Fault::unavailable(format_args!("PHI detector: {error}")))?;
        Ok(Self {
            detectors,
            profile,
            lists: None,
            results: None,
        })
    }

    /// The same detectors under an organization's lists.
    #[must_use]
    pub fn with_lists(mut self, lists: Option<Arc<ValueLists>>) -> Self {
        self.lists = lists;
        self
    }

    /// The same detectors, which do not read again what they have read for this organization.
    #[must_use]
    pub fn with_results(mut self, results: OwnResults) -> Self {
        self.results = Some(results);
        self
    }

    /// `id@version` of every detector, in the order of the policy.
    pub fn versions(&self) -> Vec<String> {
        self.detectors
            .iter()
            .map(|detector| detector.name().to_owned())
            .collect()
    }

    /// Everything that the detectors and the lists find in one text, on fresh instances.
    ///
    /// # Errors
    /// 503 when any detector fails.
    async fn find(&self, scan: &TextScan, policy: &PhiPolicy) -> Result<Detected, Fault> {
        self.find_with(&mut self.readers(), scan, policy).await
    }

    /// As [`Self::find`], on these instances.
    async fn find_with(
        &self,
        readers: &mut Readers,
        scan: &TextScan,
        policy: &PhiPolicy,
    ) -> Result<Detected, Fault> {
        readers.detect(scan, policy, self.results.as_ref()).await
    }

    fn readers(&self) -> Readers {
        Readers {
            readers: self.detectors.iter().cloned().map(Reader::new).collect(),
            profile: self.profile,
            lists: self.lists.clone(),
        }
    }
}

/// Detectors at work on the texts of one request and of its reply.
struct Readers {
    readers: Vec<Reader>,
    profile: ProfileId,
    lists: Option<Arc<ValueLists>>,
}

impl Readers {
    /// Everything that the detectors find in `scan`, merged under the policy's rules and the
    /// organization's lists.
    ///
    /// # Errors
    /// 503 when any detector fails.
    async fn find(&mut self, scan: &TextScan, policy: &PhiPolicy) -> Result<Vec<Finding>, Fault> {
        Ok(self.detect(scan, policy, None).await?.findings)
    }

    /// As [`Self::find`], but for what a model may state by itself.
    async fn find_in_reply(
        &mut self,
        scan: &TextScan,
        policy: &PhiPolicy,
    ) -> Result<Vec<Finding>, Fault> {
        let Detected {
            mut findings,
            allowed: _,
            denied,
        } = self.detect(scan, policy, None).await?;
        let may_hold = |kind: &Kind| policy.replies_may_hold(kind.as_str());
        phi::leave_in_reply(scan, &mut findings, may_hold, &denied);
        Ok(findings)
    }

    async fn detect(
        &mut self,
        scan: &TextScan,
        policy: &PhiPolicy,
        results: Option<&OwnResults>,
    ) -> Result<Detected, Fault> {
        let (text, segments) = scan.reading();
        let segments: Vec<Segment> = segments.iter().map(segment).collect();
        let detectors = self.readers.iter().map(Reader::detector);
        let plans = match results {
            Some(results) => results.plans(detectors, text, &segments),
            None => detectors.map(|_| None).collect(),
        };
        let readers = self.readers.iter_mut().zip(plans);
        let calls = readers.map(|(reader, plan)| results::detect(reader, text, &segments, plan));
        let spans = try_join_all(calls).await;
        let spans =
            spans.map_err(|error| Fault::unavailable(format_args!("PHI detector: {error}")))?;
        let mentions = self.lists.as_ref().map(|lists| lists.find(scan));
        let Mentions { allowed, denied } = mentions.unwrap_or_default();
        let found =
            self.readers
                .iter()
                .zip(&spans)
                .enumerate()
                .flat_map(|(at, (reader, spans))| {
                    spans
                        .iter()
                        .filter_map(move |span| candidate(reader.detector(), at, span))
                });
        // The lists stand behind the last detector.
        let lists = self.readers.len();
        let by_list = denied.iter().map(|(range, kind)| Candidate {
            start: range.start,
            end: range.end,
            kind: kind.as_str(),
            score: phi::CERTAIN,
            verified: true,
            partial: false,
            detector: lists,
        });
        let candidates: Vec<Candidate<'_>> = found.chain(by_list).collect();
        let weigh = |claim: &Candidate<'_>, kind: &Kind| {
            let narrower = || phi::narrower(kind.as_str(), text, claim.start..claim.end);
            let rule = policy.rule(self.profile, kind.as_str(), narrower);
            // What an organization denies is PHI, whatever the policy allows.
            let is_denied = claim.detector == lists;
            let is_left = !is_denied
                && (claim.score < rule.threshold || allowed.covers(claim.start, claim.end));
            match rule.action {
                Action::Block if !is_left => Weight::Refuses,
                Action::Redact if !is_left => Weight::Counts,
                Action::Allow if is_denied => Weight::Counts,
                Action::Allow | Action::Block | Action::Redact => Weight::Nothing,
            }
        };
        let findings = phi::merge(scan, &candidates, weigh);
        Ok(Detected {
            findings,
            allowed,
            denied: denied.into_iter().map(|(range, _)| range).collect(),
        })
    }

    /// As [`Reader::rest`].
    fn rest(&mut self) {
        self.readers.iter_mut().for_each(Reader::rest);
    }
}

fn segment(segment: &phi::Segment) -> Segment {
    Segment {
        start: segment.start,
        end: segment.end,
        origin: segment.origin,
    }
}

fn candidate<'a>(detector: &'a Detector, at: usize, span: &Span) -> Option<Candidate<'a>> {
    let kind = detector.kinds().get(span.kind)?;
    Some(Candidate {
        start: span.start,
        end: span.end,
        kind,
        score: span.score,
        verified: span.hints.verified,
        partial: span.hints.partial,
        detector: at,
    })
}

/// A request that the guard does not let pass.
pub struct Refused {
    pub fault: Box<Fault>,
    /// What was found in it, by kind.
    pub counts: Counts,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self {
            fault: Box::new(fault),
            counts: Counts::default(),
        }
    }
}

/// Reads a chat, refuses what must be refused and rewrites the rest in place, for whoever gets the reply.
///
/// # Errors
/// `PHI_IN_TOOL_SCHEMA`, `PHI_BLOCKED`, or 503 when the guard itself fails.
pub async fn guard(
    chat: &mut ChatRequest,
    detectors: &Detectors,
    policy: &PhiPolicy,
    mode: PhiMode,
    mut placeholders: PlaceholderMap,
    listener: Listener,
) -> Result<Scan, Refused> {
    let scan = TextScan::of(chat).recalling(&placeholders);
    let mut readers = detectors.readers();
    let found = detectors.find_with(&mut readers, &scan, policy);
    let Detected {
        findings,
        allowed,
        denied,
    } = found.await?;
    let mut findings = phi::sweep(&scan, findings, &placeholders, &allowed)
        .map_err(|error| Fault::unavailable(format_args!("PHI Guard: {error}")))?;
    let may_hold = |kind: &Kind| policy.fixed_text_may_hold(kind.as_str());
    phi::leave_in_fixed_text(&scan, &mut findings, may_hold, &denied);
    phi::leave_pseudonyms(&scan, &mut findings, &placeholders, &denied);
    let refused = |fault| Refused {
        fault: Box::new(fault),
        counts: findings.iter().map(|finding| &finding.kind).collect(),
    };
    if let Some(fault) = phi::refusal::in_tool_definition(chat, &scan, &findings) {
        return Err(refused(fault));
    }
    let blocked = match mode {
        PhiMode::Block => !findings.is_empty(),
        PhiMode::Redact => findings
            .iter()
            .any(|finding| is_blocking(finding, &scan, detectors.profile, policy)),
    };
    if blocked {
        return Err(refused(phi::refusal::blocked(chat, &findings)));
    }
    if let Some(fault) = phi::refusal::in_address(chat, &scan, &findings) {
        return Err(refused(fault));
    }
    let counts = phi::redact(chat, &scan, &findings, &mut placeholders, listener)
        .map_err(|error| Fault::internal(format_args!("PHI Guard: {error}")))?;
    phi::may_hold_placeholders(chat, &placeholders);
    // The provider is next.
    readers.rest();
    Ok(Scan {
        mode,
        counts,
        detectors: detectors.versions(),
        readers,
        placeholders,
    })
}

/// Whether a finding refuses the request whatever the mode.
fn is_blocking(finding: &Finding, scan: &TextScan, profile: ProfileId, policy: &PhiPolicy) -> bool {
    let kind = finding.kind.as_str();
    let narrower = || phi::narrower(kind, scan.text(), finding.start..finding.end);
    policy.rule(profile, kind, narrower).action == Action::Block
}

/// A finding in one text, in bytes.
struct Found {
    start: usize,
    end: usize,
    kind: String,
    /// Confidence per mille.
    score: u16,
}

/// What the guard would replace in one user message.
async fn found_in(
    text: &str,
    detectors: &Detectors,
    policy: &PhiPolicy,
) -> Result<Vec<Found>, Fault> {
    let mut chat = ChatRequest::of_user_text(text);
    let scan = TextScan::of(&mut chat);
    let Detected {
        findings, allowed, ..
    } = detectors.find(&scan, policy).await?;
    let findings = phi::sweep(&scan, findings, &PlaceholderMap::default(), &allowed)
        .map_err(|error| Fault::unavailable(format_args!("PHI Guard: {error}")))?;
    Ok(findings
        .into_iter()
        .map(|finding| Found {
            start: finding.start,
            end: finding.end,
            kind: finding.kind.as_str().to_owned(),
            score: finding.score,
        })
        .collect())
}

/// A finding in one text, for people and tools: offsets in Unicode code points.
pub struct ScannedSpan {
    /// Its first code point; `end` is behind its last.
    pub start: usize,
    pub end: usize,
    pub kind: String,
    /// Confidence per mille.
    pub score: u16,
}

/// What the guard would replace in one user message.
///
/// # Errors
/// 503 when a detector fails.
pub async fn spans(
    text: &str,
    detectors: &Detectors,
    policy: &PhiPolicy,
) -> Result<Vec<ScannedSpan>, Fault> {
    let found = found_in(text, detectors, policy).await?;
    let mut counted = (0, 0);
    let mut code_points = |offset: usize| {
        let (bytes, points) = counted;
        let more = text
            .get(bytes..offset)
            .map_or(0, |between| between.chars().count());
        counted = (offset, points + more);
        points + more
    };
    Ok(found
        .into_iter()
        .map(|finding| ScannedSpan {
            start: code_points(finding.start),
            end: code_points(finding.end),
            kind: finding.kind,
            score: finding.score,
        })
        .collect())
}
