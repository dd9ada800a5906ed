//! Which mode the pages show. Neither mode has rights that the other lacks, so that this is no change but a look.

use svc_core::fault::invalid;
use svc_core::secret::Mode;
use svc_pipeline::exchange::Exchange;
use svc_store::session as stored;

use crate::form::Fields;
use crate::frame::Answering;
use crate::session::{Visitor, down, local, see_other};

pub(crate) fn switch<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mode = Mode::parse(fields.text("mode"));
        let mode = mode.ok_or_else(|| invalid("mode", "must be live or test"))?;
        let shown = stored::show(&exchange.gateway.store, &visitor.session_id, mode).await;
        shown.map_err(|error| down(&error))?;
        Ok(see_other(exchange, local(fields.filled("back"))))
    })
}
