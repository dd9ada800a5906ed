//! One call of an endpoint, past every gate: who calls, with what input, and what the answer may look like.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::{Code, Fault, Problems};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_core::time::Timestamp;
use svc_pipeline::caller::Caller;
use svc_pipeline::gateway::Gateway;
use svc_pipeline::policy::PolicySet;
use svc_pipeline::response::Body;
use svc_pipeline::standing::Standing;
use svc_store::audit::Target;
use svc_store::{StoreError, Transaction, TransactionError};

use crate::query::Query;

/// What an endpoint is given.
pub(crate) struct Call {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) policy: Arc<PolicySet>,
    pub(crate) caller: Arc<Caller>,
    /// Whether the caller may go on, for answers that take their time.
    pub(crate) standing: Standing,
    /// When it is decided, behind its body: what it makes or changes has this time.
    pub(crate) now: Timestamp,
    pub(crate) client: Client,
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) query: Query,
    /// Empty where none was sent.
    pub(crate) body: Map<String, Value>,
    /// The same as it was sent, for what is read digit by digit; empty in calls that change nothing.
    pub(crate) sent: Bytes,
}

/// Whoever sends a request, as far as the request tells.
pub(crate) struct Client {
    pub(crate) request_id: String,
    pub(crate) address: String,
    pub(crate) user_agent: Option<String>,
    /// Whether it takes one JSON object a line.
    pub(crate) accepts_lines: bool,
}

impl Call {
    /// A parameter of the path that is an identifier. What cannot be one names nothing that exists.
    ///
    /// # Errors
    /// 404.
    pub(crate) fn id(&self, name: &str, kind: IdKind) -> Result<String, Fault> {
        let text = self.parameter(name);
        match kind.accept(text) {
            Some(id) if id == text => Ok(id),
            _ => Err(missing()),
        }
    }

    /// Refuses any input: this endpoint has none.
    ///
    /// # Errors
    /// 422 that names everything.
    pub(crate) fn takes_nothing(&mut self) -> Result<(), Fault> {
        let mut problems = Problems::default();
        self.query.end(&mut problems);
        Fields::top(std::mem::take(&mut self.body)).end_strictly(&mut problems);
        problems.into_result()
    }

    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }
}

/// What a read answers.
pub(crate) struct Reply {
    pub(crate) content: Content,
    /// What the audit row says, of a read that has one.
    pub(crate) target: Option<Target>,
    pub(crate) details: Map<String, Value>,
}

/// What the caller gets.
pub(crate) enum Content {
    /// In the envelope; `meta.pagination` of a list beside it.
    Data {
        data: Value,
        pagination: Option<Value>,
    },
    /// As it is, with headers of its own.
    Plain { headers: HeaderMap, body: Body },
}

impl Reply {
    pub(crate) fn of(data: Value) -> Self {
        Self::with(Content::Data {
            data,
            pagination: None,
        })
    }

    /// A page of a list.
    pub(crate) fn page(data: Value, pagination: Value) -> Self {
        Self::with(Content::Data {
            data,
            pagination: Some(pagination),
        })
    }

    /// Something else than an envelope.
    pub(crate) fn plain(headers: HeaderMap, body: Body) -> Self {
        Self::with(Content::Plain { headers, body })
    }

    fn with(content: Content) -> Self {
        Self {
            content,
            target: None,
            details: Map::new(),
        }
    }

    pub(crate) fn about(mut self, kind: &str, id: &str) -> Self {
        self.target = Some(Target {
            kind: kind.to_owned(),
            id: id.to_owned(),
        });
        self
    }

    pub(crate) fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

/// What a write has done, inside its transaction.
pub(crate) struct Effect {
    pub(crate) status: StatusCode,
    pub(crate) data: Value,
    /// What the audit row says: `created`.
    pub(crate) happened: &'static str,
    pub(crate) target: Target,
    pub(crate) details: Map<String, Value>,
    pub(crate) outdated: Outdated,
}

/// What this replica's memory of an organization no longer says rightly; others read it again within 2 s.
#[derive(Default)]
pub(crate) struct Outdated {
    /// Digests of credentials.
    pub(crate) credentials: Vec<[u8; 32]>,
    /// Whether settings or agreements are others, which every caller of the organization is known with.
    pub(crate) organization: bool,
    pub(crate) bindings: bool,
    /// Whether the budget has other caps.
    pub(crate) budget: bool,
}

impl Effect {
    pub(crate) fn new(happened: &'static str, kind: &str, id: &str, data: Value) -> Self {
        Self {
            status: StatusCode::OK,
            data,
            happened,
            target: Target {
                kind: kind.to_owned(),
                id: id.to_owned(),
            },
            details: Map::new(),
            outdated: Outdated::default(),
        }
    }

    pub(crate) fn created(kind: &str, id: &str, data: Value) -> Self {
        Self::new("created", kind, id, data).with_status(StatusCode::CREATED)
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

/// Why a write decided against itself, inside its transaction.
pub(crate) enum Undone {
    Refused(Fault),
    /// What it was judged by is no longer so: it is to be judged again.
    Outdated,
}

/// A refusal, or the database's own trouble.
pub(crate) type Refused = TransactionError<Undone>;

/// What is to be done in the transaction that also writes the audit row.
pub(crate) type Change =
    Box<dyn for<'c> FnOnce(Transaction<'c>) -> BoxFuture<'c, Result<Effect, Refused>> + Send>;

/// What a read and a write come to.
pub(crate) type Answering = BoxFuture<'static, Result<Reply, Fault>>;
pub(crate) type Deciding = BoxFuture<'static, Result<Change, Fault>>;

/// A change from a function of a transaction.
pub(crate) fn change(
    work: impl for<'c> FnOnce(Transaction<'c>) -> BoxFuture<'c, Result<Effect, Refused>>
    + Send
    + 'static,
) -> Change {
    Box::new(work)
}

/// What does not exist, or belongs to another organization or mode (contract 7, tenancy).
pub(crate) fn missing() -> Fault {
    Code::ResourceNotFound.fault()
}

/// A refusal out of a transaction.
pub(crate) const fn refused(fault: Fault) -> Refused {
    TransactionError::Refused(Undone::Refused(fault))
}

/// The end of a write that is to be judged again, by what holds now.
pub(crate) const fn outdated() -> Refused {
    TransactionError::Refused(Undone::Outdated)
}

/// How often a write is judged before it is left to its caller: other writes that changed what it is judged by, and
/// were done, stand behind each time.
pub(crate) const JUDGED_TIMES: usize = 32;

/// The end of a write that was outdated each time.
pub(crate) fn never_settled() -> Fault {
    Fault::unavailable(format_args!(
        "what a write is judged by changed {JUDGED_TIMES} times before it was done"
    ))
}

/// The store's trouble as a fault.
pub(crate) fn store_fault(error: &StoreError) -> Fault {
    if error.is_outage() {
        Fault::unavailable(format_args!("control plane: {error}"))
    } else {
        Fault::internal(format_args!("control plane: {error}"))
    }
}

/// A time as records show it.
pub(crate) fn shown(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| json!(at.to_string()))
}
