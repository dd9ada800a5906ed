//! The trail of one exchange: what its audit rows, its ledger entry and its credit hold will say, and the
//! guarantee that they are written exactly once on every way out.
//!
//! A trail that is dropped unsettled (disconnect, panic, shutdown) settles itself on the background runtime.

mod refusal;
mod row;
mod settle;

pub use refusal::Refusals;
pub(crate) use row::End;
pub use row::Entry;
use settle::Writing;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use svc_core::chat::{Finish, Usage};
use svc_core::fault::{Code, Fault, Kind};
use svc_core::id;
use svc_core::metering::{Charge, Price};
use svc_core::phi::Counts;
use svc_core::query;
use svc_core::secret::Mode;
use svc_core::surface::{PhiMetadata, Surface};
use svc_core::version::ApiVersion;
use svc_store::audit::{ActorKind, Row, Target};
use svc_store::inference::Progress;
use svc_store::ledger::BilledTo;

use crate::budget::Reservation;
use crate::caller::{Caller, PhiMode};
use crate::conversation::Turn;
use crate::estimate;
use crate::gateway::Gateway;
use crate::meter::{Meter, Used};
use crate::moment;
use crate::owed::Debt;
use crate::phi::Scan;
use crate::policy::models::{Model, ProviderKind};
use crate::policy::pipelines::Route;
use crate::request::{CutOff, RequestHead};

/// How far an exchange has come; decides which rows a way out writes (contract 14.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// No caller: failing authentications are counted elsewhere.
    Anonymous,
    /// A caller, refused at steps 5 to 8: one row.
    Known,
    /// Past the rate limits: two rows, both at the end where no intent was written.
    Admitted,
    /// The intent is durable, the hold is taken.
    Open,
    /// Everything is written, or somebody else's to write.
    Settled,
}

/// What a route asks of a model. Its audit rows are named after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Runs a model: two audit rows (contract 14.2), a charge and its postings.
    Inference,
    /// Content goes to a provider, but no model runs: two audit rows and no charge (contract X30).
    TokenCount,
    /// Changes or reads something that its one audit row speaks of (contract 14.2); the word is the row's family.
    Control(&'static str),
    /// Solves a spec: one audit row of one event, whatever the end (contract 14.2).
    Solve,
    /// Asks nothing of a model, and has no rows.
    Read,
}

impl Operation {
    /// What the events of its audit rows begin with.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::TokenCount => "token_count",
            Self::Control(family) => family,
            Self::Solve => "workflow",
            Self::Read => "read",
        }
    }
}

/// How a run ended, as its terminal row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Completed,
    /// A policy said no.
    Blocked,
    Failed,
    /// The caller left.
    Cancelled,
}

/// Tokens and price of a run that was settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) usage: Usage,
    pub(crate) charge: Charge,
}

/// Everything that rows are made of. Ids, counts and codes; never content.
#[derive(Clone)]
pub(crate) struct Record {
    operation: Operation,
    request_id: String,
    method: String,
    path: String,
    surface: Surface,
    version: Option<ApiVersion>,
    client: String,
    user_agent: Option<String>,
    received: Instant,
    policy_epoch: i64,
    caller: Option<Arc<Caller>>,
    party: Option<Party>,
    model: Option<ChosenModel>,
    message_id: Option<String>,
    scan: Option<ScanRecord>,
    intention: Option<Intention>,
    reservation: Option<Reservation>,
    billed_to: BilledTo,
    usage: Usage,
    /// Our count of the prompt, for runs whose provider never says its own.
    estimated_input_tokens: u64,
    first_token: Option<Duration>,
}

/// Somebody who is known without a credential that callers have, as rows name them.
#[derive(Clone)]
pub struct Party {
    pub kind: ActorKind,
    pub id: String,
    /// End of the secret, for people.
    pub hint: Option<String>,
    pub organization_id: String,
    pub mode: Mode,
}

#[derive(Clone)]
struct ChosenModel {
    id: String,
    kind: ProviderKind,
    price: Price,
    /// Version of the price list that `price` stands in.
    price_list: String,
    /// Most tokens that the answer may have.
    max_tokens: u64,
}

/// What an endpoint is about to do outside, as the row of it says.
#[derive(Clone)]
struct Intention {
    target: Target,
    details: Map<String, Value>,
}

#[derive(Clone)]
struct ScanRecord {
    phi: PhiMetadata,
    detectors: Vec<String>,
}

/// What the rows of one exchange will say, and how far it has come. Settles itself when it is dropped.
pub struct Trail {
    gateway: Arc<Gateway>,
    stage: Stage,
    record: Box<Record>,
    /// What the providers were heard to use.
    meter: Arc<Meter>,
    opening: Option<Opening>,
    cut_off: CutOff,
}

