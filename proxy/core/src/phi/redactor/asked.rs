//! What the caller has said: a value that stands in the request is not new in the reply, also where only the reply
//! tells what kind of value it is (`find 4471223`, and the argument `"mrn": "4471223"`).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::chat::ChatRequest;
use crate::phi::Origin;
use crate::phi::kind::Kind;
use crate::phi::merge::Finding;
use crate::phi::scan::TextScan;
use crate::phi::sweep::{TooManyMentions, mentioned};

/// What is known of a request as the provider got it. Holds content.
pub(super) struct Asked {
    request: Arc<Request>,
    /// Whether the caller has said a value.
    said: HashMap<Sought, bool>,
}

struct Request {
    chat: Arc<ChatRequest>,
    /// Its text; absent until something is found in the reply.
    text: OnceLock<TextScan>,
}

/// A value of the reply, as it is looked for in the request and in the spelling of [`Kind::normal`].
#[derive(PartialEq, Eq, Hash)]
struct Sought {
    kind: Kind,
    value: String,
    normal: String,
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

    /// What has to be known before [`Self::without_said`]; nothing where all of it is.
    pub(super) fn inquire(&self, scan: &TextScan, findings: &[Finding]) -> Option<Inquiry> {
        let sought = findings.iter().map(|finding| Sought::of(scan, finding));
        let values: Vec<Sought> = sought
            .filter(|sought| !self.said.contains_key(sought))
            .collect();
        (!values.is_empty()).then(|| Inquiry {
            request: Arc::clone(&self.request),
            values,
        })
    }

    pub(super) fn learn(&mut self, Answer(answer): Answer) {
        self.said.extend(answer);
    }

    /// Takes out of the findings of a stretch of the reply what the caller has said.
    pub(super) fn without_said(&self, scan: &TextScan, mut findings: Vec<Finding>) -> Vec<Finding> {
        findings.retain(|finding| self.said.get(&Sought::of(scan, finding)) != Some(&true));
        findings
    }
}

impl Inquiry {
    /// What the answer has to read.
    pub fn request(&self) -> &ChatRequest {
        &self.request.chat
    }

    /// Reads the request.
    ///
    /// # Errors
    /// [`TooManyMentions`]; the reply cannot be judged and must not go on.
    pub fn answer(self) -> Result<Answer, TooManyMentions> {
        let Request { chat, text } = &*self.request;
        // Reading is the walk that rewrites, so it wants a request of its own.
        let text = text.get_or_init(|| TextScan::of(&mut ChatRequest::clone(chat)));
        let values = self.values.iter();
        let said = mentioned(text, values.map(|sought| (&sought.kind, &*sought.value)))?;
        let answers = self.values.into_iter().map(|sought| {
            let is_said = said.contains(&(sought.kind.clone(), sought.normal.clone()));
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
            normal: finding.kind.normal(value),
            value: if is_argument {
                value.to_lowercase()
            } else {
                value.to_owned()
            },
        }
    }
}
