//! The fault catalogue: one row for every error code that the gateway can answer with.
//!
//! A row is all there is to know about a code: HTTP status, type, whether a retry helps, what the
//! chat-completions surface answers instead, and whether any route raises it at all. Filters and handlers
//! raise a [`Fault`]; each surface renders it (see [`crate::surface`]). The cause is for the log and never
//! reaches a caller.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::{self, Write as _};

use serde_json::{Map, Value, json};

/// `error.type` of the native envelope (contract 3.1: the eleven values that the code table uses).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    InvalidRequest,
    Authentication,
    Permission,
    NotFound,
    Conflict,
    RateLimited,
    PaymentRequired,
    Gone,
    ApiError,
    ProviderError,
    ServiceUnavailable,
}

impl Kind {
    /// The wire word of `error.type`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::RateLimited => "rate_limited",
            Self::PaymentRequired => "payment_required",
            Self::Gone => "gone",
            Self::ApiError => "api_error",
            Self::ProviderError => "provider_error",
            Self::ServiceUnavailable => "service_unavailable",
        }
    }
}

/// Which part of the chain failed: `failure_layer` of the native `error` event (contract 21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Gateway,
    Provider,
}

impl Layer {
    /// The wire word of `failure_layer`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Provider => "provider",
        }
    }
}

/// One row of the catalogue.
#[derive(Debug)]
pub struct Row {
    pub code: Code,
    /// The code as it stands in `error.code`.
    pub word: &'static str,
    pub status: u16,
    pub kind: Kind,
    /// Whether the same request may succeed later (contract 3.2).
    pub retryable: bool,
    /// Status on the chat-completions surface where its own table differs from the general rule
    /// (spec, "Differences in compat endpoints").
    pub chat_completions: Option<u16>,
    /// Listed by the specification, raised by no route of this interface (contract 21, reserved codes).
    pub reserved: bool,
    /// What the error page and a fault without words of its own say.
    pub meaning: &'static str,
}

/// One line per code keeps the enum, its word and its row from ever drifting apart.
macro_rules! catalogue {
    ($($variant:ident $word:literal $status:literal $kind:ident $retry:ident $chat:tt $use:ident $meaning:literal;)*) => {
        /// Every code of the specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $meaning] $variant),* }

        /// The catalogue, in the order of the specification's table.
        pub static CATALOGUE: &[Row] = &[$(Row {
            code: Code::$variant,
            word: $word,
            status: $status,
            kind: Kind::$kind,
            retryable: catalogue!(@retry $retry),
            chat_completions: catalogue!(@chat $chat),
            reserved: catalogue!(@use $use),
            meaning: $meaning,
        }),*];

        impl Code {
            /// The row of this code.
            pub const fn row(self) -> &'static Row {
                // The enum and the catalogue come from the same lines, in the same order.
                &CATALOGUE[self as usize]
            }
        }
    };
    (@retry retry) => { true };
    (@retry final) => { false };
    (@chat _) => { None };
    (@chat $status:literal) => { Some($status) };
    (@use raised) => { false };
    (@use reserved) => { true };
}

