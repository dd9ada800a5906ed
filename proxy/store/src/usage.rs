//! What was used in a span of time, from the ledger and the audit log themselves (contract 12.3).

use svc_core::chat::Usage;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};

use crate::engine::{Connection, Row, args};
use crate::page::Position;
use crate::{Store, StoreError, audit};

/// Which part of the books is asked for: `[from, to)`.
#[derive(Clone, Debug)]
pub struct Span {
    pub org_id: String,
    pub mode: Mode,
    pub from: Timestamp,
    pub to: Timestamp,
}

/// What a breakdown tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    Model,
    Key,
    Agent,
    Day,
    Surface,
}

impl GroupBy {
    const ALL: [Self; 5] = [
        Self::Model,
        Self::Key,
        Self::Agent,
        Self::Day,
        Self::Surface,
    ];

    /// The word of `group_by`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Key => "key",
            Self::Agent => "agent",
            Self::Day => "day",
            Self::Surface => "surface",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.word() == word)
    }

    /// The group of a posting; rows without one are not part of the breakdown.
    const fn column(self) -> &'static str {
        match self {
            Self::Model => "l.model",
            Self::Key => "CASE WHEN l.actor_type = 'api_key' THEN l.actor_id END",
            Self::Agent => {
                "(SELECT c.agent_id FROM agent_credentials c \
                 WHERE l.actor_type = 'agent_credential' AND c.id = l.actor_id)"
            }
            Self::Day => "CAST(l.created_at / 86400000 AS TEXT)",
            Self::Surface => "l.surface",
        }
    }
}

/// Everything that was used.
#[derive(Clone, Debug, Default)]
pub struct Used {
    pub credits: Micro,
    /// Dollars that providers cost, for runs that failed or were cancelled too.
    pub spend_usd: Micro,
    pub sonnet_equivalent_tokens: u64,
    pub tokens: Usage,
    pub requests: Requests,
    /// Solver runs that were answered.
    pub actions: u64,
    /// Most credits first, at most 1000; empty where none was asked for.
    pub breakdown: Vec<Group>,
}

/// Inference requests by how they ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    pub succeeded: u64,
    /// Refused by a gate or a policy.
    pub blocked: u64,
    /// Those that were abandoned among them.
    pub failed: u64,
    pub cancelled: u64,
}

/// One line of a breakdown.
#[derive(Clone, Debug)]
pub struct Group {
    /// A model, an id, a surface, or the first instant of a day.
    pub name: String,
    pub requests: u64,
    pub credits: Micro,
    pub cost_usd: Micro,
}

/// The row of a solver run.
const SOLVED: &str = "workflow.solve_completed";
/// Lines of a breakdown.
const MAX_GROUPS: u32 = 1_000;

/// Sums up a span.
///
/// # Errors
/// Those of the database.
pub async fn read(
    store: &Store,
    span: &Span,
    group_by: Option<GroupBy>,
) -> Result<Used, StoreError> {
    let of = span.clone();
    let mut used = store
        .db
        .report(move |cx| {
            Box::pin(async move {
                let mut used = sums(cx, &of).await?;
                if let Some(group_by) = group_by {
                    used.breakdown = breakdown(cx, &of, group_by).await?;
                }
                Ok(used)
            })
        })
        .await?;
    count(store, span, &mut used).await?;
    Ok(used)
}

async fn sums(cx: &mut Connection, span: &Span) -> Result<Used, StoreError> {
    let sql = "SELECT CAST(COALESCE(SUM(ABS(amount_micro)), 0) AS BIGINT) AS credits, \
               CAST(COALESCE(SUM(cost_usd_micro), 0) AS BIGINT) AS cost, \
               CAST(COALESCE(SUM(sonnet_equivalent_tokens), 0) AS BIGINT) AS equivalent, \
               CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT) AS input, \
               CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) AS output, \
               CAST(COALESCE(SUM(cache_read_tokens), 0) AS BIGINT) AS cache_read, \
               CAST(COALESCE(SUM(cache_creation_tokens), 0) AS BIGINT) AS cache_creation \
               FROM ledger WHERE org_id = $1 AND mode = $2 AND kind = 'debit' \
               AND created_at >= $3 AND created_at < $4";
    let row = cx.row(sql, arguments(span)).await?;
    let row = row.ok_or(StoreError::Missing("sum"))?;
    Ok(Used {
        credits: row.get("credits")?,
        spend_usd: row.get("cost")?,
        sonnet_equivalent_tokens: row.get("equivalent")?,
        tokens: Usage {
            input_tokens: row.get("input")?,
            output_tokens: row.get("output")?,
            cache_read_input_tokens: row.get("cache_read")?,
            cache_creation_input_tokens: row.get("cache_creation")?,
        },
        ..Used::default()
    })
}

