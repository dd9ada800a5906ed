//! The contract of the store: every public function, on a real SQLite file and a real PostgreSQL server.
//!
//! [`on_both`] makes two tests of each body. Each test has a database of its own. PostgreSQL is started once
//! for this program from the installed binaries and ends with it; where it is not installed the tests fail and
//! say how to install it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// Makes one test per engine of `async fn body(db: TestDb)`.
macro_rules! on_both {
    ($($body:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $body() {
                super::$body(crate::database::TestDb::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $body() {
                super::$body(crate::database::TestDb::postgres().await).await;
            })*
        }
    };
}

mod audit_log;
mod audit_tree;
mod budgets;
mod conversations;
mod database;
mod deliveries;
mod end_users;
mod fixture;
mod idempotency;
mod inferences;
mod integrations;
mod keys;
mod oauth;
mod opening;
mod organizations;
mod outbox;
mod pages;
mod people;
mod phi_lists;
mod postings;
mod records;
mod recovering;
mod signing_keys;
mod silence;
