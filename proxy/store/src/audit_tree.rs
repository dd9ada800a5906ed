//! The tree over the audit log (contract 14.4): rows become leaves in the order in which they were committed, each
//! exactly once, and every batch ends in a signed checkpoint. Proofs are made from what is kept, never from the whole
//! log. Sealing changes no row.
//!
//! Commit order: a row waits in `audit_unsealed` from its own transaction on. Whoever seals is told of what is
//! committed and takes it by its number there. A row that was committed before another one was begun has the smaller
//! number, and a row that becomes visible late, behind larger numbers, is taken by the next batch, or, where it stands
//! among entries whose rows are gone, when those are looked at again ([`Passed`]): no number is passed over for good.

use std::collections::HashMap;

use svc_core::audit_leaf;
use svc_core::checkpoint::Signer;
use svc_core::merkle::{self, Edge, Hash, Head, Kept, Place, Span};
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Arg, Connection, ROWS_PER_STATEMENT, Row, args};
use crate::{Store, StoreError, page};

/// What one batch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Leaves that were added.
    pub rows: u64,
    /// Entries of the queue that were taken out of it because their rows are leaves already: somebody has put these rows
    /// in the place of sealed ones, past the triggers. Their leaves are those of the rows that were there.
    pub replaced: u64,
    /// Whether more may be waiting.
    pub more: bool,
    /// For the next batch.
    pub passed: Passed,
}

/// A place in the queue: up to it, nothing was found but entries whose rows are gone. Whoever seals remembers it, so
/// that they are not looked at again and again, and forgets it from time to time: an entry before it may have become
/// visible since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed(i64);

impl Default for Passed {
    fn default() -> Self {
        Self(i64::MIN)
    }
}

/// Where a row stands in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// From 0, over the whole deployment.
    pub index: u64,
    pub hash: Hash,
}

/// The newest checkpoint, with the size that it names.
#[derive(Clone, Debug)]
pub struct Signed {
    /// Leaves.
    pub size: u64,
    /// A signed note.
    pub checkpoint: String,
}

/// That a row is in the tree of a checkpoint.
#[derive(Clone, Debug)]
pub struct Inclusion {
    pub leaf: Leaf,
    /// The hash beside the leaf first ([`svc_core::merkle::includes`]).
    pub hashes: Vec<Hash>,
    pub signed: Signed,
}

/// Seals the rows that wait longest behind `passed`, at most `most` (at least 1). Any number of replicas may call it at
/// once.
///
/// # Errors
/// [`StoreError::Missing`] before the log has a key, and those of the database; nothing is sealed then.
pub async fn seal(
    store: &Store,
    signer: &Signer,
    now: Timestamp,
    most: u32,
    passed: Passed,
) -> Result<Sealed, StoreError> {
    // In a transaction on PostgreSQL for the settings that the read needs, and on SQLite because the writer has the
    // pages at hand that were just written; another connection would read each of them from the log again.
    let reading = store
        .db
        .write(move |cx| Box::pin(async move { waiting(cx, most, passed).await }));
    let (edge, front) = reading.await?;
    let Front { rows, more, passed } = front;
    if rows.is_empty() {
        return Ok(Sealed {
            rows: 0,
            replaced: 0,
            more,
            passed,
        });
    }
    let batch = Batch::new(edge, &rows, signer)?;
    let places = batch.places.clone();
    let done = store
        .db
        .write(move |cx| Box::pin(async move { batch.write(cx, now).await }))
        .await;
    match done {
        Ok(rows) => Ok(Sealed {
            rows,
            replaced: 0,
            more,
            passed,
        }),
        // Another replica has sealed since: what it left is for the next batch.
        Err(StoreError::GivenUp) => Ok(Sealed {
            rows: 0,
            replaced: 0,
            more: true,
            passed,
        }),
        // The tree has not grown, so nobody else has sealed these rows: one of them was sealed before it was written.
        Err(StoreError::Exists { constraint }) => match sort_out(store, places).await? {
            0 => Err(StoreError::Exists { constraint }),
            replaced => Ok(Sealed {
                rows: 0,
                replaced,
                more: true,
                passed,
            }),
        },
        Err(error) => Err(error),
    }
}