/// Counts how requests ended, some rows of the log at a time.
async fn count(store: &Store, span: &Span, used: &mut Used) -> Result<(), StoreError> {
    let mut after = Position::new(span.from, "");
    loop {
        let (of, behind) = (span.clone(), after.clone());
        let slice = store
            .db
            .report(|cx| Box::pin(async move { slice(cx, &of, &behind).await }));
        let (counts, next) = slice.await?;
        for (event, count) in counts {
            let requests = &mut used.requests;
            let sum = match event.as_str() {
                SOLVED => &mut used.actions,
                "inference.completed" => &mut requests.succeeded,
                "inference.blocked" | "inference.denied" => &mut requests.blocked,
                "inference.cancelled" => &mut requests.cancelled,
                _ => &mut requests.failed,
            };
            *sum += count;
        }
        match next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

/// How many of the rows behind a place ended in which event, and where that ends; `None` where it is the end of the
/// span.
async fn slice(
    cx: &mut Connection,
    span: &Span,
    after: &Position,
) -> Result<(Vec<(String, u64)>, Option<Position>), StoreError> {
    let next = audit::place(cx, span, after).await?;
    let until = next.clone().unwrap_or_else(|| Position::new(span.to, ""));
    let arguments = args![
        &span.org_id,
        span.mode,
        after.at,
        &after.id,
        until.at,
        &until.id,
        SOLVED
    ];
    let sql = "SELECT event, COUNT(*) AS requests FROM audit WHERE org_id = $1 AND mode = $2 \
               AND (occurred_at, id) > ($3, $4) AND (occurred_at, id) <= ($5, $6) \
               AND (event LIKE 'inference.%' AND phase <> 'requested' OR event = $7 AND result = 'success') \
               GROUP BY event";
    let rows = cx.rows(sql, arguments).await?;
    let counts = rows
        .iter()
        .map(|row| Ok((row.get("event")?, row.get("requests")?)));
    Ok((counts.collect::<Result<_, StoreError>>()?, next))
}

async fn breakdown(
    cx: &mut Connection,
    span: &Span,
    group_by: GroupBy,
) -> Result<Vec<Group>, StoreError> {
    let column = group_by.column();
    let sql = format!(
        "SELECT name, COUNT(*) AS requests, CAST(SUM(amount) AS BIGINT) AS credits, \
         CAST(SUM(cost) AS BIGINT) AS cost FROM \
         (SELECT {column} AS name, ABS(l.amount_micro) AS amount, l.cost_usd_micro AS cost FROM ledger l \
         WHERE l.org_id = $1 AND l.mode = $2 AND l.kind = 'debit' AND l.created_at >= $3 AND l.created_at < $4) \
         AS lines WHERE name IS NOT NULL GROUP BY name ORDER BY credits DESC, name LIMIT {MAX_GROUPS}"
    );
    let rows = cx.rows_of(sql, arguments(span)).await?;
    rows.iter().map(|row| group(row, group_by)).collect()
}

fn group(row: &Row, group_by: GroupBy) -> Result<Group, StoreError> {
    let name: String = row.get("name")?;
    let name = match group_by {
        GroupBy::Day => {
            let day: i64 = name.parse().map_err(|_| StoreError::Corrupt {
                column: "created_at",
            })?;
            Timestamp(day.saturating_mul(MS_PER_DAY)).to_string()
        }
        GroupBy::Model | GroupBy::Key | GroupBy::Agent | GroupBy::Surface => name,
    };
    Ok(Group {
        name,
        requests: row.get("requests")?,
        credits: row.get("credits")?,
        cost_usd: row.get("cost")?,
    })
}

fn arguments(span: &Span) -> Vec<crate::engine::Arg> {
    args![&span.org_id, span.mode, span.from, span.to]
}
