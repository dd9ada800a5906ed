//! Attempts to sign in, counted before they are judged, so that any number at once is no more than the same number in
//! a row. Stored: the count holds across replicas and restarts.
//!
//! A bucket lets `free` attempts of one window pass. From then on each attempt closes it, for twice as long as the one
//! before. A good attempt empties its bucket.

use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::{Store, StoreError, Transaction};

/// What attempts are counted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    name: String,
    free: u32,
    whose: Whose,
}

/// Who counts in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    /// One person alone.
    Own,
    /// Others too, who may be guessing.
    Shared,
}

/// The buckets of one attempt, in the one order in which they are held: two attempts that share some never wait for
/// each other.
#[derive(Clone, Debug)]
pub struct Buckets(Vec<Bucket>);

impl<const N: usize> From<[Bucket; N]> for Buckets {
    fn from(buckets: [Bucket; N]) -> Self {
        let mut buckets = Vec::from(buckets);
        buckets.sort();
        Self(buckets)
    }
}

/// 15 min: the window of contract 6.
const WINDOW_MS: i64 = 900_000;
/// 1 min: the first time that a bucket is closed for.
const FIRST_WAIT_MS: i64 = 60_000;
/// 1 h: the longest time; an account must not be closed for good by whoever knows its name.
const LONGEST_WAIT_MS: i64 = 3_600_000;
/// A day: what is older counts for nothing any more.
pub(crate) const FORGOTTEN_MS: i64 = 86_400_000;

impl Bucket {
    /// The bucket of these words, of which `free` attempts pass in 15 minutes. A good attempt empties it: its owner is
    /// there. Only a digest of the words is stored.
    pub fn own(words: &[&str], free: u32) -> Self {
        Self::new(words, free, Whose::Own)
    }

    /// As [`Self::own`], of several people: a good attempt does not count there, and forgives nobody else.
    pub fn shared(words: &[&str], free: u32) -> Self {
        Self::new(words, free, Whose::Shared)
    }

    fn new(words: &[&str], free: u32, whose: Whose) -> Self {
        let mut hasher = Sha256::new();
        for word in words {
            hasher.update((word.len() as u64).to_be_bytes());
            hasher.update(word.as_bytes());
        }
        let digest = hasher.finalize();
        Self {
            name: hex::encode(digest),
            free,
            whose,
        }
    }
}

/// Counts one attempt in every bucket. Gives the milliseconds to wait where one of them is closed; then nothing is
/// counted.
///
/// # Errors
/// Those of the database.
pub async fn take(
    store: &Store,
    buckets: &Buckets,
    now: Timestamp,
) -> Result<Option<i64>, StoreError> {
    let Buckets(buckets) = buckets.clone();
    // Whoever has to wait writes nothing: guessing on is no work for the database.
    let asked = buckets.clone();
    let waiting = store
        .db
        .read(move |cx| Box::pin(async move { longest_wait(cx, &asked, now).await }));
    if let Some(wait_ms) = waiting.await? {
        return Ok(Some(wait_ms));
    }
    store
        .db
        .write(move |cx| Box::pin(async move { take_here(cx, &buckets, now).await }))
        .await
}

/// Milliseconds until the last of these buckets opens.
async fn longest_wait(
    cx: &mut Connection,
    buckets: &[Bucket],
    now: Timestamp,
) -> Result<Option<i64>, StoreError> {
    let mut longest = None;
    for bucket in buckets {
        let sql = "SELECT closed_until FROM login_attempts WHERE bucket = $1 AND closed_until > $2";
        if let Some(row) = cx.row(sql, args![&bucket.name, now]).await? {
            let closed_until: Timestamp = row.get("closed_until")?;
            longest = longest.max(Some(closed_until.0 - now.0));
        }
    }
    Ok(longest)
}