/// Takes those of these entries out of the queue whose rows are leaves already. Gives how many.
async fn sort_out(store: &Store, places: Vec<Arg>) -> Result<u64, StoreError> {
    let sorting = store.db.write(|cx| {
        Box::pin(async move {
            along_indexes(cx).await?;
            let gone = cx.rows_over(places, |places| {
                format!(
                    "DELETE FROM audit_unsealed WHERE seq IN ({places}) AND (SELECT l.leaf_index FROM audit_leaves l \
                     WHERE l.audit_id = audit_unsealed.audit_id) IS NOT NULL RETURNING seq"
                )
            });
            Ok(gone.await?.len() as u64)
        })
    });
    sorting.await
}

/// The edge first: a batch of another replica between the two reads is then noticed by the tree's size.
async fn waiting(
    cx: &mut Connection,
    most: u32,
    passed: Passed,
) -> Result<(Edge, Front), StoreError> {
    along_indexes(cx).await?;
    let sql = "SELECT size, edge FROM audit_tree WHERE only_row = 1";
    let tree = cx.row(sql, args![]).await?;
    let tree = tree.ok_or(StoreError::Missing("audit tree"))?;
    let bytes: Vec<u8> = tree.get("edge")?;
    let edge = Edge::restore(tree.get("size")?, &bytes);
    let edge = edge.ok_or(StoreError::Corrupt { column: "edge" })?;
    Ok((edge, front(cx, most, passed).await?))
}

/// Reads of the queue for one batch. Whoever else writes waits for them; what is behind them is for the next batch.
const MOST_READS: u32 = 8;

/// The front of the queue: at most `most` entries whose rows are there. An entry whose row was removed past the
/// triggers stays where it is, as the trace of that ([`lost`]), and holds up nobody behind it.
async fn front(cx: &mut Connection, most: u32, passed: Passed) -> Result<Front, StoreError> {
    let most = most.max(1);
    let mut front = Front {
        rows: Vec::new(),
        more: true,
        passed,
    };
    let Passed(mut after) = passed;
    for _ in 0..MOST_READS {
        let queued = queued(cx, after, most).await?;
        let is_last = queued.len() < most as usize;
        after = queued.last().map_or(after, |(seq, _)| *seq);
        front.rows.extend(found(cx, queued).await?);
        if front.rows.is_empty() {
            front.passed = Passed(after);
        }
        if is_last || front.rows.len() >= most as usize {
            front.more = !is_last || front.rows.len() > most as usize;
            front.rows.truncate(most as usize);
            break;
        }
    }
    Ok(front)
}

/// The next entries of the queue: place and row of each.
async fn queued(
    cx: &mut Connection,
    after: i64,
    most: u32,
) -> Result<Vec<(i64, String)>, StoreError> {
    let sql = "SELECT seq, audit_id FROM audit_unsealed WHERE seq > $1 ORDER BY seq LIMIT $2";
    let rows = cx.rows(sql, args![after, most]).await?;
    rows.iter()
        .map(|row| Ok((row.get("seq")?, row.get("audit_id")?)))
        .collect()
}

/// The entries whose rows are there, in their order.
async fn found(
    cx: &mut Connection,
    queued: Vec<(i64, String)>,
) -> Result<Vec<Waiting>, StoreError> {
    let ids = queued.iter().map(|(_, id)| Arg::from(id)).collect();
    let rows = cx.rows_over(ids, |ids| {
        format!("SELECT id, org_id, mode, occurred_at, document FROM audit WHERE id IN ({ids})")
    });
    let mut by_id = HashMap::with_capacity(queued.len());
    for row in rows.await? {
        by_id.insert(row.get::<String>("id")?, row);
    }
    let waiting = queued
        .into_iter()
        .filter_map(|(seq, id)| by_id.remove(&id).map(|row| Waiting { seq, id, row }));
    Ok(waiting.collect())
}

/// What is sealed next.
struct Front {
    rows: Vec<Waiting>,
    /// Whether more may stand behind them.
    more: bool,
    passed: Passed,
}

/// A row that waits, and its place in the queue.
struct Waiting {
    seq: i64,
    id: String,
    row: Row,
}

