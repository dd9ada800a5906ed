//! The ledger: two balanced postings per inference, never changed (contract 12.2). What it sums up to is the
//! truth; the sums of [`crate::budget`] are a cache of it.

use svc_core::chat::Usage;
use svc_core::id::IdKind;
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::StoreError;
use crate::budget::Cycle;
use crate::engine::{Arg, Connection, args};

/// Who pays the provider (contract 21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BilledTo {
    Operator,
    Organization,
}

impl BilledTo {
    /// The word of `billed_to`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Organization => "organization",
        }
    }
}

/// What one run is booked as. A run that failed or was cancelled has no credits, but its tokens and cost.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The cycle in which the run is billed.
    pub cycle: Cycle,
    /// Word of the terminal audit row's result.
    pub result: String,
    /// Catalogue id.
    pub model: String,
    /// Word of [`svc_core::surface::Surface`].
    pub surface: String,
    /// Word of [`crate::audit::ActorKind`].
    pub actor_type: String,
    pub actor_id: String,
    pub billed_to: BilledTo,
    /// Version of the price list that made `charge` out of `usage`.
    pub price_list: String,
    pub charge: Charge,
    pub usage: Usage,
}

/// The columns of [`postings!`].
macro_rules! ledger_columns {
    () => {
        "id, org_id, mode, request_id, kind, account, amount_micro, unit, cost_usd_micro, price_list, cycle_start, \
         result, model, surface, actor_type, actor_id, billed_to, sonnet_equivalent_tokens, input_tokens, \
         output_tokens, cache_read_tokens, cache_creation_tokens, created_at"
    };
}
pub(crate) use ledger_columns;

/// Both postings of a request, made of [`arguments`]. The credit mirrors the amounts, so that the postings of a request
/// sum up to zero; tokens are no money and stand on the debit alone.
macro_rules! postings {
    () => {
        "VALUES ($1, $2, $3, $4, 'debit', 'org:usage', $5, 'credit', $6, $7, $8, $9, $10, $11, $12, $13, $14, \
         $15, $16, $17, $18, $19, $20), \
         ($21, $2, $3, $4, 'credit', $22, $23, 'credit', $24, $7, $8, $9, $10, $11, $12, $13, $14, \
         0, 0, 0, 0, 0, $20)"
    };
}
pub(crate) use postings;

/// The 24 arguments of [`postings!`].
pub(crate) fn arguments(
    org_id: &str,
    mode: Mode,
    request_id: &str,
    entry: &Entry,
    now: Timestamp,
) -> Vec<Arg> {
    let Entry {
        cycle,
        result,
        model,
        surface,
        actor_type,
        actor_id,
        billed_to,
        price_list,
        charge,
        usage,
    } = entry;
    let cycle_account = format!("org:cycle:{}", cycle.start);
    let id = || IdKind::Bare.make(now, rand::random());
    args![
        id(),
        org_id,
        mode,
        request_id,
        charge.credits,
        charge.cost_usd,
        price_list,
        cycle.start,
        result,
        model,
        surface,
        actor_type,
        actor_id,
        billed_to.word(),
        charge.sonnet_equivalent_tokens,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        now,
        id(),
        cycle_account,
        Micro::ZERO - charge.credits,
        Micro::ZERO - charge.cost_usd,
    ]
}

/// Writes both postings of a request.
pub(crate) async fn post(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    request_id: &str,
    entry: &Entry,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = concat!("INSERT INTO ledger (", ledger_columns!(), ") ", postings!());
    let arguments = arguments(org_id, mode, request_id, entry, now);
    cx.execute(sql, arguments).await.map(drop)
}
