//! Counters in a Redis or Valkey server (5 or later), one script per request. One server, with replicas if it likes:
//! the keys of one request do not lie in one slot of a cluster.

use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands, Client, ConnectionAddr, RedisError, Script, ScriptInvocation};
use svc_core::limit::Rule;

use super::{Answer, Asked, Clock, LEASE_US, judge};
use crate::StoreError;

/// Before every key, so that the server may hold something else too.
const PREFIX: &str = "svc:limit:";
/// 2 s: an answer that takes longer is none; requests are judged by their replica alone meanwhile.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Counters of one server.
pub struct Server {
    client: Client,
    connection: Mutex<ConnectionManager>,
    take: Script,
    renew: Script,
}

impl Server {
    pub(super) fn new(url: &str) -> Result<Self, StoreError> {
        let client = Client::open(url)
            .map_err(|_| address("must be redis://[user][:password@]host[:port][/number]"))?;
        if let ConnectionAddr::Tcp(_, 0) | ConnectionAddr::TcpTls { port: 0, .. } =
            client.get_connection_info().addr()
        {
            return Err(address("the port must not be 0"));
        }
        let connection = connection(&client)?;
        Ok(Self {
            client,
            connection: Mutex::new(connection),
            take: Script::new(include_str!("take.lua")),
            renew: Script::new(include_str!("renew.lua")),
        })
    }

    pub(super) async fn take(&self, clock: Clock, asked: &Asked<'_>) -> Result<Answer, StoreError> {
        let mut call = self.take.prepare_invoke();
        for take in asked.takes {
            call.key(key(take.bucket));
        }
        give_time(&mut call, clock, asked.now_us);
        match asked.place {
            Some(place) => {
                call.key(places(place.bucket));
                call.arg(place.limit).arg(place.id).arg(LEASE_US);
            }
            None => {
                call.arg("").arg("").arg("");
            }
        }
        for take in asked.takes {
            call.arg(take.rule.limit());
            match take.rule {
                Rule::Rate(quota) => call.arg(quota.emission_us()),
                Rule::Daily(_) => call.arg(""),
            };
        }
        let mut connection = self.connection();
        let numbers: Vec<i64> = call.invoke_async(&mut connection).await.map_err(down)?;
        judge(asked, &numbers)
    }

    pub(super) async fn release(&self, bucket: &str, id: &str) -> Result<(), StoreError> {
        let mut connection = self.connection();
        let removed: Result<i64, RedisError> = connection.zrem(places(bucket), id).await;
        removed.map(drop).map_err(down)
    }

    pub(super) async fn renew(
        &self,
        clock: Clock,
        held: &[(String, String)],
        now_us: i64,
    ) -> Result<(), StoreError> {
        let mut connection = self.connection();
        for (bucket, id) in held {
            let mut call = self.renew.prepare_invoke();
            call.key(places(bucket));
            give_time(&mut call, clock, now_us);
            call.arg(LEASE_US).arg(id);
            call.invoke_async::<()>(&mut connection)
                .await
                .map_err(down)?;
        }
        Ok(())
    }

    /// Asks over a new connection, which serves from then on if it is answered.
    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        let mut connection = connection(&self.client)?;
        connection.ping::<()>().await.map_err(down)?;
        *self.connection.lock() = connection;
        Ok(())
    }

    fn connection(&self) -> ConnectionManager {
        self.connection.lock().clone()
    }
}

/// Connects when it is first used, and again where a connection breaks. A login that failed it keeps for ever.
fn connection(client: &Client) -> Result<ConnectionManager, StoreError> {
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(ANSWER_TIMEOUT))
        .set_connection_timeout(Some(ANSWER_TIMEOUT))
        .set_number_of_retries(0);
    ConnectionManager::new_lazy_with_config(client.clone(), config)
        .map_err(|_| address("cannot be used"))
}

/// Never the error itself: it may show the address, and with it a password.
fn address(what: &str) -> StoreError {
    StoreError::Address(format!("limits.store: {what}"))
}

fn give_time(call: &mut ScriptInvocation<'_>, clock: Clock, now_us: i64) {
    match clock {
        Clock::Server => call.arg(""),
        Clock::Caller => call.arg(now_us),
    };
}

fn key(bucket: &str) -> String {
    format!("{PREFIX}{bucket}")
}

fn places(bucket: &str) -> String {
    format!("{PREFIX}slots:{bucket}")
}

/// Whatever the server says no to, another attempt later may succeed; and requests are not refused for it.
fn down(error: RedisError) -> StoreError {
    StoreError::Counters(error.category().to_owned())
}
