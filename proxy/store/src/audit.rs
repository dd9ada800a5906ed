//! The audit log (contract 14): typed rows in, the JSON of contract 14.1 stored beside the columns that
//! queries filter on. Append-only: triggers refuse every change; [`crate::audit_tree`] seals the rows and
//! [`crate::retention`] removes them when their time is over. A row has no content, by its type.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use svc_core::id::IdKind;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::audit_tree::{self, Leaf};
use crate::engine::{Arg, Connection, Row as Stored, args};
use crate::page::{self, Listing, Order, Page, Position, SLICE_ROWS};
use crate::usage::Span;
use crate::{Store, StoreError, Transaction};

/// Which of a request's rows this is; each request has at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The intent, durable before any upstream byte; of a solve that is answered again, that it is so.
    Requested,
    /// The end of what the intent announced; of a solve that is answered again, what it came to.
    Terminal,
    /// The only row of a request, or of no request.
    Single,
}

impl Phase {
    const fn word(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Terminal => "terminal",
            Self::Single => "single",
        }
    }
}

/// Who did it: `actor.type` (contract 14.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActorKind {
    ApiKey,
    AgentCredential,
    User,
    OauthApplication,
    WebhookToken,
    /// The gateway itself, or its operator.
    System,
    /// Nobody who is known.
    Anonymous,
}

impl ActorKind {
    /// In the order of the contract's list.
    pub const ALL: &[Self] = &[
        Self::ApiKey,
        Self::AgentCredential,
        Self::User,
        Self::OauthApplication,
        Self::WebhookToken,
        Self::System,
        Self::Anonymous,
    ];

    /// The word of `actor.type`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::AgentCredential => "agent_credential",
            Self::User => "user",
            Self::OauthApplication => "oauth_application",
            Self::WebhookToken => "webhook_token",
            Self::System => "system",
            Self::Anonymous => "anonymous",
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Denied,
    Failure,
    Cancelled,
    /// The replica was lost before anybody could tell.
    Unknown,
}

impl Outcome {
    /// The word of `outcome.result`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Denied => "denied",
            Self::Failure => "failure",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// Who did what a row speaks of.
#[derive(Clone, Debug)]
pub struct Actor {
    pub kind: ActorKind,
    pub id: Option<String>,
    /// The user who answers for the credential.
    pub delegating_user_id: Option<String>,
    /// What people may see of the secret.
    pub hint: Option<String>,
}

/// The request that a row is of.
#[derive(Clone, Debug)]
pub struct Request {
    pub id: String,
    pub method: String,
    /// That of the route, with the ids that were sent; other parameters stay names, `{token}`.
    pub path: String,
    /// Word of [`svc_core::surface::Surface`].
    pub surface: Option<String>,
    /// `None` where the request did not come as far as its version.
    pub svc_version: Option<String>,
    pub ip: Option<String>,
    pub user_agent: Option<String>,
}

/// What a row is about.
#[derive(Clone, Debug)]
pub struct Target {
    /// The `object` of its record: `message`, `api_key`.
    pub kind: String,
    pub id: String,
}

/// Counts of PHI by kind, never the PHI.
#[derive(Clone, Debug)]
pub struct Phi {
    /// `redact` or `block`.
    pub mode: String,
    /// Findings by kind.
    pub entity_counts: BTreeMap<String, u64>,
    /// `name@version` or `name@version:digest` of each detector that ran.
    pub detectors: Vec<String>,
    pub policy_epoch: i64,
}

/// One audit row.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: String,
    pub phase: Phase,
    /// The family and what happened: `inference.completed`.
    pub event: String,
    pub occurred_at: Timestamp,
    /// `None` where the row belongs to no organization.
    pub org_id: Option<String>,
    pub mode: Option<Mode>,
    pub actor: Actor,
    pub request: Option<Request>,
    pub target: Option<Target>,
    pub outcome: Outcome,
    /// HTTP status, where one was sent.
    pub status: Option<u16>,
    /// Code of the fault catalogue.
    pub code: Option<String>,
    pub phi: Option<Phi>,
    /// Catalogue id.
    pub model: Option<String>,
    /// Ids, codes, counts and durations; `model` is added to them.
    pub details: Map<String, Value>,
}

