//! What the store said lately, so that not every request asks it. What was forgotten is never given out again, not even
//! by a read that was under way meanwhile.
//!
//! Asks no store itself: who keeps something here says how it is read.

use std::borrow::Borrow;
use std::convert::Infallible;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use moka::{future, sync};
use svc_store::StoreError;

/// Contract 19.5: what is given out was read at most this long ago, and this long while the store is down.
const FRESH: Duration = Duration::from_secs(2);
const WHILE_STORE_IS_DOWN: Duration = Duration::from_secs(30);

/// 1 s: how often the store is asked about what is known while it is down, so that not every request waits for it.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Places in which forgetting is noted: 8 KiB. Names that share one are forgotten together, which costs reads only.
const MARKS: usize = 1_024;

/// Values by key, each as old as the beginning of the read that brought it.
pub(crate) struct Lately<K, V> {
    held: sync::Cache<K, Held<V>>,
    /// Keeps nothing: who asks for what is being read waits here for that read.
    reads: future::Cache<K, Infallible>,
    /// What a value belongs to; all that belongs to it can be forgotten at once.
    group: fn(&V) -> Option<&str>,
    forgotten: Forgotten,
    outage: Outage,
}

#[derive(Clone)]
struct Held<V> {
    value: V,
    asked: Asked,
    /// Where it is noted that its key or its group was forgotten.
    marks: [usize; 2],
}

/// The beginning of a read.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    at: Instant,
    /// How often something had been forgotten by then.
    times: u64,
}

/// What a read brought, for all who wait for it.
struct Answer<V, E> {
    asked: Asked,
    read: Result<V, E>,
}

/// Why a read brought nothing.
pub(crate) trait Miss: Clone + Send + Sync + 'static {
    /// Whether the store itself did not answer, so that what it said lately counts.
    fn is_outage(&self) -> bool;
}

impl Miss for StoreError {
    fn is_outage(&self) -> bool {
        Self::is_outage(self)
    }
}

impl<K, V> Lately<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Holds at most `max` values; more are read from the store each time.
    pub(crate) fn new(max: u64) -> Self {
        Self::grouped(max, |_| None)
    }

    /// As [`Self::new`], for values that [`Self::forget_group`] forgets together.
    pub(crate) fn grouped(max: u64, group: fn(&V) -> Option<&str>) -> Self {
        let held = sync::Cache::builder()
            .max_capacity(max)
            .time_to_live(WHILE_STORE_IS_DOWN);
        Self {
            held: held.build(),
            reads: future::Cache::new(0),
            group,
            forgotten: Forgotten::default(),
            outage: Outage::default(),
        }
    }

    /// What is at hand, or else what `read` brings. Requests that ask for the same at once share one read. What it
    /// refuses is not kept, and no longer known.
    ///
    /// # Errors
    /// Those of `read`; an outage only where nothing is known.
    pub(crate) async fn get<Q, E, F>(&self, key: &Q, read: impl Fn() -> F) -> Result<V, E>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        E: Miss,
        F: Future<Output = Result<V, E>>,
    {
        if let Some(value) = self.at_hand(key) {
            return Ok(value);
        }
        // On the heap, so that a request whose value is at hand does not carry room for reading it.
        Box::pin(self.read(key, read)).await
    }

    /// What was read less than [`FRESH`] ago and not forgotten since.
    pub(crate) fn fresh<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.recall(key, FRESH)
    }

    /// What was read less than [`WHILE_STORE_IS_DOWN`] ago and not forgotten since.
    pub(crate) fn known<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.recall(key, WHILE_STORE_IS_DOWN)
    }

    /// Call it before a read whose value [`Self::keep`] is to keep.
    pub(crate) fn asking(&self) -> Asked {
        Asked {
            at: Instant::now(),
            times: self.forgotten.times.load(Ordering::Acquire),
        }
    }

    /// Keeps what was read, as of when it was asked for.
    pub(crate) fn keep(&self, key: K, value: V, asked: Asked) {
        let mark = self.forgotten.mark(&key);
        let group = (self.group)(&value).map_or(mark, |group| self.forgotten.mark(group));
        let held = Held {
            value,
            asked,
            marks: [mark, group],
        };
        self.held.insert(key, held);
    }

    /// The value was changed: whoever asks from now on gets what is read from now on.
    pub(crate) fn forget<Q>(&self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.forgotten.note(key);
        self.held.invalidate(key);
    }

    /// As [`Self::forget`], for every value of a group.
    pub(crate) fn forget_group(&self, group: &str) {
        self.forgotten.note(group);
    }

    fn at_hand<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if self.outage.is_recent() {
            self.known(key)
        } else {
            self.fresh(key)
        }
    }

    fn recall<Q>(&self, key: &Q, limit: Duration) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let Held {
            value,
            asked,
            marks,
        } = self.held.get(key)?;
        let is_forgotten = marks
            .iter()
            .any(|mark| self.forgotten.is_noted_since(*mark, asked));
        (!is_forgotten && asked.at.elapsed() < limit).then_some(value)
    }

    async fn read<Q, E, F>(&self, key: &Q, read: impl Fn() -> F) -> Result<V, E>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        E: Miss,
        F: Future<Output = Result<V, E>>,
    {
        let arrived = self.asking();
        // Twice at most: the read after one that was under way began later than this request.
        loop {
            let asking = self.ask(key, read());
            let Err(answer) = self.reads.try_get_with_by_ref(key, asking).await;
            // What was under way does not know of what was forgotten before this request came.
            if answer.asked.times >= arrived.times {
                return answer.read.clone();
            }
            if let Some(value) = self.at_hand(key) {
                return Ok(value);
            }
        }
    }

    /// Reads for all who wait. Never `Ok`: the cache of reads keeps only what is.
    async fn ask<Q, E, F>(&self, key: &Q, reading: F) -> Result<Infallible, Answer<V, E>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        E: Miss,
        F: Future<Output = Result<V, E>>,
    {
        let asked = self.asking();
        // Another read may have ended since this request looked.
        if let Some(value) = self.at_hand(key) {
            let read = Ok(value);
            return Err(Answer { asked, read });
        }
        let read = match reading.await {
            Ok(value) => {
                self.keep(key.to_owned(), value.clone(), asked);
                Ok(value)
            }
            Err(miss) if miss.is_outage() => {
                self.outage.note();
                self.known(key).ok_or(miss)
            }
            Err(miss) => {
                self.held.invalidate(key);
                Err(miss)
            }
        };
        Err(Answer { asked, read })
    }
}