/// On PostgreSQL the sealer's statements, each of one table, go along indexes. The planner, which knows nothing of a
/// queue that fills and empties between two of its looks, reads whole tables otherwise, the log among them.
const ALONG_INDEXES: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off";

/// [`ALONG_INDEXES`] for the rest of a transaction.
async fn along_indexes(cx: &mut Connection) -> Result<(), StoreError> {
    match cx {
        Connection::Postgres(_) => cx.batch(ALONG_INDEXES).await,
        Connection::Sqlite(_) | Connection::Writer(_) => Ok(()),
    }
}

/// What a batch writes, worked out before its transaction begins.
struct Batch {
    /// Places in the queue.
    places: Vec<Arg>,
    /// The size that the tree must still have.
    old_size: u64,
    edge: Edge,
    checkpoint: String,
    leaves: Vec<Vec<Arg>>,
    nodes: Vec<Vec<Arg>>,
}

impl Batch {
    fn new(mut edge: Edge, rows: &[Waiting], signer: &Signer) -> Result<Self, StoreError> {
        let old_size = edge.size();
        let (mut leaves, mut nodes) = (Vec::with_capacity(rows.len()), Vec::new());
        for Waiting { seq: _, id, row } in rows {
            let org_id: Option<String> = row.get("org_id")?;
            let mode: Option<String> = row.get("mode")?;
            let at: Timestamp = row.get("occurred_at")?;
            let hash = audit_leaf::hash_text(&row.get::<String>("document")?);
            let hash = hash.ok_or(StoreError::Corrupt { column: "document" })?;
            leaves.push(args![edge.size(), id, hash.to_vec(), org_id, mode, at]);
            for ((height, position), hash) in edge.push(hash) {
                nodes.push(args![i64::from(height), position, hash.to_vec()]);
            }
        }
        let head = Head {
            size: edge.size(),
            root: edge.root(),
        };
        Ok(Self {
            places: rows.iter().map(|waiting| Arg::from(waiting.seq)).collect(),
            old_size,
            checkpoint: signer.sign(&head),
            edge,
            leaves,
            nodes,
        })
    }

    async fn write(self, cx: &mut Connection, now: Timestamp) -> Result<u64, StoreError> {
        let Self {
            places,
            old_size,
            edge,
            checkpoint,
            leaves,
            nodes,
        } = self;
        along_indexes(cx).await?;
        // Takes the lock of the tree's row, so that replicas seal one after another.
        let lock = "UPDATE audit_tree SET size = size WHERE only_row = 1 RETURNING size";
        let tree = cx.row(lock, args![]).await?;
        let tree = tree.ok_or(StoreError::Missing("audit tree"))?;
        if tree.get::<u64>("size")? != old_size {
            return Err(StoreError::GivenUp);
        }
        let sealed = leaves.len() as u64;
        let into = "audit_leaves (leaf_index, audit_id, leaf_hash, org_id, mode, occurred_at)";
        insert(cx, into, leaves).await?;
        insert(cx, "audit_nodes (height, position, hash)", nodes).await?;
        let sql = "UPDATE audit_tree SET size = $1, edge = $2, checkpoint = $3, signed_at = $4 WHERE only_row = 1";
        let tree = args![edge.size(), edge.bytes(), checkpoint, now];
        cx.execute_one("audit tree", sql, tree).await?;
        // Just these: a smaller number may have become visible since.
        cx.rows_over(places, |places| {
            format!("DELETE FROM audit_unsealed WHERE seq IN ({places})")
        })
        .await?;
        Ok(sealed)
    }
}

async fn insert(
    cx: &mut Connection,
    into: &str,
    mut rows: Vec<Vec<Arg>>,
) -> Result<(), StoreError> {
    for size in ROWS_PER_STATEMENT {
        while rows.len() >= size {
            let rest = rows.split_off(size);
            let mut places = 0_usize;
            let tuple = |row: &Vec<Arg>| {
                let columns = row.iter().map(|_| {
                    places += 1;
                    format!("${places}")
                });
                format!("({})", columns.collect::<Vec<_>>().join(", "))
            };
            let tuples: Vec<String> = rows.iter().map(tuple).collect();
            let sql = format!("INSERT INTO {into} VALUES {}", tuples.join(", "));
            cx.rows_of(sql, rows.into_iter().flatten().collect())
                .await?;
            rows = rest;
        }
    }
    Ok(())
}

