//! The way to the next page of a list, and back to its first one.

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
    /// Where the list begins.
    first: String,
    /// Whether this page is not the one at which it begins.
    is_later: bool,
    /// Where the next page is, if there is one.
    next: Option<String>,
}

impl Pager {
    /// What is asked for, at the place in the list that the address names.
    pub(crate) fn turn(exchange: &Exchange, ask: Ask) -> Ask {
        match Fields::of_query(exchange).filled(CURSOR) {
            Some(cursor) => ask.with(CURSOR, cursor),
            None => ask,
        }
    }

    /// Links of a list without filters.
    pub(crate) fn new(exchange: &Exchange, page: &str, pagination: &Value) -> Self {
        Self::filtered(exchange, page, &[], pagination)
    }

    /// Links of a list with these filters.
    pub(crate) fn filtered(
        exchange: &Exchange,
        page: &str,
        filters: &[(String, String)],
        pagination: &Value,
    ) -> Self {
        let cursor = Some(show::plain(pagination, "/next_cursor"));
        let cursor = cursor.filter(|cursor| !cursor.is_empty());
        Self::before(exchange, page, filters, cursor)
    }

    /// Links of a list that goes on at this place, if it does.
    pub(crate) fn before(
        exchange: &Exchange,
        page: &str,
        filters: &[(String, String)],
        cursor: Option<&str>,
    ) -> Self {
        Self {
            first: address(page, filters, None),
            is_later: Fields::of_query(exchange).filled(CURSOR).is_some(),
            next: cursor.map(|cursor| address(page, filters, Some(cursor))),
        }
    }

    /// Whether the list goes on.
    pub(crate) const fn has_more(&self) -> bool {
        self.next.is_some()
    }
}

/// What names a place in a list.
pub(crate) const CURSOR: &str = "cursor";

/// The address of a list at a place.
pub(crate) fn address(page: &str, filters: &[(String, String)], cursor: Option<&str>) -> String {
    match query(filters, cursor) {
        query if query.is_empty() => page.to_owned(),
        query => format!("{page}?{query}"),
    }
}

/// The part of it behind the question mark.
pub(crate) fn query(filters: &[(String, String)], cursor: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(filters);
    query.extend_pairs(cursor.map(|cursor| (CURSOR, cursor)));
    query.finish()
}
