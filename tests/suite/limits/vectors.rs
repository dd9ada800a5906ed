//! Every store of rate limits gives the answers of the one pure function, request by request.

use std::collections::HashMap;

use svc_core::gcra::Quota;
use svc_core::limit::Rule;
use svc_store::clock::Clock;
use svc_store::limit::{Answer, Asked, Counters, LEASE_MS, Memory, Place, Placed, Take};
use svc_store::master_key::MasterKey;
use svc_store::{Store, StoreOptions};
use svc_tests::postgres;
use svc_tests::redis::Redis;

/// 2026-11-20T23:59:30Z: a day ends in the middle of the vectors.
const START_US: i64 = 1_795_219_170_000_000;
const SECOND_US: i64 = 1_000_000;
const STEPS: usize = 600;
/// Longer than all steps together.
const NEVER_US: i64 = i64::MAX / 4;

const fn per_minute(limit: u32) -> Rule {
    Rule::Rate(Quota {
        limit,
        window_ms: 60_000,
    })
}

/// What is counted, and by which rule: closed, small, uneven and large ones.
const BUCKETS: [(&str, Rule); 7] = [
    ("key:a", per_minute(3)),
    ("key:b", per_minute(7)),
    ("key:closed", per_minute(0)),
    ("org:a", per_minute(11)),
    ("org:large", per_minute(u32::MAX)),
    ("day:a", Rule::Daily(9)),
    ("day:closed", Rule::Daily(0)),
];

/// Under test.
enum Counting {
    Memory(Box<Memory>),
    Shared(Counters),
}

impl Counting {
    async fn take(&self, asked: &Asked<'_>) -> Answer {
        match self {
            Self::Memory(memory) => memory.take(asked),
            Self::Shared(counters) => counters.take(asked).await.unwrap(),
        }
    }

    async fn release(&self, bucket: &str, id: &str) {
        match self {
            Self::Memory(memory) => memory.release(bucket, id),
            Self::Shared(counters) => counters.release(bucket, id).await.unwrap(),
        }
    }

    async fn renew(&self, bucket: &str, id: &str, now_us: i64) {
        match self {
            // What dies with its replica needs no lease.
            Self::Memory(_) => {}
            Self::Shared(counters) => {
                let place = [(bucket.to_owned(), id.to_owned())];
                counters.renew(&place, now_us).await.unwrap();
            }
        }
    }
}

/// The answers that the pure function gives, with the simplest memory there is.
struct Expected {
    lease_us: i64,
    cells: HashMap<String, i64>,
    places: HashMap<String, Vec<(String, i64)>>,
    /// Leases of a clock that was set back.
    cut: u32,
}

impl Expected {
    fn of(counting: &Counting) -> Self {
        let lease_us = match counting {
            Counting::Memory(_) => NEVER_US,
            Counting::Shared(_) => LEASE_MS * 1_000,
        };
        Self {
            lease_us,
            cells: HashMap::new(),
            places: HashMap::new(),
            cut: 0,
        }
    }

    fn take(&mut self, asked: &Asked<'_>) -> Answer {
        let mut answer = Answer::default();
        for (verdict, take) in answer.verdicts.iter_mut().zip(asked.takes) {
            let cell = self.cells.entry(take.bucket.to_owned()).or_default();
            let taken = take.rule.take(*cell, asked.now_us);
            *verdict = Some(taken.verdict);
            if !taken.verdict.allowed {
                return answer;
            }
            *cell = taken.cell;
        }
        if let Some(place) = asked.place {
            let places = self.places.entry(place.bucket.to_owned()).or_default();
            for (_, lease_until) in places.iter_mut() {
                if *lease_until > asked.now_us.saturating_add(2 * self.lease_us) {
                    *lease_until = asked.now_us + self.lease_us;
                    self.cut += 1;
                }
            }
            places.retain(|(_, lease_until)| *lease_until > asked.now_us);
            let in_flight = u32::try_from(places.len()).unwrap();
            answer.place = Some(if in_flight < place.limit {
                places.push((place.id.to_owned(), asked.now_us + self.lease_us));
                Placed::Taken
            } else {
                Placed::Full(in_flight)
            });
        }
        answer
    }
}

/// A small generator with a seed: the same vectors for every store.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