catalogue! {
    PhiInToolSchema "PHI_IN_TOOL_SCHEMA" 400 InvalidRequest final _ raised "A tool definition contains PHI.";
    UnsupportedParameter "UNSUPPORTED_PARAMETER" 400 InvalidRequest final _ raised "A parameter cannot be honored here.";
    InvalidApiVersion "INVALID_API_VERSION" 400 InvalidRequest final _ raised "The Svc-Version header names an unsupported version.";
    InvalidApiKey "INVALID_API_KEY" 401 Authentication final _ raised "The API key is missing, malformed or revoked.";
    AgentCredentialNotFound "AGENT_CREDENTIAL_NOT_FOUND" 401 Authentication final _ raised "The agent credential does not exist.";
    AgentCredentialRevoked "AGENT_CREDENTIAL_REVOKED" 401 Authentication final _ raised "The agent credential is revoked.";
    AgentCredentialExpired "AGENT_CREDENTIAL_EXPIRED" 401 Authentication final _ raised "The agent credential has expired.";
    DeveloperCredentialNotFound "DEVELOPER_CREDENTIAL_NOT_FOUND" 401 Authentication final _ raised "The developer credential does not exist.";
    DeveloperCredentialRevoked "DEVELOPER_CREDENTIAL_REVOKED" 401 Authentication final _ raised "The developer credential is revoked.";
    BaaRequired "BAA_REQUIRED" 402 PaymentRequired final 403 raised "The organization has no active Business Associate Agreement.";
    ConsumptionBlocked "CONSUMPTION_BLOCKED" 402 PaymentRequired final 403 raised "The credit allotment of this cycle is used up.";
    EvaluationAccessBlocked "EVALUATION_ACCESS_BLOCKED" 402 PaymentRequired final _ raised "The free evaluation window has ended.";
    MissingScope "MISSING_SCOPE" 403 Permission final _ raised "The credential lacks a scope or capability.";
    PhiBlocked "PHI_BLOCKED" 403 Permission final 400 raised "The request contains PHI and the organization blocks it.";
    FeatureNotHipaaEligible "FEATURE_NOT_HIPAA_ELIGIBLE" 403 Permission final 403 raised "The feature is not HIPAA-eligible and is disabled.";
    ModelAccessDenied "MODEL_ACCESS_DENIED" 403 Permission final 400 raised "The model is unknown or not enabled for the organization.";
    ToolNotInScope "TOOL_NOT_IN_SCOPE" 403 Permission final _ raised "The agent's grant does not include this tool.";
    ScopeConstraintViolation "SCOPE_CONSTRAINT_VIOLATION" 403 Permission final _ raised "The request exceeds a constraint of the agent's grant.";
    AiPaused "AI_PAUSED" 403 Permission final 403 raised "AI is paused for the organization.";
    FeatureNotAvailable "FEATURE_NOT_AVAILABLE" 403 Permission final _ raised "The feature is not part of the organization's plan.";
    OrganizationMismatch "ORGANIZATION_MISMATCH" 403 Permission final _ raised "The caller does not belong to the named organization.";
    RagRetrievalDisabled "RAG_RETRIEVAL_DISABLED" 403 Permission final _ reserved "Knowledge retrieval is disabled.";
    RetrievalPhiBlocked "RETRIEVAL_PHI_BLOCKED" 403 Permission final _ reserved "A query or retrieved chunk was blocked for PHI.";
    OrgAdminRequired "ORG_ADMIN_REQUIRED" 403 Permission final _ raised "The delegating user must be an organization admin.";
    IntegrationsDisabled "INTEGRATIONS_DISABLED" 403 Permission final _ raised "Integrations are disabled for the organization.";
    ConversationOwnerRequired "CONVERSATION_OWNER_REQUIRED" 403 Permission final _ raised "This kind of credential cannot own a stored conversation.";
    NotFound "NOT_FOUND" 404 NotFound final _ raised "The route or record does not exist.";
    ResourceNotFound "RESOURCE_NOT_FOUND" 404 NotFound final _ raised "The resource does not exist.";
    MethodNotAllowed "METHOD_NOT_ALLOWED" 405 InvalidRequest final _ raised "The route does not support this method.";
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" 409 Conflict final _ raised "The idempotency key was used with a different request.";
    ModelRetired "MODEL_RETIRED" 410 Gone final 400 raised "The model has been retired.";
    PayloadTooLarge "PAYLOAD_TOO_LARGE" 413 InvalidRequest final _ raised "The request body is too large.";
    ValidationFailed "VALIDATION_FAILED" 422 InvalidRequest final _ raised "The request is not valid.";
    UnsupportedDocumentType "UNSUPPORTED_DOCUMENT_TYPE" 422 InvalidRequest final _ reserved "The uploaded format is not supported.";
    AgentConcurrentCredentialsExceeded "AGENT_CONCURRENT_CREDENTIALS_EXCEEDED" 422 InvalidRequest final _ raised "The agent is at its cap of active credentials.";
    AgentDelegationChainDepthExceeded "AGENT_DELEGATION_CHAIN_DEPTH_EXCEEDED" 422 InvalidRequest final _ raised "The delegation chain is too deep.";
    MalwareDetected "MALWARE_DETECTED" 422 InvalidRequest final _ reserved "The upload failed scanning.";
    DelegatingUserRequired "DELEGATING_USER_REQUIRED" 422 InvalidRequest final _ raised "The credential has no resolvable delegating user.";
    PhiDetected "PHI_DETECTED" 422 InvalidRequest final _ reserved "PHI stands where it needs an acknowledgement.";
    PersonaNoDraft "PERSONA_NO_DRAFT" 422 InvalidRequest final _ reserved "The persona has no draft.";
    PersonaAlreadyDraft "PERSONA_ALREADY_DRAFT" 422 InvalidRequest final _ reserved "The persona is a draft already.";
    PersonaNotPrivate "PERSONA_NOT_PRIVATE" 422 InvalidRequest final _ reserved "The persona is not private.";
    SolverSpecInvalid "SOLVER_SPEC_INVALID" 422 InvalidRequest final _ raised "The solver does not accept the spec.";
    Error "ERROR" 422 InvalidRequest final _ raised "The inbound webhook could not be processed.";
    RateLimited "RATE_LIMITED" 429 RateLimited retry 429 raised "A rate limit is reached.";
    BudgetExceeded "BUDGET_EXCEEDED" 429 RateLimited final _ raised "The organization's own spend cap is reached.";
    AgentRateLimitExceeded "AGENT_RATE_LIMIT_EXCEEDED" 429 RateLimited retry _ raised "The agent credential's rate limit is reached.";
    AgentConcurrencyCapExceeded "AGENT_CONCURRENCY_CAP_EXCEEDED" 429 RateLimited retry _ raised "The agent credential has too many requests in flight.";
    InternalError "INTERNAL_ERROR" 500 ApiError final _ raised "An unexpected error occurred; contact support with the request id.";
    InferenceUpstreamFailure "INFERENCE_UPSTREAM_FAILURE" 502 ProviderError retry 500 raised "The model provider failed.";
    InferenceUnavailable "INFERENCE_UNAVAILABLE" 503 ServiceUnavailable retry _ raised "The gateway is temporarily unavailable.";
    DocumentStillProcessing "DOCUMENT_STILL_PROCESSING" 503 ServiceUnavailable retry _ reserved "The document is still being processed.";
    SolverUnavailable "SOLVER_UNAVAILABLE" 503 ServiceUnavailable retry _ raised "The solver is unavailable.";
}