/// The newest checkpoint.
///
/// # Errors
/// [`StoreError::Missing`] before the log has a key, and those of the database.
pub async fn signed(store: &Store) -> Result<Signed, StoreError> {
    store
        .db
        .read(|cx| Box::pin(async move { newest(cx).await }))
        .await
}

async fn newest(cx: &mut Connection) -> Result<Signed, StoreError> {
    let sql = "SELECT size, checkpoint FROM audit_tree WHERE only_row = 1";
    let row = cx.row(sql, args![]).await?;
    let row = row.ok_or(StoreError::Missing("audit tree"))?;
    Ok(Signed {
        size: row.get("size")?,
        checkpoint: row.get("checkpoint")?,
    })
}

/// The row among those that wait now which will be sealed last, if any waits.
///
/// # Errors
/// Those of the database.
pub async fn last_waiting(store: &Store) -> Result<Option<String>, StoreError> {
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT q.audit_id FROM audit_unsealed q JOIN audit a ON a.id = q.audit_id \
                           ORDER BY q.seq DESC LIMIT 1";
                let row = cx.row(sql, args![]).await?;
                row.map(|row| row.get("audit_id")).transpose()
            })
        })
        .await
}

/// Whether a row is a leaf.
///
/// # Errors
/// Those of the database.
pub async fn is_sealed(store: &Store, audit_id: &str) -> Result<bool, StoreError> {
    let arguments = args![audit_id];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT leaf_index FROM audit_leaves WHERE audit_id = $1";
                Ok(cx.row(sql, arguments).await?.is_some())
            })
        })
        .await
}

/// Waiting entries whose row is gone: rows that somebody removed past the triggers before they were sealed.
///
/// # Errors
/// Those of the database.
pub async fn lost(store: &Store) -> Result<u64, StoreError> {
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) AS found FROM audit_unsealed q \
                           WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.id = q.audit_id)";
                cx.count(sql, args![]).await
            })
        })
        .await
}

/// The proof of a row of this organization and mode: `None` where there is no such row, or it is not sealed yet.
///
/// # Errors
/// Those of the database; [`StoreError::Corrupt`] where hashes are missing.
pub async fn prove(
    store: &Store,
    org_id: &str,
    mode: Mode,
    audit_id: &str,
) -> Result<Option<Inclusion>, StoreError> {
    let arguments = args![audit_id, org_id, mode];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT leaf_index, leaf_hash FROM audit_leaves \
                           WHERE audit_id = $1 AND org_id = $2 AND mode = $3";
                let Some(row) = cx.row(sql, arguments).await? else {
                    return Ok(None);
                };
                let leaf = leaf(&row)?;
                // After the leaf: the tree has it.
                let signed = newest(cx).await?;
                let kept = kept(cx, &[leaf.index], signed.size).await?;
                let hashes = kept.inclusion(leaf.index, signed.size);
                Ok(Some(Inclusion {
                    leaf,
                    hashes: hashes.ok_or(MISSING_HASH)?,
                    signed,
                }))
            })
        })
        .await
}

/// A hash of the tree is not there: somebody has removed it past the triggers.
const MISSING_HASH: StoreError = StoreError::Corrupt {
    column: "leaf_hash",
};

/// The proof that the tree of `old` leaves is a beginning of that of `new`.
///
/// # Errors
/// [`StoreError::Missing`] where `old` is the larger one or `new` is more than there is, or before the log has a key;
/// [`StoreError::Corrupt`] where hashes are missing; those of the database.
pub async fn consistency(store: &Store, old: u64, new: u64) -> Result<Vec<Hash>, StoreError> {
    store
        .db
        .read_of_all(move |cx| {
            Box::pin(async move {
                if old > new || new > newest(cx).await?.size {
                    return Err(StoreError::Missing("tree of this size"));
                }
                let kept = kept(cx, &[old.saturating_sub(1)], new).await?;
                kept.consistency(old, new).ok_or(MISSING_HASH)
            })
        })
        .await
}