impl Row {
    /// The row of what the gateway itself has done, or its operator. `owner`: whose log it stands in.
    pub fn of_system(
        event: &str,
        owner: Option<(String, Mode)>,
        target: Option<Target>,
        details: Map<String, Value>,
        at: Timestamp,
    ) -> Self {
        let (org_id, mode) = owner.unzip();
        Self {
            id: IdKind::Audit.make(at, rand::random()),
            phase: Phase::Single,
            event: event.to_owned(),
            occurred_at: at,
            org_id,
            mode,
            actor: Actor {
                kind: ActorKind::System,
                id: None,
                delegating_user_id: None,
                hint: None,
            },
            request: None,
            target,
            outcome: Outcome::Success,
            status: None,
            code: None,
            phi: None,
            model: None,
            details,
        }
    }

    /// The row as the table has it, its JSON of contract 14.1 (without `integrity`) included.
    pub(crate) fn arguments(&self) -> Result<Arguments, StoreError> {
        let detected = |phi: &Phi| phi.entity_counts.values().any(|count| *count > 0);
        let request = self.request.as_ref();
        let mut document = Vec::with_capacity(DOCUMENT_BYTES);
        let corrupt = || StoreError::Corrupt { column: "document" };
        serde_json::to_writer(&mut document, &Document::from(self)).map_err(|_| corrupt())?;
        let columns = Columns {
            id: self.id.clone(),
            org_id: self.org_id.clone(),
            mode: self.mode,
            request_id: request.map(|request| request.id.clone()),
            phase: self.phase,
            event: self.event.clone(),
            occurred_at: self.occurred_at,
            actor_type: self.actor.kind.word().to_owned(),
            actor_id: self.actor.id.clone(),
            target_type: self.target.as_ref().map(|target| target.kind.clone()),
            target_id: self.target.as_ref().map(|target| target.id.clone()),
            outcome: self.outcome,
            surface: request.and_then(|request| request.surface.clone()),
            model: self.model.clone(),
            phi_detected: self.phi.as_ref().is_some_and(detected),
            document: String::from_utf8(document).map_err(|_| corrupt())?,
        };
        Ok(columns.into())
    }
}

/// A row as contract 14.1 shows it.
#[derive(Serialize)]
struct Document<'a> {
    id: &'a str,
    object: &'static str,
    event: &'a str,
    schema: u8,
    occurred_at: String,
    org_id: Option<&'a str>,
    mode: Option<&'static str>,
    actor: ActorDocument<'a>,
    request: Option<RequestDocument<'a>>,
    target: Option<TargetDocument<'a>>,
    outcome: OutcomeDocument<'a>,
    phi: Option<PhiDocument<'a>>,
    details: Details<'a>,
}

#[derive(Serialize)]
struct ActorDocument<'a> {
    r#type: &'static str,
    id: Option<&'a str>,
    delegating_user_id: Option<&'a str>,
    hint: Option<&'a str>,
}

#[derive(Serialize)]
struct RequestDocument<'a> {
    id: &'a str,
    method: &'a str,
    path: &'a str,
    surface: Option<&'a str>,
    svc_version: Option<&'a str>,
    ip: Option<&'a str>,
    user_agent: Option<&'a str>,
}

#[derive(Serialize)]
struct TargetDocument<'a> {
    r#type: &'a str,
    id: &'a str,
}

#[derive(Serialize)]
struct OutcomeDocument<'a> {
    result: &'static str,
    status: Option<u16>,
    code: Option<&'a str>,
}

#[derive(Serialize)]
struct PhiDocument<'a> {
    mode: &'a str,
    detected: bool,
    entity_counts: &'a BTreeMap<String, u64>,
    detectors: &'a [String],
    policy_epoch: i64,
}

/// The row's own details, and the model that they were about.
#[derive(Serialize)]
struct Details<'a> {
    #[serde(flatten)]
    own: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
}

