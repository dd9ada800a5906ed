//! What was used in a span of time, from the ledger and the audit log themselves (contract 12.3), some rows of them at
//! a time. What is long over is read once by each process.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use svc_core::chat::Usage;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};

use crate::engine::{Arg, Connection, Row, args};
use crate::page::{Position, SLICE_ROWS};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// The row of a solver run, which is the only one of its request: beside that of a run that was answered again, and is not
/// metered again, stands another one.
const SOLVED: &str = "workflow.solve_completed";
/// Lines of a breakdown.
const MAX_GROUPS: usize = 1_000;

/// The cycles of an organization ($1, in mode $2), and when the first posting of each was made in a span ($3, $4). One
/// look into the index for each cycle; as a join, PostgreSQL may read the whole ledger. Public for the contract tests.
pub const CYCLES: &str = "SELECT b.cycle_start, (SELECT MIN(l.created_at) FROM ledger l WHERE l.org_id = $1 \
                          AND l.mode = $2 AND l.kind = 'debit' AND l.cycle_start = b.cycle_start \
                          AND l.created_at >= $3 AND l.created_at < $4) AS first_at \
                          FROM budgets b WHERE b.org_id = $1 AND b.mode = $2 ORDER BY b.cycle_start";
/// The instant of the posting behind the next $6 ones of a cycle ($3). Public for the contract tests.
pub const SLICE_END: &str = "SELECT created_at FROM ledger WHERE org_id = $1 AND mode = $2 AND kind = 'debit' \
                             AND cycle_start = $3 AND created_at >= $4 AND created_at < $5 \
                             ORDER BY created_at LIMIT 1 OFFSET $6";

/// Sums of what is over: a page that is opened every few minutes does not read a month of rows each time. Cheap to
/// clone.
#[derive(Clone)]
pub(crate) struct Kept(Cache<Beginning, Arc<Sums>>);

/// What sums are kept by; they grow from here.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Beginning {
    org_id: String,
    mode: Mode,
    from: Timestamp,
    group_by: Option<GroupBy>,
}

/// What was used before an instant.
#[derive(Clone)]
struct Sums {
    to: Timestamp,
    used: Used,
    groups: BTreeMap<String, Group>,
}

/// Nothing is written of a time this long ago: rows have the time at which they are settled, and one that had to wait
/// for the database waits in memory.
const OVER_MS: i64 = MS_PER_DAY;
/// Groups of all sums that are kept, at some hundred bytes each.
const MAX_KEPT_GROUPS: u64 = 100_000;
/// Sums that nobody has asked for so long are of a cycle that has ended.
const KEPT_IDLE: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for Kept {
    fn default() -> Self {
        let groups = |_: &Beginning, sums: &Arc<Sums>| {
            u32::try_from(sums.groups.len()).map_or(u32::MAX, |groups| groups.saturating_add(1))
        };
        let cache = Cache::builder()
            .max_capacity(MAX_KEPT_GROUPS)
            .weigher(groups)
            .time_to_idle(KEPT_IDLE);
        Self(cache.build())
    }
}

/// Sums up a span. What is settled meanwhile may be in some of the numbers and not in others.
///
/// # Errors
/// Those of the database.
pub async fn read(
    store: &Store,
    span: &Span,
    group_by: Option<GroupBy>,
    now: Timestamp,
) -> Result<Used, StoreError> {
    let beginning = Beginning {
        org_id: span.org_id.clone(),
        mode: span.mode,
        from: span.from,
        group_by,
    };
    let kept = &store.usage.0;
    let over = span.to.min(now.plus_ms(-OVER_MS));
    let known = kept.get(&beginning);
    let mut sums = match &known {
        Some(known) if known.to <= span.to => known.as_ref().clone(),
        _ => Sums {
            to: span.from,
            used: Used::default(),
            groups: BTreeMap::new(),
        },
    };
    if sums.to < over {
        go_on(store, span, over, group_by, &mut sums).await?;
        // Sums that go further are kept, whatever else is asked for.
        if known.is_none_or(|known| known.to < over) {
            kept.insert(beginning, Arc::new(sums.clone()));
        }
    }
    go_on(store, span, span.to, group_by, &mut sums).await?;
    let Sums {
        mut used, groups, ..
    } = sums;
    used.breakdown = groups.into_values().collect();
    // Groups of equal credits stay in the order of their names.
    used.breakdown.sort_by_key(|group| Reverse(group.credits));
    used.breakdown.truncate(MAX_GROUPS);
    Ok(used)
}

/// Adds what was used from where sums end up to an instant.
async fn go_on(
    store: &Store,
    span: &Span,
    to: Timestamp,
    group_by: Option<GroupBy>,
    sums: &mut Sums,
) -> Result<(), StoreError> {
    let span = &Span {
        from: sums.to,
        to,
        ..span.clone()
    };
    if span.from >= span.to {
        return Ok(());
    }
    for (cycle, first) in cycles(store, span).await? {
        let mut next = Some(first);
        while let Some(from) = next {
            let of = span.clone();
            let part = store.db.report(move |cx| {
                Box::pin(async move { postings(cx, &of, cycle, from, group_by).await })
            });
            let (part, behind) = part.await?;
            add(&mut sums.used, &mut sums.groups, part);
            next = behind;
        }
    }
    count(store, span, &mut sums.used).await?;
    sums.to = to;
    Ok(())
}