/// What the proofs of these leaves in the tree of `size` are made from.
///
/// # Errors
/// Those of the database.
pub async fn material(store: &Store, leaves: Vec<u64>, size: u64) -> Result<Kept, StoreError> {
    store
        .db
        .read_of_all(move |cx| Box::pin(async move { kept(cx, &leaves, size).await }))
        .await
}

async fn kept(cx: &mut Connection, leaves: &[u64], size: u64) -> Result<Kept, StoreError> {
    let mut spans: Vec<Span> = leaves
        .iter()
        .flat_map(|leaf| merkle::spans(*leaf, size))
        .collect();
    spans.sort_unstable();
    spans.dedup();
    let mut kept = Kept::default();
    for span in joined(&spans) {
        let Span { height, first, end } = span;
        let (sql, arguments) = if height == 0 {
            let sql = "SELECT leaf_index AS position, leaf_hash AS hash FROM audit_leaves \
                       WHERE leaf_index >= $1 AND leaf_index < $2";
            (sql, args![first, end])
        } else {
            let sql = "SELECT position, hash FROM audit_nodes \
                       WHERE height = $3 AND position >= $1 AND position < $2";
            (sql, args![first, end, i64::from(height)])
        };
        for row in cx.rows(sql, arguments).await? {
            let place: Place = (height, row.get("position")?);
            kept.insert(place, row.get("hash")?);
        }
    }
    Ok(kept)
}

/// Hashes between two spans that are rather read than skipped by another query.
const WORTH_READING: u64 = 4 * merkle::TILE;

fn joined(spans: &[Span]) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if last.height == span.height && span.first <= last.end + WORTH_READING => {
                last.end = last.end.max(span.end);
            }
            _ => joined.push(*span),
        }
    }
    joined
}

fn leaf(row: &Row) -> Result<Leaf, StoreError> {
    Ok(Leaf {
        index: row.get("leaf_index")?,
        hash: row.get("leaf_hash")?,
    })
}

/// Where audit rows stand, by their ids: the leaf of one that is sealed, `None` for one that waits. A row that is
/// neither is not there. No part of the query for the rows themselves: how many wait changes faster than what the
/// database knows of it, and in a join PostgreSQL goes through all that wait once for each row, or sorts a whole log.
pub(crate) async fn places(
    cx: &mut Connection,
    ids: Vec<Arg>,
) -> Result<HashMap<String, Option<Leaf>>, StoreError> {
    let found = cx.rows_over(ids, |ids| {
        format!(
            "SELECT audit_id, leaf_index, leaf_hash FROM audit_leaves WHERE audit_id IN ({ids}) \
             UNION ALL SELECT audit_id, NULL, NULL FROM audit_unsealed WHERE audit_id IN ({ids})"
        )
    });
    let mut places = HashMap::new();
    for row in &found.await? {
        let is_leaf = row.get::<Option<i64>>("leaf_index")?.is_some();
        let leaf = is_leaf.then(|| leaf(row)).transpose()?;
        places.insert(row.get("audit_id")?, leaf);
    }
    Ok(places)
}

/// A leaf whose row is not there: expired, or removed past the triggers.
#[derive(Clone, Debug)]
pub struct Absent {
    pub audit_id: String,
    pub leaf: Leaf,
    pub occurred_at: Timestamp,
}

/// Where a leaf stands among those of its organization.
type LeafPlace = (Timestamp, u64);

/// Which leaves without a row are asked for, oldest first.
#[derive(Clone, Debug)]
pub struct AbsentPage {
    /// From this instant on.
    pub from: Option<Timestamp>,
    /// Up to before this instant.
    pub to: Option<Timestamp>,
    /// Leaves of the tree that is asked about.
    pub size: u64,
    /// Where the page before ended.
    pub after: Option<LeafPlace>,
    pub limit: u32,
}

/// Leaves that were found, and where the search goes on behind what was looked at; `None` where that was everything.
#[derive(Debug)]
pub struct AbsentFound {
    pub leaves: Vec<Absent>,
    pub next: Option<LeafPlace>,
}

