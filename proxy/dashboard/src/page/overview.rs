//! The first page.

use svc_pipeline::exchange::Exchange;

use crate::frame::Answering;
use crate::session::{Visitor, see_other};

pub(crate) fn show<'a>(exchange: &'a mut Exchange, _: &'a Visitor) -> Answering<'a> {
    Box::pin(async move { Ok(see_other(exchange, "/ui/account")) })
}
