//! The way to the next page of a list.

use askama::Template;
use serde_json::Value;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::Ask;

use crate::form::Fields;
use crate::show;

/// Links below a list.
#[derive(Template)]
#[template(path = "pager.html")]
pub(crate) struct Pager {
    /// Where the next page is, if there is one.
    next: Option<String>,
}

impl Pager {
    /// What is asked for, at the place in the list that the address names.
    pub(crate) fn turn(exchange: &Exchange, ask: Ask) -> Ask {
        match Fields::of_query(exchange).filled("cursor") {
            Some(cursor) => ask.with("cursor", cursor),
            None => ask,
        }
    }

    /// Links of a list without filters.
    pub(crate) fn new(page: &str, pagination: &Value) -> Self {
        Self::filtered(page, &[], pagination)
    }

    /// Links of a list with these filters.
    pub(crate) fn filtered(page: &str, filters: &[(String, String)], pagination: &Value) -> Self {
        let cursor = Some(show::plain(pagination, "/next_cursor"));
        Self::before(page, filters, cursor.filter(|cursor| !cursor.is_empty()))
    }

    /// Links of a list that goes on at this place, if it does.
    pub(crate) fn before(page: &str, filters: &[(String, String)], cursor: Option<&str>) -> Self {
        let next = cursor.map(|cursor| {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(filters);
            query.append_pair("cursor", cursor);
            format!("{page}?{}", query.finish())
        });
        Self { next }
    }

    /// Whether the list goes on.
    pub(crate) const fn has_more(&self) -> bool {
        self.next.is_some()
    }
}
