//! Which mode the pages show. Neither mode has rights that the other lacks, so that this is no change but a look.

use svc_core::fault::invalid;
use svc_core::secret::Mode;
use svc_pipeline::exchange::Exchange;
use svc_store::session as stored;

use crate::form::Fields;
use crate::frame::Answering;
use crate::redirect::{local, see_other};
use crate::session::Visitor;
use crate::trouble::down;

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
        Ok(see_other(exchange, above(local(fields.filled("back")))))
    })
}

/// The page of the menu that a page belongs to: what pages below it show is there in one mode alone.
fn above(page: &str) -> &str {
    let below = page
        .strip_prefix("/ui/")
        .and_then(|rest| rest.split_once('/'));
    let end = below.map(|(first, _)| "/ui/".len() + first.len());
    end.and_then(|end| page.get(..end)).unwrap_or(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_mode_is_shown_where_it_has_something() {
        for (from, to) in [
            ("/ui", "/ui"),
            ("/ui/agents", "/ui/agents"),
            ("/ui/agents/agt_1", "/ui/agents"),
            ("/ui/apps/app_1/records/patient", "/ui/apps"),
        ] {
            assert_eq!(above(from), to);
        }
    }
}