impl Code {
    /// The code as it stands in `error.code`.
    pub const fn word(self) -> &'static str {
        self.row().word
    }

    /// A fault of this code that says what the catalogue says.
    pub fn fault(self) -> Fault {
        Fault::new(self, self.row().meaning)
    }
}

/// What went wrong with one request, independent of the surface that will render it.
///
/// `message`, `param` and `details` go to the caller and never hold a value from a request body: it may be
/// PHI. `cause` goes to the log.
pub struct Fault {
    pub code: Code,
    pub message: Cow<'static, str>,
    /// `error.param`: the path of what is wrong (contract 1.3).
    pub param: Option<String>,
    /// Boxed, so that a `Result` that carries a fault stays small.
    pub details: Box<Map<String, Value>>,
    pub layer: Layer,
    /// Differs from the catalogue only where the contract says so (3.2, 21).
    pub retryable: bool,
    cause: Option<String>,
}

/// Seconds that a retryable fault asks to wait when nothing more exact is known (contract 3.2: at least 1).
const DEFAULT_RETRY_AFTER_SECONDS: u64 = 1;

impl Fault {
    /// A fault with words of its own.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        let retryable = code.row().retryable;
        let mut fault = Self {
            code,
            message: message.into(),
            param: None,
            details: Box::default(),
            layer: Layer::Gateway,
            retryable,
            cause: None,
        };
        if retryable {
            fault = fault.retry_after(DEFAULT_RETRY_AFTER_SECONDS);
        }
        fault
    }

    /// 500 `INTERNAL_ERROR`; `cause` says what was attempted, for the log.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Code::InternalError.fault().because(cause)
    }

    /// 503 `INFERENCE_UNAVAILABLE`: the fail-closed answer of store, policy, detector and driver.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Code::InferenceUnavailable.fault().because(cause)
    }

    /// Names the offending parameter.
    #[must_use]
    pub fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Adds one entry to `error.details`.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Keeps the internal cause for the log; callers never see it.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// Marks the provider as the layer that failed.
    #[must_use]
    pub fn from_provider(mut self) -> Self {
        self.layer = Layer::Provider;
        self
    }

    /// Sets `details.retry_after_seconds` (whole seconds, at least 1), and with it `Retry-After`.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.detail("retry_after_seconds", seconds.max(1))
    }

    /// A fault that waiting does not cure (contract 21: what a provider rejected).
    #[must_use]
    pub fn never_retry(mut self) -> Self {
        self.retryable = false;
        self.details.remove("retry_after_seconds");
        self
    }

    /// A fault that waiting does cure although the catalogue row says otherwise (contract 3.2).
    #[must_use]
    pub fn retry_in(mut self, seconds: u64) -> Self {
        self.retryable = true;
        self.retry_after(seconds)
    }

    /// The same, with what it says of a request's fields in the order of the body that they stand in: first what stands
    /// in no body; what is missing comes behind what is there. The first of them is `param` (contract 1.3).
    #[must_use]
    pub fn in_order_of(mut self, body: &[u8]) -> Self {
        if self.code != Code::ValidationFailed || self.details.len() < 2 {
            return self;
        }
        let Ok(body) = serde_json::from_slice(body) else {
            return self;
        };
        let mut details = std::mem::take(&mut *self.details);
        let elsewhere = details.keys().filter(|path| path.starts_with('$'));
        let mut order: Vec<String> = elsewhere.cloned().collect();
        let wanted: Wanted<'_> = details.keys().map(String::as_str).zip(0..).collect();
        places(&body, &mut String::new(), &wanted, &mut order);
        drop(wanted);
        let mut ordered = Map::with_capacity(details.len());
        for path in order {
            if let Some(messages) = details.remove(&path) {
                ordered.insert(path, messages);
            }
        }
        ordered.append(&mut details);
        self.param = ordered.keys().next().cloned();
        *self.details = ordered;
        self
    }

    /// What the log may say about the cause.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Seconds for the `Retry-After` header.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.details
            .get("retry_after_seconds")
            .and_then(Value::as_u64)
    }

    /// `error.details`: an object, or null where there is nothing to add. Contract 3 has an empty one for one code.
    pub fn details_value(&self) -> Value {
        if self.details.is_empty() && self.code != Code::OrganizationMismatch {
            Value::Null
        } else {
            Value::Object(Map::clone(&self.details))
        }
    }
}

