//! Callers who never stop asking, for what must not be noticed by anyone: reloads, upgrades.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::{join, join_all};
use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::gateway::chat;
use svc_tests::patience::eventually;
use svc_tests::wire::Connection;
use svc_tests::world::World;

/// What callers have seen.
#[derive(Default)]
pub(crate) struct Load {
    over: AtomicBool,
    good: AtomicU64,
}

/// Callers at once. Half of them keep their connection, half of them stream.
const CALLERS: usize = 6;

impl Load {
    /// Calls answered so far.
    pub(crate) fn good(&self) -> u64 {
        self.good.load(Ordering::Relaxed)
    }

    /// Waits for so many more good calls.
    pub(crate) async fn more(&self, count: u64) {
        let wanted = self.good() + count;
        eventually("more good calls", async || {
            (self.good() >= wanted).then_some(())
        })
        .await;
    }
}

/// Runs `steps` under load; every single call must be good.
pub(crate) async fn under_load<T>(
    world: &World,
    key: &str,
    steps: impl AsyncFnOnce(&Load) -> T,
) -> T {
    let load = Load::default();
    let callers = join_all((0..CALLERS).map(|caller| call(world, key, caller, &load)));
    let stepping = async {
        load.more(10).await;
        let result = steps(&load).await;
        load.more(10).await;
        load.over.store(true, Ordering::Relaxed);
        result
    };
    join(callers, stepping).await.1
}

async fn call(world: &World, key: &str, caller: usize, load: &Load) {
    let mut kept: Option<Connection> = None;
    while !load.over.load(Ordering::Relaxed) {
        let body = json!({"message": mark(), "stream": caller.is_multiple_of(2), "store": caller.is_multiple_of(3)});
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => world.gateway.connect().await,
        };
        let stays = caller < CALLERS / 2;
        let request = chat(key, body);
        let request = if stays {
            request
        } else {
            request.header("Connection", "close")
        };
        connection.send(&request.bytes()).await;
        let (answer, connection) = connection.reply().await.whole().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(
            !caller.is_multiple_of(2) || answer.text().contains("event: run.completed\n"),
            "{}",
            answer.text()
        );
        load.good.fetch_add(1, Ordering::Relaxed);
        // A gateway that is leaving says so, and no request is sent to a connection that ends.
        let closes = answer
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"));
        kept = (stays && !closes).then_some(connection);
    }
}