/// When the store was last found to be down, by a clock that nobody sets.
struct Outage {
    since: Instant,
    /// Milliseconds after `since`: until then the store is not asked about what is known. 0 where it never was down.
    ask_again_at: AtomicU64,
}

impl Default for Outage {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            ask_again_at: AtomicU64::new(0),
        }
    }
}

impl Outage {
    fn note(&self) {
        let until = ms(self.since.elapsed() + ASK_AGAIN_AFTER);
        self.ask_again_at.store(until, Ordering::Relaxed);
    }

    fn is_recent(&self) -> bool {
        let until = self.ask_again_at.load(Ordering::Relaxed);
        until != 0 && ms(self.since.elapsed()) < until
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// When names were forgotten last. Counts instead of telling the time, so that before and after are always clear.
struct Forgotten {
    /// How often something was forgotten.
    times: AtomicU64,
    marks: Vec<AtomicU64>,
    hasher: RandomState,
}

impl Default for Forgotten {
    fn default() -> Self {
        Self {
            times: AtomicU64::new(0),
            marks: std::iter::repeat_with(AtomicU64::default)
                .take(MARKS)
                .collect(),
            hasher: RandomState::new(),
        }
    }
}

impl Forgotten {
    /// The place of a name.
    fn mark<N: Hash + ?Sized>(&self, name: &N) -> usize {
        let [low, high, ..] = self.hasher.hash_one(name).to_le_bytes();
        usize::from(u16::from_le_bytes([low, high])) % MARKS
    }

    fn note<N: Hash + ?Sized>(&self, name: &N) {
        let times = self.times.fetch_add(1, Ordering::AcqRel) + 1;
        if let Some(mark) = self.marks.get(self.mark(name)) {
            mark.fetch_max(times, Ordering::AcqRel);
        }
    }

    fn is_noted_since(&self, mark: usize, asked: Asked) -> bool {
        self.marks
            .get(mark)
            .is_none_or(|mark| mark.load(Ordering::Acquire) > asked.times)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::AtomicU32;

    use tokio::sync::Notify;

    use super::*;

    const KEY: &str = "key";

    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Trouble {
        Down,
        Refused,
    }

    impl Miss for Trouble {
        fn is_outage(&self) -> bool {
            *self == Self::Down
        }
    }

    type Read = Result<u32, Trouble>;

    fn empty() -> Lately<String, u32> {
        Lately::new(10)
    }

    /// Keeps 1, read that long ago.
    fn keep(lately: &Lately<String, u32>, age: Duration) {
        let asked = Asked {
            at: Instant::now().checked_sub(age).unwrap(),
            ..lately.asking()
        };
        lately.keep(KEY.to_owned(), 1, asked);
    }

    #[tokio::test]
    async fn what_is_forgotten_while_it_is_read_is_not_kept() {
        let lately = empty();
        let overtaken = || async {
            lately.forget(KEY);
            Read::Ok(1)
        };
        assert_eq!(lately.get(KEY, overtaken).await, Ok(1));
        assert_eq!((lately.fresh(KEY), lately.known(KEY)), (None, None));
        assert_eq!(lately.get(KEY, || async { Read::Ok(2) }).await, Ok(2));
        assert_eq!(lately.fresh(KEY), Some(2));
    }

    #[tokio::test]
    async fn a_group_that_is_forgotten_while_one_of_it_is_read_is_not_kept() {
        let lately = Lately::<String, String>::grouped(10, |value| Some(value.as_str()));
        let overtaken = || async {
            lately.forget_group("clinic");
            Ok::<_, Trouble>("clinic".to_owned())
        };
        assert!(lately.get(KEY, overtaken).await.is_ok());
        assert_eq!(lately.known(KEY), None);
        lately.keep(KEY.to_owned(), "clinic".to_owned(), lately.asking());
        assert!(lately.fresh(KEY).is_some());
        lately.forget_group("clinic");
        assert_eq!(lately.known(KEY), None);
    }

    #[tokio::test]
    async fn who_comes_after_a_change_does_not_take_what_was_read_before_it() {
        let lately = empty();
        let (begun, changed) = (Notify::new(), Notify::new());
        let before = || async {
            begun.notify_one();
            changed.notified().await;
            Read::Ok(1)
        };
        let after = async {
            begun.notified().await;
            lately.forget(KEY);
            changed.notify_one();
            lately.get(KEY, || async { Read::Ok(2) }).await
        };
        let read = tokio::join!(lately.get(KEY, before), after);
        assert_eq!(read, (Ok(1), Ok(2)));
        assert_eq!(lately.fresh(KEY), Some(2));
    }

    #[tokio::test]
    async fn who_asks_for_the_same_at_once_shares_one_read() {
        let lately = empty();
        let reads = AtomicU32::new(0);
        let read = || async {
            reads.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            Read::Ok(1)
        };
        let both = tokio::join!(lately.get(KEY, read), lately.get(KEY, read));
        assert_eq!(both, (Ok(1), Ok(1)));
        assert_eq!(lately.get(KEY, read).await, Ok(1));
        assert_eq!(reads.into_inner(), 1);
    }

    #[test]
    fn a_value_is_as_old_as_the_beginning_of_its_read() {
        let lately = empty();
        keep(&lately, Duration::ZERO);
        assert_eq!(lately.fresh(KEY), Some(1));
        keep(&lately, FRESH);
        assert_eq!((lately.fresh(KEY), lately.known(KEY)), (None, Some(1)));
        keep(&lately, WHILE_STORE_IS_DOWN);
        assert_eq!(lately.known(KEY), None);
    }

    #[tokio::test]
    async fn a_store_that_is_down_is_not_asked_again_at_once() {
        let lately = empty();
        let down = || async { Read::Err(Trouble::Down) };
        assert_eq!(lately.get(KEY, down).await, Err(Trouble::Down));
        keep(&lately, FRESH);
        assert_eq!(lately.get(KEY, || async { Read::Ok(2) }).await, Ok(1));
        // What is not known is asked for.
        lately.forget(KEY);
        assert_eq!(lately.get(KEY, || async { Read::Ok(2) }).await, Ok(2));
    }

    /// Whatever the clock of the machine is set to meanwhile.
    #[test]
    fn an_outage_is_over_a_second_after_it_was_noted() {
        let mut outage = Outage::default();
        assert!(!outage.is_recent());
        outage.note();
        assert!(outage.is_recent());
        // As a second later.
        outage.since = outage.since.checked_sub(ASK_AGAIN_AFTER).unwrap();
        assert!(!outage.is_recent());
    }

    #[tokio::test]
    async fn what_is_known_counts_until_the_store_refuses_it() {
        let lately = empty();
        keep(&lately, FRESH);
        let down = || async { Read::Err(Trouble::Down) };
        assert_eq!(lately.get(KEY, down).await, Ok(1));
        let lately = empty();
        keep(&lately, FRESH);
        let refused = || async { Read::Err(Trouble::Refused) };
        assert_eq!(lately.get(KEY, refused).await, Err(Trouble::Refused));
        assert_eq!(lately.known(KEY), None);
    }
}
