//! The store's trouble, as faults.

use svc_core::fault::Fault;
use svc_store::{StoreError, TransactionError};

/// 503 where the database is gone, else 500.
pub(crate) fn down(error: &StoreError) -> Fault {
    if error.is_outage() {
        Fault::unavailable(format_args!("accounts: {error}"))
    } else {
        Fault::internal(format_args!("accounts: {error}"))
    }
}

/// A refusal out of a transaction, or the database's trouble.
pub(crate) fn failed(error: TransactionError<Fault>) -> Fault {
    match error {
        TransactionError::Refused(fault) => fault,
        TransactionError::Store(error) => down(&error),
    }
}