/// What is owed of a run that is open, or may be: its end.
struct Opening {
    debt: Debt,
    /// Of its intent.
    progress: Progress,
}

/// What rows say of the path: that of the route, with the ids that were sent where it asks for ids of ours. Whatever
/// else stood in their places may name a patient, and may look like one of them.
fn shown_path(route: &str, sent: &str) -> String {
    if !route.contains('{') {
        return route.to_owned();
    }
    let sent = sent.split('/').chain(std::iter::repeat(""));
    let segments = route.split('/').zip(sent);
    let segments = segments.map(|(meant, sent)| {
        let sent = is_id_of_ours(meant).then(|| query::part(sent));
        let id = sent.filter(|sent| id::is_id(sent));
        id.unwrap_or_else(|| meant.to_owned())
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Whether a segment of a route is the place of an id that we have made.
fn is_id_of_ours(meant: &str) -> bool {
    let name = meant
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'));
    name.is_some_and(|name| {
        matches!(name, "id" | "organization" | "project") || name.ends_with("_id")
    })
}

impl Trail {
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        route: &Route,
        surface: Surface,
        request_id: &str,
        head: &RequestHead,
        policy_epoch: i64,
    ) -> Self {
        let record = Record {
            operation: route.operation(),
            request_id: request_id.to_owned(),
            method: head.method.to_string(),
            path: shown_path(&route.path, &head.path),
            surface,
            version: None,
            client: head.client.to_string(),
            user_agent: head.user_agent(),
            received: head.received,
            policy_epoch,
            caller: None,
            party: None,
            model: None,
            message_id: None,
            scan: None,
            intention: None,
            reservation: None,
            billed_to: BilledTo::Operator,
            usage: Usage::default(),
            estimated_input_tokens: 0,
            first_token: None,
        };
        Self {
            gateway,
            stage: Stage::Anonymous,
            record: Box::new(record),
            meter: Arc::default(),
            opening: None,
            cut_off: head.cut_off.clone(),
        }
    }

    pub(crate) fn knows(&mut self, caller: &Arc<Caller>) {
        self.stage = Stage::Known;
        self.record.caller = Some(Arc::clone(caller));
    }

    /// The same caller, by what holds since; how far the exchange has come stays.
    pub(crate) fn knows_anew(&mut self, caller: &Arc<Caller>) {
        self.record.caller = Some(Arc::clone(caller));
    }

    /// From here on by the rules of this epoch.
    pub(crate) fn governed_by(&mut self, policy_epoch: i64) {
        self.record.policy_epoch = policy_epoch;
    }

    /// An endpoint has found out by itself who asks: its refusals have one row from here on.
    pub fn recognizes(&mut self, party: Party) {
        self.stage = Stage::Known;
        self.record.party = Some(party);
    }

    pub(crate) fn versioned(&mut self, version: ApiVersion) {
        self.record.version = Some(version);
    }

    /// Past every limit: who leaves from here on leaves a row too.
    pub fn admitted(&mut self) {
        self.stage = Stage::Admitted;
    }

    pub(crate) fn chose(&mut self, model: &Model, price: Price, price_list: &str, max_tokens: u32) {
        self.record.model = Some(ChosenModel {
            id: model.id.clone(),
            kind: model.kind,
            price,
            price_list: price_list.to_owned(),
            max_tokens: max_tokens.into(),
        });
    }

    /// A provider of this kind has answered, whatever the catalogue says of the model: it may be a fallback.
    pub(crate) fn answered_by(&mut self, kind: ProviderKind) {
        if let Some(model) = &mut self.record.model {
            model.kind = kind;
        }
    }

    pub(crate) fn reserves(&mut self, reservation: Reservation) {
        self.record.reservation = Some(reservation);
    }

    /// What notes the use of providers.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Our own count of the prompt.
    pub(crate) fn expects(&mut self, input_tokens: u64) {
        self.record.estimated_input_tokens = input_tokens;
    }

    /// The same, for what is told of the run before its provider counts.
    pub(crate) fn expected_input_tokens(&self) -> u64 {
        self.record.estimated_input_tokens
    }

    pub(crate) fn scanned(&mut self, scan: &Scan) {
        self.record.scan = Some(ScanRecord {
            phi: scan.metadata(0),
            detectors: scan.detectors.clone(),
        });
    }

    /// What the guard found in a request that it refused.
    pub(crate) fn found(&mut self, mode: PhiMode, counts: &Counts, detectors: Vec<String>) {
        let phi = PhiMetadata {
            mode: mode.word(),
            counts: counts.clone(),
            restored: 0,
        };
        self.record.scan = Some(ScanRecord { phi, detectors });
    }

    pub(crate) fn names(&mut self, message_id: &str) {
        self.record.message_id = Some(message_id.to_owned());
    }

    /// Writes the intent and takes the hold, in one transaction, before any upstream byte.
    pub(crate) async fn open(&mut self) -> Result<(), Fault> {
        let intent = row::requested(&self.record, moment::now());
        settle::open(&self.gateway, &self.record, intent, &mut self.opening).await?;
        self.stage = Stage::Open;
        Ok(())
    }

    /// Writes the row of what an endpoint is about to do outside, where no transaction reaches, before it does it. A
    /// reservation of nothing keeps the lease on it, so that recovery ends what a dead replica has left open.
    pub(crate) async fn intend(
        &mut self,
        target: Target,
        details: Map<String, Value>,
    ) -> Result<(), Fault> {
        self.record.intention = Some(Intention { target, details });
        self.open().await
    }

    /// Ends what was intended with the row of what came of it.
    ///
    /// # Errors
    /// 503 when the row could not be written: audit fails closed.
    pub async fn conclude(&mut self, entry: Entry) -> Result<(), Fault> {
        let terminal = row::last(row::control(&self.record, entry));
        settle::conclude(&self.gateway, &self.record, terminal).await?;
        self.written();
        Ok(())
    }

    /// Settles a good run, that of the provider that was asked last: charge, audit row, and the turn where it is stored,
    /// in one transaction.
    pub(crate) async fn complete(
        &mut self,
        finish: &Finish,
        phi: &PhiMetadata,
        turn: Option<Turn>,
    ) -> Result<Finished, Fault> {
        if self.stage != Stage::Open {
            return Err(Fault::internal("a run ended without an open intent"));
        }
        let record = &mut self.record;
        record.uses(self.meter.used().last());
        if let Some(scan) = &mut record.scan {
            scan.phi = phi.clone();
        }
        let finished = settle::complete(&self.gateway, record, finish, turn).await?;
        self.written();
        Ok(finished)
    }

    /// Settles a count: its audit row, and nothing in the ledger.
    ///
    /// # Errors
    /// 503 when the row could not be written: audit fails closed.
    pub(crate) async fn counted(&mut self, input_tokens: u64) -> Result<(), Fault> {
        if self.stage != Stage::Open {
            return Err(Fault::internal("a count ended without an open intent"));
        }
        self.record.usage.input_tokens = input_tokens;
        settle::count(&self.gateway, &self.record).await?;
        self.written();
        Ok(())
    }

    /// Settles a refusal or failure with the rows that its stage asks for.
    ///
    /// # Errors
    /// 503 when the rows could not be written: audit fails closed.
    pub(crate) async fn refuse(&mut self, fault: &Fault, surface: Surface) -> Result<(), Fault> {
        let end = End {
            ending: ending(fault),
            status: surface.status(fault.code),
            code: Some(fault.code),
        };
        match self.end(end) {
            Some(writing) => writing.done().await,
            None => Ok(()),
        }
    }

    /// Has the rows written that an end asks for at this stage.
    fn end(&mut self, end: End) -> Option<Writing> {
        let stage = std::mem::replace(&mut self.stage, Stage::Settled);
        let opening = self.opening.take();
        if matches!(stage, Stage::Anonymous | Stage::Settled) || !self.is_audited() {
            return None;
        }
        self.record.uses(&self.meter.used());
        let (gateway, record) = (Arc::clone(&self.gateway), Record::clone(&self.record));
        let has_both_rows = stage == Stage::Admitted && !self.has_one_row();
        Some(if stage == Stage::Open {
            let debt = opening.map(|opening| opening.debt);
            settle::fail(gateway, record, end, debt)
        } else if has_both_rows || opening.is_some() {
            settle::refuse(gateway, record, end, opening)
        } else {
            settle::deny(gateway, record, end)
        })
    }

    /// Writes the one row of a control-plane request, in the transaction of what the row is about. Whoever asks for
    /// it calls [`Self::written`] once that is durable.
    pub fn scribe(&self) -> Scribe {
        Scribe(Box::new(Record::clone(&self.record)))
    }

    /// All rows of this exchange are durable.
    pub fn written(&mut self) {
        self.stage = Stage::Settled;
        self.opening = None;
    }

    /// Somebody else writes the rows from here on.
    pub(crate) fn hands_over(&mut self) {
        self.stage = Stage::Settled;
    }

    fn is_audited(&self) -> bool {
        self.record.operation != Operation::Read
    }

    /// Unless it has an intent.
    fn has_one_row(&self) -> bool {
        matches!(
            self.record.operation,
            Operation::Control(_) | Operation::Solve
        )
    }
}

/// What the row of a control-plane request says, without its exchange.
pub struct Scribe(Box<Record>);

impl Scribe {
    /// The row of a request that did what it was asked to.
    pub fn row(&self, entry: Entry) -> Row {
        row::control(&self.0, entry)
    }

    /// As [`Self::row`], with the end of a request that did not.
    pub(crate) fn ended(&self, entry: Entry, end: End) -> Row {
        row::ended(self.row(entry), end)
    }

    /// The row of a request that is refused.
    pub fn refusal(&self, fault: &Fault) -> Row {
        let end = End {
            ending: ending(fault),
            status: self.0.surface.status(fault.code),
            code: Some(fault.code),
        };
        row::denied(&self.0, moment::now(), end)
    }
}

/// Contract 3.1 and 14.2: what a policy decided is blocked, everything else failed.
pub(crate) fn ending(fault: &Fault) -> Ending {
    match fault.code.row().kind {
        Kind::PaymentRequired | Kind::Permission | Kind::RateLimited | Kind::Gone => {
            Ending::Blocked
        }
        _ if fault.code == Code::PhiInToolSchema => Ending::Blocked,
        _ => Ending::Failed,
    }
}

impl Record {
    /// Takes in what was used, at one provider after another; the operator pays where they pay for any of it. What was
    /// taken in before is told anew.
    fn uses<'u>(&mut self, all: impl IntoIterator<Item = &'u Used>) {
        for (at, used) in all.into_iter().enumerate() {
            if at == 0 {
                self.usage = Usage::default();
            }
            let more = self.counted(used);
            let usage = &mut self.usage;
            usage.input_tokens += more.input_tokens;
            usage.output_tokens += more.output_tokens;
            usage.cache_read_input_tokens += more.cache_read_input_tokens;
            usage.cache_creation_input_tokens += more.cache_creation_input_tokens;
            if at == 0 || used.billed_to == BilledTo::Operator {
                self.billed_to = used.billed_to;
            }
            let first_token = used.first_token;
            self.first_token = first_token.map(|at| at.duration_since(self.received));
        }
    }

    /// A provider that never gave its count is metered by ours, never by zero (wire.md 2, point 33), and never for more
    /// tokens than were held for.
    fn counted(&self, used: &Used) -> Usage {
        let mut usage = used.usage;
        if usage.output_tokens == 0 {
            let most = self.model.as_ref().map_or(0, |model| model.max_tokens);
            usage.output_tokens = estimate::of_text(used.output_bytes).min(most);
        }
        let cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
        if used.answered && usage.input_tokens == 0 && cached == 0 {
            usage.input_tokens = self.estimated_input_tokens;
        }
        usage
    }
}

/// Client status of a request that nobody waited for (nginx's 499, as access logs know it).
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// How a request ends that is dropped: by a panic, by a gateway whose time to leave is over, or by its caller.
pub(crate) fn dropped(cut_off: &CutOff) -> End {
    let (ending, status, code) = if std::thread::panicking() {
        (Ending::Failed, 500, Some(Code::InternalError))
    } else if cut_off.has_begun() {
        (Ending::Failed, 503, Some(Code::InferenceUnavailable))
    } else {
        (Ending::Cancelled, CLIENT_CLOSED_REQUEST, None)
    };
    End {
        ending,
        status,
        code,
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        // Who leaves earlier leaves no row.
        if self.stage >= Stage::Admitted {
            self.end(dropped(&self.cut_off));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_with_ids_of_ours_alone() {
        const ULID: &str = "01HZX3V6Q8J5N0R2T4W6Y8A0BC";
        let shown = |route, sent: String| shown_path(route, &sent);
        for (route, sent, expected) in [
            (
                "/v1/agents/{id}/credentials/{credential_id}/revoke",
                format!("/v1/agents/agt_{ULID}/credentials/agc_{ULID}/revoke"),
                format!("/v1/agents/agt_{ULID}/credentials/agc_{ULID}/revoke"),
            ),
            (
                "/v1/agents/{id}",
                "/v1/agents/maria".to_owned(),
                "/v1/agents/{id}".to_owned(),
            ),
            (
                "/v1/orgs/{organization}/end-users/{runtime_user}/export",
                format!("/v1/orgs/org_{ULID}/end-users/{ULID}/export"),
                format!("/v1/orgs/org_{ULID}/end-users/{{runtime_user}}/export"),
            ),
            (
                "/v1/orgs/{organization}/end-users/{runtime_user}/export",
                format!("/v1/orgs/mercy/end-users/patient_{ULID}/export"),
                "/v1/orgs/{organization}/end-users/{runtime_user}/export".to_owned(),
            ),
            (
                "/v1/egress/{project}/{alias}/{*path}",
                format!("/v1/egress/default/up/{ULID}/notes"),
                "/v1/egress/{project}/{alias}/{*path}".to_owned(),
            ),
        ] {
            assert_eq!(shown(route, sent), expected);
        }
    }
}