impl<'a> From<&'a Row> for Document<'a> {
    fn from(row: &'a Row) -> Self {
        let Row {
            id,
            phase: _,
            event,
            occurred_at,
            org_id,
            mode,
            actor,
            request,
            target,
            outcome,
            status,
            code,
            phi,
            model,
            details,
        } = row;
        Self {
            id,
            object: "audit_event",
            event,
            schema: 1,
            occurred_at: occurred_at.to_string(),
            org_id: org_id.as_deref(),
            mode: mode.map(Mode::word),
            actor: ActorDocument {
                r#type: actor.kind.word(),
                id: actor.id.as_deref(),
                delegating_user_id: actor.delegating_user_id.as_deref(),
                hint: actor.hint.as_deref(),
            },
            request: request.as_ref().map(RequestDocument::from),
            target: target.as_ref().map(|target| TargetDocument {
                r#type: &target.kind,
                id: &target.id,
            }),
            outcome: OutcomeDocument {
                result: outcome.word(),
                status: *status,
                code: code.as_deref(),
            },
            phi: phi.as_ref().map(PhiDocument::from),
            details: Details {
                own: details,
                model: model.as_deref(),
            },
        }
    }
}

impl<'a> From<&'a Request> for RequestDocument<'a> {
    fn from(request: &'a Request) -> Self {
        let Request {
            id,
            method,
            path,
            surface,
            svc_version,
            ip,
            user_agent,
        } = request;
        Self {
            id,
            method,
            path,
            surface: surface.as_deref(),
            svc_version: svc_version.as_deref(),
            ip: ip.as_deref(),
            user_agent: user_agent.as_deref(),
        }
    }
}

impl<'a> From<&'a Phi> for PhiDocument<'a> {
    fn from(phi: &'a Phi) -> Self {
        let Phi {
            mode,
            entity_counts,
            detectors,
            policy_epoch,
        } = phi;
        Self {
            mode,
            detected: entity_counts.values().any(|count| *count > 0),
            entity_counts,
            detectors,
            policy_epoch: *policy_epoch,
        }
    }
}

/// What most documents have room in.
const DOCUMENT_BYTES: usize = 1_024;

/// A row as the table has it.
pub(crate) struct Columns {
    pub(crate) id: String,
    pub(crate) org_id: Option<String>,
    pub(crate) mode: Option<Mode>,
    pub(crate) request_id: Option<String>,
    pub(crate) phase: Phase,
    pub(crate) event: String,
    pub(crate) occurred_at: Timestamp,
    pub(crate) actor_type: String,
    pub(crate) actor_id: Option<String>,
    pub(crate) target_type: Option<String>,
    pub(crate) target_id: Option<String>,
    pub(crate) outcome: Outcome,
    pub(crate) surface: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) phi_detected: bool,
    pub(crate) document: String,
}

/// Rows that one call may append.
pub const APPEND_ROWS: usize = 1_000;

/// Appends rows, all or none.
///
/// # Errors
/// [`StoreError::Exists`] when a request already has a row of that phase; [`StoreError::Overloaded`] for more
/// than [`APPEND_ROWS`].
pub async fn append(store: &Store, rows: &[Row]) -> Result<(), StoreError> {
    if rows.len() > APPEND_ROWS {
        return Err(StoreError::Overloaded);
    }
    let rows: Vec<Arguments> = rows.iter().map(Row::arguments).collect::<Result<_, _>>()?;
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                for row in rows {
                    insert(cx, &row).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Appends the row of what the transaction does.
///
/// # Errors
/// As [`append`].
pub async fn record(tx: &mut Transaction<'_>, row: &Row) -> Result<(), StoreError> {
    insert(tx.cx, &row.arguments()?).await
}

/// The rows of a request as JSON, in the order of their phases.
///
/// # Errors
/// Those of the database.
pub async fn by_request(
    store: &Store,
    org_id: &str,
    mode: Mode,
    request_id: &str,
) -> Result<Vec<Value>, StoreError> {
    let arguments = args![org_id, mode, request_id];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                // At most one row per phase, in the alphabetical order of their words.
                let sql = "SELECT document FROM audit \
                           WHERE org_id = $1 AND mode = $2 AND request_id = $3 ORDER BY phase";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter().map(|row| row.get("document")).collect()
            })
        })
        .await
}

/// Which rows are asked for; what is empty or absent does not narrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these events; one that ends in `.*` is a family.
    pub events: Vec<String>,
    /// Any of these actors.
    pub actor_ids: Vec<String>,
    pub actor_type: Option<String>,
    pub request_id: Option<String>,
    pub target_type: Option<String>,
    pub target_id: Option<String>,
    /// Word of [`Outcome`].
    pub result: Option<String>,
    pub surface: Option<String>,
    pub model: Option<String>,
    /// `Some(false)`: scanned, and nothing found. What was never scanned is neither.
    pub phi_detected: Option<bool>,
    pub order: Order,
}

