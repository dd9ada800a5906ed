//! `audit`: the intent, durable before the first upstream byte (contract 14.2), with the credit hold in the
//! same transaction.

use futures_util::future::BoxFuture;
use svc_core::fault::Fault;

use super::Filter;
use crate::exchange::Exchange;
use crate::fact::Fact;

pub(super) struct Audit;

impl Filter for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Reservation,
            Fact::PhiScan,
        ]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Intent]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(exchange.trail.open())
    }
}