/// Paths, each with its place in the order that they were found in.
type Wanted<'p> = BTreeMap<&'p str, usize>;

/// Adds the paths of a document that are wanted, in its order; behind what an object has comes what it lacks. Some may
/// come twice.
fn places(value: &Value, path: &mut String, wanted: &Wanted<'_>, found: &mut Vec<String>) {
    let length = path.len();
    let mut visit = |step: fmt::Arguments<'_>, value: &Value| {
        // Writing to a string never fails.
        let _ = path.write_fmt(step);
        if wanted.contains_key(path.as_str()) {
            found.push(path.clone());
        }
        places(value, path, wanted, found);
        path.truncate(length);
    };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if length == 0 { "" } else { "." };
                visit(format_args!("{dot}{name}"), value);
            }
            if length > 0 {
                path.push('.');
                let lacking = wanted.range(path.as_str()..);
                let lacking = lacking.take_while(|(name, _)| name.starts_with(path.as_str()));
                let mut lacking: Vec<(&str, usize)> =
                    lacking.map(|(name, at)| (*name, *at)).collect();
                lacking.sort_unstable_by_key(|(_, at)| *at);
                found.extend(lacking.into_iter().map(|(name, _)| name.to_owned()));
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                visit(format_args!("[{at}]"), value);
            }
        }
        _ => {}
    }
}

