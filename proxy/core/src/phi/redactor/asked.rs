//! What the caller has said: a value that stands in the request is not new in the reply, also where only the reply
//! tells what kind of value it is (`find 4471223`, and the argument `"mrn": "4471223"`).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::chat::ChatRequest;
use crate::phi::Origin;
use crate::phi::kind::Kind;
use crate::phi::merge::Finding;
use crate::phi::scan::TextScan;
use crate::phi::sweep::{TooManyMentions, Words, is_short, mentioned, said_form};

/// What is known of a request as the provider got it. Holds content.
pub(super) struct Asked {
    request: Arc<Request>,
    /// Whether the caller has said a value.
    said: HashMap<Sought, bool>,
}

struct Request {
    chat: Arc<ChatRequest>,
    /// Its text and the words of it; absent until something is found in the reply.
    text: OnceLock<(TextScan, Words)>,
}

/// A value of the reply, as it is looked for in the request and as [`said_form`] has it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Sought {
    kind: Kind,
    value: String,
    form: String,
}

/// Values of a reply that are looked for in its request: work that grows with the request, for a thread that may be
/// kept busy so long. Holds content.
pub struct Inquiry {
    request: Arc<Request>,
    values: Vec<Sought>,
}

/// What an [`Inquiry`] says. Holds content.
pub struct Answer(Vec<(Sought, bool)>);

impl Asked {
    pub(super) fn new(chat: Arc<ChatRequest>) -> Self {
        let text = OnceLock::new();
        Self {
            request: Arc::new(Request { chat, text }),
            said: HashMap::new(),
        }
    }

    /// What has to be known for [`Self::without_said`]; nothing where all of it is.
    pub(super) fn inquire(&self, scan: &TextScan, findings: &[Finding]) -> Option<Inquiry> {
        let sought = findings.iter().map(|finding| Sought::of(scan, finding));
        self.inquiry(sought.filter(|sought| !self.said.contains_key(sought)))
    }

    fn inquiry(&self, unknown: impl Iterator<Item = Sought>) -> Option<Inquiry> {
        let values: Vec<Sought> = unknown.collect();
        (!values.is_empty()).then(|| Inquiry {
            request: Arc::clone(&self.request),
            values,
        })
    }

    pub(super) fn learn(&mut self, Answer(answer): Answer) {
        self.said.extend(answer);
    }

    /// Takes out of the findings of a stretch of the reply what the caller has said. What was not inquired yet is looked
    /// for here.
    ///
    /// # Errors
    /// As [`Inquiry::answer`].
    pub(super) fn without_said(
        &mut self,
        scan: &TextScan,
        mut findings: Vec<Finding>,
    ) -> Result<Vec<Finding>, TooManyMentions> {
        let sought = findings.iter().map(|finding| Sought::of(scan, finding));
        let sought: Vec<Sought> = sought.collect();
        let unknown = sought
            .iter()
            .filter(|sought| !self.said.contains_key(sought));
        if let Some(inquiry) = self.inquiry(unknown.cloned()) {
            self.learn(inquiry.answer()?);
        }
        let mut sought = sought.iter();
        findings.retain(|_| sought.next().and_then(|sought| self.said.get(sought)) != Some(&true));
        Ok(findings)
    }
}

impl Inquiry {
    /// Reads the request.
    ///
    /// # Errors
    /// [`TooManyMentions`]; the reply cannot be judged and must not go on.
    pub fn answer(self) -> Result<Answer, TooManyMentions> {
        let Request { chat, text } = &*self.request;
        // Reading is the walk that rewrites, so it wants a request of its own.
        let (text, words) = text.get_or_init(|| {
            let text = TextScan::of(&mut ChatRequest::clone(chat));
            let words = Words::of(&text);
            (text, words)
        });
        let values = self.values.iter();
        let values = values.map(|sought| (&sought.kind, &*sought.value));
        // Most of what a model invents is in no request, and one search reads all of it.
        let said = mentioned(
            text,
            values.filter(|(kind, value)| words.may_hold(kind, value)),
        )?;
        let answers = self.values.into_iter().map(|sought| {
            let is_said = said.contains(&(sought.kind.clone(), sought.form.clone()));
            (sought, is_said)
        });
        Ok(Answer(answers.collect()))
    }
}

impl Sought {
    /// A tool may be asked for `Jenkins` where the caller wrote `jenkins`; in prose that is another word.
    fn of(scan: &TextScan, finding: &Finding) -> Self {
        let value = scan.value(finding);
        let segment = scan.segments().get(finding.segment);
        let is_argument = segment.is_some_and(|segment| segment.origin == Origin::ToolArguments);
        Self {
            kind: finding.kind.clone(),
            form: said_form(&finding.kind, value),
            value: if is_argument && !is_short(&finding.kind, value) {
                value.to_lowercase()
            } else {
                value.to_owned()
            },
        }
    }
}
