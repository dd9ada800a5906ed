//! What PHI was found in requests, counted out of the audit log: by kind, surface, detector and day, blocked or taken
//! out. Counts only; no row of the log holds anything else (contract 14.1).

use std::collections::BTreeMap;

use serde_json::Value;
use svc_core::time::{MS_PER_DAY, Timestamp};

use crate::engine::{Row, args};
use crate::page::Position;
use crate::usage::Span;
use crate::{Store, StoreError, audit};

/// What was found in a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Requests with PHI in them.
    pub requests: u64,
    /// Those of them that were refused for it.
    pub blocked: u64,
    /// Findings by kind of PHI: taken out, and in refused requests.
    pub kinds: BTreeMap<String, Counts>,
    /// Requests by surface.
    pub surfaces: BTreeMap<String, Counts>,
    /// Requests that a detector looked at, by its name and version.
    pub detectors: BTreeMap<String, u64>,
    /// Requests by UTC day, as days since the epoch.
    pub days: BTreeMap<i64, u64>,
    /// Whether the span may have more rows than were counted.
    pub is_cut: bool,
}

/// Findings, or requests, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub redacted: u64,
    pub blocked: u64,
}

impl Counts {
    fn add(&mut self, count: u64, is_blocked: bool) {
        if is_blocked {
            self.blocked += count;
        } else {
            self.redacted += count;
        }
    }
}

/// Rows of one query.
const BATCH_ROWS: u32 = 1_000;
/// Rows that are counted at most: a page must not read a log of years.
const MAX_ROWS: usize = 50_000;
/// Slices of the log that are looked at for them at most: five million rows, a matter of seconds.
const MAX_SLICES: usize = 250;

/// Counts the rows of a span.
///
/// # Errors
/// Those of the database.
pub async fn read(store: &Store, span: &Span) -> Result<Activity, StoreError> {
    let mut activity = Activity::default();
    let mut after = Position::new(span.from, "");
    let mut seen = 0;
    for _ in 0..MAX_SLICES {
        let (of, behind) = (span.clone(), after.clone());
        let place = store
            .db
            .report(|cx| Box::pin(async move { audit::place(cx, &of, &behind).await }));
        let next = place.await?;
        let until = next.clone().unwrap_or_else(|| Position::new(span.to, ""));
        loop {
            let rows = batch(store, span, &after, &until).await?;
            if seen >= MAX_ROWS && !rows.is_empty() {
                activity.is_cut = true;
                return Ok(activity);
            }
            let is_last = rows.len() < BATCH_ROWS as usize;
            for row in rows {
                seen += 1;
                count(&mut activity, &row);
                after = Position::new(row.occurred_at, &row.id);
            }
            if is_last {
                break;
            }
        }
        match next {
            Some(next) => after = next,
            None => return Ok(activity),
        }
    }
    activity.is_cut = true;
    Ok(activity)
}

/// What is counted of a row.
struct Found {
    id: String,
    occurred_at: Timestamp,
    event: String,
    surface: Option<String>,
    document: Value,
}

/// The first rows with PHI behind one place, up to another.
async fn batch(
    store: &Store,
    span: &Span,
    after: &Position,
    until: &Position,
) -> Result<Vec<Found>, StoreError> {
    let arguments = args![
        &span.org_id,
        span.mode,
        after.at,
        &after.id,
        until.at,
        &until.id,
        true,
        BATCH_ROWS
    ];
    store
        .db
        .report(|cx| {
            Box::pin(async move {
                // The row of an intent says what the row of its end says again.
                let sql = "SELECT id, occurred_at, event, surface, document FROM audit \
                           WHERE org_id = $1 AND mode = $2 AND (occurred_at, id) > ($3, $4) \
                           AND (occurred_at, id) <= ($5, $6) AND phi_detected = $7 AND phase <> 'requested' \
                           ORDER BY occurred_at, id LIMIT $8";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter().map(found).collect()
            })
        })
        .await
}

fn found(row: &Row) -> Result<Found, StoreError> {
    Ok(Found {
        id: row.get("id")?,
        occurred_at: row.get("occurred_at")?,
        event: row.get("event")?,
        surface: row.get("surface")?,
        document: row.get("document")?,
    })
}

fn count(activity: &mut Activity, row: &Found) {
    let is_blocked = row.event.ends_with(".blocked");
    activity.requests += 1;
    activity.blocked += u64::from(is_blocked);
    let kinds = row.document.pointer("/phi/entity_counts");
    for (kind, found) in kinds.and_then(Value::as_object).into_iter().flatten() {
        let found = found.as_u64().unwrap_or_default();
        let counts = activity.kinds.entry(kind.clone()).or_default();
        counts.add(found, is_blocked);
    }
    if let Some(surface) = &row.surface {
        let counts = activity.surfaces.entry(surface.clone()).or_default();
        counts.add(1, is_blocked);
    }
    let detectors = row.document.pointer("/phi/detectors");
    let detectors = detectors.and_then(Value::as_array).into_iter().flatten();
    for detector in detectors.filter_map(Value::as_str) {
        *activity.detectors.entry(detector.to_owned()).or_default() += 1;
    }
    let day = row.occurred_at.0.div_euclid(MS_PER_DAY);
    *activity.days.entry(day).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(event: &str, at: i64) -> Found {
        Found {
            id: "aud_1".to_owned(),
            occurred_at: Timestamp(at),
            event: event.to_owned(),
            surface: Some("native".to_owned()),
            document: json!({"phi": {"entity_counts": {"NAME": 2, "SSN": 1}, "detectors": ["phi-patterns@1.4.0"]}}),
        }
    }

    #[test]
    fn what_is_blocked_counts_apart() {
        let mut activity = Activity::default();
        count(&mut activity, &row("inference.completed", 1));
        count(&mut activity, &row("inference.blocked", MS_PER_DAY + 1));
        assert_eq!((activity.requests, activity.blocked), (2, 1));
        let names = activity.kinds.get("NAME").copied();
        assert_eq!(
            names,
            Some(Counts {
                redacted: 2,
                blocked: 2
            })
        );
        assert_eq!(activity.days.len(), 2);
        assert_eq!(activity.detectors.get("phi-patterns@1.4.0"), Some(&2));
    }
}