/// Codes and causes only: a fault's message is safe, but one habit is easier to keep than two.
impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("code", &self.code.word())
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(f, "{}: {cause}", self.code.word()),
            None => f.write_str(self.code.word()),
        }
    }
}

impl std::error::Error for Fault {}

/// Problems of one request that its answer names. Nobody reads as many, and a body may have millions.
const MAX_LISTED: usize = 1_000;
/// The same with those that are the first of their form: whoever reads a body takes its fields in an order of their
/// own, and the body's first problem must be among them.
const MAX_LISTED_WITH_FORMS: usize = 2 * MAX_LISTED;

/// Collects the problems of one request, in document order, into one 422 (contract 1.3).
#[derive(Default)]
pub struct Problems {
    /// At most [`MAX_LISTED_WITH_FORMS`].
    listed: Vec<(String, String)>,
    /// The forms of these; empty up to [`MAX_LISTED`].
    forms: BTreeSet<String>,
    /// Those that are not listed too.
    total: usize,
    /// The first field or kind that the surface does not have.
    foreign: Option<String>,
    /// The first unknown field that is null, which not every surface refuses.
    unknown_null: Option<String>,
}

impl Problems {
    /// Notes that the value at `path` (`a.b[2].c`, `$body`, `$query.limit`) is wrong.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.total += 1;
        if self.listed.len() < MAX_LISTED_WITH_FORMS {
            let path = path.into();
            if self.is_listed(&path) {
                self.listed.push((path, message.into()));
            }
        }
    }

    /// Whether one more problem, at `path`, is listed.
    fn is_listed(&mut self, path: &str) -> bool {
        if self.listed.len() < MAX_LISTED {
            return true;
        }
        if self.forms.is_empty() {
            self.forms = self.listed.iter().map(|(path, _)| form(path)).collect();
        }
        self.forms.insert(form(path))
    }

    /// Notes something that the surface does not have at all.
    pub fn add_foreign(&mut self, path: impl Into<String>, message: impl Into<String>) {
        let path = path.into();
        self.foreign.get_or_insert_with(|| path.clone());
        self.add(path, message);
    }

    /// Notes an unknown field that is null.
    pub fn add_unknown_null(&mut self, path: impl Into<String>) {
        self.unknown_null.get_or_insert_with(|| path.into());
    }

    /// Takes over what another collection has found.
    pub fn append(&mut self, other: Self) {
        self.total += other.total - other.listed.len();
        for (path, message) in other.listed {
            self.add(path, message);
        }
        self.foreign = self.foreign.take().or(other.foreign);
        self.unknown_null = self.unknown_null.take().or(other.unknown_null);
    }

    /// Puts what was found in query parameters into the order of their names; what is in none of them comes last.
    pub fn order_query(&mut self, names: &[String]) {
        let mut places = HashMap::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            places.entry(name.as_str()).or_insert(at);
        }
        let place = |path: &str| places.get(path.strip_prefix("$query.")?).copied();
        self.listed
            .sort_by_cached_key(|(path, _)| place(path).unwrap_or(usize::MAX));
    }

    /// Whether nothing was noted. What is unknown and null is not counted ([`Self::add_unknown_null`]).
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// How many were noted so far.
    pub fn len(&self) -> usize {
        self.total
    }

    /// As [`Problems::into_result`] on the compat surfaces, where 400 `UNSUPPORTED_PARAMETER` by name comes
    /// first for whatever is foreign (wire.md 3).
    ///
    /// # Errors
    /// One fault when anything was found.
    pub fn into_compat_result(self) -> Result<(), Fault> {
        match &self.foreign {
            Some(path) => Err(Fault::new(
                Code::UnsupportedParameter,
                "This endpoint does not take this parameter.",
            )
            .at(path)),
            None => self.into_result(),
        }
    }

    /// As [`Problems::into_compat_result`] on the native surface. Its clients send nothing back that they were given:
    /// an unknown field is foreign there although it is null.
    ///
    /// # Errors
    /// One fault when anything was found.
    pub fn into_native_result(mut self) -> Result<(), Fault> {
        self.foreign = self.foreign.take().or(self.unknown_null.take());
        self.into_compat_result()
    }

    /// `Ok` when nothing was found.
    ///
    /// # Errors
    /// The one fault that names everything, as far as it is listed.
    pub fn into_result(self) -> Result<(), Fault> {
        let Some((first, _)) = self.listed.first() else {
            return Ok(());
        };
        let total = self.total;
        let message = if total > MAX_LISTED {
            let listed = self.listed.len();
            format!("The request is not valid: it has {total} problems, of which error.details lists {listed}.")
                .into()
        } else {
            Cow::Borrowed(NOT_VALID)
        };
        let mut fault = Fault::new(Code::ValidationFailed, message).at(first);
        for (path, message) in self.listed {
            match fault.details.entry(path).or_insert_with(|| json!([])) {
                Value::Array(messages) => messages.push(Value::String(message)),
                other => *other = json!([message]),
            }
        }
        Err(fault)
    }
}

