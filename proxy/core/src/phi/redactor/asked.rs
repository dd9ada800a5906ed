//! What the caller has said: a value that stands in the request is not new in the reply, also where only the reply tells
//! what kind of value it is (`find 4471223`, and the argument `"mrn": "4471223"`).

use std::borrow::Cow;
use std::sync::Arc;

use crate::chat::ChatRequest;
use crate::phi::Origin;
use crate::phi::merge::Finding;
use crate::phi::scan::TextScan;
use crate::phi::sweep::{TooManyMentions, mentioned};

/// A request as the provider got it. Holds content.
pub(super) struct Asked {
    chat: Arc<ChatRequest>,
    /// Its text; absent until something is found in the reply.
    text: Option<TextScan>,
}

impl Asked {
    pub(super) fn new(chat: Arc<ChatRequest>) -> Self {
        Self { chat, text: None }
    }

    /// Takes out of the findings of a stretch of the reply what the caller has said. A tool may be asked for `Jenkins`
    /// where the caller wrote `jenkins`; in prose that is another word.
    pub(super) fn without_said(
        &mut self,
        scan: &TextScan,
        mut findings: Vec<Finding>,
    ) -> Result<Vec<Finding>, TooManyMentions> {
        if findings.is_empty() {
            return Ok(findings);
        }
        let chat = &self.chat;
        let text = self
            .text
            .get_or_insert_with(|| TextScan::of(&mut ChatRequest::clone(chat)));
        let values: Vec<_> = findings
            .iter()
            .map(|finding| (&finding.kind, sought(scan, finding)))
            .collect();
        let said = mentioned(text, values.iter().map(|(kind, value)| (*kind, &**value)))?;
        findings.retain(|finding| {
            let normal = finding.kind.normal(scan.value(finding));
            !said.contains(&(finding.kind.clone(), normal))
        });
        Ok(findings)
    }
}

fn sought<'s>(scan: &'s TextScan, finding: &Finding) -> Cow<'s, str> {
    let value = scan.value(finding);
    let segment = scan.segments().get(finding.segment);
    if segment.is_some_and(|segment| segment.origin == Origin::ToolArguments) {
        value.to_lowercase().into()
    } else {
        value.into()
    }
}