/// The cycles that have postings of the span, and when the first one of each was made. A run that ends after its cycle
/// is billed in it all the same: only the postings tell which cycles a span has.
async fn cycles(store: &Store, span: &Span) -> Result<Vec<(Timestamp, Timestamp)>, StoreError> {
    let arguments = args![&span.org_id, span.mode, span.from, span.to];
    let rows = store
        .db
        .read(|cx| Box::pin(async move { cx.rows(CYCLES, arguments).await }));
    let mut cycles = Vec::new();
    for row in rows.await? {
        if let Some(first) = row.get("first_at")? {
            cycles.push((row.get("cycle_start")?, first));
        }
    }
    Ok(cycles)
}

/// What some postings of a cycle sum up to, and the instant at which the next ones begin; `None` where the span ends
/// before.
async fn postings(
    cx: &mut Connection,
    span: &Span,
    cycle: Timestamp,
    from: Timestamp,
    group_by: Option<GroupBy>,
) -> Result<(Used, Option<Timestamp>), StoreError> {
    let between = |to| args![&span.org_id, span.mode, cycle, from, to];
    let mut arguments = between(span.to);
    arguments.push(SLICE_ROWS.into());
    let next: Option<Timestamp> = cx
        .one(SLICE_END, arguments, |row| row.get("created_at"))
        .await?;
    // An instant is never divided.
    let next = next.map(|next| next.max(from.plus_ms(1)));
    let to = next.unwrap_or(span.to);
    let mut used = sums(cx, between(to)).await?;
    if let Some(group_by) = group_by {
        used.breakdown = breakdown(cx, between(to), group_by).await?;
    }
    Ok((used, next))
}

/// Adds what some postings sum up to.
fn add(used: &mut Used, groups: &mut BTreeMap<String, Group>, part: Used) {
    let Used {
        credits,
        spend_usd,
        sonnet_equivalent_tokens,
        tokens,
        requests: _,
        actions: _,
        breakdown,
    } = part;
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    } = tokens;
    used.credits += credits;
    used.spend_usd += spend_usd;
    used.sonnet_equivalent_tokens += sonnet_equivalent_tokens;
    used.tokens.input_tokens += input_tokens;
    used.tokens.output_tokens += output_tokens;
    used.tokens.cache_read_input_tokens += cache_read_input_tokens;
    used.tokens.cache_creation_input_tokens += cache_creation_input_tokens;
    for group in breakdown {
        match groups.get_mut(&group.name) {
            Some(sum) => {
                sum.requests += group.requests;
                sum.credits += group.credits;
                sum.cost_usd += group.cost_usd;
            }
            None => drop(groups.insert(group.name.clone(), group)),
        }
    }
}

async fn sums(cx: &mut Connection, arguments: Vec<Arg>) -> Result<Used, StoreError> {
    let sql = "SELECT CAST(COALESCE(SUM(ABS(amount_micro)), 0) AS BIGINT) AS credits, \
               CAST(COALESCE(SUM(cost_usd_micro), 0) AS BIGINT) AS cost, \
               CAST(COALESCE(SUM(sonnet_equivalent_tokens), 0) AS BIGINT) AS equivalent, \
               CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT) AS input, \
               CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) AS output, \
               CAST(COALESCE(SUM(cache_read_tokens), 0) AS BIGINT) AS cache_read, \
               CAST(COALESCE(SUM(cache_creation_tokens), 0) AS BIGINT) AS cache_creation \
               FROM ledger WHERE org_id = $1 AND mode = $2 AND kind = 'debit' AND cycle_start = $3 \
               AND created_at >= $4 AND created_at < $5";
    let row = cx.row(sql, arguments).await?;
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
               AND (event LIKE 'inference.%' AND phase <> 'requested' \
               OR event = $7 AND phase = 'single' AND result = 'success') \
               GROUP BY event";
    let rows = cx.rows(sql, arguments).await?;
    let counts = rows
        .iter()
        .map(|row| Ok((row.get("event")?, row.get("requests")?)));
    Ok((counts.collect::<Result<_, StoreError>>()?, next))
}

async fn breakdown(
    cx: &mut Connection,
    arguments: Vec<Arg>,
    group_by: GroupBy,
) -> Result<Vec<Group>, StoreError> {
    let column = group_by.column();
    let sql = format!(
        "SELECT name, COUNT(*) AS requests, CAST(SUM(amount) AS BIGINT) AS credits, \
         CAST(SUM(cost) AS BIGINT) AS cost FROM \
         (SELECT {column} AS name, ABS(l.amount_micro) AS amount, l.cost_usd_micro AS cost FROM ledger l \
         WHERE l.org_id = $1 AND l.mode = $2 AND l.kind = 'debit' AND l.cycle_start = $3 \
         AND l.created_at >= $4 AND l.created_at < $5) \
         AS lines WHERE name IS NOT NULL GROUP BY name"
    );
    let rows = cx.rows_of(sql, arguments).await?;
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