/// A path without the places in arrays: `messages[2].content[0]` is `messages.content`.
fn form(path: &str) -> String {
    let mut pieces = path.split('[');
    let mut form = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        form.push_str(piece.split_once(']').map_or(piece, |(_, behind)| behind));
    }
    form
}

const NOT_VALID: &str = "The request is not valid; see error.details.";

/// One problem is the common case.
pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Fault {
    let (path, message) = (path.into(), message.into());
    Fault::new(Code::ValidationFailed, NOT_VALID)
        .at(&path)
        .detail(&path, json!([message]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_parameters_are_named_in_their_order() {
        let mut problems = Problems::default();
        for path in ["$query.event", "a", "$query.limit", "$query.order"] {
            problems.add(path, "is wrong");
        }
        problems.order_query(&["limit", "order", "event", "limit"].map(str::to_owned));
        let fault = problems.into_result().err();
        let paths = fault.map(|fault| fault.details.keys().cloned().collect::<Vec<_>>());
        let ordered = ["$query.limit", "$query.order", "$query.event", "a"];
        assert_eq!(paths, Some(ordered.map(str::to_owned).to_vec()));
    }

    #[test]
    fn every_code_finds_its_own_row() {
        for row in CATALOGUE {
            assert_eq!(row.code.row().word, row.word);
            assert_eq!(row.word, row.word.to_uppercase());
        }
    }

    #[test]
    fn retryable_faults_always_say_how_long_to_wait() {
        for row in CATALOGUE {
            assert_eq!(
                row.code.fault().retry_after_seconds().is_some(),
                row.retryable,
                "{}",
                row.word
            );
        }
    }

    #[test]
    fn problems_follow_the_order_of_the_body() {
        let mut problems = Problems::default();
        for path in [
            "message",
            "model",
            "$query.x",
            "a.b[0].d",
            "a.b[1].c",
            "max_tokens",
            "a",
        ] {
            problems.add(path, "is wrong");
        }
        let fault = problems.into_result().map_err(|fault| {
            fault.in_order_of(br#"{"max_tokens": 0, "a": {"b": [{}, {"c": 1}]}, "message": 1}"#)
        });
        let fault = fault.err();
        let param = fault.as_ref().and_then(|fault| fault.param.as_deref());
        assert_eq!(param, Some("$query.x"));
        let details = fault.iter().flat_map(|fault| fault.details.keys());
        assert_eq!(
            details.collect::<Vec<_>>(),
            [
                "$query.x",
                "max_tokens",
                "a",
                "a.b[0].d",
                "a.b[1].c",
                "message",
                "model"
            ]
        );
    }

    #[test]
    fn a_body_that_is_none_changes_no_order() {
        let mut problems = Problems::default();
        problems.add("b", "is wrong");
        problems.add("a", "is wrong");
        for body in [&b"{"[..], b"", b"[1]"] {
            let mut same = Problems::default();
            for (path, message) in &problems.listed {
                same.add(path, message);
            }
            let fault = same.into_result().map_err(|fault| fault.in_order_of(body));
            let param = fault.err().and_then(|fault| fault.param);
            assert_eq!(param.as_deref(), Some("b"));
        }
    }

    #[test]
    fn of_many_problems_the_first_are_listed() {
        let many = |count: usize| {
            let mut problems = Problems::default();
            for at in 0..count {
                problems.add(format!("messages[{at}]"), "must be an object");
            }
            problems
        };
        let exact = many(MAX_LISTED).into_result().err();
        assert_eq!(exact.map(|fault| fault.message), Some(NOT_VALID.into()));
        let mut problems = many(MAX_LISTED - 1);
        problems.append(many(3_000));
        assert_eq!(problems.len(), MAX_LISTED + 2_999);
        let Err(fault) = problems.into_result() else {
            unreachable!("problems were added")
        };
        assert_eq!(fault.details.len(), MAX_LISTED - 1);
        assert_eq!(fault.param.as_deref(), Some("messages[0]"));
        assert!(fault.message.contains("3999 problems"), "{}", fault.message);
    }

    #[test]
    fn of_many_problems_the_first_of_the_body_is_named() {
        let count = 2 * MAX_LISTED;
        let mut problems = Problems::default();
        // As a decoder takes its fields.
        for at in 0..count {
            problems.add(format!("messages[1].content[{at}]"), "must be an object");
        }
        problems.add("messages[1].extra", "is unknown");
        problems.add("messages[2].extra", "is unknown");
        problems.add("tools[0]", "must be an object");
        problems.add("tools[1]", "must be an object");
        let body = json!({
            "tools": [0, 0],
            "messages": [0, {"extra": 0, "content": vec![0; count]}, {"extra": 0}],
        });
        let fault = problems.into_result().err();
        let fault = fault.map(|fault| fault.in_order_of(body.to_string().as_bytes()));
        let paths = fault.iter().flat_map(|fault| fault.details.keys());
        let first: Vec<&String> = paths.take(3).collect();
        assert_eq!(
            first,
            ["tools[0]", "messages[1].extra", "messages[1].content[0]"]
        );
        assert_eq!(
            fault.as_ref().map(|fault| fault.details.len()),
            Some(MAX_LISTED + 2)
        );
    }

    #[test]
    fn problems_of_however_many_forms_are_bounded() {
        let mut problems = Problems::default();
        for at in 0..2 * MAX_LISTED_WITH_FORMS {
            problems.add(format!("field_{at}"), "is unknown");
        }
        assert_eq!(problems.len(), 2 * MAX_LISTED_WITH_FORMS);
        let listed = problems
            .into_result()
            .err()
            .map(|fault| fault.details.len());
        assert_eq!(listed, Some(MAX_LISTED_WITH_FORMS));
    }

    #[test]
    fn problems_come_out_together_in_document_order() {
        let mut problems = Problems::default();
        problems.add("name", "is required");
        problems.add("scopes[1]", "unknown scope");
        problems.add("name", "is too long");
        let Err(fault) = problems.into_result() else {
            unreachable!("two problems were added")
        };
        assert_eq!(fault.param.as_deref(), Some("name"));
        assert_eq!(
            fault.details_value(),
            json!({"name": ["is required", "is too long"], "scopes[1]": ["unknown scope"]})
        );
    }
}