/// What a row fulfils whose content was scanned: its document holds an object as `phi`, where others hold null. No other
/// member has this name, and what stands in a text has its quotes escaped.
const SCANNED: &str = r#"document LIKE '%"phi":{%'"#;

/// The rows of one request, found by its id: the planner, who does not know how few they are, would rather go through
/// the organization's log in the order of time. Nothing outside finds its way past a `LIMIT`. Public for the contract
/// tests.
pub const OF_REQUEST: &str = "(SELECT * FROM audit WHERE request_id = $3 LIMIT 3) AS audit";

/// How the events of inferences begin.
const INFERENCE: &str = "inference.";
/// What every other row fulfils, as the index of those rows says it.
const BESIDE_INFERENCES: &str = "SUBSTR(event, 1, 10) <> 'inference.'";

/// A row as queries give it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: String,
    pub occurred_at: Timestamp,
    /// The JSON of contract 14.1, without `integrity`.
    pub document: Value,
    /// Where the row stands in the tree, once it is sealed.
    pub leaf: Option<Leaf>,
    /// Whether the row waits to be sealed. A row that is neither a leaf nor waiting came in past the triggers.
    pub waits: bool,
}

/// Rows that were found, and where the search goes on behind what was looked at; `None` where that was everything.
#[derive(Debug)]
pub struct Found {
    pub rows: Vec<Listed>,
    pub next: Option<Position>,
}

/// A page of the rows of this organization and mode: fewer than its limit where few fulfil the filter.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    filter: &Filter,
    page: &Page,
) -> Result<Found, StoreError> {
    let mut page = page.clone();
    let mut rows = Vec::new();
    for looked_at in page::slices(page.limit) {
        let (org_id, filter, wanted) = (org_id.to_owned(), filter.clone(), page.clone());
        let slice = store.db.report(move |cx| {
            Box::pin(async move { slice(cx, &org_id, mode, filter, &wanted, looked_at).await })
        });
        let found = slice.await?;
        let count = u32::try_from(found.rows.len()).unwrap_or(u32::MAX);
        page.limit = page.limit.saturating_sub(count);
        page.after = found.next;
        rows.extend(found.rows);
        if page.after.is_none() || page.limit == 0 {
            break;
        }
    }
    Ok(Found {
        rows,
        next: page.after,
    })
}

/// Looks at some rows: all that are asked for where no filter passes over any, or they are those of one request.
async fn slice(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    mut filter: Filter,
    page: &Page,
    looked_at: u32,
) -> Result<Found, StoreError> {
    let order = filter.order;
    let of_inferences = |event: &String| event.starts_with(INFERENCE);
    let is_beside = !filter.events.is_empty() && !filter.events.iter().any(of_inferences);
    let request_id = filter.request_id.take();
    let listing = |columns| {
        let mut arguments = args![org_id, mode];
        arguments.extend(request_id.as_deref().map(Arg::from));
        let log = if request_id.is_some() {
            OF_REQUEST
        } else {
            "audit"
        };
        let select = format!("SELECT {columns} FROM {log} WHERE org_id = $1 AND mode = $2");
        let mut listing = Listing::new(&select, arguments).by("occurred_at", order);
        if is_beside {
            listing.only_where(BESIDE_INFERENCES);
        }
        listing
    };
    let everything = Filter {
        order,
        ..Filter::default()
    };
    let bound = if filter == everything || request_id.is_some() {
        None
    } else {
        let places = listing("occurred_at, id");
        places.place(cx, page, looked_at).await?
    };
    let mut listing = listing("id, occurred_at, document");
    if let Some(bound) = bound.clone() {
        listing.up_to(bound);
    }
    narrow(&mut listing, filter);
    let read = |row: &Stored| {
        Ok(Listed {
            id: row.get("id")?,
            occurred_at: row.get("occurred_at")?,
            document: row.get("document")?,
            leaf: None,
            waits: false,
        })
    };
    let found = listing.read(cx, page, read).await?;
    let next = found.last(|row| Position::new(row.occurred_at, &row.id));
    let mut rows = found.rows;
    let ids = rows.iter().map(|row| row.id.as_str().into());
    let mut places = audit_tree::places(cx, ids.collect()).await?;
    for row in &mut rows {
        let place = places.remove(&row.id);
        row.waits = matches!(place, Some(None));
        row.leaf = place.flatten();
    }
    Ok(Found {
        rows,
        next: next.or(bound),
    })
}

