//! Addresses under `/ui` that lead nowhere: a page for whoever followed an old link.

use svc_core::fault::Code;
use svc_pipeline::exchange::Exchange;

use crate::frame::Answering;
use crate::session::see_other;

pub(crate) fn show(_: &mut Exchange) -> Answering<'_> {
    Box::pin(async { Err(Code::NotFound.fault()) })
}

/// `/ui/`, as people type it.
pub(crate) fn without_slash(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async { Ok(see_other(exchange, "/ui")) })
}
