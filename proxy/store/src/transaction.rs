//! Effects of several record families that stand or fall together, put together by the caller: a control-plane
//! write with its audit row and its stored response (contract 19.1).

use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::engine::Connection;
use crate::outbox::Outlet;
use crate::{Store, StoreError};

/// An open transaction. Only functions of this crate can do anything with it.
pub struct Transaction<'c> {
    pub(crate) cx: &'c mut Connection,
    /// None in transactions of this crate's own, which publish nothing.
    pub(crate) outlet: Option<&'c Outlet>,
}

impl<'c> Transaction<'c> {
    /// A transaction of this crate's own, for functions that take one.
    pub(crate) const fn alone(cx: &'c mut Connection) -> Self {
        Self { cx, outlet: None }
    }

    /// The same transaction, for a function that takes it by value.
    pub fn reborrow(&mut self) -> Transaction<'_> {
        Transaction {
            cx: self.cx,
            outlet: self.outlet,
        }
    }
}

/// Why a transaction was not done.
#[derive(Debug)]
pub enum TransactionError<R> {
    Store(StoreError),
    /// What the work itself decided.
    Refused(R),
}

impl<R> From<StoreError> for TransactionError<R> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Store {
    /// Runs `work` in one transaction and gives its result once it is durable. An error of either kind leaves
    /// nothing behind, but where the answer to the commit was lost ([`StoreError`]). `work` may wait for nothing but
    /// functions that take the transaction; it is finished even if its caller goes away.
    ///
    /// # Errors
    /// The refusal of `work`, or what kept the database from doing it.
    pub async fn transaction<T, R, F>(&self, work: F) -> Result<T, TransactionError<R>>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: for<'c> FnOnce(Transaction<'c>) -> BoxFuture<'c, Result<T, TransactionError<R>>>
            + Send
            + 'static,
    {
        // The engine knows database errors only; a refusal waits here until the transaction is rolled back.
        let refusal = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&refusal);
        let outlet = Arc::new(Outlet::new(Arc::clone(&self.ring)));
        let used = Arc::clone(&outlet);
        let done = self
            .db
            .write(move |cx| {
                Box::pin(async move {
                    let tx = Transaction {
                        cx,
                        outlet: Some(&used),
                    };
                    match work(tx).await {
                        Ok(value) => Ok(value),
                        Err(TransactionError::Store(error)) => Err(error),
                        Err(TransactionError::Refused(reason)) => {
                            *kept.lock() = Some(reason);
                            Err(StoreError::GivenUp)
                        }
                    }
                })
            })
            .await;
        if done.is_ok() {
            self.wakes.ring(&outlet);
        }
        done.map_err(|error| match refusal.lock().take() {
            Some(reason) => TransactionError::Refused(reason),
            None => TransactionError::Store(error),
        })
    }
}