async fn take_here(
    cx: &mut Connection,
    buckets: &[Bucket],
    now: Timestamp,
) -> Result<Option<i64>, StoreError> {
    let mut counted = Vec::with_capacity(buckets.len());
    let mut longest_wait = None;
    for bucket in buckets {
        // An update that changes nothing holds the row on both engines alike.
        let sql = "INSERT INTO login_attempts (bucket, attempts, since, closed_until) VALUES ($1, 0, $2, 0) \
                   ON CONFLICT (bucket) DO UPDATE SET attempts = login_attempts.attempts \
                   RETURNING attempts, since, closed_until";
        let row = cx.row(sql, args![&bucket.name, now]).await?;
        let row = row.ok_or(StoreError::Missing("counter"))?;
        let closed_until: Timestamp = row.get("closed_until")?;
        if closed_until > now {
            longest_wait = longest_wait.max(Some(closed_until.0 - now.0));
        }
        counted.push(counted_up(
            row.get("attempts")?,
            row.get("since")?,
            closed_until,
            bucket,
            now,
        ));
    }
    if longest_wait.is_some() {
        return Ok(longest_wait);
    }
    for (bucket, (attempts, since, closed_until)) in buckets.iter().zip(counted) {
        let sql = "UPDATE login_attempts SET attempts = $2, since = $3, closed_until = $4 WHERE bucket = $1";
        cx.execute(sql, args![&bucket.name, attempts, since, closed_until])
            .await?;
    }
    Ok(None)
}

/// A counter after one more attempt.
fn counted_up(
    attempts: u32,
    since: Timestamp,
    closed_until: Timestamp,
    bucket: &Bucket,
    now: Timestamp,
) -> (u32, Timestamp, Timestamp) {
    let is_new = since.max(closed_until).plus_ms(WINDOW_MS) <= now;
    let (attempts, since) = if is_new {
        (1, now)
    } else {
        (attempts.saturating_add(1), since)
    };
    let closed_until = match attempts.checked_sub(bucket.free) {
        None => Timestamp(0),
        Some(doublings) => now.plus_ms(wait_ms(doublings)),
    };
    (attempts, since, closed_until)
}

fn wait_ms(doublings: u32) -> i64 {
    let factor = 1_i64.checked_shl(doublings.min(31)).unwrap_or(i64::MAX);
    FIRST_WAIT_MS.saturating_mul(factor).min(LONGEST_WAIT_MS)
}

/// Forgives an attempt, which was a good one: a bucket of one's own is empty again, a shared one counts it no more.
///
/// # Errors
/// Those of the database.
pub async fn forgive(tx: &mut Transaction<'_>, buckets: &Buckets) -> Result<(), StoreError> {
    for bucket in &buckets.0 {
        let sql = match bucket.whose {
            Whose::Own => "DELETE FROM login_attempts WHERE bucket = $1",
            Whose::Shared => {
                "UPDATE login_attempts SET attempts = attempts - 1 WHERE bucket = $1 AND attempts > 0"
            }
        };
        tx.cx.execute(sql, args![&bucket.name]).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_closes_for_twice_as_long_each_time() {
        let bucket = Bucket::own(&["pair", "a@example.org", "192.0.2.1"], 3);
        let (mut attempts, mut since, mut closed) = (0, Timestamp(0), Timestamp(0));
        let mut waits = Vec::new();
        let mut now = Timestamp(1);
        for _ in 0..10 {
            (attempts, since, closed) = counted_up(attempts, since, closed, &bucket, now);
            waits.push((closed.0 - now.0).max(0) / 60_000);
            now = now.max(closed);
        }
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        let later = closed.plus_ms(WINDOW_MS);
        let (attempts, ..) = counted_up(attempts, since, closed, &bucket, later);
        assert_eq!(attempts, 1, "a quiet window makes it new");
    }

    #[test]
    fn words_do_not_run_into_each_other() {
        assert_ne!(Bucket::own(&["ab", "c"], 1), Bucket::own(&["a", "bc"], 1));
    }
}