async fn passes(counting: Counting) {
    let (mut expected, mut dice) = (Expected::of(&counting), Dice(7));
    let mut now_us = START_US;
    let mut held: Vec<String> = Vec::new();
    let (mut denied, mut full, mut ended) = (0, 0, 0);
    for step in 0..STEPS {
        // Many at once, some a while later, now and then past a lease.
        now_us += match dice.roll(40) {
            0 => LEASE_MS * 1_000 + 1,
            // A clock that is set back.
            9 => -120 * SECOND_US,
            10 => -2 * LEASE_MS * 1_000,
            1..=8 => i64::try_from(dice.roll(20)).unwrap() * SECOND_US + 1,
            _ => i64::try_from(dice.roll(3)).unwrap(),
        };
        let takes: Vec<Take<'_>> = (0..dice.roll(4))
            .map(|_| BUCKETS[dice.roll(BUCKETS.len())])
            .map(|(bucket, rule)| Take { bucket, rule })
            .collect();
        let id = format!("place-{step}");
        let place = (dice.roll(3) == 0).then_some(Place {
            id: &id,
            bucket: "key:a",
            limit: 2,
        });
        let asked = Asked {
            takes: &takes,
            place,
            now_us,
        };
        let (is, should_be) = (counting.take(&asked).await, expected.take(&asked));
        assert_eq!(is, should_be, "step {step}: {asked:?}");
        denied += is
            .verdicts
            .iter()
            .flatten()
            .filter(|one| !one.allowed)
            .count();
        match is.place {
            Some(Placed::Taken) => held.push(id),
            Some(Placed::Full(_)) => full += 1,
            None => {}
        }
        match (dice.roll(4), held.pop()) {
            (0, Some(id)) => {
                counting.release("key:a", &id).await;
                let places = expected.places.get_mut("key:a").unwrap();
                places.retain(|(kept, _)| *kept != id);
                ended += 1;
            }
            (1, Some(id)) => {
                counting.renew("key:a", &id, now_us).await;
                let lease_us = expected.lease_us;
                let places = expected.places.get_mut("key:a").unwrap();
                for (kept, lease_until) in places {
                    if *kept == id {
                        *lease_until = now_us + lease_us;
                    }
                }
                held.push(id);
            }
            (_, Some(id)) => held.push(id),
            (_, None) => {}
        }
    }
    // The vectors reach what they are for.
    assert!(
        denied > 20 && full > 5 && ended > 5,
        "{denied} {full} {ended}"
    );
    assert_eq!(expected.cut > 5, expected.lease_us != NEVER_US);
}

async fn database(url: &str) -> Counting {
    let options = StoreOptions {
        connections: 2,
        ..StoreOptions::default()
    };
    let (key, runtime) = (
        MasterKey::from_bytes([7; 32]),
        tokio::runtime::Handle::current(),
    );
    let store = Store::open(url, options, key, &runtime).await.unwrap();
    Counting::Shared(Counters::database(store).with_clock(Clock::Caller))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory() {
    passes(Counting::Memory(Box::default())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/limits.db", folder.path().display());
    passes(database(&url).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    let url = tokio::task::spawn_blocking(postgres::database)
        .await
        .unwrap();
    passes(database(&url).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis() {
    let server = Redis::start();
    let counters = Counters::redis(&server.url()).unwrap();
    passes(Counting::Shared(counters.with_clock(Clock::Caller))).await;
}

/// Requests of several organizations at once, among them some that are denied and some with places: what share a trip
/// is judged one after the other, so that of all that ask at one instant exactly as many pass as the rules let.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_that_share_a_trip_are_judged_one_by_one() {
    const ASKING: usize = 150;
    let url = tokio::task::spawn_blocking(postgres::database)
        .await
        .unwrap();
    let counting = database(&url).await;
    let organizations = [("a", 5_u32), ("b", 40), ("c", 1_000)];
    let ids: Vec<String> = (0..ASKING).map(|at| format!("place-{at}")).collect();
    let buckets = organizations
        .map(|(name, _)| ["key", "org", "day", "key:agc_"].map(|kind| format!("{kind}:{name}")));
    let takes: Vec<[Take<'_>; 3]> = organizations
        .iter()
        .zip(&buckets)
        .map(|((_, limit), [key, organization, day, _])| {
            [
                (key, per_minute(1_000)),
                (organization, per_minute(*limit)),
                (day, Rule::Daily(60)),
            ]
            .map(|(bucket, rule)| Take { bucket, rule })
        })
        .collect();
    let asked: Vec<Asked<'_>> = (0..ASKING)
        .map(|at| {
            let whose = at % organizations.len();
            let place = (whose == 2).then(|| Place {
                id: &ids[at],
                bucket: &buckets[whose][3],
                limit: 7,
            });
            Asked {
                takes: &takes[whose],
                place,
                now_us: START_US,
            }
        })
        .collect();
    let answers = futures_util::future::join_all(asked.iter().map(|asked| counting.take(asked)));
    let answers = answers.await;
    let passed = |whose: usize| {
        let own = answers.iter().skip(whose).step_by(organizations.len());
        let whole = own.filter(|answer| {
            let verdicts = answer.verdicts.iter().flatten();
            verdicts.clone().count() == 3 && verdicts.clone().all(|verdict| verdict.allowed)
        });
        whole.count()
    };
    // 50 of each ask: 5 and 40 a minute, 60 a day.
    assert_eq!([passed(0), passed(1), passed(2)], [5, 40, 50]);
    let placed = answers.iter().filter_map(|answer| answer.place);
    let taken = placed.filter(|placed| *placed == Placed::Taken).count();
    assert_eq!(taken, 7);
    // What was denied by its organization has taken a request out of its key all the same, as one by one.
    let key = Asked {
        takes: &takes[0][..1],
        place: None,
        now_us: START_US,
    };
    let left = counting.take(&key).await.verdicts[0].unwrap().remaining;
    assert_eq!(left, 1_000 - 51);
}