/// A page of the leaves of this organization and mode whose row is gone, or says of itself that it is another's: fewer
/// than its limit where few are.
///
/// # Errors
/// Those of the database.
pub async fn absent(
    store: &Store,
    org_id: &str,
    mode: Mode,
    page: &AbsentPage,
) -> Result<AbsentFound, StoreError> {
    let mut page = page.clone();
    let mut leaves = Vec::new();
    for looked_at in page::slices(page.limit) {
        let (org_id, wanted) = (org_id.to_owned(), page.clone());
        let slice = store.db.report(move |cx| {
            Box::pin(async move { absent_of_some(cx, &org_id, mode, &wanted, looked_at).await })
        });
        let found = slice.await?;
        let count = u32::try_from(found.leaves.len()).unwrap_or(u32::MAX);
        page.limit = page.limit.saturating_sub(count);
        page.after = found.next;
        leaves.extend(found.leaves);
        if page.after.is_none() || page.limit == 0 {
            break;
        }
    }
    Ok(AbsentFound {
        leaves,
        next: page.after,
    })
}

/// Looks at so many leaves at most.
/// The place of the leaf behind the next $7 ones. Public for the contract tests.
pub const SLICE_END: &str = "SELECT occurred_at, leaf_index FROM audit_leaves WHERE org_id = $1 AND mode = $2 \
                             AND (occurred_at, leaf_index) > ($3, $4) AND (occurred_at, leaf_index) <= ($5, $6) \
                             ORDER BY occurred_at, leaf_index LIMIT 1 OFFSET $7";

async fn absent_of_some(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    page: &AbsentPage,
    looked_at: u32,
) -> Result<AbsentFound, StoreError> {
    let AbsentPage {
        from,
        to,
        size,
        after,
        limit,
    } = page;
    // No index of a leaf is negative: this place is before all leaves of the instant.
    let instant = |at: &Timestamp| (at.0, -1);
    let number = |(at, index): &LeafPlace| (at.0, i64::try_from(*index).unwrap_or(i64::MAX));
    let (at, index) = match (after, from) {
        (Some(after), _) => number(after),
        (None, from) => from.as_ref().map_or((i64::MIN, -1), instant),
    };
    let end = to.as_ref().map_or((i64::MAX, i64::MAX), instant);
    let offset = looked_at.saturating_sub(1);
    let arguments = args![org_id, mode, at, index, end.0, end.1, offset];
    let place = |row: &Row| Ok((row.get("occurred_at")?, row.get("leaf_index")?));
    let bound: Option<LeafPlace> = cx.one(SLICE_END, arguments, place).await?;
    let until = bound.as_ref().map_or(end, number);
    // A scalar subquery is looked up by the row's id, whatever PostgreSQL believes of the tables. As a join it may read
    // all rows of the organization for each leaf.
    let sql = "SELECT l.audit_id, l.leaf_index, l.leaf_hash, l.occurred_at FROM audit_leaves l \
               WHERE l.org_id = $1 AND l.mode = $2 AND (l.occurred_at, l.leaf_index) > ($3, $4) \
               AND (l.occurred_at, l.leaf_index) <= ($5, $6) AND l.leaf_index < $7 \
               AND NOT COALESCE((SELECT a.org_id = l.org_id AND a.mode = l.mode \
               AND a.occurred_at = l.occurred_at FROM audit a WHERE a.id = l.audit_id), FALSE) \
               ORDER BY l.occurred_at, l.leaf_index LIMIT $8";
    let arguments = args![org_id, mode, at, index, until.0, until.1, *size, *limit];
    let rows = cx.rows(sql, arguments).await?;
    let leaves = rows.iter().map(|row| {
        Ok(Absent {
            audit_id: row.get("audit_id")?,
            leaf: leaf(row)?,
            occurred_at: row.get("occurred_at")?,
        })
    });
    let leaves = leaves.collect::<Result<Vec<Absent>, StoreError>>()?;
    let last = leaves.last().filter(|_| leaves.len() >= *limit as usize);
    let next = last.map(|absent| (absent.occurred_at, absent.leaf.index));
    Ok(AbsentFound {
        next: next.or(bound),
        leaves,
    })
}
