//! What authentication takes of a request whose credential was seen lately: `authentication DATABASE_URL MASTER_KEY_FILE
//! KEY` prints nanoseconds on one thread. Nothing else of a request is in them; the look at the store that every two
//! seconds want is.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool of the bench: what goes wrong ends it, and its output is its product"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use svc_core::surface::Surface;
use svc_pipeline::filter::{Callers, Sent};
use svc_pipeline::moment;
use svc_store::master_key::MasterKey;
use svc_store::{Store, StoreOptions};

/// Longer than a verdict is remembered.
const LASTS: Duration = Duration::from_secs(5);
/// Authentications between two looks at the clock.
const BATCH: u32 = 1_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, master_key, key] = &arguments[..] else {
        panic!("authentication DATABASE_URL MASTER_KEY_FILE KEY");
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let nanoseconds = runtime.block_on(measure(database, Path::new(master_key), key));
    println!("{nanoseconds}");
}

async fn measure(database: &str, master_key: &Path, key: &str) -> u128 {
    let master = MasterKey::load_or_create(master_key).expect("the master key");
    let background = tokio::runtime::Handle::current();
    let opening = Store::open(database, StoreOptions::default(), master, &background);
    let store = opening.await.expect("the store");
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::from_str(&format!("Bearer {key}")).expect("a key");
    headers.insert(AUTHORIZATION, bearer);
    let callers = Callers::default();
    let (start, mut done) = (Instant::now(), 0_u32);
    while start.elapsed() < LASTS {
        for _ in 0..BATCH {
            let sent = Sent {
                headers: black_box(&headers),
                surface: Surface::Native,
                at: moment::now(),
            };
            let found = callers.authenticate(&store, sent, &background).await;
            assert!(black_box(found).is_ok(), "the key is not known");
        }
        done += BATCH;
    }
    let took = start.elapsed().as_nanos() / u128::from(done);
    store.close().await;
    took
}