/// The last of the rows that one statement looks at, behind a place of a span of time; `None` where the span ends
/// before.
pub(crate) async fn place(
    cx: &mut Connection,
    span: &Span,
    after: &Position,
) -> Result<Option<Position>, StoreError> {
    let page = Page {
        limit: 0,
        after: Some(after.clone()),
        created_after: None,
        created_before: Some(span.to),
    };
    let select = "SELECT occurred_at, id FROM audit WHERE org_id = $1 AND mode = $2";
    let listing = Listing::new(select, args![&span.org_id, span.mode]);
    let listing = listing.by("occurred_at", Order::OldestFirst);
    listing.place(cx, &page, SLICE_ROWS).await
}

fn narrow(listing: &mut Listing, filter: Filter) {
    let Filter {
        events,
        actor_ids,
        actor_type,
        // Chosen before.
        request_id: _,
        target_type,
        target_id,
        result,
        surface,
        model,
        phi_detected,
        order: _,
    } = filter;
    let events = events
        .into_iter()
        .map(|event| match event.strip_suffix('*') {
            Some(family) => {
                let condition = format!("SUBSTR(event, 1, {}) = ?", family.chars().count());
                (condition.into(), Arg::from(family))
            }
            None => ("event = ?".into(), Arg::from(event)),
        });
    listing.any(events.collect());
    let actors = actor_ids.into_iter();
    listing.any(
        actors
            .map(|id| ("actor_id = ?".into(), id.into()))
            .collect(),
    );
    for (condition, value) in [
        ("actor_type = ?", actor_type),
        ("target_type = ?", target_type),
        ("target_id = ?", target_id),
        ("result = ?", result),
        ("surface = ?", surface),
        ("model = ?", model),
    ] {
        if let Some(value) = value {
            listing.only(condition, value);
        }
    }
    if let Some(detected) = phi_detected {
        listing.only("phi_detected = ?", detected);
        if !detected {
            listing.only_where(SCANNED);
        }
    }
}

/// A row as a statement takes it: the values of [`audit_columns`], in their order.
#[derive(Clone)]
pub(crate) struct Arguments(pub(crate) Vec<Arg>);

/// The columns of [`Arguments`], in their order.
macro_rules! audit_columns {
    () => {
        "id, org_id, mode, request_id, phase, event, occurred_at, actor_type, actor_id, target_type, target_id, \
         result, surface, model, phi_detected, document"
    };
}
pub(crate) use audit_columns;

impl From<Columns> for Arguments {
    fn from(columns: Columns) -> Self {
        let Columns {
            id,
            org_id,
            mode,
            request_id,
            phase,
            event,
            occurred_at,
            actor_type,
            actor_id,
            target_type,
            target_id,
            outcome,
            surface,
            model,
            phi_detected,
            document,
        } = columns;
        Self(args![
            id,
            org_id,
            mode,
            request_id,
            phase.word(),
            event,
            occurred_at,
            actor_type,
            actor_id,
            target_type,
            target_id,
            outcome.word(),
            surface,
            model,
            phi_detected,
            document,
        ])
    }
}

/// Inserts a row. Where it, or another one of its request and phase, is there ([`is_there`]), the transaction is over:
/// asking the database to pass over such a row would cost every other one a fifth more.
pub(crate) async fn insert(cx: &mut Connection, row: &Arguments) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO audit (",
        audit_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
    );
    cx.execute_with(sql, &row.0).await.map(drop)
}

/// The unique keys of `audit`, as PostgreSQL names them and as SQLite speaks of them, and of the trigger that knows them
/// too.
const KEYS: [&str; 5] = [
    "audit is append-only: the row is there",
    "audit_request_id_phase_key",
    "audit_pkey",
    "UNIQUE constraint failed: audit.request_id, audit.phase",
    "UNIQUE constraint failed: audit.id",
];

/// Whether [`insert`] failed because the row is there, which a caller who asks again finds.
pub(crate) fn is_there(error: &StoreError) -> bool {
    matches!(error, StoreError::Exists { constraint } if KEYS.contains(&constraint.as_str()))
}
