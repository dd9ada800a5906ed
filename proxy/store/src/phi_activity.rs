//! What PHI was found in requests, counted out of the audit log: by kind, surface, detector and day, blocked or taken
//! out. Counts only; no row of the log holds anything else (contract 14.1).

use std::collections::BTreeMap;

use serde_json::Value;
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};

use crate::engine::{Row, args};
use crate::{Store, StoreError};

/// A span of one organization's log.
#[derive(Clone, Debug)]
pub struct Span {
    pub org_id: String,
    pub mode: Mode,
    /// Half open.
    pub from: Timestamp,
    pub to: Timestamp,
}

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

/// Counts the rows of a span.
///
/// # Errors
/// Those of the database.
pub async fn read(store: &Store, span: &Span) -> Result<Activity, StoreError> {
    let mut activity = Activity::default();
    let mut after = (span.from.plus_ms(-1), String::new());
    let mut seen = 0;
    loop {
        let rows = batch(store, span, &after).await?;
        if seen >= MAX_ROWS && !rows.is_empty() {
            activity.is_cut = true;
            return Ok(activity);
        }
        let is_last = rows.len() < BATCH_ROWS as usize;
        for row in rows {
            seen += 1;
            after = (row.occurred_at, row.id.clone());
            count(&mut activity, &row);
        }
        if is_last {
            return Ok(activity);
        }
    }
}

/// What is counted of a row.
struct Found {
    id: String,
    occurred_at: Timestamp,
    event: String,
    surface: Option<String>,
    document: Value,
}

async fn batch(
    store: &Store,
    span: &Span,
    (at, id): &(Timestamp, String),
) -> Result<Vec<Found>, StoreError> {
    let arguments = args![&span.org_id, span.mode, *at, id, span.to, BATCH_ROWS, true];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                // The row of an intent says what the row of its end says again.
                let sql = "SELECT id, occurred_at, event, surface, document FROM audit \
                           WHERE org_id = $1 AND mode = $2 AND (occurred_at, id) > ($3, $4) \
                           AND occurred_at < $5 AND phi_detected = $7 AND phase <> 'requested' \
                           ORDER BY occurred_at, id LIMIT $6";
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
